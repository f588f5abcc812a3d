//! With everything allowed, a shim is the real shell: the same calls, the same everything.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use crate::support::{ALLOW_ALL, DENY_TOUCH, Sandbox, real};

/// Prints what a shell can tell of itself and of how it was started.
const PROBE: &str = r#"printf '%s|' "$0" "$-" "$#" "$@" "$$" "$PWD"; echo; readlink /proc/$$/exe
tr '\0' '\n' </proc/$$/environ; while read -r l; do case $l in Sig[BIC]*) echo "$l";; esac; done </proc/$$/status; cut -d' ' -f5,6 /proc/$$/stat
for f in 0 1 2 6 7 8 9; do printf '%s ' $f; readlink /proc/$$/fd/$f || echo; done; echo out; echo err >&2; exit 7"#;

/// What is on descriptor 0.
#[derive(Debug, Clone, Copy)]
enum Input {
    Null,
    Pipe(&'static str),
    File(&'static str),
    Closed,
}

/// One call; `S` among the arguments stands for the script, `F` for a file that holds it.
struct Row {
    /// The row of the test matrix, or what is tested.
    name: &'static str,
    shell: &'static str,
    zero: &'static str,
    arguments: &'static [&'static str],
    input: Input,
    /// perl that runs just before exec.
    setup: &'static str,
}

const fn row(name: &'static str, shell: &'static str, zero: &'static str, arguments: &'static [&'static str]) -> Row {
    Row { name, shell, zero, arguments, input: Input::Null, setup: "" }
}

const fn with(row: Row, input: Input, setup: &'static str) -> Row {
    Row { input, setup, ..row }
}

const ROWS: &[Row] = &[
    row("1", "bash", "", &["-c", "S"]),
    row("1", "zsh", "", &["-c", "S"]),
    row("1", "dash", "", &["-c", "S"]),
    with(row("2", "bash", "", &["-c", "-l", "S"]), Input::Pipe(""), ""),
    row("7", "bash", "", &["-lc", "S"]),
    row("12", "bash", "bash", &["-c", "S"]),
    with(row("13", "bash", "", &["-l", "-c", "S"]), Input::Pipe(""), ""),
    row("14", "bash", "", &["-l", "-i", "-c", "S"]),
    row("15", "bash", "", &["-i", "-c", "S"]),
    with(
        row("16", "bash", "", &["-O", "extglob", "-c", "eval \"$1\"", "--", "S"]),
        Input::Null,
        "open(A,'<','/dev/null'); open(B,'>','/dev/null'); POSIX::dup2(fileno(A),6); POSIX::dup2(fileno(B),7); $^F=9;",
    ),
    row("16", "bash", "", &["-O", "extglob", "-c", "S", "--", "a", "b"]),
    row("17", "bash", "bash", &["-O", "extglob", "-ilc", "S"]),
    row("17", "zsh", "zsh", &["-o", "extendedglob", "-c", "S"]),
    with(row("19", "bash", "-bash", &[]), Input::Pipe("S"), ""),
    with(row("19", "zsh", "-zsh", &["-s", "a"]), Input::Pipe("S"), ""),
    with(row("21", "bash", "bash", &["--norc", "--noprofile", "-c", "S"]), Input::Pipe("{\"a\": 1}\n"), ""),
    row("22", "bash", "", &["--rcfile", "/dev/null", "-i", "-c", "S"]),
    row("23", "sh", "sh", &["-c", "S"]),
    row("23", "sh", "", &["-c", "S"]),
    row("24", "sh", "", &["-c", "S", "S", "one", "two words", ""]),
    row("25", "sh", "sh", &["-cu", "S"]),
    row("25", "bash", "bash", &["-ec", "S"]),
    row("25", "bash", "", &["-euo", "pipefail", "-c", "S"]),
    row("25", "dash", "", &["-xc", "S"]),
    row("25", "bash", "", &["+e", "-c", "S"]),
    row("26", "bash", "bash", &["F", "a", "b"]),
    row("26", "bash", "", &["-e", "F"]),
    row("26", "zsh", "", &["--", "F", "x"]),
    row("26", "dash", "", &["F"]),
    with(row("27", "bash", "bash", &[]), Input::Pipe("S"), ""),
    with(row("27", "sh", "sh", &["-s", "a", "b"]), Input::Pipe("S"), ""),
    with(row("27 after a text", "dash", "", &["-sc", "echo text"]), Input::Pipe("S"), ""),
    with(row("27", "bash", "bash", &[]), Input::File("S"), ""),
    with(row("27", "dash", "sh", &["-s"]), Input::File("S"), ""),
    with(row("27", "zsh", "zsh", &[]), Input::File("S"), ""),
    row("31", "bash", "", &["-c", "S", "\u{e4}\u{1f600}", "\t\n"]),
    row("31", "zsh", "", &["-c", ""]),
    row("32", "bash", "", &["-p", "-c", "S"]),
    row("32", "bash", "", &["--posix", "-c", "S"]),
    row("32", "bash", "", &["-v", "-c", "S"]),
    row("32", "rbash", "rbash", &["-c", "echo $-; cd /"]),
    row("32", "bash", "", &["--restricted", "-c", "echo $-; cd /"]),
    with(row("33 closed input", "bash", "", &["-c", "S"]), Input::Closed, ""),
    with(row("33 closed input", "zsh", "", &["-c", "S"]), Input::Closed, ""),
    with(row("33 all closed", "dash", "", &["-c", "exit 3"]), Input::Closed, "POSIX::close(1); POSIX::close(2);"),
    with(row("33 closed output", "bash", "", &["-c", "S"]), Input::Null, "POSIX::close(1);"),
    with(
        row("33 signals", "bash", "", &["-c", "S"]),
        Input::Null,
        "$SIG{PIPE}=$SIG{INT}=$SIG{SEGV}=$SIG{ABRT}=$SIG{HUP}='IGNORE'; \
         POSIX::sigprocmask(POSIX::SIG_BLOCK, POSIX::SigSet->new(POSIX::SIGUSR1, POSIX::SIGTERM, POSIX::SIGSEGV));",
    ),
    with(row("33 session", "dash", "", &["-c", "S"]), Input::Null, "POSIX::setsid();"),
    row("argv[0]", "bash", "weird", &["-c", "S"]),
    row("argv[0]", "bash", "sh", &["-c", "S"]),
    row("argv[0]", "zsh", "-sh", &["-c", "S"]),
    row("argv[0]", "bash", "", &[]),
    with(row("a number on input", "bash", "", &["-c", "read a; echo $a; exec cat"]), Input::File("1\n2\n"), ""),
    with(row("the rest of input", "bash", "", &["-s"]), Input::File("read a; echo got $a\ndata\necho end\n"), ""),
    row("signal", "bash", "", &["-c", "kill -TERM $$"]),
    row("signal", "dash", "", &["-c", "kill -9 $$"]),
    row("background", "bash", "", &["-c", "sleep 0.1 & wait $!; echo $?"]),
    row("missing file", "bash", "", &["./nowhere.sh"]),
    row("missing file", "zsh", "", &["./nowhere.sh"]),
    row("directory", "bash", "", &["/"]),
    row("syntax error", "bash", "", &["-c", "if"]),
];

/// What a call did, without what differs from one process to the next.
#[derive(Debug, PartialEq, Eq)]
struct Done {
    status: String,
    stdout: String,
    stderr: String,
}

impl Row {
    /// Starts `program` by perl, which execs in place, so that every state a caller can be in can be had.
    fn run(&self, sandbox: &Sandbox, program: &str, script: &str) -> Done {
        sandbox.write("project/script", script);
        let shim = sandbox.shim(self.shell).display().to_string();
        let fill = |word: &str| match word {
            "S" => script.to_owned(),
            "F" => "./script".to_owned(),
            word => word.to_owned(),
        };
        let zero = if self.zero.is_empty() { &shim } else { self.zero };
        let closed = if matches!(self.input, Input::Closed) { "POSIX::close(0);" } else { "" };
        let perl = format!("use POSIX; {} {closed} exec {{ shift @ARGV }} @ARGV; die", self.setup);
        let mut command = sandbox.command("/usr/bin/perl");
        command.args(["-e", &perl, program, zero]).args(self.arguments.iter().map(|word| fill(word)));
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.env("PS4", "+ ").env("EMPTY", "").stdout(Stdio::piped()).stderr(Stdio::piped());
        finish(&mut command, self.input, sandbox, &fill)
    }
}

fn finish(command: &mut Command, input: Input, sandbox: &Sandbox, fill: &dyn Fn(&str) -> String) -> Done {
    match input {
        Input::Null | Input::Closed => command.stdin(Stdio::null()),
        Input::Pipe(_) => command.stdin(Stdio::piped()),
        Input::File(text) => {
            sandbox.write("input", fill(text));
            command.stdin(File::open(sandbox.path("input")).unwrap())
        }
    };
    let mut child = command.spawn().unwrap();
    if let (Input::Pipe(text), Some(mut pipe)) = (input, child.stdin.take()) {
        // A shell that needs no input may be gone.
        let _ = pipe.write_all(fill(text).as_bytes());
    }
    let pid = child.id().to_string();
    let output = child.wait_with_output().unwrap();
    let plain = |bytes: &[u8]| plain(&String::from_utf8_lossy(bytes), &pid);
    Done { status: output.status.to_string(), stdout: plain(&output.stdout), stderr: plain(&output.stderr) }
}

/// Process ids and the numbers of pipes differ; a script that came by a pipe is in memory by now.
fn plain(text: &str, pid: &str) -> String {
    let line = |line: &str| {
        let line = line.replace(pid, "PID");
        match line.split_once(" pipe:[").or_else(|| line.split_once(" socket:[")) {
            Some((before, _)) => format!("{before} pipe"),
            None if line.starts_with("0 /memfd:script") => "0 pipe".to_owned(),
            None => line,
        }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn with_everything_allowed_nothing_differs() {
    let sandbox = Sandbox::new(ALLOW_ALL);
    for row in ROWS {
        let theirs = row.run(&sandbox, real(row.shell), PROBE);
        let ours = row.run(&sandbox, &sandbox.shim(row.shell).display().to_string(), PROBE);
        assert_eq!(ours, theirs, "row {}: {} {:?}", row.name, row.shell, row.arguments);
    }
}

#[test]
fn a_script_that_is_denied_runs_not_even_in_part() {
    let sandbox = Sandbox::new(DENY_TOUCH);
    let takes_script = |row: &&Row| row.arguments.contains(&"S") || row.arguments.contains(&"F") || row.reads_script();
    for row in ROWS.iter().filter(takes_script) {
        let ours = row.run(&sandbox, &sandbox.shim(row.shell).display().to_string(), "echo first\ntouch made");
        assert_eq!(ours.status, "exit status: 126", "row {}: {} {:?} {ours:?}", row.name, row.shell, row.arguments);
        assert_eq!(ours.stdout, "", "row {}", row.name);
        assert!(
            ours.stderr.starts_with("vetsh: denied") || row.setup.contains("close(2)"),
            "row {}: {ours:?}",
            row.name
        );
        assert!(!sandbox.project().join("made").exists(), "row {}", row.name);
    }
}

impl Row {
    fn reads_script(&self) -> bool {
        matches!(self.input, Input::Pipe("S") | Input::File("S"))
    }
}
