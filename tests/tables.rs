//! Users' own command tables: what they say, what they may not, and what happens to broken ones.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::thread::sleep;
use std::time::Duration;

use crate::support::{ALLOW_ALL, Sandbox, Seen, see};

const SHIPIT: &str = "[[program]]\nname = \"shipit\"\noperands = \"upload...\"\n";

/// `vetsh` with these arguments, in the project.
fn vetsh(sandbox: &Sandbox, arguments: &[&str]) -> Seen {
    see(sandbox.command(sandbox.shim("vetsh")).args(arguments))
}

fn sandbox(table: &str) -> Sandbox {
    let sandbox = Sandbox::new("version = 1\n");
    sandbox.write("config/commands/shipit.toml", table);
    fs::set_permissions(sandbox.path("config/commands"), Permissions::from_mode(0o755)).unwrap();
    sandbox
}

/// The effects of `shipit dist`, as `check` finds them.
fn effects(sandbox: &Sandbox) -> Vec<String> {
    let seen = vetsh(sandbox, &["check", "--json", "shipit dist"]);
    let json: serde_json::Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|_| panic!("{seen:?}"));
    let findings = json["findings"].as_array().unwrap().iter();
    findings.map(|finding| format!("{} {}", finding["effect"], finding["doubt"]).replace('"', "")).collect()
}

#[test]
fn every_mistake_in_a_table_is_told() {
    let sandbox = sandbox(SHIPIT);
    sandbox.write(
        "project/bad.toml",
        r#"colour = "red"

[[program]]
name = "shipit"
subcomands = true
options = ["-c --config =raed", "-x", "-x"]
effects = ["discard if -f"]

[[program]]
operands = "read"

[[program]]
name = "sudo"
operands = "text"

[[program]]
name = ["git *", "ship/it", "git push", "cd", "vetsh check"]
style = "gnuu"
effects = ["publsh if -f"]
standard = 3
"#,
    );
    let seen = vetsh(&sandbox, &["commands", "check", "bad.toml"]);
    assert_eq!((seen.code, &*seen.stderr), (Some(2), ""));
    insta::assert_snapshot!(seen.stdout);
}

#[test]
fn a_table_that_is_right_is_listed() {
    let table = "[[program]]\nname = [\"shipit\", \"shp\"]\n[[program]]\nname = \"git log\"\noperands = \"text...\"\n";
    let sandbox = sandbox(table);
    let seen = vetsh(&sandbox, &["commands", "check"]);
    assert_eq!((seen.code, &*seen.stderr), (Some(0), ""));
    assert_eq!(seen.stdout, "shipit\nshp\ngit log (in place of the shipped entry)\n");
    let shown = vetsh(&sandbox, &["policy", "show"]).stdout;
    let lines: Vec<_> = shown.lines().filter(|line| line.starts_with("# command table")).collect();
    let expected = [
        "# command table `shipit`            # user",
        "# command table `git log`           # user, in place of the shipped entry",
    ];
    assert_eq!(lines, expected);
    let read = vetsh(&sandbox, &["commands", "read", "git log x"]).stdout;
    assert!(read.starts_with("git log x\n  table       yours\n"), "{read}");
}

#[test]
fn a_line_is_read_by_its_tables() {
    let sandbox = sandbox(SHIPIT);
    let line = "cd sub && sudo -u bob shipit --frob=1 'a b' $(date); frob --all";
    let seen = vetsh(&sandbox, &["commands", "read", line]);
    assert_eq!((seen.code, &*seen.stderr), (Some(0), ""));
    insta::assert_snapshot!(seen.stdout);
    let seen = vetsh(&sandbox, &["commands", "read", "--json", "shipit -n '' dist"]);
    insta::assert_snapshot!("a_line_is_read_as_json", seen.stdout);
}

#[test]
fn a_table_counts_at_the_next_command_and_is_kept_compiled() {
    let sandbox = Sandbox::new("version = 1\n");
    assert_eq!(effects(&sandbox), [""; 0]);
    sandbox.write("config/commands/shipit.toml", SHIPIT);
    fs::set_permissions(sandbox.path("config/commands"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(effects(&sandbox), ["read null"]);
    let cache = sandbox.path("state/commands.cache");
    assert!(!cache.exists(), "a table that may still change without its times telling is not kept");
    sleep(Duration::from_millis(3100));
    assert_eq!(effects(&sandbox), ["read null"]);
    assert!(cache.exists());
    assert_eq!(effects(&sandbox), ["read null"]);
    sandbox.write("config/commands/shipit.toml", SHIPIT.replace("upload", "delete"));
    assert_eq!(effects(&sandbox), ["delete null"]);
    fs::remove_file(sandbox.path("config/commands/shipit.toml")).unwrap();
    assert_eq!(effects(&sandbox), [""; 0]);
    // What an editor leaves beside it is no table.
    sandbox.write("config/commands/.#shipit.toml", "no table");
    sandbox.write("config/commands/shipit.toml~", "no table");
    assert_eq!(effects(&sandbox), [""; 0]);
}

#[test]
fn a_broken_table_refuses_every_command_and_says_where() {
    let sandbox = sandbox("[[program]]\nname = \"shipit\"\noperands = \"raed\"\n");
    let seen = see(&mut sandbox.shell("bash", ["-c", "echo hello"]));
    assert_eq!((seen.code, &*seen.stdout), (Some(126), ""));
    let path = sandbox.path("config/commands/shipit.toml");
    let expected = format!("{}:3:13 is broken: unknown role `raed`; `vetsh policy check` shows all", path.display());
    assert!(seen.stderr.contains(&expected), "{}", seen.stderr);
    let seen = vetsh(&sandbox, &["policy", "check"]);
    let expected = format!(
        "error: unknown role `raed`\n --> {}:3:13\n  |\n3 | operands = \"raed\"\n  |             ^^^^\n  |\n  \
         = help: docs/commands.md has the notation\n\n1 error found\n",
        path.display()
    );
    assert_eq!((seen.code, seen.stdout), (Some(1), expected));
}

#[test]
fn a_table_counts_only_if_nobody_else_can_write_it() {
    for (path, mode) in [("config/commands/shipit.toml", 0o664), ("config/commands", 0o777), ("config", 0o777)] {
        let sandbox = sandbox(SHIPIT);
        fs::set_permissions(sandbox.path(path), Permissions::from_mode(mode)).unwrap();
        let seen = see(&mut sandbox.shell("bash", ["-c", "echo hello"]));
        assert_eq!((seen.code, &*seen.stdout), (Some(126), ""), "{path}");
        assert!(seen.stderr.contains("written by others"), "{path}: {}", seen.stderr);
    }
}

#[test]
fn a_program_is_described_in_one_file() {
    let sandbox = sandbox(SHIPIT);
    sandbox.write("config/commands/other.toml", SHIPIT);
    let seen = vetsh(&sandbox, &["commands", "check"]);
    let config = sandbox.path("config/commands");
    let expected = format!(
        "error: `shipit` is described in {0}/other.toml too\n--> {0}/shipit.toml\n = help: leave one of them\n\n1 error found\n",
        config.display()
    );
    assert_eq!((seen.code, seen.stdout), (Some(2), expected));
}

#[test]
fn a_table_lowers_no_rule_about_what_it_wraps() {
    let policy = format!("{ALLOW_ALL}[[rule]]\nid = \"t\"\nverdict = \"deny\"\ncommand = \"touch\"\nreason = \"no\"\n");
    let sandbox = Sandbox::new(&policy);
    sandbox.write("config/commands/run.toml", "[[program]]\nname = \"shipit\"\noperands = \"command...\"\n");
    fs::set_permissions(sandbox.path("config/commands"), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(vetsh(&sandbox, &["check", "shipit touch a"]).code, Some(11));
    assert_eq!(vetsh(&sandbox, &["check", "shipit ls"]).code, Some(0));
}

#[test]
fn a_table_hides_nothing_that_runs_code() {
    let rows = [
        ("eval", "eval 'rm -rf ~'"),
        ("exec", "exec rm -rf ~"),
        ("command", "command rm -rf ~"),
        ("builtin", "builtin eval 'rm -rf ~'"),
        ("trap", "trap 'rm -rf ~' EXIT"),
        ("cd", "cd && rm -rf ../home"),
        ("bash", "bash -c 'rm -rf ~'"),
        ("env", "env rm -rf ~"),
        ("find", "find . -exec rm -rf ~ +"),
        ("python3", "python3 -c 'import shutil; shutil.rmtree(\"/\")'"),
        ("git", "git -c alias.x='!rm -rf ~' x"),
        ("git push", "git push -f"),
        ("vetsh", "vetsh approvals approve 1"),
        ("vetsh approvals", "vetsh approvals approve 1"),
    ];
    for (name, line) in rows {
        let sandbox = sandbox(&format!("[[program]]\nname = \"{name}\"\noperands = \"text...\"\n"));
        let seen = vetsh(&sandbox, &["check", line]);
        let refused = seen.code == Some(2) && seen.stderr.contains("no other table may");
        assert!(refused || seen.code == Some(11), "{name}: {seen:?}");
    }
}
