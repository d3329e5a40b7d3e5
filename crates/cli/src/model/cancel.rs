//! A flag that stops a turn from another thread, and wakes whoever waits on it.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// Stops a running turn; clones share one flag, and once raised it stays raised.
///
/// Not for use inside a signal handler: raise it from an ordinary thread that the handler wakes.
#[derive(Debug, Clone, Default)]
pub(crate) struct CancelFlag(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    raised: Mutex<bool>,
    changed: Condvar,
    notify: Notify,
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waited {
    /// The time passed.
    Elapsed,
    /// The flag was raised first.
    Cancelled,
}

impl CancelFlag {
    /// Makes a flag that is not raised.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes everyone who waits.
    pub(crate) fn cancel(&self) {
        *self.0.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.changed.notify_all();
        self.0.notify.notify_waiters();
    }

    /// Says whether the flag is raised.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.0.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Blocks until the flag is raised or `duration` has passed.
    pub(crate) fn wait(&self, duration: Duration) -> Waited {
        let end = Instant::now().checked_add(duration);
        let mut raised = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let left = end.map_or(duration, |end| end.saturating_duration_since(Instant::now()));
            match (*raised, left.is_zero()) {
                (true, _) => return Waited::Cancelled,
                (false, true) => return Waited::Elapsed,
                (false, false) => {}
            }
            let woken = self.0.changed.wait_timeout(raised, left);
            raised = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Completes when the flag is raised.
    pub(super) async fn cancelled(&self) {
        let notified = self.0.notify.notified();
        tokio::pin!(notified);
        // Registered before the flag is read, so a raise in between is not lost.
        notified.as_mut().enable();
        if !self.is_cancelled() {
            notified.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_flag_ends_a_wait_that_would_take_an_hour() {
        let flag = CancelFlag::new();
        let other = flag.clone();
        let thread = std::thread::spawn(move || other.cancel());
        assert_eq!(flag.wait(Duration::from_secs(3600)), Waited::Cancelled);
        thread.join().unwrap();
        assert!(flag.is_cancelled());
    }

    #[test]
    fn a_wait_without_a_raise_elapses() {
        assert_eq!(CancelFlag::new().wait(Duration::ZERO), Waited::Elapsed);
        assert_eq!(CancelFlag::new().wait(Duration::from_millis(1)), Waited::Elapsed);
    }

    #[test]
    fn an_async_waiter_wakes_whether_the_raise_comes_before_or_after() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let before = CancelFlag::new();
        before.cancel();
        runtime.block_on(before.cancelled());
        let after = CancelFlag::new();
        let other = after.clone();
        let thread = std::thread::spawn(move || other.cancel());
        runtime.block_on(after.cancelled());
        thread.join().unwrap();
    }
}
