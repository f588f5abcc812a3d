//! What to say to someone who wrote a word that is not known.

/// A message of the deserializer in our words, and what to do about it.
pub(crate) fn of(message: &str) -> (String, Option<String>) {
    let mut words = message.split('`').skip(1).step_by(2);
    let kinds = [("unknown field", "key"), ("unknown variant", "word")];
    if let Some((_, kind)) = kinds.iter().find(|(start, _)| message.starts_with(start)) {
        let word = words.next().unwrap_or_default();
        return (format!("unknown {kind} `{word}`"), help(word, words));
    }
    if message.starts_with("wanted string or table") {
        return ("a word in quotes is expected here".to_owned(), None);
    }
    (message.replace("expected u32", "expected a number"), None)
}

/// What to do about a text that is no TOML.
pub(crate) fn syntax(message: &str) -> Option<String> {
    message.contains("dotted key").then(|| "write the key in quotes: `\"write.project\" = \"allow\"`".to_owned())
}

/// The nearest of the known words, or all of them where none is near.
pub(crate) fn help<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let known = known.collect::<Vec<_>>();
    if let Some(near) = nearest(word, &known) {
        return Some(format!("did you mean `{near}`?"));
    }
    let known = known.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    (!known.is_empty()).then(|| format!("known are {known}"))
}

/// The known word that is at most a third of its letters away.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let near = known.iter().map(|known| (distance(&lower, known), *known)).min_by_key(|(distance, _)| *distance);
    near.filter(|(distance, known)| *distance <= word.len().max(known.len()) / 3).map(|(_, known)| known)
}

/// Levenshtein's distance.
fn distance(a: &str, b: &str) -> usize {
    let mut row = (0..=b.len()).collect::<Vec<_>>();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        let mut next = vec![left];
        for (y, up) in b.bytes().zip(row.iter().skip(1)) {
            left = (diagonal + usize::from(x != y)).min(up + 1).min(left + 1);
            diagonal = *up;
            next.push(left);
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found() {
        let known = ["effects", "doubts", "places", "mode"];
        assert_eq!(nearest("efects", &known), Some("effects"));
        assert_eq!(nearest("Mode", &known), Some("mode"));
        assert_eq!(nearest("place", &known), Some("places"));
        assert_eq!(nearest("zebra", &known), None);
    }
}
