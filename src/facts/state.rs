//! What a shell holds at one point of a script, as far as the text tells it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;

use bstr::{BStr, BString};

use super::value::{Argument, MAX_SIZE, Piece, TOO_LONG, UnknownKind, first_unknown};
use crate::syntax::model::Command;

/// More values than this for one variable are no longer told apart.
pub(super) const MAX_VALUES: usize = 8;

/// Variables, functions, folder, options and files at one point. Cloned at every branch, so its maps are shared until
/// they differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct State {
    /// Variables that the script changed; all others are the environment's.
    pub(super) variables: Rc<BTreeMap<BString, Variable>>,
    /// Functions by name; several bodies where branches differ, `None` among them where one defines none.
    pub(super) functions: Rc<BTreeMap<String, Vec<Option<Rc<FunctionBody>>>>>,
    /// Aliases by name.
    pub(super) aliases: Rc<BTreeMap<BString, Alias>>,
    /// The working directory.
    pub(super) cwd: Folder,
    /// The working directory if the command just run failed, where that makes a difference (`cd`).
    pub(super) fallback: Option<Folder>,
    /// Folders pushed by `pushd`, the last one pushed at the end.
    pub(super) pushed: Vec<Folder>,
    /// `$1`, `$2`, …; an argument that is `many` stands for any number of them.
    pub(super) positional: Rc<Vec<Argument>>,
    /// Options that change how words are expanded.
    pub(super) options: Options,
    /// Files that the script made, moved or touched in a way that cannot be told.
    pub(super) files: Rc<Files>,
    /// Variables that may be changed under another name (`declare -n`); the empty name stands for all.
    pub(super) renamed: Rc<BTreeSet<BString>>,
    /// Why any variable may have been changed: a script was sourced that could not be read.
    pub(super) unsettled: Option<Cow<'static, str>>,
    /// Nothing runs from here on: after `exit`, `return`, `break`.
    pub(super) ended: bool,
}

/// What an alias stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Alias {
    pub(super) text: BString,
    /// The script that defines it.
    pub(super) script: usize,
}

/// Options that change how words are expanded or what a failure does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the shell")]
pub(super) struct Options {
    /// `set -f`.
    pub(super) noglob: bool,
    /// `shopt -s extglob`.
    pub(super) extglob: bool,
    /// `set -e`.
    pub(super) errexit: bool,
    /// `shopt -s expand_aliases`.
    pub(super) aliases: bool,
    /// `export -f` was called: functions reach the shells that are started.
    pub(super) functions: bool,
    /// `shopt -s dotglob`: patterns take hidden names too.
    pub(super) dotglob: bool,
    /// `shopt -s lastpipe`.
    pub(super) lastpipe: bool,
    /// `set -a`.
    pub(super) allexport: bool,
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Variable {
    /// What it can be: one value, or a few where branches differ.
    pub(super) values: Vec<Value>,
    /// Given to programs.
    pub(super) exported: bool,
    /// Assignments to it fail, as far as that can be told.
    pub(super) readonly: bool,
}

/// One value of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Not set.
    Unset,
    /// A string.
    Scalar(Vec<Piece>),
    /// An indexed array; the elements are numbered from 0 without gaps.
    Array(Vec<Argument>),
}

/// A working directory.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Folder {
    /// One of these absolute paths; one as a rule.
    Known(Vec<PathBuf>),
    /// A new folder below the temporary one.
    Temp,
    /// Somewhere below this folder.
    Below(PathBuf),
    /// Not known, and why.
    Unknown(Cow<'static, str>),
}

/// A function's body and the script in which it is written.
#[derive(Debug, PartialEq)]
pub(super) struct FunctionBody {
    /// What runs when it is called.
    pub(super) body: Command,
    /// Index into the scripts of the facts.
    pub(super) script: usize,
}

/// What a script did to files, by their paths.
pub(super) type Files = BTreeMap<PathBuf, Made>;

/// What a script did to a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Made {
    /// Written by it, with this content.
    Written(Rc<Vec<Piece>>),
    /// Moved, copied or unpacked there, or written by a program: the content is not known.
    Unknown(UnknownKind),
    /// Built by it from sources.
    Built,
    /// Changed in place: most of it is what it was.
    Edited,
    /// Moved there by it from this path.
    Moved(PathBuf),
    /// Copied there by it from this path.
    Copied(PathBuf),
    /// A link to this path.
    Link(PathBuf),
    /// A folder made by it.
    Folder,
    /// Deleted by it.
    Deleted,
}

impl State {
    /// The state in which a shell starts in `cwd`.
    pub(super) fn new(cwd: PathBuf, positional: Vec<Argument>) -> Self {
        Self {
            variables: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            cwd: Folder::Known(vec![cwd]),
            fallback: None,
            pushed: Vec::new(),
            positional: Rc::new(positional),
            options: Options::default(),
            files: Rc::default(),
            renamed: Rc::default(),
            unsettled: None,
            ended: false,
        }
    }

    /// Sets a variable; its export attribute stays.
    pub(super) fn set(&mut self, name: &BStr, value: Value) {
        let allexport = self.options.allexport;
        // The empty name stands for all.
        let value = if self.renamed.contains(name) || self.renamed.contains(BStr::new("")) {
            Value::unknown(UnknownKind::Any, format!("${name} has another name"))
        } else {
            value
        };
        let value = value.bounded();
        let variables = Rc::make_mut(&mut self.variables);
        match variables.get_mut(name) {
            Some(variable) if variable.readonly => variable.values = either(&variable.values, &[value]),
            Some(variable) => variable.values = vec![value],
            None => {
                let variable = Variable { values: vec![value], exported: allexport, readonly: false };
                variables.insert(name.to_owned(), variable);
            }
        }
    }

    /// Sets a variable to something of which only the kind is known.
    pub(super) fn set_unknown(&mut self, name: &BStr, kind: UnknownKind, reason: impl Into<Cow<'static, str>>) {
        self.set(name, Value::Scalar(vec![Piece::unknown(kind, reason)]));
    }

    /// Gives a variable that is set here to programs.
    pub(super) fn export(&mut self, name: &BStr) {
        if let Some(variable) = Rc::make_mut(&mut self.variables).get_mut(name) {
            variable.exported = true;
        }
    }

    /// Remembers what happened to a file.
    pub(super) fn touch(&mut self, path: PathBuf, made: Made) {
        Rc::make_mut(&mut self.files).insert(path, made);
    }

    /// The files that came from the network or out of a decoder.
    pub(super) fn brought(&self) -> Vec<PathBuf> {
        let downloaded = |made: &Made| match made {
            Made::Unknown(kind) => *kind == UnknownKind::Downloaded,
            Made::Written(content) => content
                .iter()
                .any(|piece| matches!(piece, Piece::Unknown(unknown) if unknown.kind == UnknownKind::Downloaded)),
            _ => false,
        };
        self.files.iter().filter(|(_, made)| downloaded(made)).map(|(path, _)| path.clone()).collect()
    }

    /// The same, files aside: what became of them decides nothing that runs.
    pub(super) fn matches(&self, other: &Self) -> bool {
        let bare = |state: &Self| Self { files: Rc::default(), ..state.clone() };
        bare(self) == bare(other)
    }

    /// A sequence point: from here on the last command may have succeeded or failed.
    pub(super) fn settle(&mut self) {
        if let Some(fallback) = self.fallback.take()
            && !self.options.errexit
        {
            self.cwd = self.cwd.clone().or(fallback);
        }
    }
}

impl Folder {
    /// One of two folders.
    #[must_use]
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Known(mut a), Self::Known(b)) => {
                for path in b {
                    if !a.contains(&path) {
                        a.push(path);
                    }
                }
                if a.len() <= 4 { Self::Known(a) } else { Self::Unknown("the working directory can be many".into()) }
            }
            (Self::Unknown(reason), _) | (_, Self::Unknown(reason)) => Self::Unknown(reason),
            _ => Self::Unknown("the working directory differs between branches".into()),
        }
    }

    /// The path, if there is exactly one.
    pub(super) fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Known(paths) => match paths.as_slice() {
                [path] => Some(path),
                _ => None,
            },
            _ => None,
        }
    }
}

impl Value {
    /// A string of which only the kind is known.
    pub(super) fn unknown(kind: UnknownKind, reason: impl Into<Cow<'static, str>>) -> Self {
        Self::Scalar(vec![Piece::unknown(kind, reason)])
    }

    /// The value, or something not known where it is too long to be followed.
    fn bounded(self) -> Self {
        let pieces: Vec<&Piece> = match &self {
            Self::Unset => Vec::new(),
            Self::Scalar(pieces) => pieces.iter().collect(),
            Self::Array(items) => items.iter().flat_map(|item| &item.pieces).collect(),
        };
        if pieces.iter().map(|piece| piece.size()).sum::<usize>() <= MAX_SIZE {
            return self;
        }
        let kinds = pieces
            .iter()
            .filter_map(|piece| if let Piece::Unknown(unknown) = piece { Some(unknown.kind) } else { None });
        let kind = kinds.reduce(UnknownKind::or).filter(|kind| kind.is_tainted()).unwrap_or(UnknownKind::Any);
        Self::unknown(kind, TOO_LONG)
    }

    /// What kind of unknown stands for this value and others.
    pub(super) fn kind(&self) -> UnknownKind {
        let pieces = match self {
            Self::Unset => return UnknownKind::Any,
            Self::Scalar(pieces) => pieces.as_slice(),
            Self::Array(items) => items.first().map(|item| item.pieces.as_slice()).unwrap_or_default(),
        };
        match (pieces, first_unknown(pieces)) {
            ([_], Some(unknown)) => unknown.kind.part(),
            ([Piece::Text(text)], None) if is_number(text) => UnknownKind::Number,
            (_, Some(unknown)) if unknown.kind.is_tainted() => unknown.kind,
            _ => UnknownKind::Any,
        }
    }
}

fn is_number(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(u8::is_ascii_digit)
}

/// The values that a variable can have after two branches.
pub(super) fn either(a: &[Value], b: &[Value]) -> Vec<Value> {
    let mut values = a.to_vec();
    for value in b {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    if values.len() <= MAX_VALUES {
        return values;
    }
    let kind = values.iter().map(Value::kind).reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
    vec![Value::unknown(kind, "the variable can have many values here")]
}
