//! Other names of protected files: a hard link to `.env` is `.env`, whatever it is called, and so is the file that a
//! link called `.env` leads to.

use std::cell::OnceCell;
use std::os::fd::{AsFd, BorrowedFd};

use tollgate_call::facts::Kind;
use tollgate_call::places::{CREDENTIALS, Layout, Place, Protection, is_beneath, protection};

use crate::dir::{Sort, list};
use crate::git::hooks_elsewhere;
use crate::real;
use crate::scoped::{Intent, Look};
use crate::sys::{self, Opener};

/// Names listed per directory at most, so that a hostile directory costs little.
const MAX_NAMES: usize = 2048;

/// What another name of a file makes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twin {
    /// It is protected under the other name.
    Protected(Protection),
    /// It lies in such a place under the other name.
    Lies(Place),
}

/// The protected files of one survey, by identity; collected when the first file needs them.
#[derive(Debug)]
pub(crate) struct Twins<'a> {
    open: Opener,
    layout: &'a Layout,
    known: OnceCell<Vec<((u64, u64), Twin)>>,
    pointed: OnceCell<Vec<(String, Protection)>>,
}

impl<'a> Twins<'a> {
    pub(crate) const fn new(open: Opener, layout: &'a Layout) -> Self {
        Self { open, layout, known: OnceCell::new(), pointed: OnceCell::new() }
    }

    /// What protects a real path inside a root because something points at it: a link with a protected name, or git,
    /// which was told to look for hooks there.
    pub(crate) fn pointed(&self, resolved: &str) -> Option<Protection> {
        let within = |(path, _): &&(String, Protection)| is_beneath(resolved, path);
        self.all_pointed().iter().find(within).map(|(_, protection)| *protection)
    }

    /// Every such real path. Links are looked for directly in the roots.
    pub(crate) fn all_pointed(&self) -> &[(String, Protection)] {
        self.pointed.get_or_init(|| self.layout.roots.iter().flat_map(|root| self.pointed_in(root)).collect())
    }

    fn pointed_in(&self, root: &str) -> Vec<(String, Protection)> {
        let entries = real::resolve(self.open, root, Intent::Read)
            .target
            .and_then(|target| list(self.open, target.fd.as_fd(), MAX_NAMES).ok())
            .unwrap_or_default();
        let links = entries.list.iter().filter(|entry| entry.sort == Sort::Link).filter_map(|entry| {
            let why = protection(&entry.name)?;
            Some((real::resolve(self.open, &format!("{root}/{}", entry.name), Intent::Read).path, why))
        });
        let hooks = hooks_elsewhere(self.open, root).map(|dir| (dir, Protection::Git));
        let inside = |(path, _): &(String, Protection)| self.layout.place(path) == Place::Inside;
        links.chain(hooks).filter(inside).collect()
    }

    /// What protects the file of `look`, found at `resolved`, under another of its names.
    ///
    /// Asked only where names may deceive: files with several links, and names that a normalising
    /// file system may fold into others.
    pub(crate) fn of(&self, resolved: &str, look: &Look) -> Option<Twin> {
        let folded = !resolved.is_ascii();
        if look.link || !matches!(look.kind, Kind::File(_)) || (look.links < 2 && !folded) {
            return None;
        }
        let known = self.known.get_or_init(|| self.collect());
        let same =
            |list: &[((u64, u64), Twin)]| list.iter().find(|(id, _)| *id == look.identity).map(|(_, twin)| *twin);
        same(known).or_else(|| {
            let (parent, _) = resolved.rsplit_once('/')?;
            let mut beside = Vec::new();
            self.named(parent, &mut beside);
            same(&beside)
        })
    }

    fn collect(&self) -> Vec<((u64, u64), Twin)> {
        let mut found = Vec::new();
        for state in &self.layout.guard_state {
            self.all(state, Twin::Lies(Place::GuardState), &mut found);
        }
        for policy in &self.layout.guard_policy {
            self.all(policy, Twin::Lies(Place::GuardPolicy), &mut found);
        }
        for name in CREDENTIALS {
            self.all(&format!("{}/{name}", self.layout.home), Twin::Lies(Place::Credential), &mut found);
        }
        for root in &self.layout.roots {
            self.named(root, &mut found);
            self.named(&format!("{root}/.git"), &mut found);
            self.named(&format!("{root}/.git/hooks"), &mut found);
        }
        found
    }

    /// The file at `path`, or every file directly in the directory there.
    fn all(&self, path: &str, twin: Twin, found: &mut Vec<((u64, u64), Twin)>) {
        let Some(target) = real::resolve(self.open, path, Intent::Read).target else { return };
        match target.look.kind {
            Kind::File(_) => found.push((target.look.identity, twin)),
            Kind::Directory => self.within(target.fd.as_fd(), found, |_| Some(twin)),
            Kind::Absent | Kind::Device(..) | Kind::Special => {}
        }
    }

    /// Every file directly in the directory `path` whose own name is protected.
    fn named(&self, path: &str, found: &mut Vec<((u64, u64), Twin)>) {
        let Some(target) = real::resolve(self.open, path, Intent::Read).target else { return };
        if target.look.kind == Kind::Directory {
            let twin = |name: &str| protection(&format!("{path}/{name}")).map(Twin::Protected);
            self.within(target.fd.as_fd(), found, twin);
        }
    }

    fn within(&self, dir: BorrowedFd<'_>, found: &mut Vec<((u64, u64), Twin)>, twin: impl Fn(&str) -> Option<Twin>) {
        let Ok(entries) = list(self.open, dir, MAX_NAMES) else { return };
        for entry in entries.list {
            let Some(twin) = twin(&entry.name) else { continue };
            let look = sys::entry(self.open, dir, &entry.name).and_then(|fd| fd.map(sys::look).transpose());
            if let Ok(Some(look)) = look {
                found.push((look.identity, twin));
            }
        }
    }
}
