//! A gate between a model's decision and the damage: **the model proposes, code decides.**
//!
//! The rooms are re-exported under their names; a call passes them in this order: [`call`] (words to
//! meaning), [`survey`] (look), [`policy`] (judge), [`gate`] (decide), [`act`] (act), [`ledger`]
//! (remember).
#![forbid(unsafe_code)]

pub use tollgate_act as act;
pub use tollgate_call as call;
pub use tollgate_gate as gate;
pub use tollgate_ledger as ledger;
pub use tollgate_policy as policy;
pub use tollgate_survey as survey;
