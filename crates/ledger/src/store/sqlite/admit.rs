//! The one transaction before a call may run.

use super::{append_record, halts, integer, natural, run_id, scrubbed};
use crate::admission::{Admission, AdmitError, BudgetLine, Hold, Receipt, ReservationId};
use crate::approval::{AdviceError, AdviceRow, ApprovalUse, NewAdvice};
use crate::chain::Digest;
use crate::error::StoreError;
use crate::halt::HaltScope;
use crate::owner::Owner;
use crate::store::sqlite::approvals;
use rusqlite::{OptionalExtension, Transaction, params};

pub(super) fn admit(tx: &Transaction<'_>, owner: &Owner, admission: &Admission) -> Result<Receipt, AdmitError> {
    check_halt(tx, admission)?;
    let appended = append_record(tx, &admission.record, &admission.notes)?;
    if let Some(used) = &admission.approval {
        spend(tx, used, admission.record.ts, appended.seq)?;
    }
    let reservation = open_reservation(tx, owner, admission, appended.seq)?;
    for line in &admission.lines {
        reserve(tx, reservation, line)?;
    }
    if let Some(advice) = &admission.advice {
        put_advice(tx, advice, admission, reservation, appended.seq)?;
    }
    Ok(Receipt { seq: appended.seq, hash: appended.hash, reservation })
}

fn check_halt(tx: &Transaction<'_>, admission: &Admission) -> Result<(), AdmitError> {
    let state = halts::state(tx, &HaltScope::Run(admission.record.run.clone()))?;
    if let Some(raised) = state.raised {
        return Err(AdmitError::Halted(Box::new(raised)));
    }
    let (seen, now) = (admission.halt_generation, state.generation);
    if seen != now {
        return Err(AdmitError::HaltMoved { seen, now });
    }
    Ok(())
}

/// Spends the approval, or the pending call itself for a key press in the guard's own process.
fn spend(tx: &Transaction<'_>, used: &ApprovalUse, now: i64, seq: u64) -> Result<(), AdmitError> {
    let id = used.pending();
    let unknown = || AdmitError::ApprovalUnknown(id.clone());
    let pending = approvals::row(tx, id)?.ok_or_else(unknown)?;
    if pending.spent_seq.is_some() {
        return Err(AdmitError::ApprovalSpent(id.clone()));
    }
    if pending.denied.is_some() {
        return Err(AdmitError::ApprovalDenied(id.clone()));
    }
    let stored = approvals::of_pending(tx, id)?;
    let (digest, expires) = match (used, stored) {
        (ApprovalUse::Seat { .. }, _) => (pending.row.digest, pending.row.expires),
        (ApprovalUse::Stored { nonce, .. }, Some(row)) if row.nonce == *nonce => (row.digest, row.expires),
        (ApprovalUse::Stored { .. }, Some(_) | None) => return Err(unknown()),
    };
    if digest != *used.digest() || pending.row.digest != *used.digest() {
        return Err(AdmitError::ApprovalMismatch(id.clone()));
    }
    if now >= expires {
        return Err(AdmitError::ApprovalExpired(id.clone()));
    }
    approvals::mark_spent(tx, id, seq)?;
    Ok(())
}

fn open_reservation(
    tx: &Transaction<'_>,
    owner: &Owner,
    admission: &Admission,
    seq: u64,
) -> Result<ReservationId, StoreError> {
    let until = match admission.hold {
        Hold::Process => None,
        Hold::Until(at) => Some(at),
    };
    let sql = "INSERT INTO reservation (seq, run, owner, created, hold_until, state) VALUES (?, ?, ?, ?, ?, 0)";
    tx.prepare_cached(sql)?.execute(params![
        integer(seq, "seq")?,
        admission.record.run.as_str(),
        owner.key(),
        admission.record.ts,
        until
    ])?;
    Ok(ReservationId(tx.last_insert_rowid()))
}

fn reserve(tx: &Transaction<'_>, reservation: ReservationId, line: &BudgetLine) -> Result<(), AdmitError> {
    let used = used(tx, line)?;
    let amount = integer(line.amount, "amount")?;
    let total = used.checked_add(line.amount).filter(|total| i64::try_from(*total).is_ok());
    match (total, line.cap) {
        (None, None) => return Err(StoreError::TooLarge("amount").into()),
        (Some(total), Some(cap)) if total > cap => return Err(reached(line, used, cap)),
        (None, Some(cap)) => return Err(reached(line, used, cap)),
        (Some(_), Some(_) | None) => {}
    }
    let sql = "INSERT INTO budget (scope, counter, reserved, settled) VALUES (?1, ?2, ?3, 0)
        ON CONFLICT DO UPDATE SET reserved = reserved + ?3";
    tx.prepare_cached(sql)
        .and_then(|mut s| s.execute(params![line.scope, line.counter, amount]))
        .map_err(StoreError::from)?;
    let sql = "INSERT INTO reservation_line (reservation, scope, counter, amount) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT DO UPDATE SET amount = amount + ?4";
    tx.prepare_cached(sql)
        .and_then(|mut s| s.execute(params![reservation.0, line.scope, line.counter, amount]))
        .map_err(StoreError::from)?;
    Ok(())
}

fn reached(line: &BudgetLine, used: u64, cap: u64) -> AdmitError {
    let (scope, counter) = (line.scope.clone(), line.counter.clone());
    AdmitError::CapReached { scope, counter, cap, used, amount: line.amount }
}

fn used(tx: &Transaction<'_>, line: &BudgetLine) -> Result<u64, StoreError> {
    let row = tx
        .prepare_cached("SELECT reserved, settled FROM budget WHERE scope = ? AND counter = ?")?
        .query_row(params![line.scope, line.counter], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (reserved, settled) = row.unwrap_or((0, 0));
    natural(reserved, "budget")?.checked_add(natural(settled, "budget")?).ok_or(StoreError::BadRow("budget"))
}

/// Names advice by a hash, so that whatever a host calls its sessions is not stored.
fn advice_name(session: &str, tool_use_id: &str) -> Digest {
    Digest::of(format!("{}:{session}{tool_use_id}", session.len()).as_bytes())
}

fn put_advice(
    tx: &Transaction<'_>,
    advice: &NewAdvice,
    admission: &Admission,
    reservation: ReservationId,
    seq: u64,
) -> Result<(), AdmitError> {
    let name = advice_name(&advice.session, &advice.tool_use_id);
    let sql = "INSERT INTO advice (name, run, seq, reservation, row, taken) VALUES (?, ?, ?, ?, ?, 0)
        ON CONFLICT DO NOTHING";
    let run = admission.record.run.as_str();
    let values = params![name.bytes(), run, integer(seq, "seq")?, reservation.0, advice.row.value().to_string()];
    let added = tx.prepare_cached(sql).and_then(|mut s| s.execute(values)).map_err(StoreError::from)?;
    if added == 0 { Err(AdmitError::AdviceExists) } else { Ok(()) }
}

pub(super) fn take_advice(tx: &Transaction<'_>, session: &str, tool_use_id: &str) -> Result<AdviceRow, AdviceError> {
    let name = advice_name(session, tool_use_id);
    let found = tx
        .prepare_cached("SELECT run, seq, reservation, row, taken FROM advice WHERE name = ?")
        .and_then(|mut s| {
            s.query_row([name.bytes()], |row| {
                let (run, seq): (String, i64) = (row.get(0)?, row.get(1)?);
                Ok((run, seq, row.get(2)?, row.get::<_, String>(3)?, row.get::<_, bool>(4)?))
            })
            .optional()
        })
        .map_err(StoreError::from)?;
    let (run, seq, reservation, row, taken) = found.ok_or(AdviceError::Unknown)?;
    if taken {
        return Err(AdviceError::Taken);
    }
    tx.prepare_cached("UPDATE advice SET taken = 1 WHERE name = ?")
        .and_then(|mut s| s.execute([name.bytes()]))
        .map_err(StoreError::from)?;
    Ok(AdviceRow {
        run: run_id(&run, "advice")?,
        seq: natural(seq, "advice")?,
        reservation: ReservationId(reservation),
        row: scrubbed(&row, "advice")?,
    })
}
