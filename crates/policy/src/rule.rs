//! The registry of rules: every reason that a finding can give, in one table.
//!
//! Ids are `area.reason` and never change: approvals, audit records and users' files speak of them.

/// One rule: a reason to decide, and what may be done about it.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// `area.reason`.
    pub id: &'static str,
    /// How firm it is.
    pub class: Class,
    /// What, besides an approval, turns its Ask into Allow.
    pub lift: Lift,
    /// One line for people.
    pub meaning: &'static str,
    /// Ids of the OWASP agentic list (`ASI…`), the MCP list (`MCP…`) and MITRE ATLAS (`AML.T…`).
    pub tags: &'static [&'static str],
}

/// How firm a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// No mode, profile, file or approval lifts it.
    Floor,
    /// Asks in every mode; only an exact approval answers it.
    AlwaysConfirm,
    /// Asks because something cannot be known; Deny in the strict profile.
    Uncertain,
    /// Asks or denies by what the action is.
    Ordinary,
}

/// What turns an Ask of a rule into Allow, besides an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lift {
    /// Nothing.
    Nothing,
    /// An allow rule of a policy file.
    Rule,
    /// An allow rule, or `dangerouslySkipPermissions`.
    Skip,
    /// An allow rule, `acceptEdits`, or `dangerouslySkipPermissions`.
    Edits,
}

/// Names a rule of [`ALL`].
///
/// ```
/// use tollgate_policy::{RuleId, rule};
/// assert_eq!(RuleId::find("net.private"), Some(rule::NET_PRIVATE));
/// assert_eq!(rule::NET_PRIVATE.to_string(), "net.private");
/// assert_eq!(RuleId::find("net.privat"), None);
/// ```
#[derive(Clone, Copy)]
pub struct RuleId(&'static Rule);

impl RuleId {
    /// The rule of this id, if there is one.
    pub fn find(id: &str) -> Option<Self> {
        let at = ALL.binary_search_by(|rule| rule.as_str().cmp(id)).ok()?;
        ALL.get(at).copied()
    }

    /// The id as text.
    pub const fn as_str(self) -> &'static str {
        self.0.id
    }

    /// The row of the table.
    pub const fn rule(self) -> &'static Rule {
        self.0
    }
}

impl PartialEq for RuleId {
    fn eq(&self, other: &Self) -> bool {
        self.0.id == other.0.id
    }
}

impl Eq for RuleId {}

impl PartialOrd for RuleId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for RuleId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.id.cmp(other.0.id)
    }
}

impl std::hash::Hash for RuleId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.id.hash(state);
    }
}

impl std::fmt::Debug for RuleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.id)
    }
}

impl std::fmt::Display for RuleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.0.id)
    }
}

impl serde::Serialize for RuleId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.id)
    }
}

macro_rules! rules {
    ($($name:ident $id:literal $class:ident $lift:ident $meaning:literal [$($tag:literal)*])*) => {
        $(
            #[doc = concat!("`", $id, "`: ", $meaning, ".")]
            pub const $name: RuleId = RuleId(&Rule {
                id: $id, class: Class::$class, lift: Lift::$lift, meaning: $meaning, tags: &[$($tag),*],
            });
        )*
        /// Every rule, sorted by id.
        pub const ALL: &[RuleId] = &[$($name),*];
    };
}

rules! {
    APPROVAL_NONE "approval.none" Ordinary Nothing "nobody is there to approve" ["ASI09"]
    BUDGET_CALLS "budget.calls" Ordinary Nothing "the cap on tool calls is reached" ["ASI08" "AML.T0034"]
    BUDGET_COST "budget.cost" Ordinary Nothing "the cap on cost is reached" ["ASI08" "AML.T0034.002"]
    BUDGET_DEPTH "budget.depth" Ordinary Nothing "the cap on nested agents is reached" ["ASI08"]
    BUDGET_SPAWNS "budget.spawns" Ordinary Nothing "the cap on child agents is reached" ["ASI08"]
    BUDGET_TIME "budget.time" Ordinary Nothing "the wall clock of the run has passed" ["ASI08"]
    BUDGET_TOKENS "budget.tokens" Ordinary Nothing "the cap on tokens is reached" ["ASI08" "AML.T0034"]
    BUDGET_TOOL "budget.tool" Ordinary Nothing "the cap on calls of this tool is reached" ["ASI08"]
    BUDGET_TURNS "budget.turns" Ordinary Nothing "the cap on turns is reached" ["ASI08"]
    CALL_MALFORMED "call.malformed" Floor Nothing "the call does not fit its tool's schema" ["ASI02" "MCP05"]
    CONTROL_AGENT "control.agent" Ordinary Rule "starts another agent" ["ASI10" "AML.T0081"]
    CONTROL_AGENT_RAISED "control.agent-raised" Floor Nothing "starts an agent with more rights than its parent" ["ASI03" "ASI10"]
    CONTROL_CONFIGURATION "control.configuration" Ordinary Rule "changes settings that run code later" ["ASI05" "AML.T0081"]
    CONTROL_ENVIRONMENT "control.environment" Ordinary Skip "sets environment that makes other programs run code" ["ASI05"]
    CONTROL_GUARD "control.guard" Floor Nothing "switches off or changes the guard or its sandbox" ["ASI10" "AML.T0081"]
    CONTROL_TRACES "control.traces" Ordinary Rule "removes the shell's record of itself" ["ASI10" "MCP08"]
    DEFAULT_ALLOW "default.allow" Ordinary Nothing "nothing speaks against it" []
    DELETE_ROOT "delete.root" Floor Nothing "removes the workspace, the home directory or what holds them" ["ASI02" "AML.T0101"]
    DELETE_UNTRACKED "delete.untracked" AlwaysConfirm Nothing "removes what neither version control nor undo can bring back" ["ASI02" "AML.T0101"]
    DESTROY_CONTAINER "destroy.container" Ordinary Skip "removes containers, images or volumes" ["ASI02" "AML.T0101"]
    DESTROY_DATABASE "destroy.database" AlwaysConfirm Nothing "drops or empties a database" ["ASI02" "AML.T0101"]
    DESTROY_DISK "destroy.disk" Floor Nothing "overwrites a disk, partition or file system" ["ASI02" "AML.T0101"]
    DESTROY_INFRASTRUCTURE "destroy.infrastructure" AlwaysConfirm Nothing "removes infrastructure" ["ASI02" "AML.T0101"]
    DESTROY_RECOVERY "destroy.recovery" AlwaysConfirm Nothing "removes backups, snapshots or logs that recovery needs" ["ASI02" "ASI10" "AML.T0101"]
    FLOW_EXFILTRATION "flow.exfiltration" Ordinary Nothing "reaches outward after reading both secrets and text of others" ["ASI01" "MCP10" "AML.T0086"]
    FLOW_UNTRUSTED "flow.untrusted" Ordinary Nothing "acts with effect after reading text of others" ["ASI01" "MCP06" "AML.T0051"]
    GIT_DISCARD "git.discard" AlwaysConfirm Nothing "throws away uncommitted work" ["ASI02" "AML.T0101"]
    GIT_FORCE_PUSH "git.force-push" AlwaysConfirm Nothing "rewrites a remote branch without looking" ["ASI02" "AML.T0101"]
    GIT_HISTORY "git.history" AlwaysConfirm Nothing "drops or rewrites history" ["ASI02" "AML.T0101"]
    GIT_PROTECTED_BRANCH "git.protected-branch" Ordinary Rule "rewrites a branch that others build on" ["ASI02"]
    GIT_REMOTE_DELETE "git.remote-delete" AlwaysConfirm Nothing "deletes a remote branch, tag, release or repository" ["ASI02" "AML.T0101"]
    GUARD_FAILED "guard.failed" Floor Nothing "the guard itself failed" ["ASI08"]
    HALT_RAISED "halt.raised" Floor Nothing "the run is halted" ["ASI10"]
    INSTALL_DIRECT "install.direct" Ordinary Skip "installs code from a URL, repository or archive" ["ASI04" "MCP04"]
    INSTALL_GLOBAL "install.global" Ordinary Skip "installs outside the project" ["ASI04"]
    LEDGER_UNREACHABLE "ledger.unreachable" Floor Nothing "the ledger cannot be written" ["ASI08" "MCP08"]
    LOOP_CYCLE "loop.cycle" Ordinary Nothing "the same few calls repeat with the same results" ["ASI08" "AML.T0034"]
    LOOP_DENIED "loop.denied" Ordinary Nothing "what was denied comes back in other words" ["ASI08" "ASI10"]
    LOOP_ERROR "loop.error" Ordinary Nothing "the same call failed the same way again and again" ["ASI08"]
    LOOP_IDENTICAL "loop.identical" Ordinary Nothing "an identical call repeats with an identical result" ["ASI08" "AML.T0034"]
    MESSAGE_UNLISTED "message.unlisted" AlwaysConfirm Nothing "sends a message to somebody who is not listed" ["ASI01" "AML.T0086"]
    MODE_PLAN "mode.plan" Ordinary Nothing "the plan mode only reads" ["ASI02"]
    NET_HOST "net.host" Ordinary Skip "fetches from a host that neither policy nor the user named" ["ASI01" "AML.T0086"]
    NET_LISTEN "net.listen" Ordinary Skip "accepts connections from other machines" ["ASI05"]
    NET_METADATA "net.metadata" Ordinary Nothing "reaches a cloud's metadata or credential service" ["ASI03" "AML.T0055"]
    NET_PORT "net.port" Ordinary Skip "uses a port that is not a web port and not listed" ["ASI02"]
    NET_PRIVATE "net.private" Ordinary Rule "reaches this machine or a private network" ["ASI02" "ASI03"]
    NET_SCHEME "net.scheme" Ordinary Nothing "is not a plain http or https address" ["ASI02"]
    NET_SESSION "net.session" Ordinary Skip "opens a two-way session with a host that is not listed" ["ASI02" "AML.T0086"]
    NET_UNKNOWN "net.unknown" Uncertain Rule "nobody can say which host it reaches" ["ASI02"]
    NET_UPLOAD "net.upload" AlwaysConfirm Nothing "sends data to a host that is not listed" ["ASI01" "AML.T0086"]
    PATH_CREDENTIAL "path.credential" Ordinary Nothing "touches a store of credentials" ["ASI03" "AML.T0055"]
    PATH_DEVICE "path.device" Floor Nothing "touches a device or another process" ["ASI05" "AML.T0105"]
    PATH_ESCAPE "path.escape" Ordinary Nothing "leaves the roots through a link" ["ASI02" "AML.T0105"]
    PATH_GUARD "path.guard" Floor Nothing "touches the guard's own files" ["ASI10" "AML.T0081"]
    PATH_HARDLINK "path.hardlink" Ordinary Skip "changes a file that has another name" ["ASI02"]
    PATH_OUTSIDE "path.outside" Ordinary Skip "lies outside the roots" ["ASI02"]
    PATH_PROTECTED "path.protected" Ordinary Rule "touches a protected name" ["ASI06" "AML.T0081"]
    PATH_SPECIAL "path.special" Ordinary Nothing "is not a regular file" ["ASI02"]
    PATH_TEMP "path.temp" Ordinary Edits "writes to a temporary directory shared with others" ["ASI02"]
    PATH_UNKNOWN "path.unknown" Uncertain Rule "nobody can say which file it is" ["ASI02"]
    PERSIST_OUTLIVES "persist.outlives" Ordinary Skip "leaves something running after the call" ["ASI10"]
    PRIVILEGE_RAISE "privilege.raise" Ordinary Rule "gains rights or gives them away" ["ASI03"]
    PROFILE_LOCKED "profile.locked" Ordinary Nothing "the locked profile allows only what a file names" ["ASI02"]
    PROFILE_STRICT "profile.strict" Ordinary Nothing "the strict profile denies this program or form" ["ASI02"]
    PUBLISH_DEPLOY "publish.deploy" AlwaysConfirm Nothing "deploys" ["ASI02"]
    PUBLISH_PACKAGE "publish.package" AlwaysConfirm Nothing "publishes a package or image" ["ASI04" "AML.T0104"]
    PUBLISH_POST "publish.post" Ordinary Rule "shows text to others" ["ASI01"]
    RULE_ALLOW "rule.allow" Ordinary Nothing "a rule of a policy file allows it" []
    RULE_ASK "rule.ask" Ordinary Nothing "a rule of a policy file asks" []
    RULE_DENY "rule.deny" Ordinary Nothing "a rule of a policy file denies it" []
    SECRET_EGRESS "secret.egress" Ordinary Nothing "sends what looks like a secret" ["ASI03" "MCP01" "AML.T0086"]
    SHELL_DECODED "shell.decoded" Floor Nothing "decodes hidden text and runs it" ["ASI05" "AML.T0102"]
    SHELL_ELSEWHERE "shell.elsewhere" Ordinary Rule "runs a command on another machine or in another container" ["ASI05"]
    SHELL_INLINE_CODE "shell.inline-code" Uncertain Skip "runs code given inline that was not understood" ["ASI05" "AML.T0050"]
    SHELL_LONG "shell.long" Uncertain Skip "is longer or deeper than is read reliably" ["ASI05" "ASI09"]
    SHELL_OPAQUE "shell.opaque" Uncertain Skip "depends on something known only when it runs" ["ASI05" "AML.T0102"]
    SHELL_OWN_CODE "shell.own-code" Ordinary Skip "runs a file that nobody reviewed" ["ASI05" "AML.T0050"]
    SHELL_PIPED "shell.piped" Ordinary Nothing "feeds what it receives to an interpreter" ["ASI05" "MCP05"]
    SHELL_UNKNOWN_PROGRAM "shell.unknown-program" Uncertain Skip "runs a program, or a form of one, that no table describes" ["ASI05"]
    SHELL_UNPARSED "shell.unparsed" Uncertain Nothing "does not parse as the shell would parse it" ["ASI05" "MCP05"]
    SIGNAL_ALL "signal.all" Ordinary Rule "signals everything, or the machine" ["ASI02"]
    SIGNAL_NAME "signal.name" Ordinary Skip "signals processes by name, and may hit others" ["ASI02"]
    SPEND_MONEY "spend.money" AlwaysConfirm Nothing "spends money" ["ASI02"]
    TOOL_DISABLED "tool.disabled" Floor Nothing "the tool is not enabled for this run" ["ASI02" "MCP02"]
    TOOL_UNKNOWN "tool.unknown" Uncertain Rule "nobody can say what the tool does" ["ASI04" "MCP09"]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_every_id_is_its_own() {
        for pair in ALL.windows(2) {
            assert!(pair[0] < pair[1], "{} before {}", pair[0], pair[1]);
        }
    }

    #[test]
    fn ids_are_area_dot_reason_and_tags_are_known_lists() {
        for rule in ALL {
            let (area, reason) = rule.as_str().split_once('.').unwrap();
            let is_word = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
            assert!(is_word(area) && is_word(reason), "{rule}");
            for tag in rule.rule().tags {
                assert!(["ASI", "MCP", "AML.T"].iter().any(|list| tag.starts_with(list)), "{rule}: {tag}");
            }
        }
    }

    #[test]
    fn only_ordinary_and_uncertain_rules_can_be_lifted() {
        for rule in ALL {
            let fixed = matches!(rule.rule().class, Class::Floor | Class::AlwaysConfirm);
            assert!(!fixed || rule.rule().lift == Lift::Nothing, "{rule}");
        }
    }

    #[test]
    fn every_id_is_found_again() {
        for rule in ALL {
            assert_eq!(RuleId::find(rule.as_str()), Some(*rule));
        }
    }
}
