//! Rules in an encoded form, found by program or effect without reading the others.
//!
//! Layout: a table of slots (a power of two), then the buckets. A slot holds a key, and where its bucket is; a bucket
//! holds its rules and a checksum. Everything read is bounds-checked: a damaged index is a fault, never a wrong rule.

use std::collections::BTreeMap;

use crate::facts::Effect;

use super::statement::Rule;
use super::{Fault, pattern};

/// What rules are found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u64);

/// Rules that can be looked up.
pub trait Rules: std::fmt::Debug {
    /// The rules under a key, in the order of the file.
    fn find(&self, key: Key) -> Result<Vec<Rule>, Fault>;
}

/// Bytes that hold an index; a file where that spares reading it whole.
pub trait Bytes: std::fmt::Debug {
    /// The bytes `start..start + length`.
    fn read(&self, start: u64, length: usize) -> Result<Vec<u8>, Fault>;
}

/// An index over some bytes.
#[derive(Debug)]
pub struct Index {
    bytes: Box<dyn Bytes>,
    slots: u32,
}

/// Key, start and length of the bucket, checksum.
const SLOT: usize = 24;
/// Slots read at once: a run of used slots longer than this is rare at half load.
const WINDOW: usize = 8;
const CHECKSUM: usize = 8;

impl Key {
    /// Of rules that name neither a program nor an effect.
    pub const ANY: Self = Self(1);

    /// Of rules about a program.
    pub fn program(name: &[u8]) -> Self {
        Self(hash(name).max(1024))
    }

    /// Of rules about an effect of whatever program.
    pub fn effect(effect: Effect) -> Self {
        Self(2 + effect as u64)
    }

    /// The keys under which a rule is found.
    fn of(rule: &Rule) -> Vec<Self> {
        let program = |words: &Vec<String>| {
            let name = words.first()?.rsplit('/').next()?;
            (!pattern::is_glob(name)).then(|| Self::program(name.as_bytes()))
        };
        let programs = rule.commands.iter().map(program).collect::<Option<Vec<_>>>();
        let effects = rule.effects.iter().map(|of| of.effect.map(Self::effect)).collect::<Option<Vec<_>>>();
        let mut keys = match (programs, effects) {
            (Some(programs), _) if !programs.is_empty() => programs,
            (_, Some(effects)) if !effects.is_empty() => effects,
            _ => vec![Self::ANY],
        };
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

/// Encodes rules: the bytes of an index and its number of slots.
pub(super) fn encode(rules: &[Rule]) -> Result<(Vec<u8>, u32), Fault> {
    let mut buckets: BTreeMap<Key, Vec<&Rule>> = BTreeMap::new();
    for rule in rules {
        for key in Key::of(rule) {
            buckets.entry(key).or_default().push(rule);
        }
    }
    let slots = (buckets.len() * 2).next_power_of_two().max(WINDOW);
    let mut table = vec![(0u64, 0u32, 0u32); slots];
    let mut body = Vec::new();
    for (key, rules) in buckets {
        let start = slots * SLOT + body.len();
        let bytes = postcard::to_allocvec(&rules).map_err(|_| Fault::Encode)?;
        body.extend_from_slice(&checksum(&bytes).to_le_bytes());
        body.extend_from_slice(&bytes);
        let place = u32::try_from(start).ok().zip(u32::try_from(bytes.len() + CHECKSUM).ok());
        let (start, length) = place.ok_or(Fault::Encode)?;
        let mut at = slot_of(key, slots);
        while table.get(at).is_some_and(|slot| slot.0 != 0) {
            at = (at + 1) % slots;
        }
        *table.get_mut(at).ok_or(Fault::Encode)? = (key.0, start, length);
    }
    let mut out = Vec::with_capacity(slots * SLOT + body.len());
    for (at, (key, start, length)) in table.into_iter().enumerate() {
        let place = u64::from(start) | u64::from(length) << 32;
        for number in [key, place, slot_sum(at, key, place)] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
    out.extend_from_slice(&body);
    Ok((out, u32::try_from(slots).map_err(|_| Fault::Encode)?))
}

impl Index {
    /// An index of `slots` slots in `bytes`.
    pub fn new(bytes: Box<dyn Bytes>, slots: u32) -> Self {
        Self { bytes, slots }
    }

    /// The rules of a bucket, by the second half of its slot.
    fn bucket(&self, place: u64) -> Result<Vec<Rule>, Fault> {
        let (start, length) = (place & 0xffff_ffff, place >> 32);
        let bytes = self.bytes.read(start, usize::try_from(length).map_err(|_| Fault::Damaged)?)?;
        let (sum, rules) = bytes.split_at_checked(CHECKSUM).ok_or(Fault::Damaged)?;
        if number(sum, 0) != checksum(rules) {
            return Err(Fault::Damaged);
        }
        postcard::from_bytes(rules).map_err(|_| Fault::Damaged)
    }
}

impl Rules for Index {
    fn find(&self, key: Key) -> Result<Vec<Rule>, Fault> {
        let slots = self.slots as usize;
        if slots == 0 {
            return Ok(Vec::new());
        }
        let mut at = slot_of(key, slots);
        let mut seen = 0;
        while seen < slots {
            let count = WINDOW.min(slots - at);
            let window = self.bytes.read((at * SLOT) as u64, count * SLOT)?;
            for (offset, slot) in window.chunks_exact(SLOT).enumerate() {
                let [found, place, sum] = [0, 8, 16].map(|start| number(slot, start));
                if sum != slot_sum(at + offset, found, place) {
                    return Err(Fault::Damaged);
                }
                match found {
                    0 => return Ok(Vec::new()),
                    found if found == key.0 => return self.bucket(place),
                    _ => seen += 1,
                }
            }
            at = (at + count) % slots;
        }
        Ok(Vec::new())
    }
}

impl Bytes for Vec<u8> {
    fn read(&self, start: u64, length: usize) -> Result<Vec<u8>, Fault> {
        let start = usize::try_from(start).map_err(|_| Fault::Damaged)?;
        let end = start.checked_add(length).ok_or(Fault::Damaged)?;
        self.get(start..end).map(<[u8]>::to_vec).ok_or(Fault::Damaged)
    }
}

fn slot_of(key: Key, slots: usize) -> usize {
    // `slots` is a power of two, so that the lowest bits are enough.
    usize::try_from((key.0 ^ (key.0 >> 32)) & 0xffff_ffff).unwrap_or_default() & (slots - 1)
}

/// An unused slot has one too, so that damage cannot make a rule disappear.
fn slot_sum(at: usize, key: u64, place: u64) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29);
    [key, place].into_iter().fold(at as u64 ^ 0x9e37_79b9_7f4a_7c15, mix)
}

/// The little-endian number at an offset; 0 beyond the end.
fn number(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..at + 8).and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// FNV-1a: names are short, and nobody gains by a collision that only shows a rule which then does not match.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Against damage, not against forgery: eight bytes at a time.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut tail = [0; 8];
    tail.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let words = words.iter().chain([&tail]).map(|word| u64::from_le_bytes(*word));
    let start = bytes.len() as u64 ^ 0x9e37_79b9_7f4a_7c15;
    words.fold(start, |sum, word| (sum ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;
    use crate::decision::Verdict;

    fn rules(count: usize) -> Vec<Rule> {
        let rule = |at: usize| Rule {
            id: format!("rule-{at}"),
            verdict: Some(Verdict::Ask),
            commands: vec![vec![format!("tool{at}")]],
            ..Rule::default()
        };
        (0..count).map(rule).collect()
    }

    /// Counts what is read.
    #[derive(Debug)]
    struct Counted(Vec<u8>, Rc<Cell<usize>>);

    impl Bytes for Counted {
        fn read(&self, start: u64, length: usize) -> Result<Vec<u8>, Fault> {
            self.1.set(self.1.get() + length);
            self.0.read(start, length)
        }
    }

    #[test]
    fn every_rule_is_found_by_its_program() {
        let rules = rules(1000);
        let (bytes, slots) = encode(&rules).unwrap();
        let index = Index::new(Box::new(bytes), slots);
        for rule in &rules {
            let program = &rule.commands[0][0];
            assert_eq!(index.find(Key::program(program.as_bytes())).unwrap(), std::slice::from_ref(rule));
        }
        assert_eq!(index.find(Key::program(b"git")).unwrap(), []);
        assert_eq!(index.find(Key::ANY).unwrap(), []);
    }

    #[test]
    fn a_look_up_reads_no_more_with_more_rules() {
        let read = |count: usize| {
            let (bytes, slots) = encode(&rules(count)).unwrap();
            let read = Rc::new(Cell::new(0));
            let index = Index::new(Box::new(Counted(bytes, Rc::clone(&read))), slots);
            assert_eq!(index.find(Key::program(b"tool7")).unwrap().len(), 1);
            assert_eq!(index.find(Key::program(b"git")).unwrap().len(), 0);
            read.get()
        };
        let bound = 4 * WINDOW * SLOT + 100;
        assert!([10, 50, 10_000].iter().all(|count| read(*count) <= bound), "{:?}", [10, 50, 10_000].map(read));
    }

    #[test]
    fn damage_is_a_fault_and_never_another_rule() {
        let rules = rules(8);
        let (bytes, slots) = encode(&rules).unwrap();
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x41;
            let index = Index::new(Box::new(damaged), slots);
            for rule in &rules {
                match index.find(Key::program(rule.commands[0][0].as_bytes())) {
                    Ok(found) => assert_eq!(found, std::slice::from_ref(rule), "byte {at}"),
                    Err(fault) => assert!(matches!(fault, Fault::Damaged), "byte {at}"),
                }
            }
        }
        let empty = Index::new(Box::new(Vec::new()), 1 << 30);
        assert!(empty.find(Key::ANY).is_err());
    }
}
