//! The text of code, with its unknown pieces as single characters.

use bstr::ByteSlice;

use crate::facts::Location;
use crate::facts::value::{Argument, Piece, Unknown, UnknownKind};

/// The first of the characters that stand for unknown pieces: a private use plane that no program text uses.
const FIRST: u32 = 0xF_0000;

/// Code as text.
pub(super) struct Source {
    /// The text; invalid UTF-8 is replaced.
    pub(super) text: String,
    /// Where the code is written.
    pub(super) at: Location,
    unknown: Vec<Unknown>,
}

impl Source {
    /// The text of `code`.
    pub(super) fn new(code: &Argument) -> Self {
        let mut source = Self { text: String::new(), at: code.at, unknown: Vec::new() };
        for piece in &code.pieces {
            match piece {
                Piece::Text(text) | Piece::Pattern(text) => source.text.push_str(&text.to_str_lossy()),
                Piece::Unknown(unknown) if unknown.kind == UnknownKind::Number => source.text.push('0'),
                Piece::Unknown(unknown) => source.push_unknown(unknown.clone()),
            }
        }
        source
    }

    fn push_unknown(&mut self, unknown: Unknown) {
        let index = u32::try_from(self.unknown.len()).unwrap_or(u32::MAX);
        self.text.extend(FIRST.checked_add(index).and_then(char::from_u32));
        self.unknown.push(unknown);
    }

    /// Whether part of the text is not known.
    pub(super) fn has_unknown(&self) -> bool {
        !self.unknown.is_empty()
    }

    /// The unknown piece that `letter` stands for.
    pub(super) fn unknown(&self, letter: char) -> Option<&Unknown> {
        let index = u32::from(letter).checked_sub(FIRST)?;
        self.unknown.get(usize::try_from(index).ok()?)
    }

    /// `text`, which may hold unknown pieces, as pieces.
    pub(super) fn pieces(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut known = String::new();
        for letter in text.chars() {
            if let Some(unknown) = self.unknown(letter) {
                if !known.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut known).into()));
                }
                pieces.push(Piece::Unknown(unknown.clone()));
            } else {
                known.push(letter);
            }
        }
        if !known.is_empty() {
            pieces.push(Piece::Text(known.into()));
        }
        pieces
    }

    /// `text` as an argument.
    pub(super) fn argument(&self, text: &str) -> Argument {
        Argument { pieces: self.pieces(text), many: false, at: self.at }
    }
}
