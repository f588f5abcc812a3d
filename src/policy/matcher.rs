//! Whether a rule is about a command or an effect.

use bstr::BString;

use crate::facts::{Aspect, CommandFact, EffectFact, Identity};

use super::Call;
use super::pattern::{self, Roots};
use super::statement::Rule;

/// The answer of a matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// It is not.
    No,
    /// Something that decides it is not known.
    Maybe,
    /// It is.
    Yes,
}

use Match::{Maybe, No, Yes};

impl From<bool> for Match {
    fn from(matched: bool) -> Self {
        if matched { Yes } else { No }
    }
}

/// Whether the rule's matchers of commands and callers hold; `command` is `None` for what belongs to no command.
pub(super) fn command(rule: &Rule, command: Option<&CommandFact>, call: &Call<'_>) -> Match {
    let caller = (rule.shells.is_empty() || rule.shells.iter().any(|shell| shell == call.shell))
        && (rule.origins.is_empty() || globs(&rule.origins, call.origin.as_bytes()));
    if !caller {
        return No;
    }
    let about = [&rule.flags, &rule.arguments, &rule.environment];
    let Some(command) = command else {
        return Match::from(rule.commands.is_empty() && about.iter().all(|list| list.is_empty()));
    };
    let program = any(&rule.commands, |words| named(words, command, call));
    // The later ones are looked at only where the earlier ones leave it open.
    program
        .and(|| any(&rule.flags, |flag| given(flag, command)))
        .and(|| any(&rule.arguments, |glob| argument(glob, command)))
        .and(|| any(&rule.environment, |glob| assigned(glob, command)))
}

/// Whether the rule's matchers of effects hold.
pub(super) fn effect(rule: &Rule, fact: &EffectFact, roots: Roots<'_>) -> Match {
    let listed = (rule.effects.is_empty() || rule.effects.iter().any(|of| of.covers(fact.effect, fact.aspect)))
        && (rule.places.is_empty() || rule.places.iter().any(|place| fact.aspect == Some(*place)));
    if !listed {
        return No;
    }
    let target = |globs: &[String], matches: &dyn Fn(&[u8], &[u8]) -> bool| match &fact.target {
        _ if globs.is_empty() => Yes,
        // A new temporary file lies below no home and no project.
        None if fact.aspect == Some(Aspect::Temp) => {
            if globs.iter().any(|glob| pattern::is_absolute(glob)) {
                Maybe
            } else {
                No
            }
        }
        None => Maybe,
        Some(target) => Match::from(globs.iter().any(|glob| matches(glob.as_bytes(), target))),
    };
    target(&rule.paths, &|glob, target| pattern::path(glob, target, roots))
        .and(|| target(&rule.hosts, &|glob, target| pattern::word(glob, &pattern::host(target).to_ascii_lowercase())))
}

/// Program and leading words.
fn named(words: &[String], command: &CommandFact, call: &Call<'_>) -> Match {
    let Some((program, words)) = words.split_first() else {
        return No;
    };
    let Some(name) = &command.program else {
        return Maybe;
    };
    let named = if program.contains('/') {
        by_file(program, command, call)
    } else {
        Match::from(pattern::word(program.as_bytes(), name))
    };
    named.and(|| leading(words, command))
}

/// A program that a rule names by its path.
fn by_file(program: &str, command: &CommandFact, call: &Call<'_>) -> Match {
    let Some(Some(written)) = command.argv.first() else {
        return Maybe;
    };
    if !written.contains(&b'/') {
        return No;
    }
    let file = match &command.cwd {
        _ if written.starts_with(b"/") => written.clone(),
        Some(cwd) => [cwd.as_os_str().as_encoded_bytes(), b"/", written.as_slice()].concat().into(),
        None => return Maybe,
    };
    Match::from(pattern::path(program.as_bytes(), &pattern::normal(&file), call.roots))
}

/// The words after the program: subcommands, then operands.
fn leading(words: &[String], command: &CommandFact) -> Match {
    let mut given = command.subcommand.iter().map(Some).chain(command.operands.iter().map(Option::as_ref));
    for word in words {
        match given.next() {
            Some(None) => return Maybe,
            Some(Some(text)) if pattern::word(word.as_bytes(), text) => {}
            Some(Some(_)) | None => return No,
        }
    }
    Yes
}

/// An option, by any of its spellings, abbreviated or in a cluster as its program reads them. `--flag=glob` also looks
/// at its value.
fn given(flag: &str, command: &CommandFact) -> Match {
    let (flag, value) = match flag.split_once('=') {
        Some((flag, value)) => (flag, Some(value)),
        None => (flag, None),
    };
    let holds = |option: Option<&BString>| match (value, option) {
        (None, _) => Yes,
        (Some(_), None) => Maybe,
        (Some(glob), Some(text)) => Match::from(pattern::word(glob.as_bytes(), text)),
    };
    let known = command.options.iter().filter(|option| option.names.iter().any(|name| name == flag));
    let found = known.map(|option| holds(option.value.as_ref())).max().unwrap_or(No);
    if found == Yes {
        return Yes;
    }
    // Where a table read the words, an option's value is none of them, and what it did not find is an operand.
    let described = command.identity == Identity::Described;
    let words = if described { command.operands.iter() } else { command.argv.get(1..).unwrap_or_default().iter() };
    let plain = words.map(|word| match word {
        None => Maybe,
        Some(_) if described => No,
        Some(word) => spelled(flag, value, word),
    });
    plain.max().unwrap_or(No).max(found)
}

/// An option as a program without a table is likely to read it.
fn spelled(flag: &str, value: Option<&str>, word: &[u8]) -> Match {
    match word.strip_prefix(flag.as_bytes()) {
        Some(b"") if value.is_some() => Maybe,
        Some(b"") => Yes,
        Some([b'=', given @ ..]) => Match::from(value.is_none_or(|glob| pattern::word(glob.as_bytes(), given))),
        _ => match (flag.as_bytes(), word) {
            ([b'-', short], [b'-', rest @ ..]) if *short != b'-' && !rest.starts_with(b"-") && rest.contains(short) => {
                Maybe
            }
            _ => No,
        },
    }
}

fn argument(glob: &str, command: &CommandFact) -> Match {
    let words = command.argv.iter().skip(1);
    words
        .map(|word| word.as_ref().map_or(Maybe, |word| pattern::word(glob.as_bytes(), word).into()))
        .max()
        .unwrap_or(No)
}

fn assigned(glob: &str, command: &CommandFact) -> Match {
    let names = command.environment.iter().map(|word| word.split(|&byte| byte == b'=').next().unwrap_or_default());
    names.map(|name| pattern::word(glob.as_bytes(), name).into()).max().unwrap_or(No)
}

fn globs(globs: &[String], text: &[u8]) -> bool {
    globs.iter().any(|glob| pattern::word(glob.as_bytes(), text))
}

/// One of a list; an empty list asks nothing.
fn any<T>(list: &[T], matches: impl Fn(&T) -> Match) -> Match {
    if list.is_empty() { Yes } else { list.iter().map(matches).max().unwrap_or(No) }
}

impl Match {
    /// The weaker of both.
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        if self == No { No } else { self.min(other()) }
    }
}
