//! Who holds a reservation, and whether that process is gone.

/// Names a process so that a reused pid is not taken for it: boot, pid namespace, pid, start time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    boot: String,
    namespace: String,
    pid: u32,
    start: String,
}

impl Owner {
    /// Describes this process.
    pub(crate) fn this_process() -> Self {
        let pid = std::process::id();
        let start = start_time(pid).unwrap_or_default();
        Self { boot: boot(), namespace: namespace(), pid, start }
    }

    pub(crate) fn key(&self) -> String {
        format!("{}/{}/{}/{}", self.boot, self.namespace, self.pid, self.start)
    }

    /// Tells whether the process behind `key` is surely gone.
    ///
    /// When in doubt it is not: an open reservation counts against its caps just as a charged one.
    pub(crate) fn is_gone(&self, key: &str) -> bool {
        let mut parts = key.split('/');
        let (Some(boot), Some(namespace), Some(pid), Some(start), None) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        if boot.is_empty() || self.boot.is_empty() {
            return false;
        }
        if boot != self.boot {
            return true;
        }
        let (Ok(pid), true, false) = (pid.parse(), namespace == self.namespace, start.is_empty()) else {
            return false;
        };
        // /proc itself unreadable would look like everybody's death.
        !self.start.is_empty() && start_time(pid).as_deref() != Some(start)
    }
}

fn boot() -> String {
    std::fs::read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned()).unwrap_or_default()
}

fn namespace() -> String {
    std::fs::read_link("/proc/self/ns/pid").map(|link| link.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Reads field 22 of `/proc/PID/stat`; the name in field 2 may hold spaces and parentheses.
fn start_time(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_ascii_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_not_gone_and_its_pid_at_another_time_is() {
        let me = Owner::this_process();
        assert!(!me.is_gone(&me.key()));
        assert!(me.is_gone(&Owner { start: "1".into(), ..me.clone() }.key()));
        assert!(me.is_gone(&Owner { boot: "before".into(), ..me.clone() }.key()));
    }

    #[test]
    fn what_cannot_be_told_is_not_gone() {
        let me = Owner::this_process();
        assert!(!me.is_gone("nonsense"));
        assert!(!me.is_gone(&Owner { namespace: "pid:[1]".into(), start: "1".into(), ..me.clone() }.key()));
    }
}
