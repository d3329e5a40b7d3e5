//! The operator's verbs.

pub(crate) mod approve;
pub(crate) mod budget;
pub(crate) mod check;
pub(crate) mod doctor;
mod explain;
mod facts;
pub(crate) mod halt;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod log;
pub(crate) mod manual;
pub(crate) mod policy;
pub(crate) mod secret;
mod spoken;
pub(crate) mod undo;
