//! Compiled layers kept in files, so that a start parses no TOML and reads only the rules of the programs it sees.
//!
//! Layout: a header of numbers, the core, the index. A cache that is missing, damaged, of another build or of another
//! state of its layer is compiled anew; one that cannot be written is no error.

use std::cell::OnceCell;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;

use crate::policy::index::{Bytes, Index, Rules, checksum, encode};
use crate::policy::{Core, Fault, Key, Rule, builtin};

use super::open::Stamp;

/// Where one layer's compiled form is kept.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    pub(super) path: PathBuf,
    /// Whose it has to be: whoever can write it decides what the layer says.
    pub(super) owner: u32,
}

/// The first bytes of every cache.
const MAGIC: u64 = u64::from_le_bytes(*b"vetshpc1");
/// Magic, build, stamp, length and checksum of the core, number of slots.
const HEADER: usize = 12 * 8;
/// Read at once: all of a policy written by hand, header and core of any.
const HEAD: usize = 16 * 1024;
/// A layer younger than this may change again without its times telling.
const YOUNG: i64 = 2;
/// A core is a few tables.
const LARGEST_CORE: u64 = 16 << 20;

/// An open cache.
#[derive(Debug)]
struct CacheFile {
    file: File,
    head: Vec<u8>,
    /// Where the index begins.
    start: u64,
}

/// Rules from a cache, or from the layer itself once the cache turns out damaged.
struct Cached<R> {
    index: Index,
    recompile: R,
    fresh: OnceCell<Index>,
}

impl Slot {
    /// The compiled form of the layer with this stamp. `recompile` is called if its rules turn out damaged.
    pub(super) fn read<R>(&self, stamp: Stamp, recompile: R) -> Option<(Core, Box<dyn Rules>)>
    where
        R: Fn() -> Result<Vec<Rule>, Fault> + 'static,
    {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::open(&self.path, flags, rustix::fs::Mode::empty()).ok().map(File::from)?;
        let metadata = file.metadata().ok()?;
        let ours = metadata.is_file() && metadata.uid() == self.owner && metadata.mode() & 0o022 == 0;
        if !ours {
            return None;
        }
        let mut head = vec![0; HEAD.min(usize::try_from(metadata.len()).ok()?)];
        file.read_exact_at(&mut head, 0).ok()?;
        let header = head.get(..HEADER)?.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let header = header.collect::<Vec<_>>();
        let (known, place) = header.split_at_checked(9)?;
        let expected = [MAGIC, builtin::BUILD].into_iter().chain(stamp.0);
        let &[length, sum, slots] = place else {
            return None;
        };
        if !known.iter().copied().eq(expected) || length > LARGEST_CORE {
            return None;
        }
        let cache = CacheFile { file, head, start: HEADER as u64 + length };
        let core = cache.at(HEADER as u64, usize::try_from(length).ok()?).ok()?;
        if checksum(&core) != sum {
            return None;
        }
        let core = postcard::from_bytes(&core).ok()?;
        let index = Index::new(Box::new(cache), u32::try_from(slots).ok()?);
        Some((core, Box::new(Cached { index, recompile, fresh: OnceCell::new() })))
    }

    /// Keeps a compiled layer. What cannot be kept is compiled again at the next start.
    pub(super) fn write(&self, stamp: Stamp, core: &Core, rules: &[Rule]) {
        let _ = self.try_write(stamp, core, rules);
    }

    fn try_write(&self, stamp: Stamp, core: &Core, rules: &[Rule]) -> Result<(), Fault> {
        let (index, slots) = encode(rules)?;
        let core = postcard::to_allocvec(core).map_err(|_| Fault::Encode)?;
        let place = [core.len() as u64, checksum(&core), u64::from(slots)];
        let header = [MAGIC, builtin::BUILD].into_iter().chain(stamp.0).chain(place);
        let header = header.flat_map(u64::to_le_bytes).collect::<Vec<_>>();
        let folder = self.path.parent().ok_or(Fault::Encode)?;
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let new = self.path.with_extension(format!("{}.new", std::process::id()));
        let written = write_new(&new, &[&header, &core, &index]).and_then(|()| fs::rename(&new, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        Ok(written?)
    }
}

impl Stamp {
    /// The layer's file may still change without its times telling.
    pub(super) fn is_young(self) -> bool {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok().and_then(|now| i64::try_from(now.as_secs()).ok());
        now.is_none_or(|now| now - self.changed() < YOUNG)
    }
}

fn write_new(path: &Path, parts: &[&[u8]]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))
}

impl CacheFile {
    fn at(&self, start: u64, length: usize) -> Result<Vec<u8>, Fault> {
        let begin = usize::try_from(start).map_err(|_| Fault::Damaged)?;
        let end = begin.checked_add(length).ok_or(Fault::Damaged)?;
        if let Some(bytes) = self.head.get(begin..end) {
            return Ok(bytes.to_vec());
        }
        // A length from a damaged slot must not make us allocate more than there is.
        if start.saturating_add(length as u64) > self.file.metadata()?.len() {
            return Err(Fault::Damaged);
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start).map_err(|_| Fault::Damaged)?;
        Ok(bytes)
    }
}

impl Bytes for CacheFile {
    fn read(&self, start: u64, length: usize) -> Result<Vec<u8>, Fault> {
        self.at(self.start.checked_add(start).ok_or(Fault::Damaged)?, length)
    }
}

impl<R: Fn() -> Result<Vec<Rule>, Fault>> Rules for Cached<R> {
    fn find(&self, key: Key) -> Result<Vec<Rule>, Fault> {
        if let Some(fresh) = self.fresh.get() {
            return fresh.find(key);
        }
        self.index.find(key).or_else(|_| {
            let (bytes, slots) = encode(&(self.recompile)()?)?;
            self.fresh.get_or_init(|| Index::new(Box::new(bytes), slots)).find(key)
        })
    }
}

impl<R> std::fmt::Debug for Cached<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cached").field("index", &self.index).finish_non_exhaustive()
    }
}
