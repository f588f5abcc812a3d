//! Which statement decides: floors, locks, layers, specificity, parts of a command.

use vetsh::decision::LayerKind::{Project, System, User};
use vetsh::facts::{Aspect, Doubt, Effect, Identity, Part};

use super::{Case, T, U};

/// One row: layers from low to high, what is judged, what is said of it.
macro_rules! rows {
    ($($layers:expr, $case:expr => $said:expr;)*) => {
        $( assert_eq!($case.under(&$layers), $said, "line {}", line!()); )*
    };
}

const ASK_MODE: &str = "version = 1\nmode = \"ask\"\n";
const SEND_ALLOWED: &str = "version = 1\n[effects]\nsend = \"allow\"\n";

fn effect(effect: Effect, aspect: Option<Aspect>) -> Case {
    Case::of_effect(effect, aspect)
}

#[test]
fn the_highest_layer_that_speaks_decides() {
    let send = || effect(Effect::Send, None);
    rows! {
        [], send() => "ask builtin";
        [(User, T, SEND_ALLOWED)], send() => "allow user:3";
        [(System, T, SEND_ALLOWED)], send() => "allow system:3";
        [(System, T, SEND_ALLOWED), (User, T, "version = 1\n[effects]\nsend = \"deny\"\n")], send() => "deny user:3";
        [(System, T, "version = 1\n[effects]\nsend = \"deny\"\n"), (User, T, SEND_ALLOWED)], send() => "allow user:3";
        // A mode is the least specific statement of its layer, but the layer speaks.
        [(System, T, SEND_ALLOWED), (User, T, ASK_MODE)], send() => "ask builtin";
        [(User, T, SEND_ALLOWED), (Project, T, "version = 1\nmode = \"read-only\"\n")], send() => "deny builtin";
    }
}

#[test]
fn the_most_specific_statement_of_a_layer_decides() {
    let text = "version = 1
mode = \"read-only\"
[effects]
\"*\" = \"deny\"
write = \"ask\"
\"write.home\" = \"allow\"
[doubts]
\"*\" = \"deny\"
path = \"ask\"
[[rule]]
id = \"notes\"
verdict = \"deny\"
reason = \"notes are mine\"
path = \"~/notes/**\"
[[rule]]
id = \"all-writes\"
verdict = \"ask\"
effect = \"write\"
path = \"~/notes/**\"
";
    rows! {
        [(User, T, text)], effect(Effect::Fetch, None) => "deny user:4";
        [(User, T, text)], effect(Effect::Write, None).on("/x") => "ask user:5";
        [(User, T, text)], effect(Effect::Write, Some(Aspect::Temp)) => "ask user:5";
        [(User, T, text)], effect(Effect::Write, Some(Aspect::Home)).on("/home/user/x") => "allow user:6";
        // Of several rules in one layer the strictest.
        [(User, T, text)], effect(Effect::Write, Some(Aspect::Home)).on("/home/user/notes/a") => "deny notes user:11";
        [(User, T, text)], Case::of_doubt(Doubt::Path) => "ask user:9";
        [(User, T, text)], Case::of_doubt(Doubt::Syntax) => "deny user:8";
    }
}

#[test]
fn floors_are_lowered_by_name_only() {
    let secret = || effect(Effect::Read, Some(Aspect::Secret)).on("/home/user/.netrc");
    let wildcard = "version = 1\n[effects]\n\"*\" = \"allow\"\n";
    let named = "version = 1\n[[rule]]\nid = \"secret\"\nverdict = \"allow\"\npath = \"~/.netrc\"\n";
    let whole = "version = 1\n[[rule]]\nid = \"secret\"\nverdict = \"allow\"\n";
    let other = "version = 1\n[[rule]]\nid = \"mine\"\nverdict = \"allow\"\npath = \"~/.netrc\"\n";
    let deny = "version = 1\n[effects]\nread.secret = \"deny\"\n";
    let locked = "version = 1\nlock = [\"rule.secret\"]\n";
    rows! {
        [], secret() => "ask secret builtin";
        [(User, T, wildcard)], secret() => "ask secret builtin";
        [(User, T, other)], secret() => "ask secret builtin";
        [(User, T, named)], secret() => "allow secret user:3";
        [(User, T, whole)], secret() => "allow secret user:3";
        [(User, T, named)], effect(Effect::Read, Some(Aspect::Secret)).on("/home/user/.ssh/id") => "ask secret builtin";
        [(System, T, named)], secret() => "allow secret system:3";
        [(System, T, locked), (User, T, named)], secret() => "ask secret builtin";
        [(User, T, deny)], secret() => "deny user:3";
        [(User, T, "version = 1\n[[rule]]\nid = \"system-tree\"\nverdict = \"ask\"\ncommand = \"rm\"\n")],
            effect(Effect::Delete, Some(Aspect::Root)).by("rm -r /opt/x") => "ask system-tree user:3";
        [(User, T, "version = 1\n[[rule]]\nid = \"system-tree\"\nverdict = \"ask\"\ncommand = \"rm\"\n")],
            effect(Effect::Delete, Some(Aspect::Root)).by("shred /opt/x") => "deny system-tree builtin";
        [(User, T, "version = 1\n[[rule]]\nid = \"system-tree\"\nverdict = \"ask\"\ncommand = \"rm\"\n")],
            effect(Effect::Write, Some(Aspect::Root)).by("rm x").part(Part::Redirection) => "deny system-tree builtin";
        [(User, T, "version = 1\n[[rule]]\nid = \"system-tree\"\nverdict = \"ask\"\ncommand = \"rm\"\n")],
            effect(Effect::Delete, Some(Aspect::Root)).by("rm -r /opt/x").identity(Identity::Foreign) => "deny system-tree builtin";
    }
}

#[test]
fn what_the_system_locks_is_not_lowered() {
    let system = "version = 1
mode = \"ask\"
lock = [\"mode\", \"effects.send\", \"rule.no-push\", \"doubts\"]
[effects]
send = \"deny\"
fetch = \"deny\"
[doubts]
path = \"deny\"
[[rule]]
id = \"no-push\"
verdict = \"deny\"
reason = \"only the build server pushes\"
command = \"git push\"
";
    let user = "version = 1
mode = \"auto\"
[effects]
\"*\" = \"allow\"
inspect = \"deny\"
[doubts]
\"*\" = \"allow\"
[[rule]]
id = \"push\"
verdict = \"allow\"
command = \"git\"
";
    let layers = [(System, T, system), (User, T, user)];
    rows! {
        layers, effect(Effect::Send, None) => "deny system:5";
        // Not locked, but the locked mode asks.
        layers, effect(Effect::Fetch, None) => "ask builtin";
        layers, effect(Effect::Write, Some(Aspect::Project)) => "ask builtin";
        // Stricter is free.
        layers, effect(Effect::Inspect, None) => "deny user:5";
        layers, Case::of_doubt(Doubt::Path) => "deny system:8";
        layers, effect(Effect::Publish, None).by("git push origin") => "deny no-push system:10";
    }
}

#[test]
fn a_project_without_trust_only_tightens() {
    let loose = "version = 1\n[effects]\n\"*\" = \"allow\"\n[doubts]\n\"*\" = \"allow\"\n[[rule]]\nid = \"a\"\nverdict = \"allow\"\ncommand = \"git push\"\n";
    let strict = "version = 1\nmode = \"ask\"\n[effects]\nfetch = \"deny\"\n[[rule]]\nid = \"b\"\nverdict = \"deny\"\nreason = \"secret words\"\ncommand = \"npm publish\"\n";
    rows! {
        [(Project, U, loose)], effect(Effect::Publish, None).by("git push") => "ask builtin";
        [(Project, T, loose)], effect(Effect::Publish, None).by("git push") => "allow a project:7";
        [(Project, U, loose)], Case::of_doubt(Doubt::Path) => "ask builtin";
        [(Project, T, loose)], Case::of_doubt(Doubt::Path) => "allow project:5";
        [(Project, U, strict)], effect(Effect::Write, Some(Aspect::Project)) => "ask builtin";
        [(Project, U, strict)], effect(Effect::Fetch, Some(Aspect::Public)) => "deny project:4";
        // Its words reach nobody.
        [(Project, U, strict)], effect(Effect::Publish, None).by("npm publish") => "deny project:6";
        [(Project, T, strict)], effect(Effect::Publish, None).by("npm publish") => "deny b project:6";
        [(User, T, "version = 1\n[effects]\nsend = \"deny\"\n"), (Project, U, loose)], effect(Effect::Send, None) => "deny user:3";
    }
    let case = effect(Effect::Publish, None).by("npm publish");
    assert!(!format!("{:?}", case.decision(&[(Project, U, strict)]).findings).contains("secret words"));
    assert!(format!("{:?}", case.decision(&[(Project, T, strict)]).findings).contains("secret words"));
}

#[test]
fn an_allow_rule_speaks_for_its_own_command_alone() {
    let text = "version = 1\n[[rule]]\nid = \"make\"\nverdict = \"allow\"\ncommand = \"make\"\n";
    let home = || effect(Effect::Write, Some(Aspect::Home)).on("/home/user/x").by("make");
    let layers = [(User, T, text)];
    rows! {
        layers, home() => "allow make user:3";
        layers, home().part(Part::Redirection) => "ask builtin";
        layers, home().part(Part::Assignment) => "ask builtin";
        layers, home().part(Part::Wrapper) => "ask builtin";
        layers, home().part(Part::Nested) => "ask builtin";
        layers, home().in_another_script() => "ask builtin";
        layers, home().identity(Identity::Foreign) => "ask builtin";
        layers, home().identity(Identity::Undescribed) => "allow make user:3";
        layers, Case::of_doubt(Doubt::Argument).by("make") => "allow make user:3";
        layers, Case::of_doubt(Doubt::Path).by("make") => "allow make user:3";
        layers, Case::of_doubt(Doubt::Path).by("make").part(Part::Redirection) => "ask builtin";
        layers, Case::of_doubt(Doubt::Program).by("make").identity(Identity::Undescribed) => "allow make user:3";
        layers, Case::of_doubt(Doubt::Program).by("make").identity(Identity::Foreign) => "ask builtin";
        layers, Case::of_doubt(Doubt::Script).by("make") => "ask builtin";
        layers, Case::of_doubt(Doubt::Syntax).by("make") => "ask builtin";
        layers, effect(Effect::Write, Some(Aspect::Home)).by("cmake") => "ask builtin";
    }
    // A rule about effects, whoever has them, is about redirections too.
    let by_path =
        "version = 1\n[[rule]]\nid = \"notes\"\nverdict = \"allow\"\neffect = \"write\"\npath = \"~/notes/**\"\n";
    let notes =
        || effect(Effect::Write, Some(Aspect::Home)).on("/home/user/notes/a").by("echo hi").part(Part::Redirection);
    rows! {
        [(User, T, by_path)], notes() => "allow notes user:3";
        [(User, T, by_path)], notes().on("/home/user/other") => "ask builtin";
    }
}

#[test]
fn a_broken_project_policy_asks_for_everything_but_looking() {
    let suspended = |case: Case| case.suspended();
    assert_eq!(suspended(effect(Effect::Inspect, None)), "allow builtin");
    assert_eq!(suspended(effect(Effect::Write, Some(Aspect::Project))), "ask project:1");
    assert_eq!(suspended(effect(Effect::Delete, Some(Aspect::Root))), "deny system-tree builtin");
}
