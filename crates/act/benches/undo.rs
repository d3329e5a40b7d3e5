//! What the undo store costs each command: the trees before it, and the comparison after it changed one file.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
mod measure;

use std::path::{Path, PathBuf};
use std::time::Duration;

use measure::{Failure, Row, place, table, timed};
use tollgate_act::undo::{Limits, Meta, TreeSnapshot, Undo};

fn main() -> Result<(), Failure> {
    let place = place()?;
    let small = Tree::new(place.path(), 1_000)?;
    let large = Tree::new(place.path(), 5_000)?;
    let rows = [&small, &large].into_iter().flat_map(|tree| {
        let files = tree.files;
        [
            Row::new(format!("before, {files} files"), move |_| tree.before()),
            Row::new(format!("after, {files} files, 1 changed"), move |round| tree.after(round)),
        ]
    });
    table("undo around a command", 60, rows.collect())
}

/// A workspace of small files in fifty directories, with an undo store of its own.
struct Tree {
    undo: Undo,
    root: PathBuf,
    files: usize,
}

impl Tree {
    fn new(place: &Path, files: usize) -> Result<Self, Failure> {
        let root = place.join(format!("work-{files}"));
        for n in 0..files {
            let dir = root.join(format!("dir{}", n % 50));
            std::fs::create_dir_all(&dir)?;
            std::fs::write(dir.join(format!("file{n}.rs")), format!("// file {n}\n").repeat(150))?;
        }
        let undo = Undo::open(&place.join(format!("state-{files}")))?;
        Ok(Self { undo, root, files })
    }

    fn before(&self) -> Result<Duration, Failure> {
        let mut begun = None;
        let took = timed(|| {
            begun = Some(self.begin()?);
            Ok(())
        })?;
        self.undo.after_command(begun.ok_or("no command has begun")?)?;
        Ok(took)
    }

    fn after(&self, round: usize) -> Result<Duration, Failure> {
        let begun = self.begin()?;
        std::fs::write(self.root.join("dir0/file0.rs"), format!("// round {round}\n"))?;
        timed(|| {
            let told = self.undo.after_command(begun)?;
            if told.changed.len() == 1 && told.partly.is_empty() { Ok(told) } else { Err(format!("{told:?}").into()) }
        })
    }

    fn begin(&self) -> Result<TreeSnapshot, Failure> {
        let roots = [self.root.to_string_lossy().into_owned()];
        let meta = Meta { run: "bench".into(), call: String::new(), tool: "run_bash".into(), at_ms: 0 };
        Ok(self.undo.before_command(&roots, Limits::default(), meta)?)
    }
}
