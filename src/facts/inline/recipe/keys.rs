//! Files of settings, whatever their syntax: `[section]`, `key = value`, `key: value`, indented lists. A table of the
//! language says which keys hold something that runs.

use super::Goals;
use crate::commands::glob;
use crate::diagnostic::Span;
use crate::facts::inline::language::{Language, Rest};
use crate::facts::inline::source::Source;
use crate::facts::inline::{Code, InlineFinding, What, line};

/// Findings in the values of keys that matter, of the parts that the arguments name.
pub(in crate::facts::inline) fn judge(
    code: &Code<'_>,
    language: &'static Language,
    source: &Source,
) -> Vec<InlineFinding> {
    let goals = Goals::of(code);
    let mut reader = Reader { section: String::new(), keys: Vec::new() };
    let mut findings = Vec::new();
    let mut at = 0;
    for line in source.text.split_inclusive('\n') {
        let span = Span::new(at, at + line.trim_end().len());
        at += line.len();
        let Some(value) = reader.line(line, language.comments) else { continue };
        let plain = |rest: Rest| match rest {
            _ if value.is_empty() => None,
            Rest::Code(_) => Some(words(value)),
            _ => Some(value.trim_matches(['"', '\'']).to_owned()),
        };
        findings.extend(finding(language, source, &goals, &reader.path(), span, plain));
    }
    findings
}

/// The finding in the value of one key, if the key matters and is among the goals.
pub(super) fn finding(
    language: &'static Language,
    source: &Source,
    goals: &Goals,
    path: &str,
    span: Span,
    value: impl Fn(Rest) -> Option<String>,
) -> Option<InlineFinding> {
    let wanted = goals.unknown || goals.names.is_empty() || goals.names.iter().any(|goal| names(goal, path));
    let (key, rest) = language.commands.iter().find(|(key, _)| wanted && glob(key.as_bytes(), path.as_bytes()))?;
    let value = value(*rest).filter(|value| !value.is_empty())?;
    let what = match rest {
        Rest::Code(code) => Some(What::Script { language: (*code).into(), text: source.argument(&value) }),
        rest => line::meaning(language, source, *rest, &value),
    };
    Some(InlineFinding { what: what?, span, reason: format!("`{}` in the file", key.replace('*', "…")).into() })
}

/// Whether a goal names a path: a glob of it all, or a key on its way.
fn names(goal: &str, path: &str) -> bool {
    let goal = goal.to_ascii_lowercase();
    if goal.contains(['*', '.']) {
        glob(goal.as_bytes(), path.as_bytes())
    } else {
        path.split('.').any(|key| key == goal)
    }
}

/// `["a", "b"]` as the words of a command.
fn words(value: &str) -> String {
    let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
    let unquoted = |word: &str| word.trim().trim_matches(['"', '\'']).to_owned();
    list.map_or_else(|| unquoted(value), |list| list.split(',').map(unquoted).collect::<Vec<_>>().join(" "))
}

/// Where in a file a line stands.
struct Reader {
    section: String,
    /// The keys that a line is below, each with its indentation.
    keys: Vec<(usize, String)>,
}

impl Reader {
    /// The value that stands on a line, if any; [`Self::path`] then says whose it is.
    fn line<'t>(&mut self, line: &'t str, comments: &[&str]) -> Option<&'t str> {
        let text = line.trim();
        if text.is_empty() || comments.iter().any(|comment| text.starts_with(comment)) {
            return None;
        }
        if let Some(section) = section(text) {
            self.section = section;
            self.keys.clear();
            return None;
        }
        let mut indent = line.len() - line.trim_start().len();
        let mut text = text;
        if let Some(item) = text.strip_prefix("- ") {
            self.keys.retain(|(at, _)| *at <= indent);
            indent += 2;
            text = item.trim();
        }
        let Some((key, value)) = pair(text) else { return Some(text) };
        self.keys.retain(|(at, _)| *at < indent);
        self.keys.push((indent, key));
        Some(value.trim_start_matches(['|', '>']).trim())
    }

    /// Section and keys, parted by dots, in lower case.
    fn path(&self) -> String {
        let keys = self.keys.iter().map(|(_, key)| key.as_str());
        let parts = std::iter::once(self.section.as_str()).filter(|section| !section.is_empty()).chain(keys);
        parts.collect::<Vec<_>>().join(".").to_ascii_lowercase()
    }
}

/// `[a]`, `[a "b"]`, `[[a]]`.
fn section(text: &str) -> Option<String> {
    let name = text.strip_prefix('[')?.trim_start_matches('[');
    let name = name.get(..name.find(']')?)?;
    (!name.contains(',')).then(|| name.replace([' ', ':'], ".").replace(['"', '\''], "").replace("..", "."))
}

/// `key = value`, `key: value`; a key is one word.
fn pair(text: &str) -> Option<(String, &str)> {
    let end = text.find(|letter: char| letter.is_whitespace() || matches!(letter, '=' | ':')).unwrap_or(text.len());
    let key = text.get(..end)?.trim_matches(['"', '\'']);
    let rest = text.get(end..)?.trim_start();
    let value = match rest.strip_prefix('=') {
        Some(value) => value,
        None => rest.strip_prefix(':').filter(|value| value.is_empty() || value.starts_with(char::is_whitespace))?,
    };
    (!key.is_empty()).then(|| (key.to_owned(), value.trim()))
}
