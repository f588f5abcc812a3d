//! `vetsh policy` and `vetsh trust`.

use std::process::Command;

use crate::support::{Sandbox, Seen, see};

const POLICY: &str = "version = 1\n[effects]\nsend = \"deny\"\n";
const BROKEN: &str = "version = 1\nmode = \"outo\"\nzebra = 1\n";

fn vetsh(sandbox: &Sandbox, arguments: &[&str]) -> Seen {
    see(sandbox.command(sandbox.shim("vetsh")).args(arguments))
}

#[test]
fn check_tells_all_errors_of_all_layers() {
    let sandbox = Sandbox::new(BROKEN);
    sandbox.write("project/.vetsh.toml", "version = 1\n[shell]\npipe = \"ask\"\n");
    let seen = vetsh(&sandbox, &["policy", "check"]);
    assert_eq!(seen.code, Some(1), "{seen:?}");
    for told in
        ["`[shell]` counts only", ".vetsh.toml:2:1", "unknown word `outo`", "unknown key `zebra`", "3 errors found"]
    {
        assert_eq!(seen.stdout.matches(told).count(), 1, "{told}\n{}", seen.stdout);
    }
    let sandbox = Sandbox::new(POLICY);
    assert_eq!(
        vetsh(&sandbox, &["policy", "check"]),
        Seen { code: Some(0), signal: None, stdout: String::new(), stderr: "vetsh: nothing is wrong\n".to_owned() }
    );
}

#[test]
fn check_reads_files_that_it_is_given() {
    let sandbox = Sandbox::new(POLICY);
    sandbox.write("project/a.toml", BROKEN);
    sandbox.write("project/sub/.vetsh.toml", "version = 1\nmode = \"full\"\n");
    assert_eq!(vetsh(&sandbox, &["policy", "check", "a.toml"]).code, Some(1));
    let seen = vetsh(&sandbox, &["policy", "check", "sub/.vetsh.toml"]);
    assert!(seen.stdout.contains("a project cannot choose `full`"), "{seen:?}");
    let seen = vetsh(&sandbox, &["policy", "check", "missing.toml"]);
    assert_eq!((seen.code, seen.stderr.starts_with("vetsh: missing.toml: ")), (Some(2), true), "{seen:?}");
}

#[test]
fn show_tells_what_is_in_force() {
    let sandbox = Sandbox::new(POLICY);
    sandbox.write("project/.vetsh.toml", "version = 1\n[[rule]]\nid = \"m\"\nverdict = \"ask\"\ncommand = \"make\"\n");
    let seen = vetsh(&sandbox, &["policy", "show"]);
    assert_eq!(seen.code, Some(0), "{seen:?}");
    for line in [
        "send = \"deny\"                       # user:3",
        "id = \"m\"                            # project:3, without trust: it only makes stricter",
    ] {
        assert!(seen.stdout.lines().any(|shown| shown == line), "{line}\n{}", seen.stdout);
    }
}

#[test]
fn trust_is_given_by_nobody_but_a_human() {
    let sandbox = Sandbox::new(POLICY);
    sandbox.write("project/.vetsh.toml", "version = 1\n[effects]\nsend = \"allow\"\n");
    for arguments in [&["trust"][..], &["trust", "--revoke"], &["trust", "."]] {
        // Without the terminal that the tests may have been started from.
        let mut command = Command::new("setsid");
        command.arg("--wait").arg(sandbox.shim("vetsh")).args(arguments).current_dir(sandbox.project());
        let seen = see(&mut command);
        assert_eq!(seen.code, Some(126), "{seen:?}");
        assert!(seen.stderr.contains("Nothing was changed."), "{seen:?}");
    }
    let seen = vetsh(&sandbox, &["trust", "--list"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), ""));
}
