//! A wall that could not be built, on its way from the helper to the guard.

use rustix::io::Errno;

use super::wall::Wall;
use super::wire::Report;

/// Names the wall, the step and the kernel's answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Failure {
    wall: Wall,
    step: String,
    errno: Errno,
}

impl From<Failure> for Report {
    fn from(failure: Failure) -> Self {
        Self::Wall { wall: failure.wall, step: failure.step, errno: failure.errno.raw_os_error() }
    }
}

/// Says for a failed call which wall it belongs to.
pub(super) trait Step<T> {
    /// Attaches the wall and what was being done.
    fn wall(self, wall: Wall, step: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T> Step<T> for rustix::io::Result<T> {
    fn wall(self, wall: Wall, step: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|errno| Failure { wall, step: step(), errno })
    }
}

impl<T> Step<T> for std::io::Result<T> {
    fn wall(self, wall: Wall, step: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|cause| Errno::from_io_error(&cause).unwrap_or(Errno::INVAL)).wall(wall, step)
    }
}
