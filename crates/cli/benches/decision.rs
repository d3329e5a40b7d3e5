//! One decision in the process: the call is read, facts are given or looked up, the rules are asked.
//!
//! The commands are those of `cases/benign.cases`, in turn: what coding agents run all day.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
mod measure;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use measure::{Failure, Row, place, table, timed};
use serde_json::json;
use tollgate::call::facts::Facts;
use tollgate::call::places::Layout;
use tollgate::call::run_state::{End, PastCall, RunState};
use tollgate::call::{Call, Door, Origin, Person, Proposal, Untrusted, assume};
use tollgate::policy::{ActionName, Decision, Findings, Ground, Policy, Settings, UserRule, judge};
use tollgate::survey::Surveyor;

const CASES: &str = include_str!("../../../cases/benign.cases");
const ROUNDS: usize = 20_000;

fn main() -> Result<(), Failure> {
    let place = place()?;
    let (work, home) = (place.path().join("work"), place.path().join("home"));
    std::fs::create_dir_all(&home)?;
    repository(&work)?;
    let bench = Bench::new(&work, &home)?;
    let [none, some, many] = [0, 200, 2_000].map(|rules| bench.policy(rules));
    let (none, some, many) = (none?, some?, many?);
    let [short, long] = [40, 40_000].map(|calls| RunState { recent: history(calls), ..RunState::default() });
    let rows = vec![
        Row::new("200 rules, 40 past calls", |round| bench.given(round, &some, &short)),
        Row::new("no rules of the user", |round| bench.given(round, &none, &short)),
        Row::new("2,000 rules", |round| bench.given(round, &many, &short)),
        Row::new("40,000 past calls", |round| bench.given(round, &some, &long)),
        Row::new("200 rules, facts looked up", |round| bench.looked_up(round, &some, &short)),
    ];
    table("one decision, 120 everyday commands in turn", ROUNDS, rows)?;
    let typical = bench.typical()?;
    let rows = vec![
        Row::new("200 rules, 40 past calls", |_| bench.given(typical, &some, &short)),
        Row::new("2,000 rules", |_| bench.given(typical, &many, &short)),
        Row::new("40,000 past calls", |_| bench.given(typical, &some, &long)),
        Row::new("200 rules, facts looked up", |_| bench.looked_up(typical, &some, &short)),
    ];
    table("one decision, a typical command", ROUNDS, rows)
}

struct Bench {
    person: Person,
    work: String,
    surveyor: Surveyor,
    scenes: Vec<(Proposal, Facts)>,
}

impl Bench {
    fn new(work: &Path, home: &Path) -> Result<Self, Failure> {
        let [work, home] = [work, home].map(|path| path.to_string_lossy().into_owned());
        let layout = Layout::of(&work, &home);
        let person = Person { home, user: "u".into() };
        let mut scenes = Vec::new();
        for command in commands() {
            let origin = Origin { door: Door::Hook, run: "r".into(), call_id: "c".into(), cwd: work.clone() };
            let args = Untrusted::new(json!({ "command": command }).to_string().into_bytes());
            let proposal = Proposal { tool: Untrusted::new("run_bash".into()), args, origin };
            let facts = assume::facts(&layout, Call::read(&proposal, &person)?.actions());
            scenes.push((proposal, facts));
        }
        let surveyor = Surveyor::open(layout, "/usr/local/bin:/usr/bin:/bin")?;
        Ok(Self { person, work, surveyor, scenes })
    }

    fn policy(&self, rules: usize) -> Result<Policy, Failure> {
        let settings = Settings { rules: (0..rules).map(rule).collect(), ..Settings::default() };
        Ok(Policy::new(settings, &Ground { workspace: &self.work, home: &self.person.home })?)
    }

    /// The command whose words are nearest to those of every day: a change of directory, a pipe, a build.
    fn typical(&self) -> Result<usize, Failure> {
        let piped = |command: &str| command.contains(" | ") && command.contains("&&");
        Ok(commands().iter().position(|command| piped(command)).ok_or("no typical command")?)
    }

    fn given(&self, round: usize, policy: &Policy, run: &RunState) -> Result<Duration, Failure> {
        let (proposal, facts) = self.scene(round)?;
        timed(|| {
            let call = Call::read(proposal, &self.person)?;
            Ok(judged(policy, &call, facts, run))
        })
    }

    fn looked_up(&self, round: usize, policy: &Policy, run: &RunState) -> Result<Duration, Failure> {
        let (proposal, _) = self.scene(round)?;
        timed(|| {
            let call = Call::read(proposal, &self.person)?;
            let surveyed = self.surveyor.survey(&call);
            Ok(judged(policy, &call, &surveyed.facts, run))
        })
    }

    fn scene(&self, round: usize) -> Result<&(Proposal, Facts), Failure> {
        Ok(self.scenes.get(round % self.scenes.len().max(1)).ok_or("no commands")?)
    }
}

fn judged(policy: &Policy, call: &Call, facts: &Facts, run: &RunState) -> Findings {
    judge(policy, std::hint::black_box(call), facts, run)
}

/// The commands of the cases that say nothing about the world.
fn commands() -> Vec<&'static str> {
    let command = |line: &'static str| {
        let mut fields = line.split("  ").map(str::trim).filter(|field| !field.is_empty());
        let _decision_and_rule = (fields.next(), fields.next());
        (fields.next() == Some("run_bash")).then(|| fields.next()).flatten()
    };
    CASES.lines().filter(|line| !line.starts_with('#')).filter_map(command).collect()
}

/// A small repository: some commands are judged by what version control knows.
fn repository(work: &Path) -> Result<(), Failure> {
    for n in 0..200 {
        let dir = work.join(format!("src/part{}", n % 10));
        std::fs::create_dir_all(&dir)?;
        std::fs::write(dir.join(format!("file{n}.rs")), "fn main() {}\n")?;
    }
    let author = ["-c", "user.name=u", "-c", "user.email=u@example.org"];
    for args in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "first"]] {
        let done = Command::new("git").args(author).args(args).current_dir(work).status()?;
        if !done.success() {
            return Err("the repository cannot be made".into());
        }
    }
    Ok(())
}

/// A mix of the forms that people write.
fn rule(n: usize) -> UserRule {
    let bare = UserRule {
        effect: if n.is_multiple_of(3) { Decision::Deny } else { Decision::Allow },
        tool: None,
        program: None,
        action: None,
        path: None,
        host: None,
        invocation: tollgate::policy::Invocation::default(),
        at: format!("tollgate.toml:{n}"),
    };
    match n % 4 {
        0 => UserRule { program: Some(format!("program{n}")), ..bare },
        1 => UserRule { path: Some(format!("dir{n}/**")), action: Some(ActionName::Write), ..bare },
        2 => UserRule { host: Some(format!("*.host{n}.example")), ..bare },
        _ => UserRule { tool: Some(format!("mcp__server{n}__tool")), ..bare },
    }
}

fn history(calls: usize) -> Vec<PastCall> {
    let byte = |n: usize| u8::try_from(n % 251).unwrap_or_default();
    (0..calls).map(|n| PastCall { call: [byte(n); 32], result: Some([byte(n + 1); 32]), end: End::Read }).collect()
}
