//! Names of places: where a resolved path lies.
//!
//! Pure tables over strings. `survey` applies them to what the kernel resolved, a pure check to the
//! name itself.

pub use crate::protected::{Protection, protection};

/// Where a resolved path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Place {
    /// Strictly beneath a root.
    Inside,
    /// A root itself.
    Root,
    /// A directory that holds a root: `/`, or a parent.
    Ancestor,
    /// The user's home directory itself.
    Home,
    /// Beneath a directory that the operator opened for reading.
    ReadRoot,
    /// A shared temporary directory, or beneath it.
    Temp,
    /// A store of credentials, or beneath it.
    Credential,
    /// Tollgate's state, log or binary.
    GuardState,
    /// Tollgate's policy files.
    GuardPolicy,
    /// `/dev/null` and its harmless kin.
    HarmlessDevice,
    /// Any other device, `/proc` or `/sys` entry that reaches beyond this process.
    Device,
    /// Programs, libraries, configuration and data of the system, readable by all.
    System,
    /// Anywhere else.
    Elsewhere,
}

/// The places of one installation, as absolute cleaned paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Writable roots; the first is the workspace.
    pub roots: Vec<String>,
    /// Extra directories for reading.
    pub read_roots: Vec<String>,
    /// The user's home directory.
    pub home: String,
    /// Tollgate's state directories and binary.
    pub guard_state: Vec<String>,
    /// Tollgate's policy files and directories.
    pub guard_policy: Vec<String>,
    /// Temporary directories shared with others.
    pub temp: Vec<String>,
}

impl Layout {
    /// A layout of one workspace and a home, for tests and pure checks.
    pub fn of(workspace: &str, home: &str) -> Self {
        Self {
            roots: vec![clean(workspace)],
            read_roots: Vec::new(),
            home: clean(home),
            guard_state: vec![format!("{}/.local/state/tollgate", clean(home))],
            guard_policy: vec![format!("{}/.config/tollgate", clean(home)), "/etc/tollgate".to_owned()],
            temp: vec!["/tmp".to_owned(), "/var/tmp".to_owned(), "/dev/shm".to_owned()],
        }
    }

    /// The workspace root.
    pub fn workspace(&self) -> &str {
        self.roots.first().map_or("/", String::as_str)
    }

    /// Says where `abs`, an absolute cleaned path, lies. Guard places win over everything, then
    /// credentials, then roots.
    pub fn place(&self, abs: &str) -> Place {
        let beneath = |dirs: &[String]| dirs.iter().any(|dir| is_beneath(abs, dir));
        if beneath(&self.guard_state) {
            Place::GuardState
        } else if beneath(&self.guard_policy) {
            Place::GuardPolicy
        } else if self.is_credential(abs) {
            Place::Credential
        } else if self.roots.iter().any(|root| root == abs) {
            Place::Root
        } else if beneath(&self.roots) {
            Place::Inside
        } else if beneath(&self.read_roots) {
            Place::ReadRoot
        } else if self.roots.iter().any(|root| is_beneath(root, abs)) {
            Place::Ancestor
        } else if abs == self.home || is_beneath(&self.home, abs) {
            Place::Home
        } else {
            self.outer(abs)
        }
    }

    fn outer(&self, abs: &str) -> Place {
        // A home may lie in a temporary directory; what is in it is still somebody's.
        if is_beneath(abs, &self.home) {
            Place::Elsewhere
        } else if HARMLESS_DEVICES.contains(&abs) || is_beneath(abs, "/dev/pts") {
            Place::HarmlessDevice
        } else if self.temp.iter().any(|dir| is_beneath(abs, dir)) {
            Place::Temp
        } else if SYSTEM_SECRETS.iter().any(|name| is_beneath(abs, name)) {
            Place::Credential
        } else if is_beneath(abs, "/dev") || is_beneath(abs, "/sys") || is_live_proc(abs) {
            Place::Device
        } else if SYSTEM_DIRS.iter().any(|dir| is_beneath(abs, dir)) {
            Place::System
        } else {
            Place::Elsewhere
        }
    }

    /// A credential store of any home directory, not only of this user's.
    fn is_credential(&self, abs: &str) -> bool {
        let rest = strip_dir(abs, &self.home)
            .or_else(|| strip_dir(abs, "/root"))
            .or_else(|| strip_dir(abs, "/home").and_then(|rest| rest.split_once('/').map(|(_, rest)| rest)))
            .or_else(|| strip_dir(abs, "/Users").and_then(|rest| rest.split_once('/').map(|(_, rest)| rest)));
        rest.is_some_and(|rest| CREDENTIALS.iter().any(|name| rest == *name || strip_dir(rest, name).is_some()))
    }
}

/// Credential stores, relative to a home directory.
pub const CREDENTIALS: &[&str] = &[
    ".ssh",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/glab-cli",
    ".config/op",
    ".config/doctl",
    ".config/heroku",
    ".config/rclone",
    ".config/sops",
    ".config/containers/auth.json",
    ".docker/config.json",
    ".docker",
    ".kube",
    ".gnupg",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".vault-token",
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".s3cfg",
    ".boto",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".thunderbird",
    ".electrum",
    ".bitcoin",
    ".ethereum",
    ".config/solana",
    ".fly",
    ".oci",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
    ".claude/.credentials.json",
    ".claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".config/github-copilot",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Cookies",
];

const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/ssl/private",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/krb5.keytab",
    "/etc/kubernetes",
    "/run/secrets",
    "/var/run/secrets",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/containerd",
    "/etc/machine-id",
    "/var/lib/docker",
    "/var/spool/cron",
];

const HARMLESS_DEVICES: &[&str] = &[
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/fd",
    "/dev/fd/0",
    "/dev/fd/1",
    "/dev/fd/2",
];

const SYSTEM_DIRS: &[&str] = &[
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr",
    "/etc",
    "/opt",
    "/nix",
    "/gnu",
    "/snap",
    "/proc",
    "/var/log",
    "/var/lib",
    "/var/cache",
    "/System",
    "/Library",
    "/Applications",
];

/// `/proc` entries that describe one process or poke the kernel, rather than the machine; also as a
/// pattern that may match one.
fn is_live_proc(abs: &str) -> bool {
    strip_dir(abs, "/proc").is_some_and(|rest| {
        let first = rest.split('/').next().unwrap_or(rest);
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        match first.split_once(['*', '?', '[', '{']) {
            Some((lead, _)) => digits(lead) || LIVE_PROC.iter().any(|name| name.starts_with(lead)),
            None => digits(first) || LIVE_PROC.contains(&first) || first.starts_with("sysrq"),
        }
    })
}

const LIVE_PROC: &[&str] =
    &["self", "thread-self", "sys", "sysrq-trigger", "kcore", "kmem", "kallsyms", "keys", "key-users"];

/// Whether `abs` is `dir` or lies beneath it, by whole components.
pub fn is_beneath(abs: &str, dir: &str) -> bool {
    abs == dir || strip_dir(abs, dir).is_some()
}

/// The part of `abs` beneath `dir`, if it lies strictly beneath.
pub fn strip_dir<'a>(abs: &'a str, dir: &str) -> Option<&'a str> {
    if dir == "/" {
        return abs.strip_prefix('/').filter(|rest| !rest.is_empty());
    }
    abs.strip_prefix(dir)?.strip_prefix('/').filter(|rest| !rest.is_empty())
}

/// Cleans an absolute path by its letters: doubled slashes, `.` and `..`.
///
/// # Security
/// This is not what the kernel does after a symbolic link. Use it only where no file system is
/// asked; `survey` resolves through held handles.
pub fn clean(abs: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in abs.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sibling_with_the_same_prefix_is_outside() {
        let layout = Layout::of("/w", "/home/u");
        assert_eq!(layout.place("/w/a"), Place::Inside);
        assert_eq!(layout.place("/w"), Place::Root);
        assert_eq!(layout.place("/w-evil/a"), Place::Elsewhere);
        assert_eq!(layout.place("/"), Place::Ancestor);
    }

    #[test]
    fn credentials_of_any_home_are_credentials() {
        let layout = Layout::of("/home/u/w", "/home/u");
        for path in ["/home/u/.ssh/id_rsa", "/home/v/.aws/credentials", "/root/.netrc", "/etc/shadow"] {
            assert_eq!(layout.place(path), Place::Credential, "{path}");
        }
        assert_eq!(layout.place("/home/u"), Place::Ancestor);
        assert_eq!(layout.place("/home/u/.sshfoo"), Place::Elsewhere);
        assert_eq!(Layout::of("/w", "/tmp/h").place("/tmp/h/notes"), Place::Elsewhere);
    }
}
