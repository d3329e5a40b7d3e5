//! Models behind an HTTP API, through the `genai` library. Nothing outside this directory knows that library.

mod exchange;
mod fault;
mod http;
mod raw;
mod request;
mod swell;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use secrecy::{ExposeSecret, SecretString};
use tokio::runtime::Runtime;

use super::cancel::Waited;
use super::error::ModelError;
use super::pace::{self, Pace};
use super::spec::{Locality, Provider, RemoteSpec};
use super::turn::{Delta, Reply, Turn};
use super::{Delivery, Model};
use fault::Failure;

/// A model behind an HTTP API.
///
/// # Security
/// The key is shown by no `Debug` and cut out of every error text. The library buffers a body or a frame until it ends,
/// however long it grows; what bounds that is a watch on this process's own memory, see [`swell`].
pub(crate) struct RemoteModel {
    name: String,
    spec: RemoteSpec,
    key: Option<SecretString>,
    delivery: Delivery,
    pace: Box<dyn Pace>,
    client: genai::Client,
    runtime: Option<Runtime>,
}

impl RemoteModel {
    /// Makes a model of `spec`; no connection is made yet.
    ///
    /// # Errors
    /// [`ModelError::MissingKey`], [`ModelError::Spec`] if the key would travel in clear text, or
    /// [`ModelError::Client`].
    pub(crate) fn new(
        spec: RemoteSpec,
        key: Option<SecretString>,
        delivery: Delivery,
        pace: Box<dyn Pace>,
    ) -> Result<Self, ModelError> {
        match (&key, spec.provider.key_variable(), spec.locality()) {
            (Some(_), _, _) => spec.refuse_clear_text_key()?,
            (None, Some(variable), Locality::Remote) => {
                return Err(ModelError::MissingKey { provider: spec.provider.name(), variable });
            }
            (None, None, _) | (None, Some(_), Locality::Loopback) => {}
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| ModelError::Client(error.to_string()))?;
        let client = genai::Client::builder().with_reqwest(http::client(&spec)?).build();
        let client = client.map_err(|error| ModelError::Client(error.to_string()))?;
        let name = format!("{}:{}", spec.provider.name(), spec.model);
        Ok(Self { name, spec, key, delivery, pace, client, runtime: Some(runtime) })
    }

    /// Makes one try that may last as long as `left`.
    fn attempt(&self, turn: &Turn<'_>, left: Duration, sink: &mut dyn FnMut(Delta)) -> Result<Reply, Failure> {
        let Some(runtime) = &self.runtime else { return Err(ModelError::Cancelled.into()) };
        let timeout = || Failure::from(ModelError::Timeout { deadline: turn.deadline });
        let exchange = async {
            tokio::select! {
                biased;
                () = turn.cancel.cancelled() => Err(ModelError::Cancelled.into()),
                () = swell::too_much(self.delivery) => Err(ModelError::BadResponse { said: "it is longer than any model writes".into() }.into()),
                result = tokio::time::timeout(left, self.exchange(turn, sink)) => result.unwrap_or_else(|_| Err(timeout())),
            }
        };
        // The library adds up the provider's token counts unchecked; absurd ones overflow and panic there.
        let caught = catch_unwind(AssertUnwindSafe(|| runtime.block_on(exchange)));
        caught.unwrap_or_else(|_| Err(ModelError::BadResponse { said: "it crashed the parser".into() }.into()))
    }

    fn target(&self) -> ServiceTarget {
        let adapter = match self.spec.provider {
            Provider::OpenAi | Provider::Ollama => AdapterKind::OpenAI,
            Provider::Anthropic => AdapterKind::Anthropic,
        };
        // The library insists on a key; a server on this machine ignores it.
        let key = self.key.as_ref().map_or("none", |key| key.expose_secret());
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.spec.base.as_str()),
            auth: AuthData::from_single(key),
            model: ModelIden::new(adapter, self.spec.model.clone()),
        }
    }
}

impl Model for RemoteModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn locality(&self) -> Locality {
        self.spec.locality()
    }

    fn turn(&mut self, turn: &Turn<'_>, sink: &mut dyn FnMut(Delta)) -> Result<Reply, ModelError> {
        request::refuse_reserved(turn, self.spec.provider)?;
        let start = self.pace.now();
        for attempt in 1.. {
            let left = turn.deadline.saturating_sub(self.pace.now().saturating_sub(start));
            if left.is_zero() {
                break;
            }
            let trouble = match self.attempt(turn, left, sink) {
                Ok(reply) => return Ok(reply),
                Err(Failure::Final(error)) => return Err(error),
                Err(Failure::Passing(trouble)) => trouble,
            };
            let left = turn.deadline.saturating_sub(self.pace.now().saturating_sub(start));
            let wait = pace::backoff(attempt, trouble.asked, self.pace.random());
            if attempt >= pace::MAX_ATTEMPTS || wait >= left {
                return Err(trouble.into_error(attempt));
            }
            sink(Delta::Retrying { attempt, wait, because: trouble.to_string() });
            match self.pace.wait(wait, turn.cancel) {
                Waited::Elapsed => {}
                Waited::Cancelled => return Err(ModelError::Cancelled),
            }
        }
        Err(ModelError::Timeout { deadline: turn.deadline })
    }
}

impl fmt::Debug for RemoteModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteModel")
            .field("name", &self.name)
            .field("delivery", &self.delivery)
            .finish_non_exhaustive()
    }
}

impl Drop for RemoteModel {
    fn drop(&mut self) {
        // A name lookup that hangs runs on a thread of its own, and must not hold up the end.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
