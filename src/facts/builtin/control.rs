//! `eval`, `source`, `exec`, `command`, `trap`, `alias`, `exit` …

use std::rc::Rc;

use bstr::{BString, ByteSlice};

use super::Called;
use crate::facts::command::Call;
use crate::facts::effect::{Aspect, Doubt, Effect, Part};
use crate::facts::expand::append;
use crate::facts::nested::{Nested, descriptor};
use crate::facts::state::{Alias, Made};
use crate::facts::table::is_blank;
use crate::facts::value::{Argument, Piece, UnknownKind};
use crate::facts::walker::{Trap, Walker};
use crate::host::LookKind;
use crate::syntax::model::SimpleCommand;

pub(super) fn eval(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut text = Vec::new();
    let dashes = called.arguments.first().and_then(Argument::text).is_some_and(|first| &*first == "--");
    for (number, argument) in called.arguments.iter().skip(usize::from(dashes)).enumerate() {
        if number > 0 {
            append(&mut text, [Piece::Text(" ".into())]);
        }
        append(&mut text, argument.pieces.iter().cloned());
    }
    if is_blank(&text) {
        return;
    }
    let unknown = crate::facts::value::first_unknown(&text).is_some();
    let by = called.arguments.first().map_or(called.by, |first| called.by.at(first.at));
    walker.nested(Nested { text, name: "eval".to_owned(), dialect: walker.frame.dialect, shell: None, by });
    if unknown {
        walker.unsettle("text that is not known was run by `eval`");
    }
}

pub(super) fn source(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut arguments = called.operands();
    let Some(file) = arguments.next() else { return };
    let by = called.by.at(file.at);
    let positional: Vec<_> = arguments.cloned().collect();
    let descriptor = file.text().and_then(|text| descriptor(&text));
    if let Some(name) = &descriptor
        && let Some((_, printed)) = walker.pipes.iter().find(|(pipe, _)| *pipe == *name).cloned()
    {
        return run_here(walker, printed.to_vec(), name.clone(), by);
    }
    if let Some(name) = descriptor {
        if let (Some(stdin), "/dev/fd/0") = (walker.frame.stdin.clone(), name.as_str()) {
            return run_here(walker, stdin.to_vec(), "standard input".to_owned(), by);
        }
        walker.doubt(Doubt::Script, by.part(Part::Nested), "commands are read from an input that is not known here");
        return walker.unsettle("commands of an input that is not known were run");
    }
    for target in walker.targets(&file.pieces) {
        let Some(path) = target.path else {
            walker.doubt(
                Doubt::Script,
                by.part(Part::Nested),
                format!("which file is sourced is not known: {}", target.shown),
            );
            walker.unsettle("a file that is not known was sourced");
            continue;
        };
        let aspect = target.aspect;
        if aspect == Some(Aspect::Secret) {
            walker.effect((Effect::Read, aspect), Some(target.shown.clone()), by, "reads a secret");
        }
        let outer = (!positional.is_empty())
            .then(|| std::mem::replace(&mut walker.state.positional, Rc::new(positional.clone())));
        source_file(walker, &path, aspect, by);
        if let Some(outer) = outer {
            walker.state.positional = outer;
        }
    }
}

fn source_file(walker: &mut Walker<'_>, path: &std::path::Path, aspect: Option<Aspect>, by: crate::facts::walker::By) {
    let shown = crate::facts::place::shown(path);
    let name = shown.to_string();
    let origin = walker.origin(path);
    match walker.state.files.get(path).cloned() {
        Some(Made::Link(to)) => return source_file(walker, &to, aspect, by),
        Some(Made::Written(content)) => return run_here(walker, content.to_vec(), name, by),
        Some(Made::Unknown(UnknownKind::Downloaded)) => {
            walker.effect(
                (Effect::Run, Some(Aspect::Downloaded)),
                Some(shown),
                by,
                "runs what was downloaded or decoded",
            );
            return forget_variables(walker);
        }
        Some(Made::Unknown(_) | Made::Built) => {
            walker.doubt(
                Doubt::Script,
                by.part(Part::Nested),
                format!("{name}: this script made it from something not known"),
            );
            return forget_variables(walker);
        }
        Some(Made::Deleted | Made::Folder) => return,
        Some(Made::Edited | Made::Moved(_) | Made::Copied(_)) | None => {}
    }
    let code =
        matches!(aspect, Some(Aspect::Project | Aspect::Temp | Aspect::Unknown | Aspect::Secret | Aspect::Vcs) | None);
    if !code && is_trusted(walker, path) {
        // What the user starts from is the user's; it may set any variable.
        return forget_variables(walker);
    }
    if aspect != Some(Aspect::Secret) {
        walker.effect((Effect::Run, aspect), Some(shown), by, "runs a file in this shell");
    }
    match walker.host.read(origin.as_deref().unwrap_or(path)) {
        Ok(bytes) => run_here(walker, vec![Piece::Text(bytes.to_vec().into())], name, by),
        Err(crate::host::Unread::Missing) => {}
        Err(unread) => {
            walker.unread(path, unread, by.part(Part::Nested));
            forget_variables(walker);
        }
    }
}

/// Owned by the user or root, and not writable by others.
fn is_trusted(walker: &Walker<'_>, path: &std::path::Path) -> bool {
    let look = walker.host.look(path);
    match look.kind {
        LookKind::Unknown => true,
        LookKind::File => (look.owner == 0 || look.owner == walker.host.user()) && look.mode & 0o022 == 0,
        _ => false,
    }
}

fn run_here(walker: &mut Walker<'_>, text: Vec<Piece>, name: String, by: crate::facts::walker::By) {
    walker.exits.push(None);
    let dialect = walker.frame.dialect;
    walker.framed(
        |frame| (frame.returns, frame.loops) = (true, false),
        |walker| walker.nested(Nested { text, name, dialect, shell: None, by }),
    );
    walker.leave_loop();
}

fn forget_variables(walker: &mut Walker<'_>) {
    Rc::make_mut(&mut walker.state.variables).clear();
    walker.state.unsettled = Some("a sourced file may have set it".into());
}

pub(super) fn exec(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut words = called.arguments;
    while let [option, rest @ ..] = words {
        match option.text().as_deref().map(|text| text.as_bytes()) {
            Some(b"-a") => words = rest.get(1..).unwrap_or_default(),
            Some(b"--") => {
                words = rest;
                break;
            }
            Some(b"-c" | b"-l" | b"-cl" | b"-lc") => words = rest,
            _ => break,
        }
    }
    if words.is_empty() {
        return;
    }
    let call = Call { functions: false, builtins: false, ..called.call.clone() };
    // The shell goes on if the program is missing and `execfail` is set, or if it cannot be redirected.
    through(walker, "exec", |walker| walker.run(words, call));
}

pub(super) fn command(walker: &mut Walker<'_>, called: &Called<'_>) {
    if called.has(b'v') || called.has(b'V') {
        return walker.print_unknown(UnknownKind::Any, "where a command is");
    }
    let words: Vec<_> = called.operands().cloned().collect();
    let mut call = Call { functions: false, programs: true, ..called.call.clone() };
    if called.has(b'p') {
        call.environment.push(("PATH".into(), vec![Piece::Text("/usr/bin:/bin:/usr/sbin:/sbin".into())]));
    }
    through(walker, "command", |walker| walker.run(&words, call));
}

pub(super) fn builtin(walker: &mut Walker<'_>, called: &Called<'_>) {
    let words: Vec<_> = called.operands().cloned().collect();
    let name = words.first().and_then(Argument::text).map(std::borrow::Cow::into_owned);
    // zsh and bash run nothing if there is no such builtin, which the tables of programs cannot tell.
    let call = Call {
        functions: false,
        programs: name.is_none_or(|name| !Walker::has_builtin(name.as_ref())),
        ..called.call.clone()
    };
    through(walker, "builtin", |walker| walker.run(&words, call));
}

pub(super) fn noglob(walker: &mut Walker<'_>, called: &Called<'_>) {
    let call = called.call.clone();
    let words = called.arguments.to_vec();
    through(walker, "noglob", |walker| walker.run(&words, call));
}

fn through(walker: &mut Walker<'_>, name: &str, walk: impl FnOnce(&mut Walker<'_>)) {
    walker.framed(|frame| frame.via = frame.reached(name), walk);
}

pub(super) fn trap(walker: &mut Walker<'_>, called: &Called<'_>) {
    let operands: Vec<_> = called.operands().collect();
    let [action, signals @ ..] = operands.as_slice() else { return };
    if signals.is_empty() {
        return;
    }
    let inert =
        action.text().is_some_and(|text| matches!(text.as_bytes(), b"" | b"-") || text.iter().all(u8::is_ascii_digit));
    if inert {
        return;
    }
    let at_exit = |signal: &&&Argument| signal.text().is_some_and(|name| matches!(name.as_bytes(), b"EXIT" | b"0"));
    if signals.iter().any(|signal| !at_exit(&signal)) {
        changes_anywhere(walker, action);
    }
    let trap = Trap { text: action.pieces.clone(), at: action.at };
    if let Some(traps) = walker.traps.last_mut() {
        traps.push(trap);
    }
}

/// A trap that can run between any two commands: what it changes is not known from here on. What it does beside that is
/// judged when the shell ends.
fn changes_anywhere(walker: &mut Walker<'_>, action: &Argument) {
    let by = crate::facts::walker::By::script(action.at);
    let dialect = walker.frame.dialect;
    let before = walker.state.clone();
    let nested = Nested { text: action.pieces.clone(), name: "trap".to_owned(), dialect, shell: None, by };
    walker.unseen(by, |walker| walker.nested(nested));
    let after = std::mem::replace(&mut walker.state, before.clone());
    if after.ended {
        return;
    }
    for (name, variable) in after.variables.iter().filter(|(name, new)| before.variables.get(*name) != Some(*new)) {
        if variable.readonly {
            continue;
        }
        walker.state.set_unknown(name.as_ref(), UnknownKind::Any, format!("a trap changes ${name}"));
        Rc::make_mut(&mut walker.state.renamed).insert(name.clone());
    }
    let same = after.cwd == before.cwd && after.functions == before.functions && after.aliases == before.aliases;
    if !same || after.positional != before.positional || after.options != before.options {
        walker.doubt(Doubt::Script, by, "a trap changes the shell between any two commands");
    }
}

pub(super) fn alias(walker: &mut Walker<'_>, called: &Called<'_>) {
    if called.has(b'g') || called.has(b's') {
        walker.doubt(Doubt::Dialect, called.by, "an alias that holds for words other than commands");
    }
    walker.print_unknown(UnknownKind::Any, "what alias prints");
    for argument in called.operands() {
        let lead = argument.prefix();
        let Some(equals) = lead.find_byte(b'=') else { continue };
        let name = BString::from(lead.get(..equals).unwrap_or_default());
        match argument.text().and_then(|text| text.get(equals + 1..).map(BString::from)) {
            Some(value) => {
                let alias = Alias { text: value, script: walker.frame.script };
                Rc::make_mut(&mut walker.state.aliases).insert(name, alias);
            }
            None => walker.doubt(Doubt::Command, called.by, format!("what the alias {name} stands for is not known")),
        }
    }
}

pub(super) fn unalias(walker: &mut Walker<'_>, called: &Called<'_>) {
    if called.has(b'a') {
        walker.state.aliases = Rc::default();
    }
    for argument in called.operands() {
        if let Some(name) = argument.text() {
            Rc::make_mut(&mut walker.state.aliases).remove(name.as_ref().as_bstr());
        }
    }
}

/// At most one number: anything else is an error after which a shell may go on.
fn is_sure(called: &Called<'_>) -> bool {
    match called.arguments {
        [] => true,
        [only] => !only.many && only.text().is_none_or(|text| text.iter().all(u8::is_ascii_digit)),
        _ => false,
    }
}

pub(super) fn exit(walker: &mut Walker<'_>, called: &Called<'_>) {
    if !is_sure(called) {
        return;
    }
    // What ends here is not joined with what goes on, so its traps run from here.
    if let Some(traps) = walker.traps.last()
        && !traps.is_empty()
    {
        let again = traps.iter().map(|trap| Trap { text: trap.text.clone(), at: trap.at }).collect();
        walker.traps.push(again);
        walker.run_traps();
    }
    walker.state.ended = true;
}

pub(super) fn leave_function(walker: &mut Walker<'_>, called: &Called<'_>) {
    // Outside of functions and sourced files it is an error, and the script goes on.
    if walker.frame.returns && is_sure(called) {
        walker.leave();
    }
}

pub(super) fn leave_loop(walker: &mut Walker<'_>, called: &Called<'_>) {
    if walker.frame.loops && is_sure(called) {
        walker.leave();
    }
}

/// `enable -f FILE`, `zmodload`: code is loaded into the shell.
pub(super) fn enable(walker: &mut Walker<'_>, called: &Called<'_>) {
    let zsh = called.words.first().and_then(Argument::text).is_some_and(|name| &*name == "zmodload");
    if called.has(b'f') || zsh && called.operands().any(|module| !module.prefix().starts_with(b"zsh/")) {
        let target = called.operands().next().map(|module| crate::facts::resolve::shown_pieces(&module.pieces));
        walker.effect((Effect::Run, Some(Aspect::Unknown)), target, called.by, "loads code into the shell");
    }
}

impl Walker<'_> {
    /// The alias that a command is; `true` where the shell is sure to know it when it reads the command.
    pub(in crate::facts) fn alias(&self, simple: &SimpleCommand) -> Option<(BString, bool)> {
        use crate::syntax::Dialect;
        let expands = self.frame.dialect != Dialect::Bash || self.state.options.aliases;
        let first = simple.words.first().filter(|_| expands && !self.state.aliases.is_empty())?;
        let [crate::syntax::model::Part::Literal { text, quoted: false }] = first.parts.as_slice() else {
            return None;
        };
        // A shell reads whole lines and compound commands, zsh all of a text, before it runs any of it.
        let alias = self.state.aliases.get(text)?;
        Some((text.clone(), alias.script != self.frame.script))
    }

    /// Reads a command again with its alias written out.
    pub(in crate::facts) fn expand_alias(&mut self, name: &BString, simple: &SimpleCommand) {
        let Some(first) = simple.words.first() else { return };
        // An alias is not expanded again inside itself.
        let Some(alias) = Rc::make_mut(&mut self.state.aliases).remove(name) else { return };
        let Some(script) = self.facts.scripts.get(self.frame.script) else { return };
        let rest = script.text.get(first.span.end..simple.span.end).unwrap_or_default();
        let before = script.text.get(simple.span.start..first.span.start).unwrap_or_default();
        let whole = [before, &alias.text, rest].concat();
        let by = crate::facts::walker::By::script(self.at(simple.span));
        self.nested(Nested {
            text: vec![Piece::Text(whole.into())],
            name: format!("alias {name}"),
            dialect: self.frame.dialect,
            shell: None,
            by,
        });
        Rc::make_mut(&mut self.state.aliases).entry(name.clone()).or_insert(alias);
    }
}
