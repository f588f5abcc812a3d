//! Names and calls whose value is known: the environment, arguments, paths that are joined, modules.

use bstr::BStr;

use super::arguments::Site;
use super::binding::{Spot, module};
use super::expression::Program;
use super::language::{Known, Quoting};
use super::value::{
    Value, alternatives, below, beside, combine, decoded, join_path, known_text, member, merged, piece, text, unknown,
};
use crate::facts::value::{Argument, Piece, Unknown, UnknownKind};

impl Program<'_> {
    /// `[index]` after a value: a member by its name, an element by its place.
    pub(super) fn subscript(&self, values: &[Value], from: Spot, depth: usize) -> (Vec<Value>, Vec<Value>, Spot) {
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
            .flat_map(alternatives)
            .collect();
        (result, values.to_vec(), end)
    }

    pub(super) fn is_environment_name(&self, name: &str) -> bool {
        self.language.environment.contains(&name) || name == "$ENV"
    }

    pub(super) fn argument_offset(&self, name: &str) -> Option<usize> {
        self.language.arguments.iter().find(|(list, _)| *list == name).map(|(_, offset)| *offset)
    }

    /// The argument at `key` of the code's own arguments.
    pub(super) fn argument(&self, name: &str, key: &str) -> Value {
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
    pub(super) fn variable(&self, name: &str) -> Value {
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
    pub(super) fn result(&self, site: &Site, depth: usize, visit: &mut dyn FnMut(&Site)) -> (Vec<Value>, Vec<Value>) {
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
                let receiver = by_receiver.then(|| site.receiver.clone());
                let joined = receiver.into_iter().chain(values).reduce(|left, right| combine(&left, &right, join_path));
                joined.unwrap_or_else(|| vec![text(".")])
            }
            Known::Home if values.is_empty() && !by_receiver => vec![self.variable("HOME")],
            Known::Home => first.iter().map(|value| self.home(value)).collect(),
            Known::Temp => {
                vec![Value::Text(vec![piece("something new in the temporary folder", UnknownKind::TempPath)])]
            }
            Known::Cwd => vec![text(".")],
            Known::Variable => self.variable_or(&first, values.get(1)),
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
            Known::Module => first.iter().map(named_module).collect(),
            Known::Number => vec![Value::Text(vec![piece("a number", UnknownKind::Number)])],
            Known::Interpreter => vec![text(self.language.names.first().copied().unwrap_or_default())],
            Known::Split => first.iter().map(words).collect(),
        };
        (result, Vec::new())
    }

    /// The variable that `names` name, or what is given where it is not set.
    fn variable_or(&self, names: &[Value], default: Option<&Vec<Value>>) -> Vec<Value> {
        let Some(name) = names.iter().find_map(known_text) else { return vec![unknown("an environment variable")] };
        let mut found = vec![self.variable(&name)];
        if (self.code.variable)(BStr::new(&name)).is_none() {
            found.extend(default.cloned().unwrap_or_default());
        }
        found
    }

    /// A path with `~` for the home folder.
    pub(super) fn home(&self, value: &Value) -> Value {
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
            Value::Either(_) => (vec![piece("one of several values", UnknownKind::Any)], false),
            Value::Unknown(reason) => (
                vec![Piece::Unknown(Unknown { reason: reason.clone(), kind: UnknownKind::Any })],
                reason == "a list in a list",
            ),
        };
        Argument { pieces, many, at: self.source.at }
    }
}

fn named_module(name: &Value) -> Value {
    known_text(name).map_or_else(|| unknown("a module of unknown name"), |name| Value::Name(module(&name)))
}

/// The words of a text.
fn words(value: &Value) -> Value {
    let list = |known: String| Value::List(known.split_whitespace().map(text).collect());
    known_text(value).map_or_else(|| unknown("words"), list)
}
