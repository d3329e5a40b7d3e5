//! Payloads as a host agent sends them, and what it reads from the answer.

use std::process::Command;

use serde_json::{Value, json};

use crate::world::*;

/// What the host sends before a call.
pub(crate) fn before(world: &World, id: &str, tool: &str, input: &Value) -> Value {
    json!({
        "session_id": "s-1", "transcript_path": "/home/dev/t.jsonl", "cwd": world.text("ws"),
        "permission_mode": "default", "hook_event_name": "PreToolUse",
        "tool_name": tool, "tool_input": input, "tool_use_id": id,
    })
}

/// What the host sends before a command.
pub(crate) fn bash(world: &World, id: &str, command: &str) -> Value {
    before(world, id, "Bash", &json!({ "command": command, "description": "does it" }))
}

/// What the host sends after a call.
pub(crate) fn after(mut before: Value, response: Value) -> Value {
    before["hook_event_name"] = "PostToolUse".into();
    before["tool_response"] = response;
    before
}

/// The hook's answer to `payload`.
pub(crate) fn hook(world: &World, payload: &Value) -> Exchange {
    world.run_with(&["hook", "claude-code"], payload.to_string().as_bytes())
}

/// The word that the host obeys, in an answer that it accepts: nothing else on stdout, exit 0.
pub(crate) fn decision(answer: &Exchange) -> String {
    assert_eq!(answer.exit, 0, "{answer}");
    answer.json()["hookSpecificOutput"]["permissionDecision"].as_str().unwrap().to_owned()
}

/// The sentence that the host's model is shown.
pub(crate) fn reason(answer: &Exchange) -> String {
    answer.json()["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap().to_owned()
}

/// Asserts that the answer blocks whichever of JSON and exit code the host looks at.
pub(crate) fn blocks_twice(answer: &Exchange) {
    let output = &answer.json()["hookSpecificOutput"];
    assert_eq!((answer.exit, &output["permissionDecision"]), (2, &"deny".into()), "{answer}");
    assert_eq!(output["hookEventName"], "PreToolUse", "{answer}");
}

/// The hook of a settings file for one event, as the host starts it: no shell, and an environment of its own.
pub(crate) fn installed(world: &World, settings: &Value, event: &str) -> Command {
    let hook = &settings["hooks"][event][0]["hooks"][0];
    let mut command = Command::new(hook["command"].as_str().unwrap());
    command.args(hook["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()));
    command.current_dir(world.path("ws")).env_clear().env("PATH", "/usr/bin:/bin").env("HOME", "/nowhere");
    command
}
