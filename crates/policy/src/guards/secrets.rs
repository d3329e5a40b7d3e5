//! Secrets: what looks like one does not leave, and reading one does not share a call with sending.

use tollgate_call::action::{Action, ActionKind, Connect, Target};
use tollgate_call::secret::find_tokens;

use crate::rule;
use crate::ruling::{Rulings, quoted};
use crate::subject::View;

/// Looks for secrets in the texts that leave the machine.
///
/// # Security
/// Knows tokens by their public form only: no password without a form, nothing encoded or in pieces. A command's text
/// is not searched; what it sends is judged by where it goes.
pub(crate) fn judge_outgoing(view: &View<'_>, out: &mut Rulings) {
    for (pointer, text) in &view.subject.outgoing {
        if let Some(hit) = find_tokens(text).first() {
            out.deny(rule::SECRET_EGRESS, format!("{} holds what looks like a secret ({})", quoted(pointer), hit.kind))
                .instead("leave the secret out; the operator can put it in where it is needed");
        }
    }
}

/// A call that reads a secret file and reaches a host may carry the one to the other.
pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    let ActionKind::Connect(Connect { peer: _, flow: _ }) = &action.kind else { return };
    if let Some(name) = view.subject.actions.iter().find_map(|other| secret_read(view, other)) {
        out.ask(rule::SECRET_EGRESS, format!("the same call reads {}, which holds secrets", quoted(name)))
            .instead("ask the operator to give the program its secret without showing it");
    }
}

fn secret_read<'a>(view: &View<'a>, action: &'a Action) -> Option<&'a str> {
    let ActionKind::Read(Target::Path(path)) = &action.kind else { return None };
    let protection = view.path(path)?.protection?;
    protection.is_secret().then_some(path.raw.as_str())
}
