//! What the shell does itself: directories, variables, code read from words, traces.

use super::command::Named;
use super::feed::Feed;
use super::fold;
use super::ir::{Assignment, Simple, Within, Word};
use super::lex::Origin;
use super::variables;
use super::walk::Reader;
use crate::action::{ActionKind, Control, PathRef, Program, Standing, Why};

/// Does what the builtin of this name does, if it is one.
pub(super) fn run(
    reader: &mut Reader<'_>,
    named: &Named,
    simple: &Simple,
    declared: &[Assignment],
    input: &Feed,
) -> Option<Feed> {
    let words = simple.words.get(1..).unwrap_or(&[]);
    let name = named.base.as_str();
    let feed = match name {
        "eval" => eval(reader, words, simple),
        "source" | "." => source(reader, words, simple, input),
        "cd" | "chdir" => change_directory(reader, words),
        "pushd" | "popd" => stack(reader, name, words),
        "trap" => trap(reader, words),
        "alias" => alias(reader, words),
        "unset" => unset(reader, words, simple),
        "set" => set(reader, words, simple),
        "shift" => shift(reader),
        "export" | "declare" | "typeset" | "local" | "readonly" => variables::declare(reader, words, declared, simple),
        "read" => variables::read(reader, words, input),
        "mapfile" | "readarray" => variables::map_file(reader, words, input, simple),
        "getopts" => variables::options(reader, words),
        "let" => variables::let_words(reader, words),
        "printf" if words.first().is_some_and(|word| word.lead().starts_with("-v")) => variables::printf(reader, words),
        "history" | "fc" => history(reader, words, simple),
        "disown" => persist(reader, simple),
        "echo" | "printf" | "pwd" | "true" | "false" => fold::output(name, &simple.words, &Feed::Outer),
        _ if QUIET.split_ascii_whitespace().any(|quiet| quiet == name) => quiet(reader, name, words, simple),
        _ => return None,
    };
    reader.execute(Program::Name(name.to_owned()), Standing::Builtin, &simple.span);
    Some(feed)
}

/// Builtins that do nothing that matters, but for a few flags.
const QUIET: &str = ": test [ exit return break continue wait jobs fg bg umask ulimit type hash bind complete compgen compopt \
     enable times logout help caller dirs shopt unalias suspend setopt unsetopt autoload";

/// The flags of quiet builtins that change what runs.
fn quiet(reader: &mut Reader<'_>, name: &str, words: &[Word], simple: &Simple) -> Feed {
    match name {
        "hash" if has(words, "-p") => control(reader, "hash -p", simple),
        "bind" if has(words, "-x") || has(words, "-f") => control(reader, "bind", simple),
        "complete" if has(words, "-C") => control(reader, "complete -C", simple),
        "enable" if has(words, "-f") => control(reader, "enable -f", simple),
        "compgen" => variables::complete(reader, words, simple),
        "jobs" if has(words, "-x") => reader.inner(words.get(1..).unwrap_or(&[]), Vec::new(), simple, &Feed::Outer),
        "test" | "[" => variables::test(reader, words),
        _ => Feed::Outer,
    }
}

pub(super) fn has(words: &[Word], flag: &str) -> bool {
    words.iter().any(|word| word.lead().starts_with(flag))
}

fn control(reader: &mut Reader<'_>, what: &str, simple: &Simple) -> Feed {
    reader.act(ActionKind::Control(Control::Environment(what.to_owned())), simple.span.clone());
    Feed::Outer
}

pub(super) fn traces(reader: &mut Reader<'_>, what: &str, simple: &Simple) {
    reader.act(ActionKind::Control(Control::Traces(what.to_owned())), simple.span.clone());
}

fn persist(reader: &mut Reader<'_>, simple: &Simple) -> Feed {
    reader.act(ActionKind::Persist("a detached process".to_owned()), simple.span.clone());
    Feed::Outer
}

/// `eval words…`: the words, joined, are read again.
fn eval(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    let decoded = reader.decoded;
    reader.code(words, decoded, simple)
}

/// `source FILE`: the file is code, run here.
fn source(reader: &mut Reader<'_>, words: &[Word], simple: &Simple, input: &Feed) -> Feed {
    let Some(file) = words.first() else { return Feed::Outer };
    if let Some(name) = file.literal() {
        if let Some(feed) = reader.described(name) {
            return reader.code_from(&feed, simple);
        }
        if matches!(name, "/dev/stdin" | "/dev/fd/0" | "-" | "/proc/self/fd/0") {
            let input = input.clone();
            return reader.code_from(&input, simple);
        }
    }
    match (file.literal(), reader.scope.cwd.as_deref().or(Some("/"))) {
        (Some(name), Some(cwd)) => {
            let path = PathRef::join(cwd, name);
            reader.execute(Program::Path(path.clone()), Standing::File(path), &file.span);
        }
        _ => {
            let why = file.why().cloned().unwrap_or_else(|| Why::Expansion("pattern".to_owned()));
            reader.opaque(why, file.span.clone());
        }
    }
    let cwd = reader.scope.cwd.clone();
    reader.scope.forget_all();
    reader.scope.cwd = cwd;
    Feed::stream("a sourced file")
}

fn change_directory(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    let operand = words.iter().find(|word| !matches!(word.literal(), Some("-P" | "-L" | "-e" | "--")));
    let next = match operand {
        None => Some(reader.setting.home.to_owned()),
        Some(word) if word.literal() == Some("-") => reader.scope.previous.clone(),
        Some(word) => reader.enter(word),
    };
    let before = std::mem::replace(&mut reader.scope.cwd, next);
    reader.scope.fallback.clone_from(&before);
    reader.scope.previous = before;
    Feed::Outer
}

impl Reader<'_> {
    /// The directory that `word` names from here; lexical, as `cd -L` is.
    pub(super) fn enter(&self, word: &Word) -> Option<String> {
        let name = word.literal()?;
        if name.starts_with('/') {
            return Some(crate::places::clean(name));
        }
        let cwd = self.scope.cwd.as_deref()?;
        Some(crate::places::clean(&format!("{cwd}/{name}")))
    }
}

fn stack(reader: &mut Reader<'_>, name: &str, words: &[Word]) -> Feed {
    let rotated = words.iter().any(|word| word.lead().starts_with(['+', '-']));
    let next = match (name, words.first()) {
        _ if rotated => None,
        ("pushd", Some(word)) => {
            let next = reader.enter(word);
            reader.scope.stack.push(reader.scope.cwd.clone());
            next
        }
        ("pushd", None) => {
            let next = reader.scope.stack.pop().flatten();
            reader.scope.stack.push(reader.scope.cwd.clone());
            next
        }
        _ => reader.scope.stack.pop().flatten(),
    };
    reader.scope.previous = std::mem::replace(&mut reader.scope.cwd, next);
    Feed::Outer
}

fn trap(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    let code = words.iter().find(|word| !matches!(word.literal(), Some("--")));
    let Some(code) = code.filter(|word| !word.lead().starts_with('-')) else { return Feed::Outer };
    let outer = reader.scope.clone();
    let origin = code
        .verbatim
        .map_or(Origin::Range(code.span.start as usize, code.span.end as usize), |at| Origin::At(at as usize));
    match code.literal() {
        Some(text) => {
            let text = text.to_owned();
            reader.inside(Within::Trap, |reader| reader.script(&text, origin));
        }
        None => reader.opaque(code.why().cloned().unwrap_or(Why::Substitution), code.span.clone()),
    }
    reader.scope = outer;
    Feed::Outer
}

/// `alias name=text`: whatever runs it later runs the text, so it is read now.
fn alias(reader: &mut Reader<'_>, words: &[Word]) -> Feed {
    for word in words {
        let Some((name, text)) = word.literal().and_then(|word| word.split_once('=')) else { continue };
        let (name, text) = (name.to_owned(), text.to_owned());
        let outer = reader.scope.clone();
        let origin = Origin::Range(word.span.start as usize, word.span.end as usize);
        reader.inside(Within::Function, |reader| reader.script(&text, origin));
        reader.scope = outer;
        reader.scope.aliases.insert(name, text);
    }
    Feed::Outer
}

fn unset(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    for word in words.iter().filter_map(Word::literal) {
        if super::environment::hides(word) {
            traces(reader, word, simple);
        }
        if super::scan::is_name(word) {
            reader.scope.forget(word);
        }
    }
    for word in words {
        reader.subscript(&word.shown(), &word.span);
    }
    Feed::Outer
}

fn set(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    let literal: Vec<&str> = words.iter().filter_map(Word::literal).collect();
    if literal.windows(2).any(|pair| pair == ["+o", "history"]) || literal.contains(&"+H") {
        traces(reader, "set +o history", simple);
    }
    if let Some(at) = words.iter().position(|word| word.literal() == Some("--")) {
        reader.scope.arguments = words.get(at + 1..).map(<[Word]>::to_vec);
    } else if words.first().is_some_and(|word| !word.lead().starts_with(['-', '+'])) {
        reader.scope.arguments = Some(words.to_vec());
    }
    Feed::Outer
}

fn shift(reader: &mut Reader<'_>) -> Feed {
    if let Some(arguments) = &mut reader.scope.arguments
        && !arguments.is_empty()
    {
        arguments.remove(0);
    }
    Feed::Outer
}

fn history(reader: &mut Reader<'_>, words: &[Word], simple: &Simple) -> Feed {
    let erases = words.iter().any(|word| {
        let lead = word.lead();
        lead.starts_with('-') && lead.contains(['c', 'd', 'w', 'r'])
    });
    if erases {
        traces(reader, "history", simple);
    }
    Feed::stream("history")
}
