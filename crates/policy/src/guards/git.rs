//! Git: pushes by what they may lose, local losses by what is there to lose.

use tollgate_call::action::{Action, ActionKind, Destroy, DestroyClass, Force, Publish, Push};
use tollgate_call::facts::Fact;

use crate::rule::{self, RuleId};
use crate::ruling::{Rulings, quoted};
use crate::subject::View;

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match &action.kind {
        ActionKind::Publish(Publish::Push(push)) => self::push(view, push, out),
        ActionKind::Destroy(destroy) => lose(view, destroy, out),
        ActionKind::Publish(Publish::Package(_) | Publish::Deploy(_) | Publish::Post(_) | Publish::Upload(_))
        | ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Execute(_)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => {}
    }
}

fn push(view: &View<'_>, push: &Push, out: &mut Rulings) {
    if push.deletes {
        out.ask(rule::GIT_REMOTE_DELETE, format!("it deletes {} of the remote", refs(push)))
            .instead("leave the remote branch, or let the operator approve exactly this");
    }
    match push.force {
        Force::No => {}
        Force::Plain => {
            out.ask(rule::GIT_FORCE_PUSH, format!("it overwrites {} of the remote, whatever is there", refs(push)))
                .instead("use --force-with-lease on a branch of your own");
        }
        Force::Lease => lease(view, push, out),
    }
}

fn lease(view: &View<'_>, push: &Push, out: &mut Rulings) {
    let current = view.facts.repo.known().and_then(|repo| repo.branch.as_deref());
    let unsure = push.refs.is_empty() && current.is_none();
    let shared = push
        .refs
        .iter()
        .map(|name| destination(name, current))
        .chain(push.refs.is_empty().then_some(current).flatten());
    if let Some(name) = shared.into_iter().find(|name| is_shared(name)) {
        out.ask(rule::GIT_PROTECTED_BRANCH, format!("it rewrites {}, on which others build", quoted(name)))
            .instead("push to a branch of your own and open a pull request");
    } else if unsure {
        out.ask(rule::GIT_PROTECTED_BRANCH, "it rewrites the current branch, and nobody can say which that is")
            .instead("name the branch");
    }
}

/// The branch at the remote of a written ref, `src:dst` or `name`.
fn destination<'a>(written: &'a str, current: Option<&'a str>) -> &'a str {
    let name = written.rsplit_once(':').map_or(written, |(_, to)| to);
    let name = name.strip_prefix("refs/heads/").unwrap_or(name).trim_start_matches('+');
    if name == "HEAD" { current.unwrap_or("main") } else { name }
}

fn is_shared(branch: &str) -> bool {
    SHARED.contains(&branch) || ["release/", "releases/", "hotfix/"].iter().any(|start| branch.starts_with(start))
}

fn refs(push: &Push) -> String {
    if push.refs.is_empty() { "the configured branch".to_owned() } else { quoted(&push.refs.join(" ")) }
}

fn lose(view: &View<'_>, destroy: &Destroy, out: &mut Rulings) {
    if is_no_loss(view, destroy.class) {
        return;
    }
    let (id, before, after, instead) = loss(destroy.class);
    let because = format!("{before}{}{after}", quoted(&destroy.what));
    let ruling = if destroy.class == DestroyClass::Disk { out.deny(id, because) } else { out.ask(id, because) };
    ruling.instead(instead);
}

/// The rule of a loss, the words around what is lost, and the next step.
const fn loss(class: DestroyClass) -> (RuleId, &'static str, &'static str, &'static str) {
    use DestroyClass as D;
    match class {
        D::Worktree => (rule::GIT_DISCARD, "it throws away ", "", "commit or stash first"),
        D::Carried => (rule::GIT_DISCARD, "it carries ", "", "commit or stash first"),
        D::Untracked => (
            rule::GIT_DISCARD,
            "it deletes ",
            ", which git does not keep",
            "list them with `git clean -n` and delete by name",
        ),
        D::LocalHistory => (rule::GIT_HISTORY, "it drops ", "", "keep a branch or tag on it first"),
        D::PublishedHistory => {
            (rule::GIT_HISTORY, "it rewrites ", ", which others may have", "add a commit that reverts instead")
        }
        D::RemoteRef => {
            (rule::GIT_REMOTE_DELETE, "it deletes ", " at the remote", "let the operator approve exactly this")
        }
        D::Database => (rule::DESTROY_DATABASE, "it loses ", "", "write a migration, or back up first"),
        D::Infrastructure => {
            (rule::DESTROY_INFRASTRUCTURE, "it loses ", "", "show the plan and let the operator approve it")
        }
        D::Container => (rule::DESTROY_CONTAINER, "it removes ", "", "name what this run made itself"),
        D::Disk => (rule::DESTROY_DISK, "it overwrites ", "", "work on a file in the workspace"),
        D::Recovery => (
            rule::DESTROY_RECOVERY,
            "it removes ",
            ", which recovery would need",
            "leave backups and logs to the operator",
        ),
    }
}

/// Whether nothing would be lost, as far as the state of the work tree decides that.
///
/// Discarding is a loss unless the tree is known to be clean; carrying over is none unless it is
/// known not to be, because git itself refuses to overwrite.
pub(super) fn is_no_loss(view: &View<'_>, class: DestroyClass) -> bool {
    (class == DestroyClass::Worktree && is_clean(view)) || (class == DestroyClass::Carried && !is_dirty(view))
}

/// Known to have nothing uncommitted; not knowing is not clean.
fn is_clean(view: &View<'_>) -> bool {
    view.facts.repo.known().is_some_and(|repo| repo.dirty == Fact::Known(false))
}

/// Known to have something uncommitted.
fn is_dirty(view: &View<'_>) -> bool {
    view.facts.repo.known().is_some_and(|repo| repo.dirty == Fact::Known(true))
}

const SHARED: &[&str] =
    &["main", "master", "trunk", "develop", "dev", "development", "staging", "production", "prod", "release", "stable"];
