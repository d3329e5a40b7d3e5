//! Where the case files lie, and the lists beside them.
//!
//! Tests of other doors include this file by path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::case::{Case, read_dir};
use crate::disk;

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

/// Calls whose line is right and whose rule is on its way, as `TOOL ARGUMENTS`.
pub(crate) fn pending() -> BTreeSet<String> {
    let list = disk::text(&dir("").join("pending.txt")).unwrap_or_default();
    list.lines().map(str::to_owned).collect()
}

/// The id of a report, one JSON object a line.
pub(crate) fn id(line: &str) -> String {
    let report: serde_json::Value = serde_json::from_str(line).unwrap();
    report["id"].as_str().unwrap().to_owned()
}

/// The reports that are left for later.
pub(crate) fn later() -> BTreeSet<String> {
    let text = disk::text(&dir("").join("reports-later.tsv")).unwrap();
    text.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect()
}

/// A list that is shared with the project and not part of it; skipped visibly where it is absent.
pub(crate) fn shared(name: &str) -> Option<String> {
    let beside = dir("../../shared");
    let dir = disk::variable("TOLLGATE_SHARED").map_or(beside, PathBuf::from);
    let text = disk::text(&dir.join("cases").join(name)).ok();
    if text.is_none() {
        println!("skipped: no shared/cases/{name} beside the workspace, and TOLLGATE_SHARED is not set");
    }
    text
}
