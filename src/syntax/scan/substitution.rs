//! Quotes and substitutions: what may stand inside a word.

use super::level::Outcome;
use super::token::{Keyword, TokenKind};
use super::word::{Parts, Quoting};
use super::{Close, Fault, Scanner, name_length, starts_name};
use crate::syntax::model::{Block, Dialect, Part, SyntaxDoubtKind};
use crate::syntax::quote::{ansi_c, is_ansi_c_of_both, special_after_backslash};

impl Scanner<'_> {
    /// Reads a backslash and what it quotes.
    pub(super) fn backslash(&mut self, parts: &mut Parts, quoting: Quoting) {
        self.at += 1;
        let Some(byte) = self.peek() else {
            parts.text(b"\\", true);
            return;
        };
        self.at += 1;
        let in_quotes = matches!(quoting, Quoting::Double | Quoting::Operand | Quoting::Arithmetic);
        match byte {
            b'\n' => {}
            _ if quoting == Quoting::None => parts.text(&[byte], true),
            b'}' if quoting == Quoting::Operand => parts.text(b"}", true),
            _ if special_after_backslash(byte, in_quotes) => parts.text(&[byte], true),
            _ => parts.text(&[b'\\', byte], true),
        }
    }

    /// Reads `'…'`.
    pub(super) fn single_quotes(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        self.at += 1;
        let length = self.rest().iter().position(|byte| *byte == b'\'');
        let length = length.ok_or(Fault::syntax("a quote that is not closed"))?;
        parts.text(self.rest().get(..length).unwrap_or_default(), true);
        self.at += length + 1;
        Ok(())
    }

    /// Reads `"…"`.
    pub(super) fn double_quotes(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        self.at += 1;
        // `"$@"` and `"${a[@]}"` can be no word at all.
        if !matches!(self.rest(), [b'$', b'@' | b'{', ..]) {
            parts.text(b"", true);
        }
        self.deeper(|scanner| {
            loop {
                match scanner.peek() {
                    None => return Err(Fault::syntax("a quote that is not closed")),
                    Some(b'"') => break,
                    Some(_) => scanner.unit(parts, Quoting::Double)?,
                }
            }
            scanner.at += 1;
            Ok(())
        })
    }

    /// Reads what `$` starts.
    pub(super) fn dollar(&mut self, parts: &mut Parts, quoting: Quoting) -> Result<(), Fault> {
        let start = self.at;
        let quoted = quoting.quotes();
        let marks = self.zsh_marks();
        if marks > 0 {
            let length = name_length(self.text.get(start + 1 + marks..).unwrap_or_default());
            self.simple_parameter(parts, marks, length, quoted)?;
            self.doubt_splitting(start, start);
            return Ok(());
        }
        match self.peek_at(1) {
            Some(b'(') => match self.arithmetic_end(start + 3).filter(|_| self.peek_at(2) == Some(b'(')) {
                Some(end) => self.arithmetic_expansion(parts, start + 3, end, 2),
                None => self.command_substitution(parts, quoted),
            },
            Some(b'[') if self.dialect != Dialect::Dash => match self.bracket_end(start + 2) {
                Some(end) => self.arithmetic_expansion(parts, start + 2, end, 1),
                None => Err(Fault::syntax("an arithmetic expansion that is not closed")),
            },
            Some(b'{') => self.braces(parts, quoting),
            Some(b'\'') if quoting == Quoting::None && self.dialect.has_extensions() => self.ansi_c_quotes(parts),
            Some(b'"') if quoting == Quoting::None && self.dialect.has_extensions() && !self.dialect.is_zsh() => {
                self.at += 1;
                self.double_quotes(parts)
            }
            Some(byte) if starts_name(byte) => {
                let length = name_length(self.text.get(start + 1..).unwrap_or_default());
                self.simple_parameter(parts, 0, length, quoted)
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.simple_parameter(parts, 0, 1, quoted)
            }
            _ => {
                parts.text(b"$", quoted);
                self.at += 1;
                Ok(())
            }
        }
    }

    /// Reads a parameter without braces, its name after `marks` bytes that only zsh reads.
    fn simple_parameter(&mut self, parts: &mut Parts, marks: usize, length: usize, quoted: bool) -> Result<(), Fault> {
        self.spend()?;
        let start = self.at;
        let mut parameter = super::parameter::nothing(self.span_from(start));
        parameter.quoted = quoted;
        parameter.length = self.text.get(start + 1..start + 1 + marks).is_some_and(|marks| marks.contains(&b'+'));
        self.at += 1 + marks;
        parameter.name = String::from_utf8_lossy(self.rest().get(..length).unwrap_or_default()).into_owned();
        self.at += length;
        if self.dialect.is_zsh() {
            self.zsh_parameter(&mut parameter)?;
        }
        parameter.span = self.span_from(start);
        parts.push(Part::Parameter(parameter));
        Ok(())
    }

    /// `$'…'`.
    fn ansi_c_quotes(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        self.at += 2;
        let rest = self.rest();
        let mut length = 0;
        loop {
            match rest.get(length) {
                None => return Err(Fault::syntax("a quote that is not closed")),
                Some(b'\'') => break,
                Some(b'\\') => length += 2,
                Some(_) => length += 1,
            }
        }
        let text = rest.get(..length).unwrap_or_default();
        parts.text(&ansi_c(text), true);
        let otherwise = self.dialect.is_zsh() && !is_ansi_c_of_both(text);
        let start = self.at - 2;
        self.at += length + 1;
        if otherwise {
            self.doubt(SyntaxDoubtKind::Dialect, self.span_from(start), "an escape that zsh reads in its own way");
        }
        Ok(())
    }

    fn command_substitution(&mut self, parts: &mut Parts, quoted: bool) -> Result<(), Fault> {
        let start = self.at;
        self.at += 2;
        let body = self.block(Close::Parenthesis)?;
        parts.push(Part::CommandSubstitution { span: self.span_from(start), body, quoted });
        Ok(())
    }

    /// `${ …; }` and `${| …; }` of bash 5.3, which older shells reject.
    pub(super) fn brace_substitution(&mut self, parts: &mut Parts, quoted: bool) -> Result<(), Fault> {
        let start = self.at;
        self.at += 2;
        let _ = self.take(b"|");
        let body = self.block(Close::Brace)?;
        let span = self.span_from(start);
        self.doubt(SyntaxDoubtKind::Dialect, span, "only bash 5.3 and later run commands in `${ …; }`");
        parts.push(Part::CommandSubstitution { span, body, quoted });
        Ok(())
    }

    /// Reads the commands up to what closes them, one level deeper.
    fn block(&mut self, close: Close) -> Result<Block, Fault> {
        self.deeper(|scanner| {
            let start = scanner.at;
            let patches = scanner.patches.len();
            scanner.spend()?;
            let (tokens, outcome) = scanner.level(close);
            if let Outcome::Broken(fault) = outcome {
                return Err(fault);
            }
            let end = scanner.at - 1;
            let has_case = tokens.iter().any(|token| matches!(token.kind, TokenKind::Keyword(Keyword::Case)));
            let block = scanner.assemble(tokens, start, end, patches);
            if has_case {
                scanner.patch(start, vec![b'x'; end - start]);
            }
            Ok(block)
        })
    }

    /// `<(` or `>(` stands here.
    pub(super) fn starts_process_substitution(&self) -> bool {
        self.dialect.has_extensions() && self.peek_at(1) == Some(b'(')
    }

    /// Reads `<(…)` or `>(…)`.
    pub(super) fn process_substitution(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        let start = self.at;
        let output = self.peek() == Some(b'>');
        self.at += 2;
        let body = self.block(Close::Parenthesis)?;
        parts.push(Part::ProcessSubstitution { span: self.span_from(start), output, body });
        Ok(())
    }

    /// Reads `` `…` ``: a text of its own, of which a level of backslashes is removed before it is read.
    pub(super) fn backticks(&mut self, parts: &mut Parts, quoting: Quoting) -> Result<(), Fault> {
        let start = self.at;
        let mut end = start + 1;
        let mut escapes = false;
        loop {
            match self.text.get(end) {
                None => return Err(Fault::syntax("a substitution that is not closed")),
                Some(b'`') => break,
                Some(b'\\') => {
                    escapes = true;
                    end += 2;
                }
                Some(_) => end += 1,
            }
        }
        let body = self.backtick_body(start + 1, end, escapes, quoting)?;
        self.at = end + 1;
        parts.push(Part::CommandSubstitution { span: self.span_from(start), body, quoted: quoting.quotes() });
        Ok(())
    }

    fn backtick_body(&mut self, start: usize, end: usize, escapes: bool, quoting: Quoting) -> Result<Block, Fault> {
        let raw = self.text.get(..end).unwrap_or_default();
        let (text, origin) = if escapes { self.unescaped(start, end, quoting) } else { (Vec::new(), Vec::new()) };
        let mut inner =
            if escapes { self.inner(&text, 0, Some(&origin))? } else { self.inner(raw, start, self.origin)? };
        let block = std::iter::from_fn(|| inner.part()).flatten().collect();
        self.merge(inner);
        Ok(block)
    }

    /// The text between backticks without its level of backslashes, and where each byte of it stands.
    fn unescaped(&self, start: usize, end: usize, quoting: Quoting) -> (Vec<u8>, Vec<usize>) {
        let in_quotes = matches!(quoting, Quoting::Double | Quoting::Operand);
        let mut text = Vec::with_capacity(end - start);
        let mut origin = Vec::with_capacity(end - start + 1);
        let mut at = start;
        while at < end {
            let byte = self.text.get(at).copied().unwrap_or_default();
            let next = self.text.get(at + 1).copied().filter(|_| at + 1 < end);
            let dropped = byte == b'\\' && next.is_some_and(|next| special_after_backslash(next, in_quotes));
            at += usize::from(dropped);
            text.extend(self.text.get(at));
            origin.push(self.place(at));
            if byte == b'\\' && !dropped && at + 1 < end {
                text.extend(next);
                origin.push(self.place(at + 1));
                at += 1;
            }
            at += 1;
        }
        origin.push(self.place(end));
        (text, origin)
    }
}
