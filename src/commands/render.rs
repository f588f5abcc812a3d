//! A reading as text, for people and for tests.

use std::fmt::{self, Display, Formatter};

use super::notation::ROLES;
use super::reading::{Declared, Reading, Tail, Use};
use super::schema::{Role, TailKind};
use crate::facts::value::{Argument, Piece};

impl Display for Reading<'_> {
    /// Subcommand, options, uses, effects, wrapped commands and doubts, parted by `; `.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if !self.subcommand.is_empty() {
            parts.push(format!("sub {}", joined(self.subcommand.iter(), " ")));
        }
        if !self.options.is_empty() {
            let names = self.options.iter().map(|given| match &given.value {
                Some(value) => format!("{}={}", given.name, Word(value)),
                None => given.name.to_string(),
            });
            parts.push(format!("options {}", joined(names, " ")));
        }
        if self.inspect_only {
            parts.push("only prints".into());
        }
        if self.dry {
            parts.push("dry".into());
        }
        parts.extend(self.uses.iter().filter(|it| it.role != Role::Text).map(Use::to_string));
        parts.extend(self.effects.iter().map(Declared::to_string));
        parts.extend(self.tails.iter().map(Tail::to_string));
        parts.extend(self.doubts.iter().map(|vague| format!("doubt {}: {}", vague.doubt.word(), vague.reason)));
        if self.loose.is_some() {
            parts.push("loose".into());
        }
        formatter.write_str(&parts.join("; "))
    }
}

impl Display for Use<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.role, Word(&self.value))
    }
}

impl Display for Declared<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "effect {}", self.effect.word())?;
        if let Some(aspect) = self.aspect {
            write!(formatter, ".{}", aspect.word())?;
        }
        if self.at_input {
            formatter.write_str(" on the paths of the input")?;
        }
        if self.at_cwd {
            formatter.write_str(" on cwd")?;
        }
        if let Some(work) = self.work {
            write!(formatter, " on {}", work.word())?;
        }
        if !self.on.is_empty() {
            write!(formatter, " on {}", joined(self.on.iter().map(|word| Word(word)), " "))?;
        }
        Ok(())
    }
}

impl Display for Tail<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            TailKind::Command => "runs",
            TailKind::UntilSemicolon => "runs for each",
            TailKind::StringJoined => "runs text",
        };
        write!(formatter, "{kind} [{}]", joined(self.words.iter().map(Word), " "))?;
        if self.remote {
            formatter.write_str(" elsewhere")?;
        }
        if self.appends {
            formatter.write_str(" and more words")?;
        }
        if let Some(kind) = self.unlisted {
            write!(formatter, " or {}", kind.effect.word())?;
            if let Some(aspect) = kind.aspect {
                write!(formatter, ".{}", aspect.word())?;
            }
        }
        Ok(())
    }
}

impl Display for Role {
    /// The word of the notation.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(language) => write!(formatter, "code:{}", language.word()),
            Self::Script(language) => write!(formatter, "script:{}", language.word()),
            Self::Load(language) => write!(formatter, "load:{}", language.word()),
            role => formatter.write_str(ROLES.iter().find(|(_, listed)| listed == role).map_or("", |(word, _)| word)),
        }
    }
}

/// An argument as a person would write it; unknown parts as `‹›`.
struct Word<'a>(&'a Argument);

impl Display for Word<'_> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for piece in &self.0.pieces {
            match piece {
                Piece::Text(text) | Piece::Pattern(text) => write!(formatter, "{text}")?,
                Piece::Unknown(_) => formatter.write_str("‹›")?,
            }
        }
        if self.0.many { formatter.write_str("…") } else { Ok(()) }
    }
}

fn joined<T: Display>(items: impl Iterator<Item = T>, between: &str) -> String {
    items.map(|item| item.to_string()).collect::<Vec<_>>().join(between)
}
