//! How dash 0.5.12 reads its arguments (`options.c`).

use bstr::{BStr, ByteSlice};

use super::{Flags, Meaning, Reading, Source, find};

/// Letters, after `-` or `+`.
const LETTERS: &[(u8, Meaning)] = &[
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
    while cluster(&mut flags, &mut rest) {}
    let stdin = flags.stdin;
    let mut reading = Reading::finish(flags, caller, rest, false);
    reading.then_stdin = stdin && matches!(reading.source, Source::Text(_));
    reading
}

/// Takes a cluster of letters and the values that they ask for off `rest`; false where the options end.
fn cluster<'a>(flags: &mut Flags<'a>, rest: &mut &[&'a BStr]) -> bool {
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
        match find(LETTERS, *letter) {
            Some(Meaning::Name) => flags.named(Meaning::Name, on, rest, NAMES),
            Some(meaning) => flags.switch(meaning, on || meaning == Meaning::Login),
            None => flags.complains = true,
        }
    }
    true
}
