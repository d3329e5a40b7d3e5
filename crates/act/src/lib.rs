//! Act: performs what a permit permits, inside walls, and can undo it.
//!
//! Nothing here judges. File operations go through the handles that survey held and the gate judged;
//! what was there is kept in [`undo`] before anything changes; commands run in the [`sandbox`].
#![deny(unsafe_code)]

mod dial;
pub mod dry;
pub mod fetch;
pub mod files;
mod hands;
mod held;
pub mod relay;
pub mod run;
pub mod sandbox;
pub mod undo;
mod verify;

pub use hands::{Doing, Hands, Inner};
pub use held::{Held, HeldError, Identity, Spot};
