//! The web's part in a run: which hosts the user gave, and where a redirect leads.

use serde_json::json;
use tollgate_call::{Door, Origin, Proposal, Untrusted};
use tollgate_ledger::Event;
use tollgate_policy::Decision;
use tollgate_survey::Destination;

use crate::gate::Gate;
use crate::memory;
use crate::refusal::{from_findings, unreachable_ledger};
use crate::verdict::Denial;

impl Gate {
    /// Records a message of the user, and remembers the hosts of the URLs in it: those the run may fetch from.
    ///
    /// # Errors
    /// A [`Denial`] when the ledger cannot be written; the caller must stop the run.
    pub fn hear(&self, message: &str) -> Result<(), Denial> {
        let record = self.record(Event::UserMessage, &json!({ "text": message }));
        let notes = memory::given(message, &self.scrubber);
        self.store.append(&record, &notes).map(drop).map_err(|error| unreachable_ledger(&error))
    }

    /// Judges where a redirect leads, as a fetch of its own would be judged; only what is plainly allowed may be dialled.
    ///
    /// # Errors
    /// In words, why it is not.
    pub fn redirect(&self, url: &str) -> Result<Destination, String> {
        let origin = Origin {
            door: Door::Agent,
            run: self.run.as_str().to_owned(),
            call_id: "redirect".to_owned(),
            cwd: "/".to_owned(),
        };
        let args = json!({ "url": url }).to_string().into_bytes();
        let proposal = Proposal { tool: Untrusted::new("webfetch".to_owned()), args: Untrusted::new(args), origin };
        let judged = self.judge(&proposal).map_err(|denial| denial.message())?;
        if judged.findings.decision() != Decision::Allow {
            return Err(from_findings(&judged.findings).message());
        }
        judged.handles.destination.ok_or_else(|| "its address could not be resolved".to_owned())
    }
}
