//! Our words into the provider library's words.

use genai::chat::{ChatMessage, ChatRequest, ContentPart, MessageContent, Tool, ToolCall, ToolName, ToolResponse};
use serde_json::{Value, json};

use crate::model::error::ModelError;
use crate::model::spec::Provider;
use crate::model::turn::{Message, ProposedCall, ToolSpec, Turn};

/// Refuses a tool that would not be sent as ours.
///
/// # Errors
/// [`ModelError::ReservedTool`]: the library turns any Anthropic tool of that name into the provider's own web search,
/// which the provider performs without asking anyone.
pub(super) fn refuse_reserved(turn: &Turn<'_>, provider: Provider) -> Result<(), ModelError> {
    const RESERVED: &str = "web_search";
    match provider {
        Provider::Anthropic if turn.tools.iter().any(|tool| tool.name == RESERVED) => {
            Err(ModelError::ReservedTool(RESERVED.into()))
        }
        Provider::Anthropic | Provider::OpenAi | Provider::Ollama => Ok(()),
    }
}

/// Builds the library's request for one turn.
pub(super) fn request(turn: &Turn<'_>, provider: Provider) -> ChatRequest {
    let mut request = ChatRequest::from_messages(messages(&turn.messages, provider));
    if !turn.system.is_empty() {
        request = request.with_system(turn.system.clone());
    }
    if !turn.tools.is_empty() {
        request = request.with_tools(turn.tools.iter().map(tool));
    }
    request
}

fn messages(messages: &[Message], provider: Provider) -> Vec<ChatMessage> {
    // Anthropic wants all results of one answer in one message; OpenAI takes them apart again.
    let both_results =
        |a: &Message, b: &Message| matches!((a, b), (Message::ToolResult { .. }, Message::ToolResult { .. }));
    messages.chunk_by(both_results).filter_map(|group| message(group, provider)).collect()
}

fn message(group: &[Message], provider: Provider) -> Option<ChatMessage> {
    Some(match group.first()? {
        Message::User(text) => ChatMessage::user(text.clone()),
        Message::Assistant { text, calls } => ChatMessage::assistant(assistant(text, calls)),
        Message::ToolResult { .. } => {
            let parts: Vec<_> = group.iter().filter_map(|message| result(message, provider)).collect();
            ChatMessage::tool(MessageContent::from_parts(parts))
        }
    })
}

fn assistant(text: &str, calls: &[ProposedCall]) -> MessageContent {
    let text = (!text.is_empty()).then(|| ContentPart::from_text(text));
    let calls = calls.iter().map(|call| ContentPart::ToolCall(replayed(call)));
    MessageContent::from_parts(text.into_iter().chain(calls).collect::<Vec<_>>())
}

/// A past call as history. The library holds arguments parsed, so duplicate keys collapse here; the gate has long
/// judged the original text. What is no JSON object goes back wrapped, because providers accept only objects.
fn replayed(call: &ProposedCall) -> ToolCall {
    let arguments = match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(object)) => Value::Object(object),
        _ => json!({ "unparsable_arguments": call.arguments }),
    };
    ToolCall { call_id: call.id.clone(), fn_name: call.name.clone(), fn_arguments: arguments, thought_signatures: None }
}

fn result(message: &Message, provider: Provider) -> Option<ContentPart> {
    let Message::ToolResult { call_id, name, content, is_error } = message else { return None };
    Some(match (provider, is_error) {
        (Provider::Anthropic, true) => ContentPart::from_custom(
            json!({ "type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": true }),
            None,
        ),
        // This protocol has no error mark, so the text says it.
        (Provider::OpenAi | Provider::Ollama, true) => response(call_id, name, &format!("error: {content}")),
        (Provider::OpenAi | Provider::Ollama | Provider::Anthropic, false) => response(call_id, name, content),
    })
}

fn response(call_id: &str, name: &str, content: &str) -> ContentPart {
    ContentPart::ToolResponse(ToolResponse::new(call_id, content).with_fn_name(name))
}

fn tool(spec: &ToolSpec) -> Tool {
    // Named outright: a conversion could take one of the library's built-in server-side tools for it.
    Tool::new(ToolName::Custom(spec.name.clone()))
        .with_description(spec.description.clone())
        .with_schema(spec.schema.clone())
}
