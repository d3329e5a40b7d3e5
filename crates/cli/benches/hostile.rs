//! Input that is built to be slow or large: what the hook says, how long it takes, how much memory it needs.
//!
//! Ends with an error when anything of it is allowed.
#![forbid(unsafe_code)]

#[path = "../../../benches/measure.rs"]
#[expect(dead_code, reason = "each input is measured by itself: there is nothing to pair it with")]
mod measure;
mod support;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use measure::{Failure, place, timed};
use serde_json::{Value, json};
use support::{Hook, decision, fed, peak};

/// The longest command that is read, in bytes.
const LONGEST: usize = 65_536;
/// Little less than the longest JSON text that is read, in bytes.
const MEGABYTES: usize = (8 << 20) - 2_048;
const TRIES: usize = 5;

fn main() -> Result<(), Failure> {
    let place = place()?;
    let hook = Hook::new(place.path(), &place.path().join("state"))?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "{:<28}{:>12}{:>12}{:>12}{:>10}  said", "whole process", "bytes", "p50 ms", "max ms", "peak MB")?;
    let mut allowed = Vec::new();
    for (name, payload) in payloads(&hook) {
        let tried = Tried::of(&hook, place.path(), name, &payload)?;
        writeln!(out, "{}", tried.line(name, payload.len()))?;
        if !matches!(tried.said.as_str(), "ask" | "deny") {
            allowed.push((name, tried.said));
        }
    }
    if allowed.is_empty() { Ok(()) } else { Err(format!("neither asked nor denied: {allowed:?}").into()) }
}

/// What became of one input.
struct Tried {
    times: Vec<Duration>,
    peak: Option<u64>,
    said: String,
}

impl Tried {
    fn of(hook: &Hook, place: &Path, name: &str, payload: &[u8]) -> Result<Self, Failure> {
        let (mut times, mut said) = (Vec::new(), String::new());
        for attempt in 0..TRIES {
            let payload = renewed(payload, name, attempt);
            times.push(timed(|| {
                let output = fed(&mut hook.args(), &payload)?;
                said = decision(&output);
                Ok(output)
            })?);
        }
        times.sort();
        Ok(Self { times, peak: peak(hook, place, &renewed(payload, name, TRIES))?, said })
    }

    fn line(&self, name: &str, bytes: usize) -> String {
        let ms = |at: usize| self.times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        let peak = self.peak.map_or("?".to_owned(), |kilobytes| (kilobytes / 1024).to_string());
        let (middle, worst) = (ms(TRIES / 2), ms(TRIES - 1));
        format!("{name:<28}{bytes:>12}{middle:>12.1}{worst:>12.1}{peak:>10}  {}", self.said)
    }
}

/// The same input in a session of its own: a call that was answered once is not judged twice.
fn renewed(payload: &[u8], name: &str, attempt: usize) -> Vec<u8> {
    let session = format!("bench-{}-{attempt}", name.replace(' ', "-"));
    String::from_utf8_lossy(payload).replacen("bench-0", &session, 1).into_bytes()
}

fn payloads(hook: &Hook) -> Vec<(&'static str, Vec<u8>)> {
    let command = |text: &str| hook.payload(0, 0, text);
    let nested = |open: &str, close: &str| command(&nest(open, "rm -rf /", close));
    let input = |value: &Value| hook.payload_of(0, 0, value);
    vec![
        ("a plain command", command("rm -rf /")),
        ("subshells", nested("(", ")")),
        ("groups", nested("{ ", "; }")),
        ("substitutions in each other", nested("$(", ")")),
        ("quoted substitutions", nested("\"$(", ")\"")),
        ("default values", command(&nest("${a:-", "x", "}"))),
        ("arithmetic", command(&nest("$((", "1", "))"))),
        ("if in if", nested("if true; then ", "; fi")),
        ("open subshells", command(&"(".repeat(LONGEST))),
        ("open quotes", command(&"\"$(".repeat(LONGEST / 3))),
        ("open arrays of tests", command(&"[[ ( ".repeat(LONGEST / 5))),
        ("backslashes and backticks", command(&"\\`".repeat(LONGEST / 2))),
        ("heredocs without an end", command(&"bash <<E\n".repeat(LONGEST / 9))),
        ("heredocs on one line", command(&heredocs())),
        ("substitutions side by side", command(&"$(rm -r $x) ".repeat(LONGEST / 12))),
        ("shells in shells", command(&"bash -c bash\\ -c\\ ".repeat(LONGEST / 18))),
        ("a pipe of many", command(&"sh | ".repeat(LONGEST / 5))),
        ("commands by the thousand", command(&"rm a;".repeat(LONGEST / 5))),
        ("braces that multiply", command(&format!("rm {}", "{a,b}".repeat(40)))),
        ("a range of a billion", command("rm {1..1000000000}")),
        ("stars in stars", command(&format!("rm -r {}", "*/".repeat(2_000)))),
        ("8 MB of nesting", raw(hook, &format!("{}1{}", "[".repeat(MEGABYTES / 2), "]".repeat(MEGABYTES / 2)))),
        ("8 MB of empty lists", raw(hook, &format!("[{}[]]", "[],".repeat(MEGABYTES / 3)))),
        ("8 MB of escapes", raw(hook, &format!("\"{}\"", "\\u0041".repeat(MEGABYTES / 6)))),
        ("8 MB of keys", raw(hook, &keys())),
        ("a number of 1 MB", raw(hook, &"9".repeat(1 << 20))),
        ("1 MB where a word is due", input(&json!({ "command": ["a".repeat(1 << 20)] }))),
    ]
}

/// As deep as the longest command allows.
fn nest(open: &str, inner: &str, close: &str) -> String {
    let depth = (LONGEST - inner.len()) / (open.len() + close.len());
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

/// Each begins on the first line and ends at the end: a reader that looks for each from the start takes the square.
fn heredocs() -> String {
    let count = 4_000;
    let mut text = String::from("cat");
    let mut ends = String::new();
    for n in 0..count {
        // Writing to a String cannot fail.
        write!(text, " <<E{n}").and_then(|()| write!(ends, "\nE{n}")).unwrap_or_default();
    }
    text + &ends
}

fn keys() -> String {
    let mut text = String::from("{");
    let mut n = 0;
    while text.len() < MEGABYTES {
        // Writing to a String cannot fail.
        write!(text, "\"k{n}\":0,").unwrap_or_default();
        n += 1;
    }
    text + "\"command\":\"true\"}"
}

/// A payload whose input is these bytes, whatever they are.
fn raw(hook: &Hook, input: &str) -> Vec<u8> {
    let mark = json!("input");
    let around = hook.payload_of(0, 0, &mark);
    String::from_utf8_lossy(&around)
        .replacen("\"tool_input\":\"input\"", &format!("\"tool_input\":{input}"), 1)
        .into_bytes()
}
