//! Shell patterns on known text: for `${x#…}`, `case` and the like.

/// Whether the pattern matches the whole text; `None` if it holds what is not read here.
pub(in crate::facts) fn matches(pattern: &[u8], text: &[u8]) -> Option<bool> {
    // The reading recurses over the text.
    if text.len() > 1024 || pattern.len() > 1024 {
        return None;
    }
    let mut left = 100_000_usize;
    at(pattern, text, &mut left)
}

fn at(pattern: &[u8], text: &[u8], left: &mut usize) -> Option<bool> {
    *left = left.checked_sub(1)?;
    match pattern.first() {
        None => Some(text.is_empty()),
        Some(b'*') => {
            let rest = pattern.get(1..)?;
            for start in 0..=text.len() {
                if at(rest, text.get(start..)?, left)? {
                    return Some(true);
                }
            }
            Some(false)
        }
        Some(b'?') => match text.get(1..) {
            Some(after) => at(pattern.get(1..)?, after, left),
            None => Some(false),
        },
        Some(b'[') => {
            let Some((hit, rest)) = class(pattern, text.first().copied())? else {
                return literal(pattern, text, left);
            };
            match (hit, text.get(1..)) {
                (true, Some(after)) => at(rest, after, left),
                _ => Some(false),
            }
        }
        Some(b'\\') => literal(pattern.get(1..)?, text, left),
        // Extended patterns are not read.
        Some(b'@' | b'+' | b'!') if pattern.get(1) == Some(&b'(') => None,
        Some(_) => literal(pattern, text, left),
    }
}

fn literal(pattern: &[u8], text: &[u8], left: &mut usize) -> Option<bool> {
    match (pattern.split_first(), text.split_first()) {
        (Some((a, pattern)), Some((b, text))) if a == b => at(pattern, text, left),
        _ => Some(false),
    }
}

/// `[abc]`, `[a-z]`, `[!x]`: whether it takes `byte`, and what follows; an inner `None`: it is no class.
#[expect(clippy::option_option, reason = "no answer is not the answer that it is none")]
fn class(pattern: &[u8], byte: Option<u8>) -> Option<Option<(bool, &[u8])>> {
    let mut inside = pattern.get(1..)?;
    let negated = matches!(inside.first(), Some(b'!' | b'^'));
    if negated {
        inside = inside.get(1..)?;
    }
    let Some(end) = inside.iter().skip(1).position(|byte| *byte == b']').map(|end| end + 1) else { return Some(None) };
    let (set, rest) = (inside.get(..end)?, inside.get(end + 1..)?);
    if set.contains(&b'[') || set.contains(&b'\\') {
        return None;
    }
    let mut hit = false;
    let mut index = 0;
    while let Some(&from) = set.get(index) {
        let to = match (set.get(index + 1), set.get(index + 2)) {
            (Some(b'-'), Some(&to)) => {
                index += 2;
                to
            }
            _ => from,
        };
        hit |= byte.is_some_and(|byte| (from..=to).contains(&byte));
        index += 1;
    }
    Some(Some((byte.is_some() && hit != negated, rest)))
}
