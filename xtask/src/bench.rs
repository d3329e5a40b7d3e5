//! `cargo xtask bench`: runs every bench target there is and keeps what it printed.

use std::path::Path;

use crate::command::{Failed, cargo, output, read, root, say};
use crate::metadata::Metadata;

/// Runs each bench target by itself, prints its output and writes it beneath `target/bench`; with names, only those.
pub(crate) fn run(wanted: &[String]) -> Result<(), Failed> {
    let kept = root().join("target/bench");
    std::fs::create_dir_all(&kept).map_err(|error| Failed::File { path: kept.clone(), error })?;
    let mut benches = Metadata::load()?.benches();
    benches.retain(|(_, bench)| wanted.is_empty() || wanted.contains(bench));
    if benches.is_empty() {
        return Err(Failed::Missing(format!(
            "no bench is called `{}`; without a name, all run",
            wanted.join("` or `")
        )));
    }
    for (package, bench) in &benches {
        say(&format!("xtask: {package} {bench}"));
        // Built before the load is read: the build would be most of it.
        output(&mut cargo(&["bench", "--quiet", "--package", package, "--bench", bench, "--no-run"]))?;
        let machine = machine()?;
        let text = output(&mut cargo(&["bench", "--quiet", "--package", package, "--bench", bench]))?;
        let text = format!("{package} {bench}\n{machine}\n{}\n", text.trim_end());
        keep(&kept.join(format!("{package}.{bench}.txt")), &text)?;
        say(&text);
    }
    say(&format!("xtask: {} bench(es) run", benches.len()));
    say(&format!(
        "xtask: raw output in `{}`; numbers that are kept, with machine and file system: benches/README.md",
        kept.display()
    ));
    Ok(())
}

/// What every number depends on.
fn machine() -> Result<String, Failed> {
    let kernel = read(Path::new("/proc/sys/kernel/osrelease"))?;
    let load = read(Path::new("/proc/loadavg"))?;
    let load: Vec<&str> = load.split(' ').take(2).collect();
    let cpus = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    Ok(format!("{cpus} CPU(s), Linux {}, load over 1 and 5 minutes at the start: {}", kernel.trim(), load.join(" ")))
}

fn keep(path: &Path, text: &str) -> Result<(), Failed> {
    std::fs::write(path, text).map_err(|error| Failed::File { path: path.to_owned(), error })
}
