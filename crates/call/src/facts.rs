//! What looking at the world told: plain data that `survey` fills and `policy` reads.
//!
//! A fact that was not obtained, or not in time, is [`Fact::Unknown`]; each guard names its
//! decision for it.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::places::{Place, Protection};

/// Something looked up, or the reason why not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact<T> {
    /// Looked up.
    Known(T),
    /// Not looked up, or not in time.
    Unknown(Unknown),
}

impl<T> Fact<T> {
    /// The value, if it is known.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unknown(_) => None,
        }
    }
}

/// Why a fact is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Nobody asked (a pure check without a file system).
    NotAsked,
    /// The deadline passed first.
    Late,
    /// The system answered with an error.
    Failed,
}

/// All facts of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// By [`crate::action::PathRef::abs`].
    pub paths: BTreeMap<String, PathFact>,
    /// Expansion of glob and "beneath" targets, by their `abs`.
    pub expansions: BTreeMap<String, Fact<Expansion>>,
    /// Which file a program name or path would run, by the word as named.
    pub programs: BTreeMap<String, Fact<ProgramFact>>,
    /// Resolved addresses, by the host in normal form.
    pub hosts: BTreeMap<String, Fact<Vec<IpAddr>>>,
    /// The versions of files that would run as code, by [`crate::action::PathRef::abs`]; bound into approvals.
    pub code: BTreeMap<String, Fact<FileVersion>>,
    /// The repository around the working directory.
    pub repo: Fact<RepoFact>,
    /// The walls that a command would run in.
    pub confinement: Confinement,
}

impl Facts {
    /// No facts at all; every guard sees `Unknown`.
    pub const fn none() -> Self {
        Self {
            paths: BTreeMap::new(),
            expansions: BTreeMap::new(),
            programs: BTreeMap::new(),
            hosts: BTreeMap::new(),
            code: BTreeMap::new(),
            repo: Fact::Unknown(Unknown::NotAsked),
            confinement: Confinement::Outside,
        }
    }
}

/// What is known about one path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFact {
    /// Where it really is, after every link.
    pub place: Place,
    /// The real path, when it could be resolved; else the cleaned name.
    pub resolved: String,
    /// What protects the name, the target, or another name of the same file.
    pub protection: Option<Protection>,
    /// What is there.
    pub kind: Fact<Kind>,
    /// Number of names of the file; more than 1 is a hard link.
    pub links: Fact<u64>,
    /// Identity (device, inode), bound into approvals.
    pub identity: Fact<Option<(u64, u64)>>,
    /// Whether version control could bring it back.
    pub tracked: Fact<Tracked>,
    /// Why the path cannot be opened as named, when it cannot.
    pub refused: Option<Refused>,
}

/// What a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing yet; its parent exists.
    Absent,
    /// A regular file of this many bytes.
    File(u64),
    /// A directory.
    Directory,
    /// A character or block device, by (major, minor).
    Device(u32, u32),
    /// A FIFO or a socket.
    Special,
}

/// Why the kernel would not open a path beneath the roots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// A component leaves the root, even for a moment.
    Escapes,
    /// A magic link of `/proc`.
    MagicLink,
    /// Too many or circular symbolic links.
    Loop,
    /// A name or path is too long.
    TooLong,
    /// A component is not a directory, or a file is named with a trailing slash.
    NotDirectory,
    /// Not readable for this user.
    Permission,
    /// The tree changed underneath, again and again.
    Race,
    /// Any other error.
    Other,
}

/// What version control knows about a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracked {
    /// In the index, with this content.
    Clean,
    /// In the index, but changed since.
    Modified,
    /// Not in the index, not ignored: its loss is final.
    Untracked,
    /// Ignored: built or fetched, as a rule.
    Ignored,
    /// No repository here.
    NoRepo,
}

/// What a glob or a recursive target would reach, bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expansion {
    /// Names matched, as paths like [`crate::action::PathRef::abs`]; at most a bounded number. Of
    /// what lies beneath a directory, only the protected names. Each has its own path fact.
    pub matches: Vec<String>,
    /// Whether there were more than were listed.
    pub more: bool,
    /// How many of the files reached version control could not bring back as they are: untracked or
    /// changed since, not ignored.
    pub untracked: Fact<u64>,
    /// How many files would be reached in all.
    pub files: u64,
}

/// Which file a program word would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramFact {
    /// The resolved file.
    pub file: String,
    /// Where it lies.
    pub place: Place,
    /// Identity (device, inode), bound into approvals.
    pub identity: (u64, u64),
}

/// One state of a file: it cannot be written, replaced or touched without becoming another.
///
/// # Security
/// The time of the last change is the kernel's and cannot be set by a program; two writes within one tick of its
/// clock (some milliseconds) may share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FileVersion {
    /// Device and inode.
    pub identity: (u64, u64),
    /// Bytes.
    pub size: u64,
    /// When the inode last changed: seconds and nanoseconds since the epoch.
    pub changed: (i64, u32),
}

/// Facts of the repository around the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepoFact {
    /// The branch that is checked out, if any.
    pub branch: Option<String>,
    /// Whether tracked files differ from the index; what is only staged survives as an object.
    pub dirty: Fact<bool>,
    /// Remote names and their URLs; where pushes go elsewhere, that is listed as `NAME (push)`.
    pub remotes: BTreeMap<String, String>,
    /// The versions of the files that git obeys in it: its configuration and its hooks, by their real paths.
    pub obeyed: Vec<(String, FileVersion)>,
}

/// The walls around what a call runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Confinement {
    /// Every wall that the design names was tried by a real child and held.
    Enforced,
    /// Some walls hold; the named ones are missing.
    Partial(Vec<String>),
    /// The host acts; nothing confines what it runs.
    Outside,
}

/// Whether a verdict is carried out by the guard or by somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Assurance {
    /// Tollgate performs what it permits.
    Enforced,
    /// A host acts after the answer.
    Advisory,
}
