//! The parser: tree-sitter-bash gives a level its shape, the scanner's tokens fill it.
//!
//! This is the only file that names tree-sitter or its node kinds. Kinds that are not named here are not read. Each
//! token is used once and in order; where the tree and the tokens do not fit, the statement is not read.

mod compound;

use std::cell::RefCell;
use std::iter::Peekable;
use std::mem::ManuallyDrop;
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree};

use super::model::{
    Block, Command, Compound, CompoundKind, Coproc, Function, List, ListOperator, Opaque, Pipeline, Redirection,
    RedirectionKind, SimpleCommand, Statement, SyntaxDoubt, SyntaxDoubtKind, Word,
};
use super::scan::{Keyword, Prefix, Token, TokenKind};
use super::skeleton::{self, Drawing};
use crate::diagnostic::Span;

pub use tree_sitter::{Allocator as ParserMemory, set_allocator as set_parser_memory};

thread_local! {
    /// Never dropped: a thread that has something to drop at its end asks the C library for a key, which blocks signals.
    static PARSER: RefCell<Option<ManuallyDrop<Parser>>> = const { RefCell::new(None) };
}

/// The tree and the tokens differ, or the tree has errors.
struct Misfit;

type Lowered<T> = Result<T, Misfit>;

/// Gives the tokens of a level the shape of commands. Statements that cannot be read are opaque, each with its doubt.
pub(super) fn lower(tokens: Vec<Token>, doubts: &mut Vec<SyntaxDoubt>) -> Block {
    if tokens.is_empty() {
        return Block::new();
    }
    let drawing = skeleton::draw(&tokens);
    if let Some(tree) = parse(&drawing.text) {
        return Lowering::new(tokens, drawing).program(&tree, doubts);
    }
    statements(tokens)
        .flat_map(|tokens| {
            let drawing = skeleton::draw(&tokens);
            match parse(&drawing.text) {
                Some(tree) => Lowering::new(tokens, drawing).program(&tree, doubts),
                None => vec![unread(&tokens, doubts)],
            }
        })
        .collect()
}

/// The tree of a drawing, if it has no errors.
fn parse(text: &[u8]) -> Option<Tree> {
    PARSER.with_borrow_mut(|slot| {
        if slot.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *slot = Some(ManuallyDrop::new(parser));
        }
        let parser = slot.as_mut()?;
        // Its attempts to recover from an error may take a thousand times as long as the text took.
        let mut progress = |state: &ParseState| {
            if state.has_error() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let mut rest = |offset: usize, _| text.get(offset..).unwrap_or_default();
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = parser.parse_with_options(&mut rest, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree.filter(|tree| !tree.root_node().has_error())
    })
}

/// The tokens of each outermost statement, with its terminator.
fn statements(tokens: Vec<Token>) -> impl Iterator<Item = Vec<Token>> {
    let mut tokens = tokens.into_iter();
    std::iter::from_fn(move || {
        let mut statement = Vec::new();
        for token in tokens.by_ref() {
            let ends = ends_statement(&token);
            statement.push(token);
            if ends {
                break;
            }
        }
        (!statement.is_empty()).then_some(statement)
    })
}

fn ends_statement(token: &Token) -> bool {
    token.depth == 0 && matches!(token.kind, TokenKind::Terminator { .. })
}

/// A statement that was not read.
fn unread(tokens: &[Token], doubts: &mut Vec<SyntaxDoubt>) -> Statement {
    let first = tokens.first().map(|token| token.span).unwrap_or_default();
    let span = tokens.last().map_or(first, |last| first.join(last.span));
    opaque(span, doubts)
}

fn opaque(span: Span, doubts: &mut Vec<SyntaxDoubt>) -> Statement {
    let reason = "no reader can tell what this is".to_owned();
    doubts.push(SyntaxDoubt { span, kind: SyntaxDoubtKind::Syntax, reason: reason.clone() });
    Statement { command: Command::Opaque(Opaque { span, reason }), background: false }
}

/// The statements below a node, in order.
type Children<'t> = Peekable<std::vec::IntoIter<Node<'t>>>;

struct Lowering {
    /// Each token and its place in the drawing.
    tokens: Peekable<std::iter::Zip<std::vec::IntoIter<Token>, std::vec::IntoIter<usize>>>,
    /// Where the last token that was used ends in the script.
    end: usize,
}

impl Lowering {
    fn new(tokens: Vec<Token>, drawing: Drawing) -> Self {
        Self { tokens: tokens.into_iter().zip(drawing.places).peekable(), end: 0 }
    }

    /// The outermost statements. One that does not fit is skipped to its end.
    fn program(mut self, tree: &Tree, doubts: &mut Vec<SyntaxDoubt>) -> Block {
        let mut block = Block::new();
        let mut children = children(tree.root_node());
        while let Some((first, place)) = self.tokens.peek() {
            let (start, place) = (first.span.start, *place);
            let statement = match children.next_if(|node| node.start_byte() >= place) {
                Some(node) => self.statement(node),
                None => Err(Misfit),
            };
            block.push(statement.unwrap_or_else(|Misfit| {
                self.skip_statement();
                let next = self.tokens.peek().map_or(usize::MAX, |(_, place)| *place);
                while children.next_if(|node| node.start_byte() < next).is_some() {}
                opaque(self.since(start), doubts)
            }));
        }
        block
    }

    fn skip_statement(&mut self) {
        while let Some(token) = self.next() {
            if ends_statement(&token) {
                return;
            }
        }
    }

    fn next(&mut self) -> Option<Token> {
        let (token, _) = self.tokens.next()?;
        self.end = token.span.end;
        Some(token)
    }

    /// The next token if it is of this kind.
    fn take(&mut self, is: impl Fn(&TokenKind) -> bool) -> Option<Token> {
        if !is(&self.tokens.peek()?.0.kind) {
            return None;
        }
        self.next()
    }

    fn keyword(&mut self, keyword: Keyword) -> Lowered<()> {
        self.expect(|kind| matches!(kind, TokenKind::Keyword(found) if *found == keyword)).map(|_| ())
    }

    fn expect(&mut self, is: impl Fn(&TokenKind) -> bool) -> Lowered<Token> {
        self.take(is).ok_or(Misfit)
    }

    fn at(&mut self, is: impl Fn(&TokenKind) -> bool) -> bool {
        self.tokens.peek().is_some_and(|(token, _)| is(&token.kind))
    }

    /// Where the next token starts in the script.
    fn start(&mut self) -> usize {
        self.tokens.peek().map(|(token, _)| token.span.start).unwrap_or_default()
    }

    /// From `start` to the end of the last token.
    fn since(&self, start: usize) -> Span {
        Span::new(start, self.end)
    }

    /// Statements up to a token that no statement starts with.
    fn block(&mut self, children: &mut Children<'_>) -> Lowered<Block> {
        let mut block = Block::new();
        while self.at(starts_statement) {
            let node = children.next().ok_or(Misfit)?;
            block.push(self.statement(node)?);
        }
        block.shrink_to_fit();
        Ok(block)
    }

    /// A command and what ends it.
    fn statement(&mut self, node: Node<'_>) -> Lowered<Statement> {
        let command = self.list(node)?;
        let terminator = self.take(|kind| matches!(kind, TokenKind::Terminator { .. }));
        if terminator.is_none() && self.at(starts_statement) {
            return Err(Misfit);
        }
        let background =
            terminator.is_some_and(|token| matches!(token.kind, TokenKind::Terminator { background: true, .. }));
        Ok(Statement { command, background })
    }

    /// Pipelines joined by `&&` and `||`. The tree says which commands there are, the tokens how they are joined: the
    /// grammar hangs what follows three stages under the last one.
    fn list(&mut self, node: Node<'_>) -> Lowered<Command> {
        let mut leaves = leaves(node).into_iter();
        let first = self.pipeline(&mut leaves)?;
        let mut rest = Vec::new();
        while let Some(token) = self.take(|kind| matches!(kind, TokenKind::And | TokenKind::Or)) {
            let operator = if matches!(token.kind, TokenKind::And) { ListOperator::And } else { ListOperator::Or };
            rest.push((operator, self.pipeline(&mut leaves)?));
        }
        if leaves.next().is_some() {
            return Err(Misfit);
        }
        Ok(if rest.is_empty() { first } else { Command::List(Box::new(List { first, rest })) })
    }

    fn pipeline<'t>(&mut self, leaves: &mut impl Iterator<Item = Node<'t>>) -> Lowered<Command> {
        let start = self.start();
        let (mut timed, mut negated) = (false, false);
        let mut prefixed = false;
        while let Some(token) = self.take(|kind| matches!(kind, TokenKind::Prefix(Prefix::Not | Prefix::Time))) {
            prefixed = true;
            match token.kind {
                TokenKind::Prefix(Prefix::Time) => timed = true,
                _ => negated = !negated,
            }
        }
        let first = self.stage(leaves.next().ok_or(Misfit)?)?;
        if !prefixed && !self.at(|kind| matches!(kind, TokenKind::Pipe | TokenKind::PipeBoth)) {
            return Ok(first);
        }
        let mut stages = vec![first];
        while let Some(pipe) = self.take(|kind| matches!(kind, TokenKind::Pipe | TokenKind::PipeBoth)) {
            if let (TokenKind::PipeBoth, Some(previous)) = (pipe.kind, stages.last_mut()) {
                pipe_errors(previous, pipe.span);
            }
            stages.push(self.stage(leaves.next().ok_or(Misfit)?)?);
        }
        stages.shrink_to_fit();
        Ok(Command::Pipeline(Pipeline { span: self.since(start), timed, negated, stages }))
    }

    /// One command: what stands before it, itself, and the redirections after it.
    fn stage(&mut self, node: Node<'_>) -> Lowered<Command> {
        let start = self.start();
        if let Some(token) = self.take(|kind| matches!(kind, TokenKind::Prefix(_))) {
            let command = match token.kind {
                TokenKind::Prefix(Prefix::Function(name)) => {
                    let body = Box::new(self.stage(node)?);
                    Command::Function(Function { span: self.since(start), name, body })
                }
                TokenKind::Prefix(Prefix::Coproc(name)) => {
                    let command = self.stage(node)?;
                    Command::Coproc(Box::new(Coproc { span: self.since(start), name, command }))
                }
                _ => return Err(Misfit),
            };
            return Ok(command);
        }
        let kind = match node.kind() {
            "command" => return self.command(node.end_byte()),
            "subshell" => self.subshell(node)?,
            "compound_statement" => self.group(node)?,
            "if_statement" => self.conditional(node)?,
            "while_statement" => self.repeated(node)?,
            "for_statement" | "c_style_for_statement" => self.counted(node)?,
            "case_statement" => self.case(node)?,
            _ => return Err(Misfit),
        };
        Ok(self.compound(start, kind))
    }

    fn compound(&mut self, start: usize, kind: CompoundKind) -> Command {
        let mut redirections = Vec::new();
        while let Some(token) = self.take(|kind| matches!(kind, TokenKind::HungRedirection(_))) {
            if let TokenKind::HungRedirection(redirection) = token.kind {
                redirections.push(redirection);
            }
        }
        Command::Compound(Compound { span: self.since(start), kind, redirections })
    }

    /// The words, assignments and redirections up to `end`; or a test, which stands alone.
    fn command(&mut self, end: usize) -> Lowered<Command> {
        let start = self.start();
        let mut command = SimpleCommand::default();
        while let Some((token, _)) = self.tokens.next_if(|(_, place)| *place < end) {
            let alone = command.words.is_empty() && command.assignments.is_empty() && command.redirections.is_empty();
            self.end = token.span.end;
            match token.kind {
                TokenKind::Word(word) => command.words.push(word),
                TokenKind::Assignment(assignment) => command.assignments.push(assignment),
                TokenKind::Redirection(redirection) => command.redirections.push(redirection),
                TokenKind::Conditional(words) if alone && self.is_last(end) => {
                    return Ok(self.compound(start, CompoundKind::Conditional(words)));
                }
                TokenKind::Arithmetic(word) if alone && self.is_last(end) => {
                    return Ok(self.compound(start, CompoundKind::Arithmetic(word)));
                }
                _ => return Err(Misfit),
            }
        }
        command.span = self.since(start);
        Ok(Command::Simple(command))
    }

    /// No further token stands before `end`.
    fn is_last(&mut self, end: usize) -> bool {
        self.tokens.peek().is_none_or(|(_, place)| *place >= end)
    }
}

/// A token that a statement can start with.
fn starts_statement(kind: &TokenKind) -> bool {
    match kind {
        TokenKind::Word(_)
        | TokenKind::Assignment(_)
        | TokenKind::Redirection(_)
        | TokenKind::Conditional(_)
        | TokenKind::Arithmetic(_)
        | TokenKind::Prefix(_)
        | TokenKind::Open => true,
        TokenKind::Keyword(keyword) => {
            matches!(keyword, Keyword::If | Keyword::While | Keyword::For | Keyword::Case | Keyword::Open)
        }
        _ => false,
    }
}

/// The children of a node that are statements, bodies or clauses: all but words.
fn children(node: Node<'_>) -> Children<'_> {
    let mut cursor = node.walk();
    let children: Vec<Node<'_>> = node
        .named_children(&mut cursor)
        .filter(|child| !matches!(child.kind(), "word" | "variable_name" | "extglob_pattern"))
        .collect();
    children.into_iter().peekable()
}

/// The commands that are joined below a node, in order.
fn leaves(node: Node<'_>) -> Vec<Node<'_>> {
    let mut leaves = Vec::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if matches!(node.kind(), "list" | "pipeline") {
            let first = open.len();
            open.extend(children(node));
            if let Some(joined) = open.get_mut(first..) {
                joined.reverse();
            }
        } else {
            leaves.push(node);
        }
    }
    leaves
}

/// `|&`: standard error goes down the pipe too.
fn pipe_errors(command: &mut Command, span: Span) {
    use super::model::{Descriptor, Part};
    let word = Word { span, parts: vec![Part::Literal { text: "1".into(), quoted: false }] };
    let kind = RedirectionKind::Duplicate(word);
    let redirection = Redirection { span, descriptor: Some(Descriptor::Number(2)), kind };
    match command {
        Command::Simple(simple) => simple.redirections.push(redirection),
        Command::Compound(compound) => compound.redirections.push(redirection),
        _ => {}
    }
}
