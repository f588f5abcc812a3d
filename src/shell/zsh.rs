//! How zsh 5.9 reads its arguments (`init.c`): one loop, in which the first option fixes the emulation.

use bstr::{BStr, ByteSlice};

use super::{Flags, Meaning, Reading, find};
use crate::invocation::base_name;

/// Letters in every mode.
const LETTERS: &[(u8, Meaning)] = &[
    (b'e', Meaning::ErrExit),
    (b'i', Meaning::Interactive),
    (b'l', Meaning::Login),
    (b'n', Meaning::NoExec),
    (b'p', Meaning::Privileged),
    (b'r', Meaning::Restricted),
    (b's', Meaning::Stdin),
    (b'x', Meaning::Trace),
];

/// Further letters in zsh's own mode. All others and digits but those of [`UNKNOWN`] switch what does not matter.
const OWN_LETTERS: &[(u8, Meaning)] = &[(b'd', Meaning::NoGlobalRc), (b'f', Meaning::NoRc)];

/// Further letters where zsh plays sh or ksh; none of them matters.
const SH_LETTERS: &[u8] = b"abfmtuvwCTX";

/// Letters that zsh's own mode does not have.
const UNKNOWN: &[u8] = b"Ajqz";

/// The names that matter, in lower case and without underscores; `no` before them turns them round.
const NAMES: &[(&[u8], Meaning)] = &[
    (b"errexit", Meaning::ErrExit),
    (b"interactive", Meaning::Interactive),
    (b"login", Meaning::Login),
    (b"loginshell", Meaning::Login),
    (b"privileged", Meaning::Privileged),
    (b"restricted", Meaning::Restricted),
    (b"shinstdin", Meaning::Stdin),
    (b"stdin", Meaning::Stdin),
    (b"xtrace", Meaning::Trace),
];

/// The names that matter by being off.
const NEGATED: &[(&[u8], Meaning)] =
    &[(b"exec", Meaning::NoExec), (b"globalrcs", Meaning::NoGlobalRc), (b"rcs", Meaning::NoRc)];

/// The loop's state.
struct Parser<'a> {
    flags: Flags<'a>,
    /// The name that decides the emulation once an option needs it.
    emulation: &'a BStr,
    /// That moment has come.
    emulated: bool,
    /// The letters of sh are in force.
    sh_letters: bool,
    /// `-b`: no option after this argument.
    last: bool,
}

/// Reads the arguments, the caller's `argv[0]` first.
pub(super) fn read<'a>(arguments: &[&'a BStr]) -> Reading<'a> {
    let caller = arguments.first().copied().unwrap_or_default();
    let name = base_name(caller);
    let name = name.strip_prefix(b"-").map_or(name, |name| name.as_bstr());
    let flags = Flags { login: caller.starts_with(b"-"), ..Flags::default() };
    let mut parser = Parser { flags, emulation: name, emulated: false, sh_letters: false, last: false };
    let mut rest = arguments.get(1..).unwrap_or_default();
    while !parser.last && parser.argument(&mut rest) {}
    parser.emulate();
    let keeps_zero = parser.flags.stdin;
    Reading::finish(parser.flags, caller, rest, keeps_zero)
}

impl<'a> Parser<'a> {
    /// Takes one argument and the values that it asks for off `rest`; false where the options end.
    fn argument(&mut self, rest: &mut &[&'a BStr]) -> bool {
        let Some((argument, following)) = rest.split_first() else { return false };
        let (on, mut left) = match argument.split_first() {
            Some((b'-', left)) => (true, left),
            Some((b'+', left)) => (false, left),
            _ => return false,
        };
        *rest = following;
        if left.is_empty() {
            return false;
        }
        if let Some(name) = left.strip_prefix(b"-").filter(|name| !name.is_empty()) {
            self.long(name.as_bstr(), on, rest);
            return true;
        }
        while let Some((letter, after)) = left.split_first() {
            match letter {
                b'-' if after.is_empty() => return false,
                b'o' => {
                    self.name(after.as_bstr(), on, rest);
                    break;
                }
                // White space may end a cluster, as a `#!` line leaves it.
                b' ' | b'\t'..=b'\r' => {
                    self.flags.complains |= !after.iter().all(u8::is_ascii_whitespace);
                    break;
                }
                letter => self.letter(*letter, on),
            }
            left = after;
        }
        true
    }

    fn letter(&mut self, letter: u8, on: bool) {
        let ends = letter == b'b' && !self.sh_letters;
        self.emulate();
        if ends {
            self.last = true;
        } else if letter == b'c' {
            self.flags.command = true;
        } else if let Some(meaning) = find(LETTERS, letter) {
            self.flags.switch(meaning, on);
        } else if self.sh_letters {
            self.flags.complains |= !SH_LETTERS.contains(&letter);
        } else {
            self.flags.complains |= !letter.is_ascii_alphanumeric() || UNKNOWN.contains(&letter);
            self.flags.switch(find(OWN_LETTERS, letter).unwrap_or(Meaning::Plain), on);
        }
    }

    /// `--name`.
    fn long(&mut self, name: &'a BStr, on: bool, rest: &mut &[&'a BStr]) {
        match name.as_bytes() {
            b"version" | b"help" => self.flags.prints = true,
            b"emulate" => {
                let Some((emulation, following)) = rest.split_first() else {
                    self.flags.complains = true;
                    return;
                };
                self.flags.complains |= self.emulated;
                self.emulation = emulation;
                *rest = following;
            }
            _ => self.switch_named(name, on),
        }
    }

    /// `-o name`, `-oname`.
    fn name(&mut self, attached: &'a BStr, on: bool, rest: &mut &[&'a BStr]) {
        let name = if attached.is_empty() {
            let Some((name, following)) = rest.split_first() else {
                self.flags.complains = true;
                return;
            };
            *rest = following;
            *name
        } else {
            attached
        };
        self.switch_named(name, on);
    }

    fn switch_named(&mut self, name: &'a BStr, on: bool) {
        self.emulate();
        self.flags.names.push((name, on));
        let plain: Vec<u8> =
            name.iter().filter(|byte| !matches!(byte, b'_' | b'-')).map(u8::to_ascii_lowercase).collect();
        let (positive, stripped) = plain.strip_prefix(b"no").map_or((on, plain.as_slice()), |name| (!on, name));
        if stripped == b"shoptionletters" {
            self.sh_letters = positive;
        } else if let Some(meaning) = find(NAMES, stripped) {
            self.flags.switch(meaning, positive);
        } else if let Some(meaning) = find(NEGATED, stripped) {
            self.flags.switch(meaning, !positive);
        }
    }

    /// Fixes the emulation by the first letter of the name, `r` for restricted left out.
    fn emulate(&mut self) {
        if self.emulated {
            return;
        }
        self.emulated = true;
        let name = self.emulation;
        let name = name.strip_prefix(b"r").filter(|name| !name.is_empty()).unwrap_or(name);
        self.flags.posix = matches!(name.first(), Some(b's' | b'b' | b'k' | b'c'));
        self.sh_letters = matches!(name.first(), Some(b's' | b'b' | b'k'));
    }
}
