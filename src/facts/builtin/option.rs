//! `set`, `shopt`, `setopt`.

use std::rc::Rc;

use bstr::{BStr, ByteSlice};

use super::Called;
use crate::facts::effect::Part;
use crate::facts::state::Value;
use crate::facts::value::Argument;
use crate::facts::walker::Walker;

pub(super) fn set(walker: &mut Walker<'_>, called: &Called<'_>) {
    if called.arguments.is_empty() {
        return super::shows_variables(walker, called);
    }
    let mut arguments = called.arguments.iter();
    let mut named = false;
    while let Some(argument) = arguments.clone().next() {
        let text = argument.prefix();
        if named {
            named = false;
            let on = called.arguments.iter().any(|argument| argument.text().is_some_and(|text| text.starts_with(b"-")));
            long(walker, &text, on);
            if on && text == "xtrace" {
                trace(walker, called);
            }
            if walker.is_zsh() {
                let name = [argument.clone()];
                setopt(walker, &Called { arguments: &name, words: called.words, call: called.call, by: called.by });
            }
            arguments.next();
            continue;
        }
        let (Some(sign @ (b'-' | b'+')), true) = (text.first(), text.len() > 1) else { break };
        arguments.next();
        if text == "--" {
            return parameters(walker, arguments.cloned().collect());
        }
        let on = *sign == b'-';
        for letter in text.iter().skip(1) {
            match letter {
                b'f' => walker.state.options.noglob = on,
                b'e' => walker.state.options.errexit = on,
                b'a' => walker.state.options.allexport = on,
                b'x' if on => trace(walker, called),
                b'o' => named = true,
                _ => {}
            }
        }
    }
    let rest: Vec<_> = arguments.cloned().collect();
    if !rest.is_empty() {
        parameters(walker, rest);
    }
}

/// Before each command from here on PS4 is expanded; an assignment of the script is judged where it stands.
fn trace(walker: &mut Walker<'_>, called: &Called<'_>) {
    let name = BStr::new("PS4");
    if walker.host.user() == 0 || walker.state.variables.contains_key(name) {
        return;
    }
    if let [Value::Scalar(text)] = &*walker.variable(name).into_owned() {
        walker.prompted(text, called.by.part(Part::Assignment));
    }
}

fn long(walker: &mut Walker<'_>, name: &[u8], on: bool) {
    match name {
        b"noglob" => walker.state.options.noglob = on,
        b"errexit" => walker.state.options.errexit = on,
        b"allexport" => walker.state.options.allexport = on,
        _ => {}
    }
}

fn parameters(walker: &mut Walker<'_>, arguments: Vec<Argument>) {
    walker.state.positional = Rc::new(arguments);
}

pub(super) fn shopt(walker: &mut Walker<'_>, called: &Called<'_>) {
    let on = called.has(b's');
    if !on && !called.has(b'u') {
        return;
    }
    for argument in called.operands() {
        match argument.text().as_deref().map(|text| text.as_bytes()) {
            Some(b"extglob") => walker.state.options.extglob = on,
            Some(b"dotglob") => walker.state.options.dotglob = on,
            Some(b"lastpipe") => walker.state.options.lastpipe = on,
            Some(b"expand_aliases") => walker.state.options.aliases = on,
            _ => {}
        }
    }
}

/// zsh options that make words mean something else are doubted.
pub(super) fn setopt(walker: &mut Walker<'_>, called: &Called<'_>) {
    let harmless = |text: &[u8]| {
        let name: Vec<u8> = text.iter().filter(|byte| **byte != b'_').map(u8::to_ascii_lowercase).collect();
        matches!(
            name.as_slice(),
            b"errexit"
                | b"pipefail"
                | b"nounset"
                | b"xtrace"
                | b"noxtrace"
                | b"noerrexit"
                | b"nomatch"
                | b"nonomatch"
                | b"nullglob"
                | b"extendedglob"
                | b"localoptions"
        ) || text.starts_with(b"-")
    };
    let strange = called.arguments.iter().any(|argument| !argument.text().is_some_and(|text| harmless(&text)));
    if strange {
        let doubt = crate::facts::Doubt::Dialect;
        walker.doubt(doubt, called.by, "options that change how the rest is read");
    }
}
