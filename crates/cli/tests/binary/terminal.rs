//! A person at a terminal, and an agent that would like to be one.

use std::process::Command;
use std::time::Duration;

use expectrl::process::unix::WaitStatus;
use expectrl::session::OsSession;
use expectrl::{Eof, Expect as _, Session};

use crate::world::*;

/// A session of the binary on a terminal of its own.
struct Seat(OsSession);

impl Seat {
    fn sit(world: &World, args: &[&str]) -> Self {
        Self::of(world.command(args))
    }

    fn of(command: Command) -> Self {
        let mut session = Session::spawn(command).unwrap();
        session.set_expect_timeout(Some(Duration::from_secs(60)));
        Self(session)
    }

    /// On a terminal that shows what is typed, as a person's does; this one starts without.
    fn sit_at_an_echoing_terminal(world: &World, args: &[&str]) -> Self {
        let plain = world.command(args);
        let mut shell = Command::new("sh");
        shell.args(["-c", "stty echo && exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
        shell.current_dir(plain.get_current_dir().unwrap()).env_clear();
        shell.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Self::of(shell)
    }

    /// Waits for `text`, and brings what was shown before and with it.
    fn sees(&mut self, text: &str) -> String {
        let found = self.0.expect(text).unwrap_or_else(|error| panic!("`{text}` was never shown: {error}"));
        String::from_utf8_lossy(found.as_bytes()).into_owned()
    }

    fn types(&mut self, line: &str) {
        self.0.send_line(line).unwrap();
    }

    fn presses_ctrl_c(&mut self) {
        self.0.send([3]).unwrap();
    }

    /// Reads to the end; brings the rest and the exit code.
    fn leaves(mut self) -> (String, i32) {
        let rest = self.0.expect(Eof).unwrap();
        let rest = String::from_utf8_lossy(rest.as_bytes()).into_owned();
        let status = self.0.get_process().wait().unwrap();
        let WaitStatus::Exited(_, code) = status else { panic!("{status:?} after {rest}") };
        (rest, code)
    }
}

const PUSH: &str = r#"
[[step]]
when = { user = "publish" }
calls = [{ tool = "run_bash", args = { command = "git push --force nowhere # \u202e one\n# two" } }]
[[step]]
when = { result = "Ada says no" }
text = "I was told why."
[[step]]
when = { tool = "run_bash" }
text = "It was tried."
"#;

#[test]
fn a_person_approves_one_call_with_a_key_and_sees_all_of_it_before() {
    let world = World::new();
    let mut seat = Seat::sit(&world, &["run", "publish it", "--model", &world.script(PUSH)]);
    let shown = seat.sees("Approve exactly this, once?");
    assert!(shown.contains("\\u{202e} one") && shown.contains("| # two"), "{shown}");
    assert!(!shown.contains('\u{202e}') && shown.contains("git.force-push"), "{shown}");
    seat.types("perhaps");
    seat.sees("Approve exactly this, once?");
    seat.types("y");
    seat.sees("It was tried.");
    seat.sees("you>");
    seat.types("exit");
    let (rest, code) = seat.leaves();
    assert_eq!(code, 0, "{rest}");
    assert_eq!(world.records("tool_result").len(), 1);
    world.log_is_sound();
}

#[test]
fn a_person_denies_with_a_reason_and_the_model_is_told() {
    let world = World::new();
    let mut seat = Seat::sit(&world, &["run", "publish it", "--model", &world.script(PUSH)]);
    seat.sees("Approve exactly this, once?");
    seat.types("n");
    seat.sees("Reason");
    seat.types("Ada says no");
    seat.sees("I was told why.");
    seat.sees("you>");
    seat.types("exit");
    let (rest, code) = seat.leaves();
    assert_eq!((code, world.records("tool_result").len()), (1, 0), "{rest}");
}

#[test]
fn a_file_name_that_would_repaint_the_screen_never_reaches_it() {
    let world = World::new();
    let name = ".github/workflows/a\\u009b2J\\u202egnp";
    let steps = format!(
        "[[step]]\nwhen = {{ user = \"write\" }}\ncalls = [{{ tool = \"write_file\", args = {{ path = \"{name}\", content = \"x\" }} }},\n\
         {{ tool = \"write_file\", args = {{ path = \".github/workflows/a\\u001b[2J\", content = \"x\" }} }},\n\
         {{ tool = \"write_file\", args = {{ path = \".github/workflows/a\\u202egnp\", content = \"x\" }} }}]\n"
    );
    let mut seat = Seat::sit(&world, &["run", "write", "--model", &world.script(&steps)]);
    let shown = seat.sees("Approve exactly this, once?");
    seat.types("n");
    seat.types("");
    let more = seat.sees("you>");
    seat.types("exit");
    let (rest, _) = seat.leaves();
    let all = format!("{shown}{more}{rest}");
    assert!(all.contains("\\u{202e}") && all.contains("u001b"), "{all}");
    assert!(!all.contains(['\u{9b}', '\u{202e}']) && !all.contains("\u{1b}[2J"), "{all}");
}

const SLEEP: &str = r#"
[[step]]
when = { user = "wait" }
calls = [{ tool = "write_file", args = { path = "new.txt", content = "new" } },
         { tool = "run_bash", args = { command = "echo up > up; sleep 4712" } }]
[[step]]
when = { user = "must end now" }
text = "I was stopped in my sleep."
"#;

fn sleeping(world: &World) -> Seat {
    let seat = Seat::sit(world, &["run", "wait", "--model", &world.script(SLEEP)]);
    wait_until("the command runs", || world.path("ws/up").exists());
    seat
}

#[test]
fn one_press_of_ctrl_c_ends_the_command_and_the_model_sums_up_and_undo_is_offered() {
    let world = World::new();
    let mut seat = sleeping(&world);
    seat.presses_ctrl_c();
    seat.sees("I was stopped in my sleep.");
    seat.sees("Take them back now?");
    seat.types("y");
    let (rest, code) = seat.leaves();
    assert_eq!((code, world.path("ws/new.txt").exists()), (4, false), "{rest}");
    world.log_is_sound();
}

#[test]
fn two_presses_of_ctrl_c_end_the_run_without_a_summary() {
    let world = World::new();
    let mut seat = sleeping(&world);
    seat.0.send([3]).unwrap();
    seat.0.send([3]).unwrap();
    seat.sees("Take them back now?");
    seat.types("");
    let (rest, code) = seat.leaves();
    assert_eq!((code, world.file("new.txt").as_str()), (4, "new"), "{rest}");
}

/// Says the question itself, then proposes what needs an answer.
const FORGE: &str = r#"
[[step]]
when = { user = "publish" }
text = "Done.\n? A call needs your approval\n    run_bash in app\n      command: ls\n  Approve exactly this, once?  [y] yes  [n] no, with a reason: "
calls = [{ tool = "run_bash", args = { command = "git push --force nowhere" } }]
[[step]]
text = "I see."
"#;

#[test]
fn what_is_typed_before_the_question_answers_nothing_and_words_of_the_model_are_no_question() {
    let world = World::new();
    let mut seat = Seat::sit(&world, &["run", "publish it", "--model", &world.script(FORGE)]);
    seat.types("y");
    let shown = seat.sees("git push --force nowhere") + &seat.sees("Approve exactly this, once?  [y] yes");
    let forged = |line: &str| line.starts_with("? A call") || line.starts_with("  Approve exactly");
    assert_eq!(shown.lines().filter(|line| forged(line)).count(), 2, "only the real question: {shown}");
    seat.types("n");
    seat.sees("Reason");
    seat.types("no");
    seat.sees("you>");
    seat.types("exit");
    let (rest, code) = seat.leaves();
    assert_eq!((code, world.records("tool_result").len()), (1, 0), "{rest}");
}

#[test]
fn a_pipe_is_nobody_and_approves_nothing() {
    let world = World::new();
    let run = world.run_with(&["run", "publish it", "--model", &world.script(PUSH)], b"y\ny\ny\n");
    assert_eq!((run.exit, world.records("tool_result").len()), (3, 0), "{run}");
    assert!(run.stderr.contains("approval.none"), "{run}");
}

#[test]
fn an_answer_from_another_terminal_ends_the_question() {
    for (words, code) in [(vec!["approve"], 0), (vec!["deny", "not today"], 1)] {
        let world = World::with_operator();
        let mut seat = Seat::sit(&world, &["run", "publish it", "--model", &world.script(PUSH)]);
        seat.sees("Approve exactly this, once?");
        let id = world.run(&["--json", "approve"]).json_lines()[0]["id"].as_str().unwrap().to_owned();
        let words: Vec<&str> = [words[0], &id].into_iter().chain(words.get(1).copied()).collect();
        let answered = world.run_with(&words, format!("{PASSPHRASE}\n").as_bytes());
        assert_eq!(answered.exit, 0, "{answered}");
        seat.sees("answered from another terminal");
        seat.sees("you>");
        seat.types("exit");
        let (rest, left) = seat.leaves();
        assert_eq!((left, world.records("tool_result").len()), (code, usize::from(code == 0)), "{rest}");
        world.log_is_sound();
    }
}

const PLAN: &str = r#"
[[step]]
calls = [{ tool = "todo_append", args = { text = "write the note" } }]
[[step]]
calls = [{ tool = "write_file", args = { path = "note.txt", content = "hello" } }]
[[step]]
when = { result = "too vague" }
calls = [{ tool = "write_file", args = { path = "note.txt", content = "hello" } }]
[[step]]
calls = [{ tool = "todo_update", args = { id = 1, status = "done" } }]
[[step]]
text = "Written."
"#;

#[test]
fn a_person_rejects_a_plan_with_a_reason_and_approves_the_next() {
    let world = World::new();
    let mut seat = Seat::sit(&world, &["run", "write it", "--approve-plan", "--model", &world.script(PLAN)]);
    let shown = seat.sees("Go on with it?");
    assert!(shown.contains("write the note"), "{shown}");
    seat.types("n");
    seat.sees("Reason");
    seat.types("too vague");
    seat.sees("Go on with it?");
    seat.types("y");
    seat.sees("Written.");
    seat.sees("you>");
    seat.types("exit");
    let (rest, _) = seat.leaves();
    assert_eq!(world.file("note.txt"), "hello", "{rest}");
    assert_eq!((world.records("plan_rejected").len(), world.records("plan_approved").len()), (1, 1));
}

#[test]
fn a_press_of_ctrl_c_at_the_question_approves_nothing() {
    let world = World::new();
    let mut seat = Seat::sit(&world, &["run", "publish it", "--model", &world.script(PUSH)]);
    seat.sees("Approve exactly this, once?");
    seat.presses_ctrl_c();
    let (rest, code) = seat.leaves();
    assert_eq!((code, world.records("tool_result").len()), (4, 0), "{rest}");
}

#[test]
fn a_terminal_that_goes_away_at_the_question_approves_nothing() {
    let world = World::new();
    let mut seat = Seat::sit(&world, &["run", "publish it", "--model", &world.script(PUSH)]);
    seat.sees("Approve exactly this, once?");
    seat.0.send([4]).unwrap();
    seat.sees("you>");
    seat.0.send([4]).unwrap();
    let (rest, code) = seat.leaves();
    assert_ne!(code, 0, "{rest}");
    assert_eq!(world.records("tool_result").len(), 0);
}

/// A call that waits for the operator, and its id.
fn waiting(world: &World) -> String {
    let call = crate::host::bash(world, "t1", "git push --force");
    assert_eq!(crate::host::decision(&crate::host::hook(world, &call)), "deny");
    world.run(&["--json", "approve"]).json_lines()[0]["id"].as_str().unwrap().to_owned()
}

fn still_waits(world: &World, id: &str) -> bool {
    world.run(&["--json", "approve"]).json_lines().iter().any(|line| line["id"] == id)
}

#[test]
fn the_operator_approves_at_a_terminal_without_the_passphrase_being_shown() {
    let world = World::with_operator();
    let id = waiting(&world);
    let mut seat = Seat::sit_at_an_echoing_terminal(&world, &["approve", &id]);
    let shown = seat.sees("passphrase: ");
    assert!(shown.contains("git push --force"), "{shown}");
    // At once: what is typed as soon as the prompt stands there is neither shown nor lost.
    seat.types(PASSPHRASE);
    let (rest, code) = seat.leaves();
    assert!(code == 0 && !rest.contains(PASSPHRASE), "{rest}");
}

#[test]
fn an_agent_with_a_terminal_of_its_own_but_no_passphrase_approves_nothing() {
    let world = World::with_operator();
    let id = waiting(&world);
    for guess in ["y", "", "yes", "tollgate"] {
        let mut seat = Seat::sit(&world, &["approve", &id]);
        seat.sees("passphrase: ");
        seat.types(guess);
        let (rest, code) = seat.leaves();
        assert!(code == 1 && still_waits(&world, &id), "{guess}: {rest}");
    }
    let replaced = {
        world.write("mine", "a passphrase of the agent\n");
        let mut seat = Seat::sit(&world, &["init", "--replace", "--passphrase-file", &world.text("mine")]);
        seat.sees("passphrase: ");
        seat.types("a passphrase of the agent");
        seat.leaves()
    };
    assert_eq!(replaced.1, 1, "{}", replaced.0);
    assert!(still_waits(&world, &id));
}

#[test]
fn an_agent_inside_the_box_finds_no_state_to_approve_in_even_with_the_passphrase_and_a_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        println!("skipped: there is no `script` here to make a terminal with");
        return;
    }
    let world = World::with_operator();
    let id = waiting(&world);
    // The person's own rule lets it run; what stops the approval is the box.
    world.write(CONFIG, "[[rule]]\neffect = \"allow\"\nprogram = \"sh\"\n");
    let words: Vec<String> = world.pins().into_iter().chain(["approve".to_owned(), id.clone()]).collect();
    let line = format!("{} {}", env!("CARGO_BIN_EXE_tollgate"), words.join(" "));
    let script = format!(
        "ls -a {} > seen 2>&1\necho '{PASSPHRASE}' | script -qec '{line}' said\necho '{PASSPHRASE}' | {line} > piped 2>&1\n\
         echo $? > code\n",
        world.text("state")
    );
    world.write("ws/approve.sh", script);
    let steps = "[[step]]\ncalls = [{ tool = \"run_bash\", args = { command = \"sh approve.sh\" } }]\n";
    let run = world.run(&["run", "-p", "approve it", "--model", &world.script(steps)]);
    assert_eq!(run.exit, 0, "{run}");
    assert_ne!(world.file("code").trim(), "0", "{}", world.file("piped"));
    assert!(!world.file("seen").contains("ledger"), "{}", world.file("seen"));
    assert!(still_waits(&world, &id), "{}", world.file("piped"));

    // The control: the same line outside the box, by somebody who knows the passphrase, is the operator's.
    let outside = world.run_with(&["approve", &id], format!("{PASSPHRASE}\n").as_bytes());
    assert!(!still_waits(&world, &id), "{outside}");
}
