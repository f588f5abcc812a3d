//! A ticket: a question that a human answers later.
//!
//! It is bound to everything the question depends on, and named after that: an identical ask finds the same ticket, and
//! any change leads to another one. Its life: open → approved → used, or open → denied; each ends at its expiry.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Asked;
use crate::audit::hex;
use crate::decision::{Decision, Finding, Verdict};
use crate::diagnostic::Span;
use crate::facts::{Aspect, Doubt, Effect};
use crate::terminal_text;

/// The version of the form below.
pub const VERSION: u8 = 1;
/// Nobody reads through more parts than this one by one.
const MOST_NEEDS: usize = 500;

/// One question and its answer so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// [`VERSION`].
    pub version: u8,
    /// Its name: eight characters of its binding.
    pub id: String,
    /// What it is bound to, see [`Binding`].
    pub binding: String,
    /// Where it stands.
    pub state: State,
    /// When it was opened.
    pub created: Timestamp,
    /// When it ends.
    pub expires: Timestamp,
    /// The shell that was meant.
    pub shell: String,
    /// The words that it was given without the script's text, escaped for a terminal.
    pub options: Vec<String>,
    /// The user's part.
    pub text: Vec<Piece>,
    /// The folder it was started in, escaped for a terminal.
    pub start: String,
    /// The project, escaped for a terminal.
    pub project: Option<String>,
    /// Who asked, escaped for a terminal.
    pub origin: Option<String>,
    /// Digest of the policy.
    pub policy: String,
    /// The files that the decision was made from, with their digests.
    pub files: Vec<(String, String)>,
    /// What needs a yes.
    pub needs: Vec<Need>,
}

/// Where a ticket stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nobody answered.
    Open,
    /// The command may run once.
    Approved,
    /// It may not.
    Denied,
    /// It ran.
    Used,
}

/// A piece of a text, all of it on one side of every asked span's ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Piece {
    /// Whether it needs a yes.
    pub asked: bool,
    /// The text, escaped for a terminal.
    pub text: String,
}

impl Piece {
    /// Cuts `text` at the spans of what needs a yes.
    fn cut(text: &[u8], spans: impl Iterator<Item = Span>) -> Vec<Self> {
        // Where spans begin and end, and how many more are open from there on.
        let ends = |span: Span| [(span.start.min(text.len()), 1), (span.end.min(text.len()), -1)];
        let mut cuts: Vec<(usize, i64)> = spans.flat_map(ends).chain([(0, 0), (text.len(), 0)]).collect();
        cuts.sort_unstable();
        let mut open = 0;
        let mut pieces = Vec::new();
        for (&(start, change), &(end, _)) in cuts.iter().zip(cuts.iter().skip(1)) {
            open += change;
            if let Some(text) = text.get(start..end).filter(|text| !text.is_empty()) {
                pieces.push(Self { asked: open > 0, text: terminal_text::block(text) });
            }
        }
        pieces
    }
}

/// A part of the command that needs a yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Need {
    /// Where it is in the user's part: bytes `start..end`.
    pub span: (usize, usize),
    /// Its text, which may be in a nested script; escaped for a terminal.
    pub text: String,
    /// The rule that asks.
    pub rule: Option<String>,
    /// The effect.
    pub effect: Option<(Effect, Option<Aspect>)>,
    /// The doubt.
    pub doubt: Option<Doubt>,
    /// What it is about, escaped for a terminal.
    pub target: Option<String>,
    /// Why, escaped for a terminal.
    pub reason: String,
}

impl Need {
    /// The parts of `decision` that need a yes, in reading order; of very many the first, and how many more there are.
    pub fn all(decision: &Decision) -> Vec<Self> {
        let mut needs: Vec<_> = asked(decision).take(MOST_NEEDS).map(|finding| Self::of(decision, finding)).collect();
        let more = asked(decision).count() - needs.len();
        if more > 0 {
            let reason = format!("{more} more parts need a yes; all are marked in the command");
            let (span, text) = ((0, 0), String::new());
            needs.push(Self { span, text, rule: None, effect: None, doubt: None, target: None, reason });
        }
        needs
    }

    fn of(decision: &Decision, finding: &Finding) -> Self {
        let span = decision.facts.outermost(finding.at);
        let text = decision.facts.scripts.get(finding.at.script).map_or(b"".as_slice(), |script| &script.text);
        Self {
            span: (span.start, span.end),
            text: terminal_text::block(finding.at.span.of(text)),
            rule: finding.rule.clone(),
            effect: finding.effect,
            doubt: finding.doubt,
            target: finding.target.as_ref().map(|target| terminal_text::line(target)),
            reason: terminal_text::line(finding.reason.as_bytes()),
        }
    }
}

/// The findings that need a yes.
fn asked(decision: &Decision) -> impl Iterator<Item = &Finding> {
    decision.findings.iter().filter(|finding| finding.verdict == Verdict::Ask)
}

/// SHA-256, in hex, over all that a question depends on: text, shell, options, folder, project, user, policy, the files
/// read for the decision, and what needs a yes (which follows from the inherited environment too).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding(String);

impl Binding {
    /// The binding of one ask.
    pub fn of(asked: &Asked<'_>, decision: &Decision) -> Self {
        let mut fields = Fields(Sha256::new());
        fields.add(b"vetsh ticket 1").add(asked.part).add(asked.shell.as_bytes());
        fields.count(asked.options.len());
        asked.options.iter().for_each(|word| _ = fields.add(word));
        fields.add(asked.start.as_os_str().as_encoded_bytes());
        fields.add(asked.project.map_or(b"".as_slice(), |path| path.as_os_str().as_encoded_bytes()));
        fields.add(&asked.user.to_le_bytes()).add(decision.policy.as_bytes());
        fields.count(asked.files.len());
        for file in asked.files {
            fields.add(file.path.as_os_str().as_encoded_bytes()).add(&file.digest);
        }
        for finding in self::asked(decision) {
            fields.add(&key(finding));
        }
        Self(hex(&fields.0.finalize()))
    }

    /// The digest in hex.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of its ticket.
    pub fn id(&self) -> String {
        self.0.chars().take(8).collect()
    }
}

/// What makes two findings the same question, wherever they are written.
pub(super) fn key(finding: &Finding) -> Vec<u8> {
    let mut key = Vec::new();
    let effect = finding.effect.map_or("", |(effect, _)| effect.word());
    let aspect = finding.effect.and_then(|(_, aspect)| aspect).map_or("", Aspect::word);
    let doubt = finding.doubt.map_or("", Doubt::word);
    let rule = finding.rule.as_deref().unwrap_or_default();
    for part in [effect, aspect, doubt, rule] {
        key.extend_from_slice(part.as_bytes());
        key.push(0);
    }
    match &finding.target {
        Some(target) => key.extend_from_slice(target),
        // Without a target the reason says what it is about.
        None => key.extend_from_slice(finding.reason.as_bytes()),
    }
    key
}

/// A digest over fields that cannot run into each other: each is preceded by its length.
struct Fields(Sha256);

impl Fields {
    fn add(&mut self, field: &[u8]) -> &mut Self {
        self.count(field.len());
        self.0.update(field);
        self
    }

    fn count(&mut self, number: usize) {
        self.0.update((number as u64).to_le_bytes());
    }
}

impl Ticket {
    /// A new, open ticket.
    pub fn open(
        asked: &Asked<'_>,
        decision: &Decision,
        who: Option<String>,
        now: Timestamp,
        expiry: SignedDuration,
    ) -> Self {
        let (binding, needs) = (Binding::of(asked, decision), Need::all(decision));
        let shown = |path: &std::path::Path| terminal_text::line(path.as_os_str().as_encoded_bytes());
        Self {
            version: VERSION,
            id: binding.id(),
            binding: binding.0,
            state: State::Open,
            created: now,
            expires: now.checked_add(expiry).unwrap_or(now),
            shell: asked.shell.to_owned(),
            options: asked.options.iter().map(|word| terminal_text::line(word)).collect(),
            text: Piece::cut(asked.part, self::asked(decision).map(|finding| decision.facts.outermost(finding.at))),
            start: shown(asked.start),
            project: asked.project.map(shown),
            origin: who.map(|who| terminal_text::line(who.as_bytes())),
            policy: decision.policy.clone(),
            files: asked.files.iter().map(|file| (shown(&file.path), hex(&file.digest))).collect(),
            needs,
        }
    }

    /// Whether it counts no more.
    pub fn expired(&self, now: Timestamp) -> bool {
        now >= self.expires
    }

    /// Whether it waits for an answer.
    pub fn waits(&self, now: Timestamp) -> bool {
        self.state == State::Open && !self.expired(now)
    }
}
