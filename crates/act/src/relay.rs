//! `send_message`: hands a message to the relay that the operator configured, once.
//!
//! # Security
//! The relay's address comes from the operator's configuration, the recipient was judged. Exactly one
//! recipient is addressed; what a model writes into subject or text cannot add another, nor a header.
//! There is no second try: whether a message that failed late was sent is not known, and is said so.
//! It does not stop the relay's owner from reading the message.

mod webhook;

use std::net::IpAddr;
use std::time::Duration;

use lettre::message::{Mailbox, Message, header};
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::{Address, SmtpTransport, Transport as _};

/// Bytes of a message's text.
const BODY_CAP: usize = 256 * 1024;
/// Bytes of a subject.
const SUBJECT_CAP: usize = 500;
/// How long the relay may take for any one step.
const PATIENCE: Duration = Duration::from_secs(30);

/// The operator's relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relay {
    /// A mail server.
    Smtp {
        /// Host name or address.
        host: String,
        /// TCP port.
        port: u16,
        /// The sender's address.
        from: String,
        /// How the connection is protected.
        tls: RelayTls,
    },
    /// An address that takes `{"to", "subject", "body"}` as JSON by POST.
    Webhook {
        /// The address: https, or http on loopback.
        url: String,
    },
}

/// How the connection to a mail server is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelayTls {
    /// Upgraded before anything is said.
    StartTls,
    /// From the first byte.
    Wrapped,
    /// Not at all; for a relay on loopback only.
    None,
}

/// A message, its recipient judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// The one recipient.
    pub to: String,
    /// The subject, one line.
    pub subject: String,
    /// The text.
    pub body: String,
}

/// Why a message was not sent, or may not have been.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// The recipient is not one plain address.
    #[error("`{0}` is not a single mail address; name one, such as user@host.example")]
    Recipient(String),
    /// The message is too large.
    #[error("the {what} has {size} bytes; at most {cap} are sent")]
    TooLarge {
        /// Which part.
        what: &'static str,
        /// Its size.
        size: usize,
        /// The most.
        cap: usize,
    },
    /// The message cannot be put in form.
    #[error("the message cannot be put in form: {0}")]
    Form(String),
    /// The operator's configuration cannot be used.
    #[error("the operator's relay cannot be used: {0}")]
    Configuration(String),
    /// The relay refused it for good: it was not sent.
    #[error("the relay refused the message: {0}")]
    Refused(String),
    /// The connection failed, perhaps after the message was taken.
    #[error("the relay failed, and whether the message was sent is not known: {0}")]
    Unsure(String),
}

impl RelayError {
    /// Whether the message may have been sent all the same.
    pub const fn may_have_been_sent(&self) -> bool {
        matches!(self, Self::Unsure(_))
    }
}

impl Relay {
    /// Sends `letter`, once; returns what the relay answered.
    ///
    /// # Errors
    /// [`RelayError`]; only [`RelayError::Unsure`] leaves it open whether the message went out.
    pub fn send(&self, letter: &Letter) -> Result<String, RelayError> {
        within("subject", letter.subject.len(), SUBJECT_CAP)?;
        within("text", letter.body.len(), BODY_CAP)?;
        match self {
            Self::Smtp { host, port, from, tls } => {
                let message = message(from, letter)?;
                smtp(transport(host, *port, *tls)?, &message)
            }
            Self::Webhook { url } => webhook::post(url, letter),
        }
    }
}

const fn within(what: &'static str, size: usize, cap: usize) -> Result<(), RelayError> {
    if size > cap { Err(RelayError::TooLarge { what, size, cap }) } else { Ok(()) }
}

fn message(from: &str, letter: &Letter) -> Result<Message, RelayError> {
    let from = mailbox(from).map_err(|_| RelayError::Configuration(format!("`{from}` is not a mail address")))?;
    Message::builder()
        .from(from)
        .to(mailbox(&letter.to)?)
        .subject(letter.subject.replace(['\r', '\n'], " "))
        .header(header::ContentType::TEXT_PLAIN)
        .body(letter.body.clone())
        .map_err(|error| RelayError::Form(error.to_string()))
}

/// One bare address: no display name, no list, no route.
fn mailbox(text: &str) -> Result<Mailbox, RelayError> {
    let address: Address = text.parse().map_err(|_| RelayError::Recipient(text.to_owned()))?;
    Ok(Mailbox::new(None, address))
}

fn transport(host: &str, port: u16, tls: RelayTls) -> Result<SmtpTransport, RelayError> {
    let parameters =
        || TlsParameters::new_rustls(host.to_owned()).map_err(|error| RelayError::Configuration(error.to_string()));
    let tls = match tls {
        RelayTls::StartTls => Tls::Required(parameters()?),
        RelayTls::Wrapped => Tls::Wrapper(parameters()?),
        RelayTls::None if is_loopback(host) => Tls::None,
        RelayTls::None => {
            let why = format!("`{host}` is not on loopback, so it needs tls = \"starttls\" or \"tls\"");
            return Err(RelayError::Configuration(why));
        }
    };
    Ok(SmtpTransport::builder_dangerous(host).port(port).tls(tls).timeout(Some(PATIENCE)).build())
}

fn smtp(transport: SmtpTransport, message: &Message) -> Result<String, RelayError> {
    match transport.send(message) {
        Ok(answer) => Ok(answer.message().collect::<Vec<_>>().join(" ")),
        Err(error) if error.is_permanent() || error.is_transient() => Err(RelayError::Refused(error.to_string())),
        Err(error) => Err(RelayError::Unsure(chain(&error))),
    }
}

/// A number of loopback, or the one name that stands for it.
fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        told.push_str(": ");
        told.push_str(&inner.to_string());
        cause = inner.source();
    }
    told
}
