//! The kill switch, from another process.

use std::path::Path;

use crate::world::*;

/// A command that leaves children in sessions of their own, and says who they are.
const TREE: &str = r#"
[[step]]
calls = [{ tool = "run_bash", args = { command = "sh tree.sh" } }]
[[step]]
text = "The command ended."
"#;

/// Written by the person, so that running it is the project's own code.
const SCRIPT: &str = "setsid sleep 4711 &\nnohup sleep 4711 >nohup.log 2>&1 &\necho up > up\nsleep 4711\n";

/// Processes of this machine whose command line is the marked sleep and whose directory is this workspace.
/// Namespaces hide the box's own numbers, so the search is by what the processes are.
fn sleepers(ws: &Path) -> usize {
    let marked = |entry: &std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let cwd = std::fs::read_link(entry.path().join("cwd")).unwrap_or_default();
        line == b"sleep\x004711\0" && cwd == ws
    };
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).filter(marked).count()
}

#[test]
fn a_halt_kills_the_whole_tree_and_denies_every_later_call_until_the_operator_resumes() {
    let world = World::with_operator();
    world.write("ws/tree.sh", SCRIPT);
    world.write(CONFIG, "[[rule]]\neffect = \"allow\"\nprogram = \"sh\"\n");
    let model = world.script(TREE);
    let words = ["run", "-p", "wait", "--model", &model];
    let running = world.start(&words);
    let ws = world.path("ws");
    wait_until("the command and its children run", || world.path("ws/up").exists() && sleepers(&ws) == 3);

    let halted = world.run(&["halt", "that is enough"]);
    let ended = world.finish(&words, running);
    wait_until("nothing of the tree is left", || sleepers(&ws) == 0);
    assert_eq!((halted.exit, ended.exit), (0, 4), "{ended}");

    let later = world.run(&["run", "-p", "again", "--model", &world.script("[[step]]\ntext = \"hi\"\n")]);
    let hook = world.run_with(&["hook", "claude-code"], LS.as_bytes());
    assert_eq!((later.exit, hook.json()["continue"].as_bool()), (4, Some(false)), "{later}{hook}");

    let guessed = world.run_with(&["resume"], b"guessed it\n");
    let silent = world.run(&["resume"]);
    let resumed = world.run_with(&["resume"], format!("{PASSPHRASE}\n").as_bytes());
    assert_eq!((guessed.exit, silent.exit, resumed.exit), (1, 1, 0), "{guessed}{silent}{resumed}");
    let after = world.run_with(&["hook", "claude-code"], LS.as_bytes());
    assert_eq!(after.json()["hookSpecificOutput"]["permissionDecision"], "allow", "{after}");
    snapshot("halt", &[&halted, &ended, &later, &guessed, &silent]);
    world.log_is_sound();
}

/// A harmless call of a host agent.
pub(crate) const LS: &str = r#"{"session_id":"s-1","cwd":"/","hook_event_name":"PreToolUse",
    "tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"}"#;

#[test]
fn a_flag_file_halts_like_the_verb_and_resume_removes_it() {
    let world = World::with_operator();
    world.write("state/HALT", "");
    let hook = world.run_with(&["hook", "claude-code"], LS.as_bytes());
    assert_eq!(hook.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{hook}");
    assert_eq!(hook.json()["continue"], false);
    let resumed = world.run_with(&["resume"], format!("{PASSPHRASE}\n").as_bytes());
    assert!(resumed.exit == 0 && !world.path("state/HALT").exists(), "{resumed}");
}

#[test]
fn a_halt_of_one_run_leaves_the_others_alone() {
    let world = World::new();
    assert_eq!(world.run(&["halt", "--run", "s-1"]).exit, 0);
    let halted = world.run_with(&["hook", "claude-code"], LS.as_bytes());
    let other = world.run_with(&["hook", "claude-code"], LS.replace("s-1", "s-2").as_bytes());
    assert_eq!(halted.json()["continue"], false, "{halted}");
    assert_eq!(other.json()["hookSpecificOutput"]["permissionDecision"], "allow", "{other}");
}
