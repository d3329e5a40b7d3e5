//! Claude Code: wire types tolerant in, exact out.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tollgate::call::{Door, Origin, Proposal, Untrusted};
use tollgate::gate::{Advice, Finish, Gate, Report, Told};
use tollgate::policy::Decision;

use super::{Answer, Asked};
use crate::exit::Exit;
use crate::failure::Failure;

/// The fields that we read; hosts add others with every version.
#[derive(Debug, Deserialize)]
struct Payload {
    session_id: String,
    cwd: String,
    hook_event_name: String,
    #[serde(default)]
    tool_name: Option<String>,
    #[serde(default)]
    tool_input: Option<Value>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    tool_response: Option<Value>,
    #[serde(default)]
    error: Option<String>,
}

/// Reads a payload.
///
/// # Errors
/// [`Failure`] when it is not this host's, or not complete; the host is then told no.
pub(super) fn read(payload: &[u8], event: Option<&str>) -> Result<(String, Asked), Failure> {
    let unread =
        |error: &dyn std::fmt::Display| Failure::denied(format!("the hook's input is not understood: {error}"));
    // Strict first: a duplicate key would let the host and us read two different calls.
    let value = tollgate::call::json::parse(payload).map_err(|error| unread(&error))?;
    let payload: Payload = serde_json::from_value(value).map_err(|error| unread(&error))?;
    if event.is_some_and(|event| event != payload.hook_event_name) {
        return Err(Failure::denied("the hook was installed for another event than the host names"));
    }
    let asked = match payload.hook_event_name.as_str() {
        "PreToolUse" => before(&payload)?,
        "PostToolUse" | "PostToolUseFailure" => after(&payload)?,
        _ => Asked::Nothing,
    };
    Ok((payload.session_id, asked))
}

fn before(payload: &Payload) -> Result<Asked, Failure> {
    let missing = |what: &str| Failure::denied(format!("the hook's input has no `{what}`"));
    let tool = payload.tool_name.as_deref().ok_or_else(|| missing("tool_name"))?;
    let input = payload.tool_input.clone().unwrap_or_else(|| json!({}));
    let call_id = payload.tool_use_id.clone().filter(|id| is_id(id)).ok_or_else(|| missing("tool_use_id"))?;
    if !payload.cwd.starts_with('/') {
        return Err(missing("cwd (absolute)"));
    }
    let (tool, args) = translate(tool, input);
    Ok(Asked::Before(Box::new(Proposal {
        tool: Untrusted::new(tool),
        args: Untrusted::new(args.to_string().into_bytes()),
        origin: Origin { door: Door::Hook, run: payload.session_id.clone(), call_id, cwd: payload.cwd.clone() },
    })))
}

/// Ids go to the record and into answers: short, and nothing that a terminal would obey.
fn is_id(id: &str) -> bool {
    (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

fn after(payload: &Payload) -> Result<Asked, Failure> {
    let tool_use_id = payload
        .tool_use_id
        .clone()
        .filter(|id| is_id(id))
        .ok_or_else(|| Failure::denied("the hook's input has no `tool_use_id`"))?;
    let shape = payload.tool_response.clone().unwrap_or(Value::Null);
    let text = payload.error.clone().unwrap_or_else(|| shape.to_string());
    let end = if payload.error.is_some() { Finish::Failed } else { Finish::Done };
    let reads = matches!(payload.tool_name.as_deref(), Some("Read" | "Glob" | "Grep" | "WebFetch" | "WebSearch"));
    let found = if payload.tool_name.as_deref() == Some("WebSearch") { shape.to_string() } else { String::new() };
    let report = Report { changed: !reads, found, ..Report::ended(end, text) };
    Ok(Asked::After { tool_use_id, report: Box::new(report), shape })
}

/// Puts a tool of this host in our words. What has no counterpart goes through under its own name, and
/// is judged as a tool that is not known.
pub(crate) fn translate(tool: &str, input: Value) -> (String, Value) {
    let Value::Object(input) = input else { return (tool.to_owned(), input) };
    let unboxed = input.get("dangerouslyDisableSandbox").and_then(Value::as_bool).unwrap_or(false);
    let ours = match tool {
        "Bash" => shell(&input, unboxed),
        "Read" => pick(&input, &[("file_path", "path")]).map(|args| ("read_file", lines(args, &input))),
        "Write" => pick(&input, &[("file_path", "path"), ("content", "content")]).map(|args| ("write_file", args)),
        "Edit" => edit(&input),
        "MultiEdit" => whole_write(&input, "file_path"),
        "NotebookEdit" => whole_write(&input, "notebook_path"),
        "Glob" => search(&input).map(|args| ("glob_files", args)),
        "Grep" => search(&input).map(|args| ("grep", with_glob(args, &input))),
        "LS" => pick(&input, &[("path", "path")]).map(|args| ("glob_files", everything(args))),
        "WebFetch" => pick(&input, &[("url", "url")]).map(|args| ("webfetch", args)),
        _ => None,
    };
    match ours {
        Some((name, args)) => (name.to_owned(), Value::Object(args)),
        None => (tool.to_owned(), Value::Object(input)),
    }
}

type Ours = Option<(&'static str, Map<String, Value>)>;

fn pick(input: &Map<String, Value>, names: &[(&str, &str)]) -> Option<Map<String, Value>> {
    names.iter().map(|(theirs, ours)| Some(((*ours).to_owned(), input.get(*theirs)?.clone()))).collect()
}

fn shell(input: &Map<String, Value>, unboxed: bool) -> Ours {
    let mut args = pick(input, &[("command", "command")])?;
    if unboxed {
        args.insert("outside_box".to_owned(), Value::Bool(true));
    }
    Some(("run_bash", args))
}

/// The host counts lines from 0 in some versions, and reads more at once than we do; reading is judged
/// by the path alone.
fn lines(mut args: Map<String, Value>, input: &Map<String, Value>) -> Map<String, Value> {
    for (name, most) in [("offset", 1_000_000), ("limit", 2_000)] {
        if let Some(number) = input.get(name).and_then(Value::as_u64) {
            args.insert(name.to_owned(), json!(number.clamp(1, most)));
        }
    }
    args
}

fn edit(input: &Map<String, Value>) -> Ours {
    let names = [("file_path", "path"), ("old_string", "old_string"), ("new_string", "new_string")];
    let mut args = pick(input, &names)?;
    if let Some(all) = input.get("replace_all") {
        args.insert("replace_all".to_owned(), all.clone());
    }
    // An empty old text creates a file in this host.
    if args.get("old_string").and_then(Value::as_str) == Some("") {
        let content = args.remove("new_string")?;
        args.remove("old_string");
        args.remove("replace_all");
        args.insert("content".to_owned(), content);
        return Some(("write_file", args));
    }
    Some(("edit_file", args))
}

/// Several changes to one file: a write whose content is the whole input, so that an approval is
/// bound to all of it.
fn whole_write(input: &Map<String, Value>, path: &str) -> Ours {
    let mut args = pick(input, &[(path, "path")])?;
    args.insert("content".to_owned(), Value::String(Value::Object(input.clone()).to_string()));
    Some(("write_file", args))
}

/// The pattern decides what is found, the directory what is read. An absolute pattern names its own.
fn search(input: &Map<String, Value>) -> Option<Map<String, Value>> {
    let pattern = input.get("pattern")?.as_str()?;
    let shown: String =
        pattern.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect();
    let mut args = Map::new();
    match (shown.starts_with('/'), input.get("path").and_then(Value::as_str)) {
        (true, _) => {
            let fixed: Vec<&str> = shown.split('/').take_while(|part| !part.contains(['*', '?', '[', '{'])).collect();
            args.insert("path".to_owned(), json!(format!("{}/", fixed.join("/"))));
            let rest: Vec<&str> = shown.split('/').skip(fixed.len()).collect();
            args.insert("pattern".to_owned(), json!(if rest.is_empty() { "*".to_owned() } else { rest.join("/") }));
        }
        (false, path) => {
            args.insert("pattern".to_owned(), json!(shown));
            if let Some(path) = path {
                args.insert("path".to_owned(), json!(path));
            }
        }
    }
    Some(args)
}

/// The files that a search is narrowed to; a glob that leaves the directory is refused by the schema.
fn with_glob(mut args: Map<String, Value>, input: &Map<String, Value>) -> Map<String, Value> {
    if let Some(glob) = input.get("glob") {
        args.insert("glob".to_owned(), glob.clone());
    }
    args
}

fn everything(mut args: Map<String, Value>) -> Map<String, Value> {
    args.insert("pattern".to_owned(), json!("*"));
    args
}

/// Writes advice as this host obeys it: deny and, on a halt, `continue: false` in the same object.
pub(super) fn render(advice: &Advice) -> Answer {
    let word = match advice.decision {
        Decision::Allow => "allow",
        Decision::Ask if advice.pending.is_none() => "ask",
        Decision::Ask | Decision::Deny => "deny",
    };
    let mut answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": word,
        "permissionDecisionReason": format!("[{}] {}", advice.rule, advice.reason),
    }});
    if let (true, Value::Object(map)) = (advice.halted, &mut answer) {
        map.insert("continue".to_owned(), json!(false));
        map.insert("stopReason".to_owned(), json!(advice.reason));
    }
    Answer { stdout: format!("{answer}\n"), exit: Exit::Ok }
}

/// Replaces a result that held secrets by its scrubbed form, in the shape it came in.
pub(super) fn scrubbed(report: &Report, told: &Told, shape: &Value, gate: &Gate) -> Answer {
    if told.text == report.text || shape.is_null() {
        return Answer { stdout: String::new(), exit: Exit::Ok };
    }
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PostToolUse",
        "updatedToolOutput": gate.redact(shape),
        "additionalContext": "secrets were removed from this result",
    }});
    Answer { stdout: format!("{answer}\n"), exit: Exit::Ok }
}

/// The denial that stands for every failure of ours: the JSON, and the exit code that blocks too.
pub(super) fn refusal(because: &str) -> Answer {
    let answer = json!({ "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": format!("[guard.failed] {because}"),
    }});
    Answer { stdout: format!("{answer}\n"), exit: Exit::Usage }
}
