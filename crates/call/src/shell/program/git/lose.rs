//! git subcommands that may lose work or history.

use super::super::row::{Rule, Say};
use super::super::run::Use;
use crate::action::{Depth, DestroyClass};

pub(super) const REWRITE: &[Rule] = &[
    Rule::IfNot("--analyze --dry-run -n", Say::Destroy(DestroyClass::PublishedHistory, "every commit is rewritten")),
    Rule::If(
        "--commit-callback --blob-callback --refname-callback --message-callback --filename-callback",
        Say::Hidden("python"),
    ),
];

pub(super) const FILTER_BRANCH: &[Rule] = &[
    Rule::Always(Say::Destroy(DestroyClass::PublishedHistory, "every commit is rewritten")),
    Rule::Always(Say::Hidden("filter commands")),
];

pub(super) const REFLOG: &[Rule] = &[Rule::IfNot(
    "-n --dry-run",
    Say::Destroy(DestroyClass::LocalHistory, "reflog entries, which alone bring back lost commits"),
)];

pub(super) const EXTRAS: &[Rule] = &[Rule::Code(extras)];

fn extras(it: &mut Use<'_, '_, '_>) {
    match it.sub {
        "clear" | "clear-soft" => it.destroy(DestroyClass::Untracked, "untracked files and uncommitted changes"),
        "reset-file" => it.destroy(DestroyClass::Worktree, "uncommitted changes of a file"),
        "obliterate" => it.destroy(DestroyClass::PublishedHistory, "every commit is rewritten"),
        _ => {
            it.destroy(DestroyClass::RemoteRef, "branches or tags, here and on the remote");
        }
    }
}

pub(super) fn branch(it: &mut Use<'_, '_, '_>) {
    let deletes = it.has("-d -D --delete");
    let forced = it.has("-f --force -D -M -C");
    let acts = deletes
        || forced
        || it.has("-m -M -c -C --move --copy -u --set-upstream-to --unset-upstream --edit-description")
        || it.operand(0).is_some();
    if acts && !it.has("-l --list --contains --merged --no-merged") {
        it.say(Say::Project);
    }
    if (deletes && forced) || (it.has("-f --force") && !deletes) {
        it.destroy(DestroyClass::LocalHistory, "commits that only that branch holds");
    }
}

pub(super) fn tag(it: &mut Use<'_, '_, '_>) {
    if it.operand(0).is_some() && !it.has("-l --list --contains -v --verify") {
        it.say(Say::Project);
    }
    it.each_value("-F --file", |it, word| it.read(word));
    if it.has("-f --force") {
        it.destroy(DestroyClass::LocalHistory, "where a tag pointed");
    }
}

pub(super) fn stash(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if matches!(it.literal(0), Some("drop" | "clear")) {
        it.destroy(DestroyClass::LocalHistory, "stashed changes");
    }
}

/// `checkout BRANCH` keeps changes or refuses; `-f`, and paths, overwrite them.
pub(super) fn checkout(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.has("-B") {
        it.destroy(DestroyClass::LocalHistory, "commits that only that branch holds");
    }
    let dashes = it.simple.words.iter().any(|word| word.literal() == Some("--"));
    let path = |text: &str| {
        matches!(text, "." | ":/" | "./" | "*")
            || text.contains(['*', '/']) && text.contains('.') && !text.contains("..")
    };
    let operands = it.operands(0);
    let paths = operands.len() > 1 && !it.has("-b -B --orphan -t --track --detach -d")
        || operands.iter().any(|word| word.literal().is_none_or(path) && word.why().is_none());
    if it.has("-f --force")
        || it.has("--ours --theirs -p --patch --pathspec-from-file")
        || dashes && !operands.is_empty()
        || paths
    {
        it.destroy(DestroyClass::Worktree, "uncommitted changes of the files that are checked out");
    } else if !operands.is_empty() && !it.has("-b -B --orphan") {
        it.destroy(DestroyClass::Carried, "uncommitted changes to another branch, or stops at them");
    }
}

pub(super) fn switch(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.has("-f --force --discard-changes") {
        it.destroy(DestroyClass::Worktree, "uncommitted changes");
    }
    if it.has("-C --force-create") {
        it.destroy(DestroyClass::LocalHistory, "commits that only that branch holds");
    }
}

/// `restore --staged` alone touches the index only.
pub(super) fn restore(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    let index_only = it.has("-S --staged") && !it.has("-W --worktree");
    if !index_only {
        it.destroy(DestroyClass::Worktree, "uncommitted changes of the files that are restored");
    }
}

pub(super) fn reset(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.has("--hard --merge --keep") {
        it.destroy(DestroyClass::Worktree, "every uncommitted change of tracked files");
    }
}

pub(super) fn clean(it: &mut Use<'_, '_, '_>) {
    if it.has("-n --dry-run") {
        return;
    }
    it.say(Say::Project);
    it.destroy(DestroyClass::Untracked, "untracked files, which nothing can bring back");
    let depth = if it.has("-d -x -X") { Depth::Recursive } else { Depth::Single };
    let words = it.operands(0);
    words.iter().for_each(|word| it.delete(word, depth));
}

pub(super) fn gc(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    let now = it.value("--prune").is_some_and(|when| matches!(when.literal(), None | Some("now" | "all")));
    if now {
        it.destroy(DestroyClass::LocalHistory, "unreachable objects");
    }
}
