//! Globs over words, hosts and paths. Braces are expanded when a layer is compiled, so that none are left here.

use std::path::Path;

use bstr::ByteSlice;

/// Where relative paths and `~` in a policy lead.
#[derive(Debug, Clone, Copy)]
pub struct Roots<'a> {
    /// What `~/` stands for.
    pub home: &'a Path,
    /// Where a relative glob starts; without a project it matches nothing.
    pub project: Option<&'a Path>,
}

/// Whether a glob matches all of `text`: `*` is any run of bytes, `?` one byte, `[…]` a class, `\` takes the next
/// byte literally.
pub(super) fn word(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t) = (0, 0);
    // Where to go on if the rest does not match: the last `*` takes one more byte.
    let mut back = None;
    loop {
        if glob.get(g) == Some(&b'*') {
            back = Some((g + 1, t));
            g += 1;
            continue;
        }
        let Some(&byte) = text.get(t) else {
            return g == glob.len();
        };
        if let Some(length) = one(glob.get(g..).unwrap_or_default(), byte) {
            g += length;
            t += 1;
            continue;
        }
        let Some((glob, from)) = back else {
            return false;
        };
        back = Some((glob, from + 1));
        (g, t) = (glob, from + 1);
    }
}

/// Whether a glob matches an absolute path: `*` and `?` stay within a name, `**/` is any number of folders, a trailing
/// `/**` everything below. `~/x` is below the home folder, `**/x` at any depth, `x` below the project.
pub(super) fn path(glob: &[u8], text: &[u8], roots: Roots<'_>) -> bool {
    let below = |root: &Path, glob: &[u8]| {
        let root = root.as_os_str().as_encoded_bytes();
        let root = root.strip_suffix(b"/").unwrap_or(root);
        text.strip_prefix(root).is_some_and(|rest| matches_names(glob, rest))
    };
    match glob {
        [b'/', ..] => matches_names(glob, text),
        [b'*', b'*', b'/', ..] => matches_names(&[b"/", glob].concat(), text),
        b"~" => text == roots.home.as_os_str().as_encoded_bytes(),
        [b'~', rest @ ..] if rest.starts_with(b"/") => below(roots.home, rest),
        glob => {
            let glob = glob.strip_prefix(b"./").unwrap_or(glob);
            roots.project.is_some_and(|root| below(root, &[b"/", glob].concat()))
        }
    }
}

/// The host that a target names: of a URL, of `user@host:path`, or the target itself.
pub(super) fn host(target: &[u8]) -> &[u8] {
    let after_scheme = target.find(b"://").and_then(|at| target.get(at + 3..));
    let authority = after_scheme.unwrap_or(target).splitn_str(2, "/").next().unwrap_or_default();
    let authority = authority.split(|byte| matches!(byte, b'?' | b'#')).next().unwrap_or_default();
    let host = authority.rsplit(|&byte| byte == b'@').next().unwrap_or_default();
    match host.strip_prefix(b"[") {
        Some(address) => address.split(|&byte| byte == b']').next().unwrap_or_default(),
        None => host.split(|&byte| byte == b':').next().unwrap_or_default(),
    }
}

/// An absolute path with `.`, `..` and doubled slashes resolved by name.
pub(super) fn normal(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|&byte| byte == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    [b"/", names.join(&b'/').as_slice()].concat()
}

/// Whether a path's glob can match outside home and project.
pub(super) fn is_absolute(glob: &str) -> bool {
    glob.starts_with('/') || glob.starts_with("**/")
}

/// Whether a word of a policy is more than itself.
pub(super) fn is_glob(word: &str) -> bool {
    word.contains(['*', '?', '[', '\\'])
}

/// Matches name by name, so that only `**` crosses a `/`. Both begin with `/`.
fn matches_names(glob: &[u8], text: &[u8]) -> bool {
    let globs = glob.split(|&byte| byte == b'/').skip(1).collect::<Vec<_>>();
    let names = text.split(|&byte| byte == b'/').skip(1).collect::<Vec<_>>();
    if !text.starts_with(b"/") {
        return false;
    }
    let (mut g, mut n) = (0, 0);
    // Where to go on if the rest does not match: the last `**` takes one more name.
    let mut back = None;
    loop {
        match (globs.get(g), names.get(n)) {
            (None, None) => return true,
            // A trailing `**` is everything below, not the folder itself.
            (Some(&b"**"), None) if g + 1 == globs.len() => return false,
            (Some(&b"**"), Some(name)) if g + 1 == globs.len() => return !name.is_empty() || n + 1 < names.len(),
            (Some(&b"**"), _) => {
                back = Some((g, n));
                g += 1;
            }
            (Some(glob), Some(name)) if word(glob, name) => {
                g += 1;
                n += 1;
            }
            _ => match back {
                Some((glob, name)) if name < names.len() => {
                    back = Some((glob, name + 1));
                    (g, n) = (glob + 1, name + 1);
                }
                _ => return false,
            },
        }
    }
}

/// The length of the pattern for one byte at the start of `glob`, if it matches `byte`.
fn one(glob: &[u8], byte: u8) -> Option<usize> {
    match *glob {
        [b'?', ..] => Some(1),
        [b'\\', literal, ..] => (literal == byte).then_some(2),
        [b'[', ref rest @ ..] => match class(rest, byte) {
            Some((matched, length)) => matched.then_some(length + 1),
            None => (byte == b'[').then_some(1),
        },
        [literal, ..] => (literal == byte).then_some(1),
        [] => None,
    }
}

/// Whether `byte` is in the class that `rest` (after `[`) begins with, and the length up to and with `]`.
fn class(rest: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(rest, [b'!' | b'^', ..]);
    let mut at = usize::from(negated);
    let mut matched = false;
    let first = at;
    loop {
        let tail = rest.get(at..)?;
        match *tail {
            [b']', ..] if at > first => return Some((matched != negated, at + 1)),
            [low, b'-', high, ..] if high != b']' => {
                matched |= (low..=high).contains(&byte);
                at += 3;
            }
            [literal, ..] => {
                matched |= literal == byte;
                at += 1;
            }
            [] => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_match_as_a_whole() {
        let rows: &[(&str, &str, bool)] = &[
            ("main", "main", true),
            ("main", "mainline", false),
            ("*", "", true),
            ("*", "a/b", true),
            ("feature/*", "feature/x/y", true),
            ("*prod*", "--context=prod-eu", true),
            ("a*b*c", "aXbXbc", true),
            ("a*b*c", "aXbXb", false),
            ("?", "", false),
            ("v[0-9]*", "v1.2", true),
            ("v[!0-9]*", "v1.2", false),
            ("[]x]", "]", true),
            ("[", "[", true),
            ("\\*", "*", true),
            ("\\*", "x", false),
        ];
        for (glob, text, expected) in rows {
            assert_eq!(word(glob.as_bytes(), text.as_bytes()), *expected, "{glob} {text}");
        }
    }

    #[test]
    fn paths_match_name_by_name() {
        let roots = Roots { home: Path::new("/home/user"), project: Some(Path::new("/srv/app")) };
        let rows: &[(&str, &str, bool)] = &[
            ("/etc/*", "/etc/passwd", true),
            ("/etc/*", "/etc/ssh/config", false),
            ("/etc/**", "/etc/ssh/config", true),
            ("/etc/**", "/etc", false),
            ("/etc/**", "/etcetera", false),
            ("~/.ssh/**", "/home/user/.ssh/id", true),
            ("~/.ssh/**", "/home/eve/.ssh/id", false),
            ("~", "/home/user", true),
            ("~/**", "/home/username/x", false),
            ("**/*.tfvars", "/srv/app/infra/prod.tfvars", true),
            ("**/*.tfvars", "/prod.tfvars", true),
            ("**/a/**/b", "/x/a/b", true),
            ("**/a/**/b", "/x/a/y/z/b", true),
            ("**/a/**/b", "/x/a/y/z/c", false),
            ("src/**", "/srv/app/src/a/b.rs", true),
            ("./src/*.rs", "/srv/app/src/b.rs", true),
            ("src/**", "/srv/other/src/b.rs", false),
            ("src/**", "src/b.rs", false),
        ];
        for (glob, text, expected) in rows {
            assert_eq!(path(glob.as_bytes(), text.as_bytes(), roots), *expected, "{glob} {text}");
        }
    }

    #[test]
    fn a_star_is_not_exponential() {
        let text = "a".repeat(20_000);
        assert!(!word(b"*a*a*a*a*a*a*b", text.as_bytes()));
    }

    #[test]
    fn a_target_names_its_host() {
        let rows = [
            ("https://api.example.com/v1?q=1", "api.example.com"),
            ("https://user:pw@example.com:8080/", "example.com"),
            ("http://[::1]:3000/x", "::1"),
            ("git@github.com:a/b.git", "github.com"),
            ("example.com", "example.com"),
            ("http://evil.com?x=@good.com", "evil.com"),
        ];
        for (target, expected) in rows {
            assert_eq!(host(target.as_bytes()).as_bstr(), expected.as_bytes().as_bstr(), "{target}");
        }
    }
}
