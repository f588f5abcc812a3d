//! The policy: what layers say about facts.

mod documented;
mod errors;
mod layers;
mod matching;
mod precedence;
mod reading;
mod tightening;
mod tool;

use std::path::Path;

use bstr::BString;
use vetsh::decision::{Decision, LayerKind, Mode, Verdict};
use vetsh::diagnostic::Span;
use vetsh::facts::{
    Aspect, CommandFact, Doubt, DoubtFact, Effect, EffectFact, Facts, Identity, Location, OptionFact, Part,
};
use vetsh::policy::{Call, Layer, Policy, Roots, compile, evaluate};
use vetsh::syntax::Dialect;

/// With the user's trust.
const T: bool = true;
/// Without.
const U: bool = false;

/// A layer: its rank, whether it is trusted, its text.
type Text<'a> = (LayerKind, bool, &'a str);

/// Something to be judged.
#[derive(Debug, Clone, Default)]
struct Case {
    facts: Facts,
    mode: Option<Mode>,
}

impl Case {
    /// An effect of no command.
    fn of_effect(effect: Effect, aspect: Option<Aspect>) -> Self {
        let at = Location::default();
        let fact = EffectFact { effect, aspect, target: None, command: None, part: Part::Own, at, reason: "".into() };
        Self { facts: Facts { effects: vec![fact], ..Facts::default() }, mode: None }
    }

    /// A doubt about no command.
    fn of_doubt(doubt: Doubt) -> Self {
        let fact = DoubtFact { doubt, command: None, part: Part::Own, at: Location::default(), reason: "".into() };
        Self { facts: Facts { doubts: vec![fact], ..Facts::default() }, mode: None }
    }

    /// A command without effects: assignments, the program, words; `?` is what is not known.
    fn of_command(line: &str) -> Self {
        Self::default().by(line)
    }

    /// The effect or doubt is this command's.
    fn by(mut self, line: &str) -> Self {
        let is_assignment = |word: &&str| word.contains('=') && !word.starts_with('-');
        let words = line.split(' ').skip_while(is_assignment).map(|word| (word != "?").then(|| BString::from(word)));
        let argv = words.collect::<Vec<_>>();
        let operand = |word: &&Option<BString>| !word.as_ref().is_some_and(|word| word.starts_with(b"-"));
        let program = argv[0].as_ref().map(|name| BString::from(name.rsplit(|&byte| byte == b'/').next().unwrap()));
        self.facts.commands = vec![CommandFact {
            program,
            identity: Identity::Undescribed,
            subcommand: Vec::new(),
            options: Vec::new(),
            operands: argv.iter().skip(1).filter(operand).cloned().collect(),
            argv,
            environment: line.split(' ').take_while(is_assignment).map(BString::from).collect(),
            cwd: Some(Path::new("/home/user/app").into()),
            via: std::rc::Rc::default(),
            at: Location::default(),
            dialect: Dialect::Bash,
        }];
        self.facts.effects.iter_mut().for_each(|fact| fact.command = Some(0));
        self.facts.doubts.iter_mut().for_each(|fact| fact.command = Some(0));
        self
    }

    /// The effect is about this path or host.
    fn on(mut self, target: &str) -> Self {
        self.facts.effects[0].target = Some(target.into());
        self
    }

    fn part(mut self, part: Part) -> Self {
        self.facts.effects.iter_mut().for_each(|fact| fact.part = part);
        self.facts.doubts.iter_mut().for_each(|fact| fact.part = part);
        self
    }

    fn in_another_script(mut self) -> Self {
        self.facts.effects[0].at = Location { script: 1, span: Span::default() };
        self
    }

    fn identity(mut self, identity: Identity) -> Self {
        self.facts.commands[0].identity = identity;
        self
    }

    fn operands(mut self, operands: &[Option<&str>]) -> Self {
        self.facts.commands[0].operands = operands.iter().map(|word| word.map(BString::from)).collect();
        self
    }

    fn option(mut self, names: &[&str]) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.facts.commands[0].options.push(OptionFact { names, value: None });
        self
    }

    fn mode(mut self, mode: Mode) -> Self {
        self.mode = Some(mode);
        self
    }

    fn judge(&self, policy: &Policy) -> Decision {
        let roots = Roots { home: Path::new("/home/user"), project: Some(Path::new("/home/user/app")) };
        let call = Call { mode: self.mode, shell: "bash", origin: "claude-code", roots };
        evaluate(policy, self.facts.clone(), &call).unwrap()
    }

    fn decision(&self, layers: &[Text<'_>]) -> Decision {
        self.judge(&policy(layers))
    }

    /// Verdict, rule and provenance of the strictest finding.
    fn under(&self, layers: &[Text<'_>]) -> String {
        said(&self.decision(layers))
    }

    /// The same where the project's own layer cannot be relied on.
    fn suspended(&self) -> String {
        said(&self.judge(&Policy::new(Vec::new(), false, Some("broken"))))
    }
}

/// A policy of layers, given from low to high.
fn policy(layers: &[Text<'_>]) -> Policy {
    let layer = |(kind, trusted, text): &Text<'_>| Layer::new(*kind, *trusted, compile(text, *kind).unwrap()).unwrap();
    Policy::new(layers.iter().rev().map(layer).collect(), false, None)
}

fn said(decision: &Decision) -> String {
    let strictest = decision.findings.iter().rev().max_by_key(|finding| finding.verdict);
    let Some(finding) = strictest else {
        return decision.verdict.word().into();
    };
    let rule = finding.rule.as_ref().map_or_else(String::new, |rule| format!("{rule} "));
    let at = &finding.provenance;
    let line = if at.layer == LayerKind::Builtin { String::new() } else { format!(":{}", at.line) };
    format!("{} {rule}{}{line}", finding.verdict.word(), at.layer.word())
}

#[test]
fn the_shipped_layer_is_named_by_its_line() {
    let line = |case: &Case| {
        let line = case.decision(&[]).findings[0].provenance.line as usize;
        vetsh::policy::builtin::TEXT.lines().nth(line - 1).unwrap().to_owned()
    };
    let told = [
        line(&Case::of_effect(Effect::Write, Some(Aspect::Project))),
        line(&Case::of_effect(Effect::Read, Some(Aspect::Secret))),
        line(&Case::of_doubt(Doubt::Path)),
    ];
    assert!(told[0].starts_with("\"write.project\""), "{told:?}");
    assert_eq!(told[1], "id = \"secret\"");
    assert!(told[2].starts_with("\"*\""), "{told:?}");
}

#[test]
fn the_shipped_modes_say_what_their_table_says() {
    use Verdict::{Allow, Ask, Deny};
    let rows: &[(Effect, Option<Aspect>, [Verdict; 4])] = &[
        (Effect::Inspect, None, [Allow, Allow, Allow, Allow]),
        (Effect::Read, Some(Aspect::Home), [Allow, Allow, Allow, Allow]),
        (Effect::Read, Some(Aspect::Secret), [Ask, Ask, Ask, Ask]),
        (Effect::Write, Some(Aspect::Project), [Deny, Ask, Allow, Allow]),
        (Effect::Write, Some(Aspect::Temp), [Deny, Ask, Allow, Allow]),
        (Effect::Write, Some(Aspect::Home), [Deny, Ask, Ask, Allow]),
        (Effect::Write, Some(Aspect::Startup), [Deny, Ask, Ask, Ask]),
        (Effect::Write, Some(Aspect::Vcs), [Deny, Ask, Ask, Allow]),
        (Effect::Write, Some(Aspect::Root), [Deny, Deny, Deny, Deny]),
        (Effect::Delete, Some(Aspect::Project), [Deny, Ask, Ask, Allow]),
        (Effect::Delete, Some(Aspect::Replaceable), [Deny, Ask, Allow, Allow]),
        (Effect::Delete, Some(Aspect::Temp), [Deny, Ask, Allow, Allow]),
        (Effect::Delete, Some(Aspect::Root), [Deny, Deny, Deny, Deny]),
        (Effect::Run, Some(Aspect::Project), [Deny, Ask, Allow, Allow]),
        (Effect::Run, Some(Aspect::Inline), [Ask, Ask, Allow, Allow]),
        (Effect::Run, Some(Aspect::Downloaded), [Deny, Ask, Ask, Allow]),
        (Effect::Install, Some(Aspect::Locked), [Deny, Ask, Allow, Allow]),
        (Effect::Install, Some(Aspect::Named), [Deny, Ask, Ask, Allow]),
        (Effect::Fetch, Some(Aspect::Public), [Ask, Ask, Allow, Allow]),
        (Effect::Fetch, Some(Aspect::Other), [Ask, Ask, Ask, Allow]),
        (Effect::Send, None, [Deny, Ask, Ask, Allow]),
        (Effect::Publish, None, [Deny, Ask, Ask, Allow]),
        (Effect::Commit, None, [Deny, Ask, Allow, Allow]),
        (Effect::Discard, None, [Deny, Ask, Ask, Allow]),
        (Effect::Signal, Some(Aspect::Own), [Deny, Ask, Allow, Allow]),
        (Effect::Signal, Some(Aspect::Other), [Deny, Ask, Ask, Allow]),
        (Effect::Elevate, None, [Deny, Ask, Ask, Allow]),
        (Effect::Persist, None, [Deny, Ask, Ask, Ask]),
        (Effect::Control, None, [Deny, Ask, Ask, Allow]),
        (Effect::Device, None, [Deny, Deny, Deny, Deny]),
        (Effect::Tamper, None, [Deny, Deny, Deny, Deny]),
        (Effect::Exhaust, None, [Deny, Deny, Deny, Deny]),
    ];
    let modes = [Mode::ReadOnly, Mode::Ask, Mode::Auto, Mode::Full];
    for (of, aspect, expected) in rows {
        let said = modes.map(|mode| Case::of_effect(*of, *aspect).mode(mode).decision(&[]).verdict);
        assert_eq!(said, *expected, "{of:?} {aspect:?}");
    }
}
