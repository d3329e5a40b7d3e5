//! What came of the lines at one door: counted, printed, and every mismatch named.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tollgate_policy::Decision;

use crate::case::{Case, Expect};
use crate::said::{Said, holds, say};

/// What a door that acts, or whose host does, answered to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Heard {
    /// It may happen.
    Yes,
    /// It may not, by this rule.
    No(String),
}

/// Says at a door without a human that a question was refused.
const NOBODY: &str = "approval.none";

impl Heard {
    /// Whether this is what the line wants, where a question nobody answers is a no.
    pub(crate) fn is_wanted(&self, case: &Case) -> bool {
        let Self::No(rule) = self else {
            return matches!(case.expect, Expect::Allow | Expect::OpenHole);
        };
        match case.expect {
            Expect::Allow => false,
            Expect::Ask => rule == NOBODY || case.names(rule),
            Expect::Deny => case.names(rule),
            Expect::Block => rule == NOBODY || case.names(rule),
            Expect::OpenHole => rule != NOBODY && !case.names(rule),
            Expect::OpenAlarm => true,
        }
    }

    /// Whether the library says the same.
    pub(crate) fn agrees(&self, said: &Said) -> bool {
        match (self, said.decision) {
            (Self::Yes, decision) => decision == Decision::Allow,
            (Self::No(rule), Decision::Ask) => rule == NOBODY || said.rules.contains(rule),
            (Self::No(rule), Decision::Deny) => said.rules.contains(rule),
            (Self::No(_), Decision::Allow) => false,
        }
    }
}

impl fmt::Display for Heard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Yes => write!(out, "allow"),
            Self::No(rule) => write!(out, "no, {rule}"),
        }
    }
}

/// The counts of one door.
pub(crate) struct Tally {
    door: &'static str,
    held: usize,
    otherwise: Vec<String>,
    pending: usize,
    skipped: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Tally {
    /// Nothing counted yet.
    pub(crate) const fn of(door: &'static str) -> Self {
        Self { door, held: 0, otherwise: Vec::new(), pending: 0, skipped: BTreeMap::new(), wrong: Vec::new() }
    }

    /// The line is answered as it wants.
    pub(crate) const fn held(&mut self) {
        self.held += 1;
    }

    /// The line is answered as the library answers it where this door stands: on real files, or in the box.
    pub(crate) fn otherwise(&mut self, case: &Case, heard: &str) {
        self.otherwise.push(format!("{} {heard}", case.id));
    }

    /// The line waits for its rule.
    pub(crate) const fn pending(&mut self) {
        self.pending += 1;
    }

    /// The line cannot be put at this door.
    pub(crate) fn skipped(&mut self, why: &'static str) {
        *self.skipped.entry(why).or_default() += 1;
    }

    /// The line is answered wrongly.
    pub(crate) fn wrong(&mut self, case: &Case, heard: &str, wanted: &str) {
        let args: String = case.args.chars().take(300).collect();
        self.wrong.push(format!("{}: wanted {wanted}, heard {heard}: {} {args}", case.id, case.tool));
    }

    /// Weighs an answer of a door that acts: as the line wants it, waiting, as the library says, or wrong.
    pub(crate) fn weigh(&mut self, case: &Case, heard: &Heard, said: &[Said], pending: &BTreeSet<String>) {
        let line = say(case);
        if heard.is_wanted(case) || (holds(case, &line) && heard.agrees(&line)) {
            self.held();
        } else if pending.contains(&case.text()) {
            self.pending();
        } else if said.iter().any(|said| heard.agrees(said)) {
            self.otherwise(case, &heard.to_string());
        } else {
            let library = said.iter().map(Said::to_string).collect::<Vec<_>>().join(" or ");
            let wanted = format!("{:?} {}; the library: {library}", case.expect, case.rules.join("|"));
            self.wrong(case, &heard.to_string(), &wanted);
        }
    }

    /// Prints the counts, and fails where a line was answered wrongly or too few lines were put.
    pub(crate) fn close(self, at_least: usize) {
        let Self { door, held, otherwise, pending, skipped, wrong } = self;
        let run = held + otherwise.len() + pending + wrong.len();
        println!("{door}: {run} run, {} skipped, {pending} pending", skipped.values().sum::<usize>());
        for (why, count) in &skipped {
            println!("{door}: {count} skipped: {why}");
        }
        if !otherwise.is_empty() {
            println!(
                "{door}: {} as the library says where this door stands: {}",
                otherwise.len(),
                otherwise.join("; ")
            );
        }
        assert!(wrong.is_empty(), "{} line(s) are wrong at the {door} door:\n{}", wrong.len(), wrong.join("\n"));
        assert!(run >= at_least, "only {run} lines were put at the {door} door");
    }
}
