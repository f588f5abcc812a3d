//! `.gitignore` rules.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;

use bstr::{BString, ByteSlice};
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// The rules of each folder that was asked about.
#[derive(Default)]
pub(super) struct Cache {
    folders: RefCell<HashMap<BString, Option<Rc<Gitignore>>>>,
}

impl Cache {
    /// Whether `name` (relative to the root) is ignored; `rules` gives the content of a folder's `.gitignore`.
    ///
    /// A folder that is ignored takes everything in it along; nothing below can be taken back.
    pub(super) fn is_ignored(&self, name: &[u8], is_folder: bool, rules: impl Fn(&[u8]) -> Option<Vec<u8>>) -> bool {
        let ends = name.find_iter(b"/").chain([name.len()]);
        ends.map(|end| (name.get(..end).unwrap_or_default(), is_folder || end < name.len()))
            .any(|(part, is_folder)| self.is_named(part, is_folder, &rules))
    }

    /// Whether a rule names exactly this path; the nearest folder's last word counts.
    fn is_named(&self, name: &[u8], is_folder: bool, rules: &impl Fn(&[u8]) -> Option<Vec<u8>>) -> bool {
        let folders = name.rfind_iter(b"/").map(|end| name.get(..end).unwrap_or_default()).chain([&b""[..]]);
        for folder in folders {
            let path = if folder.is_empty() { name } else { name.get(folder.len() + 1..).unwrap_or_default() };
            let Some(rules) = self.rules(folder, rules) else { continue };
            match rules.matched(Path::new(OsStr::from_bytes(path)), is_folder) {
                Match::None => {}
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
            }
        }
        false
    }

    fn rules(&self, folder: &[u8], rules: &impl Fn(&[u8]) -> Option<Vec<u8>>) -> Option<Rc<Gitignore>> {
        let mut folders = self.folders.borrow_mut();
        folders.entry(folder.into()).or_insert_with(|| compile(&rules(folder)?).map(Rc::new)).clone()
    }
}

/// A rule that is not understood leaves its files unignored, as in git.
fn compile(rules: &[u8]) -> Option<Gitignore> {
    let mut builder = GitignoreBuilder::new("");
    for line in rules.lines() {
        if let Ok(line) = line.to_str() {
            let _ = builder.add_line(None, line);
        }
    }
    builder.build().ok()
}
