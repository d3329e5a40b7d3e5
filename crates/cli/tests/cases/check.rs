//! `tollgate check --batch --assume-root`: the same decision and the same rules as the library's.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};
use tollgate_call::facts::{Confinement, Expansion, Fact, Facts, Kind, PathFact, RepoFact, Tracked};
use tollgate_call::places::Layout;
use tollgate_call::{Call, Malformed, assume};
use tollgate_policy::{Decision, Findings};

use crate::case::{Case, Key};
use crate::files::{cases, pending};
use crate::said::{Said, findings, holds, needs_gate};
use crate::scene::{Scene, flags, is_for_another};
use crate::tally::Tally;
use crate::world;

/// The root that is assumed; the world's own, so that nothing needs to be moved.
const ROOT: &str = "/home/dev/app";

#[test]
fn the_check_door_says_what_the_library_says() {
    let mut tally = Tally::of("check");
    let mut settings: BTreeMap<Vec<String>, Vec<(Case, String)>> = BTreeMap::new();
    for case in cases("").into_iter().chain(cases("heldout")) {
        match line(&case) {
            Ok(line) => settings.entry(flags(&case)).or_default().push((case, line)),
            Err(why) => tally.skipped(why),
        }
    }
    let pending = pending();
    let scene = Scene::of("").assuming("/home/dev");
    for (flags, lines) in settings {
        let input: String = lines.iter().map(|(_, line)| format!("{line}\n")).collect();
        let mut args = vec!["check", "--batch", "--assume-root", ROOT];
        args.extend(flags.iter().map(String::as_str));
        let answers = scene.tell(&args, input.as_bytes());
        assert_eq!(answers.len(), lines.len(), "one answer a line");
        for ((case, _), answer) in lines.iter().zip(&answers) {
            weigh(&mut tally, case, answer, &pending);
        }
    }
    tally.close(1_700);
}

/// Holds one answer against the library and against the line.
fn weigh(tally: &mut Tally, case: &Case, answer: &str, pending: &BTreeSet<String>) {
    let answer: Value = serde_json::from_str(answer).unwrap();
    let heard = format!("{} {}", answer["decision"].as_str().unwrap(), list(&answer["rules"]).join(" "));
    let library = findings(case);
    let wanted = told(&library);
    if heard != wanted {
        tally.wrong(case, &heard, &wanted);
    } else if holds(case, &Said::of(&library)) {
        tally.held();
    } else if pending.contains(&case.text()) {
        tally.pending();
    } else {
        tally.otherwise(case, &heard);
    }
}

/// The library's answer in the words of this door.
fn told(library: &Result<Findings, Malformed>) -> String {
    match library {
        Ok(findings) => {
            let rules: Vec<String> = findings.rules().iter().map(ToString::to_string).collect();
            format!("{} {}", findings.decision().as_str(), rules.join(" "))
        }
        Err(_) => format!("{} {}", Decision::Deny.as_str(), Said::of(library).rules.join(" ")),
    }
}

fn list(rules: &Value) -> Vec<&str> {
    rules.as_array().unwrap().iter().filter_map(Value::as_str).collect()
}

/// One line of the batch, or why this door cannot take it.
fn line(case: &Case) -> Result<String, &'static str> {
    if needs_gate(case) {
        return Err("runs at a whole gate in the library's tests");
    }
    if is_for_another(case, "check") {
        return Err("belongs to another door");
    }
    if [Key::Taint, Key::Given].into_iter().any(|key| case.one(key).is_some()) {
        return Err("needs a run that did something before");
    }
    if case.one(Key::Recipient).is_some() {
        return Err("lists recipients, which stand in a configuration file only");
    }
    if case.args.contains('\n') {
        return Err("its arguments span lines, and a batch has one call a line");
    }
    let facts = match Call::read(&world::proposal(case), &world::person()) {
        Ok(call) => told_facts(&world::facts(case, &call), &call)?,
        Err(_) => json!({}),
    };
    let cwd = world::proposal(case).origin.cwd;
    let (id, tool) = (json!(case.id), json!(case.tool));
    // The arguments go as they stand: what is wrong with them must be found by the door.
    Ok(format!(r#"{{"id":{id},"tool":{tool},"cwd":{},"facts":{facts},"args":{}}}"#, json!(cwd), case.args))
}

/// The facts of a case in the words of a batch, or why it has no words for them.
fn told_facts(facts: &Facts, call: &Call) -> Result<Value, &'static str> {
    let assumed = assume::facts(&Layout::of(ROOT, "/home/dev"), call.actions());
    let mut paths = Map::new();
    for (abs, fact) in &facts.paths {
        let letters = &assumed.paths[abs];
        if (fact.place, &fact.refused, &fact.resolved) != (letters.place, &letters.refused, &letters.resolved) {
            return Err("where a path leads is never told to check");
        }
        paths.insert(abs.clone(), told_path(fact));
    }
    if facts.expansions.values().any(|expansion: &Fact<Expansion>| expansion.known().is_some()) {
        return Err("what a pattern matches cannot be told to check");
    }
    let walls = match &facts.confinement {
        Confinement::Enforced => "enforced",
        Confinement::Outside => "outside",
        Confinement::Partial(_) => return Err("a box with holes cannot be told to check"),
    };
    let hosts: Map<String, Value> =
        facts.hosts.iter().filter_map(|(host, ips)| Some((host.clone(), json!(ips.known()?)))).collect();
    let mut told = json!({ "paths": paths, "hosts": hosts, "box": walls });
    if let Fact::Known(repo) = &facts.repo {
        told["repo"] = told_repo(repo);
    }
    Ok(told)
}

fn told_path(fact: &PathFact) -> Value {
    let mut told = Map::new();
    let kind = match fact.kind.known() {
        Some(Kind::File(_)) => Some("file"),
        Some(Kind::Directory) => Some("directory"),
        Some(Kind::Absent) => Some("absent"),
        Some(Kind::Device(..) | Kind::Special) | None => None,
    };
    let tracked = fact.tracked.known().map(|tracked| match tracked {
        Tracked::Clean => "clean",
        Tracked::Modified => "modified",
        Tracked::Untracked => "untracked",
        Tracked::Ignored => "ignored",
        Tracked::NoRepo => "none",
    });
    told.extend(kind.map(|kind| ("kind".to_owned(), json!(kind))));
    told.extend(tracked.map(|tracked| ("tracked".to_owned(), json!(tracked))));
    told.extend(fact.links.known().map(|links| ("links".to_owned(), json!(links))));
    Value::Object(told)
}

fn told_repo(repo: &RepoFact) -> Value {
    json!({ "branch": repo.branch, "dirty": repo.dirty.known(), "remotes": repo.remotes })
}
