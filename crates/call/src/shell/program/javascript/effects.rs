//! What the rows of this family cannot say as data.

use super::super::super::ir::Word;
use super::super::row::{ALL, Pick, Say};
use super::super::run::Use;
use crate::action::{Flow, InstallScope, InstallSource, ListenScope, WriteHow};

/// `yarn` alone installs; `npm` alone prints help.
pub(super) fn bare(it: &mut Use<'_, '_, '_>) {
    if it.name == "yarn" && !it.has("--version -v --help -h") {
        it.say(Say::Install(InstallScope::Project, InstallSource::Manifest));
        it.say(Say::Registry("yarn", Flow::Fetch));
    }
}

/// A package given by URL, repository or file is code that no registry holds.
pub(super) fn is_direct(word: &Word) -> bool {
    let lead = word.lead();
    let scoped = lead.starts_with('@');
    word.why().is_some()
        || lead.contains("://")
        || lead.starts_with("git+")
        || lead.starts_with("github:")
        || lead.starts_with("file:")
        || lead.starts_with(['.', '/', '~'])
        || lead.ends_with(".tgz")
        || (lead.contains('/') && !scoped)
        || lead.contains("@git")
        || lead.contains("@http")
}

pub(super) fn install(it: &mut Use<'_, '_, '_>) {
    let global = it.has("-g --global") || it.value("--location").is_some() || it.sub.starts_with("global");
    let operands = it.operands(0);
    let removes = matches!(it.sub, "remove" | "rm" | "uninstall" | "un" | "unlink" | "prune" | "dedupe" | "ddp");
    let source = if operands.iter().any(is_direct) && !removes {
        InstallSource::Direct
    } else if operands.is_empty() || removes || matches!(it.sub, "update" | "up" | "upgrade" | "rebuild" | "rb" | "ci")
    {
        InstallSource::Manifest
    } else {
        InstallSource::Registry
    };
    let scope = if global { InstallScope::Global } else { InstallScope::Project };
    it.say(Say::Project);
    it.say(Say::Install(scope, source));
    if !removes {
        registry(it);
    }
}

/// Another registry on the command line is another origin.
pub(super) fn registry(it: &mut Use<'_, '_, '_>) {
    if it.value("--registry").is_some() {
        it.say(Say::Configuration("another package registry"));
    }
    it.say(Say::Registry("npm", Flow::Fetch));
}

pub(super) fn scripts(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if matches!(it.sub, "exec" | "x") {
        if let Some(code) = it.value("-c --call") {
            return it.code(&code);
        }
        let words: Vec<Word> = it.operands(0);
        let flags: Vec<Word> =
            it.simple.words.iter().skip_while(|word| Some(*word) != words.first()).cloned().collect();
        return it.inner(&flags);
    }
    let tool = matches!(
        it.sub,
        "tsc"
            | "eslint"
            | "prettier"
            | "jest"
            | "vitest"
            | "node"
            | "tsx"
            | "next"
            | "vite"
            | "webpack"
            | "nx"
            | "turbo"
            | "cypress"
            | "playwright"
            | "typeorm"
    );
    if tool {
        let words: Vec<Word> =
            it.simple.words.iter().skip_while(|word| word.literal() != Some(it.sub)).cloned().collect();
        it.inner(&words);
    }
}

/// `yarn NAME`, `pnpm NAME` run a script of the project or an installed tool; npm knows no such form.
pub(super) fn yarn_script(it: &mut Use<'_, '_, '_>) {
    it.say(if it.name == "npm" { Say::Unknown } else { Say::Project });
    if it.name != "npm" {
        let words: Vec<Word> =
            it.simple.words.iter().skip(1).skip_while(|word| word.lead().starts_with('-')).cloned().collect();
        it.inner(&words);
    }
}

/// `npm create x`, `pnpm dlx x`: a package is fetched and run.
pub(super) fn create(it: &mut Use<'_, '_, '_>) {
    let Some(package) = it.operand(0) else {
        return it.say(Say::Project);
    };
    it.say(Say::Project);
    fetch_and_run(it, &package);
}

pub(super) fn fetch_and_run(it: &mut Use<'_, '_, '_>, package: &Word) {
    let source = if is_direct(package) { InstallSource::Direct } else { InstallSource::Registry };
    it.say(Say::Install(InstallScope::Project, source));
    registry(it);
    let words: Vec<Word> = it.simple.words.iter().skip_while(|word| *word != package).cloned().collect();
    let mut words = words;
    if let Some(first) = words.first_mut()
        && let Some(name) = first.literal().map(|text| without_version(text).to_owned())
    {
        *first = Word::literal_at(name, first.span.clone());
    }
    it.inner(&words);
}

/// `name@1.2`, `@scope/name@1.2` → `name`.
pub(super) fn without_version(text: &str) -> &str {
    let name = text.strip_prefix('@').map_or(text, |rest| rest.split_once('/').map_or(rest, |(_, name)| name));
    name.split('@').next().unwrap_or(name)
}

pub(super) fn npx(it: &mut Use<'_, '_, '_>) {
    if let Some(code) = it.value("-c --call") {
        it.code(&code);
    }
    let local = it.has("--no-install --no --offline");
    let Some(package) = it.value("-p --package").or_else(|| it.operand(0)) else { return };
    it.say(Say::Project);
    let words: Vec<Word> =
        it.simple.words.iter().skip_while(|word| Some(*word) != it.args.operands.first()).cloned().collect();
    let installed =
        local || package.literal().is_some_and(|name| !name.contains('@') && super::super::find(name).is_some());
    if !installed {
        let source = if is_direct(&package) { InstallSource::Direct } else { InstallSource::Registry };
        it.say(Say::Install(InstallScope::Project, source));
        registry(it);
    }
    let mut words = words;
    if let Some(first) = words.first_mut()
        && let Some(name) = first.literal().map(|text| without_version(text).to_owned())
    {
        *first = Word::literal_at(name, first.span.clone());
    }
    it.inner(&words);
}

pub(super) fn publish(it: &mut Use<'_, '_, '_>) {
    if it.has("--dry-run") || matches!(it.sub, "dist-tag" | "tag") && it.literal(0) == Some("ls") {
        return it.say(Say::Project);
    }
    it.say(Say::Package("a package registry"));
}

pub(super) fn config(it: &mut Use<'_, '_, '_>) {
    if matches!(it.literal(0), Some("get" | "list" | "ls")) || it.operand(0).is_none() && it.sub != "config edit" {
        return;
    }
    it.say(Say::Configuration("package manager settings"));
}

pub(super) fn deno_run(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if let Some(url) = it.operand(0).filter(|word| {
        word.lead().contains("://") || word.lead().starts_with("npm:") || word.lead().starts_with("jsr:")
    }) {
        let source = if url.lead().contains("://") { InstallSource::Direct } else { InstallSource::Registry };
        it.say(Say::Install(InstallScope::Project, source));
    }
    if it.name == "deno" && it.sub == "serve" {
        it.say(Say::Listen(ListenScope::Loopback, "deno serve"));
    }
    if it.sub == "exec" {
        it.each(Pick::At(0), |it, word| it.code(word));
    }
}

pub(super) fn evaluates(it: &mut Use<'_, '_, '_>) {
    if it.has("-e -p --eval --print --preload -r") {
        it.say(Say::Hidden("javascript"));
    }
}

pub(super) fn run_file(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    if it.name == "nodemon" {
        it.each_value("-e -x --exec", |it, word| {
            if word.lead().contains(' ') {
                it.code(word)
            }
        });
    } else if it.has("-e --eval -p --print") {
        it.say(Say::Hidden("javascript"));
    }
    it.each_value("-r --require --import", |it, word| it.read(word));
}

/// Project tools; some of them delete or run what they are given.
pub(super) fn tool(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    match it.name {
        "rimraf" | "del-cli" => it.each(ALL, |it, word| it.delete(word, crate::action::Depth::Recursive)),
        "concurrently" | "npm-run-all" => it.each(ALL, |it, word| {
            if word.lead().contains(' ') {
                it.code(word)
            }
        }),
        "cross-env" => {
            let rest: Vec<Word> = it.tail(0).into_iter().skip_while(|word| word.lead().contains('=')).collect();
            it.inner(&rest);
        }
        "changeset" if it.literal(0) == Some("publish") => it.say(Say::Package("a package registry")),
        "lerna" | "nx" if matches!(it.literal(0), Some("publish" | "release")) => {
            it.say(Say::Package("a package registry"))
        }
        "expo" | "electron-builder"
            if it.has("--publish -p") || matches!(it.literal(0), Some("publish" | "submit" | "upload")) =>
        {
            it.say(Say::Deploy("an application release"))
        }
        "lerna" | "wait-on" | "lighthouse" | "autocannon" | "artillery" => {}
        "drizzle-kit" if matches!(it.literal(0), Some("drop")) => {
            it.destroy(crate::action::DestroyClass::Database, "migrations")
        }
        "drizzle-kit" if matches!(it.literal(0), Some("push")) => it.say(Say::Service("a database", Flow::Session)),
        "hardhat" | "forge" | "truffle"
            if matches!(it.literal(0), Some("run" | "script" | "migrate" | "deploy" | "create")) =>
        {
            it.say(Say::Spend("a transaction"))
        }
        _ => {}
    }
    it.each_value("-o --output --output-file", |it, word| it.write(word, WriteHow::Replace));
}
