//! The one value that reads a script: what it has found, where it is, and how much more it may do.

use std::borrow::Cow;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use super::effect::{Aspect, Doubt, DoubtFact, Effect, EffectFact, Part as FactPart};
use super::state::{Folder, FunctionBody, State, Value, Variable, either};
use super::value::{Piece, UnknownKind};
use super::{Facts, Location, Settings};
use crate::diagnostic::Span;
use crate::host::Host;
use crate::syntax::Dialect;

/// Nested scripts, functions and compound commands, one in the other.
const MAX_DEPTH: usize = 64;
/// Texts that are read because another text runs them, one in the other.
pub(super) const MAX_NESTING: usize = 16;
/// What may be walked beside each command of the text once.
const REPEATS: usize = 2048;
/// What all expansions of a script may give together, in bytes.
const EXPANDED: usize = 4 * 1024 * 1024;
/// What is found of a script takes about so many bytes at most; with everything else that stays below 64 MiB.
const ROOM: usize = 32 * 1024 * 1024;
/// What a finding of the policy takes beside the fact that it is about, in bytes.
const FINDING: usize = 256;
/// How far back the same finding is looked for.
const RECENT: usize = 64;

/// Reads scripts into [`Facts`].
pub(super) struct Walker<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) settings: &'a Settings<'a>,
    pub(super) facts: Facts,
    pub(super) frame: Frame,
    pub(super) state: State,
    /// What the commands being walked print, where something takes it; the innermost last.
    pub(super) captures: Vec<Vec<Piece>>,
    /// What process substitutions print or take, by the file names that stand for them.
    pub(super) pipes: Vec<(BString, Rc<Vec<Piece>>)>,
    /// The states in which loops, functions and sourced files were left early; the innermost last.
    pub(super) exits: Vec<Option<State>>,
    /// What the variables were that functions declared local; the innermost last.
    pub(super) locals: Vec<Vec<(BString, Option<Variable>)>>,
    /// What runs at the end of a shell: trap texts, the outermost shell's first.
    pub(super) traps: Vec<Vec<Trap>>,
    /// Files whose content may be run, by number.
    pub(super) contents: Vec<std::path::PathBuf>,
    /// How many pieces of nested texts are not known so far; each has a variable in its place.
    pub(super) placeholders: usize,
    /// What git did so far.
    pub(super) git: super::discard::Git,
    /// Programs whose inherited variables have been judged.
    pub(super) inherited: std::collections::BTreeSet<BString>,
    /// Libraries and files behind programs that are being read, the innermost last.
    pub(super) loading: Vec<std::path::PathBuf>,
    /// Simple commands that may still be walked.
    budget: usize,
    /// Bytes that expansions may still give.
    expanded: usize,
    /// Bytes that may still be held of what is found.
    room: usize,
    exhausted: bool,
    pub(super) depth: usize,
}

/// What holds for all commands of the text that is being walked.
#[derive(Clone)]
pub(super) struct Frame {
    /// Index into the scripts of the facts.
    pub(super) script: usize,
    /// By whose rules it is read.
    pub(super) dialect: Dialect,
    /// What reached it.
    pub(super) via: Rc<Vec<String>>,
    /// `$0`.
    pub(super) zero: BString,
    /// What it can read from its standard input; `None` where that is the caller's own.
    pub(super) stdin: Option<Rc<Vec<Piece>>>,
    /// Variables that a command gives to what it starts.
    pub(super) given: Rc<Vec<(BString, Vec<Piece>)>>,
    /// It runs on another machine or in a container: paths have no place here.
    pub(super) remote: bool,
    /// Startup files that are not read here may have set any variable, alias or function.
    pub(super) prepared: bool,
    /// Functions that are being called, the innermost last, and whether concurrently.
    pub(super) calls: Rc<Vec<(String, bool)>>,
    /// How many texts are read one in the other.
    pub(super) nesting: usize,
    /// In the background or in a pipeline.
    pub(super) concurrent: bool,
    /// In a branch or a loop of the function that is being called.
    pub(super) conditional: bool,
    /// In a function or a sourced file: `return` ends it.
    pub(super) returns: bool,
    /// In a loop of this text: `break` ends it.
    pub(super) loops: bool,
    /// The text of a project's own file as it lies there: what cannot be told of it is the project's code.
    pub(super) own: bool,
    /// What a program is that no table knows and that is found nowhere.
    pub(super) unlisted: Option<crate::commands::Kind>,
}

/// Whose effect or doubt something is.
#[derive(Debug, Clone, Copy)]
pub(super) struct By {
    /// Index into the commands of the facts.
    pub(super) command: Option<usize>,
    /// Which part of it.
    pub(super) part: FactPart,
    /// Where that is written.
    pub(super) at: Location,
}

impl By {
    /// No command's own: a part of the script.
    pub(super) fn script(at: Location) -> Self {
        Self { command: None, part: FactPart::Own, at }
    }

    /// Another part of the same command.
    pub(super) fn part(self, part: FactPart) -> Self {
        Self { part, ..self }
    }

    /// The same, written elsewhere.
    pub(super) fn at(self, at: Location) -> Self {
        Self { at, ..self }
    }
}

impl Frame {
    /// What reached a text that is reached by one step more.
    pub(super) fn reached(&self, by: impl Into<String>) -> Rc<Vec<String>> {
        let mut via = (*self.via).clone();
        via.push(by.into());
        Rc::new(via)
    }
}

/// A text that a `trap` runs.
pub(super) struct Trap {
    pub(super) text: Vec<Piece>,
    pub(super) at: Location,
}

impl<'a> Walker<'a> {
    pub(super) fn new(host: &'a dyn Host, settings: &'a Settings<'a>, frame: Frame, state: State) -> Self {
        Self {
            host,
            settings,
            facts: Facts::default(),
            frame,
            state,
            captures: Vec::new(),
            pipes: Vec::new(),
            exits: Vec::new(),
            locals: Vec::new(),
            traps: vec![Vec::new()],
            contents: Vec::new(),
            placeholders: 0,
            git: super::discard::Git::default(),
            inherited: std::collections::BTreeSet::new(),
            loading: Vec::new(),
            budget: REPEATS,
            expanded: EXPANDED,
            room: ROOM,
            exhausted: false,
            depth: 0,
        }
    }

    /// Lets a text of this length be walked once.
    pub(super) fn allow_for(&mut self, text: &[u8]) {
        self.budget = self.budget.saturating_add(text.len() / 2);
    }

    /// Takes one step; false once the budget or the room is used up, which is a doubt.
    pub(super) fn step(&mut self, at: Location) -> bool {
        if let Some(rest) = self.budget.checked_sub(1).filter(|_| self.room > 0) {
            self.budget = rest;
            return true;
        }
        if !self.exhausted {
            self.exhausted = true;
            self.doubt(Doubt::Limit, By::script(at), "the script takes too many steps to be followed to its end");
        }
        false
    }

    /// Counts bytes that are held to the end.
    pub(super) fn hold(&mut self, size: usize) {
        self.room = self.room.saturating_sub(size);
    }

    /// Takes what an expansion gives, in bytes; false once all that may be is used up.
    pub(super) fn spend(&mut self, size: usize) -> bool {
        let rest = self.expanded.checked_sub(size);
        self.expanded = rest.unwrap_or(0);
        rest.is_some()
    }

    /// Runs `walk` one level deeper; too deep is a doubt.
    pub(super) fn deeper(&mut self, at: Location, walk: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.doubt(Doubt::Limit, By::script(at), "commands are nested too deeply to be followed");
            return;
        }
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }

    /// A place in the text that is being walked.
    pub(super) fn at(&self, span: Span) -> Location {
        Location { script: self.frame.script, span }
    }

    pub(super) fn doubt(&mut self, doubt: Doubt, by: By, reason: impl Into<Cow<'static, str>>) {
        if self.frame.own && !matches!(doubt, Doubt::Limit | Doubt::Syntax) {
            return self.effect((Effect::Run, Some(Aspect::Project)), None, by, reason);
        }
        let fact = DoubtFact { doubt, command: by.command, part: by.part, at: by.at, reason: reason.into() };
        if !self.facts.doubts.iter().rev().take(RECENT).any(|known| *known == fact) {
            self.hold(size_of::<DoubtFact>() + FINDING + fact.reason.len());
            self.facts.doubts.push(fact);
        }
    }

    pub(super) fn effect(
        &mut self,
        (effect, aspect): (Effect, Option<Aspect>),
        target: Option<BString>,
        by: By,
        reason: impl Into<Cow<'static, str>>,
    ) {
        let By { command, part, at } = by;
        self.git.recorded |= matches!(effect, Effect::Commit | Effect::Discard);
        let fact = EffectFact { effect, aspect, target, command, part, at, reason: reason.into() };
        if !self.facts.effects.iter().rev().take(RECENT).any(|known| *known == fact) {
            let target = fact.target.as_ref().map_or(0, |target| target.len());
            self.hold(size_of::<EffectFact>() + FINDING + target + fact.reason.len());
            self.facts.effects.push(fact);
        }
    }

    /// What a command prints, for whoever takes it.
    pub(super) fn print(&mut self, pieces: impl IntoIterator<Item = Piece>) {
        if let Some(capture) = self.captures.last_mut() {
            for piece in pieces {
                match (capture.last_mut(), piece) {
                    (Some(Piece::Text(before)), Piece::Text(text)) => before.extend_from_slice(&text),
                    (_, piece) => capture.push(piece),
                }
            }
        }
    }

    /// Prints something of which only the kind is known.
    pub(super) fn print_unknown(&mut self, kind: UnknownKind, reason: impl Into<Cow<'static, str>>) {
        if !self.captures.is_empty() {
            self.print([Piece::unknown(kind, reason)]);
        }
    }

    /// Runs `walk` and takes what it prints.
    pub(super) fn capture(&mut self, walk: impl FnOnce(&mut Self)) -> Vec<Piece> {
        self.captures.push(Vec::new());
        walk(self);
        self.captures.pop().unwrap_or_default()
    }

    /// Runs `walk`, and forgets what it finds, but that it found no end.
    pub(super) fn unseen(&mut self, by: By, walk: impl FnOnce(&mut Self)) {
        let Facts { scripts, commands, effects, doubts, .. } = &self.facts;
        let (scripts, commands, effects, doubts) = (scripts.len(), commands.len(), effects.len(), doubts.len());
        walk(self);
        self.facts.scripts.truncate(scripts);
        self.facts.commands.truncate(commands);
        self.facts.effects.truncate(effects);
        for doubt in self.facts.doubts.split_off(doubts.min(self.facts.doubts.len())) {
            if doubt.doubt == Doubt::Limit {
                self.doubt(doubt.doubt, by, doubt.reason);
            }
        }
    }

    /// Runs `walk` in a subshell: nothing but files stays behind.
    pub(super) fn subshell(&mut self, walk: impl FnOnce(&mut Self)) {
        let before = self.state.clone();
        let loops = std::mem::take(&mut self.frame.loops);
        self.exits.push(None);
        self.traps.push(Vec::new());
        walk(self);
        self.run_traps();
        self.exits.pop();
        self.frame.loops = loops;
        let files = std::mem::replace(&mut self.state, before).files;
        self.state.files = files;
    }

    /// Runs `walk` with a changed frame.
    pub(super) fn framed(&mut self, change: impl FnOnce(&mut Frame), walk: impl FnOnce(&mut Self)) {
        let before = self.frame.clone();
        change(&mut self.frame);
        walk(self);
        self.frame = before;
    }

    /// What a variable can be at this point.
    pub(super) fn variable(&self, name: &BStr) -> Cow<'_, [Value]> {
        if let Some(variable) = self.state.variables.get(name) {
            return Cow::Borrowed(&variable.values);
        }
        Cow::Owned(vec![self.inherited(name)])
    }

    /// The value of a variable that the script did not change.
    fn inherited(&self, name: &BStr) -> Value {
        if let Some(reason) = &self.state.unsettled {
            return Value::unknown(UnknownKind::Any, reason.clone());
        }
        if let Some(value) = self.special(name) {
            return value;
        }
        if let Some(value) = self.host.variable(name) {
            return Value::Scalar(vec![Piece::Text(value)]);
        }
        if self.host.assumed() || self.frame.prepared || self.frame.remote {
            return Value::unknown(UnknownKind::Any, format!("${name} is not set in this script"));
        }
        Value::Unset
    }

    /// Variables that the shell itself sets.
    fn special(&self, name: &BStr) -> Option<Value> {
        let value = match name.as_bytes() {
            b"PWD" => Self::folder_value(&self.state.cwd),
            b"RANDOM" | b"SRANDOM" | b"SECONDS" | b"LINENO" | b"UID" | b"EUID" | b"PPID" | b"BASHPID" | b"SHLVL"
            | b"EPOCHSECONDS" | b"OPTIND" | b"COLUMNS" | b"LINES" => Value::unknown(UnknownKind::Number, "a number"),
            b"EPOCHREALTIME" => Value::unknown(UnknownKind::Number, "the time"),
            b"HOSTNAME" | b"HOSTTYPE" | b"MACHTYPE" | b"OSTYPE" => Value::unknown(UnknownKind::Name, "a name"),
            b"IFS" => Value::Scalar(vec![Piece::Text(" \t\n".into())]),
            b"HOME" if self.host.variable(name).is_none() => {
                Value::Scalar(vec![Piece::Text(super::place::shown(self.host.home()))])
            }
            _ => return None,
        };
        Some(value)
    }

    /// The path of a folder as a value.
    pub(super) fn folder_value(folder: &Folder) -> Value {
        Value::Scalar(vec![match folder {
            Folder::Known(paths) => match paths.as_slice() {
                [path] => Piece::Text(super::place::shown(path)),
                _ => Piece::unknown(UnknownKind::Any, "the working directory can be one of several"),
            },
            Folder::Temp => Piece::unknown(UnknownKind::TempPath, "a new temporary folder"),
            Folder::Below(path) => {
                return Value::Scalar(vec![
                    Piece::Text(super::place::shown(path)),
                    Piece::Text("/".into()),
                    Piece::unknown(UnknownKind::RelativePath, "a folder below"),
                ]);
            }
            Folder::Unknown(reason) => Piece::unknown(UnknownKind::Any, reason.clone()),
        }])
    }

    /// Continues in either of two states.
    pub(super) fn join(&self, a: State, b: State) -> State {
        if a.ended {
            return State { files: Self::join_files(&a, &b), ..b };
        }
        if b.ended {
            return State { files: Self::join_files(&b, &a), ..a };
        }
        let cwd = a.cwd.clone().or(b.cwd.clone());
        let fallback = match (a.fallback.clone(), b.fallback.clone()) {
            (Some(a), Some(b)) => Some(a.or(b)),
            (a, b) => a.or(b),
        };
        State {
            variables: self.join_variables(&a, &b),
            functions: join_functions(&a, &b),
            aliases: if a.aliases == b.aliases { a.aliases.clone() } else { union(&a.aliases, &b.aliases) },
            cwd,
            fallback,
            positional: if a.positional == b.positional { a.positional.clone() } else { Self::any_positional(&a) },
            files: Self::join_files(&a, &b),
            renamed: if a.renamed == b.renamed { a.renamed.clone() } else { Rc::new(&*a.renamed | &*b.renamed) },
            unsettled: a.unsettled.clone().or(b.unsettled.clone()),
            pushed: if a.pushed == b.pushed { a.pushed.clone() } else { Vec::new() },
            options: if a.options == b.options { a.options } else { super::state::Options::default() },
            ended: false,
        }
    }

    fn any_positional(state: &State) -> Rc<Vec<super::value::Argument>> {
        let at = state.positional.first().map_or(Location::default(), |argument| argument.at);
        let pieces = vec![Piece::unknown(UnknownKind::Any, "the positional parameters differ between branches")];
        Rc::new(vec![super::value::Argument { pieces, many: true, at }])
    }

    fn join_variables(&self, a: &State, b: &State) -> Rc<std::collections::BTreeMap<BString, Variable>> {
        if Rc::ptr_eq(&a.variables, &b.variables) {
            return a.variables.clone();
        }
        let mut joined = (*a.variables).clone();
        for (name, variable) in &mut joined {
            match b.variables.get(name) {
                Some(other) if other == variable => {}
                Some(other) => {
                    variable.values = either(&variable.values, &other.values);
                    variable.exported |= other.exported;
                    variable.readonly |= other.readonly;
                }
                None => variable.values = either(&variable.values, &[self.inherited(name.as_ref())]),
            }
        }
        for (name, variable) in b.variables.iter() {
            if !a.variables.contains_key(name) {
                let values = either(&[self.inherited(name.as_ref())], &variable.values);
                joined.insert(
                    name.clone(),
                    Variable { values, exported: variable.exported, readonly: variable.readonly },
                );
            }
        }
        Rc::new(joined)
    }

    fn join_files(a: &State, b: &State) -> Rc<std::collections::BTreeMap<std::path::PathBuf, super::state::Made>> {
        use super::state::Made;
        if Rc::ptr_eq(&a.files, &b.files) {
            return a.files.clone();
        }
        let mut joined = (*a.files).clone();
        for (path, made) in b.files.iter() {
            let before = joined.get(path);
            if before.is_some_and(|before| before != made) {
                joined.insert(path.clone(), Made::Unknown(UnknownKind::Any));
            } else if before.is_none() {
                joined.insert(path.clone(), made.clone());
            }
        }
        Rc::new(joined)
    }
}

fn union<K: Ord + Clone, V: Clone>(
    a: &std::collections::BTreeMap<K, V>,
    b: &std::collections::BTreeMap<K, V>,
) -> Rc<std::collections::BTreeMap<K, V>> {
    let mut joined = a.clone();
    joined.extend(b.iter().map(|(key, value)| (key.clone(), value.clone())));
    Rc::new(joined)
}

fn join_functions(a: &State, b: &State) -> Rc<std::collections::BTreeMap<String, Vec<Option<Rc<FunctionBody>>>>> {
    if Rc::ptr_eq(&a.functions, &b.functions) || a.functions == b.functions {
        return a.functions.clone();
    }
    let mut joined = (*a.functions).clone();
    for (name, bodies) in &mut joined {
        for body in b.functions.get(name).cloned().unwrap_or_else(|| vec![None]) {
            if !bodies.contains(&body) {
                bodies.push(body);
            }
        }
    }
    for (name, bodies) in b.functions.iter() {
        if !a.functions.contains_key(name) {
            let mut bodies = bodies.clone();
            if !bodies.contains(&None) {
                bodies.push(None);
            }
            joined.insert(name.clone(), bodies);
        }
    }
    Rc::new(joined)
}
