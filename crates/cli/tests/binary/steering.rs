//! Plans, nudges and warnings around a run.

use crate::world::*;

fn run(world: &World, steps: &str, flags: &[&str]) -> Exchange {
    let model = world.script(steps);
    let words: Vec<&str> = ["run", "-p", "do it", "--model", &model].into_iter().chain(flags.iter().copied()).collect();
    world.run(&words)
}

const PLANNED: &str = r#"
[[step]]
calls = [{ tool = "todo_append", args = { text = "write the note" } }]
[[step]]
calls = [{ tool = "write_file", args = { path = "note.txt", content = "hello" } }]
[[step]]
when = { result = "nobody is there" }
text = "I would write the note."
[[step]]
when = { tool = "write_file" }
calls = [{ tool = "todo_update", args = { id = 1, status = "done" } }]
[[step]]
text = "Written."
"#;

#[test]
fn a_plan_that_nobody_approves_is_not_begun() {
    let world = World::new();
    let told = run(&world, PLANNED, &["--approve-plan"]);
    assert_eq!((told.exit, world.path("ws/note.txt").exists()), (3, false), "{told}");
    let rejected = world.records("plan_rejected");
    assert!(rejected[0]["data"]["plan"].as_str().unwrap().contains("write the note"), "{rejected:?}");
    // The control: without the flag the same plan is carried out.
    assert_eq!((run(&world, PLANNED, &[]).exit, world.file("note.txt").as_str()), (0, "hello"));
}

#[test]
fn open_items_of_the_plan_are_asked_about_once() {
    let world = World::new();
    let steps = "[[step]]\ncalls = [{ tool = \"todo_append\", args = { text = \"mend it\" } }]\n\
                 [[step]]\nwhen = { tool = \"todo_append\" }\ntext = \"Done.\"\n\
                 [[step]]\nwhen = { user = \"still has open items\" }\ntext = \"It could not be mended.\"\n\
                 [[step]]\nwhen = { user = \"still has open items\" }\ntext = \"NEVER SAID\"\n";
    let told = run(&world, steps, &[]);
    assert!(told.exit == 0 && told.stdout.contains("could not be mended") && !told.stdout.contains("NEVER"), "{told}");
}

#[test]
fn a_model_that_says_nothing_is_asked_once_more_and_then_left() {
    let world = World::new();
    let told =
        run(&world, "[[step]]\ntext = \" \"\n[[step]]\nwhen = { user = \"was empty\" }\ntext = \"Here.\"\n", &[]);
    assert!(told.exit == 0 && told.stdout.contains("Here."), "{told}");
    let silent = run(&world, "[[step]]\ntimes = 9\ntext = \" \"\n", &[]);
    assert_eq!(silent.exit, 6, "{silent}");
}

#[test]
fn a_message_with_a_secret_in_it_is_not_sent() {
    let world = World::new();
    let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let model = world.script("[[step]]\ntext = \"hi\"\n");
    let told = world.run(&["run", "-p", &format!("use {key} for the push"), "--model", &model]);
    assert_eq!(told.exit, 2, "{told}");
    assert!(!told.stderr.contains(&key) && told.stderr.contains("github-token"), "{told}");
    let log = std::fs::read_to_string(world.path("state/audit.jsonl")).unwrap_or_default();
    assert!(!log.contains("model_request"), "{log}");
    // A value that this process holds is known, whatever it looks like.
    let mut known = world.command(&["run", "-p", "log in with correct-horse", "--model", &model]);
    known.env("MAIL_PASSWORD", "correct-horse");
    let told = world.talk(known, &["run (known)"], b"");
    assert_eq!(told.exit, 2, "{told}");
    assert_eq!(world.run(&["run", "-p", "log in with correct-horse", "--model", &model]).exit, 0);
}

#[test]
fn names_of_secrets_are_on_the_record_and_values_nowhere() {
    let world = World::new();
    world.write("home/.ssh/id_ed25519", "PRIVATE");
    let model = world.script("[[step]]\ntext = \"hi\"\n");
    let mut command = world.command(&["run", "-p", "go", "--model", &model]);
    command.env("MAIL_PASSWORD", "correct-horse");
    assert_eq!(world.talk(command, &["run (env)"], b"").exit, 0);
    let exposed = &world.records("config")[0]["data"]["exposed"];
    assert_eq!(exposed.to_string(), r#"{"places":["~/.ssh"],"unhidden":[],"variables":["MAIL_PASSWORD"]}"#);
    let doctor = world.run(&["doctor"]);
    assert!(doctor.stdout.contains("~/.ssh") && !doctor.stdout.contains("PRIVATE"), "{doctor}");
    let log = std::fs::read_to_string(world.path("state/audit.jsonl")).unwrap();
    assert!(!log.contains("correct-horse") && !log.contains("PRIVATE"));
}

#[test]
fn content_reaches_the_model_in_a_frame_of_this_run() {
    // The script sees what the model is sent: it answers only if the frame is there and nothing in it is hidden.
    let world = World::new();
    world.write("ws/a.txt", "order \u{202e}66\n");
    let steps = "[[step]]\ncalls = [{ tool = \"read_file\", args = { path = \"a.txt\" } }]\n\
                 [[step]]\nwhen = { result = \"~(?s)^\\\\[content [0-9a-f]{16}\\\\]\\n.*order .u\\\\{202e\\\\}66.*\\\\[end of content [0-9a-f]{16}\\\\]$\" }\n\
                 text = \"framed\"\n[[step]]\ntext = \"bare\"\n";
    let told = run(&world, steps, &[]);
    assert!(told.stdout.contains("framed"), "{told}");
}

fn reads(n: usize) -> String {
    (0..n)
        .map(|n| format!("[[step]]\ncalls = [{{ tool = \"read_file\", args = {{ path = \"f{n}.txt\" }} }}]\n"))
        .collect()
}

#[test]
fn all_runs_of_a_day_share_its_caps_and_budget_show_tells() {
    let world = World::new();
    (0..9).for_each(|n| world.write(&format!("ws/f{n}.txt"), "x"));
    world.write(CONFIG, "[caps.day]\ntool_calls = 5\n");
    let first = run(&world, &reads(3), &[]);
    assert_eq!(first.exit, 0, "{first}");
    let second = run(&world, &reads(4), &[]);
    assert_eq!(second.exit, 1, "{second}");
    assert!(second.stderr.contains("budget.calls"), "{second}");
    assert_eq!(world.records("tool_result").len(), 5);
    let shown = world.run(&["--json", "budget", "show"]);
    let day =
        shown.json_lines().into_iter().find(|line| line["scope"].as_str().unwrap().starts_with("user:day:")).unwrap();
    assert_eq!((&day["counter"], &day["used"], &day["cap"]), (&"calls".into(), &5.into(), &5.into()), "{shown}");
    let told = world.run(&["budget", "show", "--run", "last"]);
    assert!(told.exit == 0 && told.stdout.contains("calls:read_file"), "{told}");
}

#[test]
fn a_cap_that_is_mostly_used_up_is_told_once() {
    let world = World::new();
    (0..9).for_each(|n| world.write(&format!("ws/f{n}.txt"), "x"));
    let told = run(&world, &reads(5), &["--max-tool-calls", "5"]);
    let words = "4 of the 5 `calls` of this run are used";
    assert_eq!((told.exit, told.stderr.matches(words).count()), (0, 1), "{told}");
}

#[test]
fn a_rule_on_a_subcommand_lifts_one_question_and_policy_check_tries_its_examples() {
    let world = World::new();
    let rule = "[[rule]]\neffect = \"allow\"\nprogram = \"git\"\nsubcommand = \"remote set-url\"\n\
                matches = [\"git remote set-url origin x\"]\nnot_matches = [\"git remote set-url origin x > .env\"]\n";
    let check = |command: &str| world.run(&["check", command]).exit;
    assert_eq!(check("git remote set-url origin https://example.org/x"), 3);
    world.write(CONFIG, rule);
    assert_eq!(check("git remote set-url origin https://example.org/x"), 0);
    assert_eq!(check("git remote set-url origin x > .git/hooks/pre-push"), 3, "what stands beside is not covered");
    assert_eq!(check("git config core.sshCommand x"), 3);
    let sound = world.run(&["policy", "check"]);
    world.write("draft.toml", rule.replace("not_matches = [\"", "not_matches = [\"git remote set-url a b\", \""));
    let wrong = world.run(&["policy", "check", &world.text("draft.toml")]);
    assert_eq!((sound.exit, wrong.exit), (0, 1), "{sound}{wrong}");
    snapshot("policy-check", &[&sound, &wrong]);
}
