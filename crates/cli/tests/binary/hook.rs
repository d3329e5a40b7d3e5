//! The hook door for Claude Code, called as the host calls it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::host::*;
use crate::world::*;

#[test]
fn a_harmless_call_is_allowed_and_a_ruinous_one_denied() {
    let world = World::new();
    world.write("ws/a.txt", "a");
    let allow = hook(&world, &bash(&world, "t1", "ls"));
    let deny = hook(&world, &bash(&world, "t2", "rm -rf /"));
    let outside = hook(&world, &before(&world, "t3", "Write", &json!({ "file_path": "/etc/x", "content": "" })));
    assert_eq!([&allow, &deny, &outside].map(decision), ["allow", "deny", "deny"]);
    snapshot("hook", &[&allow, &deny, &outside]);
}

#[test]
fn what_asks_is_denied_with_a_word_about_init_until_there_is_an_operator() {
    let world = World::new();
    let answer = hook(&world, &bash(&world, "t1", "git push --force"));
    assert_eq!(decision(&answer), "deny");
    assert!(reason(&answer).contains("tollgate init"), "{answer}");
    assert_eq!(world.run(&["--json", "approve"]).stdout, "");
}

/// Asks for `command`, and brings the id under which it waits.
fn pending(world: &World, id: &str, command: &str) -> String {
    let answer = hook(world, &bash(world, id, command));
    assert_eq!(decision(&answer), "deny");
    let waiting = world.run(&["--json", "approve"]).json_lines();
    let id = waiting.last().unwrap()["id"].as_str().unwrap().to_owned();
    assert!(reason(&answer).contains(&format!("tollgate approve {id}")), "{answer}");
    id
}

fn approve(world: &World, id: &str, passphrase: &str) -> Exchange {
    world.run_with(&["approve", id], format!("{passphrase}\n").as_bytes())
}

#[test]
fn an_approved_call_passes_exactly_once_and_its_neighbour_never() {
    let world = World::with_operator();
    let id = pending(&world, "t1", "git push --force");
    let approved = approve(&world, &id, PASSPHRASE);
    assert_eq!(approved.exit, 0, "{approved}");

    let neighbour = hook(&world, &bash(&world, "t2", "git push --force origin"));
    let retried = hook(&world, &bash(&world, "t3", "git push --force"));
    let again = hook(&world, &bash(&world, "t4", "git push --force"));
    assert_eq!([&neighbour, &retried, &again].map(decision), ["deny", "allow", "deny"], "{retried}{again}");
    assert_eq!(approve(&world, &id, PASSPHRASE).exit, 1, "an answered call is not approved again");
    world.log_is_sound();
}

#[test]
fn a_no_after_a_yes_wins() {
    let world = World::with_operator();
    let id = pending(&world, "t1", "git push --force");
    assert_eq!(approve(&world, &id, PASSPHRASE).exit, 0);
    let denied = world.run(&["deny", &id, "on second thoughts"]);
    assert_eq!(denied.exit, 0, "{denied}");
    assert_eq!(decision(&hook(&world, &bash(&world, "t2", "git push --force"))), "deny");
}

fn git(world: &World, words: &[&str]) {
    let mut git = Command::new("git");
    let done = git.args(words).current_dir(world.path("ws")).env("HOME", world.path("home")).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[test]
fn an_approval_is_for_the_code_the_remote_and_the_hooks_that_were_there() {
    type Change = fn(&World);
    let changes: [(&str, Change); 5] = [
        ("python3 x.py", |world| {
            // In place: the same file, other code.
            let mut file = std::fs::File::options().write(true).truncate(true).open(world.path("ws/x.py")).unwrap();
            std::io::Write::write_all(&mut file, b"import shutil").unwrap();
        }),
        ("git push --force origin main", |world| {
            git(world, &["remote", "set-url", "origin", "https://evil.example/x"])
        }),
        ("git push --force origin main", |world| git(world, &["config", "core.sshCommand", "sh -c evil"])),
        ("git push --force origin main", |world| world.write("ws/.git/hooks/pre-push", "#!/bin/sh\nevil\n")),
        ("git push --force origin main", |world| git(world, &["config", "core.hooksPath", ".evil"])),
    ];
    for (command, change) in changes {
        for changed in [false, true] {
            let world = World::with_operator();
            git(&world, &["init", "-q", "-b", "main"]);
            git(&world, &["remote", "add", "origin", "https://example.org/x"]);
            world.write("ws/x.py", "print(1)");
            let id = pending(&world, "t1", command);
            assert_eq!(approve(&world, &id, PASSPHRASE).exit, 0);
            if changed {
                change(&world);
            }
            let retried = hook(&world, &bash(&world, "t2", command));
            assert_eq!(decision(&retried), if changed { "deny" } else { "allow" }, "{command} {changed}: {retried}");
        }
    }
}

#[test]
fn an_amount_that_a_double_does_not_hold_is_approved_to_the_last_digit() {
    let world = World::with_operator();
    let pay = |id: &str, amount: u64| hook(&world, &before(&world, id, "mcp__bank__pay", &json!({ "amount": amount })));
    assert_eq!(decision(&pay("t1", 9_007_199_254_740_993)), "deny");
    let id = world.run(&["--json", "approve"]).json_lines()[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(approve(&world, &id, PASSPHRASE).exit, 0);
    assert_eq!(decision(&pay("t2", 9_007_199_254_740_992)), "deny");
    assert_eq!(decision(&pay("t3", 9_007_199_254_740_993)), "allow");
}

#[test]
fn a_variable_that_is_no_text_stops_nothing() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    let mut command = world.command(&["hook", "claude-code"]);
    command.env("ODD_TOKEN", std::ffi::OsStr::from_bytes(b"\xff\xfe"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = command.spawn().unwrap();
    let call = bash(&world, "t1", "ls").to_string();
    std::io::Write::write_all(&mut running.stdin.take().unwrap(), call.as_bytes()).unwrap();
    let said = String::from_utf8(running.wait_with_output().unwrap().stdout).unwrap();
    assert!(said.contains("\"allow\""), "{said}");
}

#[test]
fn a_wrong_passphrase_approves_nothing_and_the_call_goes_on_waiting() {
    let world = World::with_operator();
    let id = pending(&world, "t1", "git push --force");
    for guess in ["", "guessed it", "correct horse batter", &format!("{PASSPHRASE} ")] {
        assert_eq!(approve(&world, &id, guess).exit, 1, "{guess}");
    }
    assert_eq!(decision(&hook(&world, &bash(&world, "t2", "git push --force"))), "deny");
    assert_eq!(approve(&world, &id, PASSPHRASE).exit, 0);
}

#[test]
fn a_denied_call_stays_denied_and_the_agent_is_told_why() {
    let world = World::with_operator();
    let id = pending(&world, "t1", "git push --force");
    assert_eq!(world.run(&["deny", &id, "ask Ada first"]).exit, 0);
    assert_eq!(approve(&world, &id, PASSPHRASE).exit, 1);
    let answer = hook(&world, &bash(&world, "t2", "git push --force"));
    assert_eq!(decision(&answer), "deny");
    let unknown = world.run_with(&["approve", "no-such-id"], format!("{PASSPHRASE}\n").as_bytes());
    assert_eq!(unknown.exit, 1, "{unknown}");
}

#[test]
fn a_waiting_call_is_listed_whole_with_control_characters_spelled_out() {
    let world = World::with_operator();
    let id = pending(&world, "t2", "git push --force \\\n  origin main # \u{202e}x");
    let listed = world.run(&["approve"]);
    assert!(listed.stdout.contains(&id) && listed.stdout.contains("origin main"), "{listed}");
    assert!(listed.stdout.contains("\\u{202e}") && !listed.stdout.contains('\u{202e}'), "{listed}");
}

#[test]
fn a_report_settles_the_advice_and_a_secret_in_it_is_taken_out_in_the_shape_it_came_in() {
    let world = World::new();
    let call = bash(&world, "t1", "ls");
    assert_eq!(decision(&hook(&world, &call)), "allow");
    let token = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let response = json!({ "stdout": format!("token={token}\n"), "stderr": "", "interrupted": false });
    let told = hook(&world, &after(call.clone(), response));
    assert!(told.exit == 0 && !told.stdout.contains(&token), "{told}");
    let shown = &told.json()["hookSpecificOutput"];
    assert_eq!(shown["hookEventName"], "PostToolUse");
    assert_eq!(shown["updatedToolOutput"]["interrupted"], false);
    assert!(shown["updatedToolOutput"]["stdout"].as_str().unwrap().starts_with("token="), "{told}");

    assert_eq!(world.records("tool_result").len(), 1);
    let log = std::fs::read_to_string(world.path("state/audit.jsonl")).unwrap();
    assert!(!log.contains(&token));
    let second = hook(&world, &after(call, json!({ "stdout": "x" })));
    assert_eq!((second.exit, second.stdout.as_str(), world.records("tool_result").len()), (0, "", 1));
}

#[test]
fn a_report_without_secrets_changes_nothing_that_the_model_reads() {
    let world = World::new();
    let call = bash(&world, "t1", "ls");
    hook(&world, &call);
    let told = hook(&world, &after(call, json!({ "stdout": "a.txt\n", "stderr": "" })));
    assert_eq!((told.exit, told.stdout.as_str()), (0, ""), "{told}");
}

#[test]
fn input_that_cannot_be_read_is_denied_twice_over() {
    let world = World::new();
    let whole = bash(&world, "t1", "ls").to_string();
    let twice = whole.replacen("\"ls\"", "\"ls\",\"command\":\"rm -rf /\"", 1);
    let mut bytes = whole.clone().into_bytes();
    bytes[30] = 0xff;
    let large = whole.replacen("does it", &"x".repeat(20 * 1024 * 1024), 1);
    let deep = whole.replacen("\"does it\"", &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), 1);
    let bad: Vec<(&str, Vec<u8>)> = vec![
        ("empty", Vec::new()),
        ("spaces", b" \n ".to_vec()),
        ("garbage", b"\0\x01\x02 hello".to_vec()),
        ("truncated", whole.as_bytes()[..whole.len() - 1].to_vec()),
        ("not UTF-8", bytes),
        ("a duplicate key", twice.into_bytes()),
        ("20 MB", large.into_bytes()),
        ("deep nesting", deep.into_bytes()),
        ("endless nesting", "[".repeat(2_000_000).into_bytes()),
        ("two values", format!("{whole}{whole}").into_bytes()),
        ("an array", format!("[{whole}]").into_bytes()),
        ("a number", b"1e999".to_vec()),
        ("a lone surrogate", whole.replacen("does it", "\\ud800", 1).into_bytes()),
    ];
    for (what, input) in bad {
        let answer = world.run_with(&["hook", "claude-code", "--event", "PreToolUse"], &input);
        assert!(answer.stdout.len() < 4_096, "{what}");
        blocks_twice(&answer);
    }
}

#[test]
fn a_payload_that_lacks_or_twists_a_field_is_denied() {
    let world = World::new();
    let mut bad = Vec::new();
    for field in ["session_id", "cwd", "hook_event_name", "tool_name", "tool_use_id"] {
        for wrong in [None, Some(json!(7)), Some(json!(null)), Some(json!(["x"]))] {
            let mut payload = bash(&world, "t1", "ls");
            match wrong {
                None => drop(payload.as_object_mut().unwrap().remove(field)),
                Some(wrong) => payload[field] = wrong,
            }
            bad.push(payload);
        }
    }
    for (field, wrong) in [("session_id", "../../etc"), ("session_id", ""), ("cwd", "relative"), ("cwd", "")] {
        let mut payload = bash(&world, "t1", "ls");
        payload[field] = wrong.into();
        bad.push(payload);
    }
    for payload in bad {
        blocks_twice(&hook(&world, &payload));
    }
}

#[test]
fn arguments_of_the_wrong_type_are_not_allowed() {
    let world = World::new();
    for input in [json!("ls"), json!(["ls"]), json!({ "command": 7 }), json!({ "command": ["ls"] }), json!({})] {
        assert_ne!(decision(&hook(&world, &before(&world, "t1", "Bash", &input))), "allow", "{input}");
    }
}

#[test]
fn an_event_that_the_gate_has_no_say_in_gets_an_empty_answer() {
    let world = World::new();
    for event in ["SessionStart", "Stop", "Notification", "AnEventOfNextYear"] {
        let mut payload = bash(&world, "t1", "rm -rf /");
        payload["hook_event_name"] = event.into();
        let answer = hook(&world, &payload);
        assert_eq!((answer.exit, answer.stdout.as_str()), (0, ""), "{answer}");
    }
}

#[test]
fn a_hook_that_was_installed_for_one_event_denies_another() {
    let world = World::new();
    let mut payload = bash(&world, "t1", "rm -rf /");
    payload["hook_event_name"] = "Stop".into();
    blocks_twice(&world.run_with(&["hook", "claude-code", "--event", "PreToolUse"], payload.to_string().as_bytes()));
}

#[test]
fn a_host_that_never_ends_its_input_is_answered_all_the_same() {
    let world = World::new();
    let words = ["hook", "claude-code"];
    let mut command = world.command(&words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let held = child.stdin.take();
    let answer = world.finish(&words, child);
    drop(held);
    blocks_twice(&answer);
}

#[test]
fn a_state_directory_that_cannot_be_used_denies() {
    type Spoil = fn(&World);
    let spoil: [(&str, Spoil); 4] = [
        ("open to others", |world| {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(world.path("state"), std::fs::Permissions::from_mode(0o777)).unwrap();
        }),
        ("a file", |world| {
            std::fs::remove_dir(world.path("state")).unwrap();
            world.write("state", "not a directory");
        }),
        ("a ledger that is none", |world| world.write("state/ledger.db", "garbage".repeat(10_000))),
        ("a damaged operator", |world| world.write("state/operator.json", "{")),
    ];
    for (what, spoil) in spoil {
        let world = World::new();
        spoil(&world);
        let answer = hook(&world, &bash(&world, "t1", "ls"));
        assert!(!answer.stdout.is_empty(), "{what}");
        blocks_twice(&answer);
    }
}

#[test]
fn a_configuration_that_cannot_be_read_or_makes_no_sense_denies() {
    let spoil: [fn(&World); 4] = [
        |world| world.write(CONFIG, "profle = \"strict\"\n"),
        |world| world.write(CONFIG, [0xff, 0xfe, 0]),
        |world| std::fs::create_dir_all(world.path(CONFIG)).unwrap(),
        |world| world.write("ws/tollgate.toml", "recipients = [\"x@y.example\"]\n"),
    ];
    for spoil in spoil {
        let world = World::new();
        spoil(&world);
        blocks_twice(&hook(&world, &bash(&world, "t1", "ls")));
    }
    let world = World::new();
    let nowhere = world.run_with(
        &["hook", "claude-code", "--root", "/no/such/place"],
        bash(&world, "t1", "ls").to_string().as_bytes(),
    );
    blocks_twice(&nowhere);
}

/// Mounts a small disk over the state directory where only this script sees it, spoils it, and calls the hook.
const SMALL_DISK: &str = r#"
    mount -t tmpfs -o size=1m,mode=700 none "$STATE" || exit 77
    if [ "$WHEN" = later ]; then "$@" <"$PAYLOAD" || exit 78; fi
    case "$HOW" in
        full) cat /dev/zero 2>/dev/null >"$STATE/fill"; cat /dev/zero 2>/dev/null >>"$STATE/fill" ;;
        read-only) mount -o remount,ro none "$STATE" || exit 77 ;;
    esac
    exec "$@" <"$PAYLOAD"
"#;

#[test]
fn a_full_or_a_read_only_disk_denies() {
    for (how, when) in [("full", "first"), ("full", "later"), ("read-only", "first"), ("read-only", "later")] {
        let world = World::new();
        world.write("payload", bash(&world, "t1", "ls").to_string());
        let words = [&world.pins()[..], &["hook".to_owned(), "claude-code".to_owned()]].concat();
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", SMALL_DISK, "sh"]);
        command.arg(env!("CARGO_BIN_EXE_tollgate")).args(words).current_dir(world.path("ws"));
        command.env("STATE", world.path("state")).env("PAYLOAD", world.path("payload"));
        command.env("HOW", how).env("WHEN", when);
        if let Err(error) = Command::new("unshare").arg("--version").output() {
            return println!("skipped: no `unshare` to mount a small disk with: {error}");
        }
        let answer = world.talk(command, &[how, when], b"");
        if answer.exit == 77 || answer.stderr.contains("unshare") {
            return println!("skipped: a small disk cannot be mounted here: {}", answer.stderr);
        }
        let last = answer.json_lines().pop().unwrap();
        assert_eq!(last["hookSpecificOutput"]["permissionDecision"], "deny", "{how} {when}: {answer}");
    }
}

fn samples() -> Option<PathBuf> {
    let given = std::env::var_os("TOLLGATE_SHARED").map(PathBuf::from);
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|dir| dir.join("shared"));
    given.into_iter().chain(above).map(|dir| dir.join("reference/samples")).find(|dir| dir.is_dir())
}

/// A payload that the host really sent, moved into this world's workspace.
fn sample(world: &World, file: &Path) -> Value {
    let text = std::fs::read_to_string(file).unwrap();
    serde_json::from_str(&text.replace("/home/dev/proj", &world.text("ws"))).unwrap()
}

#[test]
fn what_the_host_really_sent_is_understood() {
    let Some(dir) = samples() else {
        println!("skipped: no shared/reference/samples beside the workspace, and TOLLGATE_SHARED is not set");
        return;
    };
    let world = World::new();
    world.write("ws/a.txt", "alpha\nbeta\n");
    let expected =
        [("Bash", "allow"), ("Read", "allow"), ("Write", "allow"), ("Edit", "allow"), ("mcp__probe__echo", "deny")];
    for (tool, expected) in expected {
        let before = hook(&world, &sample(&world, &dir.join(format!("claude.PreToolUse.{tool}.in.json"))));
        assert_eq!(decision(&before), expected, "{before}");
        let after = hook(&world, &sample(&world, &dir.join(format!("claude.PostToolUse.{tool}.in.json"))));
        assert_eq!((after.exit, after.stdout.as_str()), (0, ""), "{after}");
    }
    for event in ["SessionStart", "SessionEnd", "Stop", "UserPromptSubmit", "PostToolBatch", "PermissionRequest.Bash"] {
        let answer = hook(&world, &sample(&world, &dir.join(format!("claude.{event}.in.json"))));
        assert_eq!((answer.exit, answer.stdout.as_str()), (0, ""), "{answer}");
    }
    println!("{} samples of calls and 6 of other events run", 2 * expected.len());
    world.log_is_sound();
}
