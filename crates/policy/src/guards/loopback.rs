//! This machine: a developer's own servers, and the services that hand the machine or its data over.

use tollgate_call::action::Flow;
use tollgate_call::address::{AddressClass, HostClass};

use super::network::{Known, Port};
use crate::rule;
use crate::ruling::{Rulings, quoted};
use crate::subject::{Doer, View};

/// Whether a host is this machine, by name or number.
pub(super) const fn is_here(class: &HostClass) -> bool {
    matches!(class, HostClass::Loopback(_) | HostClass::Address(_, AddressClass::Loopback))
}

/// Judges a connection to this machine. Nothing leaves by it, and a command could as well start a program
/// that makes it; our fetch tool could not, so it is kept out.
pub(super) fn judge(view: &View<'_>, peer: &Known, flow: Flow, out: &mut Rulings) {
    let name = quoted(&peer.name);
    match view.subject.doer {
        // In the box it is the box's own.
        Doer::Command if view.in_box() => {}
        Doer::Command => {
            if let Some(service) = service(peer.port, flow) {
                out.ask(rule::NET_PRIVATE, format!("{name} at this port {service}"))
                    .instead("ask the operator for an `allow_hosts` entry with host and port");
            }
        }
        Doer::Fetch | Doer::FileTool | Doer::Planning | Doer::Message | Doer::Foreign => {
            out.deny(rule::NET_PRIVATE, format!("{name} is this machine"))
                .instead("ask the operator for an `allow_hosts` entry that names exactly this host and port");
        }
    }
}

/// What a usual service of this port would do for whoever asks, if that is more than a developer's server does.
fn service(port: Port, flow: Flow) -> Option<&'static str> {
    let Port::Is(port) = port else { return None };
    let holds = |table: &[(u16, &'static str)]| table.iter().find(|(own, _)| *own == port).map(|(_, what)| *what);
    let changed = || (flow != Flow::Fetch).then(|| holds(KEEPS)).flatten();
    holds(GIVES_AWAY).or_else(changed)
}

/// Ports whose usual service runs code, or tells secrets, for anybody who connects.
const GIVES_AWAY: &[(u16, &str)] = &[
    (22, "logs in to this machine, outside of this guard"),
    (2375, "is a container engine, which hands over the machine"),
    (2376, "is a container engine, which hands over the machine"),
    (2379, "is a cluster's store, which holds its secrets"),
    (2380, "is a cluster's store, which holds its secrets"),
    (5005, "is a debugger, which runs code"),
    (5678, "is a debugger, which runs code"),
    (6443, "is a cluster's control plane"),
    (8001, "is a cluster's control plane"),
    (8200, "is a store of secrets"),
    (8500, "is a cluster's control plane"),
    (9222, "is a browser's debugger, which reads its sessions"),
    (9229, "is a debugger, which runs code"),
    (10250, "is a cluster's node, which runs code"),
    (10255, "is a cluster's node"),
    (40342, "is a cloud's credential service"),
];

/// Ports whose usual service keeps data, or runs code on request: reading is free, changing is a question.
const KEEPS: &[(u16, &str)] = &[
    (25, "sends mail"),
    (587, "sends mail"),
    (5984, "is a database"),
    (6379, "is a database"),
    (7474, "is a database"),
    (8086, "is a database"),
    (8123, "is a database"),
    (8888, "is a notebook server, which runs code"),
    (9200, "is a search engine's database"),
    (11211, "is a cache"),
    (15672, "is a message broker"),
];
