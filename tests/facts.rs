//! What scripts would do, as rows: a script, and what is found in it.

mod machine;

use bstr::BString;
use vetsh::commands::Tables;
use vetsh::facts::{Facts, Places, Settings, Task, collect};
use vetsh::syntax::Dialect;

use machine::Machine;

fn facts_on(machine: &Machine, dialect: Dialect, script: &str) -> Facts {
    let task = Task {
        text: script.as_bytes(),
        name: "`-c` text".into(),
        dialect,
        zero: "bash".into(),
        positional: Vec::new(),
        before: Vec::new(),
    };
    collect(&task, machine, &Settings { places: Places::default(), tables: &Tables::builtin() })
}

/// Everything found, one item a line: `$ commands`, `effects`, `? doubts`.
fn found(facts: &Facts) -> String {
    let mut lines = Vec::new();
    for command in &facts.commands {
        let word = |word: &Option<BString>| {
            word.as_ref().map_or("…".to_owned(), |word| if word.is_empty() { "''".into() } else { word.to_string() })
        };
        let via = command.via.iter().map(|via| format!("{via}: ")).collect::<String>();
        lines.push(format!("$ {via}{}", command.argv.iter().map(word).collect::<Vec<_>>().join(" ")));
    }
    for effect in &facts.effects {
        let aspect = effect.aspect.map(|aspect| format!(".{}", aspect.word())).unwrap_or_default();
        let target = effect.target.as_ref().map(|target| format!(" {target}")).unwrap_or_default();
        lines.push(format!("{}{aspect}{target}", effect.effect.word()));
    }
    for doubt in &facts.doubts {
        lines.push(format!("? {}: {}", doubt.doubt.word(), doubt.reason));
    }
    lines.join("\n")
}

/// Effects and doubts alone, in one line.
fn effects(script: &str) -> String {
    let all = found(&facts_on(&Machine::default(), Dialect::Bash, script));
    all.lines().filter(|line| !line.starts_with('$')).collect::<Vec<_>>().join(", ")
}

/// Commands alone, in one line.
fn commands(script: &str) -> String {
    let all = found(&facts_on(&Machine::default(), Dialect::Bash, script));
    all.lines().filter_map(|line| line.strip_prefix("$ ")).collect::<Vec<_>>().join(" | ")
}

/// Compares each row's effects and doubts.
fn assert_effects(rows: &[(&str, &str)]) {
    for (script, expected) in rows {
        assert_eq!(effects(script), *expected, "{script}");
    }
}

/// Compares each row's commands.
fn assert_commands(rows: &[(&str, &str)]) {
    for (script, expected) in rows {
        assert_eq!(commands(script), *expected, "{script}");
    }
}
