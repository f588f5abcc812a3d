//! A machine that is not there: what a command is judged against when its project does not exist here.

use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bstr::{BStr, BString};

use super::{FileRead, Host, Look, LookKind, Recovery, Unread, project};
use crate::paths;

/// Where every program is assumed to be.
const PROGRAMS: &str = "/usr/bin";
/// The `PATH` that is assumed.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Folders that every machine has.
const FOLDERS: [&str; 17] = [
    "/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/opt", "/proc", "/root", "/run", "/sbin", "/sys", "/tmp",
    "/usr", "/var", "/var/tmp",
];
/// Devices that every machine has.
const DEVICES: [&str; 10] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/mem",
];

/// Variables that scripts prepend to, and no login sets.
const SEARCH_PATHS: [&str; 6] =
    ["PYTHONPATH", "NODE_PATH", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CLASSPATH", "MANPATH"];

/// A machine of which only the project's and the home's path are known. Programs are in system folders; every other
/// file may exist, with a content that nobody can tell.
pub struct AssumedHost {
    start: PathBuf,
    home: PathBuf,
    project: Option<PathBuf>,
}

impl AssumedHost {
    /// A machine where a shell starts in `project`, which is the project root as far as a folder of that name can be.
    pub fn new(project: &Path, home: &Path) -> Self {
        let start = project::plain(project);
        let home = project::plain(home);
        Self { project: project::root(&start, &home, |folder| folder == start), start, home }
    }

    fn environment(&self) -> [(&'static str, BString); 5] {
        let bytes = |path: &Path| BString::from(path.as_os_str().as_bytes());
        let user = self.home.file_name().unwrap_or(OsStr::new("user"));
        [
            (paths::HOME, bytes(&self.home)),
            (paths::PATH, PATH.into()),
            ("PWD", bytes(&self.start)),
            (paths::SHELL, "/bin/bash".into()),
            ("USER", user.as_bytes().into()),
        ]
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        project::plain(&self.start.join(path))
    }
}

impl Host for AssumedHost {
    fn start(&self) -> &Path {
        &self.start
    }

    fn home(&self) -> &Path {
        &self.home
    }

    fn project(&self) -> Option<&Path> {
        self.project.as_deref()
    }

    fn user(&self) -> u32 {
        if self.home == Path::new("/root") { 0 } else { 1000 }
    }

    /// Only what every login sets, and search paths, which are empty; any other variable may be set as well.
    fn variable(&self, name: &BStr) -> Option<BString> {
        if SEARCH_PATHS.iter().any(|path| name == *path) {
            return Some(BString::default());
        }
        self.environment().into_iter().find(|(known, _)| name == known).map(|(_, value)| value)
    }

    fn variables(&self) -> Vec<BString> {
        self.environment().into_iter().map(|(name, _)| name.into()).collect()
    }

    fn look(&self, path: &Path) -> Look {
        let real = self.absolute(path);
        let is = |known: &&str| real == Path::new(known);
        let kind = if DEVICES.iter().any(is) {
            LookKind::Device
        } else if FOLDERS.iter().any(is) || real == self.start || real == self.home {
            LookKind::Directory
        } else {
            LookKind::Unknown
        };
        Look { real, kind, owner: self.user(), mode: 0, size: 0, links: 0, inode: (0, 0) }
    }

    fn list(&self, _: &Path) -> Option<Vec<BString>> {
        None
    }

    fn read(&self, path: &Path) -> Result<Rc<[u8]>, Unread> {
        match self.look(path).kind {
            LookKind::Directory | LookKind::Device | LookKind::Other => Err(Unread::NotFile),
            LookKind::Missing | LookKind::File | LookKind::Unknown => Err(Unread::Unreadable),
        }
    }

    /// In a system folder, unless a folder of the project or of temp is looked through first.
    fn program(&self, name: &BStr, path: Option<&BStr>) -> Option<PathBuf> {
        let path = path.unwrap_or(BStr::new(PATH));
        let folders =
            path.split(|&byte| byte == b':').map(|folder| self.absolute(Path::new(OsStr::from_bytes(folder))));
        let first = folders.map(|folder| (self.unknown(&folder), folder)).find(|(unknown, folder)| {
            *unknown || paths::SYSTEM_PROGRAMS.iter().any(|system| folder == Path::new(system))
        })?;
        let folder = if first.0 { first.1 } else { PathBuf::from(PROGRAMS) };
        Some(PathBuf::from(std::ffi::OsString::from_vec([folder.as_os_str().as_bytes(), b"/", name.as_ref()].concat())))
    }

    /// What stands there was perhaps made a moment ago, perhaps years ago.
    fn recovery(&self, _: &Path) -> Recovery {
        Recovery::Unknown
    }

    fn reads(&self) -> Vec<FileRead> {
        Vec::new()
    }

    fn assumed(&self) -> bool {
        true
    }
}

impl AssumedHost {
    /// Whether a program of any name may lie in `folder`.
    fn unknown(&self, folder: &Path) -> bool {
        let below = |root: &Path| folder.starts_with(root);
        self.project.as_deref().is_some_and(below)
            || ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|temp| below(Path::new(temp)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_in_system_folders() {
        let host = AssumedHost::new(Path::new("/testbed"), Path::new("/root"));
        let program = |path: Option<&str>| host.program(BStr::new("git"), path.map(BStr::new));
        assert_eq!(program(None), Some("/usr/bin/git".into()));
        assert_eq!(program(Some("/home/user/.cargo/bin:/usr/bin")), Some("/usr/bin/git".into()));
        assert_eq!(program(Some("bin:/usr/bin")), Some("/testbed/bin/git".into()));
        assert_eq!(program(Some("/tmp/x:/usr/bin")), Some("/tmp/x/git".into()));
        assert_eq!(program(Some("/nowhere")), None);
    }

    #[test]
    fn a_home_is_no_project() {
        assert_eq!(AssumedHost::new(Path::new("/root"), Path::new("/root")).project(), None);
        assert_eq!(AssumedHost::new(Path::new("/testbed/"), Path::new("/root")).project(), Some(Path::new("/testbed")));
    }
}
