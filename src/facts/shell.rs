//! Shells that a script starts: read by the very option models by which vetsh itself is called.

use bstr::{BStr, BString, ByteSlice};

use super::Identity;
use super::command::Call;
use super::effect::{Doubt, Effect, Part};
use super::nested::Nested;
use super::table::Judged;
use super::value::{Argument, Piece};
use super::walker::{By, Walker};
use crate::commands::{Language, Reading};
use crate::shell::{Flags, Shell, Source};
use crate::syntax::Dialect;

/// Stands for an argument that is not known where an option model wants text; no argument can hold it.
const UNKNOWN: &[u8] = b"\0not known\0";

impl Walker<'_> {
    /// The shell that a program of this name is.
    pub(super) fn shell_named(&self, name: &BStr) -> Option<Shell> {
        if name != "sh" {
            return Shell::named(name);
        }
        Some(if self.sh() == Dialect::Dash { Shell::Dash } else { Shell::Bash })
    }

    /// A shell is started with these words.
    pub(super) fn by_shell(&mut self, shell: Shell, name: &BStr, identity: Identity, words: &[Argument], call: &Call) {
        let command = self.list_command(Some(name.to_owned()), identity, words, call);
        let by = Self::own(command, call);
        let reading = Reading::default();
        let judged = Judged { name, call, by, reading: &reading, sends: false, git: self.git };
        let texts: Vec<BString> = words.iter().enumerate().map(|(index, word)| text_of(index, name, word)).collect();
        let texts: Vec<&BStr> = texts.iter().map(BString::as_ref).collect();
        let read = shell.read(&texts);
        let word_of = |text: &BStr| texts.iter().position(|known| std::ptr::eq::<BStr>(*known, text));
        let argument = |text: &&BStr| {
            let known = || Argument::known((*text).to_owned(), by.at);
            word_of(text).and_then(|index| words.get(index)).cloned().unwrap_or_else(known)
        };
        if read.flags.prints || read.flags.noexec {
            return self.effect((Effect::Inspect, None), None, by, "only prints or checks");
        }
        let source = match read.source {
            Source::Text(text) | Source::File(text) => word_of(text).unwrap_or(words.len()),
            Source::Stdin | Source::Nowhere => words.len(),
        };
        let vague = |word: &Argument| word.many || word.text().is_none();
        if let Some(word) = words.iter().take(source).skip(1).find(|word| vague(word)) {
            self.doubt(Doubt::Argument, by.at(word.at), format!("an option of {name} is not known"));
        }
        let positional: Vec<Argument> = read.positional.iter().map(argument).collect();
        let started = Started { shell, flags: &read.flags, zero: read.zero.to_owned(), positional };
        self.via(&judged, |walker| {
            walker.frame.prepared |= read.flags.login || read.flags.interactive == Some(true);
            walker.shell_startup(&started, by);
            match read.source {
                Source::Text(text) => {
                    let what = format!("argument of {name} -c");
                    walker.shell_text(argument(&text).pieces, what, &started, by);
                    if read.then_stdin {
                        walker.shell_input(&started, name, by);
                    }
                }
                Source::File(text) => {
                    let language = if name == "sh" { Language::Sh } else { language_of(shell) };
                    walker.script(language, &argument(&text), &started.positional, &judged);
                }
                Source::Stdin => walker.shell_input(&started, name, by),
                Source::Nowhere => {}
            }
        });
    }

    fn shell_text(&mut self, text: Vec<Piece>, name: String, started: &Started<'_>, by: By) {
        let dialect = started.dialect();
        let shell = Some((started.zero.clone(), started.positional.clone()));
        self.nested(Nested { text, name, dialect, shell, by });
    }

    /// The shell reads its commands from standard input.
    fn shell_input(&mut self, started: &Started<'_>, name: &BStr, by: By) {
        match self.frame.stdin.take() {
            Some(stdin) => self.shell_text(stdin.to_vec(), format!("input of {name}"), started, by),
            None => self.doubt(
                Doubt::Script,
                by.part(Part::Nested),
                format!("{name} reads commands that are not known here"),
            ),
        }
    }

    /// Files that run first because of variables that the script itself sets, or of `--rcfile`.
    fn shell_startup(&mut self, started: &Started<'_>, by: By) {
        let bash = started.shell == Shell::Bash && !started.flags.posix && !started.flags.privileged;
        let mut files = Vec::new();
        if bash && started.flags.interactive != Some(true) {
            files.extend(self.given_variable(BStr::new("BASH_ENV")));
        }
        if started.flags.interactive == Some(true) {
            files.extend(started.flags.rcfile.map(|file| vec![Piece::Text(file.to_owned())]));
            files.extend(self.given_variable(BStr::new("ENV")));
        }
        // A shell of root takes no PS4 from its environment.
        if started.flags.trace
            && self.host.user() != 0
            && let Some(text) = self.given_variable(BStr::new("PS4"))
        {
            self.prompted(&text, by.part(Part::Assignment));
        }
        if started.flags.interactive == Some(true) {
            self.shell_prompts(by.part(Part::Assignment));
        }
        if self.frame.given.iter().any(|(name, _)| name.starts_with(b"BASH_FUNC_")) {
            self.doubt(Doubt::Script, by.part(Part::Assignment), "a function is given to the shell by a variable");
        }
        files.extend(self.home_files(started));
        for pieces in files.into_iter().filter(|pieces| !pieces.is_empty()) {
            for target in self.targets(&pieces) {
                match target.path {
                    Some(path) if self.host.assumed() && !self.state.files.contains_key(&path) => {
                        let reason = format!("{} runs first, and cannot be read", target.shown);
                        self.doubt(Doubt::Script, by.part(Part::Assignment), reason);
                    }
                    Some(path) if self.is_absent(&path) => {}
                    Some(path) => {
                        self.run_path(&path, &[], by.part(Part::Assignment), Some(language_of(started.shell)));
                    }
                    None => {
                        let reason = format!("which file runs first is not known: {}", target.shown);
                        self.doubt(Doubt::Script, by.part(Part::Assignment), reason);
                    }
                }
            }
        }
    }

    /// What an interactive shell runs to show its prompts.
    fn shell_prompts(&mut self, by: By) {
        for name in ["PS0", "PS1", "PS2"] {
            if let Some(text) = self.given_variable(BStr::new(name)) {
                self.prompted(&text, by);
            }
        }
        if let Some(text) = self.given_variable(BStr::new("PROMPT_COMMAND")) {
            let (name, dialect) = ("PROMPT_COMMAND".to_owned(), self.frame.dialect);
            self.nested(Nested { text, name, dialect, shell: None, by });
        }
    }

    /// Startup files in a home folder that the script itself chooses.
    fn home_files(&self, started: &Started<'_>) -> Vec<Vec<Piece>> {
        let flags = started.flags;
        let interactive = flags.interactive == Some(true);
        let zsh = started.shell == Shell::Zsh && !flags.posix;
        let names: &[(&str, bool)] = match started.shell {
            Shell::Zsh if zsh => {
                let read = !flags.norc && !flags.privileged;
                &[
                    (".zshenv", read),
                    (".zprofile", read && flags.login),
                    (".zshrc", read && interactive),
                    (".zlogin", read && flags.login),
                ]
            }
            Shell::Bash => &[
                (".bash_profile", flags.login && !flags.noprofile),
                (".bash_login", flags.login && !flags.noprofile),
                (".profile", flags.login && !flags.noprofile),
                (".bashrc", interactive && !flags.norc && !flags.login),
            ],
            Shell::Dash | Shell::Zsh => &[(".profile", flags.login)],
        };
        let folder = zsh.then(|| self.given_variable(BStr::new("ZDOTDIR"))).flatten();
        let Some(folder) = folder.or_else(|| self.given_variable(BStr::new("HOME"))) else { return Vec::new() };
        let wanted = names.iter().filter(|(_, wanted)| *wanted);
        wanted
            .map(|(name, _)| {
                let mut path = folder.clone();
                super::expand::append(&mut path, [Piece::Text(format!("/{name}").into())]);
                path
            })
            .collect()
    }

    /// Nothing stands there, and this script puts nothing there.
    fn is_absent(&self, path: &std::path::Path) -> bool {
        let made = path.ancestors().any(|folder| self.state.files.contains_key(folder));
        !made && self.host.look(path).kind == crate::host::LookKind::Missing
    }

    /// A variable that the script gives to what it starts; inherited ones are judged where vetsh itself is started.
    fn given_variable(&self, name: &BStr) -> Option<Vec<Piece>> {
        let given = self.frame.given.iter().rev().find(|(given, _)| given == name).map(|(_, pieces)| pieces.clone());
        let set = || match self.state.variables.get(name) {
            Some(variable) if variable.exported => match variable.values.as_slice() {
                [super::state::Value::Scalar(pieces)] => Some(pieces.clone()),
                _ => None,
            },
            _ => None,
        };
        given.or_else(set)
    }
}

/// A shell that is started.
struct Started<'s> {
    shell: Shell,
    flags: &'s Flags<'s>,
    zero: BString,
    positional: Vec<Argument>,
}

impl Started<'_> {
    fn dialect(&self) -> Dialect {
        let posix = self.flags.posix || self.zero == "sh";
        match (self.shell, posix) {
            (Shell::Bash, false) => Dialect::Bash,
            (Shell::Bash, true) => Dialect::BashPosix,
            (Shell::Zsh, false) => Dialect::Zsh,
            (Shell::Zsh, true) => Dialect::ZshSh,
            (Shell::Dash, _) => Dialect::Dash,
        }
    }
}

fn language_of(shell: Shell) -> Language {
    match shell {
        Shell::Bash => Language::Bash,
        Shell::Zsh => Language::Zsh,
        Shell::Dash => Language::Dash,
    }
}

fn text_of(index: usize, name: &BStr, word: &Argument) -> BString {
    match word.text() {
        _ if index == 0 => name.to_owned(),
        Some(text) if !word.many => text.into_owned(),
        _ => [word.prefix().as_bytes(), UNKNOWN].concat().into(),
    }
}
