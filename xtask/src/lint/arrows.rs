//! The arrows between crates: who may use whom, and which crates of others stay where.

use crate::metadata::{Metadata, Package};

/// Our crates and what each may depend on; tests may use more.
const ARROWS: &[(&str, &[&str])] = &[
    ("tollgate-call", &[]),
    ("tollgate-policy", &["tollgate-call"]),
    ("tollgate-survey", &["tollgate-call"]),
    ("tollgate-ledger", &["tollgate-call"]),
    ("tollgate-gate", &["tollgate-call", "tollgate-survey", "tollgate-policy", "tollgate-ledger"]),
    ("tollgate-act", &["tollgate-call", "tollgate-survey", "tollgate-gate"]),
    (
        "tollgate",
        &["tollgate-call", "tollgate-survey", "tollgate-policy", "tollgate-gate", "tollgate-act", "tollgate-ledger"],
    ),
    ("tollgate-cli", &["tollgate"]),
    ("xtask", &[]),
];

/// Crates that judging must not be built from, however far down: each could do I/O, read a clock or
/// draw randomness.
const IMPURE: &[&str] = &["tokio", "reqwest", "hyper", "rustix", "nix", "rusqlite", "getrandom", "rand", "tempfile"];

/// The crates that judge.
const PURE: &[&str] = &["tollgate-call", "tollgate-policy"];

/// Crates of others that only one of ours may use, so that changing them stays one file's work.
const KEPT_IN: &[(&str, &str)] = &[
    ("shuck-parser", "tollgate-call"),
    ("shuck-ast", "tollgate-call"),
    ("genai", "tollgate-cli"),
    ("gix", "tollgate-survey"),
    ("rusqlite", "tollgate-ledger"),
];

/// Complains about every edge that the table does not allow.
pub(crate) fn check(metadata: &Metadata) -> Vec<String> {
    let mut complaints = Vec::new();
    let ours: Vec<&str> = metadata.members().map(|package| package.name.as_str()).collect();
    for package in metadata.members() {
        complaints.extend(edges(package, &ours));
        complaints.extend(kept(package));
        if PURE.contains(&package.name.as_str()) {
            complaints.extend(impure(metadata, package));
        }
    }
    complaints
}

fn edges(package: &Package, ours: &[&str]) -> Vec<String> {
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == package.name) else {
        return vec![format!("arrows: `{}` is not in the table of xtask/src/lint/arrows.rs", package.name)];
    };
    let wrong = package.uses().filter(|name| ours.contains(name) && !allowed.contains(name));
    wrong.map(|name| format!("arrows: `{}` must not depend on `{name}`; see ARCHITECTURE.md", package.name)).collect()
}

fn kept(package: &Package) -> Vec<String> {
    let elsewhere = |name: &&str| KEPT_IN.iter().any(|(kept, place)| kept == name && *place != package.name);
    let wrong = package.uses().filter(elsewhere);
    wrong
        .map(|name| format!("arrows: `{name}` is used in one crate only, and that is not `{}`", package.name))
        .collect()
}

fn impure(metadata: &Metadata, package: &Package) -> Vec<String> {
    let closure = metadata.closure(&package.id);
    let wrong = IMPURE.iter().filter(|name| closure.contains(**name));
    wrong.map(|name| format!("arrows: `{}` is built from `{name}`, but judging is pure", package.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(text: &str) -> Metadata {
        serde_json::from_str(text).unwrap()
    }

    fn workspace(name: &str, dependency: &str, kind: &str) -> Metadata {
        metadata(&format!(
            r#"{{"packages":[
                {{"id":"a","name":"{name}","version":"1.0.0","license":null,"source":null,"manifest_path":"/a/Cargo.toml",
                  "dependencies":[{{"name":"{dependency}","kind":{kind}}}],"targets":[]}},
                {{"id":"b","name":"{dependency}","version":"1.0.0","license":null,"source":null,"manifest_path":"/b/Cargo.toml",
                  "dependencies":[],"targets":[]}}],
              "workspace_members":["a","b"],
              "resolve":{{"nodes":[{{"id":"a","deps":[{{"pkg":"b","dep_kinds":[{{"kind":{kind}}}]}}]}},{{"id":"b","deps":[]}}]}}}}"#
        ))
    }

    #[test]
    fn judging_must_not_look() {
        let complaints = check(&workspace("tollgate-policy", "tollgate-survey", "null"));
        assert_eq!(complaints, ["arrows: `tollgate-policy` must not depend on `tollgate-survey`; see ARCHITECTURE.md"]);
    }

    #[test]
    fn judging_may_speak_the_words_of_call() {
        assert_eq!(check(&workspace("tollgate-policy", "tollgate-call", "null")), [""; 0]);
    }

    #[test]
    fn tests_may_use_what_the_crate_may_not() {
        assert_eq!(check(&workspace("tollgate-policy", "tollgate-survey", "\"dev\"")), [""; 0]);
    }

    #[test]
    fn an_impure_crate_is_found_below_a_pure_one() {
        let complaints = check(&workspace("tollgate-call", "getrandom", "null")).join("\n");
        assert!(complaints.contains("`tollgate-call` is built from `getrandom`"), "{complaints}");
    }

    #[test]
    fn a_parser_stays_in_its_crate() {
        let complaints = check(&workspace("tollgate-gate", "shuck-parser", "null")).join("\n");
        assert!(complaints.contains("`shuck-parser` is used in one crate only"), "{complaints}");
    }

    #[test]
    fn a_new_crate_needs_a_row() {
        let complaints = check(&workspace("tollgate-extra", "tollgate-call", "null")).join("\n");
        assert!(complaints.contains("`tollgate-extra` is not in the table"), "{complaints}");
    }
}
