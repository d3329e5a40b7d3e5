//! Actions in words and as JSON: the wire form of `check`, version-free and stable.

use serde_json::{Value, json};
use tollgate::call::Action;
use tollgate::call::action::{
    ActionKind, Connect, Control, Destroy, Execute, Install, Listen, PathRef, Peer, Program, Publish, Push, Signal,
    Target,
};
use tollgate::policy::ActionName;

/// One action: its kind as policy files name it, what it is about, and which simple command it belongs to.
pub(super) fn action(action: &Action) -> Value {
    json!({ "action": ActionName::of(&action.kind).as_str(), "on": on(&action.kind), "part": action.part })
}

/// One action as a sentence without a subject.
pub(super) fn words(kind: &ActionKind) -> String {
    let verb = match kind {
        ActionKind::Read(_) => "reads",
        ActionKind::Write(..) => "writes",
        ActionKind::Delete(..) => "deletes",
        ActionKind::Move(..) => "moves",
        ActionKind::Execute(_) => "runs",
        ActionKind::Connect(_) => "reaches",
        ActionKind::Listen(_) => "listens as",
        ActionKind::Message(_) => "sends a message to",
        ActionKind::Spend(_) => "spends",
        ActionKind::Install(_) => "installs with",
        ActionKind::Privilege(_) => "changes rights:",
        ActionKind::Persist(_) => "outlives the call:",
        ActionKind::Control(_) => "changes what runs later:",
        ActionKind::Publish(_) => "publishes to",
        ActionKind::Destroy(_) => "destroys",
        ActionKind::Signal(_) => "signals",
        ActionKind::Opaque(_) => "does what cannot be known before it runs",
    };
    match on(kind) {
        unknown if unknown == "?" => verb.to_owned(),
        on => format!("{verb} {on}"),
    }
}

/// What an action is about.
fn on(kind: &ActionKind) -> String {
    match kind {
        ActionKind::Read(at) | ActionKind::Write(at, _) | ActionKind::Delete(at, _) => target(at),
        ActionKind::Move(from, to) => format!("{} to {}", target(from), target(to)),
        ActionKind::Execute(Execute { program, .. }) => match program {
            Program::Name(name) => name.clone(),
            Program::Path(PathRef { abs, .. }) => abs.clone(),
            Program::Opaque(_) => "?".to_owned(),
        },
        ActionKind::Connect(Connect { peer, .. }) => peer_name(peer),
        ActionKind::Listen(Listen { text, .. })
        | ActionKind::Message(text)
        | ActionKind::Spend(text)
        | ActionKind::Privilege(text)
        | ActionKind::Persist(text) => text.clone(),
        ActionKind::Install(Install { manager, .. }) => manager.clone(),
        ActionKind::Control(control) => control_text(control),
        ActionKind::Publish(publish) => publish_text(publish),
        ActionKind::Destroy(Destroy { what, .. }) => what.clone(),
        ActionKind::Signal(signal) => match signal {
            Signal::Pid(pids) => pids.join(" "),
            Signal::Job => "own jobs".to_owned(),
            Signal::Name(text) | Signal::All(text) => text.clone(),
        },
        ActionKind::Opaque(_) => "?".to_owned(),
    }
}

fn target(target: &Target) -> String {
    match target {
        Target::Path(path) | Target::Glob(path) => path.abs.clone(),
        Target::Beneath(path) => format!("{}/**", path.abs),
        Target::Opaque(_) => "?".to_owned(),
    }
}

fn peer_name(peer: &Peer) -> String {
    match peer {
        Peer::Url(text) | Peer::Host(text) | Peer::Remote(text) | Peer::Registry(text) | Peer::Service(text) => {
            text.clone()
        }
        Peer::Opaque(_) => "?".to_owned(),
    }
}

fn control_text(control: &Control) -> String {
    match control {
        Control::Environment(text) | Control::Configuration(text) | Control::Traces(text) | Control::Guard(text) => {
            text.clone()
        }
        Control::Agent(_) => "another agent".to_owned(),
    }
}

fn publish_text(publish: &Publish) -> String {
    match publish {
        Publish::Push(Push { remote, refs, .. }) => {
            format!("{} {}", remote.as_deref().unwrap_or("remote"), refs.join(" "))
        }
        Publish::Package(text) | Publish::Deploy(text) | Publish::Post(text) | Publish::Upload(text) => text.clone(),
    }
}
