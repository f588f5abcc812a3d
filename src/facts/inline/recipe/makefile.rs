//! A Makefile's text as rules and variables.

use std::collections::BTreeMap;

use crate::diagnostic::Span;

/// A rule: what it makes, from what, and how.
#[derive(Debug, Default)]
pub(super) struct Rule {
    /// The line before its recipe, as written, up to the colon.
    pub(super) targets: String,
    /// What stands after the colon.
    pub(super) prerequisites: String,
    /// The lines of its recipe, without the tab.
    pub(super) recipe: Vec<(String, Span)>,
}

/// What a Makefile says.
#[derive(Debug, Default)]
pub(super) struct Makefile {
    pub(super) rules: Vec<Rule>,
    /// The values that a variable can have, as written; several where a condition decides.
    pub(super) variables: BTreeMap<String, Vec<String>>,
    /// Variables that get their value when the file is read, whatever is made.
    pub(super) immediate: Vec<String>,
    /// Lines that are neither rules nor variables: conditions, `$(info …)`.
    pub(super) loose: Vec<String>,
    /// Files that are read as part of it.
    pub(super) includes: Vec<String>,
}

/// The words that begin a line of a condition.
const CONDITIONS: &[&str] = &["ifeq", "ifneq", "ifdef", "ifndef"];
/// What assigns, longest first.
const ASSIGNS: &[&str] = &[":::=", "::=", ":=", "+=", "?=", "!=", "="];

impl Makefile {
    pub(super) fn parse(text: &str) -> Self {
        let mut makefile = Self::default();
        let mut lines = Lines { text, at: 0 };
        let mut conditions = 0usize;
        while let Some((line, span)) = lines.next(!makefile.rules.is_empty()) {
            if let Some(recipe) = line.strip_prefix('\t') {
                match makefile.rules.last_mut() {
                    Some(rule) => rule.recipe.push((recipe.to_owned(), span)),
                    None => makefile.loose.push(recipe.to_owned()),
                }
                continue;
            }
            let line = without_comment(&line);
            let line = line.trim();
            let word = line.split_whitespace().next().unwrap_or_default();
            if CONDITIONS.contains(&word) {
                conditions += 1;
                makefile.loose.push(line.to_owned());
            } else if word == "endif" {
                conditions = conditions.saturating_sub(1);
            } else if let Some(name) = line.strip_prefix("define ") {
                let value = lines.definition();
                makefile.define(name.trim_end_matches(['=', ':', ' ']), "=", &value, conditions > 0);
            } else if word != "else" && !line.is_empty() {
                makefile.line(line, span, conditions > 0);
            }
        }
        makefile
    }

    fn line(&mut self, line: &str, span: Span, conditional: bool) {
        let words = ["include ", "-include ", "sinclude "];
        if let Some(files) = words.iter().find_map(|word| line.strip_prefix(word)) {
            return self.includes.extend(files.split_whitespace().map(str::to_owned));
        }
        let bare = ["export ", "override ", "private "]
            .iter()
            .fold(line, |line, word| line.strip_prefix(word).map_or(line, str::trim_start));
        if let Some((name, operator, value)) = assignment(bare) {
            return self.define(name, operator, value, conditional);
        }
        match colon(line) {
            Some((targets, rest)) => self.rule(targets, rest, span, conditional),
            None => self.loose.push(line.to_owned()),
        }
    }

    fn rule(&mut self, targets: &str, rest: &str, span: Span, conditional: bool) {
        let rest = rest.trim_start_matches(':');
        if let Some((name, operator, value)) = assignment(rest.trim()) {
            // It holds for some of the targets only.
            return self.define(name, operator, value, conditional || self.variables.contains_key(name));
        }
        let (prerequisites, first) = match rest.split_once(';') {
            Some((prerequisites, first)) => (prerequisites, Some(first)),
            None => (rest, None),
        };
        self.rules.push(Rule {
            targets: targets.trim().to_owned(),
            prerequisites: prerequisites.replace('|', " ").trim().to_owned(),
            recipe: first.map(|first| (first.trim().to_owned(), span)).into_iter().collect(),
        });
    }

    fn define(&mut self, name: &str, operator: &str, value: &str, conditional: bool) {
        let name = name.trim().to_owned();
        if matches!(operator, ":=" | "::=" | ":::=" | "!=") {
            let shell = if operator == "!=" { format!("$(shell {value})") } else { value.to_owned() };
            self.immediate.push(shell);
        }
        let value = if operator == "!=" { format!("$(shell {value})") } else { value.to_owned() };
        let values = self.variables.entry(name).or_default();
        match operator {
            "+=" if !values.is_empty() => values.iter_mut().for_each(|before| {
                before.push(' ');
                before.push_str(&value);
            }),
            "?=" if !values.is_empty() && !conditional => {}
            _ if conditional => values.push(value),
            _ => *values = vec![value],
        }
    }
}

/// Reads lines that a backslash may continue.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl Lines<'_> {
    /// The next line; of a recipe the shell gets the backslashes too.
    fn next(&mut self, recipes: bool) -> Option<(String, Span)> {
        let start = self.at;
        let mut line = String::new();
        let tab = recipes && self.text.get(start..)?.starts_with('\t');
        loop {
            let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty() || !line.is_empty())?;
            let end = rest.find('\n').unwrap_or(rest.len());
            let part = rest.get(..end).unwrap_or_default();
            self.at = (self.at + end + 1).min(self.text.len());
            match part.strip_suffix('\\').filter(|_| end < rest.len()) {
                Some(part) if tab => {
                    line.push_str(part);
                    line.push_str("\\\n");
                    let next = self.text.get(self.at..).unwrap_or_default();
                    self.at += usize::from(next.starts_with('\t'));
                }
                Some(part) => {
                    line.push_str(part.trim_end());
                    line.push(' ');
                }
                None => {
                    line.push_str(part);
                    return Some((line, Span::new(start, start + (self.at - start).max(1) - 1)));
                }
            }
        }
    }

    /// The lines up to `endef`.
    fn definition(&mut self) -> String {
        let mut value: Vec<String> = Vec::new();
        while let Some((line, _)) = self.next(false) {
            if line.trim() == "endef" {
                break;
            }
            value.push(line);
        }
        value.join("\n")
    }
}

/// A line without what follows a `#`.
fn without_comment(line: &str) -> String {
    match line.match_indices('#').find(|(at, _)| !line.get(..*at).is_some_and(|before| before.ends_with('\\'))) {
        Some((at, _)) => line.get(..at).unwrap_or(line).to_owned(),
        None => line.to_owned(),
    }
}

/// `NAME = value`.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let at = outside(line, '=')?;
    let operator =
        ASSIGNS.iter().find(|operator| line.get(..=at).is_some_and(|before| before.ends_with(**operator)))?;
    let name = line.get(..=at)?.strip_suffix(operator)?.trim();
    let plain = !name.is_empty() && !name.contains(|letter: char| letter.is_whitespace() || letter == ':');
    plain.then(|| (name, *operator, line.get(at + 1..).unwrap_or_default().trim_start()))
}

/// `targets : rest`.
fn colon(line: &str) -> Option<(&str, &str)> {
    let at = outside(line, ':')?;
    Some((line.get(..at)?, line.get(at + 1..)?))
}

/// Where `mark` first stands outside of `$(…)`.
fn outside(line: &str, mark: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, letter) in line.char_indices() {
        match letter {
            '(' | '{' if depth > 0 || before == '$' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            letter if letter == mark && depth == 0 => return Some(at),
            _ => {}
        }
        before = letter;
    }
    None
}
