//! Stands under the name of every program: writes down how it was called, then does what the world wants.
//!
//! It stands under the names of the shells and of some harmless programs as well, and then becomes them.

#[allow(dead_code)]
mod wire;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, exit};

/// A command that starts more programs than this many bytes of records is ended.
const MOST: u64 = 128 * 1024;

unsafe extern "C" {
    fn kill(process: i32, signal: i32) -> i32;
}

fn main() {
    let executable = fs::read_link("/proc/self/exe").unwrap_or_default();
    let words: Vec<_> = std::env::args_os().collect();
    let length = record(&executable, &words).unwrap_or(MOST);
    if length >= MOST {
        // SAFETY: a system call without pointers; it reaches no process outside of the cage.
        unsafe { kill(-1, 9) };
    }
    let world = fs::read("/.oracle/world").unwrap_or_default();
    let mut lines = world.split(|byte| *byte == b'\n');
    let (world, project) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let name = executable.file_name().unwrap_or_default();
    become_real("/.oracle/real", name, &words);
    if world == b"real" {
        become_real("/.oracle/wrap", name, &words);
    }
    match world {
        b"ok" => exit(0),
        b"fail" => exit(1),
        _ => {}
    }
    // A reader that is gone already is none of our business.
    let _ = std::io::stdout().write_all(&output(name.as_bytes(), &words, project));
    exit(if world == b"mixed" { i32::try_from(mixed(length) % 2).unwrap_or(1) } else { 0 });
}

/// Appends one record; the length of all records so far.
fn record(executable: &Path, words: &[std::ffi::OsString]) -> std::io::Result<u64> {
    let folder = fs::read_link("/proc/self/cwd").unwrap_or_default();
    let mut fields = wire::Writer::default();
    fields.field(executable.as_os_str().as_bytes());
    let folder = folder.as_os_str().as_bytes();
    fields.field(folder.strip_suffix(b" (deleted)").unwrap_or(folder));
    fields.list(&words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>());
    let mut log = File::options().append(true).create(true).open("/.oracle/log")?;
    fields.send(&mut log)?;
    Ok(log.metadata()?.len())
}

fn become_real(folder: &str, name: &OsStr, words: &[std::ffi::OsString]) {
    let real = Path::new(folder).join(name);
    if real.exists() {
        let (zero, rest) = words.split_first().map_or((name, &[][..]), |(zero, rest)| (zero.as_os_str(), rest));
        let error = Command::new(&real).arg0(zero).args(rest).exec();
        eprintln!("{}: {error}", real.display());
        exit(126);
    }
}

/// Something that a program of this name could print.
fn output(name: &[u8], words: &[std::ffi::OsString], project: &[u8]) -> Vec<u8> {
    let has = |word: &str| words.iter().any(|given| given == word);
    let text: &[u8] = match name {
        b"git" if has("--show-toplevel") => project,
        b"git" if has("rev-parse") || has("rev-list") || has("log") => b"0123abc",
        b"mktemp" => b"/tmp/tmp.aB3dE6",
        b"wc" | b"nproc" | b"id" | b"date" | b"pgrep" | b"pidof" | b"seq" | b"stat" | b"expr" | b"bc" => b"42",
        b"which" | b"whereis" => b"/usr/bin/found",
        b"ls" | b"find" | b"fd" | b"rg" | b"grep" => b"src/one.py\nsrc/two words.py\n-n",
        _ => match mixed(name.iter().map(|byte| u64::from(*byte)).sum()) % 4 {
            0 => b"7",
            1 => b"src/one.py",
            2 => b"/etc/some where",
            _ => b"key: value\nname = \"other\"",
        },
    };
    [text, b"\n"].concat()
}

fn mixed(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 3)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed >> 40
}
