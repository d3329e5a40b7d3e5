//! Tools: which exist for this run, and what is said of those that nobody described.

use crate::policy::ToolRefusal;
use crate::rule;
use crate::ruling::{Rulings, quoted};
use crate::subject::{Doer, View};

/// Bytes above which a command is not read by a person at a glance.
const LONG: usize = 4_096;

pub(crate) fn judge(view: &View<'_>, out: &mut Rulings) {
    let name = quoted(view.subject.tool);
    match view.policy.refuses_tool(view.subject.tool) {
        Some(ToolRefusal::Disabled) => {
            out.deny(rule::TOOL_DISABLED, format!("the operator took the tool {name} away"))
                .instead("use another tool");
        }
        Some(ToolRefusal::NotListed) => {
            out.deny(rule::TOOL_DISABLED, format!("the tool {name} is not enabled for this run"))
                .instead("use a tool of the run's list");
        }
        None => {}
    }
    if view.subject.command_bytes > LONG && !view.only_reads() {
        out.ask(
            rule::SHELL_LONG,
            format!("the command has {} bytes and does more than read", view.subject.command_bytes),
        )
        .instead("split it into several calls, or put it into a file of the project");
    }
}

/// A tool that nobody described can do anything.
pub(super) fn unknown(view: &View<'_>, name: &str, out: &mut Rulings) {
    let because = format!("nobody described what the tool {} does", quoted(name));
    let step = "use a tool that is described, or ask the operator for a rule that names this one";
    let refused = view.subject.door.refuses_unknown_tools();
    match view.subject.doer {
        Doer::Foreign if !refused => out.ask(rule::TOOL_UNKNOWN, because),
        Doer::Foreign | Doer::FileTool | Doer::Command | Doer::Fetch | Doer::Planning | Doer::Message => {
            out.deny(rule::TOOL_UNKNOWN, because)
        }
    }
    .instead(step);
}
