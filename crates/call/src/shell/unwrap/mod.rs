//! Programs that run other programs.

mod find;
mod interpreter;
mod remote;
mod shell;
mod table;
mod xargs;

use super::args::{Args, Order, Style};
use super::command::{Named, kept};
use super::feed::Feed;
use super::ir::{Assignment, Simple, Within, Word};
use super::scan::is_assignment;
use super::walk::Reader;
use crate::action::{ActionKind, Standing, Why, WriteHow};
use table::{Mark, Wrapper};

pub(super) use remote::connect as connect_to;

/// Notes that `program` runs the file that `word` names.
pub(super) fn run_file(reader: &mut Reader<'_>, program: &str, word: &Word) {
    let named = reader.named(program);
    shell::file_as_code(reader, &named, word);
}

/// Reads the command inside, if `named` runs another.
pub(super) fn run(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Option<Feed> {
    if let Some(wrapper) = table::find(&named.base) {
        return wrapped(reader, named, wrapper, simple, input);
    }
    let feed = match named.base.as_str() {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish" | "mksh" | "rbash" => {
            shell::run(reader, named, simple, input)
        }
        "su" | "runuser" => shell::su(reader, named, simple, input),
        "script" => shell::script(reader, named, simple, input),
        "env" => env(reader, named, simple, input),
        "find" | "fd" | "fdfind" => return find::run(reader, named, simple),
        "xargs" | "parallel" => xargs::run(reader, named, simple, input),
        "watch" => watch(reader, named, simple),
        "ssh" | "mosh" => remote::ssh(reader, named, simple),
        "busybox" | "toybox" => applet(reader, named, simple, input),
        _ => return interpreter::run(reader, named, simple, input),
    };
    Some(feed)
}

impl Reader<'_> {
    /// Notes that the wrapper itself runs.
    fn wrapper(&mut self, named: &Named, simple: &Simple) {
        let span = simple.words.first().map_or(&simple.span, |word| &word.span);
        let own = matches!(named.base.as_str(), "command" | "builtin" | "exec");
        let otherwise = if own { Standing::Builtin } else { Standing::Row };
        self.execute(named.program.clone(), kept(&named.standing, otherwise), span);
    }

    /// Reads `words` as the command that a wrapper runs.
    pub(super) fn inner(
        &mut self,
        words: &[Word],
        assignments: Vec<Assignment>,
        simple: &Simple,
        input: &Feed,
    ) -> Feed {
        if words.is_empty() {
            return Feed::stream("nothing");
        }
        let part = self.part;
        let span = simple.span.clone();
        let feed = self.nest(span.clone(), |this| {
            this.inside(Within::Wrapped, |this| {
                let simple = Simple {
                    words: words.to_vec(),
                    assignments,
                    redirects: Vec::new(),
                    cwd: this.scope.cwd.clone(),
                    within: this.within.clone(),
                    span,
                };
                this.run(simple, &[], input)
            })
        });
        self.part = part;
        feed
    }
}

fn wrapped(reader: &mut Reader<'_>, named: &Named, wrapper: &Wrapper, simple: &Simple, input: &Feed) -> Option<Feed> {
    let words = simple.words.get(1..).unwrap_or(&[]);
    let args = Args::parse(words, wrapper.values, Style::Gnu, Order::Leading);
    let mut operands = args.operands.as_slice();
    if let Some(sub) = wrapper.sub {
        let (first, rest) = operands.split_first()?;
        first.literal().filter(|word| sub.split(' ').any(|sub| sub == *word))?;
        operands = rest;
    }
    reader.wrapper(named, simple);
    if named.base == "command" && args.has("-v -V") {
        return Some(Feed::stream("command"));
    }
    marks(reader, named, wrapper, simple);
    if TRACERS.contains(&named.base.as_str()) {
        for file in args.values("-o --output --log-file --xml-file").cloned().collect::<Vec<_>>() {
            let target = file.target(reader.scope.cwd.as_deref());
            reader.act(ActionKind::Write(target, WriteHow::Replace), file.span.clone());
        }
    }
    let outer = reader.scope.cwd.clone();
    if let Some(directory) = args.value(wrapper.directory) {
        reader.scope.cwd = reader.enter(directory);
    }
    let operands = without_dashes(operands.get(wrapper.skip..).unwrap_or(&[]));
    let feed = match operands.split_first() {
        Some((first, rest)) if first.literal() == Some("-c") => {
            let decoded = reader.decoded;
            reader.code(rest, decoded, simple)
        }
        _ => {
            let (assignments, rest) = leading_assignments(operands);
            reader.inner(rest, assignments, simple, input)
        }
    };
    reader.scope.cwd = outer;
    Some(feed)
}

/// Wrappers that write what they saw to a file.
const TRACERS: &[&str] = &["strace", "ltrace", "time", "gtime", "valgrind"];

fn without_dashes(words: &[Word]) -> &[Word] {
    match words.split_first() {
        Some((first, rest)) if first.literal() == Some("--") => rest,
        Some(_) | None => words,
    }
}

fn marks(reader: &mut Reader<'_>, named: &Named, wrapper: &Wrapper, simple: &Simple) {
    for mark in wrapper.marks {
        let span = simple.words.first().map_or(&simple.span, |word| &word.span).clone();
        match mark {
            Mark::Privilege => reader.act(ActionKind::Privilege(named.base.clone()), span),
            Mark::Persist => reader.act(ActionKind::Persist(named.base.clone()), span),
            Mark::Elsewhere => reader.opaque(Why::Elsewhere(named.base.clone()), span),
        }
    }
}

/// `name=value` words before a command, as `env` and `sudo` take them.
fn leading_assignments(words: &[Word]) -> (Vec<Assignment>, &[Word]) {
    let count = words.iter().take_while(|word| is_assignment(word.lead())).count();
    let (before, rest) = words.split_at_checked(count).unwrap_or((words, &[]));
    let split = |word: &Word| {
        let name = word.lead().split('=').next().unwrap_or("").to_owned();
        Assignment { value: word.without_lead(name.len() + 1), name }
    };
    (before.iter().map(split).collect(), rest)
}

fn env(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Feed {
    reader.wrapper(named, simple);
    let words = simple.words.get(1..).unwrap_or(&[]);
    let args = Args::parse(words, "-u --unset -C --chdir -S --split-string -P", Style::Gnu, Order::Leading);
    if let Some(text) = args.value("-S --split-string").cloned() {
        let decoded = reader.decoded;
        let all: Vec<Word> = std::iter::once(text).chain(args.operands.iter().cloned()).collect();
        return reader.code(&all, decoded, simple);
    }
    let outer = reader.scope.cwd.clone();
    if let Some(directory) = args.value("-C --chdir") {
        reader.scope.cwd = reader.enter(directory);
    }
    let (assignments, rest) = leading_assignments(&args.operands);
    let feed = if rest.is_empty() { Feed::stream("env") } else { reader.inner(rest, assignments, simple, input) };
    reader.scope.cwd = outer;
    feed
}

/// `watch CMD…` joins its words and gives them to a shell.
fn watch(reader: &mut Reader<'_>, named: &Named, simple: &Simple) -> Feed {
    reader.wrapper(named, simple);
    let words = simple.words.get(1..).unwrap_or(&[]);
    let args = Args::parse(words, "-n --interval -q --equexit", Style::Gnu, Order::Leading);
    let decoded = reader.decoded;
    if args.operands.is_empty() { Feed::Outer } else { reader.code(&args.operands, decoded, simple) }
}

fn applet(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Feed {
    reader.wrapper(named, simple);
    let rest = simple.words.get(1..).unwrap_or(&[]);
    let flags = rest.first().is_none_or(|word| word.lead().starts_with('-'));
    if flags { Feed::stream("busybox") } else { reader.inner(rest, Vec::new(), simple, input) }
}
