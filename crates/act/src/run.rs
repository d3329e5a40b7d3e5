//! `run_bash`: a judged command in the box, with the trees kept before and compared after.

mod fresh;
mod pins;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use tollgate_call::places::protection;
use tollgate_gate::{Finish, JudgedScript, Named, Report};
use tollgate_survey::ScopedDir;

use crate::dry::cut;
use crate::files::RESULT_CAP;
use crate::held::Spot;
use crate::sandbox::{self, BoxOutput, BoxSpec, Exit, HaltSignal, Helper, Network};
use crate::undo::{Change, How, Limits, Meta, State, TreeChange, Undo, UndoError, Which, hash_of_hex};

/// Bytes of each output stream that are kept.
const STREAM_CAP: usize = 28 * 1024;

/// What every command of a run has in common.
#[derive(Debug, Clone)]
pub struct Commands {
    /// The program that builds the box.
    pub helper: Helper,
    /// Writable roots, as real absolute paths.
    pub roots: Vec<String>,
    /// Places that cannot be read: the guard's state, credentials.
    pub hidden: Vec<PathBuf>,
    /// Files of the guard that may lie in a root and are never written, such as its binary.
    pub guarded: Vec<PathBuf>,
    /// Files and directories of a root that are protected though their names do not say so.
    pub pointed: Vec<PathBuf>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// Limits on resources.
    pub limits: sandbox::Limits,
    /// How much of the roots is kept for undo.
    pub kept: Limits,
}

/// One command, judged.
pub(crate) struct Command {
    pub(crate) script: JudgedScript,
    pub(crate) cwd: ScopedDir,
    pub(crate) timeout: Duration,
    pub(crate) named: Named,
}

impl Commands {
    /// Runs `command`; what it changed is in the undo store, whatever became of it.
    pub(crate) fn run(&self, command: &Command, undo: &Undo, meta: Meta, halt: &HaltSignal) -> Report {
        let before = match undo.before_command(&self.roots, self.kept, meta.clone()) {
            Ok(before) => before,
            Err(error) => return Report::failed(format!("the command did not run: {error}")),
        };
        let pins = pins::of(&self.roots, &command.named);
        let spec = self.spec(command, &pins);
        let ran = sandbox::run(&self.helper, &spec, halt);
        let after = undo.after_command(before).map(|told| {
            let names = made_protected(&told.changes, &command.named, &self.pointed);
            Aftermath::of(undo, told, names, meta)
        });
        match ran {
            Ok(output) => report(&output, &pins, after),
            Err(error) => {
                Report { changed: changed(&after), ..Report::failed(format!("the command did not run: {error}")) }
            }
        }
    }

    fn spec(&self, command: &Command, pins: &pins::Pins) -> BoxSpec {
        BoxSpec {
            argv: vec!["/bin/bash".into(), "-c".into(), command.script.text().into()],
            cwd: PathBuf::from(command.cwd.resolved()),
            env: self.env.clone(),
            writable: self.roots.iter().map(PathBuf::from).collect(),
            hidden: self.hidden.iter().chain(&pins.masked).cloned().collect(),
            pinned: pins.pinned.iter().chain(self.guarded(&command.named)).cloned().collect(),
            timeout: command.timeout,
            output_cap: STREAM_CAP,
            stdin: Vec::new(),
            limits: self.limits,
            network: Network::None,
        }
    }

    /// What is there and lies in a root; the rest of the file system is read-only anyway.
    fn guarded<'a>(&'a self, named: &'a Named) -> impl Iterator<Item = &'a PathBuf> {
        let pointed = self.pointed.iter().filter(|path| !pins::is_named(path, named));
        let here = |file: &&PathBuf| file.exists() && self.roots.iter().any(|root| file.starts_with(root));
        self.guarded.iter().chain(pointed).filter(here)
    }
}

/// What a command left behind, after protected names that it made were taken back.
struct Aftermath {
    told: TreeChange,
    taken_back: Vec<Spot>,
    not_taken_back: Vec<String>,
    wrote: Wrote,
}

impl Aftermath {
    fn of(undo: &Undo, told: TreeChange, names: Vec<Spot>, meta: Meta) -> Self {
        let wrote = told.changes.iter().filter_map(written).collect();
        let mut after = Self { told, taken_back: Vec::new(), not_taken_back: Vec::new(), wrote };
        if !names.is_empty() {
            after.take_back(undo, names, meta);
        }
        after
    }

    /// Names that run or are obeyed later are never a by-product of a command that did not name them.
    fn take_back(&mut self, undo: &Undo, names: Vec<Spot>, meta: Meta) {
        let meta = Meta { tool: "undo".to_owned(), ..meta };
        match undo.undo(&Which::Names(self.told.step, names), How::Forced, meta) {
            Ok(done) => {
                self.taken_back = done.restored;
                self.not_taken_back = done.lost.into_iter().map(|(spot, why)| format!("`{spot}`: {why}")).collect();
            }
            Err(error) => self.not_taken_back.push(error.to_string()),
        }
    }
}

/// Protected names that came into being or changed, that no new repository brings with it, and that the command does
/// not name.
fn made_protected(changes: &[Change], named: &Named, pointed: &[PathBuf]) -> Vec<Spot> {
    let guarded = |change: &&Change| {
        let path = Path::new(&change.root).join(&change.path);
        let by_name = protection(&change.path).is_some_and(|why| !why.is_secret() || runs(&path));
        (by_name || pointed.iter().any(|pointed| path.starts_with(pointed)))
            && !matches!(change.after, State::Absent)
            && !fresh::brings(changes, change)
            && !pins::is_named(&path, named)
    };
    changes.iter().filter(guarded).map(Change::spot).collect()
}

/// Names that hold secrets by convention, but that programs also obey.
fn runs(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == ".envrc" || name == ".npmrc")
}

fn written(change: &Change) -> Option<(String, [u8; 32])> {
    match &change.after {
        State::File { sha256, .. } => Some((format!("{}/{}", change.root, change.path), hash_of_hex(sha256)?)),
        State::Absent | State::Link { .. } | State::Dir { .. } | State::Unkept { .. } => None,
    }
}

fn changed(after: &Result<Aftermath, UndoError>) -> bool {
    after.as_ref().map_or(true, |after| !after.told.changed.is_empty() || !after.told.partly.is_empty())
}

fn report(output: &BoxOutput, pins: &pins::Pins, after: Result<Aftermath, UndoError>) -> Report {
    let (end, ended) = match output.status {
        Exit::Code(0) => (Finish::Done, "exit code 0".to_owned()),
        Exit::Code(code) => (Finish::Failed, format!("exit code {code}")),
        Exit::Signal(signal) => (Finish::Failed, format!("killed by signal {signal}")),
        Exit::TimedOut => {
            (Finish::TimedOut, format!("stopped after {} s, with everything it started", output.wall.as_secs()))
        }
        Exit::Halted => (Finish::Halted, "stopped by a halt, with everything it started".to_owned()),
        Exit::Lost => (Finish::Failed, "killed from outside, perhaps for lack of memory".to_owned()),
    };
    let changed = changed(&after);
    let (notes, mut detail, wrote) = aftermath(after);
    detail.insert("ended".to_owned(), json!(ended));
    detail.insert("wall_ms".to_owned(), json!(u64::try_from(output.wall.as_millis()).unwrap_or(u64::MAX)));
    let text = cut(&streams(output), RESULT_CAP - 2_048);
    let masked = pins.masked_note(&text);
    let notes: String = notes.into_iter().chain(masked).map(|note| format!("[{note}]\n")).collect();
    let text = format!("[{ended}]\n{text}{}", cut(&notes, 1_900));
    Report { text, changed, wrote, detail, ..Report::ended(end, "") }
}

fn streams(output: &BoxOutput) -> String {
    let (out, err) = (output.stdout.text(), output.stderr.text());
    let line = |text: &str| if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    match (out.is_empty(), err.is_empty()) {
        (true, true) => "[no output]\n".to_owned(),
        (false, true) => format!("{out}{}", line(&out)),
        (_, false) => format!("{out}{}[stderr]\n{err}{}", line(&out), line(&err)),
    }
}

type Detail = serde_json::Map<String, Value>;
/// Files with the hash of their new content.
type Wrote = Vec<(String, [u8; 32])>;

fn aftermath(after: Result<Aftermath, UndoError>) -> (Vec<String>, Detail, Wrote) {
    let mut detail = Detail::new();
    let after = match after {
        Ok(after) => after,
        Err(error) => return (vec![format!("what it changed could not be recorded: {error}")], detail, Vec::new()),
    };
    detail.insert("undo_step".to_owned(), json!(after.told.step));
    detail.insert("changed_files".to_owned(), json!(after.told.changed.len()));
    let mut notes = Vec::new();
    if !after.taken_back.is_empty() {
        let names = list(&after.taken_back);
        notes.push(format!(
            "protected names that the command does not name were taken back: {names}; write them by name"
        ));
        detail.insert("taken_back".to_owned(), json!(names));
    }
    if !after.not_taken_back.is_empty() {
        notes.push(format!("not taken back: {}", after.not_taken_back.join("; ")));
        detail.insert("not_taken_back".to_owned(), json!(after.not_taken_back));
    }
    if !after.told.partly.is_empty() {
        notes.push(format!("only partly restorable: {}", after.told.partly.join("; ")));
        detail.insert("partly_restorable".to_owned(), json!(after.told.partly));
    }
    (notes, detail, after.wrote)
}

fn list(spots: &[Spot]) -> String {
    spots.iter().take(20).map(|spot| format!("`{spot}`")).collect::<Vec<_>>().join(", ")
}
