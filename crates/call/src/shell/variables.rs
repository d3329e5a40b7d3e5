//! Builtins that give variables their values, or read text again.

use super::args::{Args, Order, Style};
use super::builtin::traces;
use super::feed::Feed;
use super::fold;
use super::ir::{Assignment, Part, Simple, Word};
use super::scan::is_assignment;
use super::scope::Value;
use super::walk::Reader;
use crate::action::Why;

/// Variables with an attribute that are followed.
const MAX_ATTRIBUTES: usize = 256;

/// `declare`, `export`, `local` and kin.
pub(super) fn declare(reader: &mut Reader<'_>, words: &[Word], declared: &[Assignment], simple: &Simple) -> Feed {
    let name = simple.words.first().and_then(Word::literal).unwrap_or("");
    let exports = name == "export" || flagged(words, 'x');
    let refers = name != "export" && flagged(words, 'n');
    let counts = name != "export" && flagged(words, 'i');
    for word in words.iter().filter(|word| !word.lead().starts_with(['-', '+'])) {
        quoted_declaration(reader, word);
    }
    let plain = words.iter().filter(|word| !word.lead().starts_with(['-', '+'])).map(Word::lead);
    let names: Vec<String> = plain.map(|lead| lead.split(['=', '[']).next().unwrap_or("").to_owned()).collect();
    for name in declared.iter().map(|it| &it.name).chain(&names) {
        if exports {
            reader.scope.exported.insert(name.clone());
        }
        if counts {
            reader.scope.integers.insert(name.clone());
        }
        if super::environment::hides(name) {
            traces(reader, name, simple);
        }
    }
    for assignment in declared.iter().filter(|_| counts) {
        reader.evaluate(&assignment.value.shown(), &assignment.value.span);
    }
    if refers {
        refer(reader, declared, &names);
    }
    if reader.scope.integers.len() + reader.scope.links.len() > MAX_ATTRIBUTES {
        reader.limit("variables with attributes", simple.span.clone());
    }
    Feed::Outer
}

/// `declare 'x=1'`: the shell assigns, though the parser saw a word.
fn quoted_declaration(reader: &mut Reader<'_>, word: &Word) {
    let lead = word.lead();
    if is_assignment(lead) {
        let at = lead.find('=').map_or(lead.len(), |at| at + 1);
        let (name, value) = (lead.get(..at - 1).unwrap_or("").to_owned(), word.without_lead(at));
        reader.assign(&name, Value::Parts(value.parts), &word.span);
    } else if word.literal().is_some() {
        reader.subscript(lead, &word.span);
    } else {
        reader.opaque(word.why().cloned().unwrap_or(Why::Substitution), word.span.clone());
    }
}

/// `declare -n x=y`: whatever is done to `x` is done to `y`.
fn refer(reader: &mut Reader<'_>, declared: &[Assignment], names: &[String]) {
    for assignment in declared {
        let text = assignment.value.literal().map(str::to_owned);
        if let Some(text) = &text {
            reader.subscript(text, &assignment.value.span);
        }
        let target = text.map(|text| text.split('[').next().unwrap_or("").to_owned());
        reader.scope.links.insert(assignment.name.clone(), target.filter(|target| *target != assignment.name));
    }
    for name in names {
        reader.scope.links.insert(name.clone(), None);
    }
}

pub(super) fn read(reader: &mut Reader<'_>, words: &[Word], input: &Feed) -> Feed {
    let args = Args::parse(words, "-a -d -i -n -N -p -t -u", Style::Gnu, Order::Leading);
    let names: Vec<&Word> = args.operands.iter().chain(args.values("-a")).collect();
    reader.decoded = reader.decoded.max(input.decoded());
    let line = input.known().map(|text| text.lines().next().unwrap_or("").trim().to_owned());
    for name in &names {
        let value = match (&line, names.as_slice()) {
            (Some(line), [_]) if line.is_empty() => Value::Parts(Vec::new()),
            (Some(line), [_]) => Value::Parts(vec![Part::Text(line.clone())]),
            _ => Value::Unknown(Why::Input),
        };
        named(reader, name, value);
    }
    Feed::Outer
}

/// Assigns to the variable that a word names.
fn named(reader: &mut Reader<'_>, name: &Word, value: Value) {
    match name.literal() {
        Some(text) => reader.assign(text, value, &name.span),
        None => reader.opaque(name.why().cloned().unwrap_or(Why::Substitution), name.span.clone()),
    }
}

/// `mapfile -C CODE -c N NAME`.
pub(super) fn map_file(reader: &mut Reader<'_>, words: &[Word], input: &Feed, simple: &Simple) -> Feed {
    let args = Args::parse(words, "-d -n -O -s -u -C -c", Style::Gnu, Order::Leading);
    if let Some(code) = args.value("-C") {
        // The shell adds the index and the line.
        let line = Word::opaque_at(Why::Input, code.span.clone());
        let decoded = reader.decoded;
        reader.code(&[code.clone(), line], decoded, simple);
    }
    reader.decoded = reader.decoded.max(input.decoded());
    for name in &args.operands {
        named(reader, name, Value::Unknown(Why::Input));
    }
    Feed::Outer
}

/// `getopts OPTIONS NAME`.
pub(super) fn options(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    if let Some(name) = words.get(1) {
        named(reader, name, Value::Unknown(Why::Input));
    }
    Feed::Outer
}

pub(super) fn let_words(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    for word in words {
        reader.evaluate(&word.shown(), &word.span);
        let name = word.lead().split(['=', '+', '-', '*', '/', '[']).next().unwrap_or("");
        if super::scan::is_name(name) {
            reader.count_in(name, &word.span);
        }
    }
    Feed::Outer
}

/// `printf -v NAME FORMAT …`.
pub(super) fn printf(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    let args = Args::parse(words, "-v", Style::Gnu, Order::Leading);
    let Some(name) = args.value("-v") else { return Feed::Outer };
    let printed: Vec<Word> = std::iter::once(name).chain(&args.operands).cloned().collect();
    let value = match fold::output("printf", &printed, &Feed::Outer).known() {
        Some(text) => Value::Parts(vec![Part::Text(text.to_owned())]),
        None => Value::Unknown(Why::Variable(name.shown())),
    };
    named(reader, name, value);
    Feed::Outer
}

/// `compgen -C CODE`, `compgen -W WORDS`: both are run or expanded at once.
pub(super) fn complete(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    let args = Args::parse(words, "-o -A -G -W -F -C -X -P -S", Style::Gnu, Order::Leading);
    if let Some(code) = args.value("-C") {
        let decoded = reader.decoded;
        reader.code(std::slice::from_ref(code), decoded, simple);
    }
    if let Some(list) = args.value("-W") {
        reader.expand_again(&list.shown(), &list.span);
    }
    Feed::stream("compgen")
}

/// `test -v NAME`: a subscript of the name is evaluated.
pub(super) fn test(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    for pair in words.windows(2) {
        if let [flag, name] = pair
            && matches!(flag.literal(), Some("-v" | "-R"))
        {
            reader.subscript(&name.shown(), &name.span);
        }
    }
    Feed::Outer
}

/// Whether a cluster of short flags has this letter.
fn flagged(words: &[Word], letter: char) -> bool {
    words.iter().any(|word| {
        let lead = word.lead();
        lead.starts_with('-') && !lead.starts_with("--") && lead.contains(letter)
    })
}
