//! justfiles: the recipes that are called, with what they depend on.

use std::collections::{BTreeMap, BTreeSet};

use super::Goals;
use crate::diagnostic::Span;
use crate::facts::Doubt;
use crate::facts::inline::source::Source;
use crate::facts::inline::value::merged;
use crate::facts::inline::{Code, InlineFinding, What, doubt};
use crate::facts::value::{Argument, Piece, UnknownKind};

/// A recipe of a justfile.
#[derive(Default)]
struct Recipe {
    name: String,
    needs: Vec<String>,
    lines: Vec<(String, Span)>,
}

/// Findings in a justfile.
pub(in crate::facts::inline) fn judge(code: &Code<'_>, source: &Source) -> Vec<InlineFinding> {
    let mut reader = Reader { source, recipes: Vec::new(), variables: BTreeMap::new(), findings: Vec::new() };
    reader.parse();
    let mut goals = Goals::of(code);
    let known = |name: &String| reader.recipes.iter().any(|recipe| recipe.name == *name);
    goals.names.retain(known);
    if goals.names.is_empty() {
        goals.names.extend(reader.recipes.first().map(|recipe| recipe.name.clone()));
    }
    if goals.unknown {
        goals.names = reader.recipes.iter().map(|recipe| recipe.name.clone()).collect();
    }
    let mut done = BTreeSet::new();
    while let Some(name) = goals.names.pop() {
        if done.insert(name.clone()) {
            goals.names.extend(reader.run(&name));
        }
    }
    reader.findings
}

struct Reader<'a> {
    source: &'a Source,
    recipes: Vec<Recipe>,
    /// Variables with a literal value.
    variables: BTreeMap<String, String>,
    findings: Vec<InlineFinding>,
}

impl Reader<'_> {
    fn parse(&mut self) {
        let mut at = 0;
        for line in self.source.text.split_inclusive('\n') {
            let span = Span::new(at, at + line.trim_end().len());
            at += line.len();
            let text = line.trim_end();
            if text.starts_with([' ', '\t']) {
                if let Some(recipe) = self.recipes.last_mut() {
                    recipe.lines.push((text.trim_start().to_owned(), span));
                }
            } else if !text.is_empty() && !text.starts_with(['#', '[']) {
                self.header(text, span);
            }
        }
    }

    fn header(&mut self, text: &str, span: Span) {
        if text.starts_with(|letter| self.source.unknown(letter).is_some()) {
            return self.findings.push(doubt(Doubt::Script, span, "part of the justfile is not known"));
        }
        if let Some((name, value)) = text.split_once(":=") {
            let name = name.trim().trim_start_matches("export ").trim();
            return self.assign(name, value.trim(), span);
        }
        if text.starts_with("import ") || text.starts_with("mod ") {
            return;
        }
        let Some((head, needs)) = text.split_once(':') else { return };
        let name = head.trim_start_matches('@').split_whitespace().next().unwrap_or_default().to_owned();
        let needs = needs.replace(['(', ')', '&'], " ").split_whitespace().map(str::to_owned).collect();
        self.recipes.push(Recipe { name, needs, lines: Vec::new() });
    }

    fn assign(&mut self, name: &str, value: &str, span: Span) {
        if let Some(command) = value.strip_prefix('`').and_then(|value| value.strip_suffix('`')) {
            let what = What::Script { language: "shell".into(), text: self.source.argument(command) };
            return self.findings.push(InlineFinding { what, span, reason: "a command of the justfile".into() });
        }
        let shells = ["sh", "bash", "zsh", "dash"];
        let shell = |value: &str| {
            shells.iter().any(|shell| value.contains(&format!("\"{shell}\"")) || value.contains(&format!("/{shell}\"")))
        };
        if name.starts_with("set shell") && !shell(value) {
            return self.findings.push(doubt(Doubt::Script, span, "the justfile names a shell that is not known"));
        }
        let quoted = ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
        if let Some(value) = quoted {
            self.variables.insert(name.to_owned(), value.to_owned());
        }
    }

    /// Judges a recipe; what it depends on is returned.
    fn run(&mut self, name: &str) -> Vec<String> {
        let Some(recipe) = self.recipes.iter().find(|recipe| recipe.name == name) else { return Vec::new() };
        let script = recipe.lines.first().and_then(|(line, _)| line.strip_prefix("#!"));
        let mut texts: Vec<(&str, Vec<Piece>, Span)> = Vec::new();
        if let Some(interpreter) = script {
            let language = language_of(interpreter);
            let span = recipe.lines.first().map(|(_, span)| *span).unwrap_or_default();
            let text: String = recipe.lines.iter().skip(1).flat_map(|(line, _)| [line.as_ref(), "\n"]).collect();
            texts.push((language, self.expand(&text), span));
        } else {
            let bare = |line: &str| line.trim_start_matches(['@', '-']).to_owned();
            texts.extend(recipe.lines.iter().map(|(line, span)| ("shell", self.expand(&bare(line)), *span)));
        }
        let needs = recipe.needs.clone();
        let at = self.source.at;
        self.findings.extend(texts.into_iter().map(|(language, pieces, span)| InlineFinding {
            what: What::Script { language: language.into(), text: Argument { pieces, many: false, at } },
            span,
            reason: "a recipe of the justfile".into(),
        }));
        needs
    }

    /// The text with what `{{…}}` stands for.
    fn expand(&self, text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            pieces.extend(self.source.pieces(before));
            let (inner, next) = after.split_once("}}").unwrap_or((after, ""));
            match self.variables.get(inner.trim()) {
                Some(value) => pieces.push(Piece::Text(value.as_str().into())),
                None => pieces.push(Piece::unknown(UnknownKind::Name, "what just computes is not known")),
            }
            rest = next;
        }
        pieces.extend(self.source.pieces(rest));
        merged(pieces)
    }
}

/// The language of a `#!` line.
fn language_of(line: &str) -> &'static str {
    let program = line
        .split_whitespace()
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .rfind(|word| !word.starts_with('-') && *word != "env");
    match program.unwrap_or_default() {
        word if word.starts_with("python") => "python",
        "node" | "bun" | "deno" => "node",
        "perl" => "perl",
        "ruby" => "ruby",
        "zsh" => "zsh",
        "bash" => "bash",
        _ => "shell",
    }
}
