//! Decides: the only minter of a [`Permit`].
//!
//! [`gate`](Gate) tells the story of one call; the other rooms are what it stands on:
//! `verdict` (the answers), `permit` (the right to act, and the duty to report), `approval`,
//! `redeem` and `operator` (a human's exact yes), `budget` and `turn` (caps), `advise` (hosts that act by
//! themselves), `web` (given hosts and redirects), `memory` and `journal` (what is remembered).
#![forbid(unsafe_code)]

mod advise;
mod approval;
mod budget;
mod builder;
mod clock;
mod deed;
mod gate;
mod journal;
mod memory;
mod operator;
mod permit;
mod redeem;
mod refusal;
mod turn;
mod verdict;
mod web;

pub use approval::{Approval, ApproveError, Seat, TTL_MS, approve_stored};
pub use budget::{DEFAULT_TOOL_SECS, Nearing, Window, windows};
pub use builder::GateBuilder;
pub use clock::{Clock, Entropy, NoEntropy};
pub use deed::{Deed, EditScope, GrepPlace, JudgedScript, Named};
pub use gate::{Approver, Gate};
pub use operator::{MIN_PASSPHRASE, Operator, OperatorError, OperatorKey};
pub use permit::{Finish, Outcome, Permit, Report, Settling, Told};
pub use redeem::Elsewhere;
pub use turn::{OpenTurn, TurnCost, TurnEnd};
pub use verdict::{Advice, Denial, DenialKind, Pending, Verdict};
