//! What one simple command does: function, builtin, wrapper, or a row of the program table.

use super::feed::Feed;
use super::ir::{Assignment, Part, Simple, Word};
use super::walk::Reader;
use super::{builtin, fold, program, unwrap};
use crate::action::{ActionKind, Control, PathRef, Program, Standing, Why};

/// A command word that is known.
#[derive(Debug, Clone)]
pub(super) struct Named {
    /// The program's own name, without directories.
    pub(super) base: String,
    pub(super) program: Program,
    /// Whether the directory is one that holds the system's programs, or none was named.
    pub(super) standing: Standing,
}

/// Directories whose programs are the ones that their names say.
const SYSTEM: &[&str] =
    &["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/", "/usr/local/sbin/", "/opt/homebrew/bin/"];

impl Reader<'_> {
    /// Notes what a command does and returns what it prints.
    pub(super) fn command(&mut self, simple: &Simple, declared: &[Assignment], input: &Feed) -> Feed {
        let Some(first) = simple.words.first() else {
            return self.only_assignments(simple);
        };
        let Some(name) = first.literal() else {
            return self.unknown_word(simple, first);
        };
        let name = name.to_owned();
        if let Some(feed) = self.call(&name, &simple.words, &simple.span, input) {
            let program = Program::Name(name);
            self.execute(program, Standing::Builtin, &first.span);
            return feed;
        }
        let named = self.named(&name);
        if let Program::Name(_) = named.program
            && let Some(feed) = builtin::run(self, &named, simple, declared, input)
        {
            return feed;
        }
        if asks_for_help(&named.base, simple) {
            self.execute(named.program, kept(&named.standing, Standing::Row), &first.span);
            return Feed::stream(&named.base);
        }
        if let Some(feed) = unwrap::run(self, &named, simple, input) {
            return feed;
        }
        if program::run(self, &named, simple, input).is_none() {
            let standing = kept(&named.standing, Standing::NoRow);
            self.execute(named.program.clone(), standing, &first.span);
        }
        fold::output(&named.base, &simple.words, input)
    }

    fn only_assignments(&mut self, simple: &Simple) -> Feed {
        for assignment in &simple.assignments {
            if super::environment::hides(&assignment.name) {
                let kind = ActionKind::Control(Control::Traces(assignment.name.clone()));
                self.act(kind, simple.span.clone());
            }
        }
        Feed::Outer
    }

    /// A command word that is not known before running.
    fn unknown_word(&mut self, simple: &Simple, first: &Word) -> Feed {
        let why = first.why().cloned().unwrap_or_else(|| Why::Expansion("pattern".to_owned()));
        let why = if self.decoded == super::feed::Decoded::Yes { Why::DecodedCode } else { why };
        self.execute(Program::Opaque(why.clone()), Standing::NoRow, &first.span);
        self.opaque(why, first.span.clone());
        let rest = simple.words.get(1..).unwrap_or(&[]);
        for word in rest.iter().filter(|word| !word.lead().starts_with('-')) {
            if word.parts.iter().any(|part| matches!(part, Part::Text(text) if text.contains('/'))) {
                let target = word.target(simple.cwd.as_deref());
                self.act(ActionKind::Read(target), word.span.clone());
            }
        }
        Feed::stream("an unknown program")
    }

    /// Says which program a literal command word names.
    pub(super) fn named(&self, name: &str) -> Named {
        let base = name.rsplit('/').next().unwrap_or(name);
        let base = base.strip_suffix(".exe").or_else(|| base.strip_suffix(".EXE")).unwrap_or(base).to_owned();
        if !name.contains('/') {
            return Named { base, program: Program::Name(name.to_owned()), standing: Standing::Row };
        }
        let Some(cwd) = self.scope.cwd.as_deref().or_else(|| name.starts_with('/').then_some("/")) else {
            let standing = Standing::NoRow;
            return Named { base, program: Program::Opaque(Why::Directory), standing };
        };
        let path = PathRef::join(cwd, name);
        let system = SYSTEM.iter().any(|dir| name.strip_prefix(dir).is_some_and(|rest| !rest.contains('/')));
        let standing = if system { Standing::Row } else { Standing::File(path.clone()) };
        Named { base, program: Program::Path(path), standing }
    }
}

/// The standing of a program found by path stays; one found by name takes `otherwise`.
pub(super) fn kept(standing: &Standing, otherwise: Standing) -> Standing {
    match standing {
        Standing::Row | Standing::Builtin => otherwise,
        Standing::NoRow | Standing::File(_) | Standing::Project | Standing::Inline(_) => standing.clone(),
    }
}

/// `prog --help`, `prog sub --version`: prints and does nothing.
fn asks_for_help(base: &str, simple: &Simple) -> bool {
    let rest = simple.words.get(1..).unwrap_or(&[]);
    let flag = |word: &Word| word.literal().is_some_and(|text| matches!(text, "--help" | "--version"));
    match rest {
        [only] => {
            flag(only) || (only.literal() == Some("-h") && !matches!(base, "shutdown" | "halt" | "poweroff" | "reboot"))
        }
        [subs @ .., last] if subs.len() <= 3 => {
            let plain = |word: &Word| {
                word.literal().is_some_and(|text| {
                    !text.is_empty()
                        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase())
                        && !text.starts_with('-')
                })
            };
            flag(last) && program::has_subcommands(base) && subs.iter().all(plain)
        }
        _ => false,
    }
}
