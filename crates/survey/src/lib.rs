//! Look: the facts that judging needs, read-only.
//!
//! Nothing here writes, spawns or decides. [`Root`] holds a directory open; [`Root::scope`] turns a
//! name into a [`ScopedPath`], which is the proof that the name was resolved by the kernel beneath
//! that root, and which carries the very handle that was looked at.
#![forbid(unsafe_code)]

mod dir;
mod error;
mod handles;
mod root;
mod scope;
mod scoped;
mod sys;

pub use dir::{Entries, Entry, Found, ScopedDir, Sort, Step, WalkLimits, Walked};
pub use error::{PathError, RootError};
pub use handles::{Destination, Handles, Surveyed};
pub use root::Root;
pub use scoped::{Intent, Look, ScopedPath};
