//! What every example needs: a workspace and a home of its own, the time, and randomness.

use std::path::Path;
use std::sync::Arc;

use tollgate::call::places::Layout;
use tollgate::call::{Door, Origin, Person, Proposal, Untrusted};
use tollgate::gate::{Approver, Clock, Entropy, Gate, NoEntropy, Seat};
use tollgate::ledger::{OpenOptions, RunId, SqliteStore, StateDir};
use tollgate::policy::{Ground, Policy, Settings};
use tollgate::survey::Surveyor;

/// Whatever goes wrong while setting up.
pub(crate) type Problem = Box<dyn std::error::Error>;

struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "the clock is an argument of the gate, and this is the argument")]
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.ok().and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or_default()
    }
}

struct Random;

impl Entropy for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

/// A gate whose only root is `base/project`, and whose ledger lies beneath `base/home`.
pub(crate) fn gate(base: &Path, settings: Settings) -> Result<(Gate, Seat, StateDir), Problem> {
    let (home, project) = (name(&base.join("home"))?, name(&base.join("project"))?);
    let layout = Layout::of(&project, &home);
    let state = StateDir::open_or_create(&base.join("home/.local/state/tollgate"))?;
    let store = SqliteStore::open(&state, OpenOptions::at(Now.now_ms()))?.0;
    let policy = Policy::new(settings, &Ground { workspace: &project, home: &home })?;
    let surveyor = Surveyor::open(layout, "/usr/bin:/bin")?;
    let person = Person { home, user: "you".to_owned() };
    let (gate, seat) = Gate::builder(policy, surveyor, Arc::new(store), Arc::new(Now), Arc::new(Random), person)
        .approver(Approver::Seat)
        .open(RunId::parse("example")?)?;
    Ok((gate, seat, state))
}

/// What a model would send.
pub(crate) fn proposal(base: &Path, tool: &str, args: &serde_json::Value) -> Result<Proposal, Problem> {
    let cwd = name(&base.join("project"))?;
    let origin = Origin { door: Door::Library, run: "example".to_owned(), call_id: "1".to_owned(), cwd };
    Ok(Proposal { tool: Untrusted::new(tool.to_owned()), args: Untrusted::new(serde_json::to_vec(args)?), origin })
}

fn name(path: &Path) -> Result<String, Problem> {
    Ok(path.to_str().ok_or("a name that is not UTF-8")?.to_owned())
}
