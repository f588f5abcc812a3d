//! `${…}`.

use super::word::{Parts, Quoting};
use super::{Fault, Scanner, name_length};
use crate::diagnostic::Span;
use crate::syntax::model::{Dialect, Opaque, Parameter, Part, SyntaxDoubtKind, Word};

/// The operators, those that start like another one after it.
const OPERATORS: [&[u8]; 24] = [
    b":-", b":=", b":?", b":+", b"##", b"#", b"%%", b"%", b"//", b"/#", b"/%", b"/", b"^^", b"^", b",,", b",", b"~~",
    b"~", b":", b"-", b"=", b"?", b"+", b"@",
];

/// A parameter without anything.
pub(super) fn nothing(span: Span) -> Parameter {
    Parameter { span, name: String::new(), index: None, indirect: false, length: false, operation: None, quoted: false }
}

impl Scanner<'_> {
    /// Reads `${…}`.
    pub(super) fn braces(&mut self, parts: &mut Parts, quoting: Quoting) -> Result<(), Fault> {
        if matches!(self.peek_at(2), Some(b' ' | b'\t' | b'\n' | b'|')) && self.dialect.has_extensions() {
            return self.brace_substitution(parts, quoting.quotes());
        }
        let start = self.at;
        self.at += 2;
        let part = self.deeper(|scanner| scanner.expansion(start, quoting))?;
        parts.push(part);
        Ok(())
    }

    fn expansion(&mut self, start: usize, quoting: Quoting) -> Result<Part, Fault> {
        self.spend()?;
        let mut parameter = Parameter { quoted: quoting.quotes(), ..nothing(Span::default()) };
        if self.dialect.is_zsh() && matches!(self.peek(), Some(b'(' | b'=' | b'~' | b'^' | b'+' | b'$' | b'"')) {
            self.zsh_flags(start);
        }
        if self.peek() == Some(b'!') && !matches!(self.peek_at(1), Some(b'}' | b':' | b'-' | b'=' | b'+')) {
            parameter.indirect = true;
            self.at += 1;
        }
        if self.peek() == Some(b'#') && self.measures() {
            parameter.length = true;
            self.at += 1;
        }
        if self.dialect.is_zsh() && matches!(self.rest(), [b'"', ..] | [b'$', b'{' | b'(', ..]) {
            return self.bad_substitution(start, quoting);
        }
        let length = self.parameter_length();
        parameter.name = String::from_utf8_lossy(self.rest().get(..length).unwrap_or_default()).into_owned();
        self.at += length;
        if length > 0 && self.peek() == Some(b'[') {
            parameter.index = Some(self.subscript()?);
        }
        if length == 0 {
            return self.bad_substitution(start, quoting);
        }
        if parameter.indirect && self.take(b"*}") {
            parameter.operation = Some(("*".to_owned(), Vec::new()));
        } else if !self.take(b"}") {
            let Some(operation) = self.operation(quoting)? else { return self.bad_substitution(start, quoting) };
            parameter.operation = Some(operation);
        }
        parameter.span = self.span_from(start);
        Ok(Part::Parameter(parameter))
    }

    /// `#` here asks for a length, and is not itself the parameter.
    fn measures(&self) -> bool {
        let after = self.text.get(self.at + 1..).unwrap_or_default();
        match after.first() {
            Some(b'@' | b'*' | b'?' | b'-' | b'$' | b'!' | b'#') => matches!(after.get(1), Some(b'}')),
            Some(byte) if byte.is_ascii_digit() => true,
            _ => name_length(after) > 0,
        }
    }

    fn parameter_length(&self) -> usize {
        let rest = self.rest();
        match rest.first() {
            Some(byte) if byte.is_ascii_digit() => rest.iter().take_while(|byte| byte.is_ascii_digit()).count(),
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => 1,
            _ => name_length(rest),
        }
    }

    /// Reads the operator, its operands and the brace; `None` if no operator stands here.
    fn operation(&mut self, quoting: Quoting) -> Result<Option<(String, Vec<Word>)>, Fault> {
        let Some(operator) = OPERATORS.iter().find(|operator| self.starts_with(operator)) else { return Ok(None) };
        self.at += operator.len();
        let mut name = String::from_utf8_lossy(operator).into_owned();
        if *operator == b"@" {
            if let Some(letter) = self.peek().filter(u8::is_ascii_alphabetic) {
                name.push(char::from(letter));
                self.at += 1;
            }
            return Ok(self.take(b"}").then(|| (name, Vec::new())));
        }
        let pattern = operator.first().is_some_and(|first| b"#%/^,~".contains(first));
        let inner = match (*operator, quoting) {
            (b":", _) => Quoting::Arithmetic,
            (_, Quoting::None) => Quoting::None,
            _ if pattern => Quoting::None,
            _ => Quoting::Operand,
        };
        let separator = match operator.first() {
            Some(b'/') => Some(b'/'),
            Some(b':') if operator.len() == 1 => Some(b':'),
            _ => None,
        };
        Ok(Some((name, self.operands(inner, separator)?)))
    }

    /// Reads the operands and the brace that closes them.
    fn operands(&mut self, quoting: Quoting, mut separator: Option<u8>) -> Result<Vec<Word>, Fault> {
        let mut words = Vec::new();
        let mut start = self.at;
        let mut parts = Parts::default();
        loop {
            match self.peek() {
                None => return Err(Fault::syntax("an expansion that is not closed")),
                Some(b'}') => break,
                Some(byte) if Some(byte) == separator => {
                    words.push(Word { span: self.span_from(start), parts: std::mem::take(&mut parts).into_vec() });
                    separator = None;
                    self.at += 1;
                    start = self.at;
                }
                Some(b'\'') if quoting == Quoting::Operand && self.dialect == Dialect::Bash => {
                    self.hidden(&mut parts)?;
                }
                Some(b'\'') if quoting == Quoting::Operand => {
                    // The second reader knows bash's rule only.
                    self.patch(self.at, b"x".to_vec());
                    self.unit(&mut parts, quoting)?;
                }
                Some(b'<' | b'>') if quoting == Quoting::None && self.starts_process_substitution() => {
                    self.process_substitution(&mut parts)?;
                }
                Some(_) => self.unit(&mut parts, quoting)?,
            }
        }
        words.push(Word { span: self.span_from(start), parts: parts.into_vec() });
        self.at += 1;
        Ok(words)
    }

    /// Reads `'…'` in the operand of a quoted expansion: bash keeps the quotes as text, but what closes the expansion
    /// or the outer quotes does not count between them.
    fn hidden(&mut self, parts: &mut Parts) -> Result<(), Fault> {
        parts.text(b"'", true);
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(Fault::syntax("a quote that is not closed")),
                Some(byte @ (b'}' | b'"' | b'\'')) => {
                    parts.text(&[byte], true);
                    self.at += 1;
                    if byte == b'\'' {
                        return Ok(());
                    }
                }
                Some(_) => self.unit(parts, Quoting::Operand)?,
            }
        }
    }

    /// Reads the rest of an expansion that no operator explains. The shell fails there before it expands anything.
    fn bad_substitution(&mut self, start: usize, quoting: Quoting) -> Result<Part, Fault> {
        let inner = if quoting.quotes() { Quoting::Operand } else { Quoting::None };
        let operands = self.operands(inner, None)?;
        let span = self.span_from(start);
        let plain = operands.iter().flat_map(|word| &word.parts).all(|part| matches!(part, Part::Literal { .. }));
        if self.dialect.is_zsh() {
            self.doubt(SyntaxDoubtKind::Dialect, span, "an expansion that only zsh may know");
        } else if !plain {
            self.doubt(SyntaxDoubtKind::Syntax, span, "an expansion in one that the shell should reject");
        }
        Ok(Part::Opaque(Opaque { span, reason: "bad substitution".to_owned() }))
    }
}
