//! The hook in a host agent's settings: put in, taken out, and started from there.

use serde_json::Value;

use crate::host::*;
use crate::world::*;

const SETTINGS: &str = "home/.claude/settings.json";

/// Settings of a person who has a hook of their own, in an order of their own.
const THEIRS: &str = r#"{
  "theme": "dark",
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "/usr/bin/lint", "timeout": 3 }] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "/usr/bin/bell" }] }]
  },
  "alpha": [3, 1, 2]
}"#;

fn settings(world: &World) -> Value {
    serde_json::from_str(&std::fs::read_to_string(world.path(SETTINGS)).unwrap()).unwrap()
}

fn ordered(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn installing_twice_changes_nothing_and_uninstalling_gives_back_what_was_there() {
    let world = World::new();
    world.write(SETTINGS, THEIRS);
    let first = world.run(&["install", "claude-code"]);
    let once = std::fs::read(world.path(SETTINGS)).unwrap();
    let second = world.run(&["--json", "install", "claude-code"]);
    assert_eq!((first.exit, second.exit, second.json()["changed"].as_bool()), (0, 0, Some(false)));
    assert_eq!(std::fs::read(world.path(SETTINGS)).unwrap(), once);
    let backup = std::fs::read_to_string(world.path("home/.claude/settings.json.tollgate-backup")).unwrap();
    assert_eq!(backup, THEIRS);

    let installed = settings(&world);
    assert_eq!(installed["hooks"]["PreToolUse"][0]["hooks"][0]["command"], "/usr/bin/lint");
    let keys: Vec<&String> = installed.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["theme", "hooks", "alpha"]);

    let out = world.run(&["uninstall", "claude-code"]);
    assert_eq!(out.exit, 0, "{out}");
    assert_eq!(ordered(&settings(&world)), ordered(&serde_json::from_str(THEIRS).unwrap()));
    let masked = insta_safe(&ordered(&installed));
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("installed", masked.replace(world.path("").to_str().unwrap(), "<world>/"));
    });
}

/// The binary lies in another place on every machine.
fn insta_safe(text: &str) -> String {
    text.replace(env!("CARGO_BIN_EXE_tollgate"), "<tollgate>")
}

#[test]
fn settings_that_cannot_be_understood_are_left_as_they_are() {
    let repeated = r#"{"hooks":{},"hooks":{"Stop":[]}}"#;
    for text in ["{ \"hooks\": ", "[]", "// comment\n{}", repeated, r#"{"hooks":[]}"#, r#"{"hooks":{"PreToolUse":{}}}"#]
    {
        let world = World::new();
        world.write(SETTINGS, text);
        let refused = world.run(&["install", "claude-code"]);
        assert_eq!((refused.exit, refused.stdout.as_str()), (7, ""), "{text}: {refused}");
        assert_eq!(std::fs::read_to_string(world.path(SETTINGS)).unwrap(), text);
        assert!(!world.path("home/.claude/settings.json.tollgate-backup").exists());
    }
}

#[test]
fn settings_that_are_a_link_stay_one() {
    let world = World::new();
    world.write("dotfiles/claude.json", THEIRS);
    std::fs::create_dir(world.path("home/.claude")).unwrap();
    std::os::unix::fs::symlink(world.path("dotfiles/claude.json"), world.path(SETTINGS)).unwrap();
    assert_eq!(world.run(&["install", "claude-code"]).exit, 0);
    assert!(std::fs::symlink_metadata(world.path(SETTINGS)).unwrap().is_symlink());
    assert!(std::fs::read_to_string(world.path("dotfiles/claude.json")).unwrap().contains("claude-code"));
}

#[test]
fn an_uninstall_where_nothing_was_installed_makes_no_file() {
    let world = World::new();
    assert_eq!(world.run(&["uninstall", "claude-code"]).exit, 0);
    assert!(!world.path(SETTINGS).exists());
}

#[test]
fn the_installed_line_judges_as_the_host_starts_it() {
    let world = World::with_operator();
    assert_eq!(world.run(&["install", "claude-code"]).exit, 0);
    let settings = settings(&world);
    let say = |event: &str, payload: &Value| {
        world.talk(installed(&world, &settings, event), &["(installed)"], payload.to_string().as_bytes())
    };
    let ls = bash(&world, "t1", "ls");
    assert_eq!(decision(&say("PreToolUse", &ls)), "allow");
    let told = say("PostToolUse", &after(ls, serde_json::json!({ "stdout": "" })));
    assert_eq!((told.exit, told.stdout.as_str()), (0, ""), "{told}");
    assert_eq!(decision(&say("PreToolUse", &bash(&world, "t2", "rm -rf ~"))), "deny");
    let own = bash(&world, "t3", &format!("rm {}", world.text("state/audit.jsonl")));
    assert_eq!(decision(&say("PreToolUse", &own)), "deny");
    assert_eq!(world.records("decision").len(), 3, "the line is pinned to this installation's state");
}

#[test]
fn an_installation_for_one_project_pins_its_root() {
    let world = World::new();
    world.write("other/b.txt", "");
    assert_eq!(world.run(&["install", "claude-code", "--project", &world.text("ws")]).exit, 0);
    let text = std::fs::read_to_string(world.path("ws/.claude/settings.json")).unwrap();
    let mut command = installed(&world, &serde_json::from_str(&text).unwrap(), "PreToolUse");
    command.current_dir(world.path("other"));
    let mut payload = bash(&world, "t1", "rm b.txt");
    payload["cwd"] = world.text("other").into();
    let answer = world.talk(command, &["(installed)"], payload.to_string().as_bytes());
    assert_eq!(decision(&answer), "deny", "the payload's directory does not become a root: {answer}");
}
