//! The OpenAI chat completions form: requests read, answers written.

use serde_json::{Value, json};

use super::player::Answer;

/// What a script can see of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Seen {
    /// Whether the answer shall be streamed.
    pub(super) stream: bool,
    /// The newest user message.
    pub(super) user: String,
    /// The tool results after the newest answer of the model.
    pub(super) results: Vec<SeenResult>,
    /// What `read_file` brought so far: path and text. Errors are left out.
    pub(super) read: Vec<(String, String)>,
    /// How large the request is.
    pub(super) bytes: usize,
}

/// One tool result.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SeenResult {
    pub(super) tool: String,
    pub(super) content: String,
}

/// Reads a request body; `None` if it is not a chat completions request.
pub(super) fn read(body: &[u8]) -> Option<Seen> {
    let request: Value = serde_json::from_slice(body).ok()?;
    let messages = request.get("messages")?.as_array()?;
    let newest_answer = messages.iter().rposition(|message| role(message) == "assistant");
    let fresh = messages.iter().skip(newest_answer.map_or(0, |place| place.saturating_add(1)));
    let tools = messages.iter().filter(|message| role(message) == "tool");
    Some(Seen {
        stream: request.get("stream").and_then(Value::as_bool).unwrap_or(false),
        user: messages.iter().rfind(|message| role(message) == "user").map(content).unwrap_or_default(),
        results: fresh.filter(|message| role(message) == "tool").map(|message| result(message, messages)).collect(),
        read: tools.filter_map(|message| read_file(message, messages)).collect(),
        bytes: body.len(),
    })
}

fn role(message: &Value) -> &str {
    message.get("role").and_then(Value::as_str).unwrap_or_default()
}

fn content(message: &Value) -> String {
    message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn result(message: &Value, messages: &[Value]) -> SeenResult {
    let tool = proposal(message, messages).and_then(|call| call.pointer("/function/name")?.as_str());
    SeenResult { tool: tool.unwrap_or_default().to_owned(), content: content(message) }
}

fn read_file(message: &Value, messages: &[Value]) -> Option<(String, String)> {
    let function = proposal(message, messages)?.get("function")?;
    let arguments: Value = serde_json::from_str(function.get("arguments")?.as_str()?).ok()?;
    let path = arguments.get("path")?.as_str()?.to_owned();
    let text = content(message);
    (function.get("name")?.as_str()? == "read_file" && !is_error(&text)).then_some((path, text))
}

/// Says whether a result is the client's word for a failed or refused call, as `remote/request.rs` writes it.
pub(super) fn is_error(content: &str) -> bool {
    content.starts_with("error: ")
}

/// The call that a tool message answers.
fn proposal<'a>(message: &Value, messages: &'a [Value]) -> Option<&'a Value> {
    let id = message.get("tool_call_id")?;
    let calls = |message: &'a Value| message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    messages.iter().rev().flat_map(calls).find(|call| call.get("id") == Some(id))
}

/// The whole answer as one JSON text.
pub(super) fn whole(answer: &Answer) -> String {
    let calls = answer.calls.iter().enumerate().map(|(place, (tool, args))| {
        json!({ "id": call_id(answer, place), "type": "function", "function": { "name": tool, "arguments": args } })
    });
    let message = match answer.calls.as_slice() {
        [] => json!({ "role": "assistant", "content": answer.text }),
        _ => json!({ "role": "assistant", "content": answer.text, "tool_calls": calls.collect::<Vec<_>>() }),
    };
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish(answer) });
    envelope("chat.completion", &json!([choice]), Some(usage(answer)))
}

/// The answer as the data of server-sent events, in many small pieces.
pub(super) fn pieces(answer: &Answer) -> Vec<String> {
    let mut out = vec![delta(&json!({ "role": "assistant", "content": "" }))];
    out.extend(split(&answer.text).map(|piece| delta(&json!({ "content": piece }))));
    for (place, (tool, args)) in answer.calls.iter().enumerate() {
        let function = json!({ "name": tool, "arguments": "" });
        let head = json!({ "index": place, "id": call_id(answer, place), "type": "function", "function": function });
        out.push(delta(&json!({ "tool_calls": [head] })));
        out.extend(
            split(args)
                .map(|piece| delta(&json!({ "tool_calls": [{ "index": place, "function": { "arguments": piece } }] }))),
        );
    }
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": finish(answer) }]);
    out.push(envelope("chat.completion.chunk", &end, None));
    out.push(envelope("chat.completion.chunk", &json!([]), Some(usage(answer))));
    out.push("[DONE]".into());
    out
}

/// An error body.
pub(super) fn error(kind: &str, message: &str) -> String {
    json!({ "error": { "message": message, "type": kind, "code": null, "param": null } }).to_string()
}

fn delta(delta: &Value) -> String {
    envelope("chat.completion.chunk", &json!([{ "index": 0, "delta": delta, "finish_reason": null }]), None)
}

fn envelope(object: &str, choices: &Value, usage: Option<Value>) -> String {
    json!({ "id": "script", "object": object, "created": 0, "model": "script", "choices": choices, "usage": usage })
        .to_string()
}

fn usage(answer: &Answer) -> Value {
    let tokens = answer.tokens;
    json!({
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": u64::from(tokens.input).saturating_add(tokens.output.into()),
        "prompt_tokens_details": { "cached_tokens": tokens.cached },
        "completion_tokens_details": { "reasoning_tokens": tokens.reasoning },
    })
}

fn finish(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn call_id(answer: &Answer, place: usize) -> String {
    format!("call_{}_{place}", answer.turn)
}

/// Pieces of seven characters, so that every longer text is split; of a long text, about a thousand.
fn split(text: &str) -> impl Iterator<Item = String> {
    const CHARS: usize = 7;
    const PIECES: usize = 1000;
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(CHARS.max(chars.len() / PIECES))
        .map(|piece| piece.iter().collect())
        .collect::<Vec<String>>()
        .into_iter()
}
