//! Look: the facts that judging needs, read-only.
//!
//! Nothing here writes, spawns or decides. [`Root`] holds a directory open; [`Root::scope`] turns a
//! name into a [`ScopedPath`], which is the proof that the name was resolved by the kernel beneath
//! that root, and which carries the very handle that was looked at.
#![forbid(unsafe_code)]

mod asked;
mod bounded;
mod dir;
mod error;
mod git;
mod glob;
mod handles;
mod path;
mod program;
mod real;
mod resolve;
mod root;
mod scope;
mod scoped;
mod surveyor;
mod sys;
mod tree;
mod twins;

pub use dir::{Entries, Entry, Found, ScopedDir, Sort, Step, WalkLimits, Walked};
pub use error::{PathError, RootError};
pub use handles::{Destination, Handles, Surveyed};
pub use resolve::{NoResolver, Resolve, SystemResolver};
pub use root::Root;
pub use scoped::{Intent, Look, ScopedPath, Within};
pub use surveyor::Surveyor;
