//! Which names are protected: tables over the components of a path, whatever directory they stand in.

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
    ".githooks",
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
    ".local/bin",
    ".local/share/applications",
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
