//! What git takes back from the working tree: changes that no commit holds.

use super::effect::{Doubt, Effect};
use super::resolve::Target;
use super::value::Argument;
use super::walker::{By, Walker};
use crate::host::{LookKind, Recovery};

impl Walker<'_> {
    /// The changes of a path are lost; with `or_ref` only if it is a path and no branch, tag or commit.
    pub(super) fn discard(&mut self, argument: &Argument, or_ref: bool, by: By) {
        if self.frame.remote {
            return;
        }
        for target in self.targets(&argument.pieces) {
            if let Some(reason) = &target.unsure {
                self.doubt(Doubt::Argument, by, format!("what is taken back is not known: {}: {reason}", target.shown));
            } else if self.loses_changes(&target, or_ref) {
                self.effect(
                    (Effect::Discard, None),
                    Some(target.shown),
                    by,
                    "changes that no commit holds would be lost",
                );
            }
        }
    }

    fn loses_changes(&self, target: &Target, or_ref: bool) -> bool {
        let Some(path) = &target.path else { return !or_ref };
        let is_path = match self.host.look(path).kind {
            LookKind::Missing => false,
            LookKind::Unknown => !or_ref || looks_like_path(&target.shown),
            _ => true,
        };
        // Ignored files are none that git could take back.
        is_path && matches!(self.host.recovery(path), Recovery::Lost | Recovery::Unknown)
    }
}

/// Whether a name is rather a path than a ref, where the files cannot be seen.
fn looks_like_path(name: &[u8]) -> bool {
    let last = name.rsplit(|byte| *byte == b'/').next().unwrap_or(name);
    let extension = last.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
    let dotted = extension.len() < last.len() && extension.iter().any(u8::is_ascii_alphabetic);
    name == b"." || name.ends_with(b"/") || name.starts_with(b"./") || name.starts_with(b"../") || dotted
}
