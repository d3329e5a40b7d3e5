//! JavaScript: package managers, runtimes, and the tools they run.

use super::super::ir::Word;
use super::row::{ALL, Pick, Row, Rule, Say, Sub, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{Flow, InstallScope, InstallSource, ListenScope, WriteHow};

pub(super) const ROWS: &[Row] = &[
    subs(
        &["npm", "pnpm", "yarn", "cnpm"],
        "--prefix -C --dir --filter -F -w --workspace --cwd --loglevel --registry --userconfig",
        MANAGER,
        "npm test",
        "npm publish",
    ),
    subs(&["bun", "deno"], "--cwd -c --config", RUNTIME, "bun test", "bun publish"),
    row(
        &["npx", "bunx", "pnpx"],
        "-p --package -c --call -w --workspace --registry",
        &[Rule::Code(npx)],
        "npx --no-install eslint .",
        "npx some-package",
    ),
    row(
        &["tsx", "ts-node", "nodemon", "esr", "zx", "vite-node"],
        "-r --require --import -w --watch -e --exec --ext -P --project",
        &[Rule::Code(run_file)],
        "tsx src/a.ts",
        "tsx -e 'x()'",
    ),
    row(
        &[
            "eslint",
            "prettier",
            "jest",
            "vitest",
            "mocha",
            "ava",
            "tap",
            "karma",
            "cypress",
            "playwright",
            "webpack",
            "vite",
            "rollup",
            "esbuild",
            "parcel",
            "babel",
            "next",
            "nuxt",
            "astro",
            "gatsby",
            "ng",
            "nx",
            "turbo",
            "lerna",
            "tsup",
            "swc",
            "standard",
            "xo",
            "biome",
            "oxlint",
            "stylelint",
            "knip",
            "depcheck",
            "madge",
            "size-limit",
            "c8",
            "nyc",
            "tailwindcss",
            "postcss",
            "storybook",
            "start-storybook",
            "react-scripts",
            "vue-cli-service",
            "ember",
            "quasar",
            "expo",
            "metro",
            "rspack",
            "rsbuild",
            "grunt",
            "gulp",
            "bower",
            "cz",
            "commitlint",
            "husky",
            "lint-staged",
            "concurrently",
            "npm-run-all",
            "run-s",
            "run-p",
            "cross-env",
            "rimraf",
            "del-cli",
            "wait-on",
            "typedoc",
            "jsdoc",
            "documentation",
            "svgo",
            "lighthouse",
            "autocannon",
            "artillery",
            "plop",
            "hygen",
            "changeset",
            "patch-package",
            "syncpack",
            "ncu",
            "npm-check-updates",
            "svelte-kit",
            "remix",
            "wp",
            "drizzle-kit",
            "tauri",
            "electron",
            "electron-builder",
            "ionic",
            "cap",
            "puppeteer",
            "sort-package-json",
            "license-checker",
            "markdownlint-cli2",
            "textlint",
            "remark",
            "alex",
            "solhint",
            "hardhat",
            "forge",
            "truffle",
        ],
        "-c --config -p --project -o --output --output-file -t --testNamePattern --reporter -r --mode --port --host -w?",
        &[Rule::Code(tool)],
        "eslint --fix src",
        "rimraf /",
    ),
    subs(
        &["nvm", "fnm", "volta", "n", "corepack"],
        "",
        &[
            quiet(",ls,list,current,use,which,version,--version,ls-remote,env,help,exec"),
            sub("*", "", &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))]),
        ],
        "nvm ls",
        "nvm install 20",
    ),
    subs(
        &["release-it", "semantic-release", "np", "standard-version", "auto"],
        "",
        &[
            sub("*", "", &[Rule::Always(Say::Package("a release"))]),
            sub("", "", &[Rule::Always(Say::Package("a release"))]),
        ],
        "release-it --version",
        "semantic-release",
    ),
];

const MANAGER: &[Sub] = &[
    sub("", "", &[Rule::Code(bare)]),
    quiet(
        "ls,list,ll,la,view,info,show,v,outdated,why,explain,query,root,bin,prefix,help,-v,search,s,docs,repo,bugs,home,ping,whoami,fund,doctor,licenses,get,config get,config list,config ls,c get,version-check,completion,store path,cache ls,cache dir,cache list,workspaces list,workspaces info,profile get,team ls,access list,token list,dedupe-check,sbom,diff,find-dupes,constraints,node -v",
    ),
    sub(
        "audit",
        "--audit-level",
        &[
            Rule::Always(Say::Registry("npm", Flow::Fetch)),
            Rule::Code(|it| {
                if it.literal(0) == Some("fix") {
                    it.say(Say::Install(InstallScope::Project, InstallSource::Registry))
                }
            }),
        ],
    ),
    sub(
        "install,i,add,in,isntall,ci,clean-install,install-test,it,import,link,ln,rebuild,rb,dedupe,ddp,prune,update,up,upgrade,upgrade-interactive,remove,rm,uninstall,un,unlink,patch,patch-commit,fetch,global add,global remove,approve-builds,set version,plugin import",
        "--prefix -C --dir -w --workspace --filter -F --registry --omit --include --loglevel --cwd",
        &[Rule::Code(install)],
    ),
    sub(
        "test,t,tst,start,stop,restart,run,run-script,rum,build,dev,lint,format,typecheck,check,serve,watch,e2e,coverage,clean,deploy-local,preview,storybook,compile,generate,prepare,workspaces,workspace,workspaces run,workspaces foreach,tsc,eslint,prettier,jest,vitest,node,recursive,-r,exec,x,typeorm,nx,turbo,next,vite,webpack,cypress,playwright,tsx",
        "-w --workspace --filter -F --if-present -c --call --prefix",
        &[Rule::Code(scripts)],
    ),
    sub("dlx,create,init,innit", "-p --package", &[Rule::Code(create)]),
    sub("pack", "--pack-destination -o --out", &[Rule::Always(Say::Project)]),
    sub("version", "-m --message --preid", &[Rule::Always(Say::Project)]),
    sub(
        "pkg,set-script",
        "",
        &[Rule::Code(|it| {
            if it.literal(0) != Some("get") {
                it.say(Say::Project);
                let file = Word::literal_at("package.json", it.span());
                it.write(&file, WriteHow::Change);
            }
        })],
    ),
    sub(
        "publish,unpublish,deprecate,undeprecate,dist-tag,tag,stage,npm publish,npm tag,workspaces publish",
        "--tag --access --otp --registry",
        &[Rule::Code(publish)],
    ),
    sub(
        "login,logout,adduser,add-user,token,owner,access,team,org,profile,hook,trust,npm login,npm logout",
        "--registry --scope",
        &[Rule::Always(Say::Privilege("the registry account"))],
    ),
    sub("config,c,set,config set,config delete,config edit", "--location -L -g", &[Rule::Code(config)]),
    sub("cache,cache clean,store prune,store", "", &[Rule::Always(Say::Project)]),
    sub("deploy", "", &[Rule::Always(Say::Project)]),
    sub("env,setup,self-update", "", &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))]),
    sub("*", "", &[Rule::Code(yarn_script)]),
];

const RUNTIME: &[Sub] = &[
    quiet("help,pm ls,pm bin,pm cache,info,outdated,why,types,doc,completions,--version,--revision,pm hash,lint-info"),
    sub("", "", &[Rule::Code(evaluates)]),
    sub(
        "install,i,add,a,remove,rm,update,link,unlink,patch,cache,uninstall",
        "--cwd -c --config -g? --registry --name -n --root",
        &[Rule::Code(install)],
    ),
    sub(
        "test,build,lint,fmt,check,bench,coverage,compile,task,repl,bundle,vendor,jupyter",
        "--outfile --outdir -o --output -c --config --target -t --filter",
        &[Rule::Always(Say::Project), Rule::WriteFlag("--outfile --outdir -o --output"), Rule::If("-i", Say::Project)],
    ),
    sub(
        "run,start,dev,serve,watch,exec",
        "--cwd -c --config --env-file --preload -r --import-map",
        &[Rule::Code(deno_run)],
    ),
    sub("x,create,init,dlx", "-p", &[Rule::Code(create)]),
    sub("eval,-e,-p,--eval,--print", "", &[Rule::Always(Say::Hidden("javascript"))]),
    sub("publish,pm publish", "", &[Rule::Code(publish)]),
    sub("upgrade", "", &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))]),
    sub("deploy", "", &[Rule::Always(Say::Deploy("deno deploy"))]),
    sub("*", "", &[Rule::Always(Say::Project)]),
];

/// `yarn` alone installs; `npm` alone prints help.
fn bare(it: &mut Use<'_, '_, '_>) {
    if it.name == "yarn" && !it.has("--version -v --help -h") {
        it.say(Say::Install(InstallScope::Project, InstallSource::Manifest));
        it.say(Say::Registry("yarn", Flow::Fetch));
    }
}

/// A package given by URL, repository or file is code that no registry holds.
fn is_direct(word: &Word) -> bool {
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

fn install(it: &mut Use<'_, '_, '_>) {
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
fn registry(it: &mut Use<'_, '_, '_>) {
    if it.value("--registry").is_some() {
        it.say(Say::Configuration("another package registry"));
    }
    it.say(Say::Registry("npm", Flow::Fetch));
}

fn scripts(it: &mut Use<'_, '_, '_>) {
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
fn yarn_script(it: &mut Use<'_, '_, '_>) {
    it.say(if it.name == "npm" { Say::Unknown } else { Say::Project });
    if it.name != "npm" {
        let words: Vec<Word> =
            it.simple.words.iter().skip(1).skip_while(|word| word.lead().starts_with('-')).cloned().collect();
        it.inner(&words);
    }
}

/// `npm create x`, `pnpm dlx x`: a package is fetched and run.
fn create(it: &mut Use<'_, '_, '_>) {
    let Some(package) = it.operand(0) else {
        return it.say(Say::Project);
    };
    it.say(Say::Project);
    fetch_and_run(it, &package);
}

fn fetch_and_run(it: &mut Use<'_, '_, '_>, package: &Word) {
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
fn without_version(text: &str) -> &str {
    let name = text.strip_prefix('@').map_or(text, |rest| rest.split_once('/').map_or(rest, |(_, name)| name));
    name.split('@').next().unwrap_or(name)
}

fn npx(it: &mut Use<'_, '_, '_>) {
    if let Some(code) = it.value("-c --call") {
        it.code(&code);
    }
    let local = it.has("--no-install --no --offline");
    let Some(package) = it.value("-p --package").or_else(|| it.operand(0)) else { return };
    it.say(Say::Project);
    let words: Vec<Word> =
        it.simple.words.iter().skip_while(|word| Some(*word) != it.args.operands.first()).cloned().collect();
    let installed = local || package.literal().is_some_and(|name| !name.contains('@') && super::find(name).is_some());
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

fn publish(it: &mut Use<'_, '_, '_>) {
    if it.has("--dry-run") || matches!(it.sub, "dist-tag" | "tag") && it.literal(0) == Some("ls") {
        return it.say(Say::Project);
    }
    it.say(Say::Package("a package registry"));
}

fn config(it: &mut Use<'_, '_, '_>) {
    if matches!(it.literal(0), Some("get" | "list" | "ls")) || it.operand(0).is_none() && it.sub != "config edit" {
        return;
    }
    it.say(Say::Configuration("package manager settings"));
}

fn deno_run(it: &mut Use<'_, '_, '_>) {
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

fn evaluates(it: &mut Use<'_, '_, '_>) {
    if it.has("-e -p --eval --print --preload -r") {
        it.say(Say::Hidden("javascript"));
    }
}

fn run_file(it: &mut Use<'_, '_, '_>) {
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
fn tool(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    match it.name {
        "rimraf" | "del-cli" => it.each(ALL, |it, word| it.delete(word, crate::action::Depth::Recursive)),
        "concurrently" | "npm-run-all" => it.each(ALL, |it, word| {
            if word.lead().contains(' ') {
                it.code(word)
            }
        }),
        "cross-env" => {
            let words: Vec<Word> = it.operands(0);
            let rest: Vec<Word> = words.into_iter().skip_while(|word| word.lead().contains('=')).collect();
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
