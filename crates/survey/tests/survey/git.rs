//! Facts of repositories, kind and hostile.

use std::path::Path;
use std::process::Command;

use tollgate_call::action::{ActionKind, Connect, Depth, Flow, Peer, WriteHow};
use tollgate_call::facts::{Fact, Facts, RepoFact, Tracked, Unknown};

use crate::place::{Place, action};

fn git(dir: &Path, args: &[&str]) -> bool {
    let done = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=u", "-c", "user.email=u@example.com", "-c", "init.defaultBranch=main"])
        .args(args)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output();
    done.is_ok_and(|output| output.status.success())
}

/// A workspace with one commit; `None`, said aloud, where there is no git.
fn repository() -> Option<Place> {
    let place = Place::new();
    let top = place.top.join("W");
    place.write("W/.gitignore", "target/\n*.o\n!keep.o\n");
    place.write("W/src/main.rs", "fn main() {}\n");
    if git(&top, &["init", "-q"]) && git(&top, &["add", "."]) && git(&top, &["commit", "-qm", "first"]) {
        return Some(place);
    }
    println!("skipped: there is no git to make a repository with");
    None
}

fn facts(place: &Place, kind: ActionKind) -> Facts {
    place.surveyor().facts(&[action(kind)], &place.path("W"))
}

fn tracked(place: &Place, named: &str) -> Fact<Tracked> {
    let facts = facts(place, ActionKind::Write(place.target(named), WriteHow::Replace));
    facts.paths[&place.at(named).abs].tracked.clone()
}

fn repo(place: &Place) -> Fact<RepoFact> {
    let push = Connect { peer: Peer::Remote("origin".into()), flow: Flow::Send };
    facts(place, ActionKind::Connect(push)).repo
}

#[test]
fn each_path_is_known_as_git_knows_it() {
    let Some(place) = repository() else { return };
    place.write("W/new.txt", "");
    place.write("W/target/debug/x", "");
    place.write("W/x.o", "");
    place.write("W/keep.o", "");
    place.write("W/a/b.txt", "changed!");
    place.write("W/b.txt", "INSIDE");
    for (named, want) in [
        ("src/main.rs", Tracked::Clean),
        ("a/b.txt", Tracked::Modified),
        ("b.txt", Tracked::Modified),
        ("new.txt", Tracked::Untracked),
        ("keep.o", Tracked::Untracked),
        ("x.o", Tracked::Ignored),
        ("src/deep/y.o", Tracked::Ignored),
        ("target/debug/x", Tracked::Ignored),
        ("target", Tracked::Ignored),
    ] {
        assert_eq!(tracked(&place, named), Fact::Known(want), "{named}");
    }
    assert!(git(&place.top.join("W"), &["add", "."]));
    assert_eq!(tracked(&place, "b.txt"), Fact::Known(Tracked::Clean));
}

#[test]
fn a_touched_file_with_the_same_content_is_clean() {
    let Some(place) = repository() else { return };
    place.write("W/src/main.rs", "fn main() {}\n");
    assert_eq!(tracked(&place, "src/main.rs"), Fact::Known(Tracked::Clean));
    assert_eq!(repo(&place).known().map(|repo| repo.dirty.clone()), Some(Fact::Known(false)));
    place.write("W/src/main.rs", "fn main()  {}");
    assert_eq!(repo(&place).known().map(|repo| repo.dirty.clone()), Some(Fact::Known(true)));
}

#[test]
fn a_change_that_hides_behind_its_old_times_is_seen() {
    let Some(place) = repository() else { return };
    let file = place.top.join("W/src/main.rs");
    let before = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, "fn evil() {}\n").unwrap();
    let set = |path: &Path| std::fs::File::options().write(true).open(path).unwrap().set_modified(before).unwrap();
    set(&file);
    assert_eq!(tracked(&place, "src/main.rs"), Fact::Known(Tracked::Modified));
    set(&place.top.join("W/.git/index"));
    assert_eq!(tracked(&place, "src/main.rs"), Fact::Known(Tracked::Modified));
}

#[test]
fn a_recursive_delete_counts_what_git_could_not_bring_back() {
    let Some(place) = repository() else { return };
    let lost = |named: &str| {
        let facts = facts(&place, ActionKind::Delete(place.target(named), Depth::Recursive));
        let told = facts.expansions[&place.at(named).abs].known().expect("known").clone();
        (told.files, told.untracked)
    };
    place.write("W/target/x", "");
    place.write("W/target/deep/y", "");
    assert_eq!(lost("target"), (2, Fact::Known(0)));
    assert_eq!(lost("src"), (1, Fact::Known(0)));
    place.write("W/src/new.rs", "");
    place.write("W/src/main.rs", "changed");
    assert_eq!(lost("src"), (2, Fact::Known(2)));
}

#[test]
fn branch_and_remotes_are_read_in_linked_work_trees_too() {
    let Some(place) = repository() else { return };
    let top = place.top.join("W");
    assert!(git(&top, &["remote", "add", "origin", "https://example.com/r.git"]));
    assert!(git(&top, &["remote", "set-url", "--push", "origin", "git@example.org:r.git"]));
    let told = repo(&place);
    let told = told.known().expect("a repository");
    assert_eq!(told.branch.as_deref(), Some("main"));
    assert_eq!(told.remotes["origin"], "https://example.com/r.git");
    assert_eq!(told.remotes["origin (push)"], "git@example.org:r.git");

    assert!(git(&top, &["worktree", "add", "-q", "-b", "side", "linked"]));
    let surveyor = place.surveyor();
    let push = Connect { peer: Peer::Remote("origin".into()), flow: Flow::Send };
    let linked = surveyor.facts(&[action(ActionKind::Connect(push))], &place.path("W/linked/src")).repo;
    let linked = linked.known().expect("a repository");
    assert_eq!((linked.branch.as_deref(), linked.remotes.len()), (Some("side"), 2));
    assert_eq!(tracked(&place, "linked/src/main.rs"), Fact::Known(Tracked::Clean));
}

#[test]
fn where_there_is_no_repository_that_is_what_is_told() {
    let place = Place::new();
    assert_eq!(tracked(&place, "b.txt"), Fact::Known(Tracked::NoRepo));
    assert_eq!(repo(&place), Fact::Unknown(Unknown::NotAsked));
}

#[test]
fn a_hostile_repository_runs_nothing_and_hangs_nothing() {
    let Some(place) = repository() else { return };
    let mark = place.path("ran");
    let run = format!("touch {mark}");
    let top = place.top.join("W");
    for key in ["core.fsmonitor", "core.sshCommand", "filter.x.clean", "filter.x.smudge", "diff.external", "core.pager"]
    {
        assert!(git(&top, &["config", key, &run]));
    }
    place.write("W/.git/hooks/post-index-change", &format!("#!/bin/sh\n{run}\n"));
    place.write("W/.gitattributes", "* filter=x\n");
    place.write("W/src/main.rs", "changed\n");
    assert_eq!(tracked(&place, "src/main.rs"), Fact::Known(Tracked::Modified));
    assert!(repo(&place).known().is_some());
    assert!(!Path::new(&mark).exists());

    std::fs::write(top.join(".git/index"), b"DIRC\0\0\0\x02\xff\xff\xff\xff").expect("a damaged index");
    assert_eq!(tracked(&place, "src/main.rs"), Fact::Unknown(Unknown::Failed));
    for name in ["index", "config", "HEAD"] {
        std::fs::remove_file(top.join(".git").join(name)).expect("it is there");
        place.fifo(&format!("W/.git/{name}"));
    }
    assert_eq!(tracked(&place, "src/main.rs"), Fact::Unknown(Unknown::Failed));
    assert_eq!(repo(&place), Fact::Unknown(Unknown::Failed));
    std::fs::remove_dir_all(top.join(".git")).expect("it is there");
    place.write("W/.git", "gitdir: /proc/self/cwd/../../../dev/zero\n");
    assert!(matches!(tracked(&place, "src/main.rs"), Fact::Unknown(_)));
    place.write("W/.git", "gitdir: .git\n");
    assert!(matches!(tracked(&place, "src/main.rs"), Fact::Unknown(_)));
}

#[test]
fn ignore_rules_of_a_hostile_repository_stay_cheap() {
    let Some(place) = repository() else { return };
    place.write("W/.gitignore", &format!("{}\n{}b\n[\n", "**/".repeat(500), "*a".repeat(500)));
    assert!(matches!(tracked(&place, &"a".repeat(200)), Fact::Known(Tracked::Untracked)));
}
