//! Words to meaning: an untrusted proposal becomes a typed [`Call`](call::Call) and its actions.
//!
//! Pure: no I/O, no clock, no environment, no randomness. The order of reading:
//! [`proposal`] → [`json`] → [`schema`] → [`call`] → [`action`]; the shell has its own room in
//! [`shell`]. [`facts`], [`places`] and [`run_state`] are the plain data that judging reads besides.
#![forbid(unsafe_code)]

pub mod action;
pub mod address;
pub mod assume;
pub mod call;
mod canonical;
pub mod facts;
mod host;
pub mod json;
pub mod message;
pub mod places;
pub mod proposal;
mod protected;
pub mod run_state;
pub mod schema;
pub mod secret;
pub mod shell;
pub mod span;
mod tools;
mod untrusted;

pub use action::{Action, ActionKind};
pub use call::{Call, Malformed, Person, Tool};
pub use proposal::{Door, Origin, Proposal};
pub use span::Span;
pub use untrusted::Untrusted;
