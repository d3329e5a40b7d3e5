//! The binary as its users and host agents meet it: every test starts the real program, in a world of its own.
//!
//! Whole exchanges are kept in `snapshots/`. After a change that is meant, `INSTA_UPDATE=always cargo test -p tollgate-cli
//! --test binary` writes them anew; the diff is part of the review.
#![forbid(unsafe_code)]

#[cfg(test)]
mod exchanges;
#[cfg(test)]
mod halts;
#[cfg(test)]
mod hook;
#[cfg(test)]
mod host;
#[cfg(test)]
mod install;
#[cfg(test)]
mod kills;
#[cfg(test)]
mod mail;
#[cfg(test)]
mod net;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod situations;
#[cfg(test)]
mod soak;
#[cfg(test)]
mod state;
#[cfg(test)]
mod steering;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod web;
#[cfg(test)]
mod world;
