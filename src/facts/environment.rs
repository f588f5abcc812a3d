//! Variables that programs read: assigned for a command, exported by the script, inherited.

use std::borrow::Cow;

use bstr::{BStr, BString, ByteSlice};

use super::effect::{Aspect, Doubt, Part};
use super::place::name_matches;
use super::state::Value;
use super::table::Judged;
use super::value::{Argument, Piece, known};
use super::walker::Walker;
use crate::commands::{Language, Role, Table, Use};

impl Walker<'_> {
    /// Judges the variables that a program reads as arguments of it.
    pub(super) fn environment(&mut self, judged: &Judged<'_>, table: Table<'_>) {
        let settings = &judged.reading.environment;
        if settings.is_empty() {
            return;
        }
        let role_of = |name: &BString| {
            settings.iter().find(|setting| name_matches(setting.name.as_bytes(), name)).map(|setting| setting.role)
        };
        let mut set: Vec<(Role, BString, Vec<Piece>)> = Vec::new();
        for (name, pieces) in &judged.call.environment {
            set.extend(role_of(name).map(|role| (role, name.clone(), pieces.clone())));
        }
        for (name, variable) in self.state.variables.iter() {
            let given = variable.exported || self.host.variable(name.as_ref()).is_some();
            if let (true, Some(role)) = (given, role_of(name)) {
                let values = variable.values.iter().filter_map(|value| match value {
                    Value::Scalar(pieces) if !pieces.is_empty() => Some(pieces.clone()),
                    _ => None,
                });
                set.extend(values.map(|pieces| (role, name.clone(), pieces)));
            }
        }
        // What is inherited is the same for each call of a program.
        if self.inherited.insert(judged.name.to_owned()) {
            for name in self.host.variables() {
                if let (Some(role), false) = (role_of(&name), self.state.variables.contains_key(&name)) {
                    let value =
                        self.host.variable(name.as_ref()).filter(|value| !self.is_ordinary(role, value.as_ref()));
                    set.extend(value.map(|value| (role, name, vec![Piece::Text(value)])));
                }
            }
        }
        for (role, name, pieces) in set {
            if role == Role::Code(Language::Options) {
                self.option_variable(&pieces, judged, table);
                continue;
            }
            let value = Argument { pieces, many: false, at: judged.by.at };
            let used = Use { role, value: Cow::Owned(value), option: Some(name.to_string().into()) };
            let by = judged.by.part(Part::Assignment);
            self.used(&used, &Judged { by, ..*judged });
        }
    }

    /// `TAR_OPTIONS` and its like: words that are read as if they had been given.
    fn option_variable(&mut self, pieces: &[Piece], judged: &Judged<'_>, table: Table<'_>) {
        let by = judged.by.part(Part::Assignment);
        let Some(text) = known(pieces) else {
            return self.doubt(Doubt::Argument, by, format!("options of {} in a variable are not known", judged.name));
        };
        if text.contains(&b'`') || text.contains_str("$(") {
            return self.doubt(Doubt::Argument, by, format!("options of {} in a variable hold code", judged.name));
        }
        let words = text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let words: Vec<_> = words.map(|word| Argument::known(word, by.at)).collect();
        let reading = table.read(&words);
        let cwd = self.state.cwd.clone();
        self.reading(&Judged { by, reading: &reading, ..*judged }, &cwd);
    }

    /// A variable that the user's own session may well hold: an installed program by name, a path outside project and
    /// temp. Everything else that is inherited is judged as if it had been written.
    fn is_ordinary(&self, role: Role, value: &BStr) -> bool {
        let outside = |path: &[u8]| {
            let pieces = [Piece::Text(path.into())];
            let targets = self.targets(&pieces);
            targets
                .iter()
                .all(|target| !matches!(target.aspect, Some(Aspect::Project | Aspect::Temp | Aspect::Unknown)))
        };
        match role {
            Role::Code(Language::Options) => {
                let path =
                    |word: &[u8]| word.rsplit_str("=").next().is_none_or(|path| !path.contains(&b'/') || outside(path));
                value.split(u8::is_ascii_whitespace).all(path)
            }
            Role::Code(_) | Role::Run | Role::Command { .. } => {
                let first = value.split(u8::is_ascii_whitespace).find(|word| !word.is_empty()).unwrap_or_default();
                let plain = !value.iter().any(|byte| b";|&$`<>()\n".contains(byte));
                plain && if first.contains(&b'/') { outside(first) } else { self.is_installed(first.as_bstr()) }
            }
            Role::Text => true,
            Role::Library => value.split_str(":").all(outside),
            _ => outside(value),
        }
    }
}

/// The known text of a variable's value.
pub(super) fn text_of(value: &Value) -> Option<BString> {
    match value {
        Value::Scalar(pieces) => known(pieces).map(Cow::into_owned),
        _ => None,
    }
}
