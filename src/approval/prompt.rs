//! The question on the human's terminal: what it shows, and the keys that answer it.
//!
//! Everything is drawn on the terminal that [`super::human`] opened, never on descriptors 0–2. Keys are read from it by
//! [`super::terminal`]: dialoguer and console would take them from standard input where that is a terminal, which may
//! be one that the agent types into, and would take pasted text and replies of the terminal for keys.

use std::io;
use std::time::Duration;

use console::{Style, Term, measure_text_width};
use dialoguer::theme::{SimpleTheme, Theme};

use super::terminal::{Event, Terminal};
use super::ticket::{Need, Ticket};
use super::turn::Turn;

/// What a human said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It may run, this once.
    Yes,
    /// It may not.
    No,
    /// A signal came first.
    Withdrawn(i32),
    /// The terminal went away, or nobody answered in time.
    Gone,
}

/// What is asked about a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Whether the command runs now.
    Run,
    /// Whether a ticket is approved.
    Approve,
    /// Whether a ticket is denied.
    Deny,
}

impl Purpose {
    fn sentence(self) -> &'static str {
        match self {
            Self::Run => "Run it once?",
            Self::Approve => "Let the agent run it once?",
            Self::Deny => "Refuse it until the ticket ends?",
        }
    }
}

const TITLE: &str = "vetsh: this command needs your yes";
const KEYS: &str = "y yes, n no, e explain";
const MORE: &str = "There is more: space goes on, n no";

/// Puts a question to the human whose terminal it is our turn to ask at, and waits for the answer, at most for `limit`.
pub fn ask(turn: Turn, ticket: &Ticket, purpose: Purpose, limit: Option<Duration>) -> io::Result<Answer> {
    let term = Term::read_write_pair(turn.tty().try_clone()?, turn.tty().try_clone()?);
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let mut terminal = Terminal::take(turn, limit, !dumb)?;
    let mut view = View { term, ticket, purpose, explained: false, next: 0, rows: Vec::new() };
    view.lay_out();
    let answer = loop {
        view.draw()?;
        terminal.shown();
        if let Some(answer) = view.answer(&mut terminal) {
            break answer;
        }
    };
    view.finish(answer)?;
    Ok(answer)
}

/// A question as it stands on the terminal.
struct View<'a> {
    term: Term,
    ticket: &'a Ticket,
    purpose: Purpose,
    explained: bool,
    /// The whole question.
    rows: Vec<String>,
    /// The first row that was not shown yet.
    next: usize,
}

impl View<'_> {
    /// Computes the rows for the terminal's present size.
    fn lay_out(&mut self) {
        let width = usize::from(self.term.size().1).clamp(20, 120);
        let styled = self.term.features().colors_supported();
        self.rows = rows(self.ticket, self.explained, width, styled);
        self.next = 0;
    }

    /// Shows the next page, and what can be pressed.
    fn draw(&mut self) -> io::Result<()> {
        let page = usize::from(self.term.size().0).saturating_sub(3).max(3);
        let end = (self.next + page).min(self.rows.len());
        for row in self.rows.get(self.next..end).unwrap_or_default() {
            self.term.write_line(row)?;
        }
        self.next = end;
        self.term.write_str(&if self.shown_whole() { question(self.purpose, KEYS) } else { format!("{MORE}: ") })
    }

    /// Whether every row was on the terminal: nothing is approved unseen.
    fn shown_whole(&self) -> bool {
        self.next >= self.rows.len()
    }

    /// Waits for a key that means something; `None` to draw the next page or the question anew.
    fn answer(&mut self, terminal: &mut Terminal) -> Option<Answer> {
        loop {
            match terminal.event() {
                Event::Key(b'y') if self.shown_whole() => return Some(Answer::Yes),
                Event::Key(b'n' | 0x1b) => return Some(Answer::No),
                Event::Key(b' ') if !self.shown_whole() => break,
                Event::Key(b'e') if !self.explained => {
                    self.explained = true;
                    self.lay_out();
                    break;
                }
                Event::Redraw => {
                    self.lay_out();
                    break;
                }
                Event::Key(_) => {}
                Event::Signal(signal) => return Some(Answer::Withdrawn(signal)),
                Event::Gone => return Some(Answer::Gone),
            }
        }
        // What is drawn next begins on a line of its own; if even that fails, the terminal tells on the next read.
        let _ = self.term.write_line("");
        None
    }

    /// Leaves the answer in sight.
    fn finish(&self, answer: Answer) -> io::Result<()> {
        match answer {
            Answer::Yes => self.term.write_line("yes"),
            Answer::No => self.term.write_line("no"),
            Answer::Withdrawn(_) => self.term.write_line("withdrawn"),
            Answer::Gone => {
                // Where it is the terminal that is gone, there is nothing to write on.
                let _ = self.term.write_line("no answer");
                Ok(())
            }
        }
    }
}

fn question(purpose: Purpose, keys: &str) -> String {
    let mut line = String::new();
    // Writing to a String cannot fail.
    let _ = SimpleTheme.format_prompt(&mut line, &format!("{} ({keys})", purpose.sentence()));
    line.push(' ');
    line
}

/// The rows of a question, each at most `width` columns.
pub fn rows(ticket: &Ticket, explained: bool, width: usize, styled: bool) -> Vec<String> {
    let style = |style: Style| style.force_styling(styled);
    let (plain, strong) = (style(Style::new()), style(Style::new().bold()));
    let marked = style(Style::new().bold().underlined());
    let mut page = Page { width, rows: Vec::new(), row: String::new(), column: 0 };
    page.line("", &[(&strong, TITLE)]);
    page.line("", &[]);
    page.line("  from   ", &[(&plain, ticket.origin.as_deref().unwrap_or("unknown"))]);
    page.line("  in     ", &[(&plain, &ticket.start)]);
    page.line("  shell  ", &[(&plain, &ticket.shell), (&plain, " "), (&plain, &ticket.options.join(" "))]);
    page.line("", &[]);
    let command: Vec<_> =
        ticket.text.iter().map(|piece| (if piece.asked { &marked } else { &plain }, &*piece.text)).collect();
    page.line("  ", &command);
    page.line("", &[]);
    for (number, need) in ticket.needs.iter().enumerate() {
        page.line("  ", &[(&plain, &format!("{}. ", number + 1)), (&strong, &what(need)), (&plain, &why(need))]);
        page.line("     ", &[(&marked, &need.text)]);
    }
    if explained {
        explain(&mut page, ticket, &plain);
    }
    page.line("", &[]);
    page.rows
}

/// What a part would do: `delete.project build`.
fn what(need: &Need) -> String {
    let mut out = match (need.effect, need.doubt) {
        (Some((effect, Some(aspect))), _) => format!("{}.{}", effect.word(), aspect.word()),
        (Some((effect, None)), _) => effect.word().to_owned(),
        (None, Some(doubt)) => format!("doubt: {}", doubt.word()),
        (None, None) => "rule".to_owned(),
    };
    if let Some(target) = &need.target {
        out.push(' ');
        out.push_str(target);
    }
    out
}

fn why(need: &Need) -> String {
    let rule = need.rule.as_ref().map(|rule| format!(" [{rule}]")).unwrap_or_default();
    format!(": {}{rule}", need.reason)
}

fn explain(page: &mut Page, ticket: &Ticket, plain: &Style) {
    page.line("", &[]);
    let project = ticket.project.as_deref().unwrap_or("none");
    page.line("  ", &[(plain, "A yes lets this very command run once, here and with this policy. Nothing is kept.")]);
    page.line("  project  ", &[(plain, project)]);
    page.line("  policy   ", &[(plain, ticket.policy.get(..12).unwrap_or(&ticket.policy))]);
    for (path, digest) in &ticket.files {
        page.line("  read     ", &[(plain, path), (plain, " "), (plain, digest.get(..12).unwrap_or(digest))]);
    }
}

/// Rows of limited width that styled text flows into.
struct Page {
    width: usize,
    rows: Vec<String>,
    row: String,
    column: usize,
}

impl Page {
    /// Adds a paragraph: `head`, then the pieces; further rows are indented as far.
    fn line(&mut self, head: &str, pieces: &[(&Style, &str)]) {
        self.row.push_str(head);
        self.column = head.len();
        for (style, text) in pieces {
            for (number, line) in text.split('\n').enumerate() {
                if number > 0 {
                    self.end_row(head.len());
                }
                self.flow(head.len(), style, line);
            }
        }
        self.end_row(0);
        self.row.clear();
    }

    fn flow(&mut self, indent: usize, style: &Style, text: &str) {
        let mut run = String::new();
        for c in text.chars() {
            let columns = measure_text_width(c.encode_utf8(&mut [0; 4]));
            if self.column + columns > self.width {
                self.put(style, &run);
                run.clear();
                self.end_row(indent);
            }
            run.push(c);
            self.column += columns;
        }
        self.put(style, &run);
    }

    fn put(&mut self, style: &Style, run: &str) {
        if !run.is_empty() {
            self.row.push_str(&style.apply_to(run).to_string());
        }
    }

    fn end_row(&mut self, indent: usize) {
        self.rows.push(std::mem::replace(&mut self.row, " ".repeat(indent)));
        self.column = indent;
    }
}
