//! Inline code: text of python, node, perl, awk, sed, SQL and others that an interpreter is given.
//!
//! This is no analysis of programs. A small reader per family of languages, driven by `commands/languages.toml`, tells
//! strings and comments from code and finds the calls that leave the process or the project: commands, files, hosts,
//! code that is made at run time. Values are followed as far as literals, joins, loops over literal lists, parameters
//! with literal arguments and import names tell them, whatever the order in which they would run.

mod arguments;
mod awk;
mod binding;
mod call;
mod expression;
mod import;
mod indirect;
mod known;
pub mod language;
mod lexer;
mod line;
mod quote;
mod reach;
mod recipe;
pub(super) use recipe::settings;
mod sed;
mod source;
mod sql;
mod value;

use std::borrow::Cow;

use bstr::{BStr, BString};

use super::value::Argument;
use super::{Aspect, Doubt, Effect};
use crate::diagnostic::Span;
use language::{Language, Reader};
use source::Source;

/// The longest code that is read, in bytes.
const LONGEST: usize = 1 << 20;

/// Code as an interpreter gets it.
pub struct Code<'a> {
    /// The language, as tables name it after `code:`.
    pub language: &'a str,
    /// The text, with what is unknown of it.
    pub text: &'a Argument,
    /// The arguments that the code is given, without its own name.
    pub arguments: &'a [Argument],
    /// The environment that it is given.
    pub variable: &'a dyn Fn(&BStr) -> Option<BString>,
}

/// One thing that the code would do, or that cannot be told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct InlineFinding {
    /// What.
    pub what: What,
    /// Where, in the bytes of the code's known text (unknown pieces count as one character each).
    pub span: Span,
    /// Why it is thought so, as a lowercase fragment for people.
    pub reason: Cow<'static, str>,
}

/// The things that code may do.
#[derive(Debug, Clone, PartialEq)]
pub enum What {
    /// Runs text of a language: a nested script. `shell` is `/bin/sh`.
    Script {
        /// The language, as tables name it.
        language: Cow<'static, str>,
        /// The text.
        text: Argument,
    },
    /// Runs a command.
    Command(Vec<Argument>),
    /// Runs a file of a language.
    ScriptFile {
        /// The language, as tables name it.
        language: Cow<'static, str>,
        /// The file.
        path: Argument,
    },
    /// Loads a library by its name.
    Library(String),
    /// Has an effect on a path. A leading `~` stands for the home folder.
    Path {
        /// [`Effect::Read`], [`Effect::Write`], [`Effect::Delete`] or [`Effect::Run`].
        effect: Effect,
        /// The path.
        path: Argument,
        /// Everything below it is meant.
        tree: bool,
    },
    /// Changes the working directory for what follows. A leading `~` stands for the home folder.
    Chdir(Argument),
    /// Talks to a host.
    Host {
        /// [`Effect::Fetch`] or [`Effect::Send`].
        effect: Effect,
        /// A URL or a host name.
        url: Argument,
    },
    /// Has an effect that no path or host tells more of.
    Effect(Effect, Option<Aspect>),
    /// Something that decides an effect is not known.
    Doubt(Doubt),
}

/// What the code would do, in the order in which it is written. Nothing found means that it stays in the process and reads.
pub fn judge(code: &Code<'_>) -> Vec<InlineFinding> {
    let source = Source::new(code.text);
    let Some(language) = Language::find(code.language) else {
        return vec![doubt(
            Doubt::Program,
            Span::default(),
            format!("no table tells what {} code does", code.language),
        )];
    };
    if source.text.len() > LONGEST {
        return vec![doubt(Doubt::Limit, Span::default(), "the code is longer than 1 MiB")];
    }
    let mut findings = match language.reader {
        Reader::Calls => call::judge(code, language, &source),
        Reader::Lines => {
            let mut findings = line::judge(language, &source);
            if !language.calls.is_empty() {
                findings.extend(call::judge(code, language, &source));
            }
            findings
        }
        Reader::Sed => sed::judge(&source),
        Reader::Awk => awk::judge(code, language, &source),
        Reader::Sql => sql::judge(language, &source),
        Reader::Make => recipe::make::judge(code, &source),
        Reader::Just => recipe::just::judge(code, &source),
        Reader::Package => recipe::package::judge(code, &source),
        Reader::Keys => recipe::keys::judge(code, language, &source),
        Reader::Settings => settings::judge(code, language, &source),
    };
    if code.text.many {
        findings.push(doubt(Doubt::Argument, Span::default(), "the code may be any number of arguments"));
    }
    let mut distinct: Vec<InlineFinding> = Vec::with_capacity(findings.len());
    for finding in findings {
        if !distinct.iter().any(|known| known.what == finding.what) {
            distinct.push(finding);
        }
    }
    distinct
}

/// A finding that something is not known.
fn doubt(doubt: Doubt, span: Span, reason: impl Into<Cow<'static, str>>) -> InlineFinding {
    InlineFinding { what: What::Doubt(doubt), span, reason: reason.into() }
}
