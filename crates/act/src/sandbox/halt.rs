//! The signal that stops every box at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

/// Stops running boxes, and keeps new ones from starting, once raised.
///
/// Clones share one signal. It stays raised: a new run takes a new signal.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let halt = tollgate_act::sandbox::HaltSignal::new()?;
/// let in_another_thread = halt.clone();
/// in_another_thread.raise()?;
/// assert!(halt.is_raised());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct HaltSignal(Arc<OwnedFd>);

impl HaltSignal {
    /// Creates a signal that is not raised.
    ///
    /// # Errors
    /// The process is out of descriptors.
    pub fn new() -> io::Result<Self> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(fd)))
    }

    /// Raises the signal; every box that watches it dies.
    ///
    /// # Errors
    /// The kernel refused the write; the caller must stop the process instead.
    pub fn raise(&self) -> io::Result<()> {
        match rustix::io::write(&*self.0, &1_u64.to_ne_bytes()) {
            // A full counter is a raised signal.
            Ok(_) | Err(rustix::io::Errno::AGAIN) => Ok(()),
            Err(cause) => Err(cause.into()),
        }
    }

    /// Says whether the signal is raised. An unreadable signal counts as raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        let mut fds = [PollFd::new(&*self.0, PollFlags::IN)];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)) != Ok(0)
    }
}

impl AsFd for HaltSignal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
