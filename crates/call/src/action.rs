//! The closed list of what a call can do.
//!
//! Actions are computed from a call's arguments, never from the tool's name alone. Policy sees
//! actions and facts about their targets; it never sees a spelling. Every match on [`ActionKind`]
//! in a guard is exhaustive, so a new kind does not compile until each guard has judged it.

use crate::span::Span;

/// One thing that a call does, with the part of the input it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    /// What it does.
    pub kind: ActionKind,
    /// The part of the input that says so.
    pub span: Span,
    /// Index of the simple command it belongs to, in source order; 0 for other tools.
    pub part: u32,
}

/// What an action does and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActionKind {
    /// Reads a file's content, or lists a directory.
    Read(Target),
    /// Creates or changes a file.
    Write(Target, WriteHow),
    /// Removes a file or a tree.
    Delete(Target, Depth),
    /// Renames: `from` disappears, `to` may be replaced.
    Move(Target, Target),
    /// Runs a program.
    Execute(Execute),
    /// Opens a connection to another host.
    Connect(Connect),
    /// Accepts connections.
    Listen(Listen),
    /// Sends a message to a person or a channel.
    Message(String),
    /// Spends money.
    Spend(String),
    /// Installs packages.
    Install(Install),
    /// Gains rights, or gives them away.
    Privilege(String),
    /// Outlives the call: timers, services, detached processes.
    Persist(String),
    /// Changes what runs, or what is allowed, later.
    Control(Control),
    /// Leaves the machine for others to see.
    Publish(Publish),
    /// Loses what cannot be brought back.
    Destroy(Destroy),
    /// Ends or signals processes.
    Signal(Signal),
    /// Cannot be known before running.
    Opaque(Why),
}

/// What a path action is about.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// One path.
    Path(PathRef),
    /// A shell glob that the kernel's directory will expand.
    Glob(PathRef),
    /// Names that match beneath a directory, such as those of `find DIR … -delete`.
    Beneath(PathRef),
    /// Not known before running.
    Opaque(Why),
}

/// A path as named, and where it starts.
///
/// `abs` is the working directory joined with the name, absolute and *not* cleaned: `..` and
/// doubled slashes stay, because only the kernel knows what `..` means after a symbolic link.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathRef {
    /// The name as written, after quote removal and expansion.
    pub raw: String,
    /// Absolute, uncleaned.
    pub abs: String,
}

impl PathRef {
    /// Joins `raw` to the absolute directory `cwd`; an absolute `raw` stands alone.
    pub fn join(cwd: &str, raw: &str) -> Self {
        let abs = if raw.starts_with('/') { raw.to_owned() } else { format!("{}/{raw}", cwd.trim_end_matches('/')) };
        Self { raw: raw.to_owned(), abs }
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteHow {
    /// Created, or replaced as a whole.
    Replace,
    /// Changed in part or appended to.
    Change,
    /// Only its mode, owner or attributes.
    Metadata,
    /// A directory is made.
    MakeDir,
    /// A link is made; its other end is a `Read` of the same call.
    Link,
}

/// How far a delete reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// One name; a directory only when empty.
    Single,
    /// The whole tree.
    Recursive,
}

/// A program that a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Execute {
    /// Which program.
    pub program: Program,
    /// What is known about it without looking.
    pub standing: Standing,
}

/// How a program is named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Program {
    /// A bare name, found through `PATH`.
    Name(String),
    /// A path spelling; survey says which file it is.
    Path(PathRef),
    /// The command word is not known before running.
    Opaque(Why),
}

/// What the program table says about a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// A row describes this invocation; its other actions are listed beside it.
    Row,
    /// Part of the shell itself.
    Builtin,
    /// No row, or a flag or subcommand that the row does not know.
    NoRow,
    /// A file run as code: a script, a built artefact, a test.
    File(PathRef),
    /// The project's own build or test entry (`make test`, `npm run x`, `cargo test`).
    Project,
    /// Code given inline to an interpreter, not read further.
    Inline(String),
}

/// A connection to another host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// With whom.
    pub peer: Peer,
    /// What flows.
    pub flow: Flow,
}

/// The other end of a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Peer {
    /// A URL as written; parsed by [`crate::address`].
    Url(String),
    /// A bare host, perhaps with a port, as written.
    Host(String),
    /// A named remote of the repository, such as `origin`.
    Remote(String),
    /// A package manager's configured registry.
    Registry(String),
    /// A service whose address is configured elsewhere (cloud API, cluster, database).
    Service(String),
    /// Not known before running.
    Opaque(Why),
}

/// What flows over a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// A request that carries nothing but its address (GET, HEAD, fetch, ping).
    Fetch,
    /// Data leaves: a body, an upload, a message.
    Send,
    /// A two-way session (ssh, netcat, database client).
    Session,
}

/// A socket that accepts connections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listen {
    /// Which interfaces.
    pub scope: ListenScope,
    /// As written.
    pub text: String,
}

/// Which interfaces a listener binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListenScope {
    /// Loopback, or a tool's loopback default.
    Loopback,
    /// Reachable from other machines, a tunnel, or not known.
    Wide,
}

/// An installation of packages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// The package manager.
    pub manager: String,
    /// Where to.
    pub scope: InstallScope,
    /// Where from.
    pub source: InstallSource,
}

/// Where packages are installed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallScope {
    /// Into the project (`node_modules`, a virtual environment, `target`).
    Project,
    /// Into the user's or the machine's places.
    Global,
}

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallSource {
    /// The manifest or lock file of the project.
    Manifest,
    /// Named packages of the configured registry.
    Registry,
    /// A URL, a repository or an archive: code that nobody reviewed for publication.
    Direct,
}

/// A change to what runs or what is allowed later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// Environment that makes other programs run code: `PATH`, `LD_PRELOAD`, `GIT_SSH_COMMAND`, `PAGER`, ….
    Environment(String),
    /// Configuration that runs code: git `core.*`, aliases, hooks, filters.
    Configuration(String),
    /// The shell's record of itself (`history -c`, `unset HISTFILE`).
    Traces(String),
    /// The guard itself: its state, policy, hooks, log, binary, processes, or its sandbox.
    Guard(String),
    /// A child agent, with more rights than its parent or the same.
    Agent(AgentRights),
}

/// The rights asked for a child agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentRights {
    /// No more than the parent's.
    Inherited,
    /// A mode above the parent's.
    Raised,
}

/// Something that others will see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Publish {
    /// `git push`.
    Push(Push),
    /// A release to a package registry, or an image push.
    Package(String),
    /// A deployment.
    Deploy(String),
    /// A pull request, issue, comment, gist, release note: text for others.
    Post(String),
    /// Any other upload.
    Upload(String),
}

/// A `git push`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// The remote as written, if any.
    pub remote: Option<String>,
    /// Destination refs as written; empty = the configured one.
    pub refs: Vec<String>,
    /// Whether it may rewrite.
    pub force: Force,
    /// Whether a remote ref is deleted.
    pub deletes: bool,
}

/// Whether a push may rewrite what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Force {
    /// Fast-forward only.
    No,
    /// `--force-with-lease`.
    Lease,
    /// `--force`, `+ref`, `--mirror`.
    Plain,
}

/// A loss that cannot be undone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Destroy {
    /// What is lost.
    pub class: DestroyClass,
    /// In words, such as `every uncommitted change in the work tree`.
    pub what: String,
}

/// What kind of thing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DestroyClass {
    /// Uncommitted changes or untracked files of a work tree.
    Worktree,
    /// Uncommitted changes that another branch takes over: lost only when there are some.
    Carried,
    /// Untracked files of a work tree (`git clean`).
    Untracked,
    /// Local commits, stashes, branches, reflogs.
    LocalHistory,
    /// History that others may have.
    PublishedHistory,
    /// A database, table or its rows.
    Database,
    /// Infrastructure: machines, clusters, stacks, buckets.
    Infrastructure,
    /// A remote repository, release or branch.
    RemoteRef,
    /// Containers, images, volumes of this machine.
    Container,
    /// A disk, partition or file system.
    Disk,
    /// Snapshots, backups, logs that would have allowed recovery.
    Recovery,
}

/// A signal to processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Signal {
    /// To processes by number.
    Pid(Vec<String>),
    /// To the shell's own jobs (`%1`, `$!`).
    Job,
    /// By name or pattern: may hit anything of the user.
    Name(String),
    /// To everything, or to the machine (`kill -1`, shutdown, reboot).
    All(String),
}

/// Why something cannot be known before running.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// A variable whose value is not set in the same input.
    Variable(String),
    /// The output of a command substitution.
    Substitution,
    /// Data read at run time (standard input, a file of arguments).
    Input,
    /// A command read from a pipe, a here-document or a file by an interpreter.
    Piped(String),
    /// Text that is decoded and then run.
    DecodedCode,
    /// Inline code of the named language that was not understood.
    Code(String),
    /// The working directory is not known.
    Directory,
    /// An expansion that was not modelled (arithmetic, arrays, brace, pattern).
    Expansion(String),
    /// The text does not parse as the shell would parse it.
    Unparsed(String),
    /// The independent scanner saw a command that the walk did not explain.
    Unexplained,
    /// Wrapping deeper, or input larger, than is judged.
    Limit(String),
    /// A program without a row, or a form of it that its row does not know.
    UnknownProgram(String),
    /// A tool that this gate does not know.
    UnknownTool(String),
    /// A command that runs on another machine or in another container.
    Elsewhere(String),
}
