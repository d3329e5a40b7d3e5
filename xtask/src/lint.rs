//! `cargo xtask lint`: what the design promises about the tree, checked by program.

mod arrows;
mod crates;
mod exceptions;
mod size;
mod spdx;
mod supply;
mod tokens;

use crate::command::{Failed, root, say};
use crate::metadata::Metadata;

/// Runs every check, prints each complaint, and fails when there was one.
pub(crate) fn run() -> Result<(), Failed> {
    let metadata = Metadata::load()?;
    let mut complaints = arrows::check(&metadata);
    complaints.extend(crates::check(&metadata)?);
    complaints.extend(supply::check(&metadata, &root().join("deny.toml"))?);
    complaints.extend(supply::accounted(&root().join("Cargo.toml"), &root().join("docs/adr/dependencies.md"))?);
    complaints.extend(size::check(&root())?);
    for complaint in &complaints {
        say(complaint);
    }
    if !complaints.is_empty() {
        return Err(Failed::Checks(complaints.len()));
    }
    say(&format!("xtask: lint holds: {} packages, arrows, licences, unsafe code, sizes", metadata.packages.len()));
    Ok(())
}
