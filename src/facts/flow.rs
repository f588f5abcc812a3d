//! Walking commands in the order in which they run, and what holds after each.

use std::rc::Rc;

use bstr::BStr;

use super::effect::Doubt;
use super::state::{FunctionBody, State, Value};
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::{By, Walker};
use crate::syntax::Dialect;
use crate::syntax::model::{Block, Command, Compound, CompoundKind, List, ListOperator, Pipeline, Statement};

/// A loop runs through at most so many known values one by one.
const MAX_ROUNDS: usize = 64;

impl Walker<'_> {
    /// Walks commands that run one after the other.
    pub(super) fn block(&mut self, block: &Block) {
        for statement in block {
            if self.state.ended {
                break;
            }
            self.statement(statement);
            self.state.settle();
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if !statement.background {
            return self.command(&statement.command);
        }
        self.framed(
            |frame| frame.concurrent = true,
            |walker| {
                walker.subshell(|walker| walker.command(&statement.command));
            },
        );
    }

    pub(super) fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Pipeline(pipeline) => self.pipeline(pipeline),
            Command::List(list) => self.list(list),
            Command::Compound(compound) => {
                let at = self.at(compound.span);
                self.deeper(at, |walker| walker.compound(compound));
            }
            Command::Function(function) => {
                let body = FunctionBody { body: (*function.body).clone(), script: self.frame.script };
                Rc::make_mut(&mut self.state.functions).insert(function.name.clone(), vec![Some(Rc::new(body))]);
            }
            Command::Coproc(coproc) => self.framed(
                |frame| {
                    frame.concurrent = true;
                    frame.stdin = Some(vec![Piece::unknown(UnknownKind::Any, "what is written to a coprocess")].into());
                },
                |walker| walker.subshell(|walker| walker.command(&coproc.command)),
            ),
            Command::Opaque(opaque) => {
                let at = self.at(opaque.span);
                self.doubt(Doubt::Syntax, By::script(at), opaque.reason.clone());
                self.unsettle("a part of the script could not be read");
            }
        }
    }

    /// Anything may have been changed by what was not read.
    pub(super) fn unsettle(&mut self, reason: &'static str) {
        Rc::make_mut(&mut self.state.variables).clear();
        self.state.unsettled = Some(reason.into());
        self.state.cwd = super::state::Folder::Unknown(reason.into());
    }

    fn list(&mut self, list: &List) {
        self.command(&list.first);
        for (operator, command) in &list.rest {
            if self.state.ended {
                // Only what failed can go on after `exit || …`, and `exit` does not.
                return;
            }
            let left = self.state.clone();
            match operator {
                ListOperator::And => self.state.fallback = None,
                ListOperator::Or => {
                    if let Some(fallback) = self.state.fallback.take() {
                        self.state.cwd = fallback;
                    }
                }
            }
            let before = self.state.clone();
            self.command(command);
            // The right side did not run: the left one failed before `&&`, succeeded before `||`.
            let mut skipped = left;
            match operator {
                ListOperator::And => {
                    skipped.cwd = skipped.fallback.take().unwrap_or(skipped.cwd);
                    if self.state == before && skipped.cwd == before.cwd {
                        continue;
                    }
                    // A failure stays a failure: `cd x && a && b` runs b in x only.
                    let failed = skipped.cwd.clone();
                    let after = std::mem::replace(&mut self.state, before);
                    let ran = after.ended;
                    let cwd = after.cwd.clone();
                    self.state = self.join(after, skipped);
                    if !ran {
                        self.state.cwd = cwd;
                        self.state.fallback =
                            Some(self.state.fallback.take().map_or(failed.clone(), |fallback| fallback.or(failed)));
                    }
                }
                ListOperator::Or => {
                    skipped.fallback = None;
                    let after = std::mem::replace(&mut self.state, before);
                    self.state = self.join(after, skipped);
                }
            }
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline) {
        let Some((last, before)) = pipeline.stages.split_last() else { return };
        if before.is_empty() {
            return self.command(last);
        }
        let own = self.frame.stdin.clone();
        let mut stdin = own;
        for stage in before {
            let printed = self.capture(|walker| {
                walker.framed(
                    |frame| {
                        frame.stdin.clone_from(&stdin);
                        frame.concurrent = true;
                    },
                    |walker| walker.subshell(|walker| walker.command(stage)),
                );
            });
            stdin = Some(Rc::new(printed));
        }
        // zsh runs the last stage in the shell itself, and bash where it is told to and has no job control.
        let inside = self.is_zsh() || self.state.options.lastpipe;
        let outside = self.state.options.lastpipe.then(|| self.state.clone());
        self.framed(
            |frame| {
                frame.stdin = stdin;
                frame.concurrent = true;
            },
            |walker| {
                if inside { walker.command(last) } else { walker.subshell(|walker| walker.command(last)) }
            },
        );
        if let Some(outside) = outside {
            let after = std::mem::replace(&mut self.state, outside.clone());
            self.state = self.join(after, outside);
        }
    }

    fn compound(&mut self, compound: &Compound) {
        let at = self.at(compound.span);
        self.redirected(&compound.redirections, By::script(at), |walker| walker.compound_kind(compound));
    }

    fn compound_kind(&mut self, compound: &Compound) {
        let conditional = self.frame.conditional;
        self.frame.conditional |= !matches!(compound.kind, CompoundKind::Group(_) | CompoundKind::Subshell(_));
        let loops = self.frame.loops;
        self.frame.loops |= matches!(
            compound.kind,
            CompoundKind::While { .. } | CompoundKind::For { .. } | CompoundKind::ArithmeticFor { .. }
        );
        self.compound_body(compound);
        self.frame.loops = loops;
        self.frame.conditional = conditional;
    }

    fn compound_body(&mut self, compound: &Compound) {
        match &compound.kind {
            CompoundKind::Group(block) => self.block(block),
            CompoundKind::Subshell(block) => self.subshell(|walker| walker.block(block)),
            CompoundKind::If { branches, otherwise } => self.conditional(branches, otherwise),
            CompoundKind::While { condition, body } => self.repeat(condition, body),
            CompoundKind::For { name, words, body } => self.each(name, words.as_deref(), body, compound),
            CompoundKind::ArithmeticFor { expressions, body } => {
                for expression in expressions {
                    self.arithmetic_command(expression);
                }
                self.repeat(&Vec::new(), body);
            }
            CompoundKind::Case { word, clauses } => self.case(word, clauses),
            CompoundKind::Conditional(words) => {
                for word in words {
                    let text = self.expand_scalar(word);
                    if known(&text).is_some_and(|text| is_name(&text)) {
                        self.arithmetic_names(&text, By::script(self.at(word.span)));
                    }
                    let first = matches!(text.first(), Some(Piece::Text(text)) if text.contains(&b'['));
                    if first {
                        self.evaluated(&text, By::script(self.at(word.span)));
                    }
                }
            }
            CompoundKind::Arithmetic(word) => self.arithmetic_command(word),
        }
    }

    /// `((x = 1))`: what it assigns is a number.
    fn arithmetic_command(&mut self, word: &crate::syntax::model::Word) {
        let text = self.expand_scalar(word);
        self.arithmetic_names(&text, By::script(self.at(word.span)));
        for name in super::builtin::variable::assigned_in_arithmetic(&text) {
            self.state.set_unknown(name.as_ref(), UnknownKind::Number, "a number from arithmetic");
        }
    }

    fn conditional(&mut self, branches: &[(Block, Block)], otherwise: &Block) {
        let mut after: Option<State> = None;
        for (condition, body) in branches {
            self.block_but_last_open(condition);
            let mut failed = self.state.clone();
            self.state.fallback = None;
            self.block(body);
            let ran = std::mem::replace(&mut self.state, {
                failed.cwd = failed.fallback.take().unwrap_or(failed.cwd);
                failed
            });
            after = Some(match after {
                Some(before) => self.join(before, ran),
                None => ran,
            });
            if self.state.ended {
                break;
            }
        }
        self.block(otherwise);
        if let Some(after) = after {
            let last = std::mem::replace(&mut self.state, after.clone());
            self.state = self.join(after, last);
        }
    }

    /// A condition: what its last command does if it fails is left to the caller.
    fn block_but_last_open(&mut self, block: &Block) {
        for (number, statement) in block.iter().enumerate() {
            if self.state.ended {
                break;
            }
            self.statement(statement);
            if number + 1 < block.len() {
                self.state.settle();
            }
        }
    }

    fn case(&mut self, word: &crate::syntax::model::Word, clauses: &[(Vec<crate::syntax::model::Word>, Block)]) {
        let subject = self.expand_scalar(word);
        let before = self.state.clone();
        let mut after = None;
        let mut covered = false;
        for (patterns, body) in clauses {
            self.state = before.clone();
            for pattern in patterns {
                let pattern = self.expand_scalar(pattern);
                covered |= known(&pattern).is_some_and(|pattern| &*pattern == "*");
            }
            self.block(body);
            let ran = std::mem::replace(&mut self.state, before.clone());
            after = Some(match after {
                Some(other) => self.join(other, ran),
                None => ran,
            });
        }
        drop(subject);
        if let Some(after) = after {
            self.state = if covered { after } else { self.join(after, before) };
        }
    }

    /// `for x in …`: once for each known value, once more for all that is not known.
    fn each(&mut self, name: &str, words: Option<&[crate::syntax::model::Word]>, body: &Block, compound: &Compound) {
        let values = match words {
            Some(words) => self.expand(words),
            None => (*self.state.positional).clone(),
        };
        if values.is_empty() {
            return;
        }
        let known = values.iter().filter(|value| !value.many).count();
        let all_known = known == values.len();
        let at = self.at(compound.span);
        // `select` is read as `for`; it sets what is typed.
        if self.written(compound.span).starts_with(b"select") {
            self.state.set_unknown(BStr::new("REPLY"), UnknownKind::Any, "$REPLY is typed");
        }
        self.exits.push(None);
        let before = self.state.clone();
        if known <= MAX_ROUNDS {
            for value in values.iter().filter(|value| !value.many) {
                self.state.ended = false;
                self.state.set(BStr::new(name), Value::Scalar(value.pieces.clone()));
                if !self.step(at) {
                    break;
                }
                self.block(body);
                if self.state.ended {
                    self.resume(&before);
                }
            }
        }
        if !all_known || known > MAX_ROUNDS {
            let value = union(values.iter().filter(|value| value.many || known > MAX_ROUNDS));
            self.state.set(BStr::new(name), value);
            self.widened(&Vec::new(), body);
            let after = std::mem::replace(&mut self.state, before.clone());
            self.state = self.join(after, before);
        }
        self.leave_loop();
    }

    /// The text of a command as it is written.
    fn written(&self, span: crate::diagnostic::Span) -> &[u8] {
        let script = self.facts.scripts.get(self.frame.script);
        script.and_then(|script| script.text.get(span.start..span.end)).unwrap_or_default()
    }

    /// After `break` or `continue` the next value still runs, from some state in which a round was left.
    fn resume(&mut self, before: &State) {
        if let Some(Some(left)) = self.exits.last().cloned() {
            self.state = self.join(left, before.clone());
        }
    }

    /// `while`, `until`, `for ((…))`.
    fn repeat(&mut self, condition: &Block, body: &Block) {
        if self.lines(condition, body) {
            return;
        }
        self.exits.push(None);
        self.widened(condition, body);
        self.leave_loop();
    }

    /// Rounds until nothing new is found: the first as it is, the second with what the first may have changed, the last
    /// with everything that changes not known.
    fn widened(&mut self, condition: &Block, body: &Block) {
        let before = self.round(condition, body, None);
        let after = std::mem::replace(&mut self.state, before.clone());
        let first = self.join(after, before.clone());
        if first.matches(&before) {
            self.state = first;
            return;
        }
        self.round(condition, body, Some(first.clone()));
        let after = std::mem::replace(&mut self.state, before.clone());
        let second = self.join(after, first.clone());
        if second.matches(&first) {
            self.state = second;
            return;
        }
        let mut widened = second;
        widen(&mut widened, &before);
        self.round(condition, body, Some(widened.clone()));
        let last = std::mem::replace(&mut self.state, before);
        self.state = self.join(last, widened);
    }

    /// One round from `start`, or from where we are; the state between condition and body.
    fn round(&mut self, condition: &Block, body: &Block, start: Option<State>) -> State {
        if let Some(start) = start {
            self.state = start;
        }
        self.block_but_last_open(condition);
        self.state.fallback = None;
        let between = self.state.clone();
        self.block(body);
        between
    }

    /// The loop is over: what was left early goes on here too.
    pub(super) fn leave_loop(&mut self) {
        if let Some(Some(left)) = self.exits.pop() {
            let after = std::mem::replace(&mut self.state, left.clone());
            self.state = self.join(after, left);
        }
    }

    /// The current path ends in the innermost loop, function or shell.
    pub(super) fn leave(&mut self) {
        let state = self.state.clone();
        let joined = match self.exits.last().cloned() {
            Some(Some(other)) => Some(self.join(other, state)),
            Some(None) => Some(state),
            None => None,
        };
        if let Some(last) = self.exits.last_mut() {
            *last = joined;
        }
        self.state.ended = true;
    }

    /// The shell by whose rules this text is read.
    pub(super) fn dialect(&self) -> Dialect {
        self.frame.dialect
    }
}

fn is_name(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// One value for several.
fn union<'v>(values: impl Iterator<Item = &'v Argument> + Clone) -> Value {
    let mut all = values.clone();
    // The only one keeps what is known of it.
    if let (Some(only), None) = (all.next(), all.next()) {
        return Value::Scalar(only.pieces.clone());
    }
    let kind = values
        .map(|value| Value::Scalar(value.pieces.clone()).kind())
        .reduce(UnknownKind::or)
        .unwrap_or(UnknownKind::Any);
    Value::unknown(kind, "one of many values of a loop")
}

/// Everything that a round changed is not known from here on.
fn widen(state: &mut State, before: &State) {
    let variables = Rc::make_mut(&mut state.variables);
    for (name, variable) in variables.iter_mut() {
        if before.variables.get(name) != Some(variable) {
            let kind = variable.values.iter().map(Value::kind).reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
            variable.values = vec![Value::unknown(kind, format!("${name} changes in a loop"))];
        }
    }
    if state.cwd != before.cwd {
        state.cwd = super::state::Folder::Unknown("the working directory changes in a loop".into());
    }
}
