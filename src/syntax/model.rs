//! Shell syntax as the bash manual names it, free of any parser's types.
//!
//! Every node carries the [`Span`] it covers in the text of its [`Script`]. What no reader could make sure of is an
//! [`Opaque`] node or a [`SyntaxDoubt`]: it covers its own part of the text and nothing else.

use bstr::BString;

use crate::diagnostic::Span;

/// Whose grammar and expansion rules a text is read by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// bash in its default mode.
    Bash,
    /// bash called as `sh`, or with `--posix`.
    BashPosix,
    /// dash (the `sh` of Debian).
    Dash,
    /// zsh in its native mode.
    Zsh,
    /// zsh emulating sh or ksh.
    ZshSh,
}

/// A whole text that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// The commands in the order in which they stand.
    pub body: Block,
    /// Parts of the text that may mean something else than `body` says, in order.
    pub doubts: Vec<SyntaxDoubt>,
}

/// A part of the text on whose meaning no two readers agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxDoubt {
    /// The part.
    pub span: Span,
    /// Which kind of doubt: syntax, dialect or limit.
    pub kind: SyntaxDoubtKind,
    /// Why it is in doubt, as a lowercase fragment.
    pub reason: String,
}

/// Why a text cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxDoubtKind {
    /// The readers fail or differ.
    Syntax,
    /// The construct means something else in the shell that will run it.
    Dialect,
    /// Too long or too deep to be read.
    Limit,
}

/// A sequence of statements.
pub type Block = Vec<Statement>;

/// One command of a list, ended by a newline, `;` or `&`.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What runs.
    pub command: Command,
    /// Ended by `&`.
    pub background: bool,
}

/// One node of a script in command position.
///
/// A redirection on a list or pipeline hangs on the simple or compound command that it is written after, as in the
/// manual.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Assignments, words and redirections.
    Simple(SimpleCommand),
    /// `a | b`; also a single command that is timed or negated.
    Pipeline(Pipeline),
    /// `a && b`, `a || b`.
    List(Box<List>),
    /// `{ …; }`, `( … )`, loops, conditionals.
    Compound(Compound),
    /// `f() …`.
    Function(Function),
    /// `coproc NAME …`.
    Coproc(Box<Coproc>),
    /// Text in command position that was not read.
    Opaque(Opaque),
}

/// Text that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque {
    /// Where it stands.
    pub span: Span,
    /// Why it was not read, as a lowercase fragment.
    pub reason: String,
}

/// Assignments, words and redirections.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimpleCommand {
    /// From the first to the last byte, here-document bodies left out.
    pub span: Span,
    /// `NAME=value` before the first word.
    pub assignments: Vec<Assignment>,
    /// The command name and its arguments, in order, wherever redirections stand between them.
    pub words: Vec<Word>,
    /// In order.
    pub redirections: Vec<Redirection>,
}

/// `NAME=value`, `NAME+=value`, `NAME[index]=value`, `NAME=(…)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// The whole assignment.
    pub span: Span,
    /// The variable.
    pub name: String,
    /// The subscript, not evaluated.
    pub index: Option<Word>,
    /// `+=`.
    pub append: bool,
    /// The right-hand side.
    pub value: AssignedValue,
}

/// The right-hand side of an assignment.
#[derive(Debug, Clone, PartialEq)]
pub enum AssignedValue {
    /// One word; empty for `NAME=`.
    Scalar(Word),
    /// `(a b [k]=c)`: each element and, where given, its subscript.
    Array(Vec<(Option<Word>, Word)>),
}

/// A word before expansion.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Word {
    /// The word with its quotes.
    pub span: Span,
    /// Adjacent parts; an empty list is the empty word.
    pub parts: Vec<Part>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text after quote removal. `quoted` text is neither split nor taken as a pattern, brace or tilde.
    Literal {
        /// The bytes that the shell will see.
        text: BString,
        /// Written inside quotes or after a backslash.
        quoted: bool,
    },
    /// `$x`, `${x…}`.
    Parameter(Parameter),
    /// `$(…)`, `` `…` ``, `${ …; }`.
    CommandSubstitution {
        /// With the delimiters.
        span: Span,
        /// The commands inside.
        body: Block,
        /// Inside double quotes: the result is not split.
        quoted: bool,
    },
    /// `<(…)`, `>(…)`, and zsh's `=(…)`.
    ProcessSubstitution {
        /// With the delimiters.
        span: Span,
        /// `>(…)`.
        output: bool,
        /// The commands inside.
        body: Block,
    },
    /// `$((…))`: the expression's parts (literals and the expansions in it).
    Arithmetic {
        /// With the delimiters.
        span: Span,
        /// What stands inside, as if in double quotes.
        parts: Vec<Part>,
    },
    /// A piece of a word that was not read.
    Opaque(Opaque),
}

/// `$x`, `${x}`, `${x:-word}`, `${!x}`, `${#x}`, `${x[i]}`, `${x@P}` …
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// With `$` and braces.
    pub span: Span,
    /// A name, a number or one of `@ * # ? - $ ! _`.
    pub name: String,
    /// The subscript.
    pub index: Option<Word>,
    /// `${!x}`.
    pub indirect: bool,
    /// `${#x}`.
    pub length: bool,
    /// The operator and its operands (`:-`, `-`, `:=`, `=`, `:?`, `?`, `:+`, `+`, `#`, `##`, `%`, `%%`, `/`, `//`, `/#`,
    /// `/%`, `:`, `^`, `^^`, `,`, `,,`, `@X`); words inside may hold substitutions that run.
    pub operation: Option<(String, Vec<Word>)>,
    /// Inside double quotes: the result is not split.
    pub quoted: bool,
}

/// `[n]>file`, `<<EOF`, `<<<word`, `2>&1` …
#[derive(Debug, Clone, PartialEq)]
pub struct Redirection {
    /// From the descriptor to the end of the target word or delimiter.
    pub span: Span,
    /// The descriptor or `{name}` before the operator.
    pub descriptor: Option<Descriptor>,
    /// What it does.
    pub kind: RedirectionKind,
}

/// What a redirection is written for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`.
    Number(u32),
    /// `{fd}>`.
    Variable(String),
}

/// The operator and its operand.
#[derive(Debug, Clone, PartialEq)]
pub enum RedirectionKind {
    /// `< word`.
    Input(Word),
    /// `> word`, `>| word`.
    Output(Word),
    /// `>> word`.
    Append(Word),
    /// `<> word`.
    InputOutput(Word),
    /// `&> word`, `>& word` (a file).
    Both(Word),
    /// `&>> word`.
    BothAppend(Word),
    /// `>&n`, `<&n`, `>&-`, `<&word`.
    Duplicate(Word),
    /// `<<DELIMITER`: the body after quote and tab removal, as one quoted word; expansions in it only if the delimiter
    /// was unquoted.
    HereDocument(Word),
    /// `<<< word`.
    HereString(Word),
}

/// Commands joined by `|`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// The whole pipeline.
    pub span: Span,
    /// Preceded by `time`.
    pub timed: bool,
    /// Preceded by an odd number of `!`.
    pub negated: bool,
    /// The stages, at least one.
    pub stages: Vec<Command>,
}

/// Commands joined by `&&` and `||`, which bind equally and to the left. Flat, so that a long list is not a deep one.
#[derive(Debug, Clone, PartialEq)]
pub struct List {
    /// The leftmost command.
    pub first: Command,
    /// Each further operator with the command to its right, at least one.
    pub rest: Vec<(ListOperator, Command)>,
}

/// `&&` or `||`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOperator {
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// A compound command with its redirections.
#[derive(Debug, Clone, PartialEq)]
pub struct Compound {
    /// The whole command, redirections included.
    pub span: Span,
    /// Which one.
    pub kind: CompoundKind,
    /// What is written after it.
    pub redirections: Vec<Redirection>,
}

/// The compound commands of the manual.
#[derive(Debug, Clone, PartialEq)]
pub enum CompoundKind {
    /// `{ …; }`.
    Group(Block),
    /// `( … )`.
    Subshell(Block),
    /// `if … then … elif … else … fi`.
    If {
        /// Condition and consequence, in order.
        branches: Vec<(Block, Block)>,
        /// The `else` part; empty if there is none.
        otherwise: Block,
    },
    /// `while … do … done`, `until … do … done`.
    While {
        /// What is tested.
        condition: Block,
        /// What is repeated.
        body: Block,
    },
    /// `for x in words; do … done`, `select …`.
    For {
        /// The loop variable.
        name: String,
        /// `None`: over the positional parameters.
        words: Option<Vec<Word>>,
        /// What is repeated.
        body: Block,
    },
    /// `for ((…; …; …)); do … done`: the expressions as words, the body.
    ArithmeticFor {
        /// What stands between the parentheses, as quoted words.
        expressions: Vec<Word>,
        /// What is repeated.
        body: Block,
    },
    /// `case word in patterns) … ;; esac`.
    Case {
        /// What is matched.
        word: Word,
        /// Patterns and body of each clause.
        clauses: Vec<(Vec<Word>, Block)>,
    },
    /// `[[ … ]]`: its words and operators, in order.
    Conditional(Vec<Word>),
    /// `(( … ))`: the expression as a quoted word.
    Arithmetic(Word),
}

/// `name() body`.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// The whole definition.
    pub span: Span,
    /// Its name.
    pub name: String,
    /// A compound command as a rule.
    pub body: Box<Command>,
}

/// `coproc [NAME] command`.
#[derive(Debug, Clone, PartialEq)]
pub struct Coproc {
    /// The whole command.
    pub span: Span,
    /// The array that gets the descriptors; `COPROC` if none is written.
    pub name: String,
    /// What runs.
    pub command: Command,
}
