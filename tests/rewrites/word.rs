//! Rewrites inside a script: of one of its simple commands.

use vetsh::diagnostic::Span;
use vetsh::syntax::model::{Block, Command, CompoundKind, Part, RedirectionKind, SimpleCommand};
use vetsh::syntax::{self, Dialect};

use super::quote;
use crate::support::Random;

/// A way to put one simple command that keeps what it does: the whole new script.
pub type Rewrite = fn(&str, &SimpleCommand, &mut Random) -> Option<String>;

/// By name.
pub const REWRITES: &[(&str, Rewrite)] = &[
    ("quoted word", |script, command, random| {
        let word = plain_word(script, command, random)?;
        Some(replaced(script, word, &quote::word(text(script, word), random)))
    }),
    ("quoted name", |script, command, random| {
        let name = plain_name(script, command)?;
        Some(replaced(script, name, &quote::word(text(script, name), random)))
    }),
    ("every word quoted", |script, command, random| {
        plain_name(script, command)?;
        let mut out = script.to_owned();
        for word in command.words.iter().rev().map(|word| word.span).filter(|span| is_plain(text(script, *span))) {
            out = replaced(&out, word, &quote::word(text(script, word), random));
        }
        Some(out)
    }),
    ("word in a variable", |script, command, random| {
        let word =
            if random.below(2) == 0 { plain_name(script, command)? } else { plain_word(script, command, random)? };
        let name = format!("_v{}", random.below(1000));
        let used = match random.below(4) {
            0 => format!("${name}"),
            1 => format!("\"${name}\""),
            2 => format!("\"${{{name}:-x}}\""),
            _ => format!("${{{name}}}"),
        };
        let next = script[word.end..].chars().next();
        if used == format!("${name}") && next.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
            return None;
        }
        let value = quote::text(text(script, word), random);
        Some(format!("{name}={value}\n{}", replaced(script, word, &used)))
    }),
    ("half of a word in a variable", |script, command, random| {
        let word = plain_word(script, command, random).or_else(|| plain_name(script, command))?;
        let (head, tail) = text(script, word).split_at(random.below(word.end - word.start));
        let name = format!("_v{}", random.below(1000));
        Some(format!("{name}={head}; {}", replaced(script, word, &format!("${{{name}}}{tail}"))))
    }),
    ("words in an array", |script, command, random| {
        let span = words_span(script, command)?;
        let name = format!("_a{}", random.below(1000));
        let all = format!("\"${{{name}[@]}}\"");
        Some(format!("{name}=({})\n{}", text(script, span), replaced(script, span, &all)))
    }),
    ("words in set --", |script, command, _| {
        let span = words_span(script, command)?;
        let free = !script.contains('$')
            && !script.contains("set ")
            && !script.contains("shift")
            && !script.contains("() {")
            && !script.contains("_f");
        free.then(|| format!("set -- {}\n{}", text(script, span), replaced(script, span, "\"$@\"")))
    }),
    ("braces", |script, command, _| {
        let span = words_span(script, command)?;
        let words: Vec<_> = text(script, span).split_ascii_whitespace().collect();
        let free = words.len() > 1 && words.iter().all(|word| !word.contains([',', '.']));
        free.then(|| replaced(script, span, &format!("{{{}}}", words.join(","))))
    }),
    ("wrapper", |script, command, random| {
        let name = program_name(script, command)?;
        let wrappers = [
            "env ",
            "command ",
            "nice ",
            "nice -n 5 ",
            "nohup ",
            "timeout 5 ",
            "timeout -k 1 5s ",
            "setsid ",
            "setsid -w ",
            "stdbuf -oL ",
            "env -u ZZ ",
            "env ZZ=1 ",
            "ionice -c3 ",
            "env -- ",
            "command -- ",
            "/usr/bin/env ",
            "ZZ=1 ",
        ];
        let wrapper = random.pick(&wrappers);
        Some(replaced(script, Span::new(name.start, name.start), wrapper))
    }),
    ("path of the program", |script, command, random| {
        let name = program_name(script, command)?;
        let folder = random.pick(&["/bin/", "/usr/bin/", "/usr/bin/../bin/", "/usr/./bin/", "//usr//bin/"]);
        (!text(script, name).contains('/') && !script.contains("PATH="))
            .then(|| replaced(script, Span::new(name.start, name.start), folder))
    }),
    ("xargs", |script, command, random| {
        let name = program_name(script, command)?;
        let [_, .., last] = command.words.as_slice() else { return None };
        let argument = text(script, last.span);
        let rest = script[name.start..last.span.start].trim_end();
        // The command has no standard input left, and xargs reads quotes and braces.
        let reads = script.contains('|') || rest.contains("sh") || INPUT.contains(&text(script, name));
        let plain =
            is_plain(argument) && !argument.starts_with('-') && !rest.contains(['{', '\\']) && !argument.contains('%');
        if reads || !plain || !command.redirections.is_empty() || !command.assignments.is_empty() {
            return None;
        }
        let call = match random.below(6) {
            0 => format!("echo {argument} | xargs {rest}"),
            1 => format!("printf '%s\\n' {argument} | xargs {rest}"),
            2 => format!("xargs {rest} <<< {argument}"),
            3 => format!("printf '{argument}\\0' | xargs -0 {rest}"),
            4 => format!("echo {argument} | xargs -n1 {rest}"),
            _ => format!("echo {argument} | xargs -I{{}} {rest} {{}}"),
        };
        Some(replaced(script, Span::new(name.start, last.span.end), &format!("{{ {call}; }}")))
    }),
    ("word that is printed", |script, command, random| {
        let word =
            if random.below(2) == 0 { plain_name(script, command)? } else { plain_word(script, command, random)? };
        let value = text(script, word);
        let printed = match random.below(5) {
            0 => format!("$(echo {value})"),
            1 => format!("`printf %s {value}`"),
            2 => format!("\"$(printf '%s\\n' {value})\""),
            3 => format!("$(cat <<< {value})"),
            _ => format!("$(basename /x/{value})"),
        };
        let free = !value.starts_with('-') && !value.contains(['/', '%']);
        free.then(|| replaced(script, word, &printed))
    }),
    ("word that is read", |script, command, random| {
        let word = plain_name(script, command)?;
        let value = text(script, word);
        let name = format!("_v{}", random.below(1000));
        let read = match random.below(5) {
            0 => format!("read -r {name} <<< {value}"),
            1 => format!("printf -v {name} %s {value}"),
            2 => format!("{name}=x{value}; {name}=${{{name}#x}}"),
            3 => format!("{name}={value}zz; {name}=${{{name}/zz/}}"),
            _ => format!("declare {name}={value}"),
        };
        (!value.contains('%')).then(|| format!("{read}\n{}", replaced(script, word, &format!("\"${name}\""))))
    }),
    ("redirection first", |script, command, _| {
        let [only] = command.redirections.as_slice() else { return None };
        let here = matches!(only.kind, RedirectionKind::HereDocument(_) | RedirectionKind::HereString(_));
        let last = command.words.last()?;
        if here || only.span.start < last.span.end || !command.assignments.is_empty() {
            return None;
        }
        let redirection = text(script, only.span).to_owned();
        let without = replaced(script, only.span, "");
        Some(replaced(&without, Span::new(command.span.start, command.span.start), &format!("{redirection} ")))
    }),
    ("line continuation", |script, command, random| {
        let word = plain_name(script, command).filter(|_| random.below(2) == 0);
        let at = match word.or_else(|| plain_word(script, command, random)) {
            Some(word) => word.start + random.below(word.end - word.start),
            None => command.words.get(1)?.span.start,
        };
        Some(replaced(script, Span::new(at, at), "\\\n"))
    }),
    ("blanks", |script, command, random| {
        let word = command.words.get(1)?;
        let blanks = random.pick(&["\t", "   ", " \t ", " \\\n\t"]);
        Some(replaced(script, Span::new(word.span.start, word.span.start), blanks))
    }),
];

/// The simple commands of a script that are written in it directly; `None` if it is not understood.
pub fn commands(script: &str) -> Option<Vec<SimpleCommand>> {
    let read = syntax::read(script.as_bytes(), Dialect::Bash);
    let mut found = Vec::new();
    in_block(&read.body, &mut found);
    read.doubts.is_empty().then_some(found)
}

fn in_block(block: &Block, found: &mut Vec<SimpleCommand>) {
    block.iter().for_each(|statement| in_command(&statement.command, found));
}

fn in_command(command: &Command, found: &mut Vec<SimpleCommand>) {
    match command {
        Command::Simple(simple) => found.push(simple.clone()),
        Command::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| in_command(stage, found)),
        Command::List(list) => {
            in_command(&list.first, found);
            list.rest.iter().for_each(|(_, command)| in_command(command, found));
        }
        Command::Compound(compound) => match &compound.kind {
            CompoundKind::Group(body) | CompoundKind::Subshell(body) => in_block(body, found),
            CompoundKind::If { branches, otherwise } => {
                branches
                    .iter()
                    .for_each(|(test, body)| [test, body].into_iter().for_each(|block| in_block(block, found)));
                in_block(otherwise, found);
            }
            CompoundKind::While { condition, body } => {
                in_block(condition, found);
                in_block(body, found);
            }
            CompoundKind::For { body, .. } | CompoundKind::ArithmeticFor { body, .. } => in_block(body, found),
            CompoundKind::Case { clauses, .. } => clauses.iter().for_each(|(_, body)| in_block(body, found)),
            CompoundKind::Conditional(_) | CompoundKind::Arithmetic(_) => {}
        },
        Command::Function(function) => in_command(&function.body, found),
        Command::Coproc(_) | Command::Opaque(_) => {}
    }
}

fn text(script: &str, span: Span) -> &str {
    &script[span.start..span.end]
}

fn replaced(script: &str, span: Span, by: &str) -> String {
    format!("{}{by}{}", &script[..span.start], &script[span.end..])
}

/// Neither quoted nor expanded, and the same in every position.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./:@%+,-".contains(&byte))
}

/// The name of a command that is no assignment of the shell itself: those are read before they are expanded.
fn plain_name(script: &str, command: &SimpleCommand) -> Option<Span> {
    let name = command.words.first()?.span;
    let declares = ["export", "declare", "local", "readonly", "typeset", "alias", "let"].contains(&text(script, name));
    (is_plain(text(script, name)) && !declares).then_some(name)
}

/// The name of something that lies in a folder of programs.
fn program_name(script: &str, command: &SimpleCommand) -> Option<Span> {
    let name = plain_name(script, command)?;
    let word = text(script, name);
    let defined = [format!("{word}()"), format!("{word} ()"), format!("function {word}"), format!("alias {word}")];
    (!BUILTINS.contains(&word) && !defined.iter().any(|text| script.contains(text))).then_some(name)
}

fn plain_word(script: &str, command: &SimpleCommand, random: &mut Random) -> Option<Span> {
    let words: Vec<_> =
        command.words.iter().skip(1).map(|word| word.span).filter(|span| is_plain(text(script, *span))).collect();
    (!words.is_empty()).then(|| words[random.below(words.len())])
}

/// All words of a command of plain words that stand in a row.
fn words_span(script: &str, command: &SimpleCommand) -> Option<Span> {
    plain_name(script, command)?;
    let span = Span::new(command.words.first()?.span.start, command.words.last()?.span.end);
    let plain = command.words.iter().all(|word| matches!(word.parts.as_slice(), [Part::Literal { quoted: false, .. }]));
    (plain && text(script, span).split(' ').all(is_plain)).then_some(span)
}

/// What reads its input where it is given no file, or runs what does.
const INPUT: &[&str] = &["xargs", "parallel", "cat", "tee", "sudo", "man"];

/// What bash has built in, and its words.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "cd",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "echo",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "getopts",
    "hash",
    "help",
    "history",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];
