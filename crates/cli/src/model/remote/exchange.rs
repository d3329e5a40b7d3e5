//! One request and its answer, streamed or whole.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_core::Stream;
use genai::chat::{ChatOptions, ChatStream, ChatStreamEvent, ReasoningEffort, StopReason, StreamEnd};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::RemoteModel;
use super::fault::Failure;
use super::raw::{self, RawCalls};
use super::request::request;
use crate::model::Delivery;
use crate::model::error::ModelError;
use crate::model::spec::Provider;
use crate::model::turn::{Delta, ProposedCall, Reply, Stop, Turn, Usage};

/// More text than this in one answer is nonsense.
const MAX_TEXT_BYTES: usize = 8 << 20;

impl RemoteModel {
    pub(super) async fn exchange(&self, turn: &Turn<'_>, sink: &mut dyn FnMut(Delta)) -> Result<Reply, Failure> {
        let reply = match self.delivery {
            Delivery::Streamed => self.streamed(turn, sink).await?,
            Delivery::Whole => self.whole(turn).await?,
        };
        let nothing = reply.text.is_empty() && reply.calls.is_empty() && reply.stop == Stop::Other(String::new());
        if nothing { Err(bad("it is empty")) } else { Ok(reply) }
    }

    async fn streamed(&self, turn: &Turn<'_>, sink: &mut dyn FnMut(Delta)) -> Result<Reply, Failure> {
        let provider = self.spec.provider;
        let calls = Arc::new(Mutex::new(RawCalls::default()));
        let tap = Arc::clone(&calls);
        // The library's own capture of calls is off: it trusts an index from the wire with the size of a vector.
        let options = options(turn, provider).with_capture_usage(true).with_raw_frame_fn(move |_, frame| {
            tap.lock().unwrap_or_else(PoisonError::into_inner).frame(provider, frame.data);
        });
        let answer = self.client.exec_chat_stream(self.target(), request(turn, provider), Some(&options)).await;
        let stream = answer.map_err(|error| self.failure(&error))?.stream;
        let (text, end) = self.read(stream, sink).await?;
        let calls = std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner)).finish().map_err(bad)?;
        let usage = end.captured_usage.as_ref().and_then(usage);
        Ok(reply(turn, text, calls, stop(end.captured_stop_reason), usage))
    }

    /// Reads to the end mark. A stream that stops without one is broken: what is missing could be anything.
    async fn read(&self, mut stream: ChatStream, sink: &mut dyn FnMut(Delta)) -> Result<(String, StreamEnd), Failure> {
        let mut text = String::new();
        loop {
            let event = std::future::poll_fn(|context| Pin::new(&mut stream).poll_next(context)).await;
            match event {
                Some(Ok(ChatStreamEvent::Chunk(chunk))) => {
                    text.push_str(&chunk.content);
                    sink(Delta::Text(chunk.content));
                }
                Some(Ok(ChatStreamEvent::ReasoningChunk(chunk))) => sink(Delta::Reasoning(chunk.content)),
                Some(Ok(ChatStreamEvent::End(end))) => return Ok((text, end)),
                Some(Ok(
                    ChatStreamEvent::Start
                    | ChatStreamEvent::Heartbeat
                    | ChatStreamEvent::ThoughtSignatureChunk(_)
                    | ChatStreamEvent::ToolCallChunk(_),
                )) => {}
                Some(Err(error)) => return Err(self.failure(&error)),
                None => return Err(ModelError::BrokenStream { said: "it has no end mark".into() }.into()),
            }
            if text.len() > MAX_TEXT_BYTES {
                return Err(bad("it is longer than any model writes"));
            }
        }
    }

    async fn whole(&self, turn: &Turn<'_>) -> Result<Reply, Failure> {
        let provider = self.spec.provider;
        let options = options(turn, provider).with_capture_raw_body(true);
        let answer = self.client.exec_chat(self.target(), request(turn, provider), Some(&options)).await;
        let answer = match answer {
            Ok(answer) => answer,
            // The library gives up on arguments that are no JSON; judging them is the gate's business.
            Err(genai::Error::ChatResponseGeneration { response_body, .. }) if has_calls(&response_body) => {
                return self.reply_without_library(turn, &response_body);
            }
            Err(error) => return Err(self.failure(&error)),
        };
        let body = answer.captured_raw_body.as_ref().unwrap_or(&Value::Null);
        let calls = raw::from_body(provider, body).map_err(bad)?;
        let text = answer.content.joined_texts().unwrap_or_default();
        Ok(reply(turn, text, calls, stop(answer.stop_reason.clone()), usage(&answer.usage)))
    }

    /// Reads an OpenAI answer without the library.
    fn reply_without_library(&self, turn: &Turn<'_>, body: &Value) -> Result<Reply, Failure> {
        let calls = raw::from_body(self.spec.provider, body).map_err(bad)?;
        let text = |at: &str| body.pointer(at).and_then(Value::as_str).map(str::to_owned);
        let tokens = body.get("usage").and_then(|usage| serde_json::from_value(usage.clone()).ok());
        let stop = stop(text("/choices/0/finish_reason").map(StopReason::from));
        let said = text("/choices/0/message/content").unwrap_or_default();
        Ok(reply(turn, said, calls, stop, tokens.as_ref().and_then(usage)))
    }

    fn failure(&self, error: &genai::Error) -> Failure {
        Failure::of(error, self.key.as_ref().map(|key| key.expose_secret()))
    }
}

fn options(turn: &Turn<'_>, provider: Provider) -> ChatOptions {
    let mut options = ChatOptions { max_tokens: turn.max_output, ..ChatOptions::default() };
    // Left out, the library would take an effort word off the end of a name such as `qwen-max`. A budget is what it
    // never sends in this protocol; in Anthropic's it would switch thinking on, and no name there ends so.
    options.reasoning_effort = match provider {
        Provider::OpenAi | Provider::Ollama => Some(ReasoningEffort::Budget(0)),
        Provider::Anthropic => None,
    };
    options
}

fn reply(turn: &Turn<'_>, text: String, calls: Vec<ProposedCall>, stop: Stop, usage: Option<Usage>) -> Reply {
    let calls = raw::tidy(calls, &stop, turn.messages.len());
    Reply { text, calls, stop, usage }
}

fn has_calls(body: &Value) -> bool {
    body.pointer("/choices/0/message/tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty())
}

fn stop(reason: Option<StopReason>) -> Stop {
    match reason {
        Some(StopReason::Completed(_) | StopReason::StopSequence(_)) => Stop::Finished,
        Some(StopReason::ToolCall(_)) => Stop::Calls,
        Some(StopReason::MaxTokens(_)) => Stop::Length,
        Some(StopReason::ContentFilter(_)) => Stop::Filtered,
        Some(StopReason::Other(words)) => Stop::Other(crate::model::error::cut(&words)),
        None => Stop::Other(String::new()),
    }
}

/// Splits the library's totals into kinds that do not overlap; a negative count makes the whole unknown.
fn usage(usage: &genai::chat::Usage) -> Option<Usage> {
    let count = |tokens: Option<i32>| u64::try_from(tokens.unwrap_or(0)).ok();
    usage.prompt_tokens.or(usage.completion_tokens)?;
    let details = usage.prompt_tokens_details.clone().unwrap_or_default();
    let (cached_read, cache_write) = (count(details.cached_tokens)?, count(details.cache_creation_tokens)?);
    let input = count(usage.prompt_tokens)?.saturating_sub(cached_read).saturating_sub(cache_write);
    let reasoning = count(usage.completion_tokens_details.as_ref().and_then(|details| details.reasoning_tokens))?;
    Some(Usage { input, cached_read, cache_write, output: count(usage.completion_tokens)?, reasoning })
}

fn bad(said: &str) -> Failure {
    ModelError::BadResponse { said: said.into() }.into()
}
