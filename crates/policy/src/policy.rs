//! A policy: settings, compiled for judging.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use sha2::{Digest as _, Sha256};
use tollgate_call::address::HostPattern;
use tollgate_call::message::{Recipient, RecipientPattern};
use tollgate_call::places::{CREDENTIALS, clean, is_beneath};

use crate::mode::Mode;
use crate::profile::Profile;
use crate::settings::{HostPrompt, Settings};
use crate::user_rules::UserRules;

/// Settings, compiled for judging.
///
/// ```
/// use tollgate_policy::{Mode, Policy, Profile};
/// let policy = Policy::builtin();
/// assert_eq!(policy.settings().profile, Profile::Standard);
/// assert_ne!(policy.digest(), policy.clone().in_mode(Mode::Plan).digest());
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    settings: Settings,
    protected: GlobSet,
    secret: GlobSet,
    hosts: Vec<HostPattern>,
    recipients: Vec<RecipientPattern>,
    rules: UserRules,
    /// Empty when nobody said.
    home: String,
    digest: [u8; 32],
}

/// Where relative patterns of a policy start.
#[derive(Debug, Clone, Copy)]
pub struct Ground<'a> {
    /// Absolute workspace root.
    pub workspace: &'a str,
    /// Absolute home directory.
    pub home: &'a str,
}

/// Why settings do not make a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A glob that does not parse.
    #[error("`{0}` is not a glob: {1}")]
    Glob(String, String),
    /// An entry that is not a host.
    #[error("`{0}` is not a host: {1}")]
    Host(String, String),
    /// An entry that is nobody.
    #[error("`{0}` is not a recipient: {1}")]
    Recipient(String, String),
    /// Settings that cannot be written down.
    #[error("the settings have no canonical form: {0}")]
    Canonical(String),
}

impl Policy {
    /// Compiles settings; relative globs start at the workspace, those without a slash match at any depth.
    ///
    /// # Errors
    /// [`PolicyError`] for a glob or host that does not parse.
    pub fn new(settings: Settings, ground: &Ground<'_>) -> Result<Self, PolicyError> {
        let protected = names(&settings.protected, ground)?;
        let secret = names(&settings.secret, ground)?;
        let hosts = settings.allow_hosts.iter().map(|entry| host(entry)).collect::<Result<_, _>>()?;
        let recipients = settings.recipients.iter().map(|entry| recipient(entry)).collect::<Result<_, _>>()?;
        let rules = UserRules::new(&settings.rules, ground)?;
        let digest = digest(&settings)?;
        Ok(Self { settings, protected, secret, hosts, recipients, rules, home: clean(ground.home), digest })
    }

    /// The policy of an installation that nobody configured.
    pub fn builtin() -> Self {
        let settings = Settings::default();
        let digest = digest(&settings).unwrap_or_default();
        Self {
            settings,
            protected: GlobSet::empty(),
            secret: GlobSet::empty(),
            hosts: Vec::new(),
            recipients: Vec::new(),
            rules: UserRules::default(),
            home: String::new(),
            digest,
        }
    }

    /// The same policy in another mode, such as one chosen on the command line, but none above the ceiling.
    #[must_use]
    pub fn in_mode(self, mode: Mode) -> Self {
        self.changed(|settings| settings.mode = mode.min(settings.highest_mode))
    }

    /// The same policy under a profile at least as strict.
    #[must_use]
    pub fn in_profile(self, profile: Profile) -> Self {
        self.changed(|settings| settings.profile = settings.profile.max(profile))
    }

    /// The same policy with no more than these tools.
    #[must_use]
    pub fn with_tools(self, names: Vec<String>) -> Self {
        self.changed(|settings| {
            settings.tools = Some(narrowed(settings.tools.take(), names));
        })
    }

    /// What it was compiled from.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// SHA-256 over everything that can change a decision; approvals are bound to it.
    pub const fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Whether a host agent's own prompt may answer an ordinary Ask.
    pub const fn host_prompt(&self) -> HostPrompt {
        self.settings.host_prompt
    }

    pub(crate) const fn rules(&self) -> &UserRules {
        &self.rules
    }

    pub(crate) fn is_protected(&self, path: &str) -> bool {
        !self.protected.is_empty() && self.protected.is_match(path)
    }

    /// Whether the operator listed this absolute path as never readable.
    pub fn is_secret(&self, path: &str) -> bool {
        !self.secret.is_empty() && self.secret.is_match(path)
    }

    /// Whether home directories, and with them stores of credentials, may lie at or beneath a directory.
    pub(crate) fn holds_homes(&self, dir: &str) -> bool {
        let usual = ["/home", "/root", "/Users", "/var"].iter().any(|top| is_beneath(dir, top));
        let own = !self.home.is_empty() && (is_beneath(&self.home, dir) || is_beneath(dir, &self.home));
        dir == "/" || usual || own
    }

    /// Whether a store of credentials of the user lies beneath a directory.
    pub(crate) fn holds_credentials(&self, dir: &str) -> bool {
        self.credentials().any(|place| is_beneath(&place, dir))
    }

    /// Whether a pattern may match into a store of credentials or into a process.
    pub(crate) fn may_reach_secrets(&self, pattern: &str) -> bool {
        let parts: Vec<&str> = pattern.split('/').collect();
        // `/pro?/1/environ`: what is in `/proc` by its own name has a place of its own.
        let process = matches!(parts.as_slice(), [_, top, _, _, ..] if *top != "proc" && may_be("proc", top));
        process
            || self.credentials().any(|place| {
                let names: Vec<&str> = place.split('/').collect();
                parts.len() >= names.len() && names.iter().zip(&parts).all(|(name, part)| may_be(name, part))
            })
    }

    fn credentials(&self) -> impl Iterator<Item = String> {
        CREDENTIALS.iter().map(|name| format!("{}/{name}", self.home))
    }

    /// Whether the operator listed this host at this port.
    pub fn lists_host(&self, host: &str, port: u16) -> bool {
        self.hosts.iter().any(|entry| entry.covers(host, port))
    }

    /// Whether the operator listed exactly this host, so that it may be a private one.
    pub(crate) fn lists_exactly(&self, host: &str, port: u16) -> bool {
        self.hosts.iter().any(|entry| entry.is_exact() && entry.covers(host, port))
    }

    /// Whether the operator listed this recipient. What is not one recipient is not listed.
    pub fn lists_recipient(&self, recipient: &str) -> bool {
        Recipient::parse(recipient).is_ok_and(|one| self.recipients.iter().any(|entry| entry.covers(&one)))
    }

    /// Why a tool may not be used, if it may not.
    pub fn refuses_tool(&self, name: &str) -> Option<ToolRefusal> {
        if self.settings.disabled_tools.iter().any(|pattern| name_matches(pattern, name)) {
            return Some(ToolRefusal::Disabled);
        }
        let listed = self.settings.tools.as_ref()?;
        (!listed.iter().any(|pattern| name_matches(pattern, name))).then_some(ToolRefusal::NotListed)
    }

    fn changed(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        // A digest that cannot be computed binds nothing: no approval carries all zeros.
        self.digest = digest(&self.settings).unwrap_or_default();
        self
    }
}

/// Why a tool may not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolRefusal {
    /// The policy takes it away.
    Disabled,
    /// The run's list of tools does not hold it.
    NotListed,
}

/// Whether a tool name fits a pattern, which may end in `*`.
pub(crate) fn name_matches(pattern: &str, name: &str) -> bool {
    pattern.strip_suffix('*').map_or_else(|| pattern == name, |start| name.starts_with(start))
}

/// A list of tools, narrowed by another; patterns narrow only what they match.
pub(crate) fn narrowed(had: Option<Vec<String>>, names: Vec<String>) -> Vec<String> {
    let Some(had) = had else { return names };
    let within = |name: &String| had.iter().any(|pattern| name_matches(pattern, name));
    let around = |name: &String| names.iter().any(|pattern| name_matches(pattern, name));
    let mut kept: Vec<String> = names.iter().filter(|name| within(name)).cloned().collect();
    kept.extend(had.iter().filter(|name| around(name) && !kept.contains(name)).cloned().collect::<Vec<_>>());
    kept
}

/// Makes an absolute glob of a written one.
pub(crate) fn anchored(pattern: &str, ground: &Ground<'_>) -> String {
    if pattern.starts_with('/') {
        pattern.to_owned()
    } else if let Some(rest) = pattern.strip_prefix("~/") {
        format!("{}/{rest}", literal(ground.home))
    } else {
        format!("{}/{}", literal(ground.workspace), pattern.trim_start_matches("./"))
    }
}

pub(crate) fn glob(pattern: &str) -> Result<globset::Glob, PolicyError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|error| PolicyError::Glob(pattern.to_owned(), error.kind().to_string()))
}

pub(crate) fn host(entry: &str) -> Result<HostPattern, PolicyError> {
    HostPattern::parse(entry).map_err(|error| PolicyError::Host(entry.to_owned(), error.to_string()))
}

fn recipient(entry: &str) -> Result<RecipientPattern, PolicyError> {
    RecipientPattern::parse(entry).map_err(|error| PolicyError::Recipient(entry.to_owned(), error.to_string()))
}

/// A set of names: each entry means itself and everything beneath it, without regard to case.
fn names(patterns: &[String], ground: &Ground<'_>) -> Result<GlobSet, PolicyError> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let bare = pattern.trim_end_matches('/').trim_end_matches("/**");
        let anchored =
            if pattern.trim_end_matches('/').contains('/') { anchored(bare, ground) } else { format!("**/{bare}") };
        for form in [anchored.clone(), format!("{anchored}/**")] {
            let glob = GlobBuilder::new(&form).literal_separator(true).case_insensitive(true).build();
            set.add(glob.map_err(|error| PolicyError::Glob(pattern.clone(), error.kind().to_string()))?);
        }
    }
    set.build().map_err(|error| PolicyError::Glob(patterns.join(", "), error.to_string()))
}

/// A directory name in which nothing is a wildcard.
fn literal(dir: &str) -> String {
    globset::escape(dir.trim_end_matches('/'))
}

fn digest(settings: &Settings) -> Result<[u8; 32], PolicyError> {
    let text = toml::to_string(settings).map_err(|error| PolicyError::Canonical(error.to_string()))?;
    Ok(Sha256::digest(text.as_bytes()).into())
}

/// Whether a component of a pattern may stand for a name: what is before its first and after its last
/// wildcard decides, and a hidden name needs its dot.
fn may_be(name: &str, pattern: &str) -> bool {
    let marks = ['*', '?', '[', ']', '{', '}'];
    let Some((before, rest)) = pattern.split_once(marks) else { return name == pattern };
    let after = rest.rsplit(marks).next().unwrap_or(rest);
    let hidden = name.starts_with('.') && !pattern.starts_with('.');
    !hidden && name.starts_with(before) && name.ends_with(after)
}
