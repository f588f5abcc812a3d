//! Makefiles: the recipes of what is made, and what runs whenever the file is read.

use std::collections::BTreeSet;

use bstr::{BStr, ByteSlice};

use super::Goals;
use super::makefile::{Makefile, Rule};
use crate::diagnostic::Span;
use crate::facts::Doubt;
use crate::facts::Effect;
use crate::facts::inline::source::Source;
use crate::facts::inline::value::merged;
use crate::facts::inline::{Code, InlineFinding, What, doubt};
use crate::facts::value::{Argument, Piece, UnknownKind};

/// How deep variables may lead to variables.
const DEEPEST: usize = 24;
/// How many references are followed in all.
const STEPS: usize = 20_000;
/// Variables that make sets itself.
const BUILTIN: &[(&str, &str)] = &[
    ("MAKE", "make"),
    ("RM", "rm -f"),
    ("CC", "cc"),
    ("CXX", "g++"),
    ("CPP", "cc -E"),
    ("AR", "ar"),
    ("AS", "as"),
    ("LD", "ld"),
    ("FC", "f77"),
    ("CURDIR", "."),
    ("PWD", "."),
    ("MAKEFILE_LIST", "Makefile"),
    ("MAKEFLAGS", ""),
    ("LEX", "lex"),
    ("YACC", "yacc"),
    ("ARFLAGS", "rv"),
];

/// Findings in a Makefile.
pub(in crate::facts::inline) fn judge(code: &Code<'_>, source: &Source) -> Vec<InlineFinding> {
    let makefile = Makefile::parse(&source.text);
    let mut reader = Reader {
        code,
        source,
        makefile: &makefile,
        findings: Vec::new(),
        made: BTreeSet::new(),
        steps: 0,
        span: Span::default(),
    };
    reader.run();
    reader.findings
}

struct Reader<'a> {
    code: &'a Code<'a>,
    source: &'a Source,
    makefile: &'a Makefile,
    findings: Vec<InlineFinding>,
    /// The rules that have run, by index.
    made: BTreeSet<usize>,
    steps: usize,
    /// Where what is being expanded is written.
    span: Span,
}

/// The rule whose recipe is expanded, for `$@`, `$<`, `$^`.
#[derive(Default)]
struct Context {
    target: String,
    prerequisites: Vec<String>,
}

impl Reader<'_> {
    fn run(&mut self) {
        let nothing = Context::default();
        let makefile = self.makefile;
        for text in makefile.immediate.iter().chain(&makefile.loose) {
            let pieces = self.expand(text, &nothing, 0);
            if text.chars().any(|letter| self.source.unknown(letter).is_some()) && pieces.len() <= 1 {
                self.findings.push(doubt(Doubt::Script, Span::default(), "part of the makefile is not known"));
            }
        }
        for file in &makefile.includes {
            let pieces = self.expand(file, &nothing, 0);
            let what = What::ScriptFile { language: "make".into(), path: self.argument(pieces) };
            self.push(what, "the makefile includes a file");
        }
        let goals = Goals::of(self.code);
        if goals.unknown {
            (0..makefile.rules.len()).for_each(|rule| self.rule(rule, None, 0));
        } else if goals.names.is_empty() {
            self.default_goal();
        } else {
            goals.names.iter().for_each(|goal| self.goal(goal, 0));
        }
    }

    /// The first target that is no special one.
    fn default_goal(&mut self) {
        let makefile = self.makefile;
        if let Some(goal) = makefile.variables.get(".DEFAULT_GOAL").and_then(|values| values.last()) {
            return self.goal(goal.trim(), 0);
        }
        for rule in 0..makefile.rules.len() {
            let targets = self.targets(rule);
            let ordinary =
                |target: &&String| !target.contains('%') && (!target.starts_with('.') || target.contains('/'));
            if let Some(goal) = targets.iter().find(ordinary).cloned() {
                return self.goal(&goal, 0);
            }
        }
    }

    fn targets(&mut self, rule: usize) -> Vec<String> {
        let text = self.makefile.rules.get(rule).map(|rule| rule.targets.as_str()).unwrap_or_default();
        self.words(text)
    }

    /// Runs the rules for a target: those that name it, else those whose pattern it matches.
    fn goal(&mut self, goal: &str, depth: usize) {
        let makefile = self.makefile;
        let mut named = Vec::new();
        let mut patterned = Vec::new();
        for rule in 0..makefile.rules.len() {
            let targets = self.targets(rule);
            if targets.iter().any(|target| target == goal) {
                named.push((rule, None));
            } else if let Some(stem) = targets.iter().find_map(|target| stem(target, goal)) {
                patterned.push((rule, Some(stem.to_owned())));
            }
        }
        let has_recipe = |rule: &(usize, Option<String>)| {
            makefile.rules.get(rule.0).is_some_and(|rule: &Rule| !rule.recipe.is_empty())
        };
        if !named.iter().any(has_recipe) {
            named.extend(patterned);
        }
        for (rule, stem) in named {
            self.rule(rule, Some((goal, stem)), depth);
        }
    }

    /// Runs what a rule needs, then its recipe.
    fn rule(&mut self, index: usize, goal: Option<(&str, Option<String>)>, depth: usize) {
        let makefile = self.makefile;
        let Some(rule) = makefile.rules.get(index) else { return };
        if depth > DEEPEST * 4 || !self.made.insert(index) {
            return;
        }
        let (target, stem) = match goal {
            Some((goal, stem)) => (goal.to_owned(), stem),
            None => (self.targets(index).into_iter().next().unwrap_or_default(), None),
        };
        let filled = |word: String| stem.as_ref().map_or(word.clone(), |stem| word.replacen('%', stem, 1));
        let prerequisites: Vec<String> = self.words(&rule.prerequisites).into_iter().map(filled).collect();
        for needed in &prerequisites {
            self.goal(needed, depth + 1);
        }
        let context = Context { target, prerequisites };
        let together = makefile.rules.iter().any(|rule| rule.targets.contains(".ONESHELL"));
        let mut all = Vec::new();
        for (line, span) in &rule.recipe {
            self.span = *span;
            let mut pieces = self.expand(line.trim_start_matches(['@', '-', '+', ' ', '\t']), &context, 0);
            if together {
                pieces.push(Piece::Text("\n".into()));
                all.extend(pieces);
            } else {
                self.script(pieces);
            }
        }
        if !all.is_empty() {
            self.script(all);
        }
    }

    /// A line of a recipe is run by the shell that the file names.
    fn script(&mut self, pieces: Vec<Piece>) {
        if pieces.is_empty() {
            return;
        }
        let shell = self.makefile.variables.get("SHELL").and_then(|values| values.last());
        let shell = shell.map_or("sh", |shell| shell.trim().rsplit('/').next().unwrap_or("sh"));
        let language = match shell.split_whitespace().next().unwrap_or("sh") {
            "sh" | "dash" | "ksh" => "shell",
            "bash" => "bash",
            "zsh" => "zsh",
            word if word.starts_with("python") => "python",
            _ => return self.push(What::Doubt(Doubt::Script), "the makefile names a shell that is not known"),
        };
        let what = What::Script { language: language.into(), text: self.argument(pieces) };
        self.push(what, "a recipe of the makefile");
    }

    fn argument(&self, pieces: Vec<Piece>) -> Argument {
        Argument { pieces: merged(pieces), many: false, at: self.source.at }
    }

    fn push(&mut self, what: What, reason: &'static str) {
        self.findings.push(InlineFinding { what, span: self.span, reason: reason.into() });
    }

    /// The words that a text expands to; what is not known stands for none of the names.
    fn words(&mut self, text: &str) -> Vec<String> {
        let pieces = self.expand(text, &Context::default(), 0);
        flat(&pieces).split_whitespace().map(str::to_owned).collect()
    }

    fn expand(&mut self, text: &str, context: &Context, depth: usize) -> Vec<Piece> {
        self.steps += 1;
        if depth > DEEPEST || self.steps > STEPS {
            return vec![computed()];
        }
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            pieces.extend(self.source.pieces(rest.get(..at).unwrap_or_default()));
            let after = rest.get(at + 1..).unwrap_or_default();
            let Some(letter) = after.chars().next() else { break };
            let (inner, length) = match letter {
                '(' => enclosed(after, '(', ')'),
                '{' => enclosed(after, '{', '}'),
                letter => (after.get(..letter.len_utf8()).unwrap_or_default(), letter.len_utf8()),
            };
            if letter == '$' {
                pieces.push(Piece::Text("$".into()));
            } else {
                pieces.extend(self.reference(inner, context, depth + 1));
            }
            rest = after.get(length..).unwrap_or_default();
        }
        pieces.extend(self.source.pieces(rest));
        merged(pieces)
    }

    /// What stands within `$(…)`: a function, a variable, a variable with another ending.
    fn reference(&mut self, inner: &str, context: &Context, depth: usize) -> Vec<Piece> {
        if let Some((name, arguments)) = inner.split_once([' ', '\t'])
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        {
            return self.function(name, arguments.trim_start(), context, depth);
        }
        let automatic = match inner {
            "@" => Some(context.target.clone()),
            "<" => Some(context.prerequisites.first().cloned().unwrap_or_default()),
            "^" | "+" | "?" => Some(context.prerequisites.join(" ")),
            _ => None,
        };
        if let Some(text) = automatic {
            return self.source.pieces(&text);
        }
        if let Some((name, change)) = inner.split_once(':')
            && let Some((from, to)) = change.split_once('=')
        {
            let value = self.reference(name, context, depth);
            return replaced(&value, from, to);
        }
        let name = if inner.contains('$') { flat(&self.expand(inner, context, depth)) } else { inner.to_owned() };
        self.variable(&name, context, depth)
    }

    fn variable(&mut self, name: &str, context: &Context, depth: usize) -> Vec<Piece> {
        let given = |argument: &Argument| {
            let text = argument.text()?.to_string();
            text.split_once('=').filter(|(given, _)| *given == name).map(|(_, value)| value.to_owned())
        };
        if let Some(value) = self.code.arguments.iter().find_map(given) {
            return vec![Piece::Text(value.into())];
        }
        let makefile = self.makefile;
        if let Some(values) = makefile.variables.get(name) {
            let mut expanded = values.iter().map(|value| self.expand(value, context, depth)).collect::<Vec<_>>();
            expanded.dedup();
            return if expanded.len() == 1 { expanded.pop().unwrap_or_default() } else { vec![computed()] };
        }
        if let Some(value) = (self.code.variable)(BStr::new(name)) {
            return vec![Piece::Text(value)];
        }
        match BUILTIN.iter().find(|(builtin, _)| *builtin == name) {
            Some((_, value)) => vec![Piece::Text((*value).into())],
            // What no file sets is empty; what is included is not read here.
            None if makefile.includes.is_empty() => Vec::new(),
            None => vec![computed()],
        }
    }

    fn function(&mut self, name: &str, arguments: &str, context: &Context, depth: usize) -> Vec<Piece> {
        let parts: Vec<Vec<Piece>> =
            split(arguments).into_iter().map(|part| self.expand(part, context, depth)).collect();
        let known: Option<Vec<String>> = parts.iter().map(|part| text_of(part)).collect();
        match name {
            "shell" => {
                let text = self.expand(arguments, context, depth);
                let what = What::Script { language: "shell".into(), text: self.argument(text) };
                self.push(what, "`$(shell …)` in the makefile");
                return vec![computed()];
            }
            "info" | "warning" | "error" | "eval" => return Vec::new(),
            "file" => {
                let lead = parts.first().and_then(|part| text_of(part)).unwrap_or_default();
                if lead.starts_with('>') {
                    let path = Argument::known(lead.trim_start_matches(['>', ' ']), self.source.at);
                    self.push(What::Path { effect: Effect::Write, path, tree: false }, "`$(file …)` in the makefile");
                }
                return Vec::new();
            }
            _ => {}
        }
        let Some(known) = known else { return vec![computed()] };
        let words = |text: &str, change: &dyn Fn(&str) -> String| {
            vec![Piece::Text(text.split_whitespace().map(change).collect::<Vec<_>>().join(" ").into())]
        };
        match (name, known.as_slice()) {
            ("wildcard" | "strip" | "sort" | "abspath" | "realpath", [text]) => words(text, &str::to_owned),
            ("subst", [from, to, text]) if !from.is_empty() => {
                vec![Piece::Text(text.replace(from.as_str(), to).into())]
            }
            ("patsubst", [from, to, text]) => replaced(&[Piece::Text(text.as_str().into())], from, to),
            ("addprefix", [prefix, text]) => words(text, &|word| format!("{prefix}{word}")),
            ("addsuffix", [suffix, text]) => words(text, &|word| format!("{word}{suffix}")),
            ("notdir", [text]) => words(text, &|word| word.rsplit('/').next().unwrap_or_default().to_owned()),
            ("basename", [text]) => {
                words(text, &|word| word.rsplit_once('.').map_or(word, |(stem, _)| stem).to_owned())
            }
            ("dir", [text]) => {
                words(text, &|word| word.rsplit_once('/').map_or("./".into(), |(folder, _)| format!("{folder}/")))
            }
            _ => vec![computed()],
        }
    }
}

/// What make computes: names, as a rule.
fn computed() -> Piece {
    Piece::unknown(UnknownKind::Name, "what make computes is not known")
}

fn text_of(pieces: &[Piece]) -> Option<String> {
    pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.to_str().ok() } else { None }).collect()
}

/// Pieces as text, in which what is not known is no name.
fn flat(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) | Piece::Pattern(text) => text.to_string(),
        Piece::Unknown(_) => "?".to_owned(),
    };
    pieces.iter().map(piece).collect()
}

/// Every word that ends with `from` (or matches it around `%`) ends with `to`.
fn replaced(value: &[Piece], from: &str, to: &str) -> Vec<Piece> {
    let Some(text) = text_of(value) else { return vec![computed()] };
    let (head, tail) = from.split_once('%').unwrap_or(("", from));
    let change = |word: &str| {
        let stem = word.strip_prefix(head).and_then(|word| word.strip_suffix(tail));
        match (stem, to.split_once('%')) {
            (Some(stem), Some((before, after))) => format!("{before}{stem}{after}"),
            (Some(stem), None) if !from.contains('%') => format!("{stem}{to}"),
            (Some(_), None) => to.to_owned(),
            (None, _) => word.to_owned(),
        }
    };
    vec![Piece::Text(text.split_whitespace().map(change).collect::<Vec<_>>().join(" ").into())]
}

/// What `%` of a pattern stands for in a name.
fn stem<'n>(pattern: &str, name: &'n str) -> Option<&'n str> {
    let (head, tail) = pattern.split_once('%')?;
    name.strip_prefix(head)?.strip_suffix(tail)
}

/// What stands between the bracket that `text` begins with and its match, and the length with both.
fn enclosed(text: &str, open: char, close: char) -> (&str, usize) {
    let mut depth = 0usize;
    for (at, letter) in text.char_indices() {
        if letter == open {
            depth += 1;
        } else if letter == close {
            depth -= 1;
            if depth == 0 {
                return (text.get(1..at).unwrap_or_default(), at + 1);
            }
        }
    }
    (text.get(1..).unwrap_or_default(), text.len())
}

/// The arguments of a function.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut depth) = (0, 0usize);
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}
