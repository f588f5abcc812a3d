//! Compiles `src/commands/languages.toml` into the static tables of `facts::inline::language`.

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    language: Vec<Entry>,
}

/// A language as it is written; every list has a mini-notation that the file's head explains.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: Vec<String>,
    #[serde(default = "calls")]
    reader: String,
    #[serde(default)]
    comments: Vec<String>,
    #[serde(default)]
    blocks: Vec<String>,
    #[serde(default)]
    strings: Vec<String>,
    #[serde(default)]
    prefixes: String,
    #[serde(default)]
    letters: String,
    #[serde(default)]
    regex: bool,
    #[serde(default = "none")]
    quoting: String,
    #[serde(default)]
    heredoc: bool,
    #[serde(default)]
    bare_calls: bool,
    #[serde(default)]
    indented: bool,
    #[serde(default)]
    joins: Vec<String>,
    #[serde(default)]
    members: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    calls: Vec<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    separator: String,
    #[serde(default)]
    commands: Vec<String>,
}

fn calls() -> String {
    "calls".into()
}

fn none() -> String {
    "none".into()
}

/// The Rust text of all languages, or what is wrong with the file.
pub(crate) fn compile(text: &str) -> Result<String, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let languages = file.language.iter().map(language).collect::<Result<Vec<_>, _>>()?;
    Ok(format!("static LANGUAGES: &[Language] = &[{}];\n", languages.join(",\n")))
}

fn language(entry: &Entry) -> Result<String, String> {
    let strings = entry.strings.iter().map(|text| string_form(text)).collect::<Result<Vec<_>, _>>()?;
    let blocks = entry
        .blocks
        .iter()
        .map(|text| pair(text).map(|(open, close)| format!("({open:?}, {close:?})")))
        .collect::<Result<Vec<_>, _>>()?;
    let arguments = entry
        .arguments
        .iter()
        .map(|text| pair(text).map(|(name, offset)| format!("({name:?}, {offset})")))
        .collect::<Result<Vec<_>, _>>()?;
    let calls = rows(&entry.calls, call)?;
    let values = rows(&entry.values, |name, value| Ok(format!("({name:?}, Known::{})", camel(value))))?;
    let commands = rows(&entry.commands, |name, value| Ok(format!("({name:?}, Rest::{})", with_value(value))))?;
    Ok(format!(
        "Language {{ names: &{:?}, reader: Reader::{}, comments: &{:?}, blocks: &[{}], strings: &[{}], prefixes: {:?}, letters: {:?}, regex: {}, \
         quoting: Quoting::{}, heredoc: {}, bare_calls: {}, indented: {}, joins: &{:?}, members: &{:?}, environment: &{:?}, arguments: &[{}], \
         calls: &[{calls}], values: &[{values}], modules: &{:?}, separator: {:?}, commands: &[{commands}] }}",
        entry.name,
        camel(&entry.reader),
        entry.comments,
        blocks.join(", "),
        strings.join(", "),
        entry.prefixes,
        entry.letters,
        entry.regex,
        camel(&entry.quoting),
        entry.heredoc,
        entry.bare_calls,
        entry.indented,
        entry.joins,
        entry.members,
        entry.environment,
        arguments.join(", "),
        entry.modules,
        entry.separator,
    ))
}

/// `OPEN [CLOSE] [escapes] [command] [with OPENING]`.
fn string_form(text: &str) -> Result<String, String> {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let open = words.next().ok_or("a string form needs what begins it")?;
    let (mut close, mut escapes, mut command, mut interpolates) = (open, false, false, "");
    while let Some(word) = words.next() {
        match word {
            "escapes" => escapes = true,
            "command" => command = true,
            "with" => interpolates = words.next().ok_or_else(|| format!("`{text}`: nothing stands after `with`"))?,
            word => close = word,
        }
    }
    Ok(format!(
        "StringForm {{ open: {open:?}, close: {close:?}, escapes: {escapes}, interpolates: {interpolates:?}, command: {command} }}"
    ))
}

fn pair(text: &str) -> Result<(&str, &str), String> {
    text.split_once(' ').ok_or_else(|| format!("`{text}` is not two words"))
}

/// `NAME… = VALUE`: a row for each name.
fn rows(lines: &[String], row: impl Fn(&str, &str) -> Result<String, String>) -> Result<String, String> {
    let mut out = Vec::new();
    for line in lines {
        let (names, value) = line.split_once(" = ").ok_or_else(|| format!("`{line}` is not `NAME… = VALUE`"))?;
        for name in names.split_whitespace() {
            out.push(row(name, value.trim())?);
        }
    }
    Ok(out.join(", "))
}

/// `ROLE…[...] [needs NAME]`.
fn call(name: &str, value: &str) -> Result<String, String> {
    let (roles, needs) = value.split_once(" needs ").unwrap_or((value, ""));
    let repeats = roles.ends_with("...");
    let roles: Vec<String> = roles.trim_end_matches("...").split_whitespace().map(role).collect();
    if roles.is_empty() {
        return Err(format!("`{name}` has no role"));
    }
    Ok(format!("Call {{ name: {name:?}, roles: &[{}], repeats: {repeats}, needs: {needs:?} }}", roles.join(", ")))
}

fn role(word: &str) -> String {
    if let Some(role_of) = word.strip_prefix("self:") {
        return format!("Role::Receiver(&{})", role(role_of));
    }
    format!("Role::{}", with_value(word))
}

/// `delete-tree` is `DeleteTree`, `code:shell` is `Code("shell")`, `!signal` is `Effect("signal")`.
fn with_value(word: &str) -> String {
    if let Some(effect) = word.strip_prefix('!') {
        return format!("Effect({effect:?})");
    }
    match word.split_once(':') {
        Some((kind, value)) => format!("{}({value:?})", camel(kind)),
        None => camel(word),
    }
}

fn camel(word: &str) -> String {
    word.split('-')
        .map(|part| {
            let mut letters = part.chars();
            letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}
