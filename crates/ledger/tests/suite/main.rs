//! The suites of the ledger, in one program so that they build once and can start themselves again.

#[cfg(test)]
mod budgets;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod damage;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod support;
