//! A console that shows no secrets, whatever is said to it and however it is cut into pieces.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use tollgate::gate::{Denial, Elsewhere, Pending, Told};
use tollgate::ledger::{ScrubStream, Scrubber};

use super::console::{Answer, Console};
use super::tally::Tally;

/// Passes on what the model and the tools say, scrubbed. What the gate says is scrubbed already.
pub(crate) struct Discreet {
    inner: Rc<RefCell<dyn Console>>,
    scrubber: Arc<Scrubber>,
    stream: ScrubStream,
}

impl Discreet {
    /// Stands before `inner`.
    pub(crate) fn before(inner: &Rc<RefCell<dyn Console>>, scrubber: &Arc<Scrubber>) -> Rc<RefCell<dyn Console>> {
        let stream = ScrubStream::new(Arc::clone(scrubber));
        Rc::new(RefCell::new(Self { inner: Rc::clone(inner), scrubber: Arc::clone(scrubber), stream }))
    }

    fn show(&self, words: &str) {
        if !words.is_empty() {
            self.inner.borrow_mut().words(words);
        }
    }

    /// Whatever is said next, the words that were held back come before it.
    fn flush(&mut self) {
        let rest = self.stream.finish();
        self.show(&rest);
    }
}

impl Console for Discreet {
    fn words(&mut self, text: &str) {
        let shown = self.stream.push(text);
        self.show(&shown);
    }

    fn words_end(&mut self) {
        self.flush();
        self.inner.borrow_mut().words_end();
    }

    fn proposed(&mut self, tool: &str, args: &str) {
        self.inner.borrow_mut().proposed(&self.scrubber.redact(tool), &self.scrubber.redact(args));
    }

    fn performed(&mut self, tool: &str, told: &Told) {
        self.inner.borrow_mut().performed(tool, told);
    }

    fn denied(&mut self, tool: &str, denial: &Denial) {
        self.inner.borrow_mut().denied(&self.scrubber.redact(tool), denial);
    }

    fn approve(&mut self, pending: &Pending, elsewhere: &dyn Fn() -> Option<Elsewhere>) -> Answer {
        self.inner.borrow_mut().approve(pending, elsewhere)
    }

    fn approve_plan(&mut self, plan: &str) -> Answer {
        self.inner.borrow_mut().approve_plan(&self.scrubber.redact(plan))
    }

    fn question(&mut self, question: &str) -> Option<String> {
        self.inner.borrow_mut().question(&self.scrubber.redact(question))
    }

    fn status(&mut self, tally: &Tally) {
        self.inner.borrow_mut().status(tally);
    }

    fn notice(&mut self, text: &str) {
        self.flush();
        self.inner.borrow_mut().notice(&self.scrubber.redact(text));
    }

    fn next_message(&mut self) -> Option<String> {
        self.inner.borrow_mut().next_message()
    }

    fn end(&mut self, summary: &Value) {
        self.flush();
        self.inner.borrow_mut().end(summary);
    }
}
