//! What only the process itself can know: the time, randomness, and whose process it is.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use tollgate::call::Person;
use tollgate::gate::{Clock, Entropy, NoEntropy};

/// The system's clock.
#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

/// The system's random generator.
#[derive(Debug)]
pub(crate) struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

/// Why it is not known whose process this is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PersonError {
    /// The user database cannot be read.
    #[error("`/etc/passwd` cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    /// The user is not in it, as with a directory service.
    #[error("user {0} has no entry with an absolute home in `/etc/passwd`; pass `--home DIR` and `--state-dir DIR`")]
    NoEntry(u32),
}

/// The person whose process this is, from the passwd entry: never from the environment, which an
/// agent can set.
pub(crate) fn person() -> Result<Person, PersonError> {
    let uid = rustix::process::getuid().as_raw();
    let table = std::fs::read_to_string("/etc/passwd")?;
    entry(&table, uid).ok_or(PersonError::NoEntry(uid))
}

fn entry(table: &str, uid: u32) -> Option<Person> {
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [user, _, id, _, _, home, ..] = fields.as_slice() else { return None };
        let matches = id.parse() == Ok(uid) && home.starts_with('/');
        matches.then(|| Person { home: (*home).to_owned(), user: (*user).to_owned() })
    })
}

/// Where state lives unless the command line says otherwise.
pub(crate) fn default_state_dir(person: &Person) -> PathBuf {
    PathBuf::from(&person.home).join(".local/state/tollgate")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_comes_from_the_passwd_entry_of_the_uid() {
        let table =
            "root:x:0:0:root:/root:/bin/bash\nbad:x:7:7::relative:/bin/sh\nu:x:1000:1000:U,,,:/home/u:/bin/sh\n";
        assert_eq!(entry(table, 1000), Some(Person { home: "/home/u".into(), user: "u".into() }));
        assert_eq!(entry(table, 7), None);
        assert_eq!(entry(table, 8), None);
    }
}
