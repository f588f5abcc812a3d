//! Fuzzing: whatever is given to the option models, the readers, the facts and the policy loader, none panics, overflows
//! its stack, loses a byte or takes long.
//!
//! `cargo test --test fuzz` tries a few thousand inputs from a fixed seed; `VETSH_FUZZ=3600 cargo test --release --test
//! fuzz -- --nocapture` goes on for an hour from another seed each time. Inputs are made from commands of the corpus by
//! cutting, doubling, nesting and splicing. What fails is made as short as it still fails, and printed.

#![allow(missing_docs, unreachable_pub, reason = "nothing here is used from outside")]
#![allow(
    clippy::expect_used,
    clippy::format_push_string,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that panics has failed, which is its job, and it may be slow to build a text"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use bstr::{BStr, BString, ByteSlice};
use vetsh::commands::Tables;
use vetsh::decision::LayerKind;
use vetsh::diagnostic::Span;
use vetsh::facts::{self, Places, Settings, Task};
use vetsh::host::AssumedHost;
use vetsh::policy;
use vetsh::shell::Shell;
use vetsh::syntax::model::{Command, Script};
use vetsh::syntax::{self, Dialect};

#[allow(dead_code)]
mod support;

use support::{Random, spent};

const DIALECTS: [Dialect; 5] = [Dialect::Bash, Dialect::BashPosix, Dialect::Dash, Dialect::Zsh, Dialect::ZshSh];
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Dash];
/// Commands that mutations begin with.
const CORPUS: [&str; 2] = [include_str!("corpus/attacks.toml"), include_str!("corpus/work.toml")];
/// A policy that mutations begin with.
const POLICY: &str = include_str!("../src/policy/builtin.toml");
/// What is put between the cuts of a command.
const PIECES: &str = "; & && || | |& ( ) { } (( )) $(( $( ` \" ' \\ ${ } ${x:- ${x/ ${!x} ${x[0]} $[ [ ] [[ ]] =~ < > >> <<E \
    <<-'E' <<< <( >( 2>&1 {fd}> &> $' $\" # ! time coproc function f() a= a=( case in esac ;; if then elif else fi for do done \
    while until select = ~ * ? {a,b} {1..9} eval exec sh -c xargs find -exec \\; {} sudo env cd rm -rf set -- trap EXIT $@ $* $# \
    $0 $1 export local read printf -v \\\n \n \t \r \0 \u{e9} --";
/// The longest input, in bytes.
const LONGEST: usize = 10 * 1024;
/// The most that a run over an input of that length may take of the processor; a debug build is some thirty times slower.
const PATIENCE: Duration = Duration::from_millis(if cfg!(debug_assertions) { 3000 } else { 100 });
/// The stack that the main thread of a program has.
const STACK: usize = 8 << 20;

/// What is fuzzed: an input, and the number of the case, which chooses the shell or the dialect.
type Target = fn(&[u8], usize) -> Result<(), String>;
const TARGETS: [(&str, Target); 4] = [("options", options), ("syntax", syntax), ("facts", facts), ("policy", policy)];

#[test]
fn nothing_panics_or_is_lost() {
    let time = std::env::var("VETSH_FUZZ").ok().and_then(|seconds| seconds.parse().ok()).map(Duration::from_secs);
    let fuzz = move || fuzz(time);
    let failures = std::thread::Builder::new().stack_size(STACK).spawn(fuzz).unwrap().join().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// Tries inputs until the time is over, or a fixed number of them; what failed.
fn fuzz(time: Option<Duration>) -> Vec<String> {
    let start = Instant::now();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut random = Random::new(time.map_or(1, |_| now));
    let seeds = seeds();
    let mut failures = Vec::new();
    for number in 0.. {
        if failures.len() == 20 || time.map_or(number == 1500, |time| start.elapsed() >= time) {
            println!("{number} inputs in {:?}", start.elapsed());
            break;
        }
        let (name, target) = TARGETS[number % TARGETS.len()];
        let input =
            if name == "policy" { mutated(POLICY.as_bytes(), &seeds, &mut random) } else { input(&seeds, &mut random) };
        let choice = random.below(DIALECTS.len());
        if time.is_some() {
            // A stack that overflows takes the process with it: this tells by what.
            let _ = std::fs::write(std::env::temp_dir().join("vetsh-fuzz-last"), &input);
        }
        if let Err(why) = run(target, &input, choice) {
            let (input, why) = shortest(target, input, choice, why);
            let failure = format!("{name} {choice}: {why}: {:?}", BStr::new(&input));
            println!("{failure}");
            failures.push(failure);
        }
    }
    failures
}

/// Runs one target on one input; how it failed.
fn run(target: Target, input: &[u8], choice: usize) -> Result<(), String> {
    let start = spent();
    let result = catch_unwind(AssertUnwindSafe(|| target(input, choice))).unwrap_or_else(|_| Err("panics".to_owned()));
    if spent().saturating_sub(start) > PATIENCE { Err("takes too long".to_owned()) } else { result }
}

/// The shortest input found that fails in the same way.
fn shortest(
    target: fn(&[u8], usize) -> Result<(), String>,
    mut input: Vec<u8>,
    choice: usize,
    why: String,
) -> (Vec<u8>, String) {
    let mut size = input.len() / 2;
    let mut tries = 500;
    while size > 0 && tries > 0 {
        let mut at = 0;
        while at < input.len() && tries > 0 {
            let mut less = input.clone();
            less.drain(at..(at + size).min(input.len()));
            tries -= 1;
            if run(target, &less, choice).as_ref() == Err(&why) {
                input = less;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    (input, why)
}

/// The commands of the corpus.
fn seeds() -> Vec<BString> {
    let command = |case: &toml::Value| case.get("command").and_then(toml::Value::as_str).map(BString::from);
    let cases = |text: &str| -> Vec<BString> {
        let table: toml::Table = text.parse().unwrap();
        table["case"].as_array().unwrap().iter().filter_map(command).collect()
    };
    CORPUS.iter().flat_map(|text| cases(text)).collect()
}

/// An input from a few commands.
fn input(seeds: &[BString], random: &mut Random) -> Vec<u8> {
    let mut input = seeds[random.below(seeds.len())].to_vec();
    for _ in 0..random.below(4) {
        input = mutated(&input, seeds, random);
    }
    // Now and then a long one, of one part many times.
    if random.below(20) == 0 && !input.is_empty() {
        let (start, length) = (random.below(input.len()), random.below(40) + 1);
        let part = input[start..(start + length).min(input.len())].to_vec();
        let part = part.repeat((LONGEST - input.len().min(LONGEST)) / part.len());
        input.splice(start..start, part);
    }
    input.truncate(LONGEST);
    input
}

/// One change to an input.
fn mutated(input: &[u8], seeds: &[BString], random: &mut Random) -> Vec<u8> {
    let at = random.below(input.len() + 1);
    let (before, after) = input.split_at(at);
    let pieces: Vec<&str> = PIECES.split(' ').collect();
    let piece = random.pick(&pieces).as_bytes();
    let seed = seeds[random.below(seeds.len())].as_slice();
    match random.below(9) {
        0 => [before, piece, after].concat(),
        1 => [before, b" ", piece, b" ", after].concat(),
        2 => [before, after.get(random.below(8)..).unwrap_or_default()].concat(),
        3 => [before, seed].concat(),
        4 => [before, b"$(", seed, b")", after].concat(),
        5 => [b"sh -c '", input.replace("'", "'\\''").as_slice(), b"'"].concat(),
        6 => [before, before, after].concat(),
        7 => [before, &[u8::try_from(random.below(256)).unwrap()], after].concat(),
        _ => [input, b"\n", seed].concat(),
    }
}

/// The option models: the words of an input as a call of a shell.
fn options(input: &[u8], choice: usize) -> Result<(), String> {
    let words: Vec<&BStr> = input.split(u8::is_ascii_whitespace).map(BStr::new).collect();
    let shell = SHELLS[choice % SHELLS.len()];
    let _ = shell.read(&words);
    // The same as the text of `-c`, which must come out as it went in, if it is no option.
    let call = [BStr::new("sh"), BStr::new("-c"), BStr::new(input)];
    match shell.read(&call).source {
        vetsh::shell::Source::Text(text) if text == input => Ok(()),
        _ if matches!(input.first(), Some(b'-' | b'+')) => Ok(()),
        source => Err(format!("is read as {source:?}")),
    }
}

/// The readers: every byte that is no separator is in a statement or in doubt.
fn syntax(input: &[u8], choice: usize) -> Result<(), String> {
    let script = syntax::read(input, DIALECTS[choice]);
    // Comments and the bodies of here-documents stand in no statement.
    if input.contains(&b'#') || input.contains_str("<<") {
        return Ok(());
    }
    let spans = spans(&script);
    let mut at = 0;
    while let Some(byte) = input.get(at) {
        if let Some(span) = spans.iter().filter(|span| span.start <= at && at < span.end).max_by_key(|span| span.end) {
            at = span.end;
        } else if b" \t\n\r;&|\\".contains(byte) {
            at += 1;
        } else {
            return Err("loses a byte".to_owned());
        }
    }
    Ok(())
}

/// What was read and what is in doubt.
fn spans(script: &Script) -> Vec<Span> {
    let statements = script.body.iter().map(|statement| span(&statement.command));
    statements.chain(script.doubts.iter().map(|doubt| doubt.span)).collect()
}

fn span(command: &Command) -> Span {
    match command {
        Command::Simple(simple) => simple.span,
        Command::Pipeline(pipeline) => pipeline.span,
        Command::List(list) => list.rest.iter().fold(span(&list.first), |all, (_, next)| all.join(span(next))),
        Command::Compound(compound) => compound.span,
        Command::Function(function) => function.span,
        Command::Coproc(coproc) => coproc.span,
        Command::Opaque(opaque) => opaque.span,
    }
}

/// The facts of a script.
fn facts(input: &[u8], choice: usize) -> Result<(), String> {
    let task = Task {
        text: input,
        name: "`-c` text".into(),
        dialect: DIALECTS[choice],
        zero: "sh".into(),
        positional: Vec::new(),
        before: Vec::new(),
    };
    let host = AssumedHost::new(Path::new("/home/u/p"), Path::new("/home/u"));
    let tables = Tables::builtin();
    let facts = facts::collect(&task, &host, &Settings { places: Places::default(), tables: &tables });
    let known =
        |at: facts::Location| facts.scripts.get(at.script).is_some_and(|script| at.span.end <= script.text.len());
    let all = facts.commands.iter().map(|fact| fact.at).chain(facts.effects.iter().map(|fact| fact.at));
    let all = all.chain(facts.doubts.iter().map(|fact| fact.at));
    if all.into_iter().all(known) { Ok(()) } else { Err("points outside of its text".to_owned()) }
}

/// The policy loader.
fn policy(input: &[u8], choice: usize) -> Result<(), String> {
    let text = String::from_utf8_lossy(input);
    let kind = [LayerKind::User, LayerKind::Project, LayerKind::System][choice % 3];
    match policy::compile(&text, kind) {
        Err(problems) if problems.is_empty() => Err("fails without a problem".to_owned()),
        _ => Ok(()),
    }
}
