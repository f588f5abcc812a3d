//! A machine for tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};
use vetsh::host::{FileRead, Host, Look, LookKind, Recovery, Unread};

/// A machine that is a table: files with their content, variables, what git has.
pub struct Machine {
    pub files: BTreeMap<PathBuf, &'static str>,
    pub folders: Vec<PathBuf>,
    pub links: BTreeMap<PathBuf, PathBuf>,
    pub variables: BTreeMap<BString, BString>,
    pub tracked: Vec<PathBuf>,
    pub ignored: Vec<PathBuf>,
    pub missing: Vec<&'static str>,
}

impl Default for Machine {
    fn default() -> Self {
        let folders =
            ["/", "/tmp", "/etc", "/usr", "/home", "/home/u", "/home/u/p", "/home/u/p/src", "/home/u/p/build"];
        let variables = [("HOME", "/home/u"), ("PATH", "/usr/bin:/bin"), ("USER", "u")];
        Self {
            files: BTreeMap::from([
                ("/home/u/p/src/a.rs".into(), ""),
                ("/home/u/p/notes.txt".into(), ""),
                ("/home/u/p/run.sh".into(), "#!/bin/sh\nrm -rf \"$1\"\n"),
                ("/home/u/p/tool.py".into(), "#!/usr/bin/env python3\nprint(1)\n"),
                ("/home/u/p/env.sh".into(), "TARGET=/etc\n"),
            ]),
            folders: folders.map(PathBuf::from).to_vec(),
            links: BTreeMap::from([("/home/u/p/outside".into(), "/etc".into())]),
            variables: variables.map(|(name, value)| (name.into(), value.into())).into(),
            tracked: vec!["/home/u/p/src/a.rs".into()],
            ignored: vec!["/home/u/p/build".into(), "/home/u/p/kept.log".into()],
            missing: vec!["nosuchprogram"],
        }
    }
}

impl Machine {
    fn plain(&self, path: &Path) -> PathBuf {
        let mut out = PathBuf::from("/");
        for part in path.components().skip(1) {
            match part.as_os_str().as_encoded_bytes() {
                b".." => {
                    out.pop();
                }
                b"." => {}
                _ => out.push(part),
            }
            if let Some(to) = self.links.get(&out) {
                out.clone_from(to);
            }
        }
        out
    }
}

impl Host for Machine {
    fn start(&self) -> &Path {
        Path::new("/home/u/p")
    }
    fn home(&self) -> &Path {
        Path::new("/home/u")
    }
    fn project(&self) -> Option<&Path> {
        Some(Path::new("/home/u/p"))
    }
    fn user(&self) -> u32 {
        1000
    }
    fn variable(&self, name: &BStr) -> Option<BString> {
        self.variables.get(name).cloned()
    }
    fn variables(&self) -> Vec<BString> {
        self.variables.keys().cloned().collect()
    }
    fn look(&self, path: &Path) -> Look {
        let real = self.plain(path);
        let kind = if self.folders.contains(&real) {
            LookKind::Directory
        } else if self.files.contains_key(&real) {
            LookKind::File
        } else {
            LookKind::Missing
        };
        Look { real, kind, owner: 1000, mode: 0o644, size: 0, links: 1, inode: (0, 0) }
    }
    fn list(&self, folder: &Path) -> Option<Vec<BString>> {
        let all = self.files.keys().chain(&self.folders).filter(|path| path.parent() == Some(folder));
        Some(all.filter_map(|path| Some(path.file_name()?.as_encoded_bytes().into())).collect())
    }
    fn read(&self, path: &Path) -> Result<Rc<[u8]>, Unread> {
        self.files.get(path).map(|text| text.as_bytes().into()).ok_or(Unread::Missing)
    }
    fn program(&self, name: &BStr, path: Option<&BStr>) -> Option<PathBuf> {
        let name = name.to_str().unwrap();
        let own = path.filter(|path| path.starts_with(b"/home/u/p")).map(|_| Path::new("/home/u/p").join(name));
        own.filter(|own| self.files.contains_key(own))
            .or_else(|| (!self.missing.contains(&name)).then(|| Path::new("/usr/bin").join(name)))
    }
    fn recovery(&self, path: &Path) -> Recovery {
        let is = |list: &[PathBuf]| list.iter().any(|known| path.starts_with(known));
        if is(&self.tracked) {
            Recovery::Tracked
        } else if is(&self.ignored) {
            Recovery::Ignored
        } else if self.files.contains_key(path) || self.folders.iter().any(|folder| folder == path) {
            Recovery::Lost
        } else {
            Recovery::Absent
        }
    }
    fn reads(&self) -> Vec<FileRead> {
        Vec::new()
    }
    fn assumed(&self) -> bool {
        false
    }
}
