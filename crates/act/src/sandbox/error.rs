//! What stops a box from being built.

use std::path::PathBuf;

use super::wall::Wall;

/// Says why a command did not run in a box.
///
/// # Security
/// [`BoxError::Spec`], [`BoxError::Wall`], [`BoxError::Exec`] and [`BoxError::Halted`] mean that nothing of the command
/// ran. After [`BoxError::Helper`] whatever ran was killed; after [`BoxError::Stuck`] something may still be dying. No
/// variant is a reason to run the command elsewhere: a retry never runs with less confinement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BoxError {
    /// The specification asks for something that a box never gives.
    #[error("the box was refused: {0}")]
    Spec(#[from] SpecError),
    /// A wall could not be built.
    #[error("the wall `{wall}` cannot be built ({step}: {cause}); {}", wall.remedy())]
    Wall {
        /// The wall.
        wall: Wall,
        /// What was being done.
        step: String,
        /// The kernel's answer.
        cause: std::io::Error,
    },
    /// The walls stood, but the command could not be started.
    #[error(
        "`{program}` cannot be started in the box: {cause}; check that it exists and is neither in a hidden place nor in \
         the host's `/tmp`"
    )]
    Exec {
        /// The command word.
        program: String,
        /// The kernel's answer.
        cause: std::io::Error,
    },
    /// The helper that builds the walls did not start or did not speak the expected protocol.
    #[error("the box helper failed ({step}); reinstall Tollgate if this persists")]
    Helper {
        /// What was being done.
        step: String,
        /// The cause, where the kernel gave one.
        #[source]
        cause: Option<std::io::Error>,
    },
    /// The halt was raised before the command started.
    #[error("halted before the command started; resume first")]
    Halted,
    /// The tree was killed but the kernel has not let it go.
    #[error("the command was killed but has not died within {secs} s; look for a process stuck on a device or mount")]
    Stuck {
        /// How long the guard waited.
        secs: u64,
    },
}

impl BoxError {
    pub(super) fn helper(step: &str, cause: impl Into<std::io::Error>) -> Self {
        Self::Helper { step: step.to_owned(), cause: Some(cause.into()) }
    }

    pub(super) fn protocol(step: &str) -> Self {
        Self::Helper { step: step.to_owned(), cause: None }
    }
}

/// Says which part of a specification a box refuses.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// No command word.
    #[error("the command is empty; name a program")]
    EmptyCommand,
    /// A NUL byte in an argument, a name or a path.
    #[error("`{0}` holds a NUL byte; remove it")]
    Nul(String),
    /// A path that is not absolute and plain.
    #[error("`{}` is not an absolute path without `.` and `..`; give the real path", .0.display())]
    NotPlain(PathBuf),
    /// A writable root reached through a symlink.
    #[error("`{}` is reached through a symlink; give the real path `{}`", path.display(), real.display())]
    Symlink {
        /// The path as given.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
    },
    /// A writable root that is not a directory that exists.
    #[error("the writable root `{}` is not an existing directory; create it first", .0.display())]
    NoSuchRoot(PathBuf),
    /// A writable root that would give away the system, the home or a private place.
    #[error("`{}` cannot be writable as a whole ({why}); choose a directory inside it", path.display())]
    TooWide {
        /// The path as given.
        path: PathBuf,
        /// What it holds.
        why: &'static str,
    },
    /// A writable root or working directory inside a hidden place.
    #[error("`{}` lies in the hidden place `{}`; choose another directory", path.display(), hidden.display())]
    InHidden {
        /// The path as given.
        path: PathBuf,
        /// The hidden place.
        hidden: PathBuf,
    },
    /// A working directory that the box does not show.
    #[error("`{}` is not visible in the box, which has its own; work in a writable root", .0.display())]
    NotVisible(PathBuf),
    /// An environment name that is empty or holds `=`.
    #[error("`{0}` is not an environment name; use letters, digits and `_`")]
    EnvName(String),
}
