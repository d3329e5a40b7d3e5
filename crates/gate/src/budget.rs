//! Caps of the policy as lines of the ledger.

use std::time::Duration;

use tollgate_call::{Call, Tool};
use tollgate_ledger::{Actual, AdmitError, BudgetLine, BudgetRow};
use tollgate_policy::Policy;

use crate::verdict::Denial;

/// Seconds that a command is given when the call does not ask.
pub const DEFAULT_TOOL_SECS: u64 = 120;

/// Where the budgets of a run stand in the ledger.
pub(crate) fn scope(run: &str) -> String {
    format!("run:{run}")
}

/// Checks lines against how their scope stands.
pub(crate) fn fits(lines: Vec<BudgetLine>, rows: &[BudgetRow]) -> Result<(), AdmitError> {
    for BudgetLine { scope, counter, amount, cap } in lines {
        let row = rows.iter().find(|row| row.counter == counter);
        let used = row.map_or(0, |row| row.reserved.saturating_add(row.settled));
        if let Some(cap) = cap.filter(|cap| used.saturating_add(amount) > *cap) {
            return Err(AdmitError::CapReached { scope, counter, cap, used, amount });
        }
    }
    Ok(())
}

/// What one call reserves: itself, its tool, and the seconds it may take.
pub(crate) fn lines(policy: &Policy, run: &str, call: &Call) -> Vec<BudgetLine> {
    let caps = &policy.settings().caps;
    let scope = scope(run);
    let line =
        |counter: String, amount: u64, cap: Option<u64>| BudgetLine { scope: scope.clone(), counter, amount, cap };
    let tool = call.name();
    vec![
        line("calls".to_owned(), 1, Some(caps.tool_calls)),
        line(format!("calls:{tool}"), 1, caps.per_tool.get(tool).copied()),
        line("seconds".to_owned(), timeout_secs(call.tool()), None),
    ]
}

/// Seconds that a call may take.
pub(crate) const fn timeout_secs(tool: &Tool) -> u64 {
    if let Tool::RunBash { timeout_secs: Some(secs), .. } = tool { *secs } else { DEFAULT_TOOL_SECS }
}

/// Whole seconds, rounded up, as the ledger charges them.
pub(crate) fn seconds(elapsed_ms: i64) -> Actual {
    let ms = u64::try_from(elapsed_ms).unwrap_or_default();
    Actual { counter: "seconds".to_owned(), amount: ms.div_ceil(1000) }
}

/// What is left of the run's wall clock.
pub(crate) fn time_left(policy: &Policy, started_ms: i64, now_ms: i64) -> Duration {
    let cap = Duration::from_secs(policy.settings().caps.wall_secs);
    let used = u64::try_from(now_ms.saturating_sub(started_ms)).unwrap_or_default();
    cap.saturating_sub(Duration::from_millis(used))
}

/// Refuses once the run's wall clock has run out.
pub(crate) fn time(policy: &Policy, started_ms: i64, now_ms: i64) -> Result<(), Denial> {
    let cap = policy.settings().caps.wall_secs;
    if !time_left(policy, started_ms, now_ms).is_zero() {
        return Ok(());
    }
    Err(Denial::new(
        "budget.time",
        format!("the run's {cap} seconds are used up"),
        Some("stop now and summarise what was done"),
    ))
}

/// The rule of a cap on this counter.
pub(crate) fn rule(counter: &str) -> &'static str {
    match counter.split(':').next().unwrap_or(counter) {
        "calls" if counter != "calls" => "budget.tool",
        "turns" => "budget.turns",
        "tokens" => "budget.tokens",
        "microusd" => "budget.cost",
        "seconds" => "budget.time",
        _ => "budget.calls",
    }
}
