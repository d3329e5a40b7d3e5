//! `find` and `fd`: what they list, run, write and delete.

use super::super::args::{Args, Order, Style};
use super::super::command::Named;
use super::super::feed::Feed;
use super::super::ir::{Part, Simple, Word};
use super::super::walk::Reader;
use crate::action::{ActionKind, Depth, WriteHow};

pub(super) fn run(reader: &mut Reader<'_>, named: &Named, simple: &Simple) -> Option<Feed> {
    reader.wrapper(named, simple);
    let words = simple.words.get(1..).unwrap_or(&[]);
    let feed = if named.base == "find" { find(reader, words, simple) } else { fd(reader, words, simple) };
    Some(feed)
}

fn find(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    let first = words.iter().position(|word| !leading(word)).unwrap_or(words.len());
    let (_, rest) = words.split_at_checked(first).unwrap_or((&[], words));
    let count = rest.iter().position(begins_expression).unwrap_or(rest.len());
    let (roots, expression) = rest.split_at_checked(count).unwrap_or((rest, &[]));
    let mut roots = roots.to_vec();
    if roots.is_empty() {
        roots.push(Word::literal_at(".", simple.span.clone()));
    }
    for root in &roots {
        let target = root.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Read(target), root.span.clone());
    }
    evaluate(reader, &roots, expression, simple);
    Feed::names("find", roots)
}

/// `-H -L -P -O3 -D opts` come before the directories.
fn leading(word: &Word) -> bool {
    matches!(word.literal(), Some("-H" | "-L" | "-P")) || word.lead().starts_with("-O")
}

fn begins_expression(word: &Word) -> bool {
    word.lead().starts_with('-') || matches!(word.literal(), Some("(" | "!" | ")" | ","))
}

fn evaluate(reader: &mut Reader<'_>, roots: &[Word], expression: &[Word], simple: &Simple) {
    let pattern = only_name(expression).unwrap_or_default();
    let mut rest = expression;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        match word.literal() {
            Some("-delete") => delete(reader, roots, expression, word),
            Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let count =
                    after.iter().position(|word| matches!(word.literal(), Some(";" | "+"))).unwrap_or(after.len());
                let (command, left) = after.split_at_checked(count).unwrap_or((after, &[]));
                rest = left;
                for root in roots {
                    let named = root.beneath_named(pattern);
                    let words: Vec<Word> = command.iter().map(|word| filled(word, "{}", &named)).collect();
                    reader.inner(&words, Vec::new(), simple, &Feed::Outer);
                }
            }
            Some("-fprint" | "-fprintf" | "-fls" | "-fprint0") => {
                if let Some((file, left)) = after.split_first() {
                    rest = left;
                    let target = file.target(reader.scope.cwd.as_deref());
                    reader.act(ActionKind::Write(target, WriteHow::Replace), file.span.clone());
                }
            }
            Some(_) | None => {}
        }
    }
}

fn delete(reader: &mut Reader<'_>, roots: &[Word], expression: &[Word], word: &Word) {
    for root in roots {
        // Without a test, everything goes, as with `rm -r`.
        let what = match only_name(expression) {
            Some(pattern) => root.beneath_named(pattern),
            None if is_whole(expression) => root.clone(),
            None => root.beneath(),
        };
        let target = what.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Delete(target, Depth::Recursive), word.span.clone());
    }
}

/// The pattern, where one `-name` narrows whatever else is tested.
fn only_name(expression: &[Word]) -> Option<&str> {
    let mixes = |word: &Word| matches!(word.literal(), Some("-o" | "-or" | "!" | "-not" | ","));
    if expression.iter().any(mixes) {
        return None;
    }
    let at = expression.iter().position(|word| matches!(word.literal(), Some("-name" | "-iname")))?;
    expression.get(at + 1)?.literal().filter(|pattern| !pattern.contains('/'))
}

/// Whether nothing but actions and the order of the walk is said, so that every name is meant.
fn is_whole(expression: &[Word]) -> bool {
    expression.iter().all(|word| {
        let walk = ["-delete", "-depth", "-d", "-xdev", "-mount", "-print", "-print0", "-mindepth", "-true"];
        word.literal().is_some_and(|text| walk.contains(&text) || text.bytes().all(|byte| byte.is_ascii_digit()))
    })
}

/// `word` with `mark` replaced by `value`.
pub(super) fn filled(word: &Word, mark: &str, value: &Word) -> Word {
    let Some((before, after)) = word.literal().and_then(|text| text.split_once(mark)) else { return word.clone() };
    if before.is_empty() && after.is_empty() {
        return Word { span: word.span.clone(), ..value.clone() };
    }
    let mut parts = Vec::new();
    for part in
        [Part::Text(before.to_owned())].into_iter().chain(value.parts.clone()).chain([Part::Text(after.to_owned())])
    {
        match (parts.last_mut(), part) {
            (_, Part::Text(text)) if text.is_empty() => {}
            (Some(Part::Text(last)), Part::Text(text)) => last.push_str(&text),
            (_, part) => parts.push(part),
        }
    }
    Word { parts, span: word.span.clone(), verbatim: None }
}

fn fd(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    let exec = words.iter().position(|word| matches!(word.literal(), Some("-x" | "-X" | "--exec" | "--exec-batch")));
    let (options, command) = words.split_at_checked(exec.unwrap_or(words.len())).unwrap_or((words, &[]));
    let values = "-e --extension -t --type -d --max-depth --min-depth -E --exclude -c --color -j --threads -S --size \
                  --changed-within --changed-before -o --owner --format --max-results --base-directory --search-path -g";
    let args = Args::parse(options, values, Style::Gnu, Order::Free);
    let mut roots: Vec<Word> =
        args.operands.iter().skip(1).chain(args.values("--search-path --base-directory")).cloned().collect();
    if roots.is_empty() {
        roots.push(Word::literal_at(".", simple.span.clone()));
    }
    for root in &roots {
        let target = root.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Read(target), root.span.clone());
    }
    if let Some((_, command)) = command.split_first() {
        let count = command.iter().position(|word| word.literal() == Some(";")).unwrap_or(command.len());
        let command = command.get(..count).unwrap_or(command);
        for root in &roots {
            let mut inner: Vec<Word> = command.iter().map(|word| filled(word, "{}", &root.beneath())).collect();
            if inner == command {
                inner.push(root.beneath());
            }
            reader.inner(&inner, Vec::new(), simple, &Feed::Outer);
        }
    }
    Feed::names("fd", roots)
}
