//! Lines about caps, loops and approvals, through a whole gate: a real workspace, a real ledger.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tollgate_call::facts::Unknown;
use tollgate_call::places::Layout;
use tollgate_call::schema::{self, Kind};
use tollgate_call::{Person, Proposal, Untrusted};
use tollgate_gate::{Approver, Clock, Denial, Entropy, Gate, NoEntropy, Pending, Permit, Report, Seat, Verdict};
use tollgate_ledger::{OpenOptions, RunId, SqliteStore, StateDir};
use tollgate_policy::{Decision, Finding, Ground};
use tollgate_survey::{Resolve, Surveyor};

use crate::case::{Case, Key};
use crate::files::cases;
use crate::said::{Said, holds, needs_gate};
use crate::world;

struct Now;

impl Clock for Now {
    #[expect(clippy::disallowed_methods, reason = "approvals expire by the real clock")]
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        since.as_millis().try_into().unwrap()
    }
}

struct Random;

impl Entropy for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

/// A workspace, a home and a gate of their own for one line.
struct Scene {
    _dir: tempfile::TempDir,
    home: String,
    gate: Gate,
    seat: Seat,
}

impl Scene {
    fn of(case: &Case) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let home = real(dir.path());
        let workspace = format!("{home}/app");
        furnish(Path::new(&workspace));
        let layout = Layout::of(&workspace, &home);
        let surveyor = Surveyor::open(layout, "/usr/bin:/bin").unwrap().resolver(Arc::new(Public));
        let state = StateDir::open_or_create(&Path::new(&home).join(".local/state/tollgate")).unwrap();
        let (store, _) = SqliteStore::open(&state, OpenOptions::at(Now.now_ms())).unwrap();
        let policy = world::policy_at(case, &Ground { workspace: &workspace, home: &home });
        let person = Person { home: home.clone(), user: "dev".to_owned() };
        let (gate, seat) = Gate::builder(policy, surveyor, Arc::new(store), Arc::new(Now), Arc::new(Random), person)
            .approver(Approver::Seat)
            .open(RunId::parse("cases").unwrap())
            .unwrap();
        Self { _dir: dir, home, gate, seat }
    }

    fn proposal(&self, case: &Case, args: &str) -> Proposal {
        let moved = |text: &str| text.replace("/home/dev", &self.home);
        let mut proposal = world::proposal(case);
        proposal.args = Untrusted::new(moved(args).into_bytes());
        proposal.origin.cwd = moved(&proposal.origin.cwd);
        proposal
    }

    /// The last answer to the case, after what came before it.
    fn say(&self, case: &Case) -> Said {
        if let Some(first) = case.one(Key::Approved) {
            return self.say_approved(case, first);
        }
        let times: usize = case.one(Key::Repeat).map_or(1, |times| times.parse().unwrap());
        let mut said = None;
        for _ in 0..times {
            said = Some(self.once(case));
        }
        said.unwrap()
    }

    /// One submission, performed by hands that always succeed in the same way.
    fn once(&self, case: &Case) -> Said {
        match self.gate.submit(&self.proposal(case, &case.args)) {
            Verdict::Permitted(permit) => self.perform(*permit, case),
            Verdict::Pending(pending) => asked(&pending),
            Verdict::Denied(denial) => denied(&denial),
        }
    }

    fn perform(&self, permit: Permit, case: &Case) -> Said {
        let changes = ["write_file", "edit_file", "delete_file"].contains(&case.tool.as_str());
        let report = if changes { Report::changed("done") } else { Report::read("done") };
        let (_, settling) = permit.into_parts();
        self.gate.settle(settling.report(report)).unwrap();
        Said { decision: Decision::Allow, rules: Vec::new() }
    }

    /// A person approves the call with `first` as its first argument; then the case's call is made,
    /// and whoever makes it holds that approval.
    fn say_approved(&self, case: &Case, first: &str) -> Said {
        let approved = with_first(case, first);
        let pending = match self.gate.submit(&self.proposal(case, &approved)) {
            Verdict::Pending(pending) => *pending,
            Verdict::Denied(denial) => return denied(&denial),
            Verdict::Permitted(_) => panic!("{}: the approved call needs no approval", case.id),
        };
        let approval = self.seat.approve(&pending);
        if approved == case.args {
            let said = self.redeemed(self.gate.redeem(pending, approval), case);
            return if case.one(Key::Repeat).is_some() { self.once(case) } else { said };
        }
        match self.gate.submit(&self.proposal(case, &case.args)) {
            Verdict::Pending(neighbour) => {
                let said = asked(&neighbour);
                let redeemed = self.redeemed(self.gate.redeem(*neighbour, approval), case);
                if redeemed.decision == Decision::Deny { said } else { redeemed }
            }
            Verdict::Permitted(permit) => self.perform(*permit, case),
            Verdict::Denied(denial) => denied(&denial),
        }
    }

    fn redeemed(&self, verdict: Verdict, case: &Case) -> Said {
        match verdict {
            Verdict::Permitted(permit) => self.perform(*permit, case),
            Verdict::Pending(pending) => asked(&pending),
            Verdict::Denied(denial) => denied(&denial),
        }
    }
}

/// Names resolve to a public address.
#[derive(Debug)]
struct Public;

impl Resolve for Public {
    fn lookup(&self, _: &str, _: Instant) -> Result<Vec<IpAddr>, Unknown> {
        Ok(vec![world::PUBLIC])
    }
}

/// The home directory of a scene, by its real name.
#[expect(clippy::disallowed_methods, reason = "a temporary directory may lie behind a link")]
fn real(dir: &Path) -> String {
    dir.canonicalize().unwrap().join("home").to_str().unwrap().to_owned()
}

/// The files that the lines name.
#[expect(clippy::disallowed_methods, reason = "a scene is made of files")]
fn furnish(workspace: &Path) {
    for name in
        ["README.md", "src/main.rs", ".env", ".env.local", ".github/workflows/ci.yml", ".github/workflows/ci2.yml"]
    {
        let file = workspace.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, name).unwrap();
    }
    std::fs::create_dir_all(workspace.join("docs")).unwrap();
    std::fs::set_permissions(workspace, std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// The case's arguments with another first text.
fn with_first(case: &Case, first: &str) -> String {
    let fields = schema::tool(&case.tool).unwrap().fields;
    let name = fields.iter().find(|field| matches!(field.kind, Kind::Text { .. })).unwrap().name;
    let mut args: Value = serde_json::from_str(&case.args).unwrap();
    args[name] = Value::String(first.to_owned());
    args.to_string()
}

fn asked(pending: &Pending) -> Said {
    Said { decision: Decision::Ask, rules: rules(pending.findings(), Decision::Ask) }
}

fn denied(denial: &Denial) -> Said {
    let mut rules = rules(&denial.findings, Decision::Deny);
    rules.push(denial.rule.clone());
    Said { decision: Decision::Deny, rules }
}

fn rules(findings: &[Finding], decision: Decision) -> Vec<String> {
    findings.iter().filter(|finding| finding.decision == decision).map(|finding| finding.rule.to_string()).collect()
}

#[test]
fn caps_loops_and_approvals_hold_at_a_whole_gate() {
    let (mut run, mut wrong) = (0, Vec::new());
    for case in cases("").iter().filter(|case| needs_gate(case)) {
        run += 1;
        let said = Scene::of(case).say(case);
        if !holds(case, &said) {
            wrong.push(format!("{}: wanted {:?} {}, got {said}", case.id, case.expect, case.rules.join("|")));
        }
    }
    println!("gate: {run} run");
    assert!(run > 0);
    assert!(wrong.is_empty(), "{} line(s) do not hold at a gate:\n{}", wrong.len(), wrong.join("\n"));
}
