//! `$((…))`, `((…))`, `$[…]` and the three expressions of `for`.

use super::level::Level;
use super::position::Position;
use super::token::TokenKind;
use super::word::{Parts, Quoting};
use super::{Fault, Scanner};
use crate::syntax::model::{Part, Word};

impl Scanner<'_> {
    /// Reads `((…))` in command position, or the parenthesis of `for`; `false` if `(` opens a subshell.
    pub(super) fn opens_arithmetic(&mut self, level: &mut Level) -> bool {
        let start = self.at;
        let heads_for = level.state.position == Position::ForName;
        let stands = self.dialect.has_extensions()
            && self.peek_at(1) == Some(b'(')
            && (heads_for || level.state.position == Position::Command);
        let Some(end) = self.arithmetic_end(start + 2).filter(|_| stands) else { return false };
        self.at += 2;
        let expressions = if heads_for { self.expressions(end) } else { self.expression(end).map(|word| vec![word]) };
        let Ok(mut expressions) = expressions else {
            self.at = start;
            return false;
        };
        self.at = end + 2;
        level.state.position = if heads_for { Position::ForIn } else { Position::Closed };
        let kind = match expressions.pop() {
            Some(word) if !heads_for => TokenKind::Arithmetic(word),
            last => {
                expressions.extend(last);
                TokenKind::ArithmeticFor(expressions)
            }
        };
        self.push(level, start, kind);
        true
    }

    /// The `;`-separated expressions up to `end`.
    fn expressions(&mut self, end: usize) -> Result<Vec<Word>, Fault> {
        let mut words = Vec::new();
        loop {
            let rest = self.text.get(self.at..end).unwrap_or_default();
            let stop = rest.iter().position(|byte| *byte == b';').map_or(end, |length| self.at + length);
            words.push(self.expression(stop)?);
            if stop == end {
                return Ok(words);
            }
            self.at = stop + 1;
        }
    }

    /// The expression from here to `end`.
    pub(super) fn expression(&mut self, end: usize) -> Result<Word, Fault> {
        let start = self.at;
        let parts = self.expression_parts(start, end)?;
        self.at = end;
        Ok(Word { span: self.span_from(start), parts })
    }

    fn expression_parts(&mut self, start: usize, end: usize) -> Result<Vec<Part>, Fault> {
        let text = self.text.get(..end).unwrap_or_default();
        let mut inner = self.inner(text, start, self.origin);
        let mut parts = Parts::default();
        let result = self.deeper(|scanner| {
            inner.depth = scanner.depth;
            while inner.peek().is_some() {
                inner.unit(&mut parts, Quoting::Arithmetic)?;
            }
            Ok(parts.into_vec())
        });
        self.doubts.append(&mut inner.doubts);
        result
    }

    /// Reads an expansion whose expression stands between `start` and `end`, closed by `closing` bytes.
    pub(super) fn arithmetic_expansion(
        &mut self,
        parts: &mut Parts,
        start: usize,
        end: usize,
        closing: usize,
    ) -> Result<(), Fault> {
        let opening = self.at;
        let inside = self.expression_parts(start, end)?;
        self.at = end + closing;
        parts.push(Part::Arithmetic { span: self.span_from(opening), parts: inside });
        Ok(())
    }

    /// Where `))` closes the arithmetic that starts at `start`; `None` if its parentheses close apart, which makes
    /// them a subshell in a substitution.
    pub(super) fn arithmetic_end(&self, start: usize) -> Option<usize> {
        let end = self.matching(start, b'(', b')')?;
        (self.text.get(end + 1) == Some(&b')')).then_some(end)
    }

    /// Where `]` closes the bracket that starts at `start`.
    pub(super) fn bracket_end(&self, start: usize) -> Option<usize> {
        self.matching(start, b'[', b']')
    }

    /// The closing byte that matches one before `start`, quotes and backslashes regarded.
    fn matching(&self, start: usize, open: u8, close: u8) -> Option<usize> {
        let mut open_count = 0usize;
        let mut quote = None;
        let mut at = start;
        loop {
            let byte = self.text.get(at).copied()?;
            match quote {
                _ if byte == b'\\' => at += 1,
                Some(quoted) if byte == quoted => quote = None,
                Some(_) => {}
                None if matches!(byte, b'"' | b'`') => quote = Some(byte),
                None if byte == open => open_count += 1,
                None if byte == close && open_count == 0 => return Some(at),
                None if byte == close => open_count -= 1,
                None => {}
            }
            at += 1;
        }
    }
}
