//! Halts as rows with a generation.

use super::{append_record, natural, scrubbed};
use crate::error::StoreError;
use crate::halt::{HaltChange, HaltScope, HaltState, Raised};
use rusqlite::{Connection, Transaction, params};

/// Says which way a halt changes.
#[derive(Clone, Copy)]
pub(super) enum Change {
    Raise,
    Clear,
}

pub(super) fn change(tx: &Transaction<'_>, halt: &HaltChange, which: Change) -> Result<HaltState, StoreError> {
    let generation: i64 =
        tx.prepare_cached("SELECT coalesce(max(generation), 0) + 1 FROM halt")?.query_row([], |row| row.get(0))?;
    let key = halt.scope.key();
    let sql = "INSERT INTO halt (scope, generation, reason, raised_by, since) VALUES (?1, ?2, ?3, ?4, ?5)
        ON CONFLICT DO UPDATE SET generation = ?2, reason = ?3, raised_by = ?4, since = ?5";
    let (reason, by) = (halt.reason.value().to_string(), halt.by.value().to_string());
    let mut statement = tx.prepare_cached(sql)?;
    match which {
        Change::Raise => statement.execute(params![key, generation, reason, by, halt.record.ts])?,
        Change::Clear => statement.execute(params![key, generation, None::<&str>, None::<&str>, None::<i64>])?,
    };
    append_record(tx, &halt.record, &[])?;
    state(tx, &halt.scope)
}

pub(super) fn state(connection: &Connection, scope: &HaltScope) -> Result<HaltState, StoreError> {
    let sql = "SELECT scope, generation, reason, raised_by, since FROM halt
        WHERE scope = 'all' OR scope = ? ORDER BY scope";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([scope.key()])?;
    let mut found = HaltState { generation: 0, raised: None };
    while let Some(row) = rows.next()? {
        found.generation = found.generation.max(natural(row.get(1)?, "halt")?);
        let raised: Option<i64> = row.get(4)?;
        if let (Some(since), None) = (raised, &found.raised) {
            let text = |column: usize| row.get::<_, String>(column);
            found.raised = Some(Raised {
                scope: HaltScope::parse(&text(0)?).ok_or(StoreError::BadRow("halt"))?,
                reason: scrubbed(&text(2)?, "halt")?,
                by: scrubbed(&text(3)?, "halt")?,
                since,
            });
        }
    }
    Ok(found)
}
