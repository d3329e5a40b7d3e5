//! The provider side against a loopback server of fixed bytes, for what the script server never sends.

use serde_json::json;

use super::*;
use crate::model::cancel::CancelFlag;
use crate::model::pace::tests::FakePace;
use crate::model::spec::ModelSpec;
use crate::model::testing::{Canned, events, extend, http, nobody, turn};
use crate::model::turn::{ProposedCall, Stop, ToolSpec, Usage};

const KEY: &str = "sk-test-0123456789";

fn model(spec: &str, base: &str, delivery: Delivery) -> RemoteModel {
    let ModelSpec::Remote(spec) = ModelSpec::parse(spec, Some(base)).unwrap() else { panic!("a script") };
    RemoteModel::new(spec, Some(KEY.to_owned().into()), delivery, Box::new(FakePace::default())).unwrap()
}

fn ask(spec: &str, delivery: Delivery, answers: &[String]) -> Result<Reply, ModelError> {
    let server = Canned::new(answers.to_vec());
    model(spec, &server.base, delivery).turn(&turn("hi", &CancelFlag::new()), &mut nobody())
}

fn call(id: &str, name: &str, arguments: &str) -> ProposedCall {
    ProposedCall { id: id.into(), name: name.into(), arguments: arguments.into() }
}

/// An Anthropic stream: thinking, words, one call whose arguments come in pieces and hold a key twice.
fn anthropic_stream() -> String {
    events(&[
        (
            "message_start",
            r#"{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}"#,
        ),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        ),
        ("ping", r#"{"type":"ping"}"#),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Let me "}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"see."}}"#,
        ),
        ("content_block_stop", r#"{"type":"content_block_stop","index":0}"#),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"read_file","input":{}}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"path\":\"a\","}}"#,
        ),
        (
            "content_block_delta",
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":" \"path\":\"b\"}"}}"#,
        ),
        ("content_block_stop", r#"{"type":"content_block_stop","index":1}"#),
        (
            "content_block_start",
            r#"{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"todo_list","input":{}}}"#,
        ),
        ("content_block_stop", r#"{"type":"content_block_stop","index":2}"#),
        (
            "message_delta",
            r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":30}}"#,
        ),
        ("message_stop", r#"{"type":"message_stop"}"#),
    ])
}

#[test]
fn an_anthropic_stream_brings_raw_arguments_and_tokens_by_kind() {
    let reply = ask("anthropic:claude-test", Delivery::Streamed, &[anthropic_stream()]).unwrap();
    assert_eq!(reply.text, "Let me see.");
    assert_eq!(
        reply.calls,
        [call("toolu_1", "read_file", r#"{"path":"a", "path":"b"}"#), call("toolu_2", "todo_list", "{}")]
    );
    assert_eq!(reply.stop, Stop::Calls);
    assert_eq!(reply.usage, Some(Usage { input: 10, cached_read: 100, cache_write: 20, output: 30, reasoning: 0 }));
}

#[test]
fn a_whole_anthropic_answer_brings_its_calls() {
    let body = json!({
        "content": [{"type": "text", "text": "So."}, {"type": "tool_use", "id": "toolu_1", "name": "t", "input": {"a": 1}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 5, "output_tokens": 6},
    });
    let answer = http("200 OK", "application/json", &body.to_string());
    let reply = ask("anthropic:claude-test", Delivery::Whole, &[answer]).unwrap();
    assert_eq!((reply.text.as_str(), reply.calls), ("So.", vec![call("toolu_1", "t", r#"{"a":1}"#)]));
    assert_eq!(reply.usage, Some(Usage { input: 5, output: 6, ..Usage::default() }));
}

#[test]
fn anthropic_results_travel_in_one_message_and_say_what_failed() {
    let server = Canned::new(vec![anthropic_stream(), anthropic_stream()]);
    let mut model = model("anthropic:claude-test", &server.base, Delivery::Streamed);
    let cancel = CancelFlag::new();
    let mut request = turn("hi", &cancel);
    let reply = model.turn(&request, &mut nobody()).unwrap();
    extend(&mut request, &reply, &[("text", false), ("denied", true)]);
    model.turn(&request, &mut nobody()).unwrap();
    let sent = server.requests().pop().unwrap();
    let newest = sent["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(newest["role"], "user");
    assert_eq!(newest["content"][0]["content"], "text");
    assert_eq!(
        newest["content"][1],
        json!({"type": "tool_result", "tool_use_id": "toolu_2", "content": "denied", "is_error": true})
    );
    assert_eq!(sent["system"], "be brief");
}

#[test]
fn a_tool_that_the_provider_would_run_itself_is_refused() {
    let cancel = CancelFlag::new();
    let mut request = turn("hi", &cancel);
    request.tools.push(ToolSpec { name: "web_search".into(), description: "ours".into(), schema: json!({}) });
    let mut model = model("anthropic:claude-test", "http://127.0.0.1:1/", Delivery::Whole);
    let refused = model.turn(&request, &mut nobody()).unwrap_err();
    assert_eq!(refused, ModelError::ReservedTool("web_search".into()));
}

#[test]
fn tools_and_model_are_sent_as_they_were_given() {
    let server = Canned::new(vec![http(
        "200 OK",
        "text/event-stream",
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
    )]);
    let cancel = CancelFlag::new();
    let mut request = turn("hi", &cancel);
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "additionalProperties": false});
    request.tools.push(ToolSpec { name: "webfetch".into(), description: "d".into(), schema: schema.clone() });
    request.max_output = Some(777);
    model("openai:gpt-test-max", &server.base, Delivery::Streamed).turn(&request, &mut nobody()).unwrap();
    let sent = server.requests().pop().unwrap();
    assert_eq!(sent["tools"][0]["function"]["name"], "webfetch");
    assert_eq!(sent["tools"][0]["function"]["parameters"], schema);
    assert_eq!(sent["stream_options"]["include_usage"], true);
    assert_eq!((&sent["model"], &sent["max_tokens"]), (&json!("gpt-test-max"), &json!(777)));
    assert_eq!(sent.get("reasoning_effort"), None);
}

fn openai_delta(delta: &str) -> String {
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}"#;
    let body = format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]}}\n\ndata: {end}\n\ndata: [DONE]\n\n"
    );
    http("200 OK", "text/event-stream", &body)
}

#[test]
fn a_huge_index_costs_no_memory() {
    let answer =
        openai_delta(r#"{"tool_calls":[{"index":4000000000,"id":"c","function":{"name":"t","arguments":"{}"}}]}"#);
    let reply = ask("openai:gpt-test", Delivery::Streamed, &[answer]).unwrap();
    assert_eq!(reply.calls, [call("c", "t", "{}")]);
    assert_eq!(reply.usage, None, "no usage is not the same as none used");
}

#[test]
fn calls_without_ids_get_ids_of_their_own() {
    let answer = openai_delta(
        r#"{"tool_calls":[{"index":0,"function":{"name":"a"}},{"index":1,"id":"","function":{"name":"b"}}]}"#,
    );
    let calls = ask("openai:gpt-test", Delivery::Streamed, &[answer]).unwrap().calls;
    assert_eq!(calls, [call("call_1_0", "a", "{}"), call("call_1_1", "b", "{}")]);
}

#[test]
fn two_calls_of_one_id_are_told_apart() {
    let calls = raw::tidy(vec![call("x", "a", "1"), call("x", "b", "2"), call("call_3_1", "c", "")], &Stop::Length, 3);
    let ids: Vec<_> = calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(ids, ["x", "call_3_1", "call_3_2"]);
    assert_eq!(calls[2].arguments, "", "a call that was cut off keeps what it has");
}

#[test]
fn too_many_calls_are_a_bad_response() {
    let calls: Vec<_> = (0..129).map(|index| json!({"index": index, "id": "c", "function": {"name": "t"}})).collect();
    let answer = openai_delta(&json!({ "tool_calls": calls }).to_string());
    let error = ask("openai:gpt-test", Delivery::Streamed, &[answer]).unwrap_err();
    assert!(matches!(error, ModelError::BadResponse { .. }), "{error}");
}

#[test]
fn token_counts_that_overflow_are_a_bad_response_and_no_crash() {
    let usage = r#"{"input_tokens":2147483647,"cache_read_input_tokens":2147483647,"output_tokens":1}"#;
    let stream = events(&[("message_start", &format!(r#"{{"type":"message_start","message":{{"usage":{usage}}}}}"#))]);
    let body = http(
        "200 OK",
        "application/json",
        &format!(r#"{{"content":[{{"type":"text","text":"x"}}],"stop_reason":"end_turn","usage":{usage}}}"#),
    );
    for (delivery, answer) in [(Delivery::Streamed, stream), (Delivery::Whole, body)] {
        let error = ask("anthropic:claude-test", delivery, &[answer]).unwrap_err();
        assert!(matches!(error, ModelError::BadResponse { .. }), "{delivery:?}: {error}");
    }
}

#[test]
fn what_is_no_answer_at_all_is_an_error_in_both_protocols() {
    let bodies = [
        "{}",
        "[]",
        "null",
        "\"hi\"",
        "{\"choices\":[]}",
        "{\"choices\":7,\"content\":7}",
        "data: {}\n\n",
        "data: [DONE]\n\n",
        "<html></html>",
        "",
        "\u{0}",
    ];
    for spec in ["openai:gpt-test", "anthropic:claude-test"] {
        for delivery in [Delivery::Streamed, Delivery::Whole] {
            for body in bodies {
                for kind in ["application/json", "text/event-stream", "text/html"] {
                    let result = ask(spec, delivery, &[http("200 OK", kind, body)]);
                    assert!(
                        matches!(result, Err(ModelError::BadResponse { .. } | ModelError::BrokenStream { .. })),
                        "{spec} {delivery:?} {kind} {body:?}: {result:?}"
                    );
                }
            }
        }
    }
}

/// Answers one request with a head and a body that goes on until nobody reads it; at most 4 GB.
fn endless(head: &'static str) -> (String, std::thread::JoinHandle<()>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        crate::model::script::http::read(&mut std::io::BufReader::new(&stream)).unwrap();
        std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
        let more = vec![b'x'; 1 << 20];
        let gone = (0..4096).find(|_| std::io::Write::write_all(&mut stream, &more).is_err());
        assert!(gone.is_some(), "all of it was read");
    });
    (base, thread)
}

#[test]
fn an_answer_without_end_is_left_before_it_takes_the_memory() {
    let json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"a\":\"";
    let stream = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ";
    for (head, delivery) in [(json, Delivery::Whole), (stream, Delivery::Streamed)] {
        let (base, thread) = endless(head);
        let cancel = CancelFlag::new();
        // No deadline of a busy machine may come first.
        let turn = Turn { deadline: std::time::Duration::from_secs(3_600), ..turn("hi", &cancel) };
        let answer = model("openai:m", &base, delivery).turn(&turn, &mut nobody());
        let error = answer.unwrap_err();
        assert!(error.to_string().contains("longer than any model writes"), "{error}");
        let most = std::fs::read_to_string("/proc/self/status").unwrap();
        let most = most.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().replace(" kB", "");
        // A buffer that doubles may hold twice what has come.
        assert!(most.parse::<u64>().unwrap() < 512 * 1024, "{most} kB");
        thread.join().unwrap();
    }
}

#[test]
fn an_error_event_in_a_stream_is_an_error() {
    let anthropic =
        events(&[("error", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#)]);
    let openai = http("200 OK", "text/event-stream", "data: {\"error\":{\"message\":\"Overloaded\"}}\n\n");
    for (spec, answer) in [("anthropic:claude-test", anthropic), ("openai:gpt-test", openai)] {
        let error = ask(spec, Delivery::Streamed, &[answer]).unwrap_err();
        assert!(matches!(&error, ModelError::BrokenStream { said } if said.contains("Overloaded")), "{spec}: {error}");
    }
}

#[test]
fn overload_passes_and_a_wrong_request_does_not() {
    let fails = |status: &str| http(status, "application/json", r#"{"error":{"message":"because"}}"#);
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        let good = match delivery {
            Delivery::Streamed => anthropic_stream(),
            Delivery::Whole => http(
                "200 OK",
                "application/json",
                r#"{"content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}"#,
            ),
        };
        assert!(
            ask("anthropic:c", delivery, &[fails("529 Overloaded"), fails("503 No"), good]).is_ok(),
            "{delivery:?}"
        );
        let refused = ask("anthropic:c", delivery, &[fails("404 Not Found")]).unwrap_err();
        assert_eq!(refused, ModelError::Refused { status: 404, said: "because".into() });
        let moved = ask(
            "anthropic:c",
            delivery,
            &["HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n".into()],
        );
        assert_eq!(moved.unwrap_err(), ModelError::Refused { status: 302, said: String::new() });
    }
}

#[test]
fn a_key_that_the_provider_echoes_is_cut_out() {
    let body = format!(r#"{{"error":{{"message":"bad key {KEY}"}}}}"#);
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        let error = ask("openai:gpt-test", delivery, &[http("401 No", "application/json", &body)]).unwrap_err();
        assert_eq!(error, ModelError::Auth { status: 401, said: "bad key [key]".into() });
    }
}

#[test]
fn no_debug_text_shows_the_key() {
    let model = model("openai:gpt-test", "http://127.0.0.1:1/v1", Delivery::Whole);
    assert!(!format!("{model:?}{model:#?}").contains(KEY));
}

#[test]
fn nobody_listening_is_a_connect_error_after_retries() {
    // Port 1 is reserved, so no other test can be given it meanwhile.
    for delivery in [Delivery::Streamed, Delivery::Whole] {
        let mut model = model("openai:gpt-test", "http://127.0.0.1:1/", delivery);
        let error = model.turn(&turn("hi", &CancelFlag::new()), &mut nobody()).unwrap_err();
        assert!(matches!(error, ModelError::Connect { attempts: 6, .. }), "{error}");
    }
}

#[test]
fn a_remote_provider_without_its_key_is_refused_before_any_connection() {
    let open = |spec: &str, base: Option<&str>, key: Option<SecretString>| {
        let ModelSpec::Remote(spec) = ModelSpec::parse(spec, base).unwrap() else { panic!("a script") };
        RemoteModel::new(spec, key, Delivery::Whole, Box::new(FakePace::default())).map(|model| model.locality())
    };
    let missing = ModelError::MissingKey { provider: "anthropic", variable: "ANTHROPIC_API_KEY" };
    assert_eq!(open("anthropic:c", None, None), Err(missing));
    let clear = open("openai:c", Some("http://h.example/"), Some(KEY.to_owned().into()));
    assert!(matches!(clear, Err(ModelError::Spec(_))), "{clear:?}");
    assert_eq!(open("openai:c", Some("http://127.0.0.1:1/"), None), Ok(Locality::Loopback));
    assert_eq!(open("ollama:c", Some("http://10.1.1.1/"), None), Ok(Locality::Remote));
}

#[test]
fn a_provider_with_a_key_opens_over_tls() {
    // Needs the machine's trust roots, and says so where there are none.
    let ModelSpec::Remote(spec) = ModelSpec::parse("openai:gpt-test", None).unwrap() else { panic!("a script") };
    match RemoteModel::new(spec, Some(KEY.to_owned().into()), Delivery::Whole, Box::new(FakePace::default())) {
        Ok(model) => assert_eq!(model.locality(), Locality::Remote),
        Err(ModelError::Client(said)) => println!("skipped: no trust roots here ({said})"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_cancelled_turn_does_not_start() {
    let cancel = CancelFlag::new();
    cancel.cancel();
    let mut model = model("openai:gpt-test", "http://127.0.0.1:1/", Delivery::Whole);
    assert_eq!(model.turn(&turn("hi", &cancel), &mut nobody()).unwrap_err(), ModelError::Cancelled);
}

const OPENAI_BODY: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Let me see.\"},\"finish_reason\":null}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"delete_file\",\"arguments\":\"{}\"}}]},\"finish_reason\":null}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n\
    data: [DONE]\n\n";

/// Both protocols' streams, as provider, body, and where its end mark starts.
fn streams() -> [(&'static str, String, usize); 2] {
    let anthropic = anthropic_stream();
    let body = anthropic.split_once("\r\n\r\n").unwrap().1.to_owned();
    let (anthropic_end, openai_end) =
        (body.find("event: message_stop").unwrap(), OPENAI_BODY.find("data: [DONE]").unwrap());
    [("anthropic:c", body, anthropic_end), ("openai:c", OPENAI_BODY.into(), openai_end)]
}

/// Asks once for each body, as a complete HTTP answer.
fn ask_each(spec: &str, bodies: &[&str]) -> Vec<Result<Reply, ModelError>> {
    let server = Canned::new(bodies.iter().map(|body| http("200 OK", "text/event-stream", body)).collect());
    let mut model = model(spec, &server.base, Delivery::Streamed);
    let cancel = CancelFlag::new();
    bodies.iter().map(|_| model.turn(&turn("hi", &cancel), &mut nobody())).collect()
}

#[test]
fn a_stream_cut_anywhere_before_its_end_mark_is_never_a_reply() {
    for (spec, body, end) in streams() {
        assert!(ask_each(spec, &[&body])[0].is_ok(), "{spec}");
        let cuts: Vec<_> = (0..end).filter_map(|cut| body.get(..cut)).collect();
        for (cut, result) in cuts.iter().zip(ask_each(spec, &cuts)) {
            assert!(
                matches!(result, Err(ModelError::BrokenStream { .. } | ModelError::BadResponse { .. })),
                "{spec} cut at {}: {result:?}",
                cut.len()
            );
        }
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn a_stream_with_any_piece_replaced_ends_in_a_reply_or_an_error(
        at in 0.0..1.0_f64, length in 0..40_usize, piece in "(?s).{0,20}|[\\[\\]{}\",:0-9]{0,20}|[0-9]{1,25}"
    ) {
        for (spec, body, _) in streams() {
            let start = body.floor_char_boundary((body.len() as f64 * at) as usize);
            let stop = body.floor_char_boundary((start + length).min(body.len()));
            let spoilt = format!("{}{piece}{}", body.get(..start).unwrap(), body.get(stop..).unwrap());
            // Reaching the end within the deadline is the claim; a timeout would be a hang.
            let result = ask_each(spec, &[&spoilt]).pop().unwrap();
            proptest::prop_assert!(!matches!(result, Err(ModelError::Timeout { .. })), "{spoilt}");
        }
    }
}
