//! Any bytes are read, in linear time, on a small stack.

use std::time::Duration;

use proptest::prelude::*;
use vetsh::syntax::model::{Command, Script, SyntaxDoubtKind};
use vetsh::syntax::{Dialect, MAX_LENGTH, read};

use super::shown;
use crate::support::spent;

const DIALECTS: [Dialect; 5] = [Dialect::Bash, Dialect::BashPosix, Dialect::Dash, Dialect::Zsh, Dialect::ZshSh];

/// What scripts are made of.
const PIECES: [&str; 64] = [
    "ls",
    " ",
    "\n",
    ";",
    "&",
    "&&",
    "||",
    "|",
    "|&",
    "(",
    ")",
    "{ ",
    " }",
    "((",
    "))",
    "$((",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "${",
    "}",
    "${x:-",
    "${x/",
    "$[",
    "[",
    "]",
    "[[ ",
    " ]]",
    " =~ ",
    "<",
    ">",
    ">>",
    "<<EOF",
    "\nEOF\n",
    "<<-'E'",
    "<<<",
    "<(",
    "2>&1",
    "{fd}>",
    "$'",
    "$\"",
    "#",
    "!",
    " time ",
    " coproc ",
    "function ",
    "() ",
    "a=",
    "a=(",
    " case x in ",
    ";;",
    " esac ",
    " if ",
    " then ",
    " fi ",
    " for x in ",
    " do ",
    " done ",
    "\r\n",
    "\0",
    "é",
    "@(",
];

fn only_limit(script: &Script) -> bool {
    matches!(script.body.as_slice(), [statement] if matches!(statement.command, Command::Opaque(_)))
        && script.doubts.iter().map(|doubt| doubt.kind).eq([SyntaxDoubtKind::Limit])
}

#[test]
fn a_text_over_the_limit_is_not_read() {
    let longest = vec![b'#'; MAX_LENGTH];
    assert_eq!(read(&longest, Dialect::Bash).doubts, []);
    assert!(only_limit(&read(&[longest, b"#".to_vec()].concat(), Dialect::Bash)));
}

#[test]
fn nesting_is_bounded_on_a_small_stack() {
    let shapes = [
        ("(", "ls", ")"),
        ("( ls; ", "ls", ")"),
        ("$(", "ls", ")"),
        ("echo \"$(", "ls", ")\""),
        ("{ ", "ls", ";}"),
        ("if ls; then ", "ls", "; fi"),
        ("while ls; do ", "ls", "; done"),
        ("case x in a) ", "ls", "\nesac"),
        ("f() { ", "ls", "; }"),
        ("echo ${x:-", "ls", "}"),
        ("echo $((", "1", "))"),
        ("(( ", "1", " ))"),
        ("[[ ", "( a )", " ]]"),
        ("cat <(", "ls", ")"),
        ("ls @(", "a", ")"),
        ("coproc ", "ls", ""),
    ];
    let read_all = move || {
        for (open, middle, close) in shapes {
            let nested = |count: usize| [open.repeat(count), middle.to_owned(), close.repeat(count)].concat();
            assert_ne!(shown(&nested(3), Dialect::Bash), "", "{open}");
            let script = read(nested(10_000).as_bytes(), Dialect::Bash);
            assert!(script.doubts.iter().any(|doubt| doubt.kind == SyntaxDoubtKind::Limit) || open == "[[ ", "{open}");
        }
    };
    // A debug build needs some four times the 256 KiB of a release build.
    std::thread::Builder::new().stack_size(1 << 20).spawn(read_all).unwrap().join().unwrap();
}

#[test]
fn bytes_outside_of_utf8_are_kept() {
    let script = read(b"rm \xff\xfe'\xe9' caf\xc3\xa9; ls", Dialect::Bash);
    let Command::Simple(simple) = &script.body[0].command else { panic!("{script:?}") };
    let text = format!("{:?}", simple.words);
    assert!(text.contains(r#""\xff\xfe""#) && text.contains(r#""\xe9""#) && text.contains("café"), "{text}");
    assert_eq!((script.body.len(), script.doubts), (2, vec![]));
}

#[test]
fn carriage_returns_are_bytes_of_words() {
    assert_eq!(shown("ls \\\r\nrm x", Dialect::Bash), "(ls \"\\r\"); (rm x)");
    assert_eq!(shown("ls\rrm x\r\n", Dialect::Bash), "(ls\rrm x\r)");
}

#[test]
fn a_nul_byte_is_in_doubt() {
    assert_eq!(shown("ls\0x", Dialect::Bash), "(ls\0x) !Syntax \"\\0\"");
}

fn time(text: &str) -> Duration {
    let start = spent();
    read(text.as_bytes(), Dialect::Bash);
    spent().saturating_sub(start)
}

#[test]
fn time_is_linear_in_length() {
    let lines = [
        "ls -la /tmp\n",
        "ls && ",
        "ls | ",
        "cat <<E\n$(ls) `ls`\nE\n",
        "if a; then b; fi; ",
        "a b ]] (c\n",
        "select 'i' in a; do x; done\n",
        "x=$(case a in a) b;; esac)\n",
        "echo \"$(ls)\" ${x:-y}\n",
    ];
    for line in lines {
        let text = |count: usize| [line.repeat(count), "ls\n".to_owned()].concat();
        let shortest = |count: usize| (0..3).map(|_| time(&text(count))).min().unwrap_or_default();
        let (short, long) = (shortest(500), shortest(2000));
        assert!(long < short * 10, "{line}: {short:?}, and {long:?} for four times the length");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_mixture_is_read(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40), dialect in 0..5usize) {
        let text = pieces.concat();
        let script = read(text.as_bytes(), DIALECTS[dialect]);
        for doubt in &script.doubts {
            prop_assert!(doubt.span.start <= doubt.span.end && doubt.span.end <= text.len());
        }
        let blank = text.bytes().all(|byte| byte.is_ascii_whitespace() || byte == b'\\');
        prop_assert!(blank || text.contains('#') || !script.body.is_empty() || !script.doubts.is_empty());
    }

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200), dialect in 0..5usize) {
        read(&bytes, DIALECTS[dialect]);
    }
}
