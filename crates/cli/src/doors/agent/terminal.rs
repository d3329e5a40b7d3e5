//! A person at the terminal that started the run.

use std::io::{BufRead as _, IsTerminal as _};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use serde_json::Value;
use tollgate::gate::{Denial, Elsewhere, Pending, Told};
use tollgate::ledger::Scrubbed;

use super::console::{Answer, Console};
use super::stop::{Stop, Urgency};
use super::tally::Tally;
use crate::printer::{Printer, Tone, visible, visible_lines};

/// Lines of a result that are shown; the model sees all of it.
const SHOWN_LINES: usize = 6;
/// Stands before every line that the model wrote.
const BAR: &str = "│ ";
/// How often a question looks for a press of Ctrl-C.
const LOOK_NANOS: i64 = 50_000_000;

/// Looks at the terminal for each look at the ledger.
const LOOKS_A_LEDGER: u32 = 5;

/// What ended the waiting for a line.
enum Came {
    Line,
    Stop,
    Answer(Elsewhere),
}

/// Talks to the terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    printer: Printer,
    stop: Stop,
    /// Whether the model's next word begins a line.
    fresh: bool,
}

impl Terminal {
    /// A console on this process's terminal; a stop ends its questions.
    pub(crate) const fn new(printer: Printer, stop: Stop) -> Self {
        Self { printer, stop, fresh: true }
    }

    fn ask(&self, question: &str) -> Option<String> {
        self.ask_unless(question, &|| None).ok().flatten()
    }

    /// Asks; an answer that comes from elsewhere first ends the question.
    fn ask_unless(
        &self,
        question: &str,
        elsewhere: &dyn Fn() -> Option<Elsewhere>,
    ) -> Result<Option<String>, Elsewhere> {
        let before = self.stop.urgency();
        self.printer.prompt(question);
        if std::io::stdin().is_terminal() {
            match self.line_comes(before, elsewhere) {
                Came::Line => {}
                Came::Stop => {
                    self.printer.say("");
                    return Ok(None);
                }
                Came::Answer(answer) => {
                    self.printer.say("");
                    return Err(answer);
                }
            }
        }
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => Ok(None),
            Ok(_) => Ok(Some(line.trim().to_owned())),
        }
    }
}

impl Terminal {
    /// Throws away what was typed before a question was there to be answered.
    fn forget_typed(&self) {
        // Not a terminal: then nothing was typed, and nobody is asked.
        tcflush(std::io::stdin(), QueueSelector::IFlush).unwrap_or_default();
    }

    fn yes_or_no(&self, question: &str, elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Answer {
        self.forget_typed();
        loop {
            match self.ask_unless(question, elsewhere) {
                Ok(Some(line)) if matches!(line.as_str(), "y" | "yes") => return Answer::Once,
                Ok(Some(line)) if matches!(line.as_str(), "n" | "no") => {
                    return Answer::No(self.ask("  Reason (optional): ").unwrap_or_default());
                }
                Ok(Some(_)) => {}
                Ok(None) => return Answer::Nobody,
                Err(answered) => {
                    self.printer.say("answered from another terminal");
                    return Answer::Elsewhere(answered);
                }
            }
        }
    }

    /// Waits for a line, for a press of Ctrl-C, or for an answer from elsewhere; a blocked read would notice neither.
    fn line_comes(&self, before: Urgency, elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Came {
        let look = Timespec { tv_sec: 0, tv_nsec: LOOK_NANOS };
        for looked in 1_u32.. {
            let stdin = std::io::stdin();
            let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
            match poll(&mut fds, Some(&look)) {
                Ok(0) | Err(Errno::INTR) if self.stop.urgency() == before => {}
                Ok(0) | Err(_) => return Came::Stop,
                Ok(_) => return Came::Line,
            }
            if let Some(answer) = looked.is_multiple_of(LOOKS_A_LEDGER).then(elsewhere).flatten() {
                return Came::Answer(answer);
            }
        }
        Came::Stop
    }
}

impl Console for Terminal {
    fn words(&mut self, text: &str) {
        // Behind a bar on every line: words of the model never look like a question of ours.
        for line in visible_lines(text).split_inclusive('\n') {
            if self.fresh {
                self.printer.stream(BAR);
            }
            self.printer.stream(line);
            self.fresh = line.ends_with('\n');
        }
    }

    fn words_end(&mut self) {
        if !self.fresh {
            self.printer.line("");
        }
        self.fresh = true;
    }

    fn proposed(&mut self, tool: &str, args: &str) {
        let head = self.printer.paint(Tone::Strong, &format!("→ {}", visible(tool)));
        self.printer.line(&format!("{head} {}", visible(&clip(args, 300))));
    }

    fn performed(&mut self, _tool: &str, told: &Told) {
        let (tone, mark) = if told.is_error { (Tone::Care, "failed") } else { (Tone::Good, "ok") };
        let lines: Vec<&str> = told.text.lines().collect();
        let mut shown: Vec<String> = lines.iter().take(SHOWN_LINES).map(|line| visible(&clip(line, 200))).collect();
        if lines.len() > SHOWN_LINES {
            shown.push(format!("… {} more lines", lines.len() - SHOWN_LINES));
        }
        self.printer.line(&format!("  {} {}", self.printer.paint(tone, mark), shown.join("\n     ")));
    }

    fn denied(&mut self, _tool: &str, denial: &Denial) {
        let head = self.printer.paint(Tone::Bad, denial.kind.opening());
        self.printer.line(&format!("  {head} [{}] {}", denial.rule, visible(&denial.because)));
        if let Some(instead) = &denial.instead {
            self.printer.line(&format!("     instead: {}", visible(instead)));
        }
    }

    fn approve(&mut self, pending: &Pending, elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Answer {
        let printer = self.printer;
        printer.say(&printer.paint(Tone::Care, "? A call needs your approval"));
        for line in whole_call(pending.rendered()) {
            printer.say(&format!("    {line}"));
        }
        for finding in pending.findings().iter().filter(|f| f.decision != tollgate::policy::Decision::Allow) {
            printer.say(&format!("  because [{}] {}", finding.rule.as_str(), visible(&finding.because)));
        }
        printer.say(&format!("  (or from another terminal: `tollgate approve {}`)", pending.id()));
        self.yes_or_no("  Approve exactly this, once?  [y] yes  [n] no, with a reason: ", elsewhere)
    }

    fn approve_plan(&mut self, plan: &str) -> Answer {
        self.printer.say(&self.printer.paint(Tone::Care, "? The agent wants to begin with this plan"));
        for line in plan.lines() {
            self.printer.say(&format!("    {}", visible(line)));
        }
        self.yes_or_no("  Go on with it? Each call is still judged.  [y] yes  [n] no, with a reason: ", &|| None)
    }

    fn question(&mut self, question: &str) -> Option<String> {
        self.printer.say(&self.printer.paint(Tone::Care, "? The agent asks:"));
        self.printer.say(&visible_lines(question));
        self.ask("  > ")
    }

    fn status(&mut self, tally: &Tally) {
        self.printer.say(&self.printer.paint(Tone::Dim, &tally.line()));
    }

    fn notice(&mut self, text: &str) {
        self.printer.say(&visible_lines(text));
    }

    fn next_message(&mut self) -> Option<String> {
        if !std::io::stdin().is_terminal() {
            return None;
        }
        loop {
            let line = self.ask("\nyou> ")?;
            match line.as_str() {
                "" => {}
                "exit" | "quit" | "/exit" | "/quit" => return None,
                _ => return Some(line),
            }
        }
    }

    fn end(&mut self, summary: &Value) {
        let why = summary.get("ended").and_then(Value::as_str).unwrap_or_default();
        self.printer.say(&self.printer.paint(Tone::Dim, &format!("run ended: {}", visible(why))));
    }
}

/// The call with nothing left out, one argument a block, control characters spelled out.
pub(crate) fn whole_call(rendered: &Scrubbed) -> Vec<String> {
    let value = rendered.value();
    let field = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default();
    let mut lines = vec![format!("{} in {}", visible(field("tool")), visible(field("cwd")))];
    if let Some(Value::Object(args)) = value.get("args") {
        for (name, arg) in args {
            let text = arg.as_str().map_or_else(|| arg.to_string(), str::to_owned);
            let mut parts = text.split('\n');
            lines.push(format!("  {}: {}", visible(name), visible(parts.next().unwrap_or_default())));
            lines.extend(parts.map(|part| format!("    | {}", visible(part))));
        }
    }
    lines
}

fn clip(text: &str, max: usize) -> String {
    match text.get(..text.floor_char_boundary(max)) {
        Some(head) if head.len() < text.len() => format!("{head}…"),
        Some(_) | None => text.to_owned(),
    }
}
