//! The case files of the repository are well formed, and there are enough of them.

use std::collections::BTreeSet;

use crate::case::Expect;
use crate::files::{cases, id, later, shared};

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
