//! What an expression may be worth, and how values are joined.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use bstr::ByteSlice;

use super::expression::MOST;
use crate::facts::value::{ITEM, MAX_SIZE, Piece, TOO_LONG, Unknown, UnknownKind};

/// What an expression may be worth.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Text, with what is unknown of it.
    Text(Vec<Piece>),
    /// A list of values.
    List(Vec<Value>),
    /// A function, module or object by its dotted name; a name that the text does not define.
    Name(String),
    /// Text that was decoded from the text of the code.
    Decoded(Vec<Piece>),
    /// One of these: an item of a list whose name stands for several values.
    Either(Vec<Value>),
    /// Anything.
    Unknown(Cow<'static, str>),
}

pub(super) fn unknown(reason: &'static str) -> Value {
    Value::Unknown(Cow::Borrowed(reason))
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(vec![Piece::Text(text.into())])
}

pub(super) fn piece(reason: &'static str, kind: UnknownKind) -> Piece {
    Piece::Unknown(Unknown { reason: Cow::Borrowed(reason), kind })
}

/// The text of a value that is wholly known.
pub(super) fn known_text(value: &Value) -> Option<String> {
    let (Value::Text(pieces) | Value::Decoded(pieces)) = value else { return None };
    pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.to_str().ok() } else { None }).collect()
}

pub(super) fn member(values: &[Value], name: &str) -> Vec<Value> {
    let named = |value: &Value| match value {
        Value::Name(before) if before == "fs" && name == "promises" => Value::Name(before.clone()),
        Value::Name(before) => Value::Name(format!("{before}.{name}")),
        _ => Value::Name(format!(".{name}")),
    };
    let mut named: Vec<Value> = values.iter().map(named).collect();
    named.dedup();
    named
}

/// What a value may be.
pub(super) fn alternatives(value: Value) -> Vec<Value> {
    match value {
        Value::Either(values) => values,
        value => vec![value],
    }
}

/// The lists that a list of alternatives may be; one of unknown words if they are too many.
pub(super) fn expanded(words: &[Value]) -> Vec<Vec<Value>> {
    let mut lists = vec![Vec::new()];
    for word in words {
        let choices = alternatives(word.clone());
        if lists.len() * choices.len() > MOST {
            return vec![words.to_vec()];
        }
        let longer = |list: &Vec<Value>| {
            let list = list.clone();
            choices.clone().into_iter().map(move |choice| list.iter().cloned().chain([choice]).collect())
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    lists
}

/// The elements of a list; names below a folder stand for themselves.
pub(super) fn element(value: Value) -> Vec<Value> {
    match value {
        Value::List(items) if items.len() <= MOST => items.into_iter().flat_map(alternatives).collect(),
        Value::List(_) => vec![unknown("one of many values")],
        Value::Text(pieces) if pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_))) => {
            vec![Value::Text(pieces)]
        }
        _ => vec![unknown("an element")],
    }
}

/// A name below a folder (`os.listdir`) or one that a pattern matches (`glob.glob`): relative if the folder is.
pub(super) fn below(value: &Value) -> Value {
    let Some(folder) = known_text(value) else { return unknown("a name below an unknown folder") };
    let fixed = folder.split(['*', '?', '[']).next().unwrap_or_default();
    let fixed = if fixed.len() < folder.len() {
        fixed.rfind('/').map_or("", |end| fixed.get(..=end).unwrap_or_default())
    } else {
        fixed
    };
    let mut pieces = Vec::new();
    if !fixed.is_empty() && fixed != "." && fixed != "./" {
        let slash = if fixed.ends_with('/') { "" } else { "/" };
        pieces.push(Piece::Text(format!("{fixed}{slash}").into()));
    }
    pieces.push(piece("a name below a folder", UnknownKind::RelativePath));
    Value::Text(pieces)
}

/// base64 text of the code, read.
pub(super) fn decoded(value: &Value) -> Value {
    let engine = GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    let text = known_text(value).map(|text| text.split_whitespace().collect::<String>());
    match text.and_then(|text| engine.decode(text).ok()) {
        Some(bytes) => Value::Decoded(vec![Piece::Text(bytes.into())]),
        None => unknown("decoded text"),
    }
}

/// Another name in the folder of a path.
pub(super) fn beside(value: &Value) -> Value {
    let Some(path) = known_text(value) else { return value.clone() };
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => text("/"),
        Some((folder, _)) => text(folder),
        None => text("."),
    }
}

/// `"…%s…" % x`: known up to the first field.
pub(super) fn formatted(values: &[Value]) -> Value {
    let known = values.iter().find_map(known_text).unwrap_or_default();
    let before = known.split('%').next().unwrap_or_default();
    let mut pieces = Vec::new();
    if !before.is_empty() {
        pieces.push(Piece::Text(before.into()));
    }
    pieces.push(piece("a formatted value", UnknownKind::Any));
    Value::Text(soften(pieces))
}

/// Every left value joined with every right one.
pub(super) fn combine(left: &[Value], right: &[Value], join: fn(&[Piece], &[Piece]) -> Vec<Piece>) -> Vec<Value> {
    if left.len() * right.len() > MOST {
        return vec![unknown("one of many values")];
    }
    let mut values = Vec::new();
    for first in left {
        for second in right {
            let value = match (first, second) {
                _ if size(first) + size(second) > MAX_SIZE => unknown(TOO_LONG),
                (Value::List(a), Value::List(b)) => Value::List(a.iter().chain(b).cloned().collect()),
                (Value::List(items), _) => {
                    Value::List(items.iter().cloned().chain([unknown("a list in a list")]).collect())
                }
                _ => Value::Text(soften(merged(join(&pieces(first), &pieces(second))))),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
    }
    values
}

/// What it takes to keep a value, about, in bytes.
fn size(value: &Value) -> usize {
    match value {
        Value::Text(pieces) | Value::Decoded(pieces) => pieces.iter().map(Piece::size).sum(),
        Value::List(values) | Value::Either(values) => values.iter().map(size).sum::<usize>() + ITEM,
        Value::Name(name) => name.len(),
        Value::Unknown(_) => ITEM,
    }
}

pub(super) fn pieces(value: &Value) -> Vec<Piece> {
    match value {
        Value::Text(pieces) | Value::Decoded(pieces) => pieces.clone(),
        Value::Name(name) => {
            vec![Piece::Unknown(Unknown { reason: format!("{name} is not known").into(), kind: UnknownKind::Any })]
        }
        Value::List(_) => vec![piece("a list", UnknownKind::Any)],
        Value::Either(_) => vec![piece("one of several values", UnknownKind::Any)],
        Value::Unknown(reason) => vec![Piece::Unknown(Unknown { reason: reason.clone(), kind: UnknownKind::Any })],
    }
}

pub(super) fn join_text(left: &[Piece], right: &[Piece]) -> Vec<Piece> {
    left.iter().chain(right).cloned().collect()
}

/// `a/b`; an absolute right side stands alone.
pub(super) fn join_path(left: &[Piece], right: &[Piece]) -> Vec<Piece> {
    let absolute = matches!(right.first(), Some(Piece::Text(text)) if text.starts_with(b"/"));
    if absolute || left.is_empty() {
        return right.to_vec();
    }
    let slash = !matches!(left.last(), Some(Piece::Text(text)) if text.ends_with(b"/"));
    let mut pieces = left.to_vec();
    if slash {
        pieces.push(Piece::Text("/".into()));
    }
    pieces.extend(right.iter().cloned());
    pieces
}

/// Neighbouring known pieces as one.
pub(super) fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut result: Vec<Piece> = Vec::with_capacity(pieces.len());
    for piece in pieces {
        match (result.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.extend_from_slice(&text),
            (_, piece) => result.push(piece),
        }
    }
    result
}

/// A computed piece after a known folder is taken for a name below it: text that climbs would have to come from data.
pub(super) fn soften(mut pieces: Vec<Piece>) -> Vec<Piece> {
    let mut folder = false;
    for piece in &mut pieces {
        match piece {
            Piece::Text(text) => folder |= text.contains(&b'/'),
            Piece::Unknown(unknown)
                if folder
                    && unknown.kind == UnknownKind::Any
                    && !unknown.reason.contains("environment")
                    && !unknown.reason.contains("argument") =>
            {
                unknown.kind = UnknownKind::RelativePath;
            }
            Piece::Pattern(_) | Piece::Unknown(_) => {}
        }
    }
    pieces
}
