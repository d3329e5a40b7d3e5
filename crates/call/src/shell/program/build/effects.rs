//! What the rows of this family cannot say as data.

use super::super::super::ir::Word;
use super::super::row::{ALL, Say, among};
use super::super::run::Use;
use crate::action::{DestroyClass, Flow, WriteHow};

pub(super) fn make(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    for directory in it.values("-C --directory") {
        it.enter(&directory);
    }
    if it.has("--eval -E") {
        it.say(Say::Hidden("make code"));
    }
    it.each_value("-f --file --makefile", |it, word| {
        if word.literal() == Some("-") || word.lead().starts_with("/dev/") {
            it.say(Say::Hidden("make code"));
        } else {
            it.read(word);
        }
    });
    for word in it.operands(0) {
        let lead = word.lead();
        if lead.starts_with("SHELL=") && !word.literal().is_some_and(|text| among(SHELLS, text))
            || lead.starts_with(".SHELLFLAGS=")
            || lead.starts_with("MAKEFLAGS=")
            || lead.starts_with("MAKE=")
        {
            it.say(Say::Environment("make SHELL"));
        } else if lead.contains('=')
            && (word.why().is_some() || lead.contains("$(shell") || lead.contains('`') || lead.contains("!="))
        {
            it.say(Say::Hidden("make code"));
        }
    }
    install_target(it);
}

/// The system's own shells.
const SHELLS: &str = "SHELL=/bin/sh SHELL=/bin/bash SHELL=/usr/bin/bash SHELL=/usr/bin/sh SHELL=bash SHELL=sh";

/// `make install`, `ninja install`: into the system's directories unless told otherwise.
pub(super) fn install_target(it: &mut Use<'_, '_, '_>) {
    let words = it.operands(0);
    if words.iter().any(|word| word.literal().is_some_and(|task| among(DATABASE_TASKS, task))) {
        it.destroy(DestroyClass::Database, "a database");
    }
    let publishes =
        words.iter().any(|word| matches!(word.literal(), Some("publish" | "deploy" | "release" | "push" | "upload")));
    if publishes {
        it.say(Say::Deploy("a target of that name"));
    }
    let installs = words.iter().any(|word| matches!(word.literal(), Some("install" | "uninstall")));
    let redirected = words.iter().any(|word| {
        word.lead().starts_with("DESTDIR=") || word.lead().starts_with("PREFIX=") || word.lead().starts_with("prefix=")
    });
    if installs && !redirected && matches!(it.name, "make" | "gmake" | "bmake" | "ninja" | "samu" | "meson") {
        it.say(Say::Install(crate::action::InstallScope::Global, crate::action::InstallSource::Manifest));
    }
}

/// Tasks of Rails by which a database is lost, under any runner.
const DATABASE_TASKS: &str = "db:drop db:drop:all db:reset db:purge db:schema:load db:structure:load db:migrate:reset \
     db:truncate_all db:seed:replant";

pub(super) fn runner(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
    install_target(it);
    if it.has("-shell-escape --shell-escape")
        || it.simple.words.iter().any(|word| word.lead().trim_start_matches('-').starts_with("shell-escape"))
    {
        it.say(Say::Hidden("TeX shell escape"));
    }
    if matches!(
        it.name,
        "convert"
            | "magick"
            | "mogrify"
            | "ffmpeg"
            | "ffprobe"
            | "identify"
            | "exiftool"
            | "pandoc"
            | "gs"
            | "qpdf"
            | "sox"
            | "dot"
    ) {
        media(it);
    }
    match (it.name, it.literal(0)) {
        (
            "fastlane" | "skaffold" | "flutter" | "dart" | "cabal" | "nimble" | "pod",
            Some("deploy" | "release" | "upload" | "pub-publish" | "publish" | "beta" | "deliver" | "pilot" | "supply"),
        ) => it.say(Say::Deploy("a release")),
        ("pod", Some("trunk")) | ("nuget", Some("push")) | ("paket", Some("push")) => {
            it.say(Say::Package("a package registry"))
        }
        ("tilt" | "skaffold" | "dagger" | "earthly" | "act", Some(_)) => {
            it.say(Say::Service("containers", Flow::Session))
        }
        _ => {}
    }
}

/// The last operand is what is made; the others are read.
pub(super) fn media(it: &mut Use<'_, '_, '_>) {
    let operands = it.operands(0);
    let Some((last, rest)) = operands.split_last() else { return };
    let flags: Vec<Word> = it
        .simple
        .words
        .windows(2)
        .filter(|pair| pair.first().and_then(Word::literal) == Some("-i"))
        .filter_map(|pair| pair.last().cloned())
        .collect();
    flags.iter().chain(rest).filter(|word| !word.lead().contains("://")).for_each(|word| it.read(word));
    match it.name {
        "identify" | "ffprobe" | "exiftool" | "pandoc" | "gs" | "dot" => it.read(last),
        _ => it.write(last, WriteHow::Replace),
    }
}

pub(super) fn cmake(it: &mut Use<'_, '_, '_>) {
    if it.has("--install")
        || it.has("--build") && it.values("-t --target").iter().any(|target| target.literal() == Some("install"))
    {
        it.say(Say::Install(crate::action::InstallScope::Global, crate::action::InstallSource::Manifest));
    }
    // `cmake -E COMMAND`: its own small file tools.
    if it.simple.words.iter().any(|word| word.literal() == Some("-E")) {
        let words: Vec<Word> =
            it.simple.words.iter().skip_while(|word| word.literal() != Some("-E")).skip(1).cloned().collect();
        let name = words.first().and_then(Word::literal).unwrap_or("").to_owned();
        let program = match name.as_str() {
            "remove" | "remove_directory" | "rm" => "rm",
            "copy" | "copy_directory" | "copy_if_different" => "cp",
            "rename" => "mv",
            "make_directory" => "mkdir",
            "env" => "env",
            "time" => "time",
            "chdir" => "chdir",
            "touch" => "touch",
            "create_symlink" | "create_hardlink" => "ln",
            "tar" => "tar",
            "cat" => "cat",
            "echo" | "environment" | "capabilities" | "compare_files" | "md5sum" | "sha1sum" | "sha256sum"
            | "sleep" | "true" | "false" => return,
            _ => return it.say(Say::Unknown),
        };
        let mut inner = vec![Word::literal_at(program, it.span())];
        if program == "rm" && name != "rm" {
            inner.push(Word::literal_at("-r", it.span()));
        }
        inner.extend(words.into_iter().skip(1));
        it.inner(&inner);
    }
}

pub(super) fn jvm(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.has("-I --init-script -s --settings -gs --global-settings") {
        it.each_value("-I --init-script -s --settings -gs --global-settings", |it, word| it.read(word));
        it.say(Say::Hidden("build settings"));
    }
    let goals = it.operands(0);
    let goal = |names: &[&str]| {
        goals.iter().any(|word| {
            word.literal()
                .is_some_and(|text| names.iter().any(|name| text == *name || text.ends_with(&format!(":{name}"))))
        })
    };
    if goal(&[
        "deploy",
        "publish",
        "publishToMavenCentral",
        "bintrayUpload",
        "uploadArchives",
        "release",
        "perform",
        "publishAllPublicationsToMavenRepository",
    ]) {
        it.say(Say::Package("a package registry"));
    }
    if goal(&["flywayClean", "clean-db"])
        || goals.iter().any(|word| matches!(word.literal(), Some("flyway:clean" | "liquibase:dropAll")))
    {
        it.destroy(crate::action::DestroyClass::Database, "every object of the database");
    }
}

pub(super) fn java(it: &mut Use<'_, '_, '_>) {
    let quiet = it.simple.words.len() == 1
        || it.simple.words.iter().skip(1).all(|word| {
            matches!(word.literal(), Some("-version" | "--version" | "-help" | "-showversion" | "-v" | "-l"))
        });
    if quiet || matches!(it.name, "jps" | "jstack" | "jmap" | "jcmd" | "jstat" | "jinfo") {
        return;
    }
    it.say(Say::Project);
    let simple: Vec<Word> = it.simple.words.clone();
    let agent = simple.iter().any(|word| {
        word.lead().starts_with("-javaagent")
            || word.lead().starts_with("-agent")
            || word.lead().contains("OnOutOfMemoryError")
    });
    if agent || it.has("-e --eval") {
        it.say(Say::Hidden("code"));
    }
    match it.name {
        "jar" => it.each(ALL, |it, word| it.read(word)),
        "keytool" => it.say(Say::Privilege("a key store")),
        _ => {
            if let Some(jar) = simple
                .windows(2)
                .find(|pair| pair.first().and_then(Word::literal) == Some("-jar"))
                .and_then(|pair| pair.last().cloned())
            {
                super::super::super::unwrap::run_file(it.reader, it.name, &jar);
            }
        }
    }
}

pub(super) fn nix(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    for code in it.values("--run --command") {
        it.code(&code);
    }
    let verb = it.literal(0).unwrap_or("").to_owned();
    match it.name {
        "nixos-rebuild" | "home-manager" => it.say(Say::Privilege("the system's configuration")),
        "nix-env" => it.say(Say::Install(crate::action::InstallScope::Global, crate::action::InstallSource::Registry)),
        "nix" | "nix-shell" | "guix" | "devbox" => match verb.as_str() {
            "run" if !it.literal(1).is_none_or(|it| it.starts_with(['.', '#'])) => {
                it.say(Say::Install(crate::action::InstallScope::Project, crate::action::InstallSource::Direct))
            }
            "run" | "shell" | "develop" | "profile" | "install" | "" | "add" => {
                it.say(Say::Install(crate::action::InstallScope::Project, crate::action::InstallSource::Registry))
            }
            _ => {}
        },
        _ => {}
    }
}
