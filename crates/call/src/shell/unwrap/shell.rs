//! Shells run by a command: `sh -c`, `su -c`, a script file, or what is piped in.

use super::super::args::{Args, Order, Style};
use super::super::command::Named;
use super::super::feed::Feed;
use super::super::ir::{Simple, Word};
use super::super::scope::Value;
use super::super::walk::Reader;
use crate::action::{ActionKind, PathRef, Standing, Why};

pub(super) fn run(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Feed {
    let words = simple.words.get(1..).unwrap_or(&[]);
    let args = Args::parse(words, "-o -O --rcfile --init-file", Style::Gnu, Order::Leading);
    for file in args.values("--rcfile --init-file") {
        file_as_code(reader, named, file);
    }
    let Some(first) = args.operands.first() else {
        reader.wrapper(named, simple);
        return in_child(reader, simple, &[], |reader| reader.code_from(input, simple));
    };
    if args.has("-c --command") {
        reader.wrapper(named, simple);
        let rest = args.operands.get(2..).unwrap_or(&[]);
        let decoded = reader.decoded;
        return in_child(reader, simple, rest, |reader| reader.code(std::slice::from_ref(first), decoded, simple));
    }
    if args.has("-s") {
        reader.wrapper(named, simple);
        return in_child(reader, simple, &args.operands, |reader| reader.code_from(input, simple));
    }
    if only_parses(&args) {
        let target = first.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Read(target), first.span.clone());
        reader.wrapper(named, simple);
        return Feed::Outer;
    }
    script_file(reader, named, first, simple, input)
}

/// `bash -n FILE` reads the file and runs nothing; an interactive shell does not know the flag.
fn only_parses(args: &Args) -> bool {
    let off = args.operands.first().is_some_and(|word| word.literal().is_none_or(|text| text.starts_with('+')));
    args.has("-n") && !off && !args.has("-i -l --login --rcfile --init-file")
}

/// Runs `inner` with what a child shell sees.
fn in_child(
    reader: &mut Reader<'_>,
    simple: &Simple,
    arguments: &[Word],
    inner: impl FnOnce(&mut Reader<'_>) -> Feed,
) -> Feed {
    let mut child = reader.scope.child(arguments.to_vec());
    for assignment in &simple.assignments {
        child.set(&assignment.name, Value::Parts(assignment.value.parts.clone()));
        child.exported.insert(assignment.name.clone());
        child.mark(&assignment.name, reader.decoded);
    }
    let outer = std::mem::replace(&mut reader.scope, child);
    let feed = reader.nest(simple.span.clone(), inner_of(inner));
    reader.scope = outer;
    feed
}

/// Names the closure's type, so that its lifetime is general.
const fn inner_of<'s, F: FnOnce(&mut Reader<'s>) -> Feed>(inner: F) -> F {
    inner
}

fn script_file(reader: &mut Reader<'_>, named: &Named, file: &Word, simple: &Simple, input: &Feed) -> Feed {
    if let Some(name) = file.literal() {
        if let Some(feed) = reader.described(name) {
            reader.wrapper(named, simple);
            return reader.code_from(&feed, simple);
        }
        if matches!(name, "/dev/stdin" | "/dev/fd/0" | "-" | "/proc/self/fd/0") {
            reader.wrapper(named, simple);
            return reader.code_from(input, simple);
        }
    }
    file_as_code(reader, named, file);
    Feed::stream("a script")
}

/// Notes that a file is run as code.
pub(super) fn file_as_code(reader: &mut Reader<'_>, named: &Named, file: &Word) {
    match (file.literal(), reader.scope.cwd.as_deref()) {
        (Some(name), cwd) if cwd.is_some() || name.starts_with('/') => {
            let path = PathRef::join(cwd.unwrap_or("/"), name);
            reader.execute(named.program.clone(), Standing::File(path), &file.span);
        }
        (Some(_), _) => unknown_code(reader, named, file, Why::Directory),
        (None, _) => {
            let why = file.why().cloned().unwrap_or_else(|| Why::Expansion("pattern".to_owned()));
            unknown_code(reader, named, file, why);
        }
    }
}

fn unknown_code(reader: &mut Reader<'_>, named: &Named, file: &Word, why: Why) {
    reader.execute(named.program.clone(), Standing::NoRow, &file.span);
    reader.opaque(why, file.span.clone());
}

/// `su [-] [USER] -c CODE`, `runuser -u USER -- CMD`.
pub(super) fn su(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Feed {
    reader.wrapper(named, simple);
    reader.act(ActionKind::Privilege(named.base.clone()), simple.span.clone());
    let words = simple.words.get(1..).unwrap_or(&[]);
    let args = Args::parse(words, "-c --command -s --shell -u --user -g --group -G -w", Style::Gnu, Order::Free);
    if let Some(code) = args.value("-c --command").cloned() {
        let decoded = reader.decoded;
        return in_child(reader, simple, &[], |reader| reader.code(std::slice::from_ref(&code), decoded, simple));
    }
    if args.has("-u --user") {
        return reader.inner(&args.operands, Vec::new(), simple, input);
    }
    in_child(reader, simple, &[], |reader| reader.code_from(input, simple))
}

/// `script -c CODE FILE`, or `script FILE CMD…` where that is its form.
pub(super) fn script(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Feed {
    reader.wrapper(named, simple);
    let words = simple.words.get(1..).unwrap_or(&[]);
    let args = Args::parse(words, "-c --command -E --echo -I -O -B -T -o -m -t?", Style::Gnu, Order::Leading);
    if let Some(file) = args.operands.first() {
        let target = file.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Write(target, crate::action::WriteHow::Replace), file.span.clone());
    }
    if let Some(code) = args.value("-c --command").cloned() {
        let decoded = reader.decoded;
        return in_child(reader, simple, &[], |reader| reader.code(std::slice::from_ref(&code), decoded, simple));
    }
    reader.inner(args.operands.get(1..).unwrap_or(&[]), Vec::new(), simple, input)
}
