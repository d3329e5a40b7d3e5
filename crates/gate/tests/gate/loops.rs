//! The same again, without anything having changed.

use crate::support::*;

#[test]
fn three_identical_calls_pass_and_the_fourth_says_so() {
    let world = World::new();
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    for _ in 0..3 {
        done(&gate, &world.read("a"));
    }
    let denial = denial(gate.submit(&world.read("a")));
    assert_eq!((denial.rule.as_str(), denial.kind), ("loop.identical", DenialKind::Budget));
    assert!(denial.message().contains("identical call repeated 4 times"), "{}", denial.message());
}

#[test]
fn a_loop_is_seen_over_several_processes() {
    let world = World::new();
    world.file("a", "x");
    for _ in 0..3 {
        done(&world.gate("r").0, &world.read("a"));
    }
    assert_denied(world.gate("r").0.submit(&world.read("a")), "loop.identical");
    done(&world.gate("another").0, &world.read("a"));
}

#[test]
fn a_change_between_begins_the_count_anew() {
    let world = World::new();
    world.file("a", "x");
    let (gate, _seat) = world.gate("r");
    for round in 0..3 {
        for _ in 0..3 {
            done(&gate, &world.read("a"));
        }
        done(&gate, &world.write("b", &format!("{round}")));
    }
    done(&gate, &world.read("a"));
}

#[test]
fn another_result_is_no_loop() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    for round in 0..8 {
        world.file("a", &format!("{round}"));
        done(&gate, &world.read("a"));
    }
}

#[test]
fn the_third_round_of_two_calls_is_a_cycle() {
    let world = World::new();
    world.file("a", "x");
    world.file("b", "y");
    let (gate, _seat) = world.gate("r");
    for name in ["a", "b", "a", "b"] {
        done(&gate, &world.read(name));
    }
    assert_denied(gate.submit(&world.read("a")), "loop.cycle");
}

#[test]
fn the_same_error_again_and_again_is_a_loop() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    for _ in 0..3 {
        let (_deed, settling) = permit(gate.submit(&world.read("none"))).into_parts();
        assert!(gate.settle(settling.report(Report::failed("no such file"))).unwrap().is_error);
    }
    assert_denied(gate.submit(&world.read("none")), "loop.error");
}

#[test]
fn a_denial_respelled_comes_back_as_a_loop() {
    let world = World::new();
    let (gate, _seat) = world.gate("r");
    let target = "/opt/outside.txt";
    for content in ["1", "2", "3"] {
        assert_denied(gate.submit(&world.write(target, content)), "path.outside");
    }
    assert_denied(gate.submit(&world.write(target, "4")), "loop.denied");
    done(&gate, &world.write("inside.txt", "4"));
}
