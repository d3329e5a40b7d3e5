//! Measures a box against plain fork and exec, the probe, and the time from a halt to the death of the tree:
//! `cargo build --release -p tollgate-act && cargo run --release -p tollgate-act --example box_start`.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tollgate_act::sandbox::{BoxSpec, Exit, HaltSignal, Helper, Limits, Network, probe, run};

const ROUNDS: usize = 300;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let helper = Helper::at(std::env::args_os().nth(1).map_or_else(beside_this_example, PathBuf::from));
    let base = workspace()?;
    let (halt, spec) = (HaltSignal::new()?, spec(&base));
    let mut rows = ["plain", "box", "probe", "halt"].map(|name| (name, Vec::new()));
    let [(_, plain), (_, boxed), (_, probed), (_, halted)] = &mut rows;
    for _ in 0..ROUNDS {
        plain.push(timed(|| Ok(Command::new("/bin/true").output().map(drop)?))?);
        boxed.push(timed(|| {
            let status = run(&helper, &spec, &halt)?.status;
            if status == Exit::Code(0) { Ok(()) } else { Err(format!("{status:?}").into()) }
        })?);
        probed.push(timed(|| match probe(&helper, &base) {
            walls if walls.claimed_all_up() => Ok(()),
            walls => Err(format!("{walls:?}").into()),
        })?);
        halted.push(halt_to_death(&helper, &spec)?);
    }
    let mut out = std::io::stdout().lock();
    for (name, times) in &mut rows {
        times.sort();
        let at = |part: usize| times.get(times.len() * part / 100).copied().unwrap_or_default();
        writeln!(out, "{name:>6}  p10 {:>9?}  p50 {:>9?}  p90 {:>9?}", at(10), at(50), at(90))?;
    }
    Ok(())
}

/// Starts a tree of four sessions that ignore signals, halts it once it runs, and times until all of it is dead.
fn halt_to_death(helper: &Helper, spec: &BoxSpec) -> Result<Duration, Box<dyn std::error::Error>> {
    let started = spec.cwd.join("started");
    std::fs::write(&started, "")?;
    let cling = "trap '' TERM HUP INT; echo >> started; while :; do sleep 60; done";
    let command = format!("for i in 1 2 3 4; do setsid nohup bash -c \"{cling}\" & done; wait");
    let spec = BoxSpec { argv: vec!["/bin/bash".into(), "-c".into(), command.into()], ..spec.clone() };
    let halt = HaltSignal::new()?;
    std::thread::scope(|scope| {
        let running = scope.spawn(|| run(helper, &spec, &halt));
        while !running.is_finished() && std::fs::metadata(&started)?.len() < 4 {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        let began = Instant::now();
        halt.raise()?;
        match running.join() {
            Ok(Ok(output)) if output.status == Exit::Halted => Ok(began.elapsed()),
            other => Err(format!("{other:?}").into()),
        }
    })
}

/// Lays out a workspace with a repository and a secret below the current directory.
fn workspace() -> std::io::Result<PathBuf> {
    let base = std::env::current_dir()?.join("target").join("box-start");
    std::fs::create_dir_all(base.join(".git"))?;
    std::fs::write(base.join(".git/config"), "")?;
    std::fs::write(base.join("secret"), "")?;
    base.canonicalize()
}

fn spec(base: &Path) -> BoxSpec {
    BoxSpec {
        argv: vec!["/bin/true".into()],
        cwd: base.to_owned(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        writable: vec![base.to_owned()],
        hidden: vec![base.join("secret"), "/etc/shadow".into()],
        pinned: vec![base.join(".git/config"), base.join(".git/hooks")],
        timeout: Duration::from_secs(10),
        output_cap: 1 << 16,
        stdin: Vec::new(),
        limits: Limits::default(),
        network: Network::None,
    }
}

fn beside_this_example() -> PathBuf {
    let here = std::env::current_exe().unwrap_or_default();
    here.parent().and_then(|examples| examples.parent()).map(|dir| dir.join("tollgate-box")).unwrap_or_default()
}

fn timed(
    work: impl FnOnce() -> Result<(), Box<dyn std::error::Error>>,
) -> Result<Duration, Box<dyn std::error::Error>> {
    let began = Instant::now();
    work()?;
    Ok(began.elapsed())
}
