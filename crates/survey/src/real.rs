//! Where an absolute name really leads, outside the roots as well: for judging, never for acting inside.
//!
//! Each component is opened by itself from the handle before it and links are read one by one, so
//! that the answer is a plain path without links. Magic links of `/proc` are never followed.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{CWD, OFlags, ResolveFlags};
use rustix::io::Errno;
use tollgate_call::facts::{Kind, Refused};

use crate::error::PathError;
use crate::scoped::{Intent, Judged};
use crate::sys::{self, Opener};

/// As many links as the kernel itself follows.
const MAX_LINKS: u32 = 40;
/// Directories held open at once; deeper paths are refused.
const MAX_DEPTH: usize = 256;

/// The answer for one name.
#[derive(Debug)]
pub(crate) struct Real {
    /// The path without links; names that do not exist keep their letters.
    pub(crate) path: String,
    /// What is there, if anything, and if it could be reached.
    pub(crate) target: Option<Judged>,
    /// Why the kernel would not go there.
    pub(crate) refused: Option<Refused>,
}

/// Follows `abs` from `/`.
pub(crate) fn resolve(open: Opener, abs: &str, intent: Intent) -> Real {
    if let Some(real) = quick(open, abs) {
        return real;
    }
    match Walk::start(open, abs, intent) {
        Ok(mut walk) => walk.run(),
        Err(errno) => Real { path: tollgate_call::places::clean(abs), target: None, refused: refusal(errno) },
    }
}

/// Most names hold no link and no `..`: then one call settles them.
fn quick(open: Opener, abs: &str) -> Option<Real> {
    if abs.split('/').any(|part| part == "..") || abs.ends_with('/') || abs.ends_with("/.") {
        return None;
    }
    let fd = open(CWD, abs, OFlags::PATH, ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS).ok()?;
    let look = sys::look(&fd).ok()?;
    Some(Real { path: tollgate_call::places::clean(abs), target: Some(Judged { fd, look }), refused: None })
}

fn refusal(errno: Errno) -> Option<Refused> {
    PathError::of(errno, "").refused()
}

/// What still has to be gone through, last component first.
struct Walk {
    open: Opener,
    intent: Intent,
    root: OwnedFd,
    held: Vec<(String, OwnedFd)>,
    rest: Vec<String>,
    as_dir: bool,
    links: u32,
}

enum Next {
    On,
    End(Option<Judged>, Option<Refused>),
}

impl Walk {
    fn start(open: Opener, abs: &str, intent: Intent) -> Result<Self, Errno> {
        let root = open(CWD, "/", OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::NO_MAGICLINKS)?;
        let mut walk = Self { open, intent, root, held: Vec::new(), rest: Vec::new(), as_dir: false, links: 0 };
        walk.queue(abs);
        Ok(walk)
    }

    /// Puts the components of `text` before what is still to be walked.
    fn queue(&mut self, text: &str) {
        if self.rest.is_empty() {
            self.as_dir |= text.ends_with('/') || text.ends_with("/.") || text.ends_with("..") || text == ".";
        }
        self.rest.extend(text.split('/').rev().filter(|part| !matches!(*part, "" | ".")).map(str::to_owned));
    }

    fn run(&mut self) -> Real {
        loop {
            let Some(part) = self.rest.pop() else { return self.arrived() };
            match self.step(&part) {
                Ok(Next::On) => {}
                Ok(Next::End(target, refused)) => return Real { path: self.path(), target, refused },
                Err(errno) => {
                    self.rest.push(part);
                    return Real { path: self.path(), target: None, refused: refusal(errno) };
                }
            }
        }
    }

    fn here(&self) -> BorrowedFd<'_> {
        self.held.last().map_or_else(|| self.root.as_fd(), |(_, fd)| fd.as_fd())
    }

    fn step(&mut self, part: &str) -> Result<Next, Errno> {
        if part == ".." {
            self.held.pop();
            return Ok(Next::On);
        }
        let Some(fd) = sys::entry(self.open, self.here(), part)? else {
            self.rest.push(part.to_owned());
            return Ok(Next::End(None, None));
        };
        let look = sys::look(&fd)?;
        if look.link && (self.as_dir || !self.rest.is_empty() || self.intent != Intent::Entry) {
            return self.follow(&fd, part);
        }
        if self.held.len() >= MAX_DEPTH {
            return Err(Errno::NAMETOOLONG);
        }
        if look.kind != Kind::Directory && (self.as_dir || !self.rest.is_empty()) {
            return Err(Errno::NOTDIR);
        }
        self.held.push((part.to_owned(), fd));
        Ok(Next::On)
    }

    fn follow(&mut self, link: &OwnedFd, part: &str) -> Result<Next, Errno> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(Errno::LOOP);
        }
        if self.is_magic(link, part)? {
            // What follows it has no place: only the link itself is named.
            self.rest = vec![part.to_owned()];
            return Ok(Next::End(None, Some(Refused::MagicLink)));
        }
        let text = sys::link_text(link)?;
        if text.starts_with('/') {
            self.held.clear();
        }
        self.queue(&text);
        Ok(Next::On)
    }

    /// A link of procfs that the kernel refuses to follow as an ordinary one, or to show to this user.
    fn is_magic(&self, link: &OwnedFd, part: &str) -> Result<bool, Errno> {
        if rustix::fs::fstatfs(link)?.f_type != rustix::fs::PROC_SUPER_MAGIC {
            return Ok(false);
        }
        let through = (self.open)(self.here(), part, OFlags::PATH, ResolveFlags::NO_MAGICLINKS);
        Ok(matches!(through, Err(Errno::LOOP | Errno::ACCESS | Errno::PERM)))
    }

    /// What was walked, then what was not, by its letters.
    fn path(&self) -> String {
        let walked = self.held.iter().map(|(name, _)| name.as_str());
        let letters: Vec<&str> = walked.chain(self.rest.iter().rev().map(String::as_str)).collect();
        tollgate_call::places::clean(&format!("/{}", letters.join("/")))
    }

    fn arrived(&mut self) -> Real {
        let path = self.path();
        let fd = self.held.pop().map_or_else(|| self.root.try_clone().map_err(|_| Errno::MFILE), |(_, fd)| Ok(fd));
        match fd.and_then(|fd| Ok(Judged { look: sys::look(&fd)?, fd })) {
            Ok(target) => Real { path, target: Some(target), refused: None },
            Err(errno) => Real { path, target: None, refused: refusal(errno) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn real(abs: &str) -> Real {
        resolve(sys::kernel, abs, Intent::Read)
    }

    #[test]
    fn the_real_path_has_no_links_and_keeps_absent_names() {
        let held = tempfile::tempdir().unwrap();
        let top = held.path().canonicalize().unwrap().to_str().unwrap().to_owned();
        std::fs::create_dir_all(held.path().join("a/b")).unwrap();
        std::fs::write(held.path().join("f"), "x").unwrap();
        symlink("a/b", held.path().join("l")).unwrap();
        symlink(format!("{top}/l/"), held.path().join("abs")).unwrap();
        symlink("round", held.path().join("round")).unwrap();
        for (named, want, there, refused) in [
            ("l/../..", "", true, None),
            ("l/../new/x", "/a/new/x", false, None),
            ("abs/new", "/a/b/new", false, None),
            ("abs", "/a/b", true, None),
            ("new/../f", "/f", false, None),
            ("f", "/f", true, None),
            ("round", "/round", false, Some(Refused::Loop)),
            ("f/", "/f", false, Some(Refused::NotDirectory)),
            ("f/x", "/f/x", false, Some(Refused::NotDirectory)),
        ] {
            let told = real(&format!("{top}/{named}"));
            assert_eq!(
                (told.path, told.target.is_some(), told.refused),
                (format!("{top}{want}"), there, refused),
                "{named}"
            );
        }
        let entry = resolve(sys::kernel, &format!("{top}/l"), Intent::Entry);
        assert_eq!(entry.path, format!("{top}/l"));
        assert!(entry.target.unwrap().look.link);
    }

    #[test]
    fn magic_links_are_named_and_never_followed() {
        let pid = std::process::id();
        for (named, want) in [
            ("/proc/self/cwd/../outside/secret", format!("/proc/{pid}/cwd")),
            ("/proc/self/root/etc/passwd", format!("/proc/{pid}/root")),
            ("/proc/1/root/etc/shadow", "/proc/1/root".to_owned()),
            ("/proc/self/fd/0", format!("/proc/{pid}/fd/0")),
            ("/dev/stdin", format!("/proc/{pid}/fd/0")),
        ] {
            let told = real(named);
            assert_eq!((told.path.as_str(), told.refused), (want.as_str(), Some(Refused::MagicLink)), "{named}");
        }
        let thread = real("/proc/thread-self/root/etc/passwd");
        assert_eq!(thread.refused, Some(Refused::MagicLink));
        assert!(thread.path.starts_with(&format!("/proc/{pid}/task/")), "{}", thread.path);
    }
}
