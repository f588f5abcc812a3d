//! What vetsh says that a command would do.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bstr::BString;
use serde_json::{Value, json};

use super::cage::{Started, nameless};
use super::row::Row;
use crate::support::Sandbox;

/// Doubts about what runs at all: with one of these a list of commands need not be complete.
const OPEN: &[&str] = &["syntax", "dialect", "script", "limit", "command"];

/// A running `vetsh check --batch`.
pub struct Reader {
    child: Child,
    rows: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Where it is installed.
    _sandbox: Sandbox,
}

/// An answer of `vetsh check --batch`.
#[derive(Debug, Clone)]
pub struct Reading {
    pub allowed: bool,
    pub commands: Vec<Command>,
    pub findings: Vec<Finding>,
}

/// A command that could run.
#[derive(Debug, Clone)]
pub struct Command {
    pub program: Option<BString>,
    /// `None` stands for any number of words.
    pub words: Vec<Option<BString>>,
    pub folder: Option<BString>,
}

#[derive(Debug, Clone)]
pub struct Finding {
    pub effect: String,
    pub place: String,
    pub target: String,
    pub doubt: String,
}

/// How well a reading covers a program that was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cover {
    /// Program and words are listed.
    Exact,
    /// It is listed with something that is not known.
    Unknown,
    /// It is not listed, but the reading says that it does not know all that runs.
    Doubt,
    Missed,
}

impl Reader {
    pub fn new() -> Self {
        let sandbox = Sandbox::new("version = 1\n");
        let mut command = sandbox.command(sandbox.shim("vetsh"));
        command.args(["check", "--batch", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let rows = child.stdin.take().unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, rows, answers, _sandbox: sandbox }
    }

    pub fn read(&mut self, row: &Row, shell: &str) -> Reading {
        let line = json!({"cmd": row.command, "project": row.project, "home": row.home, "shell": shell});
        self.rows.write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        Reading::of(&serde_json::from_str(&answer).unwrap())
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Reading {
    fn of(answer: &Value) -> Self {
        let text = |value: &Value| bytes(value).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let items = |key: &str| answer[key].as_array().cloned().unwrap_or_default();
        let word = |finding: &Value, key: &str| text(&finding[key]).unwrap_or_default();
        Self {
            allowed: answer["verdict"] == "allow",
            commands: items("commands").iter().map(Command::of).collect(),
            findings: items("findings")
                .iter()
                .map(|finding| Finding {
                    effect: word(finding, "effect"),
                    place: word(finding, "place"),
                    target: word(finding, "target"),
                    doubt: word(finding, "doubt"),
                })
                .collect(),
        }
    }

    pub fn cover(&self, started: &Started) -> Cover {
        let best = self.commands.iter().map(|command| command.cover(started)).min().unwrap_or(Cover::Missed);
        let open = || !self.allowed && self.findings.iter().any(|finding| OPEN.contains(&&*finding.doubt));
        if best == Cover::Missed && open() { Cover::Doubt } else { best }
    }

    /// Whether a finding names a file that was changed, or the place in which it lies.
    pub fn names(&self, changed: &str, row: &Row) -> bool {
        let place = if below(changed, &row.project) {
            "project"
        } else if ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|temp| below(changed, temp)) {
            "temp"
        } else {
            ""
        };
        self.findings.iter().filter(|finding| !matches!(&*finding.effect, "" | "read" | "inspect")).any(|finding| {
            let known = finding.target.split(['…', '*', '<']).next().unwrap_or_default();
            finding.place == place || finding.target == changed || known != finding.target && changed.starts_with(known)
        })
    }

    /// Folders in which commands would run.
    pub fn folders(&self) -> BTreeSet<String> {
        let folders = self.commands.iter().filter_map(|command| command.folder.clone());
        folders.filter_map(|folder| String::from_utf8(folder.into()).ok()).collect()
    }

    /// Where the programs would be that commands name: below the folder of all programs, or where a path says.
    pub fn programs(&self, row: &Row) -> BTreeSet<String> {
        let mut programs = BTreeSet::new();
        for command in &self.commands {
            let Some(name) = command.words.first().cloned().flatten() else { continue };
            let Ok(name) = String::from_utf8(name.into()) else { continue };
            if !name.contains('/') {
                programs.insert(format!("/usr/bin/{name}"));
                continue;
            }
            let folder = command.folder.clone().and_then(|folder| String::from_utf8(folder.into()).ok());
            let path = std::path::Path::new(&folder.unwrap_or_else(|| row.project.clone())).join(&name);
            programs.extend(path.to_str().map(str::to_owned));
        }
        programs
    }
}

impl Command {
    fn of(command: &Value) -> Self {
        let words = command["argv"].as_array().cloned().unwrap_or_default();
        Self {
            program: bytes(&command["program"]),
            words: words.iter().map(|word| bytes(word).map(|word| nameless(&word))).collect(),
            folder: bytes(&command["cwd"]),
        }
    }

    fn cover(&self, started: &Started) -> Cover {
        if self.folder.as_ref().is_some_and(|folder| *folder != started.folder) {
            return Cover::Missed;
        }
        let matches = match &self.program {
            None => fits(&self.words, &started.words),
            Some(program) if *program == started.program => {
                fits(self.words.get(1..).unwrap_or_default(), started.words.get(1..).unwrap_or_default())
            }
            Some(_) => false,
        };
        match (matches, self.program.is_some() && self.words.iter().all(Option::is_some)) {
            (false, _) => Cover::Missed,
            (true, true) => Cover::Exact,
            (true, false) => Cover::Unknown,
        }
    }
}

/// Whether words fit a list in which `None` stands for any number of them.
fn fits(list: &[Option<BString>], words: &[BString]) -> bool {
    // `ends[n]`: what came so far can be the first n words.
    let mut ends = vec![false; words.len() + 1];
    ends[0] = true;
    for item in list {
        let before = ends;
        ends = vec![false; words.len() + 1];
        for (number, fits) in before.iter().enumerate().filter(|(_, fits)| **fits) {
            match item {
                None => ends[number..].fill(*fits),
                Some(word) if words.get(number) == Some(word) => ends[number + 1] = true,
                Some(_) => {}
            }
        }
    }
    ends[words.len()]
}

fn below(path: &str, folder: &str) -> bool {
    std::path::Path::new(path).starts_with(folder)
}

/// A string, or `{"bytes": base64}` where it is not UTF-8.
fn bytes(value: &Value) -> Option<BString> {
    match value {
        Value::String(text) => Some(text.as_str().into()),
        Value::Object(object) => BASE64.decode(object["bytes"].as_str()?).ok().map(BString::from),
        _ => None,
    }
}
