//! `xargs` and `parallel`: a command completed from what is piped in.

use super::super::args::{Args, Order, Style};
use super::super::command::Named;
use super::super::feed::Feed;
use super::super::ir::{Simple, Word};
use super::super::walk::Reader;
use super::find::filled;
use crate::action::{ActionKind, Why};

/// Most words that are taken from known input.
const MAX_TAKEN: usize = 64;

pub(super) fn run(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Feed {
    reader.wrapper(named, simple);
    if named.base == "parallel" {
        return parallel(reader, simple, input);
    }
    let words = simple.words.get(1..).unwrap_or(&[]);
    let values =
        "-I -n --max-args -P --max-procs -L --max-lines -s --max-chars -E -d --delimiter -a --arg-file -i? -l? -e?";
    let args = Args::parse(words, values, Style::Gnu, Order::Leading);
    let mut taken = taken(input, simple);
    if let Some(file) = args.value("-a --arg-file") {
        let target = file.target(reader.scope.cwd.as_deref());
        reader.act(ActionKind::Read(target), file.span.clone());
        taken = vec![Word::opaque_at(Why::Input, file.span.clone())];
    }
    let mark = args.value("-I").and_then(Word::literal).or(args.has("-i --replace").then_some("{}"));
    let mut inner: Vec<Word> = args.operands.clone();
    if inner.is_empty() {
        return Feed::stream("xargs");
    }
    match mark {
        Some(mark) => {
            let value = match taken.as_slice() {
                [only] => only.clone(),
                [] | [_, _, ..] => Word::opaque_at(Why::Input, simple.span.clone()),
            };
            inner = inner.iter().map(|word| filled(word, mark, &value)).collect();
        }
        None => inner.extend(taken),
    }
    reader.inner(&inner, Vec::new(), simple, &Feed::stream("xargs"))
}

/// The words that the input gives, as far as they are known.
fn taken(input: &Feed, simple: &Simple) -> Vec<Word> {
    match input {
        Feed::Text { text, .. } => {
            let plain = !text.contains(['\'', '"', '\\']) && text.split_whitespace().count() <= MAX_TAKEN;
            if plain {
                text.split_whitespace().map(|word| Word::literal_at(word, simple.span.clone())).collect()
            } else {
                vec![Word::opaque_at(Why::Input, simple.span.clone())]
            }
        }
        Feed::Stream { beneath, .. } if !beneath.is_empty() => beneath.iter().map(Word::beneath).collect(),
        Feed::Stream { .. } | Feed::Outer => vec![Word::opaque_at(Why::Input, simple.span.clone())],
    }
}

/// `parallel CODE ::: WORDS`, or with the words from a pipe.
fn parallel(reader: &mut Reader<'_>, simple: &Simple, input: &Feed) -> Feed {
    let words = simple.words.get(1..).unwrap_or(&[]);
    let values = "-j --jobs -n --max-args -N -S --sshlogin -a --arg-file --colsep -C --delay --timeout --results --joblog --tmpdir --wd";
    let args = Args::parse(words, values, Style::Gnu, Order::Leading);
    if args.has("-S --sshlogin") {
        reader.opaque(Why::Elsewhere("parallel".to_owned()), simple.span.clone());
    }
    let end = args.operands.iter().position(|word| word.lead().starts_with(":::")).unwrap_or(args.operands.len());
    let (command, given) = args.operands.split_at_checked(end).unwrap_or((&args.operands, &[]));
    let given: Vec<Word> = match given.split_first() {
        Some((_, rest)) => rest.iter().take(MAX_TAKEN).cloned().collect(),
        None => taken(input, simple),
    };
    let decoded = reader.decoded;
    for value in given {
        let mut line: Vec<Word> = command.iter().map(|word| filled(word, "{}", &value)).collect();
        if line == command {
            line.push(value);
        }
        reader.code(&line, decoded, simple);
    }
    Feed::stream("parallel")
}
