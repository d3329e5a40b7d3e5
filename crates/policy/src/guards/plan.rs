//! The plan mode: reads and planning only.

use tollgate_call::action::{Action, ActionKind, Flow, Program, Standing, Target};
use tollgate_call::places::Place;

use crate::mode::Mode;
use crate::rule;
use crate::ruling::Rulings;
use crate::subject::View;

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match view.policy.settings().mode {
        Mode::Plan => {}
        Mode::Default | Mode::AcceptEdits | Mode::DangerouslySkipPermissions => return,
    }
    if !is_planning(view, action) {
        out.deny(rule::MODE_PLAN, "the plan mode only reads, and this does more")
            .instead("finish the plan, and let the user leave the plan mode");
    }
}

/// Whether it is proven to read only; what cannot be known is not.
fn is_planning(view: &View<'_>, action: &Action) -> bool {
    match &action.kind {
        ActionKind::Read(target) => !matches!(target, Target::Opaque(_)),
        ActionKind::Write(Target::Path(path), _) => {
            view.path(path).is_some_and(|fact| fact.place == Place::HarmlessDevice)
        }
        ActionKind::Execute(execute) => {
            let read_only = match execute.standing {
                Standing::Row | Standing::Builtin => true,
                Standing::NoRow | Standing::File(_) | Standing::Project | Standing::Inline(_) => false,
            };
            read_only && !matches!(execute.program, Program::Opaque(_))
        }
        ActionKind::Connect(connect) => match connect.flow {
            Flow::Fetch => true,
            Flow::Send | Flow::Session => false,
        },
        ActionKind::Write(Target::Glob(_) | Target::Beneath(_) | Target::Opaque(_), _)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => false,
    }
}
