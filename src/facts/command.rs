//! One simple command: expanded, resolved to what runs, and read by its table.

use std::borrow::Cow;
use std::path::Path;
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use super::effect::{Doubt, Effect, Part};
use super::state::{State, Value, either};
use super::value::{Argument, Piece, UnknownKind};
use super::walker::{By, Frame, Walker};
use super::{CommandFact, Identity, OptionFact};
use crate::syntax::model::{AssignedValue, Assignment, SimpleCommand};

/// Commands are told apart by at most so many combinations of values.
const MAX_VARIANTS: usize = 16;
/// A function calls itself at most so often before it is no longer followed.
const MAX_RECURSION: usize = 8;

/// What is known of a command beside its words.
#[derive(Clone)]
pub(super) struct Call {
    /// Whose effects its effects are; the command's own index is added once it has one.
    pub(super) by: By,
    /// Variables assigned for this command alone.
    pub(super) environment: Vec<(BString, Vec<Piece>)>,
    /// A function of this name is called.
    pub(super) functions: bool,
    /// A builtin of this name is called.
    pub(super) builtins: bool,
    /// It replaces the shell or runs from a program: only a program file of this name is started.
    pub(super) programs: bool,
    /// What it is if no table knows it.
    pub(super) unlisted: Option<crate::commands::Kind>,
}

impl Call {
    /// A command as it stands in a script.
    pub(super) fn plain(by: By) -> Self {
        Self { by, environment: Vec::new(), functions: true, builtins: true, programs: true, unlisted: None }
    }

    /// A command that a program starts.
    pub(super) fn program(by: By) -> Self {
        Self { functions: false, builtins: false, ..Self::plain(by) }
    }
}

impl Walker<'_> {
    /// Walks a simple command, once for each combination of the values that its variables can have.
    pub(super) fn simple(&mut self, simple: &SimpleCommand) {
        let at = self.at(simple.span);
        if !self.step(at) {
            return;
        }
        let pipes = self.pipes.len();
        let varying = self.varying(simple);
        if varying.is_empty() {
            self.variant(simple);
        } else {
            self.variants(simple, &varying);
        }
        self.pipes.truncate(pipes);
    }

    /// The variables among those mentioned that can have several values.
    fn varying(&self, simple: &SimpleCommand) -> Vec<(BString, Vec<Value>)> {
        if self.state.variables.is_empty() {
            return Vec::new();
        }
        let mut names = super::mention::variables(simple);
        names.sort_unstable();
        names.dedup();
        let several = |name: &str| {
            let variable = self.state.variables.get(BStr::new(name))?;
            (variable.values.len() > 1).then(|| (name.into(), variable.values.clone()))
        };
        names.into_iter().filter_map(several).collect()
    }

    fn variants(&mut self, simple: &SimpleCommand, varying: &[(BString, Vec<Value>)]) {
        let count = varying.iter().try_fold(1_usize, |count, (_, values)| count.checked_mul(values.len()));
        let Some(count) = count.filter(|count| *count <= MAX_VARIANTS) else {
            for (name, values) in varying {
                let kind = values.iter().map(Value::kind).reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
                self.state.set_unknown(name.as_ref(), kind, format!("${name} has one of several values here"));
            }
            return self.variant(simple);
        };
        self.either(0..count, |walker, mut number| {
            for (name, values) in varying {
                if let Some(value) = values.get(number % values.len()) {
                    walker.state.set(name.as_ref(), value.clone());
                }
                number /= values.len();
            }
            walker.variant(simple);
        });
    }

    /// Walks alternatives, of which one runs, each from the state before.
    fn either<T>(&mut self, each: impl IntoIterator<Item = T>, mut walk: impl FnMut(&mut Self, T)) {
        let before = self.state.clone();
        let mut after: Option<State> = None;
        let mut printed = Vec::new();
        for one in each {
            self.state = before.clone();
            printed.push(self.aside(|walker| walk(walker, one)));
            let ran = std::mem::replace(&mut self.state, before.clone());
            after = Some(match after {
                Some(other) => self.join(other, ran),
                None => ran,
            });
        }
        self.state = after.unwrap_or(before);
        self.print_either(printed);
    }

    /// Walks a simple command whose variables have one value each.
    fn variant(&mut self, simple: &SimpleCommand) {
        let Some((alias, sure)) = self.alias(simple) else { return self.written_out(simple) };
        if sure {
            return self.expand_alias(&alias, simple);
        }
        let before = self.state.clone();
        let expanded = self.aside(|walker| walker.expand_alias(&alias, simple));
        let after = std::mem::replace(&mut self.state, before);
        let printed = self.aside(|walker| walker.written_out(simple));
        let plain = self.state.clone();
        self.state = self.join(after, plain);
        self.print_either(vec![expanded, printed]);
    }

    /// Walks a simple command that is no alias.
    fn written_out(&mut self, simple: &SimpleCommand) {
        let by = By::script(self.at(simple.span));
        let words = self.expand_command(&simple.words);
        if self.state.ended {
            return;
        }
        if words.is_empty() {
            for assignment in &simple.assignments {
                self.assign(assignment);
            }
            return self.redirected(&simple.redirections, by, |_| {});
        }
        let environment = simple.assignments.iter().map(|assignment| self.inline_assignment(assignment)).collect();
        let call = Call { environment, ..Call::plain(by) };
        let function = words.first().and_then(Argument::text).is_some_and(|name| self.is_function(&name));
        // Redirections are the command's own parts; it is listed next.
        let own = By { command: (!function).then_some(self.facts.commands.len()), ..by };
        if let [only] = words.as_slice()
            && only.text().is_some_and(|name| &*name == "exec")
        {
            self.run(&words, call);
            return self.redirect_shell(&simple.redirections, own);
        }
        self.redirected(&simple.redirections, own, |walker| walker.run(&words, call));
        // What cannot be redirected does not run, not even `exit`.
        self.state.ended &= simple.redirections.is_empty();
    }

    /// Runs an assignment of the shell itself.
    pub(super) fn assign(&mut self, assignment: &Assignment) {
        let value = self.assigned(assignment, Self::taken);
        let special = ["functions", "aliases", "galiases", "saliases", "commands", "mapfile", "nameddirs"];
        if self.is_zsh() && special.iter().any(|name| assignment.name.trim_start_matches("dis_") == *name) {
            let reason = format!("what is assigned to {} changes what names mean", assignment.name);
            self.doubt(Doubt::Dialect, By::script(self.at(assignment.span)).part(Part::Assignment), reason);
        }
        if matches!(assignment.name.as_str(), "BASH_CMDS" | "BASH_ALIASES") {
            let reason = format!("what is assigned to {} changes what names mean", assignment.name);
            self.doubt(Doubt::Program, By::script(self.at(assignment.span)).part(Part::Assignment), reason);
        }
        // Any value makes patterns take hidden names.
        self.state.options.dotglob |= assignment.name == "GLOBIGNORE";
        // Under `set -x` it is expanded before each command.
        if let ("PS4", Value::Scalar(text)) = (assignment.name.as_str(), &value) {
            self.prompted(text, By::script(self.at(assignment.span)).part(Part::Assignment));
        }
        self.state.set(assignment.name.as_str().into(), value);
    }

    /// What is assigned; `before` gives the value that `+=` appends to.
    fn assigned(&mut self, assignment: &Assignment, before: fn(&mut Self, &BStr) -> Value) -> Value {
        let name = BStr::new(&assignment.name);
        if let Some(index) = &assignment.index {
            let index = self.expand_scalar(index);
            self.arithmetic_names(&index, By::script(self.at(assignment.span)));
            if let AssignedValue::Scalar(word) = &assignment.value {
                let pieces = self.expand_scalar(word);
                let kind = Value::Scalar(pieces).kind();
                return Value::unknown(kind, format!("the elements of ${name} are not followed"));
            }
        }
        let new = match &assignment.value {
            AssignedValue::Scalar(word) => Value::Scalar(self.expand_scalar(word)),
            AssignedValue::Array(items) => self.array(name, items),
        };
        if !assignment.append {
            return new;
        }
        let before = before(self, name);
        match (before, new) {
            (Value::Unset, new) => new,
            (Value::Scalar(mut before), Value::Scalar(new)) => {
                super::expand::append(&mut before, new);
                Value::Scalar(before)
            }
            (Value::Array(mut before), Value::Array(new)) => {
                before.extend(new);
                Value::Array(before)
            }
            _ => Value::unknown(UnknownKind::Any, format!("the elements of ${name} are not followed")),
        }
    }

    /// The value of a variable.
    fn only_value(&mut self, name: &BStr) -> Value {
        match &*self.variable(name) {
            [value] => value.clone(),
            _ => Value::unknown(UnknownKind::Any, format!("${name} has one of several values here")),
        }
    }

    /// The same of a variable that is about to be replaced, taken out of it: an array may be long.
    fn taken(&mut self, name: &BStr) -> Value {
        match Rc::make_mut(&mut self.state.variables).get_mut(name).map(|variable| variable.values.as_mut_slice()) {
            Some([value]) => std::mem::replace(value, Value::Unset),
            _ => self.only_value(name),
        }
    }

    fn array(
        &mut self,
        name: &BStr,
        items: &[(Option<crate::syntax::model::Word>, crate::syntax::model::Word)],
    ) -> Value {
        let mut elements = Vec::new();
        let mut numbered = true;
        for (index, word) in items {
            if let Some(index) = index {
                let at = self.at(index.span);
                let index = self.expand_scalar(index);
                self.arithmetic_names(&index, By::script(at));
                numbered = false;
            }
            elements.extend(self.expand_word(word));
        }
        if numbered {
            return Value::Array(elements);
        }
        let kind = elements.into_iter().map(|element| Value::Scalar(element.pieces).kind()).reduce(UnknownKind::or);
        Value::unknown(kind.unwrap_or(UnknownKind::Any), format!("the elements of ${name} are not followed"))
    }

    /// An assignment before a command.
    fn inline_assignment(&mut self, assignment: &Assignment) -> (BString, Vec<Piece>) {
        let pieces = match self.assigned(assignment, Self::only_value) {
            Value::Scalar(pieces) => pieces,
            Value::Unset => Vec::new(),
            Value::Array(_) => vec![Piece::unknown(UnknownKind::Any, "an array")],
        };
        (assignment.name.as_str().into(), pieces)
    }

    fn is_function(&self, name: &BStr) -> bool {
        name.to_str().is_ok_and(|name| self.state.functions.contains_key(name))
    }

    /// Runs expanded words: a function, a builtin or a program.
    pub(super) fn run(&mut self, words: &[Argument], call: Call) {
        let Some((first, rest)) = words.split_first() else { return };
        let Some(name) = first.text().filter(|_| !first.many).map(Cow::into_owned) else {
            return self.run_unknown(first, words, call);
        };
        if name.is_empty() {
            self.list_command(Some(name), Identity::Foreign, words, &call);
            return;
        }
        if name.contains(&b'/') {
            return self.run_file(name.as_ref(), words, call);
        }
        if call.functions && self.call_function(name.as_ref(), rest, &call) {
            return;
        }
        if call.builtins && self.builtin(name.as_ref(), words, &call) {
            return;
        }
        if call.programs {
            self.run_program(name.as_ref(), words, call);
        }
    }

    /// The name of the command is not known.
    fn run_unknown(&mut self, first: &Argument, words: &[Argument], call: Call) {
        let command = self.list_command(None, Identity::Foreign, words, &call);
        let by = By { command: Some(command), ..call.by };
        let reason = match super::value::first_unknown(&first.pieces) {
            Some(unknown) if unknown.kind == UnknownKind::Downloaded => {
                let what = (Effect::Run, Some(super::effect::Aspect::Downloaded));
                return self.effect(what, None, by.at(first.at), "runs text that came from the network or a decoder");
            }
            Some(unknown) => format!("the name of the command is not known: {}", unknown.reason),
            None => "the name of the command is a pattern".to_owned(),
        };
        self.doubt(Doubt::Command, by.at(first.at), reason);
        self.print_unknown(UnknownKind::Any, "what an unknown command prints");
    }

    /// Libraries that the dynamic linker is told to load into whatever is started.
    pub(super) fn preloads(&mut self, call: &Call, by: By) {
        for name in ["LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"] {
            let name = BStr::new(name);
            let exported = || match self.state.variables.get(name)?.values.as_slice() {
                [Value::Scalar(pieces)] => Some(pieces.clone()),
                _ => None,
            };
            let Some(pieces) = Self::assignment_of(call, name).or_else(exported) else { continue };
            if pieces.is_empty() {
                continue;
            }
            let aspect = self.targets(&pieces).first().and_then(|target| target.aspect);
            let target = Some(super::resolve::shown_pieces(&pieces));
            let by = by.part(Part::Assignment);
            self.effect((Effect::Run, aspect), target, by, format!("{name} loads code into the program"));
            self.doubt(Doubt::Script, by, format!("{name} loads code that cannot be read"));
        }
    }

    /// Adds a command to the facts; its options and operands are added by its table.
    pub(super) fn list_command(
        &mut self,
        program: Option<BString>,
        identity: Identity,
        words: &[Argument],
        call: &Call,
    ) -> usize {
        let text = |word: &Argument| if word.many { None } else { word.text().map(Cow::into_owned) };
        let argv: Vec<_> = words.iter().map(text).collect();
        let length: usize =
            argv.iter().map(|word| word.as_ref().map_or(0, |word| word.len()) + size_of::<BString>()).sum();
        // Once as words, once more as options or operands.
        self.hold(size_of::<CommandFact>() + 2 * length);
        self.facts.commands.push(CommandFact {
            program,
            identity,
            subcommand: Vec::new(),
            options: Vec::<OptionFact>::new(),
            operands: argv.get(1..).unwrap_or_default().to_vec(),
            argv,
            environment: call.environment.iter().map(|(name, _)| name.clone()).collect(),
            cwd: self.folder(),
            via: self.frame.via.clone(),
            at: call.by.at,
            dialect: self.frame.dialect,
        });
        self.facts.commands.len() - 1
    }

    /// The working directory, if it is known; commands in one folder share it.
    fn folder(&self) -> Option<Rc<Path>> {
        let folder = self.state.cwd.path().filter(|_| !self.frame.remote)?;
        let last = self.facts.commands.last().and_then(|last| last.cwd.clone());
        last.filter(|last| **last == **folder).or_else(|| Some(Rc::from(folder.as_path())))
    }

    /// Calls a function, if there is one of this name; true if nothing else can be meant.
    pub(super) fn call_function(&mut self, name: &BStr, arguments: &[Argument], call: &Call) -> bool {
        let Some(name) = name.to_str().ok() else { return false };
        let Some(bodies) = self.state.functions.get(name).cloned() else { return false };
        if self.recursion(name, call.by) {
            return true;
        }
        self.either(bodies.iter().flatten(), |walker, body| {
            walker.deeper(call.by.at, |walker| walker.function_body(name, body, arguments, call));
        });
        !bodies.contains(&None)
    }

    fn function_body(&mut self, name: &str, body: &super::state::FunctionBody, arguments: &[Argument], call: &Call) {
        let outer = std::mem::replace(&mut self.state.positional, Rc::new(arguments.to_vec()));
        let replaced = self.assign_for_call(&call.environment);
        self.exits.push(None);
        self.locals.push(Vec::new());
        let concurrent = self.frame.concurrent;
        let enter = |frame: &mut Frame| {
            frame.script = body.script;
            frame.via = frame.reached(format!("{name}()"));
            Rc::make_mut(&mut frame.calls).push((name.to_owned(), concurrent));
            frame.concurrent = false;
            frame.conditional = false;
            frame.returns = true;
            frame.loops = false;
        };
        self.framed(enter, |walker| walker.command(&body.body));
        // An `exit` inside ends the script, a `return` only the function.
        if let Some(Some(left)) = self.exits.pop() {
            let after = std::mem::replace(&mut self.state, left.clone());
            self.state = self.join(after, left);
        }
        for (name, variable) in self.locals.pop().unwrap_or_default().into_iter().rev().chain(replaced) {
            let variables = Rc::make_mut(&mut self.state.variables);
            match variable {
                Some(variable) => variables.insert(name, variable),
                None => variables.remove(&name),
            };
        }
        self.state.positional = outer;
    }

    /// Sets the variables that a function call is given; what they were is returned.
    pub(super) fn assign_for_call(
        &mut self,
        environment: &[(BString, Vec<Piece>)],
    ) -> Vec<(BString, Option<super::state::Variable>)> {
        let mut before = Vec::with_capacity(environment.len());
        for (name, pieces) in environment {
            before.push((name.clone(), self.state.variables.get(name).cloned()));
            self.state.set(name.as_ref(), Value::Scalar(pieces.clone()));
        }
        before
    }

    /// Whether a call is a recursion that is followed no further.
    fn recursion(&mut self, name: &str, by: By) -> bool {
        let calls = self.frame.calls.clone();
        let Some(first) = calls.iter().position(|(call, _)| call == name) else { return false };
        let spawned = self.frame.concurrent || calls.iter().skip(first + 1).any(|(_, concurrent)| *concurrent);
        if spawned && !self.frame.conditional {
            self.effect((Effect::Exhaust, None), Some(name.into()), by, "starts itself again and again: a fork bomb");
            return true;
        }
        let depth = calls.iter().filter(|(call, _)| call == name).count();
        if depth < MAX_RECURSION {
            return false;
        }
        self.doubt(Doubt::Limit, by, format!("{name} calls itself, and is not followed further"));
        true
    }

    /// Runs `walk`; what it prints is kept aside if something takes it.
    pub(super) fn aside(&mut self, walk: impl FnOnce(&mut Self)) -> Vec<Piece> {
        if self.captures.is_empty() {
            walk(self);
            return Vec::new();
        }
        self.capture(walk)
    }

    /// Prints what one of several branches printed.
    pub(super) fn print_either(&mut self, printed: Vec<Vec<Piece>>) {
        if self.captures.is_empty() {
            return;
        }
        let mut all = printed.into_iter();
        let Some(first) = all.next() else { return };
        let others: Vec<_> = all.filter(|other| *other != first).collect();
        if others.is_empty() {
            return self.print(first);
        }
        let values = others
            .iter()
            .fold(vec![Value::Scalar(first)], |values, other| either(&values, &[Value::Scalar(other.clone())]));
        let kind = values.iter().map(Value::kind).reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
        self.print_unknown(kind, "branches print different text");
    }

    /// The effects of a part of this command that reads variables.
    pub(super) fn assignment_of(call: &Call, name: &BStr) -> Option<Vec<Piece>> {
        call.environment.iter().rev().find(|(assigned, _)| assigned == name).map(|(_, pieces)| pieces.clone())
    }

    /// By whom the parts of a listed command are.
    pub(super) fn own(command: usize, call: &Call) -> By {
        By { command: Some(command), part: Part::Own, ..call.by }
    }
}
