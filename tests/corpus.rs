//! Rows of commands and what is said about them, judged in mode `auto` against an assumed machine.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Sandbox, feed};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    command: String,
    /// Of an attack: the least strict one that will do.
    verdict: String,
    /// `effect.place` of findings that there must be.
    #[serde(default)]
    effects: Vec<String>,
    /// The rule that must be among the findings.
    rule: Option<String>,
    /// The line in docs/attacks.md.
    attack: Option<String>,
}

/// How many rows each file has at least: rows are added, not taken away.
const ROWS: [(&str, usize); 2] = [("attacks", 117), ("work", 46)];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn corpus(name: &str) -> Vec<Case> {
    let text = fs::read_to_string(root().join(format!("tests/corpus/{name}.toml"))).unwrap();
    toml::from_str::<Corpus>(&text).unwrap().case
}

/// The commands of all rows.
pub fn commands() -> Vec<String> {
    ROWS.iter().flat_map(|(name, _)| corpus(name)).map(|case| case.command).collect()
}

/// How strict a verdict is; more is stricter.
pub fn strictness(verdict: &str) -> usize {
    ["allow", "ask", "deny"].iter().position(|known| *known == verdict).unwrap()
}

/// What is wrong with the answers to these rows.
fn faults(cases: &[Case]) -> Vec<String> {
    let sandbox = Sandbox::new("version = 1\n");
    let row = |case: &Case| json!({"cmd": case.command, "project": "/home/user/project", "home": "/home/user"});
    let rows: String = cases.iter().map(|case| format!("{}\n", row(case))).collect();
    let seen = feed(sandbox.command(sandbox.shim("vetsh")).args(["check", "--batch", "-"]), rows.as_bytes());
    let answers: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), cases.len(), "{}", seen.stderr);
    cases.iter().zip(&answers).filter_map(|(case, answer)| fault(case, answer)).collect()
}

fn fault(case: &Case, answer: &Value) -> Option<String> {
    let verdict = answer["verdict"].as_str().unwrap();
    let findings = answer["findings"].as_array().unwrap();
    let word = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let effects: Vec<String> = findings.iter().map(|f| format!("{}.{}", word(f, "effect"), word(f, "place"))).collect();
    let laxer = strictness(verdict) < strictness(&case.verdict);
    let other = case.attack.is_none() && verdict != case.verdict;
    let missing = case.effects.iter().find(|effect| !effects.contains(effect));
    let rule = case.rule.as_ref().filter(|rule| !findings.iter().any(|f| f["rule"] == ***rule));
    let found: Vec<_> = findings.iter().filter(|f| f["verdict"] != "allow").map(|f| word(f, "reason")).collect();
    (laxer || other || missing.is_some() || rule.is_some())
        .then(|| format!("{:?}: wanted {}, got {verdict} {missing:?} {rule:?} {found:?}", case.command, case.verdict))
}

#[test]
fn rows_get_their_verdict() {
    for (name, least) in ROWS {
        let cases = corpus(name);
        assert!(cases.len() >= least, "{name} has lost rows: {} of {least}", cases.len());
        let faults = faults(&cases);
        assert!(faults.is_empty(), "{name}: {} of {}\n{}", faults.len(), cases.len(), faults.join("\n"));
    }
}

/// The test above sees what it is meant to see.
#[test]
fn a_wrong_row_is_found() {
    let case = |command: &str, verdict: &str, effects: &[&str], attack: Option<&str>| Case {
        command: command.to_owned(),
        verdict: verdict.to_owned(),
        effects: effects.iter().map(|effect| (*effect).to_owned()).collect(),
        rule: None,
        attack: attack.map(str::to_owned),
    };
    let cases = [
        case("rm -rf /", "ask", &[], Some("x")),
        case("rm -rf /", "ask", &[], None),
        case("ls", "ask", &[], Some("x")),
        case("ls", "allow", &["delete.home"], None),
    ];
    let wrong: Vec<_> = faults(&cases).iter().map(|fault| fault.split(':').next().unwrap().to_owned()).collect();
    assert_eq!(wrong, ["\"rm -rf /\"", "\"ls\"", "\"ls\""]);
}

/// Every attack of the rows has its line in the ledger, and every line that names rows has them.
#[test]
fn the_ledger_of_attacks_is_complete() {
    let ledger = fs::read_to_string(root().join("docs/attacks.md")).unwrap();
    let lines: Vec<(&str, &str)> = ledger
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |")?.split_once(" | "))
        .filter(|(name, _)| *name != "attack")
        .collect();
    for (name, answer) in &lines {
        let rows = corpus("attacks").iter().filter(|case| case.attack.as_deref() == Some(name)).count();
        assert_eq!(rows > 0, !answer.starts_with("limit:"), "{name}: {answer}");
    }
    for attack in corpus("attacks").iter().map(|case| case.attack.clone().unwrap()) {
        assert!(lines.iter().any(|(name, _)| *name == attack), "docs/attacks.md lacks {attack}");
    }
}
