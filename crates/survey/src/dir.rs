//! A directory beneath a root, held by handle, and the walk of what lies in it.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use rustix::fs::{Dir, FileType, OFlags, ResolveFlags};
use rustix::io::Errno;
use tollgate_call::facts::Kind;

use crate::error::PathError;
use crate::scoped::{Look, regular};
use crate::sys::{self, Opener};

/// A directory that was resolved beneath a root, for globs, searches and working directories.
///
/// # Security
/// Everything reached from it is reached entry by entry through its handle, and links are never
/// followed. Does not stop mounts inside the root.
#[derive(Debug)]
pub struct ScopedDir {
    pub(crate) root: Arc<str>,
    pub(crate) rel: String,
    pub(crate) fd: OwnedFd,
    pub(crate) open: Opener,
}

/// What an entry of a directory is, without following it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, wherever it leads.
    Link,
    /// A device, FIFO or socket.
    Other,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name, one component.
    pub name: String,
    /// What it is.
    pub sort: Sort,
}

/// The entries of one directory, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entries {
    /// Those with a UTF-8 name.
    pub list: Vec<Entry>,
    /// How many had another name and are left out.
    pub unnamed: u64,
    /// Whether there were more than asked for.
    pub more: bool,
}

/// Where a walk ends at the latest.
#[derive(Debug, Clone, Copy)]
pub struct WalkLimits {
    /// Entries visited in all.
    pub entries: usize,
    /// Directories below the start.
    pub depth: usize,
    /// The instant to stop at.
    pub deadline: Instant,
}

/// What the visitor of a walk wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Goes on, and into the entry if it is a directory.
    Into,
    /// Goes on, but not into the entry.
    Over,
    /// Ends the walk.
    Stop,
}

/// How a walk ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Entries visited.
    pub visited: usize,
    /// Whether a limit, the deadline or the visitor ended it before everything was seen.
    pub cut: bool,
    /// Names that are not UTF-8, left out.
    pub unnamed: u64,
    /// Directories that could not be read.
    pub unreadable: u64,
}

/// One entry met on a walk.
#[derive(Debug)]
pub struct Found<'a> {
    dir: BorrowedFd<'a>,
    open: Opener,
    rel: &'a str,
    entry: &'a Entry,
}

impl Found<'_> {
    /// Its path below the start of the walk.
    pub const fn rel(&self) -> &str {
        self.rel
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// What it is.
    pub const fn sort(&self) -> Sort {
        self.entry.sort
    }

    /// Looks at the entry itself.
    ///
    /// # Errors
    /// [`PathError::NotFound`] when it is gone, or the system's answer.
    pub fn look(&self) -> Result<Look, PathError> {
        let found = sys::entry(self.open, self.dir, self.name()).and_then(|fd| fd.map(sys::look).transpose());
        let found = found.map_err(|errno| PathError::of(errno, self.rel))?;
        found.ok_or_else(|| PathError::NotFound(self.rel.to_owned()))
    }

    /// Opens it for reading if it is a regular file, without blocking and never through a link.
    ///
    /// # Errors
    /// [`PathError::NotRegular`] or [`PathError::IsDirectory`] for anything else.
    pub fn open_regular(&self) -> Result<File, PathError> {
        open_regular(self.open, self.dir, self.name(), self.rel)
    }
}

impl ScopedDir {
    /// The real path of the root.
    pub fn root_name(&self) -> &str {
        &self.root
    }

    /// The real path beneath the root; empty for the root itself.
    pub fn display(&self) -> &str {
        &self.rel
    }

    /// The real absolute path.
    pub fn resolved(&self) -> String {
        if self.rel.is_empty() { self.root.to_string() } else { format!("{}/{}", self.root, self.rel) }
    }

    /// The handle, good for `*at` calls and `fchdir`, not for reading.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Looks at the directory itself.
    ///
    /// # Errors
    /// The system's answer.
    pub fn look(&self) -> Result<Look, PathError> {
        sys::look(&self.fd).map_err(|errno| PathError::of(errno, &self.rel))
    }

    /// Lists at most `limit` entries.
    ///
    /// # Errors
    /// [`PathError::Permission`] when it is not readable, or the system's answer.
    pub fn entries(&self, limit: usize) -> Result<Entries, PathError> {
        list(self.open, self.fd(), limit).map_err(|errno| PathError::of(errno, &self.rel))
    }

    /// Opens the directory `name` of this one; never through a link.
    ///
    /// # Errors
    /// [`PathError::Loop`] for a link, [`PathError::Escapes`] for `..`, or the system's answer.
    pub fn child(&self, name: &str) -> Result<Self, PathError> {
        let rel = if self.rel.is_empty() { name.to_owned() } else { format!("{}/{name}", self.rel) };
        let fd = subdir(self.open, self.fd(), name).map_err(|errno| PathError::of(errno, &rel))?;
        Ok(Self { root: Arc::clone(&self.root), rel, fd, open: self.open })
    }

    /// Opens the regular file `name` of this directory for reading; never through a link.
    ///
    /// # Errors
    /// As [`Found::open_regular`].
    pub fn open_regular(&self, name: &str) -> Result<File, PathError> {
        open_regular(self.open, self.fd(), name, name)
    }

    /// Visits everything beneath, parents before children, names in order.
    pub fn walk(&self, limits: &WalkLimits, visit: &mut dyn FnMut(&Found<'_>) -> Step) -> Walked {
        let mut walk = Walk { open: self.open, limits: *limits, visit, told: Walked::default() };
        walk.descend(self.fd(), "", 0);
        walk.told
    }
}

struct Walk<'v> {
    open: Opener,
    limits: WalkLimits,
    visit: &'v mut dyn FnMut(&Found<'_>) -> Step,
    told: Walked,
}

impl Walk<'_> {
    /// Visits the entries of `dir`; says whether the walk goes on.
    fn descend(&mut self, dir: BorrowedFd<'_>, rel: &str, depth: usize) -> bool {
        let left = self.limits.entries.saturating_sub(self.told.visited);
        let Ok(entries) = list(self.open, dir, left) else {
            self.told.unreadable += 1;
            return true;
        };
        self.told.unnamed += entries.unnamed;
        let whole = !entries.more;
        entries.list.iter().all(|entry| self.meet(dir, rel, entry, depth)) && (whole || self.cut())
    }

    fn meet(&mut self, dir: BorrowedFd<'_>, above: &str, entry: &Entry, depth: usize) -> bool {
        if self.told.visited >= self.limits.entries || Instant::now() >= self.limits.deadline {
            return self.cut();
        }
        self.told.visited += 1;
        let rel = if above.is_empty() { entry.name.clone() } else { format!("{above}/{}", entry.name) };
        match (self.visit)(&Found { dir, open: self.open, rel: &rel, entry }) {
            Step::Stop => self.cut(),
            Step::Into if entry.sort == Sort::Directory => self.enter(dir, &rel, entry, depth),
            Step::Into | Step::Over => true,
        }
    }

    fn enter(&mut self, dir: BorrowedFd<'_>, rel: &str, entry: &Entry, depth: usize) -> bool {
        if depth >= self.limits.depth {
            self.told.cut = true;
            return true;
        }
        match subdir(self.open, dir, &entry.name) {
            Ok(fd) => self.descend(fd.as_fd(), rel, depth + 1),
            Err(_) => {
                self.told.unreadable += 1;
                true
            }
        }
    }

    const fn cut(&mut self) -> bool {
        self.told.cut = true;
        false
    }
}

fn subdir(open: Opener, dir: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    sys::beneath(open, dir, name, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::NO_SYMLINKS)
}

fn open_regular(open: Opener, dir: BorrowedFd<'_>, name: &str, shown: &str) -> Result<File, PathError> {
    let failed = |errno| PathError::of(errno, shown);
    let entry = sys::entry(open, dir, name).map_err(failed)?.ok_or_else(|| PathError::NotFound(shown.to_owned()))?;
    let judged = sys::look(&entry).map_err(failed)?;
    regular(&judged, shown)?;
    let fd = sys::for_reading(open, dir, name).map_err(failed)?;
    let now = sys::look(&fd).map_err(failed)?;
    if now.identity == judged.identity { Ok(File::from(fd)) } else { Err(PathError::Race(shown.to_owned())) }
}

pub(crate) fn list(open: Opener, dir: BorrowedFd<'_>, limit: usize) -> Result<Entries, Errno> {
    let fd = sys::beneath(open, dir, ".", OFlags::RDONLY | OFlags::DIRECTORY, ResolveFlags::empty())?;
    let mut entries = Entries::default();
    for item in Dir::new(fd)? {
        let item = item?;
        let raw = item.file_name().to_bytes();
        if raw == b"." || raw == b".." {
            continue;
        }
        let Ok(name) = std::str::from_utf8(raw) else {
            entries.unnamed += 1;
            continue;
        };
        if entries.list.len() >= limit {
            entries.more = true;
            break;
        }
        let sort = sort_of(item.file_type()).map_or_else(|| sort_by_look(open, dir, name), Ok)?;
        entries.list.push(Entry { name: name.to_owned(), sort });
    }
    entries.list.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

const fn sort_of(kind: FileType) -> Option<Sort> {
    match kind {
        FileType::RegularFile => Some(Sort::File),
        FileType::Directory => Some(Sort::Directory),
        FileType::Symlink => Some(Sort::Link),
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice => Some(Sort::Other),
        FileType::Unknown => None,
    }
}

/// For file systems whose directories do not tell what their entries are.
fn sort_by_look(open: Opener, dir: BorrowedFd<'_>, name: &str) -> Result<Sort, Errno> {
    let Some(fd) = sys::entry(open, dir, name)? else { return Ok(Sort::Other) };
    let look = sys::look(fd)?;
    Ok(match (look.kind, look.link) {
        (_, true) => Sort::Link,
        (Kind::File(_), false) => Sort::File,
        (Kind::Directory, false) => Sort::Directory,
        (Kind::Absent | Kind::Device(..) | Kind::Special, false) => Sort::Other,
    })
}
