//! The six calls that no safe wrapper offers. All unsafe code of Tollgate is in this file.

use std::os::fd::{AsRawFd as _, BorrowedFd};

use rustix::io::{Errno, Result};
use rustix::process::Pid;

/// Says on which side of a fork the caller is.
#[derive(Debug)]
pub(super) enum Fork {
    /// In the parent, which now has this child.
    Parent(Pid),
    /// In the child.
    Child,
}

/// Forks a process that has only one thread.
///
/// # Errors
/// [`Errno::BUSY`] if the process has more than one thread: the child could then find a lock held for ever.
pub(super) fn fork() -> Result<Fork> {
    if !has_one_thread() {
        return Err(Errno::BUSY);
    }
    // SAFETY: with a single thread, no lock can be held by a thread that does not exist in the child, so the child
    // may run any code, allocation included.
    let pid = unsafe { libc::fork() };
    match pid {
        0 => Ok(Fork::Child),
        pid => Pid::from_raw(pid).filter(|_| pid > 0).map(Fork::Parent).ok_or_else(last_errno),
    }
}

fn has_one_thread() -> bool {
    // The link count of the directory is 2 plus one for each thread; one stat instead of reading a table.
    rustix::fs::stat("/proc/self/task").is_ok_and(|task| task.st_nlink == 3)
}

/// Gives every signal its default action: an ignored one would be inherited, and an ignored SIGCHLD breaks waiting.
pub(super) fn default_signals() {
    for signal in 1..=LAST_SIGNAL {
        // SAFETY: installs no handler, so no code of ours can run in a signal; a number that cannot be set is refused.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

const LAST_SIGNAL: libc::c_int = 64;

/// Enters new user, mount, pid, network, IPC and UTS namespaces; the pid namespace begins with the next child.
pub(super) fn enter_namespaces() -> Result<()> {
    let flags = libc::CLONE_NEWUSER
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWUTS;
    // SAFETY: takes an integer and touches no memory; without CLONE_FILES no descriptor table is split.
    check(unsafe { libc::unshare(flags) }.into())
}

/// Marks every descriptor from 3 upwards to be closed at exec.
pub(super) fn close_on_exec_from_three() -> Result<()> {
    // SAFETY: takes three integers and touches no memory; no descriptor is closed now, so none that safe code owns
    // becomes invalid.
    let done = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    check(done)
}

/// Says whether a change of mount attributes reaches the mounts below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// This mount alone.
    This,
    /// This mount and all below it.
    All,
}

/// Changes the attributes of a mount (`mount_setattr`, Linux 5.12) and makes it private.
pub(super) fn set_mount(mount: BorrowedFd<'_>, depth: Depth, set: u64, clear: u64) -> Result<()> {
    let attributes = MountAttributes { set, clear, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    let flags = match depth {
        Depth::This => libc::AT_EMPTY_PATH,
        Depth::All => libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
    };
    let size = size_of::<MountAttributes>();
    // SAFETY: the path is a NUL-terminated literal, and `attributes` is a live `struct mount_attr` of `size` bytes
    // that the kernel only reads.
    let done = unsafe {
        libc::syscall(libc::SYS_mount_setattr, mount.as_raw_fd(), c"".as_ptr(), flags, &raw const attributes, size)
    };
    check(done)
}

/// `struct mount_attr` of linux/mount.h.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    userns_fd: u64,
}

/// Brings up `lo` of the current network namespace.
pub(super) fn raise_loopback(socket: BorrowedFd<'_>) -> Result<()> {
    let mut request = InterfaceRequest { name: [0; 16], flags: 0, rest: [0; 22] };
    request.name.iter_mut().zip(b"lo").for_each(|(to, from)| *to = *from);
    request.flags = (libc::IFF_UP | libc::IFF_RUNNING) as i16;
    // SAFETY: `request` is a live `struct ifreq` of full size, which the kernel reads and does not keep.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    check(done.into())
}

/// `struct ifreq` of linux/if.h, with the union reduced to its flags.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

fn check(done: libc::c_long) -> Result<()> {
    match done {
        0 => Ok(()),
        _ => Err(last_errno()),
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_is_not_forked() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv().is_err());
        assert_eq!(fork().unwrap_err(), Errno::BUSY);
        drop(stop);
        assert!(thread.join().unwrap());
    }

    #[test]
    fn kernel_structs_have_the_kernels_size() {
        assert_eq!(size_of::<InterfaceRequest>(), 40);
        assert_eq!(size_of::<MountAttributes>(), 32);
    }
}
