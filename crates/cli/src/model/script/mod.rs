//! A scripted model: answers from a file, served over real HTTP on the loopback.
//!
//! The client side is the same as for any provider, so nothing in the path is faked but the mind at its end.

mod format;
mod gullible;
pub(super) mod http;
mod player;
mod serve;
#[cfg(test)]
mod tests;
mod wire;

use std::path::Path;

use super::error::ModelError;
use super::pace::Pace;
use super::remote::RemoteModel;
use super::spec::{Locality, ModelSpec};
use super::turn::{Delta, Reply, Turn};
use super::{Delivery, Model};
use format::Script;
pub(crate) use format::ScriptError;
use serve::Server;

/// A model that follows a script.
#[derive(Debug)]
pub(crate) struct ScriptModel {
    name: String,
    client: RemoteModel,
    _server: Server,
}

impl ScriptModel {
    /// Reads the script and starts its server, which ends with this value.
    ///
    /// # Errors
    /// [`ModelError::Script`] or [`ModelError::Client`].
    pub(crate) fn open(path: &Path, delivery: Delivery, pace: Box<dyn Pace>) -> Result<Self, ModelError> {
        Self::start(Script::read(path)?, delivery, pace)
    }

    fn start(script: Script, delivery: Delivery, pace: Box<dyn Pace>) -> Result<Self, ModelError> {
        let name = format!("script:{}", script.name);
        let server = Server::start(script).map_err(|error| ScriptError::Serve(error.to_string()))?;
        let ModelSpec::Remote(spec) = ModelSpec::parse("openai:script", Some(&server.base_url()))? else {
            return Err(ScriptError::Serve("its own address makes no sense".into()).into());
        };
        let client = RemoteModel::new(spec, Some(server.token().clone()), delivery, pace)?;
        Ok(Self { name, client, _server: server })
    }
}

impl Model for ScriptModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn locality(&self) -> Locality {
        Locality::Loopback
    }

    fn turn(&mut self, turn: &Turn<'_>, sink: &mut dyn FnMut(Delta)) -> Result<Reply, ModelError> {
        self.client.turn(turn, sink)
    }
}
