//! A `[[rule]]` as written becomes a [`Rule`].

use crate::decision::{LayerKind, Verdict};
use crate::diagnostic::{Problem, Span};
use crate::toml_text::{List, Spanned};

use super::builtin;
use super::compile::Compiler;
use super::schema::RuleTable;
use super::statement::{Effects, Rule};

/// A rule with this many alternatives in one glob was not written by hand.
const MOST_ALTERNATIVES: usize = 256;

/// Compiles one rule; `None` if it cannot even be named.
pub(super) fn compile(compiler: &mut Compiler, span: Span, table: &RuleTable) -> Option<Rule> {
    let header = Some(Span::new(span.start, span.start + "[[rule]]".len()));
    let Some(id) = &table.id else {
        let help = "name it: `id = \"no-force-push\"`; decisions and the log tell it by this name".to_owned();
        compiler.problems.push(Problem::new(header, "a rule without `id`", Some(help)));
        return None;
    };
    let line = compiler.lines.line(id.span().start);
    let name = id.get_ref().clone();
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
        let help = "use letters, digits, `-`, `_` and `.`";
        compiler.problems.push(Problem::at(id, format!("`{name}` is no name for a rule"), help));
    }
    let mut rule = Rule {
        verdict: table.verdict.as_ref().map(|verdict| *verdict.get_ref()),
        reason: table.reason.as_ref().map(|reason| reason.get_ref().trim().to_owned()).unwrap_or_default(),
        locked: compiler.is_locked("rule", &name),
        line,
        ..matchers(compiler, table)
    };
    rule.id = name;
    let Some(verdict) = rule.verdict else {
        let message = format!("rule `{}` has no `verdict`", rule.id);
        compiler.problems.push(Problem::at(id, message, "write `verdict = \"allow\"`, `\"ask\"` or `\"deny\"`"));
        return None;
    };
    if verdict == Verdict::Deny && rule.reason.is_empty() {
        let message = format!("rule `{}` denies without a reason", rule.id);
        compiler.problems.push(Problem::at(id, message, "add `reason = \"…\"`: whoever is refused gets to read it"));
    }
    floor(compiler, id, &mut rule);
    reach(compiler, id, table, &rule);
    Some(rule)
}

fn matchers(compiler: &mut Compiler, table: &RuleTable) -> Rule {
    let mut listed = |key: &str, list: Option<&List>| {
        if let Some(list) = list.filter(|list| list.items.is_empty()) {
            let _ = list;
            let at = table.id.as_ref().map(|id| id.span().into());
            let help = Some("take the key out, or list something".to_owned());
            compiler.problems.push(Problem::new(at, format!("an empty list of `{key}` never matches"), help));
        }
        let items = list.map_or(&[][..], |list| &list.items);
        items.iter().flat_map(|item| alternatives(item.get_ref())).collect::<Vec<_>>()
    };
    let mut rule = Rule {
        commands: Vec::new(),
        flags: listed("flags", table.flags.as_ref()),
        arguments: listed("arguments", table.arguments.as_ref()),
        paths: listed("path", table.path.as_ref()),
        hosts: listed("host", table.host.as_ref()).iter().map(|host| host.to_lowercase()).collect(),
        environment: listed("environment", table.environment.as_ref()),
        origins: listed("origin", table.origin.as_ref()),
        shells: listed("shell", table.shell.as_ref()),
        ..Rule::default()
    };
    let commands = listed("command", table.command.as_ref());
    rule.commands = commands.iter().map(|words| words.split_whitespace().map(str::to_owned).collect()).collect();
    listed("effect", table.effect.as_ref());
    listed("place", table.place.as_ref());
    for effect in table.effect.iter().flat_map(|list| &list.items) {
        rule.effects.extend(compiler.effect(effect));
    }
    for place in table.place.iter().flat_map(|list| &list.items) {
        rule.places.extend(compiler.aspect(place, place.get_ref()));
    }
    rule
}

/// A rule with the name of a floor lowers it, and without matchers is about all that the floor is about.
fn floor(compiler: &mut Compiler, id: &Spanned<String>, rule: &mut Rule) {
    let Some(floor) = builtin::FLOORS.iter().find(|floor| floor.id == rule.id) else {
        return;
    };
    if compiler.kind >= LayerKind::Project {
        let message = format!("`{}` is a floor, and a project cannot lower it", rule.id);
        compiler.problems.push(Problem::at(id, message, "give the rule another name"));
    }
    if rule.effects.is_empty() {
        rule.effects = floor.effects.to_vec();
    }
}

/// Rules that can never match are mistakes.
fn reach(compiler: &mut Compiler, id: &Spanned<String>, table: &RuleTable, rule: &Rule) {
    let written = [&table.command, &table.effect, &table.place].iter().any(|list| list.is_some());
    if rule.is_without_command() && !rule.is_about_effects() && !written {
        let message = format!("rule `{}` does not say what it matches", rule.id);
        let help = "add `command`, `flags`, `arguments`, `environment`, `effect`, `place`, `path` or `host`";
        compiler.problems.push(Problem::at(id, message, help));
    }
    let meets = |of: &Effects| of.aspect.is_none_or(|aspect| rule.places.contains(&aspect));
    if !rule.places.is_empty() && !rule.effects.is_empty() && !rule.effects.iter().any(meets) {
        let message = format!("`effect` and `place` of rule `{}` exclude each other", rule.id);
        compiler.problems.push(Problem::at(id, message, "name the place in one of them only"));
    }
    for flag in table.flags.iter().flat_map(|list| &list.items).filter(|flag| !flag.get_ref().starts_with(['-', '+'])) {
        let dashes = if flag.get_ref().chars().count() == 1 { "-" } else { "--" };
        let help = format!("did you mean `{dashes}{}`?", flag.get_ref());
        compiler.problems.push(Problem::at(flag, format!("`{}` is not an option", flag.get_ref()), help));
    }
    for command in table.command.iter().flat_map(|list| &list.items).filter(|words| words.get_ref().trim().is_empty()) {
        compiler.problems.push(Problem::at(command, "an empty command never matches", "name a program"));
    }
    for path in table.path.iter().flat_map(|list| &list.items) {
        let names = path.get_ref().strip_prefix("./").unwrap_or(path.get_ref());
        if names.split('/').any(|name| name == ".." || name == ".") {
            let help = "write the path that it leads to; paths are compared with all links and dots resolved";
            compiler.problems.push(Problem::at(path, format!("`{}` never matches", path.get_ref()), help));
        }
    }
}

/// `a{b,c}d` is `abd` and `acd`.
pub(super) fn alternatives(glob: &str) -> Vec<String> {
    let mut done = Vec::new();
    let mut open = vec![glob.to_owned()];
    while let Some(glob) = open.pop() {
        match innermost(&glob) {
            Some((before, choices, after)) if open.len() + done.len() < MOST_ALTERNATIVES => {
                open.extend(choices.split(',').rev().map(|choice| format!("{before}{choice}{after}")));
            }
            _ => done.push(glob),
        }
    }
    done
}

/// The first pair of braces that holds no other and a comma.
fn innermost(glob: &str) -> Option<(&str, &str, &str)> {
    let closes = glob.match_indices('}').map(|(at, _)| at);
    let pairs = closes.filter_map(|close| Some((glob.get(..close)?.rfind('{')?, close)));
    pairs
        .filter_map(|(open, close)| Some((glob.get(..open)?, glob.get(open + 1..close)?, glob.get(close + 1..)?)))
        .find(|(_, choices, _)| choices.contains(','))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_are_alternatives() {
        assert_eq!(alternatives("a{b,c{d,e}}f"), ["abf", "acdf", "abf", "acef"]);
        assert_eq!(alternatives("{x}"), ["{x}"]);
        assert_eq!(alternatives("plain"), ["plain"]);
        assert!(alternatives(&"{a,b}".repeat(30)).len() <= 2 * MOST_ALTERNATIVES);
    }
}
