//! Compiles `src/commands/*.toml` into static tables, so that a start parses none of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a panic here fails the build, which is how a broken table is told"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

use commands::recipe::Recipe;
use commands::schema::{
    Case, Condition, EffectSpec, Kind, Name, OperandSpec, OptionSpec, Program, Repeat, Role, Setting, Shell, Takes,
    Target, Text, Token,
};
use diagnostic::Diagnostic;

#[path = "build/languages.rs"]
mod languages;

#[path = "src/commands"]
#[allow(dead_code, missing_docs, unreachable_pub, unused_imports)]
mod commands {
    pub mod clause;
    pub mod language;
    pub mod load;
    pub mod notation;
    pub mod recipe;
    pub mod schema;
}

#[path = "src/advice.rs"]
#[allow(dead_code)]
mod advice;

#[path = "src/toml_text.rs"]
#[allow(dead_code, missing_docs)]
mod toml_text;

#[path = "src/diagnostic.rs"]
#[allow(dead_code, unreachable_pub)]
mod diagnostic;

#[path = "src/facts"]
#[allow(dead_code, missing_docs, unreachable_pub, unused_imports)]
mod facts {
    pub mod kind;
}

#[path = "build/policy.rs"]
mod policy;

#[path = "build/preamble.rs"]
mod preamble;

fn main() -> ExitCode {
    policy::compile();
    if let Err(fault) = preamble::compile() {
        println!("cargo::error={fault}");
        return ExitCode::FAILURE;
    }
    println!("cargo::rerun-if-changed=src/commands");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    let result = read_tables(Path::new("src/commands")).and_then(|programs| {
        let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
        fs::write(out.join("tables.rs"), render(&programs)).map_err(|error| vec![error.to_string()])?;
        let languages = fs::read_to_string("src/commands/languages.toml").map_err(|error| vec![error.to_string()])?;
        let languages = languages::compile(&languages).map_err(|fault| vec![format!("languages.toml: {fault}")])?;
        fs::write(out.join("languages.rs"), languages).map_err(|error| vec![error.to_string()])
    });
    let Err(faults) = result else { return ExitCode::SUCCESS };
    for fault in faults {
        println!("cargo::error={fault}");
    }
    ExitCode::FAILURE
}

/// All entries of all files, or what is wrong with them as `path:line: message`.
fn read_tables(folder: &Path) -> Result<Vec<Program>, Vec<String>> {
    let list = || -> io::Result<Vec<PathBuf>> {
        let paths =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
        let table = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "toml");
        // What calls do in a language is not a table of programs.
        Ok(paths.into_iter().filter(|path| table(path) && !path.ends_with("languages.toml")).collect())
    };
    let mut paths = list().map_err(|error| vec![format!("{}: {error}", folder.display())])?;
    paths.sort();
    let mut programs: Vec<Program> = Vec::new();
    let mut faults = Vec::new();
    let mut owners: BTreeMap<Text, PathBuf> = BTreeMap::new();
    for path in paths {
        let text = fs::read_to_string(&path).map_err(|error| vec![format!("{}: {error}", path.display())])?;
        match commands::load::load(&text, &path) {
            Ok(found) => {
                for name in found.iter().flat_map(|program| program.names.iter()).map(|name| &name.text) {
                    if let Some(owner) = owners.insert(name.clone(), path.clone()) {
                        faults.push(format!("{}: `{name}` is also in {}", path.display(), owner.display()));
                    }
                }
                programs.extend(found);
            }
            Err(found) => faults.extend(found.iter().map(|fault| render_fault(fault, &text))),
        }
    }
    if faults.is_empty() { Ok(programs) } else { Err(faults) }
}

fn render_fault(fault: &Diagnostic, text: &str) -> String {
    let start = fault.span.map_or(0, |span| span.start);
    let line = text.get(..start).unwrap_or_default().matches('\n').count() + 1;
    format!("{}:{line}: {}", fault.path.display(), fault.message.replace('\n', " "))
}

/// The tables as Rust: one static per entry, and the names in order.
fn render(programs: &[Program]) -> String {
    let mut out = String::new();
    let mut names: Vec<(&Name, usize)> = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let _ = writeln!(out, "static P{index}: Program = {};", render_program(program));
        names.extend(program.names.iter().map(|name| (name, index)));
    }
    names.sort_unstable_by_key(|(name, _)| &*name.text);
    let (globs, literals): (Vec<_>, Vec<_>) = names.into_iter().partition(|(name, _)| name.text.contains('*'));
    for (list, names) in [("NAMES", literals), ("GLOBS", globs)] {
        let rows = names.iter().map(|(name, index)| format!("({:?}, {:?}, &P{index}),\n", name.text, name.main));
        let rows: String = rows.collect();
        let _ = writeln!(out, "pub(super) static {list}: &[Row] = &[{rows}];");
    }
    out
}

fn render_program(program: &Program) -> String {
    let Program {
        names,
        style,
        subcommands,
        parent,
        everywhere,
        options,
        operands,
        cases,
        effects,
        inspect,
        dry,
        recipes,
        environment,
        settings,
        other,
        unlisted,
        appends,
        stops,
        builtin,
        standard,
        reason,
    } = program;
    let style = option(style.as_ref(), |style| format!("Style::{style:?}"));
    let other = option(other.as_ref(), kind);
    let unlisted = option(unlisted.as_ref(), kind);
    let shell = |shell: &Shell| format!("Shell::{shell:?}");
    format!(
        "Program {{ names: {}, style: {style}, subcommands: {subcommands}, parent: {parent}, everywhere: {everywhere}, options: {}, \
         operands: {}, cases: {}, effects: {}, inspect: {}, dry: {}, recipes: {}, environment: {}, settings: {}, other: {other}, \
         unlisted: {unlisted}, appends: {appends}, stops: {}, builtin: {}, standard: {standard}, reason: B({reason:?}) }}",
        list(names, name),
        list(options, option_spec),
        list(operands, operand),
        list(cases, case),
        list(effects, effect),
        list(inspect, text),
        list(dry, text),
        list(recipes, recipe),
        list(environment, setting),
        list(settings, setting),
        list(stops, text),
        list(builtin, shell),
    )
}

fn list<T>(items: &[T], render: impl Fn(&T) -> String) -> String {
    let items: Vec<_> = items.iter().map(render).collect();
    format!("B(&[{}])", items.join(", "))
}

fn option<T>(item: Option<&T>, render: impl Fn(&T) -> String) -> String {
    item.map_or_else(|| "None".into(), |item| format!("Some({})", render(item)))
}

fn text(text: &Text) -> String {
    format!("B({text:?})")
}

fn name(name: &Name) -> String {
    format!("Name {{ text: {}, main: {} }}", text(&name.text), text(&name.main))
}

fn kind(kind: &Kind) -> String {
    let aspect = option(kind.aspect.as_ref(), |aspect| format!("Aspect::{aspect:?}"));
    format!("Kind {{ effect: Effect::{:?}, aspect: {aspect} }}", kind.effect)
}

fn role(role: &Role) -> String {
    match role {
        Role::Script(language) => format!("Role::Script(Language::{language:?})"),
        Role::Load(language) => format!("Role::Load(Language::{language:?})"),
        Role::Code(language) => format!("Role::Code(Language::{language:?})"),
        Role::Command { kind, remote } => format!("Role::Command {{ kind: TailKind::{kind:?}, remote: {remote} }}"),
        role => format!("Role::{role:?}"),
    }
}

fn option_spec(spec: &OptionSpec) -> String {
    let takes = match spec.takes {
        Takes::Nothing => "TN",
        Takes::Optional => "TO",
        Takes::Required => "TR",
        Takes::Many => "TM",
    };
    let second = option(spec.second.as_ref(), role);
    format!(
        "OptionSpec {{ names: {}, takes: {takes}, role: {}, second: {second} }}",
        text(&spec.names),
        role(&spec.role)
    )
}

fn operand(spec: &OperandSpec) -> String {
    let repeat = match spec.repeat {
        Repeat::One => "RO",
        Repeat::Many => "RM",
        Repeat::Assignments => "RA",
    };
    format!("OperandSpec {{ role: {}, repeat: {repeat} }}", role(&spec.role))
}

fn case(case: &Case) -> String {
    let operands = option(case.operands.as_ref(), |operands| list(operands, operand));
    format!(
        "Case {{ when: {}, operands: {operands}, effects: {} }}",
        condition(&case.when),
        list(&case.effects, effect)
    )
}

fn effect(spec: &EffectSpec) -> String {
    let on = match &spec.on {
        Target::Option(name) => format!("Target::Option({})", text(name)),
        Target::Path(path) => format!("Target::Path({})", text(path)),
        Target::Work(work) => format!("Target::Work(crate::facts::kind::Work::{work:?})"),
        target => format!("Target::{target:?}"),
    };
    let (kind, when, reason) = (kind(&spec.kind), condition(&spec.when), text(&spec.reason));
    format!("EffectSpec {{ kind: {kind}, on: {on}, when: {when}, reason: {reason} }}")
}

fn condition(condition: &Condition) -> String {
    let clauses = list(&condition.all, |clause| list(clause, token));
    format!("Condition {{ all: {clauses}, unless: {} }}", list(&condition.unless, token))
}

fn token(token: &Token) -> String {
    match token {
        Token::Option(name) => format!("Token::Option({})", text(name)),
        Token::Value(name, glob) => format!("Token::Value({}, {})", text(name), text(glob)),
        Token::First(glob) => format!("Token::First({})", text(glob)),
        Token::Word(glob) => format!("Token::Word({})", text(glob)),
        token => format!("Token::{token:?}"),
    }
}

fn recipe(recipe: &Recipe) -> String {
    let Recipe { language, files, parts, when } = recipe;
    let (files, parts, when) = (list(files, text), list(parts, text), condition(when));
    format!("Recipe {{ language: Language::{language:?}, files: {files}, parts: {parts}, when: {when} }}")
}

fn setting(setting: &Setting) -> String {
    format!("Setting {{ name: {}, role: {} }}", text(&setting.name), role(&setting.role))
}
