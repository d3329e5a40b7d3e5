//! Exact, single-use approvals.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tollgate_call::Call;
use tollgate_call::action::{ActionKind, Standing};
use tollgate_call::facts::{Facts, FileVersion, RepoFact};
use tollgate_call::run_state::RunState;
use tollgate_ledger::{
    ApprovalError, ApprovalRow, ApprovalUse, Digest, Event, PendingId, PendingRow, Record, Scrubber, Store,
};

use crate::clock::{Clock, Entropy, NoEntropy, nonce};
use crate::operator::{Operator, OperatorKey};
use crate::verdict::Pending;

/// How long a human may take to answer, and how long the answer holds: ten minutes.
pub const TTL_MS: i64 = 10 * 60 * 1000;

/// A human's yes to exactly one call.
#[derive(Debug)]
pub struct Approval {
    pub(crate) pending: PendingId,
    pub(crate) digest: Digest,
    pub(crate) proof: Proof,
}

#[derive(Debug)]
pub(crate) enum Proof {
    /// A key press in the gate's own process.
    Seat([u8; 16]),
    /// The operator's signature, from another process.
    Signed(ApprovalRow),
}

/// The operator's seat in the gate's own process: it stands for the terminal that started the run.
///
/// # Security
/// The agent's commands run in the box, without that terminal. A seat must never be handed to
/// anything that reads the model's output.
#[derive(Debug)]
pub struct Seat {
    pub(crate) gate: [u8; 16],
}

impl Seat {
    /// Approves exactly this pending call.
    #[must_use]
    pub fn approve(&self, pending: &Pending) -> Approval {
        Approval { pending: pending.id.clone(), digest: pending.digest, proof: Proof::Seat(self.gate) }
    }
}

/// On what ground a call is admitted.
pub(crate) enum Grant {
    /// No rule speaks against it.
    Rule,
    /// The operator approved it.
    Approval(ApprovalUse),
    /// The host's own prompt decides.
    HostPrompt,
}

impl Grant {
    /// The word for it in the record.
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Rule => "allow",
            Self::Approval(_) => "approved",
            Self::HostPrompt => "host-approved",
        }
    }

    pub(crate) fn approval(self) -> Option<ApprovalUse> {
        match self {
            Self::Approval(used) => Some(used),
            Self::Rule | Self::HostPrompt => None,
        }
    }
}

/// Why a stored approval was not made.
#[derive(Debug, thiserror::Error)]
pub enum ApproveError {
    /// The ledger refused it.
    #[error(transparent)]
    Ledger(#[from] ApprovalError),
    /// No randomness.
    #[error(transparent)]
    Entropy(#[from] NoEntropy),
}

/// Signs the pending call `id` and stores the approval for whoever retries that exact call.
///
/// # Errors
/// [`ApproveError`] when the call is unknown, answered, expired, or the ledger cannot be written.
pub fn approve_stored(
    store: &dyn Store,
    key: &OperatorKey,
    row: &PendingRow,
    clock: &dyn Clock,
    entropy: &dyn Entropy,
) -> Result<(), ApproveError> {
    let now = clock.now_ms();
    let nonce = nonce(entropy)?.to_vec();
    let expires = now.saturating_add(TTL_MS);
    let signature = key.sign(row.digest.bytes(), &nonce, expires).to_vec();
    let approval = ApprovalRow { pending: row.id.clone(), digest: row.digest, nonce, expires, signature };
    let data = Scrubber::formats_only().scrub_value(&json!({
        "answer": "approved", "pending": row.id.as_str(), "digest": hex(row.digest.bytes()), "by": "operator",
    }));
    let record = Record { ts: now, run: row.run.clone(), event: Event::Approval, data };
    store.put_approval(&approval, &record)?;
    Ok(())
}

/// Whether the operator signed this row.
pub(crate) fn is_signed(operator: Option<&Operator>, row: &ApprovalRow) -> bool {
    operator.is_some_and(|operator| operator.signed(row.digest.bytes(), &row.nonce, row.expires, &row.signature))
}

/// What an approval is bound to: SHA-256 of the canonical JSON (RFC 8785) of tool, arguments, run,
/// policy, the identity of what paths and programs resolved to, the version of files that run as code, and, where
/// the project's code may run, everything that the run wrote. Of a repository, where it sends to and what git obeys
/// in it. Addresses, and sizes and times of other files, are judged again instead.
pub(crate) fn binding(
    call: &Call,
    facts: &Facts,
    state: &RunState,
    run: &str,
    policy: &[u8; 32],
) -> Result<Digest, serde_json::Error> {
    let paths: Vec<Value> = facts
        .paths
        .iter()
        .map(|(name, fact)| {
            json!([name, fact.resolved, fact.identity.known().map_or_else(|| json!("unknown"), identity)])
        })
        .collect();
    let programs: Vec<Value> = facts
        .programs
        .iter()
        .map(|(name, fact)| json!([name, fact.known().map(|p| json!([p.file, identity(&Some(p.identity))]))]))
        .collect();
    let projection = json!({
        "v": 1, "call": hex(&call.digest()), "tool": call.name(), "run": run, "policy": hex(policy),
        "paths": paths, "programs": programs,
        "code": facts.code.iter().map(|(name, fact)| json!([name, fact.known().map(version)])).collect::<Vec<_>>(),
        "repository": facts.repo.known().map(repository),
        "written": runs_code(call).then(|| hex(&state.content)),
    });
    let canonical = serde_json_canonicalizer::to_vec(&projection)?;
    let bytes: [u8; 32] = Sha256::digest(&canonical).into();
    Ok(Digest::from(bytes))
}

fn version(version: &FileVersion) -> Value {
    let FileVersion { identity: id, size, changed: (secs, nanos) } = version;
    json!([identity(&Some(*id)), size.to_string(), secs.to_string(), nanos])
}

fn repository(repo: &RepoFact) -> Value {
    let obeyed: Vec<Value> = repo.obeyed.iter().map(|(path, at)| json!([path, version(at)])).collect();
    json!([repo.branch, repo.remotes, obeyed])
}

/// Whether the call runs code of the project, which the run may have written.
fn runs_code(call: &Call) -> bool {
    call.actions().iter().any(|action| {
        let ActionKind::Execute(execute) = &action.kind else { return false };
        match execute.standing {
            Standing::File(_) | Standing::Project | Standing::NoRow => true,
            Standing::Row | Standing::Builtin | Standing::Inline(_) => false,
        }
    })
}

/// Inode numbers pass 2^53, which JSON numbers do not hold exactly.
fn identity(id: &Option<(u64, u64)>) -> Value {
    id.map_or(Value::Null, |(device, inode)| json!(format!("{device}:{inode}")))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
