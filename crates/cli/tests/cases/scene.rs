//! A workspace, a home and an installation of their own for the lines of one setting.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tollgate::call::facts::Confinement;
use tollgate::call::places::Layout;
use tollgate::call::run_state::RunState;
use tollgate::call::{Call, Door, Malformed, Person};
use tollgate::policy::{Findings, Ground, judge};
use tollgate::survey::Surveyor;

use crate::case::{Case, Key};
use crate::said::Said;
use crate::world;

/// What every line of one start of the binary shares: the configuration file.
pub(crate) fn setting(case: &Case) -> String {
    let list = |key| Value::from(case.all(key).collect::<Vec<_>>());
    let mut lines =
        vec![format!("allow_hosts = {}", list(Key::Host)), format!("recipients = {}", list(Key::Recipient))];
    for (name, key) in [("mode", Key::Mode), ("profile", Key::Profile)] {
        lines.extend(case.one(key).map(|word| format!("{name} = \"{word}\"")));
    }
    let tools = case.one(Key::Tools).map(|tools| Value::from(tools.split(',').collect::<Vec<_>>()));
    lines.extend(tools.map(|tools| format!("tools = {tools}")));
    lines.join("\n")
}

/// The same on the command line, as far as it has words for it.
pub(crate) fn flags(case: &Case) -> Vec<String> {
    let words =
        [("--mode", Key::Mode), ("--profile", Key::Profile), ("--allow-host", Key::Host), ("--tools", Key::Tools)];
    let given = |(flag, key): (&str, Key)| -> Vec<String> {
        case.all(key).flat_map(|value| [flag.to_owned(), value.to_owned()]).collect()
    };
    words.into_iter().flat_map(given).collect()
}

/// A place to stand.
pub(crate) struct Scene {
    dir: TempDir,
    pub(crate) home: String,
    here: String,
}

impl Scene {
    /// Makes the files and the configuration.
    pub(crate) fn of(setting: &str) -> Self {
        let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let base = dir.path().canonicalize().unwrap().to_str().unwrap().to_owned();
        let scene = Self { dir, home: format!("{base}/dev"), here: format!("{base}/dev/app") };
        furnish(Path::new(&scene.workspace()));
        let config = Path::new(&scene.home).join(".config/tollgate");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("tollgate.toml"), setting).unwrap();
        scene
    }

    /// The same place, where the binary is told of a home that is only a name.
    pub(crate) fn assuming(mut self, home: &str) -> Self {
        self.home = home.to_owned();
        self
    }

    /// The workspace.
    pub(crate) fn workspace(&self) -> String {
        format!("{}/app", self.home)
    }

    /// Writes a file beside the home; its name.
    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let file = self.dir.path().join(name);
        fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    }

    /// The case with every name of its world moved here.
    pub(crate) fn moved(&self, case: &Case) -> Case {
        let moved = |text: &str| text.replace("/home/dev", &self.home);
        let world = case.world.iter().map(|(key, value)| (*key, moved(value))).collect();
        Case { world, args: moved(&case.args), ..case.clone() }
    }

    /// The binary, pinned to this place, fed `stdin`; its lines of output.
    pub(crate) fn tell(&self, args: &[&str], stdin: &[u8]) -> Vec<String> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_tollgate"))
            .args(["--home", &self.home])
            .args(args)
            .current_dir(&self.here)
            .env_clear()
            .env("PATH", PATH)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let input = stdin.to_vec();
        // Writing beside reading: neither side waits on a full pipe.
        let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "the binary panicked: {stderr}");
        if output.stdout.is_empty() {
            println!("the binary said nothing but: {stderr}");
        }
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }

    /// What the library says of a case, looking at the very files that the door looks at: with all the time
    /// that looking takes, and with none, for a busy machine may leave a door too little.
    pub(crate) fn said(&self, case: &Case, door: Door, walls: &Confinement) -> [Said; 2] {
        let case = self.moved(case);
        [PATIENCE, Duration::ZERO].map(|look| Said::of(&self.findings(&case, door, walls.clone(), look)))
    }

    fn findings(&self, case: &Case, door: Door, walls: Confinement, look: Duration) -> Result<Findings, Malformed> {
        let workspace = self.workspace();
        let mut proposal = world::proposal(case);
        proposal.origin.door = door;
        proposal.origin.cwd = proposal.origin.cwd.replace("/home/dev", &self.home);
        let call = Call::read(&proposal, &Person { home: self.home.clone(), user: "dev".to_owned() })?;
        let layout = Layout::of(&workspace, &self.home);
        let surveyor = Surveyor::open(layout, PATH).unwrap().confinement(walls).patience(look, PATIENCE);
        let policy = world::policy_at(case, &Ground { workspace: &workspace, home: &self.home });
        Ok(judge(&policy, &call, &surveyor.survey(&call).facts, &RunState::default()))
    }
}

/// More than looking ever takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where the binary and the library look for programs.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

const FILES: &[&str] = &[
    "README.md",
    "src/main.rs",
    "docs/guide.md",
    ".env",
    ".env.dev",
    ".env.production",
    ".envrc",
    "api/.env",
    "config/.env.local",
    "certs/server.key",
    "server.key",
    "deploy/id_rsa",
    "deploy/id_ed25519",
    ".github/workflows/ci.yml",
];

/// The files that the lines name.
fn furnish(workspace: &Path) {
    for name in FILES {
        let file = workspace.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, name).unwrap();
    }
}

/// Why a line cannot stand on real files, if it cannot.
pub(crate) fn unreal(case: &Case) -> Option<&'static str> {
    if case.args.contains("~dev") {
        return Some("names the user, who is another one here");
    }
    case.world.iter().find_map(|(key, _)| match key {
        Key::Mode | Key::Profile | Key::Host | Key::Recipient | Key::Tools | Key::Door => None,
        Key::Cap | Key::Repeat | Key::Approved => Some("runs at a whole gate in the library's tests"),
        Key::Box => Some("says which walls stand"),
        Key::Taint | Key::Given => Some("needs a run that did something before"),
        Key::Cwd => Some("starts elsewhere than at the root"),
        Key::Branch
        | Key::Dir
        | Key::Dirty
        | Key::Expands
        | Key::File
        | Key::Hardlink
        | Key::Ignored
        | Key::Link
        | Key::Modified
        | Key::Remote
        | Key::Resolves
        | Key::Tracked
        | Key::Untracked => Some("says what is there, and here real files do"),
    })
}

/// Whether a line belongs to another door than `name`.
pub(crate) fn is_for_another(case: &Case, name: &str) -> bool {
    case.one(Key::Door).is_some_and(|door| door != name && door != "library")
}

/// Whether judging a line asks a resolver: a test must not depend on what a network says.
pub(crate) fn resolves(case: &Case) -> bool {
    let Ok(call) = Call::read(&world::proposal(case), &world::person()) else { return false };
    let hosts = world::facts(case, &call).hosts;
    hosts.keys().any(|host| host.parse::<std::net::IpAddr>().is_err() && host != "localhost")
}
