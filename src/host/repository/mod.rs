//! What a git repository could give back, read from its files by our own code: running git would run what its
//! configuration names.
//!
//! A file is recoverable if its content is what the index holds and the index holds what HEAD holds. Whatever is not
//! understood (a split or sparse index, SHA-256 objects, reftables, a filter that changes contents) is "not recoverable":
//! that only makes vetsh ask.

mod ignored;
mod index;
mod object;
mod reference;
mod unsaved;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bstr::{BString, ByteSlice};
use sha1::{Digest, Sha1};

use self::index::{Entry, Index};
use self::object::{Id, Objects};
use self::reference::References;
use super::Recovery;

/// A tree with more files than this is not looked through.
const FILE_LIMIT: usize = 5_000;
/// A larger file is not hashed.
const HASH_LIMIT: u64 = 64 * 1024 * 1024;

/// A work tree and what its repository knows.
pub(super) struct Repository {
    root: PathBuf,
    index: Index,
    objects: Objects,
    references: References,
    /// The tree of HEAD's commit.
    head: Option<Id>,
    /// Entries of HEAD's trees by folder, as far as they were asked for.
    trees: RefCell<HashMap<BString, Option<Tree>>>,
    ignored: OnceCell<ignored::Cache>,
}

/// Name, mode and object of each entry.
type Tree = Vec<(BString, u32, Id)>;

impl Repository {
    /// The root of the work tree that `folder` (absolute, resolved) is or lies in; a repository without one ends the search.
    pub(super) fn root_of(folder: &Path) -> Option<PathBuf> {
        let found = folder.ancestors().find(|folder| holds(folder, ".git") || is_bare(folder))?;
        holds(found, ".git").then(|| found.to_path_buf())
    }

    /// The folder of the repository that git would use in `folder`, the one that its working trees share.
    pub(super) fn folder_of(folder: &Path) -> Option<PathBuf> {
        let (own, plain) = folder.ancestors().find_map(|folder| {
            let git = folder.join(".git");
            match fs::symlink_metadata(&git) {
                Ok(found) if found.is_dir() => Some(Some((git, true))),
                Ok(_) => Some(git_folder(folder).map(|own| (own, false))),
                Err(_) => is_bare(folder).then(|| Some((folder.to_path_buf(), true))),
            }
        })??;
        let shared = common(&own);
        // A plain folder below one that is resolved needs no look at each of its parents.
        if plain && shared == own { Some(shared) } else { fs::canonicalize(shared).ok() }
    }

    /// Opens the repository of the work tree at `root`; `None` if it is of a kind that we do not read, or somebody
    /// else's than `user`: git itself does not work in it, and what it says may be made up.
    pub(super) fn open(root: &Path, user: u32) -> Option<Self> {
        let folder = git_folder(root)?;
        if fs::metadata(&folder).ok()?.uid() != user {
            return None;
        }
        let common = common(&folder);
        let config = fs::read(common.join("config")).unwrap_or_default().to_ascii_lowercase();
        if config.contains_str("objectformat") || config.contains_str("refstorage") {
            return None;
        }
        let index = Index::read(&folder.join("index"))?;
        let objects = Objects::new(&common);
        let references = References::new(&folder, &common);
        let head = references.head().and_then(|commit| objects.tree_of(commit));
        let trees = RefCell::default();
        Some(Self { root: root.to_path_buf(), index, objects, references, head, trees, ignored: OnceCell::new() })
    }

    /// Whether what stands at `path`, itself and not what a link leads to, could be had back.
    pub(super) fn recovery(&self, path: &Path) -> Recovery {
        let Ok(inner) = path.strip_prefix(&self.root) else { return Recovery::Lost };
        let Ok(metadata) = fs::symlink_metadata(path) else { return Recovery::Absent };
        let name = inner.as_os_str().as_bytes();
        if name.is_empty() || inner.components().any(|part| part.as_os_str() == ".git") {
            return Recovery::Lost;
        }
        let tracked = if metadata.is_dir() {
            let mut files = 0;
            self.tree_is_kept(path, name, &mut files)
        } else {
            self.file_is_kept(path, name, &metadata)
        };
        if tracked {
            Recovery::Tracked
        } else if !self.index.holds_below(name)
            && self.is_ignored(name, metadata.is_dir())
            && !(metadata.is_dir() && unsaved::holds_repository(path))
        {
            Recovery::Ignored
        } else {
            Recovery::Lost
        }
    }

    /// Whether every file below `folder` is kept.
    fn tree_is_kept(&self, folder: &Path, name: &[u8], files: &mut usize) -> bool {
        let Ok(entries) = fs::read_dir(folder) else { return false };
        entries.into_iter().all(|entry| {
            *files += 1;
            let Ok(entry) = entry else { return false };
            let (Ok(metadata), file) = (entry.metadata(), entry.file_name().into_vec()) else { return false };
            let name = [name, b"/", &file].concat();
            *files <= FILE_LIMIT
                && file != b".git"
                && if metadata.is_dir() {
                    self.tree_is_kept(&entry.path(), &name, files)
                } else {
                    self.file_is_kept(&entry.path(), &name, &metadata)
                }
        })
    }

    /// Whether the file is what the index holds, and the index what HEAD holds.
    fn file_is_kept(&self, path: &Path, name: &[u8], metadata: &Metadata) -> bool {
        let Some(entry) = self.index.find(name) else { return false };
        let link = metadata.file_type().is_symlink();
        if entry.is_link() != link || !(link || metadata.is_file()) {
            return false;
        }
        let unchanged = self.index.is_fresh(entry, metadata) || blob(path, metadata).is_some_and(|id| id == entry.id);
        unchanged && self.in_head(name).is_some_and(|(_, id)| id == entry.id)
    }

    /// Mode and object of a path in HEAD.
    fn in_head(&self, name: &[u8]) -> Option<(u32, Id)> {
        let (folder, file) = match name.rfind_byte(b'/') {
            Some(at) => (name.get(..at)?, name.get(at + 1..)?),
            None => (&b""[..], name),
        };
        self.with_tree(folder, |tree| tree.iter().find(|(known, ..)| known == file).map(|(_, mode, id)| (*mode, *id)))?
    }

    /// Asks HEAD's tree of `folder`.
    fn with_tree<T>(&self, folder: &[u8], ask: impl FnOnce(&Tree) -> T) -> Option<T> {
        if !self.trees.borrow().contains_key(folder.as_bstr()) {
            let id = if folder.is_empty() { self.head } else { self.in_head(folder).map(|(_, id)| id) };
            let tree = id.and_then(|id| self.objects.tree(id));
            self.trees.borrow_mut().insert(folder.into(), tree);
        }
        self.trees.borrow().get(folder.as_bstr())?.as_ref().map(ask)
    }

    /// Whether the `.gitignore` files of HEAD say that the path is nobody's work.
    fn is_ignored(&self, name: &[u8], is_folder: bool) -> bool {
        let rules = |folder: &[u8]| {
            let file = if folder.is_empty() { b".gitignore".to_vec() } else { [folder, b"/.gitignore"].concat() };
            self.in_head(&file).and_then(|(_, id)| self.objects.blob(id))
        };
        self.ignored.get_or_init(ignored::Cache::default).is_ignored(name, is_folder, rules)
    }
}

/// The repository's folder: `.git` itself, or what a file of that name points at.
fn git_folder(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    if fs::metadata(&git).ok()?.is_dir() {
        return Some(git);
    }
    let pointer = fs::read(&git).ok()?;
    Some(root.join(bytes_path(pointer.strip_prefix(b"gitdir: ")?.trim_ascii_end())))
}

fn holds(folder: &Path, name: &str) -> bool {
    fs::symlink_metadata(folder.join(name)).is_ok()
}

/// A repository itself, not a working tree.
fn is_bare(folder: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| holds(folder, name))
}

/// What the working trees of a repository share.
fn common(folder: &Path) -> PathBuf {
    match fs::read(folder.join("commondir")) {
        Ok(common) => folder.join(bytes_path(common.trim_ascii_end())),
        Err(_) => folder.to_path_buf(),
    }
}

fn bytes_path(bytes: &[u8]) -> &Path {
    Path::new(std::ffi::OsStr::from_bytes(bytes))
}

/// The object that a file's content would be, without filters.
fn blob(path: &Path, metadata: &Metadata) -> Option<Id> {
    if metadata.size() > HASH_LIMIT {
        return None;
    }
    let content = if metadata.file_type().is_symlink() {
        fs::read_link(path).ok()?.into_os_string().into_vec()
    } else {
        fs::read(path).ok()?
    };
    let header = format!("blob {}\0", content.len());
    Some(Sha1::new().chain_update(header).chain_update(content).finalize().into())
}

impl Entry {
    fn is_link(&self) -> bool {
        self.mode & 0o170_000 == 0o120_000
    }

    /// A submodule: its work is its own repository's.
    fn is_repository(&self) -> bool {
        self.mode & 0o170_000 == 0o160_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A repository made by git itself.
    struct Example(tempfile::TempDir);

    impl Example {
        fn new() -> Self {
            let example = Self(tempfile::tempdir().unwrap());
            example.git("init -q");
            example.write(".gitignore", "/build/\n*.log\n!keep.log\n");
            example.write("src/a.rs", "fn a() {}\n");
            example.write("src/deep/b.rs", "fn b() {}\n");
            example.write("changed.txt", "before\n");
            example.git("add -A");
            example.git("commit -q -m one");
            example.write("build/out.o", "object\n");
            example.write("x.log", "log\n");
            example.write("keep.log", "kept\n");
            example.write("changed.txt", "after\n");
            example.write("staged.txt", "staged\n");
            example.git("add staged.txt");
            example.write("new.txt", "new\n");
            example
        }

        fn git(&self, arguments: &str) {
            let mut git = Command::new("git");
            git.current_dir(self.0.path()).env("HOME", "/nonexistent").env("GIT_CONFIG_NOSYSTEM", "1");
            git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(arguments.split(' '));
            assert!(git.status().unwrap().success(), "git {arguments}");
        }

        fn write(&self, name: &str, content: &str) {
            let path = self.0.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }

        fn recovery(&self, name: &str) -> Recovery {
            let root = self.0.path().canonicalize().unwrap();
            assert_eq!(Repository::root_of(&root.join("src")), Some(root.clone()));
            Repository::open(&root, rustix::process::geteuid().as_raw()).unwrap().recovery(&root.join(name))
        }

        fn all(&self) -> Vec<(&'static str, Recovery)> {
            let names = [
                "src/a.rs",
                "src",
                "changed.txt",
                "staged.txt",
                "new.txt",
                "build",
                "build/out.o",
                "x.log",
                "keep.log",
                "nothing",
                ".git",
                ".git/config",
            ];
            names.map(|name| (name, self.recovery(name))).to_vec()
        }
    }

    const EXPECTED: [(&str, Recovery); 12] = [
        ("src/a.rs", Recovery::Tracked),
        ("src", Recovery::Tracked),
        ("changed.txt", Recovery::Lost),
        ("staged.txt", Recovery::Lost),
        ("new.txt", Recovery::Lost),
        ("build", Recovery::Ignored),
        ("build/out.o", Recovery::Ignored),
        ("x.log", Recovery::Ignored),
        ("keep.log", Recovery::Lost),
        ("nothing", Recovery::Absent),
        (".git", Recovery::Lost),
        (".git/config", Recovery::Lost),
    ];

    #[test]
    fn what_git_could_give_back() {
        let example = Example::new();
        assert_eq!(example.all(), EXPECTED);
        example.git("update-index --index-version 4");
        assert_eq!(example.all(), EXPECTED, "with an index of version 4");
        example.git("repack -a -d -q");
        example.git("pack-refs --all");
        assert_eq!(example.all(), EXPECTED, "with packed objects and references");
    }

    #[test]
    fn differences_in_packs_are_applied() {
        let example = Example::new();
        for number in 0..60 {
            example.write(&format!("many/{number}.txt"), &"text\n".repeat(number));
            if number % 20 == 0 {
                example.git("add many");
                example.git("commit -q -m more");
            }
        }
        example.git("add many");
        example.git("commit -q -m all");
        example.git("gc -q --aggressive --prune=now");
        assert_eq!(example.recovery("many"), Recovery::Tracked);
        example.write("many/7.txt", "other\n");
        assert_eq!(example.recovery("many"), Recovery::Lost);
    }

    #[test]
    fn the_ignore_rules_are_those_of_head() {
        let example = Example::new();
        example.write(".gitignore", "*\n");
        assert_eq!(example.recovery("new.txt"), Recovery::Lost);
    }

    #[test]
    fn a_linked_work_tree_is_a_repository_too() {
        let example = Example::new();
        example.git("worktree add -q linked");
        let linked = example.0.path().canonicalize().unwrap().join("linked");
        let repository = Repository::open(&linked, rustix::process::geteuid().as_raw()).unwrap();
        assert_eq!(repository.recovery(&linked.join("src/a.rs")), Recovery::Tracked);
    }
}
