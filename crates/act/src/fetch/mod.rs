//! `webfetch`: one page, from the very addresses that were judged, as text.
//!
//! # Security
//! Only judged addresses are dialled: the name is never looked up again, proxies of the environment are
//! not asked, and each redirect goes back to whoever judges before it is followed. Nothing is sent but the
//! address itself: no cookies, no credentials, no referrer. It does not stop a server from answering
//! with text that is meant to mislead the model; hidden text is dropped and counted, visible text is not judged.

mod client;
mod html;
mod text;

use std::time::Duration;

use sha2::{Digest, Sha256};
use tollgate_survey::Destination;

use crate::dial::raised;
use crate::files::{Hash, RESULT_CAP};
use crate::sandbox::HaltSignal;

pub use html::Dropped;

/// Judges where a destination redirects to: another destination, or the reason against it.
pub type Rejudge<'a> = &'a dyn Fn(&Destination, &str) -> Result<Destination, String>;

/// How much a fetch may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Bytes of a body that are read.
    pub body: usize,
    /// From the first dial to the last byte, redirects included.
    pub total: Duration,
    /// Until a connection stands.
    pub connect: Duration,
    /// Between two pieces of a body.
    pub idle: Duration,
    /// Redirects that are followed.
    pub hops: usize,
}

impl Default for Caps {
    /// 2 MB, 60 s in all, 10 s to connect, 20 s of silence, 5 redirects.
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self { body: 2_000_000, total: secs(60), connect: secs(10), idle: secs(20), hops: 5 }
    }
}

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The destination contradicts itself.
    #[error("`{0}` cannot be dialled as judged; propose the call again")]
    Unfit(String),
    /// A redirect was judged and refused.
    #[error("redirected to `{to}`, which is refused: {why}")]
    Refused {
        /// Where to.
        to: String,
        /// Why not.
        why: String,
    },
    /// A redirect leads from https to http.
    #[error("redirected from https to `{0}`, which anybody on the way could read and change; it was not followed")]
    Downgrade(String),
    /// A redirect names no place.
    #[error("redirected by {0}, to no address that can be read")]
    NoLocation(u16),
    /// Redirects without end.
    #[error("redirected more than {0} times, last to `{1}`; fetch that address itself if it is wanted")]
    Hops(usize, String),
    /// Time ran out.
    #[error("no answer within {} s; try later, or another address", .0.as_secs())]
    TimedOut(Duration),
    /// A halt was raised.
    #[error("stopped by a halt")]
    Halted,
    /// The connection failed.
    #[error("`{url}` could not be fetched: {why}")]
    Failed {
        /// What was asked for.
        url: String,
        /// What went wrong, innermost cause last.
        why: String,
    },
    /// This process could not make a client.
    #[error("no client could be made: {0}")]
    Client(String),
}

/// A fetched page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The last address, after redirects.
    pub url: String,
    /// Its status.
    pub status: u16,
    /// Text for the model, cut to the cap of results, with notices in square brackets.
    pub text: String,
    /// Bytes of the body that were read.
    pub bytes: usize,
    /// SHA-256 of them.
    pub hash: Hash,
    /// Whether body or text were cut.
    pub truncated: bool,
    /// Addresses on the way, the first one first.
    pub hops: Vec<String>,
}

/// What a server answered, unread.
struct Answer {
    url: String,
    status: u16,
    kind: String,
    /// How the body is still compressed, if it is.
    encoding: String,
    body: Vec<u8>,
    cut: bool,
}

/// Fetches `first`, following redirects that `rejudge` allows.
///
/// # Errors
/// [`FetchError`]; answers of any status are pages, not errors.
pub fn fetch(first: Destination, rejudge: Rejudge<'_>, caps: Caps, halt: &HaltSignal) -> Result<Page, FetchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| FetchError::Client(error.to_string()))?;
    let mut hops = Vec::new();
    let answer = runtime.block_on(async {
        let work = client::follow(first, rejudge, caps, &mut hops);
        tokio::select! {
            done = tokio::time::timeout(caps.total, work) => done.unwrap_or(Err(FetchError::TimedOut(caps.total))),
            () = raised(halt) => Err(FetchError::Halted),
        }
    });
    // Whatever still hangs is dropped, not waited for.
    runtime.shutdown_background();
    Ok(page(answer?, hops))
}

fn page(answer: Answer, hops: Vec<String>) -> Page {
    let read = text::read(&answer.kind, &answer.encoding, &answer.body);
    let mut text = format!("[{} from {}]\n", answer.status, answer.url);
    let room = RESULT_CAP - 1_024 - text.len().min(8_192);
    let body = crate::dry::cut(&read.text, room);
    let truncated = answer.cut || body.len() < read.text.len();
    text.push_str(&body);
    if !body.ends_with('\n') {
        text.push('\n');
    }
    if answer.cut {
        text.push_str(&format!("[the body is longer than {} bytes; the rest was not read]\n", answer.body.len()));
    }
    for notice in read.notices {
        text.push_str(&format!("[{notice}]\n"));
    }
    let hash = Sha256::digest(&answer.body).into();
    Page { url: answer.url, status: answer.status, text, bytes: answer.body.len(), hash, truncated, hops }
}
