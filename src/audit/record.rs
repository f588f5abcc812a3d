//! One line of the log: what was asked, what was decided, what became of it.
//!
//! A record is made only by the functions here, and they mask every text they take in.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::mask;
use crate::approval::ticket::Ticket;
use crate::approval::{Asked, By, Outcome, Refusal};
use crate::decision::{Decision, Finding, Mode, Verdict};
use crate::facts::{Aspect, Doubt, Effect};

/// The version of the form below.
pub const VERSION: u8 = 1;
/// How many bytes of a script a record holds.
const LONGEST_TEXT: usize = 16 << 10;
/// How many bytes of any other text a record holds.
const LONGEST_WORD: usize = 1 << 10;
/// How many arguments, findings and files a record holds, each.
const MOST: usize = 64;

/// One line of the log. The chain's two fields are added when it is appended (see [`super::log`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// [`VERSION`].
    pub version: u8,
    /// When, in UTC.
    pub time: Timestamp,
    /// A decision, or a human's answer to a ticket.
    pub kind: Kind,
    /// The process that wrote it, and that became the real shell.
    pub pid: u32,
    /// Its parent.
    pub ppid: u32,
    /// Its effective user.
    pub uid: u32,
    /// Which shell was meant.
    pub shell: String,
    /// The words it was given, without the script's text; masked.
    pub arguments: Vec<String>,
    /// The user's part of the script; masked.
    pub text: String,
    /// Length in bytes of the whole text, where only its beginning is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_bytes: Option<usize>,
    /// The folder it was started in.
    pub cwd: String,
    /// The project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Who asks, where that was looked up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The decision.
    pub verdict: Verdict,
    /// By which mode it was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// What was found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRecord>,
    /// How many more findings there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub findings_left_out: usize,
    /// What became of it.
    pub outcome: OutcomeRecord,
    /// Digest of the policy.
    pub policy: String,
    /// Files that the decision was made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileRecord>,
    /// Length in bytes of the unfinished line before this one, which a killed writer left.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub torn: usize,
}

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A command was judged.
    Decision,
    /// A human answered a ticket.
    Answer,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingRecord {
    /// What the policy says.
    pub verdict: Verdict,
    /// The rule that says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// Which one of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Aspect>,
    /// The doubt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
    /// What it is about; masked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Why, unless it is plainly allowed; masked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutcomeRecord {
    /// Whether it was let run.
    pub granted: bool,
    /// By what or whom.
    pub by: Authority,
    /// The ticket that stands for the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
}

/// Who or what settled a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Authority {
    /// The policy alone.
    Policy,
    /// A human at the terminal.
    Human,
    /// A human's answer to a ticket.
    Ticket,
    /// The approval of the command that started this one.
    Approval,
    /// Nobody could be asked, or no answer came.
    Nobody,
    /// A failure on the way.
    Failure,
}

/// A file that the decision was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Its real path.
    pub path: String,
    /// SHA-256 of what was read, in hex.
    pub sha256: String,
}

impl Record {
    /// The record of `decision` on what was `asked`, and of its `outcome`.
    pub fn of(asked: &Asked<'_>, decision: &Decision, outcome: &Outcome) -> Self {
        let findings: Vec<_> = decision.findings.iter().take(MOST).map(FindingRecord::of).collect();
        let words: Vec<_> = asked.options.iter().take(MOST).collect();
        Self {
            version: VERSION,
            time: now(),
            kind: Kind::Decision,
            pid: std::process::id(),
            ppid: parent(),
            uid: asked.user,
            shell: asked.shell.to_owned(),
            arguments: mask::words(&words).iter().map(|word| readable(shortened(word, LONGEST_WORD))).collect(),
            text: masked(shortened(asked.part, LONGEST_TEXT)),
            text_bytes: (asked.part.len() > LONGEST_TEXT).then_some(asked.part.len()),
            cwd: path(asked.start),
            project: asked.project.map(path),
            origin: asked.origin.map(ToOwned::to_owned),
            verdict: decision.verdict,
            mode: Some(decision.mode),
            findings_left_out: decision.findings.len() - findings.len(),
            findings,
            outcome: OutcomeRecord::of(outcome),
            policy: decision.policy.clone(),
            files: asked.files.iter().take(MOST).map(FileRecord::of).collect(),
            torn: 0,
        }
    }

    /// The record of a human's answer to a ticket.
    pub fn answer(ticket: &Ticket, approved: bool) -> Self {
        let text: String = ticket.text.iter().map(|piece| piece.text.as_str()).collect();
        Self {
            version: VERSION,
            time: now(),
            kind: Kind::Answer,
            pid: std::process::id(),
            ppid: parent(),
            uid: crate::paths::user(),
            shell: ticket.shell.clone(),
            arguments: ticket
                .options
                .iter()
                .take(MOST)
                .map(|word| masked(shortened(word.as_bytes(), LONGEST_WORD)))
                .collect(),
            text: masked(shortened(text.as_bytes(), LONGEST_TEXT)),
            text_bytes: (text.len() > LONGEST_TEXT).then_some(text.len()),
            cwd: ticket.start.clone(),
            project: ticket.project.clone(),
            origin: ticket.origin.clone(),
            verdict: Verdict::Ask,
            mode: None,
            findings: Vec::new(),
            findings_left_out: 0,
            outcome: OutcomeRecord { granted: approved, by: Authority::Human, ticket: Some(ticket.id.clone()) },
            policy: ticket.policy.clone(),
            files: Vec::new(),
            torn: 0,
        }
    }
}

impl FindingRecord {
    fn of(finding: &Finding) -> Self {
        let plain = finding.verdict == Verdict::Allow;
        Self {
            verdict: finding.verdict,
            rule: finding.rule.clone(),
            effect: finding.effect.map(|(effect, _)| effect),
            place: finding.effect.and_then(|(_, place)| place),
            doubt: finding.doubt,
            target: finding.target.as_ref().map(|target| masked(shortened(target, LONGEST_WORD))),
            reason: if plain { String::new() } else { masked(shortened(finding.reason.as_bytes(), LONGEST_WORD)) },
        }
    }
}

impl OutcomeRecord {
    fn of(outcome: &Outcome) -> Self {
        let (granted, by, ticket) = match outcome {
            Outcome::Granted(granted) => match granted.by() {
                By::Policy => (true, Authority::Policy, None),
                By::Human => (true, Authority::Human, None),
                By::Ticket(id) => (true, Authority::Ticket, Some(id)),
                By::Approval => (true, Authority::Approval, None),
            },
            Outcome::Refused(refusal) => match refusal {
                Refusal::Policy => (false, Authority::Policy, None),
                Refusal::Human => (false, Authority::Human, None),
                Refusal::Denied { ticket } => (false, Authority::Ticket, Some(ticket)),
                Refusal::Pending { ticket, .. } => (false, Authority::Nobody, Some(ticket)),
                Refusal::TooMany { .. } | Refusal::Unattended | Refusal::Withdrawn { .. } => {
                    (false, Authority::Nobody, None)
                }
                Refusal::Failed { .. } => (false, Authority::Failure, None),
            },
        };
        Self { granted, by, ticket: ticket.cloned() }
    }
}

impl FileRecord {
    fn of(read: &crate::host::FileRead) -> Self {
        Self { path: path(&read.path), sha256: super::hex(&read.digest) }
    }
}

fn parent() -> u32 {
    rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// Now, to the microsecond: finer digits say nothing and cost room in every line.
fn now() -> Timestamp {
    let now = Timestamp::now();
    Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
}

fn path(path: &std::path::Path) -> String {
    masked(shortened(path.as_os_str().as_encoded_bytes(), LONGEST_WORD))
}

fn masked(text: &[u8]) -> String {
    readable(&mask::mask(text))
}

/// At most `most` bytes of `text`. The cut is at a space, lest half a secret passes as none.
fn shortened(text: &[u8], most: usize) -> &[u8] {
    let Some(head) = text.get(..most) else { return text };
    let end = head.iter().rposition(u8::is_ascii_whitespace).unwrap_or(0);
    head.get(..end).unwrap_or_default()
}

/// `bytes` as text, what is not UTF-8 as `\xNN`.
fn readable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the form that serde calls")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}
