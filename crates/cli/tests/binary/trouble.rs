//! Models that fail: reported, recorded, and never a crash.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use crate::world::*;

fn run(world: &World, steps: &str) -> Exchange {
    world.run(&["run", "-p", "go", "--model", &world.script(steps)])
}

#[test]
fn a_rate_limit_is_waited_out_and_the_run_goes_on() {
    let world = World::new();
    let run = run(&world, "[[step]]\nfault = \"http-429\"\ntext = \"Here I am.\"\n");
    assert!(run.exit == 0 && run.stdout.contains("Here I am.") && run.stderr.contains("429"), "{run}");
}

#[test]
fn an_answer_that_breaks_off_is_not_used_and_ends_the_run_with_six() {
    let world = World::new();
    let steps = r#"
[[step]]
fault = "broken-stream"
calls = [{ tool = "write_file", args = { path = "half.txt", content = "half" } }]
"#;
    let run = run(&world, steps);
    assert_eq!((run.exit, world.path("ws/half.txt").exists()), (6, false), "{run}");
    assert_eq!(world.records("model_error").len(), 1);
    world.log_is_sound();
}

#[test]
fn an_answer_that_is_no_json_ends_the_run_with_six() {
    let world = World::new();
    let run = run(&world, "[[step]]\nfault = \"garbage\"\ntext = \"x\"\n");
    assert_eq!((run.exit, world.records("model_error").len()), (6, 1), "{run}");
}

#[test]
fn spoilt_arguments_are_recorded_and_the_run_goes_on() {
    let world = World::new();
    let steps = r#"
[[step]]
raw_calls = [{ tool = "write_file", args = '{"path":"a","path":"b","content":"x"}' },
             { tool = "write_file", args = '{"path":"a","cont' },
             { tool = "write_file", args = '[]' },
             { tool = "write_file", args = '{"path":"a\u0000b","content":""}' },
             { tool = "read_file", args = '{"path":"a","limit":true}' },
             { tool = "no_such_tool", args = '{}' }]
[[step]]
when = { result = "error: " }
text = "I see, six mistakes."
"#;
    let run = run(&world, steps);
    assert!(run.exit == 1 && run.stdout.contains("six mistakes"), "{run}");
    assert_eq!(world.records("validation_error").len(), 6, "{run}");
    assert!(std::fs::read_dir(world.path("ws")).unwrap().next().is_none());
    snapshot("spoilt-arguments", &[&run]);
}

/// A server on loopback that answers every request with `head` and nothing sensible.
fn server(head: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            drop(stream.read(&mut [0; 65_536]));
            drop(stream.write_all(format!("{head}content-length: 2\r\nconnection: close\r\n\r\n{{}}").as_bytes()));
        }
    });
    url
}

#[test]
fn a_refused_request_and_a_senseless_answer_end_with_six() {
    for head in ["HTTP/1.1 400 Bad Request\r\n", "HTTP/1.1 401 No\r\n", "HTTP/1.1 302 Found\r\nlocation: /\r\n", "\0\0"]
    {
        let world = World::new();
        let run = world.run(&["run", "-p", "go", "--model", "openai:house", "--base-url", &server(head)]);
        assert_eq!(run.exit, 6, "{head}: {run}");
    }
}

#[test]
fn a_remote_model_of_unknown_price_is_refused_before_it_is_asked() {
    let world = World::new();
    let mut command =
        world.command(&["run", "-p", "go", "--model", "openai:house", "--base-url", "https://models.invalid/v1/"]);
    command.env("OPENAI_API_KEY", "not-a-key");
    let run = world.talk(command, &["run (house)"], b"");
    assert_eq!(run.exit, 5, "{run}");
    assert!(run.stderr.contains("price") && world.records("model_request").is_empty(), "{run}");
}

#[test]
fn nothing_that_a_run_waits_for_outlives_its_wall_clock() {
    let world = World::new();
    let hang = "[[step]]\nfault = \"hang\"\ntimes = 9\ntext = \"x\"\n";
    let sleep = "[[step]]\ncalls = [{ tool = \"run_bash\", args = { command = \"sleep 100\" } }]\n";
    for (steps, what) in [(hang, "model"), (sleep, "command")] {
        let run = world.run(&["run", "-p", "go", "--max-wall-secs", "5", "--model", &world.script(steps)]);
        // Both waits are far longer than a test may take; that it ended, and why, is the point.
        assert_eq!(run.exit, 5, "{what}: {run}");
    }
    assert_eq!(world.records("tool_timeout").len(), 1);
}

#[test]
fn a_model_that_hangs_is_left_by_a_signal() {
    let world = World::new();
    let model = world.script("[[step]]\nfault = \"hang\"\ntimes = 9\ntext = \"x\"\n");
    let words = ["run", "-p", "go", "--model", &model];
    let running = world.start(&words);
    wait_until("the model is asked", || {
        std::fs::read_to_string(world.path("state/audit.jsonl")).is_ok_and(|log| log.contains("model_request"))
    });
    let pid = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ended = world.finish(&words, running);
    assert_eq!(ended.exit, 4, "{ended}");
    world.log_is_sound();
}
