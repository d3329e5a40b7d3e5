//! Plain wrappers: some flags, perhaps an operand or two, then the command.

/// How a wrapper is written.
pub(super) struct Wrapper {
    pub(super) names: &'static [&'static str],
    /// Flags that take a value.
    pub(super) values: &'static str,
    /// Subcommands of which one must come first, separated by blanks.
    pub(super) sub: Option<&'static str>,
    /// Operands before the command.
    pub(super) skip: usize,
    /// Flags that name the directory to run in.
    pub(super) directory: &'static str,
    pub(super) marks: &'static [Mark],
}

/// What the wrapper does besides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Privilege,
    Persist,
    Elsewhere,
}

const PLAIN: Wrapper = Wrapper { names: &[], values: "", sub: None, skip: 0, directory: "", marks: &[] };

/// The wrapper of this name.
pub(super) fn find(name: &str) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&name))
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &["sudo"],
        values: "-u --user -g --group -h --host -p --prompt -C --close-from -D --chdir -r --role -t --type -T -U -R --chroot",
        directory: "-D --chdir",
        marks: &[Mark::Privilege],
        ..PLAIN
    },
    Wrapper { names: &["doas"], values: "-u -C", marks: &[Mark::Privilege], ..PLAIN },
    Wrapper { names: &["pkexec"], values: "--user", marks: &[Mark::Privilege], ..PLAIN },
    Wrapper { names: &["gosu", "su-exec"], skip: 1, marks: &[Mark::Privilege], ..PLAIN },
    Wrapper {
        names: &["nsenter", "unshare", "setpriv", "capsh"],
        values: "-t --target -S --setuid -G --setgid --reuid --regid -R --root -w --wd",
        marks: &[Mark::Privilege],
        ..PLAIN
    },
    Wrapper {
        names: &["chroot"],
        values: "--userspec --groups",
        skip: 1,
        marks: &[Mark::Privilege, Mark::Elsewhere],
        ..PLAIN
    },
    Wrapper { names: &["nohup", "setsid", "daemonize"], marks: &[Mark::Persist], ..PLAIN },
    Wrapper {
        names: &["systemd-run"],
        values: "-u --unit -p --property -E --setenv --uid --gid --on-active --on-calendar --on-boot --slice -M --machine",
        marks: &[Mark::Persist],
        ..PLAIN
    },
    Wrapper { names: &["nice"], values: "-n --adjustment", ..PLAIN },
    Wrapper { names: &["ionice"], values: "-c --class -n --classdata -p --pid", ..PLAIN },
    Wrapper { names: &["time", "gtime"], values: "-f --format -o --output", ..PLAIN },
    Wrapper { names: &["timeout", "gtimeout"], values: "-s --signal -k --kill-after", skip: 1, ..PLAIN },
    Wrapper { names: &["stdbuf"], values: "-i --input -o --output -e --error", ..PLAIN },
    Wrapper { names: &["chrt"], values: "-T -P -D -p", skip: 1, ..PLAIN },
    Wrapper { names: &["taskset"], values: "", skip: 1, ..PLAIN },
    Wrapper { names: &["numactl"], values: "-C -N -m --cpunodebind --membind --physcpubind", ..PLAIN },
    Wrapper { names: &["flock"], values: "-w --wait -E --conflict-exit-code -c", skip: 1, ..PLAIN },
    Wrapper {
        names: &[
            "command",
            "builtin",
            "exec",
            "noglob",
            "nocorrect",
            "chronic",
            "unbuffer",
            "caffeinate",
            "catchsegv",
            "torsocks",
        ],
        values: "-a",
        ..PLAIN
    },
    Wrapper { names: &["proxychains", "proxychains4"], values: "-f", ..PLAIN },
    Wrapper { names: &["strace", "ltrace"], values: "-e -o -p -s -u -E -P -a -I -O -S -X", ..PLAIN },
    Wrapper { names: &["valgrind", "xvfb-run", "faketime", "dbus-run-session"], values: "-s -n -e", ..PLAIN },
    Wrapper { names: &["perf"], values: "-e -o -F -p -t -C -i", sub: Some("stat record trace"), ..PLAIN },
    Wrapper { names: &["entr"], ..PLAIN },
    Wrapper { names: &["rlwrap"], values: "-f -H -b -C -D -i -P -S -s", ..PLAIN },
    Wrapper { names: &["bundle"], sub: Some("exec"), ..PLAIN },
    Wrapper { names: &["pipenv"], sub: Some("run"), ..PLAIN },
    Wrapper { names: &["dotenv"], values: "-f --file", sub: None, ..PLAIN },
    Wrapper { names: &["rbenv", "pyenv", "nodenv", "asdf"], sub: Some("exec"), ..PLAIN },
    Wrapper { names: &["direnv"], sub: Some("exec"), skip: 1, ..PLAIN },
    Wrapper { names: &["mise", "rtx"], sub: Some("exec x"), ..PLAIN },
];
