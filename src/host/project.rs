//! Which folder is the project.

use std::path::{Component, Path, PathBuf};

use crate::paths;

/// A folder that holds one of these is a project root.
pub(super) const MARKERS: [&str; 2] = [".git", paths::PROJECT_POLICY];

/// Trees of the system: no project is one of them or lies in one.
const SYSTEM: [&str; 14] = [
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr",
    "/var",
];

/// Folders that are no project themselves, but hold some: parts of the system where work is put, homes, temp.
const SHELVES: [&str; 13] = [
    "/usr/src",
    "/usr/local/src",
    "/var/www",
    "/var/tmp",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
    "/home",
    "/root",
    "/Users",
    "/tmp",
    "/dev/shm",
];

/// The project root for `start`: the nearest folder upwards for which `marked` says that it holds a marker and is
/// ours, else `start` itself; never a banned one.
pub(super) fn root(start: &Path, home: &Path, marked: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let found = start.ancestors().filter(|folder| !banned(folder, home)).find(|folder| marked(folder));
    found.or_else(|| Some(start).filter(|start| !banned(start, home))).map(Path::to_path_buf)
}

/// Whether `folder` can be no project: `/`, a home, temp, a system tree, or an ancestor of one.
fn banned(folder: &Path, home: &Path) -> bool {
    let home_itself = home.starts_with(folder) || folder.parent() == Some(Path::new("/home"));
    let shelf = SHELVES.iter().map(Path::new);
    let on_shelf = |shelf: &Path| folder != shelf && folder.starts_with(shelf);
    home_itself
        || shelf.clone().any(|shelf| shelf.starts_with(folder))
        || (SYSTEM.iter().any(|tree| folder.starts_with(tree)) && !shelf.clone().any(on_shelf))
}

/// `path` without `.`, `..` and doubled slashes, as text alone can tell.
pub(super) fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => plain.push(name),
            Component::ParentDir => {
                plain.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_marker_above_the_start() {
        let home = Path::new("/home/user");
        let marked = |marker: &'static str| move |folder: &Path| folder == Path::new(marker);
        let root = |start: &str, marker| root(Path::new(start), home, marked(marker));
        assert_eq!(root("/home/user/code/src", "/home/user/code"), Some("/home/user/code".into()));
        assert_eq!(
            root("/home/user/code/src", "/home/user"),
            Some("/home/user/code/src".into()),
            "a home is no project"
        );
        assert_eq!(root("/home/user", "/home/user"), None);
        assert_eq!(root("/home/bob", "/home/bob"), None, "nor is another's");
        assert_eq!(root("/", "/"), None);
        assert_eq!(root("/tmp", "/tmp"), None);
        assert_eq!(root("/tmp/x", "/none"), Some("/tmp/x".into()));
        assert_eq!(root("/etc/nginx", "/etc"), None);
        assert_eq!(root("/usr/src/app/lib", "/usr/src/app"), Some("/usr/src/app".into()));
        assert_eq!(root("/usr/src", "/none"), None);
        assert_eq!(root("/var/lib/thing", "/var/lib/thing"), None);
        assert_eq!(root("/testbed", "/none"), Some("/testbed".into()));
    }

    #[test]
    fn dots_are_taken_out() {
        assert_eq!(plain(Path::new("/a/./b//../c/../../../d")), Path::new("/d"));
    }
}
