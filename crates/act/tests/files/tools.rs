//! The file tools on a real file system: what they do, and every refusal.

use std::os::unix::fs::{PermissionsExt, symlink};

use crate::room::{Room, bounds};
use tollgate_act::HeldError;
use tollgate_act::files::{ChangeError, glob, grep, read};
use tollgate_survey::Intent;

fn fifo(room: &Room, rel: &str) {
    rustix::fs::mkfifoat(rustix::fs::CWD, room.w(rel), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
}

// read

#[test]
fn lines_are_numbered_from_one_and_a_window_says_how_to_go_on() {
    let room = Room::new();
    room.put("f", "a\nb\nc\nd\n");
    assert_eq!(room.read("f").unwrap(), "     1\ta\n     2\tb\n     3\tc\n     4\td\n");
    let window = room.lines("f", Some(2), Some(2)).unwrap();
    assert_eq!(window.text, "     2\tb\n     3\tc\n[more follows: continue with offset 4]\n");
    assert_eq!(room.lines("f", Some(3), Some(2)).unwrap().text, "     3\tc\n     4\td\n");
}

#[test]
fn two_hundred_lines_are_the_default_and_two_thousand_the_most() {
    let room = Room::new();
    room.put("f", "x\n".repeat(5_000));
    assert_eq!(room.read("f").unwrap().lines().count(), 201);
    let most = room.lines("f", None, Some(1_000_000)).unwrap();
    assert!(most.text.contains("[more follows: continue with offset 2001]"));
}

#[test]
fn an_offset_past_the_end_and_an_empty_file_are_said() {
    let room = Room::new();
    room.put("f", "a\n");
    room.put("e", "");
    assert_eq!(room.lines("f", Some(9), None).unwrap().text, "[the file has 1 lines; there is no line 9]\n");
    assert_eq!(room.read("e").unwrap(), "[the file is empty]\n");
}

#[test]
fn results_stay_under_the_cap_and_say_how_to_get_the_rest() {
    let room = Room::new();
    room.put("f", format!("{}\n", "y".repeat(500)).repeat(300));
    let text = room.read("f").unwrap();
    assert!(text.len() <= 32 * 1024);
    let next: u64 = text.rsplit("offset ").next().unwrap().trim_end_matches("]\n").parse().unwrap();
    assert!(room.lines("f", Some(next), None).unwrap().text.starts_with(&format!("{next:>6}\ty")));
}

#[test]
fn a_huge_line_is_cut_visibly_in_bounded_memory() {
    let room = Room::new();
    room.put("f", format!("{}\nlast\n", "é".repeat(3_000_000)));
    let text = room.read("f").unwrap();
    assert!(text.contains("… [line cut: 5998000 more bytes]"), "{text}");
    assert!(text.contains("     2\tlast"));
}

#[test]
fn binary_files_and_bad_utf8_are_said() {
    let room = Room::new();
    room.put("b", b"\x7fELF\0\0");
    room.put("l", b"caf\xe9\n");
    assert!(room.read("b").unwrap().starts_with("[`b` is binary: 6 bytes"));
    assert!(room.read("l").unwrap().contains("not UTF-8"));
}

#[test]
fn what_is_not_a_regular_file_is_refused_and_never_blocks() {
    let room = Room::new();
    fifo(&room, "p");
    std::fs::create_dir(room.w("d")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(room.w("s")).unwrap();
    assert!(matches!(room.read("p"), Err(HeldError::Special(_))));
    assert!(matches!(room.read("s"), Err(HeldError::Special(_))));
    assert!(matches!(room.read("d"), Err(HeldError::Directory(_))));
    assert!(matches!(room.read("absent"), Err(HeldError::Absent(_))));
    for rel in ["p", "s", "d"] {
        assert!(room.write(rel, "x").is_err(), "{rel}");
        assert!(room.delete(rel).is_err(), "{rel}");
        assert!(room.there(rel));
    }
}

#[test]
fn a_file_swapped_after_judgement_is_not_read() {
    let room = Room::new();
    room.put("f", "judged");
    room.put("other", "secret");
    let held = room.held("f", Intent::Read);
    std::fs::rename(room.w("other"), room.w("f")).unwrap();
    assert!(matches!(read::read(&held, read::Lines::of(None, None)), Err(HeldError::Swapped(_))));
    let held = room.held("f", Intent::Read);
    std::fs::remove_file(room.w("f")).unwrap();
    symlink("/etc/passwd", room.w("f")).unwrap();
    assert!(matches!(read::read(&held, read::Lines::of(None, None)), Err(HeldError::Swapped(_))));
}

// write

#[test]
fn a_write_creates_missing_parents_and_leaves_nothing_else() {
    let room = Room::new();
    let changed = room.write("a/b/c.txt", "hi\n").unwrap();
    assert_eq!(room.inventory(), ["/a/", "/a/b/", "/a/b/c.txt = hi\n"]);
    assert!(changed.told.contains("created `a/b/c.txt`"), "{}", changed.told);
}

#[test]
fn a_replaced_file_keeps_its_mode() {
    let room = Room::new();
    room.put("run.sh", "old");
    std::fs::set_permissions(room.w("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    room.write("run.sh", "new").unwrap();
    assert_eq!(room.w("run.sh").metadata().unwrap().permissions().mode() & 0o7777, 0o750);
    assert_eq!(room.text("run.sh"), "new");
}

#[test]
fn writing_the_same_content_changes_nothing() {
    let room = Room::new();
    room.put("f", "same");
    assert_eq!(room.write("f", "same").unwrap().step, None);
    assert!(room.undo.steps().unwrap().is_empty());
}

#[test]
fn a_file_that_appears_after_judgement_is_not_overwritten() {
    let room = Room::new();
    let held = room.held("f", Intent::Write);
    room.put("f", "somebody else's");
    let error = tollgate_act::files::write::write(held, b"mine", &room.record("r")).unwrap_err();
    assert!(matches!(error, ChangeError::Undo(_) | ChangeError::Held(_)), "{error}");
    assert_eq!(room.text("f"), "somebody else's");
}

#[test]
fn a_file_swapped_after_judgement_is_not_overwritten() {
    let room = Room::new();
    room.put("f", "judged");
    let held = room.held("f", Intent::Write);
    room.put("g", "other");
    std::fs::rename(room.w("g"), room.w("f")).unwrap();
    assert!(tollgate_act::files::write::write(held, b"mine", &room.record("r")).is_err());
    assert_eq!(room.inventory(), ["/f = other"]);
}

#[test]
fn a_parent_moved_after_judgement_does_not_redirect_the_write() {
    let room = Room::new();
    room.put("d/f", "old");
    std::fs::create_dir(room.base.join("outside")).unwrap();
    std::fs::write(room.base.join("outside/f"), "outside").unwrap();
    let held = room.held("d/f", Intent::Write);
    std::fs::rename(room.w("d"), room.w("moved")).unwrap();
    symlink(room.base.join("outside"), room.w("d")).unwrap();
    tollgate_act::files::write::write(held, b"new", &room.record("r")).unwrap();
    assert_eq!(room.text("moved/f"), "new");
    assert_eq!(std::fs::read_to_string(room.base.join("outside/f")).unwrap(), "outside");
}

#[test]
fn a_parent_that_becomes_a_link_is_not_made_through() {
    let room = Room::new();
    std::fs::create_dir(room.base.join("outside")).unwrap();
    let held = room.held("new/f", Intent::Write);
    symlink(room.base.join("outside"), room.w("new")).unwrap();
    assert!(tollgate_act::files::write::write(held, b"x", &room.record("r")).is_err());
    assert_eq!(std::fs::read_dir(room.base.join("outside")).unwrap().count(), 0);
}

#[test]
fn other_names_of_a_hard_linked_file_keep_the_old_content_and_this_is_said() {
    let room = Room::new();
    room.put("f", "old");
    std::fs::hard_link(room.w("f"), room.w("g")).unwrap();
    let told = room.write("f", "new").unwrap().told;
    assert_eq!((room.text("f"), room.text("g")), ("new".into(), "old".into()));
    assert!(told.contains("1 other names"), "{told}");
}

#[test]
fn a_write_through_an_inner_link_lands_in_the_real_file() {
    let room = Room::new();
    room.put("real/f", "old");
    symlink("real/f", room.w("l")).unwrap();
    room.write("l", "new").unwrap();
    assert_eq!(room.inventory(), ["/l -> real/f", "/real/", "/real/f = new"]);
}

// edit

#[test]
fn an_edit_changes_one_place_and_its_errors_change_nothing() {
    let room = Room::new();
    room.put("f", "one two two\r\nthree\r\n");
    assert!(matches!(room.edit("f", "two", "2"), Err(ChangeError::Edit(_))));
    assert!(matches!(room.edit("f", "four", "4"), Err(ChangeError::Edit(_))));
    room.put("b", b"\xff\xfe");
    assert!(matches!(room.edit("b", "x", "y"), Err(ChangeError::Edit(_))));
    assert_eq!(room.text("f"), "one two two\r\nthree\r\n");
    room.edit("f", "one two", "1").unwrap();
    assert_eq!(room.text("f"), "1 two\r\nthree\r\n");
}

// delete

#[test]
fn a_delete_removes_the_file_only() {
    let room = Room::new();
    room.put("d/f", "x");
    room.put("d/g", "y");
    room.delete("d/f").unwrap();
    assert_eq!(room.inventory(), ["/d/", "/d/g = y"]);
}

#[test]
fn deleting_a_link_leaves_what_it_points_to() {
    let room = Room::new();
    room.put("f", "x");
    symlink("f", room.w("l")).unwrap();
    room.delete("l").unwrap();
    assert_eq!(room.inventory(), ["/f = x"]);
}

#[test]
fn a_file_swapped_before_its_deletion_is_put_back() {
    let room = Room::new();
    room.put("f", "judged");
    let held = room.held("f", Intent::Entry);
    room.put("g", "other");
    std::fs::rename(room.w("g"), room.w("f")).unwrap();
    assert!(tollgate_act::files::delete::delete(&held, &room.record("r")).is_err());
    assert_eq!(room.inventory(), ["/f = other"]);
}

// glob and grep

#[test]
fn globs_are_sorted_heed_ignore_files_and_do_not_follow_links() {
    let room = Room::new();
    for rel in ["b.rs", "a.rs", "src/z.rs", "target/t.rs", "src/gen/g.rs", "n.txt"] {
        room.put(rel, "");
    }
    room.put(".gitignore", "/target\n");
    room.put("src/.gitignore", "gen/\n");
    std::fs::create_dir(room.base.join("outside")).unwrap();
    std::fs::write(room.base.join("outside/o.rs"), "").unwrap();
    symlink(room.base.join("outside"), room.w("out")).unwrap();
    assert_eq!(room.glob("**/*.rs"), "a.rs\nb.rs\nsrc/z.rs\n");
    assert_eq!(room.glob("*.rs"), "a.rs\nb.rs\n");
    assert_eq!(room.glob("out*"), "out@\n");
    assert_eq!(room.glob("*.none"), "[no file matches; what git ignores is not searched]\n");
}

#[test]
fn patterns_that_climb_or_do_not_parse_are_refused() {
    let room = Room::new();
    let dir = room.root.scope_dir(".").unwrap();
    assert!(matches!(glob::glob(&dir, "../*", bounds()), Err(glob::PatternError::NotRelative(_))));
    assert!(matches!(glob::glob(&dir, "/etc/*", bounds()), Err(glob::PatternError::NotRelative(_))));
    assert!(matches!(glob::glob(&dir, "a[", bounds()), Err(glob::PatternError::Invalid { .. })));
    let query = grep::Query { pattern: "(", glob: None, secret: &|_| false };
    assert!(matches!(grep::grep(&dir, query, bounds()), Err(glob::PatternError::Invalid { .. })));
    let bomb = grep::Query { pattern: "(a{500}){500}", glob: None, secret: &|_| false };
    assert!(matches!(grep::grep(&dir, bomb, bounds()), Err(glob::PatternError::Invalid { .. })));
}

#[test]
fn grep_shows_path_line_and_text_and_skips_secrets_links_and_binaries() {
    let room = Room::new();
    room.put("a.txt", "no\nkey = 1\n");
    room.put(".env", "key = secret\n");
    std::fs::hard_link(room.w(".env"), room.w("copy")).unwrap();
    room.put("bin", b"key\0key");
    std::fs::write(room.base.join("o"), "key = outside\n").unwrap();
    symlink(room.base.join("o"), room.w("out.txt")).unwrap();
    fifo(&room, "pipe");
    let text = room.grep("key");
    assert!(text.starts_with("a.txt:2:key = 1\n"), "{text}");
    assert!(!text.contains("secret") && !text.contains("outside"), "{text}");
    assert!(text.contains("1 protected") && text.contains("1 hard-linked"), "{text}");
}

#[test]
fn listings_are_bounded() {
    let room = Room::new();
    for n in 0..1_200 {
        room.put(&format!("f{n}"), "match\n");
    }
    let names = room.glob("*");
    assert!(names.contains("[cut after 1000 names"), "{}", names.len());
    assert!(room.grep("match").contains("[cut after 500 lines"));
    let few = tollgate_act::files::Bounds { entries: 10, ..bounds() };
    assert!(glob::glob(&room.root.scope_dir(".").unwrap(), "*", few).unwrap().truncated);
}
