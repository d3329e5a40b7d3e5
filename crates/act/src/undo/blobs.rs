//! Content by its SHA-256: written once, never changed, shared by every step that needs it.

use std::fs::File;
use std::io::{Read, Seek as _};
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::UndoError;
use crate::files::replace::{Hash, copy_hashing, temp_name};
use crate::verify::hash_of;

/// A step keeps its contents before it is recorded: for so long nobody else may think them unneeded.
const SETTLED_SECS: i64 = 600;

/// The directory of contents.
#[derive(Debug)]
pub(crate) struct Blobs {
    dir: OwnedFd,
    /// Seconds after which a content that no step names is certainly not needed.
    settled_secs: i64,
}

/// Whether a new content is made durable by itself, or with many others at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durable {
    Now,
    Later,
}

/// A kept content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blob {
    pub(crate) sha256: String,
    pub(crate) size: u64,
}

impl Blobs {
    pub(crate) const fn new(dir: OwnedFd) -> Self {
        Self { dir, settled_secs: SETTLED_SECS }
    }

    /// Keeps everything that `from` holds.
    pub(crate) fn keep(&self, from: &mut dyn Read, durable: Durable) -> Result<Blob, UndoError> {
        let temp = temp_name()?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.dir, &temp, flags, Mode::from_raw_mode(0o400)).map_err(UndoError::store)?;
        let kept = self.fill(File::from(fd), from, &temp, durable);
        if kept.is_err() {
            // The first error is the one to report; a leftover temporary file is swept by prune.
            rustix::fs::unlinkat(&self.dir, &temp, AtFlags::empty()).unwrap_or_default();
        }
        kept
    }

    fn fill(&self, mut file: File, from: &mut dyn Read, temp: &str, durable: Durable) -> Result<Blob, UndoError> {
        let hash = copy_hashing(from, &mut file).map_err(UndoError::store)?;
        let size = file.metadata().map_err(UndoError::store)?.len();
        let sha256 = hex(&hash);
        if durable == Durable::Now {
            rustix::fs::fsync(&file).map_err(UndoError::store)?;
        }
        match rustix::fs::renameat_with(&self.dir, temp, &self.dir, &sha256, RenameFlags::NOREPLACE) {
            Ok(()) => {}
            // Already kept: names are contents, so the older file serves as well.
            Err(Errno::EXIST) => {
                rustix::fs::unlinkat(&self.dir, temp, AtFlags::empty()).map_err(UndoError::store)?;
            }
            Err(errno) => return Err(UndoError::store(errno)),
        }
        if durable == Durable::Now {
            rustix::fs::fsync(&self.dir).map_err(UndoError::store)?;
        }
        Ok(Blob { sha256, size })
    }

    /// Makes everything kept with [`Durable::Later`] durable.
    pub(crate) fn flush(&self) -> Result<(), UndoError> {
        rustix::fs::syncfs(&self.dir).map_err(UndoError::store)
    }

    /// Opens a kept content that is still what its name says, and no larger than it was.
    pub(crate) fn sound(&self, sha256: &str, size: u64) -> Result<File, UndoError> {
        let mut file = self.open(sha256)?;
        let same = file.metadata().map_err(UndoError::store)?.len() == size
            && hex(&hash_of(&mut file).map_err(UndoError::store)?) == sha256.to_ascii_lowercase();
        if !same {
            return Err(UndoError::Damaged(sha256.to_owned()));
        }
        file.rewind().map_err(UndoError::store)?;
        Ok(file)
    }

    /// Opens a kept content.
    pub(crate) fn open(&self, sha256: &str) -> Result<File, UndoError> {
        if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(UndoError::Lost(sha256.to_owned()));
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.dir, sha256, flags, Mode::empty()).map(File::from) {
            Ok(file) if file.metadata().is_ok_and(|is| is.is_file()) => Ok(file),
            Ok(_) => Err(UndoError::Damaged(sha256.to_owned())),
            Err(Errno::NOENT) => Err(UndoError::Lost(sha256.to_owned())),
            Err(errno) => Err(UndoError::store(errno)),
        }
    }

    /// Every kept content with its size, and leftovers of crashed writes.
    pub(crate) fn all(&self) -> Result<Vec<Blob>, UndoError> {
        let listing = rustix::fs::Dir::read_from(self.dir.as_fd()).map_err(UndoError::store)?;
        let mut all = Vec::new();
        for entry in listing {
            let entry = entry.map_err(UndoError::store)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name == "." || name == ".." {
                continue;
            }
            let stat = rustix::fs::statat(&self.dir, name.as_str(), AtFlags::SYMLINK_NOFOLLOW);
            let size = stat.map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or(0));
            all.push(Blob { sha256: name, size });
        }
        Ok(all)
    }

    /// Whether a content is kept.
    pub(crate) fn has(&self, sha256: &str) -> bool {
        rustix::fs::statat(&self.dir, sha256, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Forgets a content or a leftover, unless it is so young that a step about to begin may need it.
    pub(crate) fn forget_settled(&self, name: &str) -> Result<bool, UndoError> {
        let Ok(stat) = rustix::fs::statat(&self.dir, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(false) };
        let now = i64::try_from(now_ns() / 1_000_000_000).unwrap_or(0);
        if now - stat.st_ctime < self.settled_secs {
            return Ok(false);
        }
        match rustix::fs::unlinkat(&self.dir, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(UndoError::store(errno)),
        }
    }
}

/// The file system's kind of time: nanoseconds since 1970.
pub(crate) fn now_ns() -> i128 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| i128::try_from(since.as_nanos()).unwrap_or(i128::MAX))
}

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> u64 {
    u64::try_from(now_ns() / 1_000_000).unwrap_or(0)
}

/// Reads lower-case hexadecimal back.
pub(crate) fn hash_of_hex(text: &str) -> Option<Hash> {
    let mut hash = [0; 32];
    if text.len() != 64 {
        return None;
    }
    for (at, byte) in hash.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(at * 2..at * 2 + 2)?, 16).ok()?;
    }
    Some(hash)
}

/// Lower-case hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        if write!(text, "{byte:02x}").is_err() {
            text.clear();
        }
        text
    })
}
