//! What happens where nothing may run.

use crate::support::{DENY_TOUCH, Sandbox, Seen, see};

#[test]
fn options_that_run_nothing_reach_the_real_shell() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    for (name, arguments) in [
        ("bash", &["--version"][..]),
        ("bash", &["--help"]),
        ("zsh", &["--version"]),
        ("bash", &["-n", "-c", "touch made"]),
        ("sh", &["-c"]),
        ("zsh", &["-c"]),
        ("bash", &["--nosuch"]),
        ("zsh", &["-o"]),
    ] {
        let real = see(sandbox.command(crate::support::real(name)).args(arguments));
        let ours = see(&mut sandbox.shell(name, arguments));
        assert_eq!(normal(&ours, &sandbox), normal(&real, &sandbox), "{name} {arguments:?}");
    }
    assert!(!sandbox.project().join("made").exists());
}

/// The text that a shell prints names the path by which it was called.
fn normal(seen: &Seen, sandbox: &Sandbox) -> Seen {
    let shims = format!("{}/", sandbox.path("shims").display());
    let plain = |text: &str| text.replace(&shims, "/bin/");
    Seen { stdout: plain(&seen.stdout), stderr: plain(&seen.stderr), ..seen.clone() }
}

#[test]
fn a_denied_command_runs_nothing_and_says_so() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    for name in ["bash", "sh", "zsh", "dash", "rbash"] {
        let seen = see(&mut sandbox.shell(name, ["-c", "touch made"]));
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(126), ""), "{name}");
        assert!(seen.stderr.starts_with("vetsh: denied") && seen.stderr.is_ascii(), "{name}: {}", seen.stderr);
    }
    assert!(!sandbox.project().join("made").exists());
}
