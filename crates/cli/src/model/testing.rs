//! Scaffolding for the tests of this module: turns, and a loopback server of fixed answers.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::cancel::CancelFlag;
use super::script;
use super::turn::{Delta, Message, Reply, Turn};

/// A turn with one user message and no tools.
pub(super) fn turn<'a>(text: &str, cancel: &'a CancelFlag) -> Turn<'a> {
    let messages = vec![Message::User(text.into())];
    Turn {
        system: "be brief".into(),
        messages,
        tools: Vec::new(),
        max_output: None,
        deadline: Duration::from_secs(60),
        cancel,
    }
}

/// Adds a reply and the results of its calls to the conversation.
pub(super) fn extend(turn: &mut Turn<'_>, reply: &Reply, results: &[(&str, bool)]) {
    turn.messages.push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
    for (call, (content, is_error)) in reply.calls.iter().zip(results) {
        let (call_id, name) = (call.id.clone(), call.name.clone());
        turn.messages.push(Message::ToolResult { call_id, name, content: (*content).into(), is_error: *is_error });
    }
}

/// A sink that nobody looks at.
pub(super) fn nobody() -> impl FnMut(Delta) {
    |_| {}
}

/// A server that gives each connection the next of its answers, byte for byte, and keeps the requests.
pub(super) struct Canned {
    pub(super) base: String,
    requests: Arc<Mutex<Vec<Vec<u8>>>>,
    thread: JoinHandle<()>,
}

impl Canned {
    pub(super) fn new(answers: Vec<String>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        let thread = std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let request = script::http::read(&mut BufReader::new(&stream)).unwrap();
                kept.lock().unwrap().push(request.body);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { base, requests, thread }
    }

    /// Waits until every answer is given, and returns the request bodies.
    pub(super) fn requests(self) -> Vec<serde_json::Value> {
        self.thread.join().unwrap();
        let requests = self.requests.lock().unwrap();
        requests.iter().map(|body| serde_json::from_slice(body).unwrap()).collect()
    }
}

/// An HTTP answer with this body.
pub(super) fn http(status: &str, kind: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A stream of named events, complete on the HTTP level.
pub(super) fn events(events: &[(&str, &str)]) -> String {
    let body: String = events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect();
    http("200 OK", "text/event-stream", &body)
}
