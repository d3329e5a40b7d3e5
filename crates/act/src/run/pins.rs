//! Protected names inside the writable roots: pinned or masked in the box, unless the command names them.

use std::path::{Path, PathBuf};

use tollgate_call::places::{clean, is_beneath, protection};
use tollgate_gate::Named;

/// Entries looked at, over all roots.
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
/// than 8 directories, or beyond 20,000 entries, is not seen.
pub(super) fn of(roots: &[String], named: &Named) -> Pins {
    let mut pins = Pins::default();
    let mut left = MAX_ENTRIES;
    for root in roots {
        collect(Path::new(root), "", named, &mut pins, &mut left, 0);
    }
    pins
}

fn collect(dir: &Path, rel: &str, named: &Named, pins: &mut Pins, left: &mut usize, depth: usize) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.map_while(Result::ok) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else { continue };
        let rel = if rel.is_empty() { name.clone() } else { format!("{rel}/{name}") };
        let path = entry.path();
        // A repository is worked in; what in it is obeyed is pinned by itself.
        let repository = name == ".git" && kind.is_dir();
        match protection(&rel).filter(|_| !repository && !kind.is_symlink()) {
            Some(why) if why.is_secret() && !reads(&path, named) => pins.masked.push(path),
            Some(why) if !why.is_secret() && !is_named(&path, named) => pins.pinned.push(path),
            Some(_) | None if kind.is_dir() && depth < MAX_DEPTH && !NOT_ENTERED.contains(&name.as_str()) => {
                collect(&path, &rel, named, pins, left, depth + 1);
            }
            Some(_) | None => {}
        }
    }
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
