//! Reading TOML that people wrote: all of its mistakes, not the first alone.
//!
//! Reading goes on after an error: what cannot be read is reported, taken out, and the rest is read again, so that one
//! run tells everything that is wrong.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, SeqAccess, Visitor};
pub(crate) use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::advice;
use crate::diagnostic::{Problem, Span};

/// The root of a file; `None` if it is no TOML.
pub(crate) fn root<'i>(text: &'i str, problems: &mut Vec<Problem>) -> Option<Spanned<DeTable<'i>>> {
    let (root, errors) = DeTable::parse_recoverable(text);
    // What a text that is no TOML seems to say would only be noise.
    problems.extend(
        errors.iter().map(|error| Problem::new(span_of(error), error.message(), advice::syntax(error.message()))),
    );
    errors.is_empty().then_some(root)
}

/// Strings, or one string in place of a list of one.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) items: Vec<Spanned<String>>,
}

impl<'de> Deserialize<'de> for List {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = Spanned::<Strings>::deserialize(deserializer)?;
        let span = list.span();
        let items = match list.into_inner() {
            Strings::One(text) => vec![Spanned::new(span, text)],
            Strings::Many(items) => items,
        };
        Ok(Self { items })
    }
}

enum Strings {
    One(String),
    Many(Vec<Spanned<String>>),
}

impl<'de> Deserialize<'de> for Strings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StringsVisitor)
    }
}

struct StringsVisitor;

impl<'de> Visitor<'de> for StringsVisitor {
    type Value = Strings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string or a list of strings")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Strings, E> {
        Ok(Strings::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Strings, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element()? {
            out.push(item);
        }
        Ok(Strings::Many(out))
    }
}

/// The entries of a list of tables.
pub(crate) type Tables<'i> = Vec<Spanned<DeTable<'i>>>;

/// Takes a list of tables out of the root.
pub(crate) fn take_tables<'i>(root: &mut DeTable<'i>, key: &str, problems: &mut Vec<Problem>) -> Tables<'i> {
    let Some(value) = root.remove(key) else {
        return Vec::new();
    };
    let mut wrong = |span: std::ops::Range<usize>| {
        let help = format!("write each one as a table of its own that begins with `[[{key}]]`");
        problems.push(Problem::new(Some(span.into()), format!("`{key}` is not a list of tables"), Some(help)));
    };
    let span = value.span();
    let DeValue::Array(items) = value.into_inner() else {
        wrong(span);
        return Vec::new();
    };
    let mut out = Vec::new();
    for item in items {
        let span = item.span();
        match item.into_inner() {
            DeValue::Table(table) => out.push(Spanned::new(span, table)),
            _ => wrong(span),
        }
    }
    out
}

/// Reads each table of a list.
pub(crate) fn tables<T: DeserializeOwned + Default>(tables: Tables<'_>, problems: &mut Vec<Problem>) -> Vec<(Span, T)> {
    tables.into_iter().map(|item| (item.span().into(), table(item, problems))).collect()
}

/// Reads one table, as often as it takes to have found every error in it.
pub(crate) fn table<T: DeserializeOwned + Default>(mut table: Spanned<DeTable<'_>>, problems: &mut Vec<Problem>) -> T {
    loop {
        let error = match T::deserialize(toml::de::Deserializer::from(table.clone())) {
            Ok(read) => return read,
            Err(error) => error,
        };
        let span = span_of(&error);
        let (message, help) = advice::of(error.message());
        problems.push(Problem::new(span, message, help));
        if !span.is_some_and(|span| remove(table.get_mut(), span)) {
            return T::default();
        }
    }
}

/// Takes out the entry that an error points at.
fn remove(table: &mut DeTable<'_>, span: Span) -> bool {
    let at = |key: std::ops::Range<usize>| Span::from(key) == span;
    let found =
        table.iter().find(|(key, value)| at(key.span()) || at(value.span())).map(|(key, _)| key.get_ref().clone());
    if let Some(key) = found {
        return table.remove(&*key).is_some();
    }
    table.iter_mut().any(|(_, value)| remove_in(value.get_mut(), span))
}

fn remove_in(value: &mut DeValue<'_>, span: Span) -> bool {
    match value {
        DeValue::Table(table) => remove(table, span),
        DeValue::Array(items) => {
            let others = |item: &Spanned<DeValue<'_>>| Span::from(item.span()) != span;
            if items.iter().all(others) {
                return items.iter_mut().any(|item| remove_in(item.get_mut(), span));
            }
            let mut rest = DeArray::new();
            std::mem::replace(items, DeArray::new()).into_iter().filter(others).for_each(|item| rest.push(item));
            *items = rest;
            true
        }
        _ => false,
    }
}

fn span_of(error: &toml::de::Error) -> Option<Span> {
    error.span().map(Into::into)
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Self::new(range.start, range.end)
    }
}

impl Problem {
    /// A problem with something that is written.
    pub(crate) fn at<T>(what: &Spanned<T>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(Some(what.span().into()), message, Some(help.into()))
    }
}
