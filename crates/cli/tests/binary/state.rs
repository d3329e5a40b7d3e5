//! A state directory in trouble, and names that would forge what is shown.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use crate::halts::LS;
use crate::host;
use crate::world::*;

fn fifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg("-m600").arg(path).status().unwrap().success());
}

const WRITE: &str = "[[step]]\ncalls = [{ tool = \"write_file\", args = { path = \"a.txt\", content = \"new\" } }]\n";

#[test]
fn a_file_is_taken_back_by_its_name_also_through_a_link_to_its_directory() {
    let world = World::new();
    world.write("ws/a.txt", "old");
    symlink(world.path("ws"), world.path("alias")).unwrap();
    for name in ["a.txt".to_owned(), world.text("ws/a.txt"), world.text("alias/a.txt")] {
        assert_eq!(world.run(&["run", "-p", "write", "--model", &world.script(WRITE)]).exit, 0);
        assert_eq!(world.file("a.txt"), "new");
        let undone = world.run(&["undo", "--file", &name]);
        assert_eq!((undone.exit, world.file("a.txt").as_str()), (0, "old"), "{undone}");
    }
    assert_eq!(world.run(&["undo", "--file", "b.txt"]).exit, 1);
}

#[test]
fn a_ledger_that_cannot_be_written_does_not_stop_a_halt() {
    let world = World::with_operator();
    assert_eq!(host::decision(&world.run_with(&["hook", "claude-code"], LS.as_bytes())), "allow");
    let full = {
        let mut halt = Command::new("sh");
        // No file of this process may grow: what a full disk is to a ledger.
        halt.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_tollgate"));
        halt.args(world.pins()).args(["halt", "disk is full"]).output().unwrap()
    };
    assert!(full.status.success(), "{full:?}");
    assert!(world.path("state/HALT").exists(), "{full:?}");
    let after = world.run_with(&["hook", "claude-code"], LS.as_bytes());
    assert_eq!(after.json()["continue"].as_bool(), Some(false), "{after}");
    let resumed = world.run_with(&["resume"], format!("{PASSPHRASE}\n").as_bytes());
    assert_eq!((resumed.exit, world.path("state/HALT").exists()), (0, false), "{resumed}");
    let call = LS.replace("toolu", "again");
    assert_eq!(host::decision(&world.run_with(&["hook", "claude-code"], call.as_bytes())), "allow");
}

#[test]
fn a_hook_whose_ledger_cannot_grow_denies() {
    let world = World::new();
    assert_eq!(host::decision(&world.run_with(&["hook", "claude-code"], LS.as_bytes())), "allow");
    let mut hook = Command::new("sh");
    hook.args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""]).arg(env!("CARGO_BIN_EXE_tollgate")).args(world.pins());
    hook.args(["hook", "claude-code"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = hook.spawn().unwrap();
    std::io::Write::write_all(&mut running.stdin.take().unwrap(), LS.replace("toolu", "again").as_bytes()).unwrap();
    let said = running.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&said.stdout).contains("\"deny\""), "{said:?}");
}

#[test]
fn the_name_of_the_flag_counts_whatever_it_is() {
    let world = World::with_operator();
    let resume = || assert_eq!(world.run_with(&["resume"], format!("{PASSPHRASE}\n").as_bytes()).exit, 0);
    let halted = || {
        let answer = world.run_with(&["hook", "claude-code"], LS.as_bytes());
        assert_eq!(answer.json()["continue"].as_bool(), Some(false), "{answer}");
    };
    symlink("/nowhere", world.path("state/HALT")).unwrap();
    halted();
    resume();
    std::fs::create_dir(world.path("state/HALT")).unwrap();
    halted();
    resume();
    assert!(world.path("state/HALT").symlink_metadata().is_err());
}

#[test]
fn an_answer_that_nobody_gets_is_a_block() {
    let world = World::new();
    let mut hook = world.command(&["hook", "claude-code"]);
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut running = hook.stdin(Stdio::piped()).stdout(full).stderr(Stdio::null()).spawn().unwrap();
    std::io::Write::write_all(&mut running.stdin.take().unwrap(), LS.as_bytes()).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(2));
}

#[test]
fn a_pipe_in_the_place_of_the_log_is_reported_and_the_log_is_written_anew() {
    let world = World::new();
    assert_eq!(world.run(&["run", "-p", "write", "--model", &world.script(WRITE)]).exit, 0);
    let file = world.path("state/audit.jsonl");
    std::fs::remove_file(&file).unwrap();
    fifo(&file);
    assert_eq!(world.run(&["log", "verify"]).exit, 8);
    assert_eq!(world.run(&["log", "verify", &world.text("state/audit.jsonl")]).exit, 8);
    let rebuilt = world.run(&["log", "rebuild"]);
    assert_eq!(rebuilt.exit, 0, "{rebuilt}");
    world.log_is_sound();
}

#[test]
fn what_others_can_write_is_not_believed() {
    for name in ["operator.json", "ledger.db-wal"] {
        let world = World::with_operator();
        assert_eq!(host::decision(&world.run_with(&["hook", "claude-code"], LS.as_bytes())), "allow");
        let path = world.path("state").join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666)).unwrap();
        let hook = world.run_with(&["hook", "claude-code"], LS.replace("toolu", "again").as_bytes());
        host::blocks_twice(&hook);
        assert!(host::reason(&hook).contains(name), "{hook}");
    }
}

#[test]
fn a_name_with_a_line_break_forges_no_line() {
    let world = World::new();
    // Written by the person, so that running it is the project's own code; no tool of ours makes such a name.
    world.write("ws/name.sh", "echo x > \"$(printf 'a\\nrestored everything')\"\n");
    world.write(CONFIG, "[[rule]]\neffect = \"allow\"\nprogram = \"sh\"\n");
    let steps = "[[step]]\ncalls = [{ tool = \"run_bash\", args = { command = \"sh name.sh\" } },\n\
                 { tool = \"make\\nit so\", args = {} }]\n";
    let run = world.run(&["run", "-p", "write", "--model", &world.script(steps)]);
    let (list, show) = (world.run(&["undo", "--list"]), world.run(&["log", "show"]));
    assert!(list.stdout.contains("a\\nrestored everything"), "{list}");
    for shown in [&run.stderr, &run.stdout, &list.stdout, &show.stdout] {
        let forged = |line: &str| line.trim_start().starts_with("restored") || line.trim_start().starts_with("it so");
        assert!(!shown.lines().any(forged), "{shown}");
    }
}

#[test]
fn a_command_leaves_alone_what_a_protected_link_or_git_points_at() {
    let world = World::new();
    world.write("ws/real/settings.json", "{}");
    symlink("real", world.path("ws/.claude")).unwrap();
    world.write("ws/.git/HEAD", "ref: refs/heads/main\n");
    world.write("ws/.git/config", "[core]\n\thooksPath = tools/hooks\n");
    // Written by the person, so that running it is the project's own code; its text is not judged.
    let script =
        "echo evil > real/settings.json; mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit; echo ok > ok\n";
    world.write("ws/build.sh", script);
    world.write(CONFIG, "[[rule]]\neffect = \"allow\"\nprogram = \"sh\"\n");
    let steps = "[[step]]\ncalls = [{ tool = \"run_bash\", args = { command = \"sh build.sh\" } },\n\
                 { tool = \"write_file\", args = { path = \"tools/hooks/pre-push\", content = \"x\" } }]\n";
    let run = world.run(&["run", "-p", "build", "--model", &world.script(steps)]);
    assert_eq!((world.file("ok").as_str(), world.file("real/settings.json").as_str()), ("ok\n", "{}"), "{run}");
    assert!(
        !world.path("ws/tools/hooks/pre-commit").exists() && !world.path("ws/tools/hooks/pre-push").exists(),
        "{run}"
    );
    assert_eq!(run.exit, 3, "the write of the file tool is a question: {run}");
}
