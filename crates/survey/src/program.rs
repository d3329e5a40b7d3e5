//! Which file a program word would run.

use rustix::fs::{Access, AtFlags, CWD};
use tollgate_call::action::Program;
use tollgate_call::facts::{Fact, Kind, ProgramFact, Unknown};
use tollgate_call::places::Layout;

use crate::real;
use crate::scoped::Intent;
use crate::sys::Opener;

/// Directories of a search path that are tried.
const MAX_DIRS: usize = 128;

/// Looks for programs as `execvp` would, with a search path that the caller fixed.
#[derive(Debug)]
pub(crate) struct Programs<'a> {
    pub(crate) open: Opener,
    pub(crate) layout: &'a Layout,
    /// The search path that the command will be given.
    pub(crate) path: &'a str,
    /// For empty and relative entries of it.
    pub(crate) cwd: &'a str,
}

impl Programs<'_> {
    /// The word that facts are filed under, and the fact; `None` for a word that is not known.
    pub(crate) fn find(&self, program: &Program) -> Option<(String, Fact<ProgramFact>)> {
        match program {
            Program::Name(name) if name.contains('/') => Some((name.clone(), Fact::Unknown(Unknown::Failed))),
            Program::Name(name) => Some((name.clone(), self.search(name))),
            Program::Path(path) => Some((path.raw.clone(), known(self.file(&path.abs)))),
            Program::Opaque(_) => None,
        }
    }

    fn search(&self, name: &str) -> Fact<ProgramFact> {
        let dirs = self.path.split(':').take(MAX_DIRS);
        known(dirs.map(|dir| self.dir(dir)).find_map(|dir| self.file(&format!("{dir}/{name}"))))
    }

    /// An empty entry is the working directory, which is why it is a hole.
    fn dir(&self, dir: &str) -> String {
        if dir.starts_with('/') { dir.to_owned() } else { format!("{}/{dir}", self.cwd) }
    }

    fn file(&self, path: &str) -> Option<ProgramFact> {
        // Most names of a search path are not there: one call says so, a walk along the name takes a dozen.
        rustix::fs::accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).ok()?;
        let real = real::resolve(self.open, path, Intent::Read);
        let look = real.target.as_ref()?.look;
        let runs = rustix::fs::accessat(CWD, &real.path, Access::EXEC_OK, AtFlags::EACCESS).is_ok();
        let regular = matches!(look.kind, Kind::File(_)) && real.refused.is_none();
        (regular && runs).then(|| ProgramFact {
            place: self.layout.place(&real.path),
            file: real.path,
            identity: look.identity,
        })
    }
}

fn known(found: Option<ProgramFact>) -> Fact<ProgramFact> {
    found.map_or(Fact::Unknown(Unknown::Failed), Fact::Known)
}
