//! `docs/policy.md`: every example loads, every key is told of.

use std::path::Path;

use vetsh::decision::LayerKind;
use vetsh::facts::kind::{Doubt, Effect};
use vetsh::policy::layer::compile_file;

const DOCUMENT: &str = include_str!("../../docs/policy.md");

/// The code blocks, with the rank of the layer that they are an example of.
fn examples(text: &str) -> Vec<(LayerKind, String)> {
    let blocks = text.split("\n```").collect::<Vec<_>>();
    let block = |block: &&str| {
        let (head, body) = block.split_once('\n')?;
        match head {
            "toml" => Some((LayerKind::User, body.to_owned())),
            "toml system" => Some((LayerKind::System, body.to_owned())),
            _ => None,
        }
    };
    blocks.iter().filter_map(block).collect()
}

#[test]
fn every_example_loads() {
    let examples = examples(DOCUMENT);
    assert!(examples.len() >= 9, "{}", examples.len());
    for (kind, text) in examples {
        let faults = compile_file(Path::new("docs/policy.md"), &text, kind).err().unwrap_or_default();
        let told = faults.iter().map(|fault| fault.render(text.as_bytes())).collect::<Vec<_>>();
        assert!(told.is_empty(), "{}\n{text}", told.join("\n"));
    }
}

#[test]
fn every_word_is_told_of() {
    let effects = Effect::ALL.iter().map(|effect| effect.word());
    let doubts = Doubt::ALL.iter().map(|doubt| doubt.word());
    let keys = ["version", "mode", "lock", "effects", "doubts", "places", "rule", "wrapper", "shell", "ask", "audit"];
    let matchers =
        ["command", "flags", "arguments", "environment", "effect", "place", "path", "host", "origin", "shell"];
    let others = ["reason", "examples", "pipe", "terminal", "wait", "program", "unattended", "on_error", "grammar"];
    let words = effects.chain(doubts).chain(keys).chain(matchers).chain(others);
    let missing = words.filter(|word| !DOCUMENT.contains(word)).collect::<Vec<_>>();
    assert!(missing.is_empty(), "{missing:?}");
}
