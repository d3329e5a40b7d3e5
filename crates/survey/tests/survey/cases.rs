//! The shared table of adversarial paths, judged by what a guard would see.

use std::path::{Path, PathBuf};

use serde_json::json;
use tollgate_call::action::{ActionKind, WriteHow};
use tollgate_call::facts::{Fact, Kind, PathFact};
use tollgate_call::places::{Place as Lies, Protection};

use crate::place::{Place, action};

/// What the survey alone settles: `Allow` when nothing in the fact speaks against it and the handle opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Allow,
    Block,
    Skip(&'static str),
}

fn clear(fact: &PathFact) -> bool {
    fact.place == Lies::Inside && fact.protection.is_none() && fact.refused.is_none()
}

fn read(place: &Place, named: &str) -> Told {
    // Control characters and lengths are refused by the schema as well; here the path layer stands alone.
    let asked = if named.starts_with('/') { named.to_owned() } else { place.path(named) };
    let root = place.root();
    let opened = root.scope(&asked, tollgate_survey::Intent::Read).and_then(|scoped| scoped.open_regular());
    let acts = [action(ActionKind::Read(place.target(&asked)))];
    let facts = place.surveyor().facts(&acts, &place.path("W"));
    if opened.is_ok() && facts.paths.values().all(clear) { Told::Allow } else { Told::Block }
}

fn write(place: &Place, named: &str) -> Told {
    let call = place.call("write_file", &json!({ "path": place.path(named), "content": "x" }));
    let surveyed = place.surveyor().survey(&call);
    let replaceable = surveyed.handles.path.is_some_and(|path| path.is_ok_and(|path| path.replaceable().is_ok()));
    if replaceable && surveyed.facts.paths.values().all(clear) { Told::Allow } else { Told::Block }
}

fn acts(place: &Place, kinds: Vec<ActionKind>) -> Told {
    let acts: Vec<_> = kinds.into_iter().map(action).collect();
    let facts = place.surveyor().facts(&acts, &place.path("W"));
    if facts.paths.values().all(clear) { Told::Allow } else { Told::Block }
}

/// Lays out the row and tries it.
fn row(id: &str) -> Option<Told> {
    let place = Place::new();
    let p = &place;
    Some(match id {
        "P001" => read(p, "W/../outside/secret"),
        "P003" => {
            p.link("../outside/sub", "W/l");
            read(p, "W/l/../secret")
        }
        "P004" => read(p, "W/a/../b.txt"),
        "P006" => read(p, &p.path("W/b.txt")),
        "P007" => read(p, "W-evil/secret"),
        "P008" => read(p, "W/~/.ssh/id_rsa"),
        "P010" => read(p, "W/$HOME/.ssh/id_rsa"),
        "P012" => read(p, "W/b.txt\0.png"),
        "P013" => read(p, "W/b.txt\n/etc/shadow"),
        "P014" => {
            p.link("/etc/passwd", "W/l");
            read(p, "W/l")
        }
        "P020" => {
            p.link("../outside", "W/d");
            write(p, "W/d/new.txt")
        }
        "P021" => {
            p.link("l", "W/l");
            read(p, "W/l")
        }
        "P022" => Told::Skip("the races have tests of their own"),
        "P024" => read(p, "/proc/self/cwd/../outside/secret"),
        "P025" => read(p, "/proc/self/fd/3"),
        "P026" => read(p, "/proc/thread-self/root/etc/passwd"),
        "P027" => read(p, "/proc/1/root/etc/shadow"),
        "P029" => read(p, "/proc/self/mem"),
        "P031" => read(p, "/dev/stdin"),
        "P034" => {
            p.write("W/.env", "KEY=1");
            p.hard_link("W/.env", "W/copy");
            read(p, "W/copy")
        }
        "P035" => {
            let (from, to) = (p.target("../outside/secret"), p.target("h"));
            acts(p, vec![ActionKind::Read(from), ActionKind::Write(to, WriteHow::Link)])
        }
        "P036" => {
            p.write("W/.ENV", "KEY=1");
            read(p, "W/.ENV")
        }
        "P037" => Told::Skip("no normalising file system here; names outside ASCII are compared by identity"),
        "P038" => write(p, "W/.git/config."),
        "P040" => {
            p.link("/etc", "W/l");
            read(p, "W/l/")
        }
        "P041" => read(p, "W//a///b.txt"),
        "P043" => read(p, &format!("W/{}", "a".repeat(256))),
        "P044" => read(p, &format!("W/{}{}outside/secret", "a/".repeat(3000), "../".repeat(3001))),
        "P046" => write(p, "W/a"),
        "P047" => {
            p.fifo("W/p");
            read(p, "W/p")
        }
        "P048" => {
            let _socket = std::os::unix::net::UnixListener::bind(p.top.join("W/s")).expect("a socket");
            read(p, "W/s")
        }
        "P049" => {
            let device = rustix::fs::mknodat(
                rustix::fs::CWD,
                p.top.join("W/z"),
                rustix::fs::FileType::CharacterDevice,
                0o600.into(),
                rustix::fs::makedev(1, 5),
            );
            if device.is_err() {
                return Some(Told::Skip("this user may not make device nodes"));
            }
            read(p, "W/z")
        }
        "P050" => read(p, "/dev/sda"),
        "P051" => write(p, "W/.git/hooks/pre-commit"),
        "P052" => write(p, "W/.git/config"),
        "P053" => write(p, "W/.git"),
        "P054" => acts(p, vec![ActionKind::Move(p.target(".git"), p.target(".git2"))]),
        "P057" => both(read(p, "W/..hidden/file"), read(p, "W/a..b")),
        "P058" => read(p, "W/%2e%2e/file"),
        "P060" => read(p, "W/naïve–ファイル.txt"),
        _ => return None,
    })
}

fn both(a: Told, b: Told) -> Told {
    if a == Told::Allow { b } else { a }
}

fn table() -> Option<String> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let given = std::env::var_os("TOLLGATE_SHARED").map(PathBuf::from);
    let shared = given.into_iter().chain(here.ancestors().map(|dir| dir.join("shared")));
    shared.map(|dir| dir.join("cases/path.tsv")).find_map(|file| std::fs::read_to_string(file).ok())
}

#[test]
fn every_row_of_the_shared_table_is_right() {
    let Some(table) = table() else {
        println!("skipped: no shared/cases/path.tsv beside the workspace, and TOLLGATE_SHARED is not set");
        return;
    };
    let (mut run, mut skipped) = (0, 0);
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split('\t').collect();
        let want = if cells[2] == "allow" { Told::Allow } else { Told::Block };
        match row(cells[0]) {
            Some(Told::Skip(why)) => {
                skipped += 1;
                println!("skipped: {}: {why}", cells[0]);
            }
            Some(told) => {
                run += 1;
                assert_eq!(told, want, "{line}");
            }
            None => panic!("a row without a trial: {line}"),
        }
    }
    println!("{run} rows run, {skipped} skipped");
}

/// The same dangers in our own words, so that the tests stand without the shared table.
#[test]
fn dangers_are_seen_for_what_they_are() {
    let place = Place::new();
    place.write("W/.env", "KEY=1");
    place.hard_link("W/.env", "W/notes.txt");
    place.write("home/.ssh/id_ed25519", "key");
    place.hard_link("home/.ssh/id_ed25519", "W/pub.txt");
    place.write("home/.local/state/tollgate/log", "log");
    place.hard_link("home/.local/state/tollgate/log", "W/log.txt");
    place.write("home/.netrc", "key");
    place.hard_link("home/.netrc", "W/ordinary");
    place.write("W/sub/deep/server.pem", "key");
    place.hard_link("W/sub/deep/server.pem", "W/sub/deep/text");
    place.hard_link("W/b.txt", "W/twin.txt");
    for (named, lies, protection, links) in [
        ("notes.txt", Lies::Inside, Some(Protection::EnvFile), 2),
        ("pub.txt", Lies::Credential, None, 2),
        ("log.txt", Lies::GuardState, None, 2),
        ("ordinary", Lies::Credential, None, 2),
        ("sub/deep/text", Lies::Inside, Some(Protection::Key), 2),
        ("twin.txt", Lies::Inside, None, 2),
        ("a/b.txt", Lies::Inside, None, 1),
        (".git/config", Lies::Inside, Some(Protection::Git), 1),
        (".GIT/Hooks/x", Lies::Inside, Some(Protection::Git), 1),
        ("../home/.ssh/id_ed25519", Lies::Credential, Some(Protection::Key), 2),
        ("../home", Lies::Home, None, 1),
        ("..", Lies::Ancestor, None, 1),
        ("/", Lies::Ancestor, None, 1),
        (".", Lies::Root, None, 1),
        ("/etc/passwd", Lies::System, None, 1),
        ("/dev/null", Lies::HarmlessDevice, None, 1),
        ("/dev/stdin", Lies::HarmlessDevice, None, 1),
        ("/proc/self/environ", Lies::Device, None, 1),
    ] {
        let facts = place.surveyor().facts(&[action(ActionKind::Read(place.target(named)))], &place.path("W"));
        let fact = &facts.paths[&place.at(named).abs];
        assert_eq!((fact.place, fact.protection), (lies, protection), "{named}: {fact:?}");
        assert_eq!(fact.links, Fact::Known(links), "{named}");
        assert_eq!(fact.refused, None, "{named}");
    }
}

#[test]
fn a_file_tool_is_refused_what_a_command_is_only_placed_for() {
    let place = Place::new();
    place.link("../outside", "W/d");
    let call = place.call("read_file", &json!({ "path": "d/secret" }));
    let surveyed = place.surveyor().survey(&call);
    let fact = surveyed.facts.paths.values().next().expect("one path");
    assert_eq!(fact.refused, Some(tollgate_call::facts::Refused::Escapes));
    assert_eq!(fact.resolved, place.path("outside/secret"));
    assert!(surveyed.handles.path.is_some_and(|path| path.is_err()));

    let facts = place.surveyor().facts(&[action(ActionKind::Read(place.target("d/secret")))], &place.path("W"));
    let fact = facts.paths.values().next().expect("one path");
    assert_eq!((fact.refused, fact.kind.clone()), (None, Fact::Known(Kind::File(7))));
    assert_ne!(fact.place, Lies::Inside);
}
