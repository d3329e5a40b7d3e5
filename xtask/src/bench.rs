//! `cargo xtask bench`: runs every bench target there is and keeps what it printed.

use std::path::Path;

use crate::command::{Failed, cargo, output, root, say};
use crate::metadata::Metadata;

/// Runs each bench target by itself, prints its output and writes it beneath `target/bench`.
pub(crate) fn run() -> Result<(), Failed> {
    let kept = root().join("target/bench");
    std::fs::create_dir_all(&kept).map_err(|error| Failed::File { path: kept.clone(), error })?;
    let benches = Metadata::load()?.benches();
    for (package, bench) in &benches {
        say(&format!("xtask: {package} {bench}"));
        let text = output(&mut cargo(&["bench", "--quiet", "--package", package, "--bench", bench]))?;
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

fn keep(path: &Path, text: &str) -> Result<(), Failed> {
    std::fs::write(path, text).map_err(|error| Failed::File { path: path.to_owned(), error })
}
