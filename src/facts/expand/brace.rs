//! Brace expansion: `{a,b}`, `{1..9}`.

use bstr::BString;

use crate::syntax::model::Part;

/// A word as brace expansion sees it: unquoted bytes one by one, everything else whole.
#[derive(Clone)]
enum Atom {
    Byte(u8),
    Whole(Part),
}

/// One more number than this is more than is ever written out.
const MOST: u64 = super::MAX_BRACES as u64;

/// There is an unquoted `{`.
pub(super) fn may_expand(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part, Part::Literal { text, quoted: false } if text.contains(&b'{')))
}

/// The words that a word's braces stand for, at most `limit`; `None` if there are more.
pub(super) fn expand(parts: &[Part], limit: usize) -> Option<Vec<Vec<Part>>> {
    let mut atoms = Vec::new();
    for part in parts {
        match part {
            Part::Literal { text, quoted: false } => atoms.extend(text.iter().map(|byte| Atom::Byte(*byte))),
            part => atoms.push(Atom::Whole(part.clone())),
        }
    }
    let mut left = limit;
    let words = words(&atoms, &mut left, 0)?;
    Some(words.into_iter().map(parts_of).collect())
}

fn words(atoms: &[Atom], left: &mut usize, depth: usize) -> Option<Vec<Vec<Atom>>> {
    if depth > 16 {
        return None;
    }
    let Some((open, close, items)) = first_group(atoms) else { return Some(vec![atoms.to_vec()]) };
    let before = atoms.get(..open).unwrap_or_default();
    let after = words(atoms.get(close + 1..).unwrap_or_default(), left, depth + 1)?;
    let mut out = Vec::new();
    for item in items {
        for middle in words(&item, left, depth + 1)? {
            for rest in &after {
                *left = left.checked_sub(1)?;
                out.push([before, middle.as_slice(), rest.as_slice()].concat());
            }
        }
    }
    Some(out)
}

/// The first `{…}` that expands: where it opens and closes, and its alternatives.
fn first_group(atoms: &[Atom]) -> Option<(usize, usize, Vec<Vec<Atom>>)> {
    // Where each group that is open begins, and its commas.
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, atom) in atoms.iter().enumerate() {
        match atom {
            Atom::Byte(b'{') => open.push(vec![index]),
            Atom::Byte(b',') => open.iter_mut().last().into_iter().for_each(|group| group.push(index)),
            Atom::Byte(b'}') => groups.extend(open.pop().map(|group| [group, vec![index]].concat())),
            _ => {}
        }
    }
    groups.sort_unstable();
    groups.into_iter().find_map(|group| {
        let (&[start, ..], &[.., end]) = (group.as_slice(), group.as_slice()) else { return None };
        let items = if group.len() > 2 {
            alternatives(atoms, &group)
        } else {
            range(atoms.get(start + 1..end).unwrap_or_default())?
        };
        Some((start, end, items))
    })
}

fn alternatives(atoms: &[Atom], commas: &[usize]) -> Vec<Vec<Atom>> {
    commas
        .windows(2)
        .filter_map(|pair| match pair {
            [from, to] => Some(atoms.get(from + 1..*to).unwrap_or_default().to_vec()),
            _ => None,
        })
        .collect()
}

/// `1..9`, `9..1..2`, `a..e`.
fn range(inside: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    let text = inside.iter().map(|atom| if let Atom::Byte(byte) = atom { Some(*byte as char) } else { None });
    let text: String = text.collect::<Option<_>>()?;
    let mut ends = text.split("..");
    let (from, to, step) = (ends.next()?, ends.next()?, ends.next());
    if ends.next().is_some() {
        return None;
    }
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok().map(i64::abs))?.max(1);
    let written = |text: &str| text.bytes().map(Atom::Byte).collect::<Vec<_>>();
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let padded = [ends_of(&text).0, ends_of(&text).1].into_iter().any(|end| {
            let digits = end.trim_start_matches('-');
            digits.len() > 1 && digits.starts_with('0')
        });
        let width = if padded { ends_of(&text).0.len().max(ends_of(&text).1.len()) } else { 0 };
        let numbers = steps(from, to, step)?;
        return Some(numbers.into_iter().map(|number| written(&format!("{number:0width$}"))).collect());
    }
    let (&[from], &[to]) = (from.as_bytes(), to.as_bytes()) else { return None };
    if !from.is_ascii_alphabetic() || !to.is_ascii_alphabetic() {
        return None;
    }
    let letters = steps(i64::from(from), i64::from(to), step)?;
    Some(
        letters
            .into_iter()
            .filter_map(|letter| u8::try_from(letter).ok())
            .map(|letter| vec![Atom::Byte(letter)])
            .collect(),
    )
}

fn ends_of(range: &str) -> (&str, &str) {
    let mut ends = range.split("..");
    (ends.next().unwrap_or(""), ends.next().unwrap_or(""))
}

/// The numbers of a range; of a long one the first, which are more than is ever written out.
fn steps(from: i64, to: i64, step: i64) -> Option<Vec<i64>> {
    let count = (from.abs_diff(to) / step.unsigned_abs()).min(MOST);
    let sign = if from <= to { step } else { -step };
    (0..=i64::try_from(count).ok()?).map(|index| from.checked_add(sign.checked_mul(index)?)).collect()
}

fn parts_of(atoms: Vec<Atom>) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for atom in atoms {
        match (parts.last_mut(), atom) {
            (Some(Part::Literal { text, quoted: false }), Atom::Byte(byte)) => text.push(byte),
            (_, Atom::Byte(byte)) => parts.push(Part::Literal { text: BString::from(vec![byte]), quoted: false }),
            (_, Atom::Whole(part)) => parts.push(part),
        }
    }
    parts
}
