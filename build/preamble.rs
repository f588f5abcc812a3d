//! Compiles `src/shell/preamble/*.toml` into static templates.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// One file: the wrappers of one agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "the fields are the keys of the file")]
struct Agent {
    agent: String,
    ancestors: Vec<String>,
    #[serde(default)]
    through: Vec<String>,
    #[serde(default)]
    holes: BTreeMap<String, Hole>,
    template: Vec<Template>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Template {
    name: String,
    begins: Vec<String>,
    text: String,
    #[serde(default)]
    user: User,
}

/// Where the user's part is, if not in the text.
#[derive(Deserialize, Default)]
#[serde(rename_all = "kebab-case")]
enum User {
    #[default]
    Text,
    FirstParameter,
    ParametersAsCommand,
    ParametersAfterFirstAsCommand,
    Variable(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Hole {
    File(String),
    Program,
    Command,
    Raw,
    Double,
    Word,
    Name,
    Number,
    Lines(Vec<String>),
}

/// Writes the templates as Rust.
pub(crate) fn compile() -> Result<(), String> {
    println!("cargo::rerun-if-changed=src/shell/preamble");
    println!("cargo::rerun-if-changed=build/preamble.rs");
    let entries = fs::read_dir("src/shell/preamble").map_err(|error| error.to_string())?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let agents = paths.iter().map(|path| agent(path)).collect::<Result<String, _>>()?;
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("preambles.rs"), format!("&[{agents}]")).map_err(|error| error.to_string())
}

fn agent(path: &Path) -> Result<String, String> {
    let at = |error: String| format!("{}: {error}", path.display());
    let text = fs::read_to_string(path).map_err(|error| at(error.to_string()))?;
    let agent: Agent = toml::from_str(&text).map_err(|error| at(error.to_string()))?;
    let mut templates = String::new();
    for template in &agent.template {
        let pieces = pieces(&template.text, &agent.holes).map_err(&at)?;
        let user = match &template.user {
            User::Text => "User::Text".to_owned(),
            User::FirstParameter => "User::Parameter".to_owned(),
            User::ParametersAsCommand => "User::Tail(0)".to_owned(),
            User::ParametersAfterFirstAsCommand => "User::Tail(1)".to_owned(),
            User::Variable(name) => format!("User::Variable({name:?})"),
        };
        let (name, begins) = (&template.name, &template.begins);
        let _ =
            write!(templates, "Template {{ name: {name:?}, begins: &{begins:?}, pieces: {pieces}, user: {user} }},");
    }
    let Agent { agent, ancestors, through, .. } = agent;
    Ok(format!(
        "Agent {{ name: {agent:?}, ancestors: &{ancestors:?}, through: &{through:?}, templates: &[{templates}] }},"
    ))
}

/// A text with `@{hole}` and `@[ optional @]` as a list of pieces.
fn pieces(text: &str, holes: &BTreeMap<String, Hole>) -> Result<String, String> {
    let (list, rest) = sequence(text, holes)?;
    if rest.is_empty() { Ok(list) } else { Err(format!("`@]` without `@[` before {rest:?}")) }
}

/// Pieces up to the end, or to the `@]` that ends an optional part.
fn sequence<'a>(mut text: &'a str, holes: &BTreeMap<String, Hole>) -> Result<(String, &'a str), String> {
    let mut list = String::from("&[");
    while let Some(at) = text.find("@{").into_iter().chain(text.find("@[")).chain(text.find("@]")).min() {
        let (before, mark) = text.split_at(at);
        if !before.is_empty() {
            let _ = write!(list, "Piece::Text({before:?}),");
        }
        let after = &mark[2..];
        if mark.starts_with("@]") {
            list.push(']');
            return Ok((list, after));
        }
        if mark.starts_with("@[") {
            let (optional, rest) = sequence(after, holes)?;
            let _ = write!(list, "Piece::Optional({optional}),");
            text = rest;
        } else {
            let (name, rest) = after.split_once('}').ok_or("`@{` without `}`")?;
            let hole = holes.get(name).ok_or_else(|| format!("no hole `{name}`"))?;
            let _ = write!(list, "Piece::Hole({}),", render(hole, holes)?);
            text = rest;
        }
    }
    if !text.is_empty() {
        let _ = write!(list, "Piece::Text({text:?}),");
    }
    list.push(']');
    Ok((list, ""))
}

fn render(hole: &Hole, holes: &BTreeMap<String, Hole>) -> Result<String, String> {
    Ok(match hole {
        Hole::File(glob) => format!("Hole::File({glob:?})"),
        Hole::Program => "Hole::Program".to_owned(),
        Hole::Command => "Hole::Command".to_owned(),
        Hole::Raw => "Hole::Raw".to_owned(),
        Hole::Double => "Hole::Double".to_owned(),
        Hole::Word => "Hole::Word".to_owned(),
        Hole::Name => "Hole::Name".to_owned(),
        Hole::Number => "Hole::Number".to_owned(),
        Hole::Lines(forms) => {
            let forms = forms.iter().map(|form| pieces(form, holes)).collect::<Result<Vec<_>, _>>()?;
            format!("Hole::Lines(&[{}])", forms.join(","))
        }
    })
}
