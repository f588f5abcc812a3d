//! Whether two readings of a text are the same, command by command.

use brush_parser::ast;

use crate::syntax::model::{
    Block, Command, Compound, CompoundKind, Descriptor, ListOperator, Part, Redirection, RedirectionKind,
    SimpleCommand, Statement, Word,
};

/// How the offsets of the second reader map to the script.
pub(super) struct Comparison<'a> {
    pub(super) place: &'a dyn Fn(usize) -> usize,
    /// Offset of the second reader's text in the text that `place` maps.
    pub(super) start: usize,
    pub(super) contiguous: bool,
}

/// A word, or the part of one, that the second reader finds by itself.
enum Piece<'a> {
    /// Ends at this place of the script.
    Word(usize),
    Process(bool, &'a Block),
}

impl Comparison<'_> {
    pub(super) fn statements(&self, ours: &[Statement], theirs: &[&ast::CompoundListItem]) -> bool {
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| self.statement(ours, theirs))
    }

    pub(super) fn statement(&self, ours: &Statement, theirs: &ast::CompoundListItem) -> bool {
        ours.background == matches!(theirs.1, ast::SeparatorOperator::Async) && self.list(&ours.command, &theirs.0)
    }

    fn block(&self, ours: &Block, theirs: &ast::CompoundList) -> bool {
        ours.len() == theirs.0.len() && ours.iter().zip(&theirs.0).all(|(ours, theirs)| self.statement(ours, theirs))
    }

    fn list(&self, ours: &Command, theirs: &ast::AndOrList) -> bool {
        let Command::List(list) = ours else {
            return theirs.additional.is_empty() && self.pipeline(ours, &theirs.first);
        };
        list.rest.len() == theirs.additional.len()
            && self.pipeline(&list.first, &theirs.first)
            && list.rest.iter().zip(&theirs.additional).all(|((operator, right), theirs)| match theirs {
                ast::AndOr::And(theirs) => *operator == ListOperator::And && self.pipeline(right, theirs),
                ast::AndOr::Or(theirs) => *operator == ListOperator::Or && self.pipeline(right, theirs),
            })
    }

    fn pipeline(&self, ours: &Command, theirs: &ast::Pipeline) -> bool {
        let (timed, negated, stages) = match ours {
            Command::Pipeline(pipeline) => (pipeline.timed, pipeline.negated, pipeline.stages.as_slice()),
            other => (false, false, std::slice::from_ref(other)),
        };
        timed == theirs.timed.is_some()
            && negated == theirs.bang
            && stages.len() == theirs.seq.len()
            && stages.iter().zip(&theirs.seq).all(|(ours, theirs)| self.command(ours, theirs))
    }

    fn command(&self, ours: &Command, theirs: &ast::Command) -> bool {
        match (ours, theirs) {
            (Command::Simple(ours), ast::Command::Simple(theirs)) => self.simple(ours, theirs),
            (Command::Compound(ours), ast::Command::Compound(theirs, redirections)) => {
                self.compound(&ours.kind, theirs) && self.hung(&ours.redirections, redirections.as_ref())
            }
            (Command::Compound(ours), ast::Command::ExtendedTest(_, redirections)) => {
                matches!(ours.kind, CompoundKind::Conditional(_))
                    && self.hung(&ours.redirections, redirections.as_ref())
            }
            (Command::Function(ours), ast::Command::Function(theirs)) => {
                let ast::FunctionBody(body, redirections) = &theirs.body;
                let Command::Compound(Compound { kind, redirections: hung, .. }) = &*ours.body else { return false };
                ours.name == theirs.fname.value && self.compound(kind, body) && self.hung(hung, redirections.as_ref())
            }
            (Command::Coproc(ours), ast::Command::Compound(ast::CompoundCommand::Coprocess(theirs), None)) => {
                self.command(&ours.command, &theirs.body)
            }
            _ => false,
        }
    }

    fn compound(&self, ours: &CompoundKind, theirs: &ast::CompoundCommand) -> bool {
        use ast::CompoundCommand as Theirs;
        match (ours, theirs) {
            (CompoundKind::Group(ours), Theirs::BraceGroup(theirs)) => self.block(ours, &theirs.list),
            (CompoundKind::Subshell(ours), Theirs::Subshell(theirs)) => self.block(ours, &theirs.list),
            (CompoundKind::If { branches, otherwise }, Theirs::IfClause(theirs)) => {
                self.conditional(branches, otherwise, theirs)
            }
            (CompoundKind::While { condition, body }, Theirs::WhileClause(theirs) | Theirs::UntilClause(theirs)) => {
                self.block(condition, &theirs.0) && self.block(body, &theirs.1.list)
            }
            (CompoundKind::For { name, words, body }, Theirs::ForClause(theirs)) => {
                let ours = words.as_deref().unwrap_or_default();
                let values = theirs.values.as_deref().unwrap_or_default();
                *name == theirs.variable_name
                    && ours.len() == values.len()
                    && ours.iter().zip(values).all(|(ours, theirs)| self.ends(ours.span.end, theirs))
                    && self.block(body, &theirs.body.list)
            }
            (CompoundKind::ArithmeticFor { body, .. }, Theirs::ArithmeticForClause(theirs)) => {
                self.block(body, &theirs.body.list)
            }
            (CompoundKind::Case { clauses, .. }, Theirs::CaseClause(theirs)) => {
                clauses.len() == theirs.cases.len()
                    && clauses.iter().zip(&theirs.cases).all(|((patterns, body), theirs)| {
                        patterns.len() == theirs.patterns.len()
                            && theirs.cmd.as_ref().map_or(body.is_empty(), |theirs| self.block(body, theirs))
                    })
            }
            (CompoundKind::Arithmetic(_), Theirs::Arithmetic(_)) => true,
            _ => false,
        }
    }

    fn conditional(&self, branches: &[(Block, Block)], otherwise: &Block, theirs: &ast::IfClauseCommand) -> bool {
        let elses = theirs.elses.as_deref().unwrap_or_default();
        let Some(((condition, body), others)) = branches.split_first() else { return false };
        let chained = elses.iter().filter(|clause| clause.condition.is_some());
        let last = elses.iter().find(|clause| clause.condition.is_none());
        self.block(condition, &theirs.condition)
            && self.block(body, &theirs.then)
            && others.len() == chained.clone().count()
            && others.iter().zip(chained).all(|((condition, body), theirs)| {
                theirs.condition.as_ref().is_some_and(|theirs| self.block(condition, theirs))
                    && self.block(body, &theirs.body)
            })
            && last.map_or(otherwise.is_empty(), |theirs| self.block(otherwise, &theirs.body))
    }

    fn simple(&self, ours: &SimpleCommand, theirs: &ast::SimpleCommand) -> bool {
        use ast::CommandPrefixOrSuffixItem as Item;
        let mut pieces = ours.words.iter().flat_map(pieces);
        let mut assignments = ours.assignments.iter();
        let mut redirections = ours.redirections.iter();
        let prefix = theirs.prefix.iter().flat_map(|prefix| &prefix.0);
        let name = theirs.word_or_name.iter();
        let suffix = theirs.suffix.iter().flat_map(|suffix| &suffix.0);
        prefix.clone().all(|item| match item {
            Item::AssignmentWord(_, word) => {
                assignments.next().is_some_and(|assignment| self.ends(assignment.span.end, word))
            }
            Item::IoRedirect(theirs) => redirections.next().is_some_and(|ours| self.redirection(ours, theirs)),
            _ => false,
        }) && name.into_iter().all(|word| self.piece(pieces.next().as_ref(), word))
            && suffix.into_iter().all(|item| match item {
                Item::Word(word) | Item::AssignmentWord(_, word) => self.piece(pieces.next().as_ref(), word),
                Item::IoRedirect(theirs) => redirections.next().is_some_and(|ours| self.redirection(ours, theirs)),
                Item::ProcessSubstitution(kind, theirs) => match pieces.next() {
                    Some(Piece::Process(output, body)) => {
                        output == matches!(kind, ast::ProcessSubstitutionKind::Write) && self.block(body, &theirs.list)
                    }
                    _ => false,
                },
            })
            && pieces.next().is_none()
            && assignments.next().is_none()
            && redirections.next().is_none()
    }

    fn piece(&self, ours: Option<&Piece<'_>>, theirs: &ast::Word) -> bool {
        matches!(ours, Some(Piece::Word(end)) if self.ends(*end, theirs))
    }

    /// Their word ends at this place of the script.
    fn ends(&self, end: usize, theirs: &ast::Word) -> bool {
        theirs.loc.as_ref().is_some_and(|loc| (self.place)(self.start + loc.end.index) == end)
    }

    fn hung(&self, ours: &[Redirection], theirs: Option<&ast::RedirectList>) -> bool {
        let theirs = theirs.map(|list| list.0.as_slice()).unwrap_or_default();
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| self.redirection(ours, theirs))
    }

    fn redirection(&self, ours: &Redirection, theirs: &ast::IoRedirect) -> bool {
        use RedirectionKind::{
            Append, Both, BothAppend, Duplicate, HereDocument, HereString, Input, InputOutput, Output,
        };
        let number = match ours.descriptor {
            Some(Descriptor::Number(number)) => Some(i64::from(number)),
            _ => None,
        };
        let descriptor = |theirs: &Option<ast::IoFd>| theirs.map(i64::from) == number;
        match (&ours.kind, theirs) {
            (HereDocument(body), ast::IoRedirect::HereDocument(fd, theirs)) => {
                let length = body.span.end - body.span.start;
                descriptor(fd) && (!self.contiguous || theirs.remove_tabs || theirs.doc.value.len() == length)
            }
            (HereString(word), ast::IoRedirect::HereString(fd, theirs)) => descriptor(fd) && self.whole(word, theirs),
            (Both(word), ast::IoRedirect::OutputAndError(theirs, false))
            | (BothAppend(word), ast::IoRedirect::OutputAndError(theirs, true)) => self.whole(word, theirs),
            (_, ast::IoRedirect::File(fd, kind, target)) => {
                use ast::IoFileRedirectKind as Kind;
                let ((Input(word), Kind::Read)
                | (Output(word), Kind::Write | Kind::Clobber)
                | (Append(word), Kind::Append)
                | (InputOutput(word), Kind::ReadAndWrite)
                | (Both(word), Kind::DuplicateOutput)
                | (Duplicate(word), Kind::DuplicateOutput | Kind::DuplicateInput)) = (&ours.kind, kind)
                else {
                    return false;
                };
                descriptor(fd) && self.target(word, target)
            }
            _ => false,
        }
    }

    fn target(&self, ours: &Word, theirs: &ast::IoFileRedirectTarget) -> bool {
        use ast::IoFileRedirectTarget as Target;
        match theirs {
            Target::Filename(word) | Target::Duplicate(word) => self.whole(ours, word),
            Target::Fd(_) => true,
            Target::ProcessSubstitution(_, theirs) => match ours.parts.as_slice() {
                [Part::ProcessSubstitution { body, .. }] => self.block(body, &theirs.list),
                _ => false,
            },
        }
    }

    /// Our word is one word of theirs.
    fn whole(&self, ours: &Word, theirs: &ast::Word) -> bool {
        self.ends(ours.span.end, theirs)
    }
}

/// A word as the second reader splits it: at process substitutions.
fn pieces(word: &Word) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut open = false;
    for part in &word.parts {
        if let Part::ProcessSubstitution { span, output, body } = part {
            if open {
                pieces.push(Piece::Word(span.start));
            }
            pieces.push(Piece::Process(*output, body));
            open = false;
        } else {
            open = true;
        }
    }
    if open || pieces.is_empty() {
        pieces.push(Piece::Word(word.span.end));
    }
    pieces
}
