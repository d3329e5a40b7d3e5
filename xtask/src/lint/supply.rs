//! Licences, bans and sources of everything we are built from, as `deny.toml` says.
//!
//! `deny.toml` is in cargo-deny's format and says nothing that only this reader understands; see
//! `docs/adr/0003-supply-checks.md` for why cargo-deny itself is not started.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;

use super::spdx::is_covered;
use crate::command::{Failed, read};
use crate::metadata::{Metadata, Package};

/// The part of `deny.toml` that is checked here.
#[derive(Debug, Deserialize)]
struct Rules {
    licenses: Licences,
    bans: Bans,
}

#[derive(Debug, Deserialize)]
struct Licences {
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    deny: Vec<Ban>,
}

#[derive(Debug, Deserialize)]
struct Ban {
    #[serde(rename = "crate")]
    name: String,
    reason: String,
}

/// Complains about every package with a licence, a name or a source that is not accepted.
pub(crate) fn check(metadata: &Metadata, file: &Path) -> Result<Vec<String>, Failed> {
    let why = |error: toml::de::Error| Failed::Content { path: file.to_owned(), why: error.to_string() };
    let rules: Rules = toml::from_str(&read(file)?).map_err(why)?;
    Ok(metadata.packages.iter().flat_map(|package| complain(package, &rules)).collect())
}

fn complain(package: &Package, rules: &Rules) -> Vec<String> {
    let named = format!("supply: `{} {}`", package.name, package.version);
    let mut complaints = Vec::new();
    match package.license.as_deref() {
        None => complaints.push(format!("{named} names no licence")),
        Some(licence) if !is_covered(licence, &rules.licenses.allow) => {
            complaints.push(format!("{named} is under `{licence}`, which deny.toml does not accept"));
        }
        Some(_) => {}
    }
    if let Some(ban) = rules.bans.deny.iter().find(|ban| ban.name == package.name) {
        complaints.push(format!("{named} is banned: {}", ban.reason));
    }
    if package.source.as_deref().is_some_and(|source| !source.starts_with("registry+")) {
        complaints.push(format!("{named} comes from outside the registry; a lock file cannot vouch for it"));
    }
    complaints
}

/// Complains about every dependency of the workspace that nobody accounts for.
pub(crate) fn accounted(manifest: &Path, account: &Path) -> Result<Vec<String>, Failed> {
    let why = |error: toml::de::Error| Failed::Content { path: manifest.to_owned(), why: error.to_string() };
    let manifest: toml::Table = toml::from_str(&read(manifest)?).map_err(why)?;
    Ok(unaccounted(&manifest, &read(account)?))
}

fn unaccounted(manifest: &toml::Table, account: &str) -> Vec<String> {
    let words: BTreeSet<&str> = account.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').collect();
    let dependencies =
        manifest.get("workspace").and_then(|table| table.get("dependencies")).and_then(toml::Value::as_table);
    let others = dependencies.into_iter().flatten().filter(|(_, value)| value.get("path").is_none());
    let missing = others.filter(|(name, _)| !words.contains(name.as_str()));
    missing.map(|(name, _)| format!("supply: `{name}` has no line in docs/adr/dependencies.md")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, license: Option<&str>, source: Option<&str>) -> Package {
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest_path: "Cargo.toml".into(),
            dependencies: Vec::new(),
            targets: Vec::new(),
        }
    }

    fn complaints(package: &Package) -> Vec<String> {
        let rules =
            "[licenses]\nallow = [\"MIT\"]\n[bans]\ndeny = [{ crate = \"bad\", reason = \"it phones home\" }]\n";
        complain(package, &toml::from_str(rules).unwrap())
    }

    #[test]
    fn an_accepted_package_of_the_registry_passes() {
        assert_eq!(complaints(&package("good", Some("MIT"), Some("registry+index"))), [""; 0]);
        assert_eq!(complaints(&package("ours", Some("MIT"), None)), [""; 0]);
    }

    #[test]
    fn each_rule_complains() {
        assert_eq!(complaints(&package("good", Some("GPL-3.0-only"), None)).len(), 1);
        assert_eq!(complaints(&package("good", None, None)).len(), 1);
        assert_eq!(complaints(&package("bad", Some("MIT"), None)), ["supply: `bad 1.0.0` is banned: it phones home"]);
        assert_eq!(complaints(&package("good", Some("MIT"), Some("git+somewhere"))).len(), 1);
    }

    #[test]
    fn a_dependency_needs_a_line() {
        let manifest = "[workspace.dependencies]\nours = { path = \"a\" }\ntoml = \"1\"\ntoml_edit = \"1\"\n";
        let missing = unaccounted(&toml::from_str(manifest).unwrap(), "| toml | reads files | 19 |");
        assert_eq!(missing, ["supply: `toml_edit` has no line in docs/adr/dependencies.md"]);
    }
}
