//! A workspace, a state directory outside it, and the file tools over both.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tollgate_act::files::{ChangeError, Changed, Record};
use tollgate_act::files::{delete, edit, glob, grep, read, write};
use tollgate_act::undo::{How, Meta, Restored, Undo, UndoError, Which};
use tollgate_act::{Held, HeldError, Spot};
use tollgate_call::places::Layout;
use tollgate_survey::{Intent, PathError, Root, ScopedPath};

pub(crate) struct Room {
    _dir: tempfile::TempDir,
    pub(crate) base: PathBuf,
    pub(crate) root: Root,
    pub(crate) undo: Undo,
}

pub(crate) fn bounds() -> tollgate_act::files::Bounds {
    tollgate_act::files::Bounds { entries: 100_000, deadline: Instant::now() + Duration::from_secs(60) }
}

pub(crate) fn meta(run: &str, tool: &str) -> Meta {
    Meta { run: run.into(), call: "c".into(), tool: tool.into(), at_ms: 1 }
}

impl Room {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("w")).unwrap();
        let (root, undo) = Self::open(&base);
        Self { _dir: dir, base, root, undo }
    }

    pub(crate) fn open(base: &Path) -> (Root, Undo) {
        let w = base.join("w");
        let layout = Layout::of(w.to_str().unwrap(), base.join("home").to_str().unwrap());
        (Root::open(w.to_str().unwrap(), &layout).unwrap(), Undo::open(&base.join("state")).unwrap())
    }

    pub(crate) fn w(&self, rel: &str) -> PathBuf {
        self.base.join("w").join(rel)
    }

    pub(crate) fn put(&self, rel: &str, content: impl AsRef<[u8]>) {
        let path = self.w(rel);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn text(&self, rel: &str) -> String {
        std::fs::read_to_string(self.w(rel)).unwrap()
    }

    pub(crate) fn there(&self, rel: &str) -> bool {
        self.w(rel).symlink_metadata().is_ok()
    }

    pub(crate) fn scope(&self, rel: &str, intent: Intent) -> Result<ScopedPath, PathError> {
        self.root.scope(rel, intent)
    }

    pub(crate) fn held(&self, rel: &str, intent: Intent) -> Held {
        Held::of(self.scope(rel, intent).unwrap()).unwrap()
    }

    pub(crate) fn record(&self, run: &str) -> Record<'_> {
        Record { undo: &self.undo, meta: meta(run, "tool") }
    }

    pub(crate) fn write(&self, rel: &str, content: &str) -> Result<Changed, ChangeError> {
        self.write_in("r", rel, content)
    }

    pub(crate) fn write_in(&self, run: &str, rel: &str, content: &str) -> Result<Changed, ChangeError> {
        write::write(self.held(rel, Intent::Write), content.as_bytes(), &self.record(run))
    }

    pub(crate) fn edit(&self, rel: &str, old: &str, new: &str) -> Result<Changed, ChangeError> {
        edit::edit(self.held(rel, Intent::Write), old, new, edit::Which::Only, &self.record("r"))
    }

    pub(crate) fn delete(&self, rel: &str) -> Result<Changed, ChangeError> {
        delete::delete(&self.held(rel, Intent::Entry), &self.record("r"))
    }

    pub(crate) fn read(&self, rel: &str) -> Result<String, HeldError> {
        self.lines(rel, None, None).map(|text| text.text)
    }

    pub(crate) fn lines(&self, rel: &str, offset: Option<u64>, limit: Option<u64>) -> Result<read::Text, HeldError> {
        read::read(&self.held(rel, Intent::Read), read::Lines::of(offset, limit))
    }

    pub(crate) fn glob(&self, pattern: &str) -> String {
        glob::glob(&self.root.scope_dir(".").unwrap(), pattern, bounds()).unwrap().text
    }

    pub(crate) fn grep(&self, pattern: &str) -> String {
        let query = grep::Query { pattern, glob: None, secret: &|_| false };
        grep::grep(&self.root.scope_dir(".").unwrap(), query, bounds()).unwrap().text
    }

    pub(crate) fn undo(&self, which: &Which) -> Result<Restored, UndoError> {
        self.undo.undo(which, How::Careful, meta("operator", "undo"))
    }

    pub(crate) fn spot(&self, rel: &str) -> Spot {
        Spot { root: self.base.join("w").to_str().unwrap().into(), path: rel.into() }
    }

    /// Everything in the workspace: names, kinds and contents.
    pub(crate) fn inventory(&self) -> Vec<String> {
        let mut all = Vec::new();
        list(&self.base.join("w"), "", &mut all);
        all
    }
}

fn list(dir: &Path, rel: &str, all: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(dir).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let below = format!("{rel}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            all.push(format!("{below}/"));
            list(&entry.path(), &below, all);
        } else if kind.is_symlink() {
            all.push(format!("{below} -> {}", std::fs::read_link(entry.path()).unwrap().display()));
        } else {
            let content = std::fs::read(entry.path()).unwrap();
            all.push(format!("{below} = {}", String::from_utf8_lossy(&content)));
        }
    }
}
