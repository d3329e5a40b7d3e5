//! The binary as its users and host agents meet it: every test starts the real program, in a world of its own.
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
mod terminal;
#[cfg(test)]
mod trouble;
#[cfg(test)]
mod world;
