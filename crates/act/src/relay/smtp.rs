//! The relay as a mail server.

use lettre::Address;
use lettre::message::{Mailbox, Message, header};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Certificate, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use secrecy::ExposeSecret as _;

use super::{Letter, REACH, RelayError, RelayTls, Smtp, TAKE, chain, is_loopback, unless_cut};
use crate::sandbox::HaltSignal;

/// Sends `letter` over one connection.
pub(super) async fn send(smtp: &Smtp, letter: &Letter, halt: &HaltSignal) -> Result<String, RelayError> {
    let message = message(&smtp.from, letter)?;
    let tls = tls(smtp)?;
    let reached = unless_cut(REACH, halt, open(smtp, tls)).await.map_err(super::Cut::before)?;
    let mut line = reached.map_err(|error| RelayError::Unreached(chain(&error)))?;
    let text = message.formatted();
    let said = unless_cut(TAKE, halt, line.send(message.envelope(), &text)).await.map_err(super::Cut::during)?;
    let answer = said.map_err(|error| failure(&error))?;
    // It was taken; a goodbye that hangs changes nothing.
    drop(unless_cut(GOODBYE, halt, line.quit()).await);
    Ok(answer.message().collect::<Vec<_>>().join(" "))
}

const GOODBYE: std::time::Duration = std::time::Duration::from_secs(2);

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

/// What protects the connection, `None` on loopback alone.
fn tls(smtp: &Smtp) -> Result<Option<TlsParameters>, RelayError> {
    let wrong = |error: Error| RelayError::Configuration(chain(&error));
    match smtp.tls {
        RelayTls::StartTls | RelayTls::Wrapped => {
            let mut builder = TlsParameters::builder(smtp.host.clone());
            if let Some(pem) = &smtp.trust {
                builder = builder.add_root_certificate(Certificate::from_pem(pem.as_bytes()).map_err(wrong)?);
            }
            Ok(Some(builder.build_rustls().map_err(wrong)?))
        }
        RelayTls::None if is_loopback(&smtp.host) => Ok(None),
        RelayTls::None => {
            let why = format!("`{}` is not on loopback, so it needs tls = \"starttls\" or \"tls\"", smtp.host);
            Err(RelayError::Configuration(why))
        }
    }
}

/// Connects, encrypts and logs in, in this order: neither password nor message passes in the clear.
async fn open(smtp: &Smtp, tls: Option<TlsParameters>) -> Result<AsyncSmtpConnection, Error> {
    let hello = ClientId::default();
    let place = (smtp.host.trim_matches(['[', ']']), smtp.port);
    let (wrapped, upgraded) = match smtp.tls {
        RelayTls::Wrapped => (tls, None),
        RelayTls::StartTls | RelayTls::None => (None, tls),
    };
    let mut line = AsyncSmtpConnection::connect_tokio1(place, Some(REACH), &hello, wrapped, None).await?;
    if let Some(tls) = upgraded {
        line.starttls(tls, &hello).await?;
    }
    if let Some((user, password)) = &smtp.login {
        let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
        line.auth(&[Mechanism::Plain, Mechanism::Login], &credentials).await?;
    }
    Ok(line)
}

fn failure(error: &Error) -> RelayError {
    if error.is_permanent() || error.is_transient() {
        RelayError::Refused(error.to_string())
    } else if error.is_client() {
        RelayError::Form(chain(error))
    } else {
        RelayError::Unsure(chain(error))
    }
}
