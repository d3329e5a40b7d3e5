//! Tools that are pointed at a place or file and run what lies there: build directories, build files,
//! plug-ins, filters.

use super::super::ir::{Simple, Word};
use super::row::{Say, among};
use super::run::Use;
use crate::action::{ActionKind, Execute, Program, Standing, Target};
use crate::places::{clean, is_beneath};

/// Flags of some programs, separated by blanks.
struct Flags {
    programs: &'static str,
    flags: &'static str,
}

/// The value is a directory or file whose code runs. The project's own is its own; another is a file run as code.
const BUILD: &[Flags] = &[
    Flags {
        programs: "make gmake bmake nmake mingw32-make",
        flags: "-f --file --makefile -C --directory -I --include-dir",
    },
    Flags { programs: "cargo cross", flags: "--manifest-path -C --config" },
    Flags { programs: "npm pnpm yarn cnpm bun deno npx", flags: "--prefix -C --dir --cwd --config -c" },
    Flags { programs: "gradle gradlew", flags: "-p --project-dir -b --build-file -c --settings-file -I --init-script" },
    Flags { programs: "mvn mvnw mvnd", flags: "-f --file -s --settings" },
    Flags { programs: "just task", flags: "-f --justfile -d --working-directory --dir -t --taskfile" },
    Flags { programs: "rake thor ant scons", flags: "-f --rakefile --buildfile -C --directory -R --rakelibdir" },
    Flags { programs: "ninja samu meson bazel bazelisk muon", flags: "-C -f" },
    Flags { programs: "cmake ctest cpack", flags: "-S -P -C --build --install --test-dir --build-config" },
    Flags { programs: "dotnet msbuild", flags: "-p --project" },
    Flags { programs: "swift xcodebuild", flags: "--package-path -project -workspace" },
    Flags { programs: "go", flags: "-C -overlay -modfile" },
    Flags { programs: "pytest py.test tox nox", flags: "-c --rootdir --confcutdir --config-file -f --noxfile" },
    Flags {
        programs: "eslint prettier jest vitest mocha webpack vite rollup babel stylelint commitlint karma",
        flags: "-c --config --root --rootDir --setupFiles",
    },
    Flags { programs: "mypy flake8 pylint", flags: "--config --config-file --rcfile" },
    Flags { programs: "terraform tofu", flags: "-chdir" },
    Flags { programs: "composer bundle bundler", flags: "-d --working-dir --gemfile" },
];

/// The value is code that is loaded or run, wherever it lies.
const LOADS: &[Flags] = &[
    Flags { programs: "pandoc", flags: "--filter -F --lua-filter -L" },
    Flags {
        programs: "prettier eslint babel rollup",
        flags: "--plugin --resolve-plugins-relative-to --rulesdir -f --format",
    },
    Flags { programs: "mocha jest vitest ava tap", flags: "-r --require --setupFiles --globalSetup --reporter" },
    Flags { programs: "pylint mypy flake8 ruff", flags: "--load-plugins --init-hook" },
];

/// The value is a command or code that is not read.
const HIDES: &[Flags] = &[
    Flags { programs: "npm pnpm yarn cnpm npx bun", flags: "--script-shell --node-options --shell" },
    Flags { programs: "clang clang++ clang-cl gcc g++ cc c++", flags: "-load -fpass-plugin -fplugin -Wl,--plugin" },
    Flags { programs: "latexmk", flags: "-e -pdflatex -latex -r" },
    Flags { programs: "openssl", flags: "-engine -provider -provider-path -pre" },
    Flags { programs: "delta bat batcat git-delta man", flags: "--pager -P" },
    Flags { programs: "pandoc", flags: "--pdf-engine" },
    Flags { programs: "pytest py.test", flags: "-o --override-ini" },
    Flags { programs: "pylint", flags: "--init-hook" },
];

/// The operands are directories or files whose code runs.
const RUNS_OPERANDS: &str = "pytest py.test mocha meson bats";

/// Notes what the flags of an invocation make it run.
pub(super) fn note(it: &mut Use<'_, '_, '_>) {
    let mut places = given(it.name, it.simple, BUILD);
    if among(RUNS_OPERANDS, it.name) {
        places.extend(it.operands(0).into_iter().filter(|word| word.lead().starts_with(['/', '.'])));
    }
    let entered = it.values("-C --directory");
    for value in places {
        // `make -C dir` is in `dir` by now; the name itself was meant from where it came.
        let from = if entered.contains(&value) { it.before() } else { it.reader.scope.cwd.as_deref() };
        if let Target::Path(path) = value.target(from)
            && !is_beneath(&clean(&path.abs), it.reader.setting.cwd)
            && !path.abs.starts_with("/dev/")
        {
            execute(it, Target::Path(path), &value);
        }
    }
    for value in given(it.name, it.simple, LOADS) {
        if value.lead().contains('/') || value.why().is_some() {
            let target = it.target(&value);
            execute(it, target, &value);
        }
    }
    if !given(it.name, it.simple, HIDES).is_empty() {
        it.say(Say::Hidden("code that a flag names"));
    }
}

fn execute(it: &mut Use<'_, '_, '_>, target: Target, word: &Word) {
    let program = Program::Name(it.name.to_owned());
    let kind = match target {
        Target::Path(path) | Target::Glob(path) | Target::Beneath(path) => {
            ActionKind::Execute(Execute { program, standing: Standing::File(path) })
        }
        Target::Opaque(why) => ActionKind::Opaque(why),
    };
    it.act_at(kind, word);
}

/// The values of a program's flags in `table`, whatever its row says of them.
fn given(name: &str, simple: &Simple, table: &[Flags]) -> Vec<Word> {
    let mut values = Vec::new();
    for flags in table.iter().filter(|flags| among(flags.programs, name)) {
        for (at, word) in simple.words.iter().enumerate().skip(1) {
            values.extend(flags.flags.split_ascii_whitespace().filter_map(|flag| match value(word, flag)? {
                Value::Attached(value) => Some(value),
                Value::Next => simple.words.get(at + 1).cloned(),
            }));
        }
    }
    values
}

/// Where a flag's value stands.
enum Value {
    Attached(Word),
    Next,
}

fn value(word: &Word, flag: &str) -> Option<Value> {
    if word.literal() == Some(flag) {
        return Some(Value::Next);
    }
    let rest = word.lead().strip_prefix(flag)?;
    if rest.starts_with('=') {
        return Some(Value::Attached(word.without_lead(flag.len() + 1)));
    }
    // `-C/tmp/x`, where the letter cannot begin a longer flag.
    (flag.len() == 2 && rest.starts_with(['/', '~', '.'])).then(|| Value::Attached(word.without_lead(flag.len())))
}
