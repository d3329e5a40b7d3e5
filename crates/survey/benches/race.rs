//! A million reads through a held root while another thread swaps a directory for a link that leads out.
//!
//! Ends with an error at the first byte from outside, and also if the attacker never met a try.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
#[expect(dead_code, reason = "this bench counts outcomes and compares no times")]
mod measure;

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use measure::{Failure, place};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use tollgate_call::places::Layout;
use tollgate_survey::{Intent, Root};

const TRIES: u32 = 1_000_000;

#[derive(Debug, Default)]
struct Tally {
    inside: u32,
    refused: u32,
    escapes: u32,
}

fn main() -> Result<(), Failure> {
    let place = place()?;
    let top = place.path().canonicalize()?;
    for (dir, text) in [("work/d", "inside"), ("outside", "outside")] {
        std::fs::create_dir_all(top.join(dir))?;
        std::fs::write(top.join(dir).join("f"), text)?;
    }
    std::os::unix::fs::symlink("../outside", top.join("work/link"))?;
    let work = top.join("work").to_string_lossy().into_owned();
    let root = Root::open(&work, &Layout::of(&work, "/nonexistent/home"))?;
    let began = Instant::now();
    let (tally, swaps) = besiege(&root, &top.join("work/d"), &top.join("work/link"))?;
    let took = began.elapsed();
    writeln!(std::io::stdout(), "{TRIES} tries against {swaps} swaps in {took:.1?}: {tally:?}")?;
    match tally {
        Tally { escapes: 0, inside: 1.., refused: 1.. } => Ok(()),
        Tally { escapes: 0, .. } => Err("the attacker never met a try".into()),
        Tally { .. } => Err("bytes from outside were read".into()),
    }
}

/// Reads while a second thread swaps; returns the outcomes and the number of swaps.
fn besiege(root: &Root, dir: &Path, link: &Path) -> Result<(Tally, u64), Failure> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let swapper = threads.spawn(|| swap(dir, link, &stop));
        let mut tally = Tally::default();
        for turn in 0..TRIES {
            let intent = if turn.is_multiple_of(2) { Intent::Read } else { Intent::Write };
            match read(root, intent) {
                Some(text) if text == "inside" => tally.inside += 1,
                Some(_) => tally.escapes += 1,
                None => tally.refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
        let swaps = swapper.join().map_err(|_| "the attacker died")??;
        Ok((tally, swaps))
    })
}

fn swap(dir: &Path, link: &Path, stop: &AtomicBool) -> Result<u64, std::io::Error> {
    let mut swaps = 0;
    while !stop.load(Ordering::Relaxed) {
        renameat_with(CWD, dir, CWD, link, RenameFlags::EXCHANGE)?;
        swaps += 1;
    }
    Ok(swaps)
}

fn read(root: &Root, intent: Intent) -> Option<String> {
    let mut text = String::new();
    root.scope("d/f", intent).ok()?.open_regular().ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}
