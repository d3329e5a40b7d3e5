//! `tollgate hook claude-code`: one process a line, as the host would start it, on real files and with
//! nobody to ask.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use tollgate::call::facts::Confinement;
use tollgate::call::schema::Need;
use tollgate::call::{Door, Malformed};

use crate::case::{Case, Expect};
use crate::files::{cases, pending};
use crate::said::{Said, findings};
use crate::scene::{Scene, is_for_another, resolves, setting, unreal};
use crate::tally::{Heard, Tally};

/// Of the lines of a file that do not say `deny`, every so many is put: a process each takes its time.
const EVERY: usize = 6;
/// Processes at a time.
const LANES: usize = 2;
/// What this host calls tools that reach us under other names.
const THEIRS: &[&str] = &["Bash", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "Glob", "Grep", "WebFetch"];

#[test]
fn the_hook_door_answers_as_the_lines_say() {
    let mut tally = Tally::of("hook");
    let mut settings: BTreeMap<String, Vec<(Case, Value)>> = BTreeMap::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for case in cases("") {
        match input(&case) {
            Err(why) => tally.skipped(why),
            Ok(input) if is_sampled(&case, &mut seen) => {
                settings.entry(setting(&case)).or_default().push((case, input))
            }
            Ok(_) => tally.skipped("not in the sample: a process a line takes long"),
        }
    }
    let pending = pending();
    for (setting, lines) in &settings {
        let lanes: Vec<&[(Case, Value)]> = lines.chunks(lines.len().div_ceil(LANES)).collect();
        std::thread::scope(|scope| {
            let running: Vec<_> = lanes.iter().map(|lane| scope.spawn(|| put(setting, lane))).collect();
            for (case, answer) in running.into_iter().flat_map(|lane| lane.join().unwrap()) {
                tally.weigh(case, &answer.heard, &answer.said, &pending);
            }
        });
    }
    tally.close(400);
}

/// What the host was told, and what the library says of the same files.
struct Answer {
    heard: Heard,
    said: [Said; 2],
}

/// Puts the lines one after the other, each in a session of its own.
fn put<'a>(setting: &str, lines: &'a [(Case, Value)]) -> Vec<(&'a Case, Answer)> {
    let scene = Scene::of(setting);
    let workspace = scene.workspace();
    let args = ["hook", "claude-code", "--event", "PreToolUse", "--root", &workspace];
    let one = |(at, (case, input)): (usize, &'a (Case, Value))| {
        let payload = json!({
            "session_id": format!("line-{at}"), "cwd": "/home/dev/app", "hook_event_name": "PreToolUse",
            "tool_name": input["tool_name"], "tool_input": input["tool_input"], "tool_use_id": case.id,
        });
        let payload = payload.to_string().replace("/home/dev", &scene.home);
        let heard = heard(&scene.tell(&args, payload.as_bytes()));
        let said = scene.said(case, Door::Hook, &Confinement::Outside);
        (case, Answer { heard, said })
    };
    lines.iter().enumerate().map(one).collect()
}

/// The decision, and the rule that the reason begins with.
fn heard(lines: &[String]) -> Heard {
    let answer: Value = serde_json::from_str(&lines.concat()).unwrap();
    let said = &answer["hookSpecificOutput"];
    let reason = said["permissionDecisionReason"].as_str().unwrap();
    let rule = reason.strip_prefix('[').and_then(|reason| reason.split_once(']')).map(|(rule, _)| rule).unwrap();
    match said["permissionDecision"].as_str() {
        Some("allow") => Heard::Yes,
        Some("deny") => Heard::No(rule.to_owned()),
        other => panic!("without an operator's secret this door only allows or denies, not {other:?}"),
    }
}

/// All that say `deny`, and every so many of the others of each file.
fn is_sampled(case: &Case, seen: &mut BTreeMap<String, usize>) -> bool {
    let seen = seen.entry(case.file().to_owned()).or_default();
    *seen += 1;
    case.expect == Expect::Deny || seen.is_multiple_of(EVERY)
}

/// The call as this host would send it, or why it would not.
fn input(case: &Case) -> Result<Value, &'static str> {
    if let Some(why) = unreal(case) {
        return Err(why);
    }
    if is_for_another(case, "hook") {
        return Err("belongs to another door");
    }
    if resolves(case) {
        return Err("asks a resolver, and a test must not depend on a network");
    }
    if THEIRS.contains(&case.tool.as_str()) {
        return Err("is unknown elsewhere, and a tool of this host");
    }
    let args: Map<String, Value> = tollgate::call::json::parse(case.args.as_bytes())
        .ok()
        .and_then(|args| args.as_object().cloned())
        .ok_or("has arguments that no JSON object of a host holds")?;
    if is_ours_alone(case, &args) {
        return Err("has arguments that are wrong for our tool and not for the host's");
    }
    let (tool, input) = theirs(&case.tool, &args).ok_or("has no counterpart at this host")?;
    Ok(json!({ "tool_name": tool, "tool_input": input }))
}

/// Whether a call is malformed by bounds that this host's tool does not share: windows of lines, an
/// empty old text, a field that is missing.
fn is_ours_alone(case: &Case, args: &Map<String, Value>) -> bool {
    let Err(malformed) = findings(case) else { return false };
    let is_missing = |tool: &str| {
        let fields = tollgate::call::schema::tool(tool).map_or(&[][..], |tool| tool.fields);
        fields.iter().any(|field| field.need == Need::Required && !args.contains_key(field.name))
    };
    let is_window = ["offset", "limit"].iter().any(|name| args.contains_key(*name));
    let is_new_file = args.get("old_string").is_some_and(|old| old == "");
    !matches!(malformed, Malformed::UnknownTool { .. }) && (is_missing(&case.tool) || is_window || is_new_file)
}

/// Our tool and its arguments in this host's words.
fn theirs(tool: &str, args: &Map<String, Value>) -> Option<(String, Map<String, Value>)> {
    let names: &[(&str, &str)] = match tool {
        "run_bash" => &[("command", "command"), ("outside_box", "dangerouslyDisableSandbox")],
        "read_file" => &[("path", "file_path"), ("offset", "offset"), ("limit", "limit")],
        "write_file" => &[("path", "file_path"), ("content", "content")],
        "edit_file" => &[("path", "file_path"), ("old_string", "old_string"), ("new_string", "new_string")],
        "glob_files" | "grep" => &[("pattern", "pattern"), ("path", "path")],
        "webfetch" => &[("url", "url")],
        _ if tollgate::call::schema::tool(tool).is_some() => return None,
        _ => return Some((tool.to_owned(), args.clone())),
    };
    let theirs = match tool {
        "run_bash" => "Bash",
        "read_file" => "Read",
        "write_file" => "Write",
        "edit_file" => "Edit",
        "glob_files" => "Glob",
        "grep" => "Grep",
        _ => "WebFetch",
    };
    let rename = |(name, value): (&String, &Value)| {
        let (_, theirs) = names.iter().find(|(ours, _)| ours == name)?;
        Some(((*theirs).to_owned(), value.clone()))
    };
    Some((theirs.to_owned(), args.iter().map(rename).collect::<Option<_>>()?))
}
