//! The policy file as it is written: the only place that knows its keys.
//!
//! Reading goes on after an error: what cannot be read is reported, taken out, and the rest is read again, so that one
//! run tells everything that is wrong.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
pub(super) use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::decision::{Mode, Verdict};
use crate::diagnostic::Span;

use super::advice;
use super::compile::Problem;
use super::settings::{OnError, Unattended};

/// A whole policy file.
#[derive(Debug, Default)]
pub(super) struct File {
    pub(super) head: Head,
    pub(super) rules: Vec<(Span, RuleTable)>,
    pub(super) wrappers: Vec<(Span, WrapperTable)>,
}

/// Everything but the lists of tables.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Head {
    pub(super) version: Option<Spanned<u32>>,
    pub(super) mode: Option<Spanned<Mode>>,
    pub(super) lock: Vec<Spanned<String>>,
    pub(super) effects: BTreeMap<Spanned<String>, Spanned<Verdict>>,
    pub(super) doubts: BTreeMap<Spanned<String>, Spanned<Verdict>>,
    pub(super) places: PlacesTable,
    pub(super) shell: Option<Spanned<ShellTable>>,
    pub(super) ask: Option<Spanned<AskTable>>,
    pub(super) audit: Option<Spanned<AuditTable>>,
    /// Read apart; here so that it counts as known.
    #[serde(rename = "rule")]
    _rule: IgnoredAny,
    /// Read apart; here so that it counts as known.
    #[serde(rename = "wrapper")]
    _wrapper: IgnoredAny,
}

/// `[places]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PlacesTable {
    pub(super) project: List,
    pub(super) temp: List,
    pub(super) secret: List,
    pub(super) startup: List,
}

/// `[shell]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ShellTable {
    pub(super) pipe: Option<Verdict>,
    pub(super) terminal: Option<Verdict>,
}

/// `[ask]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AskTable {
    pub(super) wait: Option<Spanned<String>>,
    pub(super) program: List,
    pub(super) unattended: Option<Unattended>,
}

/// `[audit]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct AuditTable {
    pub(super) on_error: Option<OnError>,
}

/// `[[rule]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RuleTable {
    pub(super) id: Option<Spanned<String>>,
    pub(super) verdict: Option<Spanned<Verdict>>,
    pub(super) reason: Option<Spanned<String>>,
    pub(super) command: Option<List>,
    pub(super) flags: Option<List>,
    pub(super) arguments: Option<List>,
    pub(super) effect: Option<List>,
    pub(super) place: Option<List>,
    pub(super) path: Option<List>,
    pub(super) host: Option<List>,
    pub(super) environment: Option<List>,
    pub(super) origin: Option<List>,
    pub(super) shell: Option<List>,
    pub(super) examples: ExamplesTable,
}

/// `examples = { match = […], not_match = […] }`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ExamplesTable {
    pub(super) r#match: List,
    pub(super) not_match: List,
}

/// `[[wrapper]]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct WrapperTable {
    pub(super) program: Option<Spanned<String>>,
    pub(super) grammar: Option<Spanned<String>>,
}

/// Strings, or one string in place of a list of one.
#[derive(Debug, Default)]
pub(super) struct List {
    pub(super) items: Vec<Spanned<String>>,
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

/// Reads a file; what is wrong goes to `problems`.
pub(super) fn read(text: &str, problems: &mut Vec<Problem>) -> File {
    let (mut root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        // What a text that is no TOML seems to say would only be noise.
        problems.extend(
            errors.iter().map(|error| Problem::new(span_of(error), error.message(), advice::syntax(error.message()))),
        );
        return File::default();
    }
    flatten(root.get_mut(), "effects");
    let rules = take_tables(root.get_mut(), "rule", problems);
    let wrappers = take_tables(root.get_mut(), "wrapper", problems);
    File { head: table(root, problems), rules: tables(rules, problems), wrappers: tables(wrappers, problems) }
}

/// `write.project = "allow"` without quotes is a table in TOML; here it is the same as the key in quotes.
fn flatten(root: &mut DeTable<'_>, key: &str) {
    let Some(DeValue::Table(table)) = root.get_mut(key).map(Spanned::get_mut) else {
        return;
    };
    let dotted = table.iter().filter(|(_, value)| value.get_ref().is_table()).map(|(key, _)| key.get_ref().clone());
    for effect in dotted.collect::<Vec<_>>() {
        let Some((key, value)) = table.remove_entry(&*effect) else {
            continue;
        };
        if let DeValue::Table(aspects) = value.into_inner() {
            for (aspect, verdict) in aspects {
                let span = key.span().start..aspect.span().end;
                let name = format!("{}.{}", key.get_ref(), aspect.get_ref());
                table.insert(Spanned::new(span, name.into()), verdict);
            }
        }
    }
}

type Tables<'i> = Vec<Spanned<DeTable<'i>>>;

/// Takes a list of tables out of the root.
fn take_tables<'i>(root: &mut DeTable<'i>, key: &str, problems: &mut Vec<Problem>) -> Tables<'i> {
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

fn tables<T: DeserializeOwned + Default>(tables: Tables<'_>, problems: &mut Vec<Problem>) -> Vec<(Span, T)> {
    tables.into_iter().map(|item| (item.span().into(), table(item, problems))).collect()
}

/// Reads one table, as often as it takes to have found every error in it.
fn table<T: DeserializeOwned + Default>(mut table: Spanned<DeTable<'_>>, problems: &mut Vec<Problem>) -> T {
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
