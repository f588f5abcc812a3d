//! Expressions: what they are worth, as far as the text tells, and the calls in them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::Code;
use super::arguments::{Given, Site};
use super::binding::{Bindings, Definition, Spot};
use super::language::{Language, Quoting, Reader};
use super::lexer::{Kind, Lexed, Part, Text, Token};
use super::source::Source;
use super::value::{Value, combine, element, formatted, join_path, join_text, member, text, unknown};
use crate::facts::value::Piece;

/// How many values a name may have before it is unknown.
pub(super) const MOST: usize = 24;
/// How deep values may lead to values.
const DEEPEST: usize = 24;
/// How many steps values may take in all.
const STEPS: u32 = 100_000;

/// A text that is being read.
pub(super) struct Program<'a> {
    pub(super) language: &'static Language,
    pub(super) code: &'a Code<'a>,
    pub(super) source: &'a Source,
    pub(super) lexed: Lexed,
    pub(super) bindings: Bindings,
    pub(super) steps: Cell<u32>,
    /// What names are worth, as far as it was asked; nothing while it is being told.
    pub(super) named: RefCell<HashMap<String, Rc<Vec<Value>>>>,
}

impl Program<'_> {
    /// Whether values took more steps than they may.
    pub(super) fn exhausted(&self) -> bool {
        self.steps.get() > STEPS
    }

    pub(super) fn step(&self) -> bool {
        self.steps.set(self.steps.get().saturating_add(1));
        !self.exhausted()
    }

    pub(super) fn token(&self, spot: Spot) -> Option<&Token> {
        self.lexed.lists.get(spot.list)?.get(spot.at)
    }

    pub(super) fn mark(&self, spot: Spot) -> Option<&'static str> {
        match self.token(spot)?.kind {
            Kind::Mark(mark) => Some(mark),
            _ => None,
        }
    }

    pub(super) fn word(&self, spot: Spot) -> Option<&str> {
        match &self.token(spot)?.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    /// The values of the expression that begins at `spot`.
    pub(super) fn values(&self, spot: Spot) -> Vec<Value> {
        self.expression(spot, 0).0
    }

    /// An expression: operands joined; anything else makes it unknown.
    pub(super) fn expression(&self, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
        let (mut values, mut next) = self.operand(spot, depth);
        if depth > DEEPEST || !self.step() {
            return (vec![unknown("too deep to follow")], next);
        }
        loop {
            let path_join = self.mark(next) == Some("/") && self.language.indented;
            if self.language.reader == Reader::Awk
                && self
                    .token(next)
                    .is_some_and(|token| !token.fresh && matches!(token.kind, Kind::Text(_) | Kind::Word(_)))
            {
                let (right, after) = self.operand(next, depth + 1);
                values = combine(&values, &right, join_text);
                next = after;
                continue;
            }
            match self.mark(next) {
                Some(mark) if (self.language.joins.contains(&mark) || path_join) && !self.fresh(next) => {
                    let (right, after) = self.operand(Spot { at: next.at + 1, ..next }, depth + 1);
                    values = combine(&values, &right, if path_join { join_path } else { join_text });
                    next = after;
                }
                Some("||" | "??") => {
                    let (right, after) = self.operand(Spot { at: next.at + 1, ..next }, depth + 1);
                    values.extend(right);
                    next = after;
                }
                Some("," | ")" | "]" | "}" | ";" | ":" | "=>") | None => {
                    let goes_on =
                        self.word(next).is_some_and(|word| matches!(word, "or" | "if" | "else")) && !self.fresh(next);
                    if !goes_on {
                        return (values, next);
                    }
                    // `a or b`, `a if c else b`: either.
                    let skip = if self.word(next) == Some("if") { self.find_else(next) } else { Some(next) };
                    let Some(skip) = skip else { return (values, next) };
                    let (right, after) = self.operand(Spot { at: skip.at + 1, ..skip }, depth + 1);
                    values.extend(right);
                    next = after;
                }
                Some("?") => {
                    let (mut either, colon) = self.expression(Spot { at: next.at + 1, ..next }, depth + 1);
                    if self.mark(colon) == Some(":") {
                        let (other, after) = self.expression(Spot { at: colon.at + 1, ..colon }, depth + 1);
                        either.extend(other);
                        return (either, after);
                    }
                    return (either, colon);
                }
                Some("%") if !self.fresh(next) => {
                    return (vec![formatted(&values)], next);
                }
                Some(_) if self.fresh(next) => return (values, next),
                Some(_) => return (vec![unknown("computed")], next),
            }
        }
    }

    pub(super) fn find_else(&self, from: Spot) -> Option<Spot> {
        (from.at..from.at + 60).map(|at| Spot { at, ..from }).find(|spot| self.word(*spot) == Some("else"))
    }

    pub(super) fn fresh(&self, spot: Spot) -> bool {
        self.token(spot).is_some_and(|token| token.fresh)
    }

    /// A value with its members, calls and subscripts.
    pub(super) fn operand(&self, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
        self.chain(spot, depth, &mut |_| {})
    }

    /// Follows a chain (`a.b(c)["d"].e(f)`) from `spot`, giving each call to `visit`.
    pub(super) fn chain(&self, spot: Spot, depth: usize, visit: &mut dyn FnMut(&Site)) -> (Vec<Value>, Spot) {
        self.chain_until(spot, depth, usize::MAX, visit)
    }

    /// As [`Self::chain`], up to the token of index `end`.
    pub(super) fn chain_until(
        &self,
        spot: Spot,
        depth: usize,
        end: usize,
        visit: &mut dyn FnMut(&Site),
    ) -> (Vec<Value>, Spot) {
        if depth > DEEPEST || !self.step() {
            return (vec![unknown("too deep to follow")], Spot { at: spot.at + 1, ..spot });
        }
        let (mut values, mut next) = self.primary(spot, depth);
        let mut receiver = Vec::new();
        loop {
            if next.at >= end {
                return (values, next);
            }
            let Some(mark) = self.mark(next) else {
                if let Some(after) = self.bare_call(spot, next, &values, &receiver, visit) {
                    return (vec![unknown("the result of a call")], after);
                }
                self.call_of_nothing(spot, next, &values, receiver, visit);
                return (values, next);
            };
            let after = Spot { at: next.at + 1, ..next };
            if self.language.members.contains(&mark) && self.word(after).is_some() {
                receiver.clone_from(&values);
                values = member(&values, self.word(after).unwrap_or_default());
                next = Spot { at: after.at + 1, ..after };
            } else if mark == "(" && (!self.fresh(next) || self.language.indented) {
                let (arguments, closed) = self.arguments(after);
                let site = self.site(spot, next, closed, &values, std::mem::take(&mut receiver), arguments);
                visit(&site);
                let (result, new_receiver) = self.result(&site, depth + 1, visit);
                values = result;
                receiver = new_receiver;
                next = closed;
            } else if mark == "["
                && self.is_apart(next)
                && let Some(end) = self.bare_call(spot, next, &values, &receiver, visit)
            {
                return (vec![unknown("the result of a call")], end);
            } else if self.begins_subscript(mark, next, &values) {
                (values, receiver, next) = self.subscript(&values, after, depth + 1);
            } else if let Some(end) = self.bare_call(spot, next, &values, &receiver, visit) {
                return (vec![unknown("the result of a call")], end);
            } else {
                self.call_of_nothing(spot, next, &values, receiver, visit);
                return (values, next);
            }
        }
    }

    /// `list[`, and perl's `$ENV{`.
    fn begins_subscript(&self, mark: &str, spot: Spot, values: &[Value]) -> bool {
        let environment = || values.iter().any(|value| matches!(value, Value::Name(name) if name == "$ENV"));
        match mark {
            "[" => !self.fresh(spot),
            "{" => self.language.quoting == Quoting::Perl && environment(),
            _ => false,
        }
    }

    /// A literal, a name, a list or something in brackets.
    pub(super) fn primary(&self, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
        let next = Spot { at: spot.at + 1, ..spot };
        let Some(token) = self.token(spot) else { return (vec![unknown("nothing")], next) };
        match &token.kind {
            Kind::Text(text) => self.literal(text, next, depth),
            Kind::Number(number) => (vec![Value::Text(vec![Piece::Text(number.as_str().into())])], next),
            Kind::Word(word) => self.named(word, spot, depth),
            Kind::Mark("(") => self.group(next, depth),
            Kind::Mark("[") => {
                let (arguments, end) = self.bracketed(next);
                let items = arguments.iter().map(|given| self.item(given, depth)).collect();
                (vec![Value::List(items)], end)
            }
            Kind::Mark("{") => (vec![unknown("an object")], self.closing(next)),
            Kind::Mark("-" | "+" | "!" | "~" | "*" | "**" | "..." | "&" | "@" | "\\") => {
                let (_, end) = self.operand(next, depth + 1);
                (vec![unknown("computed")], end)
            }
            Kind::Mark(":") => {
                (vec![self.word(next).map_or_else(|| unknown("a symbol"), text)], Spot { at: next.at + 1, ..next })
            }
            Kind::Mark("%") => {
                let name = format!("%{}", self.word(next).unwrap_or_default());
                (vec![Value::Name(name)], Spot { at: next.at + 1, ..next })
            }
            Kind::Mark(_) => (vec![unknown("computed")], next),
        }
    }

    /// An item of a list; a spread one may be any number.
    pub(super) fn item(&self, given: &Given, depth: usize) -> Value {
        let spread = matches!(self.mark(given.spot), Some("*" | "..."));
        let mut values = self.expression(given.spot, depth + 1).0;
        if spread {
            return unknown("a list in a list");
        }
        match values.len() {
            1 => values.pop().unwrap_or_else(|| unknown("computed")),
            2..=MOST => Value::Either(values),
            _ => unknown("one of several values"),
        }
    }

    /// A string: its parts, and the literals that follow it directly.
    pub(super) fn literal(&self, text: &Text, mut next: Spot, depth: usize) -> (Vec<Value>, Spot) {
        if text.words {
            let known: String = text
                .parts
                .iter()
                .map(|part| if let Part::Known(known) = part { known.as_str() } else { " " })
                .collect();
            return (vec![Value::List(known.split_whitespace().map(super::value::text).collect())], next);
        }
        if text.command {
            return (vec![unknown("what a command prints")], next);
        }
        let mut values = vec![Value::Text(Vec::new())];
        let mut parts = text.parts.as_slice();
        loop {
            for part in parts {
                let right = match part {
                    Part::Known(known) => vec![Value::Text(self.source.pieces(known))],
                    Part::Expression(list) => self.expression(Spot { list: *list, at: 0 }, depth + 1).0,
                };
                values = combine(&values, &right, join_text);
            }
            // Only python joins literals that stand side by side.
            match self.token(next).map(|token| &token.kind) {
                Some(Kind::Text(more)) if self.language.indented && !more.command && !more.words => {
                    parts = more.parts.as_slice();
                }
                _ => return (values, next),
            }
            next = Spot { at: next.at + 1, ..next };
        }
    }

    pub(super) fn named(&self, word: &str, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
        let next = Spot { at: spot.at + 1, ..spot };
        if matches!(
            word,
            "await"
                | "new"
                | "not"
                | "yield"
                | "return"
                | "typeof"
                | "void"
                | "delete"
                | "my"
                | "our"
                | "local"
                | "const"
                | "let"
                | "var"
                | "throw"
                | "raise"
        ) && self.token(next).is_some()
            && !matches!(self.mark(next), Some("=" | "." | "," | ")"))
        {
            return self.primary(next, depth + 1);
        }
        if let Some(unknown) = word.chars().find_map(|letter| self.source.unknown(letter)) {
            return (vec![Value::Text(vec![Piece::Unknown(unknown.clone())])], next);
        }
        let Some(definitions) = self.bindings.names.get(word) else {
            return (vec![Value::Name(word.to_owned())], next);
        };
        if let Some(known) = self.named.borrow().get(word) {
            return (known.to_vec(), next);
        }
        self.named.borrow_mut().insert(word.to_owned(), Rc::default());
        let mut values = Vec::new();
        for definition in definitions.iter().take(MOST) {
            let more = self.defined(word, definition, depth + 1);
            values.extend(more.into_iter().filter(|value| !values.contains(value)).collect::<Vec<_>>());
        }
        if values.len() > MOST || definitions.len() > MOST {
            values = vec![unknown("one of many values")];
        }
        self.named.borrow_mut().insert(word.to_owned(), Rc::new(values.clone()));
        (values, next)
    }

    pub(super) fn defined(&self, word: &str, definition: &Definition, depth: usize) -> Vec<Value> {
        if depth > DEEPEST {
            return vec![unknown("too deep to follow")];
        }
        match definition {
            Definition::Expression(spot)
                if self.word(*spot) == Some(word) && self.word(Spot { at: spot.at + 1, ..*spot }).is_none() =>
            {
                // `x = x.strip()`: the same name again says nothing new.
                vec![]
            }
            Definition::Expression(spot) => self.expression(*spot, depth + 4).0,
            Definition::Joined => vec![unknown("changed step by step")],
            Definition::Element(spot) => self.expression(*spot, depth + 4).0.into_iter().flat_map(element).collect(),
            Definition::ElementUntil(spot, end) => {
                self.chain_until(*spot, depth + 4, *end, &mut |_| {}).0.into_iter().flat_map(element).collect()
            }
            Definition::Member(spot, name) => member(&self.expression(*spot, depth + 4).0, name),
            Definition::Module(name) => vec![Value::Name(name.clone())],
        }
    }

    /// After an opening parenthesis: a value, or a list of several.
    pub(super) fn group(&self, from: Spot, depth: usize) -> (Vec<Value>, Spot) {
        let (arguments, end) = self.bracketed(from);
        match arguments.as_slice() {
            [] => (vec![Value::List(Vec::new())], end),
            [only] if !matches!(self.mark(Spot { at: only.end, ..only.spot }), Some(",")) => {
                (self.expression(only.spot, depth + 1).0, end)
            }
            several => (vec![Value::List(several.iter().map(|given| self.item(given, depth)).collect())], end),
        }
    }
}
