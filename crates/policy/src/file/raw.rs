//! The keys of a policy file, as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::decision::Decision;
use crate::mode::Mode;
use crate::profile::Profile;
use crate::relay::RelayTls;
use crate::settings::ActionName;

/// A Tollgate policy file.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    /// Which tables the guards use: the strictest layer counts.
    #[cfg_attr(test, schemars(with = "Option<Profile>"))]
    pub(super) profile: Option<Spanned<Profile>>,
    /// How much a run may do without asking; in the system's and a project's file, the most it may.
    #[cfg_attr(test, schemars(with = "Option<Mode>"))]
    pub(super) mode: Option<Spanned<Mode>>,
    /// Whether a host agent's own prompt may answer an ordinary question. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<bool>"))]
    pub(super) host_prompt: Option<Spanned<bool>>,
    /// Directories that may be written; the first is the workspace. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) roots: Option<Vec<Spanned<String>>>,
    /// Directories that may be read besides. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) read_roots: Option<Vec<Spanned<String>>>,
    /// Globs of names that are never written; without a slash they match at any depth.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) protected: Option<Vec<Spanned<String>>>,
    /// Globs of names that are never read nor written.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) secret: Option<Vec<Spanned<String>>>,
    /// Hosts that may be sent to: `host`, `*.host`, each with or without `:port`. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) allow_hosts: Option<Vec<Spanned<String>>>,
    /// Recipients of messages: an address, `@domain` for everybody there, or a webhook's channel. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) recipients: Option<Vec<Spanned<String>>>,
    /// The tools of a run; without it, all.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) tools: Option<Vec<Spanned<String>>>,
    /// Tools taken away.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) disabled_tools: Option<Vec<Spanned<String>>>,
    /// Environment variables that children may see besides the built-in list. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) env_allow: Option<Vec<Spanned<String>>>,
    /// What a run may use up: the smallest of all layers counts.
    #[cfg_attr(test, schemars(with = "Option<RawCaps>"))]
    pub(super) caps: Option<Spanned<RawCaps>>,
    /// Where messages go out. Not in a project's file.
    #[cfg_attr(test, schemars(with = "Option<RawRelay>"))]
    pub(super) relay: Option<Spanned<RawRelay>>,
    /// Rules; the strictest that matches counts, and an allow rule must cover every part of a call.
    #[serde(default)]
    pub(super) rule: Vec<RawRule>,
}

/// What a run may use up.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RawCaps {
    /// Model turns for one message of the user.
    pub(super) turns: Option<u64>,
    /// Tool calls in a run.
    pub(super) tool_calls: Option<u64>,
    /// Dollars in a run.
    pub(super) cost_usd: Option<f64>,
    /// Wall clock of a run in seconds.
    pub(super) wall_secs: Option<u64>,
    /// Tokens of a run.
    pub(super) tokens: Option<u64>,
    /// Calls of single tools, by name.
    #[serde(default)]
    pub(super) per_tool: BTreeMap<String, u64>,
    /// What all runs of the user may use up together within one hour of UTC.
    pub(super) hour: Option<RawWindow>,
    /// The same within one day of UTC.
    pub(super) day: Option<RawWindow>,
}

/// What all runs of a user may use up in a stretch of time.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RawWindow {
    /// Tool calls.
    pub(super) tool_calls: Option<u64>,
    /// Tokens, cached ones included.
    pub(super) tokens: Option<u64>,
    /// Dollars.
    pub(super) cost_usd: Option<f64>,
}

/// Where messages go out: a mail server, or a webhook.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RawRelay {
    /// `smtp` (default) or `webhook`.
    #[serde(default)]
    pub(super) kind: RawRelayKind,
    /// Host name or address of the mail server.
    pub(super) host: Option<String>,
    /// TCP port of the mail server.
    pub(super) port: Option<u16>,
    /// The sender's address.
    pub(super) from: Option<String>,
    /// How the connection to the mail server is encrypted: `starttls` (default), `tls`, or `none` on loopback.
    pub(super) tls: Option<RelayTls>,
    /// Who logs in to the mail server.
    pub(super) user: Option<String>,
    /// Address of the webhook: https, or http on loopback.
    pub(super) url: Option<String>,
    /// Name of the header that carries the webhook's secret, such as `Authorization`.
    pub(super) header: Option<String>,
    /// File of the password or of the header's value, absolute or beneath `~/`; nobody else may read it.
    pub(super) secret_file: Option<String>,
    /// Variable of Tollgate's environment with the password or the header's value.
    pub(super) secret_env: Option<String>,
    /// File of certificates (PEM) that are trusted besides the machine's, absolute or beneath `~/`.
    pub(super) ca_file: Option<String>,
}

/// The kinds of relay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub(super) enum RawRelayKind {
    /// A mail server.
    #[default]
    Smtp,
    /// An address that takes messages as JSON.
    Webhook,
}

/// A rule. Every field that is set must match.
#[derive(Debug, Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(super) struct RawRule {
    /// What it says: `allow`, `ask` or `deny`. A project's file may not allow.
    #[cfg_attr(test, schemars(with = "RawEffect"))]
    pub(super) effect: Spanned<Decision>,
    /// Tool name; a trailing `*` matches any rest.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) tool: Option<Spanned<String>>,
    /// Bare name of a program that a command runs.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) program: Option<Spanned<String>>,
    /// Kind of action.
    #[cfg_attr(test, schemars(with = "Option<ActionName>"))]
    pub(super) action: Option<Spanned<ActionName>>,
    /// Glob over the real path: absolute, beneath `~/`, or relative to the workspace.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) path: Option<Spanned<String>>,
    /// Host, `*.host`, each with or without `:port`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) host: Option<Spanned<String>>,
    /// First words behind the program, such as `push` or `compose up`.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub(super) subcommand: Option<Spanned<String>>,
    /// Flags that must be there, all of them.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) flag: Option<Vec<Spanned<String>>>,
    /// Flags that must not be there, none of them.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) not_flag: Option<Vec<Spanned<String>>>,
    /// Commands that the rule must match; checked when the file is read.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) matches: Option<Vec<Spanned<String>>>,
    /// Commands that the rule must not match; checked when the file is read.
    #[cfg_attr(test, schemars(with = "Option<Vec<String>>"))]
    pub(super) not_matches: Option<Vec<Spanned<String>>>,
}

/// The effects, for the schema.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum RawEffect {
    /// Lifts ordinary questions.
    Allow,
    /// Makes it a question that no mode lifts.
    Ask,
    /// Denies.
    Deny,
}
