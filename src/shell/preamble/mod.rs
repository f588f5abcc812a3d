//! What agents wrap around the command of their user, as whole templates.
//!
//! A text that matches one from end to end, given to the shell by that very agent, is judged by the user's part alone.
//! Whatever matches none, or comes from anybody else, is judged as the script it is.

mod ancestry;
mod template;

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bstr::{BStr, ByteSlice};

use super::{Reading, Shell, Source};
use crate::invocation::base_name;

pub use ancestry::{Ancestry, Process, processes};

/// An agent and how it calls shells.
#[derive(Debug)]
struct Agent {
    /// Its name, for people.
    name: &'static str,
    /// Globs for its executable, or for the script that its interpreter runs.
    ancestors: &'static [&'static str],
    /// Programs that may stand between it and the shell.
    through: &'static [&'static str],
    templates: &'static [Template],
}

/// One wrapper.
#[derive(Debug)]
struct Template {
    name: &'static str,
    /// How such a text begins: the cheap test.
    begins: &'static [&'static str],
    pieces: &'static [Piece],
    user: User,
}

/// Where the user's part is.
#[derive(Debug, Clone, Copy)]
enum User {
    /// In the text.
    Text,
    /// In `$1`.
    Parameter,
    /// In the parameters after the first so many: a call of a shell.
    Tail(usize),
    /// In an environment variable.
    Variable(&'static str),
}

/// A part of a template.
#[derive(Debug)]
enum Piece {
    /// Exactly this; a line break also stands for the blanks after it.
    Text(&'static str),
    /// Something that varies.
    Hole(Hole),
    /// There or not.
    Optional(&'static [Piece]),
}

/// What may stand in a hole.
#[derive(Debug, Clone, Copy)]
enum Hole {
    /// A path, quoted or bare, that matches a glob.
    File(&'static str),
    /// The path of a shell, quoted or bare.
    Program,
    /// The user's part, quoted or bare.
    Command,
    /// The user's part as it stands.
    Raw,
    /// The user's part in double quotes, without expansions.
    Double,
    /// A word without expansions.
    Word,
    /// A variable's name.
    Name,
    /// Digits.
    Number,
    /// Any number of lines, each of one of these forms.
    Lines(&'static [&'static [Piece]]),
}

static AGENTS: &[Agent] = include!(concat!(env!("OUT_DIR"), "/preambles.rs"));

/// The user's part of a wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapped<'a> {
    /// Which agent's.
    pub agent: &'static str,
    /// Which of its wrappers.
    pub template: &'static str,
    /// The user's part.
    pub text: Cow<'a, [u8]>,
    /// The shell that runs the user's part, if it is another one.
    pub shell: Option<Shell>,
    /// Files that the wrapper sources.
    pub sourced: Vec<PathBuf>,
}

/// The user's part of `reading`, if its text is an agent's wrapper and that agent started this shell.
///
/// `ancestry` is asked only if a template matches, because it walks the processes.
pub fn unwrap<'a>(
    reading: &Reading<'a>,
    environment: &[&'a BStr],
    home: &Path,
    project: Option<&Path>,
    ancestry: impl FnOnce() -> Ancestry,
) -> Option<Wrapped<'a>> {
    let Source::Text(text) = reading.source else { return None };
    let (agent, wrapped) = AGENTS.iter().find_map(|agent| {
        let begins = |template: &&Template| template.begins.iter().any(|begin| text.starts_with(begin.as_bytes()));
        let mut templates = agent.templates.iter().filter(begins);
        templates.find_map(|template| Some((agent, template.unwrap(agent, reading, text, environment, home)?)))
    })?;
    ancestry().reaches(agent.ancestors, agent.through, project).then_some(wrapped)
}

/// The agent that this process descends from, if it is one of those that are known.
pub fn agent_above() -> Option<&'static str> {
    let ancestry = processes();
    AGENTS.iter().find(|agent| ancestry.holds(agent.ancestors)).map(|agent| agent.name)
}

impl Template {
    fn unwrap<'a>(
        &'static self,
        agent: &'static Agent,
        reading: &Reading<'a>,
        text: &'a BStr,
        environment: &[&'a BStr],
        home: &Path,
    ) -> Option<Wrapped<'a>> {
        let matched = template::matches(self.pieces, text, home)?;
        let (user, shell) = match self.user {
            User::Text => match matched.program {
                Some(path) => (matched.user?, Some(named(&path)?)),
                None => (matched.user?, None),
            },
            User::Parameter => (Cow::Borrowed(reading.positional.first()?.as_bytes()), None),
            User::Variable(name) => {
                let value = |entry: &&'a BStr| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=");
                let mut values = environment.iter().filter_map(value);
                let only = values.next().filter(|_| values.next().is_none())?;
                (Cow::Borrowed(only), None)
            }
            User::Tail(skipped) => {
                let call = reading.positional.get(skipped..)?;
                let shell = named(call.first()?)?;
                let Source::Text(text) = shell.read(call).source else { return None };
                (Cow::Borrowed(text.as_bytes()), Some(shell))
            }
        };
        Some(Wrapped { agent: agent.name, template: self.name, text: user, shell, sourced: matched.files })
    }
}

fn named(path: &[u8]) -> Option<Shell> {
    match base_name(path).as_bytes() {
        // What `sh` is, its own start will tell; dash's rules doubt whatever differs.
        b"sh" => Some(Shell::Dash),
        name => Shell::named(name),
    }
}
