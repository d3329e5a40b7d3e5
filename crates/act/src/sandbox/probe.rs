//! Proves the walls: a real child in a real box tries to get through each of them.

use std::fs::{self, DirBuilder};
use std::io::Read as _;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tollgate_call::facts::Confinement;

use super::attempts::{Attempts, Observation};
use super::error::BoxError;
use super::halt::HaltSignal;
use super::run::{Exit, Helper, run_work};
use super::spec::{BoxSpec, Limits, Network};
use super::wall::Wall;
use super::wire::Work;

/// Says whether a wall stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The attempt failed against it.
    Up,
    /// The attempt got through, or could not be made.
    Down {
        /// What happened.
        why: String,
        /// What the operator can do.
        remedy: &'static str,
    },
}

/// Walls that the design names and this build does not have yet.
const NOT_BUILT: [&str; 8] = [
    "seccomp",
    "landlock",
    "cgroup-limits",
    "egress-proxy",
    "overlay-undo",
    "placeholder-secrets",
    "pinned-absent-names",
    "keyrings",
];

/// The walls that the probe tries. `Lifetime` is not among them: showing it would take killing the guard.
const CLAIMED: [Wall; 18] = [
    Wall::UserNamespace,
    Wall::NestedNamespaces,
    Wall::ReadOnlyRoot,
    Wall::WritableRoots,
    Wall::PrivateTmp,
    Wall::PrivateRun,
    Wall::Devices,
    Wall::Processes,
    Wall::Hidden,
    Wall::Pinned,
    Wall::Network,
    Wall::Ipc,
    Wall::Environment,
    Wall::Descriptors,
    Wall::Capabilities,
    Wall::NoNewPrivileges,
    Wall::Terminal,
    Wall::Limits,
];

/// Holds the state of every wall that this build claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walls {
    built: bool,
    states: Vec<(Wall, State)>,
}

impl Walls {
    /// Returns each claimed wall with its state, in a fixed order.
    #[must_use]
    pub fn states(&self) -> &[(Wall, State)] {
        &self.states
    }

    /// Says whether every wall that this build claims stands; what `--require-sandbox` asks.
    #[must_use]
    pub fn claimed_all_up(&self) -> bool {
        self.states.iter().all(|(_, state)| *state == State::Up)
    }

    /// Returns the walls of the design that this build does not have yet.
    #[must_use]
    pub fn not_built() -> &'static [&'static str] {
        &NOT_BUILT
    }

    /// Returns the overall answer: what is down, and what is not built yet.
    ///
    /// [`Confinement::Outside`] means that no box can be built here: [`super::run`] will refuse.
    #[must_use]
    pub fn confinement(&self) -> Confinement {
        if !self.built {
            return Confinement::Outside;
        }
        let down = self.states.iter().filter(|(_, state)| *state != State::Up).map(|(wall, _)| wall.name());
        let missing: Vec<String> = down.chain(NOT_BUILT).map(str::to_owned).collect();
        if missing.is_empty() { Confinement::Enforced } else { Confinement::Partial(missing) }
    }

    /// Where one wall cannot be built, nothing can be tried: all others are down with it.
    fn all_down(unbuilt: &Unbuilt) -> Self {
        let down = |wall: Wall| {
            let remedy = unbuilt.wall.unwrap_or(wall).remedy();
            let why = match unbuilt.wall {
                Some(failed) if failed != wall => format!("not tried: {}", unbuilt.why),
                Some(_) | None => unbuilt.why.clone(),
            };
            (wall, State::Down { why, remedy })
        };
        Self { built: false, states: CLAIMED.into_iter().map(down).collect() }
    }

    fn from_observations(seen: &[Observation]) -> Self {
        let state = |wall: Wall| {
            let mut tried = seen.iter().filter(|observation| observation.wall == wall).peekable();
            let why = match tried.peek() {
                None => Some("no attempt was reported".to_owned()),
                Some(_) => tried.find_map(|observation| observation.breach.clone()),
            };
            (wall, why.map_or(State::Up, |why| State::Down { why, remedy: wall.remedy() }))
        };
        Self { built: true, states: CLAIMED.into_iter().map(state).collect() }
    }
}

/// Tries every claimed wall from inside a real box.
///
/// `scratch` is an existing directory of the caller's own, best outside `/tmp`; the probe works in a new directory
/// below it and removes that again. The answer holds for this process, kernel and user, and may be kept for a run.
///
/// # Security
/// Shows that the walls stand now, against these attempts; it is no proof against all.
#[must_use]
pub fn probe(helper: &Helper, scratch: &Path) -> Walls {
    match try_walls(helper, scratch) {
        Ok(seen) => Walls::from_observations(&seen),
        Err(unbuilt) => Walls::all_down(&unbuilt),
    }
}

/// Why no attempt could be made.
struct Unbuilt {
    wall: Option<Wall>,
    why: String,
}

impl From<BoxError> for Unbuilt {
    fn from(error: BoxError) -> Self {
        match error {
            BoxError::Wall { wall, step, cause } => {
                Self { wall: Some(wall), why: format!("the wall `{wall}` cannot be built ({step}: {cause})") }
            }
            other @ (BoxError::Spec(_)
            | BoxError::Exec { .. }
            | BoxError::Helper { .. }
            | BoxError::Halted
            | BoxError::Stuck { .. }) => Self { wall: None, why: other.to_string() },
        }
    }
}

impl From<std::io::Error> for Unbuilt {
    fn from(cause: std::io::Error) -> Self {
        Self { wall: None, why: format!("the probe could not be set up: {cause}") }
    }
}

fn try_walls(helper: &Helper, scratch: &Path) -> Result<Vec<Observation>, Unbuilt> {
    let range = Range::lay_out(scratch)?;
    // Inheritable on purpose: the box must not hand it on.
    let _inheritable = rustix::io::dup(rustix::stdio::stdin()).map_err(std::io::Error::from)?;
    let halt = HaltSignal::new()?;
    let output = run_work(helper, &range.spec(), Work::Probe(range.attempts()?), &halt)?;
    let answer = serde_json::from_slice(&output.stdout.head);
    match (output.status, answer) {
        (Exit::Code(0), Ok(seen)) => Ok(seen),
        (status, _) => {
            Err(Unbuilt { wall: None, why: format!("the probe did not finish: {status:?} {}", output.stderr.text()) })
        }
    }
}

/// The targets of the attempts, each of which is reachable from outside.
struct Range {
    base: PathBuf,
    marker: PathBuf,
    listener: TcpListener,
}

impl Range {
    fn lay_out(scratch: &Path) -> std::io::Result<Self> {
        let name = format!("tollgate-probe-{}-{:?}", std::process::id(), std::thread::current().id());
        let base = scratch.canonicalize()?.join(&name);
        let marker = Path::new("/tmp").join(&name);
        private_directory(&base)?;
        let range = Self { base, marker, listener: TcpListener::bind((Ipv4Addr::LOCALHOST, 0))? };
        private_directory(&range.marker)?;
        fs::create_dir_all(range.base.join("work/.git"))?;
        fs::create_dir(range.base.join("outside"))?;
        fs::write(range.base.join("work/.git/config"), "pinned")?;
        fs::write(range.base.join("secret"), "secret")?;
        range.reachable_from_outside()?;
        Ok(range)
    }

    /// The control: an attempt that fails everywhere proves nothing.
    fn reachable_from_outside(&self) -> std::io::Result<()> {
        fs::read(self.base.join("secret"))?;
        fs::write(self.base.join("outside/control"), "x")?;
        let mut through = TcpStream::connect(self.listener.local_addr()?)?;
        let (accepted, _) = self.listener.accept()?;
        drop(accepted);
        through.read_to_end(&mut Vec::new()).map(drop)
    }

    fn attempts(&self) -> std::io::Result<Attempts> {
        let at = |name: &str| self.base.join(name).into_os_string();
        let namespace = |wall, name: &str| {
            let own = fs::read_link(Path::new("/proc/self/ns").join(name))?;
            Ok::<_, std::io::Error>((wall, name.to_owned(), own.into_os_string()))
        };
        Ok(Attempts {
            secret: at("secret"),
            outside: at("outside"),
            work: at("work"),
            pinned: at("work/.git/config"),
            pinned_parent: at("work/.git"),
            marker_in_tmp: self.marker.clone().into_os_string(),
            port: self.listener.local_addr()?.port(),
            namespaces: vec![
                namespace(Wall::UserNamespace, "user")?,
                namespace(Wall::Ipc, "ipc")?,
                namespace(Wall::Network, "net")?,
                namespace(Wall::Processes, "pid")?,
                namespace(Wall::ReadOnlyRoot, "mnt")?,
            ],
            guard_pid: rustix::process::getpid().as_raw_nonzero().get(),
            open_files: Limits::default().open_files,
        })
    }

    fn spec(&self) -> BoxSpec {
        BoxSpec {
            argv: vec!["probe".into()],
            cwd: self.base.join("work"),
            env: Vec::new(),
            writable: vec![self.base.join("work")],
            hidden: vec![self.base.join("secret")],
            pinned: vec![self.base.join("work/.git/config")],
            timeout: Duration::from_secs(10),
            output_cap: 1 << 20,
            stdin: Vec::new(),
            limits: Limits::default(),
            network: Network::None,
        }
    }
}

fn private_directory(path: &Path) -> std::io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

impl Drop for Range {
    fn drop(&mut self) {
        for path in [&self.base, &self.marker] {
            // A left-over is harmless and bears the probe's name; a failed clean-up must not turn walls up or down.
            drop(fs::remove_dir_all(path));
        }
    }
}
