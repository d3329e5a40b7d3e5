//! Where this installation keeps things: found from the passwd entry and the command line, never from
//! the environment.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use tollgate::call::Person;
use tollgate::gate::{Clock as _, Operator};
use tollgate::ledger::{OpenOptions, RunId, SqliteStore, StateDir};

use crate::args::Common;
use crate::failure::Failure;
use crate::system::{self, SystemClock, SystemEntropy};

/// Largest file of ours that is read whole, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
const OPERATOR: &str = "operator.json";

/// The person, and the places of their installation.
#[derive(Debug, Clone)]
pub(crate) struct Home {
    pub(crate) person: Person,
    pub(crate) state: PathBuf,
    pub(crate) config: PathBuf,
    /// What of the configuration's place is Tollgate's own: its directory, or only the file that was named.
    pub(crate) policy: PathBuf,
}

impl Home {
    /// Finds the places.
    ///
    /// # Errors
    /// [`Failure`] when the user has no passwd entry and the command line does not help.
    pub(crate) fn of(common: &Common) -> Result<Self, Failure> {
        let mut person = match (&common.home, system::person()) {
            (_, Ok(person)) => person,
            (Some(home), Err(_)) => Person { home: home.display().to_string(), user: "user".to_owned() },
            (None, Err(error)) => return Err(Failure::config(&error)),
        };
        if let Some(home) = &common.home {
            person.home = absolute(home)?.display().to_string();
        }
        let state = match &common.state_dir {
            Some(dir) => absolute(dir)?,
            None => system::default_state_dir(&person),
        };
        let own = Path::new(&person.home).join(".config/tollgate");
        let (config, policy) = match &common.config {
            Some(file) if absolute(file)? != own.join("tollgate.toml") => (absolute(file)?, absolute(file)?),
            Some(_) | None => (own.join("tollgate.toml"), own),
        };
        Ok(Self { person, state, config, policy })
    }

    /// Opens the state directory, making it where it is not there.
    ///
    /// # Errors
    /// [`Failure`] when it is open to others or unusable.
    pub(crate) fn state_dir(&self) -> Result<StateDir, Failure> {
        StateDir::open_or_create(&self.state).map_err(|error| Failure::state(&error))
    }

    /// Opens the ledger.
    ///
    /// # Errors
    /// [`Failure`] when it is damaged, of another version, or unusable.
    pub(crate) fn ledger(&self) -> Result<Arc<SqliteStore>, Failure> {
        let dir = self.state_dir()?;
        let (store, _report) =
            SqliteStore::open(&dir, OpenOptions::at(SystemClock.now_ms())).map_err(|error| Failure::state(&error))?;
        Ok(Arc::new(store))
    }

    /// The operator's record, if a secret was set.
    ///
    /// # Errors
    /// [`Failure`] when it is damaged.
    pub(crate) fn operator(&self) -> Result<Option<Operator>, Failure> {
        // Whoever could write it could put a secret of their own in its place.
        if !self.state_dir()?.holds_private(OPERATOR).map_err(|error| Failure::state(&error))? {
            return Ok(None);
        }
        match read_small(&self.state.join(OPERATOR)).map_err(|error| Failure::state(&error))? {
            None => Ok(None),
            Some(text) => serde_json::from_str(&text).map(Some).map_err(|error| {
                Failure::state(&format!(
                    "`{OPERATOR}` is damaged ({error}); set the secret anew with `tollgate init --replace`"
                ))
            }),
        }
    }

    /// Stores the operator's record.
    ///
    /// # Errors
    /// [`Failure`] when it cannot be written.
    pub(crate) fn set_operator(&self, operator: &Operator) -> Result<(), Failure> {
        let dir = self.state_dir()?;
        let text = serde_json::to_string(operator).map_err(|error| Failure::state(&error))?;
        write_private(&dir.path().join(OPERATOR), &text).map_err(|error| Failure::state(&error))
    }
}

/// A fresh run's name: time and randomness, sortable.
///
/// # Errors
/// [`Failure`] when the system gives no randomness.
pub(crate) fn new_run() -> Result<RunId, Failure> {
    use tollgate::gate::Entropy as _;
    let mut random = [0; 5];
    SystemEntropy.fill(&mut random).map_err(|error| Failure::state(&error))?;
    let hex: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    RunId::parse(&format!("run-{}-{hex}", SystemClock.now_ms())).map_err(|error| Failure::state(&error))
}

/// The absolute form of a path of the command line, by letters.
///
/// # Errors
/// [`Failure`] when the current directory cannot be read.
pub(crate) fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::usage(format!("`{}`: {error}", path.display())))
}

/// Reads a file of ours, bounded; `None` when it is not there. A FIFO or device is refused, not waited for.
///
/// # Errors
/// Any other error, or a file that is too large.
pub(crate) fn read_small(path: &Path) -> std::io::Result<Option<String>> {
    read_with(path, OFlags::empty())
}

/// The same for a file that somebody else may have put there: a link to a secret is not followed.
///
/// # Errors
/// As [`read_small`]; and a symbolic link.
pub(crate) fn read_foreign(path: &Path) -> std::io::Result<Option<String>> {
    read_with(path, OFlags::NOFOLLOW)
}

fn read_with(path: &Path, flags: OFlags) -> std::io::Result<Option<String>> {
    let flags = flags | OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(fd) => std::fs::File::from(fd),
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(std::io::Error::other("it is a symbolic link; put the file itself there")),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        return Err(std::io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MAX_FILE + 1).read_to_string(&mut text)?;
    let whole = u64::try_from(text.len()).is_ok_and(|len| len <= MAX_FILE);
    if whole { Ok(Some(text)) } else { Err(std::io::Error::other(format!("it is larger than {MAX_FILE} bytes"))) }
}

/// Writes a file that only this user can read, whole or not at all.
///
/// # Errors
/// The system's.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let beside = path.with_extension("new");
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_somebody_else_made_is_not_followed_and_a_fifo_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("secret"), "s").unwrap();
        std::os::unix::fs::symlink(at("secret"), at("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("fifo"), rustix::fs::FileType::Fifo, Mode::from(0o600), 0).unwrap();
        assert!(read_foreign(&at("link")).is_err());
        assert_eq!(read_small(&at("link")).unwrap().as_deref(), Some("s"));
        assert!(read_small(&at("fifo")).is_err());
        assert_eq!(read_foreign(&at("absent")).unwrap(), None);
    }
}
