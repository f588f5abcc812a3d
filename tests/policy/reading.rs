//! Policies over commands as they are read, from text to verdict.

use std::path::Path;

use vetsh::commands::Tables;
use vetsh::decision::LayerKind::{Project, User};
use vetsh::facts::{Places, Settings, Task, collect};
use vetsh::host::{AssumedHost, Host};
use vetsh::policy::layer::compile_file;
use vetsh::policy::{Call, Roots, evaluate, show};
use vetsh::syntax::Dialect;

use super::{T, Text, U, policy, said};

/// What the layers say of a command in a project of which nothing is known.
fn judge(layers: &[Text<'_>], command: &str) -> String {
    let host = AssumedHost::new(Path::new("/home/user/app"), Path::new("/home/user"));
    let policy = policy(layers);
    let tables = Tables::builtin().with_user(policy.wrappers().to_vec());
    let task = Task {
        text: command.as_bytes(),
        name: "-c".into(),
        dialect: Dialect::Bash,
        zero: "bash".into(),
        positional: Vec::new(),
        before: Vec::new(),
    };
    let places = Places { globs: policy.places(), own: &[] };
    let facts = collect(&task, &host, &Settings { places, tables: &tables });
    let roots = Roots { home: host.home(), project: host.project() };
    said(&evaluate(&policy, facts, &Call { mode: None, shell: "bash", origin: "", roots }).unwrap())
}

#[test]
fn commands_are_judged_by_rules_as_they_are_read() {
    let text = "version = 1
[[rule]]
id = \"no-force-push\"
verdict = \"deny\"
reason = \"rewrites published history\"
command = \"git push\"
flags = [\"--force\", \"-f\", \"--mirror\"]
[[rule]]
id = \"push\"
verdict = \"allow\"
command = \"git push\"
";
    let layers = [(User, T, text)];
    let rows = [
        ("git push -f origin main", "deny no-force-push user:3"),
        ("git push --mirr origin", "deny no-force-push user:3"),
        ("git push -uf origin main", "deny no-force-push user:3"),
        ("git -C sub push origin --force", "deny no-force-push user:3"),
        ("command git push -f", "deny no-force-push user:3"),
        ("sh -c 'git push -f'", "deny no-force-push user:3"),
        ("echo $(git push -f)", "deny no-force-push user:3"),
        ("git push origin main", "allow push user:9"),
        ("git push origin main > ~/log", "ask builtin"),
        ("echo 'git push -f'", "allow"),
        ("printf '%s' 'git push -f'", "allow"),
    ];
    for (command, expected) in rows {
        assert_eq!(judge(&layers, command), expected, "{command}");
    }
}

#[test]
fn vetsh_is_for_its_user() {
    let rows = [
        ("vetsh policy show", "allow builtin"),
        ("vetsh check 'rm -rf /'", "allow builtin"),
        ("vetsh approvals list", "allow builtin"),
        ("vetsh trust --list", "allow builtin"),
        ("vetsh trust", "deny tamper builtin"),
        ("vetsh approvals approve 12", "deny tamper builtin"),
        ("vetsh uninstall --shims /opt/vetsh", "deny tamper builtin"),
        ("vetsh -c 'rm -rf /'", "deny system-tree builtin"),
    ];
    for (command, expected) in rows {
        assert_eq!(judge(&[], command), expected, "{command}");
    }
}

#[test]
fn a_declared_wrapper_is_looked_through() {
    let text = "version = 1
[[wrapper]]
program = \"mise\"
grammar = \"exec [options] -- COMMAND\"
[[wrapper]]
program = \"in-box\"
grammar = \"BOX NAME=VALUE... SCRIPT\"
[[rule]]
id = \"svn\"
verdict = \"deny\"
reason = \"no\"
command = \"svn\"
";
    for command in ["mise exec -- svn up", "mise exec -q -- svn up", "in-box red A=1 'cd x && svn up'"] {
        assert_eq!(judge(&[(User, T, text)], command), "deny svn user:9", "{command}");
    }
    assert_eq!(judge(&[(Project, U, text)], "in-box red A=1 svn").split(' ').next(), Some("ask"));
}

#[test]
fn places_are_those_of_trusted_layers_and_tighten_otherwise() {
    let text = "version = 1\n[places]\nsecret = [\"**/*.tfvars\"]\nproject = [\"~/notes\"]\n";
    let rows = [
        (vec![], "cat prod.tfvars", "allow builtin"),
        (vec![(User, T, text)], "cat prod.tfvars", "ask secret builtin"),
        (vec![(Project, U, text)], "cat prod.tfvars", "ask secret builtin"),
        (vec![], "echo x > ~/notes/a", "ask builtin"),
        (vec![(User, T, text)], "echo x > ~/notes/a", "allow builtin"),
        (vec![(Project, T, text)], "echo x > ~/notes/a", "allow builtin"),
        (vec![(Project, U, text)], "echo x > ~/notes/a", "ask builtin"),
    ];
    for (layers, command, expected) in rows {
        assert_eq!(judge(&layers, command), expected, "{layers:?} {command}");
    }
}

#[test]
fn examples_are_tried() {
    let told = |text: &str| {
        let faults = compile_file(Path::new("policy.toml"), text, User).err().unwrap_or_default();
        faults.iter().map(|fault| fault.render(text.as_bytes())).collect::<Vec<_>>().join("\n\n")
    };
    let good = "version = 1
[[rule]]
id = \"p\"
verdict = \"ask\"
command = \"git push\"
examples = { match = \"git push\", not_match = [\"git pull\", \"echo git push\"] }
[[rule]]
id = \"z\"
verdict = \"ask\"
command = \"ls\"
shell = \"zsh\"
examples = { match = \"ls\" }
";
    assert_eq!(told(good), "");
    let bad = good
        .replace("not_match = [", "not_match = [\"git  push x\", ")
        .replace("match = \"git push\"", "match = \"git fetch\"");
    let expected = [
        "error: rule `p` does not match this example",
        " --> policy.toml:6:22",
        "error: rule `p` matches this example",
        " --> policy.toml:6:48",
    ];
    let told = told(&bad);
    let heads = told.lines().filter(|line| line.starts_with("error") || line.starts_with(" -->"));
    assert_eq!(heads.collect::<Vec<_>>(), expected);
}

#[test]
fn what_is_in_force_is_shown_with_its_origin() {
    let user = "version = 1\nmode = \"ask\"\n[effects]\nfetch = \"allow\"\n\"read.secret\" = \"deny\"\n[places]\nsecret = [\"**/*.tfvars\"]\n";
    let project =
        "version = 1\n[effects]\nsend = \"deny\"\n[[rule]]\nid = \"ours\"\nverdict = \"ask\"\ncommand = \"make\"\n";
    let layers = [(User, T, user), (Project, U, project)];
    let rules = vec![(Project, vetsh::policy::compile(project, Project).unwrap().rules)];
    let roots = Roots { home: Path::new("/home/user"), project: None };
    let call = Call { mode: None, shell: "bash", origin: "", roots };
    let text = show::text(&policy(&layers), &rules, &call).unwrap();
    for line in [
        "mode = \"ask\"                        # user:2",
        "fetch = \"allow\"                     # user:4",
        "\"read.secret\" = \"deny\"              # user:5",
        "send = \"deny\"                       # project:3",
        "secret = [\"**/*.tfvars\"]            # user",
        "id = \"ours\"                         # project:5, without trust: it only makes stricter",
        "command = [\"make\"]",
        "pipe = \"deny\"",
    ] {
        assert!(text.lines().any(|shown| shown == line), "{line}\n{text}");
    }
    let startup = text.lines().find(|line| line.starts_with("\"write.startup\"")).unwrap();
    assert!(startup.contains("floor `startup`"), "{startup}");
}
