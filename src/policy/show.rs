//! The policy that is in force, each line with the layer and line that says so.

use std::fmt::Write as _;

use crate::commands::{Program, user};
use crate::decision::{LayerKind, Provenance, Verdict};
use crate::facts::{Aspect, Doubt, DoubtFact, Effect, EffectFact, Facts, Location, Part};

use super::statement::{Effects, Rule};
use super::{Call, Fault, Layer, Policy, builtin, evaluate};

/// Where the comments begin.
const COLUMN: usize = 36;

/// The policy as text. `rules` are those of each layer, from the highest to the lowest.
pub fn text(policy: &Policy, rules: &[(LayerKind, Vec<Rule>)], call: &Call<'_>) -> Result<String, Fault> {
    let mut out = String::new();
    let mode = call.mode.unwrap_or_else(|| policy.mode());
    line(&mut out, &format!("mode = \"{}\"", mode.word()), &origin_of_mode(policy));
    if let Some((reason, _)) = policy.suspended() {
        line(&mut out, "", reason);
    }
    effects(&mut out, policy, call)?;
    doubts(&mut out, policy, call)?;
    out.push_str("\n[places]\n");
    for layer in policy.layers() {
        for (aspect, glob) in &layer.core.places {
            line(&mut out, &format!("{} = [\"{glob}\"]", aspect.word()), &told(layer));
        }
    }
    tables(&mut out, policy);
    settings(&mut out, policy);
    for (layer, rules) in rules {
        let trusted = policy.layers().iter().any(|other| other.kind == *layer && other.trusted);
        for written in rules {
            rule(&mut out, *layer, trusted, written);
        }
    }
    for floor in builtin::FLOORS {
        let _ = write!(out, "\n[[rule]]\n");
        line(&mut out, &format!("id = \"{}\"", floor.id), &format!("builtin:{}, a floor", floor.line));
        let effects = floor.effects.iter().map(ToString::to_string).collect::<Vec<_>>();
        let _ =
            writeln!(out, "verdict = \"{}\"\neffect = {effects:?}\nreason = {:?}", floor.verdict.word(), floor.reason);
    }
    Ok(out)
}

fn effects(out: &mut String, policy: &Policy, call: &Call<'_>) -> Result<(), Fault> {
    out.push_str("\n[effects]\n");
    let mut keys = Effect::ALL.iter().map(|effect| Effects { effect: Some(*effect), aspect: None }).collect::<Vec<_>>();
    keys.extend(builtin::EFFECTS.iter().map(|row| row.of));
    keys.extend(builtin::FLOORS.iter().flat_map(|floor| floor.effects));
    keys.extend(policy.layers().iter().flat_map(|layer| layer.core.effects.iter().map(|entry| entry.of)));
    // Every effect has a line of its own, so that nothing is left for `*`.
    keys.retain(|key| key.effect.is_some());
    keys.sort();
    keys.dedup();
    let at = Location::default();
    let fact = |effect: Effect, aspect: Option<Aspect>| EffectFact {
        effect,
        aspect,
        target: None,
        command: None,
        part: Part::Own,
        at,
        reason: "".into(),
    };
    let facts = keys.iter().filter_map(|key| Some(fact(key.effect?, key.aspect))).collect();
    let decision = evaluate(policy, Facts { effects: facts, ..Facts::default() }, call)?;
    for (key, finding) in keys.iter().zip(&decision.findings) {
        let floor = finding.rule.as_ref().map_or_else(String::new, |rule| format!(", floor `{rule}`"));
        let key = if key.aspect.is_some() { format!("\"{key}\"") } else { key.to_string() };
        line(out, &entry(&key, finding.verdict), &(place(&finding.provenance) + &floor));
    }
    Ok(())
}

fn doubts(out: &mut String, policy: &Policy, call: &Call<'_>) -> Result<(), Fault> {
    out.push_str("\n[doubts]\n");
    let at = Location::default();
    let fact = |doubt: &Doubt| DoubtFact { doubt: *doubt, command: None, part: Part::Own, at, reason: "".into() };
    let facts = Doubt::ALL.iter().map(fact).collect();
    let decision = evaluate(policy, Facts { doubts: facts, ..Facts::default() }, call)?;
    for (doubt, finding) in Doubt::ALL.iter().zip(&decision.findings) {
        line(out, &entry(doubt.word(), finding.verdict), &place(&finding.provenance));
    }
    Ok(())
}

/// The programs that layers describe, and whether they stand in place of what is shipped.
fn tables(out: &mut String, policy: &Policy) {
    let described = |layer: &&Layer| !layer.core.wrappers.is_empty();
    for layer in policy.layers().iter().filter(described) {
        out.push('\n');
        let replaced = user::replaced(&layer.core.wrappers).collect::<Vec<_>>();
        for name in layer.core.wrappers.iter().map(Program::name) {
            let place = if replaced.contains(&name) { ", in place of the shipped entry" } else { "" };
            line(out, &format!("# command table `{name}`"), &(told(layer) + place));
        }
    }
}

fn settings(out: &mut String, policy: &Policy) {
    let (shell, ask) = (policy.shell(), policy.ask());
    let _ = writeln!(out, "\n[shell]\n{}\n{}", entry("pipe", shell.pipe), entry("terminal", shell.terminal));
    let _ = writeln!(out, "\n[ask]");
    if let Some(wait) = ask.wait {
        let _ = writeln!(out, "wait = \"{wait}s\"");
    }
    if !ask.program.is_empty() {
        let _ = writeln!(out, "program = {:?}", ask.program);
    }
    let _ = writeln!(out, "unattended = \"{}\"", ask.unattended.word());
    let _ = writeln!(out, "\n[audit]\non_error = \"{}\"", policy.audit().on_error.word());
}

fn rule(out: &mut String, layer: LayerKind, trusted: bool, rule: &Rule) {
    let _ = write!(out, "\n[[rule]]\n");
    let trust = if trusted { "" } else { ", without trust: it only makes stricter" };
    line(out, &format!("id = \"{}\"", rule.id), &format!("{}:{}{trust}", layer.word(), rule.line));
    let _ = writeln!(out, "verdict = \"{}\"", rule.verdict().word());
    let commands = rule.commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>();
    let effects = rule.effects.iter().map(ToString::to_string).collect::<Vec<_>>();
    let places = rule.places.iter().map(|place| place.word().to_owned()).collect::<Vec<_>>();
    let lists = [
        ("command", &commands),
        ("flags", &rule.flags),
        ("arguments", &rule.arguments),
        ("effect", &effects),
        ("place", &places),
        ("path", &rule.paths),
        ("host", &rule.hosts),
        ("environment", &rule.environment),
        ("origin", &rule.origins),
        ("shell", &rule.shells),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        let _ = writeln!(out, "{key} = {list:?}");
    }
    if !rule.reason.is_empty() {
        let _ = writeln!(out, "reason = {:?}", rule.reason);
    }
}

fn origin_of_mode(policy: &Policy) -> String {
    let mode = policy.mode();
    let says = |layer: &&Layer| layer.core.mode.is_some_and(|entry| policy.acknowledged(entry.mode) == mode);
    match policy.layers().iter().find(says).and_then(|layer| Some((layer, layer.core.mode?))) {
        Some((layer, entry)) if entry.mode != mode => {
            format!("{}:{}: `full` is not acknowledged", layer.kind.word(), entry.line)
        }
        Some((layer, entry)) => format!("{}:{}", layer.kind.word(), entry.line),
        None => format!("builtin:{}", builtin::MODE.1),
    }
}

fn told(layer: &Layer) -> String {
    let trust = if layer.trusted { "" } else { ", without trust: it only makes stricter" };
    format!("{}{trust}", layer.kind.word())
}

fn entry(key: &str, verdict: Verdict) -> String {
    format!("{key} = \"{}\"", verdict.word())
}

fn place(provenance: &Provenance) -> String {
    format!("{}:{}", provenance.layer.word(), provenance.line)
}

fn line(out: &mut String, text: &str, comment: &str) {
    let _ = writeln!(out, "{text:COLUMN$}# {comment}");
}
