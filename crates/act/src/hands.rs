//! The hands: take a permit by value, do exactly that, and report.

use tollgate_call::call::Tool;
use tollgate_gate::{Deed, Finish, GrepPlace, Outcome, Permit, Report};
use tollgate_survey::ScopedPath;

use crate::dry;
use crate::fetch::{self, Caps, FetchError, Page, Rejudge};
use crate::files::glob::Listing;
use crate::files::{Bounds, ChangeError, Changed, Record, delete, edit, glob, grep, read, write};
use crate::held::Held;
use crate::relay::{Letter, Relay};
use crate::run::{Command, Commands};
use crate::sandbox::HaltSignal;
use crate::undo::{Meta, Undo, hex};

/// Entries that a listing or a search looks at.
const MAX_ENTRIES: usize = 200_000;
/// How long a listing or a search takes at most.
const SEARCH_SECS: u64 = 30;

/// Why a redirect is not followed when nobody is there to judge it.
const UNJUDGED: &str = "redirects are not followed here; fetch that address itself if it is wanted";

/// What stays inside the run: its plan, its notes, its questions to the user.
pub trait Inner {
    /// Performs `tool`, one of the tools that reach nothing outside the run.
    fn perform(&self, tool: &Tool) -> Report;
}

/// Whether deeds are done or only described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Everything is done.
    Really,
    /// Reads are done; writes, deletes, commands, fetches and messages are described.
    Dry,
}

/// Performs what permits permit, for one run.
pub struct Hands {
    undo: Undo,
    run: String,
    doing: Doing,
    commands: Option<Commands>,
    inner: Option<Box<dyn Inner>>,
    secret: Box<dyn Fn(&str) -> bool>,
    relay: Option<Relay>,
}

/// What one deed is done under.
struct Now<'a> {
    seq: u64,
    halt: &'a HaltSignal,
    rejudge: Rejudge<'a>,
}

impl std::fmt::Debug for Hands {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hands").field("run", &self.run).field("doing", &self.doing).finish_non_exhaustive()
    }
}

impl Hands {
    /// Hands for the run `run`, which can work on files only.
    pub fn new(undo: Undo, run: impl Into<String>, doing: Doing) -> Self {
        Self { undo, run: run.into(), doing, commands: None, inner: None, secret: Box::new(|_| false), relay: None }
    }

    /// Lets them send messages through the operator's relay.
    #[must_use]
    pub fn relay(mut self, relay: Option<Relay>) -> Self {
        self.relay = relay;
        self
    }

    /// Lets them run commands, in the box that `commands` describes.
    #[must_use]
    pub fn commands(mut self, commands: Commands) -> Self {
        self.commands = Some(commands);
        self
    }

    /// Gives them the run's own plan and notes.
    #[must_use]
    pub fn inner(mut self, inner: Box<dyn Inner>) -> Self {
        self.inner = Some(inner);
        self
    }

    /// Names absolute paths, beyond those whose names say it, that searches must leave out.
    #[must_use]
    pub fn secret(mut self, secret: Box<dyn Fn(&str) -> bool>) -> Self {
        self.secret = secret;
        self
    }

    /// The undo store that changes are recorded in.
    pub const fn undo(&self) -> &Undo {
        &self.undo
    }

    /// Does what `permit` permits, once, and reports it for the gate to settle. Redirects are told, not followed.
    pub fn perform(&self, permit: Permit, halt: &HaltSignal) -> Outcome {
        self.perform_with(permit, halt, &|_, _| Err(UNJUDGED.to_owned()))
    }

    /// As [`Hands::perform`], following redirects whose targets `rejudge` allows: [`tollgate_gate::Gate::redirect`].
    pub fn perform_with(&self, permit: Permit, halt: &HaltSignal, rejudge: Rejudge<'_>) -> Outcome {
        let (deed, settling) = permit.into_parts();
        let report = if halt.is_raised() {
            Report::ended(Finish::Halted, "a halt is raised; nothing was done")
        } else {
            self.deed(deed, &Now { seq: settling.seq(), halt, rejudge })
        };
        settling.report(report)
    }

    fn deed(&self, deed: Deed, now: &Now<'_>) -> Report {
        match self.doing {
            Doing::Really => self.really(deed, now),
            Doing::Dry => match dry::describe(deed) {
                dry::Described::Told(told) => Report::read(told),
                dry::Described::Harmless(deed) => self.really(*deed, now),
            },
        }
    }

    fn really(&self, deed: Deed, now: &Now<'_>) -> Report {
        match deed {
            Deed::Run { script, cwd, timeout, named } => match &self.commands {
                Some(commands) => {
                    let command = Command { script, cwd, timeout, named };
                    commands.run(&command, &self.undo, self.meta(now.seq, "run_bash"), now.halt)
                }
                None => Report::failed("the command did not run: this run has no box for commands"),
            },
            Deed::Read { file, offset, limit } => read_lines(file, read::Lines::of(Some(offset), Some(limit))),
            Deed::Glob { dir, pattern } => listed(glob::glob(&dir, &pattern, bounds())),
            Deed::Grep { place, pattern, glob } => self.grep(place, &pattern, glob.as_deref()),
            Deed::Write { file, content } => {
                self.change(file, now.seq, "write_file", |held, record| write::write(held, content.as_bytes(), record))
            }
            Deed::Edit { file, old, new, scope } => self.change(file, now.seq, "edit_file", |held, record| {
                edit::edit(held, &old, &new, dry::which(scope), record)
            }),
            Deed::Delete { file } => {
                self.change(file, now.seq, "delete_file", |held, record| delete::delete(&held, record))
            }
            Deed::Fetch { destination } => fetched(fetch::fetch(destination, now.rejudge, Caps::default(), now.halt)),
            Deed::Send { to, subject, body } => self.send(&Letter { to, subject, body }, now.halt),
            Deed::Inner(tool) => match &self.inner {
                Some(inner) => inner.perform(&tool),
                None => Report::failed("this run keeps no plan and no notes"),
            },
        }
    }

    fn send(&self, letter: &Letter, halt: &HaltSignal) -> Report {
        let Some(relay) = &self.relay else {
            return Report::failed("no relay is configured, so nothing was sent");
        };
        match relay.send(letter, halt) {
            Ok(answer) => Report::changed(format!("sent to {}; the relay answered: {answer}", letter.to)),
            Err(error) => {
                let end = if halt.is_raised() { Finish::Halted } else { Finish::Failed };
                Report { changed: error.may_have_been_sent(), ..Report::ended(end, error.to_string()) }
            }
        }
    }

    fn grep(&self, place: GrepPlace, pattern: &str, glob: Option<&str>) -> Report {
        match place {
            GrepPlace::Dir(dir) => {
                listed(grep::grep(&dir, grep::Query { pattern, glob, secret: &*self.secret }, bounds()))
            }
            GrepPlace::File(file) => listed(
                Held::of(file).map_err(grep::GrepFileError::from).and_then(|held| grep::grep_file(&held, pattern)),
            ),
        }
    }

    fn change(
        &self,
        file: ScopedPath,
        seq: u64,
        tool: &str,
        work: impl FnOnce(Held, &Record<'_>) -> Result<Changed, ChangeError>,
    ) -> Report {
        let path = file.resolved();
        let record = Record { undo: &self.undo, meta: self.meta(seq, tool) };
        match Held::of(file).map_err(ChangeError::from).and_then(|held| work(held, &record)) {
            Ok(changed) => report_change(path, changed),
            Err(error) => Report { changed: error.is_after_a_change(), ..Report::failed(error.to_string()) },
        }
    }

    fn meta(&self, seq: u64, tool: &str) -> Meta {
        Meta { run: self.run.clone(), call: seq.to_string(), tool: tool.to_owned(), at_ms: crate::undo::now_ms() }
    }
}

fn bounds() -> Bounds {
    let now = std::time::Instant::now();
    Bounds { entries: MAX_ENTRIES, deadline: now + std::time::Duration::from_secs(SEARCH_SECS) }
}

fn read_lines(file: ScopedPath, lines: read::Lines) -> Report {
    match Held::of(file).and_then(|held| read::read(&held, lines)) {
        Ok(text) => {
            detailed(Report::read(text.text), [("size", text.size.into()), ("truncated", text.truncated.into())])
        }
        Err(error) => Report::failed(error.to_string()),
    }
}

fn fetched(page: Result<Page, FetchError>) -> Report {
    match page {
        Ok(page) => detailed(
            Report::read(page.text),
            [
                ("url", page.url.into()),
                ("status", page.status.into()),
                ("bytes", page.bytes.into()),
                ("sha256", hex(&page.hash).into()),
                ("truncated", page.truncated.into()),
                ("hops", page.hops.into()),
            ],
        ),
        Err(FetchError::Halted) => Report::ended(Finish::Halted, "the fetch was stopped by a halt"),
        Err(error @ FetchError::TimedOut(_)) => Report::ended(Finish::TimedOut, error.to_string()),
        Err(error) => Report::failed(error.to_string()),
    }
}

fn listed<E: std::fmt::Display>(listing: Result<Listing, E>) -> Report {
    match listing {
        Ok(list) => {
            detailed(Report::read(list.text), [("count", list.count.into()), ("truncated", list.truncated.into())])
        }
        Err(error) => Report::failed(error.to_string()),
    }
}

fn report_change(path: String, changed: Changed) -> Report {
    let wrote = changed.hash.map(|hash| (path, hash)).into_iter().collect();
    let report = match changed.step {
        Some(step) => detailed(
            Report::changed(format!("{} (undo step {step})", changed.told)),
            [("undo_step", step.into()), ("bytes", changed.bytes.into())],
        ),
        None => Report::read(changed.told),
    };
    Report { wrote, ..report }
}

fn detailed<const N: usize>(mut report: Report, fields: [(&str, serde_json::Value); N]) -> Report {
    report.detail.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    report
}
