//! Which things a call's actions are about.

use std::collections::BTreeMap;

use tollgate_call::Action;
use tollgate_call::action::{
    ActionKind, Connect, Control, Depth, DestroyClass, Execute, PathRef, Peer, Program, Publish, Standing, Target,
    WriteHow,
};

use crate::tree::Reach;

/// How the actions of one call use one path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Use {
    /// The content behind the name is read or changed: a final link is followed.
    pub(crate) follow: bool,
    /// The entry itself is removed or replaced: a final link is not followed.
    pub(crate) entry: bool,
    /// The content is changed.
    pub(crate) write: bool,
    /// Version control is asked whether it could bring the file back.
    pub(crate) loss: bool,
}

/// What is looked up for one call.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// By absolute name.
    pub(crate) paths: BTreeMap<String, Use>,
    /// Globs, by absolute pattern.
    pub(crate) globs: BTreeMap<String, (Reach, Use)>,
    /// Directories whose content matters: its names only, or what would be lost with it.
    pub(crate) trees: BTreeMap<String, Reach>,
    /// Files run as code, by absolute name.
    pub(crate) code: Vec<String>,
    pub(crate) programs: Vec<Program>,
    pub(crate) hosts: Vec<Peer>,
    pub(crate) repo: bool,
}

const FOLLOW: Use = Use { follow: true, entry: false, write: false, loss: false };
const WRITE: Use = Use { follow: true, entry: false, write: true, loss: true };
const ENTRY: Use = Use { follow: false, entry: true, write: false, loss: true };
/// A rename or link onto a name replaces it, or lands in it if it is a directory.
const ONTO: Use = Use { follow: true, entry: true, write: true, loss: true };
/// A file run as code: whether it is as committed tells whose code it is.
const CODE: Use = Use { follow: true, entry: false, write: false, loss: true };

impl Wanted {
    pub(crate) fn of(actions: &[Action]) -> Self {
        let mut wanted = Self::default();
        for action in actions {
            wanted.action(&action.kind);
        }
        wanted
    }

    fn action(&mut self, kind: &ActionKind) {
        match kind {
            ActionKind::Read(target) => self.target(target, FOLLOW, Reach::Names),
            ActionKind::Write(target, WriteHow::Link) => self.target(target, ONTO, Reach::Names),
            ActionKind::Write(
                target,
                WriteHow::Replace | WriteHow::Change | WriteHow::Metadata | WriteHow::MakeDir,
            ) => self.target(target, WRITE, Reach::Names),
            ActionKind::Delete(target, Depth::Single) => self.target(target, ENTRY, Reach::Names),
            ActionKind::Delete(target, Depth::Recursive) => self.recursive(target),
            ActionKind::Move(from, to) => {
                self.target(from, ENTRY, Reach::Names);
                self.target(to, ONTO, Reach::Names);
            }
            ActionKind::Execute(execute) => self.execute(execute),
            ActionKind::Connect(connect) => self.connect(connect),
            ActionKind::Publish(publish) => self.repo |= matches!(publish, Publish::Push(_)),
            ActionKind::Destroy(destroy) => self.repo |= of_repository(destroy.class),
            ActionKind::Control(control) => self.repo |= matches!(control, Control::Configuration(_)),
            ActionKind::Listen(_)
            | ActionKind::Message(_)
            | ActionKind::Spend(_)
            | ActionKind::Install(_)
            | ActionKind::Privilege(_)
            | ActionKind::Persist(_)
            | ActionKind::Signal(_)
            | ActionKind::Opaque(_) => {}
        }
    }

    fn target(&mut self, target: &Target, how: Use, reach: Reach) {
        match target {
            Target::Path(path) => self.path(path, how),
            Target::Glob(path) => {
                // The pattern as a name: when nothing matches, bash leaves it as it is.
                self.path(path, how);
                let known = self.globs.entry(path.abs.clone()).or_insert((reach, how));
                *known = (if reach == Reach::Trees { reach } else { known.0 }, merged(known.1, how));
            }
            Target::Beneath(path) => {
                self.path(path, how);
                self.tree(path, if how.loss { Reach::Trees } else { Reach::Names });
            }
            Target::Opaque(_) => {}
        }
    }

    fn recursive(&mut self, target: &Target) {
        self.target(target, ENTRY, Reach::Trees);
        if let Target::Path(path) = target {
            self.tree(path, Reach::Trees);
        }
    }

    fn tree(&mut self, path: &PathRef, reach: Reach) {
        let known = self.trees.entry(path.abs.clone()).or_insert(reach);
        if reach == Reach::Trees {
            *known = reach;
        }
    }

    pub(crate) fn path(&mut self, path: &PathRef, how: Use) {
        let known = self.paths.entry(path.abs.clone()).or_default();
        *known = merged(*known, how);
    }

    fn execute(&mut self, execute: &Execute) {
        if let Program::Path(path) = &execute.program {
            self.path(path, FOLLOW);
        }
        match &execute.standing {
            Standing::File(path) => {
                self.path(path, CODE);
                self.code.push(path.abs.clone());
            }
            // The shell's own words run no file.
            Standing::Builtin => return,
            Standing::Row | Standing::NoRow | Standing::Project | Standing::Inline(_) => {}
        }
        if !self.programs.contains(&execute.program) {
            self.programs.push(execute.program.clone());
        }
    }

    fn connect(&mut self, connect: &Connect) {
        match &connect.peer {
            Peer::Url(_) | Peer::Host(_) => self.hosts.push(connect.peer.clone()),
            Peer::Remote(_) => self.repo = true,
            Peer::Registry(_) | Peer::Service(_) | Peer::Opaque(_) => {}
        }
    }
}

const fn merged(a: Use, b: Use) -> Use {
    Use { follow: a.follow || b.follow, entry: a.entry || b.entry, write: a.write || b.write, loss: a.loss || b.loss }
}

const fn of_repository(class: DestroyClass) -> bool {
    match class {
        DestroyClass::Worktree
        | DestroyClass::Carried
        | DestroyClass::Untracked
        | DestroyClass::LocalHistory
        | DestroyClass::PublishedHistory
        | DestroyClass::RemoteRef => true,
        DestroyClass::Database
        | DestroyClass::Infrastructure
        | DestroyClass::Container
        | DestroyClass::Disk
        | DestroyClass::Recovery => false,
    }
}
