//! Where a path lies: project, temp, home, secret, startup, system …
//!
//! The lists are data: `BUILTIN` in `places.rs` and what a policy's `[places]` adds. A glob is `~/x` (below a home),
//! `/x`, or `**/x` (at any depth); `*` and `?` stay within a name; a trailing `/**` takes everything below; `!` before
//! it makes an exception.

use std::path::{Component, Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::effect::Aspect;
use super::places::{BUILTIN, INERT_DEVICES, SYSTEM, TEMP, WHOLE};
use crate::host::{Host, Look, LookKind};

/// The places that are known beside the built-in ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct Places<'a> {
    /// Which place, and the glob of its paths; `project` and `temp` globs name folders, with everything below them.
    pub globs: &'a [(Aspect, String)],
    /// vetsh's own folders.
    pub own: &'a [PathBuf],
}

/// Where one path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    /// Its place; `None` for what keeps nothing (`/dev/null`).
    pub(super) aspect: Option<Aspect>,
    /// It is `/`, a home folder or a system tree itself.
    pub(super) whole: bool,
}

impl Places<'_> {
    /// Where `path` (absolute, without `..`) lies by its name alone.
    pub(super) fn spot(&self, path: &Path, host: &dyn Host) -> Spot {
        let text = bytes(path);
        let whole = is_whole(path, host);
        if let Some(aspect) = self.listed(text, host) {
            return Spot { aspect: Some(aspect), whole };
        }
        Spot { aspect: self.region(path, text, host), whole }
    }

    /// Whether a folder of vetsh's own lies below `folder`.
    pub(super) fn are_below(&self, folder: Option<&Path>) -> bool {
        folder.is_some_and(|folder| self.own.iter().any(|own| own.starts_with(folder)))
    }

    /// The place that lists name for it, the strictest first.
    fn listed(&self, path: &BStr, host: &dyn Host) -> Option<Aspect> {
        if self.own.iter().any(|own| place_holds(own, path)) {
            return Some(Aspect::Vetsh);
        }
        [Aspect::Vetsh, Aspect::Secret, Aspect::Startup].into_iter().find(|aspect| {
            let builtin = BUILTIN.iter().filter(|(of, _)| of == aspect).flat_map(|(_, globs)| globs.iter().copied());
            let added = self.globs.iter().filter(|(of, _)| of == aspect).map(|(_, glob)| glob.as_str());
            // Exceptions count for the list that they stand in, wherever they stand.
            let mut listed = false;
            for glob in builtin.chain(added) {
                match glob.strip_prefix('!') {
                    Some(glob) if matches(glob, path, host) => return false,
                    None => listed = listed || matches(glob, path, host),
                    Some(_) => {}
                }
            }
            listed
        })
    }

    /// The place of a secret or a startup file below the home folder that is the same file under another name.
    pub(super) fn other_name(&self, file: &Look, host: &dyn Host) -> Option<Aspect> {
        let is_it = |path: &Path| {
            let look = host.look(path);
            look.kind == LookKind::File && look.inode == file.inode
        };
        let below = |glob: &str| {
            let (folder, name) = glob.rsplit_once('/').unwrap_or((".", glob));
            let folder = host.home().join(folder);
            if !name.contains('*') {
                return is_it(&folder.join(name));
            }
            let names = if folder.to_string_lossy().contains('*') { None } else { host.list(&folder) };
            names.is_some_and(|names| names.iter().any(|found| is_it(&folder.join(path(found)))))
        };
        let builtin = BUILTIN.iter().flat_map(|(of, globs)| globs.iter().map(move |glob| (*of, *glob)));
        let added = self.globs.iter().map(|(of, glob)| (*of, glob.as_str()));
        let hiding = |aspect: Aspect| matches!(aspect, Aspect::Secret | Aspect::Startup);
        let mut named = builtin.chain(added).filter(|(of, _)| hiding(*of));
        named.find(|(_, glob)| glob.strip_prefix("~/").is_some_and(below)).map(|(of, _)| of)
    }

    fn region(&self, path: &Path, text: &BStr, host: &dyn Host) -> Option<Aspect> {
        if is_below(text, "/dev") && !is_below(text, "/dev/shm") {
            let inert = INERT_DEVICES.iter().any(|device| is_below(text, device));
            return (!inert).then_some(Aspect::Device);
        }
        if text.split(|byte| *byte == b'/').any(|name| name == b".git") {
            return Some(Aspect::Vcs);
        }
        let declared =
            |place: Aspect| self.globs.iter().any(|(aspect, glob)| *aspect == place && holds(glob, text, host));
        if host.project().is_some_and(|root| place_holds(root, text)) || declared(Aspect::Project) {
            return Some(Aspect::Project);
        }
        // A home in a temporary folder is a home all the same.
        let home = path.starts_with(host.home());
        if declared(Aspect::Temp) || is_temp(path) && !(home && is_temp(host.home())) {
            return Some(Aspect::Temp);
        }
        if home || ["/home", "/root", "/Users"].iter().any(|home| is_below(text, home)) {
            return Some(Aspect::Home);
        }
        let system = text == "/" || SYSTEM.iter().any(|tree| is_below(text, tree));
        Some(if system { Aspect::System } else { Aspect::Elsewhere })
    }
}

/// `folder`, which comes from elsewhere and may be written in other ways, is this path or holds it.
fn place_holds(folder: &Path, text: &[u8]) -> bool {
    path(text).starts_with(folder)
}

/// A plain path is this folder or lies in it.
fn is_below(path: &[u8], folder: &str) -> bool {
    path.strip_prefix(folder.as_bytes()).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
}

/// In a folder of installed packages.
pub(super) fn is_installed(path: &Path) -> bool {
    const FOLDERS: &[&str] = &["node_modules", "site-packages", ".venv", "venv", ".tox", ".nox", ".bundle"];
    path.components().any(|part| FOLDERS.iter().any(|folder| part.as_os_str() == *folder))
}

/// Below a temporary folder.
pub(super) fn is_temp(path: &Path) -> bool {
    TEMP.iter().any(|temp| is_below(bytes(path), temp))
}

fn is_whole(path: &Path, host: &dyn Host) -> bool {
    let text = bytes(path);
    let is_name = |name: &[u8]| !name.is_empty() && !name.contains(&b'/');
    let home_of_someone =
        ["/home/", "/Users/"].iter().any(|homes| text.strip_prefix(homes.as_bytes()).is_some_and(is_name));
    text == "/" || home_of_someone || SYSTEM.iter().chain(WHOLE).any(|tree| text == *tree) || path == host.home()
}

/// Which of two places is judged where one path has both.
pub(super) fn stricter(a: Spot, b: Spot) -> Spot {
    const ORDER: &[Aspect] = &[
        Aspect::Vetsh,
        Aspect::Device,
        Aspect::Secret,
        Aspect::Startup,
        Aspect::System,
        Aspect::Vcs,
        Aspect::Elsewhere,
        Aspect::Home,
        Aspect::Project,
        Aspect::Temp,
    ];
    let rank = |spot: Spot| ORDER.iter().position(|aspect| Some(*aspect) == spot.aspect).unwrap_or(ORDER.len());
    let aspect = if rank(a) <= rank(b) { a.aspect } else { b.aspect };
    Spot { aspect, whole: a.whole || b.whole }
}

/// A path with `.` and `..` resolved by name.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::Normal(name) => out.push(name),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// A path of these bytes.
pub(super) fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// The bytes of a path.
pub(super) fn bytes(path: &Path) -> &BStr {
    use std::os::unix::ffi::OsStrExt;
    path.as_os_str().as_bytes().as_bstr()
}

/// The folder that `glob` names is `path` or holds it.
fn holds(glob: &str, path: &BStr, host: &dyn Host) -> bool {
    let folder = glob.trim_end_matches('/').trim_end_matches("/**");
    matches(folder, path, host) || matches(&format!("{folder}/**"), path, host)
}

/// Whether a place's glob matches an absolute path.
pub(super) fn matches(glob: &str, path: &[u8], host: &dyn Host) -> bool {
    if let Some(rest) = glob.strip_prefix("**/") {
        // Most globs are about the last name alone.
        if !rest.contains('/') {
            let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
            return name_matches(rest.as_bytes(), path.get(start..).unwrap_or_default());
        }
        let mut tail = path;
        while let Some(slash) = tail.find_byte(b'/') {
            tail = tail.get(slash + 1..).unwrap_or_default();
            if names_match(rest.as_bytes(), tail) {
                return true;
            }
        }
        return false;
    }
    if let Some(rest) = glob.strip_prefix("~/") {
        return below_home(path, host).is_some_and(|tail| names_match(rest.as_bytes(), tail));
    }
    match (glob.strip_prefix('/'), path.strip_prefix(b"/")) {
        (Some(glob), Some(path)) => names_match(glob.as_bytes(), path),
        _ => false,
    }
}

/// What follows the home folder, ours or another user's, in a path.
pub(super) fn below_home<'a>(path: &'a [u8], host: &dyn Host) -> Option<&'a [u8]> {
    let own = path.strip_prefix(bytes(host.home()).as_bytes()).and_then(|rest| rest.strip_prefix(b"/"));
    let others = || {
        let user = path.strip_prefix(b"/home/").or_else(|| path.strip_prefix(b"/Users/"))?;
        user.find_byte(b'/').and_then(|slash| user.get(slash + 1..))
    };
    own.or_else(|| path.strip_prefix(b"/root/")).or_else(others)
}

/// Matches name by name: `**` at the end takes everything below.
fn names_match(mut glob: &[u8], mut path: &[u8]) -> bool {
    loop {
        if glob == b"**" {
            return true;
        }
        let ((pattern, patterns), (name, names)) = (first_name(glob), first_name(path));
        if !name_matches(pattern, name) {
            return false;
        }
        match (patterns, names) {
            (Some(patterns), Some(names)) => (glob, path) = (patterns, names),
            (patterns, names) => return patterns.is_none() && names.is_none(),
        }
    }
}

/// The first name of a path, and what follows its slash.
fn first_name(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|byte| *byte == b'/') {
        Some(slash) => (path.get(..slash).unwrap_or_default(), path.get(slash + 1..)),
        None => (path, None),
    }
}

/// Matches one name: `*` any bytes, `?` one byte.
pub(super) fn name_matches(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut on) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while on < name.len() {
        match glob.get(at) {
            Some(b'*') => {
                retry = Some((at + 1, on));
                at += 1;
            }
            Some(&byte) if byte == b'?' || name.get(on) == Some(&byte) => {
                at += 1;
                on += 1;
            }
            _ => match retry {
                Some((after, start)) => {
                    retry = Some((after, start + 1));
                    at = after;
                    on = start + 1;
                }
                None => return false,
            },
        }
    }
    glob.get(at..).unwrap_or_default().iter().all(|byte| *byte == b'*')
}

/// A path as it is shown.
pub(super) fn shown(path: &Path) -> BString {
    bytes(path).to_owned()
}
