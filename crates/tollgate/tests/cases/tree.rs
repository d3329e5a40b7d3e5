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

#[test]
fn every_report_is_a_case_or_named_as_later() {
    let Some(reports) = shared("reports.jsonl") else { return };
    let later = later();
    let cases = cases("");
    let told: BTreeSet<&str> = cases.iter().filter_map(|case| case.comment.split(' ').next()).collect();
    let ids: Vec<String> = reports.lines().map(id).collect();
    let forgotten: Vec<&String> = ids.iter().filter(|id| !told.contains(id.as_str()) && !later.contains(*id)).collect();
    println!("reports: {} in all, {} left for later", ids.len(), later.len());
    assert_eq!(forgotten, [""; 0]);
    let both: Vec<&String> = later.iter().filter(|id| told.contains(id.as_str())).collect();
    assert_eq!(both, [""; 0], "these are cases, and so no longer for later");
}

fn id(line: &str) -> String {
    let report: serde_json::Value = serde_json::from_str(line).unwrap();
    report["id"].as_str().unwrap().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "the list lies in a file")]
fn later() -> BTreeSet<String> {
    let text = std::fs::read_to_string(dir("").join("reports-later.tsv")).unwrap();
    text.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

/// A list that is shared with the project and not part of it; skipped visibly where it is absent.
#[expect(clippy::disallowed_methods, reason = "the list lies in a file that an environment variable may name")]
pub(crate) fn shared(name: &str) -> Option<String> {
    let beside = dir("../../shared");
    let dir = std::env::var_os("TOLLGATE_SHARED").map_or(beside, PathBuf::from);
    let text = std::fs::read_to_string(dir.join("cases").join(name)).ok();
    if text.is_none() {
        println!("skipped: no shared/cases/{name} beside the workspace, and TOLLGATE_SHARED is not set");
    }
    text
}
