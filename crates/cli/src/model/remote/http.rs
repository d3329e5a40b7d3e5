//! The HTTP client under the provider library: ring, no proxy, no redirects, no compression.

use std::sync::Arc;
use std::time::Duration;

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;

use crate::model::error::ModelError;
use crate::model::spec::RemoteSpec;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

/// Makes the client for one base URL.
///
/// # Errors
/// [`ModelError::Client`] if no trust roots can be loaded for HTTPS.
/// # Security
/// Proxy variables are ignored and redirects are not followed, so the key goes to the base URL's host and nowhere
/// else. Compression is off, so a small answer cannot swell. It does not pin certificates: whoever can add a root to
/// the machine's trust store can read the key.
pub(super) fn client(spec: &RemoteSpec) -> Result<reqwest::Client, ModelError> {
    let failed = |error: &dyn std::error::Error| ModelError::Client(error.to_string());
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls(spec)?)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .http1_only()
        .gzip(false)
        // Idle connections would go stale unseen: nothing polls them between two turns.
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIMEOUT)
        .build()
        .map_err(|error| failed(&error))
}

fn tls(spec: &RemoteSpec) -> Result<ClientConfig, ModelError> {
    let failed = |error: rustls::Error| ModelError::Client(error.to_string());
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions().map_err(failed)?;
    let builder = match spec.base.scheme() {
        "https" => builder.with_platform_verifier().map_err(failed)?,
        // Plain HTTP must work on a machine without trust roots; with none, any TLS attempt fails.
        _ => builder.with_root_certificates(RootCertStore::empty()),
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}
