//! `vetsh check`.

use serde_json::{Value, json};

use crate::support::{Sandbox, feed, see};

const POLICY: &str = "version = 1\n[[rule]]\nid = \"no-force-push\"\nverdict = \"deny\"\ncommand = \"git push\"\n\
    flags = [\"--force\", \"-f\"]\nreason = \"rewrites published history; push to a branch instead\"\n";

fn check(arguments: &[&str]) -> crate::support::Seen {
    let sandbox = Sandbox::new(POLICY);
    see(sandbox.command(sandbox.shim("vetsh")).arg("check").args(arguments))
}

#[test]
fn the_exit_code_is_the_verdict() {
    let code = |arguments: &[&str]| check(arguments).code;
    assert_eq!(code(&["ls -l"]), Some(0));
    assert_eq!(code(&["rm -rf ~/work"]), Some(10));
    assert_eq!(code(&["git push -f origin main"]), Some(11));
    assert_eq!(code(&["--mode", "read-only", "touch x"]), Some(11));
    assert_eq!(code(&[]), Some(2));
    assert_eq!(code(&["--mode", "none", "ls"]), Some(2));
}

#[test]
fn the_text_underlines_what_is_meant() {
    let seen = check(&["echo start\nrm -rf /mnt/data"]);
    let expected = "\
ask (mode auto)

ask: deletes files outside the project
 --> -c:2:8
  |
2 | rm -rf /mnt/data
  |        ^^^^^^^^^ delete.elsewhere on /mnt/data
  |
  = note: builtin layer";
    assert_eq!(seen.stdout.split(", line").next().unwrap(), expected, "{}", seen.stdout);
}

#[test]
fn a_rule_is_named_with_its_layer_and_reason() {
    let text = check(&["git push -f origin main"]).stdout;
    for part in [
        "deny[no-force-push]: rewrites published history; push to a branch instead",
        "= note: rule `no-force-push` of the user layer, line 3",
    ] {
        assert_eq!(text.matches(part).count(), 1, "{part}\n{text}");
    }
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let text = check(&["rm -rf '/srv/\u{1b}[2J\u{202e}x'"]).stdout;
    assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text}");
}

#[test]
fn json_has_the_documented_shape() {
    let seen = check(&["--json", "echo $X; rm -rf /mnt/data"]);
    let decision: Value = serde_json::from_str(&seen.stdout).unwrap();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&decision), ["commands", "findings", "host", "mode", "policy", "verdict", "version"]);
    assert_eq!(decision["host"], "real");
    assert_eq!(decision["version"], 1);
    let finding = ["doubt", "effect", "place", "reason", "rule", "span", "target", "verdict"];
    assert!(decision["findings"].as_array().unwrap().iter().all(|found| keys(found) == finding));
    let command = ["argv", "cwd", "program", "span", "via"];
    assert!(decision["commands"].as_array().unwrap().iter().all(|found| keys(found) == command));
    let deleted: Vec<_> = decision["findings"].as_array().unwrap().iter().filter(|f| f["effect"] == "delete").collect();
    assert_eq!(deleted[0]["target"], "/mnt/data");
    assert_eq!(deleted[0]["span"], json!([16, 25]));
}

#[test]
fn bytes_that_are_no_text_are_encoded() {
    let sandbox = Sandbox::new(POLICY);
    let mut check = sandbox.command(sandbox.shim("vetsh"));
    check.args(["check", "--json"]).arg(crate::support::bytes(b"echo \xff"));
    let decision: Value = serde_json::from_str(&see(&mut check).stdout).unwrap();
    assert_eq!(decision["commands"][0]["argv"], json!(["echo", { "bytes": "/w==" }]));
}

#[test]
fn a_batch_answers_row_by_row() {
    let sandbox = Sandbox::new(POLICY);
    let rows = r#"{"id": "a", "cmd": "git status", "project": "/nowhere/project", "home": "/nowhere"}

{"id": 2, "cmd": "cat ~/.ssh/id_ed25519", "project": "/nowhere/project", "home": "/nowhere"}
{"id": "c", "cmd": "git push -f origin main", "project": "/nowhere/project", "home": "/nowhere", "shell": "sh"}
"#;
    let seen = feed(sandbox.command(sandbox.shim("vetsh")).args(["check", "--batch", "-"]), rows.as_bytes());
    let answers: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let short: Vec<_> = answers.iter().map(|answer| (answer["id"].clone(), answer["verdict"].clone())).collect();
    assert_eq!(short, [(json!("a"), json!("allow")), (json!(2), json!("ask")), (json!("c"), json!("deny"))]);
    assert_eq!(seen.code, Some(0));
}

#[test]
fn a_batch_says_which_row_it_cannot_answer() {
    let sandbox = Sandbox::new(POLICY);
    let rows = "{\"id\": \"a\"}\n{\"id\": \"b\", \"cmd\": \"ls\"}\n";
    let seen = feed(sandbox.command(sandbox.shim("vetsh")).args(["check", "--batch", "-"]), rows.as_bytes());
    let answers: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&answers[0]["id"], &answers[1]["verdict"]), (&json!("a"), &json!("allow")));
    assert!(answers[0]["error"].as_str().unwrap().starts_with("missing field `cmd`"));
    assert_eq!(seen.code, Some(2));
}

#[test]
fn a_line_of_json_is_one_line_for_every_reader() {
    let text = check(&["--json", "echo 'a\u{2028}b\u{85}c'"]).stdout;
    assert!(!text.contains(['\u{2028}', '\u{85}']), "{text}");
    assert!(text.contains(r"a\u2028b\u0085c"), "{text}");
}

#[test]
fn a_broken_policy_is_pointed_at() {
    let sandbox = Sandbox::new("version = 1\nmode = \"outo\"\n");
    let seen = see(sandbox.command(sandbox.shim("vetsh")).args(["check", "ls"]));
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""));
    assert!(seen.stderr.contains("policy.toml:2:8") && seen.stderr.contains("^^^^^^"), "{}", seen.stderr);
}
