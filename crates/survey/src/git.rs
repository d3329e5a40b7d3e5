//! Facts of a repository, read from its files without running anything of it.
//!
//! # Security
//! A repository is hostile data. Files are opened without blocking, only when regular, and read up
//! to a bound; the index and the configuration are parsed by gix from bytes, without includes,
//! filters, hooks or file-system monitors. What takes too long is unknown.

mod ignored;
mod open;
mod status;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use tollgate_call::facts::{Fact, Kind, RepoFact, Tracked, Unknown};

use crate::bounded::Slots;
use crate::sys::Opener;
use open::Repo;

/// Where git looks for hooks, if the repository of the directory `root` says that it is elsewhere: its real path.
pub(crate) fn hooks_elsewhere(open: Opener, root: &str) -> Option<String> {
    open::hooks_path(open, open::discover(open, root)?)
}

/// The repositories met in one survey.
#[derive(Debug)]
pub(crate) struct Repos {
    open: Opener,
    slots: Slots,
    deadline: Instant,
    by_dir: RefCell<BTreeMap<String, Found>>,
}

/// The repository of a directory, none, or why it is not known.
pub(crate) type Found = Result<Option<Rc<Repo>>, Unknown>;

/// Directories asked about in one survey at most.
const MAX_DIRS: usize = 64;

impl Repos {
    pub(crate) fn new(open: Opener, slots: Slots, deadline: Instant) -> Self {
        Self { open, slots, deadline, by_dir: RefCell::default() }
    }

    /// The repository whose work tree holds the real directory `dir`.
    pub(crate) fn around(&self, dir: &str) -> Found {
        let mut known = self.by_dir.borrow_mut();
        if let Some(found) = known.get(dir) {
            return found.clone();
        }
        if known.len() >= MAX_DIRS {
            return Err(Unknown::Late);
        }
        let found = self.find(dir, &known);
        known.insert(dir.to_owned(), found.clone());
        found
    }

    fn find(&self, dir: &str, known: &BTreeMap<String, Found>) -> Found {
        let Some(place) = open::discover(self.open, dir) else { return Ok(None) };
        let same = known.values().flatten().flatten().find(|repo| repo.top == place.top);
        if let Some(repo) = same {
            return Ok(Some(Rc::clone(repo)));
        }
        let open = self.open;
        let repo = self.slots.run(self.deadline, move || Repo::read(open, place))??;
        Ok(Some(Rc::new(repo)))
    }

    /// What version control knows about the real path `resolved`.
    pub(crate) fn tracked(&self, resolved: &str, kind: Option<Kind>) -> Fact<Tracked> {
        let Some((parent, _)) = resolved.rsplit_once('/') else { return Fact::Unknown(Unknown::Failed) };
        self.tracked_by(&self.around(parent), resolved, kind)
    }

    /// The same, by a repository that was found before.
    pub(crate) fn tracked_by(&self, found: &Found, resolved: &str, kind: Option<Kind>) -> Fact<Tracked> {
        match found {
            Ok(Some(repo)) => status::tracked(repo, resolved, kind, self.deadline),
            Ok(None) => Fact::Known(Tracked::NoRepo),
            Err(why) => Fact::Unknown(*why),
        }
    }

    /// The repository around a working directory.
    pub(crate) fn fact(&self, dir: &str) -> Fact<RepoFact> {
        match self.around(dir) {
            Ok(Some(repo)) => Fact::Known(RepoFact {
                branch: repo.branch.clone(),
                dirty: status::dirty(&repo, self.deadline),
                remotes: repo.remotes.clone(),
                obeyed: repo.obeyed.clone(),
            }),
            Ok(None) => Fact::Unknown(Unknown::NotAsked),
            Err(why) => Fact::Unknown(why),
        }
    }
}
