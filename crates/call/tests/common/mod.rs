//! Shows actions in few words, so that tables of tests can be read.

use tollgate_call::ActionKind;
use tollgate_call::action::{
    AgentRights, Control, Depth, Flow, ListenScope, Peer, Program, Publish, Signal, Standing, Target, WriteHow,
};
use tollgate_call::shell::{Script, Setting, read};

/// Where the tests' commands run.
pub(crate) const SETTING: Setting<'static> = Setting { cwd: "/w", home: "/home/u", user: "u" };

/// Reads a command in [`SETTING`].
pub(crate) fn script(command: &str) -> Script {
    read(command, &SETTING)
}

/// The actions of a command, in few words each.
pub(crate) fn shown(command: &str) -> Vec<String> {
    script(command).actions.iter().map(|action| show(&action.kind)).collect()
}

/// Whether any action of `command` starts with `wanted`.
pub(crate) fn does(command: &str, wanted: &str) -> bool {
    shown(command).iter().any(|action| action.starts_with(wanted))
}

/// Fails unless every command does what stands beside it, and its twin does not.
#[track_caller]
pub(crate) fn twins(table: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (command, wanted, twin) in table {
        if !does(command, wanted) {
            wrong.push(format!("`{command}` must: {wanted}\n    but: {:?}", shown(command)));
        }
        if does(twin, wanted) {
            wrong.push(format!("`{twin}` must not: {wanted}\n    but: {:?}", shown(twin)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Fails unless every command does what stands beside it.
#[track_caller]
pub(crate) fn all(table: &[(&str, &str)]) {
    let wrong: Vec<String> = table
        .iter()
        .filter(|(command, wanted)| !does(command, wanted))
        .map(|(command, wanted)| format!("`{command}` must: {wanted}\n    but: {:?}", shown(command)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn show(kind: &ActionKind) -> String {
    match kind {
        ActionKind::Read(at) => format!("read {}", target(at)),
        ActionKind::Write(at, how) => format!("{} {}", write(*how), target(at)),
        ActionKind::Delete(at, Depth::Single) => format!("delete {}", target(at)),
        ActionKind::Delete(at, Depth::Recursive) => format!("delete-tree {}", target(at)),
        ActionKind::Move(from, to) => format!("move {} {}", target(from), target(to)),
        ActionKind::Execute(it) => format!("run {} {}", program(&it.program), standing(&it.standing)),
        ActionKind::Connect(it) => format!("{} {}", flow(it.flow), peer(&it.peer)),
        ActionKind::Listen(it) => {
            format!("listen-{} {}", if it.scope == ListenScope::Wide { "wide" } else { "loopback" }, it.text)
        }
        ActionKind::Message(to) => format!("message {to}"),
        ActionKind::Spend(what) => format!("spend {what}"),
        ActionKind::Install(it) => format!("install {:?} {:?} {}", it.scope, it.source, it.manager),
        ActionKind::Privilege(what) => format!("privilege {what}"),
        ActionKind::Persist(what) => format!("persist {what}"),
        ActionKind::Control(it) => control(it),
        ActionKind::Publish(it) => publish(it),
        ActionKind::Destroy(it) => format!("destroy {:?} {}", it.class, it.what),
        ActionKind::Signal(it) => match it {
            Signal::Pid(pids) => format!("signal {}", pids.join(" ")),
            Signal::Job => "signal a job".to_owned(),
            Signal::Name(name) => format!("signal-name {name}"),
            Signal::All(what) => format!("signal-all {what}"),
        },
        ActionKind::Opaque(why) => format!("opaque {why:?}"),
    }
}

fn target(at: &Target) -> String {
    match at {
        Target::Path(path) => path.abs.clone(),
        Target::Glob(path) => format!("glob {}", path.abs),
        Target::Beneath(path) => format!("beneath {}", path.abs),
        Target::Opaque(why) => format!("opaque {why:?}"),
    }
}

fn write(how: WriteHow) -> &'static str {
    match how {
        WriteHow::Replace => "write",
        WriteHow::Change => "change",
        WriteHow::Metadata => "chmod",
        WriteHow::MakeDir => "mkdir",
        WriteHow::Link => "link",
    }
}

fn program(it: &Program) -> String {
    match it {
        Program::Name(name) => name.clone(),
        Program::Path(path) => path.abs.clone(),
        Program::Opaque(why) => format!("opaque {why:?}"),
    }
}

fn standing(it: &Standing) -> String {
    match it {
        Standing::Row => "row".to_owned(),
        Standing::Builtin => "builtin".to_owned(),
        Standing::NoRow => "unknown".to_owned(),
        Standing::File(path) => format!("file {}", path.abs),
        Standing::Project => "project".to_owned(),
        Standing::Inline(_) => "inline".to_owned(),
    }
}

fn flow(flow: Flow) -> &'static str {
    match flow {
        Flow::Fetch => "fetch",
        Flow::Send => "send",
        Flow::Session => "session",
    }
}

fn peer(it: &Peer) -> String {
    match it {
        Peer::Url(text) | Peer::Host(text) => text.clone(),
        Peer::Remote(name) => format!("remote {name}"),
        Peer::Registry(name) => format!("registry {name}"),
        Peer::Service(name) => format!("service {name}"),
        Peer::Opaque(why) => format!("opaque {why:?}"),
    }
}

fn control(it: &Control) -> String {
    match it {
        Control::Environment(what) => format!("control env {what}"),
        Control::Configuration(what) => format!("control config {what}"),
        Control::Traces(what) => format!("control traces {what}"),
        Control::Guard(what) => format!("control guard {what}"),
        Control::Agent(AgentRights::Inherited) => "control agent".to_owned(),
        Control::Agent(AgentRights::Raised) => "control agent raised".to_owned(),
    }
}

fn publish(it: &Publish) -> String {
    match it {
        Publish::Push(push) => {
            format!(
                "push {:?} deletes={} {} {}",
                push.force,
                push.deletes,
                push.remote.as_deref().unwrap_or("-"),
                push.refs.join(",")
            )
        }
        Publish::Package(what) => format!("publish package {what}"),
        Publish::Deploy(what) => format!("publish deploy {what}"),
        Publish::Post(what) => format!("publish post {what}"),
        Publish::Upload(what) => format!("publish upload {what}"),
    }
}
