//! The whole way: a real gate judges a proposal, the hands take its permit, the gate settles what they did.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use tollgate_act::run::Commands;
use tollgate_act::sandbox::{self, HaltSignal, Helper};
use tollgate_act::undo::{How, Limits, Undo, Which};
use tollgate_act::{Doing, Hands};
use tollgate_call::facts::Confinement;
use tollgate_call::places::Layout;
use tollgate_call::{Door, Origin, Person, Proposal, Untrusted};
use tollgate_gate::{Approver, Clock, Entropy, Gate, NoEntropy, Seat, Told, Verdict};
use tollgate_ledger::{OpenOptions, RunId, SqliteStore, StateDir};
use tollgate_policy::Policy;
use tollgate_survey::{Destination, Surveyor};

use crate::room::{Room, meta};

struct Now;

impl Clock for Now {
    fn now_ms(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        i64::try_from(since.as_millis()).unwrap()
    }
}

struct Random;

impl Entropy for Random {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), NoEntropy> {
        getrandom::fill(bytes).map_err(|_| NoEntropy)
    }
}

struct Desk {
    room: Room,
    gate: Gate,
    seat: Seat,
    hands: Hands,
    halt: HaltSignal,
}

fn desk(doing: Doing) -> Desk {
    let room = Room::new();
    let (w, home) = (room.base.join("w"), room.base.join("home"));
    std::fs::create_dir_all(&home).unwrap();
    let mut layout = Layout::of(w.to_str().unwrap(), home.to_str().unwrap());
    layout.temp.clear();
    let surveyor = Surveyor::open(layout, "/usr/bin:/bin").unwrap().confinement(Confinement::Enforced);
    let dir = StateDir::open_or_create(&room.base.join("ledger")).unwrap();
    let (store, _) = SqliteStore::open(&dir, OpenOptions::at(Now.now_ms())).unwrap();
    let person = Person { home: home.to_str().unwrap().into(), user: "u".into() };
    let parts = (Arc::new(store), Arc::new(Now), Arc::new(Random));
    let builder = Gate::builder(Policy::builtin(), surveyor, parts.0, parts.1, parts.2, person);
    let (gate, seat) = builder.approver(Approver::Seat).open(RunId::parse("run-1").unwrap()).unwrap();
    let hands = Hands::new(Undo::open(&room.base.join("state")).unwrap(), "run-1", doing).commands(Commands {
        helper: Helper::at(PathBuf::from(env!("CARGO_BIN_EXE_tollgate-box"))),
        roots: vec![w.to_str().unwrap().to_owned()],
        hidden: vec![room.base.join("state")],
        guarded: Vec::new(),
        pointed: Vec::new(),
        env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        limits: sandbox::Limits::default(),
        kept: Limits::default(),
    });
    Desk { room, gate, seat, hands, halt: HaltSignal::new().unwrap() }
}

impl Desk {
    /// Submits, approves where asked, performs and settles.
    fn call(&self, tool: &str, args: &Value) -> Result<Told, String> {
        let proposal = Proposal {
            tool: Untrusted::new(tool.to_owned()),
            args: Untrusted::new(args.to_string().into_bytes()),
            origin: Origin {
                door: Door::Agent,
                run: "run-1".into(),
                call_id: "c".into(),
                cwd: self.room.w("").to_str().unwrap().trim_end_matches('/').into(),
            },
        };
        let permit = match self.gate.submit(&proposal) {
            Verdict::Permitted(permit) => permit,
            Verdict::Denied(denial) => return Err(denial.message()),
            Verdict::Pending(pending) => {
                let approval = self.seat.approve(&pending);
                let Verdict::Permitted(permit) = self.gate.redeem(*pending, approval) else { return Err("no".into()) };
                permit
            }
        };
        let outcome = self.hands.perform(*permit, &self.halt);
        self.gate.settle(outcome).map_err(|denial| denial.message())
    }

    fn ok(&self, tool: &str, args: &Value) -> String {
        let told = self.call(tool, args).unwrap();
        assert!(!told.is_error, "{}", told.text);
        told.text
    }

    fn bash(&self, command: &str) -> Result<Told, String> {
        self.call("run_bash", &json!({ "command": command }))
    }
}

#[test]
fn each_file_tool_does_what_was_permitted_and_undo_takes_it_back() {
    let desk = desk(Doing::Really);
    desk.room.put("notes.txt", "one\ntwo\n");
    let before = desk.room.inventory();
    assert!(desk.ok("read_file", &json!({"path": "notes.txt"})).contains("1\tone"));
    desk.ok("edit_file", &json!({"path": "notes.txt", "old_string": "two", "new_string": "2"}));
    desk.ok("write_file", &json!({"path": "sub/new.txt", "content": "hello\n"}));
    assert!(desk.ok("glob_files", &json!({"pattern": "**/*.txt"})).contains("sub/new.txt"));
    assert!(desk.ok("grep", &json!({"pattern": "hello"})).contains("sub/new.txt:1:hello"));
    assert!(desk.ok("grep", &json!({"pattern": "2", "path": "notes.txt"})).contains("notes.txt:2:2"));
    desk.ok("delete_file", &json!({"path": "notes.txt"}));
    assert_eq!(desk.room.inventory(), ["/sub/", "/sub/new.txt = hello\n"]);
    desk.hands.undo().undo(&Which::Run("run-1".into()), How::Careful, meta("o", "undo")).unwrap();
    assert_eq!(desk.room.inventory(), before);
}

#[test]
fn a_failed_deed_is_an_error_that_changed_nothing() {
    let desk = desk(Doing::Really);
    desk.room.put("f", "x x");
    let told = desk.call("edit_file", &json!({"path": "f", "old_string": "x", "new_string": "y"})).unwrap();
    assert!(told.is_error && told.text.contains("found 2 times"), "{}", told.text);
    assert_eq!(desk.room.text("f"), "x x");
}

#[test]
fn a_dry_run_shows_the_diff_and_does_nothing() {
    let desk = desk(Doing::Dry);
    desk.room.put("f", "one\ntwo\n");
    let before = desk.room.inventory();
    let told = desk.ok("edit_file", &json!({"path": "f", "old_string": "two", "new_string": "2"}));
    assert!(told.contains("-two\n+2\n"), "{told}");
    assert!(desk.ok("write_file", &json!({"path": "g", "content": "new\n"})).contains("+new"));
    assert!(desk.ok("delete_file", &json!({"path": "f"})).contains("would delete `f`"));
    assert!(desk.bash("touch made").unwrap().text.contains("would run"));
    assert!(desk.ok("read_file", &json!({"path": "f"})).contains("1\tone"));
    assert_eq!(desk.room.inventory(), before);
    assert!(desk.hands.undo().steps().unwrap().is_empty());
}

#[test]
fn a_raised_halt_means_that_nothing_is_done() {
    let desk = desk(Doing::Really);
    desk.halt.raise().unwrap();
    let told = desk.call("write_file", &json!({"path": "f", "content": "x"})).unwrap();
    assert!(told.is_error && !desk.room.there("f"), "{}", told.text);
}

#[test]
fn a_command_runs_in_the_box_and_what_it_changed_is_taken_back() {
    let desk = desk(Doing::Really);
    desk.room.put("f", "1");
    let told = desk.bash("echo out; echo err >&2; echo 2 > f; mkdir d; echo x > d/x; exit 3").unwrap();
    assert_eq!(told.text, "[exit code 3]\nout\n[stderr]\nerr\n");
    assert!(told.is_error);
    assert_eq!(desk.room.text("f"), "2\n");
    desk.hands.undo().undo(&Which::Last, How::Careful, meta("o", "undo")).unwrap();
    assert_eq!(desk.room.inventory(), ["/f = 1"]);
}

#[test]
fn protected_names_are_pinned_masked_and_taken_back_unless_the_command_names_them() {
    let desk = desk(Doing::Really);
    desk.room.put(".git/config", "[core]\n");
    desk.room.put(".env", "TOKEN=hidden\n");
    desk.room
        .put("evil.sh", "echo '[alias]' >> .git/config; mkdir -p .vscode; echo '{}' > .vscode/tasks.json; cat .env");
    let told = desk.bash("sh evil.sh").unwrap();
    assert_eq!(desk.room.text(".git/config"), "[core]\n");
    assert!(!told.text.contains("hidden"), "{}", told.text);
    assert!(!desk.room.there(".vscode/tasks.json"), "{}", told.text);
    assert!(told.text.contains("`.vscode/tasks.json`"), "{}", told.text);
    let named = desk.bash("mkdir .vscode && echo '{}' > .vscode/tasks.json").unwrap();
    assert!(desk.room.there(".vscode/tasks.json"), "{}", named.text);
}

#[test]
fn a_redirect_is_judged_by_the_gate_and_a_private_address_is_refused() {
    let desk = desk(Doing::Really);
    let from = Destination::dangerous_unjudged("http://a.example/".into(), "a.example".into(), 80, Vec::new());
    for url in ["http://127.0.0.1:1/", "http://169.254.169.254/latest", "http://[::1]/", "ftp://host.example/", "x"] {
        assert!(desk.gate.redirect(&from, url).is_err(), "{url}");
    }
}
