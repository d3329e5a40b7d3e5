//! `kill -9` at any instant, and another process that swaps names all the time.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use tollgate_act::files::read;
use tollgate_act::undo::{How, Which};
use tollgate_survey::Intent;

use crate::room::{Room, meta};

/// Tells the child which room to write in.
const ROOM: &str = "TOLLGATE_TEST_ROOM";
/// Larger than any buffer on the way, so that a kill can fall into the middle of a write.
const SIZE: usize = 300_000;

fn full(letter: u8) -> Vec<u8> {
    vec![letter; SIZE]
}

/// Starts this very test program as a child that writes and deletes for ever.
fn writer(room: &Room) -> (Child, BufReader<ChildStdout>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child_that_changes_files_until_it_is_killed", "--ignored", "--nocapture"])
        .env(ROOM, &room.base)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let told = BufReader::new(child.stdout.take().unwrap());
    (child, told)
}

#[test]
#[ignore = "the child of the tests below; by itself it has no room to work in"]
fn child_that_changes_files_until_it_is_killed() {
    let Some(base) = std::env::var_os(ROOM) else { return };
    let (root, undo) = Room::open(std::path::Path::new(&base));
    let record = || tollgate_act::files::Record { undo: &undo, meta: meta("child", "write_file") };
    let held = |intent| tollgate_act::Held::of(root.scope("f", intent).unwrap()).unwrap();
    loop {
        for letter in *b"ABC" {
            tollgate_act::files::write::write(held(Intent::Write), &full(letter), &record()).unwrap();
            println!("changed");
        }
        tollgate_act::files::delete::delete(&held(Intent::Entry), &record()).unwrap();
        println!("changed");
    }
}

#[test]
fn a_kill_leaves_the_old_file_or_the_new_one_whole_and_undo_goes_back_to_the_start() {
    let room = Room::new();
    room.put("f", full(b'0'));
    for round in 0..12 {
        let (mut child, told) = writer(&room);
        // Each round is killed after another number of changes, somewhere within the next one.
        let changed = told.lines().map(Result::unwrap).filter(|line| line.contains("changed"));
        assert_eq!(changed.take(1 + round % 5).count(), 1 + round % 5);
        child.kill().unwrap();
        child.wait().unwrap();
        if room.there("f") {
            let content = std::fs::read(room.w("f")).unwrap();
            assert!(b"0ABC".iter().any(|letter| content == full(*letter)), "half a file: {} bytes", content.len());
        }
    }
    let unfinished = room.undo.steps().unwrap().iter().filter(|step| !step.finished).count();
    println!("{unfinished} of 12 kills cut a step off");
    room.undo.undo(&Which::Run("child".into()), How::Careful, meta("operator", "undo")).unwrap();
    assert_eq!(std::fs::read(room.w("f")).unwrap(), full(b'0'));
    let names: Vec<String> = room.inventory().iter().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(names, ["/f"], "no temporary file is left");
}

/// Stops the swapper however the test ends.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` while another thread exchanges `f` and `g` without pause.
fn while_swapping(room: &Room, work: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let (f, g) = (room.w("f"), room.w("g"));
            while !stop.load(Ordering::Relaxed) {
                let swap = rustix::fs::RenameFlags::EXCHANGE;
                // Fails while the other side has a name aside; then it tries again.
                rustix::fs::renameat_with(rustix::fs::CWD, &f, rustix::fs::CWD, &g, swap).unwrap_or_default();
            }
        });
        let _stop = Stop(&stop);
        work();
    });
}

#[test]
fn a_swapper_never_gets_another_file_read_than_the_judged_one() {
    let room = Room::new();
    room.put("f", "first");
    room.put("g", "second");
    let first = room.scope("f", Intent::Read).unwrap().identity();
    while_swapping(&room, || {
        let (mut read, mut refused) = (0, 0);
        for _ in 0..10_000 {
            let scoped = room.scope("f", Intent::Read).unwrap();
            let judged = if scoped.identity() == first { "first" } else { "second" };
            match read::read(&tollgate_act::Held::of(scoped).unwrap(), read::Lines::of(None, None)) {
                Ok(text) => {
                    assert!(text.text.contains(judged), "judged {judged}, read {}", text.text);
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
        println!("{read} read, {refused} refused");
        assert!(read > 0);
    });
}

#[test]
fn a_swapper_never_loses_a_file_that_was_not_judged() {
    let room = Room::new();
    room.put("f", "mine-0");
    room.put("g", "precious");
    while_swapping(&room, || {
        for round in 1..400 {
            // Only what reads as ours is judged fit to be replaced; the swap may fall anywhere after.
            let Ok(scoped) = room.scope("f", Intent::Write) else { continue };
            let held = tollgate_act::Held::of(scoped).unwrap();
            let judged = read::read(&held, read::Lines::of(None, None)).is_ok_and(|text| text.text.contains("mine"));
            if judged {
                let content = format!("mine-{round}");
                drop(tollgate_act::files::write::write(held, content.as_bytes(), &room.record("r")));
            }
        }
    });
    let all = room.inventory();
    assert_eq!(all.iter().filter(|line| line.contains("precious")).count(), 1, "{all:?}");
    assert_eq!(all.iter().filter(|line| line.contains("mine")).count(), 1, "{all:?}");
}
