//! Where messages go out, as the operator configured it: names of places, never the secrets in them.

use serde::{Deserialize, Serialize};

/// A relay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Relay {
    /// A mail server.
    Smtp(Smtp),
    /// An address that takes messages as JSON.
    Webhook(Webhook),
}

/// A mail server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Smtp {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// The sender's address.
    pub from: String,
    /// How the connection is encrypted.
    pub tls: RelayTls,
    /// Who logs in; without it, nobody does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<Login>,
    /// A file of certificates, PEM, that are trusted besides the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
}

/// A user name and where its password is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Login {
    /// The user name.
    pub user: String,
    /// Where the password is.
    pub secret: SecretPlace,
}

/// An address that takes `{"to", "subject", "body"}` as JSON by POST.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Webhook {
    /// The address: https, or http on loopback.
    pub url: String,
    /// A header that proves who sends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Header>,
    /// A file of certificates, PEM, that are trusted besides the machine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_file: Option<String>,
}

/// A header and where its value is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Header {
    /// The header's name.
    pub name: String,
    /// Where the value is.
    pub secret: SecretPlace,
}

/// Where a secret is read from when a run begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SecretPlace {
    /// An absolute path of a file that nobody else may read. The agent may not either.
    File(String),
    /// A variable of Tollgate's own environment.
    Env(String),
}

/// How a connection to a mail server is encrypted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RelayTls {
    /// Upgraded before anything is said.
    #[default]
    Starttls,
    /// From the first byte.
    Tls,
    /// Not at all; for a relay on loopback.
    None,
}

impl Relay {
    /// Where its secret is, if it has one.
    pub fn secret(&self) -> Option<&SecretPlace> {
        match self {
            Self::Smtp(smtp) => smtp.login.as_ref().map(|login| &login.secret),
            Self::Webhook(webhook) => webhook.header.as_ref().map(|header| &header.secret),
        }
    }

    /// The file of its secret, if it is in one.
    pub fn secret_file(&self) -> Option<&str> {
        match self.secret()? {
            SecretPlace::File(file) => Some(file),
            SecretPlace::Env(_) => None,
        }
    }
}
