//! The two changes that a name can undergo: its content is replaced as a whole, or it goes away.
//!
//! New content is written beside the name, made durable, and takes the name in one step. An existing
//! file is *exchanged* with the new one and compared after the exchange: what was moved aside is either
//! the judged version, or everything is put back. So a swap at any instant is refused, and a crash
//! leaves the old file or the new one, whole, and at most one temporary file that the journal names.

use std::fs::File;
use std::io::{Read, Write};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::held::{Held, HeldError, Identity, Version};

/// Prefix of temporary names; glob and grep leave such names out.
pub(crate) const TEMP_PREFIX: &str = ".tollgate-";
/// Permission bits that survive a change of content: set-id bits do not, as when the kernel writes.
const KEPT_MODE: u32 = 0o777;

/// SHA-256 of some content.
pub type Hash = [u8; 32];

/// Why content could not take its name. Unless said otherwise, nothing changed.
#[derive(Debug, thiserror::Error)]
pub enum ReplaceError {
    /// The name is not what was judged.
    #[error(transparent)]
    Held(#[from] HeldError),
    /// The file belongs to somebody else, and would not any more.
    #[error("`{0}` belongs to another user, and replacing it would change that; ask its owner")]
    Owner(String),
    /// The name was taken, and what was read back is not what was written: the one failure after a change.
    #[error("`{path}` was written, but reading it back failed: {why}; read it before going on")]
    Unverified {
        /// The file.
        path: String,
        /// What was found.
        why: String,
    },
    /// No random name could be made.
    #[error("no random bytes for a temporary name: {0}")]
    Random(String),
}

/// Makes a temporary name that nobody can guess.
pub(crate) fn temp_name() -> Result<String, ReplaceError> {
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| ReplaceError::Random(error.to_string()))?;
    Ok(format!("{TEMP_PREFIX}{:016x}.tmp", u64::from_le_bytes(bytes)))
}

/// What the new file takes over from the old one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keep {
    /// Nothing was there: these permission bits, less the process's mask.
    Fresh(u32),
    /// Nothing was there: exactly these permission bits.
    Exactly(u32),
    /// The mode and the owner of what was there.
    Of(Owner),
}

/// Mode and owner of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl Owner {
    pub(crate) fn of(stat: &Stat) -> Self {
        Self { mode: stat.st_mode & KEPT_MODE, uid: stat.st_uid, gid: stat.st_gid }
    }

    pub(crate) const fn mode(self) -> u32 {
        self.mode
    }

    pub(crate) const fn with_mode(self, mode: u32) -> Self {
        Self { mode: mode & KEPT_MODE, ..self }
    }
}

/// New content beside its name, durable, not yet in place. Dropped, it is removed.
pub(crate) struct Staged<'a> {
    held: &'a Held,
    temp: String,
    identity: Identity,
    hash: Hash,
    armed: bool,
}

impl<'a> Staged<'a> {
    /// Writes `content` beside `held` under the name `temp`.
    pub(crate) fn write(
        held: &'a Held,
        temp: String,
        content: &mut dyn Read,
        keep: Keep,
    ) -> Result<Self, ReplaceError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let first = if let Keep::Fresh(mode) = keep { mode } else { 0o600 };
        let fd = rustix::fs::openat(held.parent(), &temp, flags, Mode::from_raw_mode(first))
            .map_err(|errno| held.io(errno))?;
        let mut file = File::from(fd);
        let stat = rustix::fs::fstat(&file).map_err(|errno| held.io(errno))?;
        let mut staged = Self { held, temp, identity: Identity::of(&stat), hash: [0; 32], armed: true };
        staged.hash = copy_hashing(content, &mut file).map_err(|error| held.io(error))?;
        match keep {
            Keep::Fresh(_) => {}
            Keep::Exactly(mode) => staged.dress(&file, &stat, Owner::of(&stat).with_mode(mode))?,
            Keep::Of(owner) => staged.dress(&file, &stat, owner)?,
        }
        rustix::fs::fsync(&file).map_err(|errno| held.io(errno))?;
        Ok(staged)
    }

    fn dress(&self, file: &File, now: &Stat, want: Owner) -> Result<(), ReplaceError> {
        if (now.st_uid, now.st_gid) != (want.uid, want.gid) {
            let (uid, gid) = (Uid::from_raw(want.uid), Gid::from_raw(want.gid));
            rustix::fs::fchown(file, Some(uid), Some(gid)).map_err(|_| ReplaceError::Owner(self.held.label()))?;
        }
        rustix::fs::fchmod(file, Mode::from_raw_mode(want.mode)).map_err(|errno| self.held.io(errno))?;
        Ok(())
    }

    /// Gives the content its name, if the name still is `expected`; then reads it back.
    pub(crate) fn place(mut self, expected: Option<Version>) -> Result<Hash, ReplaceError> {
        match expected {
            None => self.create()?,
            Some(version) => self.exchange(version)?,
        }
        let checked = sync_dir(self.held).map_err(|error| error.to_string());
        let checked = checked.and_then(|()| crate::verify::reads_back(self.held, self.identity, self.hash));
        match checked {
            Ok(()) => Ok(self.hash),
            Err(why) => Err(ReplaceError::Unverified { path: self.held.label(), why }),
        }
    }

    fn create(&mut self) -> Result<(), ReplaceError> {
        let held = self.held;
        let parent = held.parent();
        match rustix::fs::renameat_with(parent, &self.temp, parent, held.name(), RenameFlags::NOREPLACE) {
            Ok(()) => self.armed = false,
            Err(Errno::EXIST) => return Err(HeldError::Swapped(held.label()).into()),
            Err(errno) => return Err(held.io(errno).into()),
        }
        Ok(())
    }

    fn exchange(&mut self, expected: Version) -> Result<(), ReplaceError> {
        let held = self.held;
        self.swap()?;
        // Until it is compared, what was moved aside may be somebody else's: no error may remove it.
        self.armed = false;
        let moved = version_of(held, &self.temp)?;
        if moved != Some(expected) {
            self.swap()?;
            self.armed = true;
            return Err(HeldError::Swapped(held.label()).into());
        }
        self.armed = true;
        Ok(())
    }

    fn swap(&self) -> Result<(), HeldError> {
        let parent = self.held.parent();
        let flags = RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(parent, &self.temp, parent, self.held.name(), flags).map_err(|errno| match errno {
            Errno::NOENT => HeldError::Swapped(self.held.label()),
            other => self.held.io(other),
        })
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        // After an exchange the temporary name holds the old version; before it, the new one. Neither is wanted.
        if self.armed && rustix::fs::unlinkat(self.held.parent(), &self.temp, AtFlags::empty()).is_err() {
            // The journal names the leftover; pruning removes it.
            self.armed = false;
        }
    }
}

/// Removes the name, if it still is `expected`: moved aside, compared, then unlinked or put back.
pub(crate) fn remove(held: &Held, temp: &str, expected: Version) -> Result<(), ReplaceError> {
    let parent = held.parent();
    match rustix::fs::renameat_with(parent, held.name(), parent, temp, RenameFlags::NOREPLACE) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Err(HeldError::Swapped(held.label()).into()),
        Err(errno) => return Err(held.io(errno).into()),
    }
    if version_of(held, temp)? != Some(expected) {
        rustix::fs::renameat_with(parent, temp, parent, held.name(), RenameFlags::NOREPLACE)
            .map_err(|errno| held.io(errno))?;
        return Err(HeldError::Swapped(held.label()).into());
    }
    rustix::fs::unlinkat(parent, temp, AtFlags::empty()).map_err(|errno| held.io(errno))?;
    sync_dir(held)?;
    Ok(())
}

fn version_of(held: &Held, name: &str) -> Result<Option<Version>, HeldError> {
    match rustix::fs::statat(held.parent(), name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(Version::of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(held.io(errno)),
    }
}

/// Makes the change of a name durable.
pub(crate) fn sync_dir(held: &Held) -> Result<(), HeldError> {
    // The held handle may be a path-only one, which cannot be synced.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = rustix::fs::openat(held.parent(), ".", flags, Mode::empty()).map_err(|errno| held.io(errno))?;
    rustix::fs::fsync(&dir).map_err(|errno| held.io(errno))
}

/// Copies everything and returns the SHA-256 of it.
pub(crate) fn copy_hashing(from: &mut dyn Read, to: &mut dyn Write) -> std::io::Result<Hash> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0_u8; 64 * 1024];
    loop {
        let read = match from.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(read) => read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let chunk = buffer.get(..read).unwrap_or_default();
        hasher.update(chunk);
        to.write_all(chunk)?;
    }
}
