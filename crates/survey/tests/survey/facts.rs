//! What is told about paths, patterns, programs and hosts.

use std::net::IpAddr;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tollgate_call::action::{
    ActionKind, Connect, Depth, Execute, Flow, PathRef, Peer, Program, Standing, Target, WriteHow,
};
use tollgate_call::facts::{Confinement, Expansion, Fact, Facts, Kind, Refused, Unknown};
use tollgate_call::places::Place as Lies;
use tollgate_survey::{PathError, Resolve, Surveyor, Within};

use crate::place::{Place, action};

fn told(place: &Place, kind: ActionKind) -> Facts {
    place.surveyor().facts(&[action(kind)], &place.path("W"))
}

fn expansion(place: &Place, kind: ActionKind) -> Expansion {
    let mut facts = told(place, kind);
    let (_, told) = facts.expansions.pop_first().expect("an expansion");
    told.known().expect("a known expansion").clone()
}

#[test]
fn a_delete_is_judged_by_the_entry_and_a_read_by_what_it_leads_to() {
    let place = Place::new();
    place.link("../outside/secret", "W/out");
    place.link("W/b.txt", "in");
    let lies = |kind, named: &str| {
        let facts = told(&place, kind);
        facts.paths[&place.at(named).abs].resolved.clone()
    };
    let out = place.target("out");
    assert_eq!(lies(ActionKind::Read(out.clone()), "out"), place.path("outside/secret"));
    assert_eq!(lies(ActionKind::Delete(out.clone(), Depth::Single), "out"), place.path("W/out"));
    let into = place.target("../in");
    assert_eq!(lies(ActionKind::Read(into.clone()), "../in"), place.path("W/b.txt"));
    assert_eq!(lies(ActionKind::Delete(into.clone(), Depth::Single), "../in"), place.path("in"));
    let onto = ActionKind::Move(place.target("b.txt"), into);
    assert_eq!(lies(onto, "../in"), place.path("in"), "the entry outside would be replaced");
    let onto = ActionKind::Move(place.target("b.txt"), out);
    assert_eq!(lies(onto, "out"), place.path("outside/secret"));
}

#[test]
fn a_workspace_named_through_a_link_is_the_workspace() {
    let place = Place::new();
    place.link("W", "alias");
    let call = place.call("read_file", &json!({ "path": place.path("alias/b.txt") }));
    let surveyed = place.surveyor().survey(&call);
    let fact = surveyed.facts.paths.values().next().expect("one path");
    assert_eq!((fact.place, fact.resolved.as_str()), (Lies::Inside, place.path("W/b.txt").as_str()));
    let path = surveyed.handles.path.expect("a handle").expect("an opened one");
    assert_eq!((path.within(), path.display()), (Within::Root, "b.txt"));
}

#[test]
fn handle_and_fact_are_of_the_same_file() {
    let place = Place::new();
    for (tool, args) in [
        ("read_file", json!({ "path": "a/b.txt" })),
        ("write_file", json!({ "path": "a/b.txt", "content": "" })),
        ("edit_file", json!({ "path": "a/b.txt", "old_string": "a", "new_string": "b" })),
        ("delete_file", json!({ "path": "a/b.txt" })),
    ] {
        let surveyed = place.surveyor().survey(&place.call(tool, &args));
        let path = surveyed.handles.path.expect("a handle").expect("an opened one");
        let fact = &surveyed.facts.paths[&place.at("a/b.txt").abs];
        assert_eq!(fact.identity, Fact::Known(path.identity()), "{tool}");
        assert_eq!(fact.resolved, path.resolved(), "{tool}");
    }
}

#[test]
fn a_tool_does_not_go_up_from_what_is_not_there_and_a_command_might() {
    let place = Place::new();
    let call = place.call("read_file", &json!({ "path": "nowhere/../b.txt" }));
    let surveyed = place.surveyor().survey(&call);
    assert!(matches!(surveyed.handles.path, Some(Err(PathError::NotFound(_)))));
    let facts = told(&place, ActionKind::Read(place.target("build/../b.txt")));
    assert_eq!(facts.paths[&place.at("build/../b.txt").abs].resolved, place.path("W/b.txt"));
}

#[test]
fn a_read_root_is_read_and_known_as_such() {
    let place = Place::new();
    let mut layout = place.layout();
    layout.read_roots.push(place.path("outside"));
    let surveyor = Surveyor::open(layout, "/usr/bin").expect("two roots");
    let surveyed = surveyor.survey(&place.call("read_file", &json!({ "path": place.path("outside/secret") })));
    let fact = surveyed.facts.paths.values().next().expect("one path");
    assert_eq!((fact.place, fact.refused), (Lies::ReadRoot, None));
    assert_eq!(surveyed.handles.path.expect("a handle").expect("opened").within(), Within::ReadRoot);
    for (tool, args) in [
        ("write_file", json!({ "path": place.path("outside/secret"), "content": "" })),
        ("delete_file", json!({ "path": place.path("outside/secret") })),
    ] {
        let handle = surveyor.survey(&place.call(tool, &args)).handles.path.expect("an answer");
        assert!(matches!(handle, Err(PathError::Outside(_))), "{tool}");
    }
}

#[test]
fn a_file_outside_comes_with_a_handle_that_is_known_to_be_outside() {
    let place = Place::new();
    let call = place.call("read_file", &json!({ "path": "/etc/passwd" }));
    let surveyed = place.surveyor().survey(&call);
    let path = surveyed.handles.path.expect("a handle").expect("opened");
    assert_eq!((path.within(), path.resolved().as_str()), (Within::Outside, "/etc/passwd"));
    path.open_regular().expect("readable");
    let call = place.call("write_file", &json!({ "path": "/etc/passwd", "content": "" }));
    let handle = place.surveyor().survey(&call).handles.path.expect("an answer");
    assert_eq!(handle.unwrap_err(), PathError::Outside("/etc/passwd".into()));
}

#[test]
fn searches_hold_the_directory_or_the_file() {
    let place = Place::new();
    let survey = |tool: &str, args| place.surveyor().survey(&place.call(tool, &args)).handles;
    let dir = |handles: tollgate_survey::Handles| handles.dir.expect("an answer").map(|dir| dir.resolved());
    assert_eq!(dir(survey("glob_files", json!({ "pattern": "*" }))), Ok(place.path("W")));
    assert_eq!(dir(survey("grep", json!({ "pattern": "x", "path": "a" }))), Ok(place.path("W/a")));
    assert_eq!(dir(survey("run_bash", json!({ "command": "ls" }))), Ok(place.path("W")));
    let handles = survey("grep", json!({ "pattern": "x", "path": "b.txt" }));
    assert_eq!(handles.path.expect("an answer").expect("opened").display(), "b.txt");
    assert!(matches!(handles.dir, Some(Err(PathError::NotDirectory(_)))));
    assert!(dir(survey("glob_files", json!({ "pattern": "*", "path": "nowhere" }))).is_err());
}

#[test]
fn globs_are_expanded_as_bash_does_and_each_match_is_looked_at() {
    let place = Place::new();
    place.write("W/.env", "KEY=1");
    place.link("../outside/secret", "W/out.txt");
    let glob = |raw: &str| ActionKind::Read(Target::Glob(place.at(raw)));
    let names = |raw: &str| expansion(&place, glob(raw)).matches;
    assert_eq!(names("*.txt"), ["W/b.txt", "W/naïve–ファイル.txt", "W/out.txt"].map(|name| place.path(name)));
    assert_eq!(names("*/b.t[x]t"), [place.path("W/a/b.txt")]);
    assert_eq!(names(".e*"), [place.path("W/.env")]);
    assert_eq!(names("../out*/sec?et"), [place.path("W/../outside/secret")]);
    assert!(names("*.rs").is_empty());
    let facts = told(&place, glob("*.txt"));
    assert_eq!(facts.paths[&place.path("W/out.txt")].resolved, place.path("outside/secret"));
    assert_eq!(facts.paths[&place.path("W/*.txt")].kind, Fact::Known(Kind::Absent));
}

#[test]
fn a_recursive_delete_tells_how_much_and_what_is_protected_in_it() {
    let place = Place::new();
    place.write("W/sub/.env", "KEY=1");
    place.write("W/sub/deep/x", "");
    place.link("../../outside", "W/sub/deep/link");
    let told = expansion(&place, ActionKind::Delete(place.target("sub"), Depth::Recursive));
    assert_eq!((told.files, told.more), (3, false));
    assert_eq!(told.matches, [place.path("W/sub/.env")]);
    assert_eq!(told.untracked, Fact::Unknown(Unknown::NotAsked), "there is no repository to ask");
    let told = expansion(&place, ActionKind::Delete(Target::Glob(place.at("s*")), Depth::Recursive));
    assert_eq!((told.files, told.matches.len()), (3, 2));
    let system = Target::Path(PathRef::join("/", "/usr"));
    let facts = self::told(&place, ActionKind::Delete(system, Depth::Recursive));
    assert_eq!(facts.expansions["/usr"], Fact::Unknown(Unknown::NotAsked));
}

#[test]
fn a_program_is_the_first_that_may_run() {
    let place = Place::new();
    for (at, mode) in [("W/bin/tool", 0o755), ("x/tool", 0o644), ("y/tool", 0o755), ("W/tool", 0o755)] {
        place.write(at, "#!/bin/sh\n");
        std::fs::set_permissions(place.path(at), std::fs::Permissions::from_mode(mode)).expect("mode");
    }
    std::fs::create_dir_all(place.path("z/tool")).expect("a directory of that name");
    let find = |path: &str, program: Program| {
        let surveyor = Surveyor::open(place.layout(), path).expect("a root");
        let run = ActionKind::Execute(Execute { program, standing: Standing::NoRow });
        let mut facts = surveyor.facts(&[action(run)], &place.path("W"));
        let (_, fact) = facts.programs.pop_first().expect("an answer");
        fact.known().map(|fact| (fact.file.clone(), fact.place))
    };
    let name = || Program::Name("tool".into());
    let search = format!("{}:{}:{}", place.path("x"), place.path("z"), place.path("y"));
    assert_eq!(find(&search, name()), Some((place.path("y/tool"), Lies::Temp)));
    assert_eq!(find(&format!("bin:{search}"), name()), Some((place.path("W/bin/tool"), Lies::Inside)));
    assert_eq!(find(":/usr/bin", name()), Some((place.path("W/tool"), Lies::Inside)));
    assert_eq!(find("/usr/bin", name()), None);
    assert_eq!(find("/usr/bin", Program::Path(place.at("./tool"))), Some((place.path("W/tool"), Lies::Inside)));
    let (sh, lies) = find("/usr/bin:/bin", Program::Name("sh".into())).expect("a shell");
    assert!(sh.starts_with('/') && lies == Lies::System, "{sh}");
}

#[derive(Debug, Default)]
struct Counting(AtomicUsize);

impl Resolve for Counting {
    fn lookup(&self, host: &str, _: Instant) -> Result<Vec<IpAddr>, Unknown> {
        self.0.fetch_add(1, Ordering::Relaxed);
        if host == "here.example" { Ok(vec![[192, 0, 2, 7].into()]) } else { Err(Unknown::Failed) }
    }
}

#[test]
fn only_what_we_dial_ourselves_is_looked_up() {
    let place = Place::new();
    let resolver = Arc::new(Counting::default());
    let surveyor = place.surveyor().resolver(Arc::<Counting>::clone(&resolver));
    let asked = || resolver.0.load(Ordering::Relaxed);
    let call = |url: &str| place.call("webfetch", &json!({ "url": url }));
    let here = call("https://HERE.example./x");
    let mut told = surveyor.survey(&here);
    assert_eq!(told.facts.hosts["here.example"], Fact::Unknown(Unknown::NotAsked));
    assert!(told.handles.destination.is_none() && asked() == 0, "asked before anybody judged the name");
    assert!(surveyor.resolve(&here, &mut told.facts, &mut told.handles));
    let destination = told.handles.destination.expect("an address");
    assert_eq!((destination.host(), destination.port()), ("here.example", 443));
    assert_eq!(told.facts.hosts["here.example"], Fact::Known(destination.addresses().to_vec()));
    let gone = call("https://gone.example/");
    let mut told = surveyor.survey(&gone);
    assert!(surveyor.resolve(&gone, &mut told.facts, &mut told.handles) && told.handles.destination.is_none());
    assert_eq!(asked(), 2);
    let names = ["http://localhost/", "http://127.1/", "http://metadata.google.internal/", "file:///x"];
    for nobodys in names.map(call) {
        let mut told = surveyor.survey(&nobodys);
        assert!(!surveyor.resolve(&nobodys, &mut told.facts, &mut told.handles));
    }
    assert_eq!(surveyor.survey(&call("http://localhost/")).facts.hosts["localhost"].known().map(Vec::len), Some(2));
    let number = surveyor.survey(&call("http://127.1/"));
    assert_eq!(number.facts.hosts["127.0.0.1"], Fact::Known(vec![[127, 0, 0, 1].into()]));

    let peer = Peer::Url("https://secret.here.example/".into());
    let connect = ActionKind::Connect(Connect { peer, flow: Flow::Fetch });
    let facts = surveyor.facts(&[action(connect)], &place.path("W"));
    assert_eq!(facts.hosts["secret.here.example"], Fact::Unknown(Unknown::NotAsked));
    assert_eq!(asked(), 2, "the question alone would carry the name out");
}

#[test]
fn without_time_nothing_good_is_told() {
    let place = Place::new();
    let surveyor = place.surveyor().patience(Duration::ZERO, Duration::ZERO).confinement(Confinement::Enforced);
    let write = action(ActionKind::Write(place.target("b.txt"), WriteHow::Replace));
    let delete = action(ActionKind::Delete(Target::Glob(place.at("*")), Depth::Recursive));
    let facts = surveyor.facts(&[write, delete], &place.path("W"));
    let fact = &facts.paths[&place.path("W/b.txt")];
    assert_eq!((fact.kind.clone(), fact.refused), (Fact::Unknown(Unknown::Late), Some(Refused::Other)));
    assert_eq!(facts.expansions[&place.path("W/*")], Fact::Unknown(Unknown::Late));
    assert_eq!(facts.confinement, Confinement::Enforced);
}
