//! What judging sees of a call: its tool, its door and its actions, never its spelling.

use std::borrow::Cow;

use tollgate_call::action::{Action, ActionKind, Execute, Flow, PathRef, Program, Standing, Target};
use tollgate_call::call::{Call, Tool};
use tollgate_call::facts::{Confinement, Facts, PathFact};
use tollgate_call::places::{Place, clean, is_beneath};
use tollgate_call::proposal::Door;
use tollgate_call::run_state::RunState;
use tollgate_call::shell::Simple;

use crate::policy::Policy;
use crate::profile::Profile;
use crate::user_rules::{OfferedPath, Reach};

/// Who carries an action out, which decides what protects against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doer {
    /// A file tool of ours, through the handle that was judged, with a snapshot before each change.
    FileTool,
    /// A command.
    Command,
    /// Our fetch tool.
    Fetch,
    /// A tool without effects outside the run: plan, notes, questions.
    Planning,
    /// Our message tool.
    Message,
    /// A tool of somebody else.
    Foreign,
}

/// A call as guards see it.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) tool: &'a str,
    pub(crate) doer: Doer,
    pub(crate) door: Door,
    /// Absolute directory that relative names start from.
    pub(crate) cwd: &'a str,
    pub(crate) actions: &'a [Action],
    /// The simple commands that the parts of the actions are.
    pub(crate) commands: &'a [Simple],
    /// Bytes of the command, for tools that have one.
    pub(crate) command_bytes: usize,
    /// Texts that leave the machine, with their pointers.
    pub(crate) outgoing: Vec<(&'static str, &'a str)>,
    pub(crate) digest: [u8; 32],
    /// Only computed when the run has denials to compare with.
    pub(crate) intent: Option<[u8; 32]>,
}

impl<'a> Subject<'a> {
    pub(crate) fn of(call: &'a Call, run: &RunState) -> Self {
        Self {
            tool: call.name(),
            doer: Doer::of(call.tool()),
            door: call.origin().door,
            cwd: &call.origin().cwd,
            actions: call.actions(),
            commands: call.script().map_or(&[], |script| &script.commands),
            command_bytes: call.tool().command().map_or(0, String::len),
            outgoing: outgoing(call.tool()),
            digest: call.digest(),
            intent: (!run.denied.is_empty()).then(|| call.intent()),
        }
    }
}

impl Doer {
    const fn of(tool: &Tool) -> Self {
        match tool {
            Tool::RunBash { .. } => Self::Command,
            Tool::ReadFile { .. }
            | Tool::GlobFiles { .. }
            | Tool::Grep { .. }
            | Tool::WriteFile { .. }
            | Tool::EditFile { .. }
            | Tool::DeleteFile { .. } => Self::FileTool,
            Tool::WebFetch { .. } => Self::Fetch,
            Tool::SendMessage { .. } => Self::Message,
            Tool::TodoAppend { .. }
            | Tool::TodoList
            | Tool::TodoUpdate { .. }
            | Tool::ReadScratchpad
            | Tool::WriteScratchpad { .. }
            | Tool::AskQuestion { .. } => Self::Planning,
            Tool::Foreign { .. } => Self::Foreign,
        }
    }
}

fn outgoing(tool: &Tool) -> Vec<(&'static str, &str)> {
    match tool {
        Tool::WebFetch { url } => vec![("/url", url)],
        Tool::SendMessage { to, subject, body } => vec![("/to", to), ("/subject", subject), ("/body", body)],
        Tool::RunBash { .. }
        | Tool::ReadFile { .. }
        | Tool::GlobFiles { .. }
        | Tool::Grep { .. }
        | Tool::WriteFile { .. }
        | Tool::EditFile { .. }
        | Tool::DeleteFile { .. }
        | Tool::TodoAppend { .. }
        | Tool::TodoList
        | Tool::TodoUpdate { .. }
        | Tool::ReadScratchpad
        | Tool::WriteScratchpad { .. }
        | Tool::AskQuestion { .. }
        | Tool::Foreign { .. } => Vec::new(),
    }
}

/// Everything that a guard may look at.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) subject: &'a Subject<'a>,
    pub(crate) facts: &'a Facts,
    pub(crate) run: &'a RunState,
    /// Parts that do more than read, sorted.
    busy: Vec<u32>,
    /// Programs of each part, sorted by part.
    programs: Vec<(u32, &'a str)>,
}

impl<'a> View<'a> {
    pub(crate) fn new(policy: &'a Policy, subject: &'a Subject<'a>, facts: &'a Facts, run: &'a RunState) -> Self {
        let mut busy: Vec<u32> = subject.actions.iter().filter(|a| !only_reads(a, facts)).map(|a| a.part).collect();
        busy.sort_unstable();
        busy.dedup();
        let mut programs: Vec<(u32, &str)> = subject.actions.iter().filter_map(named_program).collect();
        programs.sort_unstable();
        Self { policy, subject, facts, run, busy, programs }
    }

    /// Whether every wall held when a real child tried it.
    pub(crate) const fn in_box(&self) -> bool {
        match self.facts.confinement {
            Confinement::Enforced => true,
            Confinement::Partial(_) | Confinement::Outside => false,
        }
    }

    /// Whether the box pays for what cannot be known: not in the strict profiles.
    pub(crate) const fn box_pays(&self) -> bool {
        self.in_box() && !self.policy.settings().profile.denies_uncertainty()
    }

    /// Whether Tollgate performs in some box of its own, with its own temporary directory and snapshots.
    pub(crate) const fn is_performed_here(&self) -> bool {
        match self.facts.confinement {
            Confinement::Enforced | Confinement::Partial(_) => true,
            Confinement::Outside => false,
        }
    }

    pub(crate) const fn profile(&self) -> Profile {
        self.policy.settings().profile
    }

    /// Whether the part of this action does nothing but read.
    pub(crate) fn part_only_reads(&self, part: u32) -> bool {
        self.busy.binary_search(&part).is_err()
    }

    /// Whether the part of this action reads names, sizes and times only, never what is in a file.
    pub(crate) fn part_only_lists(&self, part: u32) -> bool {
        let programs = self.programs_of(part);
        self.part_only_reads(part) && !programs.is_empty() && programs.iter().all(|name| LISTING.contains(name))
    }

    /// Whether no part of the call does anything but read.
    pub(crate) const fn only_reads(&self) -> bool {
        self.busy.is_empty()
    }

    /// Whether a directory is or holds the working directory or a root.
    pub(crate) fn holds_workspace(&self, dir: &str) -> bool {
        let dir = clean(dir);
        let roots = self.policy.settings().roots.iter().map(String::as_str);
        roots.chain([self.subject.cwd]).any(|root| is_beneath(root, &dir))
    }

    /// The simple command that a part is.
    pub(crate) fn command_of(&self, part: u32) -> Option<&'a Simple> {
        self.subject.commands.get(part as usize)
    }

    /// The programs that a part names.
    pub(crate) fn programs_of(&self, part: u32) -> Vec<&'a str> {
        let start = self.programs.partition_point(|(at, _)| *at < part);
        self.programs.iter().skip(start).take_while(|(at, _)| *at == part).map(|(_, name)| *name).collect()
    }

    pub(crate) fn path(&self, path: &PathRef) -> Option<&'a PathFact> {
        self.facts.paths.get(&path.abs)
    }

    /// A target as user rules match it: the real path where it is known, else the cleaned name.
    pub(crate) fn offered<'t>(&'t self, target: &'t Target) -> Option<OfferedPath<'t>> {
        let (path, reach) = match target {
            Target::Path(path) => (path, Reach::One),
            Target::Glob(path) => return Some(self.offered_glob(path)),
            Target::Beneath(path) => (path, Reach::Tree),
            Target::Opaque(_) => return None,
        };
        Some(OfferedPath { path: self.real(path), reach })
    }

    fn offered_glob<'t>(&'t self, path: &'t PathRef) -> OfferedPath<'t> {
        let base = glob_base(&path.abs);
        let reach = if path.abs.contains("**") { Reach::Tree } else { Reach::Children };
        OfferedPath { path: Cow::Owned(clean(base)), reach }
    }

    fn real<'t>(&'t self, path: &'t PathRef) -> Cow<'t, str> {
        self.path(path).map_or_else(|| Cow::Owned(clean(&path.abs)), |fact| Cow::Borrowed(fact.resolved.as_str()))
    }
}

/// The directory of a glob: what stands before the first component with a wildcard.
pub(crate) fn glob_base(abs: &str) -> &str {
    let wild = abs.find(['*', '?', '[', '{']).unwrap_or(abs.len());
    let literal = abs.get(..wild).unwrap_or(abs);
    match literal.rfind('/') {
        Some(0) | None => "/",
        Some(slash) => literal.get(..slash).unwrap_or("/"),
    }
}

/// The program that an action runs, if it runs one.
pub(crate) fn program_of(action: &Action) -> Vec<&str> {
    named_program(action).map(|(_, name)| name).into_iter().collect()
}

fn named_program(action: &Action) -> Option<(u32, &str)> {
    let ActionKind::Execute(Execute { program, .. }) = &action.kind else { return None };
    let name = match program {
        Program::Name(name) => name.as_str(),
        Program::Path(path) => path.raw.as_str(),
        // Never the name of a rule's program, so an allow rule cannot cover the part.
        Program::Opaque(_) => "",
    };
    Some((action.part, name))
}

/// Programs that tell which files there are, and nothing of what is in them.
const LISTING: &[&str] = &[
    "[", "basename", "dir", "dirname", "du", "exa", "eza", "fd", "find", "ls", "readlink", "realpath", "stat", "test",
    "tree", "vdir",
];

/// Whether a name is a descriptor of the shell itself, as process substitution makes them.
///
/// # Security
/// Holds for commands only: for a file tool the same name is a descriptor of the guard.
pub(crate) fn is_own_descriptor(path: &PathRef) -> bool {
    path.abs.strip_prefix("/dev/fd/").is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether an action changes nothing and tells nobody.
fn only_reads(action: &Action, facts: &Facts) -> bool {
    match &action.kind {
        ActionKind::Read(_) => true,
        ActionKind::Execute(execute) => match execute.standing {
            Standing::Row | Standing::Builtin => !matches!(execute.program, Program::Opaque(_)),
            Standing::NoRow | Standing::File(_) | Standing::Project | Standing::Inline(_) => false,
        },
        ActionKind::Write(Target::Path(path), _) => {
            is_own_descriptor(path)
                || facts.paths.get(&path.abs).is_some_and(|fact| fact.place == Place::HarmlessDevice)
        }
        ActionKind::Connect(connect) => match connect.flow {
            Flow::Fetch => true,
            Flow::Send | Flow::Session => false,
        },
        ActionKind::Write(Target::Glob(_) | Target::Beneath(_) | Target::Opaque(_), _)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => false,
    }
}
