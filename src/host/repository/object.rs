//! Commits, trees and blobs: loose (gitformat-loose) and packed (gitformat-pack).

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bstr::ByteSlice;
use flate2::bufread::ZlibDecoder;

use super::index::offset;
use super::{Tree, bytes_path};

/// A SHA-1 name.
pub(super) type Id = [u8; 20];

/// A larger object is not read.
const LIMIT: u64 = 32 * 1024 * 1024;
/// Longest chain of differences that is followed; git makes at most 4,095.
const DEPTH: usize = 300;
/// Bytes of a pack's index before its names: magic, version, fan-out.
const NAMES: u64 = 8 + 256 * 4;

/// The objects of a repository.
pub(super) struct Objects {
    /// Folders that hold them: the repository's own and its alternates.
    folders: Vec<PathBuf>,
    packs: OnceCell<Vec<Pack>>,
}

/// A pack file.
struct Pack {
    index: File,
    count: u64,
    objects: File,
}

/// The kinds of object, as numbered in packs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Commit = 1,
    Tree = 2,
    Blob = 3,
    Tag = 4,
}

/// The name that 40 hexadecimal digits spell.
pub(super) fn id(digits: &[u8]) -> Option<Id> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut id = [0; 20];
    if digits.len() != 40 {
        return None;
    }
    for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? * 16 + digit(*low)?;
    }
    Some(id)
}

impl Objects {
    pub(super) fn new(common: &Path) -> Self {
        let own = common.join("objects");
        let alternates = fs::read(own.join("info/alternates")).unwrap_or_default();
        let alternates = alternates.lines().filter(|line| !line.is_empty()).map(|line| own.join(bytes_path(line)));
        Self { folders: std::iter::once(own.clone()).chain(alternates).collect(), packs: OnceCell::new() }
    }

    /// The tree of a commit.
    pub(super) fn tree_of(&self, commit: Id) -> Option<Id> {
        let commit = self.read(commit, Kind::Commit)?;
        id(commit.strip_prefix(b"tree ")?.get(..40)?)
    }

    /// The parents of a commit and when it was made, in seconds.
    pub(super) fn parents_of(&self, commit: Id) -> Option<(Vec<Id>, i64)> {
        let commit = self.read(commit, Kind::Commit)?;
        let header = commit.lines().take_while(|line| !line.is_empty());
        let parents = header.clone().filter_map(|line| line.strip_prefix(b"parent ")).map(id).collect::<Option<_>>()?;
        let committer = header.into_iter().find_map(|line| line.strip_prefix(b"committer "))?;
        let time = committer.rsplitn_str(3, " ").nth(1)?.to_str().ok()?.parse().ok()?;
        Some((parents, time))
    }

    /// The commit that an annotated tag names, or the object itself.
    pub(super) fn peeled(&self, id: Id) -> Id {
        let tag = self.object(id, DEPTH).filter(|(kind, _)| *kind == Kind::Tag);
        let named = tag.and_then(|(_, tag)| self::id(tag.strip_prefix(b"object ")?.get(..40)?));
        named.unwrap_or(id)
    }

    /// The entries of a tree.
    pub(super) fn tree(&self, tree: Id) -> Option<Tree> {
        let content = self.read(tree, Kind::Tree)?;
        let mut rest = content.as_slice();
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let (mode, after) = rest.split_once_str(b" ")?;
            let (name, after) = after.split_once_str(b"\0")?;
            let (id, after) = after.split_at_checked(20)?;
            entries.push((name.into(), u32::from_str_radix(mode.to_str().ok()?, 8).ok()?, id.try_into().ok()?));
            rest = after;
        }
        Some(entries)
    }

    pub(super) fn blob(&self, blob: Id) -> Option<Vec<u8>> {
        self.read(blob, Kind::Blob)
    }

    fn read(&self, id: Id, kind: Kind) -> Option<Vec<u8>> {
        let (found, content) = self.object(id, DEPTH)?;
        (found == kind).then_some(content)
    }

    fn object(&self, id: Id, depth: usize) -> Option<(Kind, Vec<u8>)> {
        self.loose(id).or_else(|| self.packs().iter().find_map(|pack| self.packed(pack, pack.find(id)?, depth)))
    }

    fn loose(&self, id: Id) -> Option<(Kind, Vec<u8>)> {
        let mut digits = String::with_capacity(40);
        for byte in id {
            // Writing to a String cannot fail.
            let _ = write!(digits, "{byte:02x}");
        }
        let (folder, name) = digits.split_at(2);
        let file = self.folders.iter().find_map(|objects| File::open(objects.join(folder).join(name)).ok())?;
        let content = inflate(BufReader::new(file))?;
        let (header, body) = content.split_once_str(b"\0")?;
        let kind = match header.split_str(b" ").next()? {
            b"commit" => Kind::Commit,
            b"tree" => Kind::Tree,
            b"blob" => Kind::Blob,
            b"tag" => Kind::Tag,
            _ => return None,
        };
        Some((kind, body.to_vec()))
    }

    fn packs(&self) -> &[Pack] {
        self.packs.get_or_init(|| {
            let folders = self.folders.iter().filter_map(|objects| fs::read_dir(objects.join("pack")).ok());
            folders.flatten().filter_map(|entry| Pack::open(&entry.ok()?.path())).collect()
        })
    }

    /// The object at `at` in a pack; differences are applied to what they build on.
    fn packed(&self, pack: &Pack, at: u64, depth: usize) -> Option<(Kind, Vec<u8>)> {
        let mut header = [0; 64];
        let read = pack.objects.read_at(&mut header, at).ok()?;
        let header = header.get(..read)?;
        let first = *header.first()?;
        let start = header.iter().position(|byte| byte & 0x80 == 0)? + 1;
        let content = |start: usize| {
            let mut file = BufReader::new(&pack.objects);
            file.seek(SeekFrom::Start(at + u64::try_from(start).ok()?)).ok()?;
            inflate(file)
        };
        let (base, start) = match first >> 4 & 7 {
            1 => return Some((Kind::Commit, content(start)?)),
            2 => return Some((Kind::Tree, content(start)?)),
            3 => return Some((Kind::Blob, content(start)?)),
            4 => return Some((Kind::Tag, content(start)?)),
            6 => {
                let (back, start) = offset(header, start)?;
                (self.packed(pack, at.checked_sub(u64::try_from(back).ok()?)?, depth.checked_sub(1)?)?, start)
            }
            7 => {
                let id = header.get(start..start + 20)?.try_into().ok()?;
                (self.object(id, depth.checked_sub(1)?)?, start + 20)
            }
            _ => return None,
        };
        Some((base.0, apply(&base.1, &content(start)?)?))
    }
}

impl Pack {
    fn open(index: &Path) -> Option<Self> {
        if index.extension()? != "idx" {
            return None;
        }
        let objects = File::open(index.with_extension("pack")).ok()?;
        let index = File::open(index).ok()?;
        let mut head = [0; 8];
        index.read_exact_at(&mut head, 0).ok()?;
        if head != *b"\xfftOc\0\0\0\x02" {
            return None;
        }
        let count = u64::from(number(&index, NAMES - 4)?);
        Some(Self { index, count, objects })
    }

    /// Where in the pack an object begins.
    fn find(&self, id: Id) -> Option<u64> {
        let first = u64::from(*id.first()?);
        let mut low = if first == 0 { 0 } else { u64::from(number(&self.index, 8 + (first - 1) * 4)?) };
        let mut high = u64::from(number(&self.index, 8 + first * 4)?).min(self.count);
        while low < high {
            let middle = low.midpoint(high);
            let mut name = [0; 20];
            self.index.read_exact_at(&mut name, NAMES + middle * 20).ok()?;
            match name.cmp(&id) {
                std::cmp::Ordering::Equal => return self.place(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The offset of the object with this number: names, checksums and short offsets come first, then long ones.
    fn place(&self, object: u64) -> Option<u64> {
        let short = number(&self.index, NAMES + self.count * 24 + object * 4)?;
        if short & 0x8000_0000 == 0 {
            return Some(u64::from(short));
        }
        let mut long = [0; 8];
        self.index.read_exact_at(&mut long, NAMES + self.count * 28 + u64::from(short & 0x7fff_ffff) * 8).ok()?;
        Some(u64::from_be_bytes(long))
    }
}

fn number(file: &File, at: u64) -> Option<u32> {
    let mut bytes = [0; 4];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(u32::from_be_bytes(bytes))
}

fn inflate(file: impl std::io::BufRead) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    ZlibDecoder::new(file).take(LIMIT + 1).read_to_end(&mut content).ok()?;
    (content.len() as u64 <= LIMIT).then_some(content)
}

/// Applies a difference: two sizes, then copies out of `base` and literal bytes.
fn apply(base: &[u8], delta: &[u8]) -> Option<Vec<u8>> {
    let skip = |at: usize| Some(at + delta.get(at..)?.iter().position(|byte| byte & 0x80 == 0)? + 1);
    let mut at = skip(skip(0)?)?;
    let mut content = Vec::new();
    while let Some(&op) = delta.get(at) {
        at += 1;
        if op & 0x80 == 0 {
            let length = usize::from(op);
            content.extend_from_slice(delta.get(at..at + length).filter(|_| length > 0)?);
            at += length;
            continue;
        }
        let mut fields = [0usize; 7];
        for (bit, field) in fields.iter_mut().enumerate().filter(|(bit, _)| op & (1 << bit) != 0) {
            *field = usize::from(*delta.get(at)?) << (8 * if bit < 4 { bit } else { bit - 4 });
            at += 1;
        }
        let (from, size) = fields.split_at(4);
        let (from, size): (usize, usize) = (from.iter().sum(), size.iter().sum());
        content.extend_from_slice(base.get(from..)?.get(..if size == 0 { 0x10000 } else { size })?);
        if content.len() as u64 > LIMIT {
            return None;
        }
    }
    Some(content)
}
