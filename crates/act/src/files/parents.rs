//! Makes the missing parents of a name, one handle at a time, and takes empty ones away again.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::held::{HeldError, open_dir_beneath};

/// Makes the missing parents of `path` beneath `root`; returns those it made, outermost first.
///
/// # Errors
/// [`HeldError::Unreachable`] if a link or a file is in the way.
pub(crate) fn make(root: BorrowedFd<'_>, path: &str) -> Result<Vec<String>, HeldError> {
    let Some((dirs, _)) = path.rsplit_once('/') else { return Ok(Vec::new()) };
    let mut made = Vec::new();
    let mut at = root.try_clone_to_owned().map_err(|source| HeldError::Io { path: path.to_owned(), source })?;
    let mut so_far = String::new();
    for name in dirs.split('/') {
        if !so_far.is_empty() {
            so_far.push('/');
        }
        so_far.push_str(name);
        match rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
            Ok(()) => made.push(so_far.clone()),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(io(&so_far, errno)),
        }
        at = step_into(at.as_fd(), name, &so_far)?;
    }
    Ok(made)
}

fn step_into(at: BorrowedFd<'_>, name: &str, so_far: &str) -> Result<OwnedFd, HeldError> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, name, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::LOOP | Errno::NOTDIR => HeldError::Unreachable(so_far.to_owned()),
        other => io(so_far, other),
    })
}

/// Removes `dirs` beneath `root`, innermost first, as far as they are empty.
pub(crate) fn remove_empty(root: BorrowedFd<'_>, dirs: &[String]) -> Result<(), HeldError> {
    for dir in dirs.iter().rev() {
        let (parent, name) = dir.rsplit_once('/').unwrap_or(("", dir));
        let Ok(parent) = open_dir_beneath(root, parent) else { continue };
        match rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            // In use by later work, or already gone: both are fine.
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => {}
            Err(errno) => return Err(io(dir, errno)),
        }
    }
    Ok(())
}

/// Sets the permission bits of a held directory.
pub(crate) fn set_mode(dir: &OwnedFd, mode: u32) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(dir, ".", flags, Mode::empty())?;
    rustix::fs::fchmod(&dir, Mode::from_raw_mode(mode & 0o777))
}

fn io(path: &str, errno: Errno) -> HeldError {
    HeldError::Io { path: path.to_owned(), source: errno.into() }
}
