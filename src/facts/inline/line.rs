//! Languages of lines: the first word of a command says what the rest is (vim, gdb, ed, gnuplot, database clients).

use super::language::{Language, Rest};
use super::source::Source;
use super::{InlineFinding, What, doubt};
use crate::diagnostic::Span;
use crate::facts::{Aspect, Doubt, Effect};

/// Findings in a text of commands, a line each or parted by what the language says.
pub(super) fn judge(language: &'static Language, source: &Source) -> Vec<InlineFinding> {
    let mut findings = Vec::new();
    let mut at = 0;
    for line in source.text.split_inclusive('\n') {
        let own = line.trim();
        if let Some(close) = block(language, own) {
            // What the command is given goes on to the closing line.
            let rest = source.text.get(at..).unwrap_or_default();
            let end = rest.lines().skip(1).position(|line| line.trim() == close);
            let text: Vec<_> = rest.lines().take(end.map_or(usize::MAX, |end| end + 1)).collect();
            command(language, source, text.join("\n").trim(), Span::new(at, at + rest.trim_end().len()), &mut findings);
        }
        command(language, source, own, Span::new(at, at + line.trim_end().len()), &mut findings);
        at += line.len();
    }
    findings
}

/// The line that ends the block that a command opens.
fn block(language: &'static Language, line: &str) -> Option<&'static str> {
    let opens = |open: &str| {
        line.strip_prefix(open).is_some_and(|rest| !rest.starts_with(|letter: char| letter.is_ascii_alphanumeric()))
    };
    language.blocks.iter().find(|(open, _)| opens(open)).map(|(_, close)| *close)
}

/// Findings in one command.
pub(super) fn command(
    language: &'static Language,
    source: &Source,
    line: &str,
    span: Span,
    findings: &mut Vec<InlineFinding>,
) {
    let text = without_range(line);
    if text.is_empty() || language.comments.iter().any(|comment| text.starts_with(comment)) {
        return;
    }
    let inert = language.commands.iter().all(|(_, rest)| *rest == Rest::Text);
    if !inert && text.starts_with(|letter: char| source.unknown(letter).is_some()) {
        findings.push(doubt(Doubt::Argument, span, "a command of the code is not known"));
        return;
    }
    let Some((word, rest)) = known(language, text) else {
        findings.push(doubt(
            Doubt::Argument,
            span,
            format!("no table tells what `{}` does in this code", text.split_whitespace().next().unwrap_or_default()),
        ));
        return;
    };
    let mut argument = text.get(word.len()..).unwrap_or_default();
    // What takes the rest of its line as its own (`!`) takes the separator too.
    let own = matches!(rest, Rest::Code(_)) || argument.trim_start().starts_with('!');
    if !own
        && !language.separator.is_empty()
        && let Some((before, next)) = parted(after_patterns(word, argument), language.separator)
    {
        let end = argument.len() - next.len() - 1;
        argument = argument.get(..end).unwrap_or(before);
        command(language, source, next.trim(), span, findings);
    }
    let argument = argument.strip_prefix('!').filter(|_| !matches!(rest, Rest::Code(_))).unwrap_or(argument).trim();
    if matches!(word, "g" | "v" | "global" | "vglobal") {
        // `g/re/command`.
        return command(language, source, after_patterns(word, argument), span, findings);
    }
    if let Some(what) = meaning(language, source, rest, argument) {
        findings.push(InlineFinding { what, span, reason: format!("`{word}` in the code").into() });
    }
}

/// The longest command word that `text` begins with; `*` stands for all others.
fn known(language: &'static Language, text: &str) -> Option<(&'static str, Rest)> {
    let begins = |word: &str| {
        let Some(after) = text.strip_prefix(word) else { return false };
        let punctuation = !word.ends_with(|letter: char| letter.is_ascii_alphanumeric());
        punctuation || !after.starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_')
    };
    let found =
        language.commands.iter().filter(|(word, _)| *word != "*" && begins(word)).max_by_key(|(word, _)| word.len());
    found.copied().or_else(|| language.commands.iter().find(|(word, _)| *word == "*").map(|(_, rest)| ("", *rest)))
}

pub(super) fn meaning(language: &'static Language, source: &Source, rest: Rest, argument: &str) -> Option<What> {
    let path = |effect: Effect, path: &str| {
        let path = path.split_whitespace().next().unwrap_or_default().trim_matches(['"', '\'']);
        (!path.is_empty()).then(|| What::Path { effect, path: source.argument(path), tree: false })
    };
    let script = |language: &'static str, text: &str| {
        Some(What::Script { language: language.into(), text: source.argument(text) })
    };
    match rest {
        Rest::Text => None,
        Rest::Read => path(Effect::Read, argument),
        Rest::Write => path(Effect::Write, argument),
        Rest::Delete => path(Effect::Delete, argument),
        Rest::Script => Some(What::ScriptFile {
            language: language.names.first().copied().unwrap_or_default().into(),
            path: source.argument(argument),
        }),
        Rest::Code(code) => script(code, argument.trim_matches(['"', '\''])),
        Rest::WriteOrCommand | Rest::ReadOrCommand => match unquoted(argument).strip_prefix(['!', '|', '<']) {
            Some(command) => script("shell", command.trim()),
            None => path(
                if rest == Rest::WriteOrCommand { Effect::Write } else { Effect::Read },
                argument.trim_start_matches(">>"),
            ),
        },
        Rest::Alias => argument.strip_prefix('!').and_then(|command| script("shell", command.trim())),
        Rest::Effect(word) => {
            let (effect, aspect) =
                word.split_once('.').map_or((word, None), |(effect, aspect)| (effect, Aspect::from_word(aspect)));
            Effect::from_word(effect).map(|effect| What::Effect(effect, aspect))
        }
    }
}

/// The text of an argument that is written in quotes; any other as it is.
fn unquoted(argument: &str) -> &str {
    let quoted = ['"', '\''].iter().find_map(|quote| argument.strip_prefix(*quote)?.split(*quote).next());
    quoted.unwrap_or(argument)
}

/// What stands before and after the first of `marks` outside of quotes.
fn parted<'t>(text: &'t str, marks: &str) -> Option<(&'t str, &'t str)> {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match quote {
            Some(open) if open == letter => quote = None,
            Some(_) => {}
            None if marks.contains(letter) => return Some((text.get(..at)?, text.get(at + letter.len_utf8()..)?)),
            None if matches!(letter, '"' | '\'') && text.matches(letter).count() % 2 == 0 => quote = Some(letter),
            None => {}
        }
    }
    None
}

/// What follows the delimited parts of `s/a/b/` and `g/a/`, in which a separator is none.
fn after_patterns<'t>(word: &str, argument: &'t str) -> &'t str {
    let parts = match word {
        "s" => 3,
        "g" | "v" | "global" | "vglobal" => 2,
        _ => return argument,
    };
    let text = argument.trim_start_matches('!');
    let Some(mark) = text.chars().next().filter(char::is_ascii_punctuation) else { return argument };
    text.splitn(parts + 1, mark).nth(parts).unwrap_or_default()
}

/// A command without the lines that it is for (`%`, `1,5`, `.,$`, `'<,'>`) and colons.
fn without_range(line: &str) -> &str {
    line.trim_start_matches([':', ' ', '\t', '%', ',', '$', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
}
