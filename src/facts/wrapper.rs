//! Commands that a program runs: wrappers, `find -exec`, `xargs`, `ssh`.

use std::cell::OnceCell;

use bstr::{BString, ByteSlice};

use super::command::Call;
use super::effect::Doubt;
use super::nested::Nested;
use super::resolve::shown_pieces;
use super::search::Search;
use super::table::{Judged, without};
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::Walker;
use crate::commands::{Role, Tail, TailKind};
use crate::syntax::Dialect;

/// `xargs` and `find` are followed for so many known names.
const MAX_NAMES: usize = 64;

impl Walker<'_> {
    /// Runs the commands that a command wraps; true if there are any.
    pub(super) fn tails(&mut self, judged: &Judged<'_>) -> bool {
        let mut any = false;
        if let Some(words) = rest_of_env(judged) {
            if words.iter().any(|word| word.prefix().iter().any(|byte| b"\\$'\"#".contains(byte))) {
                let reason = "how `env -S` splits its text is not known";
                self.doubt(Doubt::Argument, judged.by, reason);
            }
            let call = Call { environment: judged.call.environment.clone(), ..Call::program(judged.by) };
            let call = Call { by: super::walker::By { command: None, ..judged.by }, ..call };
            self.via(judged, |walker| walker.deeper(judged.by.at, |walker| walker.run(&words, call)));
            return true;
        }
        // Read once for all of its `-exec`.
        let search = OnceCell::new();
        for (number, tail) in judged.reading.tails.iter().enumerate().filter(|(_, tail)| !tail.words.is_empty()) {
            any = true;
            self.via(judged, |walker| {
                walker.deeper(judged.by.at, |walker| {
                    walker.frame.remote |= tail.remote;
                    walker.tail((number, tail), judged, &search);
                });
            });
        }
        any
    }

    fn tail(&mut self, (number, tail): (usize, &Tail<'_>), judged: &Judged<'_>, search: &OnceCell<Search>) {
        match tail.kind {
            TailKind::StringJoined if tail.appends => {
                let plain = tail.words.iter().all(|word| word.text().is_some_and(|text| is_plain(&text)));
                for name in self.names_given(judged) {
                    if plain {
                        self.run(&given(&tail.words, name), Self::wrapped(tail, judged));
                    } else {
                        self.joined(&given(&tail.words, quoted(name)), tail, judged);
                    }
                }
            }
            TailKind::StringJoined => self.joined(&tail.words, tail, judged),
            TailKind::UntilSemicolon => {
                if tail.words.first().is_some_and(|first| first.text().is_some_and(|text| text.contains_str("{}"))) {
                    let by = super::walker::By { command: None, ..judged.by };
                    return self.doubt(Doubt::Command, by, "each file that is found is run");
                }
                let search = search.get_or_init(|| self.search(judged));
                let names = search.runs.get(number).cloned().flatten();
                for root in Self::search_roots(judged, search, names.as_deref()) {
                    let mut words = replaced(&tail.words, b"{}", &root);
                    if tail.appends && !tail.words.iter().any(|word| word.prefix().contains(&b'{')) {
                        words.push(root);
                    }
                    self.run(&words, Self::wrapped(tail, judged));
                }
            }
            TailKind::Command if tail.appends || is_placed(judged) => self.appended(tail, judged),
            TailKind::Command => self.run(&tail.words, Self::wrapped(tail, judged)),
        }
    }

    /// How a wrapped command is called.
    fn wrapped(tail: &Tail<'_>, judged: &Judged<'_>) -> Call {
        let mut environment = judged.call.environment.clone();
        for assignment in &tail.environment {
            let lead = assignment.prefix();
            if let Some(equals) = lead.find_byte(b'=') {
                let name = BString::from(lead.get(..equals).unwrap_or_default());
                environment.push((name, without(assignment, equals + 1).pieces));
            }
        }
        let mut by = judged.by;
        by.command = None;
        by.at = tail.words.first().map_or(by.at, |first| {
            let last = tail.words.last().map_or(first.at.span, |last| last.at.span);
            super::Location { script: first.at.script, span: first.at.span.join(last) }
        });
        Call { environment, unlisted: tail.unlisted, ..Call::program(by) }
    }

    /// `ssh host words…`, `watch words…`: the words are shell text.
    fn joined(&mut self, words: &[Argument], tail: &Tail<'_>, judged: &Judged<'_>) {
        let mut text = Vec::new();
        for (number, word) in words.iter().enumerate() {
            if number > 0 {
                super::expand::append(&mut text, [Piece::Text(" ".into())]);
            }
            super::expand::append(&mut text, word.pieces.iter().cloned());
        }
        let by = judged.by.at(tail.words.first().map_or(judged.by.at, |word| word.at));
        let dialect = if tail.remote {
            Dialect::Bash
        } else {
            self.shell_of(crate::commands::Language::Sh).unwrap_or(Dialect::Bash)
        };
        let name = format!("command of {}", judged.name);
        self.nested(Nested { text, name, dialect, shell: Some(("sh".into(), Vec::new())), by });
    }

    /// `xargs`: what is read is appended, or put where the placeholder stands.
    fn appended(&mut self, tail: &Tail<'_>, judged: &Judged<'_>) {
        let placeholder = judged.reading.uses.iter().find(|used| used.role == Role::Placeholder);
        let placeholder = placeholder.and_then(|used| used.value.text()).map(std::borrow::Cow::into_owned);
        let placeholder = placeholder.or_else(|| has_option(judged, &["-i", "--replace"]).then(|| "{}".into()));
        let names = self.names_read(judged, placeholder.is_some() || has_option(judged, &["-d"]));
        let call = Self::wrapped(tail, judged);
        if let Some(mark) = placeholder {
            for name in &names {
                let words = replaced(&tail.words, &mark, name);
                self.run(&words, call.clone());
            }
            return;
        }
        if let Some(count) = names_each(judged).filter(|_| !names.is_empty()) {
            for names in names.chunks(count) {
                self.run(&[tail.words.as_ref(), names].concat(), call.clone());
            }
            return;
        }
        // So many lines, or as many names as fit: whatever of them.
        let limits = ["-n", "--max-args", "-L", "-l", "--max-lines", "-s", "--max-chars"];
        if names.len() > 1 && has_option(judged, &limits) {
            let kinds = names.iter().map(|name| super::state::Value::Scalar(name.pieces.clone()).kind());
            let kind = kinds.reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
            let some = Piece::unknown(kind, format!("some of what {} reads", judged.name));
            let some = Argument { pieces: vec![some], many: true, at: judged.by.at };
            self.run(&[tail.words.as_ref(), &[some]].concat(), call.clone());
        }
        let words = [tail.words.as_ref(), names.as_slice()].concat();
        self.run(&words, call);
    }

    /// What `parallel` gives to its commands: the words after `:::`, or what it reads.
    fn names_given(&self, judged: &Judged<'_>) -> Vec<Argument> {
        let at = judged.by.at;
        let command = judged.by.command.and_then(|command| self.facts.commands.get(command));
        let argv = command.map(|command| command.argv.as_slice()).unwrap_or_default();
        let stop = argv.iter().position(|word| word.as_ref().is_some_and(|word| word.starts_with(b":::")));
        let Some(stop) = stop else { return self.names_read(judged, true) };
        let name = |word: &Option<BString>| match word {
            Some(word) => Argument::known(word.clone(), at),
            None => Argument {
                pieces: vec![Piece::unknown(UnknownKind::Any, "an argument that is not known")],
                many: true,
                at,
            },
        };
        argv.iter().skip(stop + 1).take(MAX_NAMES).map(name).collect()
    }

    /// What `xargs` reads: known words or lines, or any number of unknown ones.
    fn names_read(&self, judged: &Judged<'_>, lines: bool) -> Vec<Argument> {
        let at = judged.by.at;
        let unknown =
            |kind, reason: String| vec![Argument { pieces: vec![Piece::unknown(kind, reason)], many: true, at }];
        let from_input = judged.reading.uses.iter().all(|used| used.role != Role::Read);
        let Some(stdin) = self.frame.stdin.as_ref().filter(|_| from_input) else {
            return unknown(UnknownKind::Any, format!("{} reads its arguments", judged.name));
        };
        if let Some(text) = known(stdin) {
            let zero = text.contains(&0);
            let split = |byte: u8| {
                if zero {
                    byte == 0
                } else if lines {
                    byte == b'\n'
                } else {
                    byte.is_ascii_whitespace()
                }
            };
            let plain = !text.iter().any(|byte| b"'\"\\".contains(byte));
            let names: Vec<_> =
                text.split(|byte| split(*byte)).map(<[u8]>::trim_ascii).filter(|name| !name.is_empty()).collect();
            if plain && names.len() <= MAX_NAMES {
                return names.into_iter().map(|name| Argument::known(name, at)).collect();
            }
            return unknown(UnknownKind::Any, format!("{} reads very many arguments", judged.name));
        }
        let kinds = stdin.iter().filter_map(|piece| match piece {
            Piece::Text(text) if text.trim_ascii().is_empty() => None,
            Piece::Unknown(unknown) => Some(unknown.kind.part()),
            _ => Some(UnknownKind::Any),
        });
        let kind = kinds.reduce(UnknownKind::or).unwrap_or(UnknownKind::Any);
        unknown(kind, format!("{} reads its arguments from {}", judged.name, shown_pieces(stdin)))
    }

    /// What a search that is narrowed to names deletes.
    pub(super) fn found_names(&self, declared: &crate::commands::Declared<'_>, judged: &Judged<'_>) -> Vec<Argument> {
        if declared.effect != super::effect::Effect::Delete {
            return Vec::new();
        }
        let search = self.search(judged);
        match &search.deletes {
            Some(Some(names)) => Self::search_roots(judged, &search, Some(names)),
            _ => Vec::new(),
        }
    }

    fn search(&self, judged: &Judged<'_>) -> Search {
        let command = judged.by.command.and_then(|command| self.facts.commands.get(command));
        let words = command.and_then(|command| command.argv.get(1..)).unwrap_or_default();
        super::search::read(words)
    }

    /// What `{}` stands for: a path below each root, and the root itself where nothing narrows the search.
    fn search_roots(judged: &Judged<'_>, search: &Search, names: Option<&[BString]>) -> Vec<Argument> {
        let at = judged.by.at;
        let listed = |used: &&crate::commands::Use<'_>| {
            used.option.is_none() && matches!(used.role, Role::List | Role::Read | Role::Text)
        };
        let listed = judged.reading.uses.iter().filter(listed).map(|used| used.value.pieces.clone());
        // Other programs that run commands for what they find take their folders anywhere.
        let finds = search.deletes.is_some() || !search.runs.is_empty();
        let mut roots: Vec<_> = listed.take(if finds { search.roots } else { usize::MAX }).collect();
        if roots.is_empty() {
            roots.push(vec![Piece::Text(".".into())]);
        }
        let narrowed = judged.reading.options.iter().any(|option| {
            !option.name.starts_with("-exec") && !option.name.starts_with("-ok") && !BROAD.contains(&&*option.name)
        });
        let below = |root: &[Piece], name: Option<&BString>| {
            let mut pieces = root.to_vec();
            super::expand::append(&mut pieces, [Piece::Text("/".into())]);
            pieces.push(Piece::unknown(UnknownKind::RelativePath, "a path that is found"));
            // The name that is searched for tells secrets and build products from other files.
            if let Some(name) = name.filter(|_| narrowed) {
                let name = [b"/", name.as_slice()].concat().into();
                pieces.push(if name_is_pattern(&name) { Piece::Pattern(name) } else { Piece::Text(name) });
            }
            Argument { pieces, many: narrowed, at }
        };
        let names = names.filter(|names| names.len().saturating_mul(roots.len()) <= MAX_NAMES);
        let each = |root: &Vec<Piece>| match names {
            Some(names) => names.iter().map(|name| below(root, Some(name))).collect(),
            None if narrowed => vec![below(root, None)],
            None => vec![Argument { pieces: root.clone(), many: false, at }, below(root, None)],
        };
        roots.iter().flat_map(each).collect()
    }
}

/// What `env -` and `env -S TEXT` run: `env` once more, with the words after the dash or those of the text.
fn rest_of_env(judged: &Judged<'_>) -> Option<Vec<Argument>> {
    if judged.name != "env" && judged.name != "genv" {
        return None;
    }
    let tail = judged.reading.tails.first().map(|tail| tail.words.to_vec()).unwrap_or_default();
    let given = judged.reading.tails.iter().flat_map(|tail| tail.environment.iter().map(|word| (**word).clone()));
    let mut words = vec![Argument::known("env", judged.by.at)];
    let text = judged.reading.options.iter().find(|option| option.is("-S") || option.is("--split-string"));
    if let Some(value) = text.and_then(|option| option.value.as_ref()) {
        let text = value.text().filter(|_| !value.many)?;
        words.extend(
            text.split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .map(|word| Argument::known(word, value.at)),
        );
        words.extend(given);
        words.extend(tail);
        return Some(words);
    }
    let (first, rest) = tail.split_first()?;
    if first.text().is_none_or(|text| &*text != "-")
        || judged.reading.tails.iter().any(|tail| !tail.environment.is_empty())
    {
        return None;
    }
    words.extend(rest.iter().cloned());
    Some(words)
}

/// `xargs -I`: what is read is put where a mark stands.
fn is_placed(judged: &Judged<'_>) -> bool {
    judged.reading.uses.iter().any(|used| used.role == Role::Placeholder)
}

fn name_is_pattern(name: &BString) -> bool {
    name.iter().any(|byte| b"*?[".contains(byte))
}

/// Tests of `find` that leave nearly everything.
const BROAD: &[&str] = &["-type", "-mindepth", "-print", "-print0", "-depth", "-xdev", "-follow", "-H", "-L", "-P"];

/// `xargs -n COUNT`: so many names for each command.
fn names_each(judged: &Judged<'_>) -> Option<usize> {
    let given = judged.reading.options.iter().rfind(|option| option.is("-n") || option.is("--max-args"));
    let count = given?.value.as_ref()?.text()?;
    count.to_str().ok()?.parse().ok().filter(|count| *count > 0)
}

fn has_option(judged: &Judged<'_>, names: &[&str]) -> bool {
    judged.reading.options.iter().any(|option| names.iter().any(|name| option.is(name)))
}

/// Whether shell text says no more than it reads.
fn is_plain(text: &[u8]) -> bool {
    !text.is_empty() && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:=@%+,{}".contains(byte))
}

/// A known argument as shell text that stands for it alone: `parallel` quotes what it puts into its commands.
fn quoted(name: Argument) -> Argument {
    let Some(text) = name.text().map(std::borrow::Cow::into_owned) else { return name };
    if is_plain(&text) {
        return name;
    }
    let text = [b"'".as_slice(), &text.replace("'", "'\\''"), b"'"].concat();
    Argument { pieces: vec![Piece::Text(text.into())], ..name }
}

/// What `parallel` makes of one argument: it stands where the command says, else at the end.
fn given(words: &[Argument], name: Argument) -> Vec<Argument> {
    let placed = replaced(&replaced(words, b"{}", &name), b"{1}", &name);
    let same = placed.iter().zip(words).all(|(placed, word)| placed.pieces == word.pieces);
    if same { [words, &[name]].concat() } else { placed }
}

/// Words with every `mark` replaced by what it stands for.
fn replaced(words: &[Argument], mark: &[u8], by: &Argument) -> Vec<Argument> {
    words.iter().map(|word| replaced_in(word, mark, by)).collect()
}

fn replaced_in(word: &Argument, mark: &[u8], by: &Argument) -> Argument {
    let mut pieces = Vec::new();
    let mut many = word.many;
    for piece in &word.pieces {
        let Piece::Text(text) = piece else {
            pieces.push(piece.clone());
            continue;
        };
        for (number, part) in text.split_str(mark).enumerate() {
            if number > 0 {
                super::expand::append(&mut pieces, by.pieces.iter().cloned());
                many |= by.many;
            }
            super::expand::append(&mut pieces, [Piece::Text(part.into())]);
        }
    }
    Argument { pieces, many, at: word.at }
}
