//! The command line as typed. What it means is decided in [`crate::settings`].

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Stands between an AI agent's decision and the damage: the model proposes, code decides.
#[derive(Debug, Parser)]
#[command(name = "tollgate", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// Flags of every verb.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Where Tollgate keeps its ledger, undo store and operator record.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// The user's configuration file, instead of `~/.config/tollgate/tollgate.toml`.
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    /// The home directory, where `/etc/passwd` has no entry for this user.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// Print results as JSON, one value a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Let an agent work on a task, every call through the gate.
    Run(Run),
    /// Judge one call, or a batch, without doing anything.
    Check(Check),
    /// Tell how a command is read: its parts, what each does, and what the policy says of it.
    Explain(Explain),
    /// Answer a host agent's hook (reads its JSON from standard input).
    Hook(Hook),
    /// Put Tollgate's hook into a host agent's settings.
    Install(Install),
    /// Take Tollgate's hook out of a host agent's settings.
    Uninstall(Install),
    /// Set up: the operator's secret and a commented configuration file.
    Init(Init),
    /// Approve exactly one waiting call; without an id, list what waits.
    Approve {
        /// The id that the denial named.
        id: Option<String>,
    },
    /// Deny a waiting call.
    Deny {
        /// The id that the denial named.
        id: String,
        /// Why; the agent is told.
        reason: Option<String>,
    },
    /// Stop runs at once: every call is denied and running commands are killed.
    Halt {
        /// Only this run.
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Why; the agent is told.
        reason: Option<String>,
    },
    /// Lift a halt (asks for the operator's secret).
    Resume {
        /// Only this run.
        #[arg(long, value_name = "ID")]
        run: Option<String>,
    },
    /// Undo what runs changed in files.
    Undo(Undo),
    /// Read or verify the audit log.
    Log {
        #[command(subcommand)]
        what: LogVerb,
    },
    /// Show what runs have used up, and their caps.
    Budget {
        #[command(subcommand)]
        what: BudgetVerb,
    },
    /// Look at the configuration: dead, shadowed and contradicting rules, unknown names, examples.
    Policy {
        #[command(subcommand)]
        what: PolicyVerb,
    },
    /// Watch an inbox attack with and without the gate, and every other control at work.
    Demo,
    /// Tell what is enforced on this machine, what is missing, and how to get it.
    Doctor,
    /// Print the completions of a shell: `tollgate completions bash > FILE`.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual, or write one page for each verb into a directory.
    Man {
        /// The directory, such as `~/.local/share/man/man1`.
        dir: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The task; without it, an interactive session.
    pub(crate) task: Option<String>,
    /// Headless: nobody answers, print the result and end.
    #[arg(short = 'p', long)]
    pub(crate) print: bool,
    /// `anthropic:NAME`, `openai:NAME`, `ollama:NAME` or `script:FILE`.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Address of an OpenAI-compatible or Anthropic-compatible server.
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Tokens of the conversation that a turn is sent (24000), or `auto`: three fifths of the model's window.
    #[arg(long, value_name = "N|auto")]
    pub(crate) max_context_tokens: Option<String>,
    /// Do not stream the model's answer.
    #[arg(long)]
    pub(crate) no_stream: bool,
    /// Describe each change and command, with a diff, and do none of them.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Show the plan and wait for a yes before the first call that acts.
    #[arg(long)]
    pub(crate) approve_plan: bool,
    /// Refuse to start unless every wall that this build claims holds.
    #[arg(long)]
    pub(crate) require_sandbox: bool,
    #[command(flatten)]
    pub(crate) scope: Scope,
    #[command(flatten)]
    pub(crate) limits: Limits,
}

/// What a run may touch.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Scope {
    /// The workspace; the current directory by default.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// A further directory that may be read.
    #[arg(long = "ro", value_name = "DIR")]
    pub(crate) read_roots: Vec<PathBuf>,
    /// A further directory that may be written.
    #[arg(long = "rw", value_name = "DIR")]
    pub(crate) write_roots: Vec<PathBuf>,
    /// A host that may be fetched from without asking.
    #[arg(long = "allow-host", value_name = "HOST")]
    pub(crate) allow_hosts: Vec<String>,
    /// How much is free: `plan`, `default`, `acceptEdits`, `dangerouslySkipPermissions`.
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<String>,
    /// Which tables judge: `standard`, `strict`, `locked`.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) profile: Option<String>,
    /// Only these tools exist for the model.
    #[arg(long, value_delimiter = ',', value_name = "A,B,C")]
    pub(crate) tools: Vec<String>,
}

/// Caps of a run.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Limits {
    /// Model turns per message of yours.
    #[arg(long, value_name = "N")]
    pub(crate) max_turns: Option<u64>,
    /// Tool calls in the whole run.
    #[arg(long, value_name = "N")]
    pub(crate) max_tool_calls: Option<u64>,
    /// Tool calls in the whole run where neither a file nor the command line says: a door's own default.
    #[arg(skip)]
    pub(crate) usual_tool_calls: Option<u64>,
    /// Calls of one tool, such as `write_file=5`.
    #[arg(long = "max-calls", value_name = "TOOL=N")]
    pub(crate) per_tool: Vec<String>,
    /// Tokens in the whole run.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// Dollars in the whole run.
    #[arg(long, value_name = "USD")]
    pub(crate) max_cost_usd: Option<String>,
    /// Seconds from start to end.
    #[arg(long, value_name = "SECS")]
    pub(crate) max_wall_secs: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// A bash command to judge.
    pub(crate) command: Option<String>,
    /// Another tool than `run_bash`.
    #[arg(long, value_name = "NAME", requires = "args", conflicts_with = "command")]
    pub(crate) tool: Option<String>,
    /// That tool's arguments, as JSON.
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
    /// Read JSON Lines `{id, tool, args, cwd, facts?}` and answer each with one line.
    #[arg(long, conflicts_with_all = ["command", "tool"])]
    pub(crate) batch: bool,
    /// Tell the whole reading, as `tollgate explain` does.
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) ground: Ground,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) ground: Ground,
    /// The command, after `--`: one word is read as bash, several as the words of one command.
    #[arg(required = true, last = true, value_name = "CMD")]
    pub(crate) command: Vec<String>,
}

/// Where a call is judged that nobody performs.
#[derive(Debug, Args)]
pub(crate) struct Ground {
    /// Where relative names start.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Judge as if DIR were the workspace, asking no file system and no DNS.
    #[arg(long, value_name = "DIR")]
    pub(crate) assume_root: Option<PathBuf>,
    /// Judge as if every wall of the box held.
    #[arg(long)]
    pub(crate) assume_box: bool,
    #[command(flatten)]
    pub(crate) scope: Scope,
}

#[derive(Debug, Args)]
pub(crate) struct Hook {
    /// The host agent.
    pub(crate) agent: Agent,
    /// The event, if the host's JSON should not be trusted to name it.
    #[arg(long, value_name = "EVENT")]
    pub(crate) event: Option<String>,
    /// The workspace, fixed at installation.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
}

/// A host agent whose hooks are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Agent {
    /// Claude Code.
    ClaudeCode,
}

#[derive(Debug, Args)]
pub(crate) struct Install {
    /// The host agent.
    pub(crate) agent: Agent,
    /// For every project of this user (the default).
    #[arg(long, conflicts_with = "project")]
    pub(crate) user: bool,
    /// For the project in this directory only.
    #[arg(long, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// Read the passphrase from this file instead of asking.
    #[arg(long, value_name = "FILE")]
    pub(crate) passphrase_file: Option<PathBuf>,
    /// Replace an operator's secret that is already set.
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// List the steps that can be undone.
    #[arg(long)]
    pub(crate) list: bool,
    /// Undo this step.
    #[arg(long, value_name = "N")]
    pub(crate) step: Option<u64>,
    /// Undo what was done to this file.
    #[arg(long, value_name = "PATH")]
    pub(crate) file: Option<PathBuf>,
    /// Undo this whole run (`last` for the latest).
    #[arg(long, value_name = "ID")]
    pub(crate) run: Option<String>,
    /// Also where the file was changed since.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyVerb {
    /// Read the layers, or one file as if it were the user's, and say what is wrong.
    Check {
        /// A file that is not in place yet.
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BudgetVerb {
    /// This hour, this day, and one run.
    Show {
        /// The run; the latest one of `tollgate run` by default.
        #[arg(long, value_name = "ID|last")]
        run: Option<String>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogVerb {
    /// Set a JSON Lines file that differs from the ledger aside, and write it anew from the ledger.
    Rebuild,
    /// Check the hash chain, and the JSON Lines file against the ledger.
    Verify {
        /// A JSON Lines file to check by itself.
        file: Option<PathBuf>,
    },
    /// Show records.
    Show {
        /// Only this run.
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Only this event.
        #[arg(long, value_name = "EVENT")]
        event: Option<String>,
        /// Only the last N.
        #[arg(long, value_name = "N", default_value_t = 50)]
        last: usize,
    },
}
