//! What the probe's child tries from inside the box.
//!
//! Each attempt is what a hostile command would do, made with the rights a command has.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Pid, Resource, getrlimit, test_kill_process};
use rustix::thread::{
    CapabilitySet, capabilities, capability_is_in_ambient_set, capability_is_in_bounding_set, no_new_privs,
};
use serde::{Deserialize, Serialize};

use super::kernel::enter_namespaces;
use super::wall::Wall;

/// What the attempts aim at; the guard has seen each of them succeed outside.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Attempts {
    pub(super) secret: OsString,
    pub(super) outside: OsString,
    pub(super) work: OsString,
    pub(super) pinned: OsString,
    pub(super) pinned_parent: OsString,
    pub(super) marker_in_tmp: OsString,
    pub(super) port: u16,
    pub(super) namespaces: Vec<(Wall, String, OsString)>,
    pub(super) guard_pid: i32,
    pub(super) open_files: u64,
}

/// What one attempt met: nothing if the wall held, or what got through.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Observation {
    pub(super) wall: Wall,
    pub(super) breach: Option<String>,
}

impl Attempts {
    /// Makes every attempt and writes the observations to standard output.
    pub(super) fn make(&self) -> std::io::Result<ExitCode> {
        let seen: Vec<Observation> =
            self.all().into_iter().map(|(wall, breach)| Observation { wall, breach }).collect();
        let mut out = std::io::stdout().lock();
        out.write_all(&serde_json::to_vec(&seen)?)?;
        out.flush()?;
        Ok(ExitCode::SUCCESS)
    }

    fn all(&self) -> Vec<(Wall, Option<String>)> {
        let mut seen = vec![
            (Wall::ReadOnlyRoot, self.write_outside()),
            (Wall::WritableRoots, self.write_inside()),
            (Wall::PrivateTmp, breach(Path::new(&self.marker_in_tmp).exists(), "the host's /tmp is visible")),
            (Wall::PrivateRun, list_run()),
            (Wall::Devices, list_devices()),
            (Wall::Processes, self.see_processes()),
            (Wall::Hidden, breach(fs::read(&self.secret).is_ok(), "a hidden file was read")),
            (Wall::Pinned, self.change_pinned()),
            (Wall::Network, self.connect()),
            (Wall::Environment, breach(std::env::vars_os().next().is_some(), "a variable was inherited")),
            (Wall::Descriptors, inherited_descriptor()),
            (Wall::Capabilities, keep_a_capability()),
            (Wall::NoNewPrivileges, breach(!no_new_privs().unwrap_or(false), "privileges can be gained")),
            (Wall::Terminal, breach(fs::File::open("/dev/tty").is_ok(), "the guard's terminal opens")),
            (Wall::Limits, self.exceed_limits()),
        ];
        let namespaces = self.namespaces.iter().map(|(wall, name, host)| (*wall, share_namespace(name, host)));
        seen.extend(namespaces);
        // Last, for a success would change what the others see.
        seen.push((Wall::NestedNamespaces, breach(enter_namespaces().is_ok(), "a nested namespace was entered")));
        seen
    }

    fn write_outside(&self) -> Option<String> {
        breach(fs::write(Path::new(&self.outside).join("probe"), "x").is_ok(), "a file outside was written")
    }

    fn write_inside(&self) -> Option<String> {
        let file = Path::new(&self.work).join("probe");
        match fs::write(&file, "x").and_then(|()| fs::remove_file(&file)) {
            Ok(()) => None,
            Err(cause) => Some(format!("the writable root cannot be written: {cause}")),
        }
    }

    fn see_processes(&self) -> Option<String> {
        let Ok(entries) = fs::read_dir("/proc") else { return Some("/proc cannot be listed".to_owned()) };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        // The first process and this one.
        let strangers = numbers.filter(|pid| !matches!(pid, 1 | 2)).count();
        let guard = Pid::from_raw(self.guard_pid).filter(|pid| pid.as_raw_nonzero().get() > 2);
        let reached = guard.is_some_and(|pid| test_kill_process(pid).is_ok());
        breach(strangers > 0, "processes of the host are listed")
            .or(breach(reached, "the guard can be signalled"))
            .or(breach(fs::write("/proc/self/comm", "x").is_ok(), "/proc can be written"))
            .or(breach(fs::read_link("/proc/1/exe").is_ok(), "the first process can be inspected"))
    }

    fn change_pinned(&self) -> Option<String> {
        let aside = Path::new(&self.work).join("aside");
        breach(fs::write(&self.pinned, "x").is_ok(), "a pinned file was written")
            .or(breach(fs::remove_file(&self.pinned).is_ok(), "a pinned file was removed"))
            .or(breach(fs::rename(&self.pinned_parent, aside).is_ok(), "a pinned file was moved aside"))
    }

    fn connect(&self) -> Option<String> {
        let address = (Ipv4Addr::LOCALHOST, self.port).into();
        let reached = TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok();
        let others = fs::read_to_string("/proc/net/dev")
            .map(|table| table.lines().skip(2).filter(|line| !line.trim_start().starts_with("lo:")).count());
        breach(reached, "a listener of the host was reached")
            .or(breach(!matches!(others, Ok(0)), "an interface other than loopback exists"))
    }

    fn exceed_limits(&self) -> Option<String> {
        let core = getrlimit(Resource::Core).maximum != Some(0);
        let files = getrlimit(Resource::Nofile).maximum.is_none_or(|most| most > self.open_files);
        breach(core, "core dumps can be written").or(breach(files, "the limit on open files can be raised"))
    }
}

fn breach(got_through: bool, what: &str) -> Option<String> {
    got_through.then(|| what.to_owned())
}

fn list_run() -> Option<String> {
    match fs::read_dir("/run").map(Iterator::count) {
        Ok(0) => None,
        Ok(_) => Some("/run shows services of the host".to_owned()),
        Err(cause) if cause.kind() == ErrorKind::NotFound => None,
        Err(cause) => Some(format!("/run cannot be judged: {cause}")),
    }
}

fn list_devices() -> Option<String> {
    const HARMLESS: [&str; 13] =
        ["null", "zero", "full", "random", "urandom", "tty", "fd", "stdin", "stdout", "stderr", "ptmx", "pts", "shm"];
    let Ok(entries) = fs::read_dir("/dev") else { return Some("/dev cannot be listed".to_owned()) };
    let other = entries.flatten().map(|entry| entry.file_name()).find(|name| {
        let known = name.to_str().is_some_and(|name| HARMLESS.contains(&name));
        !known
    });
    other
        .map(|name| format!("/dev/{} exists", name.display()))
        .or_else(|| fs::write("/dev/null", "x").err().map(|cause| format!("/dev/null does not work: {cause}")))
}

/// Looks for a descriptor that an exec would hand to the command.
fn inherited_descriptor() -> Option<String> {
    let Ok(entries) = fs::read_dir("/proc/self/fdinfo") else { return Some("descriptors cannot be listed".to_owned()) };
    let names = entries.flatten().map(|entry| entry.file_name());
    let beyond = names.filter(|name| name.to_str().and_then(|name| name.parse::<u32>().ok()).is_none_or(|fd| fd > 2));
    beyond.filter_map(survives_exec).next()
}

fn survives_exec(name: OsString) -> Option<String> {
    // A descriptor that is gone by now was the listing's own.
    let info = fs::read_to_string(Path::new("/proc/self/fdinfo").join(&name)).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    let flags = u32::from_str_radix(flags.trim(), 8).unwrap_or(0);
    breach(flags & rustix::fs::OFlags::CLOEXEC.bits() == 0, &format!("descriptor {} was inherited", name.display()))
}

fn keep_a_capability() -> Option<String> {
    let Ok(sets) = capabilities(None) else { return Some("capabilities cannot be read".to_owned()) };
    let held = sets.effective | sets.permitted | sets.inheritable;
    let regainable = (0..u64::BITS).map(|number| CapabilitySet::from_bits_retain(1 << number)).any(|capability| {
        capability_is_in_bounding_set(capability).unwrap_or(false)
            || capability_is_in_ambient_set(capability).unwrap_or(false)
    });
    breach(!held.is_empty(), "a capability is held").or(breach(regainable, "a capability can be regained"))
}

fn share_namespace(name: &str, host: &OsStr) -> Option<String> {
    match fs::read_link(Path::new("/proc/self/ns").join(name)) {
        Ok(own) if own.as_os_str() != host => None,
        Ok(_) => Some(format!("the {name} namespace is the host's")),
        Err(cause) => Some(format!("the {name} namespace cannot be read: {cause}")),
    }
}
