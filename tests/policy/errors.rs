//! What authors of a policy are told: everything that is wrong, each with its place and advice.

use std::path::Path;

use vetsh::decision::LayerKind;
use vetsh::policy::compile;

/// All errors of a layer, as they are printed.
fn errors(kind: LayerKind, text: &str) -> String {
    let problems = compile(text, kind).err().unwrap_or_default();
    let rendered =
        problems.into_iter().map(|problem| problem.in_file(Path::new("policy.toml")).render(text.as_bytes()));
    rendered.collect::<Vec<_>>().join("\n\n")
}

#[test]
fn every_mistake_is_told() {
    use LayerKind::{Project, System, User};
    let cases = [
        (User, "mode = \"auto\"\n"),
        (User, "version = 2\n"),
        (User, "version = \"1\"\n"),
        (User, "version = 1\nmode = \"outo\"\nefects = {}\nzebra = 1\n"),
        (User, "version = 1\nmode = \n[effects\nread = \"allow\"\n"),
        (User, "version = 1\nversion = 1\n"),
        (
            User,
            "version = 1\n[effects]\nwrites = \"allow\"\n\"write.projekt\" = \"allow\"\n\"send\" = \"alow\"\nread = 1\n",
        ),
        (User, "version = 1\n[effects]\nwrite.project = \"allow\"\n"),
        (User, "version = 1\n[effects]\nwrite = \"ask\"\nwrite.project = \"allow\"\n"),
        (User, "version = 1\n[effects]\n\"read.secret\" = \"allow\"\n\"*\" = \"allow\"\n"),
        (User, "version = 1\n[doubts]\npaths = \"ask\"\n"),
        (User, "version = 1\n[places]\nsecret = [\"*.tfvars\", \"~/../x\"]\nprojects = [\"~/a\"]\n"),
        (
            User,
            "version = 1\n[shell]\npipe = \"refuse\"\n[ask]\nwait = \"5 minutes\"\nprogram = \"askpass\"\n[audit]\non_error = \"panic\"\n",
        ),
        (User, "version = 1\nlock = [\"mode\"]\n"),
        (
            System,
            "version = 1\nmode = \"ask\"\nlock = [\"mode\", \"effects.send\", \"rule.x\", \"shell.pipe\", \"nonsense\"]\n",
        ),
        (Project, "version = 1\nmode = \"full\"\n[shell]\npipe = \"deny\"\n[audit]\non_error = \"run\"\n"),
        (User, "version = 1\nrule = \"deny git\"\n[wrapper]\nprogram = \"mise\"\n"),
        (User, "version = 1\n[[rule]]\nverdict = \"deny\"\ncommand = \"git push\"\n"),
        (
            User,
            "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"deny\"\ncommand = \"git push\"\n[[rule]]\nid = \"a\"\ncommand = \"x\"\n[[rule]]\nid = \"b c\"\nverdict = \"ask\"\ncommand = \"x\"\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\ncommand = \"x\"\n",
        ),
        (User, "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\nreason = \"\"\n"),
        (User, "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\ncommand = []\n"),
        (
            User,
            "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\ncommand = \" \"\nflags = [\"force\", \"f\", \"--x\"]\n",
        ),
        (User, "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\neffect = [\"write.home\"]\nplace = \"temp\"\n"),
        (
            User,
            "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\npath = \"src/../x\"\ncomand = 3\ncommand = [\"a\", 4]\n",
        ),
        (
            User,
            "version = 1\n[[rule]]\nid = \"a\"\nverdict = \"ask\"\ncommand = \"x\"\nexamples = { matches = [\"x\"], match = \"x\" }\n",
        ),
        (Project, "version = 1\n[[rule]]\nid = \"secret\"\nverdict = \"allow\"\n"),
        (
            User,
            "version = 1\n[[wrapper]]\nprogram = \"mise\"\n[[wrapper]]\nprogram = \"/bin/x\"\ngrammar = \"COMMAND run\"\n",
        ),
    ];
    let told = cases.map(|(kind, text)| format!("=== {}\n{text}---\n{}\n", kind.word(), errors(kind, text)));
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn the_policy_that_is_installed_compiles() {
    let text = include_str!("../../install/policy.toml");
    assert_eq!(errors(LayerKind::User, text), "");
    // What it shows as examples compiles too.
    let uncommented = text.lines().map(|line| match line.strip_prefix("# ") {
        Some(code) if code.starts_with('[') || code.contains(" = ") => code,
        Some(_) => "",
        None => line,
    });
    assert_eq!(errors(LayerKind::User, &uncommented.collect::<Vec<_>>().join("\n")), "");
}
