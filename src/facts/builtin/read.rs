//! `read` and `mapfile`: variables from standard input.

use bstr::{BStr, BString, ByteSlice};

use super::Called;
use crate::facts::state::Value;
use crate::facts::value::{Argument, Piece, UnknownKind, known};
use crate::facts::walker::Walker;
use crate::syntax::model::{Block, Command, Part, SimpleCommand};

/// A loop over known lines runs at most so often.
const MAX_LINES: usize = 64;

pub(super) fn read(walker: &mut Walker<'_>, called: &Called<'_>) {
    let names = names(called);
    let options = called.arguments.iter().map(Argument::prefix).take_while(|text| text.starts_with(b"-"));
    let array = options.into_iter().any(|letters| letters.contains(&b'a'));
    let text = walker.frame.stdin.as_ref().and_then(|stdin| known(stdin).map(std::borrow::Cow::into_owned));
    // Other ends, other files; without `-r` a backslash is no text.
    let plain = !b"dnNukq".iter().any(|letter| called.has(*letter));
    let line = text.filter(|text| plain && (called.has(b'r') || !text.contains(&b'\\')));
    // Only the first `read` of an input sees its beginning.
    match line {
        Some(text) if array && walker.separators().iter().all(u8::is_ascii_whitespace) => {
            let name = names.first().map_or(BStr::new("REPLY"), |name| name.as_ref());
            let separators = walker.separators();
            let words = text.lines().next().unwrap_or_default().split(|byte| separators.contains(byte));
            let words = words.filter(|word| !word.is_empty());
            let words = words.map(|word| Argument::known(word, called.by.at)).collect();
            walker.state.set(name, Value::Array(words));
        }
        Some(text) if !array && !text.trim_ascii_end().contains(&b'\n') => {
            assign_line(walker, text.trim_end_with(|byte| byte == '\n'), &names);
        }
        _ => {
            let kind = input_kind(walker);
            for name in names {
                walker.state.set_unknown(name.as_ref(), kind, format!("${name} is read from standard input"));
            }
        }
    }
}

/// The variables that are set; `REPLY` if none is named.
fn names(called: &Called<'_>) -> Vec<BString> {
    const VALUED: &[u8] = b"adintNpu";
    let mut names = Vec::new();
    let mut skip = false;
    for argument in called.arguments {
        let text = argument.prefix();
        if std::mem::take(&mut skip) {
            continue;
        }
        match text.strip_prefix(b"-") {
            Some(letters) if names.is_empty() && !letters.is_empty() => {
                let valued = letters.iter().position(|letter| VALUED.contains(letter));
                // `-a NAME` sets an array.
                if valued.is_some_and(|at| letters.get(at) == Some(&b'a')) && valued == Some(letters.len() - 1) {
                    continue;
                }
                skip = valued == Some(letters.len() - 1);
            }
            _ => names.push(text),
        }
    }
    if names.is_empty() {
        names.push("REPLY".into());
    }
    names
}

/// Gives each name a word of the line, the last one the rest.
fn assign_line(walker: &mut Walker<'_>, line: &[u8], names: &[BString]) {
    let separators = walker.separators();
    let separates = |byte: &u8| separators.contains(byte);
    let blank = |byte: &u8| separates(byte) && byte.is_ascii_whitespace();
    let without_blanks = |text: &'_ [u8]| -> usize { text.iter().take_while(|byte| blank(byte)).count() };
    let mut rest = line.get(without_blanks(line)..).unwrap_or_default();
    for (number, name) in names.iter().enumerate() {
        let last = number + 1 == names.len();
        let end = if last { rest.len() } else { rest.iter().position(separates).unwrap_or(rest.len()) };
        let (word, after) = rest.split_at_checked(end).unwrap_or((rest, b""));
        let kept = word.len() - word.iter().rev().take_while(|byte| blank(byte)).count();
        let word = word.get(..kept).unwrap_or_default();
        // Whether a separator at the end counts differs between shells.
        if last && word.last().is_some_and(separates) {
            walker.state.set_unknown(name.as_ref(), UnknownKind::Any, format!("${name} ends with a separator"));
            continue;
        }
        walker.state.set(name.as_ref(), Value::Scalar(vec![Piece::Text(word.into())]));
        // Between two words stand blanks and at most one other separator.
        rest = after.get(without_blanks(after)..).unwrap_or_default();
        if let Some((byte, following)) = rest.split_first()
            && separates(byte)
        {
            rest = following.get(without_blanks(following)..).unwrap_or_default();
        }
    }
}

fn input_kind(walker: &Walker<'_>) -> UnknownKind {
    let Some(stdin) = &walker.frame.stdin else { return UnknownKind::Any };
    let kinds = stdin.iter().filter_map(|piece| match piece {
        Piece::Text(text) if text.trim_ascii().is_empty() => None,
        Piece::Unknown(unknown) => Some(unknown.kind.part()),
        _ => Some(UnknownKind::Any),
    });
    kinds.reduce(UnknownKind::or).unwrap_or(UnknownKind::Any)
}

pub(super) fn mapfile(walker: &mut Walker<'_>, called: &Called<'_>) {
    calls_back(walker, called);
    let name = called.arguments.last().and_then(Argument::text).filter(|text| !text.starts_with(b"-"));
    let name = name.map_or_else(|| BString::from("MAPFILE"), std::borrow::Cow::into_owned);
    let text = walker.frame.stdin.as_ref().and_then(|stdin| known(stdin).map(std::borrow::Cow::into_owned));
    match text {
        Some(text) if called.has(b't') && !called.has(b'd') => {
            let lines = text.lines().map(|line| Argument::known(line, called.by.at)).collect();
            walker.state.set(name.as_ref(), Value::Array(lines));
        }
        _ => {
            let kind = input_kind(walker);
            walker.state.set_unknown(name.as_ref(), kind, format!("${name} is read from standard input"));
        }
    }
}

/// `mapfile -C COMMAND`: it is run with an index and a line.
fn calls_back(walker: &mut Walker<'_>, called: &Called<'_>) {
    let mut arguments = called.arguments.iter();
    let Some(argument) = arguments.find(|argument| argument.prefix().starts_with(b"-C")) else { return };
    let attached = crate::facts::table::without(argument, 2);
    let command = if attached.text().is_some_and(|text| text.is_empty()) { arguments.next() } else { Some(&attached) };
    let Some(command) = command else { return };
    let mut text = command.pieces.clone();
    crate::facts::expand::append(&mut text, [Piece::Text(" 0 \"".into())]);
    let line = walker.frame.stdin.as_ref().and_then(|stdin| known(stdin)?.lines().next().map(BString::from));
    let line = line.map_or_else(|| Piece::unknown(input_kind(walker), "a line of standard input"), Piece::Text);
    crate::facts::expand::append(&mut text, [line, Piece::Text("\"".into())]);
    super::runs(walker, called, Some(&Argument { pieces: text, ..*command }));
}

impl Walker<'_> {
    /// `while read x; do …; done` over known lines: once for each. False if it is another loop.
    pub(in crate::facts) fn lines(&mut self, condition: &Block, body: &Block) -> bool {
        let [statement] = condition.as_slice() else { return false };
        let Command::Simple(simple) = &statement.command else { return false };
        if !is_read(simple) || !simple.redirections.is_empty() {
            return false;
        }
        let text = self.frame.stdin.as_ref().and_then(|stdin| known(stdin).map(std::borrow::Cow::into_owned));
        // A backslash joins lines, unless it is told not to.
        let Some(text) =
            text.filter(|text| text.lines().count() <= MAX_LINES && (is_raw(simple) || !text.contains(&b'\\')))
        else {
            return false;
        };
        let whole = self.frame.stdin.clone();
        self.exits.push(None);
        for line in text.lines() {
            self.state.ended = false;
            self.frame.stdin = Some(vec![Piece::Text([line, b"\n"].concat().into())].into());
            self.command(&statement.command);
            self.frame.stdin.clone_from(&whole);
            self.block(body);
        }
        self.leave_loop();
        true
    }
}

fn is_read(simple: &SimpleCommand) -> bool {
    let name = simple.words.first().map(|word| word.parts.as_slice());
    let plain = simple.words.iter().all(|word| matches!(word.parts.as_slice(), [Part::Literal { .. }]));
    let splits_null = simple.words.iter().any(|word| matches!(word.parts.as_slice(), [Part::Literal { text, .. }] if text.starts_with(b"-") && text.contains(&b'd')));
    plain && !splits_null && matches!(name, Some([Part::Literal { text, .. }]) if BStr::new(text) == "read")
}

fn is_raw(simple: &SimpleCommand) -> bool {
    let raw = |text: &[u8]| text.starts_with(b"-") && text.contains(&b'r');
    simple.words.iter().any(|word| matches!(word.parts.as_slice(), [Part::Literal { text, .. }] if raw(text)))
}
