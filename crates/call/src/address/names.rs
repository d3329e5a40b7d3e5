//! Classes of host names, by the name alone.

use super::{AddressError, HostClass, shown};

/// Whether a name, in normal form, is a cloud's metadata service.
pub fn is_metadata_name(name: &str) -> bool {
    METADATA.contains(&name)
}

/// Classes a domain as `url` gives it: ASCII after IDNA, lower case.
pub(super) fn classify(domain: &str) -> HostClass {
    let name = domain.strip_suffix('.').unwrap_or(domain);
    if !is_ldh(name) {
        HostClass::Refused(AddressError::Host(shown(domain)))
    } else if is_metadata_name(name) {
        HostClass::Metadata(name.to_owned())
    } else if name == "localhost" || name.ends_with(".localhost") || LOOPBACK.contains(&name) {
        HostClass::Loopback(name.to_owned())
    } else if !name.contains('.') || ends_in(name, LOCAL) || ends_in(name, ECHOING) {
        HostClass::Local(name.to_owned())
    } else {
        HostClass::Name(name.to_owned())
    }
}

/// Letters, digits, hyphens: RFC 952 and 1123, after IDNA. An underscore is for service records only.
fn is_ldh(name: &str) -> bool {
    name.len() <= 253 && name.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

fn ends_in(name: &str, list: &[&str]) -> bool {
    list.iter().any(|end| name == *end || name.strip_suffix(end).is_some_and(|rest| rest.ends_with('.')))
}

const METADATA: &[&str] = &[
    "metadata",
    "metadata.google.internal",
    "metadata.goog",
    "metadata.azure.com",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.platformequinix.com",
    "metadata.packet.net",
    "metadata.oraclecloud.com",
    "instance-data",
    "instance-data.ec2.internal",
    "rancher-metadata",
    "api.metadata.cloud.ibm.com",
];

/// Other names that hosts files give to this machine, or that public DNS answers with 127.0.0.1.
const LOOPBACK: &[&str] =
    &["localhost.localdomain", "ip6-localhost", "ip6-loopback", "localtest.me", "lvh.me", "vcap.me", "lacolhost.com"];

/// Suffixes that never are public hosts (RFC 6761, 6762, 8375, 9476, and usage).
const LOCAL: &[&str] = &[
    "local",
    "internal",
    "intranet",
    "private",
    "corp",
    "home",
    "lan",
    "localdomain",
    "home.arpa",
    "onion",
    "alt",
    "invalid",
    "in-addr.arpa",
    "ip6.arpa",
    "svc",
];

/// Public services that answer with whatever address the name spells.
const ECHOING: &[&str] =
    &["nip.io", "sslip.io", "xip.io", "traefik.me", "localtest.me", "lvh.me", "vcap.me", "nip.direct", "rbndr.us"];
