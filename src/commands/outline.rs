//! A command as its table reads it: what `vetsh commands read` prints.

use std::fmt::{self, Display, Formatter};

use bstr::{BStr, ByteSlice};
use serde::Serialize;

use super::reading::{Declared, Reading, Tail, Vague};
use super::schema::{Setting, TailKind};
use super::tables::{Table, Tables};
use crate::facts::kind::{Aspect, Doubt, Effect};
use crate::facts::value::{Argument, Piece};

/// One command, read.
#[derive(Debug, Serialize)]
pub struct Outline {
    /// The command; what is not known is `…`.
    command: String,
    /// Whose table reads it; `None` if no table knows the program.
    table: Option<Whose>,
    subcommand: Vec<String>,
    options: Vec<Value>,
    operands: Vec<Value>,
    effects: Vec<Effects>,
    runs: Vec<Run>,
    environment: Vec<Key>,
    doubts: Vec<Unclear>,
    /// It only prints (`--help`).
    prints: bool,
    /// It changes nothing (`--dry-run`).
    dry: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Whose {
    Shipped,
    Yours,
    /// The shell's own: no table is needed.
    Shell,
}

/// An option or an operand.
#[derive(Debug, Serialize)]
#[expect(clippy::struct_field_names, reason = "the fields are the keys of the JSON")]
struct Value {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    value: Option<String>,
    /// Its role; `None` for an option without a value.
    role: Option<String>,
    /// The table lists the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<bool>,
}

#[derive(Debug, Serialize)]
struct Effects {
    effect: Effect,
    aspect: Option<Aspect>,
    on: Vec<String>,
    reason: String,
}

#[derive(Debug, Serialize)]
struct Run {
    words: Vec<String>,
    how: &'static str,
    remote: bool,
}

#[derive(Debug, Serialize)]
struct Key {
    name: String,
    role: String,
}

#[derive(Debug, Serialize)]
struct Unclear {
    doubt: Doubt,
    reason: String,
}

impl Outline {
    /// What `tables` say of a command; `builtin`: the shell has it built in if no table describes it.
    pub fn of(tables: &Tables, words: &[Argument], builtin: bool) -> Self {
        let (program, arguments) = words.split_first().map_or((None, words), |(first, rest)| (first.text(), rest));
        let program = program.map(|name| base(name.as_ref()).to_string());
        let table = program.as_ref().and_then(|name| tables.find(BStr::new(name)));
        let reading = table.map(|table| table.read(arguments)).unwrap_or_default();
        let subcommand: Vec<String> = reading.subcommand.iter().map(ToString::to_string).collect();
        let path = [program.as_slice(), &subcommand].concat().join(" ");
        let environment = table.iter().flat_map(Table::environment).chain(reading.environment.iter().copied());
        Self {
            command: words.iter().map(shown).collect::<Vec<_>>().join(" "),
            table: match table {
                Some(_) if tables.is_own(&path) => Some(Whose::Yours),
                Some(_) => Some(Whose::Shipped),
                None => builtin.then_some(Whose::Shell),
            },
            options: options(&reading),
            operands: operands(&reading),
            effects: reading.effects.iter().map(Effects::of).collect(),
            runs: reading.tails.iter().map(Run::of).collect(),
            environment: keys(environment),
            doubts: reading.doubts.iter().map(Unclear::of).collect(),
            prints: reading.inspect_only,
            dry: reading.dry,
            subcommand,
        }
    }
}

/// A word as a person would write it; what is not known is `…`.
fn shown(word: &Argument) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) | Piece::Pattern(text) => text.to_string(),
        Piece::Unknown(_) => "…".to_owned(),
    };
    let text: String = word.pieces.iter().map(piece).collect();
    let special = |letter: char| letter.is_whitespace() || "'\"$`;&|<>()".contains(letter);
    if text.is_empty() || text.contains(special) { format!("'{}'", text.replace('\'', r"'\''")) } else { text }
}

/// A program's name without its folder.
fn base(name: &BStr) -> &BStr {
    name.rsplit_str("/").next().unwrap_or(name).as_bstr()
}

fn options(reading: &Reading<'_>) -> Vec<Value> {
    let value = |given: &super::Given<'_>| {
        let value = given.value.as_ref().map(|value| shown(value));
        let role = given.spec.filter(|_| value.is_some()).map(|spec| spec.role.to_string());
        Value { name: Some(given.name.to_string()), value, role, listed: Some(given.spec.is_some()) }
    };
    reading.options.iter().map(value).collect()
}

/// The operands with their roles, and those that have none.
fn operands(reading: &Reading<'_>) -> Vec<Value> {
    let role = |word: &Argument| {
        let used = reading.uses.iter().find(|used| used.option.is_none() && used.value.at == word.at);
        used.map(|used| used.role.to_string())
    };
    let value = |word: &Argument| Value { name: None, value: Some(shown(word)), role: role(word), listed: None };
    reading.operands.iter().map(|word| value(word)).collect()
}

/// Each variable once.
fn keys<'a>(settings: impl Iterator<Item = &'a Setting>) -> Vec<Key> {
    let mut keys: Vec<Key> = Vec::new();
    for setting in settings {
        if keys.iter().all(|key| key.name != setting.name) {
            keys.push(Key { name: setting.name.to_string(), role: setting.role.to_string() });
        }
    }
    keys
}

impl Effects {
    fn of(declared: &Declared<'_>) -> Self {
        let mut on: Vec<String> = declared.on.iter().map(|word| shown(word)).collect();
        on.extend(declared.at_cwd.then(|| "the working directory".to_owned()));
        on.extend(declared.at_input.then(|| "the paths that its input lists".to_owned()));
        Self { effect: declared.effect, aspect: declared.aspect, on, reason: declared.reason.to_string() }
    }
}

impl Run {
    fn of(tail: &Tail<'_>) -> Self {
        let how = match tail.kind {
            TailKind::Command => "command",
            TailKind::UntilSemicolon => "command for each",
            TailKind::StringJoined => "shell text",
        };
        Self { words: tail.words.iter().map(shown).collect(), how, remote: tail.remote }
    }
}

impl Unclear {
    fn of(vague: &Vague) -> Self {
        Self { doubt: vague.doubt, reason: vague.reason.to_string() }
    }
}

impl Display for Outline {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.command)?;
        let mut row = |key: &str, text: &str| writeln!(formatter, "  {key:12}{text}");
        match self.table {
            Some(Whose::Shipped) => {}
            Some(Whose::Yours) => row("table", "yours")?,
            Some(Whose::Shell) => row("table", "none: the shell has it built in")?,
            None => row("table", "none: nothing describes this program")?,
        }
        if !self.subcommand.is_empty() {
            row("subcommand", &self.subcommand.join(" "))?;
        }
        for option in &self.options {
            row("option", &option.to_string())?;
        }
        for operand in &self.operands {
            row("operand", &operand.to_string())?;
        }
        if self.prints {
            row("effect", "none: it only prints")?;
        }
        if self.dry {
            row("effect", "none: it changes nothing")?;
        }
        for effect in &self.effects {
            row("effect", &effect.to_string())?;
        }
        for run in &self.runs {
            let elsewhere = if run.remote { ", elsewhere" } else { "" };
            row("runs", &format!("{} ({}{elsewhere})", run.words.join(" "), run.how))?;
        }
        for key in &self.environment {
            row("environment", &format!("{} ({})", key.name, key.role))?;
        }
        for unclear in &self.doubts {
            row("doubt", &format!("{}: {}", unclear.doubt.word(), unclear.reason))?;
        }
        Ok(())
    }
}

impl Display for Value {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match (&self.name, &self.value) {
            (Some(name), Some(value)) => write!(formatter, "{name} {value}")?,
            (Some(word), None) | (None, Some(word)) => formatter.write_str(word)?,
            (None, None) => {}
        }
        match (&self.role, self.listed) {
            (Some(role), _) => write!(formatter, " ({role})"),
            (None, Some(false)) => formatter.write_str(" (not listed)"),
            (None, _) => Ok(()),
        }
    }
}

impl Display for Effects {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.effect.word())?;
        if let Some(aspect) = self.aspect {
            write!(formatter, ".{}", aspect.word())?;
        }
        if !self.on.is_empty() {
            write!(formatter, " on {}", self.on.join(", "))?;
        }
        if self.reason.is_empty() { Ok(()) } else { write!(formatter, ": {}", self.reason) }
    }
}
