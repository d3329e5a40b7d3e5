//! Nobody there: the run is printed as text, or as one JSON event a line.

use serde_json::{Value, json};
use tollgate::gate::{Denial, Elsewhere, Pending, Told};

use super::console::{Answer, Console};
use super::tally::Tally;
use crate::printer::{Printer, visible, visible_lines};

/// Prints, and answers no question.
#[derive(Debug)]
pub(crate) struct Headless {
    printer: Printer,
    words: String,
}

impl Headless {
    /// A console that nobody sits at.
    pub(crate) const fn new(printer: Printer) -> Self {
        Self { printer, words: String::new() }
    }
}

impl Console for Headless {
    fn words(&mut self, text: &str) {
        self.words.push_str(text);
        self.printer.stream(&visible_lines(text));
    }

    fn words_end(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.printer.line("");
            self.printer.json(&json!({ "event": "words", "text": words }));
        }
    }

    fn proposed(&mut self, tool: &str, args: &str) {
        self.printer.json(&json!({ "event": "proposed", "tool": tool, "args": args }));
    }

    fn performed(&mut self, tool: &str, told: &Told) {
        self.printer
            .json(&json!({ "event": "performed", "tool": tool, "is_error": told.is_error, "result": told.text }));
    }

    fn denied(&mut self, tool: &str, denial: &Denial) {
        self.printer.json(&json!({
            "event": "denied", "tool": tool, "rule": denial.rule, "because": denial.because, "instead": denial.instead,
        }));
        if !self.printer.is_json() {
            self.printer.say(&format!("denied {}: [{}] {}", visible(tool), denial.rule, visible(&denial.because)));
        }
    }

    fn approve(&mut self, _pending: &Pending, _elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Answer {
        Answer::Nobody
    }

    fn approve_plan(&mut self, _plan: &str) -> Answer {
        Answer::Nobody
    }

    fn question(&mut self, _question: &str) -> Option<String> {
        None
    }

    fn status(&mut self, tally: &Tally) {
        self.printer.json(&json!({ "event": "status", "tally": tally.json() }));
    }

    fn notice(&mut self, text: &str) {
        self.printer.json(&json!({ "event": "notice", "text": text }));
        if !self.printer.is_json() {
            self.printer.say(&visible_lines(text));
        }
    }

    fn next_message(&mut self) -> Option<String> {
        None
    }

    fn end(&mut self, summary: &Value) {
        self.printer.json(&json!({ "event": "run_end", "summary": summary }));
        if !self.printer.is_json() {
            let text = |name: &str| summary.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            self.printer.say(&format!("{}; run ended: {}", text("status"), visible(&text("ended"))));
        }
    }
}
