//! `[[wrapper]]`: the grammar of a program that runs another one becomes an entry of the command tables.

use std::path::Path;

use crate::commands::load::load;
use crate::commands::schema::Program;
use crate::diagnostic::{Problem, Span};

use super::compile::Compiler;
use super::schema::WrapperTable;

/// Compiles one wrapper.
pub(super) fn compile(compiler: &mut Compiler, span: Span, table: &WrapperTable) -> Vec<Program> {
    let header = Some(Span::new(span.start, span.start + "[[wrapper]]".len()));
    let (Some(program), Some(grammar)) = (&table.program, &table.grammar) else {
        let help = "write both: `program = \"mise\"`, `grammar = \"exec [options] -- COMMAND\"`".to_owned();
        compiler.problems.push(Problem::new(header, "a wrapper without `program` or `grammar`", Some(help)));
        return Vec::new();
    };
    if !is_name(program.get_ref()) {
        let message = format!("`{}` is no program's name", program.get_ref());
        compiler.problems.push(Problem::at(program, message, "write the name alone"));
        return Vec::new();
    }
    let grammar_words = grammar.get_ref().split_whitespace().collect::<Vec<_>>();
    let entries = entries(program.get_ref(), &grammar_words);
    let programs = entries.and_then(|text| load(&text, Path::new("wrapper")).ok());
    programs.unwrap_or_else(|| {
        let help = "write subcommands, `[options]`, `--`, operands in capitals, `NAME=VALUE...`, and at the end \
                    `COMMAND` (words) or `SCRIPT` (shell text): `exec [options] -- COMMAND`";
        compiler.problems.push(Problem::at(grammar, "this is not the grammar of a wrapper", help));
        Vec::new()
    })
}

/// The text of the table's entries; `None` if the grammar is none.
fn entries(program: &str, grammar: &[&str]) -> Option<String> {
    let subcommands = grammar.iter().take_while(|word| is_name(word) && !is_capital(word)).count();
    let (subcommands, rest) = grammar.split_at_checked(subcommands)?;
    let (last, rest) = rest.split_last()?;
    let run = match *last {
        "COMMAND" | "COMMAND..." => "command...",
        "SCRIPT" | "SCRIPT..." => "command-string...",
        _ => return None,
    };
    let operand = |word: &&str| match *word {
        // The first operand ends the options, and `--` may stand before it: both need no word of their own.
        "[options]" | "[OPTIONS]" | "--" => Some(""),
        "NAME=VALUE..." | "[NAME=VALUE]..." => Some("env*"),
        word if is_capital(word) => Some("text"),
        _ => None,
    };
    let operands = rest.iter().map(operand).collect::<Option<Vec<_>>>()?.join(" ");
    let path = [&[program], subcommands].concat();
    let above = (1..path.len()).filter_map(|count| {
        let name = path.get(..count)?.join(" ");
        Some(format!("[[program]]\nname = \"{name}\"\nstyle = \"posix\"\nsubcommands = true\n"))
    });
    let name = path.join(" ");
    let last = format!("[[program]]\nname = \"{name}\"\nstyle = \"posix\"\noperands = \"{operands} {run}\"\n");
    Some(above.collect::<Vec<_>>().concat() + &last)
}

/// A word that can stand in a table without quoting.
fn is_name(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._+@:-".contains(&byte);
    !word.is_empty() && !word.starts_with('-') && word.bytes().all(plain)
}

fn is_capital(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_uppercase() || b"_-".contains(&byte))
}
