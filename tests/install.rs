//! `vetsh install` and `vetsh uninstall`, with the build under test.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::support::{SHIMS, Seen, see};

/// A home with nothing in it.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = tempfile::Builder::new().prefix("home-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        Self(home)
    }

    fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin").current_dir(self.0.path());
        command.env("XDG_RUNTIME_DIR", self.path("run")).stdin(Stdio::null());
        command
    }

    fn tool(&self, arguments: &[&str]) -> Seen {
        see(self.command(env!("CARGO_BIN_EXE_vetsh")).args(arguments))
    }

    fn install(&self) -> Seen {
        self.tool(&["install", "--allow-dynamic", "--shims", "shims"])
    }
}

/// Whether an agent runs these tests, which then may not change an installation.
fn under_an_agent(seen: &Seen) -> bool {
    let refused = vetsh::shell::preamble::agent_above().is_some();
    assert_eq!(seen.stderr.contains("started this; ask the user"), refused, "{}", seen.stderr);
    refused
}

/// The build under test may be static.
fn is_dynamic() -> bool {
    let headers = fs::read(env!("CARGO_BIN_EXE_vetsh")).unwrap();
    headers.windows(6).any(|word| word == b"ld-lin" || word == b"ld-mus")
}

#[test]
fn a_dynamic_build_is_refused() {
    if !is_dynamic() {
        return;
    }
    let home = Home::new();
    let seen = home.tool(&["install", "--shims", "shims"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""));
    assert!(seen.stderr.starts_with("vetsh: this binary is dynamically linked"), "{}", seen.stderr);
    assert_eq!(fs::read_dir(home.0.path()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn an_installation_has_all_its_parts() {
    let home = Home::new();
    let seen = home.install();
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    let file = |name: &str| fs::metadata(home.path("shims").join(name)).unwrap();
    for name in SHIMS {
        assert_eq!(file(name).ino(), file("vetsh").ino(), "{name} is a hard link");
    }
    let mode = |below: &str| fs::metadata(home.path(below)).unwrap().permissions().mode() & 0o777;
    let modes =
        [".config/vetsh", ".local/state/vetsh", "run/vetsh", ".config/vetsh/policy.toml", "shims/vetsh.install"];
    assert_eq!(modes.map(mode), [0o700, 0o700, 0o700, 0o600, 0o644]);
    let record = fs::read_to_string(home.path("shims/vetsh.install")).unwrap();
    for line in [
        format!("config {}", home.path(".config/vetsh").display()),
        format!("state {}", home.path(".local/state/vetsh").display()),
        format!("version {}", env!("CARGO_PKG_VERSION")),
    ] {
        assert!(record.lines().any(|found| found == line), "{line}\n{record}");
    }
    assert!(record.contains("\nreal.sh /"), "{record}");
    let shims = home.path("shims").canonicalize().unwrap();
    for setting in [format!("SHELL=\"{}/bash\"", shims.display()), "CLAUDE_CODE_SHELL".to_owned()] {
        assert!(seen.stdout.contains(&setting), "{setting}\n{}", seen.stdout);
    }
    assert!(!seen.stdout.contains("@SHIMS@"));
}

#[test]
fn a_command_runs_through_the_shims_and_is_logged() {
    let home = Home::new();
    home.install();
    let seen = see(home.command(home.path("shims/bash")).args(["-c", "echo hello from $0", "me"]));
    assert_eq!((seen.code, seen.stdout.as_str(), seen.stderr.as_str()), (Some(0), "hello from me\n", ""));
    let log = see(home.command(home.path("shims/vetsh")).arg("log"));
    assert!(log.stdout.contains("echo hello from $0"), "{}{}", log.stdout, log.stderr);
}

#[test]
fn installing_again_keeps_the_policy() {
    let home = Home::new();
    home.install();
    let policy = home.path(".config/vetsh/policy.toml");
    fs::write(&policy, "version = 1\nmode = \"ask\"\n").unwrap();
    let seen = home.install();
    if under_an_agent(&seen) {
        return;
    }
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    assert!(seen.stdout.contains("(kept as it was)"), "{}", seen.stdout);
    assert_eq!(fs::read_to_string(&policy).unwrap(), "version = 1\nmode = \"ask\"\n");
    let names: Vec<_> = fs::read_dir(home.path("shims")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), SHIMS.len() + 1, "nothing is left over: {names:?}");
}

#[test]
fn the_judged_process_moves_nothing() {
    let home = Home::new();
    home.install();
    fs::write(home.path(".config/vetsh/policy.toml"), "version = 1\n[effects]\n\"write.temp\" = \"deny\"\n").unwrap();
    let other = Home::new();
    fs::create_dir_all(other.path("c/vetsh")).unwrap();
    fs::write(other.path("c/vetsh/policy.toml"), "version = 1\n[effects]\n\"*\" = \"allow\"\n").unwrap();
    let mut command = home.command(home.path("shims/bash"));
    command.args(["-c", "touch /tmp/vetsh-moves-nothing"]).current_dir(other.0.path()).env("HOME", other.0.path());
    for (name, folder) in [("XDG_CONFIG_HOME", "c"), ("VETSH_CONFIG", "c/vetsh"), ("XDG_STATE_HOME", "s")] {
        command.env(name, other.path(folder));
    }
    let seen = see(&mut command);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(126), ""), "{}", seen.stderr);
    assert!(seen.stderr.starts_with("vetsh: denied"), "{}", seen.stderr);
    assert!(!Path::new("/tmp/vetsh-moves-nothing").exists() && !other.path("s").exists());
}

#[test]
fn a_folder_with_other_shells_is_left_alone() {
    let home = Home::new();
    fs::create_dir(home.path("shims")).unwrap();
    fs::write(home.path("shims/sh"), "mine").unwrap();
    let seen = home.install();
    assert_eq!(seen.code, Some(2));
    assert!(seen.stderr.contains("holds a sh that vetsh did not install"), "{}", seen.stderr);
    assert_eq!(fs::read_to_string(home.path("shims/sh")).unwrap(), "mine");
}

#[test]
fn a_folder_that_others_can_write_is_refused() {
    let home = Home::new();
    fs::create_dir(home.path("shims")).unwrap();
    fs::set_permissions(home.path("shims"), fs::Permissions::from_mode(0o777)).unwrap();
    let seen = home.install();
    assert!(seen.stderr.contains("others may write to it"), "{}", seen.stderr);
}

#[test]
fn removal_undoes_the_installation() {
    let home = Home::new();
    home.install();
    let seen = see(home.command(home.path("shims/vetsh")).arg("uninstall"));
    if under_an_agent(&seen) {
        return;
    }
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    assert!(!home.path("shims").exists());
    assert!(home.path(".config/vetsh/policy.toml").exists(), "the policy stays");
}

#[test]
fn a_purge_removes_policy_and_state_too() {
    let home = Home::new();
    home.install();
    see(home.command(home.path("shims/bash")).args(["-c", "echo hello"]));
    fs::write(home.path(".config/vetsh/notes.txt"), "mine").unwrap();
    let seen = home.tool(&["uninstall", "--shims", "shims", "--purge"]);
    if under_an_agent(&seen) {
        return;
    }
    assert_eq!(seen.code, Some(0), "{}", seen.stderr);
    let left: Vec<_> = fs::read_dir(home.path(".config/vetsh")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["notes.txt"], "only what vetsh made is gone");
    assert!(!home.path("shims").exists() && !home.path(".local/state/vetsh").exists());
}
