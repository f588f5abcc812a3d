//! The second reader: brush-parser reads the same text on its own, and must find the same commands.
//!
//! This is the only file that names brush. It sees bytes outside of ASCII as letters, so that its characters count
//! like our bytes. What it reads otherwise, or does not read, is a doubt about the smallest run of statements that can
//! be told apart.

mod compare;

use brush_parser::{Parser, ParserOptions, ast};

use super::model::{Block, Command, Dialect, Statement, SyntaxDoubt, SyntaxDoubtKind};
use crate::diagnostic::Span;
use compare::Comparison;

/// A text and what was made of it.
pub(super) struct Testimony<'a> {
    /// The text, without what closes it.
    pub(super) text: &'a [u8],
    /// Where each offset of `text` stands in the script.
    pub(super) place: &'a dyn Fn(usize) -> usize,
    /// The bytes of `text` stand together in the script.
    pub(super) contiguous: bool,
    /// The shell that will read it.
    pub(super) dialect: Dialect,
}

impl Testimony<'_> {
    /// Doubts the statements of `block` that the second reader does not find in the text.
    pub(super) fn confirm(&self, block: &Block, doubts: &mut Vec<SyntaxDoubt>) {
        let text = stand_in(self.text);
        if let Some(program) = parse(&text, self.dialect) {
            let theirs: Vec<&ast::CompoundListItem> = items(&program).collect();
            if self.comparison(0).statements(block, &theirs) {
                return;
            }
        }
        let before = doubts.len();
        if self.contiguous {
            self.confirm_lines(block, &text, doubts);
        }
        let read = |statement: &Statement| !matches!(statement.command, Command::Opaque(_));
        if doubts.len() == before && block.iter().all(read) {
            doubts.push(doubt(Span::new((self.place)(0), (self.place)(self.text.len()))));
        }
    }

    /// Asks again for each run of statements that starts on a line of its own.
    fn confirm_lines(&self, block: &Block, text: &str, doubts: &mut Vec<SyntaxDoubt>) {
        let base = (self.place)(0);
        let mut rest = block.as_slice();
        while let Some(first) = rest.first() {
            let start = span(&first.command).start.saturating_sub(base);
            let count = self.same_line(rest, base);
            let (group, after) = rest.split_at_checked(count).unwrap_or((rest, &[]));
            let end = after.first().map_or(self.text.len(), |next| span(&next.command).start.saturating_sub(base));
            if let Some(text) = text.get(start..end) {
                self.confirm_group(group, start, text, doubts);
            }
            rest = after;
        }
    }

    /// How many statements stand together before a newline between two of them.
    fn same_line(&self, statements: &[Statement], base: usize) -> usize {
        let mut pairs = statements.iter().zip(statements.iter().skip(1));
        let breaks = |(left, right): (&Statement, &Statement)| {
            let gap = span(&left.command).end.saturating_sub(base)..span(&right.command).start.saturating_sub(base);
            self.text.get(gap).is_none_or(|gap| gap.contains(&b'\n'))
        };
        pairs.position(breaks).map_or(statements.len(), |place| place + 1)
    }

    fn confirm_group(&self, group: &[Statement], start: usize, text: &str, doubts: &mut Vec<SyntaxDoubt>) {
        // What was not read is in doubt already.
        if group.iter().all(|statement| matches!(statement.command, Command::Opaque(_))) {
            return;
        }
        let program = parse(text, self.dialect);
        let theirs: Vec<&ast::CompoundListItem> = program.iter().flat_map(items).collect();
        let comparison = self.comparison(start);
        let all = group.iter().map(|statement| span(&statement.command)).reduce(Span::join).unwrap_or_default();
        if program.is_none() || theirs.len() != group.len() {
            doubts.push(doubt(all));
            return;
        }
        for (ours, theirs) in group.iter().zip(theirs) {
            if !comparison.statement(ours, theirs) {
                doubts.push(doubt(span(&ours.command)));
            }
        }
    }

    fn comparison(&self, start: usize) -> Comparison<'_> {
        Comparison { place: self.place, start, contiguous: self.contiguous }
    }
}

fn doubt(span: Span) -> SyntaxDoubt {
    SyntaxDoubt { span, kind: SyntaxDoubtKind::Syntax, reason: "the two readers of shell text differ".to_owned() }
}

/// The text with a letter for each byte that is not ASCII, and for a backslash that nothing follows.
fn stand_in(text: &[u8]) -> String {
    let mut stand_in: String = text.iter().map(|byte| if byte.is_ascii() { char::from(*byte) } else { 'x' }).collect();
    if text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1 {
        stand_in.pop();
        stand_in.push('x');
    }
    stand_in
}

fn parse(text: &str, dialect: Dialect) -> Option<ast::Program> {
    let options = ParserOptions { sh_mode: dialect == Dialect::Dash, ..ParserOptions::default() };
    Parser::new(text.as_bytes(), &options).parse_program().ok()
}

fn items(program: &ast::Program) -> impl Iterator<Item = &ast::CompoundListItem> {
    program.complete_commands.iter().flat_map(|list| &list.0)
}

/// Where a command stands.
fn span(command: &Command) -> Span {
    match command {
        Command::Simple(simple) => simple.span,
        Command::Pipeline(pipeline) => pipeline.span,
        Command::List(list) => list.rest.last().map_or(span(&list.first), |last| span(&list.first).join(span(&last.1))),
        Command::Compound(compound) => compound.span,
        Command::Function(function) => function.span,
        Command::Coproc(coproc) => coproc.span,
        Command::Opaque(opaque) => opaque.span,
    }
}
