//! What a command changed: the writable roots are compared before and after it.
//!
//! Only files whose size, times or inode changed are read again; what an earlier scan learned is kept
//! beside the journal. Content is kept within [`Limits`]; what is beyond them is named, and the step is
//! then only partly restorable. Directories that are made again by a tool are left out.

mod scan;

use std::collections::{BTreeMap, BTreeSet};

use tollgate_call::places::protection;

use super::record::{Change, Meta, State};
use super::snapshot::{Roots, look};
use super::{Undo, UndoError};
use crate::files::replace::temp_name;
use crate::held::{Spot, open_root};
use scan::Manifest;

/// How much of a tree is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Files, links and directories in all.
    pub entries: usize,
    /// Bytes of content in all.
    pub bytes: u64,
    /// Bytes of one file.
    pub file_bytes: u64,
}

impl Default for Limits {
    /// 10,000 entries, 64 MB in all, 16 MB a file.
    fn default() -> Self {
        Self { entries: 10_000, bytes: 64 << 20, file_bytes: 16 << 20 }
    }
}

/// The trees as they were when a command began; to be compared by [`Undo::after_command`].
#[derive(Debug)]
#[must_use = "a step that has begun must be ended"]
pub struct TreeSnapshot {
    step: u64,
    limits: Limits,
    before: Vec<Manifest>,
}

impl TreeSnapshot {
    /// The number of the undo step.
    pub const fn step(&self) -> u64 {
        self.step
    }
}

/// What a command changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeChange {
    /// The number of the undo step.
    pub step: u64,
    /// The names that changed.
    pub changed: Vec<Spot>,
    /// How they changed, in the same order.
    pub changes: Vec<Change>,
    /// What undo could not restore, in words; empty if it can restore all of it.
    pub partly: Vec<String>,
}

impl Undo {
    /// Keeps the trees beneath `roots` and records that a command begins.
    ///
    /// # Errors
    /// If the store cannot be written; the command must then not run.
    pub fn before_command(&self, roots: &[String], limits: Limits, meta: Meta) -> Result<TreeSnapshot, UndoError> {
        let mut before = Vec::new();
        let mut trees = BTreeMap::new();
        for root in roots {
            let manifest = self.scan(root, limits)?;
            let blob = self.keep_manifest(&manifest)?;
            trees.insert(root.clone(), blob);
            before.push(manifest);
        }
        let begun = self.begin_trees(meta, Vec::new(), trees)?;
        Ok(TreeSnapshot { step: begun.step, limits, before })
    }

    /// Compares the trees with what they were, and ends the step.
    ///
    /// # Errors
    /// If a root or the store cannot be read; the step then stays unfinished.
    pub fn after_command(&self, snapshot: TreeSnapshot) -> Result<TreeChange, UndoError> {
        let mut changes = Vec::new();
        let mut partly = BTreeSet::new();
        for before in &snapshot.before {
            let after = self.rescan(before, snapshot.limits)?;
            compare(before, &after, &mut changes, &mut partly)?;
        }
        let changed = changes.iter().map(Change::spot).collect();
        let partly: Vec<String> = partly.into_iter().collect();
        self.end_with(snapshot.step, changes.clone(), partly.clone())?;
        Ok(TreeChange { step: snapshot.step, changed, changes, partly })
    }

    /// The contents that the manifest `sha256` names; none if it is lost.
    pub(super) fn manifest_contents(&self, sha256: &str) -> Result<BTreeSet<String>, UndoError> {
        match self.read_manifest(sha256) {
            Ok(manifest) => Ok(manifest.contents().map(str::to_owned).collect()),
            Err(UndoError::Lost(_)) => Ok(BTreeSet::new()),
            Err(error) => Err(error),
        }
    }

    /// What an unfinished command changed so far, from the manifests that its beginning left.
    pub(super) fn unfinished(&self, trees: &BTreeMap<String, String>) -> Result<Vec<Change>, UndoError> {
        let mut changes = Vec::new();
        for sha256 in trees.values() {
            let before = self.read_manifest(sha256)?;
            let after = self.scan(&before.root, Limits::default())?;
            compare(&before, &after, &mut changes, &mut BTreeSet::new())?;
        }
        Ok(changes)
    }
}

fn compare(
    before: &Manifest,
    after: &Manifest,
    changes: &mut Vec<Change>,
    partly: &mut BTreeSet<String>,
) -> Result<(), UndoError> {
    partly.extend(before.partly.iter().chain(&after.partly).cloned());
    let gone = before.skipped.iter().filter(|dir| !after.skipped.contains(*dir) && !after.cut);
    partly.extend(gone.map(|dir| format!("`{dir}` was removed; it was not kept")));
    let root = open_root(&before.root)?;
    for path in before.entries.keys().chain(after.entries.keys().filter(|path| !before.entries.contains_key(*path))) {
        let (old, new) = (before.entries.get(path), after.entries.get(path));
        if old == new || (old.is_none() && (not_seen(before, path) || before.is_skipped(path))) {
            continue;
        }
        let spot = Spot { root: before.root.clone(), path: path.clone() };
        let was = old.map_or(State::Absent, |entry| entry.state.clone());
        let is = match new {
            Some(entry) => entry.state.clone(),
            // A scan that was cut short has not seen everything: ask for this one.
            None if after.cut => look(std::os::fd::AsFd::as_fd(&root), &spot)?.0,
            None => State::Absent,
        };
        if let State::Unkept { why } = &was {
            partly.insert(format!("`{path}`: {why}"));
        }
        if was != is || matches!(was, State::Unkept { .. }) {
            changes.push(change(spot, was, is)?);
        }
    }
    Ok(())
}

/// Whether a name may have been there, though the scan has no entry of it.
fn not_seen(scan: &Manifest, path: &str) -> bool {
    scan.blind || (scan.cut && protection(path).is_none())
}

fn change(spot: Spot, before: State, after: State) -> Result<Change, UndoError> {
    Ok(Change {
        root: spot.root,
        path: spot.path,
        before,
        after,
        temp: Some(temp_name()?),
        made: Vec::new(),
        undoes: Vec::new(),
    })
}

/// Removes what a crash left beside the names of `changes`.
pub(super) fn sweep(changes: &[Change]) {
    let mut roots = Roots::default();
    for change in changes {
        let Some(temp) = &change.temp else { continue };
        let Ok(root) = roots.at(&change.root) else { continue };
        let (dir, _) = change.path.rsplit_once('/').unwrap_or(("", &change.path));
        let Ok(dir) = crate::held::open_dir_beneath(root, dir) else { continue };
        // Mostly there is nothing; what cannot be removed is only litter.
        rustix::fs::unlinkat(&dir, temp.as_str(), rustix::fs::AtFlags::empty()).unwrap_or_default();
    }
}
