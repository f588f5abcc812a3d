//! Commands to try.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// A command and where it runs, as `vetsh check --batch` takes it.
#[derive(Debug, Clone, Deserialize)]
pub struct Row {
    #[serde(default)]
    pub id: Value,
    #[serde(rename = "cmd")]
    pub command: String,
    #[serde(default = "project")]
    pub project: String,
    #[serde(default = "home")]
    pub home: String,
    /// The only shell that it is meant for.
    pub shell: Option<String>,
}

fn project() -> String {
    "/home/user/project".to_owned()
}

fn home() -> String {
    "/home/user".to_owned()
}

#[derive(Deserialize)]
struct Corpus {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    command: String,
}

impl Row {
    /// A command in a project that does not exist on this machine.
    pub fn new(id: impl Into<Value>, command: impl Into<String>, shell: Option<&str>) -> Self {
        let shell = shell.map(str::to_owned);
        Self { id: id.into(), command: command.into(), project: project(), home: home(), shell }
    }

    /// The rows of the project's own corpus.
    pub fn seeds() -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
        let files = std::fs::read_dir(root).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> = files.filter(|path| path.is_file()).collect();
        files.sort();
        let mut rows = Vec::new();
        for file in files {
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            let corpus: Corpus = toml::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
            let cases = corpus.case.iter().enumerate();
            rows.extend(cases.map(|(number, case)| Self::new(format!("{name} {number}"), &*case.command, None)));
        }
        rows
    }

    /// The rows of a file of JSON lines.
    pub fn file(path: &Path) -> Vec<Self> {
        let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        text.lines().filter(|line| !line.trim().is_empty()).map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What is here would be read by vetsh, and not be in the cage.
    pub fn is_elsewhere(&self) -> bool {
        !Path::new(&self.project).exists() && !self.command.contains('\0')
    }
}

/// The names of all programs that tables describe.
pub fn programs() -> BTreeSet<String> {
    let tables = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands");
    let files = std::fs::read_dir(tables).unwrap().map(|file| file.unwrap().path());
    let texts = files.filter(|file| file.extension().is_some_and(|kind| kind == "toml"));
    let names = texts.flat_map(|file| {
        let table: toml::Table = toml::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        let programs = table.get("program").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        programs.iter().filter_map(|program| program.get("name")?.as_array().cloned()).flatten().collect::<Vec<_>>()
    });
    let names = names.filter_map(|name| name.as_str().map(str::to_owned));
    names
        .filter(|name| !name.contains([' ', '/', '.']))
        .chain(["sh", "bash", "dash", "zsh"].map(str::to_owned))
        .collect()
}
