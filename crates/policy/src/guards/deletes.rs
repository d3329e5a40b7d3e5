//! Deletes: what cannot be brought back is a question, the workspace itself is the floor.

use tollgate_call::action::{Depth, PathRef, Target};
use tollgate_call::facts::{Expansion, Fact, Kind, PathFact, Tracked};
use tollgate_call::places::{Place, clean};

use super::paths::{matches, protected_by_glob, refused, takes_tree};
use super::writes;
use crate::rule;
use crate::ruling::{Rulings, quoted, why};
use crate::subject::{Doer, View, glob_base};

pub(super) fn judge(view: &View<'_>, target: &Target, depth: Depth, out: &mut Rulings) {
    match target {
        Target::Path(path) => match view.path(path) {
            Some(fact) => delete_path(view, path, fact, depth, out),
            None => unknown(path, out),
        },
        Target::Glob(path) => delete_glob(view, path, depth, out),
        Target::Beneath(path) => delete_beneath(view, path, out),
        // Not even the box pays for this: the roots can be emptied inside it.
        Target::Opaque(reason) => {
            out.ask(rule::SHELL_OPAQUE, format!("nobody can say what it deletes: {}", why(reason)))
                .instead("list the names first, then delete them by name");
        }
    }
}

/// What is said about a name that is moved away: nothing is lost, but the name goes.
pub(super) fn judge_leaving(view: &View<'_>, target: &Target, out: &mut Rulings) {
    match target {
        Target::Path(path) | Target::Beneath(path) => match view.path(path) {
            Some(fact) if refused(view, path, fact, out) => {}
            Some(fact) => {
                place(view, &path.raw, fact.place, Depth::Recursive, out);
                writes::protected(view, path, fact, out);
            }
            None => unknown(path, out),
        },
        Target::Glob(path) => match view.path(path) {
            Some(fact) => {
                place(view, &path.raw, fact.place, Depth::Recursive, out);
                leaving_matches(view, path, Depth::Recursive, out);
            }
            None => unknown(path, out),
        },
        Target::Opaque(_) if view.box_pays() => {}
        Target::Opaque(reason) => {
            out.ask(rule::SHELL_OPAQUE, format!("nobody can say what it moves away: {}", why(reason)));
        }
    }
}

fn delete_path(view: &View<'_>, path: &PathRef, fact: &PathFact, depth: Depth, out: &mut Rulings) {
    if refused(view, path, fact, out) || place(view, &path.raw, fact.place, depth, out) == Settled::Yes {
        return;
    }
    writes::protected(view, path, fact, out);
    if takes_tree(depth) && holds_repository(path) {
        out.ask(rule::DELETE_UNTRACKED, format!("{} is a repository's own store", quoted(&path.raw)))
            .instead("leave the repository's history");
        return;
    }
    let expansion = view.facts.expansions.get(&path.abs).and_then(Fact::known);
    if !is_restorable(view, path, fact, expansion, depth) {
        untracked(&path.raw, lost(expansion), out);
    }
}

/// Whether version control, a build or undo can bring it back, as far as is known.
fn is_restorable(
    view: &View<'_>,
    path: &PathRef,
    fact: &PathFact,
    expansion: Option<&Expansion>,
    depth: Depth,
) -> bool {
    let snapshot = view.subject.doer == Doer::FileTool;
    let tree = takes_tree(depth) && !matches!(fact.kind, Fact::Known(Kind::File(_) | Kind::Absent));
    if !tree {
        return snapshot
            || match fact.tracked {
                Fact::Known(Tracked::Clean | Tracked::Ignored) => true,
                Fact::Known(Tracked::Modified | Tracked::Untracked | Tracked::NoRepo) => {
                    view.is_performed_here() || fact.kind == Fact::Known(Kind::Absent) || wrote(view, fact, path)
                }
                // One plain name, written out: its author knew what it was.
                Fact::Unknown(_) => true,
            };
    }
    match (expansion.map(nothing_lost), &fact.tracked) {
        (Some(known), _) => known,
        (None, Fact::Known(Tracked::Clean | Tracked::Ignored)) => true,
        (None, Fact::Known(Tracked::Modified | Tracked::Untracked | Tracked::NoRepo)) => false,
        (None, Fact::Unknown(_)) => is_regenerable(&path.raw),
    }
}

fn wrote(view: &View<'_>, fact: &PathFact, path: &PathRef) -> bool {
    view.run.wrote(&fact.resolved) || view.run.wrote(&path.abs)
}

fn delete_glob(view: &View<'_>, path: &PathRef, depth: Depth, out: &mut Rulings) {
    let last = path.raw.rsplit('/').next().unwrap_or(&path.raw);
    let everything = takes_everything(last);
    let Some(fact) = view.path(path) else { return unknown(path, out) };
    if everything && fact.place != Place::Inside && view.holds_workspace(glob_base(&path.abs)) {
        return root(&path.raw, out);
    }
    place(view, &path.raw, fact.place, depth, out);
    leaving_matches(view, path, depth, out);
    let expansion = view.facts.expansions.get(&path.abs).and_then(Fact::known);
    if expansion.is_some_and(|known| known.matches.iter().any(|name| name.rsplit('/').next() == Some("~"))) {
        out.deny(rule::DELETE_UNTRACKED, format!("{} reaches a name that is a bare `~`", quoted(&path.raw)))
            .instead("remove that one name first, as `./~`");
    }
    let kept = match expansion {
        Some(known) => nothing_lost(known),
        None => is_regenerable(&path.raw) || (!everything && !takes_tree(depth)),
    };
    if !kept && out.is_empty() {
        untracked(&path.raw, lost(expansion), out);
    }
}

/// What is said about each known match of a glob, and about hidden names that it aims at.
fn leaving_matches(view: &View<'_>, path: &PathRef, depth: Depth, out: &mut Rulings) {
    for (matched, fact) in matches(view, path) {
        if !out.is_empty() {
            return;
        }
        place(view, &matched.raw, fact.place, depth, out);
        writes::protected(view, &matched, fact, out);
    }
    if let Some(name) = protected_by_glob(view, path, |_| true).filter(|_| out.is_empty()) {
        out.ask(rule::PATH_PROTECTED, format!("{} reaches {}, a protected name", quoted(&path.raw), quoted(&name)));
    }
}

/// `find DIR … -delete`: what is beneath the directory decides, unless the name pattern is one of built files.
fn delete_beneath(view: &View<'_>, path: &PathRef, out: &mut Rulings) {
    let Some(fact) = view.path(path) else { return unknown(path, out) };
    if refused(view, path, fact, out) {
        return;
    }
    // Beneath the workspace itself a filter may leave most of it; above it, nothing excuses.
    let beneath = if fact.place == Place::Root { Place::Inside } else { fact.place };
    if place(view, &path.raw, beneath, Depth::Recursive, out) == Settled::Yes {
        return;
    }
    // A pattern of names narrows what was counted for the whole directory.
    let narrowed = !path.abs.ends_with(path.raw.trim_end_matches('/'));
    let expansion = view.facts.expansions.get(&path.abs).and_then(Fact::known);
    let kept = match expansion {
        Some(known) => nothing_lost(known) || (narrowed && is_regenerable(&path.raw)),
        None => is_regenerable(&path.raw),
    };
    if !kept {
        untracked(&path.raw, lost(expansion), out);
    }
}

#[derive(PartialEq, Eq)]
enum Settled {
    No,
    Yes,
}

fn place(view: &View<'_>, raw: &str, place: Place, depth: Depth, out: &mut Rulings) -> Settled {
    if is_root_or_above(place) && (takes_tree(depth) || place == Place::Root) {
        root(raw, out);
        return Settled::Yes;
    }
    match place {
        Place::Inside | Place::Root => Settled::No,
        // A device node is not emptied by writing but removed.
        Place::HarmlessDevice => {
            super::paths::device(raw, "removes", out);
            Settled::Yes
        }
        // With a private temporary directory there is nothing of others to lose.
        Place::Temp => {
            writes::place(view, raw, place, out);
            Settled::Yes
        }
        Place::Ancestor
        | Place::Home
        | Place::ReadRoot
        | Place::Credential
        | Place::GuardState
        | Place::GuardPolicy
        | Place::Device
        | Place::System
        | Place::Elsewhere => {
            writes::place(view, raw, place, out);
            Settled::Yes
        }
    }
}

const fn is_root_or_above(place: Place) -> bool {
    match place {
        Place::Root | Place::Ancestor | Place::Home => true,
        Place::Inside
        | Place::ReadRoot
        | Place::Temp
        | Place::Credential
        | Place::GuardState
        | Place::GuardPolicy
        | Place::HarmlessDevice
        | Place::Device
        | Place::System
        | Place::Elsewhere => false,
    }
}

fn root(raw: &str, out: &mut Rulings) {
    let name = quoted(raw);
    out.deny(rule::DELETE_ROOT, format!("{name} is the workspace, the home directory, or holds one of them"))
        .instead("delete single files or directories inside the workspace");
}

fn untracked(raw: &str, count: Option<u64>, out: &mut Rulings) {
    let what = count.map_or_else(|| "files".to_owned(), |count| format!("{count} files"));
    out.ask(rule::DELETE_UNTRACKED, format!("{} may take {what} that nothing can bring back", quoted(raw)))
        .instead("commit or move away what should stay, or delete by name what is built or fetched");
}

fn unknown(path: &PathRef, out: &mut Rulings) {
    out.deny(rule::PATH_UNKNOWN, format!("nothing is known about {}", quoted(&path.raw)));
}

/// How many untracked files would go, where that is known.
fn lost(expansion: Option<&Expansion>) -> Option<u64> {
    expansion.and_then(|known| known.untracked.known()).copied().filter(|count| *count > 0)
}

fn nothing_lost(expansion: &Expansion) -> bool {
    !expansion.more && (expansion.files == 0 || expansion.untracked == Fact::Known(0))
}

fn holds_repository(path: &PathRef) -> bool {
    clean(&path.abs).rsplit('/').next().is_some_and(|name| name.eq_ignore_ascii_case(".git"))
}

fn takes_everything(last: &str) -> bool {
    !last.is_empty() && last.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'?'))
}

/// Whether a name, written relative to the workspace, is by convention built or fetched.
///
/// # Security
/// A convention, not knowledge: an untracked `build` of one's own is lost. Facts, where there are any,
/// win over it.
fn is_regenerable(raw: &str) -> bool {
    let parts = || raw.split('/').filter(|part| !matches!(*part, "" | "."));
    let last = parts().next_back().unwrap_or_default();
    let named = |part: &str| REGENERABLE.contains(&part);
    let suffixed = SUFFIXES.iter().any(|suffix| last.len() > suffix.len() && last.ends_with(suffix));
    if raw.starts_with('/') || parts().any(|part| part == "..") {
        return named(last) || suffixed;
    }
    parts().any(named) || suffixed
}

const REGENERABLE: &[&str] = &[
    "target",
    "dist",
    "build",
    "out",
    "node_modules",
    ".next",
    ".nuxt",
    ".output",
    ".svelte-kit",
    ".turbo",
    ".parcel-cache",
    ".cache",
    ".vite",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".tox",
    ".nox",
    ".venv",
    "venv",
    ".eggs",
    "coverage",
    "htmlcov",
    ".coverage",
    ".nyc_output",
    ".gradle",
    "obj",
    "tmp",
    "temp",
    ".tmp",
    ".DS_Store",
    "bower_components",
    "_build",
    "zig-out",
    "zig-cache",
    ".zig-cache",
    "cmake-build-debug",
    "cmake-build-release",
    "storybook-static",
    ".serverless",
    ".dart_tool",
    "DerivedData",
];

const SUFFIXES: &[&str] = &[
    ".pyc",
    ".pyo",
    ".o",
    ".obj",
    ".class",
    ".log",
    ".tmp",
    ".temp",
    ".swp",
    ".swo",
    ".egg-info",
    ".tsbuildinfo",
    "~",
    ".gcda",
    ".gcno",
    ".profraw",
    ".rlib",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_above_the_workspace_does_not_make_its_content_regenerable() {
        assert!(is_regenerable("target/debug/deps"));
        assert!(is_regenerable("./node_modules/"));
        assert!(is_regenerable("pkg/__pycache__"));
        assert!(is_regenerable("src/*.pyc"));
        assert!(!is_regenerable("src"));
        assert!(!is_regenerable("/home/u/build/project/src"));
        assert!(!is_regenerable("../build/x"));
        assert!(!is_regenerable("targets"));
    }
}
