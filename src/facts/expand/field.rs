//! Splitting expanded text into words, and finding the patterns in it.

use bstr::{BStr, BString};

use crate::facts::Location;
use crate::facts::value::{Argument, ITEM, Piece, UnknownKind};

/// A part of a word after expansion.
#[derive(Debug, Clone)]
pub(super) enum Bit {
    /// Known or unknown text.
    Text {
        piece: Piece,
        /// The result of an unquoted expansion: it is split.
        split: bool,
        /// Pattern characters in it count.
        globs: bool,
        /// It makes a word even if it is empty.
        makes: bool,
    },
    /// The end of a word inside `"$@"`.
    Break,
    /// Any number of words, of which nothing more is known.
    Many(Piece),
}

impl Bit {
    /// Text as written.
    pub(super) fn literal(text: BString, quoted: bool) -> Self {
        Self::Text { makes: quoted || !text.is_empty(), piece: Piece::Text(text), split: false, globs: !quoted }
    }

    /// Text that is neither split nor a pattern.
    pub(super) fn quoted(piece: Piece) -> Self {
        Self::Text { piece, split: false, globs: false, makes: true }
    }

    /// It is not split.
    pub(super) fn keep_whole(&mut self) {
        if let Self::Text { split, .. } = self {
            *split = false;
        }
    }

    /// What it takes to keep it, about, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Text { piece, .. } | Self::Many(piece) => piece.size(),
            Self::Break => ITEM,
        }
    }

    /// What it can be, if it is not known.
    pub(super) fn kind(&self) -> Option<UnknownKind> {
        match self {
            Self::Text { piece: Piece::Unknown(unknown), .. } | Self::Many(Piece::Unknown(unknown)) => {
                Some(unknown.kind)
            }
            _ => None,
        }
    }

    /// What an expansion gave.
    pub(super) fn expanded(piece: Piece, quoted: bool) -> Self {
        Self::Text { piece, split: !quoted, globs: !quoted, makes: quoted }
    }
}

/// The bits as one string.
pub(super) fn joined(bits: Vec<Bit>) -> Vec<Piece> {
    let mut pieces = Vec::with_capacity(bits.len());
    for bit in bits {
        match bit {
            Bit::Text { piece, .. } | Bit::Many(piece) => push(&mut pieces, piece),
            Bit::Break => push(&mut pieces, Piece::Text(" ".into())),
        }
    }
    pieces
}

/// Adds a piece; adjacent texts become one, empty ones none.
pub(in crate::facts) fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.extend_from_slice(&text),
        (_, piece) => pieces.push(piece),
    }
}

/// Words being gathered.
struct Fields<'s> {
    separators: &'s BStr,
    globs: Option<bool>,
    at: Location,
    done: Vec<Argument>,
    pieces: Vec<Piece>,
    started: bool,
    many: bool,
}

/// The words that the bits make. `globs`: pattern characters count, extended ones too.
pub(super) fn split(bits: Vec<Bit>, separators: &BStr, globs: Option<bool>, at: Location) -> Vec<Argument> {
    let mut fields =
        Fields { separators, globs, at, done: Vec::new(), pieces: Vec::new(), started: false, many: false };
    for bit in bits {
        match bit {
            Bit::Break => {
                // Empty items go away, but not in bash where no blank separates words.
                fields.started |= !separators.is_empty() && !separators.iter().any(|byte| b" \t\n".contains(byte));
                fields.end();
            }
            Bit::Many(piece) => {
                fields.started = true;
                fields.many = true;
                fields.pieces.push(piece);
            }
            Bit::Text { piece: Piece::Text(text), split, globs, makes } => fields.text(&text, split, globs, makes),
            Bit::Text { piece, split, .. } => fields.other(piece, split),
        }
    }
    fields.end();
    fields.done
}

impl Fields<'_> {
    fn text(&mut self, text: &[u8], split: bool, globs: bool, makes: bool) {
        self.started |= makes;
        if !split || !text.iter().any(|byte| self.separators.contains(byte)) {
            self.started |= !text.is_empty();
            self.add(text, globs);
            return;
        }
        let mut rest = text;
        while let Some(end) = rest.iter().position(|byte| self.separators.contains(byte)) {
            let (word, after) = rest.split_at_checked(end).unwrap_or((rest, b""));
            self.started |= !word.is_empty();
            self.add(word, globs);
            let blank = after.first().is_some_and(|byte| b" \t\n".contains(byte));
            // A separator that is no blank ends a word even if it is empty.
            self.started |= !blank;
            self.end();
            rest = after.get(1..).unwrap_or_default();
        }
        self.started |= !rest.is_empty();
        self.add(rest, globs);
    }

    fn other(&mut self, piece: Piece, split: bool) {
        self.started = true;
        if let Piece::Unknown(unknown) = &piece {
            self.many |= split && !self.separators.is_empty() && !unknown.kind.is_one_word();
        } else {
            self.many = true;
        }
        self.pieces.push(piece);
    }

    fn add(&mut self, text: &[u8], globs: bool) {
        let span = match (globs, self.globs) {
            (true, Some(extended)) => pattern_span(text, extended),
            _ => None,
        };
        let Some((start, end)) = span else { return push(&mut self.pieces, Piece::Text(text.into())) };
        self.many = true;
        push(&mut self.pieces, Piece::Text(text.get(..start).unwrap_or_default().into()));
        self.pieces.push(Piece::Pattern(text.get(start..end).unwrap_or_default().into()));
        push(&mut self.pieces, Piece::Text(text.get(end..).unwrap_or_default().into()));
    }

    fn end(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        if std::mem::take(&mut self.started) {
            self.done.push(Argument { pieces, many: self.many, at: self.at });
        }
        self.many = false;
    }
}

/// From the first to the last pattern character.
fn pattern_span(text: &[u8], extended: bool) -> Option<(usize, usize)> {
    let special = |index: usize, byte: u8| match byte {
        b'*' | b'?' => true,
        b'[' => text.get(index..).unwrap_or_default().contains(&b']'),
        b'(' => extended && index > 0 && text.get(index - 1).is_some_and(|before| b"@+!*?".contains(before)),
        _ => false,
    };
    let first = text.iter().enumerate().find(|(index, byte)| special(*index, **byte))?.0;
    let last = text.iter().rposition(|byte| b"*?])".contains(byte))?;
    let first = if text.get(first) == Some(&b'(') { first.saturating_sub(1) } else { first };
    (first <= last).then_some((first, last + 1))
}
