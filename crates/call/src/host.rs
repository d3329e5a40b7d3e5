//! Tools that host agents bring themselves, and that a hook is asked about.
//!
//! Names are exact: an MCP tool cannot take one, since hosts prefix those (`mcp__SERVER__TOOL`).

use serde_json::Value;

use crate::action::{ActionKind, AgentRights, Connect, Control, Flow, Peer, Why};

/// Tools that plan, ask or look inside the host itself: no file, process or network of their own.
const HARMLESS: &[&str] = &[
    "AskUserQuestion",
    "BashOutput",
    "EnterPlanMode",
    "ExitPlanMode",
    "ListAgents",
    "ListMcpResourcesTool",
    "NotebookRead",
    "Skill",
    "SlashCommand",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskUpdate",
    "TodoRead",
    "TodoWrite",
    "ToolSearch",
];

/// Tools that end something the host itself started.
const STOPS: &[&str] = &["KillBash", "KillShell", "TaskStop"];

/// Tools that start another agent; its calls are asked about one by one.
const SPAWNS: &[&str] = &["Agent", "Task"];

/// Modes that give a child more than its parent has.
const RAISED: &[&str] = &["bypassPermissions", "dontAsk", "auto"];

/// What a tool that is not ours does: nothing for a few, everything for the rest.
pub(crate) fn actions(name: &str, args: &Value) -> Vec<ActionKind> {
    if HARMLESS.contains(&name) || STOPS.contains(&name) {
        Vec::new()
    } else if SPAWNS.contains(&name) {
        raised(args).into_iter().collect()
    } else if name == "WebSearch" {
        let peer = Peer::Service("web search of the host".to_owned());
        vec![ActionKind::Connect(Connect { peer, flow: Flow::Fetch })]
    } else {
        vec![ActionKind::Opaque(Why::UnknownTool(name.to_owned()))]
    }
}

/// A child of its parent's rights does nothing that is not asked about; one of more rights escapes that.
fn raised(args: &Value) -> Option<ActionKind> {
    let mode = args.get("mode").and_then(Value::as_str)?;
    RAISED.contains(&mode).then_some(ActionKind::Control(Control::Agent(AgentRights::Raised)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_child_with_more_rights_than_its_parent_is_told_apart() {
        let spawn = |args| actions("Agent", &args);
        let raised = ActionKind::Control(Control::Agent(AgentRights::Raised));
        assert_eq!(spawn(json!({"mode": "bypassPermissions"})), [raised]);
        assert!(spawn(json!({"prompt": "x"})).is_empty());
    }

    #[test]
    fn a_name_that_only_looks_harmless_is_opaque() {
        assert!(actions("TodoWrite", &json!({})).is_empty());
        assert!(matches!(actions("mcp__x__TodoWrite", &json!({})).as_slice(), [ActionKind::Opaque(_)]));
        assert!(matches!(actions("todowrite", &json!({})).as_slice(), [ActionKind::Opaque(_)]));
    }
}
