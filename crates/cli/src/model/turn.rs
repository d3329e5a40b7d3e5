//! The provider-neutral words of one turn: what is asked and what comes back.

use std::time::Duration;

use super::cancel::CancelFlag;

/// One request to a model: the whole conversation so far, and how long an answer may take.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    /// The system prompt.
    pub(crate) system: String,
    /// The conversation, oldest first.
    pub(crate) messages: Vec<Message>,
    /// The tools that the model may propose; a tool left out here is unknown to it.
    pub(crate) tools: Vec<ToolSpec>,
    /// The most tokens that the answer may have; `None` leaves it to the provider. A reservation of cost needs it.
    pub(crate) max_output: Option<u32>,
    /// The time for the whole turn, retries and waits included.
    pub(crate) deadline: Duration,
    /// Stops the turn from another thread.
    pub(crate) cancel: &'a CancelFlag,
}

impl Turn<'_> {
    /// The time that a turn gets where nothing else is said.
    pub(crate) const DEFAULT_DEADLINE: Duration = Duration::from_secs(120);
}

/// One message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Message {
    /// What the person typed.
    User(String),
    /// What the model answered.
    Assistant {
        /// Its words; may be empty.
        text: String,
        /// The calls that it proposed.
        calls: Vec<ProposedCall>,
    },
    /// What became of one proposed call; a refused call has a result as well.
    ToolResult {
        /// The id of the proposed call.
        call_id: String,
        /// The tool's name.
        name: String,
        /// The text that the model gets to see.
        content: String,
        /// Whether the call failed or was refused.
        is_error: bool,
    },
}

/// A tool as the model is told about it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolSpec {
    /// The name that a call must use.
    pub(crate) name: String,
    /// What the tool does, for the model.
    pub(crate) description: String,
    /// The JSON Schema of its arguments.
    pub(crate) schema: serde_json::Value,
}

/// A call that a model proposes. It is untrusted in every part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProposedCall {
    /// The provider's id, needed for the matching result.
    pub(crate) id: String,
    /// The tool's name as the model wrote it; it may not exist.
    pub(crate) name: String,
    /// The argument text as the model sent it: maybe not JSON, maybe with duplicate keys.
    pub(crate) arguments: String,
}

/// A complete answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reply {
    /// The words.
    pub(crate) text: String,
    /// The proposed calls, in the model's order.
    pub(crate) calls: Vec<ProposedCall>,
    /// Why the model stopped.
    pub(crate) stop: Stop,
    /// The tokens used; `None` if the provider did not say, which a cost cap must not read as zero.
    pub(crate) usage: Option<Usage>,
}

/// Why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It was done.
    Finished,
    /// It wants calls performed.
    Calls,
    /// It ran out of output or context tokens; the last call may be cut in the middle.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// Something else, in the provider's words, or nothing at all.
    Other(String),
}

/// The tokens of one turn. The four kinds that cost money do not overlap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Usage {
    /// Input tokens that touched no cache.
    pub(crate) input: u64,
    /// Input tokens read from the provider's cache.
    pub(crate) cached_read: u64,
    /// Input tokens written to the provider's cache.
    pub(crate) cache_write: u64,
    /// Output tokens, reasoning included.
    pub(crate) output: u64,
    /// How many of the output tokens were reasoning.
    pub(crate) reasoning: u64,
}

impl Usage {
    /// All tokens, input and output.
    pub(crate) fn total(&self) -> u64 {
        [self.input, self.cached_read, self.cache_write, self.output]
            .iter()
            .fold(0, |sum, tokens| sum.saturating_add(*tokens))
    }
}

/// A piece of progress while a turn runs, for showing. The [`Reply`] has everything again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Delta {
    /// The next words of the answer.
    Text(String),
    /// The next words of the model's reasoning; they are not part of the reply.
    Reasoning(String),
    /// The provider refused for now, and the turn waits before it tries again.
    Retrying {
        /// Which try failed, counted from 1.
        attempt: u32,
        /// How long the turn waits.
        wait: Duration,
        /// What the provider said, in short.
        because: String,
    },
}
