//! What every connection of ours has in common: what it trusts, and that a halt ends it.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::Verifier;

use crate::sandbox::HaltSignal;

/// TLS for HTTP/1.1, trusting what the machine trusts and the certificates of `extra` (PEM).
///
/// # Errors
/// In words: no trust roots, or `extra` holds none.
pub(crate) fn encrypted(extra: Option<&str>) -> Result<ClientConfig, String> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let roots = extra.map(certificates).transpose()?.unwrap_or_default();
    let verifier = Verifier::new_with_extra_roots(roots, Arc::clone(&ring)).map_err(|error| error.to_string())?;
    let builder = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Ok(over_http1(builder.with_no_client_auth()))
}

/// The same for a connection that is never encrypted: it works on a machine without trust roots.
///
/// # Errors
/// In words: this build has no TLS.
pub(crate) fn plain() -> Result<ClientConfig, String> {
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(ring).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| error.to_string())?.with_root_certificates(RootCertStore::empty());
    Ok(over_http1(builder.with_no_client_auth()))
}

fn over_http1(mut config: ClientConfig) -> ClientConfig {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config
}

fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match read {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) => Err("the file of certificates holds none".to_owned()),
        Err(error) => Err(format!("the file of certificates cannot be read: {error}")),
    }
}

/// Waits until the halt is raised.
pub(crate) async fn raised(halt: &HaltSignal) {
    let mut tick = tokio::time::interval(Duration::from_millis(20));
    loop {
        tick.tick().await;
        if halt.is_raised() {
            return;
        }
    }
}
