//! Words after expansion, as far as the text and the environment tell them.

use std::borrow::Cow;

use bstr::{BStr, BString};

use super::Location;

/// A value larger than this, in bytes, is not followed: 64 KiB, or 4,096 elements.
pub(super) const MAX_SIZE: usize = 64 * 1024;
/// What one element or piece counts beside its text, in bytes.
pub(super) const ITEM: usize = 16;
/// Why such a value is not known.
pub(super) const TOO_LONG: &str = "the value is too long to be followed";

/// One argument as the program would get it, or what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// Adjacent pieces, in order; an empty list is the empty argument.
    pub pieces: Vec<Piece>,
    /// It may stand for any number of arguments (an unquoted unknown, `"$@"`, a pattern).
    pub many: bool,
    /// Where it is written.
    pub at: Location,
}

/// A piece of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Exactly these bytes.
    Text(BString),
    /// A pathname pattern (`*`, `?`, `[…]`) as written: one or more names that match, or itself.
    Pattern(BString),
    /// Not known.
    Unknown(Unknown),
}

/// Why a piece is not known, and what is known all the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// For people, as a lowercase fragment: ``$X is not set in this script``.
    pub reason: Cow<'static, str>,
    /// What it can be.
    pub kind: UnknownKind,
}

/// What an unknown piece can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnknownKind {
    /// Anything at all.
    Any,
    /// Anything but the empty text.
    NotEmpty,
    /// Digits, perhaps with a sign or a dot: cannot name a path outside, an option or a command.
    Number,
    /// The process id of something that this shell started: `$!`, `jobs -p`.
    Child,
    /// The absolute path of something new under the temporary folder (`mktemp`).
    TempPath,
    /// A path below the project or the working directory, relative and without `..` (`git ls-files`, `basename`).
    RelativePath,
    /// One word without slashes and not beginning with a dash (a git ref, a date, a host name).
    Name,
    /// Anything, and it came from the network or out of a decoder.
    Downloaded,
    /// Anything, and it is the content of a secret.
    Secret,
    /// Anything, and it is made of all variables of the environment.
    Environment,
    /// The whole content of a file, by its number among those that the reader of the script knows.
    Content(u32),
}

impl Unknown {
    /// Something that can be `kind`, and why that is all that is known of it.
    pub fn new(kind: UnknownKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into(), kind }
    }
}

impl UnknownKind {
    /// What something is that can be either of two; where it came from is kept.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Secret, _) | (_, Self::Secret) => Self::Secret,
            (Self::Downloaded, _) | (_, Self::Downloaded) => Self::Downloaded,
            (Self::Environment, _) | (_, Self::Environment) => Self::Environment,
            (Self::Number | Self::Child, Self::Number | Self::Child) => Self::Number,
            (a, b) if a.is_name() && b.is_name() => Self::Name,
            (a, b) if a.stays_below() && b.stays_below() => Self::RelativePath,
            _ => Self::Any,
        }
    }

    /// What a part of it can be.
    #[must_use]
    pub fn part(self) -> Self {
        if matches!(self, Self::Content(_)) { Self::Any } else { self }
    }

    /// Where it came from decides, whatever else it can be.
    pub(super) fn is_tainted(self) -> bool {
        matches!(self, Self::Secret | Self::Downloaded | Self::Environment)
    }

    /// One word without slashes.
    pub(super) fn is_name(self) -> bool {
        matches!(self, Self::Number | Self::Child | Self::Name)
    }

    /// As a path it leads no further than below where it begins.
    pub(super) fn stays_below(self) -> bool {
        self.is_name() || self == Self::RelativePath
    }

    /// Unquoted, it is still exactly one word.
    pub fn is_one_word(self) -> bool {
        self.is_name() || self == Self::TempPath
    }
}

impl Piece {
    /// A piece of which only the kind is known.
    pub fn unknown(kind: UnknownKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Unknown(Unknown::new(kind, reason))
    }

    /// What it takes to keep it, about, in bytes.
    pub(super) fn size(&self) -> usize {
        ITEM + match self {
            Self::Text(text) | Self::Pattern(text) => text.len(),
            Self::Unknown(_) => 0,
        }
    }
}

/// The bytes of adjacent pieces, if they are all known.
pub fn known(pieces: &[Piece]) -> Option<Cow<'_, BStr>> {
    match pieces {
        [] => Some(Cow::Borrowed(BStr::new(""))),
        [Piece::Text(text)] => Some(Cow::Borrowed(text.as_ref())),
        pieces => pieces
            .iter()
            .map(|piece| if let Piece::Text(text) = piece { Some(text.as_slice()) } else { None })
            .collect::<Option<Vec<_>>>()
            .map(|pieces| Cow::Owned(pieces.concat().into())),
    }
}

/// The first piece of which only the kind is known.
pub fn first_unknown(pieces: &[Piece]) -> Option<&Unknown> {
    pieces.iter().find_map(|piece| if let Piece::Unknown(unknown) = piece { Some(unknown) } else { None })
}

impl Argument {
    /// An argument that is exactly `text`.
    pub fn known(text: impl Into<BString>, at: Location) -> Self {
        Self { pieces: vec![Piece::Text(text.into())], many: false, at }
    }

    /// The bytes, if they are all known.
    pub fn text(&self) -> Option<Cow<'_, BStr>> {
        known(&self.pieces)
    }

    /// The known bytes that it begins with.
    pub fn prefix(&self) -> BString {
        let texts = self
            .pieces
            .iter()
            .map_while(|piece| if let Piece::Text(text) = piece { Some(text.as_slice()) } else { None });
        texts.collect::<Vec<_>>().concat().into()
    }
}
