//! The journal: appended under a lock, each line durable before the caller goes on, read tolerantly.
//!
//! A line that a crash cut off is skipped and counted; the next append starts on a line of its own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{FlockOperation, Mode, OFlags};

use super::UndoError;
use super::record::{Change, Line, Meta, Recorded, Step, VERSION};

const NAME: &str = "journal.jsonl";

/// The journal of one state directory, as far as it has been read.
#[derive(Debug)]
pub(crate) struct Journal {
    dir: OwnedFd,
    file: File,
    read_to: u64,
    steps: BTreeMap<u64, Step>,
    last: u64,
    torn: u64,
}

impl Journal {
    pub(crate) fn open(dir: OwnedFd) -> Result<Self, UndoError> {
        let file = open_file(&dir, NAME, OFlags::CREATE)?;
        rustix::fs::fsync(&dir).map_err(UndoError::store)?;
        Ok(Self { dir, file, read_to: 0, steps: BTreeMap::new(), last: 0, torn: 0 })
    }

    /// All steps, oldest first, with what other processes wrote since.
    pub(crate) fn steps(&mut self) -> Result<&BTreeMap<u64, Step>, UndoError> {
        self.locked(FlockOperation::LockShared, |_| Ok(()))?;
        Ok(&self.steps)
    }

    /// How many lines could not be read.
    pub(crate) const fn torn(&self) -> u64 {
        self.torn
    }

    /// Records that a step begins, and returns its number.
    pub(crate) fn begin(
        &mut self,
        meta: Meta,
        changes: Vec<Change>,
        trees: BTreeMap<String, String>,
    ) -> Result<u64, UndoError> {
        self.locked(FlockOperation::LockExclusive, |journal| {
            let step = journal.last + 1;
            journal.append(&Line::Begin { v: VERSION, step, meta, changes, trees })?;
            Ok(step)
        })
    }

    /// Records that a step ended, with what it changed.
    pub(crate) fn end(&mut self, step: u64, changes: Vec<Change>, partly: Vec<String>) -> Result<(), UndoError> {
        self.locked(FlockOperation::LockExclusive, |journal| {
            journal.append(&Line::End { v: VERSION, step, changes, partly })
        })
    }

    /// Rewrites the journal without `drop`; the numbers stay used.
    pub(crate) fn forget(&mut self, drop: &[u64]) -> Result<(), UndoError> {
        self.locked(FlockOperation::LockExclusive, |journal| journal.rewrite(drop))?;
        // The lock was on the file that has just been replaced: start over on the new one.
        self.restart()
    }

    fn rewrite(&mut self, drop: &[u64]) -> Result<(), UndoError> {
        let temp = "journal.new";
        let mut new = open_file(&self.dir, temp, OFlags::CREATE | OFlags::TRUNC)?;
        self.file.seek(SeekFrom::Start(0)).map_err(UndoError::store)?;
        for line in BufReader::new(&self.file).split(b'\n') {
            let line = line.map_err(UndoError::store)?;
            let Ok(parsed) = serde_json::from_slice::<Line>(&line) else { continue };
            if !drop.contains(&step_of(&parsed)) {
                write_line(&mut new, &parsed)?;
            }
        }
        for step in drop {
            write_line(&mut new, &Line::Pruned { v: VERSION, step: *step })?;
        }
        rustix::fs::fsync(&new).map_err(UndoError::store)?;
        rustix::fs::renameat(&self.dir, temp, &self.dir, NAME).map_err(UndoError::store)?;
        rustix::fs::fsync(&self.dir).map_err(UndoError::store)
    }

    fn restart(&mut self) -> Result<(), UndoError> {
        self.file = open_file(&self.dir, NAME, OFlags::empty())?;
        self.read_to = 0;
        self.steps.clear();
        self.torn = 0;
        Ok(())
    }

    /// Runs `work` under a lock, on the newest state.
    fn locked<T>(
        &mut self,
        how: FlockOperation,
        work: impl FnOnce(&mut Self) -> Result<T, UndoError>,
    ) -> Result<T, UndoError> {
        self.lock_current(how)?;
        let done = self.catch_up().and_then(|()| work(self));
        rustix::fs::flock(&self.file, FlockOperation::Unlock).map_err(UndoError::store)?;
        done
    }

    /// Locks the file that has the journal's name now: pruning may have replaced it meanwhile.
    fn lock_current(&mut self, how: FlockOperation) -> Result<(), UndoError> {
        loop {
            rustix::fs::flock(&self.file, how).map_err(UndoError::store)?;
            let named = open_file(&self.dir, NAME, OFlags::empty())?;
            let inode = |file: &File| rustix::fs::fstat(file).map(|stat| stat.st_ino).map_err(UndoError::store);
            if inode(&named)? == inode(&self.file)? {
                return Ok(());
            }
            self.restart()?;
        }
    }

    fn append(&mut self, line: &Line) -> Result<(), UndoError> {
        let end = self.file.seek(SeekFrom::End(0)).map_err(UndoError::store)?;
        if self.read_to < end {
            // A torn tail: close it off, so that this line stands alone.
            self.file.write_all(b"\n").map_err(UndoError::store)?;
            self.torn += 1;
        }
        write_line(&mut self.file, line)?;
        rustix::fs::fdatasync(&self.file).map_err(UndoError::store)?;
        self.read_to = self.file.stream_position().map_err(UndoError::store)?;
        self.apply(line.clone());
        Ok(())
    }

    fn catch_up(&mut self) -> Result<(), UndoError> {
        self.file.seek(SeekFrom::Start(self.read_to)).map_err(UndoError::store)?;
        let mut new = Vec::new();
        (&self.file).read_to_end(&mut new).map_err(UndoError::store)?;
        let mut whole = 0;
        for line in new.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            whole += line.len();
            match serde_json::from_slice::<Line>(line) {
                Ok(line) if version_of(&line) == VERSION => self.apply(line),
                Ok(line) => return Err(UndoError::Version(version_of(&line))),
                Err(_) => self.torn += 1,
            }
        }
        self.read_to += u64::try_from(whole).unwrap_or(u64::MAX);
        Ok(())
    }

    fn apply(&mut self, line: Line) {
        self.last = self.last.max(step_of(&line));
        match line {
            Line::Begin { step, meta, changes, trees, .. } => {
                let changes = recorded(changes);
                let new = Step { number: step, meta, changes, finished: false, partly: Vec::new(), trees };
                self.steps.insert(step, new);
            }
            Line::End { step, changes, partly, .. } => {
                self.mark(step, &changes);
                if let Some(known) = self.steps.get_mut(&step) {
                    known.changes = recorded(changes);
                    known.partly = partly;
                    known.finished = true;
                }
            }
            Line::Pruned { step, .. } => {
                self.steps.remove(&step);
            }
        }
    }

    /// Marks what the finished step took back, and unmarks what is thereby in force again.
    fn mark(&mut self, by: u64, changes: &[Change]) {
        for (step, at) in changes.iter().flat_map(|change| change.undoes.iter().copied()) {
            let Some(target) = self.steps.get_mut(&step).and_then(|step| step.changes.get_mut(at)) else { continue };
            target.undone_by = Some(by);
            for (step, at) in target.change.undoes.clone() {
                if let Some(back) = self.steps.get_mut(&step).and_then(|step| step.changes.get_mut(at)) {
                    back.undone_by = None;
                }
            }
        }
    }
}

fn recorded(changes: Vec<Change>) -> Vec<Recorded> {
    changes.into_iter().map(|change| Recorded { change, undone_by: None }).collect()
}

const fn step_of(line: &Line) -> u64 {
    match line {
        Line::Begin { step, .. } | Line::End { step, .. } | Line::Pruned { step, .. } => *step,
    }
}

const fn version_of(line: &Line) -> u32 {
    match line {
        Line::Begin { v, .. } | Line::End { v, .. } | Line::Pruned { v, .. } => *v,
    }
}

fn write_line(file: &mut File, line: &Line) -> Result<(), UndoError> {
    let mut bytes = serde_json::to_vec(line).map_err(|error| UndoError::Store(error.into()))?;
    bytes.push(b'\n');
    file.write_all(&bytes).map_err(UndoError::store)
}

fn open_file(dir: &OwnedFd, name: &str, more: OFlags) -> Result<File, UndoError> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
    rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o600)).map(File::from).map_err(UndoError::store)
}
