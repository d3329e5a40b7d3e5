//! What each of our crates must carry: the shared lints, no unsafe code, the strict clippy table.

use std::path::Path;

use crate::command::{Failed, read};
use crate::metadata::{Metadata, Package, Target};

/// The one crate with unsafe code, in one module.
const UNSAFE: &str = "tollgate-act";

/// Crates that touch the machine and so carry a clippy table of their own. clippy takes the nearest
/// file and does not merge, so a file anywhere else would switch the strict table off.
const LOOSER: &[&str] = &["tollgate-act", "tollgate-survey", "tollgate-ledger", "tollgate-cli", "xtask"];

/// Complains about every crate that lacks what it must carry.
pub(crate) fn check(metadata: &Metadata) -> Result<Vec<String>, Failed> {
    let mut complaints = Vec::new();
    for package in metadata.members() {
        complaints.extend(manifest(package)?);
        complaints.extend(clippy(package));
        for target in package.targets.iter().filter(|target| is_product(target)) {
            complaints.extend(unsafe_code(package, target, &read(&target.src_path)?));
        }
    }
    Ok(complaints)
}

fn is_product(target: &Target) -> bool {
    target.kind.iter().any(|kind| kind == "lib" || kind == "bin")
}

fn manifest(package: &Package) -> Result<Option<String>, Failed> {
    let text = read(&package.manifest_path)?;
    let why = |error: toml::de::Error| Failed::Content { path: package.manifest_path.clone(), why: error.to_string() };
    let table: toml::Table = toml::from_str(&text).map_err(why)?;
    let shared = table.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
    let complaint =
        || format!("crates: `{}` does not take the workspace's lints (`[lints] workspace = true`)", package.name);
    Ok((shared != Some(true)).then(complaint))
}

fn clippy(package: &Package) -> Option<String> {
    let own = package.manifest_path.with_file_name("clippy.toml").exists();
    let looser = LOOSER.contains(&package.name.as_str());
    (own && !looser)
        .then(|| format!("crates: `{}` must not have a clippy.toml: the strict one is its own", package.name))
}

fn unsafe_code(package: &Package, target: &Target, text: &str) -> Option<String> {
    let may = package.name == UNSAFE && target.kind.iter().any(|kind| kind == "lib");
    let wanted = if may { "#![deny(unsafe_code)]" } else { "#![forbid(unsafe_code)]" };
    let has = text.lines().any(|line| line.trim() == wanted);
    (!has).then(|| format!("crates: `{}` of `{}` lacks `{wanted}`", file_name(&target.src_path), package.name))
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
