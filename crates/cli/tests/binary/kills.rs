//! A run that is killed at any instant: what was recorded holds, no file is half-written, and work goes on.

use crate::world::*;

/// Kills in one sweep: dense at the start of a run, spread to its end.
const KILLS: u32 = 20;
const CALLS: u32 = 200;
const SIZE: usize = 400;

fn many_writes() -> String {
    let call = |n: u32| {
        let content = char::from(b'a' + u8::try_from(n % 26).unwrap()).to_string().repeat(SIZE);
        format!("{{ tool = \"write_file\", args = {{ path = \"f{}.txt\", content = \"{content}\" }} }}", n % 10)
    };
    let step = |first: u32| {
        let calls: Vec<String> = (first..first + 10).map(call).collect();
        format!("[[step]]\ncalls = [{}]\n", calls.join(",\n"))
    };
    (0..CALLS).step_by(10).map(step).collect()
}

/// Every file of the workspace has its whole length and one letter only, and nothing else lies about.
fn files_are_whole(world: &World) {
    for entry in std::fs::read_dir(world.path("ws")).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let bytes = std::fs::read(entry.path()).unwrap();
        if name.starts_with('f') {
            let whole = bytes.len() == SIZE && bytes.iter().all(|byte| Some(byte) == bytes.first());
            assert!(whole, "`{name}` has {} bytes", bytes.len());
        }
    }
}

fn records(world: &World) -> usize {
    std::fs::read(world.path("state/audit.jsonl"))
        .map_or(0, |log| log.split(|byte| *byte == b'\n').count().saturating_sub(1))
}

#[test]
fn a_kill_sweep_over_a_run_of_two_hundred_calls_leaves_a_log_that_verifies_and_whole_files() {
    let world = World::new();
    let model = world.script(&many_writes());
    let words = ["run", "-p", "write", "--model", &model];
    let whole = world.run(&words);
    assert_eq!(whole.exit, 0, "{whole}");
    let length = records(&world);
    let mut cut_short = 0;
    for kill in 0..KILLS {
        let before = records(&world);
        let mut running = world.start(&words);
        let at = before + length * usize::try_from(kill * kill).unwrap() / usize::try_from(KILLS * KILLS).unwrap();
        wait_until("it has come so far, or ended", || records(&world) >= at || running.try_wait().unwrap().is_some());
        running.kill().unwrap();
        cut_short += u32::from(running.wait().unwrap().code().is_none());
        files_are_whole(&world);
        let verified = world.run(&["--json", "log", "verify"]);
        assert_eq!((verified.exit, &verified.json()["sound"]), (0, &true.into()), "after kill {kill}: {verified}");
    }
    assert!(cut_short > KILLS / 2, "only {cut_short} of {KILLS} kills met a running program");
    let after = world.run(&words);
    assert_eq!(after.exit, 0, "{after}");
    world.log_is_sound();
    files_are_whole(&world);
}
