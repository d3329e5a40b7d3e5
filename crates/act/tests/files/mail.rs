//! Messages against real servers on loopback: a mail sink, plain and over TLS, and a webhook.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tollgate_act::relay::{Letter, Relay, RelayError, RelayTls, Smtp, Webhook};
use tollgate_act::sandbox::HaltSignal;

/// What the sink was told, and in which state of the connection.
#[derive(Debug, Default)]
struct Mail {
    rcpt: Vec<String>,
    data: String,
    /// Lines that came before anything was encrypted.
    clear: Vec<String>,
    login: Option<String>,
}

/// What a sink does besides taking mail.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Takes,
    Refuses,
    /// Reads the message and hangs up.
    HangsUp,
}

fn letter(to: &str, subject: &str, body: &str) -> Letter {
    Letter { to: to.into(), subject: subject.into(), body: body.into() }
}

fn halt() -> HaltSignal {
    HaltSignal::new().unwrap()
}

/// A certificate for 127.0.0.1 that nobody trusts by default: what a server needs, and its PEM.
fn certificate() -> (Arc<ServerConfig>, String) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
    (Arc::new(config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap()), cert.pem())
}

/// The two states of a connection.
enum Line {
    Clear(TcpStream),
    Encrypted(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Line {
    fn encrypted(stream: TcpStream, config: &Arc<ServerConfig>) -> Self {
        Self::Encrypted(Box::new(StreamOwned::new(ServerConnection::new(Arc::clone(config)).unwrap(), stream)))
    }
}

impl Read for Line {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Clear(stream) => stream.read(bytes),
            Self::Encrypted(stream) => stream.read(bytes),
        }
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Clear(stream) => stream.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            Self::Clear(stream) => stream.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}

/// Speaks SMTP on `line`; `upgrade` is what STARTTLS needs, if the sink has it.
fn converse(mut line: Line, upgrade: Option<&Arc<ServerConfig>>, manner: Manner) -> std::io::Result<Mail> {
    let mut mail = Mail::default();
    line.write_all(b"220 sink\r\n")?;
    loop {
        let said = one_line(&mut line)?;
        let verb = said.to_ascii_uppercase();
        if matches!(line, Line::Clear(_)) {
            mail.clear.push(said.clone());
        }
        if verb.starts_with("EHLO") {
            let more = if upgrade.is_some() && matches!(line, Line::Clear(_)) { "250-STARTTLS\r\n" } else { "" };
            line.write_all(format!("250-sink\r\n{more}250-AUTH PLAIN LOGIN\r\n250 8BITMIME\r\n").as_bytes())?;
        } else if let ("STARTTLS", Some(config), Line::Clear(stream)) = (verb.as_str(), upgrade, &mut line) {
            stream.write_all(b"220 go on\r\n")?;
            line = Line::encrypted(stream.try_clone()?, config);
        } else if let Some(login) = said.strip_prefix("AUTH PLAIN ") {
            mail.login = Some(login.to_owned());
            line.write_all(if login == LOGIN { b"235 welcome\r\n" } else { b"535 no\r\n" })?;
        } else if verb.starts_with("RCPT") {
            mail.rcpt.push(said);
            line.write_all(if manner == Manner::Refuses { b"550 no such user\r\n" } else { b"250 ok\r\n" })?;
        } else if verb == "DATA" {
            line.write_all(b"354 go on\r\n")?;
            loop {
                match one_line(&mut line)?.as_str() {
                    "." => break,
                    text => mail.data.push_str(&format!("{text}\n")),
                }
            }
            if manner == Manner::HangsUp {
                return Ok(mail);
            }
            line.write_all(b"250 taken\r\n")?;
        } else if verb == "QUIT" {
            line.write_all(b"221 bye\r\n")?;
            return Ok(mail);
        } else if said.is_empty() {
            return Ok(mail);
        } else {
            line.write_all(b"250 ok\r\n")?;
        }
        line.flush()?;
    }
}

/// `bot` with the password `pass word`, as AUTH PLAIN puts it.
const LOGIN: &str = "AGJvdABwYXNzIHdvcmQ=";

fn one_line(line: &mut Line) -> std::io::Result<String> {
    let (mut said, mut byte) = (Vec::new(), [0]);
    while line.read(&mut byte)? == 1 && byte != *b"\n" {
        said.extend(byte);
    }
    Ok(String::from_utf8_lossy(&said).trim_end_matches('\r').to_owned())
}

fn sink(tls: Option<(RelayTls, Arc<ServerConfig>)>, manner: Manner) -> (u16, Receiver<Mail>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, mails): (Sender<Mail>, _) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let mail = match &tls {
                Some((RelayTls::Wrapped, config)) => converse(Line::encrypted(stream, config), None, manner),
                Some((_, config)) => converse(Line::Clear(stream), Some(config), manner),
                None => converse(Line::Clear(stream), None, manner),
            };
            told.send(mail.unwrap_or_default()).unwrap_or_default();
        }
    });
    (port, mails)
}

fn smtp(port: u16) -> Smtp {
    Smtp {
        host: "127.0.0.1".into(),
        port,
        from: "agent@host.example".into(),
        tls: RelayTls::None,
        login: None,
        trust: None,
    }
}

fn relay(port: u16) -> Relay {
    Relay::Smtp(smtp(port))
}

#[test]
fn a_message_reaches_its_one_recipient() {
    let (port, mails) = sink(None, Manner::Takes);
    relay(port).send(&letter("ops@host.example", "build", "it is done\n.\nreally"), &halt()).unwrap();
    let mail = mails.recv().unwrap();
    assert_eq!(mail.rcpt.len(), 1);
    assert!(mail.rcpt.join("").contains("<ops@host.example>"), "{mail:?}");
    assert!(mail.data.contains("Subject: build\n") && mail.data.contains("it is done\n..\nreally"), "{mail:?}");
}

#[test]
fn password_and_message_pass_only_once_the_connection_is_encrypted() {
    for how in [RelayTls::StartTls, RelayTls::Wrapped] {
        let (config, pem) = certificate();
        let (port, mails) = sink(Some((how, config)), Manner::Takes);
        let login = Some(("bot".to_owned(), "pass word".into()));
        let relay = Relay::Smtp(Smtp { tls: how, login, trust: Some(pem), ..smtp(port) });
        relay.send(&letter("ops@host.example", "build", "gr\u{fc}n"), &halt()).unwrap();
        let mail = mails.recv().unwrap();
        assert_eq!((mail.login.as_deref(), mail.rcpt.len()), (Some(LOGIN), 1), "{mail:?}");
        assert!(mail.clear.iter().all(|line| line.starts_with("EHLO") || line == "STARTTLS"), "{mail:?}");
    }
}

#[test]
fn a_certificate_that_nobody_trusts_ends_it_before_the_password_is_said() {
    for how in [RelayTls::StartTls, RelayTls::Wrapped] {
        let (port, mails) = sink(Some((how, certificate().0)), Manner::Takes);
        let login = Some(("bot".to_owned(), "pass word".into()));
        let relay = Relay::Smtp(Smtp { tls: how, login, ..smtp(port) });
        let error = relay.send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
        assert!(matches!(error, RelayError::Unreached(_)), "{error}");
        let mail = mails.recv().unwrap();
        assert!(mail.login.is_none() && mail.rcpt.is_empty(), "{mail:?}");
    }
}

#[test]
fn a_server_without_starttls_gets_neither_password_nor_message() {
    let (port, mails) = sink(None, Manner::Takes);
    let login = Some(("bot".to_owned(), "pass word".into()));
    let relay = Relay::Smtp(Smtp { tls: RelayTls::StartTls, login, ..smtp(port) });
    let error = relay.send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::Unreached(_)), "{error}");
    let mail = mails.recv().unwrap();
    assert!(mail.login.is_none() && mail.rcpt.is_empty(), "{mail:?}");
}

#[test]
fn a_wrong_password_is_told_and_never_shown() {
    let (port, _mails) = sink(None, Manner::Takes);
    let relay = Relay::Smtp(Smtp { login: Some(("bot".into(), "wrong-s3cret".into())), ..smtp(port) });
    let error = relay.send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(&error, RelayError::Unreached(why) if why.contains("no")), "{error}");
    let all = format!("{error} {error:?} {relay:?}");
    assert!(!all.contains("s3cret") && !all.contains("d3Jvbmct"), "{all}");
}

#[test]
fn nothing_in_subject_or_text_adds_a_recipient_or_a_header() {
    let (port, mails) = sink(None, Manner::Takes);
    let evil = "hi\r\nBcc: thief@evil.example";
    let text = "x\r\n.\r\nRCPT TO:<thief@evil.example>\r\n";
    relay(port).send(&letter("ops@host.example", evil, text), &halt()).unwrap();
    let mail = mails.recv().unwrap();
    assert_eq!(mail.rcpt.len(), 1, "{mail:?}");
    assert!(!mail.data.lines().any(|line| line.to_lowercase().starts_with("bcc:")), "{mail:?}");
}

#[test]
fn recipients_that_are_not_one_bare_address_are_refused() {
    for to in ["a@b.example, c@d.example", "Name <a@b.example>", "a@b.example\r\nBcc: c@d.example", "nobody", ""] {
        let error = relay(1).send(&letter(to, "s", "b"), &halt()).unwrap_err();
        assert!(matches!(error, RelayError::Recipient(_)), "{to}: {error}");
    }
}

#[test]
fn a_refusal_is_told_and_was_not_sent() {
    let (port, mails) = sink(None, Manner::Refuses);
    let error = relay(port).send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(&error, RelayError::Refused(why) if why.contains("no such user")), "{error}");
    assert!(!error.may_have_been_sent());
    assert!(mails.recv().unwrap().data.is_empty());
}

#[test]
fn whether_it_was_sent_is_open_only_after_the_message_was_said() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let error = relay(port).send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::Unreached(_)) && !error.may_have_been_sent(), "{error}");
    let (port, mails) = sink(None, Manner::HangsUp);
    let error = relay(port).send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::Unsure(_)) && error.may_have_been_sent(), "{error}");
    assert!(!mails.recv().unwrap().data.is_empty());
}

/// A server that raises `halt` once it has the connection, or the whole message, and then waits for the end.
fn halts(halt: &HaltSignal, late: bool) -> (u16, JoinHandle<()>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let raise = halt.clone();
    let server = std::thread::spawn(move || {
        let mut line = Line::Clear(listener.accept().unwrap().0);
        if late {
            line.write_all(b"220 sink\r\n").unwrap();
            while one_line(&mut line).unwrap() != "DATA" {
                line.write_all(b"250 ok\r\n").unwrap();
            }
            line.write_all(b"354 go on\r\n").unwrap();
            while one_line(&mut line).unwrap() != "." {}
        }
        raise.raise().unwrap();
        // Ends only when the client closes the connection.
        std::io::copy(&mut line, &mut std::io::sink()).unwrap();
    });
    (port, server)
}

#[test]
fn a_halt_closes_the_connection_to_a_relay_and_says_whether_anything_was_sent() {
    for late in [false, true] {
        let halt = halt();
        let (port, server) = halts(&halt, late);
        let error = relay(port).send(&letter("ops@host.example", "s", "b"), &halt).unwrap_err();
        assert_eq!(error.may_have_been_sent(), late, "{error}");
        assert!(late || matches!(error, RelayError::Halted), "{error}");
        server.join().unwrap();
    }
}

#[test]
fn plain_text_beyond_loopback_and_over_long_messages_are_refused() {
    let far = Relay::Smtp(Smtp { host: "mail.example".into(), ..smtp(25) });
    let error = far.send(&letter("ops@host.example", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::Configuration(_)), "{error}");
    let error = relay(1).send(&letter("ops@host.example", "s", &"x".repeat(65_537)), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::TooLarge { what: "text", .. }), "{error}");
    let hook = Relay::Webhook(webhook("http://hook.example/s3cret"));
    let error = hook.send(&letter("ops", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::Configuration(_)), "{error}");
    assert!(!error.to_string().contains("s3cret"), "{error}");
    let error = Relay::Unusable("no secret".into()).send(&letter("ops", "s", "b"), &halt()).unwrap_err();
    assert_eq!(error.to_string(), "the operator's relay cannot be used: no secret");
}

fn webhook(url: &str) -> Webhook {
    Webhook { url: url.to_owned(), header: None, trust: None }
}

/// Takes one request, answers with `status`, and says what came.
fn once(listener: TcpListener, tls: Option<Arc<ServerConfig>>, status: &'static str) -> JoinHandle<(String, String)> {
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let line = match tls {
            Some(config) => Line::encrypted(stream, &config),
            None => Line::Clear(stream),
        };
        let mut reader = BufReader::new(line);
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head).unwrap() > 2 {
            let last = head.lines().last().unwrap().to_ascii_lowercase();
            length = last.strip_prefix("content-length: ").map_or(length, |n| n.parse().unwrap());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        reader.get_mut().write_all(answer.as_bytes()).unwrap();
        reader.get_mut().flush().unwrap();
        (head, String::from_utf8(body).unwrap())
    })
}

#[test]
fn a_webhook_gets_the_message_as_json_and_its_secret_in_a_header() {
    let (config, pem) = certificate();
    for (scheme, tls, trust) in [("http", None, None), ("https", Some(config), Some(pem))] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = once(listener, tls, "204 No Content");
        let header = Some(("X-Key".to_owned(), "s3cret".into()));
        let hook = Relay::Webhook(Webhook { header, trust, ..webhook(&format!("{scheme}://127.0.0.1:{port}/in")) });
        assert!(!format!("{hook:?}").contains("s3cret"));
        let answer = hook.send(&letter("#ops", "s", "b\"x"), &halt()).unwrap();
        let (head, body) = served.join().unwrap();
        assert!(head.starts_with("POST /in ") && head.contains("x-key: s3cret\r\n"), "{head}");
        assert_eq!(
            (body.as_str(), answer.as_str()),
            (r##"{"to":"#ops","subject":"s","body":"b\"x"}"##, "204 No Content")
        );
    }
}

#[test]
fn a_webhook_that_redirects_or_refuses_was_not_sent_to_anybody_else() {
    for status in ["302 Found\r\nlocation: http://127.0.0.1:1/", "403 Forbidden"] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let served = once(listener, None, status);
        let hook = Relay::Webhook(webhook(&format!("http://127.0.0.1:{port}/path-s3cret")));
        let error = hook.send(&letter("#ops", "s", "b"), &halt()).unwrap_err();
        assert!(matches!(error, RelayError::Refused(_)) && !error.to_string().contains("s3cret"), "{error}");
        served.join().unwrap();
    }
    let hook = Relay::Webhook(webhook("http://127.0.0.1:1/path-s3cret"));
    let error = hook.send(&letter("#ops", "s", "b"), &halt()).unwrap_err();
    assert!(matches!(error, RelayError::Unreached(_)) && !error.to_string().contains("s3cret"), "{error}");
}
