//! A seeded generator of option sequences, and what the real shells make of them.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use bstr::BStr;
use vetsh::shell::{Shell, Source};

use crate::support::{Random, real};

/// What the command prints if a shell runs it.
const MARK: &str = "R-U-N-S";
/// A command that prints [`MARK`] without holding it, so that echoed text is no run. It needs no other program.
const COMMAND: &str = "printf '%s-%s\\n' R-U N-S";
/// A script for standard input that tells which process runs it: a text such as `sh` starts another shell, which would
/// read it just as well.
const INPUT: &[u8] = b"printf 'input of %s.\\n' $$\n";

/// One call of a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    name: String,
    zero: String,
    arguments: Vec<String>,
}

/// How many sequences a test tries: a few hundred, or with `VETSH_LONG` set the full search.
pub fn count() -> u64 {
    if std::env::var_os("VETSH_LONG").is_some() { 20_000 } else { 150 }
}

/// Words from which sequences are made: those that mean something to some shell, and near misses.
const WORDS: &[&str] = &[
    "-c",
    "-c",
    "-c",
    "+c",
    "-",
    "--",
    "+",
    "-o",
    "+o",
    "-O",
    "+O",
    "-s",
    "+s",
    "-n",
    "+n",
    "-i",
    "-l",
    "-e",
    "+e",
    "-x",
    "-u",
    "-v",
    "-p",
    "-r",
    "-D",
    "-t",
    "-f",
    "+f",
    "-b",
    "+b",
    "-h",
    "-m",
    "-k",
    "-B",
    "-C",
    "-E",
    "-H",
    "-P",
    "-T",
    "-d",
    "-z",
    "-A",
    "-9",
    "-ci",
    "-ic",
    "-lc",
    "-cl",
    "-cs",
    "-sc",
    "-oc",
    "-co",
    "-cO",
    "-Oc",
    "-oo",
    "-oO",
    "-ec",
    "-nc",
    "-cn",
    "-fbc",
    "-bc",
    "-cb",
    "-c-",
    "-e-",
    "-x-c",
    "-c ",
    "-e c",
    "-c\t",
    "--login",
    "-login",
    "--norc",
    "-norc",
    "--noprofile",
    "--posix",
    "-posix",
    "--rcfile",
    "-rcfile",
    "--rcfile=x",
    "--init-file",
    "--verbose",
    "--version",
    "--help",
    "--debugger",
    "--debug",
    "--dump-strings",
    "--dump-po-strings",
    "--pretty-print",
    "--restricted",
    "--protected",
    "--wordexp",
    "--noediting",
    "--emulate",
    "+-emulate",
    "--no-rcs",
    "--norcs",
    "--no_exec",
    "--exec",
    "--noexec",
    "+-exec",
    "+-no-exec",
    "--shinstdin",
    "--sh-option-letters",
    "+-shoptionletters",
    "--interactive",
    "--nosuch",
    "-oextendedglob",
    "-onoexec",
    "+oexec",
    "-oshinstdin",
    "-opipefail",
    // Only the first letter counts; a shell's whole name as a text would start that shell in place.
    "s",
    "k",
    "c",
    "z",
    "rs",
    "pipefail",
    "errexit",
    "noexec",
    "posix",
    "extglob",
    "extendedglob",
    "nosuch",
    "exec",
    "no_exec",
    "NO_RCS",
    "shinstdin",
    "stdin",
    "interactive",
    "nolog",
    "CMD",
    "CMD",
    "CMD",
    "CMD",
    "/dev/null",
    "",
    "arg",
    "-c x",
    "+-",
    "-+",
    "---",
    "-cc",
    "+cx",
    "--c",
    "-\u{e4}",
];

const ZEROS: &[&str] =
    &["", "", "", "", "sh", "-bash", "-zsh", "rbash", "weird", "/bin/sh", "ksh", "-sh", "rsh", "csh"];

impl Options {
    /// The sequence of this number.
    pub fn generate(name: &str, seed: u64) -> Self {
        let mut random = Random::new(seed.wrapping_mul(0x1000_0001) ^ name.len() as u64);
        let zero = random.pick(ZEROS);
        let zero = if zero.is_empty() { name } else { zero };
        let mut arguments: Vec<_> = (0..random.below(6)).map(|_| random.pick(WORDS).to_owned()).collect();
        if random.below(3) > 0 {
            arguments.push("CMD".to_owned());
        }
        Self {
            name: name.to_owned(),
            zero: zero.to_owned(),
            arguments: arguments.iter().map(|word| filled(word)).collect(),
        }
    }

    /// Whether the real shell runs the command, and whether it runs [`INPUT`].
    fn run(&self) -> (bool, bool) {
        let mut child = Command::new(real(&self.name));
        child
            .arg0(&self.zero)
            .args(&self.arguments)
            .env_clear()
            .env("PATH", "/nonexistent")
            .env("HOME", "/nonexistent");
        child.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = child.spawn().unwrap();
        // A shell that reads no input closes it early.
        let _ = child.stdin.take().unwrap().write_all(INPUT);
        let input = format!("input of {}.", child.id());
        let printed = String::from_utf8_lossy(&child.wait_with_output().unwrap().stdout).into_owned();
        (printed.contains(MARK), printed.contains(&input))
    }
}

fn filled(word: &str) -> String {
    if word == "CMD" { COMMAND.to_owned() } else { word.to_owned() }
}

/// Whether the real shell runs the command, or its standard input, without the model seeing it.
pub fn differs(options: &Options) -> bool {
    let arguments: Vec<&BStr> =
        [&options.zero].into_iter().chain(&options.arguments).map(|argument| argument.as_str().into()).collect();
    let reading = Shell::named(options.name.as_bytes()).unwrap().read(&arguments);
    let (ran_text, ran_input) = options.run();
    let text = reading.source == Source::Text(COMMAND.into());
    let stdin = reading.then_stdin || reading.source == Source::Stdin;
    ran_text && !text || ran_input && !stdin
}
