//! What each shell reads differently.

use super::model::Dialect;
use super::scan::Keyword;

impl Dialect {
    /// The shell knows what bash added to POSIX: arrays, `[[`, `<<<`, `<(…)`, `&>`, `$'…'`, `function`.
    pub(super) fn has_extensions(self) -> bool {
        self != Self::Dash
    }

    /// The shell has what only zsh has, which it gives up where it emulates another.
    pub(super) fn is_zsh(self) -> bool {
        self == Self::Zsh
    }
}

/// The reserved word that `text` is.
pub(super) fn keyword(text: &[u8], dialect: Dialect) -> Option<Keyword> {
    Some(match text {
        b"if" => Keyword::If,
        b"then" => Keyword::Then,
        b"elif" => Keyword::Elif,
        b"else" => Keyword::Else,
        b"fi" => Keyword::Fi,
        b"while" | b"until" => Keyword::While,
        b"for" => Keyword::For,
        b"select" if dialect.has_extensions() => Keyword::For,
        b"in" => Keyword::In,
        b"do" => Keyword::Do,
        b"done" => Keyword::Done,
        b"case" => Keyword::Case,
        b"esac" => Keyword::Esac,
        b"{" => Keyword::Open,
        b"}" => Keyword::Close,
        _ => return None,
    })
}
