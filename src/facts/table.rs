//! A program's table applied to its arguments: what they are, and what follows.

use std::borrow::Cow;

use bstr::{BStr, ByteSlice};

use super::Identity;
use super::command::Call;
use super::effect::{Aspect, Doubt, Effect, Part};
use super::network::{is_credential, is_sent};
use super::path::Reach;
use super::place;
use super::resolve::shown_pieces;
use super::state::{Folder, Made};
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::{By, Walker};
use crate::commands::{Declared, Language, Reading, Role, Table, Use};

/// A command that is being judged by its table.
pub(super) struct Judged<'r> {
    pub(super) name: &'r BStr,
    pub(super) call: &'r Call,
    pub(super) by: By,
    pub(super) reading: &'r Reading<'r>,
    /// Something is given to another host: text, files.
    pub(super) sends: bool,
    /// What git had done before this command.
    pub(super) git: super::discard::Git,
}

impl Walker<'_> {
    /// Judges a command by the table of its program.
    pub(super) fn by_table(
        &mut self,
        name: &BStr,
        table: Table<'_>,
        identity: Identity,
        words: &[Argument],
        call: &Call,
    ) {
        let mut reading = table.read(words.get(1..).unwrap_or_default());
        let command = self.list_command(Some(name.to_owned()), identity, words, call);
        if let Some(fact) = self.facts.commands.get_mut(command) {
            fact.subcommand.clone_from(&reading.subcommand);
            fact.options = reading.options.iter().map(crate::commands::Given::fact).collect();
            let text = |word: &Cow<'_, Argument>| if word.many { None } else { word.text().map(Cow::into_owned) };
            fact.operands = reading.operands.iter().map(text).collect();
        }
        let by = Self::own(command, call);
        if reading.inspect_only {
            self.effect((Effect::Inspect, None), None, by, "only prints");
            return self.print_unknown(UnknownKind::Any, format!("what {name} prints"));
        }
        let sends = reading
            .uses
            .iter()
            .any(|used| matches!(used.role, Role::Data | Role::Upload | Role::RemoteWrite if is_sent(used)));
        let sends = sends || reading.options.iter().any(is_credential);
        let cwd = self.state.cwd.clone();
        let files = self.state.files.clone();
        self.follow_chdir(&reading);
        let alias = self.subcommand_alias(&reading);
        if alias.is_some() {
            reading.doubts.retain(|vague| vague.doubt != Doubt::Program);
        }
        let judged = Judged { name, call, by, reading: &reading, sends, git: self.git };
        self.reading(&judged, &cwd);
        self.transferred(&judged, &files);
        self.environment(&judged, table);
        let fed = self.fed(&judged);
        self.recipes(&judged);
        alias.into_iter().for_each(|text| self.run_alias(&text, words, &judged));
        let tails = self.tails(&judged);
        self.state.cwd = cwd;
        if !fed && !tails {
            self.program_output(&judged);
        }
    }

    /// The doubts, effects and uses of a reading.
    pub(super) fn reading(&mut self, judged: &Judged<'_>, start: &Folder) {
        for vague in &judged.reading.doubts {
            let by = judged.by.at(vague.at.unwrap_or(judged.by.at));
            self.doubt(vague.doubt, by, vague.reason.clone());
        }
        for declared in &judged.reading.effects {
            self.declared(declared, judged, start);
            if declared.effect == Effect::Commit {
                self.recorded_elsewhere(judged.by);
            }
        }
        for used in &judged.reading.uses {
            self.used(used, judged);
        }
        // What is written depends on what is fetched and read, wherever that stands.
        for used in &judged.reading.uses {
            match used.role {
                Role::Write | Role::Append | Role::ArchiveWrite => self.filled(&used.value, judged, None),
                Role::Build => self.filled(&used.value, judged, Some(Made::Built)),
                Role::Url | Role::RemoteRead => self.saved(&used.value),
                _ => {}
            }
        }
        self.unpacked(judged);
    }

    /// `git -C`, `make -C`, `tar -C`: relative paths count from there.
    fn follow_chdir(&mut self, reading: &Reading<'_>) {
        for used in reading.uses.iter().filter(|used| used.role == Role::Chdir) {
            self.state.cwd = self.folder_at(&used.value);
        }
    }

    /// The folder that an argument names.
    pub(super) fn folder_at(&self, argument: &Argument) -> Folder {
        let mut targets = self.targets(&argument.pieces).into_iter();
        match (targets.next(), targets.next()) {
            (Some(target), None) => match (target.path, target.below, target.unsure) {
                (Some(path), ..) => Folder::Known(vec![path]),
                (None, _, Some(reason)) => Folder::Unknown(reason),
                (None, Some(below), None) => Folder::Below(below),
                (None, None, None) => Folder::Temp,
            },
            _ => Folder::Unknown("the working directory can be one of several".into()),
        }
    }

    fn declared(&mut self, declared: &Declared<'_>, judged: &Judged<'_>, start: &Folder) {
        if let Some(work) = declared.work {
            return self.forgo(work, declared, judged);
        }
        let by = judged.by;
        let reason =
            if declared.reason.is_empty() { default_reason(declared.effect).into() } else { declared.reason.clone() };
        let place =
            matches!(declared.effect, Effect::Read | Effect::Write | Effect::Delete) && declared.aspect.is_none();
        if place {
            if declared.at_cwd {
                let here = Argument::known(".", by.at);
                self.place_effect(declared.effect, &here, by);
            }
            for listed in self.listed_paths(declared, by) {
                self.place_effect(declared.effect, &listed, by);
            }
            let found = self.found_names(declared, judged);
            for argument in found
                .iter()
                .map(Cow::Borrowed)
                .chain(declared.on.iter().map(|on| Cow::Borrowed(&**on)).filter(|_| found.is_empty()))
            {
                let argument = &argument;
                // The folder that an option names was named from where the command started.
                let chdir =
                    judged.reading.uses.iter().any(|used| used.role == Role::Chdir && *used.value == **argument);
                let cwd = self.state.cwd.clone();
                if chdir {
                    self.state.cwd = start.clone();
                }
                match self.table_path(argument, by) {
                    Some(path) => self.place_effect(declared.effect, &path, by),
                    None => self.place_effect(declared.effect, argument, by.at(argument.at)),
                }
                self.state.cwd = cwd;
            }
            if !declared.at_cwd && !declared.at_input && declared.on.is_empty() {
                self.effect((declared.effect, None), None, by, reason);
            }
            return;
        }
        let built = matches!(
            (declared.effect, declared.aspect),
            (Effect::Run, Some(Aspect::Project)) | (Effect::Install, Some(Aspect::Locked | Aspect::Named))
        );
        let brought = built && self.is_downloaded(judged);
        let aspect = declared.aspect.filter(|_| !brought).or_else(|| match (declared.effect, declared.on.first()) {
            (Effect::Fetch | Effect::Send, Some(host)) => Some(Self::host_aspect(host)),
            (Effect::Fetch | Effect::Send, None) => Some(Aspect::Other),
            (Effect::Run | Effect::Install, _) if brought => Some(Aspect::Downloaded),
            (Effect::Signal, Some(_)) if declared.on.iter().all(|process| is_own(process, judged)) => Some(Aspect::Own),
            _ => None,
        });
        let target = declared.on.first().map(|argument| shown_pieces(&argument.pieces));
        let effect = if brought { Effect::Run } else { declared.effect };
        self.effect((effect, aspect), target, by, reason);
    }

    /// The paths that a program takes from its input, as far as the text of that is known.
    fn listed_paths(&self, declared: &Declared<'_>, by: By) -> Vec<Argument> {
        let input = self.frame.stdin.as_ref().filter(|_| declared.at_input);
        let texts = input.iter().flat_map(|pieces| pieces.iter()).filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            _ => None,
        });
        let lines = texts.flat_map(|text| text.split(|byte| matches!(byte, b'\n' | b'\0')));
        lines.filter(|line| !line.is_empty()).map(|line| Argument::known(line, by.at)).collect()
    }

    /// A path that the table itself names stands nowhere in the script; its `~` is the home folder.
    fn table_path(&self, argument: &Argument, by: By) -> Option<Argument> {
        let text = argument.text().filter(|_| argument.at == super::Location::default())?;
        let below = text.strip_prefix(b"~/")?;
        let path = self.host.home().join(place::path(below));
        Some(Argument::known(path.as_os_str().as_encoded_bytes(), by.at))
    }

    fn place_effect(&mut self, effect: Effect, argument: &Argument, by: By) {
        match effect {
            Effect::Delete => self.delete(argument, Reach::Tree, by),
            effect => self.path_effect(effect, argument, by, ""),
        }
    }

    fn device(&mut self, value: &Argument, by: By) {
        let target = Some(shown_pieces(&value.pieces));
        self.effect((Effect::Device, Some(Aspect::Device)), target, by, "changes a device");
    }

    /// A program or library that is started or loaded. One of a temporary folder that this script did not make, named by
    /// an option or a variable, is a doubt: a library says nothing that could be read.
    fn started(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        let by = judged.by.at(used.value.at);
        if used.option.is_some() {
            self.loads_from_temp(&used.value.pieces, by);
        }
        self.via(judged, |walker| walker.run(std::slice::from_ref(&*used.value), Call::program(by)));
    }

    /// `--user-data file://path`: a value that is read from a file.
    fn parameter_file(&mut self, value: &Argument, by: By) {
        let lead = value.prefix();
        if lead.starts_with(b"file://") || lead.starts_with(b"fileb://") {
            let scheme = lead.find("://").map_or(0, |at| at + 3);
            self.path_effect(Effect::Read, &without(value, scheme), by, "");
        }
    }

    /// What an argument is used for.
    pub(super) fn used(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        let value = &*used.value;
        let by = judged.by.at(value.at);
        let dash = value.pieces.as_slice() == [Piece::Text("-".into())];
        match used.role {
            Role::Text => self.parameter_file(value, by),
            Role::Names => self.names(value, by),
            Role::Read | Role::ArchiveRead | Role::Upload if dash => {}
            Role::Write | Role::Edit | Role::Build | Role::Append | Role::ArchiveWrite if dash => {}
            // ffmpeg, pandoc, converters: a file argument may as well be a URL.
            Role::Read if value.prefix().contains_str("://") => self.url_effect(Effect::Fetch, value, by),
            Role::Read | Role::Copy | Role::Link | Role::ArchiveRead | Role::Upload => {
                self.path_effect(Effect::Read, value, by, "");
            }
            Role::Edit => {
                let files = self.state.files.clone();
                self.path_effect(Effect::Write, value, by, "");
                self.edited(value, judged, files);
            }
            Role::Write | Role::Build | Role::Append | Role::ArchiveWrite => {
                self.path_effect(Effect::Write, value, by, "");
            }
            Role::Discard | Role::RefOrDiscard | Role::DropBranch | Role::NewBranch => self.given_up(used, judged),
            Role::MakeFolder => self.make_folder(value, by),
            Role::Delete => self.delete(value, Reach::File, by),
            Role::DeleteTree => self.delete(value, Reach::Tree, by),
            Role::Move => self.delete(value, Reach::Away, by),
            Role::Run => self.started(used, judged),
            Role::Library => self.library(value, by),
            Role::Blob => self.path_effect(Effect::Read, &blob_path(value), by, ""),
            Role::Script(language) => self.script_argument(language, used, judged),
            Role::Code(language) => self.code_argument(language, value, judged),
            Role::Load(language) => self.loaded(language, value, judged),
            Role::Module => self.module(value, by),
            Role::Url
            | Role::SendUrl
            | Role::Data
            | Role::Host
            | Role::Remote
            | Role::RemoteRead
            | Role::RemoteWrite
            | Role::Package => self.used_on_network(used, judged),
            Role::Device => self.device(value, by),
            Role::Process
            | Role::Placeholder
            | Role::List
            | Role::OtherTree
            | Role::Chdir
            | Role::Env
            | Role::Unset
            | Role::Config
            | Role::Assign
            | Role::Command { .. } => {}
        }
    }

    /// A file of code.
    pub(super) fn script(&mut self, language: Language, value: &Argument, arguments: &[Argument], judged: &Judged<'_>) {
        let by = judged.by.at(value.at);
        let text =
            value.text().map(|text| super::nested::descriptor(&text).map_or(text, |open| Cow::Owned(open.into())));
        if text.as_ref().is_some_and(|text| matches!(text.as_bytes(), b"-" | b"/dev/fd/0")) {
            let Some(stdin) = self.frame.stdin.clone() else {
                let reason = format!("{} reads code that is not known here", judged.name);
                return self.doubt(Doubt::Script, by.part(Part::Nested), reason);
            };
            return self.via(judged, |walker| {
                walker.code(language, stdin.to_vec(), format!("input of {}", judged.name), by);
            });
        }
        if text.as_ref().is_some_and(|text| text.contains_str("://")) {
            let target = text.map(Cow::into_owned);
            return self.effect((Effect::Run, Some(Aspect::Downloaded)), target, by, "runs code from the network");
        }
        if let Some(name) = &text
            && let Some((_, printed)) = self.pipes.iter().find(|(pipe, _)| *pipe == **name).cloned()
        {
            return self.via(judged, |walker| {
                walker.code(language, printed.to_vec(), format!("input of {}", judged.name), by);
            });
        }
        for target in self.targets(&value.pieces) {
            if let Some(path) = target.path {
                self.known_script(&path, arguments, judged);
                self.via(judged, |walker| walker.run_path(&path, arguments, by, Some(language)));
            } else {
                let aspect = if target.unsure.is_some() { Some(Aspect::Unknown) } else { target.aspect };
                self.effect((Effect::Run, aspect), Some(target.shown.clone()), by, "runs a file");
                self.doubt(
                    Doubt::Script,
                    by.part(Part::Nested),
                    format!("which script is run is not known: {}", target.shown),
                );
            }
        }
    }

    /// A script with the operands after it.
    fn script_argument(&mut self, language: Language, used: &Use<'_>, judged: &Judged<'_>) {
        if is_beside(used, judged) {
            self.loads_from_temp(&used.value.pieces, judged.by.at(used.value.at));
        }
        let operands = &judged.reading.operands;
        let after = operands.iter().position(|operand| operand.at == used.value.at).map_or(0, |found| found + 1);
        let arguments: Vec<_> = operands.iter().skip(after).map(|operand| (**operand).clone()).collect();
        self.script(language, &used.value, &arguments, judged);
    }

    /// Text of code.
    fn code_argument(&mut self, language: Language, value: &Argument, judged: &Judged<'_>) {
        let by = judged.by.at(value.at);
        let name = match &Self::option_of(judged, value) {
            Some(option) => format!("argument of {} {option}", judged.name),
            None => format!("argument of {}", judged.name),
        };
        match language {
            Language::Options | Language::Settings => {}
            Language::GitAlias => {
                if value.prefix().starts_with(b"!") {
                    self.via(judged, |walker| walker.code(Language::Sh, without(value, 1).pieces, name, by));
                }
            }
            _ => {
                if let Some(dialect) = self.shell_of(language) {
                    let mut operands = judged.reading.operands.iter().map(|operand| (**operand).clone());
                    let is_shell = matches!(
                        language,
                        Language::Bash | Language::Sh | Language::Dash | Language::Zsh | Language::Shell
                    );
                    let zero = operands.next().and_then(|zero| zero.text().map(Cow::into_owned));
                    let zero = zero.filter(|_| is_shell).unwrap_or_else(|| judged.name.to_owned());
                    let shell = Some((zero, operands.collect()));
                    let text = value.pieces.clone();
                    self.nested(super::nested::Nested { text, name, dialect, shell, by });
                } else {
                    let arguments: Vec<_> = judged.reading.operands.iter().map(|operand| (**operand).clone()).collect();
                    self.via(judged, |walker| walker.inline(language, &value.pieces, &arguments, by));
                }
            }
        }
    }

    fn option_of(judged: &Judged<'_>, value: &Argument) -> Option<String> {
        let used = judged.reading.uses.iter().find(|used| used.value.at == value.at)?;
        used.option.as_ref().map(ToString::to_string)
    }

    /// An interpreter without a script reads it from its input.
    fn fed(&mut self, judged: &Judged<'_>) -> bool {
        let runs = |role: &Role| matches!(role, Role::Script(_) | Role::Code(_) | Role::Module);
        let shell = |role: &Role| match role {
            Role::Script(language) | Role::Code(language) => self.shell_of(*language).is_some(),
            _ => false,
        };
        if judged.reading.uses.iter().any(|used| runs(&used.role)) {
            return judged.reading.uses.iter().any(|used| shell(&used.role));
        }
        // Operands where the script would stand are what the program looks at instead (`node --check FILE`).
        let script = judged.reading.script.filter(|_| judged.reading.tails.is_empty());
        let Some(language) = script else { return false };
        let by = judged.by;
        let Some(stdin) = self.frame.stdin.clone() else {
            let command = by.command.and_then(|command| self.facts.commands.get(command));
            let asks = command.is_some_and(|command| super::program::is_inspection(&command.argv));
            if asks || judged.reading.uses.iter().any(|used| used.role != Role::Text) {
                return false;
            }
            let reason = format!("{} reads code that is not known here", judged.name);
            self.doubt(Doubt::Script, by.part(Part::Nested), reason);
            return false;
        };
        let name = format!("input of {}", judged.name);
        self.via(judged, |walker| {
            walker.framed(|frame| frame.stdin = None, |walker| walker.code(language, stdin.to_vec(), name, by));
        });
        self.shell_of(language).is_some()
    }

    /// Runs `walk` as reached through this command.
    pub(super) fn via(&mut self, judged: &Judged<'_>, walk: impl FnOnce(&mut Self)) {
        let name = judged.name.to_string();
        self.framed(
            |frame| {
                frame.via = frame.reached(name);
                if !judged.call.environment.is_empty() {
                    frame.given = std::rc::Rc::new(judged.call.environment.clone());
                }
            },
            walk,
        );
    }
}

/// What this shell started itself, and may stop: `$!`, and the jobs of its own `kill`.
fn is_own(process: &Argument, judged: &Judged<'_>) -> bool {
    let child = |piece: &Piece| matches!(piece, Piece::Unknown(unknown) if unknown.kind == UnknownKind::Child);
    match process.pieces.as_slice() {
        // `-PID`: with all that it started in turn.
        [Piece::Text(minus), rest @ ..] if minus == "-" => !rest.is_empty() && rest.iter().all(child),
        [Piece::Text(job), ..] => judged.call.builtins && job.starts_with(b"%"),
        pieces => !pieces.is_empty() && pieces.iter().all(child),
    }
}

/// Whether this code is no more than what comes with the code or files that the operands are.
fn is_beside(used: &Use<'_>, judged: &Judged<'_>) -> bool {
    let key = used.option.as_ref().is_some_and(|option| !option.starts_with(['-', '+']));
    let main = |other: &Use<'_>| other.option.is_none() && matches!(other.role, Role::Script(_) | Role::Edit);
    key || judged.by.part == Part::Assignment || used.option.is_some() && judged.reading.uses.iter().any(main)
}

/// The path in `REV:PATH`; without a colon it is all path.
fn blob_path(value: &Argument) -> Argument {
    let lead = value.prefix();
    without(value, lead.find_byte(b':').map_or(0, |colon| colon + 1))
}

/// An argument without the first bytes of its leading text.
pub(super) fn without(argument: &Argument, count: usize) -> Argument {
    let mut left = count;
    let mut pieces = Vec::with_capacity(argument.pieces.len());
    for piece in &argument.pieces {
        match piece {
            Piece::Text(text) if left > 0 => {
                let skipped = left.min(text.len());
                left -= skipped;
                pieces.push(Piece::Text(text.get(skipped..).unwrap_or_default().into()));
            }
            piece => pieces.push(piece.clone()),
        }
    }
    Argument { pieces, ..*argument }
}

/// Whether every piece is known and the text is empty.
pub(super) fn is_blank(pieces: &[Piece]) -> bool {
    known(pieces).is_some_and(|text| text.trim_ascii().is_empty())
}

fn default_reason(effect: Effect) -> &'static str {
    match effect {
        Effect::Inspect => "only looks",
        Effect::Read => "reads files",
        Effect::Write => "changes files",
        Effect::Delete => "deletes files",
        Effect::Run => "runs code",
        Effect::Install => "installs packages",
        Effect::Fetch => "gets something from another host",
        Effect::Send => "gives something to another host",
        Effect::Publish => "makes something public",
        Effect::Discard => "loses work or history",
        Effect::Commit => "records work in the repository",
        Effect::Signal => "signals processes",
        Effect::Elevate => "gets other rights",
        Effect::Persist => "makes code run later",
        Effect::Configure => "changes settings",
        Effect::Device => "writes to a device",
        Effect::Control => "changes containers, clouds, databases or other machines",
        Effect::Tamper => "touches vetsh or another terminal",
        Effect::Exhaust => "takes the machine down by exhaustion",
    }
}
