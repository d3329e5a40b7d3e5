//! The first process of the box, which reaps, and the command, which is its child.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, Result as Io};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, fsconfig_create, fsmount, fsopen, move_mount,
};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Resource, Rlimit, WaitOptions, chdir, getpid, getrlimit, pidfd_open,
    set_dumpable_behavior, setrlimit, setsid, wait,
};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_capabilities_secure_bits,
};

use super::failure::{Failure, Step as _};
use super::kernel::{Depth, Fork, close_on_exec_from_three, fork, set_mount};
use super::spec::Limits;
use super::wall::Wall;
use super::wire::{Profile, Report, Work};

/// Numbers that the kernel does not give out again once they have been used; the maximum must lie above.
const RESERVED_PIDS: u64 = 301;

/// The most that the kernel takes.
const PID_MAX_LIMIT: u64 = 1 << 22;

/// Runs as process 1 of the box until the command ends; the kernel then kills what the command left behind.
pub(super) fn run(
    socket: &OwnedFd,
    profile: &Profile,
    helper: &OwnedFd,
    unpinned: Vec<usize>,
) -> Result<ExitCode, Failure> {
    parent_is_alive(helper).wall(Wall::Lifetime, || "find the helper alive".to_owned())?;
    mount_proc(&profile.limits)?;
    drop_capabilities().wall(Wall::Capabilities, || "drop capabilities".to_owned())?;
    // The first process has the guard's program in memory; the command must not look into it or open its file.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .wall(Wall::Processes, || "protect the first process".to_owned())?;
    announce(socket, unpinned).wall(Wall::Lifetime, || "hand over the first process".to_owned())?;
    match fork().wall(Wall::Processes, || "fork the command".to_owned())? {
        Fork::Child => command(socket, profile),
        // Without a report of its end the guard calls the command lost: it ran, so this is no failed wall.
        Fork::Parent(command) => Ok(match reap_until(command).and_then(|ended| ended.send(socket, &[])) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        }),
    }
}

/// Gives the guard a handle of this process, before anything of the command runs: killing it kills the tree.
fn announce(socket: &OwnedFd, unpinned: Vec<usize>) -> Io<()> {
    let own = pidfd_open(getpid(), PidfdFlags::empty())?;
    Report::Built { unpinned }.send(socket, &[own.as_fd()])
}

/// The death signal is set after the fork; a helper that died before is noticed here.
fn parent_is_alive(helper: &OwnedFd) -> Io<()> {
    let mut fds = [PollFd::new(helper, PollFlags::IN)];
    match poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
        0 => Ok(()),
        _ => Err(Errno::SRCH),
    }
}

fn mount_proc(limits: &Limits) -> Result<(), Failure> {
    let proc = new_proc().wall(Wall::Processes, || "mount a fresh `/proc`".to_owned())?;
    if kernel_is_at_least(6, 14) {
        limit_processes(&proc, limits).wall(Wall::Limits, || "limit processes".to_owned())?;
    }
    // Root in the box is root of the host to sysctl files, so all of `/proc` is read-only.
    let read_only = u64::from(MountAttrFlags::MOUNT_ATTR_RDONLY.bits());
    set_mount(proc.as_fd(), Depth::This, read_only, 0)
        .and_then(|()| openat(CWD, "/proc", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()))
        .and_then(|place| {
            let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
            move_mount(&proc, "", &place, "", flags)
        })
        .wall(Wall::Processes, || "attach `/proc`".to_owned())
}

fn new_proc() -> Io<OwnedFd> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    let attributes =
        MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}

/// Since Linux 6.14 each pid namespace has its own maximum, which binds root too. Before, this file was the host's.
fn limit_processes(proc: &OwnedFd, limits: &Limits) -> std::io::Result<()> {
    let file = openat(proc, "sys/kernel/pid_max", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    File::from(file).write_all(limits.processes.saturating_add(RESERVED_PIDS).min(PID_MAX_LIMIT).to_string().as_bytes())
}

/// Compares the running kernel's version; an unreadable version counts as old.
fn kernel_is_at_least(major: u32, minor: u32) -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|part| part.parse::<u32>().ok());
    match (numbers.next(), numbers.next()) {
        (Some(a), Some(b)) => (a, b) >= (major, minor),
        _ => false,
    }
}

fn drop_capabilities() -> Io<()> {
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits)?;
    clear_ambient_capability_set()?;
    for number in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << number)) {
            Ok(()) => {}
            // Past the last capability of this kernel.
            Err(Errno::INVAL) => break,
            Err(cause) => return Err(cause),
        }
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
}

/// Reaps orphans until the command ends.
fn reap_until(command: Pid) -> Io<Report> {
    loop {
        let (pid, status) = match wait(WaitOptions::empty()) {
            Ok(Some(ended)) => ended,
            Ok(None) | Err(Errno::INTR) => continue,
            Err(cause) => return Err(cause),
        };
        if pid != command {
            continue;
        }
        if let Some(code) = status.exit_status() {
            return Ok(Report::Code(code));
        }
        if let Some(signal) = status.terminating_signal() {
            return Ok(Report::Signal(signal));
        }
    }
}

/// Becomes the command.
fn command(socket: &OwnedFd, profile: &Profile) -> Result<ExitCode, Failure> {
    setsid().wall(Wall::Terminal, || "start the command's session".to_owned())?;
    set_limits(&profile.limits).wall(Wall::Limits, || "set limits".to_owned())?;
    chdir(profile.cwd.as_os_str()).wall(Wall::WritableRoots, || format!("enter `{}`", profile.cwd.display()))?;
    close_on_exec_from_three().wall(Wall::Descriptors, || "close descriptors".to_owned())?;
    match &profile.work {
        Work::Exec(argv) => Ok(exec(socket, profile, argv)),
        Work::Probe(attempts) => attempts.make().wall(Wall::Descriptors, || "report the probe".to_owned()),
    }
}

fn exec(socket: &OwnedFd, profile: &Profile, argv: &[std::ffi::OsString]) -> ExitCode {
    let Some((program, arguments)) = argv.split_first() else { return ExitCode::FAILURE };
    let mut command = Command::new(program);
    command.args(arguments).env_clear().envs(profile.env.iter().cloned()).env("TMPDIR", "/tmp");
    let errno = Errno::from_io_error(&command.exec()).unwrap_or(Errno::INVAL).raw_os_error();
    match (Report::Exec { errno }).send(socket, &[]) {
        Ok(()) => ExitCode::from(127),
        Err(_) => ExitCode::FAILURE,
    }
}

fn set_limits(limits: &Limits) -> Io<()> {
    limit(Resource::Core, Some(0))?;
    limit(Resource::Nofile, Some(limits.open_files))?;
    limit(Resource::Fsize, limits.file_bytes)?;
    limit(Resource::As, limits.address_space_bytes)?;
    // Counted per user namespace since Linux 5.14; before, it would count the user's processes on the whole host.
    match kernel_is_at_least(5, 14) {
        true => limit(Resource::Nproc, Some(limits.processes)),
        false => Ok(()),
    }
}

/// Lowers a limit, never above the hard limit that is in force.
fn limit(resource: Resource, value: Option<u64>) -> Io<()> {
    let Some(value) = value else { return Ok(()) };
    let value = getrlimit(resource).maximum.map_or(value, |hard| hard.min(value));
    setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) })
}
