//! Everything with an effect beyond files and connections: messages, money, rights, control, publication.

use tollgate_call::action::{
    Action, ActionKind, AgentRights, Control, Install, InstallScope, InstallSource, Publish, Signal,
};

use crate::rule;
use crate::ruling::{Rulings, quoted};
use crate::subject::View;

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match &action.kind {
        ActionKind::Message(to) => message(view, to, out),
        ActionKind::Spend(what) => {
            out.ask(rule::SPEND_MONEY, format!("it spends money: {}", quoted(what)));
        }
        ActionKind::Install(install) => self::install(install, out),
        ActionKind::Privilege(what) => {
            out.ask(rule::PRIVILEGE_RAISE, format!("it changes rights: {}", quoted(what)))
                .instead("do it without more rights, or ask the operator to do it");
        }
        ActionKind::Persist(what) => {
            out.ask(rule::PERSIST_OUTLIVES, format!("it outlives the call: {}", quoted(what)))
                .instead("run it in the foreground, with a time limit");
        }
        ActionKind::Control(control) => self::control(view, control, out),
        ActionKind::Publish(publish) => self::publish(publish, out),
        ActionKind::Signal(signal) => self::signal(view, signal, out),
        ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Execute(_)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Destroy(_)
        | ActionKind::Opaque(_) => {}
    }
}

fn message(view: &View<'_>, to: &str, out: &mut Rulings) {
    if !view.policy.lists_recipient(to) {
        out.ask(rule::MESSAGE_UNLISTED, format!("{} is not a listed recipient", quoted(to)))
            .instead("write to a listed recipient, or ask the operator to list this one");
    }
}

fn install(install: &Install, out: &mut Rulings) {
    let manager = quoted(&install.manager);
    match install.scope {
        InstallScope::Project => {}
        InstallScope::Global => {
            out.ask(rule::INSTALL_GLOBAL, format!("{manager} installs outside the project"))
                .instead("install into the project, such as a virtual environment");
        }
    }
    match install.source {
        InstallSource::Manifest | InstallSource::Registry => {}
        InstallSource::Direct => {
            out.ask(rule::INSTALL_DIRECT, format!("{manager} installs code that was not published to a registry"))
                .instead("install a published version");
        }
    }
}

fn control(view: &View<'_>, control: &Control, out: &mut Rulings) {
    match control {
        // What environment changes in the box stays in the box.
        Control::Environment(_) if view.box_pays() => {}
        Control::Environment(name) => {
            out.ask(rule::CONTROL_ENVIRONMENT, format!("{} makes other programs run code", quoted(name)))
                .instead("leave it unset, or name programs by path");
        }
        Control::Configuration(what) => {
            out.ask(rule::CONTROL_CONFIGURATION, format!("it changes what runs later: {}", quoted(what)))
                .instead("let the operator change it");
        }
        Control::Traces(what) => {
            out.ask(rule::CONTROL_TRACES, format!("it removes a record: {}", quoted(what))).instead("leave the record");
        }
        Control::Guard(what) => {
            out.deny(rule::CONTROL_GUARD, format!("it changes or switches off the guard: {}", quoted(what)))
                .instead("ask the operator");
        }
        Control::Agent(AgentRights::Inherited) => {
            out.ask(rule::CONTROL_AGENT, "it starts another agent").instead("do the work in this run");
        }
        Control::Agent(AgentRights::Raised) => {
            out.deny(rule::CONTROL_AGENT_RAISED, "it starts an agent with more rights than this run has")
                .instead("start it without a mode that skips questions");
        }
    }
}

fn publish(publish: &Publish, out: &mut Rulings) {
    match publish {
        // Pushes are judged by their own guard; text for others is free until the run is tainted.
        Publish::Push(_) | Publish::Post(_) => {}
        Publish::Package(what) => {
            out.ask(rule::PUBLISH_PACKAGE, format!("it publishes {}", quoted(what)))
                .instead("make a dry run, and let the operator publish");
        }
        Publish::Deploy(what) => {
            out.ask(rule::PUBLISH_DEPLOY, format!("it deploys {}", quoted(what)))
                .instead("show the plan, and let the operator deploy");
        }
        Publish::Upload(what) => {
            out.ask(rule::NET_UPLOAD, format!("it uploads {}", quoted(what)))
                .instead("ask the operator for an `allow_hosts` entry");
        }
    }
}

fn signal(view: &View<'_>, signal: &Signal, out: &mut Rulings) {
    match signal {
        Signal::Pid(_) | Signal::Job => {}
        // The box has processes of its own only.
        Signal::Name(_) if view.in_box() => {}
        Signal::Name(name) => {
            out.ask(rule::SIGNAL_NAME, format!("it may hit any process that fits {}", quoted(name)))
                .instead("signal the process by its number");
        }
        Signal::All(what) if view.in_box() => {
            out.ask(rule::SIGNAL_ALL, format!("it signals everything: {}", quoted(what)));
        }
        Signal::All(what) => {
            out.deny(rule::SIGNAL_ALL, format!("it signals everything, or the machine: {}", quoted(what)))
                .instead("signal the process by its number");
        }
    }
}
