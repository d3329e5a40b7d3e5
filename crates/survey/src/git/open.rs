//! Finding a repository and reading the few files that tell about it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::AsFd as _;

use gix::index::State;
use rustix::fs::{CWD, OFlags, ResolveFlags};
use tollgate_call::facts::{FileVersion, Kind, Unknown};
use tollgate_call::places::clean;

use super::ignored::Ignores;
use crate::dir::list;
use crate::real;
use crate::scoped::Intent;
use crate::sys::{self, Opener};

/// Directories above the working directory that are tried.
const MAX_UP: usize = 64;
const MAX_TEXT: u64 = 1 << 20;
/// Hooks that are looked at; git knows about thirty.
const MAX_HOOKS: usize = 256;
/// About 150,000 files.
const MAX_INDEX: u64 = 16 << 20;

/// Where a repository lies.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) top: String,
    git: String,
}

/// What was read of a repository.
#[derive(Debug)]
pub(crate) struct Repo {
    pub(crate) open: Opener,
    /// Real path of the work tree.
    pub(crate) top: String,
    pub(crate) branch: Option<String>,
    pub(crate) remotes: BTreeMap<String, String>,
    pub(crate) obeyed: Vec<(String, FileVersion)>,
    pub(crate) index: Index,
    pub(crate) ignores: RefCell<Ignores>,
}

/// The index, and when its file was written.
#[derive(Debug)]
pub(crate) enum Index {
    /// No file was added yet.
    Absent,
    Read(Box<State>, (i64, u32)),
    /// Too large, damaged, split, or of another object format.
    Unreadable,
}

/// Looks for `.git` in the real directory `dir` and above it.
pub(crate) fn discover(open: Opener, dir: &str) -> Option<Place> {
    let mut top = dir;
    for _ in 0..MAX_UP {
        if let Some(git) = git_dir(open, top) {
            return Some(Place { top: if top.is_empty() { "/".to_owned() } else { top.to_owned() }, git });
        }
        top = top.rsplit_once('/')?.0;
    }
    None
}

/// The directory that `.git` is, or names.
fn git_dir(open: Opener, top: &str) -> Option<String> {
    let real = real::resolve(open, &format!("{top}/.git"), Intent::Read);
    match real.target?.look.kind {
        Kind::Directory => Some(real.path),
        Kind::File(_) => {
            let text = String::from_utf8(read_small(open, &real.path, 4096)?).ok()?;
            let named = text.strip_prefix("gitdir:")?.trim();
            Some(joined(top, named))
        }
        Kind::Absent | Kind::Device(..) | Kind::Special => None,
    }
}

fn joined(dir: &str, named: &str) -> String {
    if named.starts_with('/') { clean(named) } else { clean(&format!("{dir}/{named}")) }
}

impl Repo {
    pub(crate) fn read(open: Opener, place: Place) -> Result<Self, Unknown> {
        let Place { top, git } = place;
        let common = common(open, &git);
        let head = read_small(open, &format!("{git}/HEAD"), 4096).ok_or(Unknown::Failed)?;
        let config = config(open, &format!("{common}/config"))?;
        let index = if is_sha1(&config) { index(open, &format!("{git}/index")) } else { Index::Unreadable };
        let branch = String::from_utf8(head).ok();
        let branch = branch.and_then(|text| Some(text.trim().strip_prefix("ref: refs/heads/")?.to_owned()));
        let exclude = format!("{common}/info/exclude");
        let ignores = RefCell::new(Ignores::new(open, &top, &exclude));
        let obeyed = obeyed(open, &top, &common, &config);
        Ok(Self { open, top, branch, remotes: remotes(&config), obeyed, index, ignores })
    }
}

fn config(open: Opener, path: &str) -> Result<gix::config::File, Unknown> {
    let text = read_small(open, path, MAX_TEXT).unwrap_or_default();
    let meta = gix::config::file::Metadata::from(gix::config::Source::Local);
    gix::config::File::from_bytes_no_includes(&text, meta, Default::default()).map_err(|_| Unknown::Failed)
}

/// What `core.hooksPath` names, as a real path.
pub(super) fn hooks_path(open: Opener, place: Place) -> Option<String> {
    let Place { top, git } = place;
    let config = config(open, &format!("{}/config", common(open, &git))).ok()?;
    let named = config.string("core.hooksPath")?;
    Some(real::resolve(open, &joined(&top, &String::from_utf8_lossy(&named)), Intent::Read).path)
}

/// The directory that the work trees of a repository share.
fn common(open: Opener, git: &str) -> String {
    read_small(open, &format!("{git}/commondir"), 4096)
        .and_then(|text| String::from_utf8(text).ok())
        .map_or_else(|| git.to_owned(), |text| joined(git, text.trim()))
}

/// The configuration, and every hook where git looks for them.
fn obeyed(open: Opener, top: &str, common: &str, config: &gix::config::File) -> Vec<(String, FileVersion)> {
    let hooks = config
        .string("core.hooksPath")
        .map_or_else(|| format!("{common}/hooks"), |named| joined(top, &String::from_utf8_lossy(&named)));
    let real = real::resolve(open, &hooks, Intent::Read);
    let names = real
        .target
        .filter(|target| target.look.kind == Kind::Directory)
        .and_then(|target| list(open, target.fd.as_fd(), MAX_HOOKS).ok());
    let hooks = names.into_iter().flat_map(|names| names.list).map(|entry| format!("{}/{}", real.path, entry.name));
    let files = ["config", "config.worktree"].iter().map(|name| format!("{common}/{name}")).chain(hooks);
    let version = |file: String| Some((file.clone(), real::resolve(open, &file, Intent::Read).target?.look.version()?));
    files.filter_map(version).collect()
}

fn is_sha1(config: &gix::config::File) -> bool {
    config.string("extensions.objectFormat").is_none_or(|format| format.eq_ignore_ascii_case(b"sha1"))
}

/// By name; where pushes go elsewhere, that is listed as `NAME (push)`.
fn remotes(config: &gix::config::File) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for section in config.sections_by_name("remote").into_iter().flatten() {
        let Some(name) = section.header().subsection_name().map(ToString::to_string) else { continue };
        if let Some(url) = section.value("pushurl") {
            found.insert(format!("{name} (push)"), url.to_string());
        }
        if let Some(url) = section.value("url") {
            found.insert(name, url.to_string());
        }
    }
    found
}

fn index(open: Opener, path: &str) -> Index {
    let Some((data, written)) = read_regular(open, path, MAX_INDEX) else {
        let there = real::resolve(open, path, Intent::Entry).target.is_some();
        return if there { Index::Unreadable } else { Index::Absent };
    };
    let options = gix::index::decode::Options {
        thread_limit: Some(1),
        min_extension_block_in_bytes_for_threading: usize::MAX,
        expected_checksum: None,
        alloc_limit_bytes: Some(64 << 20),
    };
    // The state keeps a timestamp only to pass it on; the racy check below uses the file's own.
    let unused = State::new(gix::hash::Kind::Sha1).timestamp();
    match State::from_bytes(&data, unused, gix::hash::Kind::Sha1, options) {
        Ok((state, _)) if state.link().is_none() && !state.is_sparse() => Index::Read(Box::new(state), written),
        Ok(_) | Err(_) => Index::Unreadable,
    }
}

/// Reads a regular file of at most `max` bytes, without blocking; `None` for anything else.
pub(crate) fn read_small(open: Opener, path: &str, max: u64) -> Option<Vec<u8>> {
    read_regular(open, path, max).map(|(data, _)| data)
}

fn read_regular(open: Opener, path: &str, max: u64) -> Option<(Vec<u8>, (i64, u32))> {
    // A device may act on being opened: look first.
    let target = real::resolve(open, path, Intent::Read);
    let judged = target.target?.look;
    let Kind::File(size) = judged.kind else { return None };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let plain = ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let fd = open(CWD, &target.path, flags, plain).ok()?;
    if size > max || sys::look(&fd).ok()?.identity != judged.identity {
        return None;
    }
    let mut data = Vec::new();
    let read = std::fs::File::from(fd).take(max + 1).read_to_end(&mut data).ok()?;
    (read as u64 <= max).then_some((data, judged.modified))
}
