//! What vetsh costs: instructions and system calls from start to exec, time over the bare shell, and how all of that
//! grows with the number of rules and the length of a script.
//!
//! Of the time, much is the machine's: any program that becomes another one pays for a second exec. So an exec-only
//! program is timed in turn with both; what vetsh adds to that is its own.
//!
//! `cargo bench --profile dev --bench cost -- PATH` measures the build at PATH, which should be the static one that is
//! installed. Instructions are counted by stepping through the program, so the figures of one build hardly differ
//! between runs and machines.

#![allow(unsafe_code, missing_docs, reason = "tracing a process is what libc offers")]
#![allow(clippy::expect_used, reason = "a measurement that cannot be made ends the program")]
#![allow(clippy::cast_precision_loss, reason = "a ratio for people")]

use std::fmt::Write as _;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that does nothing but become another one.
const BARE: &str = "#include <unistd.h>\nint main(int c, char **v) { return execv(v[1], v + 1); }\n";
/// How many starts are timed, in turns.
const ROUNDS: usize = 300;

/// What a process did until it became another program.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    instructions: u64,
    calls: u64,
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bench = Bench::new(folder.path());
    println!("{}", bench.vetsh);
    let bare = trace(bench.command(bench.path("bare")).args([bench.shell.as_str(), "-c", "git status"]));
    let mut few = 0;
    for rules in [0, 50, 10_000] {
        bench.policy(rules);
        let counts = trace(bench.command(bench.path("shims/bash")).args(["-c", "git status"]));
        let instructions = counts.instructions.saturating_sub(bare.instructions);
        println!("git status, {rules:>6} rules: {instructions:>9} instructions, {} system calls", counts.calls);
        match rules {
            50 => few = instructions,
            10_000 => println!("{:32}+{:.1} %", "", 100.0 * (instructions as f64 / few.max(1) as f64 - 1.0)),
            _ => {}
        }
    }
    println!("an exec-only program: {:>18} instructions, {} system calls", bare.instructions, bare.calls);
    bench.policy(50);
    bench.times();
    bench.scripts();
}

/// An installation with a project.
struct Bench {
    root: PathBuf,
    /// The build that is measured.
    vetsh: String,
    /// The real bash.
    shell: String,
}

impl Bench {
    fn new(root: &Path) -> Self {
        let other = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
        let vetsh = other.unwrap_or_else(|| env!("CARGO_BIN_EXE_vetsh").to_owned());
        let bench = Self { root: root.to_path_buf(), vetsh, shell: "/bin/bash".to_owned() };
        fs::create_dir_all(bench.path("project")).expect("a project");
        let git = "git init -q && echo text > file && git add file && git -c user.name=a -c user.email=a@example.org commit -qm one";
        run(bench.command("/bin/sh").args(["-c", git]));
        run(bench.command(&bench.vetsh).args(["install", "--allow-dynamic", "--shims"]).arg(bench.path("shims")));
        fs::write(bench.path("bare.c"), BARE).expect("a source file");
        run(bench.command("cc").args(["-O2", "-static", "-o"]).arg(bench.path("bare")).arg(bench.path("bare.c")));
        bench
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root.join(below)
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().env("HOME", &self.root).env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LANG", "C.UTF-8");
        // Below any shell, as an agent is; without it bash takes itself for one that sshd started.
        command.env("SHLVL", "1");
        command.current_dir(self.path("project")).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// Writes a policy of so many rules and has it compiled.
    fn policy(&self, rules: usize) {
        let mut policy = "version = 1\n".to_owned();
        for rule in 0..rules {
            let _ = write!(
                policy,
                "[[rule]]\nid = \"rule-{rule}\"\nverdict = \"deny\"\ncommand = \"tool-{rule} push\"\n\
                 flags = [\"--force\", \"-f\"]\nreason = \"the bench forbids it\"\n"
            );
        }
        fs::write(self.path(".config/vetsh/policy.toml"), policy).expect("a policy");
        // A layer that has just changed is not kept compiled.
        std::thread::sleep(Duration::from_millis(2_200));
        run(self.command(self.path("shims/bash")).args(["-c", "git status"]));
    }

    /// Time over the bare shell and over an exec-only program, by turns, so that all meet the same machine.
    fn times(&self) {
        let git = ["-c", "git status"];
        let arms = [
            ("bare", vec![self.shell.clone().into()]),
            ("exec-only", vec![self.path("bare"), self.shell.clone().into()]),
            ("vetted", vec![self.path("shims/bash")]),
        ];
        let mut spent = arms.each_ref().map(|_| Vec::with_capacity(ROUNDS));
        for _ in 0..ROUNDS {
            for ((_, words), spent) in arms.iter().zip(&mut spent) {
                let (program, rest) = words.split_first().expect("a program");
                spent.push(time(self.command(program).args(rest).args(git)));
            }
        }
        spent.iter_mut().for_each(|spent| spent.sort_unstable());
        for (name, at) in [("minimum", 0), ("p25", ROUNDS / 4), ("median", ROUNDS / 2)] {
            let [bare, once, vetted] =
                spent.each_ref().map(|spent| spent.get(at).map_or(0.0, Duration::as_secs_f64) * 1e3);
            print!("git status, {name:>7}: {bare:.3} ms bare, {once:.3} ms exec-only, {vetted:.3} ms vetted: ");
            println!("{:+.3} ms, of these {:+.3} ms ours", vetted - bare, vetted - once);
        }
    }

    /// Scripts of growing length, judged only.
    fn scripts(&self) {
        for kilobytes in [128, 256, 512, 1000] {
            let mut script = String::new();
            let mut line = 0;
            while script.len() < kilobytes * 1000 {
                line += 1;
                let _ = writeln!(script, "grep -n 'pattern {line}' src/file-{line}.txt | head -5 >> /tmp/out.txt");
            }
            let row = format!("{{\"cmd\": {}}}\n", json_string(&script));
            fs::write(self.path("row.jsonl"), row).expect("a row");
            let mut check = self.command(self.path("shims/vetsh"));
            check.args(["check", "--batch"]).arg(self.path("row.jsonl")).stdout(Stdio::piped());
            let start = Instant::now();
            let output = check.output().expect("an answer");
            let spent = start.elapsed().as_secs_f64() * 1e3;
            let commands = String::from_utf8_lossy(&output.stdout).matches("\"program\":").count();
            println!("script of {kilobytes:>4} kB: {spent:>7.1} ms, {commands} commands of {}", 2 * line);
        }
    }
}

fn json_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// Runs to the end, which must be a good one.
fn run(command: &mut Command) {
    let status = command.status().expect("a program that starts");
    assert!(status.success(), "{command:?}: {status}");
}

fn time(command: &mut Command) -> Duration {
    let start = Instant::now();
    run(command);
    start.elapsed()
}

/// Steps through a program until it becomes another one.
#[expect(clippy::zombie_processes, reason = "it is waited for by its id")]
fn trace(command: &mut Command) -> Counts {
    // SAFETY: between fork and exec the child makes one system call.
    unsafe {
        command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let child = command.spawn().expect("a program that may be traced");
    let process = libc::pid_t::try_from(child.id()).expect("a process id");
    let mut counts = Counts::default();
    let mut last = 0;
    assert!(libc::WIFSTOPPED(wait(process)), "the program stops at its first instruction");
    let options = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_EXITKILL;
    // SAFETY: the child is ours, traced and stopped.
    unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, process, 0, options) };
    loop {
        let (at, is_call) = instruction(process);
        // A repeated string instruction stops at each turn.
        counts.instructions += u64::from(at != last);
        counts.calls += u64::from(is_call);
        last = at;
        // SAFETY: as above.
        unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, process, 0, 0) };
        let status = wait(process);
        let became = status >> 8 == libc::SIGTRAP | (libc::PTRACE_EVENT_EXEC << 8);
        if became || !libc::WIFSTOPPED(status) {
            // SAFETY: the child is ours; whether it still runs does not matter.
            unsafe { libc::kill(process, libc::SIGKILL) };
            let _ = wait(process);
            return counts;
        }
    }
}

fn wait(process: libc::pid_t) -> libc::c_int {
    let mut status = 0;
    // SAFETY: `status` is ours.
    unsafe { libc::waitpid(process, &raw mut status, 0) };
    status
}

/// Where the next instruction is, and whether it is a system call.
#[cfg(target_arch = "x86_64")]
fn instruction(process: libc::pid_t) -> (u64, bool) {
    /// `syscall`, as the lower half of a little-endian word.
    const SYSCALL: libc::c_long = 0x050f;
    // SAFETY: plain numbers, for which zero is a value; the child is ours, traced and stopped.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        libc::ptrace(libc::PTRACE_GETREGS, process, 0, &raw mut registers);
        let word = libc::ptrace(libc::PTRACE_PEEKTEXT, process, registers.rip, 0);
        (registers.rip, word & 0xffff == SYSCALL)
    }
}
