//! What an expression is worth, as far as the text tells.

use std::borrow::Cow;
use std::cell::Cell;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use bstr::{BStr, ByteSlice};

use super::Code;
use super::binding::{Bindings, Definition, Spot, module};
use super::language::{Known, Language, Quoting, Reader};
use super::lexer::{Kind, Lexed, Part, Text, Token};
use super::source::Source;
use crate::diagnostic::Span;
use crate::facts::value::{Argument, Piece, Unknown, UnknownKind};

/// What an expression may be worth.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Text, with what is unknown of it.
    Text(Vec<Piece>),
    /// A list of values.
    List(Vec<Value>),
    /// A function, module or object by its dotted name; a name that the text does not define.
    Name(String),
    /// Text that was decoded from the text of the code.
    Decoded(Vec<Piece>),
    /// Anything.
    Unknown(Cow<'static, str>),
}

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

/// How many values a name may have before it is unknown.
const MOST: usize = 24;
/// How deep values may lead to values.
const DEEPEST: usize = 24;
/// How many steps values may take in all.
const STEPS: u32 = 400_000;

/// A text that is being read.
pub(super) struct Program<'a> {
    pub(super) language: &'static Language,
    pub(super) code: &'a Code<'a>,
    pub(super) source: &'a Source,
    pub(super) lexed: Lexed,
    pub(super) bindings: Bindings,
    pub(super) steps: Cell<u32>,
}

impl Program<'_> {
    /// Whether values took more steps than they may.
    pub(super) fn exhausted(&self) -> bool {
        self.steps.get() > STEPS
    }

    fn step(&self) -> bool {
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
    fn expression(&self, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
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
                Some(",") | Some(")" | "]" | "}" | ";" | ":" | "=>") | None => {
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

    fn find_else(&self, from: Spot) -> Option<Spot> {
        (from.at..from.at + 60).map(|at| Spot { at, ..from }).find(|spot| self.word(*spot) == Some("else"))
    }

    fn fresh(&self, spot: Spot) -> bool {
        self.token(spot).is_some_and(|token| token.fresh)
    }

    /// A value with its members, calls and subscripts.
    fn operand(&self, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
        self.chain(spot, depth, &mut |_| {})
    }

    /// Follows a chain (`a.b(c)["d"].e(f)`) from `spot`, giving each call to `visit`.
    pub(super) fn chain(&self, spot: Spot, depth: usize, visit: &mut dyn FnMut(&Site)) -> (Vec<Value>, Spot) {
        if depth > DEEPEST || !self.step() {
            return (vec![unknown("too deep to follow")], Spot { at: spot.at + 1, ..spot });
        }
        let (mut values, mut next) = self.primary(spot, depth);
        let mut receiver = Vec::new();
        loop {
            let Some(mark) = self.mark(next) else {
                if let Some(after) = self.bare_call(spot, next, &values, &receiver, visit) {
                    return (vec![unknown("the result of a call")], after);
                }
                return (values, next);
            };
            let after = Spot { at: next.at + 1, ..next };
            if self.language.members.contains(&mark) && self.word(after).is_some() {
                receiver = values.clone();
                values = member(&values, self.word(after).unwrap_or_default());
                next = Spot { at: after.at + 1, ..after };
            } else if mark == "(" && (!self.fresh(next) || self.language.indented) {
                let (arguments, end) = self.arguments(after);
                let site = self.site(spot, next, end, &values, std::mem::take(&mut receiver), arguments);
                visit(&site);
                let (result, new_receiver) = self.result(&site, depth + 1, visit);
                values = result;
                receiver = new_receiver;
                next = end;
            } else if mark == "[" && !self.fresh(next) {
                (values, receiver, next) = self.subscript(&values, after, depth + 1);
            } else if mark == "{" && self.language.quoting == Quoting::Perl && self.is_environment(&values) {
                (values, receiver, next) = self.subscript(&values, after, depth + 1);
            } else if let Some(end) = self.bare_call(spot, next, &values, &receiver, visit) {
                return (vec![unknown("the result of a call")], end);
            } else {
                return (values, next);
            }
        }
    }

    fn is_environment(&self, values: &[Value]) -> bool {
        values.iter().any(|value| matches!(value, Value::Name(name) if name == "$ENV"))
    }

    /// A call without parentheses: `system "ls"`.
    fn bare_call(
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

    fn site(
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
    fn arguments(&self, from: Spot) -> (Vec<Given>, Spot) {
        let bare = from.at.checked_sub(1).is_none_or(|before| self.mark(Spot { at: before, ..from }) != Some("("));
        let mut given = Vec::new();
        let mut depth = 0usize;
        let mut start = from.at;
        let mut at = from.at;
        loop {
            let spot = Spot { at, ..from };
            let ends = match self.token(spot).map(|token| &token.kind) {
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

    fn comma_before(&self, spot: Spot) -> bool {
        spot.at.checked_sub(1).is_some_and(|before| {
            matches!(self.mark(Spot { at: before, ..spot }), Some("," | "=>" | "(" | "+" | "." | "||" | "&&"))
        })
    }

    /// `value`, `name=value` or `name: value`.
    fn given(&self, start: Spot, end: usize) -> Given {
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

    /// A literal, a name, a list or something in brackets.
    fn primary(&self, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
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
            Kind::Mark(":") => (
                vec![self.word(next).map_or_else(|| unknown("a symbol"), |word| text(word))],
                Spot { at: next.at + 1, ..next },
            ),
            Kind::Mark("%") => {
                let name = format!("%{}", self.word(next).unwrap_or_default());
                (vec![Value::Name(name)], Spot { at: next.at + 1, ..next })
            }
            Kind::Mark(_) => (vec![unknown("computed")], next),
        }
    }

    /// An item of a list; a spread one may be any number.
    fn item(&self, given: &Given, depth: usize) -> Value {
        let spread = matches!(self.mark(given.spot), Some("*" | "..."));
        let mut values = self.expression(given.spot, depth + 1).0;
        if spread {
            return unknown("a list in a list");
        }
        if values.len() == 1 {
            values.pop().unwrap_or_else(|| unknown("computed"))
        } else {
            unknown("one of several values")
        }
    }

    /// A string: its parts, and the literals that follow it directly.
    fn literal(&self, text: &Text, mut next: Spot, depth: usize) -> (Vec<Value>, Spot) {
        if text.words {
            let known: String = text
                .parts
                .iter()
                .map(|part| if let Part::Known(known) = part { known.as_str() } else { " " })
                .collect();
            return (vec![Value::List(known.split_whitespace().map(self::text).collect())], next);
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
                    parts = more.parts.as_slice()
                }
                _ => return (values, next),
            }
            next = Spot { at: next.at + 1, ..next };
        }
    }

    fn named(&self, word: &str, spot: Spot, depth: usize) -> (Vec<Value>, Spot) {
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
        let mut values = Vec::new();
        for definition in definitions.iter().take(MOST) {
            let more = self.defined(word, definition, depth + 1);
            values.extend(more.into_iter().filter(|value| !values.contains(value)).collect::<Vec<_>>());
        }
        if values.len() > MOST || definitions.len() > MOST {
            values = vec![unknown("one of many values")];
        }
        (values, next)
    }

    fn defined(&self, word: &str, definition: &Definition, depth: usize) -> Vec<Value> {
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
            Definition::Joined(_) => vec![unknown("changed step by step")],
            Definition::Element(spot) => self.expression(*spot, depth + 4).0.into_iter().flat_map(element).collect(),
            Definition::Member(spot, name) => member(&self.expression(*spot, depth + 4).0, name),
            Definition::Module(name) => vec![Value::Name(name.clone())],
        }
    }

    /// After an opening parenthesis: a value, or a list of several.
    fn group(&self, from: Spot, depth: usize) -> (Vec<Value>, Spot) {
        let (arguments, end) = self.bracketed(from);
        match arguments.as_slice() {
            [] => (vec![Value::List(Vec::new())], end),
            [only] if !matches!(self.mark(Spot { at: only.end, ..only.spot }), Some(",")) => {
                (self.expression(only.spot, depth + 1).0, end)
            }
            several => (vec![Value::List(several.iter().map(|given| self.item(given, depth)).collect())], end),
        }
    }

    /// The arguments of a call whose bracket is already open.
    pub(super) fn given_from(&self, from: Spot) -> Vec<Given> {
        self.arguments(from).0
    }

    /// What stands in brackets that are already open.
    fn bracketed(&self, from: Spot) -> (Vec<Given>, Spot) {
        let end = self.closing(from);
        let mut given = Vec::new();
        let mut depth = 0usize;
        let mut start = from.at;
        for at in from.at..end.at {
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
    fn closing(&self, from: Spot) -> Spot {
        let mut depth = 0usize;
        let mut spot = from;
        while let Some(token) = self.token(spot) {
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

    /// `[index]` after a value: a member by its name, an element by its place.
    fn subscript(&self, values: &[Value], from: Spot, depth: usize) -> (Vec<Value>, Vec<Value>, Spot) {
        let end = self.closing(from);
        let key = match self.word(from) {
            Some(word) if self.language.quoting == Quoting::Perl && end.at == from.at + 2 => vec![text(word)],
            _ => self.expression(from, depth).0,
        };
        let found = key.iter().find_map(known_text);
        let result = values
            .iter()
            .map(|value| match (value, &found) {
                (Value::Name(name), Some(key)) if self.is_environment_name(name) => self.variable(key),
                (Value::Name(name), Some(key)) if self.argument_offset(name).is_some() => self.argument(name, key),
                (Value::Name(name), Some(key)) if key.parse::<i64>().is_err() => Value::Name(format!("{name}.{key}")),
                (Value::List(items), Some(key)) => key
                    .parse()
                    .ok()
                    .and_then(|index: usize| items.get(index).cloned())
                    .unwrap_or_else(|| unknown("an element")),
                _ => unknown("an element"),
            })
            .collect();
        (result, values.to_vec(), end)
    }

    pub(super) fn is_environment_name(&self, name: &str) -> bool {
        self.language.environment.contains(&name) || name == "$ENV"
    }

    fn argument_offset(&self, name: &str) -> Option<usize> {
        self.language.arguments.iter().find(|(list, _)| *list == name).map(|(_, offset)| *offset)
    }

    /// The argument at `key` of the code's own arguments.
    fn argument(&self, name: &str, key: &str) -> Value {
        let index = key
            .parse::<usize>()
            .ok()
            .zip(self.argument_offset(name))
            .and_then(|(index, offset)| index.checked_sub(offset));
        let known = |index: usize| self.code.arguments.iter().take(index + 1).all(|argument| !argument.many);
        match index.filter(|index| known(*index)).and_then(|index| self.code.arguments.get(index)) {
            Some(argument) => Value::Text(argument.pieces.clone()),
            None => unknown("an argument of the code"),
        }
    }

    /// The environment variable of this name.
    fn variable(&self, name: &str) -> Value {
        match (self.code.variable)(BStr::new(name)) {
            Some(value) => Value::Text(vec![Piece::Text(value)]),
            None if name == "HOME" => text("~"),
            None => Value::Text(vec![Piece::Unknown(Unknown {
                reason: format!("the environment variable {name} is not known").into(),
                kind: UnknownKind::Any,
            })]),
        }
    }

    /// What a call gives, and what stands before a dot that follows.
    fn result(&self, site: &Site, depth: usize, visit: &mut dyn FnMut(&Site)) -> (Vec<Value>, Vec<Value>) {
        let _ = visit;
        let Some(name) = site.names.iter().find(|name| self.language.value(name).is_some()) else {
            return (vec![unknown("the result of a call")], Vec::new());
        };
        let Some(known) = self.language.value(name) else { return (Vec::new(), Vec::new()) };
        let values: Vec<Vec<Value>> = site
            .arguments
            .iter()
            .filter(|given| given.name.is_none())
            .map(|given| self.expression(given.spot, depth).0)
            .collect();
        let by_receiver =
            !site.receiver.is_empty() && site.receiver.iter().all(|value| !matches!(value, Value::Name(_)));
        let first = if by_receiver {
            site.receiver.clone()
        } else {
            values.first().cloned().unwrap_or_else(|| site.receiver.clone())
        };
        let result = match known {
            Known::Same => first,
            Known::Join => {
                let mut parts = if by_receiver { vec![site.receiver.clone()] } else { Vec::new() };
                parts.extend(values);
                parts
                    .into_iter()
                    .reduce(|left, right| combine(&left, &right, join_path))
                    .unwrap_or_else(|| vec![text(".")])
            }
            Known::Home if values.is_empty() && !by_receiver => vec![self.variable("HOME")],
            Known::Home => first.iter().map(|value| self.home(value)).collect(),
            Known::Temp => {
                vec![Value::Text(vec![piece("something new in the temporary folder", UnknownKind::TempPath)])]
            }
            Known::Cwd => vec![text(".")],
            Known::Variable => match first.iter().find_map(known_text) {
                Some(name) => {
                    let mut found = vec![self.variable(&name)];
                    if (self.code.variable)(BStr::new(&name)).is_none() {
                        found.extend(values.get(1).cloned().unwrap_or_default());
                    }
                    found
                }
                None => vec![unknown("an environment variable")],
            },
            Known::Below => first.iter().map(below).collect(),
            Known::Base64 => first.iter().map(decoded).collect(),
            Known::Beside => first.iter().map(beside).collect(),
            Known::Member => {
                let key = values.get(1).and_then(|values| values.iter().find_map(known_text));
                match key {
                    Some(key) => return (member(&first, &key), first),
                    None => vec![unknown("a member of unknown name")],
                }
            }
            Known::Module => first
                .iter()
                .map(|value| {
                    known_text(value)
                        .map_or_else(|| unknown("a module of unknown name"), |name| Value::Name(module(&name)))
                })
                .collect(),
            Known::Number => vec![Value::Text(vec![piece("a number", UnknownKind::Number)])],
            Known::Interpreter => vec![text(self.language.names.first().copied().unwrap_or_default())],
            Known::Split => first
                .iter()
                .map(|value| {
                    known_text(value).map_or_else(
                        || unknown("words"),
                        |known| Value::List(known.split_whitespace().map(text).collect()),
                    )
                })
                .collect(),
        };
        (result, Vec::new())
    }

    /// A path with `~` for the home folder.
    fn home(&self, value: &Value) -> Value {
        let Value::Text(pieces) = value else { return value.clone() };
        let Some(Piece::Text(first)) = pieces.first() else { return value.clone() };
        let (Some(rest), Value::Text(mut home)) = (first.strip_prefix(b"~"), self.variable("HOME")) else {
            return value.clone();
        };
        if !(rest.is_empty() || rest.starts_with(b"/")) {
            return value.clone();
        }
        home.push(Piece::Text(rest.into()));
        home.extend(pieces.iter().skip(1).cloned());
        Value::Text(merged(home))
    }

    /// A value as an argument of a command, or as a path.
    pub(super) fn as_argument(&self, value: &Value) -> Argument {
        let (pieces, many) = match value {
            Value::Text(pieces) | Value::Decoded(pieces) => (pieces.clone(), false),
            Value::Name(name) if self.language.value(name) == Some(Known::Interpreter) => {
                let program = self.language.names.first().copied().unwrap_or_default();
                (vec![Piece::Text(program.into())], false)
            }
            Value::Name(name) => (
                vec![Piece::Unknown(Unknown { reason: format!("{name} is not known").into(), kind: UnknownKind::Any })],
                false,
            ),
            Value::List(_) => (vec![piece("a list", UnknownKind::Any)], true),
            Value::Unknown(reason) => (
                vec![Piece::Unknown(Unknown { reason: reason.clone(), kind: UnknownKind::Any })],
                reason == "a list in a list",
            ),
        };
        Argument { pieces, many, at: self.source.at }
    }
}

pub(super) fn unknown(reason: &'static str) -> Value {
    Value::Unknown(Cow::Borrowed(reason))
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(vec![Piece::Text(text.into())])
}

fn piece(reason: &'static str, kind: UnknownKind) -> Piece {
    Piece::Unknown(Unknown { reason: Cow::Borrowed(reason), kind })
}

/// The text of a value that is wholly known.
pub(super) fn known_text(value: &Value) -> Option<String> {
    let (Value::Text(pieces) | Value::Decoded(pieces)) = value else { return None };
    pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.to_str().ok() } else { None }).collect()
}

fn member(values: &[Value], name: &str) -> Vec<Value> {
    let named = |value: &Value| match value {
        Value::Name(before) if before == "fs" && name == "promises" => Value::Name(before.clone()),
        Value::Name(before) => Value::Name(format!("{before}.{name}")),
        _ => Value::Name(format!(".{name}")),
    };
    let mut named: Vec<Value> = values.iter().map(named).collect();
    named.dedup();
    named
}

/// The elements of a list; names below a folder stand for themselves.
fn element(value: Value) -> Vec<Value> {
    match value {
        Value::List(items) if items.len() <= MOST => items,
        Value::List(_) => vec![unknown("one of many values")],
        Value::Text(pieces) if pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_))) => {
            vec![Value::Text(pieces)]
        }
        _ => vec![unknown("an element")],
    }
}

/// A name below a folder (`os.listdir`) or one that a pattern matches (`glob.glob`): relative if the folder is.
fn below(value: &Value) -> Value {
    let Some(folder) = known_text(value) else { return unknown("a name below an unknown folder") };
    let fixed = folder.split(['*', '?', '[']).next().unwrap_or_default();
    let fixed = if fixed.len() < folder.len() {
        fixed.rfind('/').map_or("", |end| fixed.get(..=end).unwrap_or_default())
    } else {
        fixed
    };
    let mut pieces = Vec::new();
    if !fixed.is_empty() && fixed != "." && fixed != "./" {
        let slash = if fixed.ends_with('/') { "" } else { "/" };
        pieces.push(Piece::Text(format!("{fixed}{slash}").into()));
    }
    pieces.push(piece("a name below a folder", UnknownKind::RelativePath));
    Value::Text(pieces)
}

/// base64 text of the code, read.
fn decoded(value: &Value) -> Value {
    let engine = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let text = known_text(value).map(|text| text.split_whitespace().collect::<String>());
    match text.and_then(|text| engine.decode(text).ok()) {
        Some(bytes) => Value::Decoded(vec![Piece::Text(bytes.into())]),
        None => unknown("decoded text"),
    }
}

/// Another name in the folder of a path.
fn beside(value: &Value) -> Value {
    let Some(path) = known_text(value) else { return value.clone() };
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => text("/"),
        Some((folder, _)) => text(folder),
        None => text("."),
    }
}

/// `"…%s…" % x`: known up to the first field.
fn formatted(values: &[Value]) -> Value {
    let known = values.iter().find_map(known_text).unwrap_or_default();
    let before = known.split('%').next().unwrap_or_default();
    let mut pieces = Vec::new();
    if !before.is_empty() {
        pieces.push(Piece::Text(before.into()));
    }
    pieces.push(piece("a formatted value", UnknownKind::Any));
    Value::Text(soften(pieces))
}

/// Every left value joined with every right one.
fn combine(left: &[Value], right: &[Value], join: fn(&[Piece], &[Piece]) -> Vec<Piece>) -> Vec<Value> {
    if left.len() * right.len() > MOST {
        return vec![unknown("one of many values")];
    }
    let mut values = Vec::new();
    for first in left {
        for second in right {
            let value = match (first, second) {
                (Value::List(a), Value::List(b)) => Value::List(a.iter().chain(b).cloned().collect()),
                (Value::List(items), _) => {
                    Value::List(items.iter().cloned().chain([unknown("a list in a list")]).collect())
                }
                _ => Value::Text(soften(merged(join(&pieces(first), &pieces(second))))),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

fn pieces(value: &Value) -> Vec<Piece> {
    match value {
        Value::Text(pieces) | Value::Decoded(pieces) => pieces.clone(),
        Value::Name(name) => {
            vec![Piece::Unknown(Unknown { reason: format!("{name} is not known").into(), kind: UnknownKind::Any })]
        }
        Value::List(_) => vec![piece("a list", UnknownKind::Any)],
        Value::Unknown(reason) => vec![Piece::Unknown(Unknown { reason: reason.clone(), kind: UnknownKind::Any })],
    }
}

fn join_text(left: &[Piece], right: &[Piece]) -> Vec<Piece> {
    left.iter().chain(right).cloned().collect()
}

/// `a/b`; an absolute right side stands alone.
fn join_path(left: &[Piece], right: &[Piece]) -> Vec<Piece> {
    let absolute = matches!(right.first(), Some(Piece::Text(text)) if text.starts_with(b"/"));
    if absolute || left.is_empty() {
        return right.to_vec();
    }
    let slash = !matches!(left.last(), Some(Piece::Text(text)) if text.ends_with(b"/"));
    let mut pieces = left.to_vec();
    if slash {
        pieces.push(Piece::Text("/".into()));
    }
    pieces.extend(right.iter().cloned());
    pieces
}

/// Neighbouring known pieces as one.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut result: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (result.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.extend_from_slice(&text),
            (_, piece) => result.push(piece),
        }
    }
    result
}

/// A computed piece after a known folder is taken for a name below it: text that climbs would have to come from data.
fn soften(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut folder = false;
    for piece in &mut pieces {
        match piece {
            Piece::Text(text) => folder |= text.contains(&b'/'),
            Piece::Unknown(unknown)
                if folder
                    && unknown.kind == UnknownKind::Any
                    && !unknown.reason.contains("environment")
                    && !unknown.reason.contains("argument") =>
            {
                unknown.kind = UnknownKind::RelativePath;
            }
            Piece::Pattern(_) | Piece::Unknown(_) => {}
        }
    }
    pieces
}
