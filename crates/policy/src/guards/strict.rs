//! The strict profile: programs and forms denied by name, wherever they run.

use tollgate_call::action::{Action, ActionKind, Control, Execute, Program, Standing};
use tollgate_call::facts::Fact;

use crate::profile::Profile;
use crate::rule;
use crate::ruling::{Rulings, quoted};
use crate::subject::View;

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match view.profile() {
        Profile::Standard => return,
        Profile::Strict | Profile::Locked => {}
    }
    match &action.kind {
        ActionKind::Execute(execute) => program(view, execute, out),
        ActionKind::Control(Control::Environment(name)) if name == "PATH" => deny("`PATH` is changed", out),
        ActionKind::Control(Control::Traces(what)) => deny(&format!("a record is removed: {}", quoted(what)), out),
        ActionKind::Control(
            Control::Environment(_) | Control::Configuration(_) | Control::Guard(_) | Control::Agent(_),
        )
        | ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => {}
    }
}

fn program(view: &View<'_>, execute: &Execute, out: &mut Rulings) {
    let word = match &execute.program {
        Program::Name(name) => name,
        Program::Path(path) => &path.raw,
        // Uncertainty is denied by its own rule.
        Program::Opaque(_) => return,
    };
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let builtin = match execute.standing {
        Standing::Builtin => view.profile().denies_builtin(word),
        Standing::Row | Standing::NoRow | Standing::File(_) | Standing::Project | Standing::Inline(_) => false,
    };
    // The word and the file it resolves to: `c` may be a link to `curl`, and `curl` to `busybox`.
    let resolved = view.facts.programs.get(word).and_then(Fact::known).map(|file| base(&file.file));
    let named = [Some(base(word)), resolved].into_iter().flatten().find(|name| view.profile().denies_program(name));
    if let Some(name) = named.or_else(|| builtin.then(|| word.clone())) {
        deny(&format!("{} is denied by name", quoted(&name)), out);
    }
}

fn deny(because: &str, out: &mut Rulings) {
    out.deny(rule::PROFILE_STRICT, format!("{because} in this profile"))
        .instead("reach the goal with the file tools, or ask the operator");
}
