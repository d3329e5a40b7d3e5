//! Whether version control could bring a path back.

use std::time::Instant;

use gix::bstr::BStr;
use gix::index::entry::{Mode, Stage};
use gix::index::{Entry, State};
use tollgate_call::facts::{Fact, Kind, Tracked, Unknown};
use tollgate_call::places::strip_dir;

use super::open::{Index, Repo, read_small};
use crate::real;
use crate::scoped::{Intent, Look};
use crate::sys;

/// Files above this size are not hashed.
const MAX_HASHED: u64 = 8 << 20;

/// What the repository knows about the real path `resolved`.
pub(crate) fn tracked(repo: &Repo, resolved: &str, kind: Option<Kind>, deadline: Instant) -> Fact<Tracked> {
    let Some(rel) = strip_dir(resolved, &repo.top) else { return Fact::Unknown(Unknown::NotAsked) };
    let is_dir = kind == Some(Kind::Directory);
    let state = match &repo.index {
        Index::Unreadable => return Fact::Unknown(Unknown::Failed),
        Index::Absent => None,
        Index::Read(state, written) => Some((state.as_ref(), *written)),
    };
    if let Some((state, written)) = state {
        if is_dir && state.path_is_directory(BStr::new(rel)) {
            // Its files are asked one by one.
            return Fact::Unknown(Unknown::NotAsked);
        }
        if let Some(entry) = entry(state, rel) {
            return against(repo, entry, resolved, written, deadline);
        }
    }
    Fact::Known(if repo.ignores.borrow_mut().is_ignored(rel, is_dir) { Tracked::Ignored } else { Tracked::Untracked })
}

/// The entry that is checked out; of a conflict, none is.
fn entry<'a>(state: &'a State, rel: &str) -> Option<&'a Entry> {
    state.entry_by_path_and_stage(BStr::new(rel), Stage::Unconflicted)
}

/// Compares a file with its entry: by its stat, and where that does not settle it, by its content.
fn against(repo: &Repo, entry: &Entry, path: &str, written: (i64, u32), deadline: Instant) -> Fact<Tracked> {
    let real = real::resolve(repo.open, path, Intent::Entry);
    let Some(look) = real.target.filter(|_| real.path == path).map(|target| target.look) else {
        return Fact::Known(Tracked::Modified);
    };
    let Kind::File(size) = look.kind else { return Fact::Known(Tracked::Modified) };
    if look.link != (entry.mode == Mode::SYMLINK) {
        return Fact::Known(Tracked::Modified);
    }
    if same_stat(entry, &look, size) && !is_racy(entry, written) {
        return Fact::Known(Tracked::Clean);
    }
    if Instant::now() >= deadline {
        return Fact::Unknown(Unknown::Late);
    }
    by_content(repo, entry, path, &look, size)
}

fn by_content(repo: &Repo, entry: &Entry, path: &str, look: &Look, size: u64) -> Fact<Tracked> {
    if size > MAX_HASHED {
        return Fact::Unknown(Unknown::Late);
    }
    let content = if look.link {
        let fd = real::resolve(repo.open, path, Intent::Entry).target.map(|target| target.fd);
        fd.and_then(|fd| sys::link_text(fd).ok()).map(String::into_bytes)
    } else {
        read_small(repo.open, path, MAX_HASHED)
    };
    let Some(content) = content else { return Fact::Unknown(Unknown::Failed) };
    match gix::objs::compute_hash(gix::hash::Kind::Sha1, gix::objs::Kind::Blob, &content) {
        Ok(id) if id == entry.id => Fact::Known(Tracked::Clean),
        Ok(_) => Fact::Known(Tracked::Modified),
        Err(_) => Fact::Unknown(Unknown::Failed),
    }
}

fn same_stat(entry: &Entry, look: &Look, size: u64) -> bool {
    let stat = &entry.stat;
    let (_, inode) = look.identity;
    u64::from(stat.size) == size
        && same_time((stat.mtime.secs, stat.mtime.nsecs), look.modified)
        && same_time((stat.ctime.secs, stat.ctime.nsecs), look.changed)
        && (stat.ino == 0 || u64::from(stat.ino) == inode & 0xffff_ffff)
}

/// The index of some tools keeps whole seconds only.
fn same_time((secs, nsecs): (u32, u32), (have, have_nsecs): (i64, u32)) -> bool {
    i64::from(secs) == have && (nsecs == 0 || nsecs == have_nsecs)
}

/// A file changed in the tick in which the index was written may have the stat of what it was.
fn is_racy(entry: &Entry, (secs, nsecs): (i64, u32)) -> bool {
    let mtime = entry.stat.mtime;
    (i64::from(mtime.secs), mtime.nsecs) >= (secs, nsecs)
}

/// Whether any tracked file differs from the index. What is only staged survives as an object.
pub(crate) fn dirty(repo: &Repo, deadline: Instant) -> Fact<bool> {
    let (state, written) = match &repo.index {
        Index::Unreadable => return Fact::Unknown(Unknown::Failed),
        Index::Absent => return Fact::Known(false),
        Index::Read(state, written) => (state, *written),
    };
    for entry in state.entries() {
        if Instant::now() >= deadline {
            return Fact::Unknown(Unknown::Late);
        }
        if entry.stage() != Stage::Unconflicted {
            return Fact::Known(true);
        }
        if entry.mode == Mode::COMMIT {
            // The work tree of a submodule is a repository of its own.
            continue;
        }
        let Ok(rel) = std::str::from_utf8(entry.path(state)) else { return Fact::Unknown(Unknown::Failed) };
        match against(repo, entry, &format!("{}/{rel}", repo.top.trim_end_matches('/')), written, deadline) {
            Fact::Known(Tracked::Clean) => {}
            Fact::Known(_) => return Fact::Known(true),
            Fact::Unknown(why) => return Fact::Unknown(why),
        }
    }
    Fact::Known(false)
}
