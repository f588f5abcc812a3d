//! `.git/index`, versions 2 to 4 (gitformat-index).

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use bstr::BString;

use super::object::Id;

/// A larger index is not read.
const LIMIT: u64 = 256 * 1024 * 1024;
/// Bytes of an entry before its name: times, numbers, object, flags.
const FIXED: usize = 62;
/// Bytes of the checksum at the end.
const CHECKSUM: usize = 20;
/// Flag: two more bytes of flags follow.
const EXTENDED: u16 = 0x4000;
/// Flags: what is checked out may differ without git looking.
const ASSUMED: u16 = 0x8000;
/// Flags: the stage of an unmerged file.
const STAGE: u16 = 0x3000;
/// Extended flag: nothing is checked out.
const SKIPPED: u16 = 0x4000;

/// The files that are tracked.
pub(super) struct Index {
    /// By name.
    entries: Vec<(BString, Entry)>,
    /// When the index was written, in seconds and nanoseconds.
    written: (i64, i64),
}

/// A tracked file.
pub(super) struct Entry {
    pub(super) id: Id,
    pub(super) mode: u32,
    changed: (u32, u32),
    modified: (u32, u32),
    inode: u32,
    size: u32,
}

impl Index {
    /// Reads it; `None` if it has a form that is not known.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok().filter(|metadata| metadata.len() <= LIMIT)?;
        let written = (metadata.mtime(), metadata.mtime_nsec());
        Some(Self { entries: parse(&fs::read(path).ok()?)?, written })
    }

    pub(super) fn find(&self, name: &[u8]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|(known, _)| known.as_slice().cmp(name)).ok()?;
        self.entries.get(at).map(|(_, entry)| entry)
    }

    /// Whether `name` or anything below it is tracked.
    pub(super) fn holds_below(&self, name: &[u8]) -> bool {
        self.find(name).is_some() || self.below(name).next().is_some()
    }

    /// The entries below a folder; the empty name stands for the root.
    pub(super) fn below(&self, name: &[u8]) -> impl Iterator<Item = &(BString, Entry)> {
        let folder = if name.is_empty() { Vec::new() } else { [name, b"/"].concat() };
        let at = self.entries.partition_point(|(known, _)| known.as_slice() < folder.as_slice());
        self.entries.iter().skip(at).take_while(move |(known, _)| known.starts_with(&folder))
    }

    /// Whether the file is the one that git last saw, by what the kernel alone can set. One that changed in the instant
    /// in which the index was written may differ all the same.
    pub(super) fn is_fresh(&self, entry: &Entry, metadata: &Metadata) -> bool {
        let low = |number: i64| u32::try_from(number & 0xffff_ffff).unwrap_or_default();
        let changed = (metadata.ctime(), metadata.ctime_nsec());
        (low(changed.0), low(changed.1)) == entry.changed
            && (low(metadata.mtime()), low(metadata.mtime_nsec())) == entry.modified
            && metadata.ino() & 0xffff_ffff == u64::from(entry.inode)
            && metadata.size() & 0xffff_ffff == u64::from(entry.size)
            && changed < self.written
    }
}

fn parse(bytes: &[u8]) -> Option<Vec<(BString, Entry)>> {
    let bytes = bytes.get(..bytes.len().checked_sub(CHECKSUM)?)?;
    let version = number(bytes, 4)?;
    if bytes.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut entries: Vec<(BString, Entry)> = Vec::new();
    let mut at = 12;
    for _ in 0..number(bytes, 8)? {
        let flags = short(bytes, at + 60)?;
        let more = if flags & EXTENDED == 0 { 0 } else { short(bytes, at + FIXED)? };
        let start = at + FIXED + if flags & EXTENDED == 0 { 0 } else { 2 };
        let previous = entries.last().map(|(name, _)| name.as_slice()).unwrap_or_default();
        let (name, end) = name(bytes, start, (version == 4).then_some(previous))?;
        let next = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
        let usable = flags & (ASSUMED | STAGE) == 0 && more & SKIPPED == 0;
        let mut entry = entry(bytes, at)?;
        if !usable {
            // It stays in the list, since names build on each other, and equals nothing.
            entry.mode = 0;
            entry.id = [0; 20];
            entry.inode = 0;
        }
        entries.push((name, entry));
        at = next;
    }
    known_extensions(bytes, at)?;
    entries.is_sorted_by(|(one, _), (two, _)| one <= two).then_some(entries)
}

fn entry(bytes: &[u8], at: usize) -> Option<Entry> {
    Some(Entry {
        changed: (number(bytes, at)?, number(bytes, at + 4)?),
        modified: (number(bytes, at + 8)?, number(bytes, at + 12)?),
        inode: number(bytes, at + 20)?,
        mode: number(bytes, at + 24)?,
        size: number(bytes, at + 36)?,
        id: bytes.get(at + 40..at + 60)?.try_into().ok()?,
    })
}

/// The name that starts at `start` and the place of the zero byte after it. In version 4 a name says how much of the
/// end of the previous one it does not share.
fn name(bytes: &[u8], start: usize, previous: Option<&[u8]>) -> Option<(BString, usize)> {
    let (kept, start) = match previous {
        Some(previous) => {
            let (cut, start) = offset(bytes, start)?;
            (previous.get(..previous.len().checked_sub(cut)?)?, start)
        }
        None => (&b""[..], start),
    };
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(|&byte| byte == 0)?;
    Some(([kept, rest.get(..length)?].concat().into(), start + length))
}

/// A number in git's offset encoding, and where it ends.
pub(super) fn offset(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)? | usize::from(byte & 0x7f);
    }
    Some((value, at + 1))
}

/// Extensions whose name begins with a small letter change what the entries mean (a split or sparse index).
fn known_extensions(bytes: &[u8], mut at: usize) -> Option<()> {
    while at < bytes.len() {
        if !bytes.get(at)?.is_ascii_uppercase() {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(bytes, at + 4)?).ok()?)?;
    }
    Some(())
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}
