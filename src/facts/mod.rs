//! What a script would do: its simple commands, their effects, and what could not be told.

mod alias;
mod builtin;
mod command;
mod discard;
mod edit;
pub mod effect;
mod environment;
mod expand;
mod fetch;
mod flow;
mod glob;
pub mod inline;
mod interpreted;
pub mod kind;
mod mention;
mod nested;
mod network;
mod output;
mod path;
pub mod place;
mod places;
mod program;
pub mod prompt;
mod recipe;
mod redirect;
mod resolve;
mod search;
mod shell;
mod state;
mod table;
pub mod task;
mod transfer;
pub mod value;
mod walker;
mod wrapper;

use std::path::{Path, PathBuf};
use std::rc::Rc;

use bstr::BString;

use crate::commands::Tables;
use crate::diagnostic::Span;
use crate::host::Host;
use crate::syntax::Dialect;

pub use effect::{Aspect, Doubt, DoubtFact, Effect, EffectFact, Part};
pub use place::Places;
pub use task::{Code, Prelude, Task};

use nested::Nested;
use value::{Argument, Piece};
use walker::{By, Frame, Walker};

/// By what a task is judged.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Where paths lie.
    pub places: Places<'a>,
    /// What programs do.
    pub tables: &'a Tables,
}

/// What a task would do. Pure: the machine is seen through `host` alone.
pub fn collect(task: &Task<'_>, host: &dyn Host, settings: &Settings<'_>) -> Facts {
    let positional = task.positional.iter().map(|text| Argument::known(text.clone(), Location::default())).collect();
    let frame = Frame {
        script: 0,
        dialect: task.dialect,
        via: Rc::default(),
        zero: task.zero.clone(),
        stdin: None,
        given: Rc::default(),
        remote: false,
        prepared: false,
        calls: Rc::default(),
        nesting: 0,
        concurrent: false,
        conditional: false,
        returns: false,
        loops: false,
        own: false,
        unlisted: None,
    };
    let state = state::State::new(host.start().to_path_buf(), positional);
    let mut walker = Walker::new(host, settings, frame, state);
    walker.task(task);
    walker.facts.brought = walker.state.brought();
    walker.facts
}

impl Walker<'_> {
    fn task(&mut self, task: &Task<'_>) {
        self.allow_for(task.text);
        self.facts.scripts.push(ScriptText { text: task.text.into(), name: task.name.clone(), from: None });
        let by = By::script(Location::default());
        for prelude in &task.before {
            match &prelude.code {
                Code::Script(text) => {
                    self.allow_for(text);
                    let text = vec![Piece::Text(text.clone())];
                    let (name, dialect) = (prelude.name.clone(), task.dialect);
                    self.nested(Nested { text, name, dialect, shell: None, by });
                }
                Code::Unread(reason) => {
                    self.doubt(Doubt::Script, by.part(Part::Nested), format!("{}: {reason}", prelude.name));
                    self.unsettle("code that runs first could not be read");
                }
            }
        }
        self.state.ended = false;
        self.read(task.text, by);
        self.run_traps();
    }
}

/// Everything known about one invocation's script.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// The texts that were read, the invocation's own first; nested scripts follow.
    pub scripts: Vec<ScriptText>,
    /// Every simple command that could run, in reading order, wrapped and nested ones included.
    pub commands: Vec<CommandFact>,
    /// What they would do.
    pub effects: Vec<EffectFact>,
    /// What could not be told.
    pub doubts: Vec<DoubtFact>,
    /// The files that it writes from the network or out of a decoder; `FOLDER/*` where their names are not known.
    pub brought: Vec<PathBuf>,
}

/// A text that was read as a script.
#[derive(Debug, Clone)]
pub struct ScriptText {
    /// The text.
    pub text: BString,
    /// What it is, for people: `` `-c` text ``, `` argument of `sh -c` ``, `scripts/build.sh`.
    pub name: String,
    /// Where its text, or what makes it run, is written in another script; `None` for the invocation's own.
    pub from: Option<Location>,
}

/// A place in one of [`Facts::scripts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Location {
    /// Index into [`Facts::scripts`].
    pub script: usize,
    /// Where in its text.
    pub span: Span,
}

/// A simple command that could run.
#[derive(Debug, Clone, PartialEq)]
pub struct CommandFact {
    /// The program without its directory, after wrappers; `None` if not known.
    pub program: Option<BString>,
    /// How far the program's name can be relied on.
    pub identity: Identity,
    /// Its subcommand words by the program's table (`["push"]`, `["compose", "up"]`).
    pub subcommand: Vec<BString>,
    /// The options found by the program's table, each with all its spellings and its value.
    pub options: Vec<OptionFact>,
    /// The words that are no options and no subcommand; `None` = not known, any number of words.
    pub operands: Vec<Option<BString>>,
    /// The whole command; `None` = not known, any number of words.
    pub argv: Vec<Option<BString>>,
    /// Variables assigned on this command.
    pub environment: Vec<BString>,
    /// The working directory in which it would run; `None` if not known.
    pub cwd: Option<Rc<Path>>,
    /// What reached it, outermost first: wrapper programs, `sh -c`, `$()`, file names.
    pub via: Rc<Vec<String>>,
    /// Where it is written.
    pub at: Location,
    /// By which shell's rules it is expanded.
    pub dialect: Dialect,
}

/// How far a program's name tells what runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Identity {
    /// It leads to a file outside project and temp (or to a builtin), and a table describes it.
    #[default]
    Described,
    /// It leads to such a file, and no table describes it: a rule that names it may allow it.
    Undescribed,
    /// It leads elsewhere, or nobody can say where: a rule that allows by name does not cover it.
    Foreign,
}

/// An option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionFact {
    /// All spellings of this option, with dashes.
    pub names: Vec<String>,
    /// Its value, if it takes one and it is known.
    pub value: Option<BString>,
}

impl Facts {
    /// The span in the invocation's own script that leads to `at`.
    pub fn outermost(&self, mut at: Location) -> Span {
        // A nested script is always pushed after the script that holds it, so this ends.
        while let Some(from) = self.scripts.get(at.script).and_then(|script| script.from) {
            at = from;
        }
        at.span
    }
}
