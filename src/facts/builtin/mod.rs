//! Builtins that change what a shell holds. Everything else that is built in is described by its table.

mod control;
mod directory;
mod option;
mod output;
mod read;
pub(super) mod variable;

use bstr::{BStr, BString, ByteSlice};

use super::Identity;
use super::command::Call;
use super::state::Value;
use super::value::{Argument, Piece, UnknownKind};
use super::walker::{By, Walker};
use crate::syntax::Dialect;

/// A builtin as it is called: its words, and whose effects it has.
pub(super) struct Called<'c> {
    /// The words after the name.
    pub(super) arguments: &'c [Argument],
    /// All words.
    pub(super) words: &'c [Argument],
    pub(super) call: &'c Call,
    pub(super) by: By,
}

/// Builtins that read variables which are assigned before them.
const READING: &[&str] = &["eval", ".", "source", "cd", "chdir", "pushd", "read"];

type Run = fn(&mut Walker<'_>, &Called<'_>);

/// Which shells have a builtin.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    All,
    NotDash,
    Bash,
    Zsh,
}

use Of::{All, Bash, NotDash, Zsh};

const BUILTINS: &[(&str, Of, Run)] = &[
    (":", All, nothing),
    ("true", All, nothing),
    ("false", All, nothing),
    ("[", All, evaluates),
    ("test", All, evaluates),
    ("wait", All, nothing),
    ("jobs", All, jobs),
    ("fg", All, nothing),
    ("bg", All, nothing),
    ("disown", NotDash, nothing),
    ("type", All, prints),
    ("hash", All, remembers),
    ("times", All, prints),
    ("umask", All, nothing),
    ("ulimit", All, prints),
    ("let", NotDash, variable::arithmetic),
    ("caller", Bash, prints),
    ("help", Bash, prints),
    ("compgen", Bash, runs_option),
    ("complete", Bash, runs_option),
    ("compopt", Bash, nothing),
    ("bind", Bash, runs_binding),
    ("dirs", NotDash, prints),
    ("suspend", NotDash, nothing),
    ("whence", Zsh, prints),
    ("autoload", Zsh, nothing),
    ("setopt", Zsh, option::setopt),
    ("unsetopt", Zsh, option::setopt),
    ("emulate", Zsh, option::setopt),
    ("echo", All, output::echo),
    ("printf", All, output::printf),
    ("print", Zsh, output::echo),
    ("pwd", All, directory::pwd),
    ("cd", All, directory::cd),
    ("chdir", All, directory::cd),
    ("pushd", NotDash, directory::pushd),
    ("popd", NotDash, directory::popd),
    ("export", All, variable::declare),
    ("readonly", All, variable::declare),
    ("local", All, variable::local),
    ("declare", NotDash, variable::declare),
    ("typeset", NotDash, variable::declare),
    ("unset", All, variable::unset),
    ("set", All, option::set),
    ("shopt", Bash, option::shopt),
    ("shift", All, variable::shift),
    ("getopts", All, variable::getopts),
    ("read", All, read::read),
    ("mapfile", Bash, read::mapfile),
    ("readarray", Bash, read::mapfile),
    ("eval", All, control::eval),
    (".", All, control::source),
    ("source", NotDash, control::source),
    ("exec", All, control::exec),
    ("command", All, control::command),
    ("builtin", NotDash, control::builtin),
    ("noglob", Zsh, control::noglob),
    ("nocorrect", Zsh, control::command),
    ("trap", All, control::trap),
    ("alias", All, control::alias),
    ("unalias", All, control::unalias),
    ("exit", All, control::exit),
    // Only a login shell ends.
    ("logout", NotDash, nothing),
    ("return", All, control::leave_function),
    ("break", All, control::leave_loop),
    ("continue", All, control::leave_loop),
    ("enable", Bash, control::enable),
    ("zmodload", Zsh, control::enable),
];

impl Walker<'_> {
    /// Runs a builtin of the shell; false if it has none of this name here.
    pub(super) fn builtin(&mut self, name: &BStr, words: &[Argument], call: &Call) -> bool {
        let here = |of: Of| match of {
            All => true,
            NotDash => self.frame.dialect != Dialect::Dash,
            Bash => matches!(self.frame.dialect, Dialect::Bash | Dialect::BashPosix),
            Zsh => matches!(self.frame.dialect, Dialect::Zsh | Dialect::ZshSh),
        };
        let found = BUILTINS.iter().find(|(builtin, of, _)| name.as_bytes() == builtin.as_bytes() && here(*of));
        let Some((_, _, run)) = found else { return false };
        let command = self.list_command(Some(name.to_owned()), Identity::Described, words, call);
        let by = Self::own(command, call);
        let called = Called { arguments: words.get(1..).unwrap_or_default(), words, call, by };
        if READING.iter().any(|reading| name == *reading) {
            self.with_variables(&call.environment, |walker| run(walker, &called));
        } else {
            run(self, &called);
        }
        true
    }

    /// Runs `walk` with variables that hold for one builtin alone, unless it changes them.
    fn with_variables(&mut self, given: &[(BString, Vec<Piece>)], walk: impl FnOnce(&mut Self)) {
        let before = self.assign_for_call(given);
        walk(self);
        for ((name, variable), (_, pieces)) in before.into_iter().zip(given) {
            if *self.variable(name.as_ref()) != [Value::Scalar(pieces.clone())] {
                continue;
            }
            let variables = std::rc::Rc::make_mut(&mut self.state.variables);
            match variable {
                Some(variable) => variables.insert(name, variable),
                None => variables.remove(&name),
            };
        }
    }

    /// Whether a shell of this dialect has such a builtin.
    pub(super) fn has_builtin(name: &BStr) -> bool {
        BUILTINS.iter().any(|(builtin, ..)| name.as_bytes() == builtin.as_bytes())
    }
}

fn nothing(_: &mut Walker<'_>, _: &Called<'_>) {}

fn prints(walker: &mut Walker<'_>, called: &Called<'_>) {
    let name = called.words.first().map(Argument::prefix).unwrap_or_default();
    walker.print_unknown(UnknownKind::Any, format!("what {name} prints"));
}

fn jobs(walker: &mut Walker<'_>, called: &Called<'_>) {
    let kind = if called.has(b'p') { UnknownKind::Child } else { UnknownKind::Any };
    walker.print_unknown(kind, "what jobs prints");
}

/// `set`, `export -p` and their like: all variables are shown.
fn shows_variables(walker: &mut Walker<'_>, called: &Called<'_>) {
    let what = (super::Effect::Read, Some(super::Aspect::Environment));
    walker.effect(what, None, called.by, "prints the environment");
    walker.print_unknown(UnknownKind::Environment, "all variables");
}

/// `hash -p FILE NAME`: the name leads to that file from here on.
fn remembers(walker: &mut Walker<'_>, called: &Called<'_>) {
    // zsh: `hash NAME=FILE`.
    if called.has(b'p') || walker.is_zsh() && called.operands().any(|name| name.prefix().contains(&b'=')) {
        walker.doubt(crate::facts::Doubt::Command, called.by, "`hash` makes a name lead to another program");
    }
}

/// Names with subscripts among the arguments are evaluated.
fn evaluates(walker: &mut Walker<'_>, called: &Called<'_>) {
    for argument in called.arguments {
        if argument.prefix().contains(&b'[') {
            walker.arithmetic_names(&argument.pieces, called.by.at(argument.at));
            walker.evaluated(&argument.pieces, called.by.at(argument.at));
        }
    }
}

/// `complete -C COMMAND`, `compgen -C COMMAND`, `compgen -F FUNCTION`.
fn runs_option(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut arguments = called.arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.text().as_deref().map(|text| text.as_bytes()) {
            Some(b"-C") => runs(walker, called, arguments.next()),
            Some(text) if text.starts_with(b"-C") => {
                runs(walker, called, Some(&crate::facts::table::without(argument, 2)));
            }
            Some(b"-F") => {
                if let Some(name) = arguments.next().and_then(Argument::text) {
                    walker.call_function(&name, &[], called.call);
                }
            }
            _ => {}
        }
    }
}

/// `bind -x '"keys": command'`.
fn runs_binding(walker: &mut Walker<'_>, called: &Called<'_>) {
    if !called.has(b'x') {
        return;
    }
    for argument in called.operands() {
        let lead = argument.prefix();
        let start = lead.find("\":").map_or(0, |colon| colon + 2);
        runs(walker, called, Some(&crate::facts::table::without(argument, start)));
    }
}

fn runs(walker: &mut Walker<'_>, called: &Called<'_>, text: Option<&Argument>) {
    let Some(text) = text else { return };
    let (name, dialect) =
        (format!("argument of {}", called.words.first().map(Argument::prefix).unwrap_or_default()), walker.dialect());
    let by = called.by.at(text.at);
    walker.nested(crate::facts::nested::Nested { text: text.pieces.clone(), name, dialect, shell: None, by });
}

impl Called<'_> {
    /// The arguments after the options.
    fn operands(&self) -> impl Iterator<Item = &Argument> {
        let is = |argument: &Argument, word: &str| argument.text().is_some_and(|text| *text == *word);
        let option = |argument: &&Argument| {
            let lead = argument.prefix();
            (lead.starts_with(b"-") || lead.starts_with(b"+")) && !is(argument, "-") && !is(argument, "--")
        };
        let skipped = self.arguments.iter().take_while(option).count();
        let dashes = self.arguments.get(skipped).is_some_and(|argument| is(argument, "--"));
        self.arguments.iter().skip(skipped + usize::from(dashes))
    }

    /// Whether an option letter is given.
    fn has(&self, letter: u8) -> bool {
        let mut options = self.arguments.iter().map(Argument::prefix).take_while(|text| text.starts_with(b"-"));
        options.any(|text| text.contains(&letter))
    }
}
