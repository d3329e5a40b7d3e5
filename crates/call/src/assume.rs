//! Facts by letters alone, for checks that ask no file system.
//!
//! Names are cleaned as text and placed by the layout; everything else is unknown. `survey` is the
//! one that looks; its facts and these are read by the same guards.

use crate::action::{Action, ActionKind, Execute, PathRef, Program, Standing, Target};
use crate::facts::{Fact, Facts, PathFact, Unknown};
use crate::places::{Layout, clean, protection};

/// The facts that the spelling of the actions' paths gives.
///
/// ```
/// use tollgate_call::action::{Action, ActionKind, PathRef, Target};
/// use tollgate_call::places::{Layout, Place};
/// use tollgate_call::{Span, assume};
/// let read = ActionKind::Read(Target::Path(PathRef::join("/w", "src/../notes.txt")));
/// let action = Action { kind: read, span: Span::new("/path", 0, 16), part: 0 };
/// let facts = assume::facts(&Layout::of("/w", "/home/u"), &[action]);
/// assert_eq!(facts.paths["/w/src/../notes.txt"].place, Place::Inside);
/// ```
pub fn facts(layout: &Layout, actions: &[Action]) -> Facts {
    let mut facts = Facts::none();
    for action in actions {
        for path in paths(&action.kind) {
            facts.paths.entry(path.abs.clone()).or_insert_with(|| fact(layout, &path.abs));
        }
    }
    facts
}

/// The fact of one absolute name, by its letters.
pub fn fact(layout: &Layout, abs: &str) -> PathFact {
    let resolved = clean(abs);
    PathFact {
        place: layout.place(&resolved),
        protection: protection(&resolved),
        resolved,
        kind: Fact::Unknown(Unknown::NotAsked),
        links: Fact::Unknown(Unknown::NotAsked),
        identity: Fact::Unknown(Unknown::NotAsked),
        tracked: Fact::Unknown(Unknown::NotAsked),
        refused: None,
    }
}

/// Every path that an action names, patterns included.
fn paths(kind: &ActionKind) -> Vec<&PathRef> {
    match kind {
        ActionKind::Read(target) | ActionKind::Write(target, _) | ActionKind::Delete(target, _) => {
            path(target).into_iter().collect()
        }
        ActionKind::Move(from, to) => path(from).into_iter().chain(path(to)).collect(),
        ActionKind::Execute(execute) => run(execute),
        ActionKind::Connect(_)
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
        | ActionKind::Opaque(_) => Vec::new(),
    }
}

const fn path(target: &Target) -> Option<&PathRef> {
    match target {
        Target::Path(path) | Target::Glob(path) | Target::Beneath(path) => Some(path),
        Target::Opaque(_) => None,
    }
}

fn run(execute: &Execute) -> Vec<&PathRef> {
    let program = match &execute.program {
        Program::Path(path) => Some(path),
        Program::Name(_) | Program::Opaque(_) => None,
    };
    let file = match &execute.standing {
        Standing::File(path) => Some(path),
        Standing::Row | Standing::Builtin | Standing::NoRow | Standing::Project | Standing::Inline(_) => None,
    };
    program.into_iter().chain(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::{Place, Protection};
    use crate::span::Span;

    fn told(kind: ActionKind) -> Facts {
        facts(&Layout::of("/w", "/home/u"), &[Action { kind, span: Span::new("/command", 0, 1), part: 0 }])
    }

    #[test]
    fn every_named_path_is_placed_by_its_letters_and_nothing_else_is_known() {
        let at = |raw: &str| Target::Path(PathRef::join("/w", raw));
        let facts = told(ActionKind::Move(at("../secret"), at(".GIT/config")));
        let outside = &facts.paths["/w/../secret"];
        assert_eq!((outside.place, outside.protection, outside.resolved.as_str()), (Place::Elsewhere, None, "/secret"));
        let git = &facts.paths["/w/.GIT/config"];
        assert_eq!((git.place, git.protection), (Place::Inside, Some(Protection::Git)));
        assert_eq!(git.kind, Fact::Unknown(Unknown::NotAsked));
        assert!(facts.expansions.is_empty() && facts.programs.is_empty() && facts.hosts.is_empty());
    }

    #[test]
    fn programs_and_scripts_named_by_path_are_placed_too() {
        let execute = Execute {
            program: Program::Path(PathRef::join("/w", "/usr/bin/python3")),
            standing: Standing::File(PathRef::join("/w", "run.py")),
        };
        let facts = told(ActionKind::Execute(execute));
        assert_eq!(facts.paths["/usr/bin/python3"].place, Place::System);
        assert_eq!(facts.paths["/w/run.py"].place, Place::Inside);
    }
}
