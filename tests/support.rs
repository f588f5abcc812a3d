//! A throw-away installation: home, project, policy, shims, record.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// The names under which the shims are installed.
pub const SHIMS: [&str; 6] = ["vetsh", "bash", "sh", "zsh", "dash", "rbash"];

/// The real shells that the record names, by name.
pub const REAL: [(&str, &str); 4] =
    [("bash", "/bin/bash"), ("sh", "/bin/sh"), ("zsh", "/bin/zsh"), ("dash", "/bin/dash")];

/// A policy under which everything runs, also what shows the environment.
pub const ALLOW_ALL: &str = "version = 1\n[effects]\n\"*\" = \"allow\"\n[doubts]\n\"*\" = \"allow\"\n\
    [[rule]]\nid = \"secret\"\nverdict = \"allow\"\neffect = [\"read.secret\"]\n";

/// A policy under which only `touch` and what cannot be read are refused.
pub const DENY_TOUCH: &str = "version = 1\n[effects]\n\"*\" = \"allow\"\n[doubts]\n\"*\" = \"deny\"\n\
    [[rule]]\nid = \"no-touch\"\nverdict = \"deny\"\ncommand = \"touch\"\nreason = \"the test forbids it\"\n";

/// An installed vetsh in a folder of its own, which is removed with it.
pub struct Sandbox {
    root: TempDir,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// Exit code; `None` after a signal.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Standard output, lossily.
    pub stdout: String,
    /// Standard error, lossily.
    pub stderr: String,
}

impl Sandbox {
    /// Installs with this text as the user's policy.
    pub fn new(policy: &str) -> Self {
        let root = tempfile::Builder::new().prefix("vetsh-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let sandbox = Self { root };
        for folder in ["home", "project/.git", "shims", "config", "state", "runtime"] {
            fs::create_dir_all(sandbox.path(folder)).unwrap();
        }
        for folder in ["", "home", "project", "shims", "config", "state", "runtime"] {
            fs::set_permissions(sandbox.path(folder), fs::Permissions::from_mode(0o700)).unwrap();
        }
        sandbox.write("project/.git/HEAD", "ref: refs/heads/main\n");
        sandbox.write("config/policy.toml", policy);
        sandbox.write("shims/vetsh.install", sandbox.record());
        for name in SHIMS {
            let shim = sandbox.shim(name);
            fs::hard_link(env!("CARGO_BIN_EXE_vetsh"), &shim)
                .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_vetsh"), &shim).map(drop))
                .unwrap();
        }
        sandbox
    }

    fn record(&self) -> String {
        let mut record = format!("version 0.1.0\nuser {}\n", rustix::process::geteuid().as_raw());
        for (key, folder) in [("home", "home"), ("config", "config"), ("state", "state"), ("runtime", "runtime")] {
            record += &format!("{key} {}\n", self.path(folder).display());
        }
        for (name, path) in REAL.iter().filter(|(_, path)| Path::new(path).exists()) {
            record += &format!("real.{name} {path}\n");
        }
        record
    }

    /// A path below the sandbox.
    pub fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    /// The folder that commands start in.
    pub fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// The shim of this name.
    pub fn shim(&self, name: &str) -> PathBuf {
        self.path("shims").join(name)
    }

    /// Writes a file that only its owner can write.
    pub fn write(&self, below: &str, content: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    /// The program `path` with nothing of this process's environment, in the project.
    pub fn command(&self, path: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(path);
        command.current_dir(self.project()).env_clear().stdin(Stdio::null());
        command.env("HOME", self.path("home")).env("PATH", "/usr/bin:/bin").env("LANG", "C.UTF-8");
        command
    }

    /// The shim `name` with these arguments.
    pub fn shell<A: AsRef<OsStr>>(&self, name: &str, arguments: impl IntoIterator<Item = A>) -> Command {
        let mut command = self.command(self.shim(name));
        command.args(arguments);
        command
    }
}

/// Runs to the end.
pub fn see(command: &mut Command) -> Seen {
    Seen::from(command.output().unwrap())
}

/// Runs to the end with `input` on a pipe.
pub fn feed(command: &mut Command, input: &[u8]) -> Seen {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let input = input.to_vec();
    // A shell that ends early leaves the rest unread.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    Seen::from(output)
}

/// The real shell of this name, as the record has it.
pub fn real(name: &str) -> &'static str {
    let name = if name == "rbash" { "bash" } else { name };
    REAL.iter().find(|(known, _)| *known == name).unwrap().1
}

/// Text as an argument, also where it is not UTF-8.
pub fn bytes(text: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(text.to_vec())
}

impl From<Output> for Seen {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The time of this thread on a processor so far: the machine may be busy with other things.
pub fn spent() -> Duration {
    let statistics = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(statistics.split(' ').next().unwrap().parse().unwrap())
}

/// A small deterministic generator (`SplitMix64`).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % bound as u64).unwrap()
    }

    /// One of these.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}
