//! Fetching and sending against real loopback servers that answer badly.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tollgate_act::fetch::{Caps, FetchError, Page, fetch};
use tollgate_act::sandbox::HaltSignal;
use tollgate_call::facts::Unknown;
use tollgate_call::places::Layout;
use tollgate_call::{Call, Door, Origin, Person, Proposal, Untrusted};
use tollgate_survey::{Destination, Resolve, Surveyor};

use crate::room::Room;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Answers each question with the next of its answers, and counts nothing else.
#[derive(Debug)]
struct Answers(Mutex<VecDeque<IpAddr>>);

impl Resolve for Answers {
    fn lookup(&self, _: &str, _: Instant) -> Result<Vec<IpAddr>, Unknown> {
        self.0.lock().unwrap().pop_front().map(|ip| vec![ip]).ok_or(Unknown::Failed)
    }
}

/// Looks a URL up as the gate would, with a resolver that gives `answers` in turn.
fn look(room: &Room, url: &str, answers: &[IpAddr]) -> Destination {
    let (w, home) = (room.base.join("w"), room.base.join("home"));
    let layout = Layout::of(w.to_str().unwrap(), home.to_str().unwrap());
    let resolver = Arc::new(Answers(Mutex::new(answers.iter().copied().collect())));
    let surveyor = Surveyor::open(layout, "/usr/bin").unwrap().resolver(resolver);
    let proposal = Proposal {
        tool: Untrusted::new("webfetch".into()),
        args: Untrusted::new(serde_json::json!({ "url": url }).to_string().into_bytes()),
        origin: Origin { door: Door::Agent, run: "r".into(), call_id: "c".into(), cwd: w.to_str().unwrap().into() },
    };
    let person = Person { home: home.to_str().unwrap().into(), user: "u".into() };
    let call = Call::read(&proposal, &person).unwrap();
    let mut told = surveyor.survey(&call);
    surveyor.resolve(&call, &mut told.facts, &mut told.handles);
    told.handles.destination.unwrap()
}

/// A server that hands each connection, with its request head, to `serve`.
fn server(serve: impl Fn(&str, TcpStream) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((HERE, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while reader.read_line(&mut head).is_ok_and(|read| read > 2) {}
            serve(&head, stream);
        }
    });
    address
}

fn respond(mut stream: TcpStream, head: &str, body: &[u8]) {
    // The client may be gone already: that is its own decision.
    let head = format!("HTTP/1.1 {head}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).unwrap_or_default();
}

fn nowhere(_: &Destination, _: &str) -> Result<Destination, String> {
    Err("no redirect is allowed here".into())
}

fn get(room: &Room, port: u16, path: &str) -> Result<Page, FetchError> {
    let to = look(room, &format!("http://pin.example:{port}{path}"), &[HERE]);
    fetch(to, &nowhere, Caps::default(), &HaltSignal::new().unwrap())
}

#[test]
fn a_page_becomes_text_from_the_judged_address_with_the_judged_host() {
    let room = Room::new();
    let (told, asked) = channel();
    let address = server(move |head, stream| {
        told.send(head.to_owned()).unwrap();
        respond(stream, "200 OK\r\ncontent-type: text/html", b"<h1>Hi</h1><!-- x --><p hidden>no</p>");
    });
    let page = get(&room, address.port(), "/a?b=1").unwrap();
    let head = asked.recv().unwrap();
    assert!(head.starts_with("GET /a?b=1 HTTP/1.1\r\n") && head.contains("host: pin.example"), "{head}");
    assert!(!head.to_lowercase().contains("cookie") && !head.to_lowercase().contains("referer"), "{head}");
    assert!(page.text.contains("# Hi") && page.text.contains("[1 hidden element(s)"), "{}", page.text);
    assert_eq!((page.status, page.truncated), (200, false));
}

#[test]
fn the_first_judged_address_is_dialled_whatever_a_second_lookup_would_say() {
    let room = Room::new();
    let address = server(|_, stream| respond(stream, "200 OK\r\ncontent-type: text/plain", b"first"));
    // TEST-NET-1 would be the rebound answer; nobody asks for it.
    let rebound = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));
    let to = look(&room, &format!("http://pin.example:{}/", address.port()), &[HERE, rebound]);
    assert_eq!(to.addresses(), [HERE]);
    let page = fetch(to, &nowhere, Caps::default(), &HaltSignal::new().unwrap()).unwrap();
    assert!(page.text.contains("first"));
}

#[test]
fn a_redirect_is_judged_before_anything_is_dialled() {
    let room = Room::new();
    let (told, dialled) = channel();
    let inner = server(move |_, stream| {
        told.send(()).unwrap();
        respond(stream, "200 OK", b"secret");
    });
    let outer = server(move |_, stream| {
        respond(stream, &format!("302 Found\r\nlocation: http://127.0.0.1:{}/", inner.port()), b"");
    });
    let error = get(&room, outer.port(), "/").unwrap_err();
    assert!(matches!(error, FetchError::Refused { .. }), "{error}");
    assert!(dialled.try_recv().is_err());
}

#[test]
fn an_allowed_redirect_is_followed_to_what_its_judge_returns() {
    let room = Room::new();
    let address = server(|head, stream| {
        if head.starts_with("GET /old") {
            respond(stream, "301 Moved\r\nlocation: /new", b"");
        } else {
            respond(stream, "200 OK\r\ncontent-type: text/plain", b"arrived");
        }
    });
    let to = look(&room, &format!("http://pin.example:{}/old", address.port()), &[HERE]);
    let page =
        fetch(to, &|_, url| Ok(look(&room, url, &[HERE])), Caps::default(), &HaltSignal::new().unwrap()).unwrap();
    assert!(page.text.contains("arrived"));
    assert_eq!(page.hops.len(), 2);
}

#[test]
fn redirects_end_after_five() {
    let room = Room::new();
    let (told, asked) = channel();
    let address = server(move |_, stream| {
        told.send(()).unwrap();
        respond(stream, "302 Found\r\nlocation: /again", b"");
    });
    let to = look(&room, &format!("http://pin.example:{}/", address.port()), &[HERE]);
    let judge = |_: &Destination, url: &str| Ok(look(&room, url, &[HERE]));
    let error = fetch(to, &judge, Caps::default(), &HaltSignal::new().unwrap()).unwrap_err();
    assert!(matches!(error, FetchError::Hops(5, _)), "{error}");
    assert_eq!(asked.try_iter().count(), 6);
}

#[test]
fn a_body_over_the_cap_is_cut_and_this_is_said() {
    let room = Room::new();
    let address = server(|_, mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n").unwrap();
        while stream.write_all(&[b'x'; 65_536]).is_ok() {}
    });
    let page = get(&room, address.port(), "/").unwrap();
    assert_eq!((page.bytes, page.truncated), (2_000_000, true));
    assert!(page.text.len() <= 32 * 1024 && page.text.contains("the rest was not read"));
}

/// What `gzip` makes of `bytes`.
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut child = Command::new("gzip").arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
    let (mut give, bytes) = (child.stdin.take()?, bytes.to_vec());
    let writer = std::thread::spawn(move || give.write_all(&bytes));
    let packed = child.wait_with_output().ok()?.stdout;
    writer.join().ok()?.ok()?;
    Some(packed)
}

#[test]
fn a_compressed_body_is_read_and_counts_as_what_it_swells_to() {
    let (Some(page), Some(bomb)) = (gzip(b"<h1>Hi</h1>"), gzip(&vec![b'a'; 64_000_000])) else {
        println!("skipped: there is no gzip program here to compress with");
        return;
    };
    let room = Room::new();
    assert!(bomb.len() < 100_000);
    let address = server(move |head, stream| {
        let body = if head.starts_with("GET /bomb") { &bomb } else { &page };
        respond(stream, "200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip", body);
    });
    assert!(get(&room, address.port(), "/").unwrap().text.contains("# Hi"));
    let page = get(&room, address.port(), "/bomb").unwrap();
    assert_eq!((page.bytes, page.truncated), (2_000_000, true));
}

#[test]
fn what_is_compressed_in_another_way_or_badly_is_not_shown() {
    let room = Room::new();
    let address = server(|head, stream| {
        let how = if head.starts_with("GET /br") { "br" } else { "gzip" };
        respond(stream, &format!("200 OK\r\ncontent-type: text/html\r\ncontent-encoding: {how}"), b"\x1f\x8bnot");
    });
    let page = get(&room, address.port(), "/br").unwrap();
    assert!(page.text.contains("[5 bytes compressed as br, which was not asked for; not shown]"), "{}", page.text);
    assert!(matches!(get(&room, address.port(), "/gz"), Err(FetchError::Failed { .. })));
}

/// Holds every connection open until the client leaves.
fn silent(first: &'static [u8]) -> (SocketAddr, Receiver<()>) {
    let (gone, left): (Sender<()>, _) = channel();
    let address = server(move |_, mut stream| {
        stream.write_all(first).unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).unwrap_or_default();
        gone.send(()).unwrap_or_default();
    });
    (address, left)
}

#[test]
fn a_body_that_never_ends_runs_into_the_time_cap() {
    let room = Room::new();
    let (address, left) = silent(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc");
    let to = look(&room, &format!("http://pin.example:{}/", address.port()), &[HERE]);
    let caps = Caps { idle: Duration::from_millis(50), ..Caps::default() };
    let error = fetch(to.clone(), &nowhere, caps, &HaltSignal::new().unwrap()).unwrap_err();
    assert!(matches!(error, FetchError::TimedOut(_)), "{error}");
    let caps = Caps { total: Duration::from_millis(50), ..Caps::default() };
    let error = fetch(to, &nowhere, caps, &HaltSignal::new().unwrap()).unwrap_err();
    assert!(matches!(error, FetchError::TimedOut(_)), "{error}");
    left.recv().unwrap();
}

#[test]
fn a_halt_ends_a_fetch_that_hangs() {
    let room = Room::new();
    let (address, left) = silent(b"");
    let to = look(&room, &format!("http://pin.example:{}/", address.port()), &[HERE]);
    let halt = HaltSignal::new().unwrap();
    let raise = halt.clone();
    let raised = std::thread::spawn(move || raise.raise());
    let error = fetch(to, &nowhere, Caps::default(), &halt).unwrap_err();
    raised.join().unwrap().unwrap();
    assert!(matches!(error, FetchError::Halted), "{error}");
    drop(left);
}

#[test]
fn garbage_for_an_answer_is_an_error() {
    let room = Room::new();
    let address = server(|_, mut stream| stream.write_all(b"\0\0 not http at all\r\n\r\n").unwrap_or_default());
    assert!(matches!(get(&room, address.port(), "/"), Err(FetchError::Failed { .. })));
}
