//! The first box: runs a judged command inside walls, on Linux.
//!
//! The guard starts a helper (`tollgate __box`), hands it a sealed [`BoxSpec`], and watches. The helper gives up one
//! thing after the other and then becomes, two forks later, the command. No shell takes part but the one that the
//! command itself names.
//!
//! # Order of steps
//!
//! 1. Guard: refuses specifications that a box never gives; seals the profile; starts the helper with an empty
//!    environment; everything it opens is close-on-exec.
//! 2. Helper: ties its life to the guard, starts a session, reads the profile, sets `no_new_privs`.
//! 3. Helper: enters user, mount, pid, network, IPC and UTS namespaces; maps its own user and group, nothing else;
//!    forbids further user namespaces; brings up a loopback of its own.
//! 4. Helper: clones the writable roots; makes every mount read-only; covers `/tmp`, `/run` and `/dev` with private
//!    ones; attaches the writable roots; pins protected names; covers hidden places.
//! 5. First process: mounts a fresh read-only `/proc`, limits the number of processes, drops all capabilities for good,
//!    makes itself uninspectable, hands the guard a handle of itself, forks the command and reaps.
//! 6. Command: a session of its own, limits, working directory, close-on-exec for all descriptors, exec with the
//!    caller's environment.
//!
//! A step that fails is [`BoxError::Wall`] and nothing runs; there is no fall-back.
//!
//! On halt, timeout or the end of the command, process 1 of the pid namespace dies, and the kernel kills all others,
//! whatever session or group they moved to. [`run`] returns when the kernel says that they are gone.
//!
//! # What it does not stop
//!
//! - Bugs of the kernel: without seccomp, the whole system call surface is reachable. Covert and timing channels.
//! - Connecting to a Unix socket, or writing to a FIFO, outside `/run`, `/tmp` and hidden places, where file
//!   permissions allow it: a read-only mount forbids neither. Hide such places.
//! - Writing, through a hard link that is already inside a writable root, to a file that also has a name outside.
//! - Reading everything that is neither hidden nor forbidden to the user. Root's box reads what root owns.
//! - Reading a hidden file under another name: a hard link, or a second mount of the same file system.
//! - Creating a protected name that is absent, or replacing one that is reached through a symlink:
//!   [`BoxOutput::unpinned`] names them, [`BoxOutput::appeared`] says which came into being.
//! - Use of memory and CPU over all processes: limits are per process, but for the count of processes and the size of
//!   `/tmp`. For root, the count holds on Linux 6.14 and newer.
//! - Use of the caller's kernel keyrings, and of supplementary groups, which a user namespace cannot drop.
//! - A crash of the command reaching the host's core dump handler, where the host pipes core dumps to one.
//! - Changes inside the writable roots, except to pinned names: undo is a different module's work.
//!
//! A mount below a writable root stays read-only. A pinned name's parents cannot be renamed by the command, and moving
//! files across them is a copy.

mod attempts;
mod capture;
mod child;
mod error;
mod failure;
mod halt;
mod init;
#[expect(
    unsafe_code,
    reason = "fork, unshare, signal, mount_setattr, close_range and SIOCSIFFLAGS have no safe wrapper"
)]
mod kernel;
mod mounts;
mod probe;
mod run;
mod spec;
mod wall;
mod wire;

pub use capture::Captured;
pub use child::box_main;
pub use error::{BoxError, SpecError};
pub use halt::HaltSignal;
pub use probe::{State, Walls, probe};
pub use run::{BoxOutput, Exit, Helper, run};
pub use spec::{BoxSpec, Limits, Network};
pub use wall::Wall;
