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
mod zsh;

use super::lower::lower;
use super::model::{Block, Command, Dialect, Opaque, Statement, SyntaxDoubt, SyntaxDoubtKind};
use super::witness::Testimony;
use crate::diagnostic::Span;

use level::{Close, Outcome};
pub(super) use token::{Keyword, Prefix, Token, TokenKind};

/// How deep quotes, substitutions and compound commands may nest in each other, counted together.
///
/// Both parsers and everything downstream recurse on nesting; this bound keeps them within 256 KiB of stack.
pub(super) const MAX_DEPTH: usize = 40;

/// Why scanning cannot go on, and from where.
#[derive(Debug)]
pub(super) struct Fault {
    /// Which kind of doubt it makes.
    pub(super) kind: SyntaxDoubtKind,
    /// A lowercase fragment.
    pub(super) reason: &'static str,
}

/// How many words and expansions of a statement are read: some 500 bytes each are to stay within 64 MiB.
const MAX_PIECES: usize = 50_000;

/// How many bytes the second reader is given, who sees nested text once for each level around it.
const MAX_CONFIRMED: usize = 8 * super::MAX_LENGTH;

const TOO_DEEP: Fault = Fault { kind: SyntaxDoubtKind::Limit, reason: "nested too deeply" };

impl Fault {
    /// The text is not complete or not shell.
    fn syntax(reason: &'static str) -> Self {
        Self { kind: SyntaxDoubtKind::Syntax, reason }
    }
}

/// Bytes for the second reader in place of as many at `start`.
struct Patch {
    start: usize,
    bytes: Vec<u8>,
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
    /// What the second reader is to read in place of constructs that it is known not to read.
    patches: Vec<Patch>,
    /// How many words and expansions of this part were read.
    pieces: usize,
    /// How many bytes the second reader was given.
    confirmed: usize,
    /// There is nothing more to read.
    ended: bool,
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
            patches: Vec::new(),
            pieces: 0,
            confirmed: 0,
            ended: false,
        }
    }

    /// A scanner at `at` of a part of the text, one level deeper.
    fn inner<'u>(&self, text: &'u [u8], at: usize, origin: Option<&'u [usize]>) -> Result<Scanner<'u>, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        Ok(Scanner {
            pieces: self.pieces,
            confirmed: self.confirmed,
            at,
            depth: self.depth + 1,
            origin,
            awaits_body: self.awaits_body,
            ..Scanner::new(text, self.dialect)
        })
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

    /// Keeps what was found doubtful in a part of the text.
    fn merge(&mut self, mut inner: Scanner<'_>) {
        self.doubts.append(&mut inner.doubts);
        self.pieces = inner.pieces;
        self.confirmed = inner.confirmed;
        if std::ptr::eq(inner.text.as_ptr(), self.text.as_ptr()) {
            self.patches.append(&mut inner.patches);
        }
    }

    /// Has the second reader read `bytes` at `start`.
    fn patch(&mut self, start: usize, bytes: Vec<u8>) {
        self.patches.push(Patch { start, bytes });
    }

    /// Reads some of the commands from here to the end of the text, where there are none any more. A fault leaves the
    /// line it is on unread, and what follows.
    pub(super) fn part(&mut self) -> Option<Block> {
        if self.ended {
            return None;
        }
        let start = self.at;
        // The inner of a substitution counts with the part that it is in.
        if self.depth == 0 {
            self.pieces = 0;
        }
        let (tokens, outcome) = self.level(Close::End);
        self.ended = !matches!(outcome, Outcome::Paused);
        let block = match outcome {
            Outcome::Closed | Outcome::Paused => self.assemble(tokens, start, self.at, 0),
            Outcome::Broken(fault) => self.broken(tokens, start, &fault),
        };
        self.patches.clear();
        Some(block)
    }

    /// Keeps the lines before the one that a fault is on.
    fn broken(&mut self, mut tokens: Vec<Token>, start: usize, fault: &Fault) -> Block {
        let ends = |token: &Token| token.depth == 0 && matches!(token.kind, TokenKind::Terminator { .. });
        let kept = tokens.iter().rposition(ends).map_or(0, |last| last + 1);
        let unread = tokens.get(kept).map_or(start, |first| first.start);
        let unread = if kept == tokens.len() { tokens.last().map_or(start, |last| last.end) } else { unread };
        tokens.truncate(kept);
        let mut block = self.assemble(tokens, start, unread, 0);
        let span = Span::new(self.place(unread), self.place(self.text.len()));
        let command = Command::Opaque(self.unread(span, fault));
        block.push(Statement { command, background: false });
        block
    }

    /// Makes commands of the tokens between `start` and `end`, and has the second reader confirm them. The patches from
    /// the one at `patches` on are for that part of the text.
    fn assemble(&mut self, tokens: Vec<Token>, start: usize, end: usize, patches: usize) -> Block {
        let block = lower(tokens, &mut self.doubts);
        let mut text = self.text.get(start..end).unwrap_or_default().to_vec();
        for patch in self.patches.iter().skip(patches) {
            let at = patch.start.saturating_sub(start);
            if let Some(place) = text.get_mut(at..at + patch.bytes.len()) {
                place.copy_from_slice(&patch.bytes);
            }
        }
        self.confirmed += text.len();
        if self.confirmed > MAX_CONFIRMED {
            let span = Span::new(self.place(start), self.place(end));
            self.doubt(SyntaxDoubtKind::Limit, span, "too much is nested in it to be read twice");
            return block;
        }
        let place = |offset: usize| self.place(start + offset);
        let testimony =
            Testimony { text: &text, place: &place, contiguous: self.origin.is_none(), dialect: self.dialect };
        let mut doubts = Vec::new();
        testimony.confirm(&block, &mut doubts);
        self.doubts.append(&mut doubts);
        block
    }

    /// Doubts a part of the text that was not read.
    fn unread(&mut self, span: Span, fault: &Fault) -> Opaque {
        self.doubt(fault.kind, span, fault.reason);
        Opaque { span, reason: fault.reason.to_owned() }
    }

    /// Counts one more word or expansion.
    fn spend(&mut self) -> Result<(), Fault> {
        self.pieces += 1;
        if self.pieces > MAX_PIECES {
            return Err(Fault { kind: SyntaxDoubtKind::Limit, reason: "too many words" });
        }
        Ok(())
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth >= MAX_DEPTH {
            return Err(TOO_DEEP);
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
