//! What is remembered of a run.

use super::{digest, integer, natural, scrubbed};
use crate::error::StoreError;
use crate::record::RunId;
use crate::run::{CallRow, DenialRow, Finish, Given, GivenKind, Labels, OutcomeClass, RunNote, RunRows, WrittenFile};
use rusqlite::{Connection, OptionalExtension, Params, Row, Transaction, params};

/// The most files, and the most addresses, that one load returns.
const MAX_ROWS: usize = 4096;

pub(super) fn note(tx: &Transaction<'_>, run: &RunId, seq: u64, notes: &[RunNote]) -> Result<(), StoreError> {
    let seq = integer(seq, "seq")?;
    for (part, note) in (0_i64..).zip(notes) {
        one(tx, run.as_str(), seq, part, note)?;
    }
    Ok(())
}

fn one(tx: &Transaction<'_>, run: &str, seq: i64, part: i64, note: &RunNote) -> Result<(), StoreError> {
    let put = |sql: &str, values: &[&dyn rusqlite::ToSql]| tx.prepare_cached(sql)?.execute(values);
    match note {
        RunNote::Called { tool, call, outcome } => put(
            "INSERT INTO run_call (run, seq, tool, call, outcome, changed) VALUES (?, ?, ?, ?, ?, 0)",
            params![run, seq, tool, call.bytes(), outcome.code()],
        ),
        RunNote::Finished(finish) => return finished(tx, run, finish),
        RunNote::Denied(denial) => put(
            "INSERT INTO run_denial (run, seq, part, intent, rule) VALUES (?, ?, ?, ?, ?)",
            params![run, seq, part, denial.intent.bytes(), denial.rule],
        ),
        RunNote::Raise(labels) => put(
            "INSERT INTO run_label (run, bits) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET bits = bits | ?2",
            params![run, labels.bits()],
        ),
        RunNote::Wrote(file) => put(
            "INSERT INTO run_file (run, path, shown, content) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET content = ?4",
            params![run, file.path.bytes(), file.shown.value().to_string(), file.content.bytes()],
        ),
        RunNote::Given(given) => put(
            "INSERT INTO run_given (run, kind, address, shown) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            params![run, kind_code(given.kind), given.address.bytes(), given.shown.value().to_string()],
        ),
        RunNote::Count { name, by } => put(
            "INSERT INTO run_counter (run, name, value) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET value = value + ?3",
            params![run, name, by],
        ),
    }?;
    Ok(())
}

fn finished(tx: &Transaction<'_>, run: &str, finish: &Finish) -> Result<(), StoreError> {
    let sql = "UPDATE run_call SET result = ?3, outcome = ?4, changed = ?5 WHERE run = ?1 AND seq = ?2";
    let result = finish.result.as_ref().map(|digest| digest.bytes().as_slice());
    let values = params![run, integer(finish.seq, "seq")?, result, finish.outcome.code(), finish.changed_state];
    let known = tx.prepare_cached(sql)?.execute(values)?;
    if known == 0 { Err(StoreError::UnknownCall(finish.seq)) } else { Ok(()) }
}

const fn kind_code(kind: GivenKind) -> i64 {
    match kind {
        GivenKind::Url => 0,
        GivenKind::Host => 1,
    }
}

pub(super) fn load(connection: &Connection, run: &RunId, limit: usize) -> Result<RunRows, StoreError> {
    let run = run.as_str();
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let bits: Option<u32> = connection
        .prepare_cached("SELECT bits FROM run_label WHERE run = ?")?
        .query_row([run], |row| row.get(0))
        .optional()?;
    let sql = "SELECT seq, tool, call, result, outcome, changed FROM run_call WHERE run = ? ORDER BY seq DESC LIMIT ?";
    let mut calls = rows(connection, sql, params![run, limit], call)?;
    calls.reverse();
    let sql = "SELECT intent, rule FROM run_denial WHERE run = ? ORDER BY seq DESC, part DESC LIMIT ?";
    let mut denials = rows(connection, sql, params![run, limit], denial)?;
    denials.reverse();
    let most = i64::try_from(MAX_ROWS).unwrap_or(i64::MAX).saturating_add(1);
    let sql = "SELECT path, shown, content FROM run_file WHERE run = ? LIMIT ?";
    let mut written = rows(connection, sql, params![run, most], written)?;
    let sql = "SELECT kind, address, shown FROM run_given WHERE run = ? LIMIT ?";
    let mut given = rows(connection, sql, params![run, most], given)?;
    let truncated = written.len() > MAX_ROWS || given.len() > MAX_ROWS;
    written.truncate(MAX_ROWS);
    given.truncate(MAX_ROWS);
    let sql = "SELECT name, value FROM run_counter WHERE run = ? ORDER BY name";
    let counters = rows(connection, sql, params![run], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let labels = Labels::from_bits(bits.unwrap_or(0));
    Ok(RunRows { calls, denials, labels, written, given, counters, truncated })
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn hash(row: &Row<'_>, column: usize, table: &'static str) -> Result<crate::Digest, StoreError> {
    digest(&row.get::<_, Vec<u8>>(column)?, table)
}

fn call(row: &Row<'_>) -> Result<CallRow, StoreError> {
    const TABLE: &str = "run_call";
    let result: Option<Vec<u8>> = row.get(3)?;
    Ok(CallRow {
        seq: natural(row.get(0)?, TABLE)?,
        tool: row.get(1)?,
        call: hash(row, 2, TABLE)?,
        result: result.map(|raw| digest(&raw, TABLE)).transpose()?,
        outcome: OutcomeClass::from_code(row.get(4)?).ok_or(StoreError::BadRow(TABLE))?,
        changed_state: row.get(5)?,
    })
}

fn denial(row: &Row<'_>) -> Result<DenialRow, StoreError> {
    Ok(DenialRow { intent: hash(row, 0, "run_denial")?, rule: row.get(1)? })
}

fn written(row: &Row<'_>) -> Result<WrittenFile, StoreError> {
    const TABLE: &str = "run_file";
    let shown = scrubbed(&row.get::<_, String>(1)?, TABLE)?;
    Ok(WrittenFile { path: hash(row, 0, TABLE)?, shown, content: hash(row, 2, TABLE)? })
}

fn given(row: &Row<'_>) -> Result<Given, StoreError> {
    const TABLE: &str = "run_given";
    let kind = match row.get::<_, i64>(0)? {
        0 => GivenKind::Url,
        1 => GivenKind::Host,
        _ => return Err(StoreError::BadRow(TABLE)),
    };
    let shown = scrubbed(&row.get::<_, String>(2)?, TABLE)?;
    Ok(Given { kind, address: hash(row, 1, TABLE)?, shown })
}
