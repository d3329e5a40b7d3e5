//! The helper: `tollgate __box`. Builds the walls around itself, then starts the first process inside them.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getegid, geteuid, getpid, getppid, pidfd_open,
    set_parent_process_death_signal, setsid, waitpid,
};
use rustix::stdio::{dup2_stdin, stdin};
use rustix::thread::set_no_new_privs;

use super::failure::{Failure, Step as _};
use super::kernel::{Fork, default_signals, enter_namespaces, fork, raise_loopback};
use super::wall::Wall;
use super::wire::{Profile, Report, read_profile, receive};
use super::{init, mounts};

/// What the helper answers where it has no guard to tell.
const FAILED: u8 = 125;

/// Runs the box helper; what `tollgate __box` does.
///
/// Must be called before the process starts a thread or opens anything. Standard input is the guard's socket; called
/// by hand, it does nothing and fails.
///
/// # Security
/// The helper trusts whoever started it: it only ever gives rights up.
#[must_use]
pub fn box_main() -> ExitCode {
    let Ok(socket) = rustix::io::fcntl_dupfd_cloexec(stdin(), 3) else { return FAILED.into() };
    enter(&socket).unwrap_or_else(|failure| {
        // A guard that is gone cannot be told; then the exit code is all there is.
        let told = Report::from(failure).send(&socket, &[]);
        ExitCode::from(if told.is_ok() { FAILED } else { FAILED + 1 })
    })
}

fn enter(socket: &OwnedFd) -> Result<ExitCode, Failure> {
    die_with_parent()?;
    default_signals();
    setsid().wall(Wall::Terminal, || "start a session".to_owned())?;
    let profile = take_profile(socket).wall(Wall::Descriptors, || "take the profile".to_owned())?;
    if Pid::as_raw(getppid()) != profile.guard_pid {
        return Err(Errno::SRCH).wall(Wall::Lifetime, || "find the guard alive".to_owned());
    }
    set_no_new_privs(true).wall(Wall::NoNewPrivileges, || "set no_new_privs".to_owned())?;
    namespaces()?;
    let unpinned = mounts::build(&profile)?;
    start(socket, &profile, unpinned)
}

fn die_with_parent() -> Result<(), Failure> {
    set_parent_process_death_signal(Some(Signal::KILL)).wall(Wall::Lifetime, || "tie to the parent".to_owned())
}

/// Reads the profile and puts the command's standard input in place.
fn take_profile(socket: &OwnedFd) -> std::io::Result<Profile> {
    let (_, mut fds) = receive(socket.as_fd())?;
    let (Some(input), Some(profile)) = (fds.pop(), fds.pop()) else { return Err(Errno::PROTO.into()) };
    dup2_stdin(&input)?;
    read_profile(profile)
}

fn namespaces() -> Result<(), Failure> {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    enter_namespaces().wall(Wall::UserNamespace, || "unshare".to_owned())?;
    for (file, content) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{user} {user} 1")),
        ("gid_map", format!("{group} {group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), content).wall(Wall::UserNamespace, || format!("write {file}"))?;
    }
    fs::write("/proc/sys/user/max_user_namespaces", "0")
        .wall(Wall::NestedNamespaces, || "set max_user_namespaces".to_owned())?;
    loopback().wall(Wall::Network, || "bring up the box's own loopback".to_owned())
}

fn loopback() -> rustix::io::Result<()> {
    let socket = socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    raise_loopback(socket.as_fd())
}

/// Starts the first process of the box and waits until the last one is gone.
fn start(socket: &OwnedFd, profile: &Profile, unpinned: Vec<usize>) -> Result<ExitCode, Failure> {
    let helper = pidfd_open(getpid(), PidfdFlags::empty()).wall(Wall::Lifetime, || "open own handle".to_owned())?;
    match fork().wall(Wall::Processes, || "fork".to_owned())? {
        Fork::Child => {
            die_with_parent()?;
            init::run(socket, profile, &helper, unpinned)
        }
        // The kernel reports the first process of a pid namespace only after all others are gone. A failure here is no
        // failed wall: the command may run already, and dies with this process.
        Fork::Parent(first) => Ok(match waitpid(Some(first), WaitOptions::empty()) {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(FAILED),
        }),
    }
}
