//! Reading the log back, and telling whether its chain holds.
//!
//! The chain shows damage: a line changed, lost, added or moved. It cannot show that the end was cut off at a line
//! break, nor a forgery by someone who can write the file and computes the hashes anew.

use std::io::{self, BufRead};

use serde::Deserialize;

use super::log::{BEFORE_HASH, GENESIS, digest};
use super::record::Record;

/// A whole line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub number: usize,
    /// What it says.
    pub record: Record,
    /// The hash of the line before it.
    pub prev: String,
    /// Its own hash.
    pub hash: String,
}

/// What is wrong at a line of the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It was changed after it was written.
    #[error("line {0} was changed after it was written")]
    Changed(usize),
    /// It does not continue the line before.
    #[error("line {0} does not continue the line before it: something was removed, added or moved")]
    Broken(usize),
    /// It is no record.
    #[error("line {0} is no record")]
    Unreadable(usize),
}

/// What became of the chain.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many whole records there are.
    pub records: usize,
    /// Lines that a killed writer left unfinished and the next record accounts for.
    pub repaired: Vec<usize>,
    /// Whether the log ends with an unfinished line.
    pub unfinished: bool,
    /// What is wrong.
    pub faults: Vec<Fault>,
}

/// The chain's part of a line.
#[derive(Deserialize)]
struct Links {
    prev: String,
    hash: String,
}

/// Reads one line (without its line break); `None` if it is no whole record.
pub fn entry(number: usize, line: &[u8]) -> Option<Entry> {
    let record = serde_json::from_slice(line).ok()?;
    let Links { prev, hash } = serde_json::from_slice(line).ok()?;
    Some(Entry { number, record, prev, hash })
}

/// Follows the chain through a whole log.
pub fn verify(log: &mut impl BufRead) -> io::Result<Report> {
    let mut report = Report::default();
    let mut chain = Chain { hash: GENESIS.to_owned(), torn: None };
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        if log.read_until(b'\n', &mut line)? == 0 {
            break;
        }
        if line.pop_if(|byte| *byte == b'\n').is_none() {
            report.unfinished = true;
            break;
        }
        chain.follow(number, &line, &mut report);
    }
    report.faults.extend(chain.torn.map(|(number, _)| Fault::Unreadable(number)));
    Ok(report)
}

/// How far the chain was followed.
struct Chain {
    /// The hash of the last whole line.
    hash: String,
    /// Number and length of the line before, if it is no record.
    torn: Option<(usize, usize)>,
}

impl Chain {
    fn follow(&mut self, number: usize, line: &[u8], report: &mut Report) {
        let Some(entry) = entry(number, line) else {
            report.faults.extend(self.torn.replace((number, line.len())).map(|(number, _)| Fault::Unreadable(number)));
            return;
        };
        match self.torn.take() {
            Some((torn, length)) if entry.record.torn == length => report.repaired.push(torn),
            Some((torn, _)) => report.faults.push(Fault::Unreadable(torn)),
            None if entry.record.torn > 0 => report.faults.push(Fault::Broken(number)),
            None => {}
        }
        report.records += 1;
        let before_hash = line.len().checked_sub(BEFORE_HASH.len() + 64 + 2).and_then(|end| line.get(..end));
        if before_hash.is_none_or(|text| digest(text) != entry.hash) {
            report.faults.push(Fault::Changed(number));
        }
        if entry.prev != self.hash {
            report.faults.push(Fault::Broken(number));
        }
        self.hash = entry.hash;
    }
}
