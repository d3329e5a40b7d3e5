//! Resolution of a name beneath a root, step by step through handles.
//!
//! The kernel resolves the directory; only the last name is looked at by itself, because a write
//! must land beside the real file and a delete must remove the link. A link text is never
//! interpreted here: it is put in place of the name and resolved by the kernel again.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;
use tollgate_call::facts::Kind;

use crate::error::PathError;
use crate::root::Root;
use crate::scoped::{Intent, Judged, ScopedPath};
use crate::sys;

/// As many links as the kernel itself follows.
const MAX_LINKS: u32 = 40;

/// An open directory beneath the root, and its real path there (empty for the root itself).
pub(crate) struct Held {
    pub(crate) fd: OwnedFd,
    pub(crate) real: String,
}

enum Step {
    Done(ScopedPath),
    Follow(String),
}

/// Resolves `rel` from the root's handle; `named` is what error messages show.
pub(crate) fn resolve(root: &Root, rel: &str, named: &str, intent: Intent) -> Result<ScopedPath, PathError> {
    let walk = Walk { root, named, intent };
    let mut rel = rel.to_owned();
    for _ in 0..=MAX_LINKS {
        match walk.step(&rel)? {
            Step::Done(scoped) => return Ok(scoped),
            Step::Follow(next) if next.len() > 4096 => return Err(PathError::TooLong(next.len())),
            Step::Follow(next) => rel = next,
        }
    }
    Err(PathError::Loop(named.to_owned()))
}

/// Opens the directory `rel` beneath the root.
pub(crate) fn open_dir(root: &Root, rel: &str) -> Result<Held, Errno> {
    let rel = if rel.is_empty() { "." } else { rel };
    let open = |also| sys::beneath(root.opener(), root.fd(), rel, OFlags::PATH | OFlags::DIRECTORY, also);
    if !rel.split('/').any(|part| part == "..") {
        match open(ResolveFlags::NO_SYMLINKS) {
            // Without links and `..` the letters are the real path.
            Ok(fd) => return Ok(Held { fd, real: squeeze(rel) }),
            Err(Errno::LOOP) => {}
            Err(errno) => return Err(errno),
        }
    }
    let fd = open(ResolveFlags::empty())?;
    let real = real_beneath(root, &fd)?;
    Ok(Held { fd, real })
}

/// The kernel's name of a directory, relative to the root's name of this moment.
fn real_beneath(root: &Root, fd: &OwnedFd) -> Result<String, Errno> {
    let (top, dir) = (sys::real_path(root.fd())?, sys::real_path(fd)?);
    let rest = dir.strip_prefix(&top).ok_or(Errno::AGAIN)?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/').ok_or(Errno::AGAIN)? };
    Ok(rest.to_owned())
}

/// Drops empty and `.` components.
fn squeeze(rel: &str) -> String {
    let parts: Vec<&str> = parts(rel).collect();
    parts.join("/")
}

fn parts(rel: &str) -> impl Iterator<Item = &str> {
    rel.split('/').filter(|part| !matches!(*part, "" | "."))
}

struct Walk<'a> {
    root: &'a Root,
    named: &'a str,
    intent: Intent,
}

/// The last name of a path, what stands before it, and whether the spelling demands a directory.
struct Last<'a> {
    dir: &'a str,
    name: &'a str,
    as_dir: bool,
}

fn last(rel: &str) -> Last<'_> {
    let mut rest = rel;
    while let Some(shorter) = rest.strip_suffix('/').or_else(|| rest.strip_suffix("/.")) {
        rest = shorter;
    }
    let as_dir = rest.len() != rel.len();
    match rest.rsplit_once('/') {
        Some((dir, name)) => Last { dir, name, as_dir },
        None => Last { dir: "", name: if rest == "." { "" } else { rest }, as_dir },
    }
}

impl Walk<'_> {
    fn step(&self, rel: &str) -> Result<Step, PathError> {
        let at = last(rel);
        match at.name {
            "" => Err(PathError::IsDirectory(self.named.to_owned())),
            ".." => Ok(Step::Follow(format!("{}/", self.held(open_dir(self.root, rel))?.real))),
            _ => match open_dir(self.root, at.dir) {
                Ok(held) => self.arrive(held, &at),
                Err(Errno::NOENT) => self.missing(&at),
                Err(errno) => Err(PathError::of(errno, self.named)),
            },
        }
    }

    fn held<T>(&self, result: Result<T, Errno>) -> Result<T, PathError> {
        result.map_err(|errno| PathError::of(errno, self.named))
    }

    /// The directory is open: looks at the last name.
    fn arrive(&self, held: Held, at: &Last<'_>) -> Result<Step, PathError> {
        let target = self.judge(&held, at.name)?;
        let follows = at.as_dir || self.intent != Intent::Entry;
        if let Some(link) = target.as_ref().filter(|judged| judged.look.link && follows) {
            return self.follow(&link.fd, at.dir, if at.as_dir { "/" } else { "" });
        }
        let file = target.as_ref().is_some_and(|judged| judged.look.kind != Kind::Directory);
        if at.as_dir && (file || self.intent == Intent::Write) {
            return Err(PathError::NotDirectory(self.named.to_owned()));
        }
        Ok(Step::Done(self.scoped(held, Vec::new(), at.name, target)))
    }

    /// The directory does not exist: finds the deepest one that does, and what is to be made beneath it.
    fn missing(&self, at: &Last<'_>) -> Result<Step, PathError> {
        let parts: Vec<&str> = parts(at.dir).collect();
        for keep in (0..parts.len()).rev() {
            let (above, absent) = parts.split_at(keep);
            let above = above.join("/");
            match open_dir(self.root, &above) {
                Ok(held) => return self.absent(held, &above, absent, at),
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(PathError::of(errno, self.named)),
            }
        }
        Err(PathError::Race(self.named.to_owned()))
    }

    /// `absent` hangs below an existing directory, or behind a dangling link in it.
    fn absent(&self, held: Held, above: &str, absent: &[&str], at: &Last<'_>) -> Result<Step, PathError> {
        let (first, rest) = absent.split_first().ok_or_else(|| PathError::Race(self.named.to_owned()))?;
        if absent.contains(&"..") {
            return Err(PathError::NotFound(self.named.to_owned()));
        }
        match self.judge(&held, first)? {
            Some(judged) if judged.look.link => {
                let tail: String = rest.iter().chain([&at.name]).map(|part| format!("/{part}")).collect();
                self.follow(&judged.fd, above, &tail)
            }
            Some(_) => Err(PathError::Race(self.named.to_owned())),
            None => {
                let missing = absent.iter().map(|part| (*part).to_owned()).collect();
                Ok(Step::Done(self.scoped(held, missing, at.name, None)))
            }
        }
    }

    fn judge(&self, held: &Held, name: &str) -> Result<Option<Judged>, PathError> {
        let Some(fd) = self.held(sys::entry(self.root.opener(), held.fd.as_fd(), name))? else { return Ok(None) };
        let look = self.held(sys::look(&fd))?;
        Ok(Some(Judged { fd, look }))
    }

    /// Puts the link's text in its place; an absolute text must begin with the root's own name.
    fn follow(&self, link: &OwnedFd, dir: &str, tail: &str) -> Result<Step, PathError> {
        let text = self.held(sys::link_text(link))?;
        if text.starts_with('/') {
            let rel = self.root.beneath(&text).ok_or_else(|| PathError::Escapes(self.named.to_owned()))?;
            return Ok(Step::Follow(format!("{rel}{tail}")));
        }
        let dir = if dir.is_empty() { "." } else { dir };
        Ok(Step::Follow(format!("{dir}/{text}{tail}")))
    }

    fn scoped(&self, held: Held, missing: Vec<String>, name: &str, target: Option<Judged>) -> ScopedPath {
        let above = Some(held.real).filter(|real| !real.is_empty());
        let rel: Vec<&str> = above.iter().map(String::as_str).chain(missing.iter().map(String::as_str)).collect();
        let rel = rel.into_iter().chain([name]).collect::<Vec<_>>().join("/");
        ScopedPath {
            root: self.root.shared_name(),
            within: self.root.within(),
            rel,
            parent: held.fd,
            missing,
            name: name.to_owned(),
            target,
            open: self.root.opener(),
        }
    }
}
