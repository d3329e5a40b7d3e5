//! A workspace, a home, a ledger and a clock, on real files.

use std::io::Read as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub(crate) use serde_json::{Value, json};
use tempfile::TempDir;
use tollgate_call::facts::Unknown;
use tollgate_call::places::Layout;
use tollgate_call::{Door, Origin, Person, Proposal, Untrusted};
pub(crate) use tollgate_gate::*;
pub(crate) use tollgate_ledger::{Event, RunId, StateDir, Store, StoredRecord};
use tollgate_ledger::{OpenOptions, OpenReport, SqliteStore, log};
use tollgate_policy::Ground;
pub(crate) use tollgate_policy::{ActionName, Decision, HostPrompt, Mode, Policy, Settings, UserRule};
use tollgate_survey::{Resolve, Surveyor};

pub(crate) const NOW: i64 = 1_700_000_000_000;

/// A clock that stands still until it is set.
#[derive(Debug)]
pub(crate) struct At(pub(crate) AtomicI64);

impl At {
    pub(crate) fn pass(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for At {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// The system's randomness.
#[derive(Debug)]
pub(crate) struct Random;

impl Entropy for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(bytes)).map_err(|_| NoEntropy)
    }
}

/// Every name has the same one address; who is asked about is remembered.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) address: IpAddr,
    asked: Mutex<Vec<String>>,
}

impl Names {
    pub(crate) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolve for Names {
    fn lookup(&self, host: &str, _deadline: Instant) -> Result<Vec<IpAddr>, Unknown> {
        self.asked.lock().unwrap().push(host.to_owned());
        Ok(vec![self.address])
    }
}

/// One installation: what its gates have in common.
pub(crate) struct World {
    dir: PathBuf,
    _base: Option<TempDir>,
    pub(crate) clock: Arc<At>,
    pub(crate) settings: Settings,
    pub(crate) approver: Approver,
    pub(crate) operator: Option<Operator>,
    pub(crate) names: Arc<Names>,
}

impl World {
    /// A fresh one; deleting files asks.
    pub(crate) fn new() -> Self {
        let base = tempfile::tempdir().unwrap();
        let dir = base.path().canonicalize().unwrap();
        std::fs::create_dir_all(dir.join("home")).unwrap();
        std::fs::create_dir_all(dir.join("w")).unwrap();
        Self { _base: Some(base), ..Self::at(&dir) }
    }

    /// One that another process made.
    pub(crate) fn at(dir: &Path) -> Self {
        let mut settings = Settings::default();
        settings.rules.push(rule(Decision::Ask, ActionName::Delete));
        Self {
            dir: dir.to_owned(),
            _base: None,
            clock: Arc::new(At(AtomicI64::new(NOW))),
            settings,
            approver: Approver::Seat,
            operator: None,
            names: Self::named(IpAddr::V4(Ipv4Addr::new(93, 184, 215, 14))),
        }
    }

    /// A resolver that has `address` for every name.
    pub(crate) fn named(address: IpAddr) -> Arc<Names> {
        Arc::new(Names { address, asked: Mutex::default() })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.dir.join("w")
    }

    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.workspace().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn state_dir(&self) -> StateDir {
        StateDir::open_or_create(&self.dir.join("home/.local/state/tollgate")).unwrap()
    }

    pub(crate) fn open(&self) -> (Arc<SqliteStore>, OpenReport) {
        let (store, report) = SqliteStore::open(&self.state_dir(), OpenOptions::at(self.clock.now_ms())).unwrap();
        (Arc::new(store), report)
    }

    pub(crate) fn store(&self) -> Arc<SqliteStore> {
        self.open().0
    }

    pub(crate) fn policy(&self) -> Policy {
        let (workspace, home) = (text(&self.workspace()), text(&self.dir.join("home")));
        Policy::new(self.settings.clone(), &Ground { workspace: &workspace, home: &home }).unwrap()
    }

    /// The gate of a run, over a ledger of its own opening, as another process would have it.
    pub(crate) fn gate(&self, run: &str) -> (Gate, Seat) {
        self.gate_over(run, self.store())
    }

    pub(crate) fn gate_over(&self, run: &str, store: Arc<dyn Store>) -> (Gate, Seat) {
        self.builder(store, self.clock.clone()).open(RunId::parse(run).unwrap()).unwrap()
    }

    pub(crate) fn builder(&self, store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> GateBuilder {
        let home = text(&self.dir.join("home"));
        let surveyor = Surveyor::open(Layout::of(&text(&self.workspace()), &home), "/usr/bin:/bin").unwrap();
        let person = Person { home, user: "u".to_owned() };
        let surveyor = surveyor.resolver(Arc::<Names>::clone(&self.names));
        Gate::builder(self.policy(), surveyor, store, clock, Arc::new(Random), person)
            .operator(self.operator.clone())
            .approver(self.approver)
            .started_ms(NOW)
    }

    pub(crate) fn call(&self, tool: &str, args: &Value) -> Proposal {
        self.raw(tool, args.to_string().as_bytes())
    }

    pub(crate) fn raw(&self, tool: &str, args: &[u8]) -> Proposal {
        self.through(Door::Agent, "c", tool, args)
    }

    pub(crate) fn hooked(&self, id: &str, tool: &str, args: &Value) -> Proposal {
        self.through(Door::Hook, id, tool, args.to_string().as_bytes())
    }

    fn through(&self, door: Door, id: &str, tool: &str, args: &[u8]) -> Proposal {
        let cwd = text(&self.workspace());
        Proposal {
            tool: Untrusted::new(tool.to_owned()),
            args: Untrusted::new(args.to_vec()),
            origin: Origin { door, run: "r".to_owned(), call_id: id.to_owned(), cwd },
        }
    }

    pub(crate) fn delete(&self, path: &str) -> Proposal {
        self.call("delete_file", &json!({ "path": path }))
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> Proposal {
        self.call("write_file", &json!({ "path": path, "content": content }))
    }

    pub(crate) fn read(&self, path: &str) -> Proposal {
        self.call("read_file", &json!({ "path": path }))
    }

    /// Every record of the log, oldest first.
    pub(crate) fn records(&self) -> Vec<StoredRecord> {
        log::query(&self.state_dir(), &log::Filter::default()).unwrap()
    }

    pub(crate) fn last(&self, event: Event) -> Value {
        let records = self.records();
        let found = records.iter().rev().find(|record| record.event == event);
        found.unwrap_or_else(|| panic!("no {event:?} in {records:#?}")).data.value().clone()
    }

    pub(crate) fn assert_log_is_sound(&self) {
        let report = log::verify(&self.state_dir()).unwrap();
        assert!(report.is_sound(), "{report:?}");
    }

    /// Reserved and settled of one counter of a run.
    pub(crate) fn used(&self, run: &str, counter: &str) -> (u64, u64) {
        let rows = self.store().budgets(&format!("run:{run}")).unwrap();
        rows.iter().find(|row| row.counter == counter).map_or((0, 0), |row| (row.reserved, row.settled))
    }
}

pub(crate) fn rule(effect: Decision, action: ActionName) -> UserRule {
    let invocation = tollgate_policy::Invocation::default();
    UserRule {
        effect,
        tool: None,
        program: None,
        action: Some(action),
        path: None,
        host: None,
        invocation,
        at: String::new(),
    }
}

pub(crate) fn operator() -> Operator {
    Operator::create("correct horse", &Random).unwrap()
}

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[track_caller]
pub(crate) fn permit(verdict: Verdict) -> Permit {
    match verdict {
        Verdict::Permitted(permit) => *permit,
        other @ (Verdict::Pending(_) | Verdict::Denied(_)) => panic!("not permitted: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn pending(verdict: Verdict) -> Pending {
    match verdict {
        Verdict::Pending(pending) => *pending,
        other @ (Verdict::Permitted(_) | Verdict::Denied(_)) => panic!("not pending: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn denial(verdict: Verdict) -> Denial {
    match verdict {
        Verdict::Denied(denial) => *denial,
        other @ (Verdict::Permitted(_) | Verdict::Pending(_)) => panic!("not denied: {other:?}"),
    }
}

#[track_caller]
pub(crate) fn assert_denied(verdict: Verdict, rule: &str) {
    let denial = denial(verdict);
    assert_eq!(denial.rule, rule, "{}", denial.message());
}

/// Does what the permit says with plain files, and reports it.
pub(crate) fn perform(permit: Permit) -> Outcome {
    let (deed, settling) = permit.into_parts();
    let report = match deed {
        Deed::Write { file, content } => {
            std::fs::write(file.resolved(), content).unwrap();
            Report::changed("written")
        }
        Deed::Read { file, .. } => Report::read(std::fs::read_to_string(file.resolved()).unwrap_or_default()),
        Deed::Delete { file } => {
            std::fs::remove_file(file.resolved()).unwrap();
            Report::changed("deleted")
        }
        Deed::Run { .. }
        | Deed::Glob { .. }
        | Deed::Grep { .. }
        | Deed::Edit { .. }
        | Deed::Fetch { .. }
        | Deed::Send { .. }
        | Deed::Inner(_) => Report::read("done"),
    };
    settling.report(report)
}

/// Submits, performs and settles.
#[track_caller]
pub(crate) fn done(gate: &Gate, proposal: &Proposal) {
    let outcome = perform(permit(gate.submit(proposal)));
    assert!(!gate.settle(outcome).unwrap().is_error);
}
