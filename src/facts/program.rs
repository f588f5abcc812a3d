//! A command name to the file that runs, and that file to what it does.

use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::Identity;
use super::command::Call;
use super::effect::{Aspect, Doubt, Effect};
use super::place::{self, normal};
use super::state::{Made, Value};
use super::table::Judged;
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::{By, Walker};
use crate::commands::Table;
use crate::host::LookKind;

/// What a command name leads to.
enum Found {
    /// A file outside project and temp.
    Outside,
    /// A file of the project, of a temporary folder, or one that this script made.
    Code(PathBuf),
    /// No file.
    Nowhere,
    /// Not known, and why.
    Unknown(String),
}

impl Walker<'_> {
    /// A name without a slash, looked up in `PATH`.
    pub(super) fn run_program(&mut self, name: &BStr, words: &[Argument], call: Call) {
        let settings = self.settings;
        let table = settings.tables.find(name);
        if table.is_some_and(|table| call.builtins && table.is_builtin(self.frame.dialect)) {
            return self.described(name, table, Identity::Described, words, &call);
        }
        match self.look_up(name, &call) {
            Found::Outside => {
                // On a machine that is assumed every name is found.
                let unlisted = self.frame.unlisted.filter(|_| self.host.assumed()).or(call.unlisted);
                self.described(name, table, Identity::Described, words, &Call { unlisted, ..call });
            }
            Found::Code(path) => {
                if table.is_some() && place::is_temp(&path) {
                    let by = By { command: Some(self.facts.commands.len()), ..call.by };
                    self.doubt(Doubt::Program, by, format!("{name} leads to {}", path.display()));
                }
                self.run_code(&path, words, &call);
            }
            Found::Nowhere if table.is_none() && call.unlisted.is_none() && self.is_settled() => {
                self.list_command(Some(name.to_owned()), Identity::Undescribed, words, &call);
                // The shell calls this function with the words of a command that it does not find.
                let function = if self.is_zsh() { "command_not_found_handler" } else { "command_not_found_handle" };
                self.call_function(BStr::new(function), words, &call);
            }
            Found::Nowhere => {
                let unlisted = self.frame.unlisted.or(call.unlisted);
                self.described(name, table, Identity::Described, words, &Call { unlisted, ..call });
            }
            Found::Unknown(reason) => {
                let command = self.facts.commands.len();
                self.described(name, table, Identity::Foreign, words, &call);
                self.doubt(Doubt::Program, By { command: Some(command), ..call.by }, reason);
            }
        }
    }

    /// A name with a slash: this very file.
    pub(super) fn run_file(&mut self, name: &BStr, words: &[Argument], call: Call) {
        let cwd = self.state.cwd.path().cloned();
        let path = match (name.first(), &cwd) {
            (Some(b'/'), _) => normal(&place::path(name)),
            (_, Some(cwd)) => normal(&cwd.join(place::path(name))),
            _ => {
                let command = self.list_command(Some(base(name)), Identity::Foreign, words, &call);
                let reason = format!("{name} is run from a folder that is not known");
                return self.doubt(Doubt::Program, Self::own(command, &call), reason);
            }
        };
        if self.is_code(&path) {
            return self.run_code(&path, words, &call);
        }
        let base = base(name);
        let settings = self.settings;
        let table = settings.tables.find(base.as_ref());
        let standard = self.in_programs(&path);
        let identity = if standard { Identity::Described } else { Identity::Foreign };
        if !standard && table.is_some() && !self.host.assumed() {
            let by = By { command: Some(self.facts.commands.len()), ..call.by };
            self.doubt(Doubt::Program, by, format!("{name} is not where programs of that name are installed"));
        }
        self.described(base.as_ref(), table, identity, words, &call);
    }

    /// A program outside project and temp, read by its table.
    fn described(
        &mut self,
        name: &BStr,
        table: Option<Table<'_>>,
        identity: Identity,
        words: &[Argument],
        call: &Call,
    ) {
        self.preloads(call, By { command: Some(self.facts.commands.len()), ..call.by });
        if let Some(shell) = self.shell_named(name) {
            return self.by_shell(shell, name, identity, words, call);
        }
        if let Some(table) = table {
            // `npx NAME` gets the package of that name, which is not the program that systems have.
            if let Some(kind) = call.unlisted.filter(|kind| kind.effect == Effect::Install && table.program().standard)
            {
                let by = By { command: Some(self.facts.commands.len()), ..call.by };
                self.effect((kind.effect, kind.aspect), Some(name.to_owned()), by, "gets a package of that name");
            }
            return self.by_table(name, table, identity, words, call);
        }
        let identity = if identity == Identity::Described { Identity::Undescribed } else { identity };
        let command = self.list_command(Some(name.to_owned()), identity, words, call);
        let by = Self::own(command, call);
        self.print_unknown(UnknownKind::Any, format!("what {name} prints"));
        let argv = self.facts.commands.get(command).map(|command| command.argv.as_slice()).unwrap_or_default();
        if is_inspection(argv) {
            return self.effect((Effect::Inspect, None), None, by, "asks a program about itself");
        }
        if let Some(kind) = call.unlisted {
            return self.effect(
                (kind.effect, kind.aspect),
                Some(name.to_owned()),
                by,
                "a program that no table describes",
            );
        }
        self.doubt(Doubt::Program, by, format!("no table says what {name} does"));
    }

    /// Code of the project, of a temporary folder, or made by this script.
    fn run_code(&mut self, path: &Path, words: &[Argument], call: &Call) {
        if let Some(program) = self.leads_out(path) {
            return self.run_file(place::shown(&program).as_ref(), words, call.clone());
        }
        let name = BString::from(path.file_name().unwrap_or_default().as_encoded_bytes());
        let settings = self.settings;
        let table = settings.tables.find(name.as_ref());
        let command = self.facts.commands.len();
        match table {
            // An interpreter of a project's own environment takes its arguments as any other does.
            Some(table) => self.by_table(name.as_ref(), table, Identity::Foreign, words, call),
            None => {
                self.list_command(Some(name), Identity::Foreign, words, call);
            }
        }
        let by = Self::own(command, call);
        let printed = |walker: &Self| walker.captures.last().map(Vec::len);
        let before = printed(self);
        self.run_path(path, words.get(1..).unwrap_or_default(), by, None);
        if printed(self) == before {
            self.print_unknown(UnknownKind::Any, "what a program of the project prints");
        }
    }

    /// A script that a table knows (`manage.py`, `artisan`): what it is asked to do, beside its text.
    pub(super) fn known_script(&mut self, path: &Path, arguments: &[Argument], judged: &Judged<'_>) {
        let name = BString::from(path.file_name().unwrap_or_default().as_encoded_bytes());
        let Some(table) = self.settings.tables.find(name.as_ref()).filter(|table| !table.program().standard) else {
            return;
        };
        let reading = table.read(arguments);
        let start = self.state.cwd.clone();
        self.reading(&Judged { reading: &reading, ..*judged }, &start);
    }

    /// The program that a link or a copy is another name of: one that is neither the project's nor this script's.
    fn leads_out(&self, path: &Path) -> Option<PathBuf> {
        let made = self.led(path).or_else(|| self.origin(path));
        let program = made.filter(|from| !self.is_code(from));
        program.or_else(|| {
            let real = self.host.look(path).real;
            (!self.state.files.contains_key(path) && !self.is_code(&real) && self.in_programs(&real)).then_some(real)
        })
    }

    /// A file is run as a program or, with `language`, by an interpreter.
    pub(super) fn run_path(
        &mut self,
        path: &Path,
        arguments: &[Argument],
        by: By,
        language: Option<crate::commands::Language>,
    ) {
        let spot = self.settings.places.spot(self.led(path).as_deref().unwrap_or(path), self.host);
        let made = self.state.files.get(path).cloned().or_else(|| self.left_by_script(path));
        let made = made.or_else(|| self.origin(path).map(Made::Copied));
        let made = made.or_else(|| self.host.brought(path).then_some(Made::Unknown(UnknownKind::Downloaded)));
        let aspect = match made {
            Some(Made::Unknown(UnknownKind::Downloaded)) => Aspect::Downloaded,
            _ => spot.aspect.unwrap_or(Aspect::Unknown),
        };
        let reason = if aspect == Aspect::Downloaded { "runs what was downloaded or decoded" } else { "runs a file" };
        self.effect((Effect::Run, Some(aspect)), Some(place::shown(path)), by, reason);
        if aspect != Aspect::Downloaded {
            self.run_text_of(path, made, arguments, by, language);
        }
    }

    fn look_up(&self, name: &BStr, call: &Call) -> Found {
        let assigned = Self::assignment_of(call, BStr::new("PATH")).or_else(|| {
            let changed = self.state.variables.contains_key(BStr::new("PATH"));
            changed.then(|| match &*self.variable(BStr::new("PATH")) {
                [Value::Scalar(pieces)] => pieces.clone(),
                _ => vec![Piece::unknown(UnknownKind::Any, "PATH has one of several values here")],
            })
        });
        let path = match &assigned {
            None => None,
            Some(pieces) => match known(pieces) {
                Some(path) => Some(path.into_owned()),
                None => return Found::Unknown(format!("PATH is not known, so {name} can be any program")),
            },
        };
        if let Some(made) = path.as_ref().and_then(|path| self.made_in(path, name)) {
            return Found::Code(made);
        }
        match self.host.program(name, path.as_ref().map(BString::as_ref)) {
            Some(file) if self.is_code(&file) => Found::Code(file),
            Some(_) => Found::Outside,
            None => Found::Nowhere,
        }
    }

    /// The caller's own `PATH` leads this name to no file of the project or of temp.
    pub(super) fn is_installed(&self, name: &BStr) -> bool {
        self.host.program(name, None).is_none_or(|file| !self.is_code(&file))
    }

    /// A file of this name that this script made in a folder of `path`.
    fn made_in(&self, path: &[u8], name: &BStr) -> Option<PathBuf> {
        let cwd = self.state.cwd.path().cloned().unwrap_or_else(|| PathBuf::from("/"));
        path.split_str(":")
            .map(|folder| normal(&cwd.join(place::path(folder)).join(place::path(name))))
            .find(|file| matches!(self.state.files.get(file), Some(Made::Written(_) | Made::Unknown(_) | Made::Built)))
    }

    /// The path lies in the project or a temporary folder, or this script made it.
    fn is_code(&self, path: &Path) -> bool {
        let aspect = self.settings.places.spot(path, self.host).aspect;
        matches!(aspect, Some(Aspect::Project | Aspect::Temp | Aspect::Vcs))
            || matches!(self.state.files.get(path), Some(Made::Written(_) | Made::Unknown(_) | Made::Built))
    }

    /// A folder of the system, or one that the caller's own `PATH` names.
    fn in_programs(&self, path: &Path) -> bool {
        let system = ["/bin", "/sbin", "/usr", "/opt", "/nix", "/snap", "/home/linuxbrew", "/lib", "/lib64"];
        let folder = path.parent().map(place::bytes);
        let listed = || {
            self.host
                .variable(BStr::new("PATH"))
                .is_some_and(|list| list.split_str(":").any(|entry| Some(BStr::new(entry)) == folder))
        };
        system.iter().any(|tree| path.starts_with(tree)) || listed()
    }

    /// Nothing in this script can have brought a program in.
    fn is_settled(&self) -> bool {
        let brought =
            |effect: &super::EffectFact| matches!(effect.effect, Effect::Install | Effect::Fetch | Effect::Run);
        !self.host.assumed() && self.state.unsettled.is_none() && !self.facts.effects.iter().any(brought)
    }

    /// What a file's text does: known from this script, read from the machine, or a doubt.
    fn run_text_of(
        &mut self,
        path: &Path,
        made: Option<Made>,
        arguments: &[Argument],
        by: By,
        language: Option<crate::commands::Language>,
    ) {
        let text = match made {
            Some(Made::Written(content)) => content.to_vec(),
            Some(Made::Unknown(_)) => {
                return self.doubt(
                    Doubt::Script,
                    by,
                    format!("{}: this script made it from something not known", path.display()),
                );
            }
            // What is built from sources is the project's code as much as they are.
            Some(Made::Folder | Made::Deleted | Made::Built) => return,
            Some(Made::Link(to)) => {
                return self.run_text_of(&to, self.state.files.get(&to).cloned(), arguments, by, language);
            }
            Some(Made::Moved(from) | Made::Copied(from)) => match self.host.read(&from) {
                Ok(bytes) => vec![Piece::Text(bytes.to_vec().into())],
                Err(_) if !self.is_code(&from) => {
                    let reason = format!("{}: this script made it from {}", path.display(), from.display());
                    return self.doubt(Doubt::Script, by, reason);
                }
                Err(unread) => return self.unread(&from, unread, by),
            },
            Some(Made::Edited) => match self.host.read(path) {
                Ok(bytes) => {
                    vec![Piece::Text(bytes.to_vec().into()), Piece::unknown(UnknownKind::Any, "it is edited before")]
                }
                Err(unread) => return self.unread(path, unread, by),
            },
            // What was installed is no script of the project.
            None if place::is_installed(&self.host.look(path).real) => return,
            None => match self.host.read(path) {
                Ok(bytes) => vec![Piece::Text(bytes.to_vec().into())],
                Err(_) if language.is_none() && self.is_strange(path) => {
                    let reason = format!("nobody has read {}", path.display());
                    return self.doubt(Doubt::Script, by, reason);
                }
                Err(unread) => return self.unread(path, unread, by),
            },
        };
        self.run_script_text(path, text, arguments, by, language);
    }

    /// A program of a temporary folder on a machine that is only assumed: that of the project is the project's.
    fn is_strange(&self, path: &Path) -> bool {
        self.host.assumed() && place::is_temp(path)
    }

    /// A script that is not there yet: this script may bring it in.
    fn missing(&mut self, path: &Path, by: By) {
        let fetched =
            |effect: &super::EffectFact| effect.effect == Effect::Fetch && effect.aspect != Some(Aspect::Loopback);
        if self.facts.effects.iter().any(fetched) {
            let why = "runs what may have been downloaded";
            return self.effect((Effect::Run, Some(Aspect::Downloaded)), Some(place::shown(path)), by, why);
        }
        let made = |folder: &Path| matches!(self.state.files.get(folder), Some(Made::Unknown(_)));
        if path.ancestors().any(|folder| made(folder) || made(&folder.join("*"))) {
            self.doubt(Doubt::Script, by, format!("{}: this script may make it", path.display()));
        }
    }

    /// A script that could not be read.
    pub(super) fn unread(&mut self, path: &Path, unread: crate::host::Unread, by: By) {
        use crate::host::Unread;
        let reason = match unread {
            // The shell will not find it either; in an assumed project it is the project's code.
            Unread::Missing => return self.missing(path, by),
            Unread::Unreadable if self.host.assumed() => return,
            Unread::Unreadable => "cannot be read",
            Unread::NotFile if matches!(self.host.look(path).kind, LookKind::Directory) => return,
            Unread::NotFile => "is not a regular file",
            // Programs are larger than scripts.
            Unread::TooLarge => return,
        };
        self.doubt(Doubt::Script, by, format!("{} {reason}", path.display()));
    }
}

/// The last name of a path.
fn base(name: &BStr) -> BString {
    name.rsplit_str("/").next().unwrap_or_default().into()
}

/// Only asks for the version or for help.
pub(super) fn is_inspection(argv: &[Option<BString>]) -> bool {
    const OPTIONS: &[&str] = &["--version", "--help", "-h", "-V", "-v", "version", "help"];
    matches!(argv, [_, Some(only)] if OPTIONS.iter().any(|option| only == option))
}
