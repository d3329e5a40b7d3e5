//! Python and Ruby and PHP: package managers, test runners, linters.

use super::super::ir::Word;
use super::row::{ALL, Pick, Row, Rule, Say, Sub, quiet, row, sub, subs};
use super::run::Use;
use crate::action::{Depth, Flow, InstallScope, InstallSource, ListenScope, WriteHow};

pub(super) const ROWS: &[Row] = &[
    subs(
        &["pip", "pip3", "pip2"],
        "--python --proxy --log --cache-dir",
        PIP,
        "pip list",
        "pip install git+https://example.com/x",
    ),
    subs(
        &["uv"],
        "--directory --project --config-file --cache-dir --color -p --python",
        UV,
        "uv run pytest",
        "uv publish",
    ),
    row(
        &["uvx", "pipx-run"],
        "--from --with -p --python --index-url",
        &[Rule::Code(uvx)],
        "uvx ruff check .",
        "uvx some-package",
    ),
    subs(
        &["pipx"],
        "",
        &[
            quiet(",list,environment,--version,help,completions"),
            sub("run", "--spec --python --index-url --pip-args", &[Rule::Code(uvx)]),
            sub(
                "*",
                "",
                &[
                    Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
                    Rule::Always(Say::Registry("pip", Flow::Fetch)),
                ],
            ),
        ],
        "pipx list",
        "pipx install x",
    ),
    subs(
        &["poetry", "pdm", "hatch", "rye", "pipenv", "flit", "pixi"],
        "-C --directory -P --project",
        POETRY,
        "poetry run pytest",
        "poetry publish",
    ),
    subs(&["conda", "mamba", "micromamba"], "", CONDA, "conda list", "conda env remove -n x"),
    row(
        &[
            "pytest",
            "py.test",
            "tox",
            "nox",
            "coverage",
            "behave",
            "nose2",
            "nosetests",
            "robot",
            "locust",
            "pre-commit",
            "doit",
            "invoke",
            "inv",
            "snakemake",
            "ward",
            "green",
            "hypothesis",
            "trial",
            "python-m-unittest",
            "python-m-doctest",
            "python-m-timeit",
            "python-m-cProfile",
            "python-m-compileall",
            "python-m-py_compile",
            "python-m-site",
            "python-m-sysconfig",
            "python-m-platform",
            "python-m-calendar",
            "python-m-tabnanny",
            "python-m-this",
        ],
        "-k -m -p -c -n -e -o --rootdir --cov --cov-report --cov-config --maxfail --tb -W --junitxml --timeout --hook-stage --basetemp --result-log",
        &[Rule::Always(Say::Project), Rule::WriteFlag("--junitxml --junit-xml --report-log --basetemp")],
        "pytest -k 'a or b'",
        "pytest --junitxml /etc/x",
    ),
    row(
        &[
            "black",
            "ruff",
            "flake8",
            "pylint",
            "mypy",
            "pyright",
            "isort",
            "autopep8",
            "yapf",
            "bandit",
            "pyflakes",
            "pycodestyle",
            "pydocstyle",
            "vulture",
            "radon",
            "pytype",
            "pyre",
            "autoflake",
            "pyupgrade",
            "docformatter",
            "djlint",
            "sqlfluff",
            "interrogate",
            "safety",
            "pip-audit",
            "deptry",
            "refurb",
            "basedpyright",
            "ty",
            "rubocop",
            "standardrb",
            "reek",
            "brakeman",
            "phpcs",
            "phpcbf",
            "phpstan",
            "psalm",
            "php-cs-fixer",
            "phpunit",
            "pest",
            "rspec",
            "minitest",
            "cucumber",
            "sphinx",
            "sphinx-build",
            "mkdocs",
            "pdoc",
            "jupytext",
            "nbconvert",
            "papermill",
            "streamlit-check",
            "cookiecutter",
            "copier",
            "maturin",
            "setuptools-scm",
            "pip-compile",
            "pip-sync",
            "pip-tools",
            "build",
            "pyinstaller",
            "nuitka",
            "cython",
            "pygmentize",
            "yamlfix",
            "towncrier",
            "bumpversion",
            "bump2version",
            "bump-my-version",
            "virtualenv",
            "venv",
            "virtualenvwrapper",
            "cruft",
            "python-m-zipfile",
            "python-m-tarfile",
            "python-m-ensurepip",
            "python-m-idlelib",
        ],
        "-c --config --config-file -l --line-length -t --target-version -o --output --output-file --format -j --select --ignore --extend-select --exclude -p --package --python -W -f",
        &[Rule::Code(tool)],
        "ruff check .",
        "black -o /etc/x",
    ),
    row(
        &["python-m-http.server"],
        "-b --bind -d --directory",
        &[Rule::Code(server)],
        "python3 -m http.server --bind 127.0.0.1",
        "python3 -m http.server",
    ),
    row(
        &["python-m-json.tool"],
        "--indent",
        &[Rule::Read(Pick::At(0)), Rule::Write(Pick::At(1), WriteHow::Replace)],
        "python3 -m json.tool a.json",
        "python3 -m json.tool a.json /etc/x",
    ),
    row(
        &[
            "uvicorn",
            "gunicorn",
            "hypercorn",
            "daphne",
            "waitress-serve",
            "flask",
            "streamlit",
            "gradio",
            "jupyter",
            "jupyter-lab",
            "jupyter-notebook",
            "celery",
            "rails",
            "rackup",
            "puma",
            "unicorn",
            "thin",
            "artisan",
            "symfony",
            "django-admin",
            "fastapi",
            "dash",
            "bokeh",
            "panel",
            "mlflow",
            "tensorboard",
            "airflow",
            "dagster",
            "prefect",
            "foreman",
            "honcho",
            "overmind",
            "sidekiq",
            "jekyll",
            "hugo",
            "zola",
            "bridgetown",
            "middleman",
            "nanoc",
            "mix",
            "iex",
            "phx",
            "rebar3",
        ],
        "--host --port -p -b --bind -h --app -A -e --env -w --workers --ip --server.port --server.address --config -c",
        &[Rule::Code(web)],
        "flask routes",
        "uvicorn app:x --host 0.0.0.0",
    ),
    subs(
        &["twine"],
        "",
        &[quiet(",check,--version"), sub("*", "", &[Rule::Always(Say::Package("a package registry"))])],
        "twine check dist/*",
        "twine upload dist/*",
    ),
    subs(
        &["gem"],
        "",
        &[
            quiet(
                ",list,search,query,info,contents,which,environment,env,help,dependency,outdated,specification,spec,stale,-v,--version,check,server-list",
            ),
            sub(
                "install,update,uninstall,cleanup,pristine,i",
                "-v --version -i --install-dir -n --bindir --source",
                &[
                    Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
                    Rule::Always(Say::Registry("gem", Flow::Fetch)),
                ],
            ),
            sub("build", "-o --output", &[Rule::Always(Say::Project)]),
            sub("push,yank,owner", "", &[Rule::Always(Say::Package("a package registry"))]),
            sub("*", "", &[Rule::Always(Say::Unknown)]),
        ],
        "gem list",
        "gem push x.gem",
    ),
    subs(
        &["bundle", "bundler"],
        "",
        &[
            quiet(
                "list,show,info,outdated,check,config list,config get,platform,env,doctor,licenses,help,version,--version,viz",
            ),
            sub(
                ",install,update,add,remove,lock,cache,package,pristine,clean,binstubs,init,gem,open,inject",
                "--path --jobs -j --gemfile --without --with --group",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Install(InstallScope::Project, InstallSource::Manifest)),
                    Rule::Always(Say::Registry("gem", Flow::Fetch)),
                ],
            ),
            sub("config,config set", "", &[Rule::Always(Say::Project)]),
            sub("*", "", &[Rule::Always(Say::Unknown)]),
        ],
        "bundle list",
        "bundle plugin install x",
    ),
    subs(
        &["composer"],
        "-d --working-dir",
        &[
            quiet(
                ",show,info,outdated,validate,diagnose,licenses,depends,why,prohibits,why-not,search,status,check-platform-reqs,about,fund,browse,help,--version,list,audit,suggests",
            ),
            sub(
                "install,update,require,remove,dump-autoload,dumpautoload,init,reinstall,bump,upgrade,u,i,r",
                "",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Install(InstallScope::Project, InstallSource::Manifest)),
                    Rule::Always(Say::Registry("composer", Flow::Fetch)),
                ],
            ),
            sub("run-script,run,exec,test,archive,clear-cache", "", &[Rule::Always(Say::Project)]),
            sub(
                "create-project",
                "",
                &[
                    Rule::Always(Say::Project),
                    Rule::Always(Say::Install(InstallScope::Project, InstallSource::Registry)),
                ],
            ),
            sub(
                "global,self-update,selfupdate",
                "",
                &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))],
            ),
            sub("config", "", &[Rule::Always(Say::Configuration("composer settings"))]),
            sub("*", "", &[Rule::Always(Say::Project)]),
        ],
        "composer show",
        "composer global require x/y",
    ),
];

const PIP: &[Sub] = &[
    quiet(
        ",list,show,freeze,check,search,index,inspect,debug,help,hash,config list,config get,cache list,cache info,cache dir,-V",
    ),
    sub(
        "install",
        "-r --requirement -c --constraint -e --editable -t --target -i --index-url --extra-index-url -f --find-links --root --prefix --src --platform --python-version --progress-bar --upgrade-strategy --no-binary --only-binary --report",
        &[Rule::Code(pip_install)],
    ),
    sub("uninstall", "-r --requirement", &[Rule::Always(Say::Install(InstallScope::Project, InstallSource::Registry))]),
    sub(
        "download,wheel",
        "-r --requirement -d --dest -w --wheel-dir -i --index-url -c --constraint",
        &[
            Rule::Always(Say::Registry("pip", Flow::Fetch)),
            Rule::Always(Say::Project),
            Rule::WriteFlag("-d --dest -w --wheel-dir"),
        ],
    ),
    sub("cache purge,cache remove", "", &[Rule::Always(Say::Project)]),
    sub("config,config set,config unset,config edit", "", &[Rule::Always(Say::Configuration("pip settings"))]),
];

const UV: &[Sub] = &[
    quiet(
        ",tree,version,help,pip list,pip show,pip freeze,pip check,pip tree,python list,python find,python dir,tool list,tool dir,cache dir,self version,--version,export-check",
    ),
    sub(
        "run,tool run",
        "--with --with-requirements -p --python --extra --group --package --env-file --directory --project --index-url --from",
        &[Rule::Code(uv_run)],
    ),
    sub(
        "add,remove,sync,lock,export,init,build,venv,pip sync,pip compile,python pin,format,check",
        "--python -p --group --extra -r --requirements -o --output-file --index --index-url --directory --project --script --out-dir",
        &[Rule::Code(uv_install)],
    ),
    sub(
        "pip install,pip uninstall",
        "-r --requirement -c --constraint -e --editable -i --index-url --extra-index-url -p --python --target -t",
        &[Rule::Code(pip_install)],
    ),
    sub(
        "tool install,tool upgrade,tool uninstall,python install,python uninstall,self update",
        "",
        &[
            Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
            Rule::Always(Say::Registry("uv", Flow::Fetch)),
        ],
    ),
    sub("publish", "", &[Rule::Always(Say::Package("a package registry"))]),
    sub("cache clean,cache prune", "", &[Rule::Always(Say::Project)]),
];

const POETRY: &[Sub] = &[
    quiet(
        ",show,check,env info,env list,version,search,about,help,config --list,list,info,--version,status,outdated,graph,--venv,--where",
    ),
    sub(
        "run",
        "-e --env",
        &[Rule::Code(|it| {
            it.say(Say::Project);
            rest_as_command(it, "run");
        })],
    ),
    sub(
        "install,add,remove,update,lock,sync,new,init,build,export,shell,env use,env remove,env create,env,test,fmt,dep,use,fix,import,clean,fetch,task",
        "-G --group -E --extras --source --python -f --format -o --output -e --editable --env",
        &[Rule::Code(uv_install)],
    ),
    sub("publish", "-r --repository -u --username -p --password", &[Rule::Always(Say::Package("a package registry"))]),
    sub(
        "config",
        "",
        &[Rule::Code(|it| {
            if !it.has("--list") && it.operand(1).is_some() {
                it.say(Say::Configuration("package manager settings"))
            }
        })],
    ),
    sub(
        "self,self update,self add,python install,global",
        "",
        &[Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry))],
    ),
    sub("cache clear,cache", "", &[Rule::Always(Say::Project)]),
];

const CONDA: &[Sub] = &[
    quiet(",list,info,search,env list,config --show,doctor,compare,--version,help,env export,package"),
    sub(
        "install,update,upgrade,create,remove,uninstall,env create,env update",
        "-n --name -p --prefix -c --channel -f --file",
        &[
            Rule::Always(Say::Install(InstallScope::Global, InstallSource::Registry)),
            Rule::Always(Say::Registry("conda", Flow::Fetch)),
        ],
    ),
    sub("activate,deactivate", "", &[]),
    sub(
        "env remove",
        "-n --name -p --prefix",
        &[Rule::Always(Say::Destroy(crate::action::DestroyClass::Worktree, "an environment"))],
    ),
    sub(
        "run",
        "-n --name -p --prefix --cwd",
        &[Rule::Code(|it| {
            let words = it.operands(0);
            let all: Vec<Word> =
                it.simple.words.iter().skip_while(|word| Some(*word) != words.first()).cloned().collect();
            it.inner(&all);
        })],
    ),
    sub("init,config,clean", "", &[Rule::Always(Say::Configuration("conda settings"))]),
];

fn is_direct(word: &Word) -> bool {
    let lead = word.lead();
    word.why().is_some()
        || lead.contains("://")
        || lead.starts_with("git+")
        || lead.contains(" @ ")
        || lead.ends_with(".whl")
        || lead.ends_with(".tar.gz")
        || lead.ends_with(".zip")
}

fn pip_install(it: &mut Use<'_, '_, '_>) {
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

fn index(it: &mut Use<'_, '_, '_>) {
    if it.has("-i --index-url --extra-index-url -f --find-links --trusted-host --index --default-index") {
        it.say(Say::Configuration("another package index"));
    }
    it.say(Say::Registry("pip", Flow::Fetch));
}

fn uv_install(it: &mut Use<'_, '_, '_>) {
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
fn rest_as_command(it: &mut Use<'_, '_, '_>, marker: &str) {
    let mut words: Vec<Word> =
        it.simple.words.iter().skip_while(|word| word.literal() != Some(marker)).skip(1).cloned().collect();
    if let Some(first) = it.args.operands.first() {
        words = words.into_iter().skip_while(|word| word != first).collect();
    }
    it.inner(&words);
}

fn uv_run(it: &mut Use<'_, '_, '_>) {
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
fn uvx(it: &mut Use<'_, '_, '_>) {
    let Some(package) = it.value("--from --spec").or_else(|| it.operand(0)) else { return };
    it.say(Say::Project);
    let known =
        package.literal().is_some_and(|name| super::find(name.split(['@', '=']).next().unwrap_or(name)).is_some());
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

fn tool(it: &mut Use<'_, '_, '_>) {
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

fn is_loopback(word: &Word) -> bool {
    word.literal().is_some_and(|text| {
        ["127.", "localhost", "::1", "[::1]", "unix:"].iter().any(|loopback| text.starts_with(loopback))
    })
}

fn server(it: &mut Use<'_, '_, '_>) {
    let loopback = it.value("-b --bind").is_some_and(|word| is_loopback(&word));
    it.say(Say::Project);
    it.say(Say::Listen(if loopback { ListenScope::Loopback } else { ListenScope::Wide }, "http.server"));
    it.each_value("-d --directory", |it, word| it.read(word));
}

/// Web frameworks: their servers listen on loopback unless told otherwise.
fn web(it: &mut Use<'_, '_, '_>) {
    it.say(Say::Project);
    let hosts = it.values("--host -h -b --bind --ip --server.address");
    let wide = hosts.iter().any(|word| !is_loopback(word))
        && matches!(
            it.name,
            "uvicorn"
                | "gunicorn"
                | "hypercorn"
                | "daphne"
                | "flask"
                | "streamlit"
                | "jupyter"
                | "jupyter-lab"
                | "jupyter-notebook"
                | "rails"
                | "fastapi"
                | "puma"
                | "rackup"
                | "hugo"
                | "jekyll"
                | "tensorboard"
                | "mlflow"
        );
    if wide {
        return it.say(Say::Listen(ListenScope::Wide, "a web server"));
    }
    match (it.name, it.literal(0)) {
        ("rails" | "artisan" | "django-admin" | "mix", Some(verb))
            if [
                "db:drop",
                "db:reset",
                "db:schema:load",
                "db:purge",
                "migrate:fresh",
                "migrate:reset",
                "db:wipe",
                "flush",
                "ecto.drop",
                "ecto.reset",
                "reset_db",
                "sqlflush",
            ]
            .contains(&verb) =>
        {
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
