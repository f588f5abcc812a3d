//! The machine that we run on.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, RawMode, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::brought::Brought;
use super::repository::Repository;
use super::{FileRead, Host, Look, LookKind, Recovery, Unread, Unsaved, Work, project};
use crate::paths::{self, Paths};

/// The most that is read of one file.
const READ_LIMIT: u64 = 1024 * 1024;
/// The most names that are listed of one directory.
const LIST_LIMIT: usize = 65_536;
/// The longest path that the kernel takes.
const PATH_LIMIT: usize = 4096;
/// The most symbolic links followed in one path, as in the kernel.
const LINK_LIMIT: usize = 40;

/// Answers that were given.
type Memo<K, V> = RefCell<BTreeMap<K, V>>;

/// The real machine. Every answer is kept, so that one decision sees one machine.
pub struct RealHost {
    start: PathBuf,
    home: PathBuf,
    project: Option<PathBuf>,
    user: u32,
    environment: OnceCell<Vec<(BString, BString)>>,
    looks: Memo<PathBuf, Look>,
    lists: Memo<PathBuf, Option<Vec<BString>>>,
    contents: Memo<PathBuf, Result<Rc<[u8]>, Unread>>,
    reads: RefCell<Vec<FileRead>>,
    programs: Memo<(BString, Option<BString>), Option<PathBuf>>,
    repositories: Memo<PathBuf, Option<Repository>>,
    /// Where what was brought is written down; `None` for a machine that is only looked at.
    store: Option<PathBuf>,
    brought: OnceCell<Brought>,
}

/// Why the machine cannot be observed.
#[derive(Debug, thiserror::Error)]
pub enum HostFault {
    /// The working directory has no path that we can see.
    #[error("cannot tell the working directory: {0}")]
    Start(std::io::Error),
    /// Nothing names the user's home.
    #[error("user {0} has no home folder in {PASSWD}", PASSWD = paths::PASSWD)]
    Home(u32),
}

impl RealHost {
    /// The machine as this process finds it.
    pub fn here(paths: &Paths) -> Result<Self, HostFault> {
        let user = paths::user();
        let home = home(paths, user).ok_or(HostFault::Home(user))?;
        let (start, there) = start()?;
        let project = if there { project(&start, &home, user) } else { None };
        Ok(Self { store: Some(paths.brought()), ..Self::new(start, home, project, user) })
    }

    /// The machine as a process would find it that was started in `start` (absolute) by somebody with this home.
    pub fn at(start: &Path, home: &Path) -> Self {
        let user = paths::user();
        let start = start.canonicalize().unwrap_or_else(|_| project::plain(start));
        let project = project(&start, home, user);
        Self::new(start, home.to_path_buf(), project, user)
    }

    fn new(start: PathBuf, home: PathBuf, project: Option<PathBuf>, user: u32) -> Self {
        Self {
            start,
            home,
            project,
            user,
            environment: OnceCell::new(),
            looks: RefCell::default(),
            lists: RefCell::default(),
            contents: RefCell::default(),
            reads: RefCell::default(),
            programs: RefCell::default(),
            repositories: RefCell::default(),
            store: None,
            brought: OnceCell::new(),
        }
    }

    /// Gives it another environment than this process has.
    #[must_use]
    pub fn with_environment(mut self, environment: Vec<(BString, BString)>) -> Self {
        self.environment = OnceCell::from(environment);
        self
    }

    fn environment(&self) -> &[(BString, BString)] {
        self.environment.get_or_init(|| {
            std::env::vars_os().map(|(name, value)| (name.into_vec().into(), value.into_vec().into())).collect()
        })
    }

    /// Asks the repository whose working tree holds `folder` (resolved); `None` if there is none that we can read.
    fn in_repository<T>(&self, folder: &Path, ask: impl FnOnce(&Repository) -> T) -> Option<T> {
        let root = Repository::root_of(folder)?;
        let mut repositories = self.repositories.borrow_mut();
        let repository = repositories.entry(root.clone()).or_insert_with(|| Repository::open(&root, self.user));
        repository.as_ref().map(ask)
    }

    /// The path of `path` below the starting directory.
    fn absolute(&self, path: &Path) -> PathBuf {
        if path.is_absolute() { path.to_path_buf() } else { self.start.join(path) }
    }
}

/// The working directory, and whether it still exists. A deleted one keeps its old name: the real shell runs there too,
/// and nothing that is written there can land elsewhere.
fn start() -> Result<(PathBuf, bool), HostFault> {
    match std::env::current_dir() {
        Ok(start) if start.is_absolute() => Ok((start, true)),
        Ok(start) => Err(HostFault::Start(std::io::Error::other(format!("{} is outside of /", start.display())))),
        Err(error) => {
            let link = std::fs::read_link("/proc/self/cwd").map_err(|_| HostFault::Start(error))?;
            let name = link.as_os_str().as_bytes();
            Ok((PathBuf::from(OsStr::from_bytes(name.strip_suffix(b" (deleted)").unwrap_or(name))), false))
        }
    }
}

/// The user's home: from the install record, else from the user database. A build without a record may be told by HOME.
fn home(paths: &Paths, user: u32) -> Option<PathBuf> {
    match &paths.record {
        Some(record) if record.user == user => Some(record.home.clone()),
        Some(_) => paths::home_of(user),
        None => {
            let told = std::env::var_os(paths::HOME).map(PathBuf::from).filter(|home| home.is_absolute());
            told.or_else(|| paths::home_of(user))
        }
    }
}

/// The project root for `start`: both the folder and its marker must be ours.
fn project(start: &Path, home: &Path, user: u32) -> Option<PathBuf> {
    let is_ours = |path: &Path| rustix::fs::lstat(path).is_ok_and(|stat| stat.st_uid == user);
    project::root(start, home, |folder| {
        project::MARKERS.iter().any(|marker| is_ours(&folder.join(marker))) && is_ours(folder)
    })
}

impl Host for RealHost {
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
        self.user
    }

    fn variable(&self, name: &BStr) -> Option<BString> {
        // Without the whole environment in memory the C library's own table answers.
        if self.environment.get().is_none() {
            return std::env::var_os(name.to_os_str().ok()?).map(|value| value.into_vec().into());
        }
        self.environment().iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn variables(&self) -> Vec<BString> {
        self.environment().iter().map(|(name, _)| name.clone()).collect()
    }

    fn look(&self, path: &Path) -> Look {
        if let Some(look) = self.looks.borrow().get(path) {
            return look.clone();
        }
        let look = look(&self.absolute(path));
        self.looks.borrow_mut().insert(path.to_path_buf(), look.clone());
        look
    }

    fn is_link(&self, path: &Path) -> bool {
        rustix::fs::lstat(self.absolute(path))
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    }

    fn list(&self, path: &Path) -> Option<Vec<BString>> {
        if let Some(list) = self.lists.borrow().get(path) {
            return list.clone();
        }
        let names = list(&self.absolute(path));
        self.lists.borrow_mut().insert(path.to_path_buf(), names.clone());
        names
    }

    fn read(&self, path: &Path) -> Result<Rc<[u8]>, Unread> {
        if let Some(content) = self.contents.borrow().get(path) {
            return content.clone();
        }
        let content = read(&self.absolute(path)).map(|(content, look)| {
            // The open file tells where it is, so that nobody needs to open it again for that.
            let real = self.looks.borrow_mut().entry(path.to_path_buf()).or_insert(look).real.clone();
            self.reads.borrow_mut().push(FileRead { path: real, digest: Sha256::digest(&content).into() });
            Rc::from(content)
        });
        self.contents.borrow_mut().insert(path.to_path_buf(), content.clone());
        content
    }

    fn program(&self, name: &BStr, path: Option<&BStr>) -> Option<PathBuf> {
        let key = (name.to_owned(), path.map(BStr::to_owned));
        if let Some(program) = self.programs.borrow().get(&key) {
            return program.clone();
        }
        let folders = match path {
            Some(path) => path.to_owned(),
            None => self.variable(BStr::new(paths::PATH)).unwrap_or_else(|| BString::from(DEFAULT_PATH)),
        };
        let program = folders.split(|&byte| byte == b':').find_map(|folder| {
            let folder = if folder.is_empty() { Path::new(".") } else { Path::new(OsStr::from_bytes(folder)) };
            let file = self.absolute(folder).join(OsStr::from_bytes(name));
            executable(&file).then_some(file)
        });
        self.programs.borrow_mut().insert(key, program.clone());
        program
    }

    fn recovery(&self, path: &Path) -> Recovery {
        // The last part is not followed: deleting a link deletes the link.
        let path = self.absolute(path);
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Recovery::Lost };
        let path = self.look(folder).real.join(name);
        if rustix::fs::lstat(&path).is_err_and(|error| matches!(error, Errno::NOENT | Errno::NOTDIR)) {
            return Recovery::Absent;
        }
        let Some(folder) = path.parent() else { return Recovery::Lost };
        self.in_repository(folder, |repository| repository.recovery(&path)).unwrap_or(Recovery::Lost)
    }

    fn repository(&self, folder: &Path) -> Option<PathBuf> {
        Repository::folder_of(&self.look(folder).real)
    }

    fn tree_of(&self, folder: &Path) -> Option<PathBuf> {
        Repository::root_of(&self.look(folder).real)
    }

    fn unsaved(&self, path: &Path, work: Work) -> Unsaved {
        let look = self.look(path);
        let folder = match look.kind {
            LookKind::Directory => Some(look.real.as_path()),
            LookKind::File => look.real.parent(),
            _ => None,
        };
        let unsaved = folder.and_then(|folder| self.in_repository(folder, |it| it.unsaved(&look.real, work)));
        unsaved.unwrap_or(Unsaved::Unknown)
    }

    fn branch(&self, folder: &Path) -> Option<BString> {
        self.in_repository(&self.look(folder).real, Repository::branch)?
    }

    fn branch_is_kept(&self, folder: &Path, branch: Option<&BStr>) -> Option<bool> {
        self.in_repository(&self.look(folder).real, |repository| repository.branch_is_kept(branch))?
    }

    fn brought(&self, path: &Path) -> bool {
        let Some(store) = &self.store else { return false };
        self.brought.get_or_init(|| Brought::load(store)).holds(&self.absolute(path))
    }

    fn reads(&self) -> Vec<FileRead> {
        self.reads.borrow().clone()
    }

    fn assumed(&self) -> bool {
        false
    }
}

/// What a shell looks through when PATH is not set.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Whether a shell that looks for a program would take this file.
fn executable(file: &Path) -> bool {
    // The effective user decides at exec; one call rules out nearly every folder.
    rustix::fs::accessat(CWD, file, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
        && rustix::fs::stat(file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile)
}

fn list(path: &Path) -> Option<Vec<BString>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path).ok()? {
        if names.len() == LIST_LIMIT {
            return None;
        }
        names.push(entry.ok()?.file_name().into_vec().into());
    }
    names.sort_unstable();
    Some(names)
}

fn read(path: &Path) -> Result<(Vec<u8>, Look), Unread> {
    // A pipe must not make us wait, nor a terminal become ours.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR => Unread::Missing,
        _ => Unread::Unreadable,
    })?);
    let stat = rustix::fs::fstat(&file).map_err(|_| Unread::Unreadable)?;
    let look = seen(real_path(&file, path), &stat);
    if look.kind != LookKind::File {
        return Err(Unread::NotFile);
    }
    if look.size > READ_LIMIT {
        return Err(Unread::TooLarge);
    }
    let mut content = Vec::with_capacity(usize::try_from(look.size).unwrap_or_default() + 1);
    file.take(READ_LIMIT + 1).read_to_end(&mut content).map_err(|_| Unread::Unreadable)?;
    if content.len() as u64 > READ_LIMIT { Err(Unread::TooLarge) } else { Ok((content, look)) }
}

/// The path of an open file. What has none (a pipe behind /dev/stdin) keeps the one that it was asked by.
fn real_path(file: &impl AsRawFd, path: &Path) -> PathBuf {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.ok().filter(|real| real.is_absolute()).unwrap_or_else(|| project::plain(path))
}

fn look(path: &Path) -> Look {
    // No program can reach it by this name either.
    if path.as_os_str().len() >= PATH_LIMIT {
        return nothing(project::plain(path), LookKind::Unknown);
    }
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(file) => {
            let real = real_path(&file, path);
            rustix::fs::fstat(&file)
                .map_or_else(|_| nothing(real.clone(), LookKind::Unknown), |stat| seen(real.clone(), &stat))
        }
        Err(Errno::NOENT | Errno::NOTDIR) => nothing(follow(path), LookKind::Missing),
        Err(_) => nothing(follow(path), LookKind::Unknown),
    }
}

fn seen(real: PathBuf, stat: &Stat) -> Look {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => LookKind::File,
        FileType::Directory => LookKind::Directory,
        FileType::BlockDevice | FileType::CharacterDevice => LookKind::Device,
        FileType::Symlink | FileType::Fifo | FileType::Socket | FileType::Unknown => LookKind::Other,
    };
    let mode: RawMode = stat.st_mode & 0o7777;
    Look {
        real,
        kind,
        owner: stat.st_uid,
        mode,
        size: u64::try_from(stat.st_size).unwrap_or_default(),
        links: links(stat),
        inode: (stat.st_dev, stat.st_ino),
    }
}

/// The count is 32 bits wide on some machines and 64 on others.
#[allow(clippy::useless_conversion)]
fn links(stat: &Stat) -> u64 {
    u64::from(stat.st_nlink)
}

fn nothing(real: PathBuf, kind: LookKind) -> Look {
    Look { real, kind, owner: 0, mode: 0, size: 0, links: 0, inode: (0, 0) }
}

/// Where a path leads whose last part does not exist: symbolic links are followed as far as there are any, since
/// writing through a dangling one creates its target.
fn follow(path: &Path) -> PathBuf {
    let mut real = PathBuf::from("/");
    let mut rest: Vec<BString> = parts(path);
    let mut followed = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(OsStr::from_bytes(&part));
        match std::fs::read_link(&next) {
            Ok(target) if followed < LINK_LIMIT => {
                followed += 1;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(parts(&target));
            }
            _ => real = next,
        }
    }
    real
}

/// The names in a path, last first.
fn parts(path: &Path) -> Vec<BString> {
    let mut parts: Vec<BString> = path
        .components()
        .filter_map(|component| match component {
            Component::Normal(name) => Some(name.as_bytes().into()),
            Component::ParentDir => Some("..".into()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
        })
        .collect();
    parts.reverse();
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn what_stands_at_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/file"), "text").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("a/nothing/yet", root.join("dangling")).unwrap();
        let host = RealHost::at(&root, Path::new("/home/none"));
        let found = |path: &str| {
            let look = host.look(&root.join(path));
            (look.real.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), look.kind, look.size)
        };
        assert_eq!(found("link/file"), ("a/file".into(), LookKind::File, 4));
        assert_eq!(found("link/b/../file"), ("a/file".into(), LookKind::File, 4));
        assert_eq!(found("dangling").0, "a/nothing/yet");
        assert_eq!(found("dangling").1, LookKind::Missing);
        assert_eq!(found("link/new/file"), ("a/new/file".into(), LookKind::Missing, 0));
        assert_eq!(host.look(Path::new("/dev/null")).kind, LookKind::Device);
        fs::remove_file(root.join("a/file")).unwrap();
        assert_eq!(found("link/file").1, LookKind::File, "an answer does not change within one decision");
    }

    #[test]
    fn files_are_read_once_and_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("script"), "true\n").unwrap();
        fs::write(root.join("big"), vec![b' '; 1024 * 1024 + 1]).unwrap();
        let host = RealHost::at(&root, Path::new("/home/none"));
        assert_eq!(host.read(&root.join("script")).unwrap().as_ref(), b"true\n");
        fs::write(root.join("script"), "false\n").unwrap();
        assert_eq!(host.read(&root.join("script")).unwrap().as_ref(), b"true\n");
        assert_eq!(host.read(&root.join("big")), Err(Unread::TooLarge));
        assert_eq!(host.read(&root.join("none")), Err(Unread::Missing));
        assert_eq!(host.read(&root), Err(Unread::NotFile));
        let digest = Sha256::digest(b"true\n").into();
        assert_eq!(host.reads(), [FileRead { path: root.join("script"), digest }]);
    }

    #[test]
    fn programs_are_found_by_the_path_of_the_command() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for (name, mode) in [("one", 0o755), ("two", 0o644)] {
            fs::write(root.join(name), "").unwrap();
            fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let host = RealHost::at(&root, Path::new("/home/none"));
        let path = BString::from(format!("/nowhere:{}", root.display()));
        assert_eq!(host.program(BStr::new("one"), Some(path.as_ref())), Some(root.join("one")));
        assert_eq!(host.program(BStr::new("two"), Some(path.as_ref())), None);
        assert_eq!(host.program(BStr::new("one"), Some(BStr::new("/nowhere:"))), Some(root.join("./one")));
    }
}
