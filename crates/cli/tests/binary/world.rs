//! A home, a state directory and a workspace that only one test has, and what the binary said there.

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The operator's passphrase in every world that has an operator.
pub(crate) const PASSPHRASE: &str = "correct horse battery";

/// The user's configuration file.
pub(crate) const CONFIG: &str = "home/.config/tollgate/tollgate.toml";

/// How long a condition may take before the test gives up; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(60);

/// One installation: `ws`, `home`, `state`, and scripts beside them.
pub(crate) struct World {
    real: PathBuf,
    _dir: TempDir,
}

impl World {
    /// An empty workspace, no configuration, no operator.
    pub(crate) fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let real = dir.path().canonicalize().unwrap();
        for name in ["ws", "home", "state"] {
            std::fs::create_dir(real.join(name)).unwrap();
        }
        std::fs::set_permissions(real.join("state"), std::fs::Permissions::from_mode(0o700)).unwrap();
        Self { real, _dir: dir }
    }

    /// As [`World::new`], and the operator's secret is set.
    pub(crate) fn with_operator() -> Self {
        let world = Self::new();
        std::fs::write(world.path("passphrase"), format!("{PASSPHRASE}\n")).unwrap();
        let file = world.text("passphrase");
        assert_eq!(world.run(&["init", "--passphrase-file", &file]).exit, 0);
        world
    }

    /// A path in this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.real.join(name)
    }

    /// A path in this world, as text.
    pub(crate) fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The text of a file of the workspace.
    pub(crate) fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.path("ws").join(name)).unwrap()
    }

    /// Writes a file, and the directories that lead to it.
    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A scripted model; `steps` is what follows the name.
    pub(crate) fn script(&self, steps: &str) -> String {
        let file = self.path("script.toml");
        std::fs::write(&file, format!("name = \"test\"\n{steps}")).unwrap();
        format!("script:{}", file.display())
    }

    /// The words that pin the binary to this world.
    pub(crate) fn pins(&self) -> Vec<String> {
        let words = [("--state-dir", "state"), ("--config", CONFIG), ("--home", "home")];
        words.iter().flat_map(|(flag, name)| [(*flag).to_owned(), self.text(name)]).collect()
    }

    /// The binary, pinned to this world, in its workspace, with a bare environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tollgate"));
        command.args(self.pins()).args(args).current_dir(self.path("ws")).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("TERM", "dumb");
        command
    }

    /// Runs the binary with nothing to read.
    pub(crate) fn run(&self, args: &[&str]) -> Exchange {
        self.run_with(args, b"")
    }

    /// Runs the binary on `stdin`.
    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Exchange {
        self.talk(self.command(args), args, stdin)
    }

    /// Runs any command on `stdin`, shown as `args`.
    pub(crate) fn talk(&self, mut command: Command, args: &[&str], stdin: &[u8]) -> Exchange {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = stdin.to_vec();
        // A program that answers before it has read everything closes the pipe.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        self.exchange(args, stdin, &output)
    }

    /// Starts the binary and leaves it running, with nothing to read.
    pub(crate) fn start(&self, args: &[&str]) -> Child {
        let mut command = self.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Waits for a started binary, and says what it said.
    pub(crate) fn finish(&self, args: &[&str], child: Child) -> Exchange {
        self.exchange(args, b"", &child.wait_with_output().unwrap())
    }

    fn exchange(&self, args: &[&str], stdin: &[u8], output: &Output) -> Exchange {
        let exchange = Exchange {
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            stdin: String::from_utf8_lossy(stdin).into_owned(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            exit: output.status.code().unwrap_or(-1),
            place: self.real.display().to_string(),
        };
        assert!(!exchange.stderr.contains("panicked"), "the binary panicked:\n{exchange}");
        exchange
    }

    /// The audit log's records of one event, oldest first.
    pub(crate) fn records(&self, event: &str) -> Vec<Value> {
        let shown = self.run(&["--json", "log", "show", "--event", event, "--last", "100000"]);
        assert_eq!(shown.exit, 0, "{shown}");
        shown.json_lines()
    }

    /// Asserts that the audit log verifies.
    pub(crate) fn log_is_sound(&self) {
        let verified = self.run(&["--json", "log", "verify"]);
        assert_eq!((verified.exit, &verified.json_lines()[0]["sound"]), (0, &Value::Bool(true)), "{verified}");
    }
}

/// What went in and came out of one start of the binary.
#[derive(Debug)]
pub(crate) struct Exchange {
    args: Vec<String>,
    stdin: String,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) exit: i32,
    place: String,
}

impl Exchange {
    /// Every line of stdout as JSON.
    pub(crate) fn json_lines(&self) -> Vec<Value> {
        let parse = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self}"));
        self.stdout.lines().map(parse).collect()
    }

    /// The only line of stdout as JSON.
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.json_lines();
        assert_eq!(lines.len(), 1, "{self}");
        lines.remove(0)
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| text.replace(&self.place, "<world>");
        writeln!(out, "$ tollgate {}", shown(&self.args.join(" ")))?;
        for (name, text) in [("stdin", &self.stdin), ("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(out, "--- {name}\n{}", shown(text).trim_end_matches('\n'))?;
            }
        }
        writeln!(out, "--- exit {}", self.exit)
    }
}

/// Compares exchanges with the stored snapshot; ids, times, hashes and counts that differ each time are masked.
pub(crate) fn snapshot(name: &str, exchanges: &[&Exchange]) {
    let text: Vec<String> = exchanges.iter().map(ToString::to_string).collect();
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, mask) in MASKS {
        settings.add_filter(pattern, *mask);
    }
    settings.bind(|| insta::assert_snapshot!(name, text.join("\n")));
}

const MASKS: &[(&str, &str)] = &[
    (r"run-\d{13}-[0-9a-f]{10}", "<run>"),
    (r"\b[0-9a-f]{64}\b", "<sha256>"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "<time>"),
    (r#""(ts|at_ms|expires)":\d+"#, "\"$1\":<time>"),
    (r"tokens \d+", "tokens <n>"),
    (r#""(tokens|expected_tokens)":\d+"#, "\"$1\":<n>"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
];

/// Waits until `holds` does.
pub(crate) fn wait_until(what: &str, holds: impl FnMut() -> bool) {
    wait(what, PATIENCE, Duration::from_millis(2), holds);
}

/// The same for what takes minutes and is costly to look at.
pub(crate) fn wait_long_until(what: &str, holds: impl FnMut() -> bool) {
    wait(what, PATIENCE * 10, Duration::from_millis(200), holds);
}

fn wait(what: &str, patience: Duration, between: Duration, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < patience, "gave up waiting until {what}");
        std::thread::park_timeout(between);
    }
}
