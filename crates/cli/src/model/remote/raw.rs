//! The calls as they were on the wire, before any parser could mend them.
//!
//! The provider library hands arguments back parsed, which hides duplicate keys from the gate. It also shows every
//! frame of a stream, and the whole body of a plain answer; the calls are put together from those.

use std::collections::HashSet;

use serde_json::Value;

use crate::model::spec::Provider;
use crate::model::turn::{ProposedCall, Stop};

/// More calls than this in one answer is nonsense.
const MAX_CALLS: usize = 128;
/// More argument text than this in one answer is nonsense: the largest tool argument is 1 MB.
const MAX_BYTES: usize = 8 << 20;

/// Puts calls together from the frames of a stream.
#[derive(Debug, Default)]
pub(super) struct RawCalls {
    calls: Vec<(u64, ProposedCall)>,
    bytes: usize,
    broken: Option<&'static str>,
}

impl RawCalls {
    /// Takes one frame's JSON text in.
    pub(super) fn frame(&mut self, provider: Provider, data: &str) {
        // A frame that is no JSON is for the library to complain about.
        let Ok(frame) = serde_json::from_str::<Value>(data) else { return };
        match provider {
            Provider::OpenAi | Provider::Ollama => self.openai(&frame),
            Provider::Anthropic => self.anthropic(&frame),
        }
    }

    /// The calls, in the model's order.
    ///
    /// # Errors
    /// What was wrong with them.
    pub(super) fn finish(self) -> Result<Vec<ProposedCall>, &'static str> {
        match self.broken {
            Some(why) => Err(why),
            None => Ok(self.calls.into_iter().map(|(_, call)| call).collect()),
        }
    }

    fn openai(&mut self, frame: &Value) {
        let deltas = frame.pointer("/choices/0/delta/tool_calls").and_then(Value::as_array);
        for delta in deltas.into_iter().flatten() {
            let text = |at: &str| delta.pointer(at).and_then(Value::as_str).unwrap_or_default();
            match delta.get("index").and_then(Value::as_u64) {
                Some(index) => self.add(index, text("/id"), text("/function/name"), text("/function/arguments")),
                None => self.broken = Some("a piece of a tool call has no index"),
            }
        }
    }

    fn anthropic(&mut self, frame: &Value) {
        let text = |at: &str| frame.pointer(at).and_then(Value::as_str).unwrap_or_default();
        let kind = (text("/type"), text("/content_block/type"), text("/delta/type"));
        let index = frame.get("index").and_then(Value::as_u64);
        match (kind, index) {
            (("content_block_start", "tool_use", _), Some(index)) => {
                self.add(index, text("/content_block/id"), text("/content_block/name"), "");
            }
            (("content_block_delta", _, "input_json_delta"), Some(index)) => {
                self.add(index, "", "", text("/delta/partial_json"));
            }
            (("content_block_start", "tool_use", _) | ("content_block_delta", _, "input_json_delta"), None) => {
                self.broken = Some("a piece of a tool call has no index");
            }
            _ => {}
        }
    }

    fn add(&mut self, index: u64, id: &str, name: &str, arguments: &str) {
        self.bytes = [id, name, arguments].iter().fold(self.bytes, |sum, piece| sum.saturating_add(piece.len()));
        let known = self.calls.iter().position(|(at, _)| *at == index);
        if self.bytes > MAX_BYTES || (known.is_none() && self.calls.len() >= MAX_CALLS) {
            self.broken = Some("it proposes more than any tool takes");
            return;
        }
        let place = known.unwrap_or(self.calls.len());
        if known.is_none() {
            let call = ProposedCall { id: String::new(), name: String::new(), arguments: String::new() };
            self.calls.push((index, call));
        }
        if let Some((_, call)) = self.calls.get_mut(place) {
            // Some servers repeat the id and the name in every piece.
            if call.id.is_empty() {
                call.id.push_str(id);
            }
            if call.name.is_empty() {
                call.name.push_str(name);
            }
            call.arguments.push_str(arguments);
        }
    }
}

/// Reads the calls from a plain answer's body.
///
/// OpenAI's arguments are a string in it, kept as it is. Anthropic's are an object that the library has already parsed.
///
/// # Errors
/// What was wrong with them.
pub(super) fn from_body(provider: Provider, body: &Value) -> Result<Vec<ProposedCall>, &'static str> {
    let (at, id, name, arguments) = match provider {
        Provider::OpenAi | Provider::Ollama => {
            ("/choices/0/message/tool_calls", "/id", "/function/name", "/function/arguments")
        }
        Provider::Anthropic => ("/content", "/id", "/name", "/input"),
    };
    let items = body.pointer(at).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let calls =
        items.iter().filter(|item| provider != Provider::Anthropic || item.get("type") == Some(&"tool_use".into()));
    let calls: Vec<_> = calls.map(|item| from_item(item, id, name, arguments)).collect();
    if calls.len() > MAX_CALLS { Err("it proposes more than any tool takes") } else { Ok(calls) }
}

fn from_item(item: &Value, id: &str, name: &str, arguments: &str) -> ProposedCall {
    let text = |at: &str| item.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let arguments = match item.pointer(arguments) {
        Some(Value::String(raw)) => raw.clone(),
        Some(value) => value.to_string(),
        None => String::new(),
    };
    ProposedCall { id: text(id), name: text(name), arguments }
}

/// Gives every call an id of its own, and an empty object to those without arguments.
///
/// A server may leave ids out or use one twice; results are matched by id, so two calls must never share one. `turn`
/// is any number that differs from turn to turn. A call cut off by the length limit keeps its arguments as they are.
pub(super) fn tidy(mut calls: Vec<ProposedCall>, stop: &Stop, turn: usize) -> Vec<ProposedCall> {
    let mut seen = HashSet::new();
    for (place, call) in calls.iter_mut().enumerate() {
        if call.id.is_empty() || !seen.insert(call.id.clone()) {
            let mut fresh = (place..).map(|n| format!("call_{turn}_{n}"));
            call.id = fresh.find(|id| seen.insert(id.clone())).unwrap_or_default();
        }
        if call.arguments.is_empty() && *stop != Stop::Length {
            call.arguments.push_str("{}");
        }
    }
    calls
}
