//! File tools and undo on a real file system.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, reason = "the shared room among them")]

mod crash;
mod hands;
mod mail;
mod net;
mod room;
mod tools;
mod undo;
