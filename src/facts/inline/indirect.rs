//! Calls that are not written as one: functions that are handed on, named by text, or run as templates.

use super::What;
use super::arguments::{Given, Site};
use super::binding::Spot;
use super::call::{Judge, shown};
use super::language::{Call, Role};
use super::lexer::Kind;
use super::value::{Value, known_text};
use crate::facts::{Aspect, Doubt, Effect};

/// Names of arguments that take a function.
const FUNCTIONS: &[&str] = &["target", "func", "function", "fn", "callback", "initializer", "method", "preexec_fn"];

impl Judge<'_> {
    /// A function that is handed on: whoever gets it calls it with something that is not told here.
    pub(super) fn handed_on(&mut self, spot: Spot, end: Spot, values: &[Value]) {
        if self.program.language.bare_calls || self.program.mark(end) == Some("(") || !self.is_argument(spot) {
            return;
        }
        let names = values.iter().filter_map(|value| if let Value::Name(name) = value { Some(name) } else { None });
        let Some(call) = names.filter_map(|name| self.program.language.call(name)).find(|call| acts(call)) else {
            return;
        };
        let span = self.program.token(spot).map(|token| token.span).unwrap_or_default();
        let reason = format!("`{}` is handed on, and what it is called with is not known", shown(call));
        self.push(What::Doubt(Doubt::Argument), span, reason);
    }

    /// Whether a value stands at `spot` that something else is given: `f(os.system)`, `target=os.system`, `[os.system]`.
    fn is_argument(&self, spot: Spot) -> bool {
        let Some(before) = spot.before() else { return false };
        let word = |back: usize| spot.at.checked_sub(back).and_then(|at| self.program.word(Spot { at, ..spot }));
        match self.program.mark(before) {
            // What only wraps a function is followed by its name.
            Some("(")
                if spot.at.checked_sub(2).is_some_and(|at| self.program.mark(Spot { at, ..spot }) == Some(")")) =>
            {
                true
            }
            Some(":") => self.program.language.indented && word(2).is_none(),
            Some("(") => word(2).is_some_and(|name| {
                self.program.language.value(name).is_none()
                    && !matches!(name, "if" | "while" | "return" | "isinstance" | "hasattr" | "print")
            }),
            Some(",") => true,
            Some("[") => word(2).is_none(),
            Some("=") => word(2).is_some_and(|name| FUNCTIONS.contains(&name)),
            _ => false,
        }
    }

    /// The words of a member `args` (`new Deno.Command("rm", { args: ["x"] })`).
    pub(super) fn member_words(&self, given: &Given) -> Vec<Value> {
        let spots = (given.spot.at..given.end).map(|at| Spot { at, ..given.spot });
        let key =
            |spot: &Spot| self.program.word(*spot) == Some("args") && self.program.mark(spot.after()) == Some(":");
        let found = spots.into_iter().find(key).map(|spot| self.program.values(spot.after().after()));
        found
            .into_iter()
            .flatten()
            .flat_map(|value| if let Value::List(items) = value { items } else { vec![value] })
            .collect()
    }

    /// Text that names a function: `call_user_func("system", …)`, `method(:system)`.
    pub(super) fn callable(&mut self, given: Option<&Given>, site: &Site) {
        let Some(given) = given else { return };
        for value in self.program.values(given.spot) {
            let Some(name) = known_text(&value) else { continue };
            let Some(call) = self.program.language.call(&name).filter(|call| acts(call)) else { continue };
            let reason = format!("calls `{}` by its name", shown(call));
            self.push(What::Doubt(Doubt::Argument), site.span, reason);
        }
    }

    /// SQL that a database is given.
    pub(super) fn sql(&mut self, value: &Value, site: &Site) {
        const STATEMENTS: &[&str] = &["DROP", "TRUNCATE", "DELETE", "ALTER", "UPDATE", "GRANT", "REVOKE"];
        let text = self.program.as_argument(value);
        let lead = text.prefix().to_string();
        let word = lead.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        if STATEMENTS.contains(&word.as_str()) && !self.mentions(":memory:") {
            let what = What::Script { language: "sql".into(), text };
            self.push(what, site.span, "SQL in the code");
        }
    }

    /// A call that starts the process anew, in a loop without end.
    pub(super) fn forks(&mut self, site: &Site) {
        let endless = |spot: Spot| {
            let next = |ahead: usize| Spot { at: spot.at + ahead, ..spot };
            let holds = |spot: Spot| match self.program.token(spot).map(|token| &token.kind) {
                Some(Kind::Word(word)) => matches!(word.as_str(), "True" | "true"),
                Some(Kind::Number(number)) => number == "1",
                _ => false,
            };
            self.program.word(spot) == Some("while")
                && (holds(next(1)) || self.program.mark(next(1)) == Some("(") && holds(next(2)))
        };
        let lists = self.program.lexed.lists.iter().enumerate();
        let mut spots = lists.flat_map(|(list, tokens)| (0..tokens.len()).map(move |at| Spot { list, at }));
        if spots.any(endless) {
            self.push(What::Effect(Effect::Exhaust, None), site.span, "starts itself again and again: a fork bomb");
        }
    }

    /// Text that is run for where it stands: a template after `$`, `"…".!` of scala.
    pub(super) fn template(&mut self, spot: Spot) {
        let Some(token) = self.program.token(spot) else { return };
        let Kind::Text(text) = &token.kind else { return };
        let dollar = spot.before().is_some_and(|before| self.program.word(before) == Some("$"));
        let next = |ahead: usize| self.program.mark(Spot { at: spot.at + ahead, ..spot });
        let bang = next(1) == Some("!") || next(1) == Some(".") && next(2) == Some("!");
        let scala = bang && self.program.language.names.contains(&"scala");
        if dollar && self.program.language.names.contains(&"node") || scala && self.mentions("process") {
            self.command_text(text, token.span);
        }
    }

    /// perl: `system {"rm"} @words` names its program apart.
    pub(super) fn by_block(&mut self, spot: Spot) {
        let starts = matches!(self.program.word(spot), Some("system" | "exec"));
        if starts
            && self.program.language.letters.contains('@')
            && self.program.mark(Spot { at: spot.at + 1, ..spot }) == Some("{")
        {
            let span = self.program.token(spot).map(|token| token.span).unwrap_or_default();
            self.push(What::Effect(Effect::Run, Some(Aspect::Unknown)), span, "runs a program that a block names");
        }
    }
}

/// Whether a call changes or runs something.
fn acts(call: &Call) -> bool {
    !call.name.starts_with('.')
        && call.roles.iter().any(|role| {
            matches!(
                role,
                Role::Code(_)
                    | Role::Argv
                    | Role::Program
                    | Role::Command
                    | Role::Delete
                    | Role::DeleteTree
                    | Role::Run
                    | Role::SendUrl
            )
        })
}
