//! package.json and its like: scripts by name.

use serde_json::Value;

use super::Goals;
use crate::diagnostic::Span;
use crate::facts::Doubt;
use crate::facts::inline::source::Source;
use crate::facts::inline::{Code, InlineFinding, What, doubt};

/// The tables of a file that hold scripts: package.json, composer.json, deno.json.
const TABLES: &[&str] = &["scripts", "tasks"];

/// Findings in the scripts that the arguments name, with those that run before and after them.
pub(in crate::facts::inline) fn judge(code: &Code<'_>, source: &Source) -> Vec<InlineFinding> {
    let whole = Span::new(0, source.text.len());
    let Ok(file) = serde_json::from_str::<Value>(&source.text) else {
        // npm refuses a file that is no JSON; what is not known may make it some.
        let unknown = source.has_unknown();
        return unknown.then(|| doubt(Doubt::Script, whole, "part of the file is not known")).into_iter().collect();
    };
    let goals = Goals::of(code);
    let wanted = |name: &str| {
        let around = |goal: &String| {
            let rest = name.strip_suffix(goal.as_str());
            matches!(rest, Some("" | "pre" | "post"))
                || goal.ends_with('*') && name.starts_with(goal.trim_end_matches('*'))
        };
        goals.unknown || goals.names.iter().any(around)
    };
    let tables = TABLES.iter().filter_map(|table| file.get(table)?.as_object());
    let scripts = tables.flatten().filter(|(name, _)| wanted(name));
    scripts.flat_map(|(_, script)| texts(script)).map(|text| finding(source, text)).collect()
}

fn finding(source: &Source, text: &str) -> InlineFinding {
    let start = source.text.find(text).unwrap_or_default();
    InlineFinding {
        what: What::Script { language: "shell".into(), text: source.argument(text) },
        span: Span::new(start, start + text.len()),
        reason: "a script of the file".into(),
    }
}

/// A script: text, a list of texts, or an object with its command.
fn texts(script: &Value) -> Vec<&str> {
    match script {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        Value::Object(object) => object.get("command").and_then(Value::as_str).into_iter().collect(),
        _ => Vec::new(),
    }
}
