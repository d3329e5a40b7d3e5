//! Keeps the store bounded: the oldest steps go first, and are named as gone.

use std::collections::BTreeSet;

use super::record::{State, Step};
use super::{Undo, UndoError};

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Bytes of content.
    pub bytes: u64,
    /// Steps.
    pub steps: usize,
}

impl Default for Keep {
    /// 2 GB and 5,000 steps.
    fn default() -> Self {
        Self { bytes: 2 << 30, steps: 5_000 }
    }
}

/// What was dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Numbers of the steps that can no longer be undone.
    pub steps: Vec<u64>,
    /// Contents removed.
    pub contents: usize,
    /// Bytes freed.
    pub bytes: u64,
}

impl Undo {
    /// Drops the oldest finished steps until what is left fits `keep`, and all content that no step needs.
    ///
    /// # Errors
    /// If the store cannot be read or written.
    pub fn prune(&self, keep: Keep) -> Result<Pruned, UndoError> {
        let steps = self.steps()?;
        let sizes: std::collections::BTreeMap<String, u64> =
            self.blobs().all()?.into_iter().map(|blob| (blob.sha256, blob.size)).collect();
        let dropped = self.surplus(&steps, keep, &sizes)?;
        if !dropped.is_empty() {
            self.journal().forget(&dropped)?;
        }
        let mut needed = self.cached_contents();
        for step in steps.iter().filter(|step| !dropped.contains(&step.number)) {
            needed.extend(self.needs(step)?);
        }
        let mut pruned = Pruned { steps: dropped, ..Pruned::default() };
        for (name, size) in sizes {
            if !needed.contains(&name) && self.blobs().forget_settled(&name)? {
                pruned.contents += 1;
                pruned.bytes += size;
            }
        }
        Ok(pruned)
    }

    /// The oldest finished steps that are too many or too large, walking from the newest.
    fn surplus(
        &self,
        steps: &[Step],
        keep: Keep,
        sizes: &std::collections::BTreeMap<String, u64>,
    ) -> Result<Vec<u64>, UndoError> {
        let mut held = BTreeSet::new();
        let mut bytes = 0_u64;
        let mut dropped = Vec::new();
        for (count, step) in steps.iter().rev().enumerate() {
            let needs = self.needs(step)?;
            let more: u64 = needs.difference(&held).filter_map(|name| sizes.get(name)).sum();
            let over = count >= keep.steps || bytes.saturating_add(more) > keep.bytes || !dropped.is_empty();
            if over && step.finished {
                dropped.push(step.number);
            } else {
                bytes = bytes.saturating_add(more);
                held.extend(needs);
            }
        }
        dropped.reverse();
        Ok(dropped)
    }

    /// The contents without which `step` could not be taken back.
    fn needs(&self, step: &Step) -> Result<BTreeSet<String>, UndoError> {
        let mut needs: BTreeSet<String> = step
            .changes
            .iter()
            .filter_map(|recorded| match &recorded.change.before {
                State::File { sha256, .. } => Some(sha256.clone()),
                State::Absent | State::Link { .. } | State::Dir { .. } | State::Unkept { .. } => None,
            })
            .collect();
        if !step.finished {
            for tree in step.trees.values() {
                needs.insert(tree.clone());
                needs.extend(self.manifest_contents(tree)?);
            }
        }
        Ok(needs)
    }
}
