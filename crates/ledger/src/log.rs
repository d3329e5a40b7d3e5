//! The derived JSON Lines file, reading it, and verifying it.

pub(crate) mod jsonl;

pub use jsonl::TornTail;
