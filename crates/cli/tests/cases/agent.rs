//! `tollgate run -p --dry-run` with a scripted model: many calls a run, every wall up, nobody to ask.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tollgate::call::Door;
use tollgate::call::action::ActionKind;
use tollgate::call::facts::Confinement;
use tollgate_call::Call;
use tollgate_policy::Decision;

use crate::case::{Case, Key};
use crate::files::{cases, pending};
use crate::said::{Said, say};
use crate::scene::{Scene, is_for_another, resolves, setting, unreal};
use crate::tally::{Heard, Tally};
use crate::world;

/// Most bytes of arguments that are put.
const LONGEST: usize = 8_192;
/// Calls a run.
const LOT: usize = 350;
/// Runs at a time.
const LANES: usize = 2;
/// Calls a turn.
const TURN: usize = 100;

#[test]
fn the_agent_door_answers_as_the_lines_say() {
    if let Some(why) = no_walls() {
        println!("skipped: the agent door needs its walls: {why}");
        return;
    }
    let mut tally = Tally::of("agent");
    let mut settings: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases("") {
        match putable(&case) {
            Err(why) => tally.skipped(why),
            Ok(()) => settings.entry(setting(&case)).or_default().push(case),
        }
    }
    let pending = pending();
    let lots: Vec<(String, Vec<Case>)> =
        settings.into_iter().flat_map(|(setting, lines)| lots(setting, lines)).collect();
    let lanes: Vec<_> = lots.chunks(lots.len().div_ceil(LANES)).collect();
    std::thread::scope(|scope| {
        let running: Vec<_> = lanes.into_iter().map(|lane| scope.spawn(|| put(lane))).collect();
        for verdict in running.into_iter().flat_map(|lane| lane.join().unwrap()) {
            verdict.weigh(&mut tally, &pending);
        }
    });
    tally.close(1_000);
}

/// The lines of a setting, in lots of one run each. What is refused leaves no mark on a run, so it comes first.
fn lots(setting: String, mut lines: Vec<Case>) -> Vec<(String, Vec<Case>)> {
    lines.sort_by_key(|case| say(&boxed(case)).decision == Decision::Allow);
    lines.chunks(LOT).map(|lot| (setting.clone(), lot.to_vec())).collect()
}

/// Puts every line of the lots.
fn put(lots: &[(String, Vec<Case>)]) -> Vec<Answer<'_>> {
    let mut answers = Vec::new();
    for (setting, lines) in lots {
        let scene = Scene::of(setting);
        let mut left: Vec<&Case> = lines.iter().collect();
        while !left.is_empty() {
            left = round(&mut answers, &scene, left);
        }
    }
    answers
}

/// One run over the lines; those that it refused for what came before are left for the next.
fn round<'a>(answers: &mut Vec<Answer<'a>>, scene: &Scene, lines: Vec<&'a Case>) -> Vec<&'a Case> {
    let heard = run(scene, &lines);
    let mut left: Vec<&Case> = lines[heard.len()..].to_vec();
    assert!(!heard.is_empty(), "a run that answers no line, not even {}", lines[0].id);
    for (case, heard) in lines.into_iter().zip(heard) {
        match &heard {
            Heard::No(rule) if rule.starts_with("loop.") => left.push(case),
            Heard::Yes | Heard::No(_) => answers.push(Answer::to(case, heard, scene)),
        }
    }
    left
}

/// What a run did with a line, and what the library says of the same files.
struct Answer<'a> {
    case: &'a Case,
    heard: Heard,
    said: [Said; 2],
}

impl<'a> Answer<'a> {
    fn to(case: &'a Case, heard: Heard, scene: &Scene) -> Self {
        let said = scene.said(case, Door::Agent, &Confinement::Enforced);
        Self { case, heard, said }
    }

    fn weigh(self, tally: &mut Tally, pending: &BTreeSet<String>) {
        tally.weigh(self.case, &self.heard, &self.said, pending);
    }
}

/// What each proposed call came to, in order.
fn run(scene: &Scene, lines: &[&Case]) -> Vec<Heard> {
    let script = scene.write("script.toml", &script(scene, lines));
    let (model, root) = (format!("script:{script}"), scene.workspace());
    let args = ["--json", "run", "-p", "go", "--dry-run", "--root", &root, "--model", &model];
    let caps = ["--max-turns", "10000", "--max-tool-calls", "100000"];
    let events = scene.tell(&[&args[..], &caps[..]].concat(), b"");
    let events = events.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let all = events.filter_map(|event| heard(&event)).enumerate();
    let of_lines = all.filter(|(at, _)| at % (TURN + 1) != TURN).map(|(_, heard)| heard);
    of_lines.take(lines.len()).collect()
}

fn heard(event: &Value) -> Option<Heard> {
    match event["event"].as_str()? {
        "performed" => Some(Heard::Yes),
        "denied" => Some(Heard::No(event["rule"].as_str()?.to_owned())),
        _ => None,
    }
}

/// A model that proposes the lines' calls, byte for byte. Each turn ends with a call that is performed,
/// for a run ends where a turn ends on many denials in a row.
fn script(scene: &Scene, lines: &[&Case]) -> String {
    let call = |case: &&Case| json!({ "tool": case.tool, "args": scene.moved(case).args });
    let step = |(at, turn): (usize, &[&Case])| {
        let last = json!({ "tool": "todo_append", "args": json!({ "text": format!("turn {at}") }).to_string() });
        let calls: Vec<Value> = turn.iter().map(call).chain([last]).collect();
        json!({ "raw_calls": calls })
    };
    let steps: Vec<Value> = lines.chunks(TURN).enumerate().map(step).collect();
    toml::to_string(&json!({ "name": "cases", "step": steps })).unwrap()
}

/// Why a line is not put at this door, if it is not.
fn putable(case: &Case) -> Result<(), &'static str> {
    if let Some(why) = unreal(case) {
        return Err(why);
    }
    if case.args.len() > LONGEST {
        return Err("is longer than a scripted model should stream");
    }
    if is_for_another(case, "agent") {
        return Err("belongs to another door");
    }
    if resolves(case) {
        return Err("asks a resolver, and a test must not depend on a network");
    }
    if say(&boxed(case)).decision == Decision::Allow && marks(case) {
        return Err("would be allowed and mark the run, so that later lines are judged otherwise");
    }
    Ok(())
}

/// The case as this door sees it: in the box, proposed by an agent.
fn boxed(case: &Case) -> Case {
    let mut case = case.clone();
    case.world.push((Key::Box, "enforced".to_owned()));
    case.world.push((Key::Door, "agent".to_owned()));
    case
}

/// Whether performing it would raise a label of the run.
fn marks(case: &Case) -> bool {
    let Ok(call) = Call::read(&world::proposal(case), &world::person()) else { return false };
    let facts = world::facts(case, &call);
    let secret = facts.paths.values().any(|fact| fact.protection.is_some());
    let reaches =
        |kind: &ActionKind| matches!(kind, ActionKind::Connect(_) | ActionKind::Control(_) | ActionKind::Persist(_));
    secret || call.actions().iter().any(|action| reaches(&action.kind))
}

/// Which walls are missing here, if any.
fn no_walls() -> Option<String> {
    let scene = Scene::of("");
    let script = scene.write("script.toml", "name = \"cases\"\n");
    let root = scene.workspace();
    let model = format!("script:{script}");
    let lines = scene.tell(&["--json", "run", "-p", "go", "--root", &root, "--model", &model], b"");
    let events: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let error = events.iter().find_map(|event| event["error"].as_str());
    error.map(str::to_owned)
}
