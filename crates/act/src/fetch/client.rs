//! The dialling: a resolver that knows one answer, no proxy, no redirects of its own.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tollgate_survey::Destination;
use url::{Host, Url};

use super::{Answer, Caps, FetchError, Rejudge};
use crate::dial;

/// Fetches `next` and follows redirects as long as they are allowed; `hops` names the way.
pub(super) async fn follow(
    mut next: Destination,
    rejudge: Rejudge<'_>,
    caps: Caps,
    hops: &mut Vec<String>,
) -> Result<Answer, FetchError> {
    loop {
        let url = fit(&next)?;
        hops.push(url.to_string());
        let to = match ask(&next, &url, caps).await? {
            Asked::Answer(answer) => return Ok(answer),
            Asked::Moved(to) => to,
        };
        if hops.len() > caps.hops {
            return Err(FetchError::Hops(caps.hops, to.into()));
        }
        if url.scheme() == "https" && to.scheme() != "https" {
            return Err(FetchError::Downgrade(to.into()));
        }
        next = rejudge(&next, to.as_str()).map_err(|why| FetchError::Refused { to: to.into(), why })?;
    }
}

/// Reads the destination's URL, and refuses one that would make the client dial something else.
fn fit(to: &Destination) -> Result<Url, FetchError> {
    let unfit = || FetchError::Unfit(to.url().to_owned());
    let url = Url::parse(to.url()).map_err(|_| unfit())?;
    let literal = match url.host().ok_or_else(unfit)? {
        Host::Ipv4(ip) => Some(IpAddr::V4(ip)),
        Host::Ipv6(ip) => Some(IpAddr::V6(ip)),
        Host::Domain(_) => None,
    };
    // A number in the URL is dialled without asking the resolver, so it must be the judged one.
    let judged = literal.is_none_or(|ip| to.addresses().contains(&ip));
    let plain = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    let port = url.port_or_known_default() == Some(to.port());
    if judged && plain && port && !to.addresses().is_empty() { Ok(url) } else { Err(unfit()) }
}

enum Asked {
    Answer(Answer),
    Moved(Url),
}

async fn ask(to: &Destination, url: &Url, caps: Caps) -> Result<Asked, FetchError> {
    let failed = |error: reqwest::Error| failure(url, &error, caps);
    let request = client(to, caps)?.get(url.clone()).header("accept", "text/html, text/*;q=0.9, */*;q=0.5");
    let mut response = request.send().await.map_err(failed)?;
    let status = response.status().as_u16();
    if matches!(status, 301 | 302 | 303 | 307 | 308) {
        let place = response.headers().get("location").and_then(|value| value.to_str().ok());
        let moved = place.and_then(|place| url.join(place).ok());
        return moved.map(Asked::Moved).ok_or(FetchError::NoLocation(status));
    }
    let header =
        |name| response.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let (kind, encoding) = (header("content-type"), header("content-encoding"));
    let mut body = Vec::new();
    let mut cut = false;
    while let Some(piece) = response.chunk().await.map_err(failed)? {
        let room = caps.body.saturating_sub(body.len());
        body.extend(piece.iter().take(room));
        cut = piece.len() > room;
        if cut {
            break;
        }
    }
    Ok(Asked::Answer(Answer { url: url.to_string(), status, kind, encoding, body, cut }))
}

/// A client for one destination.
fn client(to: &Destination, caps: Caps) -> Result<reqwest::Client, FetchError> {
    let tls = if to.url().starts_with("https:") { dial::encrypted(None) } else { dial::plain() };
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls.map_err(FetchError::Client)?)
        .dns_resolver(Arc::new(Judged { host: to.host().to_owned(), addresses: to.addresses().to_vec() }))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http1_only()
        // Decoded piece by piece: what a small answer swells to is cut at the cap of a body.
        .gzip(true)
        .no_brotli()
        .no_deflate()
        .no_zstd()
        .pool_max_idle_per_host(0)
        .user_agent("tollgate")
        .connect_timeout(caps.connect)
        .read_timeout(caps.idle)
        .build()
        .map_err(|error| FetchError::Client(error.to_string()))
}

/// Answers with the judged addresses, for the judged host only.
struct Judged {
    host: String,
    addresses: Vec<IpAddr>,
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let asked = name.as_str().trim_end_matches('.');
        let same = asked.eq_ignore_ascii_case(self.host.trim_end_matches('.'));
        let answer = if same {
            let sockets: Vec<SocketAddr> = self.addresses.iter().map(|ip| SocketAddr::new(*ip, 0)).collect();
            Ok(Box::new(sockets.into_iter()) as Addrs)
        } else {
            Err(format!("`{asked}` was not judged").into())
        };
        Box::pin(std::future::ready(answer))
    }
}

fn failure(url: &Url, error: &reqwest::Error, caps: Caps) -> FetchError {
    if error.is_timeout() && !error.is_connect() {
        return FetchError::TimedOut(caps.idle);
    }
    let mut why = Vec::new();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(inner) = cause {
        why.push(inner.to_string());
        cause = inner.source();
    }
    why.dedup();
    FetchError::Failed { url: url.to_string(), why: if why.is_empty() { error.to_string() } else { why.join(": ") } }
}
