//! Where vetsh's files are, and the names of environment variables.
//!
//! An installed vetsh has a record beside it, found by `/proc/self/exe`, that names every folder absolutely; then no
//! variable of the environment moves anything. Only a build without a record follows `HOME`, `XDG_*` and `VETSH_*`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// The home folder as the environment gives it.
pub const HOME: &str = "HOME";
/// The folders in which programs are looked for.
pub const PATH: &str = "PATH";
/// The user's login shell.
pub const SHELL: &str = "SHELL";
/// Moves the configuration folder of a build without an install record.
pub const VETSH_CONFIG: &str = "VETSH_CONFIG";
/// Moves the state folder of a build without an install record.
pub const VETSH_STATE: &str = "VETSH_STATE";
/// Moves the runtime folder of a build without an install record.
pub const VETSH_RUNTIME: &str = "VETSH_RUNTIME";

/// The record that `vetsh install` writes beside the shims.
pub const RECORD: &str = "vetsh.install";
/// The policy layer of the system's administrator.
pub const SYSTEM_POLICY: &str = "/etc/vetsh/policy.toml";
/// The policy layer of a project, in its root; also a marker of a project root.
pub const PROJECT_POLICY: &str = ".vetsh.toml";
/// Folders that hold real shells, if they are root's.
pub const SYSTEM_PROGRAMS: [&str; 3] = ["/bin", "/usr/bin", "/usr/local/bin"];
/// The user database.
pub const PASSWD: &str = "/etc/passwd";

/// A record is a few lines; a longer file is not one.
const RECORD_LIMIT: u64 = 64 * 1024;

/// The folders of one vetsh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// Policy and command tables of the user.
    pub config: PathBuf,
    /// Log, tickets, trust, grants, the compiled policy.
    pub state: PathBuf,
    /// Sockets and locks that need not outlive a boot.
    pub runtime: PathBuf,
    /// What the install record says; `None` for a build that is not installed.
    pub record: Option<Record>,
}

/// What `vetsh install` wrote down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The folder of the shims, which holds the record.
    pub shims: PathBuf,
    /// The version that was installed.
    pub version: String,
    /// Effective user id of whoever installed.
    pub user: u32,
    /// That user's home folder.
    pub home: PathBuf,
    /// Real shells by name (`bash`, `sh`, `zsh`, `dash`).
    pub real: Vec<(String, PathBuf)>,
}

/// Why the folders are not known.
#[derive(Debug, thiserror::Error)]
pub enum PathsFault {
    /// `/proc/self/exe` does not lead anywhere.
    #[error("cannot tell where this program is: /proc/self/exe: {0}")]
    Executable(std::io::Error),
    /// The record is there, but cannot be read.
    #[error("cannot read the install record {0}: {1}")]
    Unreadable(PathBuf, std::io::Error),
    /// Somebody else could have written it.
    #[error("{0} is not owned by you or root, or others may write to it; install vetsh again")]
    NotOurs(PathBuf),
    /// It is damaged.
    #[error("the install record {0} lacks `{1}`; install vetsh again")]
    Incomplete(PathBuf, &'static str),
    /// A relative path, a line without a value, or text that is not UTF-8.
    #[error("the install record {0} is damaged in line {1}; install vetsh again")]
    Damaged(PathBuf, usize),
    /// No record, and the environment names no home.
    #[error("no home folder: HOME is not set and the user database has none")]
    NoHome,
}

impl Paths {
    /// Finds the folders: by the record beside the running program, else by the environment.
    pub fn locate() -> Result<Self, PathsFault> {
        Self::locate_beside(&fs::read_link("/proc/self/exe").map_err(PathsFault::Executable)?)
    }

    /// Finds the folders for the program that was started as this file.
    pub fn locate_beside(executable: &Path) -> Result<Self, PathsFault> {
        let folder = executable.parent().unwrap_or(Path::new("/"));
        Self::installed_in(folder)?.map_or_else(Self::from_environment, Ok)
    }

    /// The folders that the record in `folder` names; `None` if there is no record.
    pub fn installed_in(folder: &Path) -> Result<Option<Self>, PathsFault> {
        let found = Record::read(folder)?;
        Ok(found.map(|(record, [config, state, runtime])| Self { config, state, runtime, record: Some(record) }))
    }

    /// The folders that the environment names; only for a build without a record.
    pub fn from_environment() -> Result<Self, PathsFault> {
        let state = named(VETSH_STATE, dirs::state_dir())?;
        let runtime = named(VETSH_RUNTIME, dirs::runtime_dir()).unwrap_or_else(|_| state.join("run"));
        Ok(Self { config: named(VETSH_CONFIG, dirs::config_dir())?, state, runtime, record: None })
    }

    /// Every folder whose content is vetsh's.
    pub fn own(&self) -> Vec<PathBuf> {
        let shims = self.record.iter().map(|record| &record.shims);
        [&self.config, &self.state, &self.runtime].into_iter().chain(shims).cloned().collect()
    }

    /// The user's policy layer.
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.toml")
    }

    /// The user's command tables.
    pub fn commands(&self) -> PathBuf {
        self.config.join("commands")
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.state.join("log.jsonl")
    }

    /// Asks that wait for an answer.
    pub fn tickets(&self) -> PathBuf {
        self.state.join("tickets")
    }

    /// Project policies that the user trusts.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust")
    }

    /// Answers that are kept.
    pub fn grants(&self) -> PathBuf {
        self.state.join("grants")
    }

    /// The compiled command tables of the user.
    pub fn tables_cache(&self) -> PathBuf {
        self.state.join("commands.cache")
    }

    /// The compiled policy.
    pub fn policy_cache(&self) -> PathBuf {
        self.state.join("policy.cache")
    }

    /// Which files allowed commands wrote from the network or out of a decoder.
    pub fn brought(&self) -> PathBuf {
        self.state.join("brought")
    }
}

/// The folder that `variable` names, else `vetsh` below `base`.
fn named(variable: &str, base: Option<PathBuf>) -> Result<PathBuf, PathsFault> {
    let absolute = |path: &PathBuf| path.is_absolute();
    let own = std::env::var_os(variable).map(PathBuf::from).filter(absolute);
    own.or_else(|| base.map(|base| base.join("vetsh"))).ok_or(PathsFault::NoHome)
}

impl Record {
    /// Reads the record in `folder`, with the configuration, state and runtime folders that it names; `None` if there
    /// is none. Folder and file must be the user's or root's and writable by nobody else: whoever can write them
    /// chooses the policy.
    fn read(folder: &Path) -> Result<Option<(Self, [PathBuf; 3])>, PathsFault> {
        let path = folder.join(RECORD);
        let unreadable = |error| PathsFault::Unreadable(path.clone(), error);
        let file = match rustix::fs::open(&path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(unreadable(error.into())),
        };
        let metadata = file.metadata().map_err(unreadable)?;
        if !ours(&metadata) || metadata.len() > RECORD_LIMIT {
            return Err(PathsFault::NotOurs(path));
        }
        if !ours(&fs::metadata(folder).map_err(unreadable)?) {
            return Err(PathsFault::NotOurs(folder.to_path_buf()));
        }
        // Its length is known, so that one read gets it.
        let mut text = vec![0; usize::try_from(metadata.len()).unwrap_or_default()];
        file.read_exact_at(&mut text, 0).map_err(unreadable)?;
        Self::parse(folder, &text).map(Some)
    }

    /// Reads `key value` lines; unknown keys are of a later version and skipped.
    fn parse(folder: &Path, text: &[u8]) -> Result<(Self, [PathBuf; 3]), PathsFault> {
        let path = || folder.join(RECORD);
        let [mut config, mut state, mut runtime, mut home] = [const { None }; 4];
        let (mut version, mut user, mut real) = (None, None, Vec::new());
        for (index, line) in text.split(|&byte| byte == b'\n').enumerate().filter(|(_, line)| !line.is_empty()) {
            let damaged = || PathsFault::Damaged(path(), index + 1);
            let blank = line.iter().position(|&byte| byte == b' ').ok_or_else(damaged)?;
            let (key, value) = line.split_at(blank);
            let value = value.get(1..).unwrap_or_default();
            let folder = || Some(PathBuf::from(OsStr::from_bytes(value))).filter(|path| path.is_absolute());
            match key {
                b"config" => config = Some(folder().ok_or_else(damaged)?),
                b"state" => state = Some(folder().ok_or_else(damaged)?),
                b"runtime" => runtime = Some(folder().ok_or_else(damaged)?),
                b"home" => home = Some(folder().ok_or_else(damaged)?),
                b"version" => version = str::from_utf8(value).ok().map(str::to_owned),
                b"user" => user = str::from_utf8(value).ok().and_then(|value| value.parse().ok()),
                _ => {
                    if let Some(name) = key.strip_prefix(b"real.") {
                        let name = str::from_utf8(name).map_err(|_| damaged())?;
                        real.push((name.to_owned(), folder().ok_or_else(damaged)?));
                    }
                }
            }
        }
        let lacks = |key| PathsFault::Incomplete(path(), key);
        let record = Self {
            shims: folder.to_path_buf(),
            version: version.ok_or_else(|| lacks("version"))?,
            user: user.ok_or_else(|| lacks("user"))?,
            home: home.ok_or_else(|| lacks("home"))?,
            real,
        };
        let folders = [(config, "config"), (state, "state"), (runtime, "runtime")];
        let [config, state, runtime] = folders.map(|(folder, key)| folder.ok_or_else(|| lacks(key)));
        Ok((record, [config?, state?, runtime?]))
    }

    /// The text of the record, with the folders that it names.
    pub fn text(&self, paths: &Paths) -> Vec<u8> {
        let mut text = format!("version {}\nuser {}\n", self.version, self.user).into_bytes();
        let folders = [("home", &self.home), ("config", &paths.config), ("state", &paths.state)];
        let real = self.real.iter().map(|(name, path)| (format!("real.{name}"), path));
        let folders = folders.into_iter().chain([("runtime", &paths.runtime)]);
        for (key, path) in folders.map(|(key, path)| (key.to_owned(), path)).chain(real) {
            text.extend_from_slice(key.as_bytes());
            text.push(b' ');
            text.extend_from_slice(path.as_os_str().as_bytes());
            text.push(b'\n');
        }
        text
    }

    /// The real shell of this name.
    pub fn real(&self, name: &str) -> Option<&Path> {
        self.real.iter().find(|(known, _)| known == name).map(|(_, path)| path.as_path())
    }
}

/// The effective user, asked for once.
pub fn user() -> u32 {
    static USER: OnceLock<u32> = OnceLock::new();
    *USER.get_or_init(|| rustix::process::geteuid().as_raw())
}

/// Whether what `metadata` describes is the effective user's or root's, and nobody else may write to it.
pub fn ours(metadata: &fs::Metadata) -> bool {
    let owner = metadata.uid();
    (owner == 0 || owner == user()) && metadata.mode() & 0o022 == 0
}

/// The home folder that the user database gives `user`. Read directly: name services load code and read configuration.
pub fn home_of(user: u32) -> Option<PathBuf> {
    let passwd = fs::read(PASSWD).ok()?;
    let home = passwd.split(|&byte| byte == b'\n').find_map(|line| {
        let mut fields = line.split(|&byte| byte == b':');
        let id = str::from_utf8(fields.nth(2)?).ok()?.parse::<u32>().ok()?;
        if id == user { fields.nth(2) } else { None }
    })?;
    Some(PathBuf::from(OsStr::from_bytes(home))).filter(|home| home.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Record, Paths) {
        let record = Record {
            shims: "/opt/vetsh".into(),
            version: "0.1.0".into(),
            user: 1000,
            home: "/home/user".into(),
            real: vec![("bash".into(), "/usr/bin/bash".into()), ("sh".into(), "/bin/sh".into())],
        };
        let paths = Paths {
            config: "/home/user/.config/vetsh".into(),
            state: "/home/user/with blank/vetsh".into(),
            runtime: "/run/user/1000/vetsh".into(),
            record: Some(record.clone()),
        };
        (record, paths)
    }

    #[test]
    fn a_record_reads_back() {
        let (record, paths) = example();
        let (read, folders) = Record::parse(Path::new("/opt/vetsh"), &record.text(&paths)).unwrap();
        assert_eq!((read, folders), (record, [paths.config, paths.state, paths.runtime]));
    }

    #[test]
    fn a_damaged_record_is_refused() {
        let (record, paths) = example();
        let text = String::from_utf8(record.text(&paths)).unwrap();
        let fault = |text: &str| Record::parse(Path::new("/opt/vetsh"), text.as_bytes()).unwrap_err().to_string();
        assert_eq!(
            fault(&text.replace("/home/user/.config", "home/user/.config")),
            "the install record /opt/vetsh/vetsh.install is damaged in line 4; install vetsh again"
        );
        assert_eq!(
            fault(&text.replace("state /home/user/with blank/vetsh\n", "")),
            "the install record /opt/vetsh/vetsh.install lacks `state`; install vetsh again"
        );
        assert_eq!(
            fault("version\n"),
            "the install record /opt/vetsh/vetsh.install is damaged in line 1; install vetsh again"
        );
    }

    #[test]
    fn a_record_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (record, paths) = example();
        let path = folder.path().join(RECORD);
        assert_eq!(Record::read(folder.path()).unwrap(), None);
        fs::write(&path, record.text(&paths)).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Record::read(folder.path()).unwrap().is_some());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o664)).unwrap();
        assert!(matches!(Record::read(folder.path()), Err(PathsFault::NotOurs(at)) if at == path));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(Record::read(folder.path()), Err(PathsFault::NotOurs(at)) if at == folder.path()));
    }
}
