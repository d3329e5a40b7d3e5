//! A mail server on loopback that keeps nothing but a count: real enough to receive, and proof of what
//! was sent.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// How long a client may be silent.
const PATIENCE: Duration = Duration::from_secs(5);

/// The listener and its count.
#[derive(Debug)]
pub(super) struct Sink {
    address: SocketAddr,
    mails: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Sink {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn open() -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let (mails, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, end) = (Arc::clone(&mails), Arc::clone(&over));
        let thread = thread::Builder::new().name("mail sink".to_owned()).spawn(move || {
            for client in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                if client.is_ok_and(|client| converse(&client).unwrap_or(false)) {
                    count.fetch_add(1, Ordering::SeqCst);
                }
            }
        })?;
        Ok(Self { address, mails, over, thread: Some(thread) })
    }

    /// Where it listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// How many mails came.
    pub(super) fn mails(&self) -> u64 {
        self.mails.load(Ordering::SeqCst)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // A last knock wakes the listener, so that it sees the end.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// The server's half of RFC 5321, as far as one mail needs it. True once a mail was taken.
fn converse(client: &TcpStream) -> std::io::Result<bool> {
    client.set_read_timeout(Some(PATIENCE))?;
    let mut out = client;
    let mut taken = false;
    out.write_all(b"220 sink\r\n")?;
    let mut lines = BufReader::new(client).lines();
    while let Some(line) = lines.next().transpose()? {
        let verb = line.split([' ', ':']).next().unwrap_or_default().to_uppercase();
        let answer: &[u8] = match verb.as_str() {
            "EHLO" | "HELO" | "MAIL" | "RCPT" | "RSET" | "NOOP" => b"250 ok\r\n",
            "DATA" => {
                out.write_all(b"354 go on\r\n")?;
                while lines.next().transpose()?.is_some_and(|line| line != ".") {}
                taken = true;
                b"250 taken\r\n"
            }
            "QUIT" => {
                out.write_all(b"221 bye\r\n")?;
                return Ok(taken);
            }
            _ => b"500 what\r\n",
        };
        out.write_all(answer)?;
    }
    Ok(taken)
}
