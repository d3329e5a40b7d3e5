//! The walk of glob and grep: through held directories, links never followed, ignore files heeded.

use std::io::{BufRead, BufReader, Read};
use std::time::Instant;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tollgate_survey::{ScopedDir, Sort};

use super::replace::TEMP_PREFIX;

/// Ignore files that are heeded, the later ones stronger.
const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Bytes of an ignore file that are read.
const IGNORE_CAP: u64 = 256 * 1024;
/// Directories below the start.
const MAX_DEPTH: usize = 64;

/// Where a walk ends at the latest.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Entries looked at.
    pub entries: usize,
    /// The instant to stop at.
    pub deadline: Instant,
}

/// Whether ignore files and `.git` are heeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ignored {
    Skip,
    Visit,
}

/// What a visitor wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    On,
    Stop,
}

/// One file or link met on the walk.
pub(super) struct Met<'a> {
    pub(super) dir: &'a ScopedDir,
    pub(super) name: &'a str,
    /// Path below the start.
    pub(super) rel: &'a str,
    pub(super) sort: Sort,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    pub(super) cut: bool,
    pub(super) unreadable: u64,
}

/// Visits every entry beneath `dir` in order of names.
pub(super) fn walk(dir: &ScopedDir, bounds: Bounds, ignored: Ignored, visit: &mut dyn FnMut(&Met<'_>) -> Next) -> Told {
    let mut walk = Walk { bounds, ignored, visit, left: bounds.entries, told: Told::default(), ignores: Vec::new() };
    walk.descend(dir, "", 0);
    walk.told
}

struct Walk<'v> {
    bounds: Bounds,
    ignored: Ignored,
    visit: &'v mut dyn FnMut(&Met<'_>) -> Next,
    left: usize,
    told: Told,
    ignores: Vec<Gitignore>,
}

impl Walk<'_> {
    fn descend(&mut self, dir: &ScopedDir, rel: &str, depth: usize) -> Next {
        if depth > MAX_DEPTH {
            self.told.cut = true;
            return Next::On;
        }
        let Ok(entries) = dir.entries(self.left) else {
            self.told.unreadable += 1;
            return Next::On;
        };
        self.told.cut |= entries.more;
        let rules = (self.ignored == Ignored::Skip).then(|| rules_of(dir, rel)).flatten();
        let pushed = rules.is_some();
        self.ignores.extend(rules);
        let next = self.each(dir, rel, depth, &entries.list);
        if pushed {
            self.ignores.pop();
        }
        next
    }

    fn each(&mut self, dir: &ScopedDir, rel: &str, depth: usize, list: &[tollgate_survey::Entry]) -> Next {
        for entry in list {
            if self.left == 0 || Instant::now() >= self.bounds.deadline {
                self.told.cut = true;
                return Next::Stop;
            }
            self.left -= 1;
            let below = if rel.is_empty() { entry.name.clone() } else { format!("{rel}/{}", entry.name) };
            if self.meet(dir, &below, entry, depth) == Next::Stop {
                return Next::Stop;
            }
        }
        Next::On
    }

    fn meet(&mut self, dir: &ScopedDir, rel: &str, entry: &tollgate_survey::Entry, depth: usize) -> Next {
        let directory = entry.sort == Sort::Directory;
        if entry.name.starts_with(TEMP_PREFIX) || self.is_ignored(rel, &entry.name, directory) {
            return Next::On;
        }
        let met = Met { dir, name: &entry.name, rel, sort: entry.sort };
        if (self.visit)(&met) == Next::Stop {
            self.told.cut = true;
            return Next::Stop;
        }
        if !directory {
            return Next::On;
        }
        match dir.child(&entry.name) {
            Ok(child) => self.descend(&child, rel, depth + 1),
            Err(_) => {
                self.told.unreadable += 1;
                Next::On
            }
        }
    }

    fn is_ignored(&self, rel: &str, name: &str, directory: bool) -> bool {
        if self.ignored == Ignored::Visit {
            return false;
        }
        if directory && name == ".git" {
            return true;
        }
        // The innermost ignore file that says anything wins.
        let said = self.ignores.iter().rev().map(|rules| rules.matched(rel, directory)).find(|said| !said.is_none());
        said.is_some_and(|said| said.is_ignore())
    }
}

/// The rules of the ignore files of one directory, read through its handle.
fn rules_of(dir: &ScopedDir, rel: &str) -> Option<Gitignore> {
    let mut rules = GitignoreBuilder::new(rel);
    let mut any = false;
    for name in IGNORE_FILES {
        let Ok(file) = dir.open_regular(name) else { continue };
        any = true;
        for line in BufReader::new(file.take(IGNORE_CAP)).lines().map_while(Result::ok) {
            // A rule that does not parse hides nothing, as in git.
            drop(rules.add_line(None, &line));
        }
    }
    if any { rules.build().ok() } else { None }
}
