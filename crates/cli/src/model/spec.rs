//! Which model: the `--model` and `--base-url` values, parsed.

use std::fmt;
use std::path::PathBuf;

use url::{Host, Url};

use super::error::SpecError;

/// A parsed `--model` value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelSpec {
    /// A model behind an HTTP API.
    Remote(RemoteSpec),
    /// A scripted model of ours, from this file.
    Script(PathBuf),
}

/// A model behind an HTTP API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RemoteSpec {
    pub(super) provider: Provider,
    pub(super) model: String,
    pub(super) base: Url,
}

/// Who serves the model, and so which protocol it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Provider {
    /// OpenAI, or anything that speaks its chat completions.
    OpenAi,
    /// Anthropic, or anything that speaks its messages.
    Anthropic,
    /// Ollama, through its OpenAI-compatible side.
    Ollama,
}

/// Whether a model runs on this machine, which decides what an unknown price means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Locality {
    /// Behind a loopback address.
    Loopback,
    /// Anywhere else.
    Remote,
}

impl ModelSpec {
    /// Parses `openai:NAME`, `anthropic:NAME`, `ollama:NAME` or `script:FILE`.
    ///
    /// # Errors
    /// [`SpecError`] for an unknown provider, a strange name, or an unusable base URL.
    pub(crate) fn parse(text: &str, base_url: Option<&str>) -> Result<Self, SpecError> {
        let (provider, name) = text.split_once(':').ok_or_else(|| SpecError::NoProvider(text.into()))?;
        if provider == "script" {
            return script(text, name, base_url);
        }
        let provider = Provider::named(provider).ok_or_else(|| SpecError::UnknownProvider(provider.into()))?;
        let base = parse_base(base_url.unwrap_or(provider.default_base()))?;
        let model = if is_model_name(name) { name.into() } else { return Err(SpecError::BadName(text.into())) };
        Ok(Self::Remote(RemoteSpec { provider, model, base }))
    }

    /// The environment variable that holds this model's API key; `None` if it takes none.
    pub(crate) fn key_variable(&self) -> Option<&'static str> {
        match self {
            Self::Remote(remote) => remote.provider.key_variable(),
            Self::Script(_) => None,
        }
    }
}

impl fmt::Display for ModelSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Remote(remote) => write!(f, "{}:{}", remote.provider.name(), remote.model),
            Self::Script(path) => write!(f, "script:{}", path.display()),
        }
    }
}

impl RemoteSpec {
    /// Says whether the base URL is on this machine.
    pub(crate) fn locality(&self) -> Locality {
        let local = match self.base.host() {
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            Some(Host::Domain(name)) => name == "localhost",
            None => false,
        };
        if local { Locality::Loopback } else { Locality::Remote }
    }

    /// Says whether a key may travel to the base URL.
    ///
    /// # Errors
    /// [`SpecError::ClearTextKey`] for plain HTTP to another machine.
    pub(super) fn refuse_clear_text_key(&self) -> Result<(), SpecError> {
        match (self.base.scheme(), self.locality()) {
            ("https", _) | (_, Locality::Loopback) => Ok(()),
            (_, Locality::Remote) => Err(SpecError::ClearTextKey(self.base.to_string())),
        }
    }
}

impl Provider {
    fn named(name: &str) -> Option<Self> {
        [Self::OpenAi, Self::Anthropic, Self::Ollama].into_iter().find(|provider| provider.name() == name)
    }

    /// The name that `--model` uses.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
        }
    }

    /// The environment variable that holds its key; `None` if it takes none.
    pub(crate) fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::Ollama => None,
        }
    }

    fn default_base(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::Ollama => "http://127.0.0.1:11434/v1/",
        }
    }
}

fn script(text: &str, file: &str, base_url: Option<&str>) -> Result<ModelSpec, SpecError> {
    match (file, base_url) {
        ("", _) => Err(SpecError::BadName(text.into())),
        (_, Some(_)) => Err(SpecError::UrlForScript),
        (file, None) => Ok(ModelSpec::Script(file.into())),
    }
}

fn is_model_name(name: &str) -> bool {
    // `::` would be read as a namespace by the client library and change the provider.
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    !name.is_empty() && name.len() <= 200 && name.chars().all(plain) && !name.contains("::")
}

fn parse_base(text: &str) -> Result<Url, SpecError> {
    let refuse = || SpecError::BadUrl(text.into());
    let mut url = Url::parse(text).map_err(|_| refuse())?;
    let bare =
        url.username().is_empty() && url.password().is_none() && url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !bare {
        return Err(refuse());
    }
    // Without the last slash, joining would replace the last part of the path.
    if !url.path().ends_with('/') {
        let path = format!("{}/", url.path());
        url.set_path(&path);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(text: &str, base: Option<&str>) -> RemoteSpec {
        match ModelSpec::parse(text, base).unwrap() {
            ModelSpec::Remote(remote) => remote,
            ModelSpec::Script(path) => panic!("a script: {path:?}"),
        }
    }

    #[test]
    fn a_name_may_hold_a_colon_and_a_slash() {
        assert_eq!(remote("ollama:llama3:8b", None).model, "llama3:8b");
        assert_eq!(remote("openai:org/model-1.5", None).model, "org/model-1.5");
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_reason() {
        let refused = |text: &str, base| ModelSpec::parse(text, base).unwrap_err();
        assert_eq!(refused("gpt-5.4", None), SpecError::NoProvider("gpt-5.4".into()));
        assert_eq!(refused("acme:x", None), SpecError::UnknownProvider("acme".into()));
        assert_eq!(refused("openai:", None), SpecError::BadName("openai:".into()));
        assert_eq!(refused("openai:a::b", None), SpecError::BadName("openai:a::b".into()));
        assert_eq!(refused("openai:a b", None), SpecError::BadName("openai:a b".into()));
        assert_eq!(refused("script:", None), SpecError::BadName("script:".into()));
        assert_eq!(refused("script:a.toml", Some("http://x/")), SpecError::UrlForScript);
        for url in ["ftp://x/", "nonsense", "http://u:p@x/", "http://x/?q", "http://x/#f", "file:///etc/passwd"] {
            assert_eq!(refused("openai:m", Some(url)), SpecError::BadUrl(url.into()), "{url}");
        }
    }

    #[test]
    fn a_base_url_gets_its_last_slash() {
        assert_eq!(remote("openai:m", Some("https://h.example/v1")).base.as_str(), "https://h.example/v1/");
    }

    #[test]
    fn only_loopback_addresses_are_local() {
        for url in ["http://127.0.0.1:1/", "http://[::1]/", "http://localhost/v1", "http://127.9.9.9/"] {
            assert_eq!(remote("openai:m", Some(url)).locality(), Locality::Loopback, "{url}");
        }
        for url in ["http://10.0.0.1/", "https://localhost.evil.example/", "http://0.0.0.0/"] {
            assert_eq!(remote("openai:m", Some(url)).locality(), Locality::Remote, "{url}");
        }
    }

    #[test]
    fn a_key_never_travels_in_clear_text_to_another_machine() {
        assert!(remote("openai:m", Some("http://10.0.0.1/")).refuse_clear_text_key().is_err());
        assert!(remote("openai:m", Some("https://10.0.0.1/")).refuse_clear_text_key().is_ok());
        assert!(remote("openai:m", Some("http://127.0.0.1/")).refuse_clear_text_key().is_ok());
    }

    #[test]
    fn a_spec_shows_itself_as_it_was_written() {
        for text in ["openai:gpt-5.4", "anthropic:claude-sonnet-5-5", "script:a.toml"] {
            assert_eq!(ModelSpec::parse(text, None).unwrap().to_string(), text);
        }
    }
}
