//! The case files of the repository are well formed, and there are enough of them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::case::{Case, Expect, read_dir};

/// A directory of case files.
pub(crate) fn dir(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(name)
}

/// All cases of a directory; every bad line is named.
pub(crate) fn cases(name: &str) -> Vec<Case> {
    read_dir(&dir(name)).unwrap_or_else(|bad| {
        let lines: Vec<String> = bad.iter().map(ToString::to_string).collect();
        panic!("bad lines in cases/{name}:\n{}", lines.join("\n"))
    })
}

#[test]
fn every_case_file_is_well_formed() {
    assert!(!cases("").is_empty());
    assert!(!cases("heldout").is_empty());
}

#[test]
fn no_call_is_listed_twice() {
    let mut seen = BTreeSet::new();
    let all = cases("").into_iter().chain(cases("heldout"));
    let twice: Vec<String> = all
        .filter(|case| !seen.insert(format!("{:?} {} {}", case.world, case.tool, case.args)))
        .map(|case| case.id)
        .collect();
    assert_eq!(twice, [""; 0]);
}

#[test]
fn alarms_and_attacks_are_both_plenty() {
    let all = cases("").into_iter().chain(cases("heldout"));
    let (quiet, loud): (Vec<_>, Vec<_>) =
        all.partition(|case| matches!(case.expect, Expect::Allow | Expect::OpenAlarm));
    println!("cases: {} that must pass, {} that must be stopped", quiet.len(), loud.len());
    assert!(quiet.len() >= 300 && loud.len() >= 450, "{} and {}", quiet.len(), loud.len());
}
