//! How shell texts are read.

mod bash;
mod bounds;
mod dialects;
mod render;

use std::io::Write as _;
use std::process::{Command, Stdio};

use render::Render;
use vetsh::syntax::{Dialect, read};

/// A text and how it is read.
type Row = (&'static str, &'static str);

/// The rendered script, and after each `!` a doubt with the text it is about.
fn shown(text: &str, dialect: Dialect) -> String {
    let script = read(text.as_bytes(), dialect);
    let mut shown = Render::script(&script);
    for doubt in &script.doubts {
        shown.push_str(&format!(" !{:?} {:?}", doubt.kind, &text[doubt.span.start..doubt.span.end]));
    }
    shown
}

fn compare(rows: &[Row], dialect: Dialect) {
    for (text, expected) in rows {
        assert_eq!(shown(text, dialect), *expected, "{dialect:?} reads\n{text}");
    }
}

/// Asks the real shell whether each text is one of its scripts; nothing of it is run.
fn shell_accepts(shell: &str, rows: &[Row], expected: bool) {
    for (text, _) in rows {
        let mut child = Command::new(shell)
            .args(["-n", "/dev/stdin"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("{shell}: {error}"));
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert_eq!(child.wait().unwrap().success(), expected, "{shell} -n of\n{text}");
    }
}
