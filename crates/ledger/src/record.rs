//! What may be recorded, and its canonical bytes.

use crate::chain::{Digest, Envelope};
use crate::error::StoreError;
use crate::scrub::Scrubbed;
use std::fmt;

/// Names what a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A run began.
    RunStart,
    /// The settings in force.
    Config,
    /// The user said something.
    UserMessage,
    /// The model was asked.
    ModelRequest,
    /// The model answered.
    ModelResponse,
    /// A call was judged.
    Decision,
    /// A call was malformed.
    ValidationError,
    /// A call left what the user asked for.
    IntentDrift,
    /// A call came back.
    ToolResult,
    /// A call ran out of time.
    ToolTimeout,
    /// Older messages were dropped.
    ContextTrimmed,
    /// A cap was reached.
    CapHit,
    /// The plan was approved.
    PlanApproved,
    /// The plan was rejected.
    PlanRejected,
    /// The model failed.
    ModelError,
    /// A halt was raised or cleared.
    Halt,
    /// A run ended.
    RunEnd,
    /// Changes were undone.
    Undo,
    /// A human answered a pending call.
    Approval,
}

impl Event {
    /// Lists every event with the name it has in the log.
    pub const ALL: [(Self, &'static str); 19] = [
        (Self::RunStart, "run_start"),
        (Self::Config, "config"),
        (Self::UserMessage, "user_message"),
        (Self::ModelRequest, "model_request"),
        (Self::ModelResponse, "model_response"),
        (Self::Decision, "decision"),
        (Self::ValidationError, "validation_error"),
        (Self::IntentDrift, "intent_drift"),
        (Self::ToolResult, "tool_result"),
        (Self::ToolTimeout, "tool_timeout"),
        (Self::ContextTrimmed, "context_trimmed"),
        (Self::CapHit, "cap_hit"),
        (Self::PlanApproved, "plan_approved"),
        (Self::PlanRejected, "plan_rejected"),
        (Self::ModelError, "model_error"),
        (Self::Halt, "halt"),
        (Self::RunEnd, "run_end"),
        (Self::Undo, "undo"),
        (Self::Approval, "approval"),
    ];

    /// Returns the name in the log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(event, _)| *event == self).map_or("", |(_, name)| name)
    }

    /// Reads the name in the log.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(event, _)| *event)
    }
}

/// Names a run: 1 to 64 of `A-Z a-z 0-9 . _ -`.
///
/// ```
/// use tollgate_ledger::RunId;
/// assert!(RunId::parse("01J-demo").is_ok());
/// assert!(RunId::parse("two words").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

/// Says why a text cannot name a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` cannot name a run, use 1 to 64 of `A-Z a-z 0-9 . _ -`")]
pub struct RunIdError(String);

impl RunId {
    /// Reads a run's name.
    ///
    /// # Errors
    /// [`RunIdError`] on any other character or length.
    pub fn parse(raw: &str) -> Result<Self, RunIdError> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
        if (1..=64).contains(&raw.len()) && raw.bytes().all(allowed) {
            return Ok(Self(raw.to_owned()));
        }
        Err(RunIdError(raw.chars().take(80).flat_map(char::escape_default).collect()))
    }

    /// Stands for events that belong to no run.
    #[must_use]
    pub fn none() -> Self {
        Self("-".to_owned())
    }

    /// Returns the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Holds one thing to be recorded; the store adds its place in the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The caller's clock: milliseconds since the epoch.
    pub ts: i64,
    /// The run it belongs to.
    pub run: RunId,
    /// What happened.
    pub event: Event,
    /// The details.
    pub data: Scrubbed,
}

impl Record {
    /// Renders the canonical line (RFC 8785) at this place in the chain, without a line feed.
    pub(crate) fn line(&self, seq: u64, prev: &Digest) -> Result<Vec<u8>, StoreError> {
        let data =
            serde_json_canonicalizer::to_string(self.data.value()).map_err(|e| StoreError::Encode(e.to_string()))?;
        let (event, run, ts) = (self.event.as_str(), &self.run, self.ts);
        Ok(format!(r#"{{"data":{data},"event":"{event}","prev":"{prev}","run":"{run}","seq":{seq},"ts":{ts},"v":1}}"#)
            .into_bytes())
    }
}

/// Holds a record as it was read back.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The position in the chain, from 1.
    pub seq: u64,
    /// The hash of the record before.
    pub prev: Digest,
    /// The hash of this record's canonical bytes.
    pub hash: Digest,
    /// Milliseconds since the epoch.
    pub ts: i64,
    /// The run it belongs to.
    pub run: RunId,
    /// What happened.
    pub event: Event,
    /// The details.
    pub data: Scrubbed,
}

impl StoredRecord {
    /// Reads one line of the log.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        let envelope = Envelope::read(line).ok()?;
        Some(Self {
            seq: envelope.seq,
            prev: envelope.prev,
            hash: Digest::of(line),
            ts: envelope.ts,
            run: RunId::parse(envelope.run).ok()?,
            event: Event::parse(envelope.event)?,
            data: Scrubbed::from_store(serde_json::from_slice(envelope.data).ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrub::Scrubber;

    #[test]
    fn a_line_is_its_own_canonical_form_and_reads_back() {
        let value = serde_json::json!({"z": 1.5, "a": ["é\u{1}", null, -0.0], "\u{20ac}": true});
        let record = Record {
            ts: 1_700_000_000_000,
            run: RunId::parse("r1").unwrap(),
            event: Event::Decision,
            data: Scrubber::formats_only().scrub_value(&value),
        };
        let line = record.line(7, &Digest::GENESIS).unwrap();
        let parsed: serde_json::Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(serde_json_canonicalizer::to_vec(&parsed).unwrap(), line);
        let back = StoredRecord::parse(&line).unwrap();
        assert_eq!((back.seq, back.event, &back.run), (7, Event::Decision, &record.run));
    }

    #[test]
    fn every_event_has_a_name_of_its_own() {
        for (event, name) in Event::ALL {
            assert_eq!((event.as_str(), Event::parse(name)), (name, Some(event)));
        }
        assert_eq!(Event::parse("nothing"), None);
    }
}
