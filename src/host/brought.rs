//! Files that allowed commands wrote from the network or out of a decoder: to run one is to run downloaded text.
//!
//! A file of records in the state folder, `SECONDS NUL PATH NUL`, appended before the command runs. A path counts as
//! long as what lies there was changed since (its change time, which nobody can set back, is not older) and for a day.
//! `FOLDER/*` stands for what is unpacked there: what changes in the folder within some minutes. A record that cannot
//! be written is not missed: the command was allowed all the same.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use bstr::ByteSlice;

/// How long a record counts, in seconds.
const LASTS: i64 = 24 * 60 * 60;
/// How long unpacking may take, in seconds.
const UNPACKS: i64 = 10 * 60;
/// A longer store is begun anew with its youngest records, half as long together.
const LONGEST: u64 = 256 * 1024;
/// What a record takes beside its path.
const MARKS: u64 = 16;

/// The records that count, each with the second in which it was made.
#[derive(Debug, Default)]
pub(super) struct Brought(Vec<(i64, PathBuf)>);

impl Brought {
    /// The records of a store; none if it is not there.
    pub(super) fn load(store: &Path) -> Self {
        // Whole, however long: what was brought last stands at its end.
        let Ok(text) = fs::read(store) else { return Self::default() };
        let since = now() - LASTS;
        let mut fields = text.split(|byte| *byte == 0);
        let mut records = Vec::new();
        while let (Some(at), Some(path)) = (fields.next(), fields.next()) {
            let at = at.to_str().ok().and_then(|at| at.parse().ok());
            let path = PathBuf::from(OsStr::from_bytes(path));
            records.extend(at.filter(|at| *at >= since).map(|at| (at, path)));
        }
        Self(records)
    }

    /// Whether what lies at `path` was brought by a command that was allowed.
    pub(super) fn holds(&self, path: &Path) -> bool {
        let of = |record: &PathBuf| record == path || unpacked(record).is_some_and(|folder| path.starts_with(folder));
        if !self.0.iter().any(|(_, record)| of(record)) {
            return false;
        }
        let Ok(changed) = fs::metadata(path).map(|metadata| metadata.ctime()) else { return false };
        self.0
            .iter()
            .any(|(at, record)| of(record) && changed >= *at && (unpacked(record).is_none() || changed <= at + UNPACKS))
    }
}

/// Remembers what a command that is about to run brings.
pub fn note(store: &Path, brought: &[PathBuf]) {
    if brought.is_empty() {
        return;
    }
    let at = now();
    let mut records = Vec::new();
    for path in brought {
        let _ = write!(records, "{at}\0");
        records.extend_from_slice(path.as_os_str().as_bytes());
        records.push(0);
    }
    shorten(store);
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(store);
    // One write, so that records of commands that run at once stay whole.
    let _ = file.and_then(|mut file| file.write_all(&records));
}

/// Leaves only what still counts of a store that has grown long.
fn shorten(store: &Path) {
    if !fs::metadata(store).is_ok_and(|metadata| metadata.len() > LONGEST) {
        return;
    }
    let Brought(records) = Brought::load(store);
    let mut left = LONGEST / 2;
    let fits = |(_, path): &&(i64, PathBuf)| {
        let size = path.as_os_str().len() as u64 + MARKS;
        left.checked_sub(size).inspect(|rest| left = *rest).is_some()
    };
    let young = records.iter().rev().take_while(fits).count();
    let mut text = Vec::new();
    for (at, path) in records.iter().skip(records.len() - young) {
        let _ = write!(text, "{at}\0");
        text.extend_from_slice(path.as_os_str().as_bytes());
        text.push(0);
    }
    let next = store.with_extension("next");
    let _ = fs::write(&next, text).and_then(|()| fs::rename(&next, store));
}

/// The folder that a record stands for whatever its names are.
fn unpacked(record: &Path) -> Option<&Path> {
    record.ends_with("*").then(|| record.parent())?
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_brought_is_remembered() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let store = at("brought");
        fs::create_dir(at("t")).unwrap();
        fs::write(at("old"), "").unwrap();
        assert!(!Brought::load(&store).holds(&at("old")));
        note(&store, &[at("new"), at("t/*"), at("gone")]);
        note(&store, &[at("also new")]);
        for name in ["new", "also new", "t/unpacked", "other"] {
            fs::write(at(name), "").unwrap();
        }
        let brought = Brought::load(&store);
        let held = |name: &str| brought.holds(&at(name));
        let names = ["new", "also new", "t/unpacked", "other", "gone", "old"];
        assert_eq!(names.map(held), [true, true, true, false, false, false]);
    }

    #[test]
    fn a_store_does_not_grow_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("brought");
        let many: Vec<PathBuf> =
            (0..20_000).map(|number| PathBuf::from(format!("/a/long/path/of/a/file/{number}"))).collect();
        note(&store, &many);
        assert_eq!(Brought::load(&store).0.last().unwrap().1, many[19_999]);
        note(&store, &[PathBuf::from("/last")]);
        assert!(fs::metadata(&store).unwrap().len() < LONGEST);
        assert_eq!(Brought::load(&store).0.last().unwrap().1, Path::new("/last"));
    }
}
