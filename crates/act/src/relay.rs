//! `send_message`: hands a message to the relay that the operator configured, once.
//!
//! # Security
//! The relay's address comes from the operator's configuration, the recipient was judged. Exactly one
//! recipient is addressed; what a model writes into subject or text cannot add another, nor a header.
//! There is no second try: whether a message that failed late was sent is not known, and is said so.
//! Neither the relay's secret nor a webhook's address is ever part of an answer. It does not stop the
//! relay's owner from reading the message.

mod smtp;
mod webhook;

use std::net::IpAddr;
use std::time::Duration;

use secrecy::SecretString;
use tollgate_call::message::{MAX_BODY, MAX_SUBJECT};

use crate::dial::raised;
use crate::sandbox::HaltSignal;

/// How long it may take until the relay listens.
const REACH: Duration = Duration::from_secs(20);
/// How long the relay may take for the message.
const TAKE: Duration = Duration::from_secs(40);
/// Characters of a relay's answer that are told.
const ANSWER: usize = 300;

/// The operator's relay.
#[derive(Debug, Clone)]
pub enum Relay {
    /// A mail server.
    Smtp(Smtp),
    /// An address that takes `{"to", "subject", "body"}` as JSON by POST.
    Webhook(Webhook),
    /// One that cannot be used, and why: the reason is told when somebody wants to send.
    Unusable(String),
}

/// A mail server.
#[derive(Debug, Clone)]
pub struct Smtp {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
    /// The sender's address.
    pub from: String,
    /// How the connection is protected.
    pub tls: RelayTls,
    /// Who logs in, and with which password.
    pub login: Option<(String, SecretString)>,
    /// Certificates, PEM, that are trusted besides the machine's.
    pub trust: Option<String>,
}

/// An address that takes messages as JSON.
#[derive(Debug, Clone)]
pub struct Webhook {
    /// The address: https, or http on loopback.
    pub url: String,
    /// A header that proves who sends.
    pub header: Option<(String, SecretString)>,
    /// Certificates, PEM, that are trusted besides the machine's.
    pub trust: Option<String>,
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
    /// The relay was not reached, or did not let us in: nothing was sent.
    #[error("the relay was not reached, and nothing was sent: {0}")]
    Unreached(String),
    /// The relay refused it for good: it was not sent.
    #[error("the relay refused the message: {0}")]
    Refused(String),
    /// A halt came before anything was sent.
    #[error("stopped by a halt before anything was sent")]
    Halted,
    /// The connection failed, or was ended by a halt, perhaps after the message was taken.
    #[error("whether the message was sent is not known: {0}")]
    Unsure(String),
}

impl RelayError {
    /// Whether the message may have been sent all the same.
    pub const fn may_have_been_sent(&self) -> bool {
        matches!(self, Self::Unsure(_))
    }
}

impl Relay {
    /// Sends `letter`, once, unless `halt` is raised first; returns what the relay answered.
    ///
    /// # Errors
    /// [`RelayError`]; only [`RelayError::Unsure`] leaves it open whether the message went out.
    pub fn send(&self, letter: &Letter, halt: &HaltSignal) -> Result<String, RelayError> {
        within("subject", letter.subject.len(), MAX_SUBJECT)?;
        within("text", letter.body.len(), MAX_BODY)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| RelayError::Configuration(error.to_string()))?;
        let answer = match self {
            Self::Smtp(smtp) => runtime.block_on(smtp::send(smtp, letter, halt)),
            Self::Webhook(webhook) => runtime.block_on(webhook::post(webhook, letter, halt)),
            Self::Unusable(why) => Err(RelayError::Configuration(why.clone())),
        };
        // Whatever still hangs is dropped, not waited for.
        runtime.shutdown_background();
        answer.map(|answer| answer.chars().take(ANSWER).collect())
    }
}

const fn within(what: &'static str, size: usize, cap: usize) -> Result<(), RelayError> {
    if size > cap { Err(RelayError::TooLarge { what, size, cap }) } else { Ok(()) }
}

/// How a step ended that was not let finish.
enum Cut {
    Late(Duration),
    Halted,
}

/// Does `work` within `time`, unless the halt is raised; what is cut short is dropped, and its connection closed.
async fn unless_cut<T>(time: Duration, halt: &HaltSignal, work: impl Future<Output = T>) -> Result<T, Cut> {
    tokio::select! {
        done = tokio::time::timeout(time, work) => done.map_err(|_| Cut::Late(time)),
        () = raised(halt) => Err(Cut::Halted),
    }
}

impl Cut {
    /// Before anything of the message was said.
    fn before(self) -> RelayError {
        match self {
            Self::Late(time) => RelayError::Unreached(format!("no answer within {} s", time.as_secs())),
            Self::Halted => RelayError::Halted,
        }
    }

    /// While the message was said.
    fn during(self) -> RelayError {
        match self {
            Self::Late(time) => RelayError::Unsure(format!("the relay took longer than {} s", time.as_secs())),
            Self::Halted => RelayError::Unsure("a halt closed the connection".to_owned()),
        }
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
