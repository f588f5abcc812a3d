//! What a judged process can set changes no verdict.

use std::fs;
use std::process::Command;

use crate::support::{DENY_TOUCH, Sandbox, Seen, see};

/// A policy of the intruder's own making, by which everything would run.
const LOOSE: &str = "version = 1\nmode = \"full\"\n[effects]\n\"*\" = \"allow\"\n[doubts]\n\"*\" = \"allow\"\n";

/// Asks about each `touch`.
const ASK_TOUCH: &str =
    "version = 1\n[[rule]]\nid = \"ask-touch\"\nverdict = \"ask\"\ncommand = \"touch\"\nreason = \"the test asks\"\n";

fn refused(sandbox: &Sandbox, seen: &Seen, what: &str) {
    assert_eq!(seen.code, Some(126), "{what}: {seen:?}");
    assert!(seen.stderr.starts_with("vetsh: "), "{what}: {}", seen.stderr);
    assert!(!sandbox.project().join("made").exists(), "{what}");
}

/// Folders in which the intruder's configuration lies under each name that an uninstalled build would look at.
fn intruder(sandbox: &Sandbox) -> String {
    for below in ["policy.toml", "vetsh/policy.toml", ".config/vetsh/policy.toml", "config/policy.toml"] {
        sandbox.write(&format!("project/intruder/{below}"), LOOSE);
    }
    sandbox.project().join("intruder").display().to_string()
}

fn touch(sandbox: &Sandbox) -> Command {
    sandbox.shell("bash", ["-c", "touch made"])
}

#[test]
fn no_variable_picks_another_policy() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let folder = intruder(&sandbox);
    for name in [
        "HOME",
        "XDG_CONFIG_HOME",
        "XDG_CONFIG_DIRS",
        "XDG_STATE_HOME",
        "XDG_RUNTIME_DIR",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
        "VETSH_CONFIG",
        "VETSH_STATE",
        "VETSH_MODE",
        "VETSH_POLICY",
        "PATH",
        "TMPDIR",
    ] {
        refused(&sandbox, &see(touch(&sandbox).env(name, &folder)), name);
    }
    for (name, value) in [("VETSH_MODE", "full"), ("VETSH", "0"), ("VETSH_DISABLE", "1"), ("VETSH_POLICY", LOOSE)] {
        refused(&sandbox, &see(touch(&sandbox).env(name, value)), name);
    }
}

#[test]
fn a_judged_command_that_prepares_the_next_one_gains_nothing() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let folder = intruder(&sandbox);
    let shim = sandbox.shim("bash").display().to_string();
    for before in [
        format!("export HOME={folder} XDG_CONFIG_HOME={folder} XDG_STATE_HOME={folder}; "),
        format!("export VETSH_CONFIG={folder} VETSH_MODE=full; "),
        format!("export PATH={folder}:$PATH; "),
        format!("cd {folder}; "),
        "cd /; ".to_owned(),
        "mkdir -p inner; cd inner; git init -q . ; printf 'version = 1\\nmode = \"full\"\\n' > .vetsh.toml; "
            .to_owned(),
    ] {
        let made = sandbox.project().join("made").display().to_string();
        let script = format!("{before}{shim} -c 'touch {made}'");
        refused(&sandbox, &see(&mut sandbox.shell("bash", ["-c", &script])), &script);
        // The same by a process that vetsh does not see: only what it leaves behind reaches the next shell.
        let unseen = see(sandbox.command("/bin/bash").args(["-c", &script]));
        refused(&sandbox, &unseen, &script);
    }
}

#[test]
fn a_project_layer_that_is_not_trusted_loosens_nothing() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    sandbox.write("project/.vetsh.toml", "version = 1\n[effects]\n\"*\" = \"allow\"\n[[rule]]\nid = \"mine\"\nverdict = \"allow\"\ncommand = \"touch\"\n");
    refused(&sandbox, &see(&mut touch(&sandbox)), ".vetsh.toml");
}

#[test]
fn what_asks_is_not_answered_by_who_asks() {
    let sandbox = Sandbox::new(ASK_TOUCH);
    let seen = see(&mut touch(&sandbox));
    refused(&sandbox, &seen, "touch");
    assert!(seen.stderr.starts_with("vetsh: approval needed"), "{}", seen.stderr);
    let ticket = fs::read_dir(sandbox.path("state/tickets"))
        .unwrap()
        .find_map(|entry| entry.unwrap().file_name().to_str()?.strip_suffix(".json").map(str::to_owned))
        .unwrap();
    let vetsh = sandbox.shim("vetsh").display().to_string();
    for script in [
        format!("vetsh approvals approve {ticket}"),
        format!("{vetsh} approvals approve {ticket}"),
        format!("setsid {vetsh} approvals approve {ticket}"),
        format!("script -qc '{vetsh} approvals approve {ticket}' /dev/null"),
    ] {
        let path = format!("{}:/usr/bin:/bin", sandbox.path("shims").display());
        let judged = see(sandbox.shell("bash", ["-c", &script]).env("PATH", &path));
        assert_eq!(judged.code, Some(126), "{script}: {judged:?}");
        // Where nobody judges it, it still finds no human terminal.
        let unseen = see(sandbox.command("/bin/bash").args(["-c", &script]).env("PATH", &path));
        assert!(unseen.code != Some(0) || script.starts_with("script"), "{script}: {unseen:?}");
        refused(&sandbox, &see(&mut touch(&sandbox)), &script);
    }
}

#[test]
fn what_would_take_vetsh_along_is_denied() {
    let sandbox = Sandbox::new("version = 1\n");
    let all = sandbox.path("").display().to_string();
    for line in [format!("rm -rf {all}"), format!("mv {all} /tmp/elsewhere"), "rm -rf ..".to_owned()] {
        let seen = see(sandbox.command(sandbox.shim("vetsh")).args(["check", &line]));
        assert_eq!(seen.code, Some(11), "{line}: {}", seen.stdout);
        assert!(seen.stdout.contains("vetsh"), "{line}: {}", seen.stdout);
    }
    // A folder beside them is a folder like any other.
    let seen = see(sandbox.command(sandbox.shim("vetsh")).args(["check", "mkdir ../other && rmdir ../other"]));
    assert_ne!(seen.code, Some(11), "{}", seen.stdout);
}
