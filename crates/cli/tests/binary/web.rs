//! `webfetch` as its users have it, where every address of the world answers and is counted.

use std::collections::BTreeMap;
use std::net::{IpAddr, TcpStream};

use crate::net::{Names, Reached, Web, Zone, in_a_network_of_its_own, is_inside};
use crate::world::{Exchange, World};

const PUBLIC: &str = "93.184.215.14";

/// Ports at which something listens on every address; 3128 is where the environment says that a proxy is.
const PLAIN: &[u16] = &[22, 80, 3128, 6379, 8080];

/// Names with a certificate.
const NAMES: &[&str] = &[
    "api.example.com",
    "a.b.example.com",
    "redir.example.com",
    "127.0.0.1.nip.example.com",
    "xn--bcher-kva.example",
    "2001:4860:4860::8888",
];

/// What the operator of the shared table listed: two names, one with everything below it, and the literals.
const LISTED: &[&str] = &[
    "api.example.com",
    "*.example.com",
    "xn--bcher-kva.example",
    "93.184.215.14",
    "172.32.0.1",
    "172.15.255.255",
    "100.63.255.255",
    "198.20.0.1",
    "11.0.0.1",
    "192.167.255.255",
    "[2001:4860:4860::8888]",
];

fn zones() -> BTreeMap<&'static str, Zone> {
    let public = || Zone::of(&[PUBLIC]);
    let rebinding = Zone { later: vec!["127.0.0.1".parse().unwrap()], ..public() };
    let alias = Zone { alias: Some("metadata.google.internal"), ..Zone::of(&["169.254.169.254"]) };
    BTreeMap::from([
        ("api.example.com", public()),
        ("a.b.example.com", public()),
        ("redir.example.com", public()),
        ("xn--bcher-kva.example", public()),
        ("127.0.0.1.nip.example.com", public()),
        ("rebind.example.com", rebinding),
        ("mixed.example.com", Zone::of(&[PUBLIC, "10.0.0.5"])),
        ("v6only.example.com", Zone::of(&["::ffff:10.0.0.1"])),
        ("cname.example.com", alias),
        ("evilexample.com", public()),
        ("api.example.com.evil.test", public()),
    ])
}

/// The world, the servers and the name server of one test inside.
struct Inside {
    world: World,
    web: Web,
    names: Names,
}

impl Inside {
    fn new() -> Self {
        let world = World::new();
        let web = Web::serve(PLAIN, NAMES, &world.path("trust.pem"));
        Self { web, names: Names::serve(zones()), world }
    }

    /// A headless run whose model proposes a fetch of each of `urls`, with `flags`.
    fn fetch(&self, urls: &[&str], task: &str, flags: &[&str]) -> Exchange {
        let call = |url: &&str| format!("{{ tool = \"webfetch\", args = {{ url = '{url}' }} }}");
        let calls: Vec<String> = urls.iter().map(call).collect();
        let model = self.world.script(&format!("[[step]]\ncalls = [ {} ]\n", calls.join(", ")));
        let mut args = vec!["--json", "run", "-p", task, "--model", &model, "--max-tool-calls", "1000"];
        args.extend(flags);
        let mut command = self.world.command(&args);
        command.env("SSL_CERT_FILE", self.world.path("trust.pem"));
        for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"] {
            command.env(name, "http://10.9.9.9:3128");
        }
        self.world.talk(command, &args, b"")
    }

    /// What became of each call of the last run, in order.
    fn told(run: &Exchange) -> Vec<String> {
        let ends =
            run.json_lines().into_iter().filter(|line| ["performed", "denied"].iter().any(|end| line["event"] == *end));
        ends.map(|line| line.to_string()).collect()
    }
}

fn listed() -> Vec<&'static str> {
    LISTED.iter().flat_map(|host| ["--allow-host", *host]).collect()
}

fn reached(places: &[(&str, u16)]) -> Reached {
    places.iter().map(|(ip, port)| (ip.parse::<IpAddr>().unwrap(), *port)).collect()
}

#[test]
fn every_row_of_the_shared_table_is_right_through_the_binary() {
    if shared().is_some() {
        let room = World::new();
        in_a_network_of_its_own("web::inside_every_row", &room.path(""));
    }
}

#[test]
#[ignore = "started by the test before it, in a network of its own"]
fn inside_every_row() {
    assert!(is_inside());
    let inside = Inside::new();
    let table = shared().unwrap();
    let rows: Vec<Vec<&str>> = table.lines().skip(1).map(|row| row.split('\t').collect()).collect();
    let urls: Vec<&str> = rows.iter().map(|row| row[3]).collect();
    assert!(urls.len() > 60, "{}", urls.len());

    // The controls: what must not be reached is there, and would answer.
    for place in [("169.254.169.254", 80), ("127.0.0.1", 8080), ("10.0.0.5", 80), ("10.9.9.9", 3128)] {
        TcpStream::connect(place).unwrap();
        while inside.web.reached() != reached(&[place]) {
            std::thread::yield_now();
        }
    }
    let run = inside.fetch(&urls, "look", &listed());
    let told = Inside::told(&run);
    assert_eq!(told.len(), urls.len(), "{run}");
    for (row, told) in rows.iter().zip(&told) {
        let passed = told.contains("you reached");
        // The first answer is the one that is dialled: the second would be this machine.
        let wanted = row[1] == "allow" || row[2] == "rebinding";
        assert_eq!(passed, wanted, "{} {}: {told}", row[0], row[3]);
    }
    let web = |ip| (ip, 80);
    let mut public = reached(&LISTED[3..10].iter().map(|ip| web(*ip)).collect::<Vec<_>>());
    public.extend(reached(&[(PUBLIC, 443), ("2001:4860:4860::8888", 443)]));
    assert_eq!(inside.web.reached(), public);
    let refused = ["evilexample.com", "api.example.com.evil.test", "metadata.google.internal", "localhost"];
    let asked = inside.names.asked();
    assert!(refused.iter().all(|name| !asked.contains(*name)), "{asked:?}");
    println!("{} rows of ssrf.tsv, none skipped", rows.len());
}

#[test]
fn a_name_that_turns_inward_is_refused_and_a_name_that_is_refused_is_not_asked_for() {
    let room = World::new();
    in_a_network_of_its_own("web::inside_names", &room.path(""));
}

#[test]
#[ignore = "started by the test before it, in a network of its own"]
fn inside_names() {
    assert!(is_inside());
    let inside = Inside::new();
    let twice = inside.fetch(&["http://rebind.example.com/1", "http://rebind.example.com/2"], "look", &listed());
    let told = Inside::told(&twice);
    assert!(told[0].contains("you reached /1") && told[1].contains("net.private"), "{told:?}");
    assert_eq!(inside.web.reached(), reached(&[(PUBLIC, 80)]));
    inside.names.asked();

    let secret = "http://c2VjcmV0.evil.test/";
    let unlisted = inside.fetch(&[secret], "look", &listed());
    assert!(Inside::told(&unlisted)[0].contains("neither policy, user nor a search named"), "{unlisted}");
    assert!(inside.names.asked().is_empty(), "the question itself would have carried it out");
    let given = inside.fetch(&["http://api.example.com/a"], "read http://api.example.com/a", &[]);
    assert!(Inside::told(&given)[0].contains("you reached /a"), "{given}");
    assert_eq!(inside.names.asked().into_iter().collect::<Vec<_>>(), ["api.example.com"]);
}

#[test]
fn redirects_are_judged_where_they_lead_and_the_private_one_is_never_dialled() {
    let room = World::new();
    in_a_network_of_its_own("web::inside_redirects", &room.path(""));
}

#[test]
#[ignore = "started by the test before it, in a network of its own"]
fn inside_redirects() {
    assert!(is_inside());
    let inside = Inside::new();
    let to = |url: &str| format!("http://redir.example.com/to?u={url}");
    let bad = [
        "http://169.254.169.254/",
        "http://127.0.0.1:8080/admin",
        "http://[::1]/",
        "http://mixed.example.com/",
        "http://cname.example.com/",
        "http://evil.test/",
        "http://api.example.com:22/",
        "file:///etc/passwd",
        "http://redir.example.com/to?u=http://10.0.0.5/",
    ]
    .map(to);
    let urls: Vec<&str> = bad.iter().map(String::as_str).collect();
    let told = Inside::told(&inside.fetch(&urls, "look", &listed()));
    assert_eq!(told.len(), urls.len());
    assert!(told.iter().all(|told| told.contains("redirected") && !told.contains("you reached")), "{told:?}");
    assert_eq!(inside.web.reached(), reached(&[(PUBLIC, 80)]));

    // The user gave one page of a host that is not listed: its own redirects are followed, others are not.
    let home = "http://redir.example.com/to?u=http://redir.example.com/home";
    let away = "http://redir.example.com/to?u=http://api.example.com/";
    let told = Inside::told(&inside.fetch(&[home, away], &format!("read {home} and {away}"), &[]));
    assert!(told[0].contains("you reached /home"), "{told:?}");
    assert!(told[1].contains("redirected") && told[1].contains("refused"), "{told:?}");
}

fn shared() -> Option<String> {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("shared"));
    let given = std::env::var_os("TOLLGATE_SHARED").map(std::path::PathBuf::from);
    let table =
        given.into_iter().chain(beside).find_map(|dir| std::fs::read_to_string(dir.join("cases/ssrf.tsv")).ok());
    if table.is_none() {
        println!("skipped: no shared/cases/ssrf.tsv beside the workspace, and TOLLGATE_SHARED is not set");
    }
    table
}
