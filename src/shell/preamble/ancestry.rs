//! Which programs started this shell.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path};

use bstr::{BString, ByteSlice};

use super::template::fits;
use crate::invocation::base_name;

/// Ancestors beyond this many are not asked; an agent is the parent, or a sandbox is in between.
const GENERATIONS: usize = 12;

/// Where anybody may write.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// The processes from our parent upwards.
#[derive(Debug, Clone, Default)]
pub struct Ancestry(pub Vec<Process>);

/// One ancestor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its executable, or empty where that is not shown to us.
    pub executable: BString,
    /// Its arguments.
    pub arguments: Vec<BString>,
}

impl Ancestry {
    /// Whether an executable or interpreted script that fits one of `wanted` comes first, with nothing before it but
    /// programs named in `through`. So a shell or program that an agent's command started is not taken for the agent.
    ///
    /// An agent is installed: nothing in `project` or a temporary folder, where its commands may write, counts as one.
    pub(super) fn reaches(&self, wanted: &[&str], through: &[&str], project: Option<&Path>) -> bool {
        let agent = |process: &Process| wanted.iter().any(|glob| process.is(glob, |path| is_installed(path, project)));
        let passes = |process: &&Process| through.iter().any(|name| base_name(&process.executable) == name.as_bytes());
        self.0.iter().find(|process| !passes(process)).is_some_and(agent)
    }

    /// Whether any ancestor fits one of `wanted`, whatever stands between.
    pub(super) fn holds(&self, wanted: &[&str]) -> bool {
        self.0.iter().any(|process| wanted.iter().any(|glob| process.is(glob, |_| true)))
    }
}

impl Process {
    /// A glob without a slash is about the executable's name; one with a slash about the end of a path, also of the
    /// script that an interpreter runs.
    /// Only paths that `counts` says yes to are looked at.
    fn is(&self, glob: &str, counts: impl Fn(&BString) -> bool) -> bool {
        if !glob.contains('/') {
            return counts(&self.executable) && fits(glob.as_bytes(), base_name(&self.executable));
        }
        let depth = glob.bytes().filter(|byte| *byte == b'/').count();
        let script = self.arguments.iter().skip(1).find(|argument| !argument.starts_with(b"-"));
        [Some(&self.executable), script].into_iter().flatten().filter(|path| counts(path)).any(|path| {
            let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
            let end = parts.get(parts.len().saturating_sub(depth + 1)..).unwrap_or_default();
            fits(glob.as_bytes(), &bstr::join("/", end))
        })
    }
}

fn is_installed(path: &BString, project: Option<&Path>) -> bool {
    let path = Path::new(OsStr::from_bytes(path));
    let open = TEMPORARY.iter().map(Path::new).chain(project).any(|folder| path.starts_with(folder));
    path.is_absolute() && !open && path.components().all(|part| part != Component::ParentDir)
}

/// Reads the ancestors of this process, as far as they are shown.
pub fn processes() -> Ancestry {
    let mut parent = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get());
    let mut found = Vec::new();
    while let Some(pid) = parent.filter(|pid| *pid > 1 && found.len() < GENERATIONS) {
        let executable = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default().into_os_string().into_vec();
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let arguments = arguments.split(|byte| *byte == 0).map(BString::from).collect();
        found.push(Process { executable: executable.into(), arguments });
        parent = fs::read(format!("/proc/{pid}/stat")).ok().and_then(|stat| parent_in(&stat));
    }
    Ancestry(found)
}

/// The fourth field of a `stat` line; the second is a name in parentheses that can hold anything.
fn parent_in(stat: &[u8]) -> Option<i32> {
    let (_, fields) = stat.rsplit_once_str(") ")?;
    fields.split(|byte| *byte == b' ').nth(1)?.to_str().ok()?.parse().ok()
}
