//! What scripts would do, as rows: a script, and what is found in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use vetsh::commands::Tables;
use vetsh::facts::{Facts, Places, Settings, Task, collect};
use vetsh::host::{FileRead, Host, Look, LookKind, Recovery, Unread};
use vetsh::syntax::Dialect;

/// A machine that is a table: files with their content, variables, what git has.
struct Machine {
    files: BTreeMap<PathBuf, &'static str>,
    folders: Vec<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    variables: BTreeMap<BString, BString>,
    tracked: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
    missing: Vec<&'static str>,
}

impl Default for Machine {
    fn default() -> Self {
        let folders =
            ["/", "/tmp", "/etc", "/usr", "/home", "/home/u", "/home/u/p", "/home/u/p/src", "/home/u/p/build"];
        let variables = [("HOME", "/home/u"), ("PATH", "/usr/bin:/bin"), ("USER", "u")];
        Self {
            files: BTreeMap::from([
                ("/home/u/p/src/a.rs".into(), ""),
                ("/home/u/p/notes.txt".into(), ""),
                ("/home/u/p/run.sh".into(), "#!/bin/sh\nrm -rf \"$1\"\n"),
                ("/home/u/p/tool.py".into(), "#!/usr/bin/env python3\nprint(1)\n"),
                ("/home/u/p/env.sh".into(), "TARGET=/etc\n"),
            ]),
            folders: folders.map(PathBuf::from).to_vec(),
            links: BTreeMap::from([("/home/u/p/outside".into(), "/etc".into())]),
            variables: variables.map(|(name, value)| (name.into(), value.into())).into(),
            tracked: vec!["/home/u/p/src/a.rs".into()],
            ignored: vec!["/home/u/p/build".into(), "/home/u/p/kept.log".into()],
            missing: vec!["nosuchprogram"],
        }
    }
}

impl Machine {
    fn plain(&self, path: &Path) -> PathBuf {
        let mut out = PathBuf::from("/");
        for part in path.components().skip(1) {
            match part.as_os_str().as_encoded_bytes() {
                b".." => {
                    out.pop();
                }
                b"." => {}
                _ => out.push(part),
            }
            if let Some(to) = self.links.get(&out) {
                out.clone_from(to);
            }
        }
        out
    }
}

impl Host for Machine {
    fn start(&self) -> &Path {
        Path::new("/home/u/p")
    }
    fn home(&self) -> &Path {
        Path::new("/home/u")
    }
    fn project(&self) -> Option<&Path> {
        Some(Path::new("/home/u/p"))
    }
    fn user(&self) -> u32 {
        1000
    }
    fn variable(&self, name: &BStr) -> Option<BString> {
        self.variables.get(name).cloned()
    }
    fn variables(&self) -> Vec<BString> {
        self.variables.keys().cloned().collect()
    }
    fn look(&self, path: &Path) -> Look {
        let real = self.plain(path);
        let kind = if self.folders.contains(&real) {
            LookKind::Directory
        } else if self.files.contains_key(&real) {
            LookKind::File
        } else {
            LookKind::Missing
        };
        Look { real, kind, owner: 1000, mode: 0o644, size: 0, links: 1 }
    }
    fn list(&self, _: &Path) -> Option<Vec<BString>> {
        None
    }
    fn read(&self, path: &Path) -> Result<Rc<[u8]>, Unread> {
        self.files.get(path).map(|text| text.as_bytes().into()).ok_or(Unread::Missing)
    }
    fn program(&self, name: &BStr, path: Option<&BStr>) -> Option<PathBuf> {
        let name = name.to_str().unwrap();
        let own = path.filter(|path| path.starts_with(b"/home/u/p")).map(|_| Path::new("/home/u/p").join(name));
        own.filter(|own| self.files.contains_key(own))
            .or_else(|| (!self.missing.contains(&name)).then(|| Path::new("/usr/bin").join(name)))
    }
    fn recovery(&self, path: &Path) -> Recovery {
        let is = |list: &[PathBuf]| list.iter().any(|known| path.starts_with(known));
        if is(&self.tracked) {
            Recovery::Tracked
        } else if is(&self.ignored) {
            Recovery::Ignored
        } else if self.files.contains_key(path) || self.folders.iter().any(|folder| folder == path) {
            Recovery::Lost
        } else {
            Recovery::Absent
        }
    }
    fn reads(&self) -> Vec<FileRead> {
        Vec::new()
    }
    fn assumed(&self) -> bool {
        false
    }
}

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

#[test]
fn explore() {
    let Ok(path) = std::env::var("FACTS_ROWS") else { return };
    for row in std::fs::read_to_string(path).unwrap().lines() {
        let row = row.replace("\\n", "\n");
        println!("=== {row}\n{}\n", found(&facts_on(&Machine::default(), Dialect::Bash, &row)));
    }
}
