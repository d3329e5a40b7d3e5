//! `tollgate check`: the policy's verdict on one call, or a batch. Nothing is done and nothing is recorded.
//!
//! Budgets and loops are not looked at, and an Ask stays an Ask. What comes out is text: it can become
//! neither a permit nor advice.

use std::io::BufRead as _;

use serde::Deserialize;
use serde_json::{Value, json};
use tollgate::call::facts::{Confinement, Facts};
use tollgate::call::places::Layout;
use tollgate::call::run_state::RunState;
use tollgate::call::{Call, Door, Origin, Proposal, Untrusted, assume};
use tollgate::policy::{Decision, Findings, Policy, judge};
use tollgate::survey::Surveyor;

use super::facts::{self, Told};
use super::{explain, spoken};
use crate::args::{Check, Explain, Ground, Limits};
use crate::assembly::{self, Assembly, text};
use crate::configuration;
use crate::doors::hook::claude;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::{Home, absolute};
use crate::printer::{Printer, visible};

/// Longest line of a batch, in bytes.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// How facts are found: from the file system, or by letters.
enum Looking {
    Survey(Box<Surveyor>),
    Assume(Layout),
}

struct Checker<'a> {
    policy: Policy,
    looking: Looking,
    cwd: String,
    walls: Confinement,
    home: &'a Home,
}

/// One line of a batch. Other fields, such as what a test set expects, are passed over: a misspelt
/// `facts` only leaves more unknown.
#[derive(Debug, Deserialize)]
struct Line {
    #[serde(default)]
    id: Value,
    tool: String,
    args: Value,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    facts: Option<Told>,
}

/// What is said of one call.
struct Judgement {
    decision: Decision,
    rules: Vec<String>,
    because: String,
    call: Option<Call>,
    findings: Option<Findings>,
}

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when the command line or the configuration is wrong.
pub(crate) fn run(args: &Check, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let checker = Checker::new(&args.ground, home)?;
    if args.batch {
        return checker.batch(printer);
    }
    let (tool, call_args) = match (&args.command, &args.tool, &args.args) {
        (Some(command), None, _) => ("run_bash".to_owned(), json!({ "command": command }).to_string()),
        (None, Some(tool), Some(call_args)) => (tool.clone(), call_args.clone()),
        _ => return Err(Failure::usage("give a bash command, or `--tool NAME --args JSON`, or `--batch`")),
    };
    let judgement = checker.judge(tool, call_args.into_bytes(), checker.cwd.clone(), None);
    judgement.tell(if args.explain { Telling::Whole } else { Telling::Verdict }, printer);
    Ok(judgement.exit())
}

/// Runs the verb `explain`: the same judgement, told whole.
///
/// # Errors
/// As [`run`].
pub(crate) fn explain(args: &Explain, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let checker = Checker::new(&args.ground, home)?;
    let call_args = json!({ "command": explain::one_command(&args.command) }).to_string();
    let judgement = checker.judge("run_bash".to_owned(), call_args.into_bytes(), checker.cwd.clone(), None);
    judgement.tell(Telling::Whole, printer);
    Ok(judgement.exit())
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Telling {
    Verdict,
    Whole,
}

impl<'a> Checker<'a> {
    fn new(args: &Ground, home: &'a Home) -> Result<Self, Failure> {
        let walls = if args.assume_box { Confinement::Enforced } else { Confinement::Outside };
        let (policy, looking, root) = match &args.assume_root {
            Some(root) => {
                let root = absolute(root)?;
                let policy = configuration::load(home, &root, &args.scope, &Limits::default())?;
                let mut layout = assembly::layout(home, &root, &args.scope, &policy)?;
                layout.home = assumed_home(&home.person.home, &text(&root)?);
                (policy, Looking::Assume(layout), root)
            }
            None => {
                let root = assembly::workspace(&args.scope)?;
                let Assembly { policy, surveyor, .. } =
                    assembly::assemble(home, &args.scope, &Limits::default(), walls.clone())?;
                (policy, Looking::Survey(Box::new(surveyor)), root)
            }
        };
        let cwd = match &args.cwd {
            Some(cwd) => text(&absolute(cwd)?)?,
            None => text(&root)?,
        };
        Ok(Self { policy, looking, cwd, walls, home })
    }

    fn judge(&self, tool: String, args: Vec<u8>, cwd: String, told: Option<&Told>) -> Judgement {
        let origin = Origin { door: Door::Check, run: "check".to_owned(), call_id: String::new(), cwd };
        let proposal = Proposal { tool: Untrusted::new(tool), args: Untrusted::new(args), origin };
        let call = match Call::read(&proposal, &self.person()) {
            Ok(call) => call,
            Err(error) => return Judgement::malformed(error.to_string()),
        };
        let facts = self.facts(&call, told);
        let findings = judge(&self.policy, &call, &facts, &RunState::default());
        Judgement {
            decision: findings.decision(),
            rules: findings.rules().iter().map(ToString::to_string).collect(),
            because: findings.deciding().because.clone().into_owned(),
            call: Some(call),
            findings: Some(findings),
        }
    }

    fn person(&self) -> tollgate::call::Person {
        let mut person = self.home.person.clone();
        if let Looking::Assume(layout) = &self.looking {
            person.home.clone_from(&layout.home);
        }
        person
    }

    fn facts(&self, call: &Call, told: Option<&Told>) -> Facts {
        let mut found = match &self.looking {
            Looking::Survey(surveyor) => surveyor.survey(call).facts,
            Looking::Assume(layout) => assume::facts(layout, call.actions()),
        };
        found.confinement = self.walls.clone();
        if let Some(told) = told {
            facts::lay_over(&mut found, told, &call.origin().cwd);
        }
        found
    }

    fn batch(&self, printer: Printer) -> Result<Exit, Failure> {
        let mut unread = false;
        let mut input = std::io::stdin().lock();
        loop {
            let mut raw = Vec::new();
            let read = std::io::Read::take(&mut input, MAX_LINE as u64 + 1).read_until(b'\n', &mut raw);
            match read.map_err(|error| Failure::usage(format!("standard input: {error}")))? {
                0 => break,
                length if length > MAX_LINE => {
                    return Err(Failure::usage(format!("a line is longer than {MAX_LINE} bytes")));
                }
                _ => {}
            }
            if raw.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let (id, judgement) = self.line(&raw);
            unread |= judgement.call.is_none();
            printer.data(&format!("{}\n", judgement.json(&id)));
        }
        Ok(if unread { Exit::Denied } else { Exit::Ok })
    }

    fn line(&self, raw: &[u8]) -> (Value, Judgement) {
        let value = match tollgate::call::json::parse(raw) {
            Ok(value) => value,
            Err(error) => return (Value::Null, Judgement::malformed(error.to_string())),
        };
        let id = value.get("id").cloned().unwrap_or(Value::Null);
        let line: Result<Line, _> = serde_json::from_value(value);
        match line {
            Ok(line) => {
                let (tool, args) = ours(line.tool, line.args);
                let cwd = line.cwd.filter(|cwd| cwd.starts_with('/')).unwrap_or_else(|| self.cwd.clone());
                (line.id, self.judge(tool, args.to_string().into_bytes(), cwd, line.facts.as_ref()))
            }
            Err(error) => (id, Judgement::malformed(error.to_string())),
        }
    }
}

/// A home of its own beside the assumed root, so that the real one, which may hold the root or lie in
/// it, says nothing about what is assumed.
fn assumed_home(home: &str, root: &str) -> String {
    if tollgate::call::places::is_beneath(home, root) { "/home/user".to_owned() } else { home.to_owned() }
}

/// Names of a host's tools are taken too.
fn ours(tool: String, args: Value) -> (String, Value) {
    if tollgate::call::schema::tool(&tool).is_some() { (tool, args) } else { claude::translate(&tool, args) }
}

impl Judgement {
    fn malformed(because: String) -> Self {
        let rules = vec!["call.malformed".to_owned()];
        Self { decision: Decision::Deny, rules, because, call: None, findings: None }
    }

    fn json(&self, id: &Value) -> Value {
        json!({
            "id": id,
            "decision": self.decision.as_str(),
            "rules": self.rules,
            "because": self.because,
            "actions": self.call.as_ref().map_or_else(Vec::new, |call| {
                call.actions().iter().map(spoken::action).collect::<Vec<_>>()
            }),
        })
    }

    const fn exit(&self) -> Exit {
        match self.decision {
            Decision::Allow => Exit::Ok,
            Decision::Ask => Exit::NeedsApproval,
            Decision::Deny => Exit::Denied,
        }
    }

    fn tell(&self, telling: Telling, printer: Printer) {
        let mut value = self.json(&Value::Null);
        let read = self.call.as_ref().zip(self.findings.as_ref());
        if let (Telling::Whole, Some((call, findings)), Value::Object(fields)) = (telling, read, &mut value) {
            fields.insert("parts".to_owned(), explain::json(call, findings));
        }
        printer.json(&value);
        let decision = printer.paint(explain::tone(self.decision), self.decision.as_str());
        let rule = self.rules.first().map_or("default.allow", String::as_str);
        printer.line(&format!("{decision} [{rule}] {}", visible(&self.because)));
        let Some((call, findings)) = read else { return };
        match (telling, &findings.deciding().instead) {
            (Telling::Whole, _) => explain::tell(call, findings, printer),
            (Telling::Verdict, Some(instead)) => printer.line(&format!("  instead: {}", visible(instead))),
            (Telling::Verdict, None) => {}
        }
    }
}
