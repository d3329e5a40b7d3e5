//! What a repository that a command made may bring with it.
//!
//! `git init` and `git clone` write hooks and a configuration that the command did not name. Samples and plain
//! settings may stay; a hook that would run, or a key that makes git run something, may not.

use std::io::Read as _;
use std::path::Path;

use crate::undo::{Change, State};

/// Largest configuration that is read, in bytes.
const MAX_CONFIG: u64 = 64 * 1024;

/// Keys, by section, that only say where things are.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
        ],
    ),
    ("remote", &["url", "fetch", "tagopt", "promisor", "partialclonefilter"]),
    ("branch", &["remote", "merge", "rebase"]),
    ("extensions", &["objectformat", "partialclone", "refstorage"]),
    ("submodule", &["active", "url"]),
    ("user", &["name", "email"]),
];

/// Whether `change` is what a repository that is itself new among `changes` plainly brings.
pub(super) fn brings(changes: &[Change], change: &Change) -> bool {
    let Some((repository, inside)) = parts(&change.path) else { return false };
    let is_new = |other: &Change| {
        other.root == change.root
            && other.path == repository
            && other.before == State::Absent
            && matches!(other.after, State::Dir { .. })
    };
    changes.iter().any(is_new) && is_plain(inside, change)
}

/// The path of the `.git` directory that `path` names or lies in, and the rest.
fn parts(path: &str) -> Option<(&str, &str)> {
    let at = if path == ".git" || path.starts_with(".git/") {
        0
    } else {
        path.find("/.git/").or_else(|| path.strip_suffix("/.git").map(str::len))? + 1
    };
    let end = at + ".git".len();
    Some((path.get(..end)?, path.get(end..)?.trim_start_matches('/')))
}

fn is_plain(inside: &str, change: &Change) -> bool {
    match inside {
        "" | "hooks" => matches!(change.after, State::Dir { .. }),
        "config" => is_plain_config(&Path::new(&change.root).join(&change.path)),
        other => other.starts_with("hooks/") && other.ends_with(".sample"),
    }
}

/// A configuration that cannot be read, or says anything else, is not plain.
fn is_plain_config(path: &Path) -> bool {
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(MAX_CONFIG + 1).read_to_string(&mut text));
    if !read.is_ok_and(|len| u64::try_from(len).is_ok_and(|len| len <= MAX_CONFIG)) {
        return false;
    }
    let mut section = String::new();
    text.lines().map(str::trim).all(|line| match line.strip_prefix('[') {
        Some(head) => {
            section = head.split([' ', ']', '.']).next().unwrap_or_default().to_lowercase();
            head.ends_with(']')
        }
        None => line.is_empty() || line.starts_with(['#', ';']) || is_plain_key(&section, line),
    })
}

fn is_plain_key(section: &str, line: &str) -> bool {
    let (key, value) = line.split_once('=').unwrap_or((line, ""));
    let (key, value) = (key.trim().to_lowercase(), value.trim());
    // `ext::` makes the address itself a command, and a line that goes on hides what follows.
    let harmless = !value.contains("::") && !value.ends_with('\\');
    harmless && PLAIN.iter().any(|(name, keys)| *name == section && keys.contains(&key.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_plain_text(text: &str) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config");
        std::fs::write(&file, text).unwrap();
        is_plain_config(&file)
    }

    #[test]
    fn a_repository_is_told_from_names_that_begin_like_one() {
        assert_eq!(parts(".git/config"), Some((".git", "config")));
        assert_eq!(parts("sub/.git"), Some(("sub/.git", "")));
        assert_eq!(parts("sub/.git/hooks/x.sample"), Some(("sub/.git", "hooks/x.sample")));
        assert_eq!(parts(".github/workflows/x.yml"), None);
        assert_eq!(parts("a/.gitlab-ci.yml"), None);
    }

    #[test]
    fn what_init_and_clone_write_is_plain() {
        assert!(is_plain_text(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://x.example/r.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n"
        ));
    }

    #[test]
    fn a_key_that_runs_something_is_not() {
        for text in [
            "[core]\n\tfsmonitor = ./evil\n",
            "[core] hooksPath = x\n",
            "[CORE]\nSSHCommand=evil\n",
            "[alias]\n\tst = !evil\n",
            "[include]\n\tpath = ../evil\n",
            "[remote \"o\"]\n\turl = ext::sh -c evil\n",
            "[user]\n\tname = x\\\n",
            "\u{0}",
        ] {
            assert!(!is_plain_text(text), "{text}");
        }
    }
}
