//! What the rows of this family cannot say as data.

use super::super::super::ir::Word;
use super::super::row::{ALL, Pick, Say, among};
use super::super::run::Use;
use crate::action::{Depth, Flow, InstallScope, InstallSource, ListenScope, WriteHow};

pub(super) fn is_direct(word: &Word) -> bool {
    let lead = word.lead();
    word.why().is_some()
        || lead.contains("://")
        || lead.starts_with("git+")
        || lead.contains(" @ ")
        || lead.ends_with(".whl")
        || lead.ends_with(".tar.gz")
        || lead.ends_with(".zip")
}

pub(super) fn pip_install(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    it.each_value("-r --requirement -c --constraint", |it, word| it.read(word));
    let operands = it.operands(0);
    let here = |word: &Word| word.lead().starts_with(['.', '/']) && !word.lead().ends_with(".whl");
    let editable = it.values("-e --editable");
    let source = if operands.iter().chain(&editable).any(is_direct) {
        InstallSource::Direct
    } else if operands.iter().all(here) {
        InstallSource::Manifest
    } else {
        InstallSource::Registry
    };
    let global = it.has("--user --break-system-packages --root --system");
    it.each_value("-t --target --prefix", |it, word| it.write(word, WriteHow::Replace));
    it.say(Say::Install(if global { InstallScope::Global } else { InstallScope::Project }, source));
    index(it);
}

pub(super) fn index(it: &mut Use<'_, '_, '_>) {
    if it.has("-i --index-url --extra-index-url -f --find-links --trusted-host --index --default-index") {
        it.say(Say::Configuration("another package index"));
    }
    it.say(Say::Registry("pip", Flow::Fetch));
}

pub(super) fn uv_install(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    it.each_value("-o --output-file --out-dir --output", |it, word| it.write(word, WriteHow::Replace));
    let operands = it.operands(0);
    match it.sub {
        "add" => {
            let source = if operands.iter().any(|word| is_direct(word) || word.lead().starts_with("./")) {
                InstallSource::Direct
            } else {
                InstallSource::Registry
            };
            it.say(Say::Install(InstallScope::Project, source));
            index(it);
        }
        "install" | "sync" | "update" | "lock" | "pip sync" | "fetch" => {
            let source = if operands.is_empty() || it.sub != "install" {
                InstallSource::Manifest
            } else {
                InstallSource::Registry
            };
            it.say(Say::Install(InstallScope::Project, source));
            index(it);
        }
        "init" | "new" | "venv" => it.each(ALL, |it, word| it.write(word, WriteHow::MakeDir)),
        _ => {}
    }
}

/// The words after `marker` are a command.
pub(super) fn rest_as_command(it: &mut Use<'_, '_, '_>, marker: &str) {
    let mut words: Vec<Word> =
        it.simple.words.iter().skip_while(|word| word.literal() != Some(marker)).skip(1).cloned().collect();
    if let Some(first) = it.args.operands.first() {
        words = words.into_iter().skip_while(|word| word != first).collect();
    }
    it.inner(&words);
}

pub(super) fn uv_run(it: &mut Use<'_, '_, '_>) {
    if it.sub == "tool run" {
        return uvx(it);
    }
    it.say(Say::Project);
    if it.has("--with --with-requirements --from") {
        it.say(Say::Install(InstallScope::Project, InstallSource::Registry));
        index(it);
    }
    if it.has("-m --module -s --script") || it.literal(0).is_some_and(|name| name.ends_with(".py")) {
        return;
    }
    rest_as_command(it, "run");
}

/// A package is fetched and run, unless it is a tool that every project has.
pub(super) fn uvx(it: &mut Use<'_, '_, '_>) {
    let Some(package) = it.value("--from --spec").or_else(|| it.operand(0)) else { return };
    it.say(Say::Project);
    let known = package
        .literal()
        .is_some_and(|name| super::super::find(name.split(['@', '=']).next().unwrap_or(name)).is_some());
    if !known {
        it.say(Say::Install(
            InstallScope::Project,
            if is_direct(&package) { InstallSource::Direct } else { InstallSource::Registry },
        ));
    }
    index(it);
    let first = it.operand(0);
    let words: Vec<Word> = it.simple.words.iter().skip_while(|word| Some(*word) != first.as_ref()).cloned().collect();
    it.inner(&words);
}

pub(super) fn tool(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    it.each_value("-o --output --output-file", |it, word| it.write(word, WriteHow::Replace));
    match it.name {
        "virtualenv" | "venv" => it.each(ALL, |it, word| it.write(word, WriteHow::MakeDir)),
        "maturin" if matches!(it.literal(0), Some("publish" | "upload")) => it.say(Say::Package("a package registry")),
        "cookiecutter" | "copier" => it.each(Pick::At(0), |it, word| {
            if word.lead().contains("://") || word.lead().starts_with("gh:") {
                it.say(Say::Install(InstallScope::Project, InstallSource::Direct));
            }
        }),
        "mkdocs" if it.literal(0) == Some("gh-deploy") => it.say(Say::Deploy("a web site")),
        "mkdocs" if it.literal(0) == Some("serve") => it.say(Say::Listen(ListenScope::Loopback, "mkdocs serve")),
        "ruff" if it.literal(0) == Some("clean") => {
            it.delete(&Word::literal_at(".ruff_cache", it.span()), Depth::Recursive)
        }
        _ => {}
    }
}

pub(super) fn is_loopback(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        ["127.", "localhost", "::1", "[::1]", "unix:"].iter().any(|loopback| text.starts_with(loopback))
    })
}

pub(super) fn server(it: &mut Use<'_, '_, '_>) {
    let loopback = it.value("-b --bind").is_some_and(|word| is_loopback(&word));
    it.say(Say::Project);
    it.say(Say::Listen(if loopback { ListenScope::Loopback } else { ListenScope::Wide }, "http.server"));
    it.each_value("-d --directory", |it, word| it.read(word));
}

/// Web frameworks: their servers listen on loopback unless told otherwise.
pub(super) fn web(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    let hosts = it.values("--host -h -b --bind --ip --server.address");
    let wide = among(SERVERS, it.name) && hosts.iter().any(|word| !is_loopback(word));
    if wide {
        return it.say(Say::Listen(ListenScope::Wide, "a web server"));
    }
    match (it.name, it.literal(0)) {
        ("rails" | "artisan" | "django-admin" | "mix", Some(verb)) if among(DATABASE_CLEARS, verb) => {
            it.destroy(crate::action::DestroyClass::Database, "every row of the database");
        }
        ("rails", Some("runner" | "r")) => it.say(Say::Hidden("ruby")),
        ("mix", Some("hex.publish")) => it.say(Say::Package("a package registry")),
        ("airflow", Some("db")) if it.literal(1) == Some("reset") => {
            it.destroy(crate::action::DestroyClass::Database, "the airflow database")
        }
        ("celery", Some("purge")) => it.destroy(crate::action::DestroyClass::Database, "every queued task"),
        ("rails", Some("server" | "s"))
        | ("flask" | "fastapi", Some("run" | "dev"))
        | ("uvicorn" | "gunicorn" | "hypercorn" | "streamlit" | "jupyter", Some(_)) => {
            it.say(Say::Listen(ListenScope::Loopback, "a web server"));
        }
        _ => {}
    }
}

const SERVERS: &str = "uvicorn gunicorn hypercorn daphne flask streamlit jupyter jupyter-lab jupyter-notebook rails fastapi puma rackup \
     hugo jekyll tensorboard mlflow";
const DATABASE_CLEARS: &str = "db:drop db:reset db:schema:load db:purge migrate:fresh migrate:reset db:wipe flush ecto.drop ecto.reset \
     reset_db sqlflush db:migrate:reset db:truncate_all";
