//! Caps of the policy as lines of the ledger.

use std::time::Duration;

use tollgate_call::{Call, Tool};
use tollgate_ledger::{Actual, AdmitError, BudgetLine, BudgetRow};
use tollgate_policy::{Policy, WindowCaps};

use crate::gate::Gate;
use crate::refusal::unreachable_ledger;
use crate::turn::TurnCost;
use crate::verdict::Denial;

/// Seconds that a command is given when the call does not ask.
pub const DEFAULT_TOOL_SECS: u64 = 120;

/// Where the budgets of a run stand in the ledger.
pub(crate) fn scope(run: &str) -> String {
    format!("run:{run}")
}

/// Checks the lines of one scope against how it stands.
pub(crate) fn fits(lines: &[BudgetLine], of: &str, rows: &[BudgetRow]) -> Result<(), AdmitError> {
    for BudgetLine { scope, counter, amount, cap } in lines.iter().filter(|line| line.scope == of).cloned() {
        let row = rows.iter().find(|row| row.counter == counter);
        let used = row.map_or(0, |row| row.reserved.saturating_add(row.settled));
        if let Some(cap) = cap.filter(|cap| used.saturating_add(amount) > *cap) {
            return Err(AdmitError::CapReached { scope, counter, cap, used, amount });
        }
    }
    Ok(())
}

/// What one call reserves, in the run and in the hour and day around it: itself, its tool, the command it starts, and
/// the seconds it may take.
pub(crate) fn lines(policy: &Policy, run: &str, call: &Call, now_ms: i64) -> Vec<BudgetLine> {
    let caps = &policy.settings().caps;
    let run = scope(run);
    let tool = call.name();
    let spawns = u64::from(matches!(call.tool(), Tool::RunBash { .. }));
    let mut lines = vec![
        line(&run, "calls", 1, Some(caps.tool_calls)),
        line(&run, &format!("calls:{tool}"), 1, caps.per_tool.get(tool).copied()),
        line(&run, "seconds", timeout_secs(call.tool()), None),
        line(&run, "spawns", spawns, None),
    ];
    lines.extend(windows(now_ms).map(|window| line(&window.scope, "calls", 1, window.caps(policy).tool_calls)));
    lines
}

/// What one model turn reserves.
pub(crate) fn turn_lines(policy: &Policy, run: &str, message: u64, cost: TurnCost, now_ms: i64) -> Vec<BudgetLine> {
    let caps = &policy.settings().caps;
    let run = scope(run);
    let mut lines = vec![
        line(&format!("{run}:message:{message}"), "turns", 1, Some(caps.turns)),
        line(&run, "turns", 1, None),
        line(&run, "tokens", cost.tokens, caps.tokens),
        line(&run, "microusd", cost.microusd, Some(caps.cost_microusd)),
    ];
    for window in windows(now_ms) {
        let caps = window.caps(policy);
        lines.push(line(&window.scope, "tokens", cost.tokens, caps.tokens));
        lines.push(line(&window.scope, "microusd", cost.microusd, caps.cost_microusd));
    }
    lines
}

fn line(scope: &str, counter: &str, amount: u64, cap: Option<u64>) -> BudgetLine {
    BudgetLine { scope: scope.to_owned(), counter: counter.to_owned(), amount, cap }
}

/// A stretch of UTC over which all runs of a user count together.
///
/// Windows are fixed, so that what is used up and when it ends is plain to see: around the turn of an hour, twice the
/// cap may be used within minutes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Where it stands in the ledger.
    pub scope: String,
    /// When it ends, milliseconds since the epoch.
    pub ends_ms: i64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Hour,
    Day,
}

impl Window {
    /// The caps of this window.
    pub fn caps<'a>(&self, policy: &'a Policy) -> &'a WindowCaps {
        let caps = &policy.settings().caps;
        match self.kind {
            Kind::Hour => &caps.hour,
            Kind::Day => &caps.day,
        }
    }
}

/// The hour and the day around a time, in milliseconds since the epoch.
pub fn windows(now_ms: i64) -> impl Iterator<Item = Window> {
    const HOUR_MS: i64 = 3_600_000;
    let kinds = [(Kind::Hour, "hour", HOUR_MS), (Kind::Day, "day", 24 * HOUR_MS)];
    kinds.into_iter().map(move |(kind, name, length)| {
        let number = now_ms.div_euclid(length);
        let ends_ms = number.saturating_add(1).saturating_mul(length);
        Window { scope: format!("user:{name}:{number}"), ends_ms, kind }
    })
}

/// A cap that is mostly used up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearing {
    /// `run:ID`, `user:hour:N`, `user:day:N`.
    pub scope: String,
    /// `calls`, `tokens`, `microusd`.
    pub counter: String,
    /// Used or reserved.
    pub used: u64,
    /// The cap.
    pub cap: u64,
}

impl std::fmt::Display for Nearing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = match self.scope.split(':').nth(1) {
            Some("hour") => "this hour",
            Some("day") => "this day",
            Some(_) | None => "this run",
        };
        write!(f, "{} of the {} `{}` of {of} are used", self.used, self.cap, self.counter)
    }
}

impl Gate {
    /// Caps of which four fifths are used by now; nothing stops because of them. Ask once for each user message or
    /// turn: who was told of a cap before is told again.
    ///
    /// # Errors
    /// A [`Denial`] when the ledger cannot be read.
    pub fn nearing(&self) -> Result<Vec<Nearing>, Denial> {
        let caps = &self.policy.settings().caps;
        let run = scope(self.run.as_str());
        let run_caps =
            [("calls", Some(caps.tool_calls)), ("tokens", caps.tokens), ("microusd", Some(caps.cost_microusd))];
        let mut wanted = vec![(run, run_caps)];
        wanted.extend(windows(self.clock.now_ms()).map(|window| {
            let caps = window.caps(&self.policy);
            let caps = [("calls", caps.tool_calls), ("tokens", caps.tokens), ("microusd", caps.cost_microusd)];
            (window.scope, caps)
        }));
        let mut near = Vec::new();
        for (of, caps) in wanted.into_iter().filter(|(_, caps)| caps.iter().any(|(_, cap)| cap.is_some())) {
            for row in self.store.budgets(&of).map_err(|error| unreachable_ledger(&error))? {
                let cap = caps.iter().find(|(counter, _)| *counter == row.counter).and_then(|(_, cap)| *cap);
                let used = row.reserved.saturating_add(row.settled);
                if let Some(cap) = cap.filter(|cap| *cap > 0 && is_near(used, *cap)) {
                    near.push(Nearing { scope: of.clone(), counter: row.counter, used, cap });
                }
            }
        }
        Ok(near)
    }
}

/// Whether four fifths of a cap are used.
const fn is_near(used: u64, cap: u64) -> bool {
    used >= cap - cap / 5
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
        "spawns" => "budget.calls",
        _ => "budget.calls",
    }
}
