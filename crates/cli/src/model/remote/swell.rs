//! An answer that never ends must not take the machine's memory.
//!
//! The provider library reads a whole body, and a whole frame of a stream, into memory before anybody sees any of it,
//! and offers no bound. So the process watches itself: what it holds more than at the beginning of an exchange is the
//! answer, and so much of it is no answer.

use std::time::Duration;

use crate::model::Delivery;

/// How much more this process may hold than at the beginning, in bytes. Answers are a few megabytes at most; a frame of
/// a stream is far less, and the library copies all of it with every piece that comes.
const fn most(delivery: Delivery) -> u64 {
    match delivery {
        Delivery::Whole => 24 << 20,
        Delivery::Streamed => 12 << 20,
    }
}
/// How often that is looked at. A loopback server fills some tens of megabytes in between.
const LOOK: Duration = Duration::from_millis(20);

/// Ends when this process has grown by more than an answer takes; never where the system does not say how large it is.
pub(super) async fn too_much(delivery: Delivery) {
    let begin = resident();
    loop {
        tokio::time::sleep(LOOK).await;
        if resident().saturating_sub(begin) > most(delivery) {
            return;
        }
    }
}

/// Bytes of this process in memory, 0 if the system does not say.
pub(super) fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1024)
}
