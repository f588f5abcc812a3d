//! The mini-notations of the tables: how one string says what an option, an operand or an effect is.

use std::borrow::Cow;

use super::schema::{
    Condition, EffectSpec, Kind, Language, List, Name, OperandSpec, OptionSpec, Repeat, Role, Setting, TailKind, Takes,
    Target, Text, Token,
};
use crate::facts::kind::{Aspect, Effect, Work};

/// What is wrong with a notation: a lowercase fragment.
pub type Fault = String;

/// `npm install|i|add`: the last word may have other spellings.
pub fn names(text: &str) -> Result<Vec<Name>, Fault> {
    if text.is_empty() || text.split_whitespace().collect::<Vec<_>>().join(" ") != text {
        return Err("not a name".into());
    }
    let (parent, word) =
        text.rsplit_once(' ').map_or((String::new(), text), |(parent, word)| (format!("{parent} "), word));
    let mut spellings = word.split('|').map(|word| Text::Owned(format!("{parent}{word}")));
    let Some(main) = spellings.next() else { return Err("not a name".into()) };
    let first = Name { text: main.clone(), main: main.clone() };
    Ok(std::iter::once(first).chain(spellings.map(|text| Name { text, main: main.clone() })).collect())
}

/// `-e --expression =code:sed`: spellings, then `=ROLE` (required value), `=?ROLE` (attached only) or `=ROLE...`.
pub fn option(text: &str) -> Result<OptionSpec, Fault> {
    let mut names = Vec::new();
    let mut values = Vec::new();
    for word in text.split_whitespace() {
        match word.strip_prefix('=') {
            Some(value) if !value.is_empty() => values.push(value),
            _ if values.is_empty() => names.push(word),
            _ => return Err(format!("the spelling `{word}` stands after the value")),
        }
    }
    if names.is_empty() {
        return Err("an option needs a spelling".into());
    }
    let names: Text = names.join(" ").into();
    let mut values = values.into_iter();
    let Some(value) = values.next() else {
        return Ok(OptionSpec { names, takes: Takes::Nothing, role: Role::Text, second: None });
    };
    let second = values.next().map(role).transpose()?;
    if values.next().is_some() {
        return Err("an option takes at most two values".into());
    }
    let (takes, value) = match value.strip_prefix('?') {
        Some(value) => (Takes::Optional, role(value)?),
        None => match (role(value), value.strip_suffix("...")) {
            (Ok(value), _) => (Takes::Required, value),
            (Err(_), Some(value)) => (Takes::Many, role(value)?),
            (Err(fault), None) => return Err(fault),
        },
    };
    Ok(OptionSpec { names, takes, role: value, second })
}

/// `code:sed read...`: roles in order; at most one with `...`; `env*` takes the leading assignments.
pub fn operands(text: &str) -> Result<Vec<OperandSpec>, Fault> {
    let operands = text.split_whitespace().map(operand).collect::<Result<Vec<_>, _>>()?;
    if operands.iter().filter(|operand| operand.repeat == Repeat::Many).count() > 1 {
        return Err("only one role can have `...`".into());
    }
    Ok(operands)
}

fn operand(word: &str) -> Result<OperandSpec, Fault> {
    if word == "env*" {
        return Ok(OperandSpec { role: Role::Env, repeat: Repeat::Assignments });
    }
    match (role(word), word.strip_suffix("...")) {
        (Ok(role), _) => Ok(OperandSpec { role, repeat: Repeat::One }),
        (Err(_), Some(word)) => Ok(OperandSpec { role: role(word)?, repeat: Repeat::Many }),
        (Err(fault), None) => Err(fault),
    }
}

/// A role by its word: `read`, `code:python`, `command...`.
pub fn role(word: &str) -> Result<Role, Fault> {
    if let Some((kind, language)) = word.split_once(':') {
        let language = || Language::from_word(language).ok_or_else(|| format!("unknown language `{language}`"));
        return match kind {
            "code" => Ok(Role::Code(language()?)),
            "script" => Ok(Role::Script(language()?)),
            "load" => Ok(Role::Load(language()?)),
            _ => Err(format!("unknown role `{word}`")),
        };
    }
    ROLES.iter().find(|(name, _)| *name == word).map(|(_, role)| *role).ok_or_else(|| format!("unknown role `{word}`"))
}

/// Every role without a language, by its word.
pub const ROLES: &[(&str, Role)] = &[
    ("text", Role::Text),
    ("number", Role::Text),
    ("pattern", Role::Text),
    ("ref", Role::Text),
    ("key", Role::Text),
    ("format", Role::Text),
    ("process", Role::Process),
    ("placeholder", Role::Placeholder),
    ("list", Role::List),
    ("read", Role::Read),
    ("names", Role::Names),
    ("write", Role::Write),
    ("edit", Role::Edit),
    ("build", Role::Build),
    ("append", Role::Append),
    ("delete", Role::Delete),
    ("delete-tree", Role::DeleteTree),
    ("discard", Role::Discard),
    ("ref-or-discard", Role::RefOrDiscard),
    ("drop-branch", Role::DropBranch),
    ("new-branch", Role::NewBranch),
    ("other-tree", Role::OtherTree),
    ("move", Role::Move),
    ("copy", Role::Copy),
    ("link", Role::Link),
    ("make-folder", Role::MakeFolder),
    ("chdir", Role::Chdir),
    ("run", Role::Run),
    ("library", Role::Library),
    ("blob", Role::Blob),
    ("module...", Role::Module),
    ("command...", command(TailKind::Command, false)),
    ("command;", command(TailKind::UntilSemicolon, false)),
    ("command-string...", command(TailKind::StringJoined, false)),
    ("command@remote...", command(TailKind::Command, true)),
    ("command-string@remote...", command(TailKind::StringJoined, true)),
    ("env", Role::Env),
    ("unset", Role::Unset),
    ("url", Role::Url),
    ("send-url", Role::SendUrl),
    ("data", Role::Data),
    ("upload", Role::Upload),
    ("host", Role::Host),
    ("remote", Role::Remote),
    ("remote-read", Role::RemoteRead),
    ("remote-write", Role::RemoteWrite),
    ("package", Role::Package),
    ("device", Role::Device),
    ("config", Role::Config),
    ("archive-read", Role::ArchiveRead),
    ("archive-write", Role::ArchiveWrite),
    ("assign", Role::Assign),
];

const fn command(kind: TailKind, remote: bool) -> Role {
    Role::Command { kind, remote }
}

/// `NAME =ROLE`: a variable or a setting.
pub fn setting(text: &str) -> Result<Setting, Fault> {
    let mut words = text.split_whitespace();
    let (Some(name), Some(value), None) = (words.next(), words.next(), words.next()) else {
        return Err(format!("`{text}` is not `NAME =ROLE`"));
    };
    let value = value.strip_prefix('=').ok_or_else(|| format!("`{text}` is not `NAME =ROLE`"))?;
    Ok(Setting { name: name.to_owned().into(), role: role(value)? })
}

/// `install.named`: an effect and perhaps which one of its kind.
pub fn kind(word: &str) -> Result<Kind, Fault> {
    let (effect, aspect) = match word.split_once('.') {
        Some((effect, aspect)) => (effect, Some(aspect)),
        None => (word, None),
    };
    let effect = Effect::from_word(effect).ok_or_else(|| format!("unknown effect `{effect}`"))?;
    let aspect = aspect
        .map(|aspect| Aspect::from_word(aspect).ok_or_else(|| format!("unknown aspect `{aspect}`")))
        .transpose()?;
    Ok(Kind { effect, aspect })
}

/// `EFFECT[.ASPECT] [@TARGET | on TARGET] [if TOKENS [and TOKENS]] [unless TOKENS] [: REASON]`.
pub fn effect(text: &str) -> Result<EffectSpec, Fault> {
    let (text, reason) = match text.split_once(" : ") {
        Some((text, reason)) => (text, reason.trim().to_owned()),
        None => (text, String::new()),
    };
    let mut words = text.split_whitespace().peekable();
    let kind = kind(words.next().unwrap_or_default())?;
    let mut on = Target::None;
    if let Some(word) = words.next_if(|word| word.starts_with('@')) {
        on = target(word.trim_start_matches('@'))?;
    } else if words.next_if_eq(&"on").is_some() {
        on = target(words.next().unwrap_or_default())?;
    }
    let when = condition(words)?;
    Ok(EffectSpec { kind, on, when, reason: reason.into() })
}

fn target(word: &str) -> Result<Target, Fault> {
    Ok(match word {
        "cwd" => Target::Cwd,
        "operands" => Target::Operands,
        "last" => Target::Last,
        "input" => Target::Input,
        path if path.contains('/') => Target::Path(path.to_owned().into()),
        option if option.starts_with('-') => Target::Option(option.to_owned().into()),
        sort => match Work::from_word(sort) {
            Some(sort) => Target::Work(sort),
            None => {
                return Err(format!(
                    "unknown target `{word}`: cwd, operands, last, input, an option, a path or a sort of work"
                ));
            }
        },
    })
}

/// The two halves of a case's condition, each as in an effect without its `if` and `unless`.
pub fn case_condition(when: &str, unless: &str) -> Result<Condition, Fault> {
    let words = [("if", when), ("unless", unless)];
    let words = words.into_iter().filter(|(_, tokens)| !tokens.is_empty());
    condition(words.flat_map(|(word, tokens)| std::iter::once(word).chain(tokens.split_whitespace())))
}

pub(super) fn condition<'a>(words: impl Iterator<Item = &'a str>) -> Result<Condition, Fault> {
    let mut all: Vec<List<Token>> = Vec::new();
    let mut tokens = Vec::new();
    let mut part = "";
    for word in words {
        match word {
            "if" if part.is_empty() => part = "if",
            "and" if part == "if" && !tokens.is_empty() => all.push(std::mem::take(&mut tokens).into()),
            "unless" if part != "unless" => {
                if !tokens.is_empty() {
                    all.push(std::mem::take(&mut tokens).into());
                }
                part = "unless";
            }
            _ if part.is_empty() => return Err(format!("`{word}` stands where `if` or `unless` is expected")),
            word => tokens.push(token(word)?),
        }
    }
    let mut unless = Vec::new();
    match part {
        "" => {}
        _ if tokens.is_empty() => return Err(format!("nothing stands after `{part}`")),
        "unless" => unless = tokens,
        _ => all.push(tokens.into()),
    }
    Ok(Condition { all: all.into(), unless: unless.into() })
}

fn token(word: &str) -> Result<Token, Fault> {
    if word == "--" {
        return Ok(Token::DoubleDash);
    }
    if word == "command" {
        return Ok(Token::Command);
    }
    if let Some(count) = word.strip_prefix("operands") {
        return match count.strip_prefix('>') {
            None if count.is_empty() => Ok(Token::Operands(0)),
            Some(count) => count.parse().map(Token::Operands).map_err(|_| format!("`{word}` is not `operands>N`")),
            None => Err(format!("`{word}` is not `operands` or `operands>N`")),
        };
    }
    if let Some(glob) = word.strip_prefix("1:") {
        return Ok(Token::First(glob.to_ascii_lowercase().into()));
    }
    if !word.starts_with('-') {
        return Ok(Token::Word(word.trim_start_matches('\\').to_ascii_lowercase().into()));
    }
    Ok(match word.split_once('=') {
        Some((name, value)) if !value.is_empty() => {
            Token::Value(name.to_owned().into(), value.to_ascii_lowercase().into())
        }
        _ => Token::Option(Cow::Owned(word.trim_end_matches('?').to_owned())),
    })
}
