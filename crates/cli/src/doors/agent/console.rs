//! The person on the other side of a run, if there is one.

use serde_json::Value;
use tollgate::gate::{Denial, Elsewhere, Pending, Told};

use super::tally::Tally;

/// What a person answers to a pending call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Yes, once, to exactly this call.
    Once,
    /// No, and why.
    No(String),
    /// It was answered from another process.
    Elsewhere(Elsewhere),
    /// Nobody is there to answer.
    Nobody,
}

/// Shows a run, and asks where a human must say something.
pub(crate) trait Console {
    /// Words of the model, as they come.
    fn words(&mut self, text: &str);
    /// The model's answer is complete.
    fn words_end(&mut self);
    /// A call was proposed.
    fn proposed(&mut self, tool: &str, args: &str);
    /// A call was permitted and performed.
    fn performed(&mut self, tool: &str, told: &Told);
    /// A call was denied.
    fn denied(&mut self, tool: &str, denial: &Denial);
    /// A call waits for a human; `elsewhere` says whether it was answered from another process meanwhile.
    fn approve(&mut self, pending: &Pending, elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Answer;
    /// The plan waits for a human before anything is done.
    fn approve_plan(&mut self, plan: &str) -> Answer;
    /// The model asks the user.
    fn question(&mut self, question: &str) -> Option<String>;
    /// Where the run stands.
    fn status(&mut self, tally: &Tally);
    /// Something the user should know.
    fn notice(&mut self, text: &str);
    /// The next message of the user; `None` ends the session.
    fn next_message(&mut self) -> Option<String>;
    /// The run is over.
    fn end(&mut self, summary: &Value);
}
