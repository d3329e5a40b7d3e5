//! Whether the log is what was written.

use super::jsonl::FILE;
use super::lines::{Line, Lines};
use super::{LogError, TornTail};
use crate::admission::Appended;
use crate::chain::{BadLine, Digest, Envelope};
use crate::error::StoreError;
use crate::record::StoredRecord;
use crate::state_dir::StateDir;
use crate::store::sqlite::{DATABASE, connect};
use rusqlite::{OpenFlags, Row};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::time::Duration;

/// Says where something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The rows of the database, which decide.
    Rows,
    /// The JSON Lines file, which is derived.
    File,
}

/// Names the first record that is not what was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq}: {why}")]
pub struct Bad {
    /// Where it was found.
    pub found_in: Source,
    /// The place in the chain where it stands.
    pub seq: u64,
    /// What is wrong.
    pub why: Why,
}

/// Says what is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It cannot be read.
    #[error("{0}")]
    Shape(#[from] BadLine),
    /// It names another place in the chain than where it stands.
    #[error("it says it is record {0}")]
    Seq(u64),
    /// It does not continue the record before it.
    #[error("it does not continue the record before it, one of the two was changed")]
    Prev,
    /// Its bytes do not have the hash that was stored with it.
    #[error("its bytes were changed")]
    Hash,
    /// The columns beside its bytes say something else.
    #[error("the columns beside it say something else")]
    Columns,
    /// It is the last one and its payload is not canonical JSON.
    #[error("its payload is not canonical JSON")]
    Payload,
    /// The database is damaged here.
    #[error("{0}")]
    Damaged(String),
    /// It is the last one and not the head that was expected.
    #[error("it is the last one, and not the head that was expected")]
    Head,
}

/// Names how the file and the rows differ.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// The file ends early: a crash, or a cut. The rows hold everything, opening the store repairs it.
    #[error("the file ends at record {file}, the rows at {rows}")]
    FileBehind {
        /// The last record of the file.
        file: u64,
        /// The last record of the rows.
        rows: u64,
    },
    /// The file holds more: rows were cut off.
    #[error("the file holds {more} lines after record {rows}, where the rows end")]
    FileAhead {
        /// The last record of the rows.
        rows: u64,
        /// How many lines follow.
        more: u64,
    },
    /// The file's line is not the row.
    #[error("the file's record {seq} is not the row")]
    Differs {
        /// Which record.
        seq: u64,
    },
}

/// Records that the file may lack after a crash: several processes may each have one under way.
const MAX_LAG: u64 = 64;

/// Tells what verifying found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How many records hold, from the first on.
    pub records: u64,
    /// The last of them.
    pub head: Option<Appended>,
    /// The half-written end of the file.
    pub torn_tail: Option<TornTail>,
    /// The first record that does not hold.
    pub first_bad: Option<Bad>,
    /// How the file and the rows differ.
    pub disagreement: Option<Disagreement>,
}

impl Report {
    /// Tells whether nothing speaks against the log. A torn tail and a file that lags a little are notes:
    /// they are what a crash leaves. A file that lags far behind was cut, or could not be written for long.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        let agrees = match self.disagreement {
            None => true,
            Some(Disagreement::FileBehind { file, rows }) => rows.saturating_sub(file) <= MAX_LAG,
            Some(_) => false,
        };
        self.first_bad.is_none() && agrees
    }
}

/// Verifies the rows of the ledger in `dir`, and its JSON Lines file against them.
///
/// Reads without changing anything; memory does not grow with the log.
///
/// # Errors
/// [`LogError`] when it cannot be read at all; damage that was found is in the report.
/// # Security
/// Finds changed bytes, records taken out, put in or swapped, and a file that differs. Does not find
/// a log whose end was cut, or that was rewritten from some record on, in the rows and the file alike:
/// that takes a checkpoint kept elsewhere.
pub fn verify(dir: &StateDir) -> Result<Report, LogError> {
    let path = dir.path().join(DATABASE);
    if !path.is_file() {
        return Err(LogError::Missing(dir.path().to_owned()));
    }
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY, Duration::from_secs(5))?;
    let mut statement = connection.prepare("SELECT seq, hash, ts, run, event, body FROM record ORDER BY seq")?;
    let mut rows = statement.query([])?;
    let mut chain = Chain::new(Source::Rows);
    let mut file = Beside::open(&dir.path().join(FILE))?;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => break,
            Err(error) => {
                chain.stop(damage(error.into())?);
                break;
            }
        };
        let body = blob(row, 5)?;
        if let Err(why) = checked(row, body, &mut chain) {
            chain.stop(why);
            break;
        }
        file.compare(body, chain.records)?;
    }
    file.finish(chain)
}

/// Verifies a JSON Lines file by itself.
///
/// # Errors
/// [`LogError`] when it cannot be read at all.
/// # Security
/// The bytes of the last record are vouched for by nothing in the file: name `head`, the hash that a
/// checkpoint or the rows give for it.
pub fn verify_file(path: &Path, head: Option<Digest>) -> Result<Report, LogError> {
    let io_error = |source| LogError::Io { path: path.to_owned(), source };
    let mut lines = Lines::new(BufReader::with_capacity(1 << 16, regular(path).map_err(io_error)?));
    let mut chain = Chain::new(Source::File);
    let mut torn_tail = None;
    let mut last = Vec::new();
    while let Some(line) = lines.next().map_err(io_error)? {
        let linked = match line {
            Line::Whole(bytes) => {
                last.clear();
                last.extend_from_slice(bytes);
                chain.link(bytes, Digest::of(bytes)).map(|_| ())
            }
            Line::TooLong => Err(BadLine::TooLong.into()),
            Line::Torn(bytes) => {
                torn_tail = Some(TornTail { after_seq: chain.records, bytes: bytes.len() as u64 });
                Ok(())
            }
        };
        if let Err(why) = linked {
            chain.stop(why);
            break;
        }
    }
    if chain.bad.is_none() && chain.records > 0 {
        chain.check_last(&last, head);
    }
    Ok(Report { torn_tail, ..chain.report() })
}

/// Follows the chain from record to record.
struct Chain {
    found_in: Source,
    records: u64,
    prev: Digest,
    bad: Option<Bad>,
}

impl Chain {
    const fn new(found_in: Source) -> Self {
        Self { found_in, records: 0, prev: Digest::GENESIS, bad: None }
    }

    fn link<'a>(&mut self, line: &'a [u8], hash: Digest) -> Result<Envelope<'a>, Why> {
        let envelope = Envelope::read(line)?;
        if envelope.seq != self.records.saturating_add(1) {
            return Err(Why::Seq(envelope.seq));
        }
        if envelope.prev != self.prev {
            return Err(Why::Prev);
        }
        self.records = envelope.seq;
        self.prev = hash;
        Ok(envelope)
    }

    fn stop(&mut self, why: Why) {
        let seq = self.records.saturating_add(1);
        self.bad.get_or_insert(Bad { found_in: self.found_in, seq, why });
    }

    /// Checks the last line of a file, which no later line vouches for.
    fn check_last(&mut self, line: &[u8], head: Option<Digest>) {
        let (seq, found_in) = (self.records, self.found_in);
        let bad = |why| Some(Bad { found_in, seq, why });
        if head.is_some_and(|head| head != self.prev) {
            self.bad = bad(Why::Head);
        } else if !is_canonical(line) {
            self.bad = bad(Why::Payload);
        }
    }

    fn report(self) -> Report {
        let head = (self.records > 0).then_some(Appended { seq: self.records, hash: self.prev });
        Report { records: self.records, head, first_bad: self.bad, ..Report::default() }
    }
}

fn is_canonical(line: &[u8]) -> bool {
    StoredRecord::parse(line).is_some()
        && serde_json::from_slice::<serde_json::Value>(line)
            .ok()
            .and_then(|value| serde_json_canonicalizer::to_vec(&value).ok())
            .is_some_and(|canonical| canonical == line)
}

/// Keeps damage as a finding; anything else ends the reading.
fn damage(error: StoreError) -> Result<Why, LogError> {
    if let StoreError::Corrupt(text) = error {
        return Ok(Why::Damaged(text));
    }
    Err(error.into())
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], LogError> {
    Ok(row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?)
}

/// Checks one row: its bytes, its link, and the columns that queries go by.
fn checked(row: &Row<'_>, body: &[u8], chain: &mut Chain) -> Result<(), Why> {
    let damaged = |error: rusqlite::Error| Why::Damaged(error.to_string());
    let (seq, ts): (i64, i64) = (row.get(0).map_err(damaged)?, row.get(2).map_err(damaged)?);
    let column = |index| row.get_ref(index).ok().and_then(|value| value.as_bytes().ok());
    let hash = Digest::of(body);
    if column(1) != Some(hash.bytes()) {
        return Err(Why::Hash);
    }
    let before = chain.records;
    let envelope = chain.link(body, hash)?;
    let same = u64::try_from(seq) == Ok(envelope.seq)
        && ts == envelope.ts
        && column(3) == Some(envelope.run.as_bytes())
        && column(4) == Some(envelope.event.as_bytes());
    if !same {
        chain.records = before;
        return Err(Why::Columns);
    }
    Ok(())
}

/// Follows the file beside the rows.
struct Beside {
    lines: Option<Lines<BufReader<File>>>,
    /// The last record on which both agreed.
    agreed: u64,
    torn: Option<TornTail>,
    disagreement: Option<Disagreement>,
    path: std::path::PathBuf,
}

/// Opens a regular file; a pipe is refused, not waited for.
fn regular(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let file = File::from(open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a regular file")) }
}

impl Beside {
    fn open(path: &Path) -> Result<Self, LogError> {
        let lines = match regular(path) {
            Ok(file) => Some(Lines::new(BufReader::with_capacity(1 << 16, file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(LogError::Io { path: path.to_owned(), source }),
        };
        Ok(Self { lines, agreed: 0, torn: None, disagreement: None, path: path.to_owned() })
    }

    fn compare(&mut self, body: &[u8], seq: u64) -> Result<(), LogError> {
        let Some(lines) = &mut self.lines else { return Ok(()) };
        let line = lines.next().map_err(|source| LogError::Io { path: self.path.clone(), source })?;
        match line {
            Some(Line::Whole(line)) if line == body => {
                self.agreed = seq;
                return Ok(());
            }
            Some(Line::Torn(torn)) if body.starts_with(torn) || torn.iter().all(|b| *b == 0) => {
                self.torn = Some(TornTail { after_seq: self.agreed, bytes: torn.len() as u64 });
            }
            Some(Line::Whole(_) | Line::Torn(_) | Line::TooLong) => {
                self.disagreement = Some(Disagreement::Differs { seq });
            }
            None => {}
        }
        self.lines = None;
        Ok(())
    }

    /// Adds what the file says to what the rows say.
    fn finish(mut self, chain: Chain) -> Result<Report, LogError> {
        let rows = chain.records;
        if let Some(mut lines) = self.lines.take()
            && chain.bad.is_none()
        {
            let more = lines.count_rest().map_err(|source| LogError::Io { path: self.path, source })?;
            if more > 0 {
                self.disagreement = Some(Disagreement::FileAhead { rows, more });
            }
        }
        if self.disagreement.is_none() && self.agreed < rows {
            self.disagreement = Some(Disagreement::FileBehind { file: self.agreed, rows });
        }
        Ok(Report { torn_tail: self.torn, disagreement: self.disagreement, ..chain.report() })
    }
}
