//! One row under real shells: is all that starts listed?

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::cage::{Cage, Order, Seen, Started};
use super::reading::{Cover, Reader, Reading};
use super::row::Row;

/// The shells that run each row, unless it names one, and the worlds in which they do. There all programs succeed,
/// fail, succeed and print (and start what they are given), or do now this, now that.
const SHELLS: &[(&str, &[&str])] =
    &[("bash", &["ok", "fail", "real", "mixed"]), ("dash", &["real", "mixed"]), ("zsh", &["real", "mixed"])];
/// What can be read and found where programs print.
const INPUT: &str = "alpha beta\n-gamma\n";
const FILES: &[&str] = &["a.txt", "two words.md", "-n", "b.py"];

/// Something that happened and was not listed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Miss {
    Started(Started),
    /// An allowed row changed a file that nothing names.
    Changed(String),
}

impl Miss {
    /// Whether it is the same kind of miss of the same program.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Started(one), Self::Started(other)) => one.program == other.program,
            (Self::Changed(_), Self::Changed(_)) => true,
            _ => false,
        }
    }
}

/// What was seen of one row.
#[derive(Debug, Default)]
pub struct Proof {
    /// How each program that was started is covered, by shell.
    pub covers: BTreeMap<(&'static str, Started), Cover>,
    pub misses: Vec<(&'static str, &'static str, Miss)>,
    pub runs: usize,
    pub late: usize,
}

/// What proves rows; one for each thread.
pub struct Prover {
    reader: Reader,
    cage: Cage,
}

impl Prover {
    pub fn new(names: &BTreeSet<String>) -> Result<Self, String> {
        Ok(Self { reader: Reader::new(), cage: Cage::new(names)? })
    }

    pub fn prove(&mut self, row: &Row) -> Proof {
        let mut proof = Proof::default();
        for (shell, worlds) in SHELLS.iter().filter(|(shell, _)| row.shell.as_ref().is_none_or(|only| only == shell)) {
            let reading = self.reader.read(row, shell);
            for world in *worlds {
                let seen = self.run(row, shell, world, &reading);
                proof.runs += 1;
                proof.late += usize::from(seen.late);
                let misses = misses(row, &reading, &seen);
                proof.misses.extend(misses.into_iter().map(|miss| (*shell, *world, miss)));
                let covers = seen.started.into_iter().map(|started| (reading.cover(&started), started));
                proof.covers.extend(covers.map(|(cover, started)| ((*shell, started), cover)));
            }
        }
        proof
    }

    pub fn reading(&mut self, row: &Row, shell: &str) -> Reading {
        self.reader.read(row, shell)
    }

    /// What is missed of this row in one shell and one world.
    pub fn misses(&mut self, row: &Row, shell: &str, world: &str) -> Vec<Miss> {
        let reading = self.reading(row, shell);
        self.misses_of(row, shell, world, &reading)
    }

    /// What this reading misses.
    pub fn misses_of(&mut self, row: &Row, shell: &str, world: &str, reading: &Reading) -> Vec<Miss> {
        let seen = self.run(row, shell, world, reading);
        misses(row, reading, &seen)
    }

    fn run(&mut self, row: &Row, shell: &str, world: &str, reading: &Reading) -> Seen {
        let rich = matches!(world, "real" | "mixed");
        let mut stubs = words(&row.command);
        let mut files = BTreeSet::new();
        if world != "fail" {
            stubs.extend(reading.programs(row));
        }
        if rich {
            files = FILES.iter().map(|name| format!("{}/{name}", row.project)).collect();
        }
        self.cage.run(&Order {
            world,
            shell,
            command: &row.command,
            home: &row.home,
            project: &row.project,
            input: if rich { INPUT } else { "" },
            // An assumed machine has every folder.
            folders: &reading.folders(),
            files: &files,
            stubs: &stubs,
        })
    }
}

fn misses(row: &Row, reading: &Reading, seen: &Seen) -> Vec<Miss> {
    let missed = seen.started.iter().filter(|started| reading.cover(started) == Cover::Missed);
    let started: BTreeSet<_> = missed.cloned().map(Miss::Started).collect();
    let unnamed = seen.changed.iter().filter(|change| reading.allowed && !reading.names(&change[1..], row));
    started.into_iter().chain(unnamed.cloned().map(Miss::Changed)).collect()
}

/// Where a stub would be for each word of a text that could be a program's name.
fn words(text: &str) -> BTreeSet<String> {
    let part = |c: char| c.is_ascii_alphanumeric() || "._+-[".contains(c);
    let names = text.split(|c: char| !part(c)).filter(|word| word.len() < 40 && word.contains(char::is_alphanumeric));
    names.filter(|name| !Path::new(name).starts_with("..")).map(|name| format!("/usr/bin/{name}")).collect()
}
