//! The same in other words: a script that is put differently and does the same gets no lower verdict.
//!
//! `VETSH_REWRITES=FILE cargo test --test all rewrites` takes its rows from JSON lines with `cmd`, `project`, `home`.

mod quote;
mod script;
mod word;

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::corpus;
use crate::support::{Random, Sandbox, feed};

/// How many rewrites each row gets.
const EACH: u64 = 6;

/// A row and the same in other words.
struct Rewritten {
    /// Index of the row.
    row: usize,
    /// What was done, in order.
    steps: Vec<&'static str>,
    text: String,
}

/// Up to three rewrites, one on the other.
fn rewrite(script: &str, random: &mut Random) -> Option<(Vec<&'static str>, String)> {
    let mut text = script.to_owned();
    let mut steps = Vec::new();
    for _ in 0..=random.below(3) {
        if let Some((name, new)) = step(&text, random) {
            steps.push(name);
            text = new;
        }
    }
    (!steps.is_empty()).then_some((steps, text))
}

fn step(text: &str, random: &mut Random) -> Option<(&'static str, String)> {
    let commands = word::commands(text)?;
    if commands.is_empty() || random.below(3) == 0 {
        let (name, rewrite) = script::REWRITES[random.below(script::REWRITES.len())];
        return rewrite(text, random).map(|new| (name, new));
    }
    let command = &commands[random.below(commands.len())];
    let (name, rewrite) = word::REWRITES[random.below(word::REWRITES.len())];
    rewrite(text, command, random).map(|new| (name, new))
}

/// The verdicts on these scripts.
fn judge(rows: &[Value]) -> Vec<Value> {
    let sandbox = Sandbox::new("version = 1\n");
    let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let seen = feed(sandbox.command(sandbox.shim("vetsh")).args(["check", "--batch", "-"]), lines.as_bytes());
    let answers: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), rows.len(), "{}", seen.stderr);
    answers
}

fn rows() -> Vec<Value> {
    match std::env::var_os("VETSH_REWRITES") {
        Some(file) => {
            let text = std::fs::read_to_string(file).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        }
        None => corpus::commands()
            .into_iter()
            .map(|command| json!({"cmd": command, "project": "/home/user/project", "home": "/home/user"}))
            .collect(),
    }
}

/// What is told of one rewrite.
fn told(rewritten: &Rewritten, rows: &[Value], from: &Value, to: &Value) -> String {
    let why = |answer: &Value| {
        let findings = answer["findings"].as_array().unwrap();
        let reasons = findings
            .iter()
            .filter(|finding| finding["verdict"] != "allow")
            .map(|finding| finding["reason"].to_string());
        reasons.take(2).collect::<Vec<_>>().join(", ")
    };
    format!(
        "{} -> {} by {:?}\n  {}\n  {:?}\n  {} -> {}",
        from["verdict"],
        to["verdict"],
        rewritten.steps,
        rows[rewritten.row]["cmd"],
        rewritten.text,
        why(from),
        why(to)
    )
}

fn strictness(answer: &Value) -> usize {
    corpus::strictness(answer["verdict"].as_str().unwrap())
}

#[test]
fn no_rewrite_gets_a_lower_verdict() {
    let rows = rows();
    let answers = judge(&rows);
    let mut rewrites = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let script = row["cmd"].as_str().unwrap();
        // What nobody can read is not rewritten.
        if word::commands(script).is_none() || row["shell"].as_str().is_some_and(|shell| shell != "bash") {
            continue;
        }
        for seed in 0..EACH {
            let mut random = Random::new((number as u64) << 8 | seed);
            rewrites.extend(rewrite(script, &mut random).map(|(steps, text)| Rewritten { row: number, steps, text }));
        }
    }
    let put = |rewritten: &Rewritten| {
        let row = &rows[rewritten.row];
        json!({"cmd": rewritten.text, "project": row["project"], "home": row["home"]})
    };
    let after = judge(&rewrites.iter().map(put).collect::<Vec<_>>());
    let mut lower = Vec::new();
    let mut alarms: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut allowed = 0;
    for (rewritten, to) in rewrites.iter().zip(&after) {
        let from = &answers[rewritten.row];
        allowed += usize::from(strictness(from) == 0);
        if strictness(to) < strictness(from) {
            lower.push((rewritten.steps.len(), told(rewritten, &rows, from, to)));
        } else if strictness(from) == 0 && strictness(to) > 0 {
            alarms.entry(rewritten.steps.len()).or_default().push(told(rewritten, &rows, from, to));
        }
    }
    lower.sort();
    let alarmed: usize = alarms.values().map(Vec::len).sum();
    let strict = rewrites.len() - allowed;
    println!("{} lower of {strict} rewrites; {alarmed} asked of {allowed} rewrites of what is allowed", lower.len());
    for alarm in alarms.into_values().flatten() {
        println!("alarm: {alarm}");
    }
    let lower: Vec<_> = lower.into_iter().map(|(_, text)| text).collect();
    assert!(lower.is_empty(), "{} of {strict}\n{}", lower.len(), lower.join("\n"));
    // What is in doubt only because it is put in an odd way may be asked about.
    assert!(alarmed * 100 <= allowed, "{alarmed} of {allowed} rewrites of what is allowed are asked about");
}

/// Harmless scripts that show what they were given.
const SHOWN: &[&str] = &[
    "printf '[%s]' one two -rf /x/y.z",
    "basename /a/b/c.txt .txt && dirname /a/b/c",
    "for x in 1 2; do expr $x + 1; done; echo end",
    "seq 3 | sort -r | head -n 2",
    "a=one; echo \"$a\" 'two  three' four",
    "expr 2 + 3; test -d /tmp && echo yes || echo no",
    "if [ 1 = 1 ]; then echo a b; else echo c; fi; uname -s",
    "cat <<X\nhello $((1+2))\nX\necho after",
    "seq 2 > /dev/null; echo x 2>/dev/null",
    "f() { echo in f; }; f; seq 1 2",
];

/// The rewrites themselves: bash prints the same for each.
#[test]
fn a_rewrite_does_the_same_in_bash() {
    let folder = tempfile::tempdir().unwrap();
    let printed = |script: &str| {
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin").current_dir(folder.path());
        let output = bash.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    for (number, script) in SHOWN.iter().enumerate() {
        let wanted = printed(script);
        for seed in 0..40 {
            let mut random = Random::new((number as u64) << 16 | seed);
            let Some((steps, text)) = rewrite(script, &mut random) else { continue };
            // What stands before or after may print as well.
            let seen = printed(&text);
            assert!(
                seen.contains(wanted.trim_end()),
                "{steps:?}\n{script}\n{text}\nwanted {wanted:?}\nprinted {seen:?}"
            );
        }
    }
}
