//! `export`, `declare`, `local`, `unset`, `shift`, `getopts`, `let`.

use std::rc::Rc;

use bstr::{BStr, BString, ByteSlice};

use super::Called;
use crate::facts::nested::Nested;
use crate::facts::state::{Value, Variable, either};
use crate::facts::table::without;
use crate::facts::value::{Argument, Piece, UnknownKind, known};
use crate::facts::walker::{By, Walker};

/// `export`, `readonly`, `declare`, `typeset`.
pub(super) fn declare(walker: &mut Walker<'_>, called: &Called<'_>) {
    super::evaluates(walker, called);
    let command = called.words.first().map(Argument::prefix).unwrap_or_default();
    let export = command == "export" || called.has(b'x');
    let readonly = command == "readonly" || called.has(b'r');
    // Functions, references and integers are not followed as values.
    let special = called.has(b'n') || called.has(b'i') || called.has(b'l') || called.has(b'u') || called.has(b'A');
    let letters = [b'f', b'F', b'a', b'A', b'i', b'n'];
    if called.operands().next().is_none() && !letters.iter().any(|letter| called.has(*letter)) {
        return super::shows_variables(walker, called);
    }
    if called.has(b'f') || called.has(b'p') {
        walker.state.options.functions |= export && called.has(b'f');
        return;
    }
    let in_function = !walker.locals.is_empty() && !called.has(b'g');
    let declares = command == "declare" || command == "typeset";
    for argument in called.operands() {
        let Some((name, value)) = split(argument) else {
            if argument.text().is_none() {
                walker.unsettle("variables of names that are not known are assigned");
            }
            continue;
        };
        if in_function && declares {
            remember(walker, &name);
        }
        if called.has(b'i')
            && let Some((pieces, _)) = &value
        {
            walker.arithmetic_names(pieces, called.by.at(argument.at));
        }
        if declares && called.has(b'n') {
            refer(walker, value.as_ref());
        }
        if !array(walker, argument, &name, called.by) {
            assign(walker, &name, value, special, called.by);
        }
        if export || readonly {
            let values = walker.variable(name.as_ref()).into_owned();
            let variables = Rc::make_mut(&mut walker.state.variables);
            let mut variable = variables.remove(&name).unwrap_or(Variable { values, exported: false, readonly: false });
            variable.exported = (variable.exported || export) && !called.has(b'n');
            variable.readonly |= readonly;
            variables.insert(name, variable);
        }
    }
}

/// `declare -n REF=NAME`: from here on NAME may be changed under another name.
fn refer(walker: &mut Walker<'_>, value: Option<&(Vec<Piece>, bool)>) {
    match value.and_then(|(pieces, _)| known(pieces)) {
        Some(target) => {
            walker.state.set_unknown(&target, UnknownKind::Any, format!("${target} has another name"));
            Rc::make_mut(&mut walker.state.renamed).insert(target.into_owned());
        }
        None => {
            walker.unsettle("a variable may have another name");
            Rc::make_mut(&mut walker.state.renamed).insert(BString::default());
        }
    }
}

pub(super) fn local(walker: &mut Walker<'_>, called: &Called<'_>) {
    for argument in called.operands() {
        let Some((name, value)) = split(argument) else { continue };
        remember(walker, &name);
        if called.has(b'n') {
            refer(walker, value.as_ref());
        }
        if array(walker, argument, &name, called.by) {
            continue;
        }
        let value = value.or(Some((Vec::new(), false)));
        let special = called.has(b'n') || called.has(b'A') || called.has(b'i');
        assign(walker, &name, value, special, called.by);
    }
}

/// `declare NAME=(…)` is read once more as the assignment that it is written like; false if it is none.
fn array(walker: &mut Walker<'_>, argument: &Argument, name: &BString, by: By) -> bool {
    let Some(script) = walker.facts.scripts.get(argument.at.script) else { return false };
    let text = script.text.get(argument.at.span.start..argument.at.span.end).unwrap_or_default();
    let value = text.strip_prefix(name.as_slice()).map(|rest| rest.strip_prefix(b"+").unwrap_or(rest));
    let written = value.is_some_and(|value| value.starts_with(b"=("));
    if written {
        let text = vec![Piece::Text(text.into())];
        let by = by.at(argument.at);
        walker.nested(Nested {
            text,
            name: "declared array".to_owned(),
            dialect: walker.frame.dialect,
            shell: None,
            by,
        });
    }
    written
}

fn remember(walker: &mut Walker<'_>, name: &BString) {
    let before = walker.state.variables.get(name).cloned();
    if let Some(locals) = walker.locals.last_mut()
        && !locals.iter().any(|(known, _)| known == name)
    {
        locals.push((name.clone(), before));
    }
}

fn assign(walker: &mut Walker<'_>, name: &BString, value: Option<(Vec<Piece>, bool)>, special: bool, by: By) {
    if let ("PS4", Some((text, _))) = (name.to_str().unwrap_or_default(), &value) {
        walker.prompted(text, by);
    }
    match value {
        Some((pieces, _)) if matches!(pieces.first(), Some(Piece::Text(text)) if text.starts_with(b"(")) => {
            walker.state.set_unknown(name.as_ref(), UnknownKind::Any, format!("${name} may be an array"));
        }
        None if special => walker.state.set_unknown(name.as_ref(), UnknownKind::Any, format!("${name} has attributes")),
        None => {}
        Some((pieces, _)) if special => {
            let kind = Value::Scalar(pieces).kind();
            walker.state.set_unknown(name.as_ref(), kind, format!("${name} has attributes"));
        }
        Some((pieces, false)) => walker.state.set(name.as_ref(), Value::Scalar(pieces)),
        Some((pieces, true)) => {
            let mut all = match &*walker.variable(name.as_ref()) {
                [Value::Scalar(before)] => before.clone(),
                [Value::Unset] => Vec::new(),
                _ => vec![Piece::unknown(UnknownKind::Any, format!("${name} has one of several values here"))],
            };
            crate::facts::expand::append(&mut all, pieces);
            walker.state.set(name.as_ref(), Value::Scalar(all));
        }
    }
}

/// `name`, `name=value`, `name+=value`.
#[expect(clippy::type_complexity, reason = "a name, its value and whether it is appended")]
fn split(argument: &Argument) -> Option<(BString, Option<(Vec<Piece>, bool)>)> {
    let lead = argument.prefix();
    let end = lead.find_byte(b'=').unwrap_or(lead.len());
    let (name, appends) = match lead.get(..end)?.strip_suffix(b"+") {
        Some(name) => (name, true),
        None => (lead.get(..end)?, false),
    };
    let is_name = !name.is_empty() && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    if !is_name || end == lead.len() && argument.text().is_none() {
        return None;
    }
    let value = (end < lead.len()).then(|| (without(argument, end + 1).pieces, appends));
    Some((name.into(), value.map(|(pieces, appends)| (trimmed(pieces), appends))))
}

fn trimmed(pieces: Vec<Piece>) -> Vec<Piece> {
    pieces.into_iter().filter(|piece| !matches!(piece, Piece::Text(text) if text.is_empty())).collect()
}

pub(super) fn unset(walker: &mut Walker<'_>, called: &Called<'_>) {
    super::evaluates(walker, called);
    for argument in called.operands() {
        let Some(name) = argument.text() else {
            walker.unsettle("variables of names that are not known are unset");
            continue;
        };
        let name = name.into_owned();
        let function = name.to_str().is_ok_and(|name| walker.state.functions.contains_key(name));
        if called.has(b'f') || function && !called.has(b'v') && !walker.state.variables.contains_key(&name) {
            Rc::make_mut(&mut walker.state.functions).remove(&name.to_string());
        } else if let Some(bracket) = name.find_byte(b'[') {
            let array = name.get(..bracket).unwrap_or_default().as_bstr();
            walker.state.set_unknown(array, UnknownKind::Any, "an element of an array is unset");
        } else {
            let outer = outer_values(walker, &name);
            walker.state.set(name.as_ref(), Value::Unset);
            if let (Some(outer), Some(variable)) = (outer, Rc::make_mut(&mut walker.state.variables).get_mut(&name)) {
                variable.values = either(&outer, &variable.values);
            }
        }
    }
}

/// What a variable was before a caller declared it local: bash shows it again where a function unsets it.
fn outer_values(walker: &Walker<'_>, name: &BString) -> Option<Vec<Value>> {
    let (_, callers) = walker.locals.split_last()?;
    let (_, before) = callers.iter().rev().flatten().find(|(local, _)| local == name)?;
    Some(before.as_ref().map_or_else(|| vec![Value::Unset], |variable| variable.values.clone()))
}

pub(super) fn shift(walker: &mut Walker<'_>, called: &Called<'_>) {
    let count = match called.arguments.first() {
        None => Some(1),
        Some(count) => count.text().and_then(|text| text.to_str().ok()?.parse::<usize>().ok()),
    };
    let items = walker.state.positional.clone();
    match count {
        Some(count) if count <= items.len() && !items.iter().take(count).any(|item| item.many) => {
            walker.state.positional = Rc::new(items.iter().skip(count).cloned().collect());
        }
        // Too far: nothing is shifted.
        Some(count) if !items.iter().any(|item| item.many) && count > items.len() => {}
        _ => {
            let pieces = vec![Piece::unknown(UnknownKind::Any, "the positional parameters after `shift`")];
            walker.state.positional = Rc::new(vec![Argument { pieces, many: true, at: called.by.at }]);
        }
    }
}

pub(super) fn getopts(walker: &mut Walker<'_>, called: &Called<'_>) {
    if let Some(name) = called.arguments.get(1).and_then(Argument::text) {
        walker.state.set_unknown(&name, UnknownKind::Name, "an option letter");
    }
    let single = walker.state.positional.iter().all(|item| !item.many && item.text().is_some());
    let reason = if single { "the argument of an option of this script" } else { "an argument that is not known" };
    walker.state.set_unknown(BStr::new("OPTARG"), UnknownKind::Any, reason);
}

/// `let x=1`.
pub(super) fn arithmetic(walker: &mut Walker<'_>, called: &Called<'_>) {
    super::evaluates(walker, called);
    for argument in called.arguments {
        walker.arithmetic_names(&argument.pieces, called.by.at(argument.at));
        for name in assigned_in_arithmetic(&argument.pieces) {
            walker.state.set_unknown(name.as_ref(), UnknownKind::Number, "a number from arithmetic");
        }
    }
}

/// The names that an arithmetic expression can assign: all that it mentions beside an assignment.
pub(in crate::facts) fn assigned_in_arithmetic(pieces: &[Piece]) -> Vec<BString> {
    let Some(text) = known(pieces) else { return Vec::new() };
    if !text.contains(&b'=') && !text.contains_str("++") && !text.contains_str("--") {
        return Vec::new();
    }
    text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'))
        .filter(|word| word.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_'))
        .map(BString::from)
        .collect()
}
