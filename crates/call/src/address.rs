//! Addresses as a client would read them: URLs, hosts and numbers, judged before anything is dialled.
//!
//! Parsing follows the WHATWG URL standard (short, octal, hexadecimal and decimal IPv4 forms, IDNA
//! mapping), because that is what clients do; what only *some* clients accept is refused.
//!
//! # Security
//! A name says nothing about the address it resolves to. Whoever dials must judge each resolved
//! address with [`judge_ip`] and dial exactly what was judged.

mod names;
mod numbers;

use std::net::IpAddr;

use url::{Host, Url};

pub use names::is_metadata_name;
pub use numbers::{AddressClass, judge_ip};

/// Ports that a web request may use without being listed.
pub const WEB_PORTS: &[u16] = &[80, 443, 8080, 8443];

/// Why a URL or host is not an address that may be judged further.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
pub enum AddressError {
    /// Not a URL, or without a host.
    #[error("`{0}` is not a URL with a host; write `https://host/path`")]
    NotUrl(String),
    /// Another scheme.
    #[error("the scheme `{0}` is not fetched; use https or http")]
    Scheme(String),
    /// Control characters, blanks, backslashes, percent signs or NUL where a host is written.
    #[error("the address holds a character that clients read differently: {0}; write the host plainly")]
    Characters(&'static str),
    /// A user name or password before the host.
    #[error("the address names a user before the host; leave `user@` out")]
    UserInfo,
    /// A host that is neither a name of letters, digits and hyphens nor a number.
    #[error("`{0}` is not a host name or address; use letters, digits, hyphens and dots")]
    Host(String),
}

/// What a host is, before any look-up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HostClass {
    /// A public-looking name, in normal form (lower case, ASCII, no trailing dot).
    Name(String),
    /// A name of this machine.
    Loopback(String),
    /// A name of a local network, or one that answers with any address written into it.
    Local(String),
    /// A name of a cloud's metadata service.
    Metadata(String),
    /// A number.
    Address(IpAddr, AddressClass),
    /// Nothing that may be dialled.
    Refused(AddressError),
}

/// A parsed web address.
///
/// ```
/// use tollgate_call::address::{WebAddress, HostClass};
/// let address = WebAddress::parse("https://API.Example.com./v1")?;
/// assert_eq!(address.host, HostClass::Name("api.example.com".into()));
/// assert_eq!(address.port, 443);
/// # Ok::<(), tollgate_call::address::AddressError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebAddress {
    /// The host.
    pub host: HostClass,
    /// The port, written or by scheme.
    pub port: u16,
    /// The URL as a client would send it.
    pub url: String,
}

impl WebAddress {
    /// Reads an http or https URL.
    ///
    /// # Errors
    /// [`AddressError`] for anything that clients could read in two ways.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        plain(text)?;
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
        if scheme != "http" && scheme != "https" {
            return Err(if is_scheme(&scheme) { AddressError::Scheme(scheme) } else { not_url(text) });
        }
        let written = authority(text).ok_or_else(|| not_url(text))?;
        if written.contains('@') {
            return Err(AddressError::UserInfo);
        }
        plain_host(written)?;
        let mut url = Url::parse(text).map_err(|_| AddressError::Host(shown(written)))?;
        let host = url.host().map(|host| host.to_owned()).ok_or_else(|| not_url(text))?;
        let port = url.port_or_known_default().ok_or_else(|| not_url(text))?;
        // A fragment stays with whoever asks.
        url.set_fragment(None);
        Ok(Self { host: classify(host).accepted()?, port, url: url.into() })
    }

    /// The host as it is compared and remembered.
    pub fn host_name(&self) -> String {
        self.host.name()
    }
}

impl HostClass {
    /// The host in normal form, or as much of it as may be shown.
    pub fn name(&self) -> String {
        match self {
            Self::Name(name) | Self::Loopback(name) | Self::Local(name) | Self::Metadata(name) => name.clone(),
            Self::Address(ip, _) => ip.to_string(),
            Self::Refused(error) => error.to_string(),
        }
    }

    fn accepted(self) -> Result<Self, AddressError> {
        match self {
            Self::Refused(error) => Err(error),
            Self::Name(_) | Self::Loopback(_) | Self::Local(_) | Self::Metadata(_) | Self::Address(..) => Ok(self),
        }
    }
}

/// Judges a bare host: a name, an IPv4 number in any form that `inet_aton` takes, or an IPv6 number
/// with or without brackets. No port.
pub fn judge_host(text: &str) -> HostClass {
    match parse_host(text) {
        Ok(host) => classify(host),
        Err(error) => HostClass::Refused(error),
    }
}

/// Whether two places, as host and port, are one site: the same host, or the same but for `www.`, at the
/// same port or at that of https.
///
/// ```
/// use tollgate_call::address::is_same_site;
/// assert!(is_same_site(("example.com", 80), ("www.example.com", 443)));
/// assert!(!is_same_site(("example.com", 80), ("example.com.evil.test", 80)));
/// ```
pub fn is_same_site((from, old): (&str, u16), (to, new): (&str, u16)) -> bool {
    site(from) == site(to) && (old == new || new == 443)
}

/// A host without the `www.` that sites are reached with and without.
pub fn site(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

/// Splits `host`, `host:port`, `[v6]:port`, `user@host` as command lines write them.
///
/// A user name is dropped: `ssh git@host` names a login, it does not hide the host.
///
/// # Errors
/// [`AddressError::Host`] when the port is not a number.
pub fn split_port(text: &str) -> Result<(&str, Option<u16>), AddressError> {
    let text = text.rsplit_once('@').map_or(text, |(_, host)| host);
    let colons = text.bytes().filter(|byte| *byte == b':').count();
    match text.rsplit_once(':') {
        Some((host, port)) if colons == 1 || host.ends_with(']') => {
            let port = port.parse().map_err(|_| AddressError::Host(shown(text)))?;
            Ok((host, Some(port)))
        }
        Some(_) | None => Ok((text, None)),
    }
}

/// An entry of an allow list: `host`, `*.host` (any depth, never the bare host), each with or without `:port`.
///
/// ```
/// use tollgate_call::address::HostPattern;
/// let pattern = HostPattern::parse("*.example.com")?;
/// assert!(pattern.covers("a.b.example.com", 443));
/// assert!(!pattern.covers("evilexample.com", 443));
/// # Ok::<(), tollgate_call::address::AddressError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostPattern {
    host: String,
    any_below: AnyBelow,
    port: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum AnyBelow {
    No,
    Yes,
}

impl HostPattern {
    /// Reads an entry.
    ///
    /// # Errors
    /// [`AddressError`] when it is not a host that could ever be reached.
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        if text.contains('@') {
            return Err(AddressError::UserInfo);
        }
        let (host, port) = split_port(text)?;
        let (host, any_below) = host.strip_prefix("*.").map_or((host, AnyBelow::No), |parent| (parent, AnyBelow::Yes));
        let class = judge_host(host).accepted()?;
        if any_below == AnyBelow::Yes && matches!(class, HostClass::Address(..)) {
            return Err(AddressError::Host(shown(text)));
        }
        Ok(Self { host: class.name(), any_below, port })
    }

    /// Whether `host`, in normal form, is meant at `port`.
    ///
    /// Without a written port, the web ports are meant.
    pub fn covers(&self, host: &str, port: u16) -> bool {
        self.names(host) && self.port.map_or_else(|| WEB_PORTS.contains(&port), |own| own == port)
    }

    /// Whether everything that `other` means is meant by this entry too.
    pub fn includes(&self, other: &Self) -> bool {
        let names = match (self.any_below, other.any_below) {
            (AnyBelow::No, AnyBelow::No) => self.host == other.host,
            (AnyBelow::No, AnyBelow::Yes) => false,
            (AnyBelow::Yes, AnyBelow::No) => is_below(&other.host, &self.host),
            (AnyBelow::Yes, AnyBelow::Yes) => self.host == other.host || is_below(&other.host, &self.host),
        };
        names
            && (self.port == other.port || (self.port.is_none() && other.port.is_some_and(|p| WEB_PORTS.contains(&p))))
    }

    /// The host that is written, without `*.` and port.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether `host` is meant at `port`, or at any port when none is written: for rules that forbid.
    pub fn touches(&self, host: &str, port: u16) -> bool {
        self.names(host) && self.port.is_none_or(|own| own == port)
    }

    fn names(&self, host: &str) -> bool {
        match self.any_below {
            AnyBelow::No => host == self.host,
            AnyBelow::Yes => is_below(host, &self.host),
        }
    }

    /// Whether the entry names exactly one host, so that it may open a private one.
    pub fn is_exact(&self) -> bool {
        self.any_below == AnyBelow::No
    }
}

impl std::fmt::Display for HostPattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let star = if self.is_exact() { "" } else { "*." };
        write!(f, "{star}{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

fn is_below(host: &str, parent: &str) -> bool {
    host.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
}

fn classify(host: Host<String>) -> HostClass {
    match host {
        Host::Ipv4(ip) => HostClass::Address(ip.into(), judge_ip(ip.into())),
        Host::Ipv6(ip) => HostClass::Address(ip.into(), judge_ip(ip.into())),
        Host::Domain(name) => names::classify(&name),
    }
}

fn parse_host(text: &str) -> Result<Host<String>, AddressError> {
    plain(text)?;
    plain_host(text)?;
    let bracketed;
    let text = if text.bytes().filter(|byte| *byte == b':').count() > 1 && !text.starts_with('[') {
        bracketed = format!("[{text}]");
        bracketed.as_str()
    } else {
        text
    };
    Host::parse(text).map_err(|_| AddressError::Host(shown(text)))
}

/// Refuses what WHATWG parsers silently drop or turn: control characters, blanks, backslashes.
fn plain(text: &str) -> Result<(), AddressError> {
    if text.chars().any(char::is_control) {
        Err(AddressError::Characters("a control character"))
    } else if text.chars().any(char::is_whitespace) {
        Err(AddressError::Characters("a blank"))
    } else {
        Ok(())
    }
}

/// Refuses in a host what one client decodes and the next one does not (`%00`, `\`).
fn plain_host(written: &str) -> Result<(), AddressError> {
    if written.contains('%') {
        Err(AddressError::Characters("a percent sign in the host"))
    } else if written.contains('\\') {
        Err(AddressError::Characters("a backslash"))
    } else {
        Ok(())
    }
}

/// What stands between `//` and the path, as written. Exactly two slashes, or clients differ.
fn authority(text: &str) -> Option<&str> {
    let rest = text.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    (!authority.is_empty()).then_some(authority)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn not_url(text: &str) -> AddressError {
    AddressError::NotUrl(shown(text))
}

fn shown(text: &str) -> String {
    text.escape_debug().take(120).collect()
}

#[cfg(test)]
mod tests;
