//! The few system calls of this crate, each in one place.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;
use tollgate_call::facts::{FileVersion, Kind};

use crate::scoped::Look;

/// How often an interrupted or raced resolution is tried again before it is refused.
const TRIES: u32 = 16;

/// Opens a name relative to a handle, as `openat2` does; a test puts another kernel here.
pub(crate) type Opener = fn(BorrowedFd<'_>, &str, OFlags, ResolveFlags) -> Result<OwnedFd, Errno>;

/// The real `openat2`.
pub(crate) fn kernel(dir: BorrowedFd<'_>, name: &str, flags: OFlags, resolve: ResolveFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::openat2(dir, name, flags | OFlags::CLOEXEC, Mode::empty(), resolve)
}

/// Resolves `name` strictly beneath `dir`; there is no other way in this crate to reach a file of a root.
pub(crate) fn beneath(
    open: Opener,
    dir: BorrowedFd<'_>,
    name: &str,
    flags: OFlags,
    also: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | also;
    for _ in 0..TRIES {
        match open(dir, name, flags, resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            done => return done,
        }
    }
    Err(Errno::AGAIN)
}

/// Opens the entry `name` of `dir` itself, as a handle that can neither be read nor written; a final
/// link is opened, not followed. `None` when there is no such entry.
pub(crate) fn entry(open: Opener, dir: BorrowedFd<'_>, name: &str) -> Result<Option<OwnedFd>, Errno> {
    match beneath(open, dir, name, OFlags::PATH | OFlags::NOFOLLOW, ResolveFlags::empty()) {
        Ok(fd) => Ok(Some(fd)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

/// Opens the entry `name` of `dir` for reading without blocking, never through a link.
pub(crate) fn for_reading(open: Opener, dir: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY;
    beneath(open, dir, name, flags, ResolveFlags::NO_SYMLINKS)
}

/// What the handle names.
pub(crate) fn look(fd: impl AsFd) -> Result<Look, Errno> {
    let stat = rustix::fs::statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS)?;
    let sort = FileType::from_raw_mode(stat.stx_mode.into());
    let kind = match sort {
        FileType::RegularFile | FileType::Symlink => Kind::File(stat.stx_size),
        FileType::Directory => Kind::Directory,
        FileType::CharacterDevice | FileType::BlockDevice => Kind::Device(stat.stx_rdev_major, stat.stx_rdev_minor),
        FileType::Fifo | FileType::Socket | FileType::Unknown => Kind::Special,
    };
    Ok(Look {
        kind,
        link: sort == FileType::Symlink,
        links: stat.stx_nlink.into(),
        identity: (rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino),
        mode: u32::from(stat.stx_mode) & 0o7777,
        modified: (stat.stx_mtime.tv_sec, stat.stx_mtime.tv_nsec),
        changed: (stat.stx_ctime.tv_sec, stat.stx_ctime.tv_nsec),
    })
}

impl Look {
    /// The version of the file that was looked at.
    pub(crate) const fn version(&self) -> Option<FileVersion> {
        match self.kind {
            Kind::File(size) => Some(FileVersion { identity: self.identity, size, changed: self.changed }),
            Kind::Absent | Kind::Directory | Kind::Device(..) | Kind::Special => None,
        }
    }
}

/// The text of the link behind a handle; only UTF-8 can be judged.
pub(crate) fn link_text(fd: impl AsFd) -> Result<String, Errno> {
    let text = rustix::fs::readlinkat(fd, "", Vec::new())?;
    text.into_string().map_err(|_| Errno::ILSEQ)
}

/// The kernel's own name for an open directory.
pub(crate) fn real_path(fd: impl AsFd) -> Result<String, Errno> {
    let name = format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd());
    let text = rustix::fs::readlinkat(CWD, name, Vec::new())?;
    text.into_string().map_err(|_| Errno::ILSEQ)
}
