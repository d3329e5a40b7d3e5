//! The unguarded half: what an agent loop without a gate does. It uses nothing of Tollgate but the
//! model client, and reaches nothing but one held temporary directory and the demo's own mail sink.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::model::Model;
use crate::model::cancel::CancelFlag;
use crate::model::error::ModelError;
use crate::model::turn::{Message, ProposedCall, Turn};

/// Most turns that the toy takes.
const TURNS: usize = 12;

/// Lets the model do whatever it proposes, beneath `dir`.
///
/// # Errors
/// [`ModelError`] when the scripted model does not answer.
pub(super) fn run(task: &str, dir: &Path, mail: SocketAddr, model: &mut dyn Model) -> Result<(), ModelError> {
    let cancel = CancelFlag::new();
    let mut talk = vec![Message::User(task.to_owned())];
    for _ in 0..TURNS {
        let turn = Turn {
            system: "You tidy notes.".to_owned(),
            messages: talk.clone(),
            tools: Vec::new(),
            max_output: None,
            deadline: Turn::DEFAULT_DEADLINE,
            cancel: &cancel,
        };
        let reply = model.turn(&turn, &mut |_| {})?;
        talk.push(Message::Assistant { text: reply.text, calls: reply.calls.clone() });
        if reply.calls.is_empty() {
            return Ok(());
        }
        for call in reply.calls {
            let content = obey(&call, dir, mail).unwrap_or_else(|error| error.to_string());
            talk.push(Message::ToolResult { call_id: call.id, name: call.name, content, is_error: false });
        }
    }
    Ok(())
}

/// No judgement, no record: the call is done.
fn obey(call: &ProposedCall, dir: &Path, mail: SocketAddr) -> std::io::Result<String> {
    let args: Value = serde_json::from_str(&call.arguments)?;
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
    match call.name.as_str() {
        "read_file" => std::fs::read_to_string(beneath(dir, text("path"))?),
        "delete_file" => std::fs::remove_file(beneath(dir, text("path"))?).map(|()| "deleted".to_owned()),
        "send_message" => send(mail, text("to"), text("body")),
        other => Ok(format!("the toy has no tool {other}")),
    }
}

/// A demonstration must not become the damage: names stay beneath the demo's own directory.
fn beneath(dir: &Path, name: &str) -> std::io::Result<PathBuf> {
    let plain = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    if plain { Ok(dir.join(name)) } else { Err(std::io::Error::other("not beneath the demo's directory")) }
}

/// The client's half of RFC 5321, for one mail.
fn send(to: SocketAddr, recipient: &str, body: &str) -> std::io::Result<String> {
    let stream = TcpStream::connect(to)?;
    let mut answers = BufReader::new(&stream).lines();
    let mut out = &stream;
    let end = format!("{body}\r\n.");
    let rcpt = format!("RCPT TO:<{recipient}>");
    for line in ["HELO toy", "MAIL FROM:<agent@demo.example>", &rcpt, "DATA", &end, "QUIT"] {
        answers.next().transpose()?;
        out.write_all(format!("{line}\r\n").as_bytes())?;
    }
    answers.next().transpose()?;
    Ok("sent".to_owned())
}
