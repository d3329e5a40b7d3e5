//! The guard's side: starts the helper, captures, times, halts.

use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Signal, geteuid, pidfd_send_signal};

use super::capture::{Capture, Captured};
use super::error::BoxError;
use super::halt::HaltSignal;
use super::spec::{BoxSpec, passwd_home};
use super::wire::{Profile, Report, VERSION, Work, receive, sealed, send};

/// How long a killed tree may take to die before the guard says so.
const STUCK_AFTER: Duration = Duration::from_secs(10);

/// A wall clock beyond this is this.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 3600);

const NOW: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Names the program that builds boxes.
#[derive(Debug, Clone)]
pub struct Helper {
    program: PathBuf,
}

impl Helper {
    /// Uses the running program, whose `main` must hand `__box` to [`super::box_main`] before anything else.
    #[must_use]
    pub fn this_program() -> Self {
        Self::at("/proc/self/exe")
    }

    /// Uses the program at `path`, called as `path __box`.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { program: path.into() }
    }

    fn start(&self, socket: OwnedFd) -> Result<Child, BoxError> {
        Command::new(&self.program)
            .arg("__box")
            .env_clear()
            .stdin(Stdio::from(socket))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|cause| BoxError::helper("start it", cause))
    }
}

/// Says how a boxed command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It ended with this code.
    Code(i32),
    /// It died of this signal, from inside the box.
    Signal(i32),
    /// It ran into the wall clock; the whole tree is dead.
    TimedOut,
    /// The halt was raised; the whole tree is dead.
    Halted,
    /// The box was killed from outside, for instance for lack of memory; the whole tree is dead.
    Lost,
}

/// Holds what a boxed command did.
#[derive(Debug, Clone)]
pub struct BoxOutput {
    /// How it ended.
    pub status: Exit,
    /// Standard output.
    pub stdout: Captured,
    /// Standard error.
    pub stderr: Captured,
    /// From before the helper started to after the last process died.
    pub wall: Duration,
    /// Names asked to be pinned that were absent, or reached through a symlink, when the box was built: the command
    /// could create or replace them.
    pub unpinned: Vec<PathBuf>,
    /// Those of [`Self::unpinned`] that were absent before and exist now: the caller undoes or reports them.
    pub appeared: Vec<PathBuf>,
}

/// Runs one command in a box and waits until its whole tree is dead.
///
/// What the command left running is killed when the command itself ends.
///
/// # Errors
/// [`BoxError`] says for each variant whether something of the command ran; nothing of it runs on.
/// # Security
/// See the module's list of what a box does not stop. Blocks the calling thread, which must live until the end: the
/// kernel ties the box to it.
pub fn run(helper: &Helper, spec: &BoxSpec, halt: &HaltSignal) -> Result<BoxOutput, BoxError> {
    spec.check(passwd_home(geteuid().as_raw()).as_deref())?;
    run_work(helper, spec, Work::Exec(spec.argv.clone()), halt)
}

/// Runs `work` in the box that `spec` describes.
pub(super) fn run_work(helper: &Helper, spec: &BoxSpec, work: Work, halt: &HaltSignal) -> Result<BoxOutput, BoxError> {
    if halt.is_raised() {
        return Err(BoxError::Halted);
    }
    let began = Instant::now();
    let absent: Vec<bool> = spec.pinned.iter().map(|path| !exists(path)).collect();
    let (socket, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(|cause| BoxError::helper("open a socket", cause))?;
    hand_over(&socket, spec, work)?;
    let child = helper.start(theirs)?;
    let mut watch = Watch::new(child, socket, spec.output_cap)?;
    let deadline = began.checked_add(spec.timeout.min(LONGEST)).unwrap_or(began);
    let watched = watch.until_dead(deadline, halt);
    watch.reap(watched)?;
    watch.conclude(spec, &absent, began)
}

fn exists(path: &Path) -> bool {
    // A name that cannot be looked at may exist.
    !path.symlink_metadata().is_err_and(|cause| cause.kind() == std::io::ErrorKind::NotFound)
}

fn hand_over(socket: &OwnedFd, spec: &BoxSpec, work: Work) -> Result<(), BoxError> {
    let failed = |cause: std::io::Error| BoxError::helper("hand over the profile", cause);
    let json = serde_json::to_vec(&profile(spec, work)).map_err(|cause| failed(cause.into()))?;
    let profile = sealed("tollgate-profile", &json).map_err(failed)?;
    let input = input(&spec.stdin).map_err(failed)?;
    send(socket.as_fd(), b"profile", &[profile.as_fd(), input.as_fd()]).map_err(|cause| failed(cause.into()))
}

fn input(bytes: &[u8]) -> std::io::Result<OwnedFd> {
    match bytes.is_empty() {
        true => Ok(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?),
        false => sealed("tollgate-stdin", bytes),
    }
}

fn profile(spec: &BoxSpec, work: Work) -> Profile {
    let names = |paths: &[PathBuf]| paths.iter().map(|path| path.clone().into_os_string()).collect();
    Profile {
        version: VERSION,
        guard_pid: rustix::process::getpid().as_raw_nonzero().get(),
        work,
        cwd: spec.cwd.clone().into_os_string(),
        env: spec.env.clone(),
        writable: names(&spec.writable),
        hidden: names(&spec.hidden),
        pinned: names(&spec.pinned),
        limits: spec.limits,
        network: spec.network,
    }
}

/// Why the guard killed the tree.
#[derive(Debug, Clone, Copy)]
struct Killed {
    status: Exit,
    at: Instant,
}

/// Everything the guard holds of one running box.
#[derive(Debug)]
struct Watch {
    child: Child,
    socket: OwnedFd,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    captures: (Capture, Capture),
    first: Option<OwnedFd>,
    reports: Vec<Report>,
    killed: Option<Killed>,
}

impl Watch {
    fn new(mut child: Child, socket: OwnedFd, cap: usize) -> Result<Self, BoxError> {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let watch = Self {
            child,
            socket,
            stdout,
            stderr,
            captures: (Capture::new(cap), Capture::new(cap)),
            first: None,
            reports: Vec::new(),
            killed: None,
        };
        watch.make_pipes_nonblocking().map_err(|cause| BoxError::helper("set up the pipes", cause))?;
        Ok(watch)
    }

    fn make_pipes_nonblocking(&self) -> rustix::io::Result<()> {
        self.stdout.iter().try_for_each(|pipe| rustix::io::ioctl_fionbio(pipe, true))?;
        self.stderr.iter().try_for_each(|pipe| rustix::io::ioctl_fionbio(pipe, true))
    }

    /// Pumps output and reports until the helper is gone, which is after the last process of the box.
    fn until_dead(&mut self, deadline: Instant, halt: &HaltSignal) -> Result<(), BoxError> {
        let failed = |cause| BoxError::helper("watch it", cause);
        loop {
            let ready = self.wait_ready(deadline, halt).map_err(failed)?;
            self.drain().map_err(failed)?;
            if ready.socket && !self.take_report().map_err(failed)? {
                return self.drain().map_err(failed);
            }
            self.judge_time(deadline, ready.halt)?;
        }
    }

    fn wait_ready(&self, deadline: Instant, halt: &HaltSignal) -> std::io::Result<Ready> {
        let until = self.killed.map_or(deadline, |killed| killed.at + STUCK_AFTER);
        let timeout = Timespec::try_from(until.saturating_duration_since(Instant::now()))
            .unwrap_or(Timespec { tv_sec: i64::MAX, tv_nsec: 0 });
        let mut fds = vec![PollFd::new(&self.socket, PollFlags::IN)];
        if self.killed.is_none() {
            fds.push(PollFd::new(halt, PollFlags::IN));
        }
        fds.extend(self.stdout.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        fds.extend(self.stderr.iter().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let socket = ready.next().unwrap_or(false);
        Ok(Ready { socket, halt: self.killed.is_none() && ready.next().unwrap_or(false) })
    }

    /// Takes what the pipes hold now; a closed pipe is forgotten.
    fn drain(&mut self) -> std::io::Result<()> {
        drain_pipe(&mut self.stdout, &mut self.captures.0)?;
        drain_pipe(&mut self.stderr, &mut self.captures.1)
    }

    /// Takes one report; returns false at the end.
    fn take_report(&mut self) -> std::io::Result<bool> {
        let (bytes, mut fds) = match receive(self.socket.as_fd()) {
            Err(Errno::INTR) => return Ok(true),
            Err(Errno::CONNRESET) => return Ok(false),
            other => other?,
        };
        if bytes.is_empty() {
            return Ok(false);
        }
        self.reports.push(serde_json::from_slice(&bytes)?);
        self.first = fds.pop().or(self.first.take());
        // A kill that came before the handle did reached the helper only; this makes it whole.
        if self.killed.is_some() { self.kill_tree().map(|()| true) } else { Ok(true) }
    }

    fn judge_time(&mut self, deadline: Instant, halted: bool) -> Result<(), BoxError> {
        let now = Instant::now();
        match self.killed {
            Some(killed) if now >= killed.at + STUCK_AFTER => Err(BoxError::Stuck { secs: STUCK_AFTER.as_secs() }),
            Some(_) => Ok(()),
            None if halted => self.kill(Exit::Halted, now),
            None if now >= deadline => self.kill(Exit::TimedOut, now),
            None => Ok(()),
        }
    }

    fn kill(&mut self, status: Exit, at: Instant) -> Result<(), BoxError> {
        self.killed = Some(Killed { status, at });
        self.kill_tree().map_err(|cause| BoxError::helper("kill the tree", cause))
    }

    /// Kills process 1 of the box, and with it all others; before there is one, the helper.
    fn kill_tree(&mut self) -> std::io::Result<()> {
        let Some(first) = &self.first else { return self.child.kill() };
        match pidfd_send_signal(first, Signal::KILL) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(cause) => Err(cause.into()),
        }
    }

    /// Ends the helper and waits for the kernel's word that the first process, and so the tree, is gone.
    fn reap(&mut self, watched: Result<(), BoxError>) -> Result<(), BoxError> {
        let failed = |cause| BoxError::helper("reap it", cause);
        if watched.is_err() {
            let killed = self.kill_tree();
            self.child.kill().and(killed).map_err(failed)?;
        }
        match self.child.wait() {
            // A guard that ignores SIGCHLD has no children to wait for; the first process's handle still tells.
            Err(cause) if cause.raw_os_error() != Some(Errno::CHILD.raw_os_error()) => return Err(failed(cause)),
            Ok(_) | Err(_) => watched?,
        }
        let Some(first) = &self.first else { return Ok(()) };
        let patience = Timespec::try_from(STUCK_AFTER).unwrap_or(NOW);
        match poll(&mut [PollFd::new(first, PollFlags::IN)], Some(&patience)) {
            Ok(0) => Err(BoxError::Stuck { secs: STUCK_AFTER.as_secs() }),
            Ok(_) => Ok(()),
            Err(cause) => Err(failed(cause.into())),
        }
    }

    fn conclude(self, spec: &BoxSpec, absent: &[bool], began: Instant) -> Result<BoxOutput, BoxError> {
        if let Some(failure) = self.failure(spec) {
            return Err(failure);
        }
        let status = self.killed.map_or_else(|| self.ending(), |killed| Ok(killed.status))?;
        let unpinned = self.unpinned();
        let names = |keep: &dyn Fn(usize, &Path) -> bool| {
            let kept = spec.pinned.iter().enumerate().filter(|(at, path)| unpinned.contains(at) && keep(*at, path));
            kept.map(|(_, path)| path.clone()).collect()
        };
        Ok(BoxOutput {
            status,
            wall: began.elapsed(),
            appeared: names(&|at, path| absent.get(at) == Some(&true) && exists(path)),
            unpinned: names(&|_, _| true),
            stdout: self.captures.0.finish(),
            stderr: self.captures.1.finish(),
        })
    }

    /// The first report that says that the command never ran.
    fn failure(&self, spec: &BoxSpec) -> Option<BoxError> {
        self.reports.iter().find_map(|report| match report {
            Report::Wall { wall, step, errno } => Some(BoxError::Wall {
                wall: *wall,
                step: step.clone(),
                cause: std::io::Error::from_raw_os_error(*errno),
            }),
            Report::Exec { errno } => Some(BoxError::Exec {
                program: spec.argv.first().map(|word| word.to_string_lossy().into_owned()).unwrap_or_default(),
                cause: std::io::Error::from_raw_os_error(*errno),
            }),
            Report::Built { .. } | Report::Code(_) | Report::Signal(_) => None,
        })
    }

    fn ending(&self) -> Result<Exit, BoxError> {
        let ended = self.reports.iter().find_map(|report| match report {
            Report::Code(code) => Some(Exit::Code(*code)),
            Report::Signal(signal) => Some(Exit::Signal(*signal)),
            Report::Wall { .. } | Report::Built { .. } | Report::Exec { .. } => None,
        });
        match (ended, &self.first) {
            (Some(ended), _) => Ok(ended),
            (None, Some(_)) => Ok(Exit::Lost),
            (None, None) => Err(BoxError::protocol("it ended before the walls stood")),
        }
    }

    fn unpinned(&self) -> Vec<usize> {
        let built = self.reports.iter().find_map(|report| match report {
            Report::Built { unpinned } => Some(unpinned.clone()),
            Report::Wall { .. } | Report::Exec { .. } | Report::Code(_) | Report::Signal(_) => None,
        });
        built.unwrap_or_default()
    }
}

/// What there is to look at.
struct Ready {
    socket: bool,
    halt: bool,
}

/// Bounds one round, so that a flood of output cannot keep the guard from the halt signal.
const READS_PER_ROUND: usize = 16;

fn drain_pipe(pipe: &mut Option<impl std::io::Read>, capture: &mut Capture) -> std::io::Result<()> {
    let mut buffer = [0; 64 * 1024];
    for _ in 0..READS_PER_ROUND {
        let Some(open) = pipe else { return Ok(()) };
        match open.read(&mut buffer) {
            Ok(0) => *pipe = None,
            Ok(count) => capture.push(buffer.get(..count).unwrap_or_default()),
            Err(cause) if cause.kind() == std::io::ErrorKind::WouldBlock => return Ok(()),
            Err(cause) if cause.kind() == std::io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
    Ok(())
}
