//! Which variables the words of a command mention, substitutions included.

use crate::syntax::model::{
    AssignedValue, Block, Command, Compound, CompoundKind, Part, Redirection, RedirectionKind, SimpleCommand, Word,
};

/// The names of the variables that a command's words mention.
pub(super) fn variables(simple: &SimpleCommand) -> Vec<&str> {
    let mut names = Vec::new();
    in_simple(simple, &mut names);
    names
}

fn in_simple<'s>(simple: &'s SimpleCommand, names: &mut Vec<&'s str>) {
    for assignment in &simple.assignments {
        if assignment.append {
            names.push(&assignment.name);
        }
        match &assignment.value {
            AssignedValue::Scalar(word) => in_word(word, names),
            AssignedValue::Array(items) => items.iter().for_each(|(_, word)| in_word(word, names)),
        }
    }
    simple.words.iter().for_each(|word| in_word(word, names));
    simple.redirections.iter().for_each(|redirection| in_redirection(redirection, names));
}

fn in_redirection<'s>(redirection: &'s Redirection, names: &mut Vec<&'s str>) {
    match &redirection.kind {
        RedirectionKind::Input(word)
        | RedirectionKind::Output(word)
        | RedirectionKind::Append(word)
        | RedirectionKind::InputOutput(word)
        | RedirectionKind::Both(word)
        | RedirectionKind::BothAppend(word)
        | RedirectionKind::Duplicate(word)
        | RedirectionKind::HereDocument(word)
        | RedirectionKind::HereString(word) => in_word(word, names),
    }
}

fn in_word<'s>(word: &'s Word, names: &mut Vec<&'s str>) {
    in_parts(&word.parts, names);
}

fn in_parts<'s>(parts: &'s [Part], names: &mut Vec<&'s str>) {
    for part in parts {
        match part {
            Part::Literal { .. } | Part::Opaque(_) => {}
            Part::Parameter(parameter) => {
                names.push(&parameter.name);
                parameter.index.iter().for_each(|word| in_word(word, names));
                parameter.operation.iter().flat_map(|(_, words)| words).for_each(|word| in_word(word, names));
            }
            Part::CommandSubstitution { body, .. } | Part::ProcessSubstitution { body, .. } => in_block(body, names),
            Part::Arithmetic { parts, .. } => in_parts(parts, names),
        }
    }
}

fn in_block<'s>(block: &'s Block, names: &mut Vec<&'s str>) {
    block.iter().for_each(|statement| in_command(&statement.command, names));
}

fn in_command<'s>(command: &'s Command, names: &mut Vec<&'s str>) {
    match command {
        Command::Simple(simple) => in_simple(simple, names),
        Command::Pipeline(pipeline) => pipeline.stages.iter().for_each(|stage| in_command(stage, names)),
        Command::List(list) => {
            in_command(&list.first, names);
            list.rest.iter().for_each(|(_, command)| in_command(command, names));
        }
        Command::Compound(compound) => in_compound(compound, names),
        Command::Function(function) => in_command(&function.body, names),
        Command::Coproc(coproc) => in_command(&coproc.command, names),
        Command::Opaque(_) => {}
    }
}

fn in_compound<'s>(compound: &'s Compound, names: &mut Vec<&'s str>) {
    compound.redirections.iter().for_each(|redirection| in_redirection(redirection, names));
    match &compound.kind {
        CompoundKind::Group(block) | CompoundKind::Subshell(block) => in_block(block, names),
        CompoundKind::If { branches, otherwise } => {
            for (condition, body) in branches {
                in_block(condition, names);
                in_block(body, names);
            }
            in_block(otherwise, names);
        }
        CompoundKind::While { condition, body } => {
            in_block(condition, names);
            in_block(body, names);
        }
        CompoundKind::For { words, body, .. } => {
            words.iter().flatten().for_each(|word| in_word(word, names));
            in_block(body, names);
        }
        CompoundKind::ArithmeticFor { expressions, body } => {
            expressions.iter().for_each(|word| in_word(word, names));
            in_block(body, names);
        }
        CompoundKind::Case { word, clauses } => {
            in_word(word, names);
            for (patterns, body) in clauses {
                patterns.iter().for_each(|word| in_word(word, names));
                in_block(body, names);
            }
        }
        CompoundKind::Conditional(words) => words.iter().for_each(|word| in_word(word, names)),
        CompoundKind::Arithmetic(word) => in_word(word, names),
    }
}
