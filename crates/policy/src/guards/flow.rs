//! Flow: what a run may still do once it has read text of others, or secrets.

use tollgate_call::action::{Action, ActionKind, Connect, Execute, Flow, Peer, Program, Standing, Target};
use tollgate_call::facts::{Fact, Tracked};

use super::loopback::is_here;
use super::network::known;
use crate::rule;
use crate::ruling::{Rulings, quoted};
use crate::subject::{Doer, View};

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    if !view.run.labels.untrusted {
        return;
    }
    match &action.kind {
        ActionKind::Control(_) => effect("changes what runs later", out),
        ActionKind::Publish(_) => effect("publishes", out),
        ActionKind::Message(_) => effect("sends a message", out),
        ActionKind::Spend(_) => effect("spends money", out),
        ActionKind::Destroy(destroy) if super::git::is_no_loss(view, destroy.class) => {}
        ActionKind::Destroy(_) => effect("destroys", out),
        ActionKind::Persist(_) | ActionKind::Privilege(_) => effect("outlives the call or changes rights", out),
        ActionKind::Delete(target, _) => delete(view, target, out),
        ActionKind::Connect(connect) => reach(view, connect, out),
        ActionKind::Execute(execute) => run(view, action.part, execute, out),
        ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Move(..)
        | ActionKind::Listen(_)
        | ActionKind::Install(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => {}
    }
}

fn effect(verb: &str, out: &mut Rulings) {
    out.ask(rule::FLOW_UNTRUSTED, format!("it {verb}, and this run has read text of others"))
        .instead("say what you want to do and why; the operator decides");
}

/// Undo restores what a file tool deletes, but only for somebody who notices.
fn delete(view: &View<'_>, target: &Target, out: &mut Rulings) {
    let kept = match target {
        Target::Path(path) => view.path(path).is_some_and(|fact| {
            matches!(fact.tracked, Fact::Known(Tracked::Clean | Tracked::Ignored)) || view.run.wrote(&fact.resolved)
        }),
        Target::Glob(_) | Target::Beneath(_) | Target::Opaque(_) => false,
    };
    if !kept {
        effect("deletes what version control does not keep", out);
    }
}

/// Elsewhere: not listed by policy. Remotes and registries are configured, by read they stay free.
fn reach(view: &View<'_>, connect: &Connect, out: &mut Rulings) {
    let shown = match &connect.peer {
        Peer::Remote(_) | Peer::Registry(_) => return,
        Peer::Service(name) => quoted(name),
        Peer::Opaque(_) => "a host that is not known".to_owned(),
        Peer::Url(text) | Peer::Host(text) => match known(&connect.peer, connect.flow) {
            Some(Ok(peer)) if view.policy.lists_host(&peer.name, peer.port.number()) => return,
            // What stays on this machine goes nowhere else; in the box not even what is sent.
            Some(Ok(peer)) if is_here(&peer.class) && (connect.flow == Flow::Fetch || view.in_box()) => return,
            Some(Ok(peer)) if is_given_page(view, peer.url.as_deref()) => return,
            Some(Ok(peer)) => quoted(&peer.name),
            Some(Err(_)) | None => quoted(text),
        },
    };
    if view.run.labels.sensitive {
        out.deny(rule::FLOW_EXFILTRATION, format!("it reaches {shown} after this run read secrets and text of others"))
            .instead("start a fresh run for what needs the network");
    } else {
        out.ask(rule::FLOW_UNTRUSTED, format!("it reaches {shown}, and this run has read text of others"))
            .instead("ask the operator for an `allow_hosts` entry");
    }
}

/// A page that the user or a search named letter by letter says nothing of what the run has read. Which one
/// of several is fetched could: with secrets at stake that is one bit too many.
fn is_given_page(view: &View<'_>, url: Option<&str>) -> bool {
    let fetched = view.subject.doer == Doer::Fetch && !view.run.labels.sensitive;
    fetched && url.is_some_and(|url| view.run.was_given(url))
}

/// Commands of a tainted run belong into the box; what only reads may stay outside.
fn run(view: &View<'_>, part: u32, execute: &Execute, out: &mut Rulings) {
    let harmless = match execute.standing {
        Standing::Builtin => true,
        Standing::Row => view.part_only_reads(part),
        Standing::NoRow | Standing::File(_) | Standing::Project | Standing::Inline(_) => false,
    };
    if harmless || view.in_box() {
        return;
    }
    let name = match &execute.program {
        Program::Name(name) => quoted(name),
        Program::Path(path) => quoted(&path.raw),
        Program::Opaque(_) => "a program".to_owned(),
    };
    out.ask(rule::FLOW_UNTRUSTED, format!("it runs {name} outside the box, and this run has read text of others"))
        .instead("run it through `tollgate exec`, in the box");
}
