//! As much of HTTP/1.1 as one known client on the loopback needs.

use std::io::{self, BufRead, Read, Write};

/// The largest request head and body that are read.
const MAX_HEAD_BYTES: u64 = 64 << 10;
const MAX_BODY_BYTES: usize = 32 << 20;

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::model) struct Request {
    pub(in crate::model) method: String,
    pub(in crate::model) path: String,
    pub(in crate::model) authorization: Option<String>,
    pub(in crate::model) body: Vec<u8>,
}

/// Reads one request. A body needs a `content-length`; chunked requests are refused.
pub(in crate::model) fn read(stream: &mut impl BufRead) -> io::Result<Request> {
    let mut head = stream.take(MAX_HEAD_BYTES);
    let first = line(&mut head)?;
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default().to_owned(), words.next().unwrap_or_default().to_owned());
    let (mut length, mut authorization) = (0, None);
    loop {
        let line = line(&mut head)?;
        let Some((name, value)) = line.split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().map_err(|_| invalid("content-length"))?,
            "authorization" => authorization = Some(value.trim().to_owned()),
            "transfer-encoding" => return Err(invalid("transfer-encoding")),
            _ => {}
        }
    }
    if length > MAX_BODY_BYTES {
        return Err(invalid("content-length"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(Request { method, path, authorization, body })
}

/// Reads a line without its end; the empty line ends a head.
fn line(head: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    head.read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(whole) => Ok(whole.trim_end_matches('\r').to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

/// Writes a whole answer; `extra` are header lines, each with its line end.
pub(in crate::model) fn whole(out: &mut impl Write, status: &str, extra: &str, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{extra}content-length: {length}\r\n\r\n{body}"
    )?;
    out.flush()
}

/// Writes a head that promises more than the half body that follows.
pub(in crate::model) fn half(out: &mut impl Write, body: &str, half: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        out,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{half}"
    )?;
    out.flush()
}

/// Starts a stream of events.
pub(in crate::model) fn start_events(out: &mut impl Write) -> io::Result<()> {
    out.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    out.flush()
}

/// Sends one event in a chunk of its own.
pub(in crate::model) fn event(out: &mut impl Write, data: &str) -> io::Result<()> {
    let event = format!("data: {data}\n\n");
    write!(out, "{:x}\r\n{event}\r\n", event.len())?;
    out.flush()
}

/// Ends a stream of events; left out, the client knows that the stream broke.
pub(in crate::model) fn end_events(out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"0\r\n\r\n")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_with_its_body() {
        let text = b"POST /v1/x HTTP/1.1\r\nContent-Length: 2\r\nAuthorization:  Bearer t \r\n\r\nhi".as_slice();
        let request = read(&mut io::BufReader::new(text)).unwrap();
        let authorization = Some("Bearer t".to_owned());
        assert_eq!(
            request,
            Request { method: "POST".into(), path: "/v1/x".into(), authorization, body: b"hi".to_vec() }
        );
    }

    #[test]
    fn hostile_requests_are_errors() {
        let endless = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(70_000));
        for text in [
            "",
            "GET / HTTP/1.1\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 99\r\n\r\nshort",
            "POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
            "POST / HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n",
            "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            &endless,
        ] {
            assert!(read(&mut io::BufReader::new(text.as_bytes())).is_err(), "{text:.60}");
        }
    }
}
