//! Undo on a real file system: every kind of change, every way to name it, crashes and races.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::room::{Room, meta};
use tollgate_act::undo::{How, Keep, Limits, Undo, UndoError, Which};

fn command(room: &Room, run: &str, work: impl FnOnce()) -> tollgate_act::undo::TreeChange {
    let roots = [room.base.join("w").to_str().unwrap().to_owned()];
    let before = room.undo.before_command(&roots, Limits::default(), meta(run, "run_bash")).unwrap();
    work();
    room.undo.after_command(before).unwrap()
}

#[test]
fn each_kind_of_change_is_taken_back_exactly() {
    let room = Room::new();
    room.put("edited", "e1 e2");
    room.put("deleted", "d");
    room.put("replaced", "r");
    std::fs::set_permissions(room.w("deleted"), std::fs::Permissions::from_mode(0o751)).unwrap();
    let before = room.inventory();
    room.edit("edited", "e2", "E2").unwrap();
    room.delete("deleted").unwrap();
    room.write("replaced", "R").unwrap();
    room.write("new/dir/file", "n").unwrap();
    for _ in 0..4 {
        room.undo(&Which::Last).unwrap();
    }
    assert_eq!(room.inventory(), before);
    assert_eq!(room.w("deleted").metadata().unwrap().permissions().mode() & 0o777, 0o751);
    assert!(matches!(room.undo(&Which::Last), Err(UndoError::Nothing(_))));
}

#[test]
fn a_deleted_link_comes_back_as_a_link() {
    let room = Room::new();
    room.put("f", "x");
    symlink("f", room.w("l")).unwrap();
    let before = room.inventory();
    room.delete("l").unwrap();
    room.undo(&Which::Last).unwrap();
    assert_eq!(room.inventory(), before);
}

#[test]
fn later_changes_are_not_clobbered_unless_forced_and_then_are_kept() {
    let room = Room::new();
    room.put("f", "1");
    let step = room.write("f", "2").unwrap().step.unwrap();
    room.put("f", "by the user");
    assert!(matches!(room.undo(&Which::Step(step)), Err(UndoError::Clobbers(_))));
    assert_eq!(room.text("f"), "by the user");
    let forced = room.undo.undo(&Which::Step(step), How::Forced, meta("operator", "undo")).unwrap();
    assert_eq!(room.text("f"), "1");
    room.undo(&Which::Step(forced.step.unwrap())).unwrap();
    assert_eq!(room.text("f"), "by the user");
}

#[test]
fn an_earlier_step_is_refused_while_a_later_one_stands() {
    let room = Room::new();
    room.put("f", "1");
    let first = room.write("f", "2").unwrap().step.unwrap();
    let second = room.write("f", "3").unwrap().step.unwrap();
    assert!(matches!(room.undo(&Which::Step(first)), Err(UndoError::Clobbers(_))));
    room.undo(&Which::Step(second)).unwrap();
    room.undo(&Which::Step(first)).unwrap();
    assert_eq!(room.text("f"), "1");
}

#[test]
fn a_run_is_taken_back_as_a_whole_and_other_runs_stay() {
    let room = Room::new();
    room.put("f", "1");
    room.write_in("a", "f", "2").unwrap();
    room.write_in("a", "f", "3").unwrap();
    room.write_in("a", "new/g", "x").unwrap();
    room.write_in("b", "h", "y").unwrap();
    room.undo(&Which::Run("a".into())).unwrap();
    assert_eq!(room.inventory(), ["/f = 1", "/h = y"]);
    assert!(matches!(room.undo(&Which::Run("a".into())), Err(UndoError::Nothing(_))));
}

#[test]
fn a_run_with_a_users_change_in_its_midst_is_refused_whole() {
    let room = Room::new();
    room.put("f", "1");
    room.put("g", "1");
    room.write_in("a", "g", "2").unwrap();
    room.write_in("a", "f", "2").unwrap();
    room.put("f", "user");
    room.write_in("a", "f", "3").unwrap();
    assert!(matches!(room.undo(&Which::Run("a".into())), Err(UndoError::Clobbers(_))));
    assert_eq!((room.text("f"), room.text("g")), ("3".into(), "2".into()));
}

#[test]
fn a_file_is_taken_back_one_change_at_a_time() {
    let room = Room::new();
    room.put("f", "1");
    room.write("f", "2").unwrap();
    room.write("f", "3").unwrap();
    room.write("g", "x").unwrap();
    let which = Which::File(room.spot("f"));
    room.undo(&which).unwrap();
    assert_eq!(room.text("f"), "2");
    room.undo(&which).unwrap();
    assert_eq!(room.text("f"), "1");
    assert!(matches!(room.undo(&which), Err(UndoError::Nothing(_))));
    assert!(room.there("g"));
}

#[test]
fn an_undo_can_be_undone_and_the_step_counts_again() {
    let room = Room::new();
    room.put("f", "1");
    let step = room.write("f", "2").unwrap().step.unwrap();
    let undo = room.undo(&Which::Step(step)).unwrap().step.unwrap();
    room.undo(&Which::Step(undo)).unwrap();
    assert_eq!(room.text("f"), "2");
    room.undo(&Which::Step(step)).unwrap();
    assert_eq!(room.text("f"), "1");
}

#[test]
fn a_directory_made_by_a_step_stays_while_others_use_it() {
    let room = Room::new();
    let step = room.write("d/f", "x").unwrap().step.unwrap();
    room.put("d/user", "u");
    room.undo(&Which::Step(step)).unwrap();
    assert_eq!(room.inventory(), ["/d/", "/d/user = u"]);
}

#[test]
fn a_link_put_in_the_way_is_not_followed_by_undo() {
    let room = Room::new();
    room.put("d/f", "1");
    let step = room.write("d/f", "2").unwrap().step.unwrap();
    std::fs::rename(room.w("d"), room.base.join("outside")).unwrap();
    symlink(room.base.join("outside"), room.w("d")).unwrap();
    let forced = room.undo.undo(&Which::Step(step), How::Forced, meta("o", "undo")).unwrap();
    assert!(forced.restored.is_empty() && forced.lost.len() == 1, "{forced:?}");
    assert_eq!(std::fs::read_to_string(room.base.join("outside/f")).unwrap(), "2");
}

// commands

#[test]
fn whatever_a_command_did_is_taken_back() {
    let room = Room::new();
    room.put("kept", "k");
    room.put("changed", "c");
    room.put("gone/a", "a");
    room.put("gone/deep/b", "b");
    room.put("mode", "m");
    room.put("becomes-dir", "f");
    symlink("kept", room.w("link")).unwrap();
    let before = room.inventory();
    let told = command(&room, "r", || {
        room.put("changed", "C");
        std::fs::remove_dir_all(room.w("gone")).unwrap();
        std::fs::set_permissions(room.w("mode"), std::fs::Permissions::from_mode(0o777)).unwrap();
        std::fs::remove_file(room.w("link")).unwrap();
        symlink("changed", room.w("link")).unwrap();
        room.put("new/x", "x");
        std::fs::remove_file(room.w("becomes-dir")).unwrap();
        room.put("becomes-dir/inner", "i");
    });
    assert_eq!(told.partly, Vec::<String>::new());
    let done = room.undo(&Which::Step(told.step)).unwrap();
    assert_eq!(done.lost, vec![]);
    assert_eq!(room.inventory(), before);
    assert_eq!(room.w("mode").metadata().unwrap().permissions().mode() & 0o777, 0o644);
}

#[test]
fn a_command_that_changes_nothing_leaves_nothing_to_undo() {
    let room = Room::new();
    room.put("f", "x");
    assert!(command(&room, "r", || {}).changed.is_empty());
    assert!(matches!(room.undo(&Which::Last), Err(UndoError::Nothing(_))));
}

#[test]
fn a_same_size_change_within_one_time_stamp_is_still_seen() {
    let room = Room::new();
    for round in 0..50 {
        room.put("f", format!("{round:02}"));
        let told = command(&room, "r", || room.put("f", format!("{:02}", round + 1)));
        assert_eq!(told.changed, [room.spot("f")]);
    }
}

#[test]
fn what_is_too_large_or_made_again_is_named() {
    let room = Room::new();
    room.put("large", vec![b'x'; 100]);
    room.put("node_modules/m", "m");
    let roots = [room.base.join("w").to_str().unwrap().to_owned()];
    let limits = Limits { file_bytes: 10, ..Limits::default() };
    let before = room.undo.before_command(&roots, limits, meta("r", "run_bash")).unwrap();
    room.put("large", vec![b'y'; 100]);
    std::fs::remove_dir_all(room.w("node_modules")).unwrap();
    let told = room.undo.after_command(before).unwrap();
    let partly = told.partly.join("\n");
    assert!(partly.contains("`large`") && partly.contains("`node_modules` was removed"), "{partly}");
    let step = room.undo.steps().unwrap().pop().unwrap();
    assert_eq!(step.partly.len(), 2);
}

#[test]
fn names_that_are_not_utf8_are_counted_as_not_kept() {
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    std::fs::write(room.base.join("w").join(std::ffi::OsStr::from_bytes(b"caf\xe9")), "x").unwrap();
    assert!(command(&room, "r", || {}).partly.join(" ").contains("1 name(s) that are not UTF-8"));
}

#[test]
fn a_scan_cut_short_never_makes_undo_delete_what_was_there() {
    let room = Room::new();
    for n in 0..20 {
        room.put(&format!("f{n:02}"), "x");
    }
    let roots = [room.base.join("w").to_str().unwrap().to_owned()];
    let limits = Limits { entries: 5, ..Limits::default() };
    let before = room.undo.before_command(&roots, limits, meta("r", "run_bash")).unwrap();
    room.put("a", "new");
    room.put("f01", "changed");
    let told = room.undo.after_command(before).unwrap();
    assert!(told.partly.join(" ").contains("more than 5 files"));
    room.undo(&Which::Step(told.step)).unwrap();
    assert_eq!(room.text("f01"), "x");
    assert_eq!(room.inventory().len(), 21);
}

#[test]
fn a_command_cut_off_by_a_crash_can_be_undone() {
    let room = Room::new();
    room.put("f", "1");
    let roots = [room.base.join("w").to_str().unwrap().to_owned()];
    let before = room.undo.before_command(&roots, Limits::default(), meta("r", "run_bash")).unwrap();
    room.put("f", "2");
    room.put("new", "n");
    drop(before);
    let fresh = Undo::open(&room.base.join("state")).unwrap();
    fresh.undo(&Which::Last, How::Careful, meta("operator", "undo")).unwrap();
    assert_eq!(room.inventory(), ["/f = 1"]);
}

// the store

#[test]
fn a_store_that_others_can_read_is_refused() {
    let room = Room::new();
    let open = room.base.join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(matches!(Undo::open(&open), Err(UndoError::Exposed(_))));
    symlink(room.base.join("state"), room.base.join("link")).unwrap();
    assert!(matches!(Undo::open(&room.base.join("link")), Err(UndoError::Exposed(_))));
}

#[test]
fn a_torn_tail_is_counted_and_the_rest_is_read() {
    let room = Room::new();
    room.write("f", "1").unwrap();
    let journal = room.base.join("state/undo/journal.jsonl");
    let mut bytes = std::fs::read(&journal).unwrap();
    bytes.extend_from_slice(b"{\"event\":\"begin\",\"v\":1,\"st");
    std::fs::write(&journal, bytes).unwrap();
    let (_, undo) = Room::open(&room.base);
    assert_eq!(undo.steps().unwrap().len(), 1);
    room.write("f", "2").unwrap();
    let (_, undo) = Room::open(&room.base);
    assert_eq!(undo.steps().unwrap().len(), 2);
    assert_eq!(undo.torn_lines(), 1);
}

#[test]
fn a_journal_of_another_version_is_refused() {
    let room = Room::new();
    let journal = room.base.join("state/undo/journal.jsonl");
    std::fs::write(&journal, "{\"event\":\"pruned\",\"v\":2,\"step\":1}\n").unwrap();
    let (_, undo) = Room::open(&room.base);
    assert!(matches!(undo.steps(), Err(UndoError::Version(2))));
    assert!(room.write("f", "x").is_err());
    assert!(!room.there("f"));
}

#[test]
fn a_change_that_cannot_be_recorded_does_not_happen() {
    let room = Room::new();
    room.put("f", "1");
    std::fs::remove_dir_all(room.base.join("state/undo/blobs")).unwrap();
    assert!(room.write("f", "2").is_err());
    assert!(room.delete("f").is_err());
    assert_eq!(room.text("f"), "1");
}

#[test]
fn pruning_drops_the_oldest_steps_and_says_which() {
    let room = Room::new();
    room.put("f", "0");
    for n in 1..=5 {
        room.write("f", &n.to_string()).unwrap();
    }
    let pruned = room.undo.prune(Keep { bytes: u64::MAX, steps: 2 }).unwrap();
    assert_eq!(pruned.steps, [1, 2, 3]);
    let numbers: Vec<u64> = room.undo.steps().unwrap().iter().map(|step| step.number).collect();
    assert_eq!(numbers, [4, 5]);
    assert_eq!(room.write("f", "6").unwrap().step, Some(6));
    room.undo(&Which::Step(6)).unwrap();
    room.undo(&Which::Step(5)).unwrap();
    assert_eq!(room.text("f"), "4");
    assert!(matches!(room.undo(&Which::Step(2)), Err(UndoError::Nothing(_))));
}

#[test]
fn two_openings_of_one_store_see_each_other_and_never_share_a_number() {
    let room = Room::new();
    let base = room.base.clone();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let base = base.clone();
            std::thread::spawn(move || {
                let (root, undo) = Room::open(&base);
                for n in 0..10 {
                    let scoped = root.scope(&format!("t{thread}-{n}"), tollgate_survey::Intent::Write).unwrap();
                    let held = tollgate_act::Held::of(scoped).unwrap();
                    let record = tollgate_act::files::Record { undo: &undo, meta: meta("r", "write_file") };
                    tollgate_act::files::write::write(held, b"x", &record).unwrap();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let steps = room.undo.steps().unwrap();
    assert_eq!(steps.len(), 40);
    assert!(steps.iter().all(|step| step.finished));
    room.undo(&Which::Run("r".into())).unwrap();
    assert!(room.inventory().is_empty());
}

#[test]
fn a_mark_of_a_build_directory_hides_neither_obeyed_names_nor_what_was_kept() {
    let room = Room::new();
    room.put("src/main", "1");
    let told = command(&room, "r", || {
        room.put(".github/CACHEDIR.TAG", "Signature");
        room.put(".github/workflows/x.yml", "evil");
        room.put("src/CACHEDIR.TAG", "Signature");
        room.put("src/main", "2");
        room.put("out/CACHEDIR.TAG", "Signature");
        room.put("out/o", "built");
    });
    let names: Vec<&str> = told.changed.iter().map(|spot| spot.path.as_str()).collect();
    assert!(names.contains(&".github/workflows/x.yml") && names.contains(&"src/main"), "{names:?}");
    assert!(!names.contains(&"out/o"), "{names:?}");
}

#[test]
fn a_flood_of_names_hides_no_protected_one() {
    let room = Room::new();
    let roots = [room.base.join("w").to_str().unwrap().to_owned()];
    let limits = Limits { entries: 5, ..Limits::default() };
    for round in 0..2 {
        let before = room.undo.before_command(&roots, limits, meta("r", "run_bash")).unwrap();
        for n in 0..20 {
            room.put(&format!("!{round}/f{n:02}"), "x");
        }
        let made = format!(".github/workflows/{round}.yml");
        room.put(&made, "evil");
        let told = room.undo.after_command(before).unwrap();
        assert!(told.changed.contains(&room.spot(&made)), "{:?}", told.changed);
    }
}

#[test]
fn a_directory_that_became_something_else_comes_back_with_what_was_in_it() {
    type Put = fn(&Room);
    let kinds: [Put; 3] = [
        |room| room.put("sub", "a file"),
        |room| symlink("/tmp", room.w("sub")).unwrap(),
        |room| {
            let made = std::process::Command::new("mkfifo").arg(room.w("sub")).status().unwrap();
            assert!(made.success());
        },
    ];
    for put in kinds {
        let room = Room::new();
        room.put("sub/deep/a", "1");
        room.put("sub/b", "2");
        let before = room.inventory();
        let step = command(&room, "r", || {
            std::fs::remove_dir_all(room.w("sub")).unwrap();
            put(&room);
        })
        .step;
        let done = room.undo(&Which::Step(step)).unwrap();
        assert_eq!((room.inventory(), done.lost), (before, Vec::new()));
    }
}

#[test]
fn a_kept_content_that_was_changed_is_not_put_in_place() {
    let room = Room::new();
    room.put("f", "true");
    room.write("f", "later").unwrap();
    let blobs: Vec<_> =
        std::fs::read_dir(room.base.join("state/undo/blobs")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(!blobs.is_empty());
    for blob in &blobs {
        std::fs::remove_file(blob).unwrap();
        std::fs::write(blob, "EVIL").unwrap();
    }
    let done = room.undo(&Which::Last).unwrap();
    assert!(done.restored.is_empty() && done.lost[0].1.contains("was changed since"), "{done:?}");
    assert_eq!(room.text("f"), "later");
}
