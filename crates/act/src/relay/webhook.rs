//! The relay as an address that takes JSON.

use reqwest::header::HeaderValue;
use secrecy::ExposeSecret as _;
use serde_json::json;
use url::Url;

use super::{Cut, Letter, REACH, RelayError, TAKE, Webhook, chain, is_loopback, unless_cut};
use crate::dial;
use crate::sandbox::HaltSignal;

/// Posts `letter` once; redirects are not followed, and the answer's body is not read.
pub(super) async fn post(hook: &Webhook, letter: &Letter, halt: &HaltSignal) -> Result<String, RelayError> {
    let url = fit(&hook.url)?;
    let body = json!({"to": letter.to, "subject": letter.subject, "body": letter.body}).to_string();
    let mut request = client(hook, &url)?.post(url).header("content-type", "application/json").body(body);
    if let Some((name, value)) = &hook.header {
        let value = HeaderValue::from_str(value.expose_secret());
        let mut value = value.map_err(|_| RelayError::Configuration("its secret does not fit a header".to_owned()))?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    // Its address may be a secret itself.
    let answer =
        unless_cut(TAKE, halt, request.send()).await.map_err(Cut::during)?.map_err(reqwest::Error::without_url);
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(answer.status().to_string()),
        Ok(answer) => Err(RelayError::Refused(answer.status().to_string())),
        Err(error) if error.is_connect() => Err(RelayError::Unreached(chain(&error))),
        Err(error) => Err(RelayError::Unsure(chain(&error))),
    }
}

fn fit(url: &str) -> Result<Url, RelayError> {
    let unfit = |why: &str| RelayError::Configuration(format!("its address {why}"));
    let parsed = Url::parse(url).map_err(|_| unfit("is not a URL"))?;
    let host = parsed.host_str().ok_or_else(|| unfit("names no host"))?;
    match parsed.scheme() {
        "https" => Ok(parsed),
        "http" if is_loopback(host) => Ok(parsed),
        _ => Err(unfit("must be https, or http on loopback")),
    }
}

fn client(hook: &Webhook, url: &Url) -> Result<reqwest::Client, RelayError> {
    let tls = if url.scheme() == "https" { dial::encrypted(hook.trust.as_deref()) } else { dial::plain() };
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.map_err(RelayError::Configuration)?)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .http1_only()
        .connect_timeout(REACH)
        .build()
        .map_err(|error| RelayError::Configuration(error.to_string()))
}
