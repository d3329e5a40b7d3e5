//! Paired measuring, shared by the benches: every round runs every row once, so that a busy moment meets all of them.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// Why a bench could not go on; it then ends with an error, not with a number.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// A table stops here and says how many rounds it had.
const LONGEST: Duration = Duration::from_secs(40);

/// Something that is measured. The first row of a table is what the others are compared with.
pub(crate) struct Row<'a> {
    name: String,
    work: Box<dyn FnMut(usize) -> Result<Duration, Failure> + 'a>,
    times: Vec<Duration>,
}

impl<'a> Row<'a> {
    /// Names a piece of work that is given the number of the round and says how long it took.
    pub(crate) fn new(name: impl Into<String>, work: impl FnMut(usize) -> Result<Duration, Failure> + 'a) -> Self {
        Self { name: name.into(), work: Box::new(work), times: Vec::new() }
    }

    fn at(&self, per_mille: usize) -> Duration {
        let last = self.times.len().saturating_sub(1);
        self.times.get(last * per_mille / 1000).copied().unwrap_or_default()
    }

    fn line(&self, first: &Self) -> String {
        let micros = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1e6);
        let times = [100, 500, 900, 990, 1000].map(|part| format!("{:>11}", micros(self.at(part)))).concat();
        let more = (self.at(100).as_secs_f64() - first.at(100).as_secs_f64()) * 1e6;
        let ratio = |part| self.at(part).as_secs_f64() / first.at(part).as_secs_f64();
        format!("{:<40}{times}{more:>+12.1}{:>8.2}{:>8.2}", self.name, ratio(100), ratio(500))
    }
}

/// Times one piece of work; what it returns is dropped after the clock has stopped.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<Duration, Failure> {
    let began = Instant::now();
    let done = work()?;
    let took = began.elapsed();
    drop(done);
    Ok(took)
}

/// Measures the rows side by side and prints them, in microseconds.
pub(crate) fn table(title: &str, rounds: usize, mut rows: Vec<Row<'_>>) -> Result<(), Failure> {
    let warm = rounds / 10;
    let began = Instant::now();
    for round in 0..warm + rounds {
        if began.elapsed() > LONGEST {
            break;
        }
        // Each row begins a round in its turn: who follows the heaviest one finds the caches cold.
        let begin = round % rows.len().max(1);
        let (later, first) = rows.split_at_mut(begin);
        for row in first.iter_mut().chain(later) {
            let took = (row.work)(round)?;
            row.times.extend((round >= warm).then_some(took));
        }
    }
    rows.iter_mut().for_each(|row| row.times.sort());
    let mut out = std::io::stdout().lock();
    let head = ["p10", "p50", "p90", "p99", "max"].map(|name| format!("{name:>11}")).concat();
    writeln!(out, "{title}, {} rounds, µs", rows.first().map_or(0, |row| row.times.len()))?;
    writeln!(out, "{:<40}{head}{:>12}{:>8}{:>8}", "", "p10 more", "p10 ×", "p50 ×")?;
    for row in &rows {
        writeln!(out, "{}", row.line(rows.first().unwrap_or(row)))?;
    }
    Ok(writeln!(out)?)
}

/// A directory that is removed at the end, on a disk where there is one.
pub(crate) fn place() -> Result<tempfile::TempDir, Failure> {
    let base = Path::new("/var/tmp");
    writeln!(std::io::stdout(), "files in `{}`: {}", base.display(), file_system(base)?)?;
    Ok(tempfile::Builder::new().prefix("tollgate-bench-").tempdir_in(base)?)
}

/// The kind of file system that `path` lies on.
fn file_system(path: &Path) -> Result<String, Failure> {
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    let mine = fields.filter(|mount| mount.get(1).is_some_and(|at| path.starts_with(at)));
    let mine = mine.max_by_key(|mount| mount.get(1).map_or(0, |at| at.len()));
    Ok(mine.and_then(|mount| mount.get(2).map(|kind| (*kind).to_owned())).unwrap_or_else(|| "unknown".to_owned()))
}
