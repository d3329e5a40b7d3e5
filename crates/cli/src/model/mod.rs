//! The model's side of the agent door: what is asked of a model, and what it proposes.
//!
//! Everything a model says is untrusted. This module brings it in unchanged and decides nothing.

pub(crate) mod cancel;
pub(crate) mod error;
pub(crate) mod pace;
pub(crate) mod prices;
mod remote;
pub(crate) mod script;
pub(crate) mod spec;
#[cfg(test)]
mod testing;
pub(crate) mod turn;

use std::fmt;

use secrecy::SecretString;

use error::ModelError;
use pace::Pace;
use spec::{Locality, ModelSpec};
use turn::{Delta, Reply, Turn};

/// A model that can be asked, one turn at a time.
pub(crate) trait Model: Send + fmt::Debug {
    /// The name that prices and records use, such as `openai:gpt-5.4`.
    fn name(&self) -> &str;

    /// Says where the model runs.
    fn locality(&self) -> Locality;

    /// Asks, and blocks until the whole answer is there; `sink` sees it grow.
    ///
    /// # Errors
    /// [`ModelError`], by whose fault it is. Retries have already been made; what `sink` saw is not a reply.
    fn turn(&mut self, turn: &Turn<'_>, sink: &mut dyn FnMut(Delta)) -> Result<Reply, ModelError>;
}

/// How an answer travels. Both bring the same reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// Piece by piece.
    Streamed,
    /// At once.
    Whole,
}

/// Opens the model that `spec` names. `key` is what [`ModelSpec::key_variable`] holds, if anything.
///
/// # Errors
/// [`ModelError::MissingKey`], [`ModelError::Spec`], [`ModelError::Script`] or [`ModelError::Client`].
pub(crate) fn open(
    spec: ModelSpec,
    key: Option<SecretString>,
    delivery: Delivery,
    pace: Box<dyn Pace>,
) -> Result<Box<dyn Model>, ModelError> {
    Ok(match spec {
        ModelSpec::Remote(spec) => Box::new(remote::RemoteModel::new(spec, key, delivery, pace)?),
        ModelSpec::Script(path) => Box::new(script::ScriptModel::open(&path, delivery, pace)?),
    })
}
