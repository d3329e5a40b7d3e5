//! The guards: small exhaustive matches over actions and facts.
//!
//! Each guard says what it has against an action, and nothing when it has nothing; each names its
//! decision for what is not known.

mod deletes;
mod effects;
mod flow;
mod git;
mod loopback;
pub(crate) mod loops;
pub(crate) mod network;
mod paths;
mod plan;
pub(crate) mod secrets;
mod shell;
mod strict;
pub(crate) mod tools;
mod writes;

#[cfg(test)]
mod tests;

use tollgate_call::action::Action;

use crate::ruling::Rulings;
use crate::subject::View;

/// Everything that guards have against one action.
pub(crate) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    strict::judge(view, action, out);
    paths::judge(view, action, out);
    shell::judge(view, action, out);
    network::judge(view, action, out);
    git::judge(view, action, out);
    effects::judge(view, action, out);
    secrets::judge(view, action, out);
    flow::judge(view, action, out);
    plan::judge(view, action, out);
}
