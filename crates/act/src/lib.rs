//! Performs what a permit permits, inside walls.
#![deny(unsafe_code)]

pub mod sandbox;
