//! `[n]>word`, `<<EOF` and their kin.

use super::level::Level;
use super::position::Position;
use super::token::TokenKind;
use super::{Fault, Scanner};
use crate::syntax::model::{Descriptor, Part, Redirection, RedirectionKind, SyntaxDoubtKind, Word};

/// How many here-documents may start on one line: the second reader needs the square of it.
const MAX_BODIES: usize = 100;

impl Scanner<'_> {
    /// Reads a redirection.
    pub(super) fn redirection(&mut self, level: &mut Level) -> Result<(), Fault> {
        let start = self.at;
        let descriptor = self.descriptor()?;
        let operator = self.redirection_operator();
        self.skip_blanks();
        let kind = if matches!(operator, b"<<" | b"<<-") {
            let delimiter = self.delimiter(operator == b"<<-")?;
            if level.bodies.len() >= MAX_BODIES {
                return Err(Fault { kind: SyntaxDoubtKind::Limit, reason: "too many here-documents on a line" });
            }
            level.bodies.push((level.tokens.len(), delimiter));
            RedirectionKind::HereDocument(Word::default())
        } else {
            let word = self.argument(false)?;
            if word.span.start == word.span.end {
                return Err(Fault::syntax("a redirection without a target"));
            }
            self.redirection_kind(operator, word)
        };
        let redirection = Redirection { span: self.span_from(start), descriptor, kind };
        let hung = level.state.position == Position::Closed;
        if level.state.position == Position::Command {
            level.state.position = Position::Assigned;
        }
        let token = if hung { TokenKind::HungRedirection(redirection) } else { TokenKind::Redirection(redirection) };
        self.push(level, start, token);
        Ok(())
    }

    fn descriptor(&mut self) -> Result<Option<Descriptor>, Fault> {
        let rest = self.rest();
        match rest.first() {
            Some(b'{') => {
                let name: Vec<u8> = rest.iter().skip(1).take_while(|byte| **byte != b'}').copied().collect();
                self.patch(self.at, vec![b' '; name.len() + 2]);
                self.at += name.len() + 2;
                Ok(Some(Descriptor::Variable(String::from_utf8_lossy(&name).into_owned())))
            }
            Some(byte) if byte.is_ascii_digit() => {
                let mut number = 0u32;
                while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
                    let next = number.checked_mul(10).and_then(|tens| tens.checked_add(u32::from(digit - b'0')));
                    number = next.ok_or(Fault::syntax("a descriptor that is too large"))?;
                    self.at += 1;
                }
                Ok(Some(Descriptor::Number(number)))
            }
            _ => Ok(None),
        }
    }

    fn redirection_operator(&mut self) -> &'static [u8] {
        const EXTENDED: [&[u8]; 3] = [b"<<<", b"&>>", b"&>"];
        const COMMON: [&[u8]; 9] = [b"<<-", b"<<", b"<>", b"<&", b"<", b">>", b">|", b">&", b">"];
        let extended: &[&'static [u8]] = if self.dialect.has_extensions() { &EXTENDED } else { &[] };
        let found = extended.iter().chain(&COMMON).find(|operator| self.starts_with(operator)).copied().unwrap_or(b">");
        self.at += found.len();
        found
    }

    fn redirection_kind(&mut self, operator: &[u8], word: Word) -> RedirectionKind {
        if self.dialect.is_zsh() && operator.contains(&b'>') && word.parts.first().is_some_and(is_bang) {
            let span = word.span;
            self.doubt(SyntaxDoubtKind::Dialect, span, "zsh reads a `!` after `>` as part of the operator");
        }
        match operator {
            b"<" => RedirectionKind::Input(word),
            b"<>" => RedirectionKind::InputOutput(word),
            b">>" => RedirectionKind::Append(word),
            b"<<<" => RedirectionKind::HereString(word),
            b"&>>" => RedirectionKind::BothAppend(word),
            b"<&" => RedirectionKind::Duplicate(word),
            b">&" if duplicates(&word) => RedirectionKind::Duplicate(word),
            b">&" | b"&>" => RedirectionKind::Both(word),
            _ => RedirectionKind::Output(word),
        }
    }
}

/// `>&word` names a descriptor: digits, `-`, or both.
fn duplicates(word: &Word) -> bool {
    match word.parts.as_slice() {
        [Part::Literal { text, .. }] => {
            let digits = text.strip_suffix(b"-").unwrap_or(text);
            digits.iter().all(u8::is_ascii_digit)
        }
        _ => false,
    }
}

fn is_bang(part: &Part) -> bool {
    matches!(part, Part::Literal { text, quoted: false } if text.starts_with(b"!"))
}
