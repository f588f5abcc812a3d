//! How dash 0.5.12 reads its arguments (`options.c`).

use bstr::BStr;

use super::{Flags, Letters, Meaning, Reading, Source};

const LETTERS: &Letters = &Letters { known: KNOWN, unsigned: b"l", names: NAMES };

/// Letters, after `-` or `+`.
const KNOWN: &[(u8, Meaning)] = &[
    (b'c', Meaning::Command),
    (b'l', Meaning::Login),
    (b'o', Meaning::Name),
    (b's', Meaning::Stdin),
    (b'i', Meaning::Interactive),
    (b'n', Meaning::NoExec),
    (b'p', Meaning::Privileged),
    (b'x', Meaning::Trace),
    (b'e', Meaning::ErrExit),
    (b'a', Meaning::Plain),
    (b'b', Meaning::Plain),
    (b'f', Meaning::Plain),
    (b'm', Meaning::Plain),
    (b'u', Meaning::Plain),
    (b'v', Meaning::Plain),
    (b'C', Meaning::Plain),
    (b'E', Meaning::Plain),
    (b'I', Meaning::Plain),
    (b'V', Meaning::Plain),
];

/// The names after `-o` that matter.
const NAMES: &[(&[u8], Meaning)] = &[
    (b"errexit", Meaning::ErrExit),
    (b"interactive", Meaning::Interactive),
    (b"noexec", Meaning::NoExec),
    (b"privileged", Meaning::Privileged),
    (b"stdin", Meaning::Stdin),
    (b"xtrace", Meaning::Trace),
];

/// Reads the arguments, the caller's `argv[0]` first.
pub(super) fn read<'a>(arguments: &[&'a BStr]) -> Reading<'a> {
    let caller = arguments.first().copied().unwrap_or_default();
    let mut flags = Flags { login: caller.starts_with(b"-"), ..Flags::default() };
    let mut rest = arguments.get(1..).unwrap_or_default();
    while flags.cluster(LETTERS, &mut rest) {}
    let stdin = flags.stdin;
    let mut reading = Reading::finish(flags, caller, rest, false);
    reading.then_stdin = stdin && matches!(reading.source, Source::Text(_));
    reading
}
