//! Network: who is reached, at which address, and what flows.

use std::net::IpAddr;

use tollgate_call::action::{Action, ActionKind, Connect, Flow, Listen, ListenScope, Peer};
use tollgate_call::address::{
    AddressClass, AddressError, HostClass, WEB_PORTS, WebAddress, judge_host, judge_ip, site, split_port,
};
use tollgate_call::facts::{Fact, Unknown};

use super::loopback;
use crate::rule;
use crate::ruling::{Rulings, quoted, why};
use crate::subject::{Doer, View};

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match &action.kind {
        ActionKind::Connect(connect) => reach(view, connect, action.part, out),
        ActionKind::Listen(listen) => accept(view, listen, out),
        ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Execute(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => {}
    }
}

/// A peer whose host is known by name or number.
pub(super) struct Known {
    pub(super) class: HostClass,
    pub(super) name: String,
    pub(super) port: Port,
    /// As a client would send it, for URLs.
    pub(super) url: Option<String>,
}

/// The port of a peer.
#[derive(Clone, Copy)]
pub(super) enum Port {
    /// Written, or given by the scheme.
    Is(u16),
    /// Left to the program.
    Default(u16),
}

impl Port {
    pub(super) const fn number(self) -> u16 {
        match self {
            Self::Is(port) | Self::Default(port) => port,
        }
    }
}

/// Reads a peer, when it names a host.
pub(super) fn known(peer: &Peer, flow: Flow) -> Option<Result<Known, AddressError>> {
    match peer {
        Peer::Url(url) => Some(WebAddress::parse(url).map(|address| Known {
            name: address.host_name(),
            port: Port::Is(address.port),
            url: Some(address.url),
            class: address.host,
        })),
        Peer::Host(text) => Some(split_port(text).map(|(host, port)| {
            let class = judge_host(host);
            // The port of a bare host is the program's own: 22 stands for sessions, 443 for requests.
            let default = if flow == Flow::Fetch { 443 } else { 22 };
            Known { name: class.name(), port: port.map_or(Port::Default(default), Port::Is), url: None, class }
        })),
        Peer::Remote(_) | Peer::Registry(_) | Peer::Service(_) | Peer::Opaque(_) => None,
    }
}

/// The host of an action, as users' rules match it.
pub(crate) fn offered_host(kind: &ActionKind) -> Option<(String, u16)> {
    let ActionKind::Connect(Connect { peer, flow }) = kind else { return None };
    let known = known(peer, *flow)?.ok()?;
    Some((known.name, known.port.number()))
}

fn reach(view: &View<'_>, connect: &Connect, part: u32, out: &mut Rulings) {
    match known(&connect.peer, connect.flow) {
        Some(Ok(peer)) => host(view, &peer, connect.flow, out),
        Some(Err(error)) => malformed(view, &connect.peer, &error, out),
        None => configured(view, connect, part, out),
    }
}

/// Peers whose address is configured elsewhere.
fn configured(view: &View<'_>, connect: &Connect, part: u32, out: &mut Rulings) {
    match (&connect.peer, connect.flow) {
        // A push is judged as what it publishes.
        (Peer::Remote(_), _) | (Peer::Registry(_) | Peer::Service(_), Flow::Fetch) => {}
        // The operator configured the service, and what is destroyed or runs elsewhere is judged as that.
        (Peer::Service(_), Flow::Session) => {}
        // What a command publishes or destroys there says more than that it sends.
        (Peer::Service(_), Flow::Send) if says_more(view, part) => {}
        (Peer::Registry(name) | Peer::Service(name), Flow::Send) => upload(name, out),
        (Peer::Registry(name), Flow::Session) => session(name, out),
        // The box's proxy judges each host as it is dialled.
        (Peer::Opaque(_), Flow::Fetch) if view.box_pays() => {}
        (Peer::Opaque(reason), _) => {
            out.ask(rule::NET_UNKNOWN, format!("nobody can say which host it reaches: {}", why(reason)))
                .instead("write the host itself");
        }
        (Peer::Url(_) | Peer::Host(_), _) => {}
    }
}

fn says_more(view: &View<'_>, part: u32) -> bool {
    let mut of_part = view.subject.actions.iter().filter(|action| action.part == part);
    of_part.any(|action| matches!(action.kind, ActionKind::Publish(_) | ActionKind::Destroy(_)))
}

fn malformed(view: &View<'_>, peer: &Peer, error: &AddressError, out: &mut Rulings) {
    let id = match error {
        AddressError::Scheme(_) | AddressError::UserInfo | AddressError::Characters(_) => rule::NET_SCHEME,
        AddressError::NotUrl(_) | AddressError::Host(_) => rule::NET_UNKNOWN,
    };
    match (peer, view.subject.doer) {
        // Programs speak more schemes than our fetch does (`ws://`, `git://`, `s3://`); their host is one all the same.
        (Peer::Url(url), Doer::Command) if matches!(error, AddressError::Scheme(_)) => {
            if let Some(peer) = spoken(url) {
                return host(view, &peer, Flow::Session, out);
            }
            out.ask(id, format!("{} is not a web address", quoted(url))).instead("use https");
        }
        (_, Doer::Command | Doer::FileTool | Doer::Fetch | Doer::Planning | Doer::Message | Doer::Foreign) => {
            out.deny(id, error.to_string()).instead("write a plain `https://host/path`");
        }
    }
}

/// The host of an address of services that developers run themselves.
fn spoken(url: &str) -> Option<Known> {
    let (scheme, rest) = url.split_once("://")?;
    if !SPOKEN.contains(&scheme.to_ascii_lowercase().as_str()) {
        return None;
    }
    let (host, port) = split_port(rest.split(['/', '?', '#']).next()?).ok()?;
    let class = judge_host(host);
    let known = Known { name: class.name(), port: port.map_or(Port::Default(443), Port::Is), url: None, class };
    // Another host is still a question of the scheme: nobody can say what flows.
    (!matches!(known.class, HostClass::Name(_) | HostClass::Address(_, AddressClass::Public))).then_some(known)
}

const SPOKEN: &[&str] = &[
    "ws",
    "wss",
    "postgres",
    "postgresql",
    "mysql",
    "mariadb",
    "redis",
    "rediss",
    "mongodb",
    "amqp",
    "amqps",
    "nats",
    "mqtt",
    "grpc",
    "tcp",
];

fn host(view: &View<'_>, peer: &Known, flow: Flow, out: &mut Rulings) {
    let listed = view.policy.lists_exactly(&peer.name, peer.port.number());
    match &peer.class {
        class if loopback::is_here(class) => {
            if !listed {
                loopback::judge(view, peer, flow, out);
            }
            return;
        }
        HostClass::Refused(error) => {
            out.deny(rule::NET_UNKNOWN, error.to_string()).instead("write a plain host name");
            return;
        }
        HostClass::Metadata(name) => return metadata(name, out),
        // `db`, `redis`: a container's or placeholder's name that a developer's command speaks to.
        HostClass::Local(name) if !listed && view.subject.doer == Doer::Command && !name.contains('.') => {
            out.ask(rule::NET_PRIVATE, format!("{} is a name of a local network", quoted(name)))
                .instead("ask the operator for an `allow_hosts` entry with host and port");
        }
        HostClass::Local(name) if !listed => private(name, "a name of a local network", out),
        HostClass::Local(_) | HostClass::Name(_) | HostClass::Loopback(_) => {}
        HostClass::Address(ip, class) => address(&ip.to_string(), *class, listed, out),
    }
    resolved(view, peer, listed, out);
    if out.is_empty() && !listed {
        port(view, peer, flow, out);
        what_flows(view, peer, flow, out);
    }
}

fn address(shown: &str, class: AddressClass, listed: bool, out: &mut Rulings) {
    match class {
        AddressClass::Public => {}
        AddressClass::Metadata => metadata(shown, out),
        AddressClass::Loopback if !listed => private(shown, "this machine", out),
        AddressClass::Private if !listed => private(shown, "an address of a private network", out),
        AddressClass::Special(name) if !listed => private(shown, name, out),
        AddressClass::Loopback | AddressClass::Private | AddressClass::Special(_) => {}
    }
}

/// What the name resolved to: one bad address spoils it, because nobody says which will be dialled.
fn resolved(view: &View<'_>, peer: &Known, listed: bool, out: &mut Rulings) {
    match view.facts.hosts.get(&peer.name) {
        Some(Fact::Known(addresses)) => addresses.iter().for_each(|ip| answer(&peer.name, *ip, listed, out)),
        // A pure check; whoever dials judges each address again.
        None | Some(Fact::Unknown(Unknown::NotAsked)) => {}
        Some(Fact::Unknown(Unknown::Late | Unknown::Failed)) => {
            let because = format!("{} could not be resolved", quoted(&peer.name));
            match view.subject.doer {
                Doer::Command if view.box_pays() => {}
                Doer::Command => {
                    out.ask(rule::NET_UNKNOWN, because);
                }
                Doer::Fetch | Doer::FileTool | Doer::Planning | Doer::Message | Doer::Foreign => {
                    out.deny(rule::NET_UNKNOWN, because).instead("check the name, or try again later");
                }
            }
        }
    }
}

fn answer(name: &str, ip: IpAddr, listed: bool, out: &mut Rulings) {
    let class = judge_ip(ip);
    if class != AddressClass::Public {
        address(&format!("{name} ({ip})"), class, listed, out);
    }
}

fn metadata(name: &str, out: &mut Rulings) {
    out.deny(rule::NET_METADATA, format!("{} serves a cloud's credentials", quoted(name)))
        .instead("ask the operator for what you need to know");
}

fn private(name: &str, kind: &str, out: &mut Rulings) {
    out.deny(rule::NET_PRIVATE, format!("{} is {kind}", quoted(name)))
        .instead("ask the operator for an `allow_hosts` entry that names exactly this host and port");
}

fn port(view: &View<'_>, peer: &Known, flow: Flow, out: &mut Rulings) {
    let Port::Is(port) = peer.port else { return };
    if WEB_PORTS.contains(&port) || flow == Flow::Session || view.policy.lists_host(&peer.name, port) {
        return;
    }
    let because = format!("port {port} of {} is not a web port", quoted(&peer.name));
    let step = "use port 443, or ask the operator for an `allow_hosts` entry with this port";
    match view.subject.doer {
        Doer::Command => out.ask(rule::NET_PORT, because),
        Doer::Fetch | Doer::FileTool | Doer::Planning | Doer::Message | Doer::Foreign => {
            out.deny(rule::NET_PORT, because)
        }
    }
    .instead(step);
}

fn what_flows(view: &View<'_>, peer: &Known, flow: Flow, out: &mut Rulings) {
    if view.policy.lists_host(&peer.name, peer.port.number()) {
        return;
    }
    match flow {
        Flow::Send => upload(&peer.name, out),
        Flow::Session => session(&peer.name, out),
        Flow::Fetch => provenance(view, peer, out),
    }
}

/// Our fetch tool follows only what the operator, the user or a search named; a command's fetch of a
/// public host is free until the run has read text of others (see the flow guard).
fn provenance(view: &View<'_>, peer: &Known, out: &mut Rulings) {
    let site = site(&peer.name);
    let given = view.run.was_given(site)
        || view.run.was_given(&format!("www.{site}"))
        || peer.url.as_deref().is_some_and(|url| view.run.was_given(url));
    match view.subject.doer {
        Doer::Command => {}
        Doer::Fetch | Doer::FileTool | Doer::Planning | Doer::Message | Doer::Foreign if given => {}
        Doer::Fetch | Doer::FileTool | Doer::Planning | Doer::Message | Doer::Foreign => {
            out.ask(rule::NET_HOST, format!("neither policy, user nor a search named {}", quoted(&peer.name)))
                .instead("ask the user for the address, or find it with a search");
        }
    }
}

fn upload(name: &str, out: &mut Rulings) {
    out.ask(rule::NET_UPLOAD, format!("it sends data to {}, which is not listed", quoted(name)))
        .instead("ask the operator for an `allow_hosts` entry");
}

fn session(name: &str, out: &mut Rulings) {
    out.ask(rule::NET_SESSION, format!("it opens a two-way session with {}, which is not listed", quoted(name)))
        .instead("ask the operator for an `allow_hosts` entry with host and port");
}

fn accept(view: &View<'_>, listen: &Listen, out: &mut Rulings) {
    match listen.scope {
        ListenScope::Loopback => {}
        // Nobody reaches into the box.
        ListenScope::Wide if view.in_box() => {}
        ListenScope::Wide => {
            out.ask(rule::NET_LISTEN, format!("other machines may reach {}", quoted(&listen.text)))
                .instead("bind 127.0.0.1");
        }
    }
}
