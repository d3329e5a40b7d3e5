//! What a model proposes, before anybody has looked at it.

use crate::untrusted::Untrusted;

/// An untrusted tool call: a name, the arguments as raw JSON text, and where it came from.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The tool's name as the model wrote it.
    pub tool: Untrusted<String>,
    /// The arguments as the model wrote them, so that duplicate keys can still be seen.
    pub args: Untrusted<Vec<u8>>,
    /// Which door it came through.
    pub origin: Origin,
}

/// Where a proposal came from. Set by the door, never by the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The door.
    pub door: Door,
    /// The run it belongs to.
    pub run: String,
    /// The host's or provider's id of this tool use.
    pub call_id: String,
    /// Absolute directory that relative names start from.
    pub cwd: String,
}

/// The door that a proposal came through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// `tollgate run`.
    Agent,
    /// `tollgate mcp`.
    Mcp,
    /// `tollgate exec`.
    Exec,
    /// `tollgate hook`.
    Hook,
    /// `tollgate check`: judged only.
    Check,
    /// The library.
    Library,
}

impl Door {
    /// Whether an unknown tool is refused outright (its own tools are all known), or judged as a tool
    /// that can do everything.
    pub const fn refuses_unknown_tools(self) -> bool {
        match self {
            Self::Agent | Self::Exec => true,
            Self::Mcp | Self::Hook | Self::Check | Self::Library => false,
        }
    }
}
