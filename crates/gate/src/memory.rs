//! Between the rows that the ledger keeps and the state that guards read.

use std::collections::BTreeMap;

use tollgate_call::action::{ActionKind, Flow, Peer, Target, Why};
use tollgate_call::address::{AddressClass, HostClass, WebAddress, judge_host, split_port};
use tollgate_call::facts::{Fact, Facts};
use tollgate_call::places::Place;
use tollgate_call::run_state::{End, Labels, PastCall, RunState};
use tollgate_call::{Call, Tool};
use tollgate_ledger::{
    self as ledger, CallRow, DenialRow, Digest, GivenKind, OutcomeClass, RunNote, RunRows, Scrubber, WrittenFile,
};

use crate::permit::Report;

/// The state that the rows tell.
pub(crate) fn state(rows: &RunRows) -> RunState {
    RunState {
        labels: Labels {
            untrusted: rows.labels.contains(ledger::Labels::UNTRUSTED),
            sensitive: rows.labels.contains(ledger::Labels::SENSITIVE),
            control: rows.labels.contains(ledger::Labels::CONTROL),
        },
        recent: rows.calls.iter().map(past).collect(),
        denied: rows.denials.iter().map(|row| *row.intent.bytes()).collect(),
        given: rows.given.iter().map(|given| *given.address.bytes()).collect(),
        written: rows.written.iter().map(|file| *file.path.bytes()).collect(),
        content: content(&rows.written),
    }
}

/// The last content of each written path, whatever the order of writing.
fn content(written: &[WrittenFile]) -> [u8; 32] {
    let last: BTreeMap<&[u8; 32], &[u8; 32]> =
        written.iter().map(|file| (file.path.bytes(), file.content.bytes())).collect();
    let mut all = Vec::with_capacity(last.len() * 64);
    for (path, content) in last {
        all.extend_from_slice(path);
        all.extend_from_slice(content);
    }
    *Digest::of(&all).bytes()
}

fn past(row: &CallRow) -> PastCall {
    let end = match (row.outcome, row.changed_state) {
        (OutcomeClass::Open, _) => End::Open,
        (OutcomeClass::Refused, _) => End::Denied,
        (OutcomeClass::Failed | OutcomeClass::TimedOut, _) => End::Failed,
        (OutcomeClass::Done, true) => End::Changed,
        (OutcomeClass::Done, false) => End::Read,
    };
    PastCall { call: *row.call.bytes(), result: row.result.as_ref().map(|digest| *digest.bytes()), end }
}

/// The labels that performing this call raises, before it is performed.
pub(crate) fn labels(call: &Call, facts: &Facts) -> Option<RunNote> {
    let mut labels = ledger::Labels::NONE;
    if matches!(call.tool(), Tool::WebFetch { .. }) {
        labels = labels.union(ledger::Labels::UNTRUSTED);
    }
    for action in call.actions() {
        labels = labels.union(raised(&action.kind, facts));
    }
    (labels != ledger::Labels::NONE).then_some(RunNote::Raise(labels))
}

fn raised(kind: &ActionKind, facts: &Facts) -> ledger::Labels {
    match kind {
        ActionKind::Read(target) if is_secret(target, facts) => ledger::Labels::SENSITIVE,
        ActionKind::Connect(connect) if connect.flow == Flow::Fetch && !is_here(&connect.peer) => {
            ledger::Labels::UNTRUSTED
        }
        // What a tool of somebody else returns, somebody else wrote.
        ActionKind::Opaque(Why::UnknownTool(_)) => ledger::Labels::UNTRUSTED,
        ActionKind::Control(_) | ActionKind::Persist(_) => ledger::Labels::CONTROL,
        ActionKind::Write(target, _) if is_protected(target, facts) => ledger::Labels::CONTROL,
        ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Execute(_)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => ledger::Labels::NONE,
    }
}

/// A server of this machine: what it says, the developer's own programs say.
fn is_here(peer: &Peer) -> bool {
    let host = match peer {
        Peer::Url(url) => WebAddress::parse(url).ok().map(|address| address.host),
        Peer::Host(text) => split_port(text).ok().map(|(host, _)| judge_host(host)),
        Peer::Remote(_) | Peer::Registry(_) | Peer::Service(_) | Peer::Opaque(_) => None,
    };
    matches!(host, Some(HostClass::Loopback(_) | HostClass::Address(_, AddressClass::Loopback)))
}

/// A pattern reads whatever it matches; a search through a tree leaves secrets out.
fn is_secret(target: &Target, facts: &Facts) -> bool {
    let secret = |abs: &String| {
        facts.paths.get(abs).is_some_and(|fact| {
            fact.place == Place::Credential || fact.protection.is_some_and(|protection| protection.is_secret())
        })
    };
    match target {
        Target::Path(path) => secret(&path.abs),
        Target::Glob(path) => {
            facts.expansions.get(&path.abs).and_then(Fact::known).is_some_and(|found| found.matches.iter().any(secret))
        }
        Target::Beneath(_) | Target::Opaque(_) => false,
    }
}

fn is_protected(target: &Target, facts: &Facts) -> bool {
    let Target::Path(path) = target else { return false };
    facts.paths.get(&path.abs).is_some_and(|fact| fact.protection.is_some())
}

/// Remembers a denial by what was wanted.
pub(crate) fn denied(call: &Call, rule: &str) -> RunNote {
    RunNote::Denied(DenialRow { intent: Digest::from(call.intent()), rule: rule.to_owned() })
}

/// Most URLs that one message gives.
const MAX_GIVEN: usize = 64;

/// Remembers the URLs in a message of the user, and their hosts.
pub(crate) fn given(message: &str, scrubber: &Scrubber) -> Vec<RunNote> {
    let notes = |address: WebAddress| {
        let host = ledger::Given::new(GivenKind::Host, &address.host_name(), scrubber);
        [host, ledger::Given::new(GivenKind::Url, &address.url, scrubber)]
    };
    urls(message).flat_map(notes).map(RunNote::Given).collect()
}

/// Remembers the URLs that a report says a search returned. Their hosts are not given: others chose them.
pub(crate) fn found(report: &Report, scrubber: &Scrubber) -> Vec<RunNote> {
    urls(&report.found)
        .map(|address| RunNote::Given(ledger::Given::new(GivenKind::Url, &address.url, scrubber)))
        .collect()
}

fn urls(text: &str) -> impl Iterator<Item = WebAddress> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '"' | '`' | '(' | ')' | ','));
    words
        .filter_map(|word| WebAddress::parse(word.trim_end_matches(['.', ';', ':', '!', '?', '\'', '\\'])).ok())
        .take(MAX_GIVEN)
}

/// Remembers how a call ended.
pub(crate) fn finished(seq: u64, report: &Report) -> RunNote {
    RunNote::Finished(ledger::Finish {
        seq,
        result: Some(report.digest()),
        outcome: crate::journal::class(report.end),
        changed_state: report.changed,
    })
}

/// Remembers the files that a report says were written.
pub(crate) fn written(report: &Report, scrubber: &Scrubber) -> Vec<RunNote> {
    let note =
        |(path, content): &(String, [u8; 32])| RunNote::Wrote(WrittenFile::new(path, Digest::from(*content), scrubber));
    report.wrote.iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_gives_its_urls_with_their_hosts_and_no_others() {
        let message =
            "Read <https://Docs.Example/a>, then (http://b.example:8080/x). Not ftp://c.example or d.example.";
        let shown: Vec<String> = given(message, &Scrubber::formats_only())
            .into_iter()
            .filter_map(|note| if let RunNote::Given(given) = note { Some(given.shown.to_text()) } else { None })
            .collect();
        let urls = ["https://docs.example/a", "http://b.example:8080/x"];
        assert_eq!(shown, ["docs.example", urls[0], "b.example", urls[1]]);
    }
}
