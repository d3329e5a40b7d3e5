//! What a glob, a directory or a recursive delete would reach, within bounds.

use std::time::Instant;

use tollgate_call::facts::{Expansion, Fact, Kind, Tracked, Unknown};
use tollgate_call::places::{is_beneath, protection};

use crate::dir::{Found, ScopedDir, Sort, Step, WalkLimits, list};
use crate::git::{self, Repos};
use crate::glob::Pattern;
use crate::real;
use crate::scoped::Intent;
use crate::sys::Opener;

/// Names that an expansion lists at most.
const MAX_MATCHES: usize = 256;
/// Entries that an expansion looks at: enough for a project, not for a disk.
const MAX_ENTRIES: usize = 20_000;
/// The same where nothing is lost and only protected names are looked for.
const MAX_READ: usize = 4_000;
const MAX_DEPTH: usize = 64;
/// Components of a pattern.
const MAX_PARTS: usize = 64;

/// What an action on the expanded names touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The names themselves.
    Names,
    /// Everything beneath them, which may be lost.
    Trees,
}

/// Expands targets of one survey.
#[derive(Debug)]
pub(crate) struct Trees<'a> {
    pub(crate) open: Opener,
    pub(crate) repos: &'a Repos,
    pub(crate) deadline: Instant,
}

impl Trees<'_> {
    /// The names that the pattern `abs` matches now.
    pub(crate) fn glob(&self, abs: &str, reach: Reach) -> Fact<Expansion> {
        let mut globbing = Globbing { trees: self, listed: 0, more: false };
        let Some(matches) = globbing.expand(abs) else { return Fact::Unknown(Unknown::Late) };
        let mut told = Told { more: globbing.more, ..Told::new(reach) };
        for name in &matches {
            match reach {
                Reach::Names => told.files += 1,
                Reach::Trees => self.tree(name, &mut told),
            }
        }
        let more = told.more;
        let protected = std::mem::take(&mut told.matches);
        Fact::Known(Expansion { matches: bounded(matches, protected), more, ..told.expansion() })
    }

    /// What lies beneath the directory `abs`: protected names are listed, the others counted.
    pub(crate) fn beneath(&self, abs: &str, reach: Reach) -> Fact<Expansion> {
        let mut told = Told::new(reach);
        self.tree(abs, &mut told);
        Fact::Known(told.expansion())
    }

    fn tree(&self, abs: &str, told: &mut Told) {
        let real = real::resolve(self.open, abs, Intent::Entry);
        let Some(target) = real.target else { return };
        // One repository answers for the whole tree; what another holds inside is untracked by it.
        let above = real.path.rsplit_once('/').map_or("", |(above, _)| above);
        let repo = self.repo(&real.path, above, told.reach);
        let mut tree = Tree { trees: self, told, repo, skip: None };
        if target.look.kind != Kind::Directory {
            tree.file(&real.path);
            return;
        }
        let dir = ScopedDir { root: real.path.into(), rel: String::new(), fd: target.fd, open: self.open };
        let walked = dir.walk(&tree.told.limits(self.deadline), &mut |found| {
            tree.meet(&dir, found);
            // Of a repository's own files, `.git` is the name to know; it stands for all of them.
            if tree.told.reach == Reach::Names && found.name() == ".git" { Step::Over } else { Step::Into }
        });
        told.visited += walked.visited;
        told.more |= walked.cut || walked.unreadable > 0 || walked.unnamed > 0;
    }

    /// The repository that `path` belongs to, or is.
    fn repo(&self, path: &str, above: &str, reach: Reach) -> git::Found {
        match reach {
            Reach::Names => Err(Unknown::NotAsked),
            Reach::Trees => match self.repos.around(above) {
                Ok(None) => self.repos.around(path),
                found => found,
            },
        }
    }
}

/// One tree being gone through.
struct Tree<'a> {
    trees: &'a Trees<'a>,
    told: &'a mut Told,
    repo: git::Found,
    /// A directory that is ignored as a whole.
    skip: Option<String>,
}

impl Tree<'_> {
    fn meet(&mut self, dir: &ScopedDir, found: &Found<'_>) {
        let path = format!("{}/{}", dir.resolved().trim_end_matches('/'), found.rel());
        if protection(tail(&path)).is_some() {
            self.told.list(path.clone());
        }
        match found.sort() {
            Sort::Directory if self.counts(&path) && self.tracked(&path, Kind::Directory) == IGNORED => {
                self.skip = Some(path);
            }
            Sort::Directory => {}
            Sort::File | Sort::Link | Sort::Other => self.file(&path),
        }
    }

    /// Whether losses are counted here: not in a directory that is ignored as a whole.
    fn counts(&self, path: &str) -> bool {
        self.told.reach == Reach::Trees && !self.skip.as_ref().is_some_and(|above| is_beneath(path, above))
    }

    /// Counts a file, and whether version control could not bring it back as it is.
    fn file(&mut self, path: &str) {
        self.told.files += 1;
        if !self.counts(path) {
            return;
        }
        match self.tracked(path, Kind::File(0)) {
            Fact::Known(Tracked::Untracked | Tracked::Modified) => self.told.lost += 1,
            Fact::Known(Tracked::Clean | Tracked::Ignored) => {}
            Fact::Known(Tracked::NoRepo) => self.told.unknown = Some(Unknown::NotAsked),
            Fact::Unknown(why) => self.told.unknown = Some(why),
        }
    }

    fn tracked(&self, path: &str, kind: Kind) -> Fact<Tracked> {
        self.trees.repos.tracked_by(&self.repo, path, Some(kind))
    }
}

/// The last three components. Longer names are protected by what stands above them, which the walk
/// met, and listed, before.
fn tail(path: &str) -> &str {
    let from = path.rmatch_indices('/').nth(2).map_or(0, |(at, _)| at);
    path.get(from..).unwrap_or(path)
}

const IGNORED: Fact<Tracked> = Fact::Known(Tracked::Ignored);

/// What an expansion has told so far.
#[derive(Debug)]
struct Told {
    reach: Reach,
    matches: Vec<String>,
    more: bool,
    files: u64,
    lost: u64,
    unknown: Option<Unknown>,
    visited: usize,
}

impl Told {
    const fn new(reach: Reach) -> Self {
        let unknown = match reach {
            Reach::Names => Some(Unknown::NotAsked),
            Reach::Trees => None,
        };
        Self { reach, matches: Vec::new(), more: false, files: 0, lost: 0, unknown, visited: 0 }
    }

    fn limits(&self, deadline: Instant) -> WalkLimits {
        let most = match self.reach {
            Reach::Names => MAX_READ,
            Reach::Trees => MAX_ENTRIES,
        };
        WalkLimits { entries: most.saturating_sub(self.visited), depth: MAX_DEPTH, deadline }
    }

    fn list(&mut self, path: String) {
        if self.matches.len() < MAX_MATCHES { self.matches.push(path) } else { self.more = true }
    }

    /// A loss that was counted stays known, also when the count is not complete.
    fn expansion(self) -> Expansion {
        let untracked = match self.unknown {
            Some(why) if self.lost == 0 => Fact::Unknown(why),
            Some(_) | None => Fact::Known(self.lost),
        };
        Expansion { matches: self.matches, more: self.more, untracked, files: self.files }
    }
}

fn bounded(mut names: Vec<String>, protected: Vec<String>) -> Vec<String> {
    names.extend(protected);
    names.truncate(2 * MAX_MATCHES);
    names
}

struct Globbing<'a> {
    trees: &'a Trees<'a>,
    listed: usize,
    more: bool,
}

impl Globbing<'_> {
    /// Component by component; `None` when there is no time left.
    fn expand(&mut self, abs: &str) -> Option<Vec<String>> {
        let parts: Vec<&str> = abs.split('/').filter(|part| !part.is_empty()).collect();
        if parts.len() > MAX_PARTS {
            return None;
        }
        let mut names = vec![String::new()];
        for part in parts {
            let pattern = Pattern::new(part);
            names = match pattern.literal() {
                Some(literal) => names.into_iter().map(|name| format!("{name}/{literal}")).collect(),
                None => self.listed(&names, &pattern)?,
            };
        }
        names.retain(|name| real::resolve(self.trees.open, name, Intent::Entry).target.is_some());
        Some(names)
    }

    fn listed(&mut self, dirs: &[String], pattern: &Pattern) -> Option<Vec<String>> {
        let mut found = Vec::new();
        for dir in dirs {
            if Instant::now() >= self.trees.deadline {
                return None;
            }
            let from = if dir.is_empty() { "/" } else { dir.as_str() };
            let Some(target) = real::resolve(self.trees.open, from, Intent::Read).target else { continue };
            if target.look.kind != Kind::Directory {
                continue;
            }
            let left = MAX_ENTRIES.saturating_sub(self.listed);
            let Ok(entries) = list(self.trees.open, std::os::fd::AsFd::as_fd(&target.fd), left) else {
                self.more = true;
                continue;
            };
            self.listed += entries.list.len();
            self.more |= entries.more || entries.unnamed > 0;
            found.extend(entries.list.iter().filter(|e| pattern.matches(&e.name)).map(|e| format!("{dir}/{}", e.name)));
        }
        self.more |= found.len() > MAX_MATCHES;
        found.truncate(MAX_MATCHES);
        Some(found)
    }
}
