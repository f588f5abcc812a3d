//! Calls and the arguments in their brackets.

use super::binding::Spot;
use super::expression::Program;
use super::language::Role;
use super::lexer::Kind;
use super::value::{Value, known_text};
use crate::diagnostic::Span;

/// An argument of a call.
#[derive(Debug, Clone)]
pub(super) struct Given {
    /// Its name, if it has one.
    pub(super) name: Option<String>,
    /// Where its expression begins.
    pub(super) spot: Spot,
    /// The index after its last token.
    pub(super) end: usize,
}

/// A call in the text.
pub(super) struct Site {
    /// What may be called, by dotted name; `.name` where the receiver has no name.
    pub(super) names: Vec<String>,
    /// What stands before the last dot.
    pub(super) receiver: Vec<Value>,
    /// The arguments.
    pub(super) arguments: Vec<Given>,
    /// From the name to the closing bracket.
    pub(super) span: Span,
}

impl Program<'_> {
    pub(super) fn site(
        &self,
        start: Spot,
        open: Spot,
        end: Spot,
        values: &[Value],
        receiver: Vec<Value>,
        arguments: Vec<Given>,
    ) -> Site {
        let mut names = Vec::new();
        for value in values {
            // php: a variable that holds a name is called by it.
            if let Some(name) = known_text(value).filter(|_| self.language.names.contains(&"php")) {
                names.push(name);
            }
            if let Value::Name(name) = value {
                names.push(name.clone());
                if !name.contains('.') {
                    names.extend(self.bindings.opened.iter().map(|module| format!("{module}.{name}")));
                }
            }
        }
        let from = self.token(start).map_or(0, |token| token.span.start);
        let to =
            self.token(Spot { at: end.at.saturating_sub(1).max(open.at), ..end }).map_or(from, |token| token.span.end);
        Site { names, receiver, arguments, span: Span::new(from, to.max(from)) }
    }

    /// The arguments from after the bracket (or from the first of a bare call), and where the call ends.
    pub(super) fn arguments(&self, from: Spot) -> (Vec<Given>, Spot) {
        let bare = from.before().is_none_or(|before| self.mark(before) != Some("("));
        let mut given = Vec::new();
        let mut depth = 0usize;
        let mut start = from.at;
        let mut at = from.at;
        loop {
            let spot = Spot { at, ..from };
            let ends = match self.token(spot).map(|token| &token.kind) {
                _ if !self.step() => true,
                None => true,
                Some(Kind::Mark("(" | "[" | "{")) => {
                    depth += 1;
                    false
                }
                Some(Kind::Mark(")" | "]" | "}")) if depth == 0 => true,
                Some(Kind::Mark(")" | "]" | "}")) => {
                    depth -= 1;
                    false
                }
                Some(Kind::Mark(";")) => depth == 0 && bare,
                Some(Kind::Word(word)) => {
                    bare && depth == 0
                        && at > from.at
                        && (self.fresh(spot) && !self.comma_before(spot)
                            || matches!(word.as_str(), "if" | "unless" | "or" | "and" | "do" | "while"))
                }
                Some(_) => bare && depth == 0 && at > from.at && self.fresh(spot) && !self.comma_before(spot),
            };
            let comma = depth == 0 && self.mark(spot) == Some(",");
            if (ends || comma) && at > start {
                given.push(self.given(Spot { at: start, ..from }, at));
            }
            if ends {
                let closed = !bare && self.token(spot).is_some();
                return (given, Spot { at: at + usize::from(closed), ..from });
            }
            if comma {
                start = at + 1;
            }
            at += 1;
        }
    }

    pub(super) fn comma_before(&self, spot: Spot) -> bool {
        spot.before()
            .is_some_and(|before| matches!(self.mark(before), Some("," | "=>" | "(" | "+" | "." | "||" | "&&")))
    }

    /// `value`, `name=value` or `name: value`.
    pub(super) fn given(&self, start: Spot, end: usize) -> Given {
        let next = Spot { at: start.at + 1, ..start };
        let named = match self.mark(next) {
            Some("=") if self.language.indented => true,
            Some(":") => !self.language.indented,
            _ => false,
        };
        match self.word(start) {
            Some(name) if named => Given { name: Some(name.to_owned()), spot: Spot { at: start.at + 2, ..start }, end },
            _ => Given { name: None, spot: start, end },
        }
    }

    /// The arguments of a call whose bracket is already open.
    pub(super) fn given_from(&self, from: Spot) -> Vec<Given> {
        self.arguments(from).0
    }

    /// What stands in brackets that are already open.
    pub(super) fn bracketed(&self, from: Spot) -> (Vec<Given>, Spot) {
        let end = self.closing(from);
        let mut given = Vec::new();
        let mut depth = 0usize;
        let mut start = from.at;
        for at in from.at..end.at {
            if !self.step() {
                break;
            }
            let spot = Spot { at, ..from };
            let last = at + 1 == end.at;
            match self.mark(spot) {
                Some(")" | "]" | "}") if last => {}
                Some("(" | "[" | "{") => depth += 1,
                Some(")" | "]" | "}") => depth = depth.saturating_sub(1),
                Some(",") if depth == 0 => {}
                _ => continue,
            }
            if depth == 0 && (last || self.mark(spot) == Some(",")) {
                if at > start {
                    given.push(Given { name: None, spot: Spot { at: start, ..from }, end: at });
                }
                start = at + 1;
            }
        }
        (given, end)
    }

    /// After the bracket that closes one already open.
    pub(super) fn closing(&self, from: Spot) -> Spot {
        let mut depth = 0usize;
        let mut spot = from;
        while let Some(token) = self.token(spot).filter(|_| self.step()) {
            match token.kind {
                Kind::Mark("(" | "[" | "{") => depth += 1,
                Kind::Mark(")" | "]" | "}") if depth == 0 => return Spot { at: spot.at + 1, ..spot },
                Kind::Mark(")" | "]" | "}") => depth -= 1,
                _ => {}
            }
            spot.at += 1;
        }
        spot
    }

    /// A call without parentheses: `system "ls"`.
    pub(super) fn bare_call(
        &self,
        start: Spot,
        next: Spot,
        values: &[Value],
        receiver: &[Value],
        visit: &mut dyn FnMut(&Site),
    ) -> Option<Spot> {
        if !self.language.bare_calls || self.fresh(next) {
            return None;
        }
        let known = values.iter().any(|value| matches!(value, Value::Name(name) if self.language.call(name).is_some_and(|call| !call.name.starts_with('.') || !receiver.is_empty())));
        let begins = match &self.token(next)?.kind {
            Kind::Text(_) | Kind::Number(_) => true,
            Kind::Word(word) => !matches!(
                word.as_str(),
                "if" | "unless" | "and" | "or" | "do" | "then" | "while" | "end" | "for" | "foreach"
            ),
            Kind::Mark(mark) => matches!(*mark, "[" | "$" | "%" | "\\" | ":" | "@"),
        };
        if !known || !begins {
            return None;
        }
        let (arguments, end) = self.arguments(next);
        visit(&self.site(start, next, end, values, receiver.to_vec(), arguments));
        Some(end)
    }

    /// Whether there is a blank before a token.
    pub(super) fn is_apart(&self, spot: Spot) -> bool {
        let end = spot.before().and_then(|before| self.token(before)).map(|token| token.span.end);
        end.zip(self.token(spot)).is_some_and(|(end, token)| end < token.span.start)
    }

    /// ruby: `path.delete` without brackets and arguments is a call.
    pub(super) fn call_of_nothing(
        &self,
        start: Spot,
        end: Spot,
        values: &[Value],
        receiver: Vec<Value>,
        visit: &mut dyn FnMut(&Site),
    ) {
        let forks = |name: &String| self.language.call(name).is_some_and(|call| call.roles == [Role::Forks]);
        let method =
            |name: &String| !receiver.is_empty() && name.starts_with('.') && self.language.call(name).is_some();
        let called = |value: &Value| matches!(value, Value::Name(name) if method(name) || forks(name));
        if self.language.bare_calls && values.iter().any(called) {
            visit(&self.site(start, end, end, values, receiver, Vec::new()));
        }
    }
}
