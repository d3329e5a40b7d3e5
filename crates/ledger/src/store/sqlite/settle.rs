//! What was used, and what nobody settled.

use super::{Charged, append_record, integer, natural, run_id};
use crate::admission::{Actual, BudgetRow, Overrun, ReservationId, SettleError, Settled, Settlement};
use crate::error::StoreError;
use crate::owner::Owner;
use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension, Transaction, params};

const OPEN: i64 = 0;
const SETTLED: i64 = 1;
const CHARGED: i64 = 2;

struct Line {
    scope: String,
    counter: String,
    amount: i64,
}

pub(super) fn settle(tx: &Transaction<'_>, settlement: &Settlement) -> Result<Settled, SettleError> {
    let id = settlement.reservation;
    match state(tx, id)? {
        None => return Err(SettleError::Unknown(id)),
        Some(OPEN) => {}
        Some(SETTLED) => return Err(SettleError::AlreadySettled(id)),
        Some(_charged) => return Err(SettleError::Charged(id)),
    }
    let mut overruns = Vec::new();
    for line in lines(tx, id)? {
        let actual = actual(&settlement.actual, &line)?;
        replace(tx, &line, actual)?;
        if actual > line.amount {
            let (reserved, actual) = (natural(line.amount, "budget")?, natural(actual, "budget")?);
            overruns.push(Overrun { scope: line.scope, counter: line.counter, reserved, actual });
        }
    }
    close(tx, id, SETTLED)?;
    let record = append_record(tx, &settlement.record, &settlement.notes)?;
    Ok(Settled { record, overruns })
}

/// Reads what was used of the line's counter; what is not named is charged in full.
fn actual(actual: &[Actual], line: &Line) -> Result<i64, StoreError> {
    match actual.iter().find(|a| a.counter == line.counter) {
        Some(found) => integer(found.amount, "amount"),
        None => Ok(line.amount),
    }
}

fn replace(tx: &Transaction<'_>, line: &Line, actual: i64) -> Result<(), StoreError> {
    let settled: i64 = tx
        .prepare_cached("SELECT settled FROM budget WHERE scope = ? AND counter = ?")?
        .query_row(params![line.scope, line.counter], |row| row.get(0))?;
    // A counter at its end stays there: it must not come back to zero.
    let sql = "UPDATE budget SET reserved = reserved - ?3, settled = ?4 WHERE scope = ?1 AND counter = ?2";
    let total = settled.saturating_add(actual);
    tx.prepare_cached(sql)?.execute(params![line.scope, line.counter, line.amount, total])?;
    Ok(())
}

fn state(tx: &Transaction<'_>, id: ReservationId) -> Result<Option<i64>, StoreError> {
    let mut statement = tx.prepare_cached("SELECT state FROM reservation WHERE id = ?")?;
    Ok(statement.query_row([id.0], |row| row.get(0)).optional()?)
}

fn lines(tx: &Transaction<'_>, id: ReservationId) -> Result<Vec<Line>, StoreError> {
    let mut statement =
        tx.prepare_cached("SELECT scope, counter, amount FROM reservation_line WHERE reservation = ?")?;
    let rows = statement
        .query_map([id.0], |row| Ok(Line { scope: row.get(0)?, counter: row.get(1)?, amount: row.get(2)? }))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn close(tx: &Transaction<'_>, id: ReservationId, state: i64) -> Result<(), StoreError> {
    tx.prepare_cached("UPDATE reservation SET state = ? WHERE id = ?")?.execute([state, id.0])?;
    Ok(())
}

/// Finds open reservations that nobody can settle any more.
pub(super) fn abandoned(
    connection: &Connection,
    me: &Owner,
    now: i64,
    older_than_ms: Option<i64>,
) -> Result<Vec<Charged>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id, run, seq, owner, created, hold_until FROM reservation WHERE state = 0")?;
    let mut rows = statement.query([])?;
    let (mut found, mut gone) = (Vec::new(), BTreeMap::new());
    while let Some(row) = rows.next()? {
        let (owner, created, until): (String, i64, Option<i64>) = (row.get(3)?, row.get(4)?, row.get(5)?);
        let old = older_than_ms.is_some_and(|age| now.saturating_sub(created) >= age);
        let over = match until {
            Some(until) => now >= until,
            None => *gone.entry(owner).or_insert_with_key(|owner| me.is_gone(owner)),
        };
        if old || over {
            found.push(Charged {
                reservation: ReservationId(row.get(0)?),
                run: run_id(&row.get::<_, String>(1)?, "reservation")?,
                seq: natural(row.get(2)?, "reservation")?,
            });
        }
    }
    Ok(found)
}

/// Charges in full those that are still open under the write lock.
pub(super) fn charge(tx: &Transaction<'_>, abandoned: Vec<Charged>) -> Result<Vec<Charged>, StoreError> {
    let mut charged = Vec::with_capacity(abandoned.len());
    for one in abandoned {
        if state(tx, one.reservation)? != Some(OPEN) {
            continue;
        }
        for line in lines(tx, one.reservation)? {
            replace(tx, &line, line.amount)?;
        }
        close(tx, one.reservation, CHARGED)?;
        charged.push(one);
    }
    Ok(charged)
}

pub(super) fn budgets(connection: &Connection, scope: &str) -> Result<Vec<BudgetRow>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT counter, reserved, settled FROM budget WHERE scope = ? ORDER BY counter")?;
    let mut rows = statement.query([scope])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (reserved, settled) = (natural(row.get(1)?, "budget")?, natural(row.get(2)?, "budget")?);
        found.push(BudgetRow { counter: row.get(0)?, reserved, settled });
    }
    Ok(found)
}
