//! Other processes, as `/proc` tells of them.

use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::exec::resolve;

/// A process at the moment it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its parent's id; 0 where the parent is outside of our process namespace.
    pub parent: u32,
    /// The session that it belongs to: the process id of its leader.
    pub session: u32,
    /// Its terminal's device number, 0 without one.
    pub terminal: u32,
    /// When it started, in clock ticks since boot. With the id it names the process for good.
    pub started: u64,
    /// Whether all of its user ids are root's.
    pub root: bool,
    /// The name that it gave itself or got from its file: up to 15 bytes, and not to be trusted.
    pub name: String,
    /// The file that it runs; `None` where we may not see it.
    pub program: Option<Program>,
}

/// The file that a process runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Its path, links resolved.
    pub path: PathBuf,
    /// Whether it is root's, writable by nobody else, and in a folder of the system.
    pub system: bool,
    /// Whether it is a build of vetsh.
    pub vetsh: bool,
}

/// Where programs are root's by convention of every distribution.
const SYSTEM_FOLDERS: [&str; 9] =
    ["/usr/", "/bin/", "/sbin/", "/lib/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/", "/run/current-system/"];

impl Process {
    /// Looks at a process; `None` if it is gone or hidden.
    pub fn look(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        Some(Self {
            root: ids.split_whitespace().all(|id| id == "0"),
            program: Program::of(pid).ok(),
            ..Self::parse(pid, &stat)?
        })
    }

    /// This process.
    pub fn own() -> Option<Self> {
        Self::look(std::process::id())
    }

    /// This process and its ancestors, the nearest first, as far as they can be seen.
    pub fn lineage() -> impl Iterator<Item = Self> {
        // Longer than any real one; ids may be reused while we look, so an end is needed.
        std::iter::successors(Self::own(), |child| Self::look(child.parent)).take(128)
    }

    fn parse(pid: u32, stat: &[u8]) -> Option<Self> {
        // The name stands in parentheses and may hold any byte, parentheses and blanks too.
        let (open, close) = (stat.iter().position(|&byte| byte == b'(')?, stat.iter().rposition(|&byte| byte == b')')?);
        let name = String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned();
        let fields: Vec<_> = std::str::from_utf8(stat.get(close + 1..)?).ok()?.split_whitespace().collect();
        // Counted from the field after the name, which proc(5) numbers 3.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        let small = |number: usize| u32::try_from(field(number)?).ok();
        let (parent, session, terminal, started) = (small(4)?, small(6)?, small(7)?, field(22)?);
        Some(Self { pid, parent, session, terminal, started, root: false, name, program: None })
    }

    /// What it is called, for people: its file's path, else the name that it gave itself.
    pub fn label(&self) -> String {
        let path = self.program.as_ref().map(|program| program.path.as_os_str().as_bytes());
        crate::terminal_text::line(path.unwrap_or(self.name.as_bytes()))
    }

    /// Whether its terminal is a pseudo terminal, whose other end some program holds.
    pub fn on_pty(&self) -> bool {
        matches!(rustix::fs::major(self.terminal.into()), 136..=143)
    }
}

impl Program {
    fn of(pid: u32) -> io::Result<Self> {
        let link = format!("/proc/{pid}/exe");
        let target = fs::read_link(&link)?;
        // An update replaces the files of running programs.
        let shown = target.as_os_str().as_bytes();
        let shown = shown.strip_suffix(b" (deleted)").unwrap_or(shown);
        let path = PathBuf::from(std::ffi::OsStr::from_bytes(shown));
        let file = File::open(&link)?;
        let metadata = file.metadata()?;
        let system = metadata.uid() == 0
            && metadata.mode() & 0o022 == 0
            && SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder));
        Ok(Self { system, vetsh: resolve::is_vetsh(&file)?, path })
    }

    /// The file's name.
    pub fn file_name(&self) -> &str {
        self.path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }
}

/// The terminals that a process holds open, other than those whose other end it holds itself.
pub fn terminals_of(pid: u32) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let open: Vec<(String, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, fs::read_link(entry.path()).ok()?)))
        .collect();
    let is_master = |path: &Path| path.ends_with("ptmx");
    let own: Vec<_> = open.iter().filter(|(_, path)| is_master(path)).filter_map(|(fd, _)| index_of(pid, fd)).collect();
    let own: Vec<_> = own.iter().map(|index| PathBuf::from(format!("/dev/pts/{index}"))).collect();
    let terminals = open.into_iter().map(|(_, path)| path);
    terminals
        .filter(|path| (path.starts_with("/dev/pts") || is_console(path)) && !is_master(path) && !own.contains(path))
        .collect()
}

/// Whether a path names a virtual console: `/dev/tty1`.
fn is_console(path: &Path) -> bool {
    let number = path.to_str().and_then(|path| path.strip_prefix("/dev/tty"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Which pseudo terminal a master descriptor of another process belongs to.
fn index_of(pid: u32, fd: &str) -> Option<u32> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    info.lines().find_map(|line| line.strip_prefix("tty-index:"))?.trim().parse().ok()
}

/// The value of a variable in the environment with which a process started its program.
pub fn variable_of(pid: u32, name: &str) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let mut entries = environment.split(|&byte| byte == 0);
    let value = entries.find_map(|entry| entry.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
    Some(String::from_utf8_lossy(value).into_owned())
}
