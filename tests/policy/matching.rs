//! Which commands and effects a rule is about.

use vetsh::decision::LayerKind::User;
use vetsh::facts::{Aspect, Effect, Identity};

use super::{Case, T};

/// What a deny rule with these matchers says about a case: `deny`, nothing, or a doubt.
fn denied(matchers: &str, case: &Case) -> String {
    let text = format!(
        "version = 1\nmode = \"full\"\n[doubts]\n\"*\" = \"ask\"\n[effects]\n\"*\" = \"allow\"\n[[rule]]\nid = \"r\"\nverdict = \"deny\"\nreason = \"no\"\n{matchers}\n"
    );
    let decision = case.decision(&[(User, T, &text)]);
    let mut said = decision.findings.iter().filter(|finding| finding.rule.as_deref() == Some("r"));
    match said.next() {
        None => "no".into(),
        Some(finding) => match finding.doubt {
            Some(doubt) => format!("{} {}", finding.verdict.word(), doubt.word()),
            None => finding.verdict.word().into(),
        },
    }
}

#[test]
fn rules_match_commands() {
    let rows = [
        (r#"command = "git push""#, "git push origin main", "deny"),
        (r#"command = "git push""#, "git pull", "no"),
        (r#"command = "git""#, "git pull", "deny"),
        (r#"command = "git push origin""#, "git push origin main", "deny"),
        (r#"command = ["svn", "git p*"]"#, "git pull", "deny"),
        (r#"command = "gi[st]""#, "git pull", "deny"),
        (r#"command = "git""#, "gitk", "no"),
        (r#"command = "git push""#, "git ?", "ask argument"),
        (r#"command = "npm {publish,unpublish}""#, "npm unpublish x", "deny"),
        (r#"command = "./run.sh""#, "./run.sh", "deny"),
        (r#"command = "./run.sh""#, "/home/user/app/run.sh", "deny"),
        (r#"command = "./run.sh""#, "../app/run.sh", "deny"),
        (r#"command = "./run.sh""#, "/tmp/run.sh", "no"),
        (r#"command = "~/bin/*""#, "/home/user/bin/x", "deny"),
        (r#"flags = "--force""#, "git push --force", "deny"),
        (r#"flags = ["-f", "--force"]"#, "git push -f", "deny"),
        (r#"flags = "--force""#, "git push --force-with-lease", "no"),
        (r#"flags = "--force""#, "git push --forc", "no"),
        (r#"flags = "--force""#, "git push ?", "ask argument"),
        (r#"flags = "--output=/etc/*""#, "sort --output=/etc/x", "deny"),
        (r#"flags = "--output=/etc/*""#, "sort --output=x", "no"),
        (r#"arguments = "*prod*""#, "kubectl --context=prod-eu get", "deny"),
        (r#"arguments = "main""#, "git push origin main", "deny"),
        (r#"arguments = "main""#, "git push origin mainline", "no"),
        ("command = \"git push\"\narguments = \"main\"", "git push ?", "ask argument"),
        ("command = \"git push\"\narguments = \"main\"", "git pull ?", "no"),
        (r#"environment = "GIT_*""#, "GIT_DIR=x git status", "deny"),
        (r#"environment = "GIT_*""#, "FOO=x git status", "no"),
        ("command = \"git\"\nshell = \"zsh\"", "git status", "no"),
        ("command = \"git\"\nshell = [\"zsh\", \"bash\"]", "git status", "deny"),
        ("command = \"git\"\norigin = \"codex*\"", "git status", "no"),
        ("command = \"git\"\norigin = \"claude*\"", "git status", "deny"),
    ];
    for (matchers, command, expected) in rows {
        assert_eq!(denied(matchers, &Case::of_command(command)), expected, "{matchers} / {command}");
    }
}

#[test]
fn a_table_that_read_the_options_is_believed() {
    let described = |command| Case::of_command(command).identity(Identity::Described);
    // A cluster and an abbreviation, as the table spelled them out.
    assert_eq!(
        denied(r#"flags = "-f""#, &described("rm -rf x").option(&["-r", "-R"]).option(&["-f", "--force"])),
        "deny"
    );
    assert_eq!(denied(r#"flags = "--force""#, &described("rm --forc x").option(&["-f", "--force"])), "deny");
    // What stands for an option's value is no option.
    let message = described("git commit -m ?").option(&["-m", "--message"]).operands(&[]);
    assert_eq!(denied(r#"flags = "--no-verify""#, &message), "no");
    assert_eq!(denied(r#"flags = "--no-verify""#, &described("git commit ?").operands(&[None])), "ask argument");
    // A word that only looks like the option.
    assert_eq!(denied(r#"flags = "--force""#, &described("grep -e --force").option(&["-e", "--regexp"])), "no");
    assert_eq!(denied(r#"flags = "-f""#, &Case::of_command("tool -xfz")), "ask argument");
}

#[test]
fn rules_match_effects() {
    let write = |path| Case::of_effect(Effect::Write, Some(Aspect::Home)).on(path).by("tee x");
    let send = |host| Case::of_effect(Effect::Send, None).on(host).by("curl x");
    let rows = [
        (r#"effect = "write""#, write("/home/user/x"), "deny"),
        (r#"effect = "write.home""#, write("/home/user/x"), "deny"),
        (r#"effect = ["read", "write.temp"]"#, write("/home/user/x"), "no"),
        (r#"place = "home""#, write("/home/user/x"), "deny"),
        (r#"place = ["temp", "secret"]"#, write("/home/user/x"), "no"),
        (r#"path = "~/x""#, write("/home/user/x"), "deny"),
        (r#"path = "~/*.{key,pem}""#, write("/home/user/a.pem"), "deny"),
        (r#"path = "~/x""#, write("/home/user/y"), "no"),
        (r#"path = "src/**""#, write("/home/user/app/src/a"), "deny"),
        ("command = \"tee\"\npath = \"~/x\"", write("/home/user/x"), "deny"),
        ("command = \"cat\"\npath = \"~/x\"", write("/home/user/x"), "no"),
        ("command = \"cat\"\neffect = \"write\"", Case::of_effect(Effect::Write, None).by("cat"), "deny"),
        (r#"path = "~/x""#, Case::of_effect(Effect::Write, Some(Aspect::Unknown)).by("tee ?"), "ask path"),
        (r#"host = "*.example.com""#, send("https://API.example.com/v1"), "deny"),
        (r#"host = "*.example.com""#, send("https://evil.org/?a.example.com"), "no"),
        (r#"host = "example.com""#, send("git@example.com:a/b"), "deny"),
    ];
    for (matchers, case, expected) in rows {
        assert_eq!(denied(matchers, &case), expected, "{matchers} / {case:?}");
    }
}

#[test]
fn a_command_without_effects_is_judged_by_rules_alone() {
    let text = "version = 1\n[[rule]]\nid = \"e\"\nverdict = \"ask\"\ncommand = \"echo\"\n";
    assert_eq!(Case::of_command("echo hi").under(&[(User, T, text)]), "ask e user:3");
    assert_eq!(Case::of_command("printf hi").under(&[(User, T, text)]), "allow");
}
