//! The smallest part of a command that still shows the same.

/// How many parts are tried at most.
const TRIALS: usize = 250;

/// Leaves out lines, then words, then characters, as long as `shows` holds.
pub fn minimise(text: &str, mut shows: impl FnMut(&str) -> bool) -> String {
    let mut trials = TRIALS;
    let mut shows = |text: &str| {
        trials = trials.saturating_sub(1);
        trials > 0 && shows(text)
    };
    let mut text = text.to_owned();
    for split in [lines, words, characters] {
        text = without_parts(split(&text), &mut shows);
    }
    text
}

/// Leaves out halves, quarters … single parts.
fn without_parts(mut parts: Vec<String>, shows: &mut impl FnMut(&str) -> bool) -> String {
    let mut size = parts.len().div_ceil(2).max(1);
    loop {
        let mut start = 0;
        while start < parts.len() {
            let end = (start + size).min(parts.len());
            let rest = [&parts[..start], &parts[end..]].concat();
            if shows(&rest.concat()) {
                parts = rest;
            } else {
                start = end;
            }
        }
        if size == 1 {
            return parts.concat();
        }
        size = size.div_ceil(2);
    }
}

fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_inclusive([' ', ';', '\n', '\t', '&', '|', '"', '\'', '(', ')']).map(str::to_owned).collect()
}

fn characters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

#[test]
fn what_shows_is_left() {
    let text = "first line\nrm -rf $x; echo y\nlast";
    assert_eq!(minimise(text, |part| part.contains("rm") && part.contains('x')), "rmx");
}
