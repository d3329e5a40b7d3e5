//! What a caller asks of a box, and what a box never gives.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::error::SpecError;

/// Describes one command and the box it runs in.
///
/// ```
/// use std::{path::PathBuf, time::Duration};
/// use tollgate_act::sandbox::{BoxSpec, Limits, Network};
///
/// let spec = BoxSpec {
///     argv: vec!["/bin/bash".into(), "-c".into(), "make test".into()],
///     cwd: PathBuf::from("/srv/project"),
///     env: vec![("PATH".into(), "/usr/bin:/bin".into())],
///     writable: vec![PathBuf::from("/srv/project")],
///     hidden: vec![PathBuf::from("/home/u/.ssh")],
///     pinned: vec![PathBuf::from("/srv/project/.git/config")],
///     timeout: Duration::from_secs(120),
///     output_cap: 64 * 1024,
///     stdin: Vec::new(),
///     limits: Limits::default(),
///     network: Network::None,
/// };
/// assert_eq!(spec.network, Network::None);
/// ```
#[derive(Debug, Clone)]
pub struct BoxSpec {
    /// The program and its arguments. A word without `/` is looked up in the `PATH` of `env`.
    pub argv: Vec<OsString>,
    /// The working directory, absolute.
    pub cwd: PathBuf,
    /// The whole environment. Nothing is inherited; `TMPDIR` is always set to the private `/tmp`.
    pub env: Vec<(OsString, OsString)>,
    /// Directories that stay writable, as real absolute paths. Mounts below them stay read-only.
    pub writable: Vec<PathBuf>,
    /// Files and directories that cannot be read; absent ones are ignored.
    pub hidden: Vec<PathBuf>,
    /// Names inside writable roots that cannot be written; see [`super::BoxOutput::unpinned`].
    pub pinned: Vec<PathBuf>,
    /// Wall clock, after which the whole tree dies.
    pub timeout: Duration,
    /// Bytes kept of each output stream, half from the head and half from the tail.
    pub output_cap: usize,
    /// Bytes on standard input; empty means `/dev/null`.
    pub stdin: Vec<u8>,
    /// Limits on resources.
    pub limits: Limits,
    /// What the network namespace connects to.
    pub network: Network,
}

/// Says what the box can connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Network {
    /// Nothing but a loopback of its own.
    None,
}

/// Bounds the resources of one box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Open files per process.
    pub open_files: u64,
    /// Processes and threads in the box.
    ///
    /// # Security
    /// For root this holds only on Linux 6.14 and newer, where a pid namespace has its own maximum, and up to 300 above.
    pub processes: u64,
    /// Size of any one file written, in bytes.
    pub file_bytes: Option<u64>,
    /// Address space per process, in bytes.
    pub address_space_bytes: Option<u64>,
    /// Size of the private `/tmp`, in bytes; `/dev/shm` and `/run` get a quarter each.
    pub tmp_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { open_files: 4096, processes: 1024, file_bytes: None, address_space_bytes: None, tmp_bytes: 1 << 30 }
    }
}

/// Places where no writable root may lie.
const NEVER_WRITABLE: [&str; 5] = ["/proc", "/sys", "/dev", "/run", "/var/run"];

/// Places that are replaced inside the box.
const PRIVATE_TO_THE_BOX: [&str; 4] = ["/tmp", "/dev", "/run", "/var/run"];

impl BoxSpec {
    /// Refuses what a box never gives.
    pub(super) fn check(&self, home: Option<&Path>) -> Result<(), SpecError> {
        let program = self.argv.first().ok_or(SpecError::EmptyCommand)?;
        if program.is_empty() {
            return Err(SpecError::EmptyCommand);
        }
        self.argv.iter().try_for_each(|word| no_nul(word))?;
        self.env.iter().try_for_each(|(name, value)| env_name(name).and_then(|()| no_nul(value)))?;
        let paths = [&self.writable, &self.hidden, &self.pinned];
        paths.into_iter().flatten().try_for_each(|path| plain(path))?;
        plain(&self.cwd)?;
        self.visible(&self.cwd)?;
        self.writable.iter().try_for_each(|root| writable_root(root, home))?;
        self.writable.iter().chain([&self.cwd]).try_for_each(|path| self.not_hidden(path))
    }

    /// A private place shows nothing of the host but the writable roots in it.
    fn visible(&self, path: &Path) -> Result<(), SpecError> {
        let replaced = PRIVATE_TO_THE_BOX.iter().any(|place| path != Path::new(place) && path.starts_with(place));
        match replaced && !self.writable.iter().any(|root| path.starts_with(root)) {
            true => Err(SpecError::NotVisible(path.to_owned())),
            false => Ok(()),
        }
    }

    fn not_hidden(&self, path: &Path) -> Result<(), SpecError> {
        match self.hidden.iter().find(|hidden| path.starts_with(hidden)) {
            Some(hidden) => Err(SpecError::InHidden { path: path.to_owned(), hidden: hidden.clone() }),
            None => Ok(()),
        }
    }
}

fn no_nul(text: &OsStr) -> Result<(), SpecError> {
    match text.as_bytes().contains(&0) {
        true => Err(SpecError::Nul(text.to_string_lossy().replace('\0', "\\0"))),
        false => Ok(()),
    }
}

fn env_name(name: &OsStr) -> Result<(), SpecError> {
    no_nul(name)?;
    match name.is_empty() || name.as_bytes().contains(&b'=') {
        true => Err(SpecError::EnvName(name.to_string_lossy().into_owned())),
        false => Ok(()),
    }
}

fn plain(path: &Path) -> Result<(), SpecError> {
    no_nul(path.as_os_str())?;
    let only_names = path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)));
    match path.is_absolute() && only_names {
        true => Ok(()),
        false => Err(SpecError::NotPlain(path.to_owned())),
    }
}

fn writable_root(path: &Path, home: Option<&Path>) -> Result<(), SpecError> {
    too_wide(path, home).map_or(Ok(()), |why| Err(SpecError::TooWide { path: path.to_owned(), why }))?;
    let real = path.canonicalize().map_err(|_| SpecError::NoSuchRoot(path.to_owned()))?;
    if real != path {
        return Err(SpecError::Symlink { path: path.to_owned(), real });
    }
    match real.is_dir() {
        true => Ok(()),
        false => Err(SpecError::NoSuchRoot(real)),
    }
}

fn too_wide(path: &Path, home: Option<&Path>) -> Option<&'static str> {
    if path.parent().is_none() {
        return Some("it is the whole system");
    }
    if home.is_some_and(|home| home.starts_with(path)) {
        return Some("it holds the home directory");
    }
    if path == Path::new("/tmp") {
        return Some("the box has a `/tmp` of its own");
    }
    NEVER_WRITABLE.iter().any(|place| path.starts_with(place)).then_some("the box has its own")
}

/// Reads the home directory of `uid` from the passwd file, never from the environment.
///
/// Users that a directory service knows and the file does not have no home here; the caller's roots rule still holds.
pub(super) fn passwd_home(uid: u32) -> Option<PathBuf> {
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let uid = uid.to_string();
    let entry = passwd.lines().find(|line| line.split(':').nth(2) == Some(uid.as_str()))?;
    let home = Path::new(entry.split(':').nth(5)?);
    let home = home.canonicalize().unwrap_or_else(|_| home.to_owned());
    home.parent().is_some().then_some(home)
}
