//! What a root lets through and what it refuses, on real files.

use std::fs;

use tollgate_call::facts::Kind;
use tollgate_survey::{Intent, PathError, Root, RootError};

use crate::place::Place;

#[test]
fn what_lies_inside_is_read_however_it_is_spelled() {
    let place = Place::new();
    let inside = [
        "b.txt",
        "a/../b.txt",
        "a//b.txt",
        "./a/./b.txt",
        "..hidden/file",
        "a..b",
        "%2e%2e/file",
        "naïve–ファイル.txt",
        &place.path("W/b.txt"),
        &place.path("W//a///b.txt"),
    ]
    .map(str::to_owned);
    for named in inside {
        assert_eq!(place.read(&named).unwrap(), "inside", "{named}");
    }
}

#[test]
fn what_leaves_the_root_is_refused_even_for_a_moment() {
    let place = Place::new();
    place.link("../outside/sub", "W/l");
    place.link("../outside", "W/d");
    place.link("/etc/passwd", "W/f");
    place.link("../W/b.txt", "W/roundabout");
    place.link("/proc/self/root", "W/magic");
    for named in
        ["../outside/secret", "l/../secret", "d/secret", "d/new/er", "f", "../W/b.txt", "roundabout", "magic/etc"]
    {
        let told = place.root().scope(named, Intent::Read).unwrap_err();
        assert!(matches!(told, PathError::Escapes(_)), "{named}: {told}");
    }
    for named in [place.path("W-evil/secret"), place.path("outside/secret"), "/etc/passwd".into(), "/".into()] {
        let told = place.root().scope(&named, Intent::Write).unwrap_err();
        assert!(matches!(told, PathError::Outside(_)), "{named}: {told}");
    }
}

#[test]
fn names_that_no_honest_file_has_are_refused_by_their_letters() {
    let place = Place::new();
    assert_eq!(place.read(""), Err(PathError::Empty));
    assert_eq!(place.read("b.txt\0.png"), Err(PathError::Control(0)));
    assert_eq!(place.read("b.txt\n/etc/shadow"), Err(PathError::Control(10)));
    assert!(matches!(place.read(&"a".repeat(256)), Err(PathError::TooLong(256))));
    let long = format!("{}{}outside/secret", "a/".repeat(3000), "../".repeat(3001));
    assert!(matches!(place.read(&long), Err(PathError::TooLong(_))));
}

#[test]
fn a_write_through_an_inner_link_lands_beside_the_real_file() {
    let place = Place::new();
    place.link("a", "W/to_dir");
    place.link("to_dir/b.txt", "W/to_file");
    place.link(&place.path("W/a/b.txt"), "W/absolute");
    for named in ["to_file", "absolute", "to_dir/b.txt", "to_dir/../to_file"] {
        let scoped = place.root().scope(named, Intent::Write).unwrap();
        assert_eq!((scoped.display(), scoped.name()), ("a/b.txt", "b.txt"), "{named}");
        assert!(scoped.missing_dirs().is_empty());
    }
    let entry = place.root().scope("to_file", Intent::Entry).unwrap();
    assert_eq!(entry.display(), "to_file");
    assert!(entry.stat().unwrap().link);
    assert!(matches!(entry.open_regular(), Err(PathError::NotRegular(_))));
}

#[test]
fn what_does_not_exist_yet_names_the_directories_to_make() {
    let place = Place::new();
    place.link("nowhere", "W/dangling");
    place.link("../outside/nowhere", "W/dangling_out");
    let scoped = place.root().scope("a/x/y/new.txt", Intent::Write).unwrap();
    assert_eq!((scoped.missing_dirs(), scoped.name()), (&["x".to_owned(), "y".to_owned()][..], "new.txt"));
    assert_eq!((scoped.display(), scoped.stat()), ("a/x/y/new.txt", None));
    let through = place.root().scope("dangling/new.txt", Intent::Write).unwrap();
    assert_eq!(through.display(), "nowhere/new.txt");
    assert_eq!(place.root().scope("dangling", Intent::Write).unwrap().display(), "nowhere");
    for named in ["dangling_out", "dangling_out/new.txt"] {
        assert!(matches!(place.root().scope(named, Intent::Write), Err(PathError::Escapes(_))), "{named}");
    }
    assert!(matches!(place.root().scope("x/../new.txt", Intent::Write), Err(PathError::NotFound(_))));
    assert!(matches!(place.root().scope("new/", Intent::Write), Err(PathError::NotDirectory(_))));
    assert!(matches!(scoped.open_regular(), Err(PathError::NotFound(_))));
}

#[test]
fn circles_trailing_slashes_and_directories_are_typed_errors() {
    let place = Place::new();
    place.link("l", "W/l");
    place.link("/etc", "W/etc");
    assert!(matches!(place.read("l"), Err(PathError::Loop(_))));
    assert!(matches!(place.read("l/x"), Err(PathError::Loop(_))));
    assert!(matches!(place.read("etc/"), Err(PathError::Escapes(_))));
    assert!(matches!(place.root().scope("etc/", Intent::Entry), Err(PathError::Escapes(_))));
    assert!(matches!(place.read("b.txt/"), Err(PathError::NotDirectory(_))));
    assert!(matches!(place.read("b.txt/."), Err(PathError::NotDirectory(_))));
    assert!(matches!(place.read("b.txt/x"), Err(PathError::NotDirectory(_))));
    for named in ["a", "a/", "a/.", "a/b/..", ".", "./", &place.path("W"), "a/.."] {
        fs::create_dir_all(place.top.join("W/a/b")).unwrap();
        assert!(matches!(place.read(named), Err(PathError::IsDirectory(_))), "{named}");
    }
    assert!(matches!(place.root().scope("a", Intent::Write).unwrap().replaceable(), Err(PathError::IsDirectory(_))));
}

#[test]
fn fifos_sockets_and_devices_are_refused_without_blocking() {
    let place = Place::new();
    let at = |rel: &str| place.top.join(rel);
    rustix::fs::mknodat(rustix::fs::CWD, at("W/p"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("W/s")).unwrap();
    for named in ["p", "s"] {
        assert!(matches!(place.read(named), Err(PathError::NotRegular(_))), "{named}");
        let scoped = place.root().scope(named, Intent::Write).unwrap();
        assert_eq!(scoped.stat().unwrap().kind, Kind::Special);
        assert!(matches!(scoped.replaceable(), Err(PathError::NotRegular(_))));
        assert!(matches!(place.root().scope_dir(".").unwrap().open_regular(named), Err(PathError::NotRegular(_))));
    }
    let zero = rustix::fs::makedev(1, 5);
    let made =
        rustix::fs::mknodat(rustix::fs::CWD, at("W/z"), rustix::fs::FileType::CharacterDevice, 0o600.into(), zero);
    if made.is_err() {
        println!("skipped: the device row, because this user may not make device nodes");
        return;
    }
    assert!(matches!(place.read("z"), Err(PathError::NotRegular(_))));
    assert_eq!(place.root().scope("z", Intent::Read).unwrap().stat().unwrap().kind, Kind::Device(1, 5));
}

#[test]
fn a_file_that_was_exchanged_after_judging_is_a_race() {
    let place = Place::new();
    let scoped = place.root().scope("b.txt", Intent::Read).unwrap();
    scoped.recheck().unwrap();
    fs::rename(place.top.join("W/a/b.txt"), place.top.join("W/b.txt")).unwrap();
    assert!(matches!(scoped.open_regular(), Err(PathError::Race(_))));
    assert!(matches!(scoped.recheck(), Err(PathError::Race(_))));
    fs::remove_file(place.top.join("W/b.txt")).unwrap();
    assert!(matches!(scoped.open_regular(), Err(PathError::Race(_))));
    place.link("../outside/secret", "W/b.txt");
    assert!(matches!(scoped.open_regular(), Err(PathError::Race(_))));
}

#[test]
fn a_root_that_hands_over_the_user_or_the_guard_is_refused() {
    let place = Place::new();
    let layout = place.layout();
    place.link("home", "alias");
    let state = place.path("home/.local/state/tollgate/run");
    fs::create_dir_all(&state).unwrap();
    fs::create_dir_all(place.path("home/.ssh")).unwrap();
    let open = |path: &str| Root::open(path, &layout).unwrap_err();
    assert_eq!(open("/"), RootError::Slash);
    assert_eq!(open("/.."), RootError::Slash);
    assert_eq!(open("W"), RootError::Relative("W".into()));
    assert!(matches!(open(&place.path("home")), RootError::Home(_)));
    assert!(matches!(open(&place.path("alias")), RootError::Home(_)));
    assert!(matches!(open(&place.path("")), RootError::Home(_)));
    assert!(matches!(open(&place.path("home/.local")), RootError::HoldsGuard(..)));
    assert!(matches!(open(&state), RootError::HoldsGuard(..)));
    assert!(matches!(open(&place.path("alias/.local/state")), RootError::HoldsGuard(..)));
    assert!(matches!(open(&place.path("home/.ssh")), RootError::Credentials(_)));
    assert!(matches!(open(&place.path("W/b.txt")), RootError::NotDirectory(_)));
    assert!(matches!(open(&place.path("nowhere")), RootError::Unusable(..)));
}

#[test]
fn what_a_protected_link_or_git_points_at_is_protected_too() {
    use tollgate_call::Span;
    use tollgate_call::action::{Action, ActionKind, PathRef, Target, WriteHow};
    use tollgate_call::places::Protection;
    let place = Place::new();
    fs::create_dir_all(place.top.join("W/.git")).unwrap();
    fs::create_dir_all(place.top.join("W/real")).unwrap();
    fs::write(place.top.join("W/.git/config"), "[core]\n\thooksPath = tools/hooks\n").unwrap();
    fs::write(place.top.join("W/secrets-of-mine"), "x").unwrap();
    place.link("secrets-of-mine", "W/.env");
    place.link("real", "W/.claude");
    place.link("../outside/secret", "W/.envrc");
    let root = place.path("W");
    let surveyor = tollgate_survey::Surveyor::open(place.layout(), "/bin").unwrap();
    let protection = |name: &str| {
        let path = PathRef::join(&root, name);
        let kind = ActionKind::Write(Target::Path(path.clone()), WriteHow::Replace);
        let facts = surveyor.facts(&[Action { kind, span: Span::new("/path", 0, 0), part: 0 }], &root);
        facts.paths[&path.abs].protection
    };
    assert_eq!(protection("secrets-of-mine"), Some(Protection::EnvFile));
    assert_eq!(protection("real/settings.json"), Some(Protection::AgentSettings));
    assert_eq!(protection("tools/hooks/pre-commit"), Some(Protection::Git));
    assert_eq!(protection("tools/build.sh"), None);
    assert_eq!(protection("a/b.txt"), None);
}

#[test]
fn a_root_may_hold_the_binary_but_not_a_directory_of_the_guard() {
    let place = Place::new();
    let mut layout = place.layout();
    layout.guard_policy.push(place.path("W/a/b.txt"));
    assert!(Root::open(&place.path("W"), &layout).is_ok());
    let beneath = Root::open(&place.path("W/a/b.txt"), &layout).unwrap_err();
    assert!(matches!(beneath, RootError::HoldsGuard(..) | RootError::NotDirectory(_)), "{beneath}");
    layout.guard_policy.push(place.path("W/a"));
    assert!(matches!(Root::open(&place.path("W"), &layout), Err(RootError::HoldsGuard(..))));
}

#[test]
fn a_walk_reaches_everything_inside_and_follows_no_link() {
    use tollgate_survey::{Step, WalkLimits};
    let place = Place::new();
    place.link("../outside", "W/d");
    let limits =
        WalkLimits { entries: 100, depth: 8, deadline: std::time::Instant::now() + std::time::Duration::from_secs(60) };
    let dir = place.root().scope_dir("a/..").unwrap();
    assert_eq!((dir.display(), dir.resolved()), ("", place.path("W")));
    let mut seen = Vec::new();
    let told = dir.walk(&limits, &mut |found| {
        seen.push(found.rel().to_owned());
        Step::Into
    });
    assert_eq!(
        seen,
        [
            "%2e%2e",
            "%2e%2e/file",
            "..hidden",
            "..hidden/file",
            "a",
            "a/b.txt",
            "a..b",
            "b.txt",
            "d",
            "naïve–ファイル.txt"
        ]
    );
    assert!(!told.cut);
    assert!(matches!(dir.child("d"), Err(PathError::Loop(_))));
    assert!(matches!(dir.child(".."), Err(PathError::Escapes(_))));
    assert!(dir.walk(&WalkLimits { entries: 3, ..limits }, &mut |_| Step::Into).cut);
    assert!(dir.walk(&WalkLimits { depth: 0, ..limits }, &mut |_| Step::Into).cut);
}
