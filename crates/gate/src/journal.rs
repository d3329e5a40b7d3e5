//! What the audit record says of a verdict, a denial and a result.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tollgate_call::Proposal;
use tollgate_call::facts::Assurance;
use tollgate_ledger::{OutcomeClass, PendingId};
use tollgate_policy::Finding;

use crate::approval::hex;
use crate::gate::Judged;
use crate::permit::{Finish, Report, Settling, Told};
use crate::verdict::Denial;

/// Longest result text that is recorded, in bytes; its size and SHA-256 are recorded always.
const RESULT_CUT: usize = 8 * 1024;

pub(crate) fn decision(judged: &Judged, decision: &str, assurance: Assurance) -> Value {
    json!({
        "decision": decision,
        "tool": judged.call.name(),
        "args": judged.call.args(),
        "cwd": judged.call.origin().cwd,
        "call_id": judged.call.origin().call_id,
        "digest": hex(judged.digest.bytes()),
        "assurance": word(assurance),
        "confinement": format!("{:?}", judged.facts.confinement),
        "resolved": judged.facts.paths.iter().map(|(name, fact)| json!([name, fact.resolved])).collect::<Vec<_>>(),
        "findings": judged.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

pub(crate) fn denial(judged: &Judged, denial: &Denial, assurance: Assurance) -> Value {
    let mut data = decision(judged, "deny", assurance);
    if let Value::Object(map) = &mut data {
        map.insert("rule".to_owned(), json!(denial.rule));
        map.insert("because".to_owned(), json!(denial.because));
    }
    data
}

/// What a refusal that no finding made is about.
#[derive(Clone, Copy)]
pub(crate) enum About<'a> {
    /// What was proposed, and may not even be a call.
    Proposal(&'a Proposal),
    /// A call that was judged.
    Judged(&'a Judged),
    /// A call that waits for a human.
    Pending(&'a PendingId),
    /// What was done under the permit of this record.
    Permit(u64),
    /// No call.
    Nothing,
}

pub(crate) fn refusal(denial: &Denial, about: About<'_>, assurance: Assurance) -> Value {
    let mut data = json!({ "decision": "deny", "rule": denial.rule, "because": denial.because });
    let more = match about {
        About::Judged(judged) => return self::denial(judged, denial, assurance),
        About::Proposal(proposal) => proposed(proposal),
        About::Pending(id) => json!({ "pending": id.as_str() }),
        About::Permit(seq) => json!({ "of": seq }),
        About::Nothing => Value::Null,
    };
    if let (Value::Object(map), Value::Object(more)) = (&mut data, more) {
        map.extend(more);
    }
    data
}

fn proposed(proposal: &Proposal) -> Value {
    let raw = proposal.args.as_untrusted();
    json!({
        "tool": proposal.tool.as_untrusted(),
        "args_raw": cut(&String::from_utf8_lossy(raw), RESULT_CUT),
        "args_bytes": raw.len(),
        "call_id": proposal.origin.call_id,
    })
}

pub(crate) fn result(settling: &Settling, report: &Report, told: &Told) -> Value {
    let mut data = Map::new();
    data.insert("of".to_owned(), json!(settling.seq));
    data.insert("tool".to_owned(), json!(settling.tool));
    data.insert("end".to_owned(), json!(ending(report.end)));
    data.insert("changed".to_owned(), json!(report.changed));
    data.insert("result".to_owned(), json!(cut(&told.text, RESULT_CUT)));
    data.insert("result_bytes".to_owned(), json!(report.text.len()));
    data.insert("result_sha256".to_owned(), json!(hex(&Sha256::digest(report.text.as_bytes()))));
    data.extend(report.detail.clone());
    Value::Object(data)
}

pub(crate) const fn class(end: Finish) -> OutcomeClass {
    match end {
        Finish::Done => OutcomeClass::Done,
        Finish::Failed | Finish::Halted => OutcomeClass::Failed,
        Finish::TimedOut => OutcomeClass::TimedOut,
    }
}

const fn ending(end: Finish) -> &'static str {
    match end {
        Finish::Done => "done",
        Finish::Failed => "failed",
        Finish::TimedOut => "timed_out",
        Finish::Halted => "halted",
    }
}

const fn word(assurance: Assurance) -> &'static str {
    match assurance {
        Assurance::Enforced => "enforced",
        Assurance::Advisory => "advisory",
    }
}

fn finding(finding: &Finding) -> Value {
    json!({
        "decision": finding.decision.as_str(),
        "rule": finding.rule.as_str(),
        "because": finding.because,
        "span": finding.span.as_ref().map(|span| json!([span.pointer, span.start, span.end])),
    })
}

/// The longest prefix of at most `max` bytes that ends between characters.
fn cut(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}
