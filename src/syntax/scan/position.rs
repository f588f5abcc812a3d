//! Where in a command the scanner stands: whether a word is a name, an argument, a pattern or a reserved word.

use super::token::Keyword;
use crate::syntax::dialect;
use crate::syntax::model::Dialect;

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A command, where reserved words count.
    Command,
    /// A command after an assignment or redirection, where they do not.
    Assigned,
    /// Arguments.
    Arguments,
    /// Operators and redirections after a compound command.
    Closed,
    /// The word of `case`.
    CaseWord,
    /// The `in` of `case`.
    CaseIn,
    /// A pattern or `esac`.
    Pattern,
    /// A pattern.
    MorePattern,
    /// `|` or `)` after a pattern.
    PatternTail,
    /// The variable of `for`.
    ForName,
    /// `in`, `do`, `;` or a newline after it.
    ForIn,
    /// The words of `for`.
    ForWords,
}

/// An open compound command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// `( … )`.
    Parenthesis,
    /// `case … esac`.
    Case,
    /// `for …` before its body.
    For,
    /// `if … fi`, `{ … }`, `… done`.
    Other,
}

/// The open compound commands of a level and what may come next.
pub(super) struct State {
    pub(super) position: Position,
    pub(super) frames: Vec<Frame>,
}

impl State {
    pub(super) fn new() -> Self {
        Self { position: Position::Command, frames: Vec::new() }
    }

    /// Steps over the reserved word that `text` is here, if it is one.
    pub(super) fn keyword(&mut self, text: &[u8], dialect: Dialect) -> Option<Keyword> {
        use Position::{CaseIn, Closed, Command, ForIn, Pattern};
        let keyword = dialect::keyword(text, dialect)?;
        let stands = match self.position {
            Command => keyword != Keyword::In,
            Closed => matches!(
                keyword,
                Keyword::Then
                    | Keyword::Elif
                    | Keyword::Else
                    | Keyword::Fi
                    | Keyword::Do
                    | Keyword::Done
                    | Keyword::Esac
                    | Keyword::Close
            ),
            CaseIn => keyword == Keyword::In,
            Pattern => keyword == Keyword::Esac,
            ForIn => matches!(keyword, Keyword::In | Keyword::Do | Keyword::Open),
            _ => false,
        };
        stands.then(|| {
            self.step(keyword);
            keyword
        })
    }

    fn step(&mut self, keyword: Keyword) {
        use Keyword::{Case, Close, Do, Done, Elif, Else, Esac, Fi, For, If, In, Open, Then, While};
        if matches!(keyword, Do | Open) && self.frames.last() == Some(&Frame::For) {
            self.frames.pop();
            self.frames.push(Frame::Other);
            self.position = Position::Command;
            return;
        }
        let (frame, position) = match keyword {
            If | While | Open => (Some(Frame::Other), Position::Command),
            For => (Some(Frame::For), Position::ForName),
            Case => (Some(Frame::Case), Position::CaseWord),
            Then | Elif | Else | Do => (None, Position::Command),
            In if self.position == Position::CaseIn => (None, Position::Pattern),
            In => (None, Position::ForWords),
            Fi | Done | Esac | Close => {
                self.frames.pop();
                (None, Position::Closed)
            }
        };
        self.frames.extend(frame);
        self.position = position;
    }

    /// Steps over a word that is no reserved word.
    pub(super) fn word(&mut self) {
        self.position = match self.position {
            Position::Command | Position::Assigned | Position::Arguments => Position::Arguments,
            Position::CaseWord => Position::CaseIn,
            Position::Pattern | Position::MorePattern => Position::PatternTail,
            Position::ForName => Position::ForIn,
            other => other,
        };
    }

    /// A word here is the name of a command or stands before it.
    pub(super) fn before_name(&self) -> bool {
        matches!(self.position, Position::Command | Position::Assigned)
    }

    /// A newline here ends a statement; elsewhere it is blank.
    pub(super) fn ends_at_newline(&self) -> bool {
        matches!(self.position, Position::Assigned | Position::Arguments | Position::Closed | Position::ForWords)
    }
}
