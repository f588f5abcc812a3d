//! Which module may use which, and where each kind of line lives.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a module of the library may use of the others; a module that is not listed may use all of them.
const MAY_USE: &[(&str, &[&str])] = &[
    ("syntax", &["diagnostic", "facts"]),
    ("advice", &[]),
    ("toml_text", &["advice", "diagnostic"]),
    ("commands", &["advice", "diagnostic", "facts", "syntax", "host", "toml_text"]),
    ("facts", &["commands", "diagnostic", "host", "shell", "syntax"]),
    ("decision", &["diagnostic", "facts", "syntax"]),
    ("diagnostic", &[]),
    ("excerpt", &["diagnostic", "terminal_text"]),
    ("explain", &["decision", "diagnostic", "excerpt", "facts", "terminal_text"]),
    ("exit", &[]),
    ("host", &["paths"]),
    ("paths", &[]),
    ("terminal_text", &[]),
    ("invocation", &["paths"]),
    ("policy", &["advice", "commands", "decision", "diagnostic", "facts", "host", "paths", "syntax", "toml_text"]),
    ("audit", &["approval", "decision", "diagnostic", "explain", "facts", "host", "paths", "terminal_text"]),
    ("exec", &["audit", "invocation", "paths", "shell"]),
];

/// Modules that see the machine through `host::Host` only, and what of them may touch it all the same.
const PURE: &[(&str, &[&str])] = &[
    ("syntax", &[]),
    ("facts", &[]),
    ("commands", &["commands/user.rs"]),
    ("policy", &["policy/layer"]),
    ("decision", &[]),
    ("explain", &[]),
    ("excerpt", &[]),
    ("diagnostic", &[]),
    ("advice", &[]),
    ("toml_text", &[]),
    ("terminal_text", &[]),
];

/// Words of code that touch a file, the clock, the environment or a process.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::io::std",
    "std::time",
    "SystemTime",
    "Instant::now",
    "rustix::",
    "libc::",
    "println!",
    "eprintln!",
    "File::open",
];

/// A kind of line and the only files in which it may stand.
const LIVES_IN: &[(&str, &[&str])] = &[
    ("tree_sitter", &["syntax/lower"]),
    ("brush_parser", &["syntax/witness"]),
    ("toml::", &["policy/schema.rs", "toml_text.rs"]),
    ("dialoguer", &["approval/prompt"]),
    ("console::", &["approval/prompt"]),
    ("allow(unsafe_code", &["main.rs"]),
    ("unsafe ", &["start.rs"]),
    ("libc::", &["start.rs"]),
    ("dirs::", &["paths.rs"]),
    ("clap", &["cli"]),
    ("annotate_snippets", &["excerpt.rs", "explain.rs"]),
];

/// Lines of a file without its tests.
const FILE_LIMIT: usize = 500;
/// Lines of a function.
const FUNCTION_LIMIT: usize = 60;

/// A source file without comments and tests.
struct Source {
    /// Relative to `src`, with slashes.
    name: String,
    lines: Vec<String>,
}

impl Source {
    fn new(name: &str, text: &str) -> Self {
        let lines = text.lines().take_while(|line| *line != "#[cfg(test)]");
        let lines = lines.map(|line| line.split("//").next().unwrap_or_default().to_owned());
        Self { name: name.to_owned(), lines: lines.collect() }
    }

    /// The module at the top of the library that it belongs to.
    fn module(&self) -> &str {
        self.name.split('/').next().unwrap_or_default().trim_end_matches(".rs")
    }

    fn is_in(&self, places: &[&str]) -> bool {
        places.iter().any(|place| {
            self.name == *place
                || self.name.trim_end_matches(".rs") == *place
                || self.name.starts_with(&format!("{place}/"))
        })
    }

    /// All that is wrong with it.
    fn faults(&self, modules: &[String]) -> Vec<String> {
        let mut faults = self.sizes();
        for (number, line) in self.lines.iter().enumerate() {
            let fault = |what: String| format!("{}:{}: {what}", self.name, number + 1);
            for (needle, homes) in LIVES_IN {
                if holds(line, needle) && !self.is_in(homes) {
                    faults.push(fault(format!("`{needle}` lives in {}", homes.join(", "))));
                }
            }
            if let Some((_, except)) = PURE.iter().find(|(module, _)| *module == self.module())
                && let Some(word) = IMPURE.iter().find(|word| holds(line, word)).filter(|_| !self.is_in(except))
            {
                faults.push(fault(format!("`{word}` in a pure module")));
            }
            if let Some((_, allowed)) = MAY_USE.iter().find(|(module, _)| *module == self.module()) {
                let used = modules.iter().filter(|module| holds(line, &format!("crate::{module}")));
                let forbidden = used.filter(|used| *used != self.module() && !allowed.contains(&used.as_str()));
                faults.extend(forbidden.map(|used| fault(format!("{} may not use {used}", self.module()))));
            }
        }
        faults
    }

    /// Files and functions that are too long.
    fn sizes(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.lines.len() > FILE_LIMIT {
            faults.push(format!("{}: {} lines", self.name, self.lines.len()));
        }
        let mut open: Option<(usize, usize, &str)> = None;
        for (number, line) in self.lines.iter().enumerate() {
            let depth = line.len() - line.trim_start().len();
            let word = line.trim_start();
            let starts = ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn ", "const fn ", "pub const fn "];
            match open {
                None if starts.iter().any(|start| word.starts_with(start)) && !word.ends_with('}') => {
                    open = Some((number, depth, word));
                }
                Some((start, at, name)) if depth == at && word.starts_with('}') => {
                    if number - start + 1 > FUNCTION_LIMIT {
                        faults.push(format!("{}:{}: {} lines in `{name}`", self.name, start + 1, number - start + 1));
                    }
                    open = None;
                }
                _ => {}
            }
        }
        faults
    }
}

/// Whether `needle` stands in the line as a word of its own.
fn holds(line: &str, needle: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(needle).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + needle.len()..].chars().next();
        let goes_on =
            before.is_some_and(word) && needle.starts_with(word) || after.is_some_and(word) && needle.ends_with(word);
        !goes_on
    })
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders: Vec<PathBuf> = vec![root.clone()];
    let mut sources = BTreeMap::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                sources.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    sources.iter().map(|(name, text)| Source::new(name, text)).collect()
}

fn modules(sources: &[Source]) -> Vec<String> {
    let mut modules: Vec<String> = sources.iter().map(|source| source.module().to_owned()).collect();
    modules.dedup();
    modules
}

#[test]
fn every_line_is_where_it_belongs() {
    let sources = sources();
    let modules = modules(&sources);
    let faults: Vec<String> = sources.iter().flat_map(|source| source.faults(&modules)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

/// The test above sees what it is meant to see.
#[test]
fn a_line_in_the_wrong_place_is_found() {
    let modules = ["audit", "exec", "facts", "syntax"].map(str::to_owned);
    let faults = |name: &str, text: &str| Source::new(name, text).faults(&modules);
    assert_eq!(
        faults("syntax/model.rs", "use tree_sitter::Node;"),
        ["syntax/model.rs:1: `tree_sitter` lives in syntax/lower"]
    );
    assert_eq!(faults("syntax/lower/node.rs", "use tree_sitter::Node;"), [""; 0]);
    assert_eq!(faults("facts/value.rs", "use std::fs;"), ["facts/value.rs:1: `std::fs` in a pure module"]);
    assert_eq!(faults("facts/value.rs", "// use std::fs;\n#[cfg(test)]\nuse std::fs;"), [""; 0]);
    assert_eq!(faults("syntax/mod.rs", "use crate::exec::run;"), ["syntax/mod.rs:1: syntax may not use exec"]);
    assert_eq!(faults("audit/log.rs", "unsafe {}"), ["audit/log.rs:1: `unsafe ` lives in start.rs"]);
    let long = format!("fn long() {{\n{}}}\n", "    line();\n".repeat(60));
    assert_eq!(faults("pipeline.rs", &long), ["pipeline.rs:1: 62 lines in `fn long() {`"]);
    assert_eq!(faults("pipeline.rs", &"x\n".repeat(501)), ["pipeline.rs: 501 lines"]);
}
