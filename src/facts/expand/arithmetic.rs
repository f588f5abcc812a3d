//! Arithmetic on known numbers.

use bstr::{BStr, ByteSlice};

use crate::facts::state::Value;
use crate::facts::value::{Piece, UnknownKind, known};
use crate::facts::walker::Walker;

impl Walker<'_> {
    /// The value of an expression, or a number of which no more is known.
    pub(in crate::facts) fn arithmetic(&self, pieces: &[Piece]) -> Piece {
        let value = known(pieces).and_then(|text| Reader { walker: self, rest: text.as_bytes(), depth: 0 }.whole());
        match value {
            Some(number) => Piece::Text(number.to_string().into()),
            None => Piece::unknown(UnknownKind::Number, "the value of an arithmetic expression"),
        }
    }

    fn number(&self, name: &BStr) -> Option<i64> {
        match &*self.variable(name) {
            [Value::Scalar(pieces)] => known(pieces)?.to_str().ok()?.trim().parse().ok(),
            [Value::Unset] => Some(0),
            _ => None,
        }
    }
}

/// Reads an expression of the four operations with parentheses; anything else is not evaluated.
struct Reader<'w, 'a> {
    walker: &'w Walker<'a>,
    rest: &'w [u8],
    depth: usize,
}

impl Reader<'_, '_> {
    fn whole(mut self) -> Option<i64> {
        let value = self.sum()?;
        self.blanks();
        self.rest.is_empty().then_some(value)
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        loop {
            match self.operator(b"+-") {
                Some(b'+') => value = value.checked_add(self.product()?)?,
                Some(_) => value = value.checked_sub(self.product()?)?,
                None => return Some(value),
            }
        }
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.unary()?;
        loop {
            match self.operator(b"*/%") {
                Some(b'*') => value = value.checked_mul(self.unary()?)?,
                Some(b'/') => value = value.checked_div(self.unary()?)?,
                Some(_) => value = value.checked_rem(self.unary()?)?,
                None => return Some(value),
            }
        }
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 64 {
            return None;
        }
        match self.operator(b"-+(") {
            Some(b'-') => self.unary()?.checked_neg(),
            Some(b'+') => self.unary(),
            Some(_) => {
                let value = self.sum()?;
                self.operator(b")").map(|_| value)
            }
            None => self.operand(),
        }
    }

    fn operand(&mut self) -> Option<i64> {
        self.blanks();
        let word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = self.rest.iter().position(|byte| !word(byte)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match word.first()? {
            // Octal and other bases are not worth reading.
            b'0' if word.len() > 1 => None,
            b'0'..=b'9' => word.to_str().ok()?.parse().ok(),
            _ => self.walker.number(word.as_bstr()),
        }
    }

    fn operator(&mut self, of: &[u8]) -> Option<u8> {
        self.blanks();
        let (&byte, rest) = self.rest.split_first()?;
        // `++`, `**`, `+=` and the like are not evaluated.
        let double = rest.first() == Some(&byte) && byte != b'(' && byte != b')' || rest.first() == Some(&b'=');
        if !of.contains(&byte) || double {
            return None;
        }
        self.rest = rest;
        Some(byte)
    }

    fn blanks(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }
}
