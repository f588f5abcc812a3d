//! Arithmetic on known numbers.

use bstr::{BStr, BString, ByteSlice};

use crate::facts::effect::Doubt;
use crate::facts::state::Value;
use crate::facts::value::{Piece, UnknownKind, known};
use crate::facts::walker::{By, Walker};

/// So many variables of an expression are followed.
const MAX_NAMES: usize = 32;

impl Walker<'_> {
    /// The value of an expression, or a number of which no more is known.
    pub(in crate::facts) fn arithmetic(&self, pieces: &[Piece]) -> Piece {
        let value = known(pieces).and_then(|text| Reader { walker: self, rest: text.as_bytes(), depth: 0 }.whole());
        match value {
            Some(number) => Piece::Text(number.to_string().into()),
            None => Piece::unknown(UnknownKind::Number, "the value of an arithmetic expression"),
        }
    }

    /// Judges the command substitutions in the values of variables that an expression mentions: the values are
    /// expressions too.
    pub(in crate::facts) fn arithmetic_names(&mut self, pieces: &[Piece], by: By) {
        let mut left: Vec<BString> = pieces.iter().flat_map(names).collect();
        let mut seen = std::collections::BTreeSet::new();
        while let Some(name) = left.pop() {
            if seen.len() >= MAX_NAMES || !seen.insert(name.clone()) {
                continue;
            }
            for value in self.variable(name.as_ref()).into_owned() {
                let Value::Scalar(pieces) = value else { continue };
                if pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(&b'['))) {
                    if known(&pieces).is_none() {
                        self.doubt(Doubt::Argument, by, format!("${name} is evaluated, and not known"));
                    }
                    self.evaluated(&pieces, by);
                }
                left.extend(pieces.iter().flat_map(names));
            }
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

/// The words of a text that can name variables.
fn names(piece: &Piece) -> Vec<BString> {
    let Piece::Text(text) = piece else { return Vec::new() };
    text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .filter(|word| word.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_'))
        .take(MAX_NAMES)
        .map(BString::from)
        .collect()
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
