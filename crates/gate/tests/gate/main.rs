//! The suites of the gate, in one program so that they build once and can start themselves again.
//!
//! Everything is real but the clock: the survey looks at real files, the policy is the built-in one with
//! a few settings, the ledger is SQLite in a temporary directory.
#![cfg_attr(
    test,
    expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "the suites stand outside the gate: they make real files and real processes"
    )
)]

#[cfg(test)]
mod advice;
#[cfg(test)]
mod approvals;
#[cfg(test)]
mod failing;
#[cfg(test)]
mod labels;
#[cfg(test)]
mod loops;
#[cfg(test)]
mod order;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod settling;
#[cfg(test)]
mod support;
#[cfg(test)]
mod web;
