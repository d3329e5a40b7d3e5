//! The relay as an address that takes JSON.

use std::sync::Arc;

use rustls_platform_verifier::BuilderVerifierExt as _;
use serde_json::json;
use url::Url;

use super::{Letter, PATIENCE, RelayError, chain, is_loopback};

/// Posts `letter` once; redirects are not followed.
pub(super) fn post(url: &str, letter: &Letter) -> Result<String, RelayError> {
    let url = fit(url)?;
    let client = client(url.scheme() == "https")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| RelayError::Configuration(error.to_string()))?;
    let body = json!({"to": letter.to, "subject": letter.subject, "body": letter.body}).to_string();
    let request = client.post(url).header("content-type", "application/json").body(body);
    let answer = runtime.block_on(async { request.send().await });
    runtime.shutdown_background();
    match answer {
        Ok(answer) if answer.status().is_success() => Ok(answer.status().to_string()),
        Ok(answer) => Err(RelayError::Refused(answer.status().to_string())),
        Err(error) if error.is_connect() => Err(RelayError::Refused(chain(&error))),
        Err(error) => Err(RelayError::Unsure(chain(&error))),
    }
}

fn fit(url: &str) -> Result<Url, RelayError> {
    let unfit = |why: &str| RelayError::Configuration(format!("`{url}` {why}"));
    let parsed = Url::parse(url).map_err(|_| unfit("is not a URL"))?;
    let host = parsed.host_str().ok_or_else(|| unfit("names no host"))?;
    match parsed.scheme() {
        "https" => Ok(parsed),
        "http" if is_loopback(host) => Ok(parsed),
        _ => Err(unfit("must be https, or http on loopback")),
    }
}

fn client(encrypted: bool) -> Result<reqwest::Client, RelayError> {
    let failed = |error: rustls::Error| RelayError::Configuration(error.to_string());
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let tls =
        rustls::ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions().map_err(failed)?;
    let tls = if encrypted {
        tls.with_platform_verifier().map_err(failed)?
    } else {
        tls.with_root_certificates(rustls::RootCertStore::empty())
    };
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.with_no_client_auth())
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .http1_only()
        .timeout(PATIENCE)
        .build()
        .map_err(|error| RelayError::Configuration(error.to_string()))
}
