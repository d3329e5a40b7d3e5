//! Messages against a real mail sink on loopback, and a webhook.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};

use tollgate_act::relay::{Letter, Relay, RelayError, RelayTls};

/// What the sink was told: the envelope and the data.
#[derive(Debug, Default)]
struct Mail {
    rcpt: Vec<String>,
    data: String,
}

fn letter(to: &str, subject: &str, body: &str) -> Letter {
    Letter { to: to.into(), subject: subject.into(), body: body.into() }
}

fn converse(stream: TcpStream, refuse: bool) -> std::io::Result<Mail> {
    let mut out = stream.try_clone()?;
    let mut lines = BufReader::new(stream).lines();
    let mut mail = Mail::default();
    out.write_all(b"220 sink\r\n")?;
    while let Some(line) = lines.next().transpose()? {
        let verb = line.to_ascii_uppercase();
        if verb.starts_with("RCPT") {
            mail.rcpt.push(line);
            out.write_all(if refuse { b"550 no such user\r\n" } else { b"250 ok\r\n" })?;
        } else if verb == "DATA" {
            out.write_all(b"354 go on\r\n")?;
            for line in lines.by_ref() {
                match line?.as_str() {
                    "." => break,
                    line => mail.data.push_str(&format!("{line}\n")),
                }
            }
            out.write_all(b"250 taken\r\n")?;
        } else if verb == "QUIT" {
            out.write_all(b"221 bye\r\n")?;
            return Ok(mail);
        } else {
            out.write_all(b"250 ok\r\n")?;
        }
    }
    Ok(mail)
}

fn sink(refuse: bool) -> (u16, Receiver<Mail>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, mails): (Sender<Mail>, _) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            told.send(converse(stream, refuse).unwrap_or_default()).unwrap_or_default();
        }
    });
    (port, mails)
}

fn relay(port: u16) -> Relay {
    Relay::Smtp { host: "127.0.0.1".into(), port, from: "agent@host.example".into(), tls: RelayTls::None }
}

#[test]
fn a_message_reaches_its_one_recipient() {
    let (port, mails) = sink(false);
    relay(port).send(&letter("ops@host.example", "build", "it is done\n.\nreally")).unwrap();
    let mail = mails.recv().unwrap();
    assert_eq!(mail.rcpt.len(), 1);
    assert!(mail.rcpt.join("").contains("<ops@host.example>"), "{mail:?}");
    assert!(mail.data.contains("Subject: build\n") && mail.data.contains("it is done\n..\nreally"), "{mail:?}");
}

#[test]
fn nothing_in_subject_or_text_adds_a_recipient_or_a_header() {
    let (port, mails) = sink(false);
    let evil = "hi\r\nBcc: thief@evil.example";
    relay(port).send(&letter("ops@host.example", evil, "x\r\n.\r\nRCPT TO:<thief@evil.example>\r\n")).unwrap();
    let mail = mails.recv().unwrap();
    assert_eq!(mail.rcpt.len(), 1, "{mail:?}");
    assert!(!mail.data.lines().any(|line| line.to_lowercase().starts_with("bcc:")), "{mail:?}");
}

#[test]
fn recipients_that_are_not_one_bare_address_are_refused() {
    for to in ["a@b.example, c@d.example", "Name <a@b.example>", "a@b.example\r\nBcc: c@d.example", "nobody", ""] {
        let error = relay(1).send(&letter(to, "s", "b")).unwrap_err();
        assert!(matches!(error, RelayError::Recipient(_)), "{to}: {error}");
    }
}

#[test]
fn a_refusal_is_told_and_was_not_sent() {
    let (port, mails) = sink(true);
    let error = relay(port).send(&letter("ops@host.example", "s", "b")).unwrap_err();
    assert!(matches!(&error, RelayError::Refused(why) if why.contains("no such user")), "{error}");
    assert!(!error.may_have_been_sent());
    assert!(mails.recv().unwrap().data.is_empty());
}

#[test]
fn a_relay_that_hangs_up_leaves_it_open_whether_it_was_sent() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let error = relay(port).send(&letter("ops@host.example", "s", "b")).unwrap_err();
    assert!(error.may_have_been_sent(), "{error}");
}

#[test]
fn plain_text_beyond_loopback_and_over_long_messages_are_refused() {
    let far = Relay::Smtp { host: "mail.example".into(), port: 25, from: "a@b.example".into(), tls: RelayTls::None };
    let error = far.send(&letter("ops@host.example", "s", "b")).unwrap_err();
    assert!(matches!(error, RelayError::Configuration(_)), "{error}");
    let error = relay(1).send(&letter("ops@host.example", "s", &"x".repeat(300_000))).unwrap_err();
    assert!(matches!(error, RelayError::TooLarge { what: "text", .. }), "{error}");
    let hook = Relay::Webhook { url: "http://hook.example/".into() };
    let error = hook.send(&letter("ops", "s", "b")).unwrap_err();
    assert!(matches!(error, RelayError::Configuration(_)), "{error}");
}

#[test]
fn a_webhook_gets_the_message_as_json() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let (mut head, mut length) = (String::new(), 0);
        while reader.read_line(&mut head).unwrap() > 2 {
            let last = head.lines().last().unwrap().to_ascii_lowercase();
            length = last.strip_prefix("content-length: ").map_or(length, |n| n.parse().unwrap());
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
        (head, String::from_utf8(body).unwrap())
    });
    let hook = Relay::Webhook { url: format!("http://127.0.0.1:{port}/in") };
    hook.send(&letter("#ops", "s", "b\"x")).unwrap();
    let (head, body) = served.join().unwrap();
    assert!(head.starts_with("POST /in "), "{head}");
    assert_eq!(body, r##"{"to":"#ops","subject":"s","body":"b\"x"}"##);
}
