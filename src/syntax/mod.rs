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
    if text.len() > MAX_LENGTH {
        return too_long(Span::new(0, text.len()));
    }
    let mut scanner = Scanner::new(text, dialect);
    let body = scanner.script();
    let mut doubts = scanner.doubts;
    if let Some(at) = text.find_byte(0) {
        let reason = "a NUL byte, which shells drop or stop at".to_owned();
        doubts.push(SyntaxDoubt { span: Span::new(at, at + 1), kind: SyntaxDoubtKind::Syntax, reason });
    }
    doubts.sort_by_key(|doubt| doubt.span);
    Script { body, doubts }
}

fn too_long(span: Span) -> Script {
    let reason = "longer than 1 MiB".to_owned();
    let command = Command::Opaque(Opaque { span, reason: reason.clone() });
    Script {
        body: vec![Statement { command, background: false }],
        doubts: vec![SyntaxDoubt { span, kind: SyntaxDoubtKind::Limit, reason }],
    }
}
