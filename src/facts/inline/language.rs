//! What is known of each language, compiled from `commands/languages.toml`.

/// What leads to names that need nothing before them.
const ROOTS: &[&str] = &["_G.", "globalThis.", "global.", "builtins.", "__builtins__.", "Kernel."];

/// A language whose code an interpreter may be given as text.
#[derive(Debug)]
pub struct Language {
    /// Its names, as tables use them after `code:`.
    pub names: &'static [&'static str],
    /// Which reader reads it.
    pub reader: Reader,
    /// What begins a comment that ends with the line.
    pub comments: &'static [&'static str],
    /// What begins and ends a comment of any length.
    pub blocks: &'static [(&'static str, &'static str)],
    /// How strings are written, longest opening first.
    pub strings: &'static [StringForm],
    /// Letters that may stand before a string's opening (python: `rbfu`).
    pub prefixes: &'static str,
    /// Characters that belong to identifiers, beside letters, digits and `_`.
    pub letters: &'static str,
    /// Whether a `/` where a value is expected begins a regular expression.
    pub regex: bool,
    /// Whether perl's and ruby's quoting words exist: `q{}`, `qx{}`, `s///`, `%w[]`.
    pub quoting: Quoting,
    /// Whether `<<WORD` begins a here-document.
    pub heredoc: bool,
    /// Whether a call needs no parentheses.
    pub bare_calls: bool,
    /// Whether an indented block, not a brace, holds statements: an `=` within brackets is no assignment.
    pub indented: bool,
    /// What joins two strings.
    pub joins: &'static [&'static str],
    /// What leads to a member, all read as `.`.
    pub members: &'static [&'static str],
    /// The names of the whole environment.
    pub environment: &'static [&'static str],
    /// The names of the list of command line arguments, and the index of the first real one in it.
    pub arguments: &'static [(&'static str, usize)],
    /// The calls that matter, by dotted name; a leading `.` stands for any receiver.
    pub calls: &'static [Call],
    /// The calls whose value is known, by dotted name.
    pub values: &'static [(&'static str, Known)],
    /// The files in which a library of a name is, `{}` for the name.
    pub modules: &'static [&'static str],
    /// For line languages: what parts the commands of a line; empty: nothing does.
    pub separator: &'static str,
    /// For line languages: the first word of a command and what its rest is.
    pub commands: &'static [(&'static str, Rest)],
}

/// The readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// Expressions with calls.
    Calls,
    /// A command per line, its first word says which.
    Lines,
    /// sed.
    Sed,
    /// awk.
    Awk,
    /// SQL, with the client's own commands from `commands`.
    Sql,
    /// Makefiles.
    Make,
    /// justfiles.
    Just,
    /// JSON with scripts by name.
    Package,
    /// Settings, by their keys in `commands`.
    Keys,
    /// git's settings.
    Settings,
}

/// How a string is written.
#[derive(Debug)]
pub struct StringForm {
    /// What begins it.
    pub open: &'static str,
    /// What ends it.
    pub close: &'static str,
    /// Whether a backslash takes the meaning of the next character.
    pub escapes: bool,
    /// What begins an expression in it: `${`, `#{`, `{` (only after a prefix with `f`) or `$` (a variable); empty: none.
    pub interpolates: &'static str,
    /// Whether its text is a command that is run.
    pub command: bool,
}

/// Perl's and ruby's quoting words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quoting {
    /// None.
    None,
    /// `q qq qw qx m s tr y qr`.
    Perl,
    /// `%q %Q %w %W %x %()`.
    Ruby,
}

/// A call that matters.
#[derive(Debug)]
pub struct Call {
    /// Dotted name; `.name` for a method of anything.
    pub name: &'static str,
    /// What it does with its arguments.
    pub roles: &'static [Role],
    /// The last role holds for all further arguments.
    pub repeats: bool,
    /// Only if this name occurs in the code (a module that gives the method its meaning).
    pub needs: &'static str,
}

/// What an argument of a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Nothing that matters.
    Text,
    /// A path that is read.
    Read,
    /// A path that is written.
    Write,
    /// A path that is written, if it is known: the method is common under other meanings.
    WriteKnown,
    /// A path that is deleted.
    Delete,
    /// A tree that is deleted.
    DeleteTree,
    /// A path opened as the next argument says: read, or written if that has one of `wax+`.
    File,
    /// perl's `open` after the handle: the mode and path in one or two arguments.
    PerlOpen,
    /// A file that is run.
    Run,
    /// A library that is loaded by its name.
    Library,
    /// A command as a list of words, or as text if it is text.
    Argv,
    /// A program; its words follow in a list.
    Program,
    /// A program that is started with words that are given to it later.
    Started,
    /// A list of words.
    Words,
    /// A list of words, the first of which repeats the program.
    ZeroWords,
    /// A word that repeats the program.
    Zero,
    /// A word of the command.
    Word,
    /// Shell text if it is the only argument, else the words of a command.
    Command,
    /// A URL from which something is fetched, or to which something is sent if other arguments say so.
    Url,
    /// A URL to which something is sent.
    SendUrl,
    /// A host that is connected to.
    Host,
    /// A host whose address is asked for.
    Lookup,
    /// An address on which others may connect.
    Listen,
    /// SQL.
    Sql,
    /// The working directory of what follows.
    Chdir,
    /// The name of a function that is called.
    Callable,
    /// A file that is changed in place if an argument of the call says so.
    Inplace,
    /// The call starts the process anew.
    Forks,
    /// Something of the environment that would be shown.
    Shown,
    /// Code of a language; `self`: this one.
    Code(&'static str),
    /// An effect of the call itself, by its word.
    Effect(&'static str),
    /// What the call is about stands before the dot; its role.
    Receiver(&'static Role),
}

/// A call whose value is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The first argument, or the receiver.
    Same,
    /// The arguments, joined as paths.
    Join,
    /// The first argument with `~` for the home folder; without arguments the home folder.
    Home,
    /// Something new in the temporary folder.
    Temp,
    /// The working directory.
    Cwd,
    /// The environment variable that the first argument names.
    Variable,
    /// Names below the first argument.
    Below,
    /// The first argument's base64 read.
    Base64,
    /// A path next to the receiver or the first argument.
    Beside,
    /// The member of the first argument that the second one names.
    Member,
    /// The module that the first argument names.
    Module,
    /// A whole number.
    Number,
    /// The program of this language.
    Interpreter,
    /// The words of the first argument.
    Split,
}

/// What the rest of a line is, in a language of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Nothing that matters.
    Text,
    /// A path that is read.
    Read,
    /// A path that is written.
    Write,
    /// A path that is deleted.
    Delete,
    /// A file of this language's code.
    Script,
    /// Code of a language.
    Code(&'static str),
    /// A path that is written, or a command after `!` or `|`.
    WriteOrCommand,
    /// A path that is read, or a command after `!` or `|`.
    ReadOrCommand,
    /// An effect, by its word.
    Effect(&'static str),
    /// Shell text after a `!`; else a name of the program's own.
    Alias,
}

include!(concat!(env!("OUT_DIR"), "/languages.rs"));

impl Language {
    /// The language of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        LANGUAGES.iter().find(|language| language.names.contains(&name))
    }

    /// The call with this dotted name; the name's last part as a method of anything comes second.
    pub fn call(&self, name: &str) -> Option<&'static Call> {
        let name = bare(name);
        let method = name.rfind('.').and_then(|dot| name.get(dot..));
        let exact = self.calls.iter().find(|call| call.name == name);
        exact.or_else(|| self.calls.iter().find(|call| Some(call.name) == method))
    }

    /// The value of the call with this dotted name, likewise.
    pub fn value(&self, name: &str) -> Option<Known> {
        let method = name.rfind('.').and_then(|dot| name.get(dot..));
        let exact = self.values.iter().find(|(known, _)| *known == name);
        exact.or_else(|| self.values.iter().find(|(known, _)| Some(*known) == method)).map(|(_, known)| *known)
    }
}

/// A name without what leads to all names.
fn bare(name: &str) -> &str {
    ROOTS.iter().find_map(|root| name.strip_prefix(root)).unwrap_or(name)
}
