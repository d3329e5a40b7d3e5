//! The names of the walls, for errors, probes and reports.

use serde::{Deserialize, Serialize};

/// Names one wall of the box.
///
/// Shown to people and stored in records by its kebab-case name, so a name never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// A user namespace of its own, so that building the other walls needs no privilege.
    UserNamespace,
    /// No user namespace inside the box, so no new capabilities over new namespaces.
    NestedNamespaces,
    /// Everything outside the writable roots is read-only.
    ReadOnlyRoot,
    /// The writable roots, and nothing else on disk, can be written.
    WritableRoots,
    /// `/tmp` and `/dev/shm` are empty, private and bounded.
    PrivateTmp,
    /// `/run` is empty: no engine, bus or key agent listens there.
    PrivateRun,
    /// `/dev` holds harmless nodes only.
    Devices,
    /// `/proc` shows the box alone, and is read-only.
    Processes,
    /// State and credential places cannot be read.
    Hidden,
    /// Protected names inside writable roots cannot be written, renamed or replaced.
    Pinned,
    /// The network namespace holds a loopback of its own and nothing else.
    Network,
    /// Shared memory, semaphores and message queues of the host are out of reach.
    Ipc,
    /// The environment is the caller's list and nothing else.
    Environment,
    /// No descriptor of the guard survives into the box.
    Descriptors,
    /// No capability, effective, permitted, inheritable, ambient or in the bounding set.
    Capabilities,
    /// `no_new_privs`: set-user-id programs give nothing.
    NoNewPrivileges,
    /// A session of its own, without the guard's terminal.
    Terminal,
    /// The box dies with the guard.
    Lifetime,
    /// Limits on processes, open files, file size and core dumps.
    Limits,
}

impl Wall {
    /// Returns the stable name of this wall.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UserNamespace => "user-namespace",
            Self::NestedNamespaces => "nested-namespaces",
            Self::ReadOnlyRoot => "read-only-root",
            Self::WritableRoots => "writable-roots",
            Self::PrivateTmp => "private-tmp",
            Self::PrivateRun => "private-run",
            Self::Devices => "devices",
            Self::Processes => "processes",
            Self::Hidden => "hidden",
            Self::Pinned => "pinned",
            Self::Network => "network",
            Self::Ipc => "ipc",
            Self::Environment => "environment",
            Self::Descriptors => "descriptors",
            Self::Capabilities => "capabilities",
            Self::NoNewPrivileges => "no-new-privileges",
            Self::Terminal => "terminal",
            Self::Lifetime => "lifetime",
            Self::Limits => "limits",
        }
    }

    /// Says what an operator can do when this wall does not stand.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::UserNamespace | Self::NestedNamespaces => {
                "allow user namespaces for this program: sysctl user.max_user_namespaces > 0, \
                 kernel.unprivileged_userns_clone=1 where it exists, and an AppArmor profile with \
                 `userns` where kernel.apparmor_restrict_unprivileged_userns=1"
            }
            Self::Processes => {
                "a container hides parts of /proc, so a fresh one may not be mounted: run with \
                 /proc unmasked (docker: --security-opt systempaths=unconfined) or outside of it"
            }
            Self::ReadOnlyRoot | Self::WritableRoots | Self::PrivateTmp | Self::PrivateRun => {
                "use Linux 5.12 or newer with tmpfs, and writable roots that are on writable mounts"
            }
            Self::Devices => "provide /dev/null, zero, full, random, urandom and tty, and devpts",
            Self::Hidden | Self::Pinned => "check that the path exists and is not on a FUSE mount",
            Self::Network | Self::Ipc => "use a kernel with network and IPC namespaces",
            Self::Environment | Self::Descriptors => "use Linux 5.9 or newer, for close_range",
            Self::Capabilities | Self::NoNewPrivileges => {
                "do not start Tollgate under a wrapper that forbids dropping capabilities"
            }
            Self::Terminal | Self::Lifetime => "start Tollgate as an ordinary process",
            Self::Limits => "raise the hard limits of the session that starts Tollgate",
        }
    }
}

impl std::fmt::Display for Wall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
