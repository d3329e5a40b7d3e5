//! Names of places: where a resolved path lies, and which names are protected.
//!
//! Pure tables over strings. `survey` applies them to what the kernel resolved, a pure check to the
//! name itself.

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

/// Why a name inside a root is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Protection {
    /// `.git` itself, its configuration, hooks, and redirections.
    Git,
    /// Settings of coding agents and MCP servers, and their instructions files that run things.
    AgentSettings,
    /// Continuous-integration configuration.
    Ci,
    /// Shell start-up files and editor tasks that run by themselves.
    Startup,
    /// Environment files with secrets.
    EnvFile,
    /// Keys and other credentials by name.
    Key,
    /// Tollgate's own project file.
    GuardProject,
    /// Names that the operator listed: read yes, write never.
    Operator,
    /// Names that the operator listed as never readable.
    OperatorSecret,
}

impl Protection {
    /// Whether the content is a secret, so that reading is a question too.
    pub const fn is_secret(self) -> bool {
        match self {
            Self::EnvFile | Self::Key | Self::OperatorSecret => true,
            Self::Git | Self::AgentSettings | Self::Ci | Self::Startup | Self::GuardProject | Self::Operator => false,
        }
    }
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

/// Says what protects `path`, by the names of its components, in any directory.
///
/// A backslash separates too, as it does on the file systems of Windows. Case is folded and trailing dots and spaces are dropped, as case-insensitive and NTFS-like file
/// systems do (CVE-2025-59944 class): a name that differs only so is protected too.
pub fn protection(path: &str) -> Option<Protection> {
    let folded: Vec<String> = path.split(['/', '\\']).filter(|part| !part.is_empty()).map(fold).collect();
    let parts: Vec<&str> = folded.iter().map(String::as_str).collect();
    let name = parts.last().copied()?;
    git(&parts, name).or_else(|| named(&parts, name)).or_else(|| secret_name(name))
}

fn fold(part: &str) -> String {
    let trimmed = part.trim_end_matches(['.', ' ']);
    if trimmed.is_empty() { part.to_owned() } else { trimmed.to_lowercase() }
}

/// `.git` itself and what in it runs or redirects; objects, refs and the index stay ordinary.
fn git(parts: &[&str], name: &str) -> Option<Protection> {
    if matches!(name, ".git" | ".gitmodules") {
        return Some(Protection::Git);
    }
    let at = parts.iter().position(|part| *part == ".git")?;
    let inside = parts.get(at + 1..)?;
    // A lock is renamed over its file when a change is done.
    let guarded = inside.iter().any(|part| GIT_NAMES.contains(&part.strip_suffix(".lock").unwrap_or(part)));
    guarded.then_some(Protection::Git)
}

/// Names in a repository that run something, redirect it, or lock its settings.
const GIT_NAMES: &[&str] =
    &["alternates", "attributes", "commondir", "config", "config.worktree", "gitdir", "hooks", "modules", "worktrees"];

fn named(parts: &[&str], name: &str) -> Option<Protection> {
    let has = |dir: &str| parts.iter().rev().skip(1).any(|part| *part == dir);
    let settings_dir = AGENT_DIRS.iter().any(|dir| name == *dir || has(dir));
    if matches!(name, "tollgate.toml" | ".tollgate.toml") {
        Some(Protection::GuardProject)
    } else if settings_dir || AGENT_FILES.contains(&name) {
        Some(Protection::AgentSettings)
    } else if CI_FILES.contains(&name) || CI_DIRS.iter().any(|dir| within(parts, dir)) {
        Some(Protection::Ci)
    } else if STARTUP_FILES.contains(&name) || STARTUP_DIRS.iter().any(|dir| within(parts, dir)) {
        Some(Protection::Startup)
    } else {
        None
    }
}

/// Whether the components hold the `/`-separated run `dir`.
fn within(parts: &[&str], dir: &str) -> bool {
    let want: Vec<&str> = dir.split('/').collect();
    parts.windows(want.len()).any(|window| window == want.as_slice())
}

fn secret_name(name: &str) -> Option<Protection> {
    let env = name == ".env"
        || name == ".envrc"
        || name == ".dev.vars"
        || (name.starts_with(".env.") && !SAFE_ENV.contains(&name))
        || name.starts_with(".dev.vars.");
    if env {
        return Some(Protection::EnvFile);
    }
    let key = KEY_FILES.contains(&name)
        || KEY_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
        || (name.starts_with("id_") && !name.ends_with(".pub") && SSH_KEYS.contains(&name));
    key.then_some(Protection::Key)
}

const AGENT_DIRS: &[&str] = &[
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".qwen",
    ".windsurf",
    ".kiro",
    ".factory",
    ".clinerules",
    ".roo",
    ".opencode",
    ".continue",
    ".amp",
    ".aider",
    ".goose",
    ".agent",
];
const AGENT_FILES: &[&str] = &[
    ".mcp.json",
    "mcp.json",
    "claude.md",
    "claude.local.md",
    "agents.md",
    "gemini.md",
    "qwen.md",
    ".cursorrules",
    ".windsurfrules",
    "opencode.json",
    "opencode.jsonc",
    ".aider.conf.yml",
    "copilot-instructions.md",
];
const CI_FILES: &[&str] = &[
    ".gitlab-ci.yml",
    ".travis.yml",
    "jenkinsfile",
    "azure-pipelines.yml",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    "cloudbuild.yaml",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    ".woodpecker.yml",
    "codeowners",
    "appveyor.yml",
];
const CI_DIRS: &[&str] = &[
    ".github/workflows",
    ".github/actions",
    ".circleci",
    ".buildkite",
    ".husky",
    ".gitea/workflows",
    ".forgejo/workflows",
    ".ci",
];
const STARTUP_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".inputrc",
    ".vimrc",
    ".exrc",
    ".nvimrc",
    ".gdbinit",
    ".lvimrc",
    "mise.toml",
    ".mise.toml",
    ".yarnrc.yml",
    ".lldbinit",
    ".tmux.conf",
    ".screenrc",
    ".gitconfig",
    ".xinitrc",
    ".xprofile",
    ".pythonrc",
    ".wgetrc",
    ".curlrc",
    "sitecustomize.py",
    "usercustomize.py",
    "authorized_keys",
    "crontab",
    ".emacs",
];
const STARTUP_DIRS: &[&str] = &[
    ".vscode",
    ".zed",
    ".idea",
    ".devcontainer",
    ".config/fish",
    ".config/autostart",
    ".config/systemd",
    ".config/git",
    ".config/nvim",
    ".emacs.d",
    ".cargo/config",
    ".cargo/config.toml",
    "library/launchagents",
    "library/launchdaemons",
    ".direnv",
    "etc/cron.d",
    "etc/cron.daily",
    "etc/cron.hourly",
    "etc/profile.d",
    "etc/systemd",
    "etc/init.d",
    "etc/ld.so.preload",
];
/// Templates and public defaults that hold no secrets by convention.
const SAFE_ENV: &[&str] =
    &[".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", ".env.schema"];
const KEY_FILES: &[&str] = &[
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".htpasswd",
    "credentials.json",
    "service-account.json",
    "service_account.json",
    "serviceaccount.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
    ".vault-token",
    "terraform.tfstate",
    "terraform.tfstate.backup",
    "terraform.tfvars",
    "master.key",
    "application_default_credentials.json",
    "appsettings.production.json",
    ".s3cfg",
    "kubeconfig",
    "wp-config.php",
];
const KEY_SUFFIXES: &[&str] = &[
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".ppk",
    ".p8",
    ".asc.key",
    ".auto.tfvars",
    ".ovpn",
    ".gpg.key",
];
const SSH_KEYS: &[&str] = &["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"];

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

    #[test]
    fn protected_names_fold_case_and_trailing_dots() {
        assert_eq!(protection("/w/.git/config"), Some(Protection::Git));
        assert_eq!(protection("/w/.GIT/Config."), Some(Protection::Git));
        assert_eq!(protection("/w/.git/objects/ab"), None);
        assert_eq!(protection("/w/.ENV"), Some(Protection::EnvFile));
        assert_eq!(protection("/w/.env.example"), None);
        assert_eq!(protection("/w/.git/config.lock"), Some(Protection::Git));
        assert_eq!(protection("/w/lefthook.yml"), Some(Protection::Ci));
        assert_eq!(protection("/w/.editorconfig"), None);
        assert_eq!(protection("/w/src/main.rs"), None);
        assert_eq!(protection("/w/.claude\\settings.json"), Some(Protection::AgentSettings));
        assert_eq!(protection("/w/.github/workflows/ci.yml"), Some(Protection::Ci));
        assert_eq!(protection("/w/sub/.claude/settings.json"), Some(Protection::AgentSettings));
    }
}
