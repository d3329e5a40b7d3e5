//! Environment variables that make other programs run code, trust others, or keep no trace.

use super::ir::Word;

/// Whether giving `name` this value changes what runs.
///
/// # Security
/// A list of names: a program that reads a variable which is not listed is not noticed. Values that
/// are known to be harmless (`PAGER=cat`) are let through.
pub(super) fn runs_code(name: &str, value: &Word, cwd: Option<&str>) -> bool {
    let text = value.literal();
    if RUNS.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
        return true;
    }
    if PROGRAMS.contains(&name) {
        return !text.is_some_and(|text| HARMLESS.contains(&text));
    }
    if COMPILERS.contains(&name) {
        return !text.is_some_and(|text| KNOWN_COMPILERS.contains(&text));
    }
    if name == "TAR_OPTIONS" && text.is_none_or(|text| text.contains("-I") || text.contains("-F")) {
        return true;
    }
    if OPTIONS.contains(&name) {
        return text.is_none_or(|text| text.split_ascii_whitespace().any(is_dangerous_option));
    }
    if SEARCH.contains(&name) {
        return !text.is_some_and(|text| text.split(':').all(|part| is_local(part, cwd)));
    }
    let ends = |marks: &[&str]| marks.iter().any(|mark| name.ends_with(mark));
    (name.starts_with("CARGO_") && ends(&["_RUNNER", "_LINKER", "_WRAPPER", "_RUSTC", "_RUSTDOC"]))
        || name.starts_with("CARGO_ALIAS_")
        || (name.starts_with("CMAKE_") && ends(&["_LAUNCHER"]))
        || (name.to_ascii_lowercase().starts_with("npm_config_") && name.to_ascii_lowercase().contains("script"))
}

/// Whether setting or unsetting `name` makes the shell keep no record.
pub(super) fn hides(name: &str) -> bool {
    matches!(name, "HISTFILE" | "HISTSIZE" | "HISTFILESIZE" | "HISTCONTROL" | "HISTIGNORE")
}

fn is_dangerous_option(option: &str) -> bool {
    matches!(option, "-r" | "-p")
        || option.contains("linker=")
        || DANGEROUS_OPTIONS.iter().any(|known| option.starts_with(known))
}

fn is_local(part: &str, cwd: Option<&str>) -> bool {
    if part.starts_with('/') {
        return cwd.is_some_and(|cwd| crate::places::is_beneath(&crate::places::clean(part), cwd));
    }
    !part.split('/').any(|step| step == "..")
}

const RUNS: &[&str] = &[
    "PATH",
    "ENV",
    "BASH_ENV",
    "PROMPT_COMMAND",
    "PS4",
    "SHELLOPTS",
    "BASHOPTS",
    "ZDOTDIR",
    "GCONV_PATH",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_EXTERNAL_DIFF",
    "GIT_PROXY_COMMAND",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "GIT_EXEC_PATH",
    "GIT_TEMPLATE_DIR",
    "GIT_DIR",
    "GIT_WORK_TREE",
    "PERL5OPT",
    "PERL5DB",
    "RUBYOPT",
    "PYTHONSTARTUP",
    "PYTHONHOME",
    "PYTHONBREAKPOINT",
    "LESSOPEN",
    "LESSCLOSE",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    "MAKEFLAGS",
    "MAKEFILES",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "UV_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "GOPROXY",
    "GONOSUMDB",
    "GOFLAGS",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "CURL_CA_BUNDLE",
    "REQUESTS_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NODE_TLS_REJECT_UNAUTHORIZED",
    "GIT_SSL_NO_VERIFY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_BASE_URL",
    "OPENAI_API_BASE",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "DOCKER_HOST",
    "TERMINFO",
    "INPUTRC",
    "PYTEST_PLUGINS",
    "PYTHONWARNINGS",
    "RSYNC_RSH",
    "RSYNC_CONNECT_PROG",
    "CVS_RSH",
    "SVN_SSH",
    "VIMINIT",
    "EXINIT",
    "GVIMINIT",
    "LUA_INIT",
    "R_PROFILE",
    "R_PROFILE_USER",
    "NODE_REPL_EXTERNAL_MODULE",
    "CMAKE_TOOLCHAIN_FILE",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "GOTOOLCHAIN",
    "OPENSSL_CONF",
    "XDG_CONFIG_HOME",
];
const PREFIXES: &[&str] = &["LD_", "DYLD_", "BASH_FUNC_", "GIT_CONFIG", "TOLLGATE_"];
/// Variables that name a program.
const PROGRAMS: &[&str] = &[
    "PAGER",
    "GIT_PAGER",
    "MANPAGER",
    "SYSTEMD_PAGER",
    "EDITOR",
    "VISUAL",
    "FCEDIT",
    "GIT_EDITOR",
    "GIT_SEQUENCE_EDITOR",
    "BROWSER",
    "SHELL",
    "KUBE_EDITOR",
    "GH_PAGER",
    "GH_EDITOR",
    "GH_BROWSER",
    "AWS_PAGER",
    "BAT_PAGER",
    "DELTA_PAGER",
    "PSQL_PAGER",
    "PYTHONPLATLIBDIR",
];
const HARMLESS: &[&str] = &[
    "",
    "cat",
    "less",
    "more",
    "true",
    "false",
    ":",
    "vim",
    "vi",
    "nano",
    "nvim",
    "emacs",
    "code --wait",
    "less -R",
    "less -FRX",
    "/bin/bash",
    "/bin/sh",
    "/bin/zsh",
    "bash",
    "sh",
    "zsh",
    "none",
    "/bin/true",
    "/usr/bin/true",
    "/bin/cat",
];
const COMPILERS: &[&str] = &["CC", "CXX", "LD", "AR", "RUSTC", "CPP", "FC", "HOSTCC", "CMAKE_C_COMPILER"];
const KNOWN_COMPILERS: &[&str] = &[
    "", "cc", "gcc", "clang", "c++", "g++", "clang++", "ld", "lld", "ld.lld", "mold", "ar", "rustc", "cpp", "gfortran",
    "llvm-ar",
];
/// Variables that hold options of an interpreter or build tool.
const OPTIONS: &[&str] = &[
    "NODE_OPTIONS",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "JAVA_OPTS",
    "MAVEN_OPTS",
    "GRADLE_OPTS",
    "RUSTFLAGS",
    "RUSTDOCFLAGS",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "LESS",
    "SBT_OPTS",
    "TAR_OPTIONS",
    "PYTEST_ADDOPTS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CGO_CFLAGS",
    "CGO_LDFLAGS",
];
/// How such options begin that load or run other code.
const DANGEROUS_OPTIONS: &[&str] = &[
    "--require",
    "--import",
    "--loader",
    "--experimental-loader",
    "--inspect",
    "-javaagent",
    "-agentlib",
    "-agentpath",
    "-XX:OnOutOfMemoryError",
    "-XX:OnError",
    "-fplugin",
    "-wrapper",
    "-specs",
    "-B",
    "+!",
    "--checkpoint-action",
    "--to-command",
    "--use-compress-program",
    "--rsh-command",
    "--info-script",
    "--new-volume-script",
    "-o",
    "--lesskey",
];
/// Variables that add directories in which code is looked for.
const SEARCH: &[&str] =
    &["PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "CLASSPATH", "LUA_PATH", "LUA_CPATH", "GEM_PATH"];
