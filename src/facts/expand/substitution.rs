//! `$(…)`, `<(…)`, `>(…)`: the commands inside are walked, what they print is taken.

use bstr::BString;

use super::field::push;
use crate::facts::Location;
use crate::facts::value::{Piece, UnknownKind, first_unknown};
use crate::facts::walker::Walker;
use crate::syntax::model::Block;

impl Walker<'_> {
    /// What a command substitution gives, without the newlines at its end.
    pub(super) fn substitution(&mut self, body: &Block, at: Location) -> Vec<Piece> {
        let mut printed = Vec::new();
        self.deeper(at, |walker| {
            walker.framed(
                |frame| frame.via = frame.reached("$()"),
                |walker| printed = walker.capture(|walker| walker.subshell(|walker| walker.block(body))),
            );
        });
        let mut pieces = Vec::new();
        for piece in printed {
            push(&mut pieces, piece);
        }
        if let Some(Piece::Text(text)) = pieces.last_mut() {
            while text.last() == Some(&b'\n') {
                text.pop();
            }
        }
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        pieces
    }

    /// The file name that a process substitution gives; its commands are walked.
    pub(super) fn process_substitution(&mut self, body: &Block, output: bool, at: Location) -> Piece {
        let mut printed = Vec::new();
        self.deeper(at, |walker| {
            walker.framed(
                |frame| {
                    frame.via = frame.reached(if output { ">()" } else { "<()" });
                    if output {
                        frame.stdin = Some(vec![Piece::unknown(UnknownKind::Any, "what is written to `>()`")].into());
                    }
                },
                |walker| printed = walker.capture(|walker| walker.subshell(|walker| walker.block(body))),
            );
        });
        // A script that is run from here is what was printed; it is found again by this name.
        let name = BString::from(format!("/dev/fd/{}", 63 + self.pipes.len()));
        if output || first_unknown(&printed).is_none() || !printed.is_empty() {
            self.pipes.push((name.clone(), printed.into()));
        }
        Piece::Text(name)
    }
}
