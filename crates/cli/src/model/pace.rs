//! When to try again: bounded exponential backoff under one deadline.

use std::fmt;
use std::time::{Duration, Instant};

use super::cancel::{CancelFlag, Waited};

/// Time and chance, injected so that tests wait for nothing.
pub(crate) trait Pace: Send {
    /// The time since some fixed moment; never goes back.
    fn now(&self) -> Duration;
    /// Waits for `duration` or until `cancel` is raised.
    fn wait(&mut self, duration: Duration, cancel: &CancelFlag) -> Waited;
    /// A random number, evenly spread.
    fn random(&mut self) -> u32;
}

impl fmt::Debug for dyn Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pace")
    }
}

/// The machine's own clock and randomness.
#[derive(Debug)]
pub(crate) struct RealPace(Instant);

impl RealPace {
    /// Starts counting now.
    pub(crate) fn new() -> Self {
        Self(Instant::now())
    }
}

impl Pace for RealPace {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn wait(&mut self, duration: Duration, cancel: &CancelFlag) -> Waited {
        cancel.wait(duration)
    }

    fn random(&mut self) -> u32 {
        // Jitter only spreads load: without entropy the full wait is the safe choice.
        getrandom::u32().unwrap_or(u32::MAX)
    }
}

/// How many tries one turn makes at most.
pub(super) const MAX_ATTEMPTS: u32 = 6;
const FIRST_WAIT: Duration = Duration::from_millis(500);
const MAX_WAIT: Duration = Duration::from_secs(20);

/// The wait before the next try after `attempt` (counted from 1) failed.
///
/// Between half and the whole of 0.5 s · 2^(attempt − 1), at most 20 s; never less than what the provider
/// asked for, however long that is: the caller's deadline decides whether it is worth it.
pub(super) fn backoff(attempt: u32, asked: Option<Duration>, random: u32) -> Duration {
    let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(attempt.saturating_sub(1)));
    let half = doubled.min(MAX_WAIT) / 2;
    let jitter = half.mul_f64(f64::from(random) / f64::from(u32::MAX));
    half.saturating_add(jitter).max(asked.unwrap_or_default())
}

/// Reads the wait that a provider asks for.
///
/// `retry-after-ms` wins over `retry-after` in seconds. A date is not understood and counts as nothing asked:
/// it would need a clock that agrees with the provider's.
pub(super) fn asked_wait(ms: Option<&str>, secs: Option<&str>) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    let ms = ms.and_then(number).map(|n| n / 1000.0);
    let secs = ms.or_else(|| secs.and_then(number))?;
    Some(Duration::try_from_secs_f64(secs).unwrap_or(Duration::MAX))
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A clock that moves only when someone waits; it keeps the waits.
    #[derive(Debug, Clone, Default)]
    pub(in crate::model) struct FakePace(Arc<Mutex<Vec<Duration>>>);

    impl FakePace {
        pub(in crate::model) fn waits(&self) -> Vec<Duration> {
            self.0.lock().unwrap().clone()
        }
    }

    impl Pace for FakePace {
        fn now(&self) -> Duration {
            self.waits().iter().sum()
        }

        fn wait(&mut self, duration: Duration, cancel: &CancelFlag) -> Waited {
            self.0.lock().unwrap().push(duration);
            if cancel.is_cancelled() { Waited::Cancelled } else { Waited::Elapsed }
        }

        fn random(&mut self) -> u32 {
            u32::MAX
        }
    }

    #[test]
    fn waits_double_and_stop_growing() {
        let waits: Vec<_> = (1..=8).map(|attempt| backoff(attempt, None, u32::MAX).as_millis()).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 16000, 20000, 20000]);
        assert_eq!(backoff(u32::MAX, None, u32::MAX), MAX_WAIT);
    }

    #[test]
    fn jitter_spreads_over_the_upper_half() {
        assert_eq!(backoff(1, None, 0).as_millis(), 250);
        assert_eq!(backoff(1, None, u32::MAX).as_millis(), 500);
    }

    #[test]
    fn what_the_provider_asks_for_is_the_least() {
        assert_eq!(backoff(1, Some(Duration::from_secs(60)), 0), Duration::from_secs(60));
        assert_eq!(backoff(5, Some(Duration::from_secs(1)), u32::MAX), Duration::from_secs(8));
    }

    #[test]
    fn hostile_retry_headers_do_no_harm() {
        assert_eq!(asked_wait(None, Some("2")), Some(Duration::from_secs(2)));
        assert_eq!(asked_wait(Some("1500"), Some("9")), Some(Duration::from_millis(1500)));
        assert_eq!(asked_wait(None, Some("1e300")), Some(Duration::MAX));
        for nonsense in ["-1", "NaN", "inf", "soon", "", "Wed, 21 Oct 2026 07:28:00 GMT"] {
            assert_eq!(asked_wait(None, Some(nonsense)), None, "{nonsense}");
        }
    }
}
