//! The fact of one path, and the handle that goes with it: both from the same open.

use std::sync::Arc;

use rustix::fs::{CWD, OFlags, ResolveFlags};
use tollgate_call::facts::{Fact, Kind, PathFact, Refused, Unknown};
use tollgate_call::places::{Layout, Place, clean, protection};

use crate::dir::ScopedDir;
use crate::error::PathError;
use crate::real::{self, Real};
use crate::root::{Root, check_letters};
use crate::scoped::{Intent, Look, ScopedPath, Within};
use crate::sys::{self, Opener};
use crate::twins::{Twin, Twins};

/// Who will open the path after it was judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opens {
    /// A file tool, through the handle that comes with the fact.
    Tool,
    /// A command, by name.
    Command,
}

/// The handle of a judged path.
#[derive(Debug)]
pub(crate) enum Handle {
    Path(ScopedPath),
    Dir(ScopedDir),
}

/// A fact and the handle it was made from.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) fact: PathFact,
    pub(crate) handle: Result<Handle, PathError>,
}

/// What paths are judged against.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) open: Opener,
    pub(crate) layout: Layout,
    pub(crate) roots: Vec<Root>,
}

/// One path to look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) abs: &'a str,
    pub(crate) intent: Intent,
    pub(crate) opens: Opens,
}

impl World {
    /// The directory of a judged path, when it is one.
    pub(crate) fn as_dir(&self, handle: Handle) -> Result<ScopedDir, PathError> {
        match handle {
            Handle::Dir(dir) => Ok(dir),
            Handle::Path(path) => {
                let named = path.rel;
                let target = path.target.ok_or_else(|| PathError::NotFound(named.clone()))?;
                if target.look.kind == Kind::Directory {
                    Ok(ScopedDir { root: path.root, rel: named, fd: target.fd, open: self.open })
                } else {
                    Err(PathError::NotDirectory(named))
                }
            }
        }
    }

    /// The innermost root whose name `abs` begins with.
    pub(crate) fn root_of(&self, abs: &str) -> Option<&Root> {
        self.roots.iter().filter(|root| root.beneath(abs).is_some()).max_by_key(|root| root.name().len())
    }

    /// Looks at one path.
    pub(crate) fn path(&self, asked: Asked<'_>, twins: &Twins<'_>) -> Seen {
        let look = Looking { world: self, asked, twins };
        if let Err(error) = check_letters(asked.abs) {
            return Seen { fact: look.refused(&clean(asked.abs), error.refused()), handle: Err(error) };
        }
        match self.root_of(asked.abs) {
            Some(root) => look.inside(root),
            None => look.outside(None),
        }
    }
}

struct Looking<'a> {
    world: &'a World,
    asked: Asked<'a>,
    twins: &'a Twins<'a>,
}

impl Looking<'_> {
    fn inside(&self, root: &Root) -> Seen {
        match root.scope(self.asked.abs, self.asked.intent) {
            Ok(scoped) => self.scoped(scoped),
            Err(PathError::IsDirectory(_)) => self.itself(root),
            Err(error) => self.outside(Some(error)),
        }
    }

    fn scoped(&self, scoped: ScopedPath) -> Seen {
        let fact = self.fact(scoped.resolved(), scoped.stat().as_ref(), None);
        Seen { fact, handle: Ok(Handle::Path(scoped)) }
    }

    /// The root directory itself, which has no parent to be named from.
    fn itself(&self, root: &Root) -> Seen {
        let opened = root.scope_dir(".").and_then(|dir| Ok((dir.look()?, dir)));
        match opened {
            Ok((look, dir)) => {
                let fact = self.fact(root.name().to_owned(), Some(&look), None);
                Seen { fact, handle: Ok(Handle::Dir(dir)) }
            }
            Err(error) => Seen { fact: self.refused(root.name(), error.refused()), handle: Err(error) },
        }
    }

    /// A name that does not begin with a root, or leaves it (`why`): where does it really lead?
    fn outside(&self, why: Option<PathError>) -> Seen {
        let Asked { abs, intent, opens } = self.asked;
        let harmless = self.world.layout.place(&clean(abs)) == Place::HarmlessDevice;
        if harmless && opens == Opens::Command {
            // `/dev/stdin` and its kin are magic links by construction; their names say enough.
            return Seen { fact: self.fact(clean(abs), None, None), handle: Err(self.foreign()) };
        }
        let real = real::resolve(self.world.open, abs, intent);
        let stays = why.as_ref().and_then(PathError::refused).filter(|refused| match opens {
            Opens::Tool => true,
            // The kernel will take a command there; the place says what that means.
            Opens::Command => *refused != Refused::Escapes,
        });
        match (stays, why) {
            (Some(refused), Some(error)) => {
                let refused = real.refused.filter(|_| opens == Opens::Command).unwrap_or(refused);
                Seen { fact: self.real_fact(&real, Some(refused)), handle: Err(error) }
            }
            // `..` behind a name that does not exist: a tool gets the kernel's answer, not the letters'.
            (None, Some(error @ PathError::NotFound(_))) if opens == Opens::Tool => {
                Seen { fact: self.fact(real.path, None, None), handle: Err(error) }
            }
            (Some(_) | None, _) => self.really(real),
        }
    }

    fn foreign(&self) -> PathError {
        PathError::Outside(self.asked.abs.to_owned())
    }

    /// A real path may lie in a root after all, named through a link from outside.
    fn really(&self, real: Real) -> Seen {
        if real.refused.is_none()
            && let Some(root) = self.world.root_of(&real.path)
        {
            return match root.scope(&real.path, self.asked.intent) {
                Ok(scoped) => self.scoped(scoped),
                Err(PathError::IsDirectory(_)) => self.itself(root),
                Err(error) => Seen { fact: self.refused(&real.path, error.refused()), handle: Err(error) },
            };
        }
        let fact = self.real_fact(&real, real.refused);
        let tool = self.asked.opens == Opens::Tool;
        let handle = if tool { outer(self.world.open, real, self.asked.intent) } else { None };
        Seen { fact, handle: handle.ok_or_else(|| self.foreign()) }
    }

    fn real_fact(&self, real: &Real, refused: Option<Refused>) -> PathFact {
        let look = real.target.as_ref().map(|target| target.look);
        self.fact(real.path.clone(), look.as_ref(), refused)
    }

    fn refused(&self, resolved: &str, why: Option<Refused>) -> PathFact {
        self.fact(resolved.to_owned(), None, why.or(Some(Refused::Other)))
    }

    fn fact(&self, resolved: String, look: Option<&Look>, refused: Option<Refused>) -> PathFact {
        let twin = look.and_then(|look| self.twins.of(&resolved, look));
        let by_name = protection(&resolved).or_else(|| protection(&clean(self.asked.abs))).or_else(|| {
            (self.world.layout.place(&resolved) == Place::Inside).then(|| self.twins.pointed(&resolved))?
        });
        let (place, protection) = match twin {
            Some(Twin::Lies(place)) => (place, by_name),
            Some(Twin::Protected(protection)) => (self.world.layout.place(&resolved), by_name.or(Some(protection))),
            None => (self.world.layout.place(&resolved), by_name),
        };
        let unseen = refused.is_some() && look.is_none();
        let links = look.map_or(1, |look| if look.kind == Kind::Directory { 1 } else { look.links });
        PathFact {
            place,
            resolved,
            protection,
            kind: known(unseen, look.map_or(Kind::Absent, |look| look.kind)),
            links: known(unseen, links),
            identity: known(unseen, look.map(|look| look.identity)),
            tracked: Fact::Unknown(Unknown::NotAsked),
            refused,
        }
    }
}

fn known<T>(unseen: bool, value: T) -> Fact<T> {
    if unseen { Fact::Unknown(Unknown::Failed) } else { Fact::Known(value) }
}

/// A handle of a file or directory outside the roots, for reading only, should policy let it through.
fn outer(open: Opener, real: Real, intent: Intent) -> Option<Handle> {
    let target = real.target.filter(|_| intent == Intent::Read && real.refused.is_none())?;
    if target.look.kind == Kind::Directory {
        return Some(Handle::Dir(ScopedDir { root: real.path.into(), rel: String::new(), fd: target.fd, open }));
    }
    let (above, name) = real.path.rsplit_once('/')?;
    let above = if above.is_empty() { "/" } else { above };
    let plain = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let parent = open(CWD, above, OFlags::PATH | OFlags::DIRECTORY, plain).ok()?;
    let again = sys::entry(open, std::os::fd::AsFd::as_fd(&parent), name).ok()??;
    if sys::look(&again).ok()?.identity != target.look.identity {
        return None;
    }
    Some(Handle::Path(ScopedPath {
        root: Arc::from(above.trim_end_matches('/')),
        within: Within::Outside,
        rel: name.to_owned(),
        parent,
        missing: Vec::new(),
        name: name.to_owned(),
        target: Some(target),
        open,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::Errno;
    use std::os::fd::{BorrowedFd, OwnedFd};

    const fn old_kernel(_: BorrowedFd<'_>, _: &str, _: OFlags, _: ResolveFlags) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    #[test]
    fn without_openat2_every_path_is_refused_and_none_is_opened() {
        let layout = Layout::of("/w", "/home/u");
        let world = World { open: old_kernel, layout, roots: Vec::new() };
        let twins = Twins::new(world.open, &world.layout);
        for abs in ["/etc/passwd", "/w/notes.txt"] {
            for opens in [Opens::Tool, Opens::Command] {
                let seen = world.path(Asked { abs, intent: Intent::Read, opens }, &twins);
                assert_eq!(seen.fact.refused, Some(Refused::Other), "{abs}");
                assert_eq!(seen.fact.kind, Fact::Unknown(Unknown::Failed), "{abs}");
                assert!(seen.handle.is_err(), "{abs}");
            }
        }
    }
}
