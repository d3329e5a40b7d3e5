//! What is to be done: a call whose every target is a handle that was judged.

use std::time::Duration;

use tollgate_call::action::{Action, ActionKind, Control, Target};
use tollgate_call::{Call, Tool};
use tollgate_survey::{Destination, Handles, PathError, ScopedDir, ScopedPath};

use crate::budget;
use crate::verdict::Denial;

/// A judged call, ready for the hands. There is no bare path, command or address in it.
#[derive(Debug)]
pub enum Deed {
    /// Run a command.
    Run {
        /// The judged text.
        script: JudgedScript,
        /// Where it starts.
        cwd: ScopedDir,
        /// When it is stopped.
        timeout: Duration,
        /// What the text names, so that exactly this is neither pinned nor masked in the box.
        named: Named,
    },
    /// Read lines of a file.
    Read {
        /// The file.
        file: ScopedPath,
        /// First line, from 1.
        offset: u64,
        /// Number of lines.
        limit: u64,
    },
    /// List files.
    Glob {
        /// Where.
        dir: ScopedDir,
        /// The relative glob.
        pattern: String,
    },
    /// Search files.
    Grep {
        /// Where.
        place: GrepPlace,
        /// The regular expression.
        pattern: String,
        /// Only these files.
        glob: Option<String>,
    },
    /// Write a whole file.
    Write {
        /// The file.
        file: ScopedPath,
        /// The content.
        content: String,
    },
    /// Replace text in a file.
    Edit {
        /// The file.
        file: ScopedPath,
        /// What to replace.
        old: String,
        /// With what.
        new: String,
        /// How often.
        scope: EditScope,
    },
    /// Delete a file.
    Delete {
        /// The file.
        file: ScopedPath,
    },
    /// Fetch a page.
    Fetch {
        /// Where from, with the addresses that were judged.
        destination: Destination,
    },
    /// Send a message through the operator's relay.
    Send {
        /// The recipient.
        to: String,
        /// The subject.
        subject: String,
        /// The text.
        body: String,
    },
    /// Something that stays inside the run: plan, notes, a question.
    Inner(Tool),
}

/// Shell text that was judged; only the gate makes one.
#[derive(Debug, PartialEq, Eq)]
pub struct JudgedScript(String);

impl JudgedScript {
    /// The text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

/// What a judged command names: absolute, uncleaned paths, all of them judged with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Named {
    /// Paths that it says it changes.
    pub writes: Vec<String>,
    /// Paths that it says it reads.
    pub reads: Vec<String>,
    /// Whether it says that it changes the configuration of a repository.
    pub configures: bool,
}

impl Named {
    fn of(actions: &[Action]) -> Self {
        let mut named = Self::default();
        for action in actions {
            named.add(&action.kind);
        }
        named
    }

    fn add(&mut self, kind: &ActionKind) {
        match kind {
            ActionKind::Read(target) => self.reads.extend(path(target)),
            ActionKind::Write(target, _) | ActionKind::Delete(target, _) => self.writes.extend(path(target)),
            ActionKind::Move(from, to) => self.writes.extend([path(from), path(to)].into_iter().flatten()),
            ActionKind::Control(Control::Configuration(_)) => self.configures = true,
            ActionKind::Control(
                Control::Environment(_) | Control::Traces(_) | Control::Guard(_) | Control::Agent(_),
            )
            | ActionKind::Execute(_)
            | ActionKind::Connect(_)
            | ActionKind::Listen(_)
            | ActionKind::Message(_)
            | ActionKind::Spend(_)
            | ActionKind::Install(_)
            | ActionKind::Privilege(_)
            | ActionKind::Persist(_)
            | ActionKind::Publish(_)
            | ActionKind::Destroy(_)
            | ActionKind::Signal(_)
            | ActionKind::Opaque(_) => {}
        }
    }
}

/// Only a path that is spelled out is named; what a glob or a walk meets is not.
fn path(target: &Target) -> Option<String> {
    match target {
        Target::Path(path) => Some(path.abs.clone()),
        Target::Glob(_) | Target::Beneath(_) | Target::Opaque(_) => None,
    }
}

/// Where a search looks.
#[derive(Debug)]
pub enum GrepPlace {
    /// A tree.
    Dir(ScopedDir),
    /// One file.
    File(ScopedPath),
}

/// How often an edit replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditScope {
    /// Exactly once; any other count is an error.
    Once,
    /// Every occurrence.
    All,
}

/// Lines that are read when the call does not say.
const DEFAULT_LINES: u64 = 200;

impl Deed {
    /// The same, ended with the run at the latest. Steps with caps of their own, far below a minute, are not cut.
    pub(crate) fn within(mut self, left: Duration) -> Self {
        if let Self::Run { timeout, .. } = &mut self {
            *timeout = left.min(*timeout);
        }
        self
    }

    /// Pairs a judged call with the handles that were looked at when it was judged.
    pub(crate) fn of(call: &Call, handles: Handles) -> Result<Self, Denial> {
        let tool = call.tool().clone();
        let timeout = Duration::from_secs(budget::timeout_secs(&tool));
        Ok(match tool {
            Tool::RunBash { command, .. } => {
                let named = Named::of(call.actions());
                Self::Run { script: JudgedScript(command), cwd: dir(handles)?, timeout, named }
            }
            Tool::ReadFile { offset, limit, .. } => {
                Self::Read { file: file(handles)?, offset: offset.unwrap_or(1), limit: limit.unwrap_or(DEFAULT_LINES) }
            }
            Tool::GlobFiles { pattern, .. } => Self::Glob { dir: dir(handles)?, pattern },
            Tool::Grep { pattern, glob, .. } => Self::Grep { place: place(handles)?, pattern, glob },
            Tool::WriteFile { content, .. } => Self::Write { file: file(handles)?, content },
            Tool::EditFile { old_string, new_string, replace_all, .. } => Self::Edit {
                file: file(handles)?,
                old: old_string,
                new: new_string,
                scope: if replace_all { EditScope::All } else { EditScope::Once },
            },
            Tool::DeleteFile { .. } => Self::Delete { file: file(handles)? },
            Tool::WebFetch { .. } => Self::Fetch { destination: destination(handles)? },
            Tool::SendMessage { to, subject, body } => Self::Send { to, subject, body },
            inner @ (Tool::TodoAppend { .. }
            | Tool::TodoList
            | Tool::TodoUpdate { .. }
            | Tool::ReadScratchpad
            | Tool::WriteScratchpad { .. }
            | Tool::AskQuestion { .. }) => Self::Inner(inner),
            Tool::Foreign { name, .. } => return Err(nobody_performs(&name)),
        })
    }
}

fn file(handles: Handles) -> Result<ScopedPath, Denial> {
    match handles.path {
        Some(Ok(path)) => Ok(path),
        Some(Err(error)) => Err(unopened(&error)),
        None => Err(no_handle()),
    }
}

fn dir(handles: Handles) -> Result<ScopedDir, Denial> {
    match handles.dir {
        Some(Ok(dir)) => Ok(dir),
        Some(Err(error)) => Err(unopened(&error)),
        None => Err(no_handle()),
    }
}

/// A search names a tree or one file.
fn place(handles: Handles) -> Result<GrepPlace, Denial> {
    match (handles.dir, handles.path) {
        (Some(Ok(dir)), _) => Ok(GrepPlace::Dir(dir)),
        (_, Some(Ok(path))) => Ok(GrepPlace::File(path)),
        (Some(Err(error)), _) | (None, Some(Err(error))) => Err(unopened(&error)),
        (None, None) => Err(no_handle()),
    }
}

fn destination(handles: Handles) -> Result<Destination, Denial> {
    handles.destination.ok_or_else(|| Denial::new("net.unknown", "the address could not be resolved", None))
}

fn unopened(error: &PathError) -> Denial {
    Denial::new("path.unopened", error.to_string(), Some("look with `glob_files` for what is there"))
}

fn no_handle() -> Denial {
    Denial::new("guard.failed", "the call was judged without a handle to act on", Some("report this call"))
}

fn nobody_performs(name: &str) -> Denial {
    Denial::new("tool.unknown", format!("nothing here performs `{name}`"), None)
}
