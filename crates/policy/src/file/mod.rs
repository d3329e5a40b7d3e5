//! Policy files: text of up to three layers becomes one [`Policy`], or diagnostics that point at the line.
//!
//! Parsing takes text, never paths: reading files is somebody else's, and this stays pure. The system layer
//! is a ceiling, the user layer the operator's will, and the project layer may only tighten.

mod dead;
mod diagnostic;
mod examples;
mod merge;
mod raw;
mod relay;

pub use diagnostic::{Diagnostic, Diagnostics};

use crate::policy::{Ground, Policy, PolicyError};
use crate::settings::Settings;
use raw::RawFile;

/// Whose file it is, which decides what it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// `/etc/tollgate`: a ceiling that no other layer lifts.
    System,
    /// The operator's own.
    User,
    /// Inside the workspace: it may tighten, never loosen.
    Project,
}

/// The text of one layer.
#[derive(Debug, Clone, Copy)]
pub struct Layer<'a> {
    /// Whose it is.
    pub kind: LayerKind,
    /// The file's name, for diagnostics.
    pub name: &'a str,
    /// Its content, TOML.
    pub text: &'a str,
}

impl Policy {
    /// Lays layers over one another, the system's first, and compiles the result.
    ///
    /// # Errors
    /// [`Diagnostics`], each pointing at a line: unknown keys, values out of bounds, entries beyond the
    /// ceiling, loosening by a project, and rules that could never decide anything.
    ///
    /// ```
    /// use tollgate_policy::{Ground, Layer, LayerKind, Policy, Profile};
    /// let ground = Ground { workspace: "/w", home: "/home/u" };
    /// let text = "profile = \"strict\"\n";
    /// let policy = Policy::from_layers(&[Layer { kind: LayerKind::User, name: "tollgate.toml", text }], &ground)?;
    /// assert_eq!(policy.settings().profile, Profile::Strict);
    /// # Ok::<(), tollgate_policy::Diagnostics>(())
    /// ```
    pub fn from_layers(layers: &[Layer<'_>], ground: &Ground<'_>) -> Result<Self, Diagnostics> {
        let mut sorted: Vec<&Layer<'_>> = layers.iter().collect();
        sorted.sort_by_key(|layer| layer.kind);
        let mut found = Vec::new();
        let mut settings = Settings::default();
        let mut ceiling = None;
        for layer in sorted {
            match read(layer) {
                Ok(file) => {
                    found.extend(dead::check(&file, layer));
                    let merging = merge::Merging { layer, ground, ceiling: ceiling.as_ref() };
                    found.extend(merging.apply(&file, &mut settings));
                    found.extend(file.rule.iter().flat_map(|rule| examples::check(&merging, rule)));
                    if layer.kind == LayerKind::System {
                        ceiling = Some(file);
                    }
                }
                Err(diagnostic) => found.push(*diagnostic),
            }
        }
        match Diagnostics::of(found) {
            Some(diagnostics) => Err(diagnostics),
            None => Self::new(settings, ground).map_err(|error| unplaced(&error)),
        }
    }
}

fn read(layer: &Layer<'_>) -> Result<RawFile, Box<Diagnostic>> {
    toml::from_str(layer.text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Box::new(Diagnostic::at(layer, span, error.message(), "docs/policy.md lists every key and its values"))
    })
}

/// Every entry was checked before, so that this cannot point at a line of its own.
fn unplaced(error: &PolicyError) -> Diagnostics {
    Diagnostics::one(Diagnostic::unplaced(error.to_string()))
}

#[cfg(test)]
mod tests;
