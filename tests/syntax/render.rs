//! The syntax model as compact s-expressions.
//!
//! `(cmd words)` is a simple command, `|`, `&&`, `{}`, `()` what they are in the shell; `"…"` is quoted text, `$x` a
//! parameter, `$(…)` a command substitution, `<(…)` a process substitution, `$((…))` arithmetic. What was not read
//! shows as `?`.

use vetsh::syntax::model::{
    AssignedValue, Block, Command, CompoundKind, Descriptor, ListOperator, Parameter, Part, Redirection,
    RedirectionKind, Script, SimpleCommand, Word,
};

/// A rendering on its way.
pub struct Render(String);

impl Render {
    /// A whole script.
    pub fn script(script: &Script) -> String {
        let mut render = Self(String::new());
        render.block(&script.body);
        render.0
    }

    fn put(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn block(&mut self, block: &Block) {
        for (place, statement) in block.iter().enumerate() {
            if place > 0 {
                self.put("; ");
            }
            self.command(&statement.command);
            if statement.background {
                self.put(" &");
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Pipeline(pipeline) => {
                self.put(if pipeline.timed { "(time " } else { "(" });
                self.put(if pipeline.negated { "! " } else { "" });
                for (place, stage) in pipeline.stages.iter().enumerate() {
                    self.put(if place > 0 { " | " } else { "" });
                    self.command(stage);
                }
                self.put(")");
            }
            Command::List(list) => {
                self.put("(");
                self.command(&list.first);
                for (operator, right) in &list.rest {
                    self.put(if *operator == ListOperator::And { " && " } else { " || " });
                    self.command(right);
                }
                self.put(")");
            }
            Command::Compound(compound) => {
                self.put("(");
                self.compound(&compound.kind);
                self.redirections(&compound.redirections);
                self.put(")");
            }
            Command::Function(function) => {
                self.put(&format!("(function {} ", function.name));
                self.command(&function.body);
                self.put(")");
            }
            Command::Coproc(coproc) => {
                self.put(&format!("(coproc {} ", coproc.name));
                self.command(&coproc.command);
                self.put(")");
            }
            Command::Opaque(_) => self.put("?"),
        }
    }

    fn simple(&mut self, simple: &SimpleCommand) {
        self.put("(");
        let mut first = true;
        for assignment in &simple.assignments {
            self.gap(&mut first);
            self.put(&assignment.name);
            if let Some(index) = &assignment.index {
                self.put("[");
                self.word(index);
                self.put("]");
            }
            self.put(if assignment.append { "+=" } else { "=" });
            match &assignment.value {
                AssignedValue::Scalar(word) => self.word(word),
                AssignedValue::Array(elements) => {
                    self.put("[");
                    for (place, (index, word)) in elements.iter().enumerate() {
                        self.put(if place > 0 { " " } else { "" });
                        if let Some(index) = index {
                            self.put("[");
                            self.word(index);
                            self.put("]=");
                        }
                        self.word(word);
                    }
                    self.put("]");
                }
            }
        }
        for word in &simple.words {
            self.gap(&mut first);
            self.word(word);
        }
        if first && !simple.redirections.is_empty() {
            self.0.push(':');
        }
        self.redirections(&simple.redirections);
        self.put(")");
    }

    fn gap(&mut self, first: &mut bool) {
        self.put(if *first { "" } else { " " });
        *first = false;
    }

    fn compound(&mut self, kind: &CompoundKind) {
        match kind {
            CompoundKind::Group(body) => self.labelled("{} ", body),
            CompoundKind::Subshell(body) => self.labelled("() ", body),
            CompoundKind::If { branches, otherwise } => {
                self.put("if");
                for (condition, body) in branches {
                    self.labelled(" [", condition);
                    self.labelled("] ", body);
                }
                if !otherwise.is_empty() {
                    self.labelled(" else ", otherwise);
                }
            }
            CompoundKind::While { condition, body } => {
                self.labelled("while [", condition);
                self.labelled("] ", body);
            }
            CompoundKind::For { name, words, body } => {
                self.put(&format!("for {name}"));
                if let Some(words) = words {
                    self.put(" in");
                    self.words(words);
                }
                self.labelled(": ", body);
            }
            CompoundKind::ArithmeticFor { expressions, body } => {
                self.put("for ((");
                self.words(expressions);
                self.labelled(")): ", body);
            }
            CompoundKind::Case { word, clauses } => {
                self.put("case ");
                self.word(word);
                for (patterns, body) in clauses {
                    self.put(" [");
                    self.words(patterns);
                    self.labelled("] ", body);
                }
            }
            CompoundKind::Conditional(words) => {
                self.put("[[");
                self.words(words);
            }
            CompoundKind::Arithmetic(word) => {
                self.put("((");
                self.word(word);
            }
        }
    }

    fn labelled(&mut self, label: &str, body: &Block) {
        self.put(label);
        self.block(body);
    }

    fn words(&mut self, words: &[Word]) {
        for word in words {
            self.put(" ");
            self.word(word);
        }
    }

    fn redirections(&mut self, redirections: &[Redirection]) {
        for redirection in redirections {
            self.put(" ");
            match &redirection.descriptor {
                Some(Descriptor::Number(number)) => self.put(&number.to_string()),
                Some(Descriptor::Variable(name)) => self.put(&format!("{{{name}}}")),
                None => {}
            }
            let (operator, word) = match &redirection.kind {
                RedirectionKind::Input(word) => ("<", word),
                RedirectionKind::Output(word) => (">", word),
                RedirectionKind::Append(word) => (">>", word),
                RedirectionKind::InputOutput(word) => ("<>", word),
                RedirectionKind::Both(word) => ("&>", word),
                RedirectionKind::BothAppend(word) => ("&>>", word),
                RedirectionKind::Duplicate(word) => (">&", word),
                RedirectionKind::HereDocument(word) => ("<<", word),
                RedirectionKind::HereString(word) => ("<<<", word),
            };
            self.put(operator);
            self.word(word);
        }
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[Part]) {
        for part in parts {
            match part {
                Part::Literal { text, quoted } => {
                    let text = text.to_string();
                    self.put(&if *quoted { format!("{text:?}") } else { text });
                }
                Part::Parameter(parameter) => self.parameter(parameter),
                Part::CommandSubstitution { body, quoted, .. } => {
                    self.labelled(if *quoted { "\"$(" } else { "$(" }, body);
                    self.put(if *quoted { ")\"" } else { ")" });
                }
                Part::ProcessSubstitution { output, body, .. } => {
                    self.labelled(if *output { ">(" } else { "<(" }, body);
                    self.put(")");
                }
                Part::Arithmetic { parts, .. } => {
                    self.put("$((");
                    self.parts(parts);
                    self.put("))");
                }
                Part::Opaque(_) => self.put("?"),
            }
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        let mut text = String::from(if parameter.quoted { "\"$" } else { "$" });
        text.push_str(if parameter.indirect { "!" } else { "" });
        text.push_str(if parameter.length { "#" } else { "" });
        text.push_str(&parameter.name);
        self.put(&text);
        if let Some(index) = &parameter.index {
            self.put("[");
            self.word(index);
            self.put("]");
        }
        if let Some((operator, words)) = &parameter.operation {
            self.put(&format!("{{{operator}"));
            self.words(words);
            self.put("}");
        }
        self.put(if parameter.quoted { "\"" } else { "" });
    }
}
