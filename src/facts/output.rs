//! What programs print, where its kind is known.

use bstr::ByteSlice;

use super::effect::{Aspect, Effect};
use super::table::Judged;
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::Walker;
use crate::commands::Role;

/// What a program prints on its standard output: its name and the first words after it.
const PRINTS: &[(&str, UnknownKind)] = &[
    ("date", UnknownKind::Name),
    ("date +%s", UnknownKind::Number),
    ("date +%s%N", UnknownKind::Number),
    ("date +%Y", UnknownKind::Number),
    ("date +%Y%m%d", UnknownKind::Number),
    ("date +%Y%m%d%H%M%S", UnknownKind::Number),
    ("hostname", UnknownKind::Name),
    ("uname", UnknownKind::Name),
    ("arch", UnknownKind::Name),
    ("whoami", UnknownKind::Name),
    ("logname", UnknownKind::Name),
    ("id -u", UnknownKind::Number),
    ("id -g", UnknownKind::Number),
    ("id", UnknownKind::Name),
    ("nproc", UnknownKind::Number),
    ("pgrep", UnknownKind::Number),
    ("pidof", UnknownKind::Number),
    ("getconf", UnknownKind::Number),
    ("expr", UnknownKind::Any),
    ("uuidgen", UnknownKind::Name),
    ("basename", UnknownKind::Name),
    ("sha256sum", UnknownKind::Any),
    ("mktemp", UnknownKind::TempPath),
    ("seq", UnknownKind::Number),
    ("git rev-parse HEAD", UnknownKind::Name),
    ("git rev-parse --short", UnknownKind::Name),
    ("git rev-parse --abbrev-ref", UnknownKind::RelativePath),
    ("git rev-parse --verify", UnknownKind::Name),
    ("git rev-list", UnknownKind::Name),
    ("git merge-base", UnknownKind::Name),
    ("git symbolic-ref", UnknownKind::RelativePath),
    ("git branch --show-current", UnknownKind::RelativePath),
    ("git describe", UnknownKind::RelativePath),
    ("git ls-files", UnknownKind::RelativePath),
    ("git diff --name-only", UnknownKind::RelativePath),
    ("git stash create", UnknownKind::Name),
    ("git hash-object", UnknownKind::Name),
    ("git write-tree", UnknownKind::Name),
    ("git commit-tree", UnknownKind::Name),
];

/// Programs that pass on what they read, in whole or in part; what came from the network stays so.
const FILTERS: &[&str] = &[
    "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "cut", "tr", "sort", "uniq", "tee",
    "jq", "yq", "rev", "tac", "nl", "fold", "fmt", "column", "paste", "perl", "python", "python3", "node", "ruby",
    "dd", "iconv", "pv", "strings", "less", "more", "envsubst", "base64", "base32", "xxd", "gunzip", "zcat", "gzip",
    "bzip2", "bzcat", "xz", "xzcat", "zstd", "zstdcat", "openssl", "gpg", "tar", "unzip", "bsdtar", "sponge", "od",
    "hexdump",
];

/// Programs that make text of what looks like none, and the options with which they do.
const DECODERS: &[(&str, &[&str])] = &[
    ("base64", &["-d", "-D", "--decode"]),
    ("base32", &["-d", "--decode"]),
    ("basenc", &["-d", "--decode"]),
    ("xxd", &["-r", "-revert"]),
    ("openssl", &["-d"]),
    ("gpg", &["-d", "--decrypt"]),
    ("gunzip", &[]),
    ("zcat", &[]),
    ("bzcat", &[]),
    ("bunzip2", &[]),
    ("xzcat", &[]),
    ("unxz", &[]),
    ("zstdcat", &[]),
    ("uudecode", &[]),
    ("gzip", &["-d", "--decompress", "--uncompress"]),
    ("bzip2", &["-d", "--decompress"]),
    ("xz", &["-d", "--decompress"]),
    ("zstd", &["-d", "--decompress"]),
];

/// Programs that keep the kind of what they read: a selection of lines, or the same in another order.
const SELECTORS: &[&str] = &["head", "tail", "grep", "egrep", "fgrep", "rg", "sort", "uniq", "tac"];

impl Walker<'_> {
    /// Prints what a program prints, as far as its kind is known.
    pub(super) fn program_output(&mut self, judged: &Judged<'_>) {
        if self.captures.is_empty() {
            return;
        }
        let name = judged.name.to_string();
        match name.as_str() {
            "cat" | "tee" => return self.passed_on(judged),
            "pwd" => return self.print_folder(),
            "dirname" => return self.dirname(judged),
            "basename" if self.basename(judged) => return,
            "base64" if self.decoded(judged) => return,
            "wc" => return self.print_unknown(UnknownKind::Number, "what wc counts"),
            "find" | "ls" | "fd" | "realpath" | "readlink" | "git" if self.found(judged) => return,
            _ => {}
        }
        if let Some(kind) = self.output_taint(judged) {
            return self.print_unknown(kind, format!("what {name} prints"));
        }
        if SELECTORS.contains(&name.as_str()) && !Self::reads_files(judged) && self.frame.stdin.is_some() {
            let kind = self.stdin_kind();
            return self.print_unknown(kind, format!("what {name} lets through"));
        }
        let kind = self.listed_kind(judged);
        self.print_unknown(kind, format!("what {name} prints"));
    }

    /// What a program's output must be taken for: from the network, out of a decoder, a secret.
    pub(super) fn output_taint(&mut self, judged: &Judged<'_>) -> Option<UnknownKind> {
        let own = self
            .facts
            .effects
            .iter()
            .rev()
            .take_while(|effect| effect.command >= judged.by.command || effect.command.is_none());
        let mut kinds = own.filter(|effect| effect.command == judged.by.command).filter_map(|effect| {
            match (effect.effect, effect.aspect) {
                (Effect::Read, Some(Aspect::Secret)) => Some(UnknownKind::Secret),
                (Effect::Read, Some(Aspect::Environment)) => Some(UnknownKind::Environment),
                (Effect::Fetch | Effect::Send, Some(Aspect::Loopback)) => None,
                (Effect::Fetch | Effect::Send, _) => Some(UnknownKind::Downloaded),
                _ => None,
            }
        });
        let own = kinds.next();
        let filter = FILTERS.iter().any(|filter| *judged.name == *filter);
        let passed = || match self.stdin_kind() {
            kind if filter && kind.is_tainted() => Some(kind),
            _ => None,
        };
        own.or_else(passed)
            .or_else(|| self.read_taint(judged))
            .or_else(|| Self::is_decoder(judged).then_some(UnknownKind::Downloaded))
    }

    /// What a program prints of the files that it reads.
    fn read_taint(&mut self, judged: &Judged<'_>) -> Option<UnknownKind> {
        let read = |used: &&crate::commands::Use<'_>| matches!(used.role, Role::Read | Role::Copy | Role::ArchiveRead);
        judged.reading.uses.iter().filter(read).find_map(|used| {
            let content = self.content(&used.value.pieces);
            let kind = super::state::Value::Scalar(content).kind();
            kind.is_tainted().then_some(kind)
        })
    }

    fn is_decoder(judged: &Judged<'_>) -> bool {
        DECODERS.iter().any(|(name, options)| {
            *judged.name == *name
                && (options.is_empty()
                    || judged.reading.options.iter().any(|given| options.iter().any(|option| given.is(option))))
        })
    }

    fn stdin_kind(&self) -> UnknownKind {
        let Some(stdin) = &self.frame.stdin else { return UnknownKind::Any };
        let kinds = stdin.iter().filter_map(|piece| match piece {
            Piece::Text(text) if text.trim_ascii().is_empty() => None,
            Piece::Unknown(unknown) => Some(unknown.kind.part()),
            _ => Some(UnknownKind::Any),
        });
        kinds.reduce(UnknownKind::or).unwrap_or(UnknownKind::Any)
    }

    fn reads_files(judged: &Judged<'_>) -> bool {
        judged.reading.uses.iter().any(|used| used.role == Role::Read)
    }

    /// `cat`: what it reads.
    fn passed_on(&mut self, judged: &Judged<'_>) {
        let files: Vec<_> = judged.reading.uses.iter().filter(|used| used.role == Role::Read).collect();
        if *judged.name == "tee" || files.is_empty() {
            let stdin = self.frame.stdin.clone();
            return match stdin {
                Some(stdin) => self.print(stdin.to_vec()),
                None => self.print_unknown(UnknownKind::Any, "what is typed"),
            };
        }
        let plain = judged.reading.options.is_empty();
        for used in files {
            let dash = known(&used.value.pieces).is_some_and(|text| &*text == "-");
            let content = match (dash, &self.frame.stdin) {
                (true, Some(stdin)) => stdin.to_vec(),
                _ => self.content(&used.value.pieces),
            };
            if plain {
                self.print(content);
            } else {
                let kind = super::state::Value::Scalar(content).kind();
                self.print_unknown(kind, "the numbered content of a file");
            }
        }
    }

    pub(super) fn print_folder(&mut self) {
        if let super::state::Value::Scalar(pieces) = Self::folder_value(&self.state.cwd.clone()) {
            self.print(pieces);
            self.print([Piece::Text("\n".into())]);
        }
    }

    fn dirname(&mut self, judged: &Judged<'_>) {
        let Some(operand) = judged.reading.operands.first() else { return };
        let operand = (**operand).clone();
        match operand.text() {
            Some(text) => {
                let folder = match text.trim_end_with(|byte| byte == '/').rfind_byte(b'/') {
                    Some(0) => b"/".to_vec(),
                    Some(slash) => text.get(..slash).unwrap_or_default().to_vec(),
                    None => b".".to_vec(),
                };
                self.print([Piece::Text([folder, b"\n".to_vec()].concat().into())]);
            }
            None => self.print_dirname_of(&operand),
        }
    }

    fn print_dirname_of(&mut self, operand: &Argument) {
        let kind = match operand.pieces.as_slice() {
            [Piece::Unknown(unknown)] if matches!(unknown.kind, UnknownKind::RelativePath) => UnknownKind::RelativePath,
            _ => UnknownKind::Any,
        };
        self.print_unknown(kind, "the folder of a path that is not known");
    }

    fn basename(&mut self, judged: &Judged<'_>) -> bool {
        let [operand] = judged.reading.operands.as_slice() else { return false };
        let Some(text) = operand.text() else { return false };
        let name = text.trim_end_with(|byte| byte == '/').rsplit_str("/").next().unwrap_or_default();
        self.print([Piece::Text([name, b"\n"].concat().into())]);
        true
    }

    /// `base64 -d` of known text: what comes out is judged as if it had been written.
    fn decoded(&mut self, judged: &Judged<'_>) -> bool {
        use base64::Engine;
        if !Self::is_decoder(judged) || Self::reads_files(judged) {
            return false;
        }
        let Some(text) = self.frame.stdin.as_ref().and_then(|stdin| known(stdin).map(std::borrow::Cow::into_owned))
        else {
            return false;
        };
        let text: Vec<u8> = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(text) else { return false };
        self.print([Piece::Text(bytes.into()), Piece::Text("\n".into())]);
        self.print_unknown(UnknownKind::Downloaded, "it is decoded");
        true
    }

    /// Paths that are found below folders that are known.
    fn found(&mut self, judged: &Judged<'_>) -> bool {
        let below_here = |used: &crate::commands::Use<'_>| {
            let lead = used.value.prefix();
            used.value.text().is_some()
                && !lead.starts_with(b"/")
                && !lead.starts_with(b"~")
                && !lead.contains_str("..")
        };
        let uses = &judged.reading.uses;
        match judged.name.to_string().as_str() {
            "find" | "fd" | "ls" => {
                let roots = uses.iter().filter(|used| used.option.is_none() && used.role == Role::List);
                let relative = roots.clone().all(below_here);
                if !relative {
                    return false;
                }
                self.print_unknown(UnknownKind::RelativePath, format!("paths that {} finds", judged.name));
                true
            }
            "git" => {
                let toplevel = judged.reading.options.iter().any(|given| given.is("--show-toplevel"))
                    || judged
                        .reading
                        .operands
                        .iter()
                        .any(|operand| operand.text().is_some_and(|text| &*text == "--show-toplevel"));
                let root = self.host.project().map(super::place::shown);
                match (toplevel, root) {
                    (true, Some(root)) if judged.reading.subcommand.first().is_some_and(|word| word == "rev-parse") => {
                        self.print([Piece::Text(root), Piece::Text("\n".into())]);
                        true
                    }
                    _ => false,
                }
            }
            _ => {
                let known = judged.reading.operands.first().filter(|_| judged.reading.operands.len() == 1).and_then(
                    |operand| {
                        let mut targets = self.targets(&operand.pieces).into_iter();
                        targets.next().and_then(|target| target.path)
                    },
                );
                let Some(path) = known else { return false };
                let real = self.host.look(&path).real;
                self.print([Piece::Text(super::place::shown(&real)), Piece::Text("\n".into())]);
                true
            }
        }
    }

    fn listed_kind(&self, judged: &Judged<'_>) -> UnknownKind {
        let Some(fact) = judged.by.command.and_then(|command| self.facts.commands.get(command)) else {
            return UnknownKind::Any;
        };
        let words: Vec<_> = fact.argv.iter().flatten().map(ToString::to_string).collect();
        let line =
            std::iter::once(judged.name.to_string()).chain(words.into_iter().skip(1)).collect::<Vec<_>>().join(" ");
        let hit = PRINTS.iter().filter(|(prefix, _)| {
            line.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '=']))
        });
        hit.max_by_key(|(prefix, _)| prefix.len()).map_or(UnknownKind::Any, |(_, kind)| *kind)
    }
}
