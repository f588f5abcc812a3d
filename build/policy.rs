//! Compiles `src/policy/builtin.toml` into static data, so that the shipped layer costs nothing at run time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;
use toml::Spanned;

const SOURCE: &str = "src/policy/builtin.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Builtin {
    version: u32,
    mode: Spanned<String>,
    modes: [String; 4],
    effects: BTreeMap<Spanned<String>, [String; 4]>,
    doubts: BTreeMap<Spanned<String>, [String; 4]>,
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: Spanned<String>,
    verdict: String,
    effect: Vec<String>,
    reason: String,
    floor: bool,
}

/// Writes `policy.rs` into the build's output folder.
pub(crate) fn compile() {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed=build/policy.rs");
    let text = fs::read_to_string(SOURCE).expect(SOURCE);
    let builtin: Builtin = toml::from_str(&text).unwrap_or_else(|error| panic!("{SOURCE}: {error}"));
    assert_eq!(builtin.version, 1, "{SOURCE}: unknown version");
    assert_eq!(builtin.modes, ["read-only", "ask", "auto", "full"], "{SOURCE}: `modes` is an order, not a choice");
    let line = |key: &Spanned<String>| text.as_bytes()[..key.span().start].split(|&byte| byte == b'\n').count();

    let mut out = format!(
        "/// Tells this build's compiled policies from others'.\npub(super) const BUILD: u64 = u64::from_be_bytes({:?});\n",
        build().to_be_bytes()
    );
    let mode = variant(builtin.mode.get_ref());
    writeln!(out, "pub(super) const MODE: (Mode, u32) = (Mode::{mode}, {});", line(&builtin.mode)).unwrap();
    writeln!(out, "pub(super) static EFFECTS: &[Row<Effects>] = &[").unwrap();
    for (key, verdicts) in &builtin.effects {
        writeln!(out, "    {},", row(&effects(key.get_ref()), verdicts, line(key))).unwrap();
    }
    writeln!(out, "];\npub(super) static DOUBTS: &[Row<Option<Doubt>>] = &[").unwrap();
    for (key, verdicts) in &builtin.doubts {
        let doubt =
            if key.get_ref() == "*" { "None".into() } else { format!("Some(Doubt::{})", variant(key.get_ref())) };
        writeln!(out, "    {},", row(&doubt, verdicts, line(key))).unwrap();
    }
    writeln!(out, "];\n/// The floors.\npub static FLOORS: &[Floor] = &[").unwrap();
    for rule in &builtin.rule {
        assert!(rule.floor, "{SOURCE}: a shipped rule is a floor: {}", rule.id.get_ref());
        let effects = rule.effect.iter().map(|effect| effects(effect)).collect::<Vec<_>>().join(", ");
        let (id, reason, verdict) = (rule.id.get_ref(), &rule.reason, variant(&rule.verdict));
        let at = line(&rule.id);
        writeln!(out, "    Floor {{ id: {id:?}, verdict: Verdict::{verdict}, effects: &[{effects}], reason: {reason:?}, line: {at} }},").unwrap();
    }
    out.push_str("];\n");
    let target = Path::new(&env::var_os("OUT_DIR").expect("OUT_DIR")).join("policy.rs");
    fs::write(target, out).expect("policy.rs");
}

/// A digest of everything that gives a compiled policy its meaning; the same sources give the same build.
fn build() -> u64 {
    let folder =
        fs::read_dir("src/policy").expect("src/policy").chain(fs::read_dir("src/policy/layer").expect("layer"));
    let mut files = folder.map(|entry| entry.expect("entry").path()).filter(|path| path.is_file()).collect::<Vec<_>>();
    files.extend(["src/facts/effect.rs", "src/facts/kind.rs", "src/decision.rs", "Cargo.lock"].map(Into::into));
    files.extend(
        ["clause", "language", "load", "notation", "recipe", "schema"]
            .map(|module| format!("src/commands/{module}.rs").into()),
    );
    files.sort();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        for byte in fs::read(&file).expect("source") {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash
}

fn row(of: &str, verdicts: &[String; 4], line: usize) -> String {
    let verdicts = verdicts.iter().map(|word| format!("Verdict::{}", variant(word))).collect::<Vec<_>>().join(", ");
    format!("Row {{ of: {of}, verdicts: [{verdicts}], line: {line} }}")
}

/// The pattern written `effect`, `effect.aspect` or `*`.
fn effects(key: &str) -> String {
    let (effect, aspect) = match key.split_once('.') {
        Some((effect, aspect)) => (effect, format!("Some(Aspect::{})", variant(aspect))),
        None => (key, "None".into()),
    };
    let effect = if effect == "*" { "None".into() } else { format!("Some(Effect::{})", variant(effect)) };
    format!("Effects {{ effect: {effect}, aspect: {aspect} }}")
}

/// The name of the variant for a word of the policy: `read-only` is `ReadOnly`. A word that is none fails to compile.
fn variant(word: &str) -> String {
    let capital = |part: &str| part[..1].to_uppercase() + &part[1..];
    word.split('-').map(capital).collect()
}
