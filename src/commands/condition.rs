//! Whether a condition of a table holds for the arguments at hand.

use std::borrow::Cow;

use super::reading::{Given, unknown};
use super::schema::{Condition, Program, Token};
use super::tables::glob;
use crate::facts::Location;
use crate::facts::value::{Argument, UnknownKind};

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// It does not.
    No,
    /// It does if the word at this place is of a certain text.
    Perhaps(Location),
    /// It does.
    Yes,
}

/// What conditions look at.
pub(super) struct Seen<'r, 'a> {
    pub(super) levels: &'r [&'a Program],
    pub(super) options: &'r [Given<'a>],
    pub(super) operands: &'r [Cow<'a, Argument>],
    pub(super) double_dash: bool,
    pub(super) command: bool,
}

impl<'r, 'a> Seen<'r, 'a> {
    /// Whether `condition` holds.
    pub(super) fn holds(&self, condition: &Condition) -> Holds {
        let mut result = Holds::Yes;
        for clause in condition.all.iter() {
            match self.any(clause) {
                Holds::No => return Holds::No,
                Holds::Perhaps(at) => result = Holds::Perhaps(at),
                Holds::Yes => {}
            }
        }
        if self.any(&condition.unless) == Holds::Yes { Holds::No } else { result }
    }

    fn any(&self, tokens: &[Token]) -> Holds {
        let mut result = Holds::No;
        for token in tokens {
            match self.token(token) {
                Holds::Yes => return Holds::Yes,
                Holds::Perhaps(at) => result = Holds::Perhaps(at),
                Holds::No => {}
            }
        }
        result
    }

    /// The options of this name that belong to the subcommand at hand: `-C` of `git -C DIR branch` is none of branch's.
    pub(super) fn given(&self, name: &str) -> impl Iterator<Item = &'r Given<'a>> {
        let counts = |given: &&Given<'a>| {
            let owner = given.level.checked_sub(1).and_then(|level| self.levels.get(level));
            given.level == self.levels.len() || owner.is_some_and(|owner| owner.everywhere)
        };
        self.options.iter().filter(counts).filter(move |given| given.is(name))
    }

    fn token(&self, token: &Token) -> Holds {
        match token {
            Token::Option(name) => yes(self.given(name).next().is_some()),
            Token::Command => yes(self.command),
            Token::DoubleDash => yes(self.double_dash),
            Token::Operands(count) => yes(self.operands.len() > *count || self.operands.iter().any(|word| word.many)),
            Token::Value(name, pattern) => {
                strongest(self.given(name).filter_map(|given| given.value.as_deref()), pattern)
            }
            Token::First(pattern) => strongest(self.operands.iter().take(1).map(|word| &**word), pattern),
            Token::Word(pattern) => strongest(self.operands.iter().map(|word| &**word), pattern),
        }
    }
}

const fn yes(holds: bool) -> Holds {
    if holds { Holds::Yes } else { Holds::No }
}

fn strongest<'w>(words: impl Iterator<Item = &'w Argument>, pattern: &str) -> Holds {
    let mut result = Holds::No;
    for word in words {
        match matches(word, pattern) {
            Holds::Yes => return Holds::Yes,
            Holds::Perhaps(at) => result = Holds::Perhaps(at),
            Holds::No => {}
        }
    }
    result
}

/// Whether `word` matches `pattern`; a word that is not known perhaps does, unless its kind or beginning says no.
fn matches(word: &Argument, pattern: &str) -> Holds {
    if let Some(text) = word.text() {
        return yes(glob(pattern.as_bytes(), &text.to_ascii_lowercase()));
    }
    let Some(unknown) = unknown(word) else { return Holds::No };
    let lead = word.prefix();
    let literal = pattern.split('*').next().unwrap_or_default().as_bytes();
    if lead.starts_with(literal) && pattern.ends_with('*') && literal.len() + 1 == pattern.len() {
        return Holds::Yes;
    }
    let possible = unknown.kind == UnknownKind::Any && literal.starts_with(lead.get(..literal.len()).unwrap_or(&lead));
    if possible { Holds::Perhaps(word.at) } else { Holds::No }
}
