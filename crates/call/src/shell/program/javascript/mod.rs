//! JavaScript: package managers, runtimes, and the tools they run.

mod effects;

use super::super::ir::Word;
use super::row::{Row, Rule, Say, Sub, quiet, row, sub, subs};
use crate::action::{Flow, InstallScope, InstallSource, WriteHow};
use effects::{bare, config, create, deno_run, evaluates, install, npx, publish, run_file, scripts, tool, yarn_script};

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
                it.each(super::row::ALL, script);
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

/// `npm pkg set scripts.test=CMD`: the next `npm test` runs it.
fn script(it: &mut super::run::Use<'_, '_, '_>, word: &Word) {
    if let Some((name, _)) = word.lead().split_once('=')
        && name.starts_with("scripts")
    {
        it.code(&word.without_lead(name.len() + 1));
    }
}

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
