//! Our own scanner: tokens, words, quotes and here-documents, byte by byte, as the shell reads them.
//!
//! It finds what a text is made of and leaves how it hangs together to the parser behind [`super::lower`].

mod arithmetic;
mod assignment;
mod conditional;
mod heredoc;
mod level;
mod parameter;
mod position;
mod redirection;
mod substitution;
mod token;
mod word;

use super::model::{Dialect, SyntaxDoubt, SyntaxDoubtKind};
use crate::diagnostic::Span;

pub(super) use level::Close;
pub(super) use token::{Keyword, Prefix, Token, TokenKind};

/// How deep quotes, substitutions and compound commands may nest in each other, counted together.
///
/// Both parsers and everything downstream recurse on nesting; this bound keeps them within 256 KiB of stack.
pub(super) const MAX_DEPTH: usize = 60;

/// Why scanning cannot go on, and from where.
#[derive(Debug)]
pub(super) struct Fault {
    /// Which kind of doubt it makes.
    pub(super) kind: SyntaxDoubtKind,
    /// A lowercase fragment.
    pub(super) reason: &'static str,
}

impl Fault {
    /// The text is not complete or not shell.
    fn syntax(reason: &'static str) -> Self {
        Self { kind: SyntaxDoubtKind::Syntax, reason }
    }
}

/// A position in a text, and what was found doubtful on the way there.
pub(super) struct Scanner<'t> {
    text: &'t [u8],
    at: usize,
    dialect: Dialect,
    depth: usize,
    /// Where each byte of `text` stands in the script, where that is not where it stands in `text`.
    origin: Option<&'t [usize]>,
    /// Remove the tabs at the start of each line: in the body of `<<-`.
    strips_tabs: bool,
    /// A here-document of an outer line still waits for its body.
    awaits_body: bool,
    pub(super) doubts: Vec<SyntaxDoubt>,
}

impl<'t> Scanner<'t> {
    /// A scanner at the start of a script.
    pub(super) fn new(text: &'t [u8], dialect: Dialect) -> Self {
        Self {
            text,
            at: 0,
            dialect,
            depth: 0,
            origin: None,
            strips_tabs: false,
            awaits_body: false,
            doubts: Vec::new(),
        }
    }

    /// A scanner at `at` of a part of the text, one level deeper.
    fn inner<'u>(&self, text: &'u [u8], at: usize, origin: Option<&'u [usize]>) -> Scanner<'u> {
        Scanner {
            text,
            at,
            dialect: self.dialect,
            depth: self.depth,
            origin,
            strips_tabs: false,
            awaits_body: self.awaits_body,
            doubts: Vec::new(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn starts_with(&self, bytes: &[u8]) -> bool {
        self.rest().starts_with(bytes)
    }

    /// Steps over `bytes` if they stand here.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let found = self.starts_with(bytes);
        if found {
            self.at += bytes.len();
        }
        found
    }

    /// Where an offset of this text stands in the script.
    fn place(&self, offset: usize) -> usize {
        match self.origin {
            Some(origin) => origin.get(offset).or(origin.last()).copied().unwrap_or(offset),
            None => offset,
        }
    }

    /// The part of the script from `start` of this text to here.
    fn span_from(&self, start: usize) -> Span {
        Span::new(self.place(start), self.place(self.at))
    }

    fn doubt(&mut self, kind: SyntaxDoubtKind, span: Span, reason: &str) {
        self.doubts.push(SyntaxDoubt { span, kind, reason: reason.to_owned() });
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(Fault { kind: SyntaxDoubtKind::Limit, reason: "nested too deeply" });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Steps over blanks and line continuations.
    fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => self.at += 2,
                _ => return,
            }
        }
    }
}

/// A byte that may start a name.
fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// A byte that may stand in a name.
fn continues_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// How many bytes at the start of `text` make a name.
fn name_length(text: &[u8]) -> usize {
    match text.first() {
        Some(&first) if starts_name(first) => text.iter().take_while(|byte| continues_name(**byte)).count(),
        _ => 0,
    }
}

/// A byte that ends a word where it is not quoted.
fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}
