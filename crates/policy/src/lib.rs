//! Judge: rules over a call, facts and the state of its run become findings.
//!
//! Pure: no I/O, no clock, no environment, no randomness. [`judge`] is the whole of it; [`rule`] is the
//! table of reasons, [`Policy`] what the operator decided, and [`Findings`] the answer.
#![forbid(unsafe_code)]

mod decision;
mod file;
mod finding;
#[cfg(test)]
mod fixture;
mod guards;
mod invocation;
mod judge;
mod mode;
mod policy;
mod profile;
#[cfg(test)]
mod properties;
pub mod relay;
pub mod rule;
mod ruling;
mod settings;
mod subject;
mod user_rules;

pub use decision::Decision;
pub use file::{Diagnostic, Diagnostics, Layer, LayerKind};
pub use finding::{Finding, Findings, Text};
pub use invocation::Invocation;
pub use judge::judge;
pub use mode::{Mode, ModeSays};
pub use policy::{Ground, Policy, PolicyError, ToolRefusal};
pub use profile::Profile;
pub use rule::RuleId;
pub use settings::{ActionName, Caps, HostPrompt, Settings, UserRule, WindowCaps};
