//! Places in a text, and messages that point at them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A half-open range of bytes `start..end` in one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Span {
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end`.
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The smallest range that holds both.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// The bytes of `text` in this range; empty if the range leaves the text.
    pub fn of(self, text: &[u8]) -> &[u8] {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// A message to whoever wrote a file: what, where, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file that is at fault.
    pub path: PathBuf,
    /// Where in it; `None` where the file as a whole is at fault (missing, wrong owner).
    pub span: Option<Span>,
    /// What is wrong: a lowercase fragment without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Something wrong in a file, before it is known which file it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where; `None`: the file as a whole.
    pub span: Option<Span>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem.
    pub fn new(span: Option<Span>, message: impl Into<String>, help: Option<String>) -> Self {
        Self { span, message: message.into(), help }
    }

    /// The same for who reads a file.
    pub fn in_file(self, path: &Path) -> Diagnostic {
        Diagnostic { path: path.to_path_buf(), span: self.span, message: self.message, help: self.help }
    }
}
