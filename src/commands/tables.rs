//! Finding the entry for a program and its subcommands.

use std::borrow::Cow;
use std::cmp::Ordering;

use bstr::BStr;

use super::reading::Reading;
use super::schema::{Program, Setting, Shell};
use crate::facts::value::Argument;
use crate::syntax::Dialect;
use generated::Row;

#[allow(unused_imports)]
mod generated {
    //! What the build made of `*.toml`.
    use std::borrow::Cow::Borrowed as B;

    use crate::commands::recipe::Recipe;
    use crate::commands::schema::Repeat::{Assignments as RA, Many as RM, One as RO};
    use crate::commands::schema::Takes::{Many as TM, Nothing as TN, Optional as TO, Required as TR};
    use crate::commands::schema::{
        Case, Condition, EffectSpec, Kind, Language, Name, OperandSpec, OptionSpec, Program, Role, Setting, Shell,
        Style, TailKind, Target, Token,
    };
    use crate::facts::kind::{Aspect, Effect};

    /// A name, its main spelling, and its entry.
    pub(super) type Row = (&'static str, &'static str, &'static Program);

    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

/// All tables: the shipped ones and the user's own, which come first.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    user: Vec<Program>,
}

/// The entry of one program.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    pub(super) tables: &'a Tables,
    pub(super) program: &'a Program,
}

impl Tables {
    /// The shipped tables.
    pub const fn builtin() -> Self {
        Self { user: Vec::new() }
    }

    /// These tables with `programs` before them: an entry hides the shipped one of the same name.
    #[must_use]
    pub fn with_user(mut self, programs: Vec<Program>) -> Self {
        self.user.extend(programs);
        self
    }

    /// The entry of `program`, a name without directory (or `INTERPRETER -m MODULE`).
    pub fn find(&self, program: &BStr) -> Option<Table<'_>> {
        let name = std::str::from_utf8(program).ok()?;
        self.entry(name).map(|(_, program)| Table { tables: self, program })
    }

    /// The main name and the entry of exactly this path: literal names before globs, the user's before shipped ones.
    pub(super) fn entry(&self, path: &str) -> Option<(&str, &Program)> {
        let matches = |name: &str| name.contains('*') && glob_path(name, path, false);
        let user = |wanted: &dyn Fn(&str) -> bool| {
            self.user_rows().find(|(name, ..)| wanted(name)).map(|(_, main, entry)| (main, entry))
        };
        // The glob that says most of the path: `az * list-keys` before `az * list*`.
        let literal = |(name, ..): &Row| name.bytes().filter(|byte| *byte != b'*').count();
        let found = || globs(path).filter(|(name, ..)| matches(name)).max_by_key(literal);
        let glob = || found().map(|(_, main, entry)| (main, entry));
        user(&|name| name == path).or_else(|| exact(path)).or_else(|| user(&matches)).or_else(glob)
    }

    /// Whether the entry of exactly this path is a user's own.
    pub(super) fn is_own(&self, path: &str) -> bool {
        let found = self.entry(path);
        found.is_some_and(|(_, entry)| self.user.iter().any(|own| std::ptr::eq(own, entry)))
    }

    /// Whether an entry exists for `path` or for something below it.
    pub(super) fn leads(&self, path: &str) -> bool {
        exact_below(path)
            || self.user_rows().any(|(name, ..)| glob_path(name, path, true))
            || globs(path).any(|(name, ..)| glob_path(name, path, true))
    }

    fn user_rows(&self) -> impl Iterator<Item = (&str, &str, &Program)> {
        self.user.iter().flat_map(|program| program.names.iter().map(move |name| (&*name.text, &*name.main, program)))
    }
}

impl<'a> Table<'a> {
    /// The entry itself.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// What the program would take `arguments` (without its own name) for.
    pub fn read(&self, arguments: &'a [Argument]) -> Reading<'a> {
        super::read::read(*self, arguments)
    }

    /// The environment variables that matter to the program.
    pub fn environment(&self) -> impl Iterator<Item = &'a Setting> + use<'a> {
        self.program.environment.iter()
    }

    /// Whether a shell has this name built in, so that `PATH` does not count.
    pub fn is_builtin(&self, dialect: Dialect) -> bool {
        let shell = match dialect {
            Dialect::Bash | Dialect::BashPosix => Shell::Bash,
            Dialect::Dash => Shell::Dash,
            Dialect::Zsh | Dialect::ZshSh => Shell::Zsh,
        };
        self.program.builtin.contains(&shell)
    }
}

/// All shipped entries by their names.
pub(super) fn shipped() -> impl Iterator<Item = (&'static str, &'static Program)> {
    generated::NAMES.iter().chain(generated::GLOBS).map(|(name, _, program)| (*name, *program))
}

fn exact(path: &str) -> Option<(&'static str, &'static Program)> {
    let found = generated::NAMES.binary_search_by(|(name, ..)| (*name).cmp(path)).ok()?;
    generated::NAMES.get(found).map(|(_, main, program)| (*main, *program))
}

/// Whether a literal name is `path` or goes on after it with a blank, which sorts before all that names hold.
fn exact_below(path: &str) -> bool {
    let start = generated::NAMES.partition_point(|(name, ..)| match name.get(..path.len()) {
        Some(head) if head == path => name.as_bytes().get(path.len()).is_some_and(|next| *next < b' '),
        _ => name.cmp(&path) == Ordering::Less,
    });
    let next = generated::NAMES.get(start).and_then(|(name, ..)| name.strip_prefix(path));
    next.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The shipped entries with globs that share the first word of `path`.
fn globs(path: &str) -> impl Iterator<Item = Row> {
    let first = path.split(' ').next().unwrap_or(path);
    let start = generated::GLOBS.partition_point(|(name, ..)| name.split(' ').next() < Some(first));
    let rest = generated::GLOBS.get(start..).unwrap_or_default();
    rest.iter().copied().take_while(move |(name, ..)| name.split(' ').next() == Some(first))
}

/// Whether `path` is `name` word by word, or (`below`) the beginning of it.
fn glob_path(name: &str, path: &str, below: bool) -> bool {
    let mut names = name.split(' ');
    path.split(' ').all(|word| names.next().is_some_and(|name| glob(name.as_bytes(), word.as_bytes())))
        && (below || names.next().is_none())
}

/// Whether `text` matches `pattern`, in which `*` is any number of bytes and `?` one.
pub(crate) fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut pattern, mut text) = (pattern, text);
    let mut retry: Option<(&[u8], &[u8])> = None;
    loop {
        match (pattern.split_first(), text.split_first()) {
            (Some((b'*', after)), _) => {
                retry = Some((after, text));
                pattern = after;
            }
            (Some((wanted, after)), Some((found, rest))) if wanted == found || *wanted == b'?' => {
                (pattern, text) = (after, rest);
            }
            (None, None) => return true,
            _ => {
                let Some((after, from)) = retry else { return false };
                let Some((_, rest)) = from.split_first() else { return false };
                retry = Some((after, rest));
                (pattern, text) = (after, rest);
            }
        }
    }
}

/// A setting whose name is `name`, case aside.
pub(super) fn setting<'a>(settings: &'a [Setting], name: &BStr) -> Option<&'a Setting> {
    let name: Cow<'_, [u8]> = Cow::Owned(name.to_ascii_lowercase());
    let found = |setting: &&Setting| glob(setting.name.to_ascii_lowercase().as_bytes(), &name);
    settings.iter().find(found)
}
