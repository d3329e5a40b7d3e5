//! `cargo xtask score FILE…`: how often honest lines are stopped and hostile ones are not.
//!
//! Reads JSON Lines `{id, tool, args, cwd, expect, class, twin?}`. `expect` is `allow` for an honest line, `ask`, `deny`
//! or `block` (either) for a hostile one, `any` for one that is not scored. `twin` names the plain line that this one
//! hides: it must not be judged milder. Facts are not given, so everything that is not in the text is Unknown.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::command::{Failed, cargo, read, root, run as wait, say};

/// The quantile of the normal distribution for 95 of 100.
const Z: f64 = 1.959_964;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expect {
    Allow,
    Ask,
    Deny,
    Block,
    Any,
}

#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    tool: String,
    args: Value,
    cwd: String,
    expect: Expect,
    #[serde(default)]
    class: String,
    twin: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
struct Said {
    id: String,
    decision: Decision,
    rules: Vec<String>,
}

/// Scores each file by itself; flags that begin with `--` go to `check`.
pub(crate) fn run(args: &[String]) -> Result<(), Failed> {
    let (flags, files): (Vec<&String>, Vec<&String>) = args.iter().partition(|arg| arg.starts_with("--"));
    if files.is_empty() {
        return Err(Failed::Usage("usage: cargo xtask score FILE… [--assume-box] [--profile=NAME]"));
    }
    wait(&mut cargo(&["build", "--quiet", "--package", "tollgate-cli"]))?;
    let mut milder = 0;
    for file in files {
        let lines = lines(Path::new(file))?;
        let said = judged(&lines, &flags)?;
        milder += report(file, &lines, &said);
    }
    if milder > 0 { Err(Failed::Checks(milder)) } else { Ok(()) }
}

fn lines(path: &Path) -> Result<Vec<Line>, Failed> {
    let wrong = |at: usize, error: serde_json::Error| Failed::Content {
        path: path.to_owned(),
        why: format!("line {}: {error}", at + 1),
    };
    let text = read(path)?;
    let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    rows.map(|(at, line)| serde_json::from_str(line).map_err(|error| wrong(at, error))).collect()
}

/// Asks the program itself, once for each working directory, with no configuration and no state of anybody's.
fn judged(lines: &[Line], flags: &[&String]) -> Result<BTreeMap<String, Said>, Failed> {
    let mut said = BTreeMap::new();
    let dirs: BTreeSet<&str> = lines.iter().map(|line| line.cwd.as_str()).collect();
    for dir in dirs {
        let of_dir = lines.iter().filter(|line| line.cwd == dir);
        let input: String = of_dir.map(|line| format!("{}\n", question(line))).collect();
        for line in answers(dir, flags, &input)?.lines() {
            let answer: Said = serde_json::from_str(line)
                .map_err(|error| Failed::Answer { program: "tollgate check", why: format!("{error}: {line}") })?;
            said.insert(answer.id.clone(), answer);
        }
    }
    Ok(said)
}

fn question(line: &Line) -> Value {
    json!({ "id": line.id, "tool": line.tool, "args": line.args, "cwd": line.cwd })
}

fn answers(dir: &str, flags: &[&String], input: &str) -> Result<String, Failed> {
    let own = root().join("target/score");
    let place = |name: &str| own.join(name).to_string_lossy().into_owned();
    std::fs::create_dir_all(&own).map_err(|error| Failed::File { path: own.clone(), error })?;
    let mut command = std::process::Command::new(root().join("target/debug/tollgate"));
    command.args(["--home", "/home/user", "--state-dir", &place("state"), "--config", &place("no.toml")]);
    command.args(["check", "--batch", "--assume-root", dir]).args(flags).current_dir(&own);
    let broken = |error: std::io::Error| Failed::Answer { program: "tollgate check", why: error.to_string() };
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(broken)?;
    let Some(mut stdin) = child.stdin.take() else { return Ok(String::new()) };
    let input = input.to_owned();
    // Written beside the reading: both pipes are smaller than what goes through them.
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let done = child.wait_with_output().map_err(broken)?;
    writer.join().unwrap_or(Ok(())).map_err(broken)?;
    String::from_utf8(done.stdout).map_err(|error| Failed::Answer { program: "tollgate check", why: error.to_string() })
}

/// How often each was said.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    allow: usize,
    ask: usize,
    deny: usize,
}

impl Count {
    const fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Allow => self.allow += 1,
            Decision::Ask => self.ask += 1,
            Decision::Deny => self.deny += 1,
        }
    }

    const fn all(self) -> usize {
        self.allow + self.ask + self.deny
    }
}

/// Prints both sides and every miss; brings how many hidden lines are judged milder than plain ones.
fn report(file: &str, lines: &[Line], said: &BTreeMap<String, Said>) -> usize {
    let decision = |id: &str| said.get(id).map(|said| said.decision);
    let (mut honest, mut hostile) = (Count::default(), Count::default());
    let mut families: BTreeMap<&str, Count> = BTreeMap::new();
    let mut milder = 0;
    say(&format!("\n{file}: {} lines", lines.len()));
    for line in lines {
        let Some(now) = decision(&line.id) else { continue };
        let plain = line.twin.as_deref().and_then(decision);
        if plain.is_some_and(|plain| now < plain) {
            milder += 1;
            say(&format!("  MILDER than its twin: {}", shown(line, said)));
        }
        match line.expect {
            Expect::Any => continue,
            Expect::Allow => honest.add(now),
            Expect::Ask | Expect::Deny | Expect::Block => hostile.add(now),
        }
        families.entry(family(line)).or_default().add(now);
        if is_miss(line.expect, now) {
            say(&format!("  miss: {}", shown(line, said)));
        }
    }
    for (family, count) in &families {
        say(&format!("  {family}: {} allowed, {} asked, {} denied", count.allow, count.ask, count.deny));
    }
    sides(honest, hostile);
    milder
}

fn family(line: &Line) -> &str {
    line.class.split(':').next().unwrap_or_default()
}

fn is_miss(expect: Expect, now: Decision) -> bool {
    match expect {
        Expect::Any => false,
        Expect::Allow => now != Decision::Allow,
        Expect::Ask | Expect::Block => now == Decision::Allow,
        Expect::Deny => now != Decision::Deny,
    }
}

fn shown(line: &Line, said: &BTreeMap<String, Said>) -> String {
    let answer =
        said.get(&line.id).map(|said| format!("{:?} {}", said.decision, said.rules.join(","))).unwrap_or_default();
    let what = line.args.get("command").and_then(Value::as_str).map_or_else(|| line.args.to_string(), str::to_owned);
    format!("{} {answer}: {}", line.id, what.escape_debug())
}

/// Ours beside an engine that always allows and one that always asks: each is perfect on one side.
fn sides(honest: Count, hostile: Count) {
    let always = |allow: fn(usize) -> Count| (allow(honest.all()), allow(hostile.all()));
    let engines = [
        ("tollgate", (honest, hostile)),
        ("always allows", always(|all| Count { allow: all, ..Count::default() })),
        ("always asks", always(|all| Count { ask: all, ..Count::default() })),
    ];
    for (name, (honest, hostile)) in engines {
        say(&format!("  {name}"));
        if honest.all() > 0 {
            say(&format!("    honest  allowed {}", share(honest.allow, honest.all())));
            say(&format!("    honest  denied  {}", share(honest.deny, honest.all())));
        }
        if hostile.all() > 0 {
            say(&format!("    hostile stopped {}", share(hostile.ask + hostile.deny, hostile.all())));
            say(&format!("    hostile denied  {}", share(hostile.deny, hostile.all())));
        }
    }
}

fn share(part: usize, all: usize) -> String {
    let (low, high) = wilson(part, all);
    let percent = |share: f64| share * 100.0;
    format!("{part} of {all}: {:.2} % [{:.2}, {:.2}]", percent(ratio(part, all)), percent(low), percent(high))
}

#[expect(clippy::cast_precision_loss, reason = "counts of lines are far below 2^52")]
const fn ratio(part: usize, all: usize) -> f64 {
    part as f64 / all as f64
}

/// The 95 % interval of a share (Wilson 1927, without continuity correction).
fn wilson(part: usize, all: usize) -> (f64, f64) {
    let (p, n) = (ratio(part, all), ratio(all, 1));
    let squared = Z * Z;
    let centre = p + squared / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + squared / (4.0 * n * n)).sqrt();
    let scale = 1.0 + squared / n;
    ((centre - spread) / scale, (centre + spread) / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_holds_the_share_and_never_leaves_zero_to_one() {
        let (low, high) = wilson(5, 10);
        assert!((low - 0.2366).abs() < 1e-4 && (high - 0.7634).abs() < 1e-4, "{low} {high}");
        let (low, high) = wilson(0, 20);
        assert!(low.abs() < 1e-12 && (high - 0.1611).abs() < 1e-4, "{low} {high}");
    }

    #[test]
    fn a_miss_is_a_stopped_honest_line_or_a_hostile_one_let_through() {
        assert!(is_miss(Expect::Allow, Decision::Ask) && is_miss(Expect::Block, Decision::Allow));
        assert!(is_miss(Expect::Deny, Decision::Ask) && !is_miss(Expect::Block, Decision::Ask));
        assert!(!is_miss(Expect::Any, Decision::Deny));
    }
}
