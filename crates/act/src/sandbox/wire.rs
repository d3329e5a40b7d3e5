//! What the guard and the box helper say to each other: one profile in, a few reports out.
//!
//! The profile travels in a sealed memory file over a socket that is the helper's standard input, so that no
//! descriptor is ever inheritable by a program that the guard starts at the same moment.

use std::ffi::OsString;
use std::fs::File;
use std::io::{IoSlice, IoSliceMut, Read as _, Seek as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, memfd_create};
use rustix::io::{Errno, Result};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::attempts::Attempts;
use super::spec::{Limits, Network};
use super::wall::Wall;

/// Rises with every change of [`Profile`] or [`Report`].
pub(super) const VERSION: u32 = 1;

/// The largest report; a socket message of this size always fits.
const REPORT_MAX: usize = 64 * 1024;

/// Everything the helper needs; it reads no other configuration.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) version: u32,
    pub(super) guard_pid: i32,
    pub(super) work: Work,
    pub(super) cwd: OsString,
    pub(super) env: Vec<(OsString, OsString)>,
    pub(super) writable: Vec<OsString>,
    pub(super) hidden: Vec<OsString>,
    pub(super) pinned: Vec<OsString>,
    pub(super) limits: Limits,
    pub(super) network: Network,
}

/// What runs inside once the walls stand.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Work {
    /// The judged command.
    Exec(Vec<OsString>),
    /// The attempts of the probe, made by the helper itself.
    Probe(Attempts),
}

/// One message from the helper.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) enum Report {
    /// A wall failed; nothing ran.
    Wall { wall: Wall, step: String, errno: i32 },
    /// The walls stand; comes with a handle of the first process of the box.
    Built { unpinned: Vec<usize> },
    /// The command could not be started.
    Exec { errno: i32 },
    /// The command ended by itself.
    Code(i32),
    /// The command died of a signal.
    Signal(i32),
}

/// Puts `bytes` into a memory file that nobody can change any more.
pub(super) fn sealed(name: &str, bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let mut file = File::from(memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
    file.write_all(bytes)?;
    file.rewind()?;
    fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
    Ok(file.into())
}

/// Reads a profile from a memory file, which must be sealed.
pub(super) fn read_profile(fd: OwnedFd) -> std::io::Result<Profile> {
    let needed = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK;
    if !fcntl_get_seals(&fd)?.contains(needed) {
        return Err(Errno::PERM.into());
    }
    let mut json = Vec::new();
    File::from(fd).read_to_end(&mut json)?;
    let profile: Profile = serde_json::from_slice(&json)?;
    match profile.version {
        VERSION => Ok(profile),
        _ => Err(Errno::PROTONOSUPPORT.into()),
    }
}

/// Sends one message with descriptors.
pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(Errno::INVAL);
    }
    sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL).map(drop)
}

/// Receives one message with its descriptors; an empty message is the end.
pub(super) fn receive(socket: BorrowedFd<'_>) -> Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0; REPORT_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
    if got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
        return Err(Errno::MSGSIZE);
    }
    bytes.truncate(got.bytes);
    let mut fds = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            fds.extend(rights);
        }
    }
    Ok((bytes, fds))
}

impl Report {
    /// Sends this report.
    pub(super) fn send(&self, socket: impl AsFd, fds: &[BorrowedFd<'_>]) -> Result<()> {
        let json = serde_json::to_vec(self).map_err(|_| Errno::INVAL)?;
        if json.len() > REPORT_MAX {
            return Err(Errno::MSGSIZE);
        }
        send(socket.as_fd(), &json, fds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile_json() -> serde_json::Value {
        let profile = Profile {
            version: VERSION,
            guard_pid: 1,
            work: Work::Exec(vec!["/bin/true".into()]),
            cwd: "/".into(),
            env: Vec::new(),
            writable: Vec::new(),
            hidden: Vec::new(),
            pinned: Vec::new(),
            limits: Limits::default(),
            network: Network::None,
        };
        serde_json::to_value(profile).unwrap()
    }

    fn read(json: &serde_json::Value) -> std::io::Result<Profile> {
        read_profile(sealed("test", json.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn a_sealed_profile_of_this_version_is_read() {
        assert_eq!(read(&profile_json()).unwrap().cwd, "/");
    }

    #[test]
    fn an_unknown_field_or_version_is_refused() {
        let mut newer = profile_json();
        newer["version"] = (VERSION + 1).into();
        assert!(read(&newer).is_err());
        let mut wider = profile_json();
        wider["privileged"] = true.into();
        assert!(read(&wider).is_err());
    }

    #[test]
    fn an_unsealed_profile_is_refused() {
        let file = memfd_create("test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        let mut file = File::from(file);
        file.write_all(profile_json().to_string().as_bytes()).unwrap();
        file.rewind().unwrap();
        assert!(read_profile(file.into()).is_err());
    }

    #[test]
    fn a_sealed_file_cannot_be_written() {
        let mut file = File::from(sealed("test", b"x").unwrap());
        assert!(file.write_all(b"y").is_err());
    }
}
