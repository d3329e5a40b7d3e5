//! One scan of a tree: states of all names, content kept, earlier knowledge reused.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use serde::{Deserialize, Serialize};
use tollgate_call::places::protection;

use super::super::blobs::Durable;
use super::super::record::State;
use super::super::snapshot::link_to;
use super::super::{Undo, UndoError};
use super::Limits;
use crate::files::replace::TEMP_PREFIX;
use crate::held::{Identity, open_root};

/// Directories that tools make again, by name.
const REGENERABLE: &[&str] =
    &["node_modules", "__pycache__", ".venv", "venv", ".tox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".gradle"];
/// Within `.git`: large, never changed in place.
const GIT_STORES: &[&str] = &["objects", "lfs"];
/// Marks of a build directory. Anybody can set one: they count for nothing in hidden directories, where names that are
/// obeyed live, and in a directory whose content was kept before.
const BUILD_MARKS: &[&str] = &["CACHEDIR.TAG", ".rustc_info.json"];
/// A file that changed this shortly before a scan may change again within the same time stamp.
const RACY_NS: i128 = 20_000_000;
/// Up to so many new contents are made durable one by one; more, all at once.
const SYNC_ONE_BY_ONE: usize = 16;
const MAX_DEPTH: usize = 128;
/// Names looked at in all. Beyond the limit of entries only protected ones are recorded: a flood of others hides none.
const MAX_LOOKED_AT: usize = 200_000;

/// What is compared to see whether a file changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Key {
    ino: u64,
    size: i64,
    mode: u32,
    mtime_ns: i128,
    ctime_ns: i128,
}

impl Key {
    fn of(stat: &Stat) -> Self {
        Self {
            ino: stat.st_ino,
            size: stat.st_size,
            mode: stat.st_mode,
            mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
            ctime_ns: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        }
    }
}

fn nanoseconds(seconds: i64, rest: impl Into<i128>) -> i128 {
    i128::from(seconds) * 1_000_000_000 + rest.into()
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    pub(super) state: State,
    key: Key,
}

impl PartialEq for Entry {
    /// Equal content is equal, whatever the times; without content, only an untouched file is equal.
    fn eq(&self, other: &Self) -> bool {
        match (&self.state, &other.state) {
            (State::Unkept { .. }, State::Unkept { .. }) => self.key == other.key,
            (a, b) => a == b,
        }
    }
}

/// Everything beneath one root at one moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    v: u32,
    pub(super) root: String,
    taken_ns: i128,
    pub(super) entries: BTreeMap<String, Entry>,
    pub(super) skipped: BTreeSet<String>,
    pub(super) partly: BTreeSet<String>,
    pub(super) cut: bool,
    /// Whether even protected names were not all looked for.
    #[serde(default)]
    pub(super) blind: bool,
}

impl Manifest {
    /// Whether `path` lies in a directory that was left out.
    pub(super) fn is_skipped(&self, path: &str) -> bool {
        let mut at = path;
        while let Some((above, _)) = at.rsplit_once('/') {
            if self.skipped.contains(above) {
                return true;
            }
            at = above;
        }
        self.skipped.contains(path)
    }

    /// The contents that it names.
    pub(super) fn contents(&self) -> impl Iterator<Item = &str> {
        self.entries.values().filter_map(|entry| match &entry.state {
            State::File { sha256, .. } => Some(sha256.as_str()),
            State::Absent | State::Link { .. } | State::Dir { .. } | State::Unkept { .. } => None,
        })
    }
}

impl Undo {
    /// Scans the tree beneath `root` and keeps its content.
    pub(super) fn scan(&self, root: &str, limits: Limits) -> Result<Manifest, UndoError> {
        let known = self.cached(root).filter(|known| known.root == root);
        self.scan_from(known.as_ref(), root, limits)
    }

    /// Scans the tree of `before` again.
    pub(super) fn rescan(&self, before: &Manifest, limits: Limits) -> Result<Manifest, UndoError> {
        self.scan_from(Some(before), &before.root, limits)
    }

    fn scan_from(&self, known: Option<&Manifest>, root: &str, limits: Limits) -> Result<Manifest, UndoError> {
        let made = Manifest {
            v: 1,
            root: root.to_owned(),
            taken_ns: super::super::blobs::now_ns(),
            entries: BTreeMap::new(),
            skipped: BTreeSet::new(),
            partly: BTreeSet::new(),
            cut: false,
            blind: false,
        };
        let mut scan = Scan { undo: self, limits, known, made, bytes: 0, looked_at: 0, new: Vec::new() };
        let dir = open_root(root)?;
        scan.descend(dir.as_fd(), "", 0)?;
        let (made, new) = (scan.made, scan.new);
        self.settle(&new)?;
        self.remember(&made)?;
        Ok(made)
    }

    fn settle(&self, new: &[String]) -> Result<(), UndoError> {
        if new.len() > SYNC_ONE_BY_ONE {
            return self.blobs().flush();
        }
        for name in new {
            rustix::fs::fsync(self.blobs().open(name)?).map_err(UndoError::store)?;
        }
        Ok(())
    }

    pub(super) fn keep_manifest(&self, manifest: &Manifest) -> Result<String, UndoError> {
        let bytes = serde_json::to_vec(manifest).map_err(|error| UndoError::Store(error.into()))?;
        Ok(self.blobs().keep(&mut bytes.as_slice(), Durable::Now)?.sha256)
    }

    pub(super) fn read_manifest(&self, sha256: &str) -> Result<Manifest, UndoError> {
        read_manifest(self.blobs().open(sha256)?).map_err(UndoError::Store)
    }
}

/// What the newest scan of each root learned. Only knowledge: without it, the next scan reads everything.
impl Undo {
    fn cached(&self, root: &str) -> Option<Manifest> {
        let file = self.cache_file(&cache_name(root), OFlags::RDONLY).ok()?;
        read_manifest(file).ok()
    }

    fn remember(&self, manifest: &Manifest) -> Result<(), UndoError> {
        let temp = crate::files::replace::temp_name()?;
        let file = self.cache_file(&temp, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL).map_err(UndoError::store)?;
        let mut out = std::io::BufWriter::new(file);
        serde_json::to_writer(&mut out, manifest).map_err(|error| UndoError::Store(error.into()))?;
        std::io::Write::flush(&mut out).map_err(UndoError::store)?;
        let dir = self.trees();
        rustix::fs::renameat(dir, temp, dir, cache_name(&manifest.root)).map_err(UndoError::store)
    }

    fn cache_file(&self, name: &str, flags: OFlags) -> rustix::io::Result<File> {
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(self.trees(), name, flags, Mode::from_raw_mode(0o600)).map(File::from)
    }

    /// Contents that the newest scans name: dropping them would only make the next scan copy them again.
    pub(in crate::undo) fn cached_contents(&self) -> BTreeSet<String> {
        let (names, _) = list(self.trees()).unwrap_or_default();
        let files = names.iter().filter_map(|name| self.cache_file(name, OFlags::RDONLY).ok());
        let read = files.filter_map(|file| read_manifest(file).ok());
        read.flat_map(|manifest| manifest.contents().map(str::to_owned).collect::<Vec<_>>()).collect()
    }
}

/// Read whole before it is parsed: parsing from a reader goes byte by byte and takes several times as long.
fn read_manifest(mut file: File) -> std::io::Result<Manifest> {
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(serde_json::from_slice(&bytes)?)
}

fn cache_name(root: &str) -> String {
    use sha2::Digest as _;
    super::super::blobs::hex(&sha2::Sha256::digest(root.as_bytes()))
}

struct Scan<'a> {
    undo: &'a Undo,
    limits: Limits,
    known: Option<&'a Manifest>,
    made: Manifest,
    bytes: u64,
    looked_at: usize,
    new: Vec<String>,
}

impl Scan<'_> {
    fn descend(&mut self, dir: BorrowedFd<'_>, rel: &str, depth: usize) -> Result<(), UndoError> {
        let Ok((names, unnamed)) = list(dir) else {
            self.partly(format!("`{rel}` could not be read"));
            return Ok(());
        };
        if unnamed > 0 {
            self.partly(format!("`{rel}/`: {unnamed} name(s) that are not UTF-8 were not kept"));
        }
        for name in names {
            if self.made.blind {
                return Ok(());
            }
            if name.starts_with(TEMP_PREFIX) {
                continue;
            }
            let below = if rel.is_empty() { name.clone() } else { format!("{rel}/{name}") };
            self.meet(dir, &name, below, depth)?;
        }
        Ok(())
    }

    fn meet(&mut self, dir: BorrowedFd<'_>, name: &str, rel: String, depth: usize) -> Result<(), UndoError> {
        // Gone again since the listing: not there, then.
        let Ok(stat) = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(()) };
        self.count();
        if self.is_passed_over(&rel) && FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Ok(());
        }
        let key = Key::of(&stat);
        let mode = stat.st_mode & 0o7777;
        let state = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => return self.enter(dir, name, rel, Entry { state: State::Dir { mode }, key }, depth),
            FileType::RegularFile => self.regular(dir, name, &rel, &stat)?,
            FileType::Symlink => link(dir, name),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => unkept("not a file, link or directory"),
        };
        self.made.entries.insert(rel, Entry { state, key });
        Ok(())
    }

    fn enter(
        &mut self,
        dir: BorrowedFd<'_>,
        name: &str,
        rel: String,
        entry: Entry,
        depth: usize,
    ) -> Result<(), UndoError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let child = rustix::fs::openat(dir, name, flags, Mode::empty());
        if child.as_ref().is_ok_and(|child| self.is_left_out(name, &rel, child)) {
            self.made.skipped.insert(rel);
            return Ok(());
        }
        if !self.is_passed_over(&rel) {
            self.made.entries.insert(rel.clone(), entry);
        }
        match child {
            Ok(child) if depth < MAX_DEPTH => self.descend(child.as_fd(), &rel, depth + 1),
            Ok(_) | Err(_) => {
                self.partly(format!("`{rel}` could not be read"));
                Ok(())
            }
        }
    }

    fn regular(&mut self, dir: BorrowedFd<'_>, name: &str, rel: &str, stat: &Stat) -> Result<State, UndoError> {
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        if size > self.limits.file_bytes {
            return Ok(unkept("larger than is kept for a command"));
        }
        if self.bytes.saturating_add(size) > self.limits.bytes {
            self.partly(format!("more than {} MB: the rest was not kept", self.limits.bytes >> 20));
            return Ok(unkept("over the size that is kept for a command"));
        }
        self.bytes += size;
        if let Some(state) = self.known_state(rel, stat) {
            return Ok(state);
        }
        let Some(mut file) = open_same(dir, name, stat) else { return Ok(unkept("could not be read")) };
        let blob = self.undo.blobs().keep(&mut file, Durable::Later)?;
        self.new.push(blob.sha256.clone());
        Ok(State::File { sha256: blob.sha256, mode: stat.st_mode & 0o7777, size: blob.size })
    }

    /// What an earlier scan learned, if the file is certainly the same and its content is still kept.
    fn known_state(&self, rel: &str, stat: &Stat) -> Option<State> {
        let known = self.known?;
        let entry = known.entries.get(rel)?;
        let settled = entry.key.ctime_ns < known.taken_ns - RACY_NS;
        let State::File { sha256, .. } = &entry.state else { return None };
        (settled && entry.key == Key::of(stat) && self.undo.blobs().has(sha256)).then(|| entry.state.clone())
    }

    fn count(&mut self) {
        self.looked_at += 1;
        if !self.made.cut && self.made.entries.len() >= self.limits.entries {
            self.made.cut = true;
            self.partly(format!("more than {} files: the rest was not kept", self.limits.entries));
        }
        if !self.made.blind && self.looked_at > MAX_LOOKED_AT {
            self.made.blind = true;
            self.partly(format!("more than {MAX_LOOKED_AT} names: protected ones were not looked for in the rest"));
        }
    }

    fn is_passed_over(&self, rel: &str) -> bool {
        self.made.blind || (self.made.cut && protection(rel).is_none())
    }

    fn is_left_out(&self, name: &str, rel: &str, dir: &OwnedFd) -> bool {
        let git_store = GIT_STORES.contains(&name) && rel.rsplit('/').nth(1) == Some(".git");
        let hidden = rel.split('/').any(|part| part.starts_with('.'));
        let kept = self.known.is_some_and(|known| known.entries.contains_key(rel));
        REGENERABLE.contains(&name) || git_store || (!hidden && !kept && has_build_mark(dir))
    }

    fn partly(&mut self, why: String) {
        self.made.partly.insert(why);
    }
}

fn unkept(why: &str) -> State {
    State::Unkept { why: why.to_owned() }
}

fn link(dir: BorrowedFd<'_>, name: &str) -> State {
    match rustix::fs::readlinkat(dir, name, Vec::new()) {
        Ok(target) => link_to(&target),
        Err(_) => unkept("could not be read"),
    }
}

fn has_build_mark(dir: &OwnedFd) -> bool {
    BUILD_MARKS.iter().any(|mark| rustix::fs::statat(dir, *mark, AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

/// Opens a regular file, if it still is the one of `stat`.
fn open_same(dir: BorrowedFd<'_>, name: &str, stat: &Stat) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::openat(dir, name, flags, Mode::empty()).ok()?;
    let now = rustix::fs::fstat(&fd).ok()?;
    (Identity::of(&now) == Identity::of(stat)).then(|| File::from(fd))
}

/// Names of a directory in order, and how many others are not UTF-8.
fn list(dir: BorrowedFd<'_>) -> rustix::io::Result<(Vec<String>, usize)> {
    let (mut names, mut unnamed) = (Vec::new(), 0);
    for entry in Dir::read_from(readable(dir)?)? {
        match entry?.file_name().to_str() {
            Ok("." | "..") => {}
            Ok(name) => names.push(name.to_owned()),
            Err(_) => unnamed += 1,
        }
    }
    names.sort_unstable();
    Ok((names, unnamed))
}

fn readable(dir: BorrowedFd<'_>) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(dir, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}
