//! Bad input: a clear text, nothing run, nothing lost.

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{ALLOW_ALL, DENY_TOUCH, Sandbox, Seen, bytes, feed, see};

/// The real bash does `setup`, then becomes the shim.
fn after(sandbox: &Sandbox, setup: &str, shim: &str, arguments: &[&str]) -> Command {
    let mut command = sandbox.command("/bin/bash");
    command.args(["-c", &format!("{setup}; exec \"$@\""), "setup"]).arg(sandbox.shim(shim)).args(arguments);
    command
}

fn refused(seen: &Seen) -> bool {
    seen.code == Some(126) && seen.stdout.is_empty() && seen.stderr.starts_with("vetsh: ")
}

#[test]
fn a_script_that_is_too_long_is_refused_in_little_memory() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    let mut child = sandbox.shell("bash", [""; 0]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut pipe = child.stdin.take().unwrap();
    let line = "echo one\n".repeat(1 << 16);
    let mut peak = 0;
    for _ in 0..200 {
        if pipe.write_all(line.as_bytes()).is_err() {
            break;
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let field = text.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        peak = peak.max(field.map_or(0, |field| field.parse().unwrap()));
    }
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(126));
    assert_eq!(
        told,
        "vetsh: denied: standard input is longer than 4 MiB; nobody could vet it; put it into smaller files or run its \
         commands one by one. Nothing was run.\n"
    );
    assert!(peak > 0 && peak < 64 << 10, "{peak} KiB");
}

#[test]
fn a_script_that_is_too_deep_or_long_to_read_is_doubted() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let deep = format!("{}touch made{}", "( ".repeat(10_000), " )".repeat(10_000));
    let open = "(".repeat(10_000);
    let braces = "{ ".repeat(10_000);
    let substitutions = "$(".repeat(10_000);
    for text in [&deep, &open, &braces, &substitutions] {
        assert!(refused(&see(&mut sandbox.shell("bash", ["-c", text]))));
    }
    let long = "echo a line of some length\n".repeat(50_000) + "touch made\n";
    assert!(refused(&feed(&mut sandbox.shell("bash", [""; 0]), long.as_bytes())));
    assert!(!sandbox.project().join("made").exists());
}

#[test]
fn limits_of_the_system_refuse_or_reach_the_shell() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    for setup in [
        "ulimit -n 0",
        "ulimit -n 3",
        "ulimit -v 1000",
        "ulimit -v 20000",
        "ulimit -s 64",
        "ulimit -f 0",
        "ulimit -t 0",
    ] {
        let seen = see(&mut after(&sandbox, setup, "bash", &["-c", "touch made"]));
        assert_eq!(seen.stdout, "", "{setup}: {seen:?}");
        assert_ne!(seen.code, Some(0), "{setup}: {seen:?}");
        assert!(!sandbox.project().join("made").exists(), "{setup}");
    }
}

#[test]
fn a_deleted_working_directory_still_runs_and_refuses() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let gone = "mkdir gone && cd gone && rmdir ../gone";
    let seen = see(&mut after(&sandbox, gone, "dash", &["-c", "echo here"]));
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "here\n"), "{seen:?}");
    assert!(refused(&see(&mut after(&sandbox, gone, "dash", &["-c", "touch made"]))));
}

#[test]
fn bytes_reach_the_shell_as_they_are() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    let odd = bytes(b"\xff\xfe\x01");
    let run = |path: std::path::PathBuf, text: &[u8]| {
        let mut command = sandbox.command(path);
        see(command.arg("-c").arg(bytes(text)).arg("zero").arg(&odd))
    };
    let long = [&b"printf %s '"[..], &vec![b'x'; 131_000 - 20], b"' | wc -c"].concat();
    for text in [&b"printf '%s\\377\\n' \"$1\" | od -c"[..], b"printf '\xe4%s' a | od -c", b"", &long] {
        assert_eq!(run(sandbox.shim("bash"), text), run("/bin/bash".into(), text));
    }
}

#[test]
fn a_pipe_that_stays_open_is_refused() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    let started = Instant::now();
    let mut child = sandbox.shell("bash", ["-s"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(b"touch made\n").unwrap();
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(126));
    assert!(told.starts_with("vetsh: denied: standard input is a pipe that stays open"), "{told}");
    assert!(started.elapsed() < Duration::from_secs(20) && !sandbox.project().join("made").exists());
}

#[test]
fn a_pipe_that_stays_open_is_left_to_the_shell_where_the_policy_says_so() {
    let sandbox = Sandbox::new(&format!("{DENY_TOUCH}[shell]\npipe = \"allow\"\n"));
    let mut child = sandbox.shell("bash", ["-s"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut pipe, mut answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for word in ["one", "two"] {
        pipe.write_all(format!("echo {word}\n").as_bytes()).unwrap();
        let mut answer = [0; 4];
        answers.read_exact(&mut answer).unwrap();
        assert_eq!(answer, format!("{word}\n").as_bytes());
    }
    drop(pipe);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // One that ends is judged as ever.
    assert!(refused(&feed(&mut sandbox.shell("bash", ["-s"]), b"touch made\n")));
}

#[test]
fn a_shell_on_a_terminal_that_a_program_owns_is_refused() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    for (shim, arguments) in
        [("bash", ""), ("bash", " -i"), ("bash", " --norc --noprofile"), ("zsh", " -l"), ("sh", "")]
    {
        let line = format!("{}{arguments}", sandbox.shim(shim).display());
        let mut command = sandbox.command("/usr/bin/script");
        let seen = feed(command.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/sh"), b"touch made\n");
        assert_eq!(seen.code, Some(126), "{seen:?}");
        assert!(seen.stdout.contains("vetsh: denied: a shell on a terminal cannot be vetted"), "{seen:?}");
    }
    assert!(!sandbox.project().join("made").exists());
}

#[test]
fn no_writable_state_is_needed_to_run_what_is_allowed() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let boxed = |shim: &str, script: &str| {
        let mut command = sandbox.command("/usr/bin/bwrap");
        command.args(["--ro-bind", "/", "/"]).arg(sandbox.shim(shim)).args(["-c", script]);
        see(&mut command)
    };
    if boxed("vetsh", "true").stderr.starts_with("bwrap: ") {
        // No user namespaces here.
        return;
    }
    let seen = boxed("bash", "echo allowed");
    assert_eq!((seen.code, seen.stdout.as_str(), seen.stderr.as_str()), (Some(0), "allowed\n", ""));
    assert!(refused(&boxed("bash", "touch made")));
}

#[test]
fn a_broken_policy_refuses_and_shows_the_way_out() {
    let sandbox = Sandbox::new("version = 1\nmode = \"outo\"\n");
    let seen = see(&mut sandbox.shell("bash", ["-c", "true"]));
    assert!(refused(&seen));
    let policy = sandbox.path("config/policy.toml").display().to_string();
    assert!(seen.stderr.contains(&policy) && seen.stderr.contains("/bin/bash"), "{}", seen.stderr);
}

#[test]
fn a_shim_is_never_taken_for_a_real_shell() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    let record = fs::read_to_string(sandbox.path("shims/vetsh.install")).unwrap();
    fs::copy(sandbox.shim("vetsh"), sandbox.path("copied-bash")).unwrap();
    for real in
        [sandbox.shim("zsh"), sandbox.path("copied-bash"), "/etc/passwd".into(), "/nowhere".into(), "/bin/true".into()]
    {
        sandbox.write(
            "shims/vetsh.install",
            record.replace("real.bash /bin/bash", &format!("real.bash {}", real.display())),
        );
        let seen = see(&mut sandbox.shell("bash", ["-c", "true"]));
        assert!(refused(&seen), "{}: {seen:?}", real.display());
    }
}

#[test]
fn kernel_started_scripts_are_judged() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new(DENY_TOUCH);
    for (name, line) in [("plain", ""), ("option", " -e")] {
        for (body, expected) in [("echo ran $0 $1", Some(0)), ("echo ran\ntouch made", Some(126))] {
            sandbox.write(&format!("project/{name}"), format!("#!{}{line}\n{body}\n", sandbox.shim("bash").display()));
            let path = sandbox.project().join(name);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            let seen = see(sandbox.command(&path).arg("one"));
            assert_eq!(seen.code, expected, "{seen:?}");
            assert_eq!(seen.stdout == format!("ran {} one\n", path.display()), expected == Some(0));
        }
    }
}
