//! A name held by the handle of its parent, with what was judged to be there.
//!
//! Every file operation goes through a [`Held`]: the parent directory stays open, so no later rename
//! redirects it, and the name is compared with the judged identity before and after it is touched.

use std::fmt;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use tollgate_survey::ScopedPath;

/// Which file a name stood for: device and inode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Device number.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
}

impl Identity {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { dev: stat.st_dev, ino: stat.st_ino }
    }
}

/// Where a name lies: the root's absolute path and the real path beneath it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Absolute path of the root.
    pub root: String,
    /// Path beneath the root, free of links and of `..`.
    pub path: String,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

/// Why a held name cannot be touched.
#[derive(Debug, thiserror::Error)]
pub enum HeldError {
    /// Nothing is there.
    #[error("`{0}` does not exist; glob_files shows what does")]
    Absent(String),
    /// A directory is there.
    #[error("`{0}` is a directory; name a file in it")]
    Directory(String),
    /// A FIFO, socket or device is there.
    #[error("`{0}` is a FIFO, a socket or a device; only regular files are opened")]
    Special(String),
    /// What is there is not what was judged.
    #[error("`{0}` changed after it was judged, and was left alone; propose the call again")]
    Swapped(String),
    /// The name leaves its root, or passes a link.
    #[error("`{0}` cannot be reached beneath its root without a link")]
    Unreachable(String),
    /// The system answered with an error.
    #[error("`{path}`: {source}")]
    Io {
        /// What was touched.
        path: String,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// What a file was when it was last looked at; a change of any part shows that others wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) identity: Identity,
    pub(crate) size: i64,
    pub(crate) mtime: (i64, i64),
}

impl Version {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            identity: Identity::of(stat),
            size: stat.st_size,
            mtime: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(i64::MAX)),
        }
    }
}

/// A directory handle and a name in it.
#[derive(Debug)]
pub struct Held {
    parent: OwnedFd,
    missing: Vec<String>,
    name: String,
    judged: Option<Identity>,
    spot: Spot,
    pin: Pin,
}

/// Keeps the judged file open, so that no other file is given its inode number meanwhile.
#[derive(Debug)]
enum Pin {
    /// Nothing was there, or the caller holds the file open.
    None,
    /// By a handle.
    Handle { _fd: OwnedFd },
    /// By survey's own handles.
    Scoped { _scoped: Box<ScopedPath> },
}

impl Held {
    /// Holds `name` in `parent`, judged to be `judged` (`None`: nothing was there).
    pub(crate) const fn new(parent: OwnedFd, name: String, judged: Option<Identity>, spot: Spot) -> Self {
        Self { parent, missing: Vec::new(), name, judged, spot, pin: Pin::None }
    }

    /// Holds what survey resolved and judged.
    ///
    /// # Errors
    /// If the handle cannot be duplicated.
    pub fn of(scoped: ScopedPath) -> Result<Self, HeldError> {
        let spot = Spot { root: scoped.root_name().to_owned(), path: scoped.display().to_owned() };
        let parent = scoped.parent().try_clone_to_owned();
        let parent = parent.map_err(|source| HeldError::Io { path: spot.path.clone(), source })?;
        let judged = scoped.identity().map(|(dev, ino)| Identity { dev, ino });
        let mut held = Self::new(parent, scoped.name().to_owned(), judged, spot);
        held.missing = scoped.missing_dirs().to_vec();
        held.pin = Pin::Scoped { _scoped: Box::new(scoped) };
        Ok(held)
    }

    /// Parent directories still to be made, as paths beneath the root, outermost first.
    pub(crate) fn missing(&self) -> Vec<String> {
        let parts: Vec<&str> = self.spot.path.split('/').collect();
        let above = parts.len().saturating_sub(self.missing.len() + 1);
        (1..=self.missing.len())
            .map(|more| parts.iter().take(above + more).copied().collect::<Vec<_>>().join("/"))
            .collect()
    }

    /// The same directories, as paths beneath the held one.
    pub(crate) fn missing_below(&self) -> Vec<String> {
        let names = &self.missing;
        (1..=names.len()).map(|count| names.iter().take(count).cloned().collect::<Vec<_>>().join("/")).collect()
    }

    /// Makes the missing parents, each through the handle of the one above, and holds the name there.
    pub(crate) fn arrive(mut self) -> Result<Self, HeldError> {
        let below = self.missing.join("/");
        if !below.is_empty() {
            crate::files::parents::make(self.parent.as_fd(), &format!("{below}/{}", self.name))?;
            self.parent = open_dir_beneath(self.parent.as_fd(), &below).map_err(|errno| reach_error(errno, &below))?;
            self.missing.clear();
        }
        Ok(self)
    }

    /// Reaches `spot` again, as the kernel resolves it beneath `root` without any link.
    ///
    /// What is there now counts as judged: the caller compares it with what it expects.
    ///
    /// # Errors
    /// [`HeldError::Absent`] when the parent is missing, [`HeldError::Unreachable`] when a link is in the way.
    pub(crate) fn beneath(root: BorrowedFd<'_>, spot: Spot) -> Result<Self, HeldError> {
        let (dir, name) = spot.path.rsplit_once('/').unwrap_or((".", spot.path.as_str()));
        let parent = open_dir_beneath(root, dir).map_err(|errno| reach_error(errno, &spot.path))?;
        let name = name.to_owned();
        let mut held = Self::new(parent, name, None, spot);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&held.parent, &held.name, flags, Mode::empty()) {
            Ok(fd) => {
                let stat = rustix::fs::fstat(&fd).map_err(|errno| held.io(errno))?;
                held.judged = Some(Identity::of(&stat));
                held.pin = Pin::Handle { _fd: fd };
            }
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(held.io(errno)),
        }
        Ok(held)
    }

    /// What was judged to be there.
    pub(crate) const fn judged(&self) -> Option<Identity> {
        self.judged
    }

    /// Where it lies.
    pub const fn spot(&self) -> &Spot {
        &self.spot
    }

    pub(crate) fn parent(&self) -> BorrowedFd<'_> {
        self.parent.as_fd()
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the name stands for right now, a link not followed.
    pub(crate) fn stat(&self) -> Result<Option<Stat>, HeldError> {
        if let Some(first) = self.missing.first() {
            return match rustix::fs::statat(&self.parent, first, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => Ok(None),
                Ok(_) => Err(HeldError::Swapped(self.label())),
                Err(errno) => Err(self.io(errno)),
            };
        }
        match rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.io(errno)),
        }
    }

    /// Opens the judged regular file for reading; never blocks.
    ///
    /// # Errors
    /// [`HeldError::Swapped`] when another file has taken the name; a typed refusal for what is not a regular file.
    pub(crate) fn open(&self) -> Result<(File, Stat), HeldError> {
        let judged = self.judged.ok_or_else(|| HeldError::Absent(self.label()))?;
        let seen = self.stat()?.ok_or_else(|| HeldError::Swapped(self.label()))?;
        self.check(&seen, judged)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.parent, &self.name, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::NOENT | Errno::LOOP | Errno::NXIO => HeldError::Swapped(self.label()),
            other => self.io(other),
        })?;
        let stat = rustix::fs::fstat(&fd).map_err(|errno| self.io(errno))?;
        self.check(&stat, judged)?;
        Ok((File::from(fd), stat))
    }

    fn check(&self, stat: &Stat, judged: Identity) -> Result<(), HeldError> {
        if Identity::of(stat) != judged {
            return Err(HeldError::Swapped(self.label()));
        }
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Ok(()),
            FileType::Directory => Err(HeldError::Directory(self.label())),
            FileType::Symlink => Err(HeldError::Unreachable(self.label())),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Err(HeldError::Special(self.label())),
        }
    }

    pub(crate) fn label(&self) -> String {
        self.spot.path.clone()
    }

    pub(crate) fn io(&self, source: impl Into<std::io::Error>) -> HeldError {
        HeldError::Io { path: self.label(), source: source.into() }
    }
}

/// Opens `dir` beneath `root`, through no link at all.
pub(crate) fn open_dir_beneath(root: BorrowedFd<'_>, dir: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let dir = if dir.is_empty() { "." } else { dir };
    rustix::fs::openat2(root, dir, flags, Mode::empty(), how)
}

/// Opens the root at the absolute path `root`, through no link.
pub(crate) fn open_root(root: &str) -> Result<OwnedFd, HeldError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let how = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    rustix::fs::openat2(rustix::fs::CWD, root, flags, Mode::empty(), how).map_err(|errno| reach_error(errno, root))
}

fn reach_error(errno: Errno, path: &str) -> HeldError {
    match errno {
        Errno::NOENT => HeldError::Absent(path.to_owned()),
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::AGAIN => HeldError::Unreachable(path.to_owned()),
        other => HeldError::Io { path: path.to_owned(), source: other.into() },
    }
}
