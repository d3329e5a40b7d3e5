//! A name that the kernel resolved beneath a root, with the handle that was judged.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{OFlags, ResolveFlags};
use rustix::io::Errno;
use tollgate_call::facts::Kind;

use crate::error::PathError;
use crate::sys::{self, Opener};

/// What a name is resolved for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// The content is read: a final link is followed, beneath the root only.
    Read,
    /// The content is replaced: a final link is followed, so that the rename lands beside the real file.
    Write,
    /// The entry itself is removed or renamed: a final link is not followed.
    Entry,
}

/// What kind of ground a scoped path stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// A root that the operator opened for reading and writing.
    Root,
    /// A directory that the operator opened for reading.
    ReadRoot,
    /// Neither: the real parent directory of a file that policy may let a tool read.
    Outside,
}

/// What a handle names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// What kind of thing; a link that was not followed counts as a file of its text's length.
    pub kind: Kind,
    /// Whether it is a symbolic link that was not followed.
    pub link: bool,
    /// Number of names.
    pub links: u64,
    /// Device and inode.
    pub identity: (u64, u64),
    /// Permission bits.
    pub mode: u32,
    /// Time of the last change of content, in seconds and nanoseconds.
    pub modified: (i64, u32),
    /// Time of the last change of anything, which no program can set.
    pub changed: (i64, u32),
}

#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) fd: OwnedFd,
    pub(crate) look: Look,
}

/// A name resolved beneath a root: a held parent directory, a final name, and the judged target.
///
/// # Security
/// Holds the parent open, so that a later rename of any directory above cannot redirect it, and the
/// target, so that its identity cannot be taken by another file. Does not stop hard links
/// ([`Look::links`] tells of them) and does not stop another writer of the same directory.
#[derive(Debug)]
pub struct ScopedPath {
    pub(crate) root: Arc<str>,
    pub(crate) within: Within,
    pub(crate) rel: String,
    pub(crate) parent: OwnedFd,
    pub(crate) missing: Vec<String>,
    pub(crate) name: String,
    pub(crate) target: Option<Judged>,
    pub(crate) open: Opener,
}

impl ScopedPath {
    /// The real path of the root.
    pub fn root_name(&self) -> &str {
        &self.root
    }

    /// On what ground it stands; only [`Within::Root`] may be written.
    pub const fn within(&self) -> Within {
        self.within
    }

    /// The real path beneath the root, after every link and `..`.
    pub fn display(&self) -> &str {
        &self.rel
    }

    /// The real absolute path.
    pub fn resolved(&self) -> String {
        format!("{}/{}", self.root, self.rel)
    }

    /// The deepest existing directory above the target.
    pub fn parent(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }

    /// Directories still to be made between [`parent`](Self::parent) and the target, outermost first.
    pub fn missing_dirs(&self) -> &[String] {
        &self.missing
    }

    /// Opens the directory that holds the target, once [`missing_dirs`](Self::missing_dirs) were made;
    /// never through a link.
    ///
    /// # Errors
    /// [`PathError::NotFound`] while they are not made.
    pub fn made_parent(&self) -> Result<OwnedFd, PathError> {
        let rel = if self.missing.is_empty() { ".".to_owned() } else { self.missing.join("/") };
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        sys::beneath(self.open, self.parent.as_fd(), &rel, flags, ResolveFlags::NO_SYMLINKS)
            .map_err(|errno| PathError::of(errno, &self.rel))
    }

    /// The final name, a single component that is neither `.` nor `..`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What was there when it was judged; `None` when nothing was.
    pub fn stat(&self) -> Option<Look> {
        self.target.as_ref().map(|judged| judged.look)
    }

    /// Device and inode of what was judged.
    pub fn identity(&self) -> Option<(u64, u64)> {
        self.stat().map(|look| look.identity)
    }

    /// Opens the judged regular file for reading, without ever blocking.
    ///
    /// # Errors
    /// [`PathError::IsDirectory`] and [`PathError::NotRegular`] for anything but a regular file,
    /// before it is opened; [`PathError::Race`] when the name no longer leads to what was judged.
    pub fn open_regular(&self) -> Result<File, PathError> {
        let judged = self.target.as_ref().ok_or_else(|| PathError::NotFound(self.rel.clone()))?;
        regular(&judged.look, &self.rel)?;
        let fd = self.reopen()?;
        let now = sys::look(&fd).map_err(|errno| PathError::of(errno, &self.rel))?;
        if now.identity == judged.look.identity { Ok(File::from(fd)) } else { Err(PathError::Race(self.rel.clone())) }
    }

    /// Opens the judged name again; a name that is gone or became a link is a race by now.
    fn reopen(&self) -> Result<OwnedFd, PathError> {
        sys::for_reading(self.open, self.parent.as_fd(), &self.name).map_err(|errno| {
            let gone = matches!(errno, Errno::NOENT | Errno::LOOP | Errno::NXIO | Errno::NODEV);
            if gone { PathError::Race(self.rel.clone()) } else { PathError::of(errno, &self.rel) }
        })
    }

    /// Checks that a file may be put here by rename: nothing is there, or a regular file.
    ///
    /// # Errors
    /// [`PathError::IsDirectory`] or [`PathError::NotRegular`].
    pub fn replaceable(&self) -> Result<(), PathError> {
        self.target.as_ref().map_or(Ok(()), |judged| regular(&judged.look, &self.rel))
    }

    /// Checks that the name still leads to what was judged, or still to nothing.
    ///
    /// # Errors
    /// [`PathError::Race`] when it does not.
    /// # Security
    /// A check at one instant: it narrows the window before a rename, and does not close it.
    pub fn recheck(&self) -> Result<(), PathError> {
        let name = self.missing.first().map_or(self.name.as_str(), String::as_str);
        let now = sys::entry(self.open, self.parent.as_fd(), name).and_then(|fd| fd.map(sys::look).transpose());
        let now = now.map_err(|errno| PathError::of(errno, &self.rel))?;
        if now.map(|look| look.identity) == self.identity() { Ok(()) } else { Err(PathError::Race(self.rel.clone())) }
    }
}

/// Refuses everything but a regular file.
pub(crate) fn regular(look: &Look, named: &str) -> Result<(), PathError> {
    match (look.kind, look.link) {
        (Kind::File(_), false) => Ok(()),
        (Kind::Directory, _) => Err(PathError::IsDirectory(named.to_owned())),
        (Kind::Absent, _) => Err(PathError::NotFound(named.to_owned())),
        (Kind::File(_), true) | (Kind::Device(..) | Kind::Special, _) => Err(PathError::NotRegular(named.to_owned())),
    }
}
