//! git's settings (git-config, "Syntax"): `[section "part"]`, `key = value` with quotes, escapes and comments.

use super::{Goals, keys};
use crate::diagnostic::Span;
use crate::facts::inline::language::Language;
use crate::facts::inline::source::Source;
use crate::facts::inline::{Code, InlineFinding};

/// One setting.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::facts) struct Setting {
    /// Section, part and key, parted by dots, in lower case.
    pub(in crate::facts) path: String,
    pub(in crate::facts) value: String,
    /// Where it is written.
    pub(in crate::facts) span: Span,
}

/// Findings in the values of keys that matter, of those that the arguments name.
pub(in crate::facts::inline) fn judge(
    code: &Code<'_>,
    language: &'static Language,
    source: &Source,
) -> Vec<InlineFinding> {
    let goals = Goals::of(code);
    let found = |setting: Setting| {
        keys::finding(language, source, &goals, &setting.path, setting.span, |_| Some(setting.value.clone()))
    };
    settings(&source.text).into_iter().filter_map(found).collect()
}

/// All settings in the order in which they stand; what git would not read is left out.
pub(in crate::facts) fn settings(text: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    let mut section = String::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        let Some(first) = rest.chars().next() else { return settings };
        let start = text.len() - rest.len();
        match first {
            '#' | ';' => rest = next_line(rest),
            '[' => match header(rest) {
                Some((name, after)) => (section, rest) = (name, after),
                None => rest = next_line(rest),
            },
            _ => {
                let end = rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'));
                let (key, after) = rest.split_at(end.unwrap_or(rest.len()).max(first.len_utf8()));
                let (written, after) = value(after);
                let path = format!("{section}.{key}").to_lowercase();
                settings.push(Setting { path, value: written, span: Span::new(start, text.len() - after.len()) });
                rest = after;
            }
        }
    }
}

fn next_line(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, rest)| rest)
}

/// `[section]`, `[section "part"]`, and what follows.
fn header(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('[')?;
    let end = inner.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-' || letter == '.'))?;
    let (name, rest) = inner.split_at(end);
    let rest = rest.trim_start();
    if let Some(rest) = rest.strip_prefix(']') {
        return Some((name.to_owned(), rest));
    }
    let mut part = String::new();
    let mut letters = rest.strip_prefix('"')?.chars();
    loop {
        match letters.next()? {
            '"' => break,
            '\\' => part.push(letters.next()?),
            '\n' => return None,
            letter => part.push(letter),
        }
    }
    Some((format!("{name}.{part}"), letters.as_str().strip_prefix(']')?))
}

/// What stands after a key, and what follows: a key alone is true.
fn value(text: &str) -> (String, &str) {
    let Some(text) = text.trim_start_matches([' ', '\t']).strip_prefix('=') else {
        return ("true".to_owned(), next_line(text));
    };
    let mut letters = text.trim_start_matches([' ', '\t']).chars();
    let mut value = String::new();
    // What is quoted is kept, also where it is blank.
    let (mut quoted, mut kept) = (false, 0);
    while let Some(letter) = letters.next() {
        match letter {
            '\n' => break,
            '#' | ';' if !quoted => {
                letters = next_line(letters.as_str()).chars();
                break;
            }
            '"' => quoted = !quoted,
            '\\' => match letters.next() {
                Some('n') => value.push('\n'),
                Some('t') => value.push('\t'),
                Some('\n') | None => {}
                Some(escaped) => value.push(escaped),
            },
            letter => value.push(letter),
        }
        if quoted || !letter.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    (value, letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::settings;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let rows = [
            ("[core]\n\tpager = less -R\n", "core.pager=less -R"),
            ("[Core] FSMonitor = \"a b\" # c\n", "core.fsmonitor=a b"),
            ("[core]\npager = cu\\\nrl x ; c\n", "core.pager=curl x"),
            ("[core]\npager = sh -c \"a \\\"b\\\"\"  \n", "core.pager=sh -c a \"b\""),
            ("[alias \"x\"]\nbare\n", "alias.x.bare=true"),
            ("# pager = x\n; pager = y\n[a]\n", ""),
            ("[branch \"core.pager = x\"]\nremote = o\n", "branch.core.pager = x.remote=o"),
        ];
        for (text, wanted) in rows {
            let read: Vec<_> = settings(text).iter().map(|it| format!("{}={}", it.path, it.value)).collect();
            assert_eq!(read.join(" "), wanted, "{text}");
        }
    }
}
