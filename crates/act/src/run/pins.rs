//! Protected names inside the writable roots: pinned or masked in the box, unless the command names them.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use tollgate_call::places::{clean, is_beneath, protection};
use tollgate_gate::Named;

/// Entries looked at beneath the directories of all roots. A root's own entries are all looked at, and what lies
/// higher is looked at first: no number of other files unpins `.git` or the agents' settings there.
const MAX_ENTRIES: usize = 20_000;
const MAX_DEPTH: usize = 8;
/// Never looked into: large, and nothing in them is obeyed by name.
const NOT_ENTERED: &[&str] = &["node_modules", "target", "objects", ".venv", "venv", "__pycache__"];

/// What the box keeps from a command inside its own roots.
#[derive(Debug, Default)]
pub(super) struct Pins {
    /// Readable, not writable.
    pub(super) pinned: Vec<PathBuf>,
    /// Not readable.
    pub(super) masked: Vec<PathBuf>,
}

impl Pins {
    /// A note, where an output suggests that a masked name was missed.
    pub(super) fn masked_note(&self, text: &str) -> Option<String> {
        let missed = |path: &&PathBuf| path.file_name().is_some_and(|name| text.contains(&*name.to_string_lossy()));
        let name = self.masked.iter().find(missed)?;
        Some(format!("`{}` is masked in the box; a command that names it asks for it", name.display()))
    }
}

/// The protected names beneath `roots` that exist and that `named` does not name.
///
/// # Security
/// Names that do not exist yet cannot be pinned; the trees are compared after the command instead. What lies deeper
/// than 8 directories, or beyond 20,000 entries beneath the roots' own, is not seen.
pub(super) fn of(roots: &[String], named: &Named) -> Pins {
    let mut pins = Pins::default();
    let mut waiting: VecDeque<Waiting> = roots.iter().map(Waiting::root).collect();
    let mut left = MAX_ENTRIES;
    while let Some(dir) = waiting.pop_front() {
        collect(&dir, named, &mut pins, &mut left, &mut waiting);
    }
    pins
}

/// A directory that is still to be looked into.
struct Waiting {
    path: PathBuf,
    rel: String,
    depth: usize,
}

impl Waiting {
    fn root(path: &String) -> Self {
        Self { path: path.into(), rel: String::new(), depth: 0 }
    }
}

fn collect(dir: &Waiting, named: &Named, pins: &mut Pins, left: &mut usize, waiting: &mut VecDeque<Waiting>) {
    let Ok(entries) = std::fs::read_dir(&dir.path) else { return };
    for entry in entries.map_while(Result::ok) {
        if dir.depth > 0 && !is_repository(&dir.rel) {
            let Some(fewer) = left.checked_sub(1) else { return };
            *left = fewer;
        }
        let Ok(kind) = entry.file_type() else { continue };
        // Only compared: a name that is not UTF-8 is no protected name, but may lead to some.
        let name = entry.file_name().to_string_lossy().into_owned();
        let rel = if dir.rel.is_empty() { name.clone() } else { format!("{}/{name}", dir.rel) };
        let path = entry.path();
        // A repository is worked in; what in it is obeyed is pinned by itself.
        let repository = name == ".git" && kind.is_dir();
        match protection(&rel).filter(|_| !repository && !kind.is_symlink()) {
            Some(why) if why.is_secret() && !reads(&path, named) => pins.masked.push(path),
            Some(why) if !why.is_secret() && !is_named(&path, named) => pins.pinned.push(path),
            Some(_) | None if kind.is_dir() && dir.depth < MAX_DEPTH && !NOT_ENTERED.contains(&name.as_str()) => {
                waiting.push_back(Waiting { path, rel, depth: dir.depth + 1 });
            }
            Some(_) | None => {}
        }
    }
}

/// The root's own repository: its entries are few, and what it obeys is among them.
fn is_repository(rel: &str) -> bool {
    rel == ".git"
}

/// Whether the command says that it changes `path`, or something in it or above it.
pub(super) fn is_named(path: &Path, named: &Named) -> bool {
    let path = path.to_string_lossy();
    let configuration = named.configures && path.contains("/.git/") && path.ends_with("/config");
    configuration || any(&named.writes, &path)
}

fn reads(path: &Path, named: &Named) -> bool {
    let path = path.to_string_lossy();
    any(&named.reads, &path) || any(&named.writes, &path)
}

fn any(names: &[String], path: &str) -> bool {
    names.iter().map(|name| clean(name)).any(|name| name == path || is_beneath(&name, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_text_hides_nothing_beneath_it() {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = tempfile::tempdir().unwrap();
        let odd = dir.path().join(std::ffi::OsStr::from_bytes(b"bad\xff"));
        std::fs::create_dir_all(odd.join(".git/hooks")).unwrap();
        std::fs::write(odd.join(".env"), "").unwrap();
        let pins = of(&[dir.path().to_str().unwrap().to_owned()], &Named::default());
        assert_eq!((pins.pinned, pins.masked), (vec![odd.join(".git/hooks")], vec![odd.join(".env")]));
    }

    #[test]
    fn a_flood_of_files_unpins_nothing_of_the_root() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
        for name in ["a", "b"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
            for n in 0..=MAX_ENTRIES {
                std::fs::File::create(dir.path().join(name).join(n.to_string())).unwrap();
            }
        }
        std::fs::write(dir.path().join(".git/config"), "").unwrap();
        let pins = of(&[dir.path().to_str().unwrap().to_owned()], &Named::default());
        let mut pinned = pins.pinned;
        pinned.sort();
        assert_eq!(pinned, [dir.path().join(".git/config"), dir.path().join(".git/hooks")]);
    }
}
