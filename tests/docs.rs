//! What the documents say is so.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::support::{Sandbox, see};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All documents in markdown.
fn documents() -> Vec<PathBuf> {
    let folders = ["", "docs", "shims"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The contents of the fenced blocks in `language`.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let opening = format!("```{language}\n");
    text.split(&opening).skip(1).filter_map(|rest| rest.split("\n```").next()).map(str::to_owned).collect()
}

#[test]
fn every_policy_in_the_documents_loads() {
    let mut loaded = 0;
    for document in documents() {
        for block in blocks(&fs::read_to_string(&document).unwrap(), "toml") {
            if !block.starts_with("version") {
                continue;
            }
            let sandbox = Sandbox::new(&block);
            let seen = see(sandbox.command(sandbox.shim("vetsh")).args(["check", "true"]));
            assert_eq!(seen.code, Some(0), "{}:\n{block}\n{}", document.display(), seen.stderr);
            loaded += 1;
        }
    }
    assert!(loaded > 0, "the readme shows a policy");
}

#[test]
fn the_policy_of_a_new_user_loads() {
    let sandbox = Sandbox::new(include_str!("../install/policy.toml"));
    let seen = see(sandbox.command(sandbox.shim("vetsh")).args(["check", "true"]));
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    // The examples in its comments load too.
    let commented = include_str!("../install/policy.toml").lines().map(|line| match line.strip_prefix("# ") {
        Some(text) if text.starts_with(['[', '"']) || text.contains(" = ") => text,
        Some(_) => "",
        None => line,
    });
    let sandbox = Sandbox::new(&commented.collect::<Vec<_>>().join("\n"));
    let seen = see(sandbox.command(sandbox.shim("vetsh")).args(["check", "true"]));
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
}

#[test]
fn the_man_pages_are_those_of_this_build() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::new("version = 1\n");
    see(sandbox.command(sandbox.shim("vetsh")).arg("man").arg(folder.path()));
    let read = |folder: &Path| {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files
            .map(|path| (path.file_name().unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
            .collect::<BTreeSet<_>>()
    };
    let (made, kept) = (read(folder.path()), read(&root().join("docs/man")));
    let stale: Vec<_> = made.symmetric_difference(&kept).map(|(name, _)| name).collect();
    assert!(stale.is_empty(), "run `vetsh man docs/man`: {stale:?}");
}

/// Every option and subcommand has words of help.
#[test]
fn everything_on_the_command_line_is_described() {
    fn visit(command: &clap::Command, faults: &mut Vec<String>) {
        if command.get_about().is_none() {
            faults.push(command.get_name().to_owned());
        }
        for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
            if argument.get_help().is_none() {
                faults.push(format!("{} {}", command.get_name(), argument.get_id()));
            }
        }
        command.get_subcommands().for_each(|command| visit(command, faults));
    }
    let mut faults = Vec::new();
    visit(&vetsh::cli::command(), &mut faults);
    assert!(faults.is_empty(), "without help: {faults:?}");
}

/// The commands in docs/commands.md print what stands there, with the table that stands there.
#[test]
fn the_table_in_the_documents_is_read_as_they_say() {
    let document = root().join("docs/commands.md");
    let table = blocks(&fs::read_to_string(&document).unwrap(), "toml").swap_remove(0);
    let sandbox = Sandbox::new("version = 1\n");
    sandbox.write("config/commands/shipit.toml", table);
    fs::set_permissions(sandbox.path("config/commands"), Permissions::from_mode(0o755)).unwrap();
    trycmd::TestCases::new()
        .env("HOME", sandbox.path("home").to_str().unwrap())
        .env("VETSH_CONFIG", sandbox.path("config").to_str().unwrap())
        .env("VETSH_STATE", sandbox.path("state").to_str().unwrap())
        .case(document)
        .run();
}

/// Every `vetsh …` in the documents is a command line, and every subcommand is in some document.
#[test]
fn the_documents_and_the_command_line_know_the_same_subcommands() {
    let mut named = BTreeSet::new();
    let mut faults = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for line in text.split('`').filter(|piece| piece.starts_with("vetsh ")) {
            let mut command = vetsh::cli::command();
            let mut path = "vetsh".to_owned();
            for word in line.split_whitespace().skip(1) {
                if let Some(below) = command.find_subcommand(word) {
                    path = format!("{path} {word}");
                    command = below.clone();
                } else if command.has_subcommands() && word.bytes().all(|byte| byte.is_ascii_lowercase()) {
                    faults.push(format!("{}: `{line}`: no subcommand `{word}`", document.display()));
                } else if let Some(long) = word.strip_prefix("--") {
                    let known = command.get_arguments().any(|argument| argument.get_long() == Some(long));
                    if !known {
                        faults.push(format!("{}: `{line}`: no option `{word}`", document.display()));
                    }
                }
            }
            named.insert(path);
        }
    }
    let command = vetsh::cli::command();
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    let missing = shown.map(|below| format!("vetsh {}", below.get_name())).filter(|path| {
        let below = format!("{path} ");
        !named.iter().any(|name| name == path || name.starts_with(&below))
    });
    faults.extend(missing.map(|path| format!("`{path}` is in no document")));
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Links between documents lead somewhere.
#[test]
fn links_lead_to_files() {
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        for target in targets.filter(|target| !target.is_empty() && !target.contains("://")) {
            let path = document.parent().unwrap().join(target);
            assert!(path.exists(), "{}: {target}", document.display());
        }
    }
}
