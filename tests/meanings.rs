//! What shell text means, as groups of commands with the verdict that each of them gets.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Sandbox, feed};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meanings {
    group: Vec<Group>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    about: String,
    #[serde(default = "bash")]
    shell: String,
    verdict: String,
    commands: Vec<String>,
}

fn bash() -> String {
    "bash".to_owned()
}

#[test]
fn commands_mean_what_their_group_says() {
    let meanings: Meanings = toml::from_str(include_str!("meanings.toml")).unwrap();
    let rows: Vec<_> = meanings.group.iter().flat_map(|group| group.commands.iter().map(move |c| (group, c))).collect();
    let line = |(group, command): &(&Group, &String)| {
        let row = json!({
            "cmd": command, "shell": group.shell, "project": "/home/user/project", "home": "/home/user"
        });
        format!("{row}\n")
    };
    let sandbox = Sandbox::new("version = 1\n");
    let batch: String = rows.iter().map(line).collect();
    let seen = feed(sandbox.command(sandbox.shim("vetsh")).args(["check", "--batch", "-"]), batch.as_bytes());
    let answers: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), rows.len(), "{}", seen.stderr);
    let wrong = rows.iter().zip(&answers).filter(|((group, _), answer)| answer["verdict"] != *group.verdict);
    let wrong: Vec<_> = wrong.map(|((group, c), a)| format!("{}: {c:?}: got {}", group.about, a["verdict"])).collect();
    assert!(wrong.is_empty(), "{} of {}\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
