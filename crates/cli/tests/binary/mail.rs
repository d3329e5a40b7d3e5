//! Messages through a relay that the operator configured, its secret in a file.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread::JoinHandle;

use crate::world::{CONFIG, World};

const SECRET: &str = "kD93-not-to-be-seen";

/// A webhook that takes `many` messages; returns its port, and what came.
fn webhook(many: usize) -> (u16, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = std::thread::spawn(move || {
        let took = |stream: std::net::TcpStream| {
            let mut reader = BufReader::new(stream);
            let (mut told, mut length) = (String::new(), 0);
            while reader.read_line(&mut told).unwrap() > 2 {
                let last = told.lines().last().unwrap().to_ascii_lowercase();
                length = last.strip_prefix("content-length: ").map_or(length, |n| n.parse().unwrap());
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            reader.get_mut().write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
            told + &String::from_utf8(body).unwrap()
        };
        listener.incoming().map_while(Result::ok).take(many).map(took).collect()
    });
    (port, served)
}

fn configured(port: u16, mode: u32) -> World {
    let world = World::new();
    world.write("ws/hook.key", format!("{SECRET}\n"));
    std::fs::set_permissions(world.path("ws/hook.key"), std::fs::Permissions::from_mode(mode)).unwrap();
    world.write(
        CONFIG,
        format!(
            "recipients = [\"@example.org\"]\n[relay]\nkind = \"webhook\"\nurl = \"http://127.0.0.1:{port}/in\"\n\
             header = \"X-Key\"\nsecret_file = \"{}\"\n",
            world.text("ws/hook.key")
        ),
    );
    world
}

const STEPS: &str = r#"
[[step]]
calls = [
  { tool = "send_message", args = { to = "Ada@Example.ORG", subject = "build", body = "it is done" } },
  { tool = "send_message", args = { to = "eve@evil.example", subject = "build", body = "it is done" } },
  { tool = "read_file", args = { path = "hook.key" } },
  { tool = "run_bash", args = { command = "f=hook; cat $f.key; cat *.key" } },
]
"#;

#[test]
fn a_listed_recipient_is_written_to_and_the_relay_s_secret_is_nowhere_to_be_seen() {
    let (port, served) = webhook(1);
    let world = configured(port, 0o600);
    let run = world.run(&["--json", "run", "-p", "tell ada", "--model", &world.script(STEPS)]);
    let came = served.join().unwrap();
    assert!(came[0].contains(&format!("x-key: {SECRET}\r\n")), "{came:?}");
    assert!(came[0].ends_with(r#"{"to":"Ada@example.org","subject":"build","body":"it is done"}"#), "{came:?}");
    let events = run.json_lines();
    let end = |tool: &str, nth: usize| {
        let ends = events.iter().filter(|event| event["tool"] == tool && event["event"] != "proposed");
        ends.map(ToString::to_string).nth(nth).unwrap()
    };
    assert!(end("send_message", 0).contains("sent to Ada@example.org"), "{run}");
    assert!(end("send_message", 1).contains("approval.none"), "{run}");
    assert!(end("read_file", 0).contains("denied"), "{run}");
    assert!(!run.to_string().contains(SECRET), "{run}");
    for file in std::fs::read_dir(world.path("state")).unwrap().map(|entry| entry.unwrap().path()) {
        let kept = if file.is_file() { std::fs::read(&file).unwrap() } else { Vec::new() };
        assert!(!String::from_utf8_lossy(&kept).contains(SECRET), "{}", file.display());
    }
}

#[test]
fn a_secret_that_others_can_read_or_that_is_not_there_sends_nothing_and_stops_no_other_work() {
    let world = configured(1, 0o644);
    let steps = r#"
[[step]]
calls = [
  { tool = "send_message", args = { to = "ada@example.org", subject = "s", body = "b" } },
  { tool = "write_file", args = { path = "done.txt", content = "x" } },
]
"#;
    let run = world.run(&["--json", "run", "-p", "tell ada", "--model", &world.script(steps)]);
    assert!(run.stdout.contains("chmod 600"), "{run}");
    assert_eq!(world.file("done.txt"), "x");
    std::fs::remove_file(world.path("ws/hook.key")).unwrap();
    let run = world.run(&["--json", "run", "-p", "tell ada", "--model", &world.script(steps)]);
    assert!(run.stdout.contains("cannot be read"), "{run}");
}
