//! What can go wrong in a turn, grouped by whose fault it is.

use std::time::Duration;

use thiserror::Error;

/// A turn that brought no reply. None of these is ever turned into a reply.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ModelError {
    // The person's: the command line or the environment must change.
    /// The `--model` text, or its base URL, makes no sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The provider needs a key and none was given.
    #[error("`{provider}` needs an API key; set {variable}")]
    MissingKey {
        /// The provider's name.
        provider: &'static str,
        /// The environment variable that should hold the key.
        variable: &'static str,
    },
    /// The provider does not accept the key (HTTP 401 or 403).
    #[error("the provider refused the API key (HTTP {status}): {said}; check the key and its rights")]
    Auth {
        /// The HTTP status.
        status: u16,
        /// What the provider said, cut.
        said: String,
    },
    /// The script file cannot be used.
    #[error(transparent)]
    Script(#[from] super::script::ScriptError),

    // Ours or the person's: the request was wrong.
    /// The provider refuses the request itself (any other HTTP 4xx).
    #[error(
        "the provider refused the request (HTTP {status}): {said}; check the model's name and the tools it accepts"
    )]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the provider said, cut.
        said: String,
    },
    /// The provider would run a tool of this name itself, past the gate.
    #[error("the provider would run a tool named `{0}` itself; give the tool another name")]
    ReservedTool(String),
    /// The HTTP client could not be made.
    #[error("the HTTP client cannot start: {0}")]
    Client(String),

    // The provider's or the network's: trying later may help.
    /// Still HTTP 429 after all retries.
    #[error("the provider limits the rate and still does after {attempts} tries; wait, or choose another model")]
    RateLimited {
        /// How many tries were made.
        attempts: u32,
    },
    /// Still a server error (HTTP 5xx) after all retries.
    #[error("the provider fails (HTTP {status}) and still does after {attempts} tries: {said}; try again later")]
    Server {
        /// The last HTTP status.
        status: u16,
        /// How many tries were made.
        attempts: u32,
        /// What the provider said, cut.
        said: String,
    },
    /// No connection after all retries.
    #[error("no connection to the provider after {attempts} tries: {said}; check the network and the base URL")]
    Connect {
        /// How many tries were made.
        attempts: u32,
        /// The last cause, cut.
        said: String,
    },
    /// The answer stopped in the middle; what arrived is not used.
    #[error("the answer broke off: {said}; nothing of it is used, try again")]
    BrokenStream {
        /// The cause, cut.
        said: String,
    },
    /// The answer is not what the provider's protocol says.
    #[error("the answer makes no sense: {said}; check that the base URL speaks this protocol")]
    BadResponse {
        /// The cause, cut.
        said: String,
    },
    /// No complete answer within the deadline.
    #[error("no complete answer within {} s; try again, or allow more time", .deadline.as_secs())]
    Timeout {
        /// The deadline of the turn.
        deadline: Duration,
    },

    // Nobody's.
    /// The turn was stopped on purpose.
    #[error("the turn was stopped")]
    Cancelled,
}

/// A `--model` or `--base-url` value that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum SpecError {
    /// No provider of that name.
    #[error("`{0}` is not a known provider; use openai:NAME, anthropic:NAME, ollama:NAME or script:FILE")]
    UnknownProvider(String),
    /// There is no colon.
    #[error("`{0}` does not say which provider; write PROVIDER:NAME, such as openai:{0}")]
    NoProvider(String),
    /// Nothing, or something strange, after the colon.
    #[error("`{0}` is not a model name; write PROVIDER:NAME with letters, digits and . _ - / :")]
    BadName(String),
    /// Not a URL, or not http or https, or with a password, query or fragment in it.
    #[error("`{0}` is not a usable base URL; give http or https, a host and a path, without user, query or fragment")]
    BadUrl(String),
    /// A script brings its own server.
    #[error("a script model serves itself; leave --base-url out")]
    UrlForScript,
    /// A key would travel in clear text.
    #[error("`{0}` would send the API key in clear text; use https, or a loopback address")]
    ClearTextKey(String),
}

/// Cuts provider text for an error message and replaces control characters.
pub(super) fn cut(text: &str) -> String {
    const MAX_CHARS: usize = 300;
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = shown.take(MAX_CHARS).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_text_is_cut_and_carries_no_control_characters() {
        let hostile = format!("\u{1b}[31mred\n{}", "é".repeat(400));
        let shown = cut(&hostile);
        assert!(!shown.chars().any(char::is_control));
        assert_eq!(shown.chars().count(), 301);
        assert!(shown.ends_with('…'));
    }
}
