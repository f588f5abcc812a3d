//! What a program's arguments are on the network: URLs, hosts, data, packages.

use bstr::ByteSlice;

use super::effect::{Aspect, Effect};
use super::resolve::shown_pieces;
use super::state::Made;
use super::table::{Judged, without};
use super::value::{Argument, UnknownKind, first_unknown};
use super::walker::{By, Walker};
use crate::commands::{Declared, Role, Use};

impl Walker<'_> {
    /// What an argument is used for, if that has to do with other hosts.
    pub(super) fn used_on_network(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        let value = &*used.value;
        let by = judged.by.at(value.at);
        match used.role {
            Role::Url => self.request(value, judged),
            Role::SendUrl => self.url_effect(Effect::Send, value, by),
            Role::Data => self.data(value, by),
            Role::Host => self.contact(value, judged),
            Role::Remote | Role::RemoteRead | Role::RemoteWrite => self.remote(used, judged),
            Role::Package => self.package(value, judged),
            _ => {}
        }
    }

    /// What is fetched may be saved here under its own name.
    pub(super) fn saved(&mut self, value: &Argument) {
        let Some(text) = value.text() else { return };
        let name = text.trim_end_with(|byte| byte == '/').rsplit_str("/").next().unwrap_or_default();
        let name = name.split_str("?").next().unwrap_or_default();
        let name = name.strip_suffix(b".git").unwrap_or(name);
        let Some(cwd) = self.state.cwd.path().cloned() else { return };
        if !name.is_empty() && !super::fetch::is_loopback(&super::fetch::host(&text)) {
            self.state.touch(cwd.join(super::place::path(name)), Made::Unknown(UnknownKind::Downloaded));
        }
    }

    fn request(&mut self, value: &Argument, judged: &Judged<'_>) {
        let by = judged.by.at(value.at);
        let effect = if judged.sends { Effect::Send } else { Effect::Fetch };
        self.url_effect(effect, value, by);
    }

    fn data(&mut self, value: &Argument, by: By) {
        let lead = value.prefix();
        let file = lead.strip_prefix(b"@").or_else(|| lead.find("=@").and_then(|at| lead.get(at + 2..)));
        if let Some(name) = file
            && name != b"-"
        {
            let skipped = lead.len() - name.len();
            self.path_effect(Effect::Read, &without(value, skipped), by, "");
        }
    }

    fn contact(&mut self, value: &Argument, judged: &Judged<'_>) {
        let network = |declared: &Declared<'_>| {
            matches!(
                declared.effect,
                Effect::Fetch | Effect::Send | Effect::Control | Effect::Publish | Effect::Inspect
            )
        };
        if judged.reading.effects.iter().any(network) {
            return;
        }
        let aspect = Self::host_aspect(value);
        let target = Some(shown_pieces(&value.pieces));
        self.effect((Effect::Fetch, Some(aspect)), target, judged.by.at(value.at), "contacts a host");
    }

    fn remote(&mut self, used: &Use<'_>, judged: &Judged<'_>) {
        let by = judged.by.at(used.value.at);
        let writes = used.role == Role::RemoteWrite;
        if used.value.prefix().contains_str("://") && is_remote(&used.value) {
            return self.url_effect(if writes { Effect::Send } else { Effect::Fetch }, &used.value, by);
        }
        if is_remote(&used.value) {
            let target = Some(shown_pieces(&used.value.pieces));
            let aspect = Some(Aspect::Other);
            return if writes {
                self.effect((Effect::Send, aspect), target, by, "copies files to another host");
            } else {
                self.effect((Effect::Fetch, aspect), target, by, "copies files from another host");
            };
        }
        self.path_effect(if writes { Effect::Write } else { Effect::Read }, &used.value, by, "");
    }

    fn package(&mut self, value: &Argument, judged: &Judged<'_>) {
        let told = |declared: &Declared<'_>| match declared.effect {
            Effect::Install => declared.aspect != Some(Aspect::Locked),
            effect => effect == Effect::Delete,
        };
        if judged.reading.effects.iter().any(told) {
            return;
        }
        let local = value.prefix().first().is_some_and(|byte| b"./".contains(byte));
        let aspect = if local { Aspect::Locked } else { Aspect::Named };
        let target = Some(shown_pieces(&value.pieces));
        self.effect((Effect::Install, Some(aspect)), target, judged.by.at(value.at), "installs a package");
    }
}

/// `@-` of a data argument is what is piped in; it is sent like anything else.
pub(super) fn is_sent(used: &Use<'_>) -> bool {
    used.role != Role::RemoteWrite || is_remote(&used.value)
}

fn is_remote(value: &Argument) -> bool {
    let lead = value.prefix();
    super::fetch::remote(lead.as_ref()).is_some()
}

/// A request with a credential, or with a secret in any option, gives that to the host.
pub(super) fn is_credential(given: &crate::commands::Given<'_>) -> bool {
    const OPTIONS: &[&str] = &["--user", "--password", "--http-password", "--oauth2-bearer", "--proxy-user"];
    const HEADERS: &[&str] = &["authorization:", "apikey:", "x-api-key:", "private-token:", "x-auth-token:", "cookie:"];
    let Some(value) = &given.value else { return false };
    let lead = value.prefix().to_ascii_lowercase();
    OPTIONS.iter().any(|option| given.is(option))
        || first_unknown(&value.pieces)
            .is_some_and(|unknown| matches!(unknown.kind, UnknownKind::Secret | UnknownKind::Environment))
        || given.is("--header") && HEADERS.iter().any(|header| lead.starts_with(header.as_bytes()))
}
