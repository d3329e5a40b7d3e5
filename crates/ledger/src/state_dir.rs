//! The directory nobody else may reach.

use rustix::fs::{Mode, OFlags};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Holds a state directory that was found to be ours alone.
///
/// # Security
/// Does not stop another process of the same user, nor the owner of a directory above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

/// Says why a directory cannot hold the ledger.
#[derive(Debug, thiserror::Error)]
pub enum StateDirError {
    /// The name is a symbolic link.
    #[error("the state directory `{0}` is a symbolic link, name the directory itself")]
    Symlink(PathBuf),
    /// The name is something else.
    #[error("`{0}` is not a directory, choose another state directory")]
    NotADirectory(PathBuf),
    /// Somebody else owns it.
    #[error("`{path}` belongs to uid {owner}, not to uid {me}: choose another state directory")]
    Foreign {
        /// What was looked at.
        path: PathBuf,
        /// Its owner.
        owner: u32,
        /// This process.
        me: u32,
    },
    /// Others can reach into it.
    #[error("`{path}` has mode {mode:04o}, which lets others in: `chmod go= {path}` first")]
    Open {
        /// What was looked at.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// It could not be made or read.
    #[error("the state directory `{path}` cannot be used ({source}), choose another one")]
    Io {
        /// What was looked at.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl StateDir {
    /// Checks `path`, making it with mode 0700 if it is not there.
    ///
    /// # Errors
    /// [`StateDirError`] when it is a link, not ours, open to others, or unusable.
    pub fn open_or_create(path: &Path) -> Result<Self, StateDirError> {
        match std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path) {
            // A link to nothing, or a file: the check says it better.
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => return Err(StateDirError::Io { path: path.to_owned(), source }),
        }
        Self::open(path)
    }

    /// Checks `path`, which must be there.
    ///
    /// # Errors
    /// [`StateDirError`] when it is a link, not ours, open to others, or unusable.
    pub fn open(path: &Path) -> Result<Self, StateDirError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let dir = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| refusal(path, e))?;
        let stat = rustix::fs::fstat(&dir).map_err(|e| io_error(path, e))?;
        check(path, stat.st_uid, stat.st_mode & 0o7777)?;
        Ok(Self(path.to_owned()))
    }

    /// Returns the path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Makes the names in it durable.
    pub(crate) fn sync(&self) -> rustix::io::Result<()> {
        rustix::fs::open(&self.0, OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY, Mode::empty())
            .and_then(rustix::fs::fsync)
    }

    /// Checks a file in it without opening it, and tells whether it is there.
    ///
    /// Opening and closing the database by hand would drop the locks that SQLite holds on it.
    ///
    /// # Errors
    /// [`StateDirError`] when it is a link, no regular file, not ours, or open to others.
    pub fn holds_private(&self, name: &str) -> Result<bool, StateDirError> {
        use rustix::fs::{AtFlags, CWD, FileType, statat};
        let path = self.0.join(name);
        let stat = match statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(rustix::io::Errno::NOENT) => return Ok(false),
            Err(error) => return Err(io_error(&path, error)),
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind.is_symlink() {
            return Err(StateDirError::Symlink(path));
        }
        if !kind.is_file() {
            return Err(io_error(&path, rustix::io::Errno::INVAL));
        }
        check(&path, stat.st_uid, stat.st_mode & 0o7777)?;
        Ok(true)
    }

    /// Opens a file in it for reading and writing, making it with mode 0600 if it is not there.
    pub(crate) fn private_file(&self, name: &str) -> Result<OwnedFd, StateDirError> {
        let path = self.0.join(name);
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR).map_err(|e| refusal(&path, e))?;
        let stat = rustix::fs::fstat(&file).map_err(|e| io_error(&path, e))?;
        if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
            return Err(io_error(&path, rustix::io::Errno::INVAL));
        }
        check(&path, stat.st_uid, stat.st_mode & 0o7777)?;
        Ok(file)
    }
}

fn check(path: &Path, owner: u32, mode: u32) -> Result<(), StateDirError> {
    let me = rustix::process::geteuid().as_raw();
    if owner != me {
        return Err(StateDirError::Foreign { path: path.to_owned(), owner, me });
    }
    if mode & 0o077 != 0 {
        return Err(StateDirError::Open { path: path.to_owned(), mode });
    }
    Ok(())
}

fn refusal(path: &Path, error: rustix::io::Errno) -> StateDirError {
    let link = path.symlink_metadata().is_ok_and(|m| m.file_type().is_symlink());
    match error {
        rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR if link => StateDirError::Symlink(path.to_owned()),
        rustix::io::Errno::NOTDIR => StateDirError::NotADirectory(path.to_owned()),
        other => io_error(path, other),
    }
}

fn io_error(path: &Path, error: rustix::io::Errno) -> StateDirError {
    StateDirError::Io { path: path.to_owned(), source: error.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_directory_made_here_is_ours_alone() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("a/b");
        StateDir::open_or_create(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o700);
    }

    #[test]
    fn a_link_a_file_and_an_open_directory_are_refused_by_name() {
        let base = tempfile::tempdir().unwrap();
        let (real, link, file) = (base.path().join("real"), base.path().join("link"), base.path().join("file"));
        StateDir::open_or_create(&real).unwrap();
        symlink(&real, &link).unwrap();
        std::fs::write(&file, "").unwrap();
        assert!(matches!(StateDir::open_or_create(&link), Err(StateDirError::Symlink(_))));
        assert!(matches!(StateDir::open_or_create(&file), Err(StateDirError::NotADirectory(_))));
        for mode in [0o710, 0o701, 0o770, 0o755] {
            std::fs::set_permissions(&real, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(StateDir::open_or_create(&real), Err(StateDirError::Open { .. })), "{mode:o}");
        }
    }

    #[test]
    fn a_file_in_it_that_is_a_link_or_a_fifo_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let dir = StateDir::open_or_create(&base.path().join("s")).unwrap();
        symlink("/etc/passwd", dir.path().join("ledger.db")).unwrap();
        assert!(matches!(dir.private_file("ledger.db"), Err(StateDirError::Symlink(_))));
        assert!(matches!(dir.holds_private("ledger.db"), Err(StateDirError::Symlink(_))));
        rustix::fs::mknodat(rustix::fs::CWD, dir.path().join("p"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        assert!(dir.private_file("p").is_err());
    }

    #[test]
    fn a_directory_of_another_user_is_refused() {
        if rustix::process::geteuid().is_root() {
            let base = tempfile::tempdir().unwrap();
            let path = base.path().join("s");
            StateDir::open_or_create(&path).unwrap();
            std::os::unix::fs::chown(&path, Some(12345), None).unwrap();
            assert!(matches!(StateDir::open(&path), Err(StateDirError::Foreign { .. })));
        } else {
            assert!(StateDir::open(Path::new("/")).is_err());
        }
    }
}
