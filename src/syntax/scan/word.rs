//! Words: adjacent literals, quotes and expansions.

use bstr::BString;

use super::{Fault, Scanner, ends_word};
use crate::syntax::model::{Part, Word};

/// The rules by which quotes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// Outside of quotes.
    None,
    /// Inside `"…"`.
    Double,
    /// In the operand of `"${x:-…}"`: double quotes count again, single quotes do not.
    Operand,
    /// In the body of a here-document.
    Body,
    /// In an arithmetic expression.
    Arithmetic,
}

impl Quoting {
    /// An expansion here is neither split nor globbed.
    pub(super) fn quotes(self) -> bool {
        self != Self::None
    }
}

/// A word on its way.
#[derive(Default)]
pub(super) struct Parts(Vec<Part>);

impl Parts {
    /// Adds literal bytes to the last part, or as one more part.
    pub(super) fn text(&mut self, bytes: &[u8], quoted: bool) {
        if let Some(Part::Literal { text, quoted: last }) = self.0.last_mut()
            && *last == quoted
        {
            text.extend_from_slice(bytes);
            return;
        }
        self.push(Part::Literal { text: BString::from(bytes), quoted });
    }

    pub(super) fn push(&mut self, part: Part) {
        // Most words have one part, and a vector left alone makes room for four.
        if self.0.is_empty() {
            self.0.reserve_exact(1);
        }
        self.0.push(part);
    }

    pub(super) fn into_vec(self) -> Vec<Part> {
        self.0
    }
}

impl Scanner<'_> {
    /// Reads the word that starts here; an empty one if none does. An `argument` may be an array assignment, which
    /// `declare` and its kin take.
    pub(super) fn argument(&mut self, argument: bool) -> Result<Word, Fault> {
        self.spend()?;
        let start = self.at;
        let mut parts = Parts::default();
        if argument && self.at_array_argument() {
            self.array_argument(&mut parts)?;
        }
        while let Some(byte) = self.peek() {
            match byte {
                b'<' | b'>' if self.starts_process_substitution() => self.process_substitution(&mut parts)?,
                b'(' if self.extends_pattern(start) => self.balanced(&mut parts)?,
                b'(' if self.starts_qualifiers(start) => self.qualifiers(&mut parts)?,
                b'=' if self.at == start && self.dialect.is_zsh() => self.equals(&mut parts)?,
                byte if ends_word(byte) => break,
                _ => self.unit(&mut parts, Quoting::None)?,
            }
        }
        Ok(Word { span: self.span_from(start), parts: parts.into_vec() })
    }

    /// `(` here goes on with a pattern of the word that started at `start`: `@(a|b)`.
    fn extends_pattern(&self, start: usize) -> bool {
        let before = self.at.checked_sub(1).filter(|before| *before >= start).and_then(|before| self.text.get(before));
        self.dialect.has_extensions()
            && match before {
                Some(b'*' | b'?') => !self.dialect.is_zsh(),
                Some(b'@' | b'!' | b'+') => true,
                _ => false,
            }
    }

    /// Reads `( … )` inside a pattern.
    pub(super) fn balanced(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        self.deeper(|scanner| {
            scanner.literal(parts);
            loop {
                match scanner.peek() {
                    None => return Err(Fault::syntax("a parenthesis that is not closed")),
                    Some(b')') => {
                        scanner.literal(parts);
                        return Ok(());
                    }
                    Some(b'(') => scanner.balanced(parts)?,
                    Some(_) => scanner.unit(parts, Quoting::None)?,
                }
            }
        })
    }

    /// Adds the byte here as it stands.
    pub(super) fn literal(&mut self, parts: &mut Parts) {
        if let Some(byte) = self.peek() {
            parts.text(&[byte], false);
            self.at += 1;
        }
    }

    /// Reads one unit: a quote, an expansion, or as many plain bytes as stand here.
    pub(super) fn unit(&mut self, parts: &mut Parts, quoting: Quoting) -> Result<(), Fault> {
        match self.peek() {
            Some(b'\\') => {
                self.backslash(parts, quoting);
                Ok(())
            }
            Some(b'\'') if quoting == Quoting::None => self.single_quotes(parts),
            Some(b'"') if matches!(quoting, Quoting::None | Quoting::Operand | Quoting::Arithmetic) => {
                self.double_quotes(parts)
            }
            Some(b'$') => self.dollar(parts, quoting),
            Some(b'`') => self.backticks(parts, quoting),
            Some(b'\n') if self.strips_tabs => {
                parts.text(b"\n", true);
                self.at += 1;
                while self.take(b"\t") {}
                Ok(())
            }
            _ => {
                let length = self.rest().iter().skip(1).take_while(|byte| is_plain(**byte)).count() + 1;
                parts.text(self.rest().get(..length).unwrap_or_default(), quoting.quotes());
                self.at += length;
                Ok(())
            }
        }
    }

    /// Reads the body of a here-document whose delimiter is not quoted, to the end of the text.
    pub(super) fn here_body(&mut self) -> Result<Vec<Part>, Fault> {
        let mut parts = Parts::default();
        if self.strips_tabs {
            while self.take(b"\t") {}
        }
        while self.peek().is_some() {
            self.unit(&mut parts, Quoting::Body)?;
        }
        Ok(parts.into_vec())
    }
}

/// A byte that means itself inside and outside of words and quotes.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b',' | b'%' | b'^' | b'~') || byte >= 0x80
}
