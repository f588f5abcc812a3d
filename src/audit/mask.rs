//! Takes secrets out of text before it is written anywhere. Pure, and linear in the length of the text.
//!
//! What is taken for a secret is data: the beginnings of known tokens, the names that announce one (`--password X`,
//! `API_KEY=…`, `"token": "…"`), private key blocks, authorization schemes and the userinfo of URLs.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in a secret's place.
pub const MASK: &str = "***";

/// `text` with each secret replaced by [`MASK`].
pub fn mask(text: &[u8]) -> Cow<'_, [u8]> {
    let mut out = Vec::new();
    let (mut done, mut at) = (0, 0);
    while at < text.len() {
        let Some(secret) = secret_at(text, at) else {
            at += 1;
            continue;
        };
        out.extend_from_slice(text.get(done..secret.start).unwrap_or_default());
        out.extend_from_slice(MASK.as_bytes());
        (done, at) = (secret.end, secret.end);
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.extend_from_slice(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Each word masked, and whole if the word before announces it (`--password`, `X`).
pub fn words<W: AsRef<[u8]>>(words: &[W]) -> Vec<Vec<u8>> {
    let mut announced = false;
    let mut out = Vec::with_capacity(words.len());
    for word in words.iter().map(AsRef::as_ref) {
        let option = word.starts_with(b"-");
        out.push(if announced && !option { MASK.as_bytes().to_vec() } else { mask(word).into_owned() });
        announced = option && announces(word.trim_ascii_start());
    }
    out
}

/// The secret that begins at or is announced at `at`.
fn secret_at(text: &[u8], at: usize) -> Option<Range<usize>> {
    let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
    let rest = text.get(at..)?;
    match rest.first()? {
        b':' => userinfo(rest).map(|range| shift(range, at)),
        b'-' if before != Some(b'-') && rest.starts_with(KEY_BLOCK) => key_block(rest).map(|range| shift(range, at)),
        first if first.is_ascii_alphanumeric() && !before.is_some_and(|byte| byte.is_ascii_alphanumeric()) => {
            let found = token(rest).or_else(|| scheme(rest));
            let whole_name = !before.is_some_and(is_name);
            found
                .or_else(|| if whole_name || before == Some(b'-') { assigned(text, at) } else { None })
                .map(|range| shift(range, at))
        }
        _ => None,
    }
}

fn shift(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

/// How a known token begins, how many more token characters it needs at least, and whose it is.
const TOKENS: &[(&[u8], usize, &str)] = &[
    (b"AKIA", 16, "AWS access key"),
    (b"ASIA", 16, "AWS temporary key"),
    (b"ghp_", 20, "GitHub"),
    (b"gho_", 20, "GitHub"),
    (b"ghu_", 20, "GitHub"),
    (b"ghs_", 20, "GitHub"),
    (b"ghr_", 20, "GitHub"),
    (b"github_pat_", 20, "GitHub"),
    (b"glpat-", 16, "GitLab"),
    (b"sk-", 20, "OpenAI, Anthropic"),
    (b"xoxb-", 10, "Slack"),
    (b"xoxp-", 10, "Slack"),
    (b"xoxa-", 10, "Slack"),
    (b"xoxr-", 10, "Slack"),
    (b"xoxs-", 10, "Slack"),
    (b"xapp-", 10, "Slack"),
    (b"eyJ", 20, "JSON web token"),
    (b"AIza", 30, "Google"),
    (b"ya29.", 20, "Google"),
    (b"npm_", 30, "npm"),
    (b"pypi-", 20, "PyPI"),
    (b"hf_", 20, "Hugging Face"),
    (b"SG.", 20, "SendGrid"),
    (b"sk_live_", 10, "Stripe"),
    (b"rk_live_", 10, "Stripe"),
    (b"sk_test_", 10, "Stripe"),
    (b"dop_v1_", 20, "DigitalOcean"),
    (b"shpat_", 20, "Shopify"),
    (b"AGE-SECRET-KEY-", 20, "age"),
];

/// The bytes (ASCII) with which tokens begin, as a set of bits. Most words are no token and need no look at the table.
#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which refuses what is out of bounds")]
const FIRST: u128 = {
    let (mut first, mut at) = (0, 0);
    while at < TOKENS.len() {
        first |= 1 << TOKENS[at].0[0];
        at += 1;
    }
    first
};

/// A token of [`TOKENS`] at the beginning of `text`.
fn token(text: &[u8]) -> Option<Range<usize>> {
    let first = text.first().filter(|first| first.is_ascii())?;
    if FIRST >> first & 1 == 0 {
        return None;
    }
    let (prefix, least, _) = TOKENS.iter().find(|(prefix, ..)| text.starts_with(prefix))?;
    let end = prefix.len() + run(text.get(prefix.len()..)?, is_token);
    (end >= prefix.len() + least).then_some(0..end)
}

/// Authorization schemes as they stand before their credentials.
const SCHEMES: &[&[u8]] = &[b"bearer ", b"basic ", b"token "];

/// The credentials of `Bearer X` at the beginning of `text`.
fn scheme(text: &[u8]) -> Option<Range<usize>> {
    text.first().filter(|first| matches!(first, b'b' | b'B' | b't' | b'T'))?;
    let scheme = SCHEMES.iter().find(|scheme| starts_with_ignoring_case(text, scheme))?;
    let length = run(text.get(scheme.len()..)?, |byte| is_token(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~'));
    // Shorter words after `token` or `basic` are prose.
    (length >= 16).then_some(scheme.len()..scheme.len() + length)
}

const KEY_BLOCK: &[u8] = b"-----BEGIN ";

/// A private key block at the beginning of `text`, to its last line or the end of the text.
fn key_block(text: &[u8]) -> Option<Range<usize>> {
    let head = text.get(..text.len().min(80))?;
    find(head, b"PRIVATE KEY")?;
    let end = find(text, b"-----END ").map_or(text.len(), |end| {
        let tail = text.get(end..).unwrap_or_default();
        end + tail.iter().position(|&byte| matches!(byte, b'\n' | b'"' | b'\'')).unwrap_or(tail.len())
    });
    Some(0..end)
}

/// What stands between `://` at the beginning of `text` and the `@` before the host.
fn userinfo(text: &[u8]) -> Option<Range<usize>> {
    let authority = text.strip_prefix(b"://")?;
    let length = run(authority, |byte| !byte.is_ascii_whitespace() && !b"/?#'\"`;|&<>".contains(&byte));
    let at = authority.get(..length)?.iter().rposition(|&byte| byte == b'@')?;
    let start = authority.get(..at)?.iter().position(|&byte| byte == b':').map_or(0, |colon| colon + 1);
    // `ssh://git@host` names a user, which is no secret; a lone token before the `@` is long.
    (at > start && (start > 0 || at >= 16)).then_some(3 + start..3 + at)
}

/// The value after a name at `at` in `text` that announces a secret; relative to `at`.
fn assigned(text: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?;
    // Longer names announce nothing, and an end keeps the scan linear.
    let name = run(rest.get(..LONGEST_NAME + 1).unwrap_or(rest), is_name);
    let option = text.get(..at)?.ends_with(b"-");
    let start = name + separator(rest.get(name..)?, option)?;
    if !announces(rest.get(..name)?) {
        return None;
    }
    let value = rest.get(start..)?;
    let quote = value.first().copied().filter(|byte| matches!(byte, b'\'' | b'"'));
    let open = usize::from(quote.is_some());
    let inner = value.get(open..)?;
    // What the shell computes is no secret yet, and hiding it would hide a command.
    let length = run(inner, |byte| match quote {
        Some(b'\'') => byte != b'\'',
        Some(quote) => byte != quote && !b"$`".contains(&byte),
        None => !byte.is_ascii_whitespace() && !b";|&<>()'\"`,}$".contains(&byte),
    });
    (length > 0).then_some(start + open..start + open + length)
}

/// The length of what separates a name from its value: `=`, `: `, `": `, or spaces after an option.
fn separator(text: &[u8], option: bool) -> Option<usize> {
    let quote = usize::from(text.first().is_some_and(|byte| matches!(byte, b'"' | b'\'')));
    let spaces = run(text.get(quote..)?, |byte| byte == b' ');
    let mark = text.get(quote + spaces).copied()?;
    match mark {
        b'=' if spaces == 0 => Some(quote + 1),
        b':' if spaces == 0 || quote == 1 => {
            let from = quote + spaces + 1;
            Some(from + run(text.get(from..)?, |byte| byte == b' '))
        }
        b'-' => None,
        _ if option && spaces > 0 && quote == 0 => Some(spaces),
        _ => None,
    }
}

/// The longest name, in bytes, that can announce a secret.
const LONGEST_NAME: usize = 64;
/// What a name that announces a secret holds, ignoring case and `-`/`_`.
const ANNOUNCING: &[&[u8]] = &[
    b"token",
    b"secret",
    b"password",
    b"passwd",
    b"passphrase",
    b"apikey",
    b"accesskey",
    b"privatekey",
    b"credential",
    b"authkey",
];
/// What a name may end with and still announce one.
const ANNOUNCING_ENDS: &[&[u8]] = &[b"_key", b"_pwd", b"_pass", b"_auth"];
/// Last parts of names that say where a secret is, not what it is.
const ELSEWHERE: &[&[u8]] =
    &[b"file", b"path", b"dir", b"id", b"name", b"url", b"env", b"stdin", b"type", b"command", b"cmd", b"ttl", b"s"];

/// Whether a name (leading dashes allowed) announces a secret.
fn announces(name: &[u8]) -> bool {
    let name = name.get(name.iter().take_while(|&&byte| byte == b'-').count()..).unwrap_or_default();
    if name.len() < 4 || name.len() > LONGEST_NAME {
        return false;
    }
    let lower: Vec<u8> = name.iter().map(|&byte| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }).collect();
    let last = lower.rsplit(|&byte| byte == b'_').next().unwrap_or_default();
    if last.len() < lower.len() && ELSEWHERE.contains(&last) {
        return false;
    }
    let joined: Vec<u8> = lower.iter().copied().filter(|&byte| byte != b'_').collect();
    ANNOUNCING.iter().any(|word| find(&joined, word).is_some())
        || ANNOUNCING_ENDS.iter().any(|end| lower.ends_with(end))
}

/// How many bytes at the beginning of `text` are all `of` a kind.
fn run(text: &[u8], of: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|&byte| !of(byte)).unwrap_or(text.len())
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn starts_with_ignoring_case(text: &[u8], lower: &[u8]) -> bool {
    text.get(..lower.len()).is_some_and(|head| head.eq_ignore_ascii_case(lower))
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    bstr::ByteSlice::find(text, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> String {
        String::from_utf8(mask(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn secrets_are_taken_out() {
        let long = "a1B2".repeat(10);
        let rows = [
            ("aws s3 ls AKIAIOSFODNN7EXAMPLE".to_owned(), "aws s3 ls ***"),
            (format!("curl -H 'Authorization: Bearer {long}' x"), "curl -H 'Authorization: Bearer ***' x"),
            (format!("curl -H \"authorization: basic {long}==\""), "curl -H \"authorization: basic ***\""),
            (format!("git clone https://me:{long}@example.com/r"), "git clone https://me:***@example.com/r"),
            (format!("git clone https://{long}@example.com/r"), "git clone https://***@example.com/r"),
            (format!("echo ghp_{long} github_pat_{long}"), "echo *** ***"),
            (format!("OPENAI=sk-proj-{long} run"), "OPENAI=*** run"),
            (format!("x xoxb-{long}; y"), "x ***; y"),
            (format!("t=eyJhbGciOiJIUzI1NiJ9.{long}.{long}"), "t=***"),
            ("mysql --password hunter2 db".to_owned(), "mysql --password *** db"),
            ("mysql --password=hunter2 db".to_owned(), "mysql --password=*** db"),
            ("app --api-key 'a b c' x".to_owned(), "app --api-key '***' x"),
            ("GITHUB_TOKEN=abc make".to_owned(), "GITHUB_TOKEN=*** make"),
            ("export AWS_SECRET_ACCESS_KEY=abc/def; x".to_owned(), "export AWS_SECRET_ACCESS_KEY=***; x"),
            ("DB_PASSWORD=\"a b\" x".to_owned(), "DB_PASSWORD=\"***\" x"),
            ("curl -d '{\"password\": \"p w\", \"a\": 1}'".to_owned(), "curl -d '{\"password\": \"***\", \"a\": 1}'"),
            ("curl -H 'X-Api-Key: abc' h".to_owned(), "curl -H 'X-Api-Key: ***' h"),
            ("PASSWORD=abc$X".to_owned(), "PASSWORD=***$X"),
            (
                "cat <<E\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nE".to_owned(),
                "cat <<E\n***\nE",
            ),
            ("echo '-----BEGIN PRIVATE KEY-----\nMIIE".to_owned(), "echo '***"),
        ];
        for (text, expected) in rows {
            assert_eq!(masked(&text), expected, "{text}");
        }
    }

    #[test]
    fn commands_and_prose_stay() {
        let rows = [
            "git commit -m 'rotate the token'",
            "GITHUB_TOKEN=$(rm -rf x) make",
            "PASSWORD=\"$(cat f)\" x",
            "TOKEN=`id` x",
            "--token-file /run/secrets/t",
            "AWS_SECRET_NAME=prod",
            "git clone ssh://git@example.com/r",
            "git clone https://example.com/a@b",
            "docker run --env-file .env img",
            "curl https://example.com/?q=a:b@c",
            "ls sk-short basic training",
            "-----BEGIN CERTIFICATE-----",
            "monkey=1 keyboard=2",
        ];
        for text in rows {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn a_word_after_an_announcing_option_is_a_secret() {
        let words = words(&["mysql", "--password", "hunter2", "--user", "me", "--token", "--verbose"]);
        let words: Vec<_> = words.iter().map(|word| std::str::from_utf8(word).unwrap()).collect();
        assert_eq!(words, ["mysql", "--password", "***", "--user", "me", "--token", "--verbose"]);
    }

    #[test]
    fn time_is_linear_in_the_text() {
        // Each of these would take very long if any rule looked at the rest of the text from each place.
        for part in ["TOKEN=$", "eyJ-", "a-", "://", "-----BEGIN ", "password: ", "'TOKEN=\"$"] {
            let text = part.repeat(1 << 14);
            assert!(mask(text.as_bytes()).len() <= text.len() + 3);
        }
    }
}
