//! Why a name was not resolved, and why a directory cannot be a root.

use rustix::io::Errno;
use thiserror::Error;
use tollgate_call::facts::Refused;

/// Why a name was not resolved beneath a root, or not opened.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathError {
    // The name itself.
    /// The name is empty.
    #[error("the path is empty; name a file beneath the root")]
    Empty,
    /// The name holds a NUL, a newline or another control character.
    #[error("the path holds the control character U+{0:04X}; name the file without it")]
    Control(u32),
    /// A component is over 255 bytes, or the path over 4,096.
    #[error("the path is too long ({0} bytes); at most 255 a name and 4,096 in all")]
    TooLong(usize),
    /// The absolute name does not lie beneath the root.
    #[error("`{0}` is outside the root; name a path beneath it")]
    Outside(String),

    // What the tree says.
    /// A component leaves the root, even for a moment.
    #[error("`{0}` leaves the root through `..` or a symlink; name the real path beneath the root")]
    Escapes(String),
    /// A magic link of `/proc`.
    #[error("`{0}` goes through a magic link; name the real path")]
    MagicLink(String),
    /// Too many or circular symbolic links.
    #[error("`{0}` goes through too many symlinks; name the real path")]
    Loop(String),
    /// Nothing is there.
    #[error("`{0}` does not exist; list its directory to see what does")]
    NotFound(String),
    /// A component is not a directory, or a file is named with a trailing slash.
    #[error("`{0}` uses a file as a directory; name the file without a trailing slash")]
    NotDirectory(String),
    /// A directory stands where a file is wanted.
    #[error("`{0}` is a directory; name a file")]
    IsDirectory(String),
    /// A device, FIFO or socket stands where a file is wanted.
    #[error("`{0}` is not a regular file; only regular files are read or written")]
    NotRegular(String),
    /// This user may not.
    #[error("`{0}` is not accessible to this user; choose another path")]
    Permission(String),

    // The world underneath.
    /// The tree changed underneath, again and again, or after it was judged.
    #[error("`{0}` changed while it was looked at; try again when nothing else writes there")]
    Race(String),
    /// The kernel cannot resolve beneath a handle, and no other way is tried.
    #[error("this kernel has no openat2 (Linux 5.6 or later); paths cannot be judged safely without it")]
    NoOpenat2,
    /// Any other answer of the system.
    #[error("`{0}` cannot be opened: {1}; choose another path")]
    System(String, String),
}

impl PathError {
    /// Says what the kernel's `errno` means for the path `named`.
    pub(crate) fn of(errno: Errno, named: &str) -> Self {
        let named = named.to_owned();
        match errno {
            Errno::XDEV => Self::Escapes(named),
            Errno::LOOP => Self::Loop(named),
            Errno::NOENT => Self::NotFound(named),
            Errno::NOTDIR => Self::NotDirectory(named),
            Errno::ISDIR => Self::IsDirectory(named),
            Errno::NXIO | Errno::NODEV => Self::NotRegular(named),
            Errno::NAMETOOLONG => Self::TooLong(named.len()),
            Errno::ACCESS | Errno::PERM => Self::Permission(named),
            Errno::AGAIN | Errno::INTR | Errno::STALE => Self::Race(named),
            Errno::NOSYS => Self::NoOpenat2,
            other => Self::System(named, other.to_string()),
        }
    }

    /// The fact that policy reads; `None` when the only trouble is that nothing, or something of
    /// another kind, is there.
    pub const fn refused(&self) -> Option<Refused> {
        match self {
            Self::Outside(_) | Self::Escapes(_) => Some(Refused::Escapes),
            Self::MagicLink(_) => Some(Refused::MagicLink),
            Self::Loop(_) => Some(Refused::Loop),
            Self::TooLong(_) => Some(Refused::TooLong),
            Self::NotDirectory(_) => Some(Refused::NotDirectory),
            Self::Permission(_) => Some(Refused::Permission),
            Self::Race(_) => Some(Refused::Race),
            Self::NotFound(_) | Self::IsDirectory(_) | Self::NotRegular(_) => None,
            Self::Empty | Self::Control(_) | Self::NoOpenat2 | Self::System(..) => Some(Refused::Other),
        }
    }
}

/// Why a directory cannot be a root.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RootError {
    /// The name is relative.
    #[error("the root `{0}` is relative; give its absolute path")]
    Relative(String),
    /// It is `/`.
    #[error("`/` cannot be a root; choose the project's own directory")]
    Slash,
    /// It is the home directory, or holds it.
    #[error("the root `{0}` is or holds the home directory; choose the project's own directory")]
    Home(String),
    /// Tollgate's own files are inside, or it is inside them.
    #[error("the root `{0}` touches Tollgate's own `{1}`; choose a directory apart from it")]
    HoldsGuard(String, String),
    /// It is a credential store.
    #[error("the root `{0}` is a credential store; choose the project's own directory")]
    Credentials(String),
    /// It is not a directory.
    #[error("the root `{0}` is not a directory; choose an existing directory")]
    NotDirectory(String),
    /// It cannot be opened.
    #[error("the root `{0}` cannot be opened: {1}")]
    Unusable(String, PathError),
}
