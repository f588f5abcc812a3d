//! The types of the tables: what a program's arguments are and what it does with them.
//!
//! The build makes `static` values of them from `*.toml`, the loader of users' own tables makes owned ones; both read
//! the notation by [`super::notation`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

pub use super::clause::{Condition, Token};
pub use super::language::Language;
use super::recipe::Recipe;
use crate::facts::kind::{Aspect, Effect, Work, words};

/// Text that is static in shipped tables and owned in users' own.
pub type Text = Cow<'static, str>;

/// A list that is static in shipped tables and owned in users' own.
pub type List<T> = Cow<'static, [T]>;

/// One entry of a table: a program or one of its subcommands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// All names, the main one first; words after the first are subcommands and may be globs (`aws * describe-*`).
    pub names: List<Name>,
    /// How options are written; `None`: as the parent entry says, or [`Style::Gnu`].
    pub style: Option<Style>,
    /// The first operand selects a subcommand's entry.
    pub subcommands: bool,
    /// Other entries are below this one: an operand that selects one of them is a subcommand.
    pub parent: bool,
    /// The options may also stand after the subcommand.
    pub everywhere: bool,
    /// The options that matter.
    pub options: List<OptionSpec>,
    /// What the operands are.
    pub operands: List<OperandSpec>,
    /// What else the operands can be.
    pub cases: List<Case>,
    /// Effects of the whole call beside those that the roles imply.
    pub effects: List<EffectSpec>,
    /// With one of these options the call only prints.
    pub inspect: List<Text>,
    /// With one of these options the call changes nothing.
    pub dry: List<Text>,
    /// Files in which is written what the call runs.
    pub recipes: List<Recipe>,
    /// Environment variables that matter; names may be globs.
    pub environment: List<Setting>,
    /// Keys of `key=value` settings (role `config`) that matter; names may be globs.
    pub settings: List<Setting>,
    /// What a subcommand without an entry is; `None`: not known.
    pub other: Option<Kind>,
    /// What a wrapped command is that no table knows (`npx NAME`); `None`: not known.
    pub unlisted: Option<Kind>,
    /// Unknown arguments are appended to the wrapped command (xargs).
    pub appends: bool,
    /// Words that end the wrapped command (parallel's `:::`).
    pub stops: List<Text>,
    /// The shells that have this name built in.
    pub builtin: List<Shell>,
    /// Expected in system folders; add-ons are not.
    pub standard: bool,
    /// Why the effects matter, for people; may be empty.
    pub reason: Text,
}

/// A name of a program or of a subcommand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Name {
    /// The name.
    pub text: Text,
    /// What it is another spelling of (`npm i` of `npm install`), or itself.
    pub main: Text,
}

words! {
    /// How a program takes its options.
    Style {
        /// Permuted, clusters (`-rf`), `--long`, `--long=v`, abbreviations; `--` ends them.
        Gnu = "gnu",
        /// As `gnu`, but the first operand ends the options.
        Posix = "posix",
        /// Long names with one dash (`-name`, `-exec`), no clusters.
        Long = "long",
        /// `name=value` operands (dd).
        Assign = "assign",
        /// As `gnu`, and a first word without a dash is a cluster.
        Tar = "tar",
        /// No options: every word is an operand.
        None = "none",
    }
}

words! {
    /// Shells with commands of their own.
    Shell {
        /// GNU bash.
        Bash = "bash",
        /// dash, as the `sh` of Debian.
        Dash = "dash",
        /// zsh.
        Zsh = "zsh",
    }
}

/// An effect and which one of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kind {
    /// What kind.
    pub effect: Effect,
    /// Which one of its kind; `None`: facts tell it from the target.
    pub aspect: Option<Aspect>,
}

/// An option with all its spellings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionSpec {
    /// The spellings with dashes, parted by blanks; one that ends with `=`, `:` or `*` is a prefix of its value.
    pub names: Text,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What the value is.
    pub role: Role,
    /// What a second value in the word after the first is.
    pub second: Option<Role>,
}

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Takes {
    /// No.
    Nothing,
    /// Only attached: `-iSUFFIX`, `--in-place=SUFFIX`.
    Optional,
    /// Attached or the next word.
    Required,
    /// All words up to the next option.
    Many,
}

/// What an operand is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperandSpec {
    /// Its role.
    pub role: Role,
    /// How many there are.
    pub repeat: Repeat,
}

/// How many operands have one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Repeat {
    /// One.
    One,
    /// Any number (`...`).
    Many,
    /// The leading ones that look like `NAME=value` (`env*`).
    Assignments,
}

/// What an argument is to the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Text that is nothing but itself: also numbers, patterns, refs, formats.
    Text,
    /// Process ids or names.
    Process,
    /// A word in the wrapped command that is replaced by unknown ones (`xargs -I{}`).
    Placeholder,
    /// A path whose names or metadata are shown.
    List,
    /// A file whose content is read; `-` is stdin.
    Read,
    /// A file of names of files that are read; `-` is stdin.
    Names,
    /// A file or folder that is created, changed or overwritten.
    Write,
    /// A file in which something is changed in place.
    Edit,
    /// A file that is built from sources, as a compiler does.
    Build,
    /// A file that is appended to.
    Append,
    /// A file that is removed.
    Delete,
    /// A tree that is removed.
    DeleteTree,
    /// A path in the working tree whose changes since the last commit are lost.
    Discard,
    /// A ref; or, where a path of that name exists, the same as [`Role::Discard`].
    RefOrDiscard,
    /// A branch that is moved or removed: commits that nothing else leads to are lost.
    DropBranch,
    /// A branch that is made; where there is one of that name already, the same as [`Role::DropBranch`].
    NewBranch,
    /// The repository or the working tree that is meant instead of the one at hand.
    OtherTree,
    /// A path that is moved to where the call writes.
    Move,
    /// A path that is copied to where the call writes.
    Copy,
    /// A path that gets another name where the call writes.
    Link,
    /// A folder that is made.
    MakeFolder,
    /// The working directory of what follows.
    Chdir,
    /// A program file that is started.
    Run,
    /// Folders or files, parted by colons, whose code is loaded.
    Library,
    /// `REV:PATH`, whose content at that revision is shown; or a path.
    Blob,
    /// A file of code that is run.
    Script(Language),
    /// Text of code that is run.
    Code(Language),
    /// Code that is loaded by the name of its library, or by its file.
    Load(Language),
    /// A module that an interpreter runs; its table is `INTERPRETER -m NAME`.
    Module,
    /// The rest is a command.
    Command {
        /// Where it ends and how it is read.
        kind: TailKind,
        /// It runs on another machine or in a container.
        remote: bool,
    },
    /// `NAME=value` in the environment of what follows, or `NAME` to keep it.
    Env,
    /// A variable that is taken out of the environment.
    Unset,
    /// A URL that is fetched.
    Url,
    /// A URL that is given something.
    SendUrl,
    /// Text that is sent, or `@file` that is read and sent.
    Data,
    /// A file that is read and sent.
    Upload,
    /// A host that is contacted.
    Host,
    /// `host:path` or a local path, in a direction that other arguments tell.
    Remote,
    /// `host:path` or a local path that is read.
    RemoteRead,
    /// `host:path` or a local path that is written.
    RemoteWrite,
    /// A package.
    Package,
    /// A device node.
    Device,
    /// `key=value` of the program's own settings: its `settings` say what the value is.
    Config,
    /// An archive that is read.
    ArchiveRead,
    /// An archive that is written.
    ArchiveWrite,
    /// A variable that the shell sets: a name or `name=value`.
    Assign,
}

/// Where a wrapped command ends and how it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TailKind {
    /// The rest of the words, as they are.
    Command,
    /// Up to `;` or `+`, with `{}` for paths (find).
    UntilSemicolon,
    /// The rest, joined by blanks, is shell text (ssh, watch).
    StringJoined,
}

/// What the operands are under a condition, and what comes with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// When it holds.
    pub when: Condition,
    /// The operands; `None`: as without this case.
    pub operands: Option<List<OperandSpec>>,
    /// Effects beside those of the entry.
    pub effects: List<EffectSpec>,
}

/// An effect of the whole call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectSpec {
    /// What.
    pub kind: Kind,
    /// On what.
    pub on: Target,
    /// When.
    pub when: Condition,
    /// Why it matters, for people; empty: the entry's reason.
    pub reason: Text,
}

/// What an effect is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Target {
    /// Nothing that can be named.
    None,
    /// The working directory.
    Cwd,
    /// The operands.
    Operands,
    /// The last operand.
    Last,
    /// The paths that standard input lists, a line each.
    Input,
    /// The value of this option, else the working directory.
    Option(Text),
    /// This path; `~` is the home folder.
    Path(Text),
    /// Work in a repository.
    Work(Work),
}

/// A key with a value of known role: an environment variable or a setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name, perhaps a glob.
    pub name: Text,
    /// What its value is.
    pub role: Role,
}

impl OptionSpec {
    /// All spellings, with dashes.
    pub fn spellings(&self) -> impl Iterator<Item = &str> {
        self.names.split(' ')
    }
}

impl Program {
    /// The main name.
    pub fn name(&self) -> &str {
        self.names.first().map_or("", |name| &name.text)
    }
}
