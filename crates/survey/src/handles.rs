//! What a survey hands on besides facts: the very things that were looked at.

use std::net::IpAddr;

use tollgate_call::facts::Facts;

use crate::{PathError, ScopedDir, ScopedPath};

/// Facts for judging, and handles for acting, from one look.
#[derive(Debug)]
pub struct Surveyed {
    /// What policy sees.
    pub facts: Facts,
    /// What the permit carries.
    pub handles: Handles,
}

/// The handles of a call's own arguments. Each comes from the same look as its facts.
#[derive(Debug, Default)]
pub struct Handles {
    /// The file that a file tool names.
    pub path: Option<Result<ScopedPath, PathError>>,
    /// The directory that a listing, a search or a command starts in.
    pub dir: Option<Result<ScopedDir, PathError>>,
    /// The address that a fetch names, resolved.
    pub destination: Option<Destination>,
}

/// An address to dial: the URL, and the numbers its host resolved to when it was judged.
///
/// # Security
/// Whoever dials must dial one of [`Destination::addresses`] and never look the name up again (DNS
/// rebinding). A redirect is another destination, to be judged anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destination {
    pub(crate) url: String,
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) addresses: Vec<IpAddr>,
}

impl Destination {
    /// A destination whose addresses nobody judged, for tests against a listener of their own.
    pub const fn dangerous_unjudged(url: String, host: String, port: u16, addresses: Vec<IpAddr>) -> Self {
        Self { url, host, port, addresses }
    }

    /// The URL, in normal form.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host, in normal form.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The addresses that were looked at, and the only ones to dial.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }
}
