//! Small tools that belong to no family.

use super::row::{ALL, Row, Rule, Say, row};
use super::run::Use;
use crate::action::WriteHow;

pub(super) const ROWS: &[Row] = &[
    row(
        &[
            "sphinx-quickstart",
            "gibo",
            "gitignore",
            "license",
            "lorem",
            "qrencode",
            "ascii",
            "hexyl",
            "glow",
            "mdcat",
            "rich",
            "vivid",
            "onefetch",
            "git-cliff",
            "git-delta",
            "diffstat",
            "git-standup",
            "tig",
            "lazygit",
            "lazydocker",
            "gitui",
            "ghq",
            "gitk",
            "gource",
            "procinfo",
            "choose",
            "gron",
            "csvcut",
            "csvlook",
            "csvstat",
            "csvgrep",
            "csvsort",
            "csvjson",
            "in2csv",
            "xsv",
            "qsv",
            "mlr",
            "miller",
            "htmlq",
            "pup",
            "xidel",
            "angle-grinder",
            "agrind",
            "lnav",
            "multitail",
            "ccze",
            "grc",
            "pv",
            "progress",
            "spark",
            "termgraph",
            "visidata",
            "vd",
            "datamash",
            "textql",
            "jless",
            "jc",
            "jo",
            "jd",
            "json_pp",
            "json_reformat",
            "jsonlint",
            "ajv",
            "yajl",
            "yaml2json",
            "toml2json",
            "msgcat",
            "msgfmt",
            "xgettext",
            "aspell",
            "hunspell",
            "ispell",
            "wn",
            "dict",
            "sdcv",
            "trans",
            "cmatrix",
            "sl",
            "fortune",
            "asciinema",
            "ttyrec",
            "peek",
            "vhs",
            "linkchecker",
            "lychee",
            "muffet",
            "ab",
            "wrk",
            "hey",
            "k6",
            "siege",
            "vegeta",
            "oha",
            "bombardier",
        ],
        "-o --output -d --delimiter -c --columns -f --file -F -n -s --separator -m -r -e",
        &[Rule::Code(small)],
        "glow README.md",
        "glow ~/.ssh/id_rsa",
    ),
    row(
        &["sd"],
        "-f --flags -n --max-replacements",
        &[Rule::Write(super::row::Pick::From(2), WriteHow::Change)],
        "sd a b",
        "sd a b /etc/hosts",
    ),
    row(
        &["rename", "prename", "mmv", "detox", "perl-rename"],
        "-e",
        &[Rule::Code(|it| {
            if !it.has("-n --no-act --nono --dry-run") {
                it.each(super::row::Pick::From(1), |it, word| it.write(word, WriteHow::Change))
            }
        })],
        "rename -n s/a/b/ x",
        "rename s/a/b/ /etc/x",
    ),
    row(
        &["fdupes", "jdupes", "rdfind", "bleachbit", "tmpwatch", "tmpreaper", "kondo", "cargo-sweep", "npkill"],
        "",
        &[Rule::Code(cleaners)],
        "fdupes -r .",
        "fdupes -rd .",
    ),
    row(
        &[
            "inotifywait",
            "fswatch",
            "watchexec",
            "watchman",
            "chokidar",
            "reflex",
            "modd",
            "air",
            "guard",
            "cargo-watch",
            "watchfiles",
        ],
        "-e -m -r -x -w --watch -i --ignore -t --timeout --exec -s -c --shell -f --filter -d",
        &[Rule::Code(watchers)],
        "inotifywait -m src",
        "watchexec 'rm -rf x'",
    ),
    row(
        &["ld.so", "ld-linux-x86-64.so.2", "ld-linux.so.2", "ld-linux-aarch64.so.1", "ld-musl-x86_64.so.1"],
        "--library-path --preload --audit --argv0",
        &[Rule::Code(loader)],
        "ld.so --version",
        "ld.so /tmp/x",
    ),
];

fn small(it: &mut Use<'_, '_, '_>) {
    it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
    let hosts = matches!(
        it.name,
        "ab" | "wrk" | "hey" | "k6" | "siege" | "vegeta" | "oha" | "bombardier" | "lychee" | "linkchecker" | "muffet"
    );
    it.each(ALL, |it, word| {
        if word.lead().contains("://") {
            let flow = if hosts { crate::action::Flow::Send } else { crate::action::Flow::Fetch };
            it.connect(crate::action::Peer::Url(word.shown()), flow);
        } else if word.lead().contains(['/', '.']) || word.why().is_some() {
            it.read(word);
        }
    });
    if it.name == "k6" {
        it.say(Say::Project);
    }
}

fn cleaners(it: &mut Use<'_, '_, '_>) {
    let deletes = matches!(it.name, "bleachbit" | "tmpwatch" | "tmpreaper" | "kondo" | "cargo-sweep" | "npkill")
        || it.has("-d --delete -N -deleteduplicates")
        || it.simple.words.iter().any(|word| word.lead().starts_with("-delete"));
    it.each(
        ALL,
        |it, word| if deletes { it.delete(&word.beneath(), crate::action::Depth::Recursive) } else { it.read(word) },
    );
    if deletes && it.operand(0).is_none() {
        it.delete(&super::super::ir::Word::literal_at(".", it.span()).beneath(), crate::action::Depth::Recursive);
    }
}

/// Watchers run a command at every change.
fn watchers(it: &mut Use<'_, '_, '_>) {
    match it.name {
        "inotifywait" | "fswatch" => it.each(ALL, |it, word| it.read(word)),
        "air" | "modd" | "guard" | "watchman" => it.say(Say::Project),
        _ => {
            let words = it.tail(0);
            it.say(Say::Project);
            match words.as_slice() {
                [only] if only.lead().contains(' ') => it.code(only),
                words => it.inner(words),
            }
            it.each_value("-x --exec -s -c", |it, word| it.code(word));
        }
    }
}

fn loader(it: &mut Use<'_, '_, '_>) {
    if it.has("--preload --audit --library-path") {
        it.say(Say::Environment("the dynamic loader"));
    }
    if let Some(program) = it.operand(0) {
        super::super::unwrap::run_file(it.reader, it.name, &program);
        it.say(Say::Hidden("the dynamic loader"));
        let words = it.operands(0);
        it.inner(&words);
    }
}
