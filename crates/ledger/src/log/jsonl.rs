//! `audit.jsonl`: the rows again, one line each, written after they are durable.

use crate::chain::{Digest, Envelope, MAX_LINE_BYTES};
use crate::error::StoreError;
use crate::state_dir::StateDir;
use crate::store::MirrorState;
use crate::store::sqlite::head;
use rusqlite::{Connection, OptionalExtension};
use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The file's name in the state directory.
pub(crate) const FILE: &str = "audit.jsonl";
/// How often to ask for the file while another process writes it; holding it takes microseconds,
/// and a stopped process must not stop the others.
const LOCK_TRIES: usize = 200;
/// How much of the end to read: almost always the first is enough, the last always is.
const WINDOWS: [u64; 2] = [16 * 1024, 2 * MAX_LINE_BYTES as u64];
const BATCH_BYTES: usize = 1024 * 1024;

/// Names a half-written end of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The last whole record before it; 0 when there is none.
    pub after_seq: u64,
    /// Its length.
    pub bytes: u64,
}

impl std::fmt::Display for TornTail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes of a half-written record after record {}", self.bytes, self.after_seq)
    }
}

/// Keeps the file up with the rows.
#[derive(Debug)]
pub(crate) struct Mirror {
    dir: StateDir,
    /// The length of the file when it last held everything up to this record.
    known: Option<(u64, u64)>,
    state: MirrorState,
    torn: Option<TornTail>,
}

/// Where writing goes on.
struct Tail {
    len: u64,
    seq: u64,
}

enum Trouble {
    Behind(String),
    Contradicts(String),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Behind(error.to_string())
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        StoreError::from(error).into()
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Behind(error.to_string())
    }
}

impl Mirror {
    pub(crate) const fn new(dir: StateDir) -> Self {
        Self { dir, known: None, state: MirrorState::None, torn: None }
    }

    /// Writes the rows that the file lacks. What goes wrong is kept as the state: the rows are
    /// durable, so nothing that was decided depends on it.
    pub(crate) fn catch_up(&mut self, connection: &Connection) {
        self.state = match self.try_catch_up(connection) {
            Ok(seq) => MirrorState::Current(seq),
            Err(Trouble::Behind(why)) => MirrorState::Behind(why),
            Err(Trouble::Contradicts(why)) => MirrorState::Contradicts(why),
        };
    }

    /// Moves the file out of the way, never over another.
    pub(crate) fn set_aside(&mut self, now: i64) -> std::io::Result<PathBuf> {
        let (from, to) = (self.dir.path().join(FILE), self.dir.path().join(format!("{FILE}.aside-{now}")));
        renameat_with(CWD, &from, CWD, &to, RenameFlags::NOREPLACE)?;
        self.known = None;
        Ok(to)
    }

    pub(crate) const fn state(&self) -> &MirrorState {
        &self.state
    }

    pub(crate) const fn torn_tail(&self) -> Option<&TornTail> {
        self.torn.as_ref()
    }

    fn try_catch_up(&mut self, connection: &Connection) -> Result<u64, Trouble> {
        let fd = self.dir.private_file(FILE).map_err(|e| Trouble::Behind(e.to_string()))?;
        let file = File::from(fd);
        lock(&file)?;
        let len = file.metadata()?.len();
        let tail = match self.known {
            Some((known_len, seq)) if known_len == len => Tail { len, seq },
            Some(_) | None => self.inspect(&file, len, connection)?,
        };
        let done = extend(&file, tail, connection)?;
        self.known = Some((done.len, done.seq));
        Ok(done.seq)
    }

    /// Finds the last whole line, and cuts off a half-written one behind it.
    fn inspect(&mut self, file: &File, len: u64, connection: &Connection) -> Result<Tail, Trouble> {
        let bytes = end_of(file, len)?;
        let from_start = bytes.len() as u64 == len;
        let (whole, torn) = split_after_last_line(&bytes);
        let seq = match last_line(whole, from_start) {
            Some(line) => agreed(line, connection)?,
            None if whole.is_empty() && from_start => 0,
            None => return Err(Trouble::Contradicts("its end holds no record".to_owned())),
        };
        if torn.is_empty() {
            return Ok(Tail { len, seq });
        }
        half_of_next(torn, seq, connection)?;
        let torn_bytes = torn.len() as u64;
        let len = len.saturating_sub(torn_bytes);
        file.set_len(len)?;
        self.torn = Some(TornTail { after_seq: seq, bytes: torn_bytes });
        Ok(Tail { len, seq })
    }
}

fn lock(file: &File) -> Result<(), Trouble> {
    for _ in 0..LOCK_TRIES {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(()),
            Err(rustix::io::Errno::AGAIN) => std::thread::yield_now(),
            Err(error) => return Err(std::io::Error::from(error).into()),
        }
    }
    Err(Trouble::Behind("another process is writing it".to_owned()))
}

/// Reads as much of the end as holds a whole line, if any does.
fn end_of(file: &File, len: u64) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    for window in WINDOWS {
        let window = len.min(window);
        bytes = vec![0; usize::try_from(window).unwrap_or(0)];
        file.read_exact_at(&mut bytes, len.saturating_sub(window))?;
        if last_line(split_after_last_line(&bytes).0, window == len).is_some() {
            break;
        }
    }
    Ok(bytes)
}

fn split_after_last_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |i| i + 1);
    bytes.split_at_checked(end).unwrap_or((bytes, &[]))
}

/// Reads the last line of `whole`, which ends in a line feed and may begin inside a line.
fn last_line(whole: &[u8], from_start: bool) -> Option<&[u8]> {
    let body = whole.strip_suffix(b"\n")?;
    match body.iter().rposition(|b| *b == b'\n') {
        Some(before) => body.get(before + 1..),
        None => from_start.then_some(body),
    }
}

/// Returns the line's place when the row of that place has the same hash.
fn agreed(line: &[u8], connection: &Connection) -> Result<u64, Trouble> {
    let no_record = |why| Trouble::Contradicts(format!("its last line is {why}"));
    let seq = Envelope::read(line).map_err(|e| no_record(e.to_string()))?.seq;
    match row_hash(connection, seq)? {
        Some(hash) if hash == Digest::of(line) => Ok(seq),
        Some(_) => Err(Trouble::Contradicts(format!("its record {seq} is not the row"))),
        None => Err(Trouble::Contradicts(format!("it holds record {seq}, the rows do not"))),
    }
}

fn row_hash(connection: &Connection, seq: u64) -> Result<Option<Digest>, Trouble> {
    let Ok(seq) = i64::try_from(seq) else { return Ok(None) };
    let mut statement = connection.prepare_cached("SELECT hash FROM record WHERE seq = ?")?;
    let hash: Option<Vec<u8>> = statement.query_row([seq], |row| row.get(0)).optional()?;
    Ok(hash.and_then(|raw| Digest::from_slice(&raw)))
}

/// Makes sure that `torn` is what a crash leaves: the beginning of the next line, or zeros.
fn half_of_next(torn: &[u8], seq: u64, connection: &Connection) -> Result<(), Trouble> {
    let next = i64::try_from(seq).unwrap_or(i64::MAX).saturating_add(1);
    let mut statement = connection.prepare_cached("SELECT body FROM record WHERE seq = ?")?;
    let body: Option<Vec<u8>> = statement.query_row([next], |row| row.get(0)).optional()?;
    let begun = body.is_some_and(|body| body.starts_with(torn));
    if begun || torn.iter().all(|b| *b == 0) {
        return Ok(());
    }
    Err(Trouble::Contradicts(format!("after record {seq} stands something that is not the next one")))
}

fn extend(file: &File, tail: Tail, connection: &Connection) -> Result<Tail, Trouble> {
    let rows = head(connection)?.map_or(0, |head| head.seq);
    if rows < tail.seq {
        return Err(Trouble::Contradicts(format!("it holds record {}, the rows end at {rows}", tail.seq)));
    }
    let from = i64::try_from(tail.seq).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached("SELECT seq, body FROM record WHERE seq > ? ORDER BY seq")?;
    let mut missing = statement.query([from])?;
    let mut done = tail;
    let mut batch = Vec::new();
    while let Some(row) = missing.next()? {
        batch.extend_from_slice(row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?);
        batch.push(b'\n');
        done.seq = u64::try_from(row.get::<_, i64>(0)?).unwrap_or(done.seq);
        if batch.len() >= BATCH_BYTES {
            write(file, &mut done, &mut batch)?;
        }
    }
    write(file, &mut done, &mut batch)?;
    Ok(done)
}

fn write(file: &File, tail: &mut Tail, batch: &mut Vec<u8>) -> Result<(), Trouble> {
    file.write_all_at(batch, tail.len)?;
    tail.len = tail.len.saturating_add(batch.len() as u64);
    batch.clear();
    Ok(())
}
