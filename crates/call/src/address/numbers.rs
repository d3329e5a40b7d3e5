//! Classes of IP addresses, after the IANA special-purpose registries (RFC 6890 and later entries).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What kind of place an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AddressClass {
    /// Globally reachable.
    Public,
    /// This machine.
    Loopback,
    /// A network of one's own.
    Private,
    /// A cloud's metadata or credential service.
    Metadata,
    /// Anything else that is not a public host, by its name in the registry.
    Special(&'static str),
}

/// Judges an address as a number; IPv4 carried inside IPv6 is judged as IPv4.
pub fn judge_ip(ip: IpAddr) -> AddressClass {
    match ip {
        IpAddr::V4(ip) => judge_v4(ip),
        IpAddr::V6(ip) => judge_v6(ip),
    }
}

fn judge_v4(ip: Ipv4Addr) -> AddressClass {
    if METADATA_V4.contains(&ip.octets()) {
        return AddressClass::Metadata;
    }
    let bits = ip.to_bits();
    let hit = SPECIAL_V4.iter().find(|(net, len, _)| {
        let shift = 32 - len;
        bits >> shift == u32::from_be_bytes(*net) >> shift
    });
    hit.map_or(AddressClass::Public, |(_, _, class)| *class)
}

fn judge_v6(ip: Ipv6Addr) -> AddressClass {
    if METADATA_V6.contains(&ip.segments()) {
        return AddressClass::Metadata;
    }
    if let Some(inner) = carried(&ip) {
        return judge_v4(inner);
    }
    let bits = ip.to_bits();
    let hit = SPECIAL_V6.iter().find(|(net, len, _)| {
        let shift = 128 - len;
        bits >> shift == net >> shift
    });
    match hit {
        Some((_, _, class)) => *class,
        None if bits >> 125 != 1 => AddressClass::Special("outside global unicast (2000::/3)"),
        None if is_isatap(&ip) => AddressClass::Special("ISATAP, which carries an IPv4 address"),
        None => AddressClass::Public,
    }
}

/// The IPv4 address inside a mapped (`::ffff:0:0/96`), well-known NAT64 (`64:ff9b::/96`, RFC 6052) or
/// 6to4 (`2002::/16`) address, or inside a deprecated IPv4-compatible one (`::/96`).
fn carried(ip: &Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = ip.segments();
    let low = Ipv4Addr::from_bits((u32::from(g) << 16) | u32::from(h));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0x64, 0xff9b, 0, 0, 0, 0) => Some(low),
        (0, 0, 0, 0, 0, 0) if g != 0 => Some(low),
        (0x2002, high, low, ..) => {
            // A relay that carries to a private address is one hazard, the dead protocol another.
            let inner = Ipv4Addr::from_bits((u32::from(high) << 16) | u32::from(low));
            (judge_v4(inner) != AddressClass::Public).then_some(inner)
        }
        (..) => None,
    }
}

fn is_isatap(ip: &Ipv6Addr) -> bool {
    matches!(ip.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _])
}

const METADATA_V4: &[[u8; 4]] = &[
    [169, 254, 169, 254], // AWS, Azure, GCP, DigitalOcean, Oracle, OpenStack, Hetzner, Scaleway on 42
    [169, 254, 169, 253], // AWS resolver
    [169, 254, 169, 123], // AWS time
    [169, 254, 169, 250], // Rancher
    [169, 254, 170, 2],   // ECS task credentials
    [169, 254, 170, 23],  // EKS pod identity
    [169, 254, 42, 42],   // Scaleway
    [169, 254, 0, 23],    // Tencent
    [168, 63, 129, 16],   // Azure wire server, in a public range
    [100, 100, 100, 200], // Alibaba, in shared address space
    [100, 96, 0, 96],     // Volcengine, in shared address space
    [192, 0, 0, 192],     // Oracle classic
];

const METADATA_V6: &[[u16; 8]] = &[
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],      // AWS
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23],       // EKS pod identity
    [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],       // GCP
    [0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe],    // OpenStack
    [0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42],        // Scaleway
    [0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1],    // Akamai
    [0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe], // Oracle
];

use AddressClass::{Loopback, Private, Public, Special};

/// The IANA IPv4 Special-Purpose Address Registry, and multicast (RFC 5771). Longest prefixes first where
/// entries overlap; entries that are globally reachable are left out unless a larger one holds them.
const SPECIAL_V4: &[([u8; 4], u32, AddressClass)] = &[
    ([0, 0, 0, 0], 32, Loopback),
    ([0, 0, 0, 0], 8, Special("this network (RFC 791)")),
    ([10, 0, 0, 0], 8, Private),
    ([100, 64, 0, 0], 10, Special("shared address space (RFC 6598)")),
    ([127, 0, 0, 0], 8, Loopback),
    ([169, 254, 0, 0], 16, Special("link-local (RFC 3927)")),
    ([172, 16, 0, 0], 12, Private),
    ([192, 0, 0, 9], 32, Public),
    ([192, 0, 0, 10], 32, Public),
    ([192, 0, 0, 0], 24, Special("protocol assignments (RFC 6890)")),
    ([192, 0, 2, 0], 24, Special("documentation (RFC 5737)")),
    ([192, 88, 99, 0], 24, Special("6to4 relay (RFC 7526)")),
    ([192, 168, 0, 0], 16, Private),
    ([198, 18, 0, 0], 15, Special("benchmarking (RFC 2544)")),
    ([198, 51, 100, 0], 24, Special("documentation (RFC 5737)")),
    ([203, 0, 113, 0], 24, Special("documentation (RFC 5737)")),
    ([224, 0, 0, 0], 4, Special("multicast (RFC 5771)")),
    ([240, 0, 0, 0], 4, Special("reserved (RFC 1112)")),
];

/// The IANA IPv6 Special-Purpose Address Registry, and what lies outside global unicast. The anycast and
/// overlay prefixes within 2001::/23 are globally reachable, but no web host is there, so they stay refused.
const SPECIAL_V6: &[(u128, u32, AddressClass)] = &[
    (0, 128, Loopback),
    (1, 128, Loopback),
    (0x0064_ff9b_0001 << 80, 48, Special("local translation (RFC 8215)")),
    (0x0100 << 112, 64, Special("discard (RFC 6666)")),
    (0x0100_0000_0000_0001 << 64, 64, Special("dummy (RFC 9780)")),
    (0x2001 << 112, 32, Special("Teredo (RFC 4380)")),
    (0x2001_0db8 << 96, 32, Special("documentation (RFC 3849)")),
    (0x2001 << 112, 23, Special("protocol assignments (RFC 2928)")),
    (0x2002 << 112, 16, Special("6to4 (RFC 3056)")),
    (0x3fff << 112, 20, Special("documentation (RFC 9637)")),
    (0x5f00 << 112, 16, Special("segment routing (RFC 9602)")),
    (0xfc00 << 112, 7, Private),
    (0xfe80 << 112, 10, Special("link-local (RFC 4291)")),
    (0xfec0 << 112, 10, Special("site-local (RFC 3879)")),
    (0xff00 << 112, 8, Special("multicast (RFC 4291)")),
];
