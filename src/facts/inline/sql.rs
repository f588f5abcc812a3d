//! SQL: statements that only look, statements that change, and the commands of the clients.

use super::language::Language;
use super::lexer::{Kind, Part, Token, lex};
use super::source::Source;
use super::{InlineFinding, What, doubt, line};
use crate::diagnostic::Span;
use crate::facts::{Doubt, Effect};

/// Statements that only look, or that only count within this session.
const LOOKING: &[&str] = &[
    "SELECT",
    "EXPLAIN",
    "SHOW",
    "DESCRIBE",
    "DESC",
    "WITH",
    "VALUES",
    "TABLE",
    "USE",
    "BEGIN",
    "START",
    "COMMIT",
    "ROLLBACK",
    "END",
    "ABORT",
    "SAVEPOINT",
    "RELEASE",
    "SET",
    "RESET",
    "PRAGMA",
    "HELP",
    "FETCH",
    "DECLARE",
    "CLOSE",
    "LISTEN",
    "UNLISTEN",
    "ANALYZE",
    "FROM",
    "SUMMARIZE",
    "PREPARE",
    "DEALLOCATE",
    "LIST",
    "STATUS",
    "CONSISTENCY",
    "TRACING",
    "PRINT",
    "GO",
];

/// Words that change something wherever they begin a part of a statement.
const CHANGING: &[&str] = &["INSERT", "UPDATE", "DELETE", "MERGE"];

/// Functions that reach beyond the data, and what they do.
const FUNCTIONS: &[(&str, Effect, &str)] = &[
    ("pg_read_file", Effect::Control, "reads a file of the server"),
    ("pg_read_binary_file", Effect::Control, "reads a file of the server"),
    ("pg_ls_dir", Effect::Control, "lists a folder of the server"),
    ("pg_terminate_backend", Effect::Control, "ends a connection of the server"),
    ("pg_cancel_backend", Effect::Control, "stops a query of the server"),
    ("pg_reload_conf", Effect::Control, "reloads the server's settings"),
    ("lo_unlink", Effect::Control, "removes a large object"),
    ("setval", Effect::Control, "changes a sequence"),
    ("lo_import", Effect::Control, "reads a file of the server"),
    ("lo_export", Effect::Control, "writes a file of the server"),
    ("dblink", Effect::Control, "opens a connection from the server"),
    ("load_file", Effect::Control, "reads a file of the server"),
    ("sys_exec", Effect::Run, "runs a command"),
    ("sys_eval", Effect::Run, "runs a command"),
    ("xp_cmdshell", Effect::Run, "runs a command"),
    ("load_extension", Effect::Run, "loads code"),
    ("writefile", Effect::Write, "writes a file"),
    ("edit", Effect::Run, "starts an editor"),
    ("system", Effect::Run, "runs a command"),
];

/// Functions that read the file that they name.
const READING: &[&str] =
    &["read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_parquet", "read_text", "read_blob", "readfile"];

/// Findings in SQL text.
pub(super) fn judge(language: &'static Language, source: &Source) -> Vec<InlineFinding> {
    let mut findings = Vec::new();
    let statements = client_commands(language, source, &mut findings);
    let lexed = lex(language, &statements);
    let tokens = lexed.lists.first().map(Vec::as_slice).unwrap_or_default();
    for statement in tokens.split(|token| token.kind == Kind::Mark(";")) {
        Statement { source, tokens: statement }.judge(&mut findings);
    }
    findings
}

/// Judges the lines that are the client's own commands; what remains is SQL, at the same places.
fn client_commands(language: &'static Language, source: &Source, findings: &mut Vec<InlineFinding>) -> String {
    let mut statements = String::with_capacity(source.text.len());
    for text in source.text.split_inclusive('\n') {
        let trimmed = text.trim();
        let own = trimmed.starts_with('\\')
            || trimmed.starts_with('.')
            || language.commands.iter().any(|(word, _)| first_word(trimmed) == *word);
        if own {
            let span = Span::new(statements.len(), statements.len() + text.trim_end().len());
            line::command(language, source, trimmed.trim_end_matches(';'), span, findings);
            statements.extend(text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else if let Some(at) = trailing_command(text) {
            let command = text.get(at..).unwrap_or_default().trim();
            line::command(
                language,
                source,
                command,
                Span::new(statements.len() + at, statements.len() + text.len()),
                findings,
            );
            statements.push_str(text.get(..at).unwrap_or_default());
            statements
                .extend(text.get(at..).unwrap_or_default().bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
        } else {
            statements.push_str(text);
        }
    }
    statements
}

/// Where a backslash command follows a statement on its line (`SELECT … \gexec`), outside strings.
fn trailing_command(text: &str) -> Option<usize> {
    let mut quoted = false;
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        quoted ^= letter == '\'';
        let after = text.get(at + 1..).and_then(|rest| rest.chars().next());
        let begins = after.is_some_and(|after| after.is_ascii_alphabetic() || after == '!');
        if letter == '\\' && !quoted && before.is_whitespace() && begins {
            return Some(at);
        }
        before = letter;
    }
    None
}

fn first_word(text: &str) -> &str {
    let end = text.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).unwrap_or(text.len());
    text.get(..end).unwrap_or(text)
}

struct Statement<'a> {
    source: &'a Source,
    tokens: &'a [Token],
}

impl Statement<'_> {
    fn judge(&self, findings: &mut Vec<InlineFinding>) {
        let Some(first) = self.tokens.iter().position(|token| matches!(token.kind, Kind::Word(_))) else { return };
        let span = self.span();
        if let Some(token) = self.unknown() {
            findings.push(doubt(
                Doubt::Argument,
                token.span,
                "part of the SQL is not known and stands outside its strings",
            ));
        }
        let word = self.word(first).unwrap_or_default();
        let explained = word == "EXPLAIN" && (self.has("ANALYZE") || self.has("ANALYSE"));
        let changes = !LOOKING.contains(&word.as_str())
            || ((word == "WITH" || explained) && CHANGING.iter().any(|word| self.has(word)));
        let mut push = |effect: Effect, reason: String| {
            findings.push(InlineFinding { what: What::Effect(effect, None), span, reason: reason.into() });
        };
        if word == "SELECT" && self.has("INTO") {
            push(Effect::Control, "`SELECT INTO` makes a table or a file".into());
        }
        if word == "SET" && (self.has("GLOBAL") || self.has("PERSIST") || self.has("PASSWORD")) {
            push(Effect::Control, "changes a setting of the server".into());
        }
        if changes {
            push(Effect::Control, format!("`{word}` {}", self.loss(&word)));
        }
        for (name, effect, reason) in FUNCTIONS {
            if self.calls(name) {
                push(*effect, format!("`{name}` {reason}"));
            }
        }
        for path in self.files() {
            let what = What::Path { effect: Effect::Read, path: self.source.argument(&path), tree: false };
            findings.push(InlineFinding { what, span, reason: "a function reads a file".into() });
        }
        if let Some(text) = self.program() {
            let what = What::Script { language: "shell".into(), text: self.source.argument(&text) };
            findings.push(InlineFinding { what, span, reason: "`COPY … PROGRAM` runs a command".into() });
        }
    }

    /// What a changing statement does.
    fn loss(&self, word: &str) -> &'static str {
        match word {
            "DROP" => "removes an object with its data",
            "TRUNCATE" => "empties a table",
            "DELETE" if !self.has("WHERE") => "without `WHERE` empties a table",
            "UPDATE" if !self.has("WHERE") => "without `WHERE` changes every row",
            "GRANT" | "REVOKE" => "changes rights",
            _ => "changes the database",
        }
    }

    fn span(&self) -> Span {
        let start = self.tokens.first().map_or(0, |token| token.span.start);
        let end = self.tokens.last().map_or(start, |token| token.span.end);
        Span::new(start, end)
    }

    fn word(&self, at: usize) -> Option<String> {
        match &self.tokens.get(at)?.kind {
            Kind::Word(word) => Some(word.to_ascii_uppercase()),
            _ => None,
        }
    }

    fn has(&self, word: &str) -> bool {
        self.tokens.iter().any(|token| matches!(&token.kind, Kind::Word(found) if found.eq_ignore_ascii_case(word)))
    }

    fn calls(&self, name: &str) -> bool {
        self.tokens.iter().zip(self.tokens.iter().skip(1)).any(|(token, next)| {
            matches!(&token.kind, Kind::Word(found) if found.eq_ignore_ascii_case(name))
                && (next.kind == Kind::Mark("(") || name == "xp_cmdshell")
        })
    }

    /// The files that functions read.
    fn files(&self) -> Vec<String> {
        let file = |window: &[Token]| match window {
            [
                Token { kind: Kind::Word(name), .. },
                Token { kind: Kind::Mark("("), .. },
                Token { kind: Kind::Text(text), .. },
            ] if READING.iter().any(|reading| name.eq_ignore_ascii_case(reading)) => text
                .parts
                .iter()
                .find_map(|part| if let Part::Known(known) = part { Some(known.clone()) } else { None }),
            _ => None,
        };
        self.tokens.windows(3).filter_map(file).collect()
    }

    fn unknown(&self) -> Option<&Token> {
        self.tokens.iter().find(|token| matches!(&token.kind, Kind::Word(word) if word.chars().any(|letter| self.source.unknown(letter).is_some())))
    }

    /// The command of `COPY … FROM PROGRAM '…'`.
    fn program(&self) -> Option<String> {
        let at = self
            .tokens
            .iter()
            .position(|token| matches!(&token.kind, Kind::Word(word) if word.eq_ignore_ascii_case("PROGRAM")))?;
        match &self.tokens.get(at + 1)?.kind {
            Kind::Text(text) => Some(
                text.parts.iter().map(|part| if let Part::Known(known) = part { known.as_str() } else { "" }).collect(),
            ),
            _ => None,
        }
    }
}
