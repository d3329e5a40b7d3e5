//! Somebody exchanges directories and files for links while they are resolved.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tollgate_survey::{Intent, PathError, Root, Step, WalkLimits};

use crate::place::Place;

const TRIES: u32 = 200_000;
/// For the slower ways in.
const FEWER: u32 = 20_000;

#[derive(Debug, Default)]
struct Tally {
    inside: u32,
    refused: u32,
}

/// Exchanges `a` and `b` until told to stop.
fn swap(a: &Path, b: &Path, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE).expect("the two names are there");
    }
}

/// Tries again and again, until there were enough tries and both outcomes were seen.
fn besiege(tries: u32, a: &Path, b: &Path, mut attempt: impl FnMut(u32) -> Result<String, PathError>) {
    let stop = AtomicBool::new(false);
    let mut tally = Tally::default();
    std::thread::scope(|threads| {
        threads.spawn(|| swap(a, b, &stop));
        // As many tries again, if the attacker was given no time during the first.
        for turn in 0..20 * tries {
            if turn >= tries && tally.inside > 0 && tally.refused > 0 {
                break;
            }
            match attempt(turn) {
                Ok(text) if text == "inside" => tally.inside += 1,
                Ok(text) => {
                    stop.store(true, Ordering::Relaxed);
                    panic!("read `{text}` from outside at try {turn}");
                }
                Err(_) => tally.refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("{tally:?}");
    assert!(tally.inside > 0 && tally.refused > 0, "the attacker never met a try: {tally:?}");
}

fn read(root: &Root, named: &str, intent: Intent) -> Result<String, PathError> {
    let mut text = String::new();
    let mut file = root.scope(named, intent)?.open_regular()?;
    file.read_to_string(&mut text).map_err(|error| PathError::System(named.into(), error.to_string()))?;
    Ok(text)
}

#[test]
fn a_swapped_directory_never_shows_bytes_from_outside() {
    let place = Place::new();
    place.write("W/d/f", "inside");
    place.write("outside/f", "outside");
    place.link("../outside", "W/link");
    let root = place.root();
    besiege(TRIES, &place.top.join("W/d"), &place.top.join("W/link"), |turn| {
        read(&root, "d/f", if turn % 2 == 0 { Intent::Read } else { Intent::Write })
    });
}

#[test]
fn a_swapped_file_never_shows_bytes_from_outside() {
    let place = Place::new();
    place.write("W/f", "inside");
    place.link("../outside/secret", "W/link");
    let root = place.root();
    besiege(FEWER, &place.top.join("W/f"), &place.top.join("W/link"), |_| read(&root, "f", Intent::Read));
}

#[test]
fn a_walk_through_a_swapped_directory_never_leaves() {
    let place = Place::new();
    place.write("W/x/d/f", "inside");
    place.write("outside/f", "outside");
    place.link("../../outside", "W/x/link");
    let root = place.root();
    let dir = root.scope_dir("x").expect("x is there");
    let limits = WalkLimits {
        entries: 100,
        depth: 4,
        deadline: std::time::Instant::now() + std::time::Duration::from_secs(3600),
    };
    besiege(FEWER, &place.top.join("W/x/d"), &place.top.join("W/x/link"), |turn| {
        if turn % 2 == 0 {
            return dir.child("d").and_then(|d| d.open_regular("f")).map(|mut file| {
                let mut text = String::new();
                file.read_to_string(&mut text).expect("it is text");
                text
            });
        }
        let mut seen = Err(PathError::NotFound("f".into()));
        dir.walk(&limits, &mut |found| {
            if let Ok(mut file) = found.open_regular() {
                let mut text = String::new();
                file.read_to_string(&mut text).expect("it is text");
                if seen.as_deref() != Ok("outside") {
                    seen = Ok(text);
                }
            }
            Step::Into
        });
        seen
    });
}
