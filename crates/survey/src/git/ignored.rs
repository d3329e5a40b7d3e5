//! Which paths a repository ignores.

use std::collections::BTreeMap;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tollgate_call::places::strip_dir;

use super::open::read_small;
use crate::sys::Opener;

const MAX_TEXT: u64 = 256 << 10;
const MAX_LINES: usize = 5_000;
/// Directories whose rules are kept at most; beyond, paths count as not ignored.
const MAX_DIRS: usize = 2_000;

/// The ignore rules of one work tree, read as they are needed.
#[derive(Debug)]
pub(crate) struct Ignores {
    open: Opener,
    top: String,
    exclude: Gitignore,
    by_dir: BTreeMap<String, Gitignore>,
}

impl Ignores {
    pub(crate) fn new(open: Opener, top: &str, exclude: &str) -> Self {
        let exclude = read(open, top, exclude);
        Self { open, top: top.to_owned(), exclude, by_dir: BTreeMap::new() }
    }

    /// Whether the path, or a directory above it, is ignored. `rel` is relative to the work tree.
    pub(crate) fn is_ignored(&mut self, rel: &str, is_dir: bool) -> bool {
        let ends = rel.match_indices('/').map(|(at, _)| at);
        let above: Vec<String> = ends.filter_map(|end| rel.get(..end)).map(str::to_owned).collect();
        above.iter().any(|dir| self.itself(dir, true)) || self.itself(rel, is_dir)
    }

    /// The innermost rule that speaks of the path decides.
    fn itself(&mut self, rel: &str, is_dir: bool) -> bool {
        let mut dir = rel;
        while let Some((parent, _)) = dir.rsplit_once('/').or(if dir.is_empty() { None } else { Some(("", dir)) }) {
            let below = strip_dir(&format!("/{rel}"), &format!("/{parent}")).unwrap_or(rel).to_owned();
            match self.rules(parent).matched(&below, is_dir) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => dir = parent,
            }
        }
        self.exclude.matched(rel, is_dir).is_ignore()
    }

    fn rules(&mut self, dir: &str) -> &Gitignore {
        if self.by_dir.len() >= MAX_DIRS && !self.by_dir.contains_key(dir) {
            return self.by_dir.entry(String::new()).or_insert_with(Gitignore::empty);
        }
        let (open, top) = (self.open, &self.top);
        self.by_dir.entry(dir.to_owned()).or_insert_with(|| {
            let place = if dir.is_empty() { top.clone() } else { format!("{top}/{dir}") };
            read(open, &place, &format!("{place}/.gitignore"))
        })
    }
}

fn read(open: Opener, dir: &str, path: &str) -> Gitignore {
    let Some(text) = read_small(open, path, MAX_TEXT) else { return Gitignore::empty() };
    let text = String::from_utf8_lossy(&text);
    let mut builder = GitignoreBuilder::new(dir);
    for line in text.lines().take(MAX_LINES) {
        if builder.add_line(None, line).is_err() {
            // A rule that is not understood ignores nothing.
            continue;
        }
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}
