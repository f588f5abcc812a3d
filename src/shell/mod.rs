//! How each shell reads its arguments, and where its script is.
//!
//! A model per shell, each with that shell's own loop over tables of options. Where a model knows that the real shell
//! will complain, it still goes on as if the option were one, so that a text which a newer shell would run is judged.

pub mod bash;
pub mod dash;
pub mod preamble;
pub mod source;
pub mod startup;
pub mod zsh;

use bstr::{BStr, ByteSlice};

use crate::syntax::Dialect;

/// The shells that are modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shell {
    /// bash 5.2.
    Bash,
    /// zsh 5.9.
    Zsh,
    /// dash 0.5.12.
    Dash,
}

/// Where the commands are that a shell will run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source<'a> {
    /// In the argument of `-c`.
    Text(&'a BStr),
    /// In the file of this name.
    File(&'a BStr),
    /// On descriptor 0.
    Stdin,
    /// Nowhere: the shell prints something, or complains.
    Nowhere,
}

/// What a shell makes of its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading<'a> {
    /// Where its commands are.
    pub source: Source<'a>,
    /// It goes on with descriptor 0 after the text (dash with `-s` and `-c`).
    pub then_stdin: bool,
    /// `$0`.
    pub zero: &'a BStr,
    /// `$1` and the following.
    pub positional: Vec<&'a BStr>,
    /// The options that matter to what it runs.
    pub flags: Flags<'a>,
}

/// The options that matter to what a shell runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "a shell's options are switches")]
pub struct Flags<'a> {
    /// `-c` was given.
    pub command: bool,
    /// `-s` was given.
    pub stdin: bool,
    /// A login shell.
    pub login: bool,
    /// `-i` or `+i`; `None` leaves it to the terminal.
    pub interactive: Option<bool>,
    /// Reads without running.
    pub noexec: bool,
    /// POSIX mode (bash), or emulation of sh, ksh or csh (zsh), from the start on.
    pub posix: bool,
    /// Ignores `BASH_ENV`, `ENV` and inherited functions.
    pub privileged: bool,
    /// Restricted shell.
    pub restricted: bool,
    /// `-x`: `PS4` is expanded.
    pub trace: bool,
    /// `-e`.
    pub errexit: bool,
    /// No personal startup file for interactive shells (bash), none but the first system one (zsh).
    pub norc: bool,
    /// No startup file for login shells.
    pub noprofile: bool,
    /// No system-wide startup files but the first (zsh).
    pub noglobalrc: bool,
    /// The file read instead of `~/.bashrc`.
    pub rcfile: Option<&'a BStr>,
    /// Prints help or its version and ends.
    pub prints: bool,
    /// The real shell will complain and end, as far as this model knows.
    pub complains: bool,
    /// Options switched by name, in order.
    pub names: Vec<(&'a BStr, bool)>,
}

/// What an option does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Command,
    Stdin,
    Login,
    Interactive,
    NoExec,
    Posix,
    Privileged,
    Restricted,
    Trace,
    ErrExit,
    NoRc,
    NoProfile,
    NoGlobalRc,
    RcFile,
    Print,
    /// The next argument is the name of an option.
    Name,
    /// The next argument is the name of one of bash's shopt options.
    Shopt,
    /// Does not change what is run.
    Plain,
}

/// The letters of bash or dash.
struct Letters {
    known: &'static [(u8, Meaning)],
    /// Those whose sign does not matter.
    unsigned: &'static [u8],
    /// The names after `-o` that matter; the others switch what does not.
    names: &'static [(&'static [u8], Meaning)],
}

impl<'a> Flags<'a> {
    /// Takes a cluster of letters and the values that they ask for off `rest`; false where the options end.
    fn cluster(&mut self, letters: &Letters, rest: &mut &[&'a BStr]) -> bool {
        let Some((argument, following)) = rest.split_first() else { return false };
        let on = match argument.first() {
            Some(b'-') => true,
            Some(b'+') => false,
            _ => return false,
        };
        *rest = following;
        if matches!(argument.as_bytes(), b"-" | b"--") {
            return false;
        }
        for letter in argument.iter().skip(1) {
            match find(letters.known, *letter) {
                Some(meaning @ (Meaning::Name | Meaning::Shopt)) => self.named(meaning, on, rest, letters.names),
                Some(meaning) => self.switch(meaning, on || letters.unsigned.contains(letter)),
                None => self.complains = true,
            }
        }
        true
    }

    /// Takes an option without a value.
    fn switch(&mut self, meaning: Meaning, on: bool) {
        match meaning {
            Meaning::Command => self.command = true,
            Meaning::Stdin => self.stdin = on,
            Meaning::Login => self.login = on,
            Meaning::Interactive => self.interactive = Some(on),
            Meaning::NoExec => self.noexec = on,
            Meaning::Posix => self.posix = on,
            Meaning::Privileged => self.privileged = on,
            Meaning::Restricted => self.restricted = on,
            Meaning::Trace => self.trace = on,
            Meaning::ErrExit => self.errexit = on,
            Meaning::NoRc => self.norc = on,
            Meaning::NoProfile => self.noprofile = on,
            Meaning::NoGlobalRc => self.noglobalrc = on,
            Meaning::Print => self.prints = true,
            Meaning::RcFile | Meaning::Name | Meaning::Shopt | Meaning::Plain => {}
        }
    }

    /// Takes the name of an option off `rest`; without one the shell lists its options and goes on.
    fn named(&mut self, meaning: Meaning, on: bool, rest: &mut &[&'a BStr], names: &[(&[u8], Meaning)]) {
        let Some((name, following)) = rest.split_first() else { return };
        *rest = following;
        // No option's name begins so, in any version.
        self.complains |= name.starts_with(b"-") || name.starts_with(b"+") || name.is_empty();
        if meaning == Meaning::Name {
            self.switch(find(names, name.as_bytes()).unwrap_or(Meaning::Plain), on);
        }
        self.names.push((*name, on));
    }
}

impl Shell {
    /// Reads `arguments` (the caller's `argv[0]` first) as the real shell does.
    pub fn read<'a>(self, arguments: &[&'a BStr]) -> Reading<'a> {
        match self {
            Self::Bash => bash::read(arguments),
            Self::Zsh => zsh::read(arguments),
            Self::Dash => dash::read(arguments),
        }
    }

    /// Whose rules a script is read by that this shell gets with `-c` and no mode option.
    pub fn dialect(self) -> Dialect {
        match self {
            Self::Bash => Dialect::Bash,
            Self::Zsh => Dialect::Zsh,
            Self::Dash => Dialect::Dash,
        }
    }

    /// The shell whose program file has this name (`bash`, `bash-static`, `zsh5`, `zsh-5.9`).
    pub fn named(file: &[u8]) -> Option<Self> {
        let word = file.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        match file.get(..word)? {
            b"bash" | b"rbash" => Some(Self::Bash),
            b"zsh" | b"rzsh" => Some(Self::Zsh),
            b"dash" => Some(Self::Dash),
            _ => None,
        }
    }
}

impl<'a> Reading<'a> {
    /// What remains when the options are read: the text of `-c`, then `$0`, or a file, then positional parameters.
    ///
    /// `rest` is everything after the options. `keeps_zero`: with `-s` the text of `-c` is followed by parameters at
    /// once (zsh).
    fn finish(mut flags: Flags<'a>, caller: &'a BStr, rest: &[&'a BStr], keeps_zero: bool) -> Self {
        let mut rest = rest.iter().copied();
        let source = if flags.command {
            match rest.next() {
                Some(text) => Source::Text(text),
                None => {
                    flags.complains = true;
                    Source::Nowhere
                }
            }
        } else if flags.stdin || rest.len() == 0 {
            Source::Stdin
        } else {
            Source::File(rest.clone().next().unwrap_or_default())
        };
        let zero = match source {
            Source::Text(_) if keeps_zero => caller,
            Source::Text(_) | Source::File(_) => rest.next().unwrap_or(caller),
            Source::Stdin | Source::Nowhere => caller,
        };
        let source = match source {
            _ if flags.prints => Source::Nowhere,
            Source::Stdin if flags.complains => Source::Nowhere,
            // An interactive shell may take the option back.
            _ if flags.noexec && flags.interactive != Some(true) => Source::Nowhere,
            source => source,
        };
        Self { source, then_stdin: false, zero, positional: rest.collect(), flags }
    }
}

/// The entry of a table with this key.
fn find<K: PartialEq + Copy>(table: &[(K, Meaning)], key: K) -> Option<Meaning> {
    table.iter().find(|(entry, _)| *entry == key).map(|(_, meaning)| *meaning)
}
