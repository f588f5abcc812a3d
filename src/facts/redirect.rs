//! Redirections: files read and written, and what standard input and output become.

use std::rc::Rc;

use bstr::ByteSlice;

use super::effect::{Aspect, Effect, Part};
use super::state::Made;
use super::value::{Argument, Piece, UnknownKind, known};
use super::walker::{By, Walker};
use crate::syntax::Dialect;
use crate::syntax::model::{Descriptor, Redirection, RedirectionKind, Word};

/// What standard input and output are.
struct Streams {
    stdin: Option<Rc<Vec<Piece>>>,
    sink: Option<Sink>,
}

/// Where output goes.
enum Sink {
    /// To this file, afresh.
    File(Argument),
    /// To the end of this file.
    End(Argument),
    /// Elsewhere.
    Other,
}

impl Walker<'_> {
    /// Runs `walk` with the redirections in effect.
    pub(super) fn redirected(&mut self, redirections: &[Redirection], by: By, walk: impl FnOnce(&mut Self)) {
        if redirections.is_empty() {
            return walk(self);
        }
        let mut streams = Streams { stdin: self.frame.stdin.clone(), sink: None };
        for redirection in redirections {
            let by = by.part(Part::Redirection).at(self.at(redirection.span));
            self.redirection(redirection, by, &mut streams);
        }
        let before = std::mem::replace(&mut self.frame.stdin, streams.stdin);
        match streams.sink {
            None => walk(self),
            Some(sink) => {
                let printed = self.capture(walk);
                self.keep(sink, printed, by);
            }
        }
        self.frame.stdin = before;
    }

    /// `exec` alone: the redirections hold for what follows. What is written into a file from here on is not followed.
    pub(super) fn redirect_shell(&mut self, redirections: &[Redirection], by: By) {
        let mut streams = Streams { stdin: self.frame.stdin.clone(), sink: None };
        for redirection in redirections {
            let by = by.part(Part::Redirection).at(self.at(redirection.span));
            self.redirection(redirection, by, &mut streams);
        }
        self.frame.stdin = streams.stdin;
    }

    fn redirection(&mut self, redirection: &Redirection, by: By, streams: &mut Streams) {
        let standard = |number: u32| match &redirection.descriptor {
            None => true,
            Some(Descriptor::Number(written)) => *written == number,
            Some(Descriptor::Variable(_)) => false,
        };
        match &redirection.kind {
            RedirectionKind::Input(word) | RedirectionKind::InputOutput(word) => {
                let content = self.input(word, by);
                if matches!(redirection.kind, RedirectionKind::InputOutput(_)) {
                    self.output(word, by);
                }
                if standard(0) {
                    streams.stdin = Some(Rc::new(content));
                }
            }
            RedirectionKind::HereDocument(word) | RedirectionKind::HereString(word) => {
                let mut text = self.expand_scalar(word);
                if matches!(redirection.kind, RedirectionKind::HereString(_)) {
                    super::expand::append(&mut text, [Piece::Text("\n".into())]);
                }
                if standard(0) {
                    streams.stdin = Some(Rc::new(text));
                }
            }
            RedirectionKind::Output(word) | RedirectionKind::Both(word) => {
                let argument = self.output(word, by);
                if standard(1) {
                    streams.sink = Some(Sink::File(argument));
                }
            }
            RedirectionKind::Append(word) | RedirectionKind::BothAppend(word) => {
                let argument = self.output(word, by);
                if standard(1) {
                    streams.sink = Some(Sink::End(argument));
                }
            }
            RedirectionKind::Duplicate(word) => {
                let to = self.expand_scalar(word);
                let output = matches!(redirection.descriptor, Some(Descriptor::Number(1)))
                    || redirection.descriptor.is_none() && known(&to).is_some_and(|to| &*to == "2");
                if output {
                    streams.sink = Some(Sink::Other);
                }
            }
        }
    }

    /// `< word`: what can be read from it.
    fn input(&mut self, word: &Word, by: By) -> Vec<Piece> {
        let argument = self.redirection_target(word);
        if self.connection(&argument, by) {
            return vec![Piece::unknown(UnknownKind::Downloaded, "what the connection sends")];
        }
        self.path_effect(Effect::Read, &argument, by, "");
        self.content(&argument.pieces)
    }

    /// `> word`.
    fn output(&mut self, word: &Word, by: By) -> Argument {
        let argument = self.redirection_target(word);
        if !self.connection(&argument, by) {
            self.path_effect(Effect::Write, &argument, by, "");
        }
        argument
    }

    fn redirection_target(&mut self, word: &Word) -> Argument {
        let mut arguments = self.expand_word(word);
        match (arguments.pop(), arguments.is_empty()) {
            (Some(argument), true) => argument,
            (first, _) => {
                let pieces = vec![Piece::unknown(UnknownKind::Any, "the redirection does not name one file")];
                Argument { pieces, many: false, at: first.map_or_else(|| self.at(word.span), |first| first.at) }
            }
        }
    }

    /// bash's `/dev/tcp/HOST/PORT`.
    fn connection(&mut self, argument: &Argument, by: By) -> bool {
        let prefix = argument.prefix();
        let network = [&b"/dev/tcp/"[..], b"/dev/udp/"].into_iter().find_map(|net| prefix.strip_prefix(net));
        let (Some(host), Dialect::Bash | Dialect::BashPosix | Dialect::ZshSh | Dialect::Zsh) =
            (network, self.frame.dialect)
        else {
            return false;
        };
        let host = host.split_str("/").next().unwrap_or_default();
        let local = argument.text().is_some() && super::fetch::is_loopback(host);
        let target = Some(super::resolve::shown_pieces(&argument.pieces));
        if local {
            self.effect((Effect::Fetch, Some(Aspect::Loopback)), target, by, "a connection to this machine");
        } else {
            self.effect((Effect::Send, Some(Aspect::Other)), target, by, "a raw connection to another host");
        }
        true
    }

    /// What a file holds, as far as this script tells.
    pub(super) fn content(&mut self, pieces: &[Piece]) -> Vec<Piece> {
        if let Some(name) = known(pieces)
            && let Some((_, printed)) = self.pipes.iter().find(|(pipe, _)| *pipe == *name)
        {
            return printed.to_vec();
        }
        let mut kind = UnknownKind::Any;
        for target in self.targets(pieces) {
            match target.path.as_ref().and_then(|path| self.state.files.get(path)) {
                Some(Made::Written(content)) => return content.to_vec(),
                Some(Made::Unknown(made)) => kind = kind.or(*made),
                _ => {}
            }
            let origin = target.path.as_deref().and_then(|path| self.origin(path));
            let from = origin.as_ref().and_then(|from| self.settings.places.spot(from, self.host).aspect);
            if target.aspect == Some(Aspect::Secret) || from == Some(Aspect::Secret) {
                kind = UnknownKind::Secret;
            } else if let (Some(path), UnknownKind::Any) = (target.path, kind) {
                let path = origin.unwrap_or(path);
                kind = UnknownKind::Content(u32::try_from(self.contents.len()).unwrap_or(u32::MAX));
                self.contents.push(path);
            }
        }
        vec![Piece::unknown(kind, format!("the content of {}", super::resolve::shown_pieces(pieces)))]
    }

    /// Puts the text of files where it is what is run.
    pub(super) fn with_contents(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let read = |piece: Piece| match &piece {
            Piece::Unknown(super::value::Unknown { kind: UnknownKind::Content(number), reason }) => {
                let path = usize::try_from(*number).ok().and_then(|number| self.contents.get(number));
                match path.map(|path| self.host.read(path)) {
                    Some(Ok(bytes)) => Piece::Text(bytes.to_vec().into()),
                    _ => Piece::unknown(UnknownKind::Any, reason.clone()),
                }
            }
            _ => piece,
        };
        pieces.into_iter().map(read).collect()
    }

    /// The whole environment in a file is as good as a secret there.
    pub(super) fn dumped(&mut self, content: &[Piece], into: &Argument, by: By) {
        let whole =
            |piece: &Piece| matches!(piece, Piece::Unknown(unknown) if unknown.kind == UnknownKind::Environment);
        if !content.iter().any(whole) {
            return;
        }
        for target in self.targets(&into.pieces).into_iter().filter(|target| target.aspect.is_some()) {
            let why = "puts the whole environment into a file";
            self.effect((Effect::Read, Some(Aspect::Secret)), Some(target.shown), by.at(into.at), why);
        }
    }

    /// Remembers what was printed into a file.
    fn keep(&mut self, sink: Sink, mut printed: Vec<Piece>, by: By) {
        let (argument, end) = match &sink {
            Sink::File(argument) => (argument, false),
            Sink::End(argument) => (argument, true),
            Sink::Other => return,
        };
        self.dumped(&printed, argument, by.part(Part::Redirection));
        for target in self.targets(&argument.pieces) {
            let Some(path) = target.path.filter(|_| target.aspect.is_some()) else { continue };
            if end {
                let mut all = match self.state.files.get(&path) {
                    Some(Made::Written(before)) => before.to_vec(),
                    _ => vec![Piece::unknown(UnknownKind::Any, "what the file held before")],
                };
                super::expand::append(&mut all, std::mem::take(&mut printed));
                printed = all;
            }
            self.state.touch(path, Made::Written(Rc::new(printed.clone())));
        }
    }
}
