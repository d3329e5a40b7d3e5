//! Profiles: which tables the guards use.

use serde::{Deserialize, Serialize};

/// Which tables the guards use, from mild to severe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Judges by actions and context.
    #[default]
    Standard,
    /// Denies besides what cannot be known, and a list of programs by name.
    Strict,
    /// Denies everything that no allow rule names.
    Locked,
}

impl Profile {
    /// Whether this profile denies a program by its resolved name, wherever it runs.
    ///
    /// ```
    /// use tollgate_policy::Profile;
    /// assert!(Profile::Strict.denies_program("curl"));
    /// assert!(!Profile::Standard.denies_program("curl"));
    /// ```
    pub fn denies_program(self, name: &str) -> bool {
        match self {
            Self::Standard => false,
            Self::Strict | Self::Locked => STRICT_PROGRAMS.binary_search(&name).is_ok() || name.starts_with("mkfs."),
        }
    }

    /// Whether this profile denies a word of the shell itself.
    pub fn denies_builtin(self, word: &str) -> bool {
        match self {
            Self::Standard => false,
            Self::Strict | Self::Locked => matches!(word, "eval" | "exec"),
        }
    }

    /// Whether what cannot be known is denied instead of asked.
    pub const fn denies_uncertainty(self) -> bool {
        match self {
            Self::Standard => false,
            Self::Strict | Self::Locked => true,
        }
    }

    /// Every profile, from least to most strict.
    pub const ALL: [Self; 3] = [Self::Standard, Self::Strict, Self::Locked];

    /// The profile of this word, if there is one.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.as_str() == word)
    }

    /// The word that files and command lines use.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Strict => "strict",
            Self::Locked => "locked",
        }
    }
}

impl std::fmt::Display for Profile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Sorted.
const STRICT_PROGRAMS: &[&str] = &[
    "at",
    "chmod",
    "chown",
    "crontab",
    "curl",
    "dd",
    "docker",
    "halt",
    "mkfs",
    "nc",
    "ncat",
    "netcat",
    "poweroff",
    "reboot",
    "service",
    "shutdown",
    "su",
    "sudo",
    "systemctl",
    "wget",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_strict_programs_is_sorted() {
        assert!(STRICT_PROGRAMS.is_sorted());
    }

    #[test]
    fn strict_names_are_whole_names() {
        for name in ["docker", "mkfs.ext4", "nc"] {
            assert!(Profile::Strict.denies_program(name), "{name}");
        }
        for name in ["docker-compose", "dd_rescue", "rsync", "att", "suspend"] {
            assert!(!Profile::Strict.denies_program(name), "{name}");
        }
    }
}
