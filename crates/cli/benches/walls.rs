//! A box against plain fork and exec, and the time from a halt to the death of a tree; the helper is the product itself.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
mod measure;

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use measure::{Failure, Row, place, table, timed};
use tollgate::act::sandbox::{BoxSpec, Exit, HaltSignal, Helper, Limits, Network, probe, run};

/// A tree of four sessions that ignore signals; each says when it runs.
const CLINGING: &str = "for i in 1 2 3 4; do \
    setsid nohup bash -c \"trap '' TERM HUP INT; echo >> started; while :; do sleep 60; done\" & done; wait";

fn main() -> Result<(), Failure> {
    let place = place()?;
    let work = workspace(place.path())?;
    let helper = Helper::at(env!("CARGO_BIN_EXE_tollgate"));
    let (halt, spec) = (HaltSignal::new()?, spec(&work));
    let reference = bubblewrap(&work);
    let mut rows = vec![
        Row::new("plain fork and exec", |_| timed(|| succeeded(&mut Command::new("/bin/true")))),
        Row::new("in the box", |_| timed(|| ended(&run(&helper, &spec, &halt)?.status))),
    ];
    match &reference {
        Some(args) => rows.push(Row::new("bubblewrap, the usual flags", move |_| {
            timed(|| succeeded(Command::new("bwrap").args(args)))
        })),
        None => writeln!(std::io::stdout(), "bubblewrap: skipped, it is not installed or does not work here")?,
    }
    table("/bin/true", 300, rows)?;
    table("all walls tried", 100, vec![Row::new("probe", |_| timed(|| probed(&helper, &work)))])?;
    table("halt", 50, vec![Row::new("halt to the whole tree dead", |_| halt_to_death(&helper, &spec))])
}

fn succeeded(command: &mut Command) -> Result<(), Failure> {
    let output = command.output()?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
}

fn ended(status: &Exit) -> Result<(), Failure> {
    if *status == Exit::Code(0) { Ok(()) } else { Err(format!("{status:?}").into()) }
}

fn probed(helper: &Helper, work: &Path) -> Result<(), Failure> {
    let walls = probe(helper, work);
    if walls.claimed_all_up() { Ok(()) } else { Err(format!("{walls:?}").into()) }
}

/// Halts a tree once all of it runs, and times until all of it is dead.
fn halt_to_death(helper: &Helper, spec: &BoxSpec) -> Result<Duration, Failure> {
    let started = spec.cwd.join("started");
    std::fs::write(&started, "")?;
    let spec = BoxSpec { argv: vec!["/bin/bash".into(), "-c".into(), CLINGING.into()], ..spec.clone() };
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

/// Lays out a repository and a secret.
fn workspace(place: &Path) -> Result<std::path::PathBuf, Failure> {
    let work = place.join("work");
    std::fs::create_dir_all(work.join(".git/hooks"))?;
    std::fs::write(work.join(".git/config"), "")?;
    std::fs::write(work.join("secret"), "")?;
    Ok(work.canonicalize()?)
}

fn spec(work: &Path) -> BoxSpec {
    BoxSpec {
        argv: vec!["/bin/true".into()],
        cwd: work.to_owned(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        writable: vec![work.to_owned()],
        hidden: vec![work.join("secret"), "/etc/shadow".into()],
        pinned: vec![work.join(".git/config"), work.join(".git/hooks")],
        timeout: Duration::from_secs(10),
        output_cap: 1 << 16,
        stdin: Vec::new(),
        limits: Limits::default(),
        network: Network::None,
    }
}

/// The same walls by bubblewrap, as far as it has them; none where it does not run.
fn bubblewrap(work: &Path) -> Option<Vec<String>> {
    let work = work.to_string_lossy();
    let flags =
        "--ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run --unshare-all --die-with-parent --new-session";
    let mut args: Vec<String> = flags.split(' ').map(str::to_owned).collect();
    args.extend(["--bind", &work, &work, "--chdir", &work, "/bin/true"].map(str::to_owned));
    succeeded(Command::new("bwrap").args(&args)).is_ok().then_some(args)
}
