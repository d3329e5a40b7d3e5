//! What the layers of configuration amount to: plain data.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::decision::Decision;
use crate::invocation::Invocation;
use crate::mode::Mode;
use crate::profile::Profile;
use crate::relay::Relay;

/// Everything that the operator decides, after all layers are laid over one another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Settings {
    /// Which tables the guards use.
    pub profile: Profile,
    /// How much a run may do without asking.
    pub mode: Mode,
    /// The most that any layer lets a mode be.
    pub highest_mode: Mode,
    /// Whether a host agent's own prompt may answer an ordinary Ask.
    pub host_prompt: HostPrompt,
    /// Absolute directories that may be written; the first is the workspace.
    pub roots: Vec<String>,
    /// Absolute directories that may be read besides.
    pub read_roots: Vec<String>,
    /// Globs of names that are never written.
    pub protected: Vec<String>,
    /// Globs of names that are never read nor written.
    pub secret: Vec<String>,
    /// Hosts that may be sent to, as `host`, `*.host`, each with or without `:port`.
    pub allow_hosts: Vec<String>,
    /// Recipients of messages: an address, `@domain`, or a webhook's channel.
    pub recipients: Vec<String>,
    /// The tools of the run; `None` is all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools taken away.
    pub disabled_tools: Vec<String>,
    /// Names of environment variables that children may see besides the built-in list.
    pub env_allow: Vec<String>,
    /// What a run may use up.
    pub caps: Caps,
    /// Where messages go out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relay: Option<Relay>,
    /// The rules of the layers, in order.
    pub rules: Vec<UserRule>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            mode: Mode::default(),
            highest_mode: Mode::DangerouslySkipPermissions,
            host_prompt: HostPrompt::default(),
            roots: Vec::new(),
            read_roots: Vec::new(),
            protected: Vec::new(),
            secret: Vec::new(),
            allow_hosts: Vec::new(),
            recipients: Vec::new(),
            tools: None,
            disabled_tools: Vec::new(),
            env_allow: Vec::new(),
            caps: Caps::default(),
            relay: None,
            rules: Vec::new(),
        }
    }
}

/// Whether a host agent's own prompt may answer an ordinary Ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HostPrompt {
    /// It may not: Ask is Deny until an operator's secret exists.
    #[default]
    Refused,
    /// It may, and is recorded as such.
    Accepted,
}

/// What a run may use up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Caps {
    /// Model turns for one message of the user.
    pub turns: u64,
    /// Tool calls in a run.
    pub tool_calls: u64,
    /// Millionths of a dollar in a run.
    pub cost_microusd: u64,
    /// Wall clock of a run in seconds.
    pub wall_secs: u64,
    /// Tokens of a run; `None` is unlimited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Calls of single tools.
    pub per_tool: BTreeMap<String, u64>,
    /// What all runs of the user may use up together within one hour of UTC.
    #[serde(skip_serializing_if = "WindowCaps::is_open")]
    pub hour: WindowCaps,
    /// The same within one day of UTC.
    #[serde(skip_serializing_if = "WindowCaps::is_open")]
    pub day: WindowCaps,
}

/// Caps of a stretch of time, over all runs of a user; `None` is unlimited.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct WindowCaps {
    /// Tool calls.
    pub tool_calls: Option<u64>,
    /// Tokens, cached ones included.
    pub tokens: Option<u64>,
    /// Millionths of a dollar.
    pub cost_microusd: Option<u64>,
}

impl WindowCaps {
    /// Whether nothing is capped.
    pub const fn is_open(&self) -> bool {
        self.tool_calls.is_none() && self.tokens.is_none() && self.cost_microusd.is_none()
    }
}

impl Default for Caps {
    fn default() -> Self {
        Self {
            turns: 40,
            tool_calls: 200,
            cost_microusd: 5_000_000,
            wall_secs: 3_600,
            tokens: None,
            per_tool: BTreeMap::new(),
            hour: WindowCaps::default(),
            day: WindowCaps::default(),
        }
    }
}

/// A rule of a policy file. Every field that is set must match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserRule {
    /// What it says.
    pub effect: Decision,
    /// Tool name; a trailing `*` matches any rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Bare name of a program that the part runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Kind of action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionName>,
    /// Glob over the real path; absolute, beneath `~/`, or relative to the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Host, `*.host`, each with or without `:port`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The words behind the program.
    #[serde(skip_serializing_if = "Invocation::is_open")]
    pub invocation: Invocation,
    /// Where it is written, for people; not part of the digest.
    #[serde(skip)]
    pub at: String,
}

/// The kinds of action, as files name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ActionName {
    /// Reads a file or lists a directory.
    Read,
    /// Creates or changes a file.
    Write,
    /// Removes files.
    Delete,
    /// Renames.
    Move,
    /// Runs a program.
    Execute,
    /// Opens a connection.
    Connect,
    /// Accepts connections.
    Listen,
    /// Sends a message.
    Message,
    /// Spends money.
    Spend,
    /// Installs packages.
    Install,
    /// Gains rights or gives them away.
    Privilege,
    /// Outlives the call.
    Persist,
    /// Changes what runs or is allowed later.
    Control,
    /// Leaves the machine for others to see.
    Publish,
    /// Loses what cannot be brought back.
    Destroy,
    /// Signals processes.
    Signal,
    /// Cannot be known before running.
    Opaque,
}

impl ActionName {
    /// Every name.
    pub const ALL: [Self; 17] = [
        Self::Read,
        Self::Write,
        Self::Delete,
        Self::Move,
        Self::Execute,
        Self::Connect,
        Self::Listen,
        Self::Message,
        Self::Spend,
        Self::Install,
        Self::Privilege,
        Self::Persist,
        Self::Control,
        Self::Publish,
        Self::Destroy,
        Self::Signal,
        Self::Opaque,
    ];

    /// The name of an action's kind.
    pub const fn of(kind: &tollgate_call::ActionKind) -> Self {
        use tollgate_call::ActionKind as K;
        match kind {
            K::Read(_) => Self::Read,
            K::Write(..) => Self::Write,
            K::Delete(..) => Self::Delete,
            K::Move(..) => Self::Move,
            K::Execute(_) => Self::Execute,
            K::Connect(_) => Self::Connect,
            K::Listen(_) => Self::Listen,
            K::Message(_) => Self::Message,
            K::Spend(_) => Self::Spend,
            K::Install(_) => Self::Install,
            K::Privilege(_) => Self::Privilege,
            K::Persist(_) => Self::Persist,
            K::Control(_) => Self::Control,
            K::Publish(_) => Self::Publish,
            K::Destroy(_) => Self::Destroy,
            K::Signal(_) => Self::Signal,
            K::Opaque(_) => Self::Opaque,
        }
    }

    /// The word that files use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Move => "move",
            Self::Execute => "execute",
            Self::Connect => "connect",
            Self::Listen => "listen",
            Self::Message => "message",
            Self::Spend => "spend",
            Self::Install => "install",
            Self::Privilege => "privilege",
            Self::Persist => "persist",
            Self::Control => "control",
            Self::Publish => "publish",
            Self::Destroy => "destroy",
            Self::Signal => "signal",
            Self::Opaque => "opaque",
        }
    }
}

impl std::fmt::Display for ActionName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}
