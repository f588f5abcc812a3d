//! Reading shell text into [`model::Script`].
//!
//! A scanner of our own finds the tokens, tree-sitter-bash their shape; what both make of the text must be confirmed
//! by an independent second reader. Whatever is not, is an opaque part of the script or a doubt about it.

mod dialect;
mod lower;
pub mod model;
mod quote;
mod scan;
mod skeleton;
mod witness;

pub use lower::{ParserMemory, set_parser_memory};
pub use model::{Dialect, Script};

use bstr::ByteSlice;

use crate::diagnostic::Span;
use model::{Command, Opaque, Statement, SyntaxDoubt, SyntaxDoubtKind};
use scan::Scanner;

/// The longest text that is read, in bytes.
pub const MAX_LENGTH: usize = 1 << 20;

/// Reads a text as a shell of this dialect does. It never fails: what cannot be read is opaque or in doubt.
pub fn read(text: &[u8], dialect: Dialect) -> Script {
    let mut whole = Script { body: Vec::new(), doubts: Vec::new() };
    for mut part in parts(text, dialect) {
        whole.body.append(&mut part.body);
        whole.doubts.append(&mut part.doubts);
    }
    whole.doubts.sort_by_key(|doubt| doubt.span);
    whole
}

/// The same in parts of some statements each, in order: who needs each only once need not hold all of a long text.
pub fn parts(text: &[u8], dialect: Dialect) -> impl Iterator<Item = Script> {
    let long = text.len() > MAX_LENGTH;
    let mut first = if long { Some(too_long(Span::new(0, text.len()))) } else { with_nul(text) };
    let mut scanner = (!long).then(|| Scanner::new(text, dialect));
    std::iter::from_fn(move || {
        first.take().or_else(|| {
            let scanner = scanner.as_mut()?;
            let body = scanner.part()?;
            let mut doubts = std::mem::take(&mut scanner.doubts);
            doubts.sort_by_key(|doubt| doubt.span);
            Some(Script { body, doubts })
        })
    })
}

/// The doubt about a NUL byte in a text.
fn with_nul(text: &[u8]) -> Option<Script> {
    let at = text.find_byte(0)?;
    let reason = "a NUL byte, which shells drop or stop at".to_owned();
    let doubt = SyntaxDoubt { span: Span::new(at, at + 1), kind: SyntaxDoubtKind::Syntax, reason };
    Some(Script { body: Vec::new(), doubts: vec![doubt] })
}

fn too_long(span: Span) -> Script {
    let reason = "longer than 1 MiB".to_owned();
    let command = Command::Opaque(Opaque { span, reason: reason.clone() });
    Script {
        body: vec![Statement { command, background: false }],
        doubts: vec![SyntaxDoubt { span, kind: SyntaxDoubtKind::Limit, reason }],
    }
}
