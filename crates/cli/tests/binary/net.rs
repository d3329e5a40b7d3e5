//! A network of one's own: every address there is, public and private, is answered by this process.
//!
//! The tests here start themselves again in a user, mount and network namespace in which all of IPv4 and
//! IPv6 is local. There the binary runs as its users have it: it asks a real name server, dials real
//! addresses, and no switch tells it that it is being tested. Who is reached is counted by address.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{IpAddr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The variable that tells a test that it is inside, and which file the name server's address is in.
const INSIDE: &str = "TOLLGATE_TEST_NETWORK";

/// Runs the ignored test `name` of this program in a network of its own. `None`, with the reason printed,
/// where that cannot be had.
pub(crate) fn in_a_network_of_its_own(name: &str, room: &Path) -> Option<()> {
    let files = [
        ("resolv.conf", "nameserver 127.0.0.1\n"),
        ("nsswitch.conf", "hosts: files dns\n"),
        ("hosts", "127.0.0.1 localhost\n"),
    ];
    let mut steps = vec![
        "ip link set lo up".to_owned(),
        "ip route add local 0.0.0.0/0 dev lo".to_owned(),
        "ip -6 route add local ::/0 dev lo".to_owned(),
    ];
    for (file, text) in files {
        std::fs::write(room.join(file), text).unwrap();
        // A link to what a name service keeps is resolved; a machine without the file reads the default.
        let bind = format!("if [ -e /etc/{file} ]; then mount --bind '{}/{file}' /etc/{file}; fi", room.display());
        steps.push(bind);
    }
    let within = |last: &str| {
        let mut command = Command::new("unshare");
        let script = format!("set -e; {}; {last}", steps.join("; "));
        command.args(["--user", "--map-root-user", "--net", "--mount", "sh", "-c", &script, "sh"]);
        command
    };
    let tried = within("true").output();
    if let Some(why) = tried.as_ref().map_or_else(|error| Some(error.to_string()), said_no) {
        println!("skipped: no network of one's own can be made here: {}", why.trim());
        return None;
    }
    let again = ["--ignored", "--exact", name, "--nocapture", "--test-threads=1"];
    let inside = within("exec \"$@\"").arg(std::env::current_exe().unwrap()).args(again).env(INSIDE, "1").output();
    let inside = inside.unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&inside.stdout), String::from_utf8_lossy(&inside.stderr));
    println!("{told}");
    assert!(inside.status.success() && told.contains("1 passed"), "{name} failed inside");
    Some(())
}

/// Whether this process is inside a network of its own.
pub(crate) fn is_inside() -> bool {
    std::env::var_os(INSIDE).is_some()
}

fn said_no(output: &std::process::Output) -> Option<String> {
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Who was reached: the address that was dialled, and its port.
pub(crate) type Reached = BTreeSet<(IpAddr, u16)>;

/// Web servers on every address, plain and over TLS.
#[derive(Clone, Default)]
pub(crate) struct Web(Arc<Mutex<Reached>>);

impl Web {
    /// Answers at `plain` and, with a certificate for `names` that is written to `trust`, at 443.
    pub(crate) fn serve(plain: &[u16], names: &[&str], trust: &Path) -> Self {
        let web = Self::default();
        for port in plain {
            web.listen(*port, |stream| answer(stream).unwrap_or_default());
        }
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(names).unwrap();
        std::fs::write(trust, cert.pem()).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(signing_key.serialize_der()));
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions().unwrap();
        let config = Arc::new(config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap());
        web.listen(443, move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            answer(StreamOwned::new(connection, stream)).unwrap_or_default();
        });
        web
    }

    /// Who was reached since the last time.
    pub(crate) fn reached(&self) -> Reached {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn listen(&self, port: u16, serve: impl Fn(TcpStream) + Send + 'static) {
        let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).unwrap();
        let reached = Arc::clone(&self.0);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let here = stream.local_addr().unwrap();
                reached.lock().unwrap().insert((here.ip().to_canonical(), here.port()));
                serve(stream);
            }
        });
    }
}

/// Says who was asked for; `/to?u=ADDRESS` redirects there.
fn answer(stream: impl Read + Write) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while stream.read_line(&mut head)? > 2 {}
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (status, more, body) = match path.split_once("?u=") {
        Some((_, to)) => ("302 Found", format!("location: {to}\r\n"), String::new()),
        None => ("200 OK", String::new(), format!("you reached {path}")),
    };
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{more}content-type: text/plain\r\nconnection: close\r\n");
    write!(stream.get_mut(), "{head}content-length: {length}\r\n\r\n{body}")?;
    stream.get_mut().flush()
}

/// What a name has: addresses for the first question, and for all later ones.
#[derive(Clone)]
pub(crate) struct Zone {
    pub(crate) first: Vec<IpAddr>,
    pub(crate) later: Vec<IpAddr>,
    pub(crate) alias: Option<&'static str>,
}

impl Zone {
    /// Always the same addresses.
    pub(crate) fn of(addresses: &[&str]) -> Self {
        let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
        Self { first: addresses.clone(), later: addresses, alias: None }
    }
}

/// A name server on the port where resolvers ask, and what it was asked.
#[derive(Clone, Default)]
pub(crate) struct Names(Arc<Mutex<Vec<String>>>);

impl Names {
    /// Serves `zones`; every other name does not exist.
    pub(crate) fn serve(zones: BTreeMap<&'static str, Zone>) -> Self {
        let names = Self::default();
        let socket = UdpSocket::bind(("127.0.0.1", 53)).unwrap();
        let asked = Arc::clone(&names.0);
        std::thread::spawn(move || {
            let mut seen = BTreeSet::new();
            let mut packet = [0; 512];
            while let Ok((length, peer)) = socket.recv_from(&mut packet) {
                let Some((name, kind, question)) = question(&packet[..length]) else { continue };
                asked.lock().unwrap().push(name.clone());
                let fresh = seen.insert((name.clone(), kind));
                let reply = reply(&packet[..2], question, kind, zones.get(name.as_str()), fresh);
                socket.send_to(&reply, peer).unwrap();
            }
        });
        names
    }

    /// The names that were asked for since the last time.
    pub(crate) fn asked(&self) -> BTreeSet<String> {
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().collect()
    }
}

const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;

/// The name, type and bytes of a message's one question (RFC 1035, section 4.1.2).
fn question(packet: &[u8]) -> Option<(String, u16, &[u8])> {
    let (mut at, mut labels) = (12, Vec::new());
    loop {
        let length = usize::from(*packet.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(packet.get(at..at + length)?).to_lowercase());
        at += length;
    }
    let kind = u16::from_be_bytes(packet.get(at..at + 2)?.try_into().ok()?);
    Some((labels.join("."), kind, packet.get(12..at + 4)?))
}

fn reply(id: &[u8], question: &[u8], kind: u16, zone: Option<&Zone>, fresh: bool) -> Vec<u8> {
    // The name of an answer is a pointer to the question's (section 4.1.4).
    let mut owner = vec![0xc0, 12];
    let mut answers = Vec::new();
    let addresses = zone.map(|zone| if fresh { &zone.first } else { &zone.later });
    if let Some(alias) = zone.and_then(|zone| zone.alias) {
        let alias = wire(alias);
        answers.push(record(&owner, CNAME, &alias));
        owner = alias;
    }
    for address in addresses.into_iter().flatten() {
        match address {
            IpAddr::V4(ip) if kind == A => answers.push(record(&owner, A, &ip.octets())),
            IpAddr::V6(ip) if kind == AAAA => answers.push(record(&owner, AAAA, &ip.octets())),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
    }
    let unknown = u8::from(zone.is_none()) * 3;
    let mut reply = [id, &[0x85, 0x80 | unknown, 0, 1, 0, answers.len() as u8, 0, 0, 0, 0], question].concat();
    reply.extend(answers.concat());
    reply
}

fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap().to_be_bytes();
    [owner, &kind.to_be_bytes(), &[0, 1, 0, 0, 0, 0], &length, data].concat()
}

fn wire(name: &str) -> Vec<u8> {
    let labels = name.split('.').flat_map(|label| std::iter::once(label.len() as u8).chain(label.bytes()));
    labels.chain([0]).collect()
}
