//! Reading a file through a held root against opening its path: 4 KB, three directories down.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
mod measure;

use std::fs::File;
use std::io::Read as _;

use measure::{Failure, Row, place, table, timed};
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use tollgate_call::places::Layout;
use tollgate_survey::{Intent, Root};

const NAME: &str = "a/b/c/file";

fn main() -> Result<(), Failure> {
    let place = place()?;
    let top = place.path().join("work");
    let path = top.join(NAME);
    std::fs::create_dir_all(top.join("a/b/c"))?;
    std::fs::write(&path, vec![b'x'; 4096])?;
    let work = top.to_string_lossy();
    let root = Root::open(&work, &Layout::of(&work, "/nonexistent/home"))?;
    let dir = open(&top, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let rows = vec![
        Row::new("open + read", |_| timed(|| filled(File::open(&path)?))),
        Row::new("openat2 + read", |_| {
            timed(|| filled(File::from(openat2(&dir, NAME, flags, Mode::empty(), beneath)?)))
        }),
        Row::new("scope + open_regular + read", |_| timed(|| filled(root.scope(NAME, Intent::Read)?.open_regular()?))),
    ];
    table("one 4 KB file", 50_000, rows)
}

fn filled(mut file: File) -> Result<[u8; 4096], Failure> {
    let mut bytes = [0; 4096];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
