//! The web's part in a run: which addresses the user or a search gave, and where a redirect leads.

use serde_json::json;
use tollgate_call::address::{WebAddress, is_same_site};
use tollgate_call::run_state::digest;
use tollgate_call::{Call, Door, Origin, Proposal, Untrusted};
use tollgate_ledger::Event;
use tollgate_policy::Decision;
use tollgate_survey::Destination;

use crate::gate::Gate;
use crate::journal::About;
use crate::memory;
use crate::refusal::{from_findings, malformed, unreachable_ledger};
use crate::verdict::Denial;

impl Gate {
    /// Records a message of the user, and remembers the URLs in it and their hosts: those the run may fetch from.
    ///
    /// # Errors
    /// A [`Denial`] when the ledger cannot be written; the caller must stop the run.
    pub fn hear(&self, message: &str) -> Result<(), Denial> {
        let record = self.record(Event::UserMessage, &json!({ "text": message }));
        let notes = memory::given(message, &self.scrubber);
        self.store.append(&record, &notes).map(drop).map_err(|error| unreachable_ledger(&error))
    }

    /// Judges where `from` redirects to, as a fetch of its own would be judged; only what is plainly allowed
    /// may be dialled. It is part of the call that was admitted, so it uses up no cap.
    ///
    /// A redirect within the site that was let through needs nobody to name it again: what it says is
    /// said to the same reader.
    ///
    /// # Errors
    /// In words, why it is not.
    pub fn redirect(&self, from: &Destination, url: &str) -> Result<Destination, String> {
        self.guarded(About::Nothing, || self.next_hop(from, url)).flatten().map_err(|denial| denial.message())
    }

    fn next_hop(&self, from: &Destination, url: &str) -> Result<Destination, Denial> {
        let mut state = self.run_state()?;
        if let Ok(to) = WebAddress::parse(url)
            && is_same_site((from.host(), from.port()), (&to.host_name(), to.port))
        {
            state.given.push(digest(&to.url));
        }
        let run = self.run.as_str().to_owned();
        let origin = Origin { door: Door::Agent, run, call_id: "redirect".to_owned(), cwd: "/".to_owned() };
        let args = Untrusted::new(json!({ "url": url }).to_string().into_bytes());
        let proposal = Proposal { tool: Untrusted::new("webfetch".to_owned()), args, origin };
        let call = Call::read(&proposal, &self.person).map_err(|error| malformed(&error))?;
        let judged = self.judge_under(call, state)?;
        if judged.findings.decision() != Decision::Allow {
            return Err(from_findings(&judged.findings));
        }
        let unresolved = || Denial::new("net.unknown", "its address could not be resolved", None);
        judged.handles.destination.ok_or_else(unresolved)
    }
}
