//! What a used approval covers besides its own command: the shells that its decision listed.
//!
//! A command that was approved starts shells of its own (`sh -c '…'`, `bash build.sh`), and each of them asks again.
//! One that the human was shown passes without a second question: the same words, in the same folder, needing no other
//! yes and read from no other files, in a process that descends from the approved one, as often as it was listed, and
//! not longer than [`LASTS`].

use std::path::Path;

use bstr::{BString, ByteSlice};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Asked;
use super::process::Process;
use super::ticket::key;
use crate::audit::hex;
use crate::decision::{Decision, Verdict};
use crate::facts::CommandFact;

/// How long an approval covers what its command starts.
pub const LASTS: SignedDuration = SignedDuration::from_mins(10);
/// The shells that may be started by name.
const SHELLS: [&str; 5] = ["bash", "sh", "zsh", "dash", "rbash"];

/// What one used approval covers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cover {
    /// The approved process: its id and when it started, in clock ticks since boot.
    pub process: (u32, u64),
    /// Until when it counts.
    pub until: Timestamp,
    /// Digest of the policy under which it was approved.
    pub policy: String,
    /// The shells that the decision listed, and that did not start yet.
    pub shells: Vec<ListedShell>,
    /// Digests of the findings that got the yes.
    pub needs: Vec<String>,
    /// The files that the decision was made from, each a digest of path and content.
    pub files: Vec<String>,
}

/// A shell start that a decision listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedShell {
    /// Its name; `None` for a script named as the command, whose first line chooses the shell.
    pub shell: Option<String>,
    /// Digest of the words after `argv[0]`.
    pub words: String,
    /// Digest of the folder it starts in.
    pub folder: String,
}

impl Cover {
    /// What the approval of `decision` covers once the present process runs it; `None` if that is nothing.
    pub fn of(asked: &Asked<'_>, decision: &Decision, process: &Process, now: Timestamp) -> Option<Self> {
        let shells: Vec<_> = decision.facts.commands.iter().filter_map(ListedShell::of).collect();
        if shells.is_empty() {
            return None;
        }
        Some(Self {
            process: (process.pid, process.started),
            until: now.checked_add(LASTS).ok()?,
            policy: decision.policy.clone(),
            shells,
            needs: needs(decision),
            files: files(asked),
        })
    }

    /// Whether it covers this ask; what it covered is taken off the list.
    pub fn take(&mut self, asked: &Asked<'_>, decision: &Decision, now: Timestamp) -> bool {
        let every = |all: &[String], some: Vec<String>| some.iter().all(|one| all.contains(one));
        if now >= self.until
            || self.policy != decision.policy
            || !every(&self.needs, needs(decision))
            || !every(&self.files, files(asked))
        {
            return false;
        }
        let (words, folder) = (digest_words(asked.argv.iter()), digest_path(asked.start));
        let same = |listed: &ListedShell| {
            listed.shell.as_ref().is_none_or(|shell| shell == asked.shell)
                && listed.words == words
                && listed.folder == folder
        };
        let found = self.shells.iter().position(same);
        found.map(|at| self.shells.swap_remove(at)).is_some()
    }
}

impl ListedShell {
    /// The shell that a listed command starts, if every word of it and its folder are known.
    fn of(command: &CommandFact) -> Option<Self> {
        let words: Vec<&BString> = command.argv.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let (program, rest) = words.split_first()?;
        let name = program.rsplit_str("/").next().unwrap_or_default();
        let shell = SHELLS.into_iter().find(|shell| shell.as_bytes() == name);
        let words = match shell {
            Some(_) => digest_words(rest.iter().copied()),
            // The kernel puts the shell of the script's first line before the words as they were given.
            None if program.contains(&b'/') => digest_words(words.iter().copied()),
            None => return None,
        };
        Some(Self { shell: shell.map(ToOwned::to_owned), words, folder: digest_path(command.cwd.as_deref()?) })
    }
}

fn needs(decision: &Decision) -> Vec<String> {
    let asked = decision.findings.iter().filter(|finding| finding.verdict == Verdict::Ask);
    asked.map(|finding| hex(&Sha256::digest(key(finding)))).collect()
}

fn files(asked: &Asked<'_>) -> Vec<String> {
    let digest = |file: &crate::host::FileRead| {
        let path = file.path.as_os_str().as_encoded_bytes();
        hex(&Sha256::new().chain_update(file.digest).chain_update(path).finalize())
    };
    asked.files.iter().map(digest).collect()
}

fn digest_words<'a>(words: impl Iterator<Item = &'a BString>) -> String {
    let mut digest = Sha256::new();
    for word in words {
        digest.update((word.len() as u64).to_le_bytes());
        digest.update(word.as_slice());
    }
    hex(&digest.finalize())
}

fn digest_path(path: &Path) -> String {
    hex(&Sha256::digest(path.as_os_str().as_encoded_bytes()))
}
