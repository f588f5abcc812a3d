//! What the policy says about facts.
//!
//! Each effect, each doubt and each command is one subject. Over a subject stands its floor, then what the system layer
//! locks; otherwise the highest layer that speaks decides with its most specific statement: a rule, `effect.aspect`,
//! `effect`, `*`, its mode. Layers without trust can only make the result stricter. The decision is the strictest
//! finding.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::decision::{Decision, Finding, LayerKind, Mode, Provenance, Verdict};
use crate::facts::{Aspect, CommandFact, Doubt, DoubtFact, Effect, EffectFact, Facts, Identity, Location, Part};

use super::index::Key;
use super::matcher::{self, Match};
use super::statement::{Rule, Source, Statement};
use super::{Call, Fault, Layer, Policy, builtin, pattern};

/// Judges facts by a policy.
///
/// The effects and doubts are used up: each is a finding now.
pub fn evaluate(policy: &Policy, mut facts: Facts, call: &Call<'_>) -> Result<Decision, Fault> {
    let (effects, doubts) = (std::mem::take(&mut facts.effects), std::mem::take(&mut facts.doubts));
    let judge = Judge { policy, call, facts: &facts, buckets: RefCell::default() };
    let mut findings = Vec::with_capacity(effects.len() + doubts.len());
    for fact in effects {
        judge.effect(fact, &mut findings)?;
    }
    for fact in doubts {
        judge.doubt(fact, &mut findings)?;
    }
    let told: BTreeSet<_> = findings.iter().filter_map(told).collect();
    for (index, command) in facts.commands.iter().enumerate() {
        judge.command(index, command, &told, &mut findings)?;
    }
    findings.sort_by_key(|finding| facts.outermost(finding.at).start);
    let verdict = findings.iter().map(|finding| finding.verdict).max().unwrap_or(Verdict::Allow);
    tell_once(&mut findings);
    let mode = call.mode.unwrap_or_else(|| policy.mode());
    Ok(Decision { verdict, mode, policy: policy.digest().to_owned(), findings, facts })
}

/// Drops findings that say of the same text what an earlier one says: a loop walks its body for each word.
fn tell_once(findings: &mut Vec<Finding>) {
    let mut told = BTreeSet::new();
    let mut first = Vec::with_capacity(findings.len());
    for Finding { verdict, rule, effect, doubt, target, at, reason, .. } in &*findings {
        first.push(told.insert((verdict, rule, effect, doubt, target, at, reason)));
    }
    let mut first = first.into_iter();
    findings.retain(|_| first.next().unwrap_or(true));
}

/// Which statement speaks of which command, and what it says, if that is no leave.
fn told(finding: &Finding) -> Option<(usize, LayerKind, u32, Verdict)> {
    let Provenance { layer, line } = finding.provenance;
    let command = finding.command.filter(|_| finding.verdict > Verdict::Allow)?;
    Some((command, layer, line, finding.verdict))
}

struct Judge<'a> {
    policy: &'a Policy,
    call: &'a Call<'a>,
    facts: &'a Facts,
    /// Rules looked up so far, by layer and key: a script may name one program many times.
    buckets: RefCell<BTreeMap<(usize, Key), Bucket>>,
}

type Bucket = Rc<[Rc<Rule>]>;

/// What is judged.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Command,
    Effect(&'a EffectFact),
    Doubt(&'a DoubtFact),
}

/// The rules of one layer that are about a subject, or may be.
struct Matched<'a> {
    layer: &'a Layer,
    yes: Vec<Rc<Rule>>,
    maybe: Vec<Rc<Rule>>,
}

impl Judge<'_> {
    fn effect(&self, fact: EffectFact, findings: &mut Vec<Finding>) -> Result<(), Fault> {
        let subject = Subject::Effect(&fact);
        let matched = self.matched(subject, fact.command)?;
        let mut statement = self.decide(subject, &matched);
        for fact in self.tightened(&fact) {
            let subject = Subject::Effect(&fact);
            statement = statement.stricter(Some(self.decide(subject, &self.matched(subject, fact.command)?)));
        }
        findings.push(Finding {
            effect: Some((fact.effect, fact.aspect)),
            target: fact.target,
            ..finding(statement, fact.command, fact.at, fact.reason)
        });
        self.uncertain(&matched, Doubt::Path, (fact.command, fact.at), findings);
        Ok(())
    }

    /// The same effect in the places that layers without trust put its path in: it is judged as if it had both.
    fn tightened(&self, fact: &EffectFact) -> Vec<EffectFact> {
        let Some(target) = fact.target.as_ref().filter(|target| target.starts_with(b"/")) else {
            return Vec::new();
        };
        let layers = self.policy.layers().iter().filter(|layer| !layer.trusted);
        let places = layers.flat_map(|layer| &layer.core.places);
        let stricter = |aspect: Aspect| matches!(aspect, Aspect::Secret | Aspect::Startup);
        let holds = |glob: &str| pattern::path(glob.as_bytes(), target, self.call.roots);
        let places = places.filter(|(aspect, glob)| stricter(*aspect) && holds(glob));
        places.map(|(aspect, _)| EffectFact { aspect: Some(*aspect), ..fact.clone() }).collect()
    }

    fn doubt(&self, fact: DoubtFact, findings: &mut Vec<Finding>) -> Result<(), Fault> {
        let subject = Subject::Doubt(&fact);
        let matched = self.matched(subject, fact.command)?;
        let statement = self.decide(subject, &matched);
        findings.push(Finding { doubt: Some(fact.doubt), ..finding(statement, fact.command, fact.at, fact.reason) });
        Ok(())
    }

    /// A command as such: only rules speak of it, and only where no finding tells of them already.
    fn command(
        &self,
        index: usize,
        command: &CommandFact,
        told_before: &BTreeSet<(usize, LayerKind, u32, Verdict)>,
        findings: &mut Vec<Finding>,
    ) -> Result<(), Fault> {
        let matched = self.matched(Subject::Command, Some(index))?;
        let before = findings.len();
        self.uncertain(&matched, Doubt::Argument, (Some(index), command.at), findings);
        let statement = self.decide(Subject::Command, &matched);
        let finding = finding(statement, Some(index), command.at, "".into());
        let Some(key) = told(&finding) else { return Ok(()) };
        let same = |other: &Finding| told(other).as_ref() == Some(&key);
        if !told_before.contains(&key) && !findings.iter().skip(before).any(same) {
            findings.push(finding);
        }
        Ok(())
    }

    /// Rules that deny or ask, if something unknown were known, are a doubt of their own.
    fn uncertain(
        &self,
        matched: &[Matched<'_>],
        doubt: Doubt,
        (command, at): (Option<usize>, Location),
        findings: &mut Vec<Finding>,
    ) {
        for (layer, rule) in matched.iter().flat_map(|matched| matched.maybe.iter().map(|rule| (matched.layer, rule))) {
            let fact = DoubtFact { doubt, command, part: Part::Own, at, reason: "".into() };
            let verdict = self.decide(Subject::Doubt(&fact), &[]).verdict.min(rule.verdict());
            let statement = rule_statement(layer, rule, verdict);
            let name = if layer.trusted { format!("rule `{}`", rule.id) } else { UNTRUSTED.to_owned() };
            let reason = format!("whether {name} applies depends on something that is not known");
            findings.push(Finding {
                doubt: Some(doubt),
                reason: reason.into(),
                ..finding(statement, command, at, "".into())
            });
        }
    }

    /// The statement that decides.
    fn decide(&self, subject: Subject<'_>, matched: &[Matched<'_>]) -> Statement {
        let rules = |layer: &Layer| matched.iter().find(|matched| std::ptr::eq(matched.layer, layer));
        let ordinary = |trusted: bool| {
            let mut layers = self.policy.layers().iter().filter(move |layer| layer.trusted == trusted);
            layers.find_map(|layer| self.says(layer, subject, rules(layer), false))
        };
        let system = self.policy.layers().iter().find(|layer| layer.kind == LayerKind::System);
        let locked = system.and_then(|layer| self.says(layer, subject, rules(layer), true));
        let decided = ordinary(true).unwrap_or_else(|| self.shipped(subject));
        // Of two equally strict statements the one that stands higher is named: it is what would have to change.
        let above = self.floor(subject, matched).into_iter().chain(locked).chain(self.state(subject));
        let above = above.reduce(|first, other| first.stricter(Some(other)));
        let decided = match above {
            Some(above) => above.stricter(Some(decided)),
            None => decided,
        };
        decided.stricter(ordinary(false))
    }

    /// The most specific statement of one layer.
    fn says(
        &self,
        layer: &Layer,
        subject: Subject<'_>,
        rules: Option<&Matched<'_>>,
        locked: bool,
    ) -> Option<Statement> {
        let counts = |of: bool| of || !locked;
        let rules = rules.into_iter().flat_map(|matched| &matched.yes).filter(|rule| counts(rule.locked));
        // The first of the strictest.
        let rule = rules.reduce(|first, other| if other.verdict() > first.verdict() { other } else { first });
        if let Some(rule) = rule {
            return Some(rule_statement(layer, rule, rule.verdict()));
        }
        let core = &layer.core;
        let entry = match subject {
            Subject::Command => None,
            Subject::Effect(fact) => {
                let entries = core.effects.iter().filter(|entry| entry.of.covers(fact.effect, fact.aspect));
                let entries = entries.filter(|entry| counts(entry.locked));
                entries.max_by_key(|entry| entry.of.rank()).map(|entry| (entry.verdict, entry.line))
            }
            Subject::Doubt(fact) => {
                let entries = core.doubts.iter().filter(|entry| entry.of.is_none_or(|of| of == fact.doubt));
                let entries = entries.filter(|entry| counts(entry.locked));
                entries.max_by_key(|entry| entry.of.is_some()).map(|entry| (entry.verdict, entry.line))
            }
        };
        if let Some((verdict, line)) = entry {
            return Some(Statement::entry(verdict, Provenance { layer: layer.kind, line }));
        }
        let mode = core.mode.filter(|mode| counts(mode.locked))?;
        by_mode(self.call.mode.unwrap_or_else(|| self.policy.acknowledged(mode.mode)), subject)
    }

    /// What the shipped layer says where no other speaks.
    fn shipped(&self, subject: Subject<'_>) -> Statement {
        let provenance = Provenance { layer: LayerKind::Builtin, line: builtin::MODE.1 };
        by_mode(self.call.mode.unwrap_or(builtin::MODE.0), subject)
            .unwrap_or_else(|| Statement::entry(Verdict::Allow, provenance))
    }

    fn floor(&self, subject: Subject<'_>, matched: &[Matched<'_>]) -> Option<Statement> {
        let Subject::Effect(fact) = subject else {
            return None;
        };
        let floor = builtin::floor(fact.effect, fact.aspect, |id| !self.is_lowered(id, matched))?;
        let provenance = Provenance { layer: LayerKind::Builtin, line: floor.line };
        Some(Statement { verdict: floor.verdict, source: Source::Floor(floor), provenance })
    }

    /// A rule of the floor's id in the system or user layer speaks instead of it.
    fn is_lowered(&self, floor: &str, matched: &[Matched<'_>]) -> bool {
        matched.iter().any(|matched| {
            let may = match matched.layer.kind {
                LayerKind::System => true,
                LayerKind::User => !self.policy.is_locked_floor(floor),
                LayerKind::Builtin | LayerKind::Project | LayerKind::Session => false,
            };
            may && matched.yes.iter().any(|rule| rule.id == floor)
        })
    }

    /// Where the project's layer cannot be relied on, everything but looking asks.
    fn state(&self, subject: Subject<'_>) -> Option<Statement> {
        let (reason, layer) = self.policy.suspended()?;
        let looks = match subject {
            Subject::Command => true,
            Subject::Effect(fact) => fact.effect == Effect::Inspect,
            Subject::Doubt(_) => false,
        };
        let provenance = Provenance { layer, line: 1 };
        (!looks).then_some(Statement { verdict: Verdict::Ask, source: Source::State(reason), provenance })
    }

    /// The rules of each layer that are about the subject.
    fn matched(&self, subject: Subject<'_>, command: Option<usize>) -> Result<Vec<Matched<'_>>, Fault> {
        let command = command.and_then(|index| self.facts.commands.get(index));
        let program = command.and_then(|command| command.program.as_ref()).map(|program| Key::program(program));
        let effect = if let Subject::Effect(fact) = subject { Some(Key::effect(fact.effect)) } else { None };
        let mut all = Vec::new();
        for (at, layer) in self.policy.layers().iter().enumerate() {
            let mut matched = Matched { layer, yes: Vec::new(), maybe: Vec::new() };
            for key in program.into_iter().chain(effect).chain([Key::ANY]) {
                for rule in self.bucket(at, layer, key)?.iter() {
                    match concerns(rule, subject, command, self.call) {
                        Match::Yes => matched.yes.push(Rc::clone(rule)),
                        Match::Maybe if rule.verdict() > Verdict::Allow => matched.maybe.push(Rc::clone(rule)),
                        Match::Maybe | Match::No => {}
                    }
                }
            }
            if !(matched.yes.is_empty() && matched.maybe.is_empty()) {
                all.push(matched);
            }
        }
        Ok(all)
    }

    fn bucket(&self, at: usize, layer: &Layer, key: Key) -> Result<Bucket, Fault> {
        if let Some(bucket) = self.buckets.borrow().get(&(at, key)) {
            return Ok(Rc::clone(bucket));
        }
        let rules: Bucket = layer.rules.find(key)?.into_iter().map(Rc::new).collect();
        self.buckets.borrow_mut().insert((at, key), Rc::clone(&rules));
        Ok(rules)
    }
}

/// Whether a rule is about anything of these facts.
pub(super) fn is_about(rule: &Rule, facts: &Facts, call: &Call<'_>) -> bool {
    let command = |index: Option<usize>| index.and_then(|index| facts.commands.get(index));
    let effects = facts.effects.iter().map(|fact| (Subject::Effect(fact), command(fact.command)));
    let doubts = facts.doubts.iter().map(|fact| (Subject::Doubt(fact), command(fact.command)));
    let commands = facts.commands.iter().map(|command| (Subject::Command, Some(command)));
    let least = if rule.verdict() == Verdict::Allow { Match::Yes } else { Match::Maybe };
    effects.chain(doubts).chain(commands).any(|(subject, command)| concerns(rule, subject, command, call) >= least)
}

/// Whether a rule is about a subject. A rule that names commands speaks for their own effects and arguments: what
/// redirections, assignments, wrappers and nested code do is judged for itself.
fn concerns(rule: &Rule, subject: Subject<'_>, command: Option<&CommandFact>, call: &Call<'_>) -> Match {
    // To lower a floor is to allow more, too.
    let lowers = builtin::FLOORS.iter().any(|floor| floor.id == rule.id && rule.verdict() < floor.verdict);
    let allows = lowers || rule.verdict() == Verdict::Allow;
    let by_name = rule.commands.iter().any(|words| words.first().is_some_and(|program| !program.contains('/')));
    if allows && by_name && command.is_some_and(|command| command.identity == Identity::Foreign) {
        return Match::No;
    }
    let own =
        |part: Part, at: Location| part == Part::Own && command.is_none_or(|command| command.at.script == at.script);
    let effects = rule.is_about_effects();
    let of_command = || matcher::command(rule, command, call);
    match subject {
        Subject::Command if effects => Match::No,
        Subject::Command => of_command(),
        Subject::Effect(fact) => {
            let everywhere = effects && (!allows || rule.is_without_command());
            if everywhere || own(fact.part, fact.at) {
                of_command().min(matcher::effect(rule, fact, call.roots))
            } else {
                Match::No
            }
        }
        Subject::Doubt(fact) => {
            let covered = match fact.doubt {
                Doubt::Argument | Doubt::Path => true,
                Doubt::Program => command.is_some_and(|command| command.identity == Identity::Undescribed),
                Doubt::Syntax | Doubt::Dialect | Doubt::Command | Doubt::Script | Doubt::Limit => false,
            };
            let named = !effects && !rule.is_without_command();
            if named && covered && own(fact.part, fact.at) { of_command() } else { Match::No }
        }
    }
}

fn by_mode(mode: Mode, subject: Subject<'_>) -> Option<Statement> {
    match subject {
        Subject::Command => None,
        Subject::Effect(fact) => Some(builtin::effect(mode, fact.effect, fact.aspect)),
        Subject::Doubt(fact) => Some(builtin::doubt(mode, fact.doubt)),
    }
}

fn rule_statement(layer: &Layer, rule: &Rc<Rule>, verdict: Verdict) -> Statement {
    let provenance = Provenance { layer: layer.kind, line: rule.line };
    // The words of a project that nobody trusts reach nobody.
    let source = if layer.trusted { Source::Rule(Rc::clone(rule)) } else { Source::State(UNTRUSTED) };
    Statement { verdict, source, provenance }
}

/// What is told of a rule whose words reach nobody yet.
const UNTRUSTED: &str = "a rule of this project's policy that is not trusted";

fn finding(statement: Statement, command: Option<usize>, at: Location, fact: Cow<'static, str>) -> Finding {
    let (rule, reason) = match &statement.source {
        Source::Entry => (None, fact),
        Source::Rule(rule) => {
            (Some(rule.id.clone()), if rule.reason.is_empty() { fact } else { rule.reason.clone().into() })
        }
        Source::Floor(floor) => (Some(floor.id.to_owned()), if fact.is_empty() { floor.reason.into() } else { fact }),
        Source::State(reason) => (None, (*reason).into()),
    };
    Finding {
        verdict: statement.verdict,
        reason,
        rule,
        effect: None,
        doubt: None,
        target: None,
        command,
        at,
        provenance: statement.provenance,
    }
}
