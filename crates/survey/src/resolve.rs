//! Addresses of a host, asked once, judged, and dialled as judged.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::time::Instant;

use tollgate_call::address::{HostClass, WebAddress};
use tollgate_call::facts::{Fact, Unknown};

use crate::bounded::Slots;
use crate::handles::Destination;

/// Addresses kept of one answer.
const MAX_ADDRESSES: usize = 32;

/// Asks for the addresses of a host.
///
/// # Security
/// Asking is itself a message to whoever serves the name. Survey asks only for what Tollgate would
/// dial itself, once the name was judged and let through; never for hosts that a command names.
pub trait Resolve: std::fmt::Debug + Send + Sync {
    /// All addresses of `host`, a name in normal form.
    ///
    /// # Errors
    /// [`Unknown::Late`] when the deadline passes, [`Unknown::Failed`] when there is no answer.
    fn lookup(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, Unknown>;
}

/// The resolver of the system, on threads of its own, a bounded number of them.
#[derive(Debug, Default)]
pub struct SystemResolver {
    slots: Slots,
}

impl Resolve for SystemResolver {
    fn lookup(&self, host: &str, deadline: Instant) -> Result<Vec<IpAddr>, Unknown> {
        // The final dot keeps search domains of the host out of it.
        let name = if host.ends_with('.') { host.to_owned() } else { format!("{host}.") };
        let answer = self.slots.run(deadline, move || {
            (name.as_str(), 0).to_socket_addrs().map(|found| found.take(MAX_ADDRESSES).map(|addr| addr.ip()).collect())
        })?;
        let mut addresses: Vec<IpAddr> = answer.map_err(|_| Unknown::Failed)?;
        addresses.sort_unstable();
        addresses.dedup();
        if addresses.is_empty() { Err(Unknown::Failed) } else { Ok(addresses) }
    }
}

/// A resolver that never asks; every name is unknown.
#[derive(Debug, Default, Clone, Copy)]
pub struct NoResolver;

impl Resolve for NoResolver {
    fn lookup(&self, _host: &str, _deadline: Instant) -> Result<Vec<IpAddr>, Unknown> {
        Err(Unknown::NotAsked)
    }
}

/// What is known of a host before anybody is asked.
pub(crate) fn unasked(host: &HostClass) -> Fact<Vec<IpAddr>> {
    match host {
        HostClass::Address(ip, _) => Fact::Known(vec![*ip]),
        // RFC 6761: names of this machine are never asked of anybody.
        HostClass::Loopback(_) => Fact::Known(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]),
        HostClass::Name(_) | HostClass::Local(_) | HostClass::Metadata(_) | HostClass::Refused(_) => {
            Fact::Unknown(Unknown::NotAsked)
        }
    }
}

/// The destination of a URL whose addresses are known.
pub(crate) fn destination(address: &WebAddress, addresses: &Fact<Vec<IpAddr>>) -> Option<Destination> {
    let addresses = addresses.known()?.clone();
    Some(Destination { url: address.url.clone(), host: address.host_name(), port: address.port, addresses })
}
