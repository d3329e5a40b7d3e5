//! Rust, Go, and other compiled languages' own tools.

use super::row::{ALL, Pick, Row, Rule, Say, Style, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{Depth, Flow, InstallScope, InstallSource, ListenScope, WriteHow};

pub(super) const ROWS: &[Row] = &[
    Row {
        always: &[Rule::Code(cargo_global)],
        ..subs(
            &["cargo", "cross"],
            "--config -Z -C --color --target-dir --manifest-path",
            &[
                quiet(",--list,-V,version,help,metadata,tree,pkgid,locate-project,read-manifest,verify-project,search,info,owner-list,config,report,license"),
                sub("build,b,check,c,test,t,run,r,bench,doc,d,clippy,fix,nextest,rustc,rustdoc,fmt,miri,expand,llvm-cov,tarpaulin,criterion,insta,xtask,watch,hack,deny,audit,machete,udeps,outdated,bloat,flamegraph,llvm-lines,sqlx,leptos,tauri,dylint,component,make,semver-checks,mutants,fuzz,careful,geiger,vendor,package,generate-lockfile,show-asm,asm,wasm,pgo,about,readme,spellcheck,sort",
                    "--features -F -p --package --bin --example --test --bench --target --target-dir --manifest-path --profile -j --jobs --message-format --color --config -Z --exclude -E --partition", &[Rule::Always(Say::Project), Rule::WriteFlag("--target-dir --out-dir --artifact-dir"), Rule::If("--open", Say::Project)]),
                sub("new,init", "--name --edition --vcs --registry", &[Rule::Write(ALL, WriteHow::MakeDir)]),
                sub("add,remove,rm,update,upgrade,fetch,set-version", "-F --features -p --package --path --git --branch --tag --rev --rename --precise --manifest-path", &[Rule::Always(Say::Project), Rule::Code(add), Rule::Always(Say::Registry("cargo", Flow::Fetch))]),
                sub("clean", "-p --package --target --target-dir --profile", &[Rule::Code(clean)]),
                sub("install,binstall", "--version --vers --git --branch --tag --rev --path --root --index --registry -F --features --bin --example --target --profile -j --jobs", &[Rule::Code(install)]),
                sub("uninstall", "--bin --root -p", &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))]),
                sub("publish", "--token --index --registry -F --features --target -p", &[Rule::Code(|it| if it.has("-n --dry-run") { it.say(Say::Project) } else { it.say(Say::Package("cargo publish")) })]),
                sub("yank,owner", "--vers --version --token -a --add -r --remove", &[Rule::IfNot("-l --list", Say::Package("a change to a published crate"))]),
                sub("login,logout", "", &[Rule::Always(Say::Privilege("registry credentials"))]),
                sub("release,workspaces,smart-release", "", &[Rule::Always(Say::Package("cargo release"))]),
            ],
            "cargo test --workspace",
            "cargo publish",
        )
    },
    subs(
        &["rustup"],
        "",
        &[
            quiet(",show,check,which,doc,help,toolchain list,target list,component list,override list,completions,man,--version"),
            sub("run", "", &[Rule::Code(|it| { let words = it.tail(1); it.inner(&words); })]),
            sub("override set,override unset,default", "--path", &[Rule::Always(Say::Project)]),
            sub("self uninstall", "", &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))]),
            sub("*", "", &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)), Rule::Always(Say::Registry("rustup", Flow::Fetch))]),
        ],
        "rustup show",
        "rustup self uninstall",
    ),
    row(
        &["rustc", "rustdoc", "rustfmt", "gcc", "g++", "cc", "c++", "clang", "clang++", "clang-cl", "tcc", "javac", "kotlinc", "scalac", "ghc", "ocamlc", "ocamlopt", "fpc", "gfortran", "nasm", "yasm", "as", "ld", "lld", "ar", "ranlib", "strip", "objcopy", "tsc", "swiftc", "valac", "gnatmake", "dmd", "ldc2", "nvcc", "emcc", "protoc", "flatc", "thrift", "bison", "yacc", "flex", "lex", "swig", "moc", "windres", "asc", "coffee", "sass", "lessc", "svelte-check", "vue-tsc", "elm-make", "purs", "mcs", "csc", "haxe", "crystal", "nim", "v"],
        "-o --output --out-dir -d --crate-type --crate-name --edition --target -L -l -I -D -O? -W -f? -g? -x -include -C -cp -classpath --emit --config --config-path -MF -MT -arch -std --project -p --module --outDir",
        &[Rule::Code(compile)],
        "gcc -O2 -o a a.c",
        "gcc -o /usr/bin/a a.c",
    ),
    subs(
        &["go"],
        "-C",
        &[
            quiet(",version,env,list,doc,help,tool,bug"),
            sub("build,run,test,vet,generate,fmt,fix,mod tidy,mod download,mod verify,mod vendor,mod graph,mod why,mod init,mod edit,mod,work,clean", "-o -run -bench -count -timeout -tags -ldflags -gcflags -mod -p -coverprofile -exec -toolexec -vettool -asmflags -overlay -benchtime -cpu -parallel", &[Rule::Always(Say::Project), Rule::WriteFlag("-o -coverprofile"), Rule::If("-exec -toolexec -vettool -overlay", Say::Hidden("go tool wrapper")), Rule::Code(go_run)]),
            sub("get", "", &[Rule::Always(Say::Install(InstallScope::Project, InstallSource::Registry)), Rule::Always(Say::Registry("go", Flow::Fetch))]),
            sub("install", "", &[Rule::Code(go_install)]),
        ],
        "go test ./...",
        "go install example.com/x@latest",
    )
    .words(),
    row(&["gofmt", "goimports", "gofumpt", "golangci-lint", "staticcheck", "govulncheck", "clang-format", "clang-tidy", "clang-check", "clangd", "cppcheck", "include-what-you-use", "astyle", "uncrustify", "gopls", "rust-analyzer", "errcheck", "revive", "shfmt", "shellcheck", "hadolint", "yamllint", "actionlint", "markdownlint", "vale", "codespell", "typos", "checkmake", "buf", "ktlint", "detekt", "swiftlint", "swiftformat", "stylua", "luacheck", "perltidy", "perlcritic", "ormolu", "hlint", "nixfmt", "alejandra", "taplo", "dprint", "checkov", "tflint", "trivy", "grype", "syft", "semgrep", "gitleaks", "trufflehog", "snyk", "ctags", "cscope", "gtags", "doxygen", "terraform-docs"],
        "-c --config -style --style -checks -f --format -s --severity -e --exclude -o --output -i? -w? -d? -l? --rulesets --shell",
        &[Rule::Always(Say::Project), Rule::Read(ALL), Rule::WriteFlag("-o --output")],
        "gofmt -l .",
        "gofmt ~/.ssh/id_rsa",
    ),
    row(&["gdb", "lldb", "rr", "rust-gdb", "rust-lldb", "delve", "dlv", "cgdb"], "-x -ex -p -c -s -o", &[Rule::Code(|it| { if it.has("-p -ex -x -eval-command --pid --attach -o -s --args") || it.operand(0).is_some() { it.say(Say::Hidden("debugger")); } })], "gdb --version", "gdb -p 1"),
    row(&["hyperfine", "bench", "poop"], "-w --warmup -r --runs -m --min-runs -M -p --prepare -c --cleanup -s --setup -P -L -n --command-name --export-json --export-csv --export-markdown -S --shell -u --time-unit", &[Rule::Code(hyperfine)], "hyperfine 'cat a'", "hyperfine 'rm -rf x'"),
    row(&["live-server", "http-server", "serve", "browser-sync", "simple-http-server", "miniserve", "caddy", "nginx", "httpd", "apachectl", "haproxy", "traefik"], "-p --port -a --host -c -l -d", &[Rule::Always(Say::Listen(ListenScope::Wide, "a web server"))], "http-server --help", "serve -p 80"),
];

impl Row {
    /// The same row with flags of one dash and whole words.
    const fn words(mut self) -> Self {
        self.style = Style::Words;
        self
    }
}

/// `--config build.rustc-wrapper=…` and `-Z` can run programs.
fn cargo_global(it: &mut Use<'_, '_, '_>) {
    let configs = it.values("--config");
    if configs.iter().any(|config| {
        ["runner", "wrapper", "linker", "rustc", "registry", "source", "alias", "env", ".toml"]
            .iter()
            .any(|key| config.shown().contains(key))
            || config.why().is_some()
    }) {
        it.say(Say::Configuration("cargo --config"));
    }
}

fn add(it: &mut Use<'_, '_, '_>) {
    if it.sub == "add" {
        let source = if it.has("--git --path") { InstallSource::Direct } else { InstallSource::Registry };
        it.say(Say::Install(InstallScope::Project, source));
    }
}

fn clean(it: &mut Use<'_, '_, '_>) {
    let target = it.value("--target-dir").unwrap_or_else(|| super::super::ir::Word::literal_at("target", it.span()));
    it.delete(&target, Depth::Recursive);
}

fn install(it: &mut Use<'_, '_, '_>) {
    if it.has("--list") {
        return;
    }
    let source = if it.has("--git --path --index") { InstallSource::Direct } else { InstallSource::Registry };
    it.say(Say::Install(InstallScope::Global, source));
    it.say(Say::Registry("cargo", Flow::Fetch));
}

fn go_install(it: &mut Use<'_, '_, '_>) {
    let local = it.operands(0).iter().all(|word| word.lead().starts_with('.') && !word.lead().contains('@'));
    if local {
        it.say(Say::Project);
    }
    it.say(Say::Install(InstallScope::Global, if local { InstallSource::Manifest } else { InstallSource::Registry }));
}

/// `go run MODULE@VERSION` fetches and runs what is not the project's.
fn go_run(it: &mut Use<'_, '_, '_>) {
    if it.sub == "run" && it.literal(0).is_some_and(|module| module.contains('@')) {
        it.say(Say::Install(InstallScope::Project, InstallSource::Direct));
        it.say(Say::Registry("go", Flow::Fetch));
    }
}

fn compile(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    it.each_value("-o --output --out-dir -d --outDir -MF", |it, word| it.write(word, WriteHow::Replace));
    let plugin = it.simple.words.iter().any(|word| {
        let lead = word.lead();
        lead.starts_with("-fplugin")
            || lead.starts_with("-wrapper")
            || lead.starts_with("-specs")
            || lead.starts_with("--plugin")
            || lead.starts_with("-B")
            || lead.contains("linker=")
            || lead.starts_with("-processor")
    });
    if plugin {
        it.say(Say::Hidden("compiler plugin"));
    }
    it.each(ALL, |it, word| it.read(word));
    match it.name {
        "objcopy" | "strip" | "ranlib" => it.each(Pick::Last, |it, word| it.write(word, WriteHow::Change)),
        "ar" => it.each(Pick::At(1), |it, word| it.write(word, WriteHow::Change)),
        _ => {}
    }
}

/// Its operands are commands.
fn hyperfine(it: &mut Use<'_, '_, '_>) {
    it.each_value("--export-json --export-csv --export-markdown", |it, word| it.write(word, WriteHow::Replace));
    it.each_value("-p --prepare -c --cleanup -s --setup", |it, word| it.code(word));
    it.each(Pick::From(0), |it, word| it.code(word));
}
