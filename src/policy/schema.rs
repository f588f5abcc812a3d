//! The policy file as it is written: the only place that knows its keys.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::de::{DeTable, DeValue};

use crate::decision::{Mode, Verdict};
use crate::diagnostic::{Problem, Span};
use crate::toml_text::{self, List, Spanned, table, tables, take_tables};

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

/// Reads a file; what is wrong goes to `problems`.
pub(super) fn read(text: &str, problems: &mut Vec<Problem>) -> File {
    let Some(mut root) = toml_text::root(text, problems) else { return File::default() };
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
