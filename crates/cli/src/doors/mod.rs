//! The doors: how proposals come in. A door never decides.

pub(crate) mod agent;
pub(crate) mod hook;
