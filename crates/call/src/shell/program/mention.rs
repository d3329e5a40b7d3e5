//! Files that a flag names and no rule of the row explains: what holds secrets is at least read, and
//! what an output flag names is written.

use super::super::ir::Word;
use super::row::among;
use super::run::Use;
use crate::action::{ActionKind, Target, WriteHow};
use crate::places::{Layout, Place, clean, protection};

/// Notes protected names and credential places among the values of flags.
///
/// # Security
/// Looks at known text only, and not at operands: which of them are files is what rows say.
pub(super) fn note(it: &mut Use<'_, '_, '_>, since: usize) {
    if among(SPEAKERS, it.name) {
        return;
    }
    for (flag, value) in flagged(it) {
        let Target::Path(path) = it.target(&value) else { continue };
        let abs = clean(&path.abs);
        let layout = Layout::of(it.reader.setting.cwd, it.reader.setting.home);
        let place = layout.place(&abs);
        let named = protection(&abs);
        let secret = named.is_some_and(|named| named.is_secret()) || place == Place::Credential;
        let seen = seen(it, since, &abs);
        if is_output(&flag) {
            if seen != Some(Seen::Written)
                && (named.is_some() || !matches!(place, Place::Inside | Place::HarmlessDevice))
            {
                it.write(&value, WriteHow::Replace);
            }
        } else if secret && seen.is_none() {
            it.read(&value);
        }
    }
}

/// How a file was noted already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Seen {
    Read,
    Written,
}

fn seen(it: &Use<'_, '_, '_>, since: usize, abs: &str) -> Option<Seen> {
    let is = |target: &Target| match target {
        Target::Path(path) | Target::Glob(path) | Target::Beneath(path) => clean(&path.abs) == abs,
        Target::Opaque(_) => false,
    };
    let noted = it.reader.actions.get(since..).unwrap_or(&[]).iter().filter_map(|action| match &action.kind {
        ActionKind::Read(target) => is(target).then_some(Seen::Read),
        ActionKind::Write(target, _) | ActionKind::Delete(target, _) => is(target).then_some(Seen::Written),
        ActionKind::Move(from, to) => (is(from) || is(to)).then_some(Seen::Written),
        ActionKind::Execute(_)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => None,
    });
    noted.max()
}

/// Flags with a value that may be a file, and that file: `-o x`, `--log=x`, `-fx`, `-d @x`, `k=@x`.
fn flagged(it: &Use<'_, '_, '_>) -> Vec<(String, Word)> {
    let mut found = Vec::new();
    for (name, value) in it.global.given().chain(it.args.given()) {
        let Some(text) = value.literal() else { continue };
        let sentence = text.contains(|mark: char| mark.is_whitespace());
        let empty = text.is_empty() || text.starts_with('-');
        if sentence || empty || PATTERNS.iter().any(|word| name.contains(word)) || among(WORDS, name) {
            continue;
        }
        let at = text.find(['@', '<']).map_or(0, |at| at + 1);
        found.push((name.to_owned(), value.without_lead(at)));
    }
    found
}

fn is_output(flag: &str) -> bool {
    flag == "-o" || OUTPUTS.iter().any(|start| flag.trim_start_matches('-').starts_with(start) && flag.len() > 3)
}

const OUTPUTS: &[&str] = &["out", "log-file", "logfile", "trace-file", "report-file", "dump-to", "save-to", "write-to"];

/// Flags whose value names what is looked for or left out.
const PATTERNS: &[&str] =
    &["exclude", "include", "ignore", "glob", "pattern", "regex", "skip", "message", "name", "title", "body", "format"];

const WORDS: &str = "-e -m -g -x -X -I -t -n -l -D -k --type --color --filter -name --grep -G -S --author";

/// Programs whose flags name no files, or that only print what they are given.
const SPEAKERS: &str = "echo printf test [ true false expr seq ps grep egrep fgrep ggrep zgrep rg ag ack ls exa eza";
