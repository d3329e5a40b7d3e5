//! The file system of the box.
//!
//! The host's tree stays where it is; every mount of it becomes read-only, and a few new mounts cover or reopen parts.
//! Trees that must stay usable are cloned before, because a clone keeps the attributes it was taken with.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, mkdirat, openat, openat2, symlinkat};
use rustix::io::{Errno, Result};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create, fsconfig_set_string,
    fsmount, fsopen, move_mount, open_tree,
};

use super::failure::{Failure, Step as _};
use super::kernel::{Depth, set_mount};
use super::spec::Limits;
use super::wall::Wall;
use super::wire::Profile;

const READ_ONLY: u64 = MountAttrFlags::MOUNT_ATTR_RDONLY.bits() as u64;
const NO_SUID_NO_DEV: u64 = (MountAttrFlags::MOUNT_ATTR_NOSUID.bits() | MountAttrFlags::MOUNT_ATTR_NODEV.bits()) as u64;

/// The nodes of the box's `/dev`. None of them reaches data of the host.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: [(&str, &str); 5] = [
    ("/proc/self/fd", "fd"),
    ("/proc/self/fd/0", "stdin"),
    ("/proc/self/fd/1", "stdout"),
    ("/proc/self/fd/2", "stderr"),
    ("pts/ptmx", "ptmx"),
];

/// Builds the box's file system in the mount namespace of the caller; returns the pinned names that could not be pinned.
pub(super) fn build(profile: &Profile) -> std::result::Result<Vec<usize>, Failure> {
    let roots = Root::clone_all(&profile.writable)?;
    let nodes = NODES.map(|name| (name, clone_tree(&Path::new("/dev").join(name))));
    seal_host().wall(Wall::ReadOnlyRoot, || "make every mount read-only".to_owned())?;
    // The covers' source is attached at `/tmp` because a clone needs an attached source; the private `/tmp` hides it.
    let covers = Covers::mount().wall(Wall::Hidden, || "mount the covers".to_owned())?;
    private_places(&profile.limits)?;
    devices(nodes, &profile.limits)?;
    for root in &roots {
        root.attach().wall(Wall::WritableRoots, || format!("attach `{}`", root.path.display()))?;
    }
    let mut pins = Pins { roots: &roots, done: BTreeSet::new() };
    let unpinned = pins.pin_all(&profile.pinned)?;
    hide_all(&profile.hidden, &covers, &mut pins)?;
    Ok(unpinned)
}

/// A writable root, cloned before the host was sealed.
struct Root {
    path: PathBuf,
    tree: OwnedFd,
}

impl Root {
    /// Clones the roots, outer ones first so that inner ones land on top of them.
    fn clone_all(paths: &[OsString]) -> std::result::Result<Vec<Self>, Failure> {
        let sorted: BTreeSet<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let open = |path: PathBuf| {
            let tree = clone_writable(&path).wall(Wall::WritableRoots, || format!("open `{}`", path.display()))?;
            Ok(Self { path, tree })
        };
        sorted.into_iter().map(open).collect()
    }

    fn attach(&self) -> Result<()> {
        attach(&self.tree, &make_directory(&self.path)?)
    }
}

/// Clones the tree at `path`, writable at its top only: what the host mounted below stays read-only.
fn clone_writable(path: &Path) -> Result<OwnedFd> {
    let tree = clone_of(&open_real(path)?)?;
    set_mount(tree.as_fd(), Depth::All, READ_ONLY | NO_SUID_NO_DEV, 0)?;
    set_mount(tree.as_fd(), Depth::This, 0, READ_ONLY)?;
    Ok(tree)
}

fn clone_tree(path: &Path) -> Result<OwnedFd> {
    clone_of(&openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

fn clone_of(place: &OwnedFd) -> Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(place, "", flags | OpenTreeFlags::AT_EMPTY_PATH | OpenTreeFlags::AT_RECURSIVE)
}

/// Opens a place that no symlink leads to; `NOFOLLOW` is left out because it would open a last symlink itself.
fn open_real(path: &Path) -> Result<OwnedFd> {
    openat2(
        CWD,
        path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
    )
}

/// Opens a place as a mount point, following symlinks to what they name.
fn open_place(path: &Path) -> Result<OwnedFd> {
    openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

fn attach(tree: &OwnedFd, place: &OwnedFd) -> Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(tree, "", place, "", flags)
}

fn seal_host() -> Result<()> {
    let root = openat(CWD, "/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    set_mount(root.as_fd(), Depth::All, READ_ONLY | NO_SUID_NO_DEV, 0)
}

/// Makes the directories down to a writable root where the private `/tmp` covers the host's.
fn make_directory(path: &Path) -> Result<OwnedFd> {
    if path.starts_with("/tmp") {
        let mut parents: Vec<&Path> = path.ancestors().filter(|part| part.parent().is_some()).collect();
        parents.reverse();
        for part in parents.into_iter().skip(1) {
            exists_is_fine(mkdirat(CWD, part, Mode::from_raw_mode(0o755)))?;
        }
    }
    open_real(path)
}

fn exists_is_fine(made: Result<()>) -> Result<()> {
    match made {
        Err(Errno::EXIST) => Ok(()),
        other => other,
    }
}

/// A small file system that is not attached yet.
fn new_tmpfs(options: &[(&str, &str)], attributes: MountAttrFlags) -> Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    let attributes = attributes | MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

fn new_directory(at: &OwnedFd, name: &str, mode: u32) -> Result<()> {
    mkdirat(at, name, Mode::from_raw_mode(mode))
}

fn new_file(at: &OwnedFd, name: &str, mode: u32) -> Result<()> {
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    openat(at, name, flags, Mode::from_raw_mode(mode)).map(drop)
}

fn private_places(limits: &Limits) -> std::result::Result<(), Failure> {
    let size = limits.tmp_bytes.to_string();
    let quarter = (limits.tmp_bytes / 4).to_string();
    private("/tmp", &[("mode", "1777"), ("size", &size)]).wall(Wall::PrivateTmp, || "mount `/tmp`".to_owned())?;
    let run = [("mode", "755"), ("size", &*quarter)];
    // Without a directory of that name there is nothing to hide; a symlinked `/var/run` leads to `/run`.
    for path in ["/run", "/var/run"] {
        match private(path, &run) {
            Ok(()) | Err(Errno::NOENT | Errno::LOOP) => {}
            failed => return failed.wall(Wall::PrivateRun, || format!("mount `{path}`")),
        }
    }
    Ok(())
}

fn private(path: &str, options: &[(&str, &str)]) -> Result<()> {
    let place = open_real(Path::new(path))?;
    attach(&new_tmpfs(options, MountAttrFlags::empty())?, &place)
}

fn devices<const N: usize>(nodes: [(&str, Result<OwnedFd>); N], limits: &Limits) -> std::result::Result<(), Failure> {
    let dev = new_dev(&nodes.each_ref().map(|(name, _)| *name)).wall(Wall::Devices, || "make `/dev`".to_owned())?;
    for (name, node) in nodes {
        let place = |node| attach(&node, &openat(&dev, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?);
        node.and_then(place).wall(Wall::Devices, || format!("bind `/dev/{name}`"))?;
    }
    terminals(&dev).wall(Wall::Devices, || "mount `/dev/pts`".to_owned())?;
    let quarter = (limits.tmp_bytes / 4).to_string();
    private("/dev/shm", &[("mode", "1777"), ("size", &quarter)])
        .wall(Wall::PrivateTmp, || "mount `/dev/shm`".to_owned())?;
    set_mount(dev.as_fd(), Depth::This, READ_ONLY, 0).wall(Wall::Devices, || "seal `/dev`".to_owned())
}

/// Makes and attaches a `/dev` with empty places for the nodes.
fn new_dev(nodes: &[&str]) -> Result<OwnedFd> {
    let dev = new_tmpfs(&[("mode", "755"), ("size", "64k")], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
    for name in nodes {
        new_file(&dev, name, 0o666)?;
    }
    for (target, name) in LINKS {
        symlinkat(target, &dev, name)?;
    }
    new_directory(&dev, "pts", 0o755)?;
    new_directory(&dev, "shm", 0o1777)?;
    attach(&dev, &open_place(Path::new("/dev"))?)?;
    Ok(dev)
}

/// A pseudo-terminal file system of the box's own, without the host's terminals.
fn terminals(dev: &OwnedFd) -> Result<()> {
    let context = fsopen("devpts", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("ptmxmode", "666"), ("mode", "620")] {
        fsconfig_set_string(context.as_fd(), key, value)?;
    }
    fsconfig_create(context.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let tree = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    attach(&tree, &openat(dev, "pts", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// What hidden places are covered with: an empty directory and an empty file that nobody may open.
struct Covers(OwnedFd);

impl Covers {
    fn mount() -> Result<Self> {
        let tree = new_tmpfs(&[("mode", "755"), ("size", "4k")], MountAttrFlags::MOUNT_ATTR_NOEXEC)?;
        new_directory(&tree, "directory", 0)?;
        new_file(&tree, "file", 0)?;
        attach(&tree, &open_place(Path::new("/tmp"))?)?;
        set_mount(tree.as_fd(), Depth::This, READ_ONLY, 0)?;
        Ok(Self(tree))
    }

    fn cover(&self, place: &OwnedFd) -> Result<()> {
        let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode);
        let name = if kind.is_dir() { "directory" } else { "file" };
        let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
        attach(&open_tree(&self.0, name, flags)?, place)
    }
}

fn hide_all(hidden: &[OsString], covers: &Covers, pins: &mut Pins<'_>) -> std::result::Result<(), Failure> {
    for path in hidden.iter().map(Path::new) {
        let step = || format!("cover `{}`", path.display());
        // A cover moves with a renamed parent, so the content stays covered; but the host's name must not move either.
        pins.hold_parents(path).map(drop).wall(Wall::Hidden, step)?;
        match open_place(path) {
            Ok(place) => covers.cover(&place).wall(Wall::Hidden, step)?,
            // What this user cannot reach outside, the box cannot reach either: it has fewer rights, not more.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => {}
            Err(cause) => return Err(cause).wall(Wall::Hidden, step),
        }
    }
    Ok(())
}

/// Holds names inside writable roots in place.
struct Pins<'a> {
    roots: &'a [Root],
    done: BTreeSet<PathBuf>,
}

/// Says whether the way to a name could be held.
#[derive(PartialEq, Eq)]
enum Parents {
    Held,
    AbsentOrLinked,
    NotWritable,
}

impl Pins<'_> {
    fn pin_all(&mut self, pinned: &[OsString]) -> std::result::Result<Vec<usize>, Failure> {
        let mut unpinned = Vec::new();
        for (index, path) in pinned.iter().map(Path::new).enumerate() {
            let held = self.pin(path).wall(Wall::Pinned, || format!("pin `{}`", path.display()))?;
            if !held {
                unpinned.push(index);
            }
        }
        Ok(unpinned)
    }

    /// Makes an existing name read-only and unmovable; returns false if it is absent or a symlink.
    fn pin(&mut self, path: &Path) -> Result<bool> {
        match self.hold_parents(path)? {
            Parents::NotWritable => return Ok(true),
            Parents::AbsentOrLinked => return Ok(false),
            Parents::Held => {}
        }
        let Some(place) = absent_or_linked(open_real(path))? else { return Ok(false) };
        let tree = clone_of(&place)?;
        set_mount(tree.as_fd(), Depth::All, READ_ONLY, 0)?;
        attach(&tree, &place)?;
        self.done.insert(path.to_owned());
        Ok(true)
    }

    /// Mounts each directory between the writable root and `path` on itself: the kernel refuses to rename or remove a
    /// mount point, so that the name cannot be moved aside with its parent.
    fn hold_parents(&mut self, path: &Path) -> Result<Parents> {
        let outermost = self.roots.iter().map(|root| root.path.as_path()).find(|root| path.starts_with(root));
        let Some(root) = outermost else { return Ok(Parents::NotWritable) };
        let mut parents: Vec<&Path> = path.ancestors().skip(1).take_while(|part| *part != root).collect();
        parents.reverse();
        for parent in parents.into_iter().filter(|part| part.starts_with(root)) {
            if self.done.contains(parent) || self.roots.iter().any(|root| root.path == parent) {
                continue;
            }
            let Some(place) = absent_or_linked(open_real(parent))? else { return Ok(Parents::AbsentOrLinked) };
            attach(&clone_of(&place)?, &place)?;
            self.done.insert(parent.to_owned());
        }
        Ok(Parents::Held)
    }
}

fn absent_or_linked(opened: Result<OwnedFd>) -> Result<Option<OwnedFd>> {
    match opened {
        Ok(place) => Ok(Some(place)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(cause) => Err(cause),
    }
}
