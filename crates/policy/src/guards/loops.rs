//! Loops: the same again without anything having changed.

use tollgate_call::run_state::{End, PastCall};

use crate::rule;
use crate::ruling::Rulings;
use crate::subject::View;

/// Identical calls with identical results, after which the next is refused.
const IDENTICAL: usize = 3;
/// Denials of one intent, after which it is refused without being judged again.
const DENIED: usize = 3;
/// Past calls that are looked at.
const WINDOW: usize = 64;
/// Lengths of cycles that are looked for.
const CYCLES: [usize; 2] = [2, 3];

pub(crate) fn judge(view: &View<'_>, out: &mut Rulings) {
    let recent = latest(&view.run.recent);
    let call = view.subject.digest;
    if denied_before(view) >= DENIED {
        out.deny(rule::LOOP_DENIED, "what was denied comes back in other words")
            .instead("stop, say what you wanted to reach, and ask the user");
    }
    let same = unchanged(recent, &call);
    if same.len() >= IDENTICAL {
        let failed = same.iter().all(|past| past.end == End::Failed);
        let (id, because) = if failed {
            (rule::LOOP_ERROR, format!("identical call repeated {} times, each with the same error", same.len() + 1))
        } else {
            (rule::LOOP_IDENTICAL, format!("identical call repeated {} times", same.len() + 1))
        };
        out.deny(id, because).instead("use the result you have, or try something else");
    } else if let Some(length) = CYCLES.into_iter().find(|length| is_cycle(recent, &call, *length)) {
        out.deny(rule::LOOP_CYCLE, format!("the last {length} calls repeat with the same results"))
            .instead("use the results you have, or try something else");
    }
}

/// The last calls: what lies further back is no loop, and a long run is judged as fast as a short one.
fn latest(recent: &[PastCall]) -> &[PastCall] {
    recent.get(recent.len().saturating_sub(WINDOW)..).unwrap_or(recent)
}

fn denied_before(view: &View<'_>) -> usize {
    view.subject.intent.map_or(0, |intent| view.run.denied.iter().filter(|denied| **denied == intent).count())
}

/// The latest past calls identical to `call` with one and the same result, up to a change by another call.
///
/// A call that repeats itself changes nothing new, so its own changes do not count.
fn unchanged<'a>(recent: &'a [PastCall], call: &[u8; 32]) -> Vec<&'a PastCall> {
    let since = recent
        .iter()
        .rev()
        .take_while(|past| past.call == *call || past.end != End::Changed)
        .filter(|past| past.call == *call && past.end != End::Denied);
    let mut same: Vec<&PastCall> = Vec::new();
    for past in since {
        let alike = past.result.is_some() && same.first().is_none_or(|first| first.result == past.result);
        if !alike {
            break;
        }
        same.push(past);
    }
    same
}

/// Whether `call` would begin the third round of a cycle whose first two rounds had the same results.
fn is_cycle(recent: &[PastCall], call: &[u8; 32], length: usize) -> bool {
    let Some(start) = recent.len().checked_sub(2 * length) else { return false };
    let Some((first, second)) = recent.get(start..).and_then(|rounds| rounds.split_at_checked(length)) else {
        return false;
    };
    let alike = |(a, b): (&PastCall, &PastCall)| {
        a.call == b.call && a.result.is_some() && a.result == b.result && a.end != End::Changed && b.end != End::Changed
    };
    first.first().is_some_and(|past| past.call == *call)
        && first.iter().any(|past| past.call != *call)
        && first.iter().zip(second).all(alike)
}
