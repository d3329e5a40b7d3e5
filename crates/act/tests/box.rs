//! The box against a hostile command, on the real kernel. Each attempt has a control that succeeds outside.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "test support ends the test with its cause")]

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tollgate_act::sandbox::{BoxError, BoxOutput, BoxSpec, Exit, HaltSignal, Helper, Limits, Network, SpecError, Wall};
use tollgate_act::sandbox::{State, Walls, probe, run};
use tollgate_call::facts::Confinement;

/// A copy of this suite that runs as another user brings its own helper.
const HELPER: &str = "TOLLGATE_TEST_BOX_HELPER";

/// Where a copy of this suite makes its places, so that the original can remove them.
const BASE: &str = "TOLLGATE_TEST_BOX_BASE";

fn helper() -> Helper {
    let own = std::env::var_os(HELPER).map(PathBuf::from);
    Helper::at(own.unwrap_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_tollgate-box"))))
}

/// A workspace with a repository, a secret and an outside, on a disk that the box shows read-only.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let base = std::env::var_os(BASE).unwrap_or_else(|| "/var/tmp".into());
        let place = Self(tempfile::Builder::new().prefix("tollgate-box-").tempdir_in(base).unwrap());
        for directory in ["work/.git/hooks", "outside", "secrets"] {
            fs::create_dir_all(place.at(directory)).unwrap();
        }
        fs::write(place.at("work/.git/config"), "[core]\n").unwrap();
        fs::write(place.at("secrets/key"), "hunter2").unwrap();
        fs::write(place.at("secret-file"), "hunter2").unwrap();
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn spec(&self, command: &str) -> BoxSpec {
        BoxSpec {
            argv: vec!["/bin/bash".into(), "-c".into(), command.into()],
            cwd: self.at("work"),
            env: vec![("PATH".into(), "/usr/sbin:/usr/bin:/sbin:/bin".into()), ("BASE".into(), self.0.path().into())],
            writable: vec![self.at("work")],
            hidden: vec![self.at("secrets"), self.at("secret-file")],
            pinned: vec![self.at("work/.git/config"), self.at("work/.git/hooks")],
            timeout: Duration::from_secs(30),
            output_cap: 1 << 16,
            stdin: Vec::new(),
            limits: Limits::default(),
            network: Network::None,
        }
    }

    fn run(&self, command: &str) -> BoxOutput {
        run_spec(&self.spec(command))
    }

    /// The same command without a box.
    fn control(&self, command: &str) -> bool {
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", command]).current_dir(self.at("work")).env("BASE", self.0.path());
        bash.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    }

    /// Asserts that `command` fails in the box, leaves everything as it was, and succeeds outside.
    fn assert_stopped(&self, command: &str) {
        let before = inventory(self.0.path());
        let boxed = self.run(command);
        assert_ne!(boxed.status, Exit::Code(0), "`{command}` got through: {}", boxed.stdout.text());
        assert_eq!(inventory(self.0.path()), before, "`{command}` changed the host");
        assert!(self.control(command), "the control of `{command}` must succeed outside");
    }
}

fn run_spec(spec: &BoxSpec) -> BoxOutput {
    run(&helper(), spec, &HaltSignal::new().unwrap()).unwrap()
}

/// Every name with its kind, mode, size and content.
fn inventory(base: &Path) -> Vec<(PathBuf, u32, u64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![base.to_owned()];
    while let Some(path) = open.pop() {
        let meta = path.symlink_metadata().unwrap();
        let content = if meta.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if meta.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push((path, meta.mode(), if meta.is_file() { meta.size() } else { 0 }, content));
    }
    found.sort();
    found
}

fn text(output: &BoxOutput) -> String {
    format!("{}{}", output.stdout.text(), output.stderr.text())
}

/// Waits for a condition; the deadline only ends a test that has failed.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(20), "waited in vain until {what}");
        std::thread::park_timeout(Duration::from_millis(2));
    }
}

/// Finds a process of the host by a word of its command line.
fn alive(word: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let is_process = entry.file_name().to_string_lossy().chars().all(|c| c.is_ascii_digit());
        is_process && fs::read(entry.path().join("cmdline")).is_ok_and(|line| contains(&line, word.as_bytes()))
    })
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|window| window == word)
}

// What a command may do.

#[test]
fn a_command_works_in_its_writable_root() {
    let place = Place::new();
    let output = place.run("echo hello > file && cat file && mkdir d && mv file d/ && ls d && echo warn >&2; exit 7");
    assert_eq!(output.status, Exit::Code(7), "{}", text(&output));
    assert_eq!((output.stdout.text().as_str(), output.stderr.text().as_str()), ("hello\nfile\n", "warn\n"));
    assert_eq!(fs::read(place.at("work/d/file")).unwrap(), b"hello\n");
    assert!(output.unpinned.is_empty() && output.appeared.is_empty());
}

#[test]
fn ordinary_tools_find_what_they_expect() {
    let place = Place::new();
    let output = place.run(
        "set -e; echo x > /dev/null; head -c4 /dev/urandom | wc -c; echo t > $TMPDIR/t; cat /tmp/t; echo s > /dev/shm/s; \
         cat /proc/self/status > /dev/null; test -r /etc/passwd; cat <(echo sub); echo pid $$",
    );
    assert_eq!(
        (output.status, output.stdout.text().as_str()),
        (Exit::Code(0), "4\nt\nsub\npid 2\n"),
        "{}",
        text(&output)
    );
}

#[test]
fn a_loopback_of_its_own_works() {
    let place = Place::new();
    let Some(python) = ["/usr/bin/python3"].into_iter().find(|path| Path::new(path).exists()) else {
        eprintln!("skipped: no python3 here to open sockets with");
        return;
    };
    let script = "import socket; s=socket.create_server(('127.0.0.1',0)); c=socket.create_connection(s.getsockname()); print('ok')";
    let output = place.run(&format!("{python} -c \"{script}\""));
    assert_eq!(output.stdout.text(), "ok\n", "{}", text(&output));
}

#[test]
fn standard_input_is_what_was_given_or_nothing() {
    let place = Place::new();
    assert_eq!(place.run("cat | wc -c").stdout.text().trim(), "0");
    let spec = BoxSpec { stdin: vec![b'x'; 300_000], ..place.spec("cat | wc -c") };
    assert_eq!(run_spec(&spec).stdout.text().trim(), "300000");
}

#[test]
fn the_environment_is_the_list_and_nothing_else() {
    let place = Place::new();
    let spec = BoxSpec { argv: vec!["/usr/bin/env".into()], env: vec![("A".into(), "1".into())], ..place.spec("") };
    assert_eq!(run_spec(&spec).stdout.text(), "A=1\nTMPDIR=/tmp\n");
    assert!(std::env::vars_os().count() > 2, "the control: this process has more");
}

#[test]
fn output_keeps_head_and_tail_and_counts_the_rest() {
    let place = Place::new();
    let spec = BoxSpec { output_cap: 1000, ..place.spec("echo first; head -c 5000000 /dev/zero; echo last") };
    let output = run_spec(&spec).stdout;
    assert!(output.head.starts_with(b"first\n") && output.tail.ends_with(b"last\n"));
    assert_eq!(output.head.len() as u64 + output.tail.len() as u64 + output.dropped, 5_000_000 + 11);
    assert_eq!(output.head.len() + output.tail.len(), 1000);
}

#[test]
fn words_that_are_no_text_arrive_as_they_are() {
    use std::os::unix::ffi::OsStringExt as _;
    let place = Place::new();
    let odd = std::ffi::OsString::from_vec(vec![b'a', 0xff, b'\n']);
    let mut spec = place.spec("printf %s \"$0$ODD\" > file");
    spec.argv.push(odd.clone());
    spec.env.push(("ODD".into(), odd));
    assert_eq!(run_spec(&spec).status, Exit::Code(0));
    assert_eq!(fs::read(place.at("work/file")).unwrap(), b"a\xff\na\xff\n");
}

#[test]
fn without_writable_roots_nothing_on_disk_can_be_written() {
    let place = Place::new();
    let spec = |command: &str| BoxSpec { writable: Vec::new(), ..place.spec(command) };
    assert_eq!(run_spec(&spec("cat .git/config > /tmp/copy")).status, Exit::Code(0));
    assert_ne!(run_spec(&spec("echo x > file")).status, Exit::Code(0));
    assert!(place.control("echo x > file"));
}

#[test]
fn a_signal_is_told_apart_from_a_code() {
    let place = Place::new();
    assert_eq!(place.run("kill -TERM $$").status, Exit::Signal(15));
    assert_eq!(place.run("exit 143").status, Exit::Code(143));
}

#[test]
fn a_command_that_does_not_exist_is_an_error_and_not_an_exit() {
    let place = Place::new();
    let spec = BoxSpec { argv: vec!["/no/such/program".into()], ..place.spec("") };
    let error = run(&helper(), &spec, &HaltSignal::new().unwrap()).unwrap_err();
    assert!(matches!(&error, BoxError::Exec { program, .. } if program == "/no/such/program"), "{error}");
}

// Files.

#[test]
fn a_hidden_place_is_unreadable() {
    let place = Place::new();
    for command in [
        "cat $BASE/secrets/key",
        "cat $BASE/secret-file",
        "ls $BASE/secrets/ | grep key",
        "cat /proc/self/root/$BASE/secret-file",
        "cat /proc/self/cwd/../secret-file",
        "cat /proc/1/root/$BASE/secret-file || cat $BASE/work/../secrets/key",
        "find $BASE -name key -exec cat {} + | grep hunter",
        "cp -r $BASE/secrets /tmp/copy.$$ && grep -r hunter /tmp/copy.$$ && rm -r /tmp/copy.$$",
        "ln $BASE/secret-file link && cat link && rm link",
    ] {
        place.assert_stopped(command);
    }
}

#[test]
fn an_absent_hidden_place_leaves_no_ghost() {
    let place = Place::new();
    let before = inventory(place.0.path());
    let hidden = vec![place.at("nothing"), place.at("work/nothing"), place.at("work/no/where"), place.at("secrets")];
    let spec =
        BoxSpec { hidden, pinned: vec![place.at("work/.env"), place.at("work/.vscode/x")], ..place.spec("true") };
    let output = run_spec(&spec);
    assert_eq!(output.status, Exit::Code(0));
    assert_eq!(output.unpinned, [place.at("work/.env"), place.at("work/.vscode/x")]);
    assert_eq!(inventory(place.0.path()), before);
}

#[test]
fn a_hidden_place_inside_the_writable_root_is_unreadable_and_stays_in_place() {
    let place = Place::new();
    fs::create_dir(place.at("work/deep")).unwrap();
    fs::write(place.at("work/deep/token"), "hunter2").unwrap();
    let before = inventory(place.0.path());
    for command in ["cat deep/token", "mv deep moved && cat moved/token", "rm -rf deep/token", "cp -r deep copy"] {
        let spec = BoxSpec { hidden: vec![place.at("work/deep/token")], ..place.spec(command) };
        let output = run_spec(&spec);
        assert_ne!(output.status, Exit::Code(0), "`{command}`: {}", text(&output));
        fs::remove_dir_all(place.at("work/copy")).unwrap_or_default();
        assert_eq!(inventory(place.0.path()), before, "{command}");
    }
    assert!(place.control("cat deep/token && mv deep moved && mv moved deep"));
}

#[test]
fn a_hidden_place_that_is_a_symlink_hides_what_it_names() {
    let place = Place::new();
    symlink(place.at("secrets"), place.at("alias")).unwrap();
    let spec =
        BoxSpec { hidden: vec![place.at("alias")], ..place.spec("cat $BASE/alias/key || cat $BASE/secrets/key") };
    assert_ne!(run_spec(&spec).status, Exit::Code(0));
    assert!(place.control("cat $BASE/alias/key"));
}

#[test]
fn nothing_outside_the_roots_can_be_written() {
    let place = Place::new();
    for command in [
        "echo x > $BASE/outside/file && rm $BASE/outside/file",
        "mkdir $BASE/outside/d && rmdir $BASE/outside/d",
        "touch /var/tmp/tollgate-ghost.$$ && rm /var/tmp/tollgate-ghost.$$",
        "cd /proc/self/root && echo x > .$BASE/outside/file && rm .$BASE/outside/file",
        "ln -s $BASE/outside link; echo x > link/file && rm link/file link",
        "chmod 700 $BASE/outside",
    ] {
        let clean = || fs::remove_file(place.at("work/link")).unwrap_or_default();
        let boxed = place.run(command);
        assert_ne!(boxed.status, Exit::Code(0), "`{command}` got through");
        clean();
        assert!(fs::read_dir(place.at("outside")).unwrap().next().is_none());
        assert!(place.control(command), "the control of `{command}` must succeed outside");
    }
}

#[test]
fn a_private_tmp_is_neither_shared_nor_kept() {
    let place = Place::new();
    let marker = tempfile::Builder::new().prefix("tollgate-marker-").tempdir_in("/tmp").unwrap();
    let name = marker.path().display();
    assert_ne!(place.run(&format!("ls {name}")).status, Exit::Code(0));
    assert!(place.control(&format!("ls {name}")));
    let ghost = format!("/tmp/tollgate-ghost-{}", std::process::id());
    assert_eq!(place.run(&format!("echo x > {ghost}")).status, Exit::Code(0));
    assert!(!Path::new(&ghost).exists());
}

#[test]
fn a_writable_root_below_tmp_is_reached_and_the_rest_of_tmp_is_not() {
    let place = Place::new();
    let shared = tempfile::Builder::new().prefix("tollgate-shared-").tempdir_in("/tmp").unwrap();
    let root = shared.path().join("a/root");
    fs::create_dir_all(&root).unwrap();
    fs::write(shared.path().join("beside"), "x").unwrap();
    let spec = BoxSpec {
        writable: vec![root.clone()],
        cwd: root.clone(),
        ..place.spec("echo x > file; ls ../.. ; test ! -e ../../beside")
    };
    let output = run_spec(&spec);
    assert_eq!((output.status, output.stdout.text().as_str()), (Exit::Code(0), "a\n"), "{}", text(&output));
    assert!(root.join("file").exists());
}

#[test]
fn a_pinned_name_cannot_be_changed_moved_or_replaced() {
    let place = Place::new();
    for command in [
        "echo x >> .git/config && printf '[core]\\n' > .git/config",
        "chmod 600 .git/config && chmod 644 .git/config",
        "cp .git/config c && mv c .git/config",
        "echo x > .git/hooks/pre-commit && rm .git/hooks/pre-commit",
        "mv .git/hooks .git/h && mv .git/h .git/hooks",
        "mv .git .g && mkdir .git && echo evil > .git/config && rm -r .git && mv .g .git",
        "ln .git/config l && echo x >> l && printf '[core]\\n' > l && rm l",
    ] {
        let boxed = place.run(command);
        assert_ne!(boxed.status, Exit::Code(0), "`{command}` got through: {}", text(&boxed));
        assert_eq!(fs::read(place.at("work/.git/config")).unwrap(), b"[core]\n", "{command}");
        assert!(fs::read_dir(place.at("work/.git/hooks")).unwrap().next().is_none(), "{command}");
        drop((fs::remove_file(place.at("work/c")), fs::remove_file(place.at("work/l"))));
        assert!(place.control(command), "the control of `{command}` must succeed outside");
    }
    let output = place.run("echo x > .git/HEAD && mkdir -p .git/objects/aa && mv .git/HEAD .git/ORIG_HEAD");
    assert_eq!(output.status, Exit::Code(0), "the rest of the repository stays writable: {}", text(&output));
}

#[test]
fn an_absent_pinned_name_that_appears_is_reported() {
    let place = Place::new();
    let pinned = vec![place.at("work/.env"), place.at("work/.envrc")];
    let spec = BoxSpec { pinned: pinned.clone(), ..place.spec("echo evil > .envrc") };
    let output = run_spec(&spec);
    assert_eq!((output.unpinned, output.appeared), (pinned, vec![place.at("work/.envrc")]));
}

#[test]
fn a_pinned_name_that_is_a_symlink_or_lies_behind_one_is_reported() {
    let place = Place::new();
    symlink(place.at("outside"), place.at("work/linked")).unwrap();
    symlink("nowhere", place.at("work/dangling")).unwrap();
    let pinned = vec![place.at("work/linked"), place.at("work/linked/x"), place.at("work/dangling")];
    let output = run_spec(&BoxSpec { pinned: pinned.clone(), ..place.spec("rm dangling && touch dangling") });
    assert_eq!((output.status, output.unpinned), (Exit::Code(0), pinned), "{}", output.stderr.text());
}

#[test]
fn pins_inside_pins_and_nested_roots_work_in_any_order() {
    let place = Place::new();
    fs::create_dir_all(place.at("work/a/b/c")).unwrap();
    fs::write(place.at("work/a/b/c/f"), "x").unwrap();
    let pinned = ["work/a/b/c/f", "work/a", "work/.git/hooks", "work/.git", "work/.git/config"];
    let spec = BoxSpec {
        pinned: pinned.map(|name| place.at(name)).to_vec(),
        writable: vec![place.at("work/a/b"), place.at("work"), place.at("outside")],
        ..place.spec(
            "echo x > a/b/c/f; echo x > a/new; mv .git g; echo x > .git/config; echo y > $BASE/outside/ok; echo z > ok",
        )
    };
    let before = inventory(&place.at("work"));
    let output = run_spec(&spec);
    assert!(output.unpinned.is_empty());
    fs::remove_file(place.at("work/ok")).unwrap();
    assert_eq!(inventory(&place.at("work")), before, "{}", text(&output));
    assert!(place.at("outside/ok").exists());
}

#[test]
fn the_host_is_the_same_before_and_after() {
    let place = Place::new();
    let before = (inventory(place.0.path()), fs::read_to_string("/proc/self/mountinfo").unwrap());
    let pid_max = fs::read_to_string("/proc/sys/kernel/pid_max").unwrap();
    let nested = fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap();
    place.run("ls -la; cat $BASE/secrets/key; true");
    assert_eq!((inventory(place.0.path()), fs::read_to_string("/proc/self/mountinfo").unwrap()), before);
    assert_eq!(fs::read_to_string("/proc/sys/kernel/pid_max").unwrap(), pid_max);
    assert_eq!(fs::read_to_string("/proc/sys/user/max_user_namespaces").unwrap(), nested);
}

// What a specification may not ask.

fn refusal(spec: &BoxSpec) -> SpecError {
    let error = run(&helper(), spec, &HaltSignal::new().unwrap()).unwrap_err();
    let BoxError::Spec(refused) = error else { panic!("{error}") };
    refused
}

#[test]
fn the_system_the_home_and_private_places_are_no_writable_roots() {
    let place = Place::new();
    let uid = fs::metadata(place.0.path()).unwrap().uid().to_string();
    let passwd = fs::read_to_string("/etc/passwd").unwrap();
    let entry = passwd.lines().find(|line| line.split(':').nth(2) == Some(uid.as_str())).unwrap();
    let home = entry.split(':').nth(5).unwrap();
    for root in ["/", "/tmp", "/run", "/proc/self", "/dev/shm", "/sys", home] {
        let spec = BoxSpec { writable: vec![root.into()], ..place.spec("true") };
        assert!(matches!(refusal(&spec), SpecError::TooWide { .. }), "{root}");
    }
}

#[test]
fn a_symlinked_relative_or_hidden_writable_root_is_refused() {
    let place = Place::new();
    symlink(place.at("outside"), place.at("alias")).unwrap();
    let with = |root: PathBuf| refusal(&BoxSpec { writable: vec![root], ..place.spec("true") });
    assert_eq!(with(place.at("alias")), SpecError::Symlink { path: place.at("alias"), real: place.at("outside") });
    assert!(matches!(with("work".into()), SpecError::NotPlain(_)));
    assert!(matches!(with(place.at("work/../outside")), SpecError::NotPlain(_)));
    assert!(matches!(with(place.at("secrets")), SpecError::InHidden { .. }));
    assert!(matches!(with(place.at("secret-file")), SpecError::NoSuchRoot(_) | SpecError::InHidden { .. }));
    assert!(matches!(with(place.at("absent")), SpecError::NoSuchRoot(_)));
    let cwd = refusal(&BoxSpec { cwd: "/tmp/elsewhere".into(), ..place.spec("true") });
    assert_eq!(cwd, SpecError::NotVisible("/tmp/elsewhere".into()));
}

// Processes, network, privileges.

#[test]
fn a_listener_of_the_host_is_out_of_reach() {
    let place = Place::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    place.assert_stopped(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}"));
}

#[test]
fn processes_of_the_host_can_be_neither_seen_nor_signalled() {
    let place = Place::new();
    let pid = std::process::id();
    place.assert_stopped(&format!("grep -q . /proc/{pid}/cmdline"));
    place.assert_stopped(&format!("kill -0 {pid}"));
    place.assert_stopped(&format!("ls /proc/{pid}/root/"));
    assert_eq!(place.run("cd /proc && echo [0-9]*").stdout.text(), "1 2\n");
}

#[test]
fn the_first_process_can_be_neither_inspected_nor_killed() {
    let place = Place::new();
    for command in ["cat /proc/1/environ", "readlink /proc/1/exe", "readlink /proc/1/fd/1", "cat /proc/1/maps | grep ."]
    {
        assert_ne!(place.run(command).status, Exit::Code(0), "{command}");
    }
    assert_eq!(place.run("kill -9 1; kill -9 -- -1; echo alive").stdout.text(), "alive\n");
}

#[test]
fn no_descriptor_of_the_guard_is_inherited() {
    let place = Place::new();
    // Inheritable on purpose; the control sees it.
    let leaked = rustix::io::dup(fs::File::open(place.at("secret-file")).unwrap()).unwrap();
    let list = "for fd in /proc/self/fd/*; do readlink $fd; done; readlink /proc/$$/fd/* | grep -q secret-file";
    assert_ne!(place.run(list).status, Exit::Code(0));
    assert!(place.control(list));
    assert_eq!(place.run("echo /proc/$$/fd/*").stdout.text().matches("/fd/").count(), 4, "0, 1, 2 and bash's own 255");
    drop(leaked);
}

#[test]
fn no_capability_is_held_and_none_can_be_gained() {
    let place = Place::new();
    let status = place.run("grep -E '^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs)' /proc/self/status").stdout.text();
    let values: Vec<&str> = status.split_whitespace().skip(1).step_by(2).collect();
    assert_eq!(values, ["0000000000000000"; 5].into_iter().chain(["1"]).collect::<Vec<_>>());
    for command in [
        "unshare -U true",
        "unshare -m true",
        "mount -t tmpfs none /mnt",
        "umount /proc",
        "umount $BASE/secrets",
        "mount -o remount,rw /",
        "echo x > /proc/sys/kernel/core_pattern",
        "echo 1 > /proc/sys/user/max_user_namespaces",
        "echo 0 > /proc/self/oom_score_adj",
        "chroot / true",
        "mknod node c 1 3",
        "hostname evil",
        "nsenter -t 1 -m true",
    ] {
        let output = place.run(command);
        assert_ne!(output.status, Exit::Code(0), "`{command}` got through");
    }
}

#[test]
fn a_set_user_id_program_gives_nothing() {
    let place = Place::new();
    let copy = place.at("work/id");
    fs::copy("/usr/bin/id", &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o6755)).unwrap();
    if fs::metadata(&copy).unwrap().uid() != 0 {
        eprintln!("skipped: only root can make a set-user-id program of another user here");
        return;
    }
    std::os::unix::fs::chown(&copy, Some(65_534), Some(65_534)).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o6755)).unwrap();
    assert_eq!(place.run("./id -u").stdout.text(), "0\n");
    let outside = Command::new(&copy).arg("-u").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&outside.stdout), "65534\n", "the control changes user");
}

#[test]
fn limits_hold() {
    let place = Place::new();
    let limits = Limits { open_files: 64, file_bytes: Some(4096), ..Limits::default() };
    let spec = BoxSpec { limits, ..place.spec("ulimit -n; ulimit -Hc; head -c 8192 /dev/zero > big; stat -c %s big") };
    assert_eq!(run_spec(&spec).stdout.text(), "64\n0\n4096\n");
    let spec =
        BoxSpec { limits: Limits { tmp_bytes: 1 << 20, ..limits }, ..place.spec("head -c 2000 /dev/zero > /tmp/a") };
    assert_eq!(run_spec(&spec).status, Exit::Code(0));
    let full = Limits { tmp_bytes: 1 << 20, ..Limits::default() };
    let spec = BoxSpec { limits: full, ..place.spec("head -c 4000000 /dev/zero > /tmp/a") };
    assert_ne!(run_spec(&spec).status, Exit::Code(0));
}

#[test]
fn no_terminal_can_be_opened() {
    let place = Place::new();
    assert_ne!(place.run("exec 3<>/dev/tty").status, Exit::Code(0));
    assert_eq!(place.run("ls /dev/pts").stdout.text(), "ptmx\n");
}

// Time and halt.

/// A tree that tries to survive: new sessions, ignored signals, double forks.
fn clinging(place: &Place, word: &str) -> BoxSpec {
    let script = place.at("work/cling.sh");
    fs::write(&script, "trap '' TERM HUP INT\nwhile :; do sleep 60; done\n").unwrap();
    let command = format!(
        "setsid bash cling.sh {word} & nohup bash cling.sh {word} & (setsid nohup bash cling.sh {word} &) ; \
         touch started; bash cling.sh {word}"
    );
    BoxSpec { timeout: Duration::from_secs(60), ..place.spec(&command) }
}

fn word(name: &str) -> String {
    format!("cling-{name}-{}", std::process::id())
}

#[test]
fn a_halt_kills_sessions_and_nohup_children() {
    let place = Place::new();
    let word = word("halt");
    let spec = clinging(&place, &word);
    let halt = HaltSignal::new().unwrap();
    let raiser = halt.clone();
    let output = std::thread::scope(|scope| {
        let running = scope.spawn(|| run(&helper(), &spec, &halt));
        wait_until("the tree started", || place.at("work/started").exists() && alive(&word));
        raiser.raise().unwrap();
        running.join().unwrap().unwrap()
    });
    assert_eq!(output.status, Exit::Halted);
    assert!(!alive(&word), "a child survived the halt");
}

#[test]
fn a_timeout_kills_sessions_and_nohup_children() {
    let place = Place::new();
    let word = word("timeout");
    let spec = BoxSpec { timeout: Duration::from_secs(3), ..clinging(&place, &word) };
    assert_eq!(run_spec(&spec).status, Exit::TimedOut);
    assert!(place.at("work/started").exists(), "the control: the tree had started");
    assert!(!alive(&word), "a child survived the timeout");
}

#[test]
fn what_a_command_leaves_running_dies_with_it() {
    let place = Place::new();
    let word = word("end");
    clinging(&place, &word);
    let output = place.run(&format!("(setsid nohup bash cling.sh {word} >/dev/null 2>&1 &); echo done"));
    assert_eq!((output.status, output.stdout.text().as_str()), (Exit::Code(0), "done\n"));
    assert!(!alive(&word));
}

/// The inner half of the next test: a guard that is killed while its box runs.
#[test]
fn guard_that_waits_for_its_box() {
    let Some(word) = std::env::var_os(GUARD) else { return };
    let place = Place::new();
    run_spec(&clinging(&place, word.to_str().unwrap()));
}

const GUARD: &str = "TOLLGATE_TEST_GUARD";

#[test]
fn a_box_dies_with_its_guard() {
    let (place, word) = (Place::new(), word("guard"));
    let mut guard = Command::new(std::env::current_exe().unwrap());
    guard
        .args(["--exact", "guard_that_waits_for_its_box"])
        .env(GUARD, &word)
        .env(BASE, place.at("outside"))
        .stdout(Stdio::null());
    let mut guard = guard.spawn().unwrap();
    wait_until("the tree started", || alive(&word));
    guard.kill().unwrap();
    guard.wait().unwrap();
    wait_until("the tree died", || !alive(&word));
}

#[test]
fn boxes_side_by_side_do_not_mix() {
    let place = Place::new();
    std::thread::scope(|scope| {
        let started = (0..12).map(|n| {
            let spec = BoxSpec { stdin: vec![b'x'; n], ..place.spec(&format!("wc -c; echo {n} >&2; exit {n}")) };
            (n, scope.spawn(move || run_spec(&spec)))
        });
        for (n, running) in started.collect::<Vec<_>>() {
            let output = running.join().unwrap();
            assert_eq!(output.status, Exit::Code(i32::try_from(n).unwrap()));
            assert_eq!((output.stdout.text(), output.stderr.text()), (format!("{n}\n"), format!("{n}\n")));
        }
    });
}

#[test]
fn a_guard_that_ignores_child_signals_still_hears_the_end() {
    let place = Place::new();
    let Some(python) = ["/usr/bin/python3"].into_iter().find(|path| Path::new(path).exists()) else {
        eprintln!("skipped: no python3 here to ignore a signal with");
        return;
    };
    let script =
        "import os,signal,sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])";
    let helper = place.at("ignoring-helper");
    let own = std::env::var_os(HELPER).unwrap_or_else(|| env!("CARGO_BIN_EXE_tollgate-box").into());
    fs::write(&helper, format!("#!/bin/sh\nexec {python} -c '{script}' {} \"$@\"\n", own.display())).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let output = run(&Helper::at(helper), &place.spec("exit 3"), &HaltSignal::new().unwrap()).unwrap();
    assert_eq!(output.status, Exit::Code(3));
}

#[test]
fn a_raised_halt_starts_nothing() {
    let place = Place::new();
    let halt = HaltSignal::new().unwrap();
    halt.raise().unwrap();
    assert!(matches!(run(&helper(), &place.spec("touch ran"), &halt), Err(BoxError::Halted)));
    assert!(!place.at("work/ran").exists());
}

#[test]
fn a_fork_bomb_ends_with_the_timeout() {
    let place = Place::new();
    let limits = Limits { processes: 100, ..Limits::default() };
    let spec = BoxSpec {
        limits,
        timeout: Duration::from_secs(2),
        ..place.spec("touch started; bomb() { bomb | bomb & }; bomb 2>/dev/null; while :; do sleep 60; done")
    };
    if !processes_are_bounded(&place) {
        eprintln!("skipped: this kernel does not bound the processes of this user in a box");
        return;
    }
    let output = run_spec(&spec);
    assert_eq!(output.status, Exit::TimedOut, "{}", text(&output));
    assert!(place.at("work/started").exists());
}

/// Says whether a limit on processes holds here: root's holds only where a pid namespace has its own maximum.
fn processes_are_bounded(place: &Place) -> bool {
    let limits = Limits { processes: 100, ..Limits::default() };
    let spec = BoxSpec { limits, ..place.spec("cat /proc/sys/kernel/pid_max; id -u") };
    let seen = run_spec(&spec).stdout.text();
    seen.starts_with("401\n") || !seen.ends_with("\n0\n")
}

#[test]
fn a_small_limit_on_processes_does_not_run_out_over_time() {
    let place = Place::new();
    let limits = Limits { processes: 20, ..Limits::default() };
    let spec = BoxSpec { limits, ..place.spec("for i in {1..700}; do (exit 3); [ $? = 3 ] || exit 1; done") };
    let output = run_spec(&spec);
    assert_eq!(output.status, Exit::Code(0), "{}", text(&output));
}

// The probe, and another user.

#[test]
fn every_claimed_wall_is_up_here() {
    let place = Place::new();
    let before = inventory(place.0.path());
    let walls = probe(&helper(), &place.at("outside"));
    let down: Vec<_> = walls.states().iter().filter(|(_, state)| *state != State::Up).collect();
    assert!(down.is_empty() && walls.claimed_all_up(), "{down:?}");
    assert_eq!(inventory(place.0.path()), before, "the probe leaves nothing behind");
    let Confinement::Partial(missing) = walls.confinement() else { panic!("this build has no seccomp") };
    assert_eq!(missing, Walls::not_built());
}

#[test]
fn a_helper_that_builds_nothing_has_every_wall_down() {
    let place = Place::new();
    let walls = probe(&Helper::at("/bin/true"), &place.at("outside"));
    assert!(!walls.claimed_all_up());
    assert!(walls.states().iter().all(|(_, state)| matches!(state, State::Down { .. })));
    assert_eq!(walls.confinement(), Confinement::Outside);
}

#[test]
fn a_wall_that_cannot_be_built_is_named_and_nothing_runs() {
    let place = Place::new();
    let spec = BoxSpec { cwd: place.at("absent"), ..place.spec("touch ran") };
    let error = run(&helper(), &spec, &HaltSignal::new().unwrap()).unwrap_err();
    assert!(matches!(error, BoxError::Wall { wall: Wall::WritableRoots, .. }), "{error}");
    assert!(!place.at("work/ran").exists());
}

/// Runs this whole suite once more as an ordinary user, with copies that this user can reach.
#[test]
fn the_suite_holds_for_an_ordinary_user_too() {
    if std::env::var_os(HELPER).is_some() {
        return;
    }
    let dir = tempfile::Builder::new().prefix("tollgate-suite-").tempdir_in("/var/tmp").unwrap();
    let own = fs::metadata(dir.path()).unwrap().uid();
    if own != 0 || !Path::new("/usr/bin/setpriv").exists() {
        eprintln!("skipped: needs root and setpriv to become another user (this run is uid {own})");
        return;
    }
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(std::env::current_exe().unwrap(), dir.path().join("suite")).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_tollgate-box"), dir.path().join("helper")).unwrap();
    let output = Command::new("/usr/bin/setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(dir.path().join("suite"))
        .args(["--test-threads=2", "--skip", "the_suite_holds_for_an_ordinary_user_too"])
        .env(HELPER, dir.path().join("helper"))
        .current_dir("/var/tmp")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
