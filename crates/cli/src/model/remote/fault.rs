//! The provider library's errors, sorted by what to do about them.

use std::fmt;
use std::time::Duration;

use genai::webc;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::model::error::{ModelError, cut};
use crate::model::pace::asked_wait;

/// A try that failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// Trying again is no use, or would repeat words already shown.
    Final(ModelError),
    /// Trying again may help.
    Passing(Trouble),
}

/// What may pass.
#[derive(Debug)]
pub(super) struct Trouble {
    kind: Kind,
    said: String,
    /// The wait that the provider asks for.
    pub(super) asked: Option<Duration>,
}

#[derive(Debug)]
enum Kind {
    RateLimited,
    Server(u16),
    Connect,
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Final(error)
    }
}

impl Trouble {
    /// The error to report when no more tries are made.
    pub(super) fn into_error(self, attempts: u32) -> ModelError {
        match self.kind {
            Kind::RateLimited => ModelError::RateLimited { attempts },
            Kind::Server(status) => ModelError::Server { status, attempts, said: self.said },
            Kind::Connect => ModelError::Connect { attempts, said: self.said },
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::RateLimited => f.write_str("the provider limits the rate (HTTP 429)"),
            Kind::Server(status) => write!(f, "the provider fails (HTTP {status})"),
            Kind::Connect => f.write_str("no connection to the provider"),
        }
    }
}

impl Failure {
    /// Sorts an error of the library; `key` is cut out of whatever the provider said.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all others are answers that make no sense; none brings a reply"
    )]
    pub(super) fn of(error: &genai::Error, key: Option<&str>) -> Self {
        use genai::Error as E;
        match error {
            E::WebModelCall { webc_error, .. } | E::WebAdapterCall { webc_error, .. } => of_call(webc_error, key),
            E::WebStream { error, .. } => of_stream(error.as_ref(), key),
            E::HttpError { status, body, headers, .. } => of_status(*status, body, headers, key),
            E::ChatResponse { body, .. } => broken(&body.to_string(), key),
            E::StreamParse { serde_error, .. } => bad(&serde_error.to_string(), key),
            E::ChatResponseGeneration { cause, .. } => bad(cause, key),
            other => bad(&other.to_string(), key),
        }
    }
}

fn of_call(error: &webc::Error, key: Option<&str>) -> Failure {
    match error {
        webc::Error::ResponseFailedStatus { status, body, headers } => of_status(*status, body, headers, key),
        webc::Error::Reqwest(error) => of_reqwest(error, key),
        webc::Error::ResponseFailedNotJson { content_type, .. } => {
            bad(&format!("it is `{content_type}`, not JSON"), key)
        }
        webc::Error::ResponseFailedInvalidJson { cause, .. } => bad(cause, key),
        webc::Error::JsonValueExt(error) => bad(&error.to_string(), key),
    }
}

fn of_stream(error: &(dyn std::error::Error + Send + Sync + 'static), key: Option<&str>) -> Failure {
    match (error.downcast_ref::<genai::Error>(), error.downcast_ref::<reqwest::Error>()) {
        (Some(inner), _) => Failure::of(inner, key),
        (None, Some(inner)) => of_reqwest(inner, key),
        (None, None) => broken(&error.to_string(), key),
    }
}

fn of_reqwest(error: &reqwest::Error, key: Option<&str>) -> Failure {
    let said = said(&chain(error), key);
    if error.is_connect() {
        return Failure::Passing(Trouble { kind: Kind::Connect, said, asked: None });
    }
    ModelError::BrokenStream { said }.into()
}

fn of_status(status: StatusCode, body: &str, headers: &HeaderMap, key: Option<&str>) -> Failure {
    let (code, said) = (status.as_u16(), said(&message(body), key));
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let asked = asked_wait(header("retry-after-ms"), header("retry-after"));
    match code {
        429 => Failure::Passing(Trouble { kind: Kind::RateLimited, said, asked }),
        500.. => Failure::Passing(Trouble { kind: Kind::Server(code), said, asked }),
        401 | 403 => ModelError::Auth { status: code, said }.into(),
        _ => ModelError::Refused { status: code, said }.into(),
    }
}

/// Both providers put the words at the same place; anything else is shown as it is.
fn message(body: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let words = json.as_ref().and_then(|json| json.pointer("/error/message")?.as_str());
    words.unwrap_or(body).to_owned()
}

fn broken(text: &str, key: Option<&str>) -> Failure {
    ModelError::BrokenStream { said: said(text, key) }.into()
}

fn bad(text: &str, key: Option<&str>) -> Failure {
    ModelError::BadResponse { said: said(text, key) }.into()
}

/// Cuts the key out, then cuts to length.
fn said(text: &str, key: Option<&str>) -> String {
    match key {
        Some(key) if !key.is_empty() => cut(&text.replace(key, "[key]")),
        _ => cut(text),
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
