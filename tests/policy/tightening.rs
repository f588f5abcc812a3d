//! A property of all policies: a project that nobody trusts never lowers a verdict.

use proptest::prelude::*;
use vetsh::decision::LayerKind::{Project, User};
use vetsh::facts::{Aspect, Doubt, Effect, Part};

use super::{Case, T, U};

/// One of the words.
fn word(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

fn verdict() -> impl Strategy<Value = &'static str> {
    word(&["allow", "ask", "deny"])
}

fn entries(keys: &'static [&'static str]) -> impl Strategy<Value = String> {
    let entry = (word(keys), verdict());
    prop::collection::btree_map(entry.0, entry.1, 0..4)
        .prop_map(|entries| entries.iter().map(|(key, verdict)| format!("\"{key}\" = \"{verdict}\"\n")).collect())
}

/// A rule without its id.
fn rule() -> impl Strategy<Value = String> {
    let matchers = word(&[
        "command = \"git push\"",
        "command = [\"make\", \"git\"]",
        "command = \"*\"",
        "arguments = \"main\"",
        "effect = \"write\"",
        "effect = [\"send\", \"publish\"]\ncommand = \"git\"",
        "place = \"home\"",
        "path = \"~/x\"",
        "flags = \"-f\"",
    ]);
    (verdict(), matchers)
        .prop_map(|(verdict, matchers)| format!("verdict = \"{verdict}\"\nreason = \"r\"\n{matchers}\n"))
}

fn layer(modes: &'static [&'static str], places: &'static [&'static str]) -> impl Strategy<Value = String> {
    let effects = entries(&["*", "write", "write.home", "write.project", "send", "publish", "delete.temp", "inspect"]);
    let doubts = entries(&["*", "path", "argument"]);
    (word(modes), effects, doubts, word(places), prop::collection::vec(rule(), 0..4)).prop_map(
        |(mode, effects, doubts, places, rules)| {
            let rules = rules.iter().enumerate().map(|(at, rule)| format!("[[rule]]\nid = \"r{at}\"\n{rule}"));
            let rules = rules.collect::<String>();
            format!("version = 1\n{mode}\n[effects]\n{effects}[doubts]\n{doubts}[places]\n{places}\n{rules}")
        },
    )
}

fn case() -> impl Strategy<Value = Case> {
    let effects = prop::sample::select(vec![
        (Effect::Write, Some(Aspect::Home)),
        (Effect::Write, Some(Aspect::Project)),
        (Effect::Write, Some(Aspect::Startup)),
        (Effect::Read, Some(Aspect::Secret)),
        (Effect::Delete, Some(Aspect::Root)),
        (Effect::Send, None),
        (Effect::Publish, None),
        (Effect::Inspect, None),
    ]);
    let parts = prop::sample::select(vec![Part::Own, Part::Redirection, Part::Nested]);
    let commands = word(&["git push origin main", "make -f x", "git push ?", "echo hi"]);
    let targets = word(&["/home/user/x", "/home/user/app/a", "/etc/x"]);
    (effects, prop::option::of(targets), commands, parts, any::<bool>()).prop_map(
        |((effect, aspect), target, command, part, doubt)| {
            let case = if doubt { Case::of_doubt(Doubt::Path) } else { Case::of_effect(effect, aspect) };
            let case = case.by(command).part(part);
            match target.filter(|_| !doubt) {
                Some(target) => case.on(target),
                None => case,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_project_never_lowers_a_verdict_without_trust(
        user in layer(&["", "mode = \"read-only\"", "mode = \"ask\"", "mode = \"auto\"", "mode = \"full\""],
                      &["", "project = \"~/x\"", "secret = \"~/**\""]),
        project in layer(&["", "mode = \"read-only\"", "mode = \"ask\"", "mode = \"auto\""],
                         &["", "project = \"~/**\"", "temp = \"~/**\"", "secret = [\"/etc/**\", \"~/x\"]", "startup = \"~/**\""]),
        case in case(),
    ) {
        let alone = case.decision(&[(User, T, &user)]).verdict;
        let together = case.decision(&[(User, T, &user), (Project, U, &project)]).verdict;
        prop_assert!(together >= alone, "{alone:?} {together:?}\n{user}\n{project}");
    }
}
