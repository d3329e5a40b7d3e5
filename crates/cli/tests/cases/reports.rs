//! The reports of users: each by its id, with what is said to it today, or left for later by name.

use std::collections::{BTreeMap, BTreeSet};

use crate::case::Case;
use crate::files::{cases, id, later, shared};
use crate::said::{needs_gate, say};

#[test]
fn every_report_is_listed_with_its_verdict_or_left_for_later_by_name() {
    let Some(reports) = shared("reports.jsonl") else { return };
    let (cases, later) = (cases(""), later());
    let mut told: BTreeMap<&str, Vec<&Case>> = BTreeMap::new();
    for case in cases.iter().filter(|case| case.file() == "reports.cases") {
        told.entry(case.comment.split(' ').next().unwrap_or_default()).or_default().push(case);
    }
    let (mut listed, mut left) = (0, BTreeSet::new());
    for id in reports.lines().map(id) {
        match told.get(id.as_str()) {
            Some(lines) => {
                listed += 1;
                println!("{id}  {}", lines.iter().map(|case| verdict(case)).collect::<Vec<_>>().join("; "));
            }
            None => drop(left.insert(id)),
        }
    }
    println!("reports: {listed} listed; {} left for later: {}", left.len(), words(&left));
    assert_eq!(left, later, "what is left for later is what `reports-later.tsv` names");
}

fn verdict(case: &Case) -> String {
    if needs_gate(case) { "judged at a whole gate".to_owned() } else { say(case).to_string() }
}

fn words(ids: &BTreeSet<String>) -> String {
    ids.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}
