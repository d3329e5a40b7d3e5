//! `tollgate hook claude-code` as a process, over the smallest process that Rust makes.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
mod measure;
mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use measure::{Failure, Row, place, table, timed};
use support::{Hook, TOLLGATE, decision, fed, peak};

/// Calls of one session; a run has a cap of two hundred.
const SESSION: usize = 20;

fn main() -> Result<(), Failure> {
    let place = place()?;
    let memory = tempfile::Builder::new().prefix("tollgate-bench-").tempdir_in("/dev/shm")?;
    let empty = empty(place.path())?;
    let on_disk = Hook::new(place.path(), &place.path().join("state"))?;
    let in_memory = Hook::new(place.path(), &memory.path().join("state"))?;
    let unsaid = on_disk.payload(0, 0, "true");
    let rows = vec![
        Row::new("fn main() {}", |_| timed(|| fed(&mut Command::new(&empty), &unsaid))),
        Row::new("tollgate --version", |_| timed(|| fed(Command::new(TOLLGATE).arg("--version"), &unsaid))),
        Row::new("hook, state on disk", |round| answered(&on_disk, round)),
        Row::new("hook, state in /dev/shm", |round| answered(&in_memory, round)),
    ];
    table("one answer of the hook, record included", 500, rows)?;
    let file = std::fs::File::create(place.path().join("append"))?;
    let append = Row::new("append 4 KB + fdatasync", |_| timed(|| durable(&file)));
    table("what the disk asks for one durable append", 500, vec![append])?;
    tell(&on_disk, place.path())
}

/// Asks about a command that is allowed; another one each time, so that no loop is seen.
fn answered(hook: &Hook, round: usize) -> Result<Duration, Failure> {
    let command = format!("grep -rn 'fn step_{round}' src | head -20");
    let payload = hook.payload(round / SESSION, round, &command);
    let mut said = String::new();
    let took = timed(|| {
        let output = fed(&mut hook.args(), &payload)?;
        said = decision(&output);
        Ok(output)
    })?;
    if said == "allow" { Ok(took) } else { Err(format!("`{command}`: {said}").into()) }
}

fn durable(mut file: &std::fs::File) -> Result<(), Failure> {
    file.write_all(&[b'x'; 4096])?;
    Ok(file.sync_data()?)
}

/// Builds the process that everything is compared with.
fn empty(place: &Path) -> Result<PathBuf, Failure> {
    let (source, program) = (place.join("empty.rs"), place.join("empty"));
    std::fs::write(&source, "fn main() {}\n")?;
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let built = Command::new(rustc).arg("-O").arg("-o").arg(&program).arg(&source).status()?;
    if built.success() { Ok(program) } else { Err("the empty program does not build".into()) }
}

/// Size, memory and syncs of one answer.
fn tell(hook: &Hook, place: &Path) -> Result<(), Failure> {
    let payload = |call| hook.payload(1_000_000, call, &format!("grep -n needle_{call} src/main.rs"));
    let mut out = std::io::stdout();
    writeln!(out, "binary: {} KB", std::fs::metadata(TOLLGATE)?.len() / 1024)?;
    match peak(hook, place, &payload(0))? {
        Some(kilobytes) => writeln!(out, "peak memory of one answer: {kilobytes} KB")?,
        None => writeln!(out, "peak memory: skipped, GNU time is not installed")?,
    }
    let trace = place.join("trace");
    let options = ["-f", "-qq", "-e", "trace=fsync,fdatasync,syncfs,execve", "-o", &trace.to_string_lossy()];
    if !Path::new("/usr/bin/strace").is_file() {
        return Ok(writeln!(out, "syncs: skipped, strace is not installed")?);
    }
    fed(&mut hook.behind("/usr/bin/strace", &options), &payload(1))?;
    let trace = std::fs::read_to_string(&trace)?;
    let count = |word: &str| trace.lines().filter(|line| line.contains(word)).count();
    Ok(writeln!(out, "of one answer: {} sync(s), {} program(s) started", count("sync("), count("execve("))?)
}
