//! Second names for files: what is written through one is written to the other.

use super::walk::Reader;
use crate::action::{Action, ActionKind, PathRef, Target, WriteHow};
use crate::places::{clean, protection};

impl Reader<'_> {
    /// What else a new link may change: a protected name that it leads to can be written through it.
    ///
    /// # Security
    /// Names only: a link to a link, or to an unprotected directory above, is left to the facts and
    /// to the comparison after the run.
    pub(super) fn ends_of_link(&self, kind: &ActionKind) -> Vec<ActionKind> {
        let ActionKind::Write(link, WriteHow::Link) = kind else { return Vec::new() };
        let mine = self.actions.iter().rev().take_while(|action| action.part == self.part);
        mine.filter_map(read_by).filter_map(|end| changed(end, link)).collect()
    }
}

fn read_by(action: &Action) -> Option<&Target> {
    match &action.kind {
        ActionKind::Read(target) => Some(target),
        ActionKind::Write(..)
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
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => None,
    }
}

fn changed(end: &Target, link: &Target) -> Option<ActionKind> {
    let path = match end {
        Target::Path(path) | Target::Beneath(path) | Target::Glob(path) => path,
        Target::Opaque(_) => return None,
    };
    let named = protection(&clean(&path.abs)).map(|_| path.clone());
    let path = named.or_else(|| from_the_link(path, link))?;
    Some(ActionKind::Write(Target::Path(path), WriteHow::Change))
}

/// A relative end is looked up from where the link stands.
fn from_the_link(end: &PathRef, link: &Target) -> Option<PathRef> {
    let Target::Path(link) = link else { return None };
    let (directory, _) = link.abs.rsplit_once('/')?;
    let path = PathRef::join(directory, &end.raw);
    protection(&clean(&path.abs)).map(|_| path)
}
