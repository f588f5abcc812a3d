//! `[[wrapper]]`: the grammar of a program that runs another one.

use crate::diagnostic::Span;

use super::compile::{Compiler, Problem};
use super::schema::WrapperTable;
use super::settings::{Token, Wrapper};

/// Compiles one wrapper.
pub(super) fn compile(compiler: &mut Compiler, span: Span, table: &WrapperTable) -> Option<Wrapper> {
    let header = Some(Span::new(span.start, span.start + "[[wrapper]]".len()));
    let (Some(program), Some(grammar)) = (&table.program, &table.grammar) else {
        let help = "write both: `program = \"mise\"`, `grammar = \"exec [options] -- COMMAND\"`".to_owned();
        compiler.problems.push(Problem::new(header, "a wrapper without `program` or `grammar`", Some(help)));
        return None;
    };
    let name = program.get_ref();
    if name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace()) {
        compiler.problems.push(Problem::at(program, format!("`{name}` is no program's name"), "write the name alone"));
    }
    let tokens = grammar.get_ref().split_whitespace().map(token).collect::<Vec<_>>();
    let runs = |token: &Token| matches!(token, Token::Command | Token::Script);
    let last = tokens.iter().position(runs);
    if last.is_none() || last != tokens.len().checked_sub(1) {
        let help = "end it with `COMMAND` (words) or `SCRIPT` (shell text): `exec [options] -- COMMAND`";
        compiler.problems.push(Problem::at(grammar, "this grammar does not end with what is run", help));
    }
    Some(Wrapper { program: name.clone(), grammar: tokens, line: compiler.lines.line(program.span().start) })
}

fn token(word: &str) -> Token {
    match word {
        "[options]" | "[OPTIONS]" => Token::Options,
        "--" => Token::Separator,
        "COMMAND" | "COMMAND..." => Token::Command,
        "SCRIPT" | "SCRIPT..." => Token::Script,
        "NAME=VALUE" | "NAME=VALUE..." | "[NAME=VALUE]..." => Token::Assignments,
        word if word.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c == '-') => Token::Operand,
        word => Token::Word(word.to_owned()),
    }
}
