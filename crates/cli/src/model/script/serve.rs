//! The scripted model's HTTP server: loopback only, one token, gone when dropped.

use std::collections::HashMap;
use std::io::{self, BufReader, Read};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::format::Script;
use super::http::{self, Request};
use super::player::{Act, Answer, Manner, Player, half};
use super::wire;

const READ_TIMEOUT: Duration = Duration::from_secs(30);
const GARBAGE: &str = "{\"choices\": [<<<";

/// A running server of one script.
///
/// # Security
/// It listens on 127.0.0.1 and answers only requests with its token, so no other user of the machine can play the
/// script. It does not hide that it listens.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    token: SecretString,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    player: Mutex<Player>,
    expected: SecretString,
    open: Mutex<HashMap<u64, TcpStream>>,
    stop: AtomicBool,
}

impl Server {
    /// Starts to serve `script` on a free port.
    ///
    /// # Errors
    /// If the loopback does not let it listen, or the machine has no randomness for the token.
    pub(super) fn start(script: Script) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let token = token()?;
        let shared = Arc::new(Shared {
            player: Mutex::new(Player::new(script)),
            expected: format!("Bearer {}", token.expose_secret()).into(),
            open: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("script-server".into()).spawn(move || accepting.accept(&listener))?;
        Ok(Self { address, token, shared, thread: Some(thread) })
    }

    /// The base URL for a client.
    pub(super) fn base_url(&self) -> String {
        format!("http://{}/v1/", self.address)
    }

    /// The bearer token that every request needs.
    pub(super) fn token(&self) -> &SecretString {
        &self.token
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, which then closes what is open.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| woken) {
            drop(thread.join());
        }
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        let mut workers: Vec<JoinHandle<()>> = Vec::new();
        for number in 0.. {
            let Ok((stream, _)) = listener.accept() else { break };
            if self.stop.load(Ordering::SeqCst) {
                break;
            }
            // The stack of an ended thread is only given back once nobody can join it any more.
            workers.retain(|worker| !worker.is_finished());
            let Ok(handle) = stream.try_clone() else { continue };
            self.open().insert(number, handle);
            let shared = Arc::clone(&self);
            // A client that went away is no event: it sees the broken connection itself.
            let serve = move || drop(shared.serve(number, &stream));
            workers.extend(std::thread::Builder::new().name("script-answer".into()).spawn(serve));
        }
        for stream in self.open().values() {
            drop(stream.shutdown(Shutdown::Both));
        }
        for worker in workers {
            drop(worker.join());
        }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, number: u64, stream: &TcpStream) -> io::Result<()> {
        let served = self.answer(stream);
        self.open().remove(&number);
        served
    }

    fn answer(&self, mut stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        let request = http::read(&mut BufReader::new(stream))?;
        if request.authorization.as_deref() != Some(self.expected.expose_secret()) {
            return http::whole(
                &mut stream,
                "401 Unauthorized",
                "",
                &wire::error("authentication_error", "wrong token"),
            );
        }
        let seen = match chat_completions(&request) {
            Some(seen) => seen,
            None => {
                let body = wire::error("invalid_request_error", "only POST /v1/chat/completions is served");
                return http::whole(&mut stream, "400 Bad Request", "", &body);
            }
        };
        let act = self.player.lock().unwrap_or_else(PoisonError::into_inner).next(&seen);
        match act {
            Act::Answer(answer, manner) if seen.stream => events(stream, &answer, manner),
            Act::Answer(answer, manner) => body(stream, &answer, manner),
            Act::RateLimit(secs) => {
                let ask = secs.map(|secs| format!("retry-after: {secs}\r\n")).unwrap_or_default();
                http::whole(
                    &mut stream,
                    "429 Too Many Requests",
                    &ask,
                    &wire::error("rate_limit_error", "too many requests"),
                )
            }
            Act::Fail => {
                http::whole(&mut stream, "500 Internal Server Error", "", &wire::error("server_error", "it broke"))
            }
            Act::Hang => hang(stream),
        }
    }
}

fn chat_completions(request: &Request) -> Option<wire::Seen> {
    let right = request.method == "POST" && request.path == "/v1/chat/completions";
    right.then(|| wire::read(&request.body)).flatten()
}

fn events(mut stream: &TcpStream, answer: &Answer, manner: Manner) -> io::Result<()> {
    let pieces = wire::pieces(answer);
    let count = match manner {
        Manner::Well => pieces.len(),
        Manner::Broken => pieces.len() / 2,
        Manner::Garbage => 1,
    };
    http::start_events(&mut stream)?;
    for piece in pieces.iter().take(count) {
        http::event(&mut stream, piece)?;
    }
    match manner {
        Manner::Well => http::end_events(&mut stream),
        Manner::Broken => Ok(()),
        Manner::Garbage => {
            http::event(&mut stream, GARBAGE)?;
            http::end_events(&mut stream)
        }
    }
}

fn body(mut stream: &TcpStream, answer: &Answer, manner: Manner) -> io::Result<()> {
    let body = wire::whole(answer);
    match manner {
        Manner::Well => http::whole(&mut stream, "200 OK", "", &body),
        Manner::Broken => http::half(&mut stream, &body, half(&body)),
        Manner::Garbage => http::whole(&mut stream, "200 OK", "", GARBAGE),
    }
}

/// Answers nothing until the client goes away or the server ends.
fn hang(mut stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(None)?;
    let mut byte = [0];
    while stream.read(&mut byte)? > 0 {}
    Ok(())
}

fn token() -> io::Result<SecretString> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(format!("{:032x}", u128::from_ne_bytes(bytes)).into())
}
