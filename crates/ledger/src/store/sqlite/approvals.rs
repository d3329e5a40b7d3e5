//! Pending calls and their answers.

use super::{digest, integer, natural, run_id, scrubbed};
use crate::approval::{ApprovalError, ApprovalKey, ApprovalRow, PendingId, PendingRow, PendingState};
use crate::error::StoreError;
use crate::scrub::Scrubbed;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

const COLUMNS: &str = "id, run, digest, rendered, created, expires, denied, spent_seq";

/// Holds one row of the table.
pub(super) struct Pending {
    pub(super) row: PendingRow,
    pub(super) denied: Option<Scrubbed>,
    pub(super) spent_seq: Option<u64>,
}

pub(super) fn put_pending(tx: &Transaction<'_>, row: &PendingRow) -> Result<(), ApprovalError> {
    let sql = "INSERT INTO pending (id, run, digest, rendered, created, expires) VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING";
    let rendered = row.rendered.value().to_string();
    let values = params![row.id.as_str(), row.run.as_str(), row.digest.bytes(), rendered, row.created, row.expires];
    let added = tx.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(StoreError::from)?;
    if added == 0 { Err(ApprovalError::Exists(row.id.clone())) } else { Ok(()) }
}

pub(super) fn put_approval(tx: &Transaction<'_>, row: &ApprovalRow, now: i64) -> Result<(), ApprovalError> {
    let id = &row.pending;
    let pending = answerable(tx, id, now)?;
    if of_pending(tx, id)?.is_some() {
        return Err(ApprovalError::Answered(id.clone()));
    }
    if pending.digest != row.digest {
        return Err(ApprovalError::Mismatch(id.clone()));
    }
    if now >= row.expires {
        return Err(ApprovalError::Expired(id.clone()));
    }
    let sql = "INSERT INTO approval (nonce, pending, digest, expires, signature) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO NOTHING";
    let values = params![row.nonce, id.as_str(), row.digest.bytes(), row.expires, row.signature];
    let added = tx.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(StoreError::from)?;
    if added == 0 { Err(ApprovalError::NonceUsed(id.clone())) } else { Ok(()) }
}

/// Denies, even when an approval is stored but not yet spent: the last no wins.
pub(super) fn put_denial(
    tx: &Transaction<'_>,
    id: &PendingId,
    reason: &Scrubbed,
    now: i64,
) -> Result<(), ApprovalError> {
    answerable(tx, id, now)?;
    tx.prepare_cached("UPDATE pending SET denied = ? WHERE id = ?")
        .and_then(|mut s| s.execute(params![reason.value().to_string(), id.as_str()]))
        .map_err(StoreError::from)?;
    Ok(())
}

fn answerable(tx: &Transaction<'_>, id: &PendingId, now: i64) -> Result<PendingRow, ApprovalError> {
    let pending = row(tx, id)?.ok_or_else(|| ApprovalError::Unknown(id.clone()))?;
    if pending.denied.is_some() || pending.spent_seq.is_some() {
        return Err(ApprovalError::Answered(id.clone()));
    }
    if now >= pending.row.expires {
        return Err(ApprovalError::Expired(id.clone()));
    }
    Ok(pending.row)
}

pub(super) fn mark_spent(tx: &Transaction<'_>, id: &PendingId, seq: u64) -> Result<(), StoreError> {
    tx.prepare_cached("UPDATE pending SET spent_seq = ? WHERE id = ?")?
        .execute(params![integer(seq, "seq")?, id.as_str()])?;
    Ok(())
}

pub(super) fn row(connection: &Connection, id: &PendingId) -> Result<Option<Pending>, StoreError> {
    let mut statement = connection.prepare_cached(&format!("SELECT {COLUMNS} FROM pending WHERE id = ?"))?;
    let mut rows = statement.query([id.as_str()])?;
    rows.next()?.map(read).transpose()
}

fn read(row: &Row<'_>) -> Result<Pending, StoreError> {
    const TABLE: &str = "pending";
    let text = |column: usize| row.get::<_, String>(column);
    let denied: Option<String> = row.get(6)?;
    let spent: Option<i64> = row.get(7)?;
    Ok(Pending {
        row: PendingRow {
            id: PendingId::parse(&text(0)?).ok_or(StoreError::BadRow(TABLE))?,
            run: run_id(&text(1)?, TABLE)?,
            digest: digest(&row.get::<_, Vec<u8>>(2)?, TABLE)?,
            rendered: scrubbed(&text(3)?, TABLE)?,
            created: row.get(4)?,
            expires: row.get(5)?,
        },
        denied: denied.map(|reason| scrubbed(&reason, TABLE)).transpose()?,
        spent_seq: spent.map(|seq| natural(seq, TABLE)).transpose()?,
    })
}

pub(super) fn list(connection: &Connection, now: i64) -> Result<Vec<PendingRow>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {COLUMNS} FROM pending WHERE denied IS NULL AND spent_seq IS NULL AND expires > ?
         AND NOT EXISTS (SELECT 1 FROM approval WHERE approval.pending = pending.id) ORDER BY created, id"
    ))?;
    let mut rows = statement.query([now])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?.row);
    }
    Ok(found)
}

pub(super) fn pending(
    connection: &Connection,
    id: &PendingId,
    now: i64,
) -> Result<Option<(PendingRow, PendingState)>, StoreError> {
    let Some(pending) = row(connection, id)? else { return Ok(None) };
    let approval = of_pending(connection, id)?;
    let state = match (pending.spent_seq, pending.denied, approval) {
        (Some(seq), _, _) => PendingState::Spent(seq),
        (None, Some(reason), _) => PendingState::Denied(reason),
        (None, None, Some(approval)) if now < approval.expires => PendingState::Approved,
        (None, None, None) if now < pending.row.expires => PendingState::Open,
        (None, None, Some(_) | None) => PendingState::Expired,
    };
    Ok(Some((pending.row, state)))
}

pub(super) fn of_pending(connection: &Connection, id: &PendingId) -> Result<Option<ApprovalRow>, StoreError> {
    let sql = "SELECT nonce, digest, expires, signature FROM approval WHERE pending = ?";
    let found = connection
        .prepare_cached(sql)?
        .query_row([id.as_str()], |row| {
            let (nonce, raw): (Vec<u8>, Vec<u8>) = (row.get(0)?, row.get(1)?);
            Ok((nonce, raw, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((nonce, raw, expires, signature)) = found else { return Ok(None) };
    Ok(Some(ApprovalRow { pending: id.clone(), digest: digest(&raw, "approval")?, nonce, expires, signature }))
}

/// Finds the newest approval under `key` that can still be spent.
pub(super) fn find(connection: &Connection, key: &ApprovalKey, now: i64) -> Result<Option<ApprovalRow>, StoreError> {
    let id = match key {
        ApprovalKey::Pending(id) => Some(id.clone()),
        ApprovalKey::Digest(run, digest) => {
            let sql = "SELECT pending.id FROM pending JOIN approval ON approval.pending = pending.id
                WHERE run = ? AND pending.digest = ? AND denied IS NULL AND spent_seq IS NULL
                AND approval.expires > ? ORDER BY created DESC LIMIT 1";
            connection
                .prepare_cached(sql)?
                .query_row(params![run.as_str(), digest.bytes(), now], |row| row.get::<_, String>(0))
                .optional()?
                .map(|id| PendingId::parse(&id).ok_or(StoreError::BadRow("pending")))
                .transpose()?
        }
    };
    let Some(id) = id else { return Ok(None) };
    match pending(connection, &id, now)? {
        Some((_, PendingState::Approved)) => of_pending(connection, &id),
        Some(_) | None => Ok(None),
    }
}
