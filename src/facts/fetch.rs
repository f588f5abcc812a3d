//! Hosts and URLs: this machine, a literal public host, or else; and whether asking for a URL gives something away.

use bstr::{BStr, BString, ByteSlice};

use super::effect::{Aspect, Effect};
use super::resolve::shown_pieces;
use super::value::{Argument, Piece, UnknownKind, first_unknown};
use super::walker::{By, Walker};

/// A query, path segment or label longer than this can carry data away.
const LONG: usize = 64;
/// Bits per byte above which a long word looks like a key.
const DENSE: f64 = 4.2;

/// Names of a cloud's own service that hands out credentials.
const CREDENTIAL_HOSTS: &[&str] = &["metadata", "instance-data"];

/// The parts of a URL that say where a request goes.
struct Url<'u> {
    scheme: &'u [u8],
    user: Option<&'u [u8]>,
    host: &'u [u8],
    tail: &'u [u8],
}

impl Walker<'_> {
    /// A URL is fetched, or given something.
    pub(super) fn url_effect(&mut self, effect: Effect, argument: &Argument, by: By) {
        let target = shown_pieces(&argument.pieces);
        if first_unknown(&argument.pieces).is_some_and(|unknown| unknown.kind == UnknownKind::Secret) {
            return self.effect((Effect::Send, Some(Aspect::Other)), Some(target), by, "a secret is part of the URL");
        }
        let lead = argument.prefix();
        if let Some(path) = file_path(&lead) {
            return self.path_effect(Effect::Read, &super::table::without(argument, lead.len() - path.len()), by, "");
        }
        let whole = argument.text().is_some();
        let url = split(&lead);
        // The host is known only if something ends it.
        let host_known = whole || !url.tail.is_empty();
        let aspect = if host_known { aspect_of(url.host) } else { Aspect::Other };
        let reason = match (effect, aspect) {
            (Effect::Fetch, Aspect::Loopback) => "asks this machine",
            (Effect::Fetch, Aspect::Local) => "asks a host of the local network",
            (Effect::Fetch, Aspect::Public) => match gives_away(&url) {
                Some(reason) => return self.effect((Effect::Send, Some(Aspect::Public)), Some(target), by, reason),
                None if !whole && has_free_text(&argument.pieces) => "what is asked for is not known in full",
                None => "asks a public host",
            },
            (Effect::Fetch, _) if host_known && url.scheme != b"file" => {
                let reason = "an address or a name that is not public";
                return self.effect((Effect::Send, Some(Aspect::Other)), Some(target), by, reason);
            }
            (Effect::Fetch, _) => "the host is not known",
            (_, Aspect::Loopback) => "gives something to a service of this machine",
            _ => "gives something to another host",
        };
        let unknown_part =
            effect == Effect::Fetch && aspect == Aspect::Public && !whole && has_free_text(&argument.pieces);
        let aspect = if unknown_part { Aspect::Other } else { aspect };
        self.effect((effect, Some(aspect)), Some(target), by, reason);
    }

    /// The kind of host that an argument names.
    pub(super) fn host_aspect(argument: &Argument) -> Aspect {
        let aspect = match argument.text() {
            // A word without dots is as often no host at all: a record type, a user.
            Some(text) => Some(aspect_of(split(&text).host)).filter(|aspect| *aspect != Aspect::Local),
            None => None,
        };
        aspect.unwrap_or(Aspect::Other)
    }
}

/// An unknown piece that can hold anything.
fn has_free_text(pieces: &[Piece]) -> bool {
    pieces.iter().any(|piece| matches!(piece, Piece::Unknown(unknown) if !unknown.kind.is_name()))
}

/// The path in a `file:` URL, whose host can only be this one.
fn file_path(lead: &[u8]) -> Option<&[u8]> {
    let rest = lead.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case(b"file:")).and_then(|_| lead.get(5..))?;
    let Some(rest) = rest.strip_prefix(b"//") else { return Some(rest) };
    rest.find_byte(b'/').and_then(|at| rest.get(at..))
}

fn split(text: &[u8]) -> Url<'_> {
    let (scheme, rest) = match text.find("://") {
        Some(end) => (text.get(..end).unwrap_or_default(), text.get(end + 3..).unwrap_or_default()),
        None => (&b""[..], text),
    };
    let end = rest.find_byteset(b"/?#").unwrap_or(rest.len());
    let (authority, tail) = rest.split_at_checked(end).unwrap_or((rest, b""));
    let (user, host) = match authority.rfind_byte(b'@') {
        Some(at) => (authority.get(..at), authority.get(at + 1..).unwrap_or_default()),
        None => (None, authority),
    };
    let host = match host.strip_prefix(b"[") {
        Some(six) => six.split_str("]").next().unwrap_or_default(),
        None => host.split_str(":").next().unwrap_or_default(),
    };
    Url { scheme, user, host, tail }
}

/// The host of a URL.
pub(super) fn host(text: &BStr) -> BString {
    split(text).host.into()
}

/// This machine, by its usual names.
pub(super) fn is_loopback(host: &[u8]) -> bool {
    let host = host.to_ascii_lowercase();
    matches!(host.as_slice(), b"localhost" | b"::1" | b"0.0.0.0" | b"ip6-localhost")
        || host.ends_with(b".localhost")
        || is_address(&host) && host.starts_with(b"127.")
}

fn is_address(host: &[u8]) -> bool {
    host.contains(&b':') || !host.is_empty() && host.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        // 0x7f000001 and the like.
        || host.starts_with(b"0x")
}

fn aspect_of(host: &[u8]) -> Aspect {
    if is_loopback(host) {
        return Aspect::Loopback;
    }
    let lower = host.to_ascii_lowercase();
    let private = [&b".local"[..], b".internal", b".lan", b".home", b".corp", b".onion", b".intranet", b".localdomain"];
    let named = lower.contains(&b'.') && lower.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(byte));
    let label = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let single = lower.first().is_some_and(u8::is_ascii_alphabetic) && lower.iter().all(label);
    if single && !CREDENTIAL_HOSTS.iter().any(|host| lower == host.as_bytes()) {
        return Aspect::Local;
    }
    if named && !is_address(&lower) && !private.iter().any(|end| lower.ends_with(end)) {
        return Aspect::Public;
    }
    Aspect::Other
}

/// Why asking for this URL gives something away.
fn gives_away(url: &Url<'_>) -> Option<&'static str> {
    if url.user.is_some() {
        return Some("the URL holds a user or password");
    }
    if url.host.split_str(".").any(|label| label.len() > 40 || looks_secret(label)) {
        return Some("a label of the host name looks like data");
    }
    let (path, query) = match url.tail.find_byteset(b"?") {
        Some(at) => url.tail.split_at_checked(at).unwrap_or((url.tail, b"")),
        None => (url.tail, &b""[..]),
    };
    let value = |part: &[u8]| part.rsplit_str("=").next().is_some_and(looks_secret);
    if query.len() > 512 || query.split_str("&").any(value) {
        return Some("the query looks like data");
    }
    let keyed = query.split_str("&").any(|part| {
        let name =
            part.trim_start_with(|byte| byte == '?').split_str("=").next().unwrap_or_default().to_ascii_lowercase();
        matches!(
            name.as_slice(),
            b"token" | b"access_token" | b"api_key" | b"apikey" | b"secret" | b"password" | b"auth"
        )
    });
    if keyed {
        return Some("the query holds a credential");
    }
    path.split_str("/").any(looks_secret).then_some("the path looks like data")
}

/// Long, and dense as keys and encodings are.
fn looks_secret(word: &[u8]) -> bool {
    const SHAPES: &[&[u8]] =
        &[b"ghp_", b"gho_", b"github_pat_", b"sk-", b"xoxb-", b"xoxp-", b"AKIA", b"glpat-", b"npm_", b"eyJ"];
    if word.len() >= 20 && SHAPES.iter().any(|shape| word.starts_with(shape)) {
        return true;
    }
    // Commit ids and digests are dense, but name what is fetched.
    let hex = word.iter().all(u8::is_ascii_hexdigit);
    let word_like = word.iter().filter(|byte| b"-_.+%~ ".contains(byte)).count() * 12 > word.len();
    word.len() > LONG && !word_like && (!hex || word.len() > 128) && density(word) > DENSE || hex && word.len() > 128
}

/// Bits per byte.
#[expect(clippy::cast_precision_loss, reason = "words are short")]
fn density(word: &[u8]) -> f64 {
    let mut counts = [0_usize; 256];
    for byte in word {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = word.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| *count as f64 / length)
        .map(|share| -share * share.log2())
        .sum()
}

/// What stands before a colon and names no host.
const LOCAL_SCHEMES: &[&[u8]] = &[b"pipe", b"file", b"fd", b"concat", b"data", b"cache", b"crypto", b"subfile"];

/// The name and the path of `host:path` and `user@host:path`; `None` for a local path.
pub(super) fn remote(text: &BStr) -> Option<(BString, BString)> {
    if text.contains_str("://") {
        let url = split(text);
        return (url.scheme != b"file").then(|| (url.host.into(), url.tail.into()));
    }
    let colon = text.find_byte(b':')?;
    let (host, path) = text.split_at_checked(colon)?;
    // `pipe:1` and `color=c=red:s=9x9` are no hosts.
    let shaped = |byte: &u8| byte.is_ascii_alphanumeric() || b".-_@".contains(byte);
    let local = host.is_empty() || !host.iter().all(shaped) || LOCAL_SCHEMES.contains(&host);
    (!local).then(|| (host.into(), path.trim_start_with(|byte| byte == ':').into()))
}
