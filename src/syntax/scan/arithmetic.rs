//! `$((…))`, `((…))`, `$[…]` and the three expressions of `for`.

use bstr::ByteSlice;

use super::level::Level;
use super::position::Position;
use super::token::TokenKind;
use super::word::{Parts, Quoting};
use super::{Fault, MAX_DEPTH, Scanner};
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
        let kind = if heads_for {
            self.expressions(end).map(TokenKind::ArithmeticFor)
        } else {
            self.expression(end).map(TokenKind::Arithmetic)
        };
        let Ok(kind) = kind else {
            self.at = start;
            return false;
        };
        if heads_for && self.text.get(start..end).is_some_and(|head| head.len() >= 7 && head.contains_str(";;")) {
            let mut plain = b"((0;0;0".to_vec();
            plain.resize(end - start, b' ');
            self.patch(start, plain);
        }
        self.at = end + 2;
        level.state.position = if heads_for { Position::ForIn } else { Position::Closed };
        self.push(level, start, kind);
        true
    }

    /// The `;`-separated expressions up to `end`.
    fn expressions(&mut self, end: usize) -> Result<Vec<Word>, Fault> {
        let mut words = Vec::new();
        while self.at < end || words.is_empty() {
            words.push(self.expression_before(end, Some(b';'))?);
            self.at += 1;
        }
        Ok(words)
    }

    /// The expression from here to `end`.
    pub(super) fn expression(&mut self, end: usize) -> Result<Word, Fault> {
        self.expression_before(end, None)
    }

    /// The expression from here to `end` or to the byte that separates it from the next.
    fn expression_before(&mut self, end: usize, separator: Option<u8>) -> Result<Word, Fault> {
        let start = self.at;
        let text = self.text.get(..end).unwrap_or_default();
        let mut inner = self.inner(text, start, self.origin)?;
        let mut parts = Parts::default();
        while inner.peek().is_some_and(|byte| Some(byte) != separator) {
            inner.unit(&mut parts, Quoting::Arithmetic)?;
        }
        self.at = inner.at;
        self.merge(inner);
        Ok(Word { span: self.span_from(start), parts: parts.into_vec() })
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
        self.at = start;
        let inside = self.expression(end)?.parts;
        self.at = end + closing;
        parts.push(Part::Arithmetic { span: self.span_from(opening), parts: inside });
        Ok(())
    }

    /// Where `))` closes the arithmetic that starts at `start`; `None` if its parentheses close apart, which makes
    /// them a subshell in a substitution.
    pub(super) fn arithmetic_end(&self, start: usize) -> Option<usize> {
        let end = self.matching(start, b')')?;
        (self.text.get(end + 1) == Some(&b')')).then_some(end)
    }

    /// Where `]` closes the bracket that starts at `start`.
    pub(super) fn bracket_end(&self, start: usize) -> Option<usize> {
        self.matching(start, b']')
    }

    /// The closing byte that matches one before `start`, quotes and backslashes regarded. Brackets hide what
    /// parentheses in them hold; parentheses do not care for brackets. `None` also where they nest too deeply.
    fn matching(&self, start: usize, close: u8) -> Option<usize> {
        let mut open = vec![close];
        let mut quote = None;
        let mut at = start;
        loop {
            let byte = self.text.get(at).copied()?;
            match (quote, byte) {
                (Some(b'\''), b'\'') => quote = None,
                (Some(b'\''), _) => {}
                (_, b'\\') => at += 1,
                (Some(quoted), byte) => quote = quote.filter(|_| byte != quoted),
                (None, b'"' | b'`' | b'\'') => quote = Some(byte),
                (None, b'(' | b'[') if open.len() >= MAX_DEPTH => return None,
                (None, b'(') => open.push(b')'),
                (None, b'[') if close == b']' => open.push(b']'),
                (None, byte) if open.last() == Some(&byte) => {
                    open.pop();
                    if open.is_empty() {
                        return Some(at);
                    }
                }
                (None, _) => {}
            }
            at += 1;
        }
    }
}
