//! Rows in real repositories, made by git and plain files: what a careful user would want to be asked about.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Sandbox, feed};

/// The files below `tests/corpus/repository/` and how many judgements each has at least.
const FILES: [(&str, usize); 5] = [("files", 120), ("git", 270), ("odd", 150), ("scripts", 55), ("configuration", 40)];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Corpus {
    repository: Vec<Repository>,
    rows: Vec<Rows>,
}

/// A repository and how it is made.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Repository {
    name: String,
    /// Begins as a copy of this one.
    from: Option<String>,
    /// Text for `sh -eu`, run in its folder.
    build: String,
}

/// What is judged in these repositories.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    r#in: Vec<String>,
    /// The same is wanted in all of them; otherwise each has a column.
    #[serde(default)]
    same: bool,
    /// A command, then `VERDICT [EFFECT[.PLACE] | DOUBT] [: words of the reason]` for each repository.
    is: Vec<Vec<String>>,
}

/// One command in one repository, and what is wanted.
#[derive(Debug)]
struct Case {
    repository: String,
    command: String,
    wanted: String,
}

/// A home, and beside it a folder `work` of repositories.
struct World(Sandbox);

fn corpus(file: &str) -> Corpus {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/corpus/repository/{file}.toml"));
    toml::from_str(&fs::read_to_string(path).unwrap()).unwrap_or_else(|error| panic!("{file}: {error}"))
}

impl World {
    /// Makes the repositories of one file.
    fn new(corpus: &Corpus) -> Self {
        let world = Self(Sandbox::new("version = 1\n"));
        for (file, content) in [(".ssh/id_ed25519", "key\n"), (".bashrc", "\n"), ("outside/file", "text\n")] {
            world.0.write(&format!("home/{file}"), content);
        }
        for repository in &corpus.repository {
            world.make(repository);
        }
        world
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.0.path("work").join(name)
    }

    fn make(&self, repository: &Repository) {
        let folder = self.folder(&repository.name);
        match &repository.from {
            Some(from) => assert!(
                Command::new("cp")
                    .args(["-a", "--"])
                    .args([self.folder(from), folder.clone()])
                    .status()
                    .unwrap()
                    .success()
            ),
            None => fs::create_dir_all(&folder).unwrap(),
        }
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let mut shell = self.0.command("/bin/sh");
        shell.current_dir(&folder).args(["-euc", &repository.build]).env("GIT_CONFIG_NOSYSTEM", "1");
        for role in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.org");
        }
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{}: {}", repository.name, String::from_utf8_lossy(&output.stderr));
    }

    /// The answers to these rows.
    fn judge(&self, cases: &[Case]) -> Vec<Value> {
        let home = self.0.path("home");
        let row = |case: &Case| json!({"cmd": case.command, "project": self.folder(&case.repository), "home": home});
        let rows: String = cases.iter().map(|case| format!("{}\n", row(case))).collect();
        let mut vetsh = self.0.command(self.0.shim("vetsh"));
        let seen = feed(vetsh.args(["check", "--batch", "-"]), rows.as_bytes());
        let answers: Vec<Value> = seen.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(answers.len(), cases.len(), "{}", seen.stderr);
        answers
    }
}

fn cases(corpus: &Corpus) -> Vec<Case> {
    let mut cases = Vec::new();
    for rows in &corpus.rows {
        for row in &rows.is {
            let (command, wanted) = row.split_first().unwrap();
            assert_eq!(wanted.len(), if rows.same { 1 } else { rows.r#in.len() }, "{command}");
            for (repository, wanted) in rows.r#in.iter().zip(wanted.iter().cycle()) {
                cases.push(Case { repository: repository.clone(), command: command.clone(), wanted: wanted.clone() });
            }
        }
    }
    cases
}

/// What is wrong with an answer, if anything is.
fn fault(case: &Case, answer: &Value) -> Option<String> {
    let (wanted, words) = case.wanted.split_once(": ").unwrap_or((&case.wanted, ""));
    let (verdict, kind) = wanted.split_once(' ').unwrap_or((wanted, ""));
    let findings = answer["findings"].as_array().unwrap();
    let fits = |finding: &&Value| {
        let word = |key: &str| finding[key].as_str().unwrap_or_default();
        let effect = format!("{}.{}", word("effect"), word("place"));
        let named = kind.is_empty() || [word("effect"), word("doubt"), &effect].contains(&kind);
        finding["verdict"] == verdict && named && word("reason").contains(words)
    };
    if answer["verdict"] == verdict && (kind.is_empty() || findings.iter().any(|finding| fits(&finding))) {
        return None;
    }
    let told = |finding: &Value| {
        let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        format!("{} {}.{}{}: {}", word("verdict"), word("effect"), word("place"), word("doubt"), word("reason"))
    };
    let told: Vec<_> = findings.iter().map(told).collect();
    Some(format!(
        "{}: {:?}: wanted {:?}, got {} {told:#?}",
        case.repository, case.command, case.wanted, answer["verdict"]
    ))
}

fn faults(world: &World, cases: &[Case]) -> Vec<String> {
    let answers = world.judge(cases);
    cases.iter().zip(&answers).filter_map(|(case, answer)| fault(case, answer)).collect()
}

fn holds(file: &str) {
    let least = BTreeMap::from(FILES)[file];
    let corpus = corpus(file);
    let cases = cases(&corpus);
    assert!(cases.len() >= least, "{file} has lost rows: {} of {least}", cases.len());
    let faults = faults(&World::new(&corpus), &cases);
    assert!(faults.is_empty(), "{file}: {} of {}\n{}", faults.len(), cases.len(), faults.join("\n"));
}

#[test]
fn files() {
    holds("files");
}

#[test]
fn git() {
    holds("git");
}

#[test]
fn odd() {
    holds("odd");
}

#[test]
fn configuration() {
    holds("configuration");
}

#[test]
fn scripts() {
    holds("scripts");
}

/// git does not work in somebody else's repository, and what that says may be made up. Only root can give one away.
#[test]
fn a_repository_of_somebody_else_tells_nothing() {
    let corpus = corpus("odd");
    let world = World::new(&corpus);
    let of_mine = Case { repository: "plain".into(), command: "rm src/a.rs".into(), wanted: "allow".into() };
    assert_eq!(faults(&world, std::slice::from_ref(&of_mine)), Vec::<String>::new());
    if chown(world.folder("plain").join(".git"), Some(12345), None).is_ok() {
        let of_another = Case { wanted: "ask delete.project".into(), ..of_mine };
        assert_eq!(faults(&world, &[of_another]), Vec::<String>::new());
    }
}

/// The tests above see what they are meant to see.
#[test]
fn a_wrong_row_is_found() {
    let world = World::new(&corpus("files"));
    let case = |wanted: &str| Case { repository: "work".into(), command: "rm new.rs".into(), wanted: wanted.into() };
    let wrong = ["allow", "deny", "ask delete.home", "ask write", "ask delete.project: this script made it"];
    assert_eq!(faults(&world, &wrong.map(case)).len(), wrong.len());
    assert_eq!(
        faults(&world, &["ask", "ask delete", "ask delete.project: not in git"].map(case)),
        Vec::<String>::new()
    );
}
