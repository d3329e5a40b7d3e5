//! Judging alone: rules, facts and run state given, a typical call.
//!
//! Rows 1 and 2 of the design's table: 200 rules, then ten times the rules and a thousand times the history.

use tollgate_call::facts::{Facts, PathFact};
use tollgate_call::places::{Layout, clean};
use tollgate_call::run_state::{End, PastCall, RunState};
use tollgate_call::{ActionKind, Call, Door, Origin, Person, Proposal, Untrusted, action::Target, facts};
use tollgate_policy::{ActionName, Decision, Ground, Policy, Settings, UserRule, judge};

const ROOT: &str = "/home/u/w";
const COMMAND: &str =
    "cd crates/policy && git diff main --stat | grep -E '\\.(md|rs)' && cargo test -p policy 2>&1 | tail -20";

fn main() {
    divan::main();
}

#[divan::bench(args = [0, 200, 2_000])]
fn a_command(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let scene = Scene::new("run_bash", &format!("{{\"command\":{COMMAND:?}}}"), rules, 40);
    bencher.bench(|| judge(&scene.policy, &scene.call, &scene.facts, &scene.run));
}

#[divan::bench(args = [0, 200, 2_000])]
fn a_write(bencher: divan::Bencher<'_, '_>, rules: usize) {
    let scene = Scene::new("write_file", r#"{"path":"src/a.rs","content":"x"}"#, rules, 40);
    bencher.bench(|| judge(&scene.policy, &scene.call, &scene.facts, &scene.run));
}

#[divan::bench(args = [40, 40_000])]
fn a_command_after(bencher: divan::Bencher<'_, '_>, calls: usize) {
    let scene = Scene::new("run_bash", &format!("{{\"command\":{COMMAND:?}}}"), 200, calls);
    bencher.bench(|| judge(&scene.policy, &scene.call, &scene.facts, &scene.run));
}

struct Scene {
    policy: Policy,
    call: Call,
    facts: Facts,
    run: RunState,
}

impl Scene {
    #[expect(clippy::unwrap_used, reason = "a bench without a scene measures nothing")]
    fn new(tool: &str, args: &str, rules: usize, calls: usize) -> Self {
        let origin = Origin { door: Door::Hook, run: "r".into(), call_id: "c".into(), cwd: ROOT.into() };
        let tool = Untrusted::new(tool.to_owned());
        let proposal = Proposal { tool, args: Untrusted::new(args.as_bytes().to_vec()), origin };
        let call = Call::read(&proposal, &Person { home: "/home/u".into(), user: "u".into() }).unwrap();
        let settings = Settings { rules: (0..rules).map(rule).collect(), ..Settings::default() };
        let policy = Policy::new(settings, &Ground { workspace: ROOT, home: "/home/u" }).unwrap();
        let facts = known(&call);
        Self { policy, facts, call, run: RunState { recent: history(calls), ..RunState::default() } }
    }
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

fn known(call: &Call) -> Facts {
    let layout = Layout::of(ROOT, "/home/u");
    let mut facts = Facts::none();
    for action in call.actions() {
        let (ActionKind::Read(Target::Path(path)) | ActionKind::Write(Target::Path(path), _)) = &action.kind else {
            continue;
        };
        let resolved = clean(&path.abs);
        let unknown = facts::Unknown::NotAsked;
        let fact = PathFact {
            place: layout.place(&resolved),
            protection: None,
            resolved,
            kind: facts::Fact::Unknown(unknown),
            links: facts::Fact::Unknown(unknown),
            identity: facts::Fact::Unknown(unknown),
            tracked: facts::Fact::Unknown(unknown),
            refused: None,
        };
        facts.paths.insert(path.abs.clone(), fact);
    }
    facts
}
