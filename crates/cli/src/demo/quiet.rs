//! A console that shows nothing and says no.

use serde_json::Value;
use tollgate::gate::{Denial, Elsewhere, Pending, Told};

use crate::doors::agent::{Answer, Console, Tally};

/// Nobody is there.
#[derive(Debug)]
pub(super) struct Quiet;

impl Console for Quiet {
    fn approve_plan(&mut self, _plan: &str) -> Answer {
        Answer::Nobody
    }

    fn words(&mut self, _text: &str) {}
    fn words_end(&mut self) {}
    fn proposed(&mut self, _tool: &str, _args: &str) {}
    fn performed(&mut self, _tool: &str, _told: &Told) {}
    fn denied(&mut self, _tool: &str, _denial: &Denial) {}
    fn approve(&mut self, _pending: &Pending, _elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Answer {
        Answer::Nobody
    }
    fn question(&mut self, _question: &str) -> Option<String> {
        None
    }
    fn status(&mut self, _tally: &Tally) {}
    fn notice(&mut self, _text: &str) {}
    fn next_message(&mut self) -> Option<String> {
        None
    }
    fn end(&mut self, _summary: &Value) {}
}
