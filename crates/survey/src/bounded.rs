//! Work that might not come back, done apart and waited for no longer than a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use tollgate_call::facts::Unknown;

/// How many pieces of such work may be under way, late ones included.
const MAX_THREADS: usize = 8;

/// Places for work apart; late work keeps its place until it ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Slots(Arc<AtomicUsize>);

struct Taken(Arc<AtomicUsize>);

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Slots {
    fn take(&self) -> Option<Taken> {
        let before = self.0.fetch_add(1, Ordering::AcqRel);
        let taken = Taken(Arc::clone(&self.0));
        (before < MAX_THREADS).then_some(taken)
    }

    /// Runs `work` on a thread of its own.
    ///
    /// # Errors
    /// [`Unknown::Late`] when the deadline passes first, [`Unknown::Failed`] when the work panics or
    /// too much late work is still under way.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unknown> {
        let taken = self.take().ok_or(Unknown::Failed)?;
        let (give, get) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new().name("survey".to_owned()).spawn(move || {
            let done = work();
            drop(taken);
            // A receiver that gave up is no longer interested in the answer.
            drop(give.send(done));
        });
        thread.map_err(|_| Unknown::Failed)?;
        let wait = deadline.saturating_duration_since(Instant::now());
        get.recv_timeout(wait).map_err(|error| match error {
            mpsc::RecvTimeoutError::Timeout => Unknown::Late,
            mpsc::RecvTimeoutError::Disconnected => Unknown::Failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn late_work_keeps_its_place_and_there_are_few() {
        let slots = Slots::default();
        let (hold, held) = mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        for _ in 0..MAX_THREADS {
            let held = Arc::clone(&held);
            let told = slots.run(Instant::now(), move || held.lock().unwrap().recv().is_ok());
            assert_eq!(told, Err(Unknown::Late));
        }
        let soon = Instant::now() + Duration::from_secs(60);
        assert_eq!(slots.run(soon, || 1), Err(Unknown::Failed));
        drop(hold);
        while slots.0.load(Ordering::Acquire) > 0 {
            std::thread::yield_now();
        }
        assert_eq!(slots.run(soon, || 1), Ok(1));
    }
}
