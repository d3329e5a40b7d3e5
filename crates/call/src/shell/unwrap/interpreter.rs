//! Interpreters: code inline, code piped in, a file of code, a module.

use super::super::args::{Args, Order, Style};
use super::super::command::{Named, kept};
use super::super::feed::{Decoded, Feed};
use super::super::ir::{Simple, Word};
use super::super::walk::Reader;
use super::shell::file_as_code;
use crate::action::{Standing, Why};

/// What [`Feed::Stream`] calls a here-document that is not wholly known.
const A_HEREDOC: &str = "a here-document";

/// How an interpreter takes its code.
struct Interpreter {
    names: &'static [&'static str],
    language: &'static str,
    /// Flags whose value is code.
    code: &'static str,
    /// Other flags that take a value.
    values: &'static str,
    /// Flags whose value is a file that is run first.
    preload: &'static str,
}

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "python2", "python3", "pypy", "pypy3", "ipython"],
        language: "python",
        code: "-c",
        values: "-W -X",
        preload: "",
    },
    Interpreter {
        names: &["node", "nodejs"],
        language: "javascript",
        code: "-e --eval -p --print -pe",
        values: "-C --conditions --max-old-space-size --stack-size",
        preload: "-r --require --import --loader --experimental-loader",
    },
    Interpreter { names: &["perl"], language: "perl", code: "-e -E", values: "-I", preload: "" },
    Interpreter { names: &["ruby", "jruby"], language: "ruby", code: "-e", values: "-I -C -E -K", preload: "-r" },
    Interpreter { names: &["php"], language: "php", code: "-r --run -B -R -E", values: "-d -c -z -t", preload: "" },
    Interpreter { names: &["lua", "luajit"], language: "lua", code: "-e", values: "", preload: "-l" },
    Interpreter {
        names: &["Rscript", "R", "julia"],
        language: "r",
        code: "-e --eval -E --print",
        values: "",
        preload: "",
    },
    Interpreter { names: &["osascript"], language: "applescript", code: "-e", values: "-l -s", preload: "" },
    Interpreter {
        names: &["groovy", "scala", "elixir"],
        language: "code",
        code: "-e --eval",
        values: "",
        preload: "-r",
    },
    Interpreter { names: &["tclsh", "wish", "expect"], language: "tcl", code: "-c", values: "", preload: "" },
];

pub(super) fn run(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Option<Feed> {
    let name = named.base.trim_end_matches(|mark: char| mark.is_ascii_digit() || mark == '.');
    let found = INTERPRETERS.iter().find(|it| it.names.contains(&named.base.as_str()) || it.names.contains(&name))?;
    let words = simple.words.get(1..).unwrap_or(&[]);
    let values =
        [found.code, found.values, found.preload, if found.language == "python" { "-m" } else { "" }].join(" ");
    let args = Args::parse(words, &values, Style::Gnu, Order::Leading);
    for file in args.values(found.preload) {
        file_as_code(reader, named, file);
    }
    let codes: Vec<&Word> = args.values(found.code).collect();
    if !codes.is_empty() {
        for code in codes {
            inline(reader, named, found, code);
        }
    } else if let Some(module) = args.value("-m").filter(|_| found.language == "python") {
        // Whatever follows the module is the module's own.
        let at = words.iter().position(|word| word.literal() == Some("-m"));
        let rest = at.and_then(|at| words.get(at + 2..)).unwrap_or(&args.operands);
        return module_run(reader, named, module, rest, simple, input);
    } else if let Some(file) = args.operands.first().filter(|file| file.literal() != Some("-")) {
        from_file(reader, named, found, file, simple);
    } else {
        from_input(reader, named, found, simple, input);
    }
    Some(Feed::stream(&named.base))
}

fn inline(reader: &mut Reader<'_>, named: &Named, found: &Interpreter, code: &Word) {
    match code.literal() {
        Some(text) => inline_text(reader, named, found, text, code),
        None => unread(reader, named, found, &code.shown(), code),
    }
}

fn inline_text(reader: &mut Reader<'_>, named: &Named, found: &Interpreter, text: &str, at: &Word) {
    if super::super::harmless::is_harmless(found.language, text) {
        reader.execute(named.program.clone(), kept(&named.standing, Standing::Row), &at.span);
    } else {
        unread(reader, named, found, text, at);
    }
}

fn unread(reader: &mut Reader<'_>, named: &Named, found: &Interpreter, text: &str, at: &Word) {
    let decoded = reader.decoded == Decoded::Yes;
    reader.execute(named.program.clone(), Standing::Inline(text.to_owned()), &at.span);
    let why = if decoded { Why::DecodedCode } else { Why::Code(found.language.to_owned()) };
    reader.opaque(why, at.span.clone());
}

fn from_file(reader: &mut Reader<'_>, named: &Named, found: &Interpreter, file: &Word, simple: &Simple) {
    match file.literal().and_then(|name| reader.described(name)) {
        Some(feed) => from_input(reader, named, found, simple, &feed),
        None => file_as_code(reader, named, file),
    }
}

/// Code from standard input: a here-document, a pipe, or a terminal that is not there.
fn from_input(reader: &mut Reader<'_>, named: &Named, found: &Interpreter, simple: &Simple, input: &Feed) {
    if input.decoded() == Decoded::Yes {
        reader.opaque(Why::DecodedCode, simple.span.clone());
    }
    match input {
        Feed::Text { text, .. } => {
            let at = Word::literal_at(text.clone(), simple.span.clone());
            inline_text(reader, named, found, text, &at);
        }
        Feed::Stream { from, .. } if from == super::super::code::A_FILE => reader.file_input(simple),
        Feed::Stream { from, .. } if from == A_HEREDOC => {
            let text = Word::literal_at("", simple.span.clone());
            unread(reader, named, found, "", &text);
        }
        Feed::Stream { .. } => {
            reader.execute(named.program.clone(), Standing::Inline(String::new()), &simple.span);
            reader.opaque(Why::Piped(named.base.clone()), simple.span.clone());
        }
        Feed::Outer => reader.execute(named.program.clone(), kept(&named.standing, Standing::Row), &simple.span),
    }
}

/// `python -m MODULE …`: known modules are programs of their own.
fn module_run(
    reader: &mut Reader<'_>,
    named: &Named,
    module: &Word,
    operands: &[Word],
    simple: &Simple,
    input: &Feed,
) -> Option<Feed> {
    let name = module.literal().unwrap_or("");
    let program = match name {
        "pip" | "pytest" | "venv" | "virtualenv" | "black" | "mypy" | "flake8" | "ruff" | "isort" | "pylint"
        | "tox" | "build" | "twine" | "coverage" | "uv" | "poetry" | "pre_commit" | "sphinx" | "jupyter" => {
            name.replace('_', "-")
        }
        "http.server" | "json.tool" | "unittest" | "compileall" | "py_compile" | "timeit" | "cProfile" | "doctest"
        | "this" | "site" | "sysconfig" | "platform" | "calendar" | "tabnanny" | "zipfile" | "tarfile"
        | "ensurepip" | "idlelib" => {
            format!("python-m-{name}")
        }
        _ => {
            reader.execute(named.program.clone(), Standing::Project, &module.span);
            return Some(Feed::stream("python"));
        }
    };
    reader.wrapper(named, simple);
    let mut words = vec![Word::literal_at(program, module.span.clone())];
    words.extend_from_slice(operands);
    Some(reader.inner(&words, Vec::new(), simple, input))
}
