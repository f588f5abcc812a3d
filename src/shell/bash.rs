//! How bash 5.2 reads its arguments (`shell.c`): long options first and only before all others, then clusters.

use bstr::BStr;

use super::{Flags, Letters, Meaning, Reading, find};
use crate::invocation::base_name;

/// Long options, with one dash or two.
const LONG: &[(&[u8], Meaning)] = &[
    (b"debug", Meaning::Plain),
    (b"debugger", Meaning::Plain),
    (b"dump-po-strings", Meaning::NoExec),
    (b"dump-strings", Meaning::NoExec),
    (b"help", Meaning::Print),
    (b"init-file", Meaning::RcFile),
    (b"login", Meaning::Login),
    (b"noediting", Meaning::Plain),
    (b"noprofile", Meaning::NoProfile),
    (b"norc", Meaning::NoRc),
    (b"posix", Meaning::Posix),
    (b"pretty-print", Meaning::Plain),
    (b"rcfile", Meaning::RcFile),
    (b"restricted", Meaning::Restricted),
    (b"verbose", Meaning::Plain),
    (b"version", Meaning::Print),
];

const LETTERS: &Letters = &Letters { known: KNOWN, unsigned: b"clsD", names: NAMES };

/// Letters, after `-` or `+`.
const KNOWN: &[(u8, Meaning)] = &[
    (b'c', Meaning::Command),
    (b'l', Meaning::Login),
    (b's', Meaning::Stdin),
    (b'o', Meaning::Name),
    (b'O', Meaning::Shopt),
    (b'D', Meaning::NoExec),
    (b'i', Meaning::Interactive),
    (b'n', Meaning::NoExec),
    (b'p', Meaning::Privileged),
    (b'r', Meaning::Restricted),
    (b'x', Meaning::Trace),
    (b'e', Meaning::ErrExit),
    (b'a', Meaning::Plain),
    (b'b', Meaning::Plain),
    (b'f', Meaning::Plain),
    (b'h', Meaning::Plain),
    (b'k', Meaning::Plain),
    (b'm', Meaning::Plain),
    (b't', Meaning::Plain),
    (b'u', Meaning::Plain),
    (b'v', Meaning::Plain),
    (b'B', Meaning::Plain),
    (b'C', Meaning::Plain),
    (b'E', Meaning::Plain),
    (b'H', Meaning::Plain),
    (b'P', Meaning::Plain),
    (b'T', Meaning::Plain),
];

/// The names after `-o` that matter; the others switch what does not.
const NAMES: &[(&[u8], Meaning)] = &[
    (b"errexit", Meaning::ErrExit),
    (b"noexec", Meaning::NoExec),
    (b"posix", Meaning::Posix),
    (b"privileged", Meaning::Privileged),
    (b"xtrace", Meaning::Trace),
];

/// Reads the arguments, the caller's `argv[0]` first.
pub(super) fn read<'a>(arguments: &[&'a BStr]) -> Reading<'a> {
    let caller = arguments.first().copied().unwrap_or_default();
    let name = base_name(caller);
    let mut flags = Flags {
        login: caller.starts_with(b"-"),
        restricted: name.strip_prefix(b"-").unwrap_or(name) == b"rbash",
        ..Flags::default()
    };
    let mut rest = arguments.get(1..).unwrap_or_default();
    while long_option(&mut flags, &mut rest) {}
    while flags.cluster(LETTERS, &mut rest) {}
    Reading::finish(flags, caller, rest, false)
}

/// Takes a long option off `rest`; false where none is left.
fn long_option<'a>(flags: &mut Flags<'a>, rest: &mut &[&'a BStr]) -> bool {
    let Some((argument, following)) = rest.split_first() else { return false };
    let Some(name) = argument.strip_prefix(b"-") else { return false };
    let double = name.strip_prefix(b"-").filter(|name| !name.is_empty());
    match find(LONG, double.unwrap_or(name)) {
        Some(Meaning::RcFile) => {
            flags.rcfile = following.first().copied();
            flags.complains |= following.is_empty();
            *rest = following.get(1..).unwrap_or_default();
            return true;
        }
        Some(meaning) => flags.switch(meaning, true),
        None if double.is_some() => flags.complains = true,
        None => return false,
    }
    *rest = following;
    true
}
