//! A decision in words: text for people, JSON for programs, and the refusal that an agent shows to its model.

use std::fmt::Write as _;

use annotate_snippets::{Level, Renderer};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bstr::{BStr, BString, ByteSlice};
use serde::Serialize;

use crate::decision::{Decision, Finding, LayerKind, Mode, Verdict};
use crate::diagnostic::Span;
use crate::excerpt::Excerpt;
use crate::facts::{Aspect, CommandFact, Doubt, Facts};
use crate::terminal_text;

/// Version of the JSON shape.
const JSON_VERSION: u32 = 1;
/// A refusal names this many findings; more are counted.
const NAMED: usize = 3;
/// A refusal shows this much of a command, in characters.
const SHOWN: usize = 160;

impl Verdict {
    /// The word in policies and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl LayerKind {
    /// The word in policies and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Session => "session",
        }
    }
}

impl Mode {
    /// The word in policies and output.
    pub const fn word(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }
}

/// The decision for people: the verdict, then each finding under the text that it is about.
pub fn text(decision: &Decision) -> String {
    let mut text = format!("{} (mode {})\n", decision.verdict.word(), decision.mode.word());
    let mut rest: Vec<&Finding> = decision.findings.iter().collect();
    if rest.is_empty() {
        text.push_str("\nnothing found that needs a word of the policy\n");
    }
    while let Some(&first) = rest.first() {
        let (alike, others) = rest.into_iter().partition(|finding| is_alike(finding, first));
        rest = others;
        let _ = write!(text, "\n{}\n", finding_text(first, &alike, &decision.facts));
    }
    text
}

/// Whether two findings differ in nothing but the effect: one rule that answers all effects of a command.
fn is_alike(one: &Finding, two: &Finding) -> bool {
    let key = |finding: &Finding| (finding.verdict, finding.rule.clone(), finding.at, finding.reason.clone());
    key(one) == key(two) && one.provenance == two.provenance
}

fn finding_text(finding: &Finding, alike: &[&Finding], facts: &Facts) -> String {
    let level = match finding.verdict {
        Verdict::Allow => Level::INFO,
        Verdict::Ask => Level::WARNING,
        Verdict::Deny => Level::ERROR,
    };
    let script = facts.scripts.get(finding.at.script);
    let excerpt = Excerpt::of(script.map_or(&b""[..], |script| &script.text), finding.at.span);
    let name = script.map_or_else(String::new, |script| terminal_text::line(script.name.as_bytes()));
    let reason = terminal_text::line(finding.reason.as_bytes());
    let subject = alike.iter().map(|finding| subject(finding)).collect::<Vec<_>>().join(", ");
    let statement = statement(finding);
    let mut group = level.with_name(finding.verdict.word()).primary_title(reason);
    if let Some(rule) = &finding.rule {
        group = group.id(rule.as_str());
    }
    let group = group.element(excerpt.snippet(&name, &subject)).element(Level::NOTE.message(statement));
    Renderer::plain().render(&[group])
}

/// What a finding is about: `delete.project on src`, `doubt.path`.
fn subject(finding: &Finding) -> String {
    let mut subject = match (finding.effect, finding.doubt) {
        (Some((effect, Some(aspect))), _) => format!("{}.{}", effect.word(), aspect.word()),
        (Some((effect, None)), _) => effect.word().to_owned(),
        (None, Some(doubt)) => format!("doubt.{}", doubt.word()),
        (None, None) => String::new(),
    };
    if let Some(target) = &finding.target {
        let _ = write!(subject, "{}{}", if subject.is_empty() { "" } else { " on " }, terminal_text::line(target));
    }
    subject
}

/// Which statement of the policy decided.
fn statement(finding: &Finding) -> String {
    let layer = finding.provenance.layer.word();
    match &finding.rule {
        Some(rule) => format!("rule `{rule}` of the {layer} layer, line {}", finding.provenance.line),
        None => format!("{layer} layer, line {}", finding.provenance.line),
    }
}

/// The findings that decided: those with the decision's own verdict.
fn deciding(decision: &Decision) -> impl Iterator<Item = &Finding> {
    decision.findings.iter().filter(|finding| finding.verdict == decision.verdict)
}

/// Why nothing was run: one line of ASCII for stderr. `ticket` is where an answer can still be given.
pub fn refusal(decision: &Decision, ticket: Option<&str>) -> String {
    let mut text = match (decision.verdict, ticket) {
        (Verdict::Deny, _) => "vetsh: denied: ".to_owned(),
        (_, Some(ticket)) => format!("vetsh: approval needed (ticket {ticket}): "),
        (_, None) => "vetsh: approval needed: ".to_owned(),
    };
    let mut seen: Vec<String> = Vec::new();
    for reason in deciding(decision).map(|finding| because(finding, &decision.facts)) {
        if !seen.contains(&reason) {
            seen.push(reason);
        }
    }
    let more = seen.len().saturating_sub(NAMED);
    seen.truncate(NAMED);
    text.push_str(&seen.join("; "));
    if more > 0 {
        let _ = write!(text, "; and {more} more");
    }
    text.push_str(match (decision.verdict, ticket) {
        (Verdict::Deny, _) => ". Nothing was run. Do not retry it or work around it; ask the user.",
        (_, Some(_)) => {
            ". Nothing was run. Tell the user which command waits and why; once they have approved it, run exactly the \
             same command again. Do not work around it."
        }
        (_, None) => ". Nothing was run. Ask the user; do not retry it or work around it.",
    });
    text.push('\n');
    ascii(&text)
}

/// One finding in a refusal: the rule, what, why.
fn because(finding: &Finding, facts: &Facts) -> String {
    let at = finding.command.and_then(|index| facts.commands.get(index)).map_or(finding.at, |command| command.at);
    let written = facts.scripts.get(at.script).map_or(&b""[..], |script| at.span.of(&script.text));
    let mut because = String::new();
    if let Some(rule) = &finding.rule {
        let _ = write!(because, "rule {rule}: ");
    }
    let shown: String = terminal_text::line(written.trim_ascii()).chars().take(SHOWN).collect();
    let _ = write!(because, "`{shown}`");
    let subject = subject(finding);
    if !subject.is_empty() {
        let _ = write!(because, " ({subject})");
    }
    let _ = write!(because, ": {}", finding.reason.trim_end_matches('.'));
    because
}

/// `text` on one line, with everything but printable ASCII escaped.
fn ascii(text: &str) -> String {
    let mut ascii = String::with_capacity(text.len());
    for c in text.trim_end().chars() {
        match c {
            ' '..='~' => ascii.push(c),
            '\n' | '\t' => ascii.push(' '),
            c => ascii.extend(c.escape_default()),
        }
    }
    ascii.push('\n');
    ascii
}

/// The decision for programs.
pub fn json(decision: &Decision, assumed: bool) -> Json<'_> {
    let facts = &decision.facts;
    Json {
        version: JSON_VERSION,
        verdict: decision.verdict,
        mode: decision.mode,
        policy: &decision.policy,
        host: if assumed { "assumed" } else { "real" },
        findings: decision.findings.iter().map(|finding| JsonFinding::of(finding, facts)).collect(),
        commands: facts.commands.iter().map(|command| JsonCommand::of(command, facts)).collect(),
    }
}

/// `value` as JSON on one line, also for readers that take other characters for the end of a line.
pub fn json_line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(value)?;
    for (separator, escaped) in [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")] {
        if line.contains(separator) {
            line = line.replace(separator, escaped);
        }
    }
    line.push('\n');
    Ok(line)
}

/// See [`json`].
#[derive(Debug, Serialize)]
pub struct Json<'a> {
    /// Version of this shape.
    pub version: u32,
    /// The decision.
    pub verdict: Verdict,
    /// The mode judged by.
    pub mode: Mode,
    /// Digest of the policy.
    pub policy: &'a str,
    /// `real` or `assumed`.
    pub host: &'static str,
    /// What was found.
    pub findings: Vec<JsonFinding<'a>>,
    /// What would run.
    pub commands: Vec<JsonCommand<'a>>,
}

/// A finding in [`Json`].
#[derive(Debug, Serialize)]
pub struct JsonFinding<'a> {
    verdict: Verdict,
    rule: Option<&'a str>,
    effect: Option<&'static str>,
    place: Option<&'static str>,
    target: Option<Bytes<'a>>,
    doubt: Option<&'static str>,
    /// Bytes of the invocation's own script.
    span: [usize; 2],
    reason: &'a str,
}

impl<'a> JsonFinding<'a> {
    fn of(finding: &'a Finding, facts: &Facts) -> Self {
        Self {
            verdict: finding.verdict,
            rule: finding.rule.as_deref(),
            effect: finding.effect.map(|(effect, _)| effect.word()),
            place: finding.effect.and_then(|(_, aspect)| aspect).map(Aspect::word),
            target: finding.target.as_ref().map(|target| Bytes(target.as_ref())),
            doubt: finding.doubt.map(Doubt::word),
            span: pair(facts.outermost(finding.at)),
            reason: &finding.reason,
        }
    }
}

/// A command in [`Json`].
#[derive(Debug, Serialize)]
pub struct JsonCommand<'a> {
    program: Option<Bytes<'a>>,
    argv: Vec<Option<Bytes<'a>>>,
    cwd: Option<Bytes<'a>>,
    /// Bytes of the invocation's own script.
    span: [usize; 2],
    via: &'a [String],
}

impl<'a> JsonCommand<'a> {
    fn of(command: &'a CommandFact, facts: &Facts) -> Self {
        let bytes = |text: &'a Option<BString>| text.as_ref().map(|text| Bytes(text.as_ref()));
        Self {
            program: bytes(&command.program),
            argv: command.argv.iter().map(bytes).collect(),
            cwd: command
                .cwd
                .as_deref()
                .map(|cwd| Bytes(BStr::new(std::os::unix::ffi::OsStrExt::as_bytes(cwd.as_os_str())))),
            span: pair(facts.outermost(command.at)),
            via: &command.via,
        }
    }
}

fn pair(span: Span) -> [usize; 2] {
    [span.start, span.end]
}

/// A string, or `{"bytes": base64}` where it is not UTF-8.
#[derive(Debug)]
struct Bytes<'a>(&'a BStr);

impl Serialize for Bytes<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.collect_map([("bytes", BASE64.encode(self.0))]),
        }
    }
}
