//! A directory that the operator opened to the agent, held by handle.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{CWD, OFlags, ResolveFlags};
use rustix::io::Errno;
use tollgate_call::places::{Layout, Place, is_beneath, strip_dir};

use crate::dir::ScopedDir;
use crate::error::{PathError, RootError};
use crate::scope;
use crate::scoped::{Intent, ScopedPath, Within};
use crate::sys::{self, Opener};

/// A held root: the only starting point from which names are resolved.
///
/// ```
/// use tollgate_call::places::Layout;
/// use tollgate_survey::{Intent, PathError, Root};
/// let project = std::env::temp_dir().join(format!("tollgate-root-{}", std::process::id()));
/// std::fs::create_dir_all(&project)?;
/// let name = project.to_string_lossy();
/// let root = Root::open(&name, &Layout::of(&name, "/home/u"))?;
/// let notes = root.scope("sub/../notes.txt", Intent::Write);
/// assert!(matches!(notes, Err(PathError::NotFound(_))), "the kernel asks what `sub` is");
/// let notes = root.scope("notes.txt", Intent::Write)?;
/// assert_eq!((notes.name(), notes.stat()), ("notes.txt", None));
/// assert!(matches!(root.scope("../secret", Intent::Read), Err(PathError::Escapes(_))));
/// # std::fs::remove_dir(&project)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Security
/// Everything resolved from it stays beneath the directory that was opened, wherever that directory
/// is moved. Does not stop mounts inside the root, which the operator put there.
#[derive(Debug)]
pub struct Root {
    name: Arc<str>,
    given: String,
    within: Within,
    fd: OwnedFd,
    open: Opener,
}

impl Root {
    /// Opens the directory `path` as a root.
    ///
    /// # Errors
    /// [`RootError`] for a relative name, `/`, the home directory or anything above it, a directory
    /// that holds or is held by Tollgate's own files, a credential store, or what is no directory.
    pub fn open(path: &str, layout: &Layout) -> Result<Self, RootError> {
        Self::open_by(path, layout, Within::Root, sys::kernel)
    }

    /// Opens the directory `path` as a root for reading only.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_read_only(path: &str, layout: &Layout) -> Result<Self, RootError> {
        Self::open_by(path, layout, Within::ReadRoot, sys::kernel)
    }

    pub(crate) fn open_by(path: &str, layout: &Layout, within: Within, open: Opener) -> Result<Self, RootError> {
        if !path.starts_with('/') {
            return Err(RootError::Relative(path.to_owned()));
        }
        let unusable = |errno| match errno {
            Errno::NOTDIR => RootError::NotDirectory(path.to_owned()),
            other => RootError::Unusable(path.to_owned(), PathError::of(other, path)),
        };
        let fd = open(CWD, path, OFlags::PATH | OFlags::DIRECTORY, ResolveFlags::NO_MAGICLINKS).map_err(unusable)?;
        let name = sys::real_path(&fd).map_err(unusable)?;
        judge(&name, layout)?;
        Ok(Self { name: name.into(), given: path.trim_end_matches('/').to_owned(), within, fd, open })
    }

    /// The real path of the root.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it may be written.
    pub const fn within(&self) -> Within {
        self.within
    }

    /// Resolves `named`, relative to the root or absolute beneath it, through the kernel.
    ///
    /// What does not exist yet is no error: [`ScopedPath::stat`] is `None` and
    /// [`ScopedPath::missing_dirs`] names the directories still to be made.
    ///
    /// # Errors
    /// [`PathError::Escapes`] or [`PathError::Outside`] if any component leaves the root, even for a
    /// moment; the others as their names say.
    /// # Security
    /// `..` and links are resolved by the kernel, never by letters. An absolute link in the middle of
    /// a path is refused even when it leads back inside.
    pub fn scope(&self, named: &str, intent: Intent) -> Result<ScopedPath, PathError> {
        let rel = self.relative(named)?;
        scope::resolve(self, rel, named, intent)
    }

    /// Opens the directory `named` beneath the root; `.` or the root's own name is the root itself.
    ///
    /// # Errors
    /// As [`scope`](Self::scope), and [`PathError::NotDirectory`] or [`PathError::NotFound`].
    pub fn scope_dir(&self, named: &str) -> Result<ScopedDir, PathError> {
        let rel = self.relative(named)?;
        let held = scope::open_dir(self, rel).map_err(|errno| PathError::of(errno, named))?;
        Ok(ScopedDir { root: Arc::clone(&self.name), rel: held.real, fd: held.fd, open: self.open })
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) const fn opener(&self) -> Opener {
        self.open
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// Checks the letters of a name and takes the root's own name off its front.
    fn relative<'a>(&self, named: &'a str) -> Result<&'a str, PathError> {
        check_letters(named)?;
        if !named.starts_with('/') {
            return Ok(named);
        }
        self.beneath(named).ok_or_else(|| PathError::Outside(named.to_owned()))
    }

    /// The part of an absolute name after the root's name; `.` for the root itself.
    pub(crate) fn beneath<'a>(&self, abs: &'a str) -> Option<&'a str> {
        [&*self.name, &self.given].into_iter().find_map(|root| {
            let rest = abs.strip_prefix(root)?;
            let rest = if rest.is_empty() { rest } else { rest.strip_prefix('/')?.trim_start_matches('/') };
            Some(if rest.is_empty() { "." } else { rest })
        })
    }
}

/// Refuses names that no honest file has, before any system call sees them.
pub(crate) fn check_letters(named: &str) -> Result<(), PathError> {
    if named.is_empty() {
        return Err(PathError::Empty);
    }
    if let Some(control) = named.chars().find(|letter| letter.is_control()) {
        return Err(PathError::Control(control.into()));
    }
    let longest = named.split('/').map(str::len).max().unwrap_or(0);
    if named.len() > 4096 || longest > 255 { Err(PathError::TooLong(named.len())) } else { Ok(()) }
}

/// Refuses directories that would hand the agent the user or the guard itself.
fn judge(real: &str, layout: &Layout) -> Result<(), RootError> {
    if real == "/" {
        return Err(RootError::Slash);
    }
    if is_beneath(&layout.home, real) || is_beneath(&real_or_given(&layout.home), real) {
        return Err(RootError::Home(real.to_owned()));
    }
    for own in layout.guard_state.iter().chain(&layout.guard_policy) {
        let there = real_or_given(own);
        let within = is_beneath(own, real) || is_beneath(&there, real);
        let beneath = strip_dir(real, own).is_some() || strip_dir(real, &there).is_some();
        // One file of ours, such as the binary in the project that builds it, is guarded by its name.
        let by_name = layout.guard_policy.contains(own) && std::path::Path::new(&there).is_file();
        if beneath || (within && !by_name) {
            return Err(RootError::HoldsGuard(real.to_owned(), own.clone()));
        }
    }
    if layout.place(real) == Place::Credential {
        return Err(RootError::Credentials(real.to_owned()));
    }
    Ok(())
}

/// The real path of a directory of the installation, or its name while it does not exist.
fn real_or_given(path: &str) -> String {
    rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, rustix::fs::Mode::empty())
        .and_then(sys::real_path)
        .unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn old_kernel(_: BorrowedFd<'_>, _: &str, _: OFlags, _: ResolveFlags) -> Result<OwnedFd, Errno> {
        Err(Errno::NOSYS)
    }

    const fn busy_kernel(_: BorrowedFd<'_>, _: &str, _: OFlags, _: ResolveFlags) -> Result<OwnedFd, Errno> {
        Err(Errno::AGAIN)
    }

    fn root_on(open: Opener) -> (tempfile::TempDir, Root) {
        let held = tempfile::tempdir().unwrap();
        std::fs::write(held.path().join("f"), "x").unwrap();
        let top = held.path().to_str().unwrap().to_owned();
        let mut root = Root::open(&top, &Layout::of(&top, "/home/nobody-here")).unwrap();
        root.open = open;
        (held, root)
    }

    #[test]
    fn a_kernel_without_openat2_reads_nothing_by_another_way() {
        let (_held, root) = root_on(old_kernel);
        assert_eq!(root.scope("f", Intent::Read).unwrap_err(), PathError::NoOpenat2);
        assert_eq!(root.scope_dir(".").unwrap_err(), PathError::NoOpenat2);
        let layout = Layout::of("/w", "/home/nobody-here");
        let told = Root::open_by(&root.name, &layout, Within::Root, old_kernel).unwrap_err();
        assert_eq!(told, RootError::Unusable(root.name.to_string(), PathError::NoOpenat2));
    }

    #[test]
    fn a_tree_that_never_holds_still_is_a_race() {
        let (_held, root) = root_on(busy_kernel);
        assert_eq!(root.scope("f", Intent::Read).unwrap_err(), PathError::Race("f".into()));
    }
}
