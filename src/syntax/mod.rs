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

pub use model::{Dialect, Script};

use crate::diagnostic::Span;
use model::{Block, Command, Opaque, Statement, SyntaxDoubt, SyntaxDoubtKind};
use scan::{Close, Fault, Scanner, Token};

/// The longest text that is read, in bytes.
pub const MAX_LENGTH: usize = 1 << 20;

/// Reads a text as a shell of this dialect does. It never fails: what cannot be read is opaque or in doubt.
pub fn read(text: &[u8], dialect: Dialect) -> Script {
    let whole = Span::new(0, text.len());
    if text.len() > MAX_LENGTH {
        return unread(whole, &Fault { kind: SyntaxDoubtKind::Limit, reason: "longer than 1 MiB" });
    }
    let mut scanner = Scanner::new(text, dialect);
    let (mut tokens, fault) = scanner.level(Close::End);
    let rest = fault.map(|fault| (split_off_last_line(&mut tokens), fault));
    let end = rest.as_ref().map_or(text.len(), |(start, _)| *start);
    let body = assemble(&mut scanner, tokens, 0, end);
    let mut script = Script { body, doubts: scanner.doubts };
    if let Some((start, fault)) = rest {
        let mut tail = unread(Span::new(start, text.len()), &fault);
        script.body.append(&mut tail.body);
        script.doubts.append(&mut tail.doubts);
    }
    script.doubts.sort_by_key(|doubt| doubt.span);
    script
}

/// Makes commands of the tokens between `start` and `end` of the scanner's text.
fn assemble(scanner: &mut Scanner<'_>, tokens: Vec<Token>, start: usize, end: usize) -> Block {
    lower::lower(tokens, start, end, &mut scanner.doubts)
}

/// Removes the tokens of the statement in which scanning ended, and says where it starts.
fn split_off_last_line(tokens: &mut Vec<Token>) -> usize {
    let ends = |token: &Token| token.depth == 0 && matches!(token.kind, scan::TokenKind::Terminator { .. });
    let kept = tokens.iter().rposition(ends).map_or(0, |last| last + 1);
    let start = match (tokens.get(kept), kept.checked_sub(1).and_then(|last| tokens.get(last))) {
        (Some(first), _) => first.start,
        (None, Some(last)) => last.end,
        (None, None) => 0,
    };
    tokens.truncate(kept);
    start
}

fn unread(span: Span, fault: &Fault) -> Script {
    let reason = fault.reason.to_owned();
    let command = Command::Opaque(Opaque { span, reason: reason.clone() });
    Script {
        body: vec![Statement { command, background: false }],
        doubts: vec![SyntaxDoubt { span, kind: fault.kind, reason }],
    }
}
