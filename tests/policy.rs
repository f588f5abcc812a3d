//! The policy: what layers say about facts.

use std::path::Path;

use vetsh::decision::{Decision, Mode, Verdict};
use vetsh::facts::{Aspect, Effect, EffectFact, Facts, Location, Part};
use vetsh::policy::{Call, Policy, Roots, evaluate};

/// One effect of no command.
fn effect(effect: Effect, aspect: Option<Aspect>) -> EffectFact {
    let at = Location::default();
    EffectFact { effect, aspect, target: None, command: None, part: Part::Own, at, reason: "".into() }
}

fn call(mode: Option<Mode>) -> Call<'static> {
    let roots = Roots { home: Path::new("/home/ada"), project: Some(Path::new("/home/ada/app")) };
    Call { mode, shell: "bash", origin: "", roots }
}

fn judge(policy: &Policy, fact: EffectFact, mode: Option<Mode>) -> Decision {
    evaluate(policy, Facts { effects: vec![fact], ..Facts::default() }, &call(mode)).unwrap()
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
        let said = modes.map(|mode| judge(&Policy::shipped(), effect(*of, *aspect), Some(mode)).verdict);
        assert_eq!(said, *expected, "{of:?} {aspect:?}");
    }
}
