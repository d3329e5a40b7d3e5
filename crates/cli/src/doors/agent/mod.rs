//! `tollgate run`: an agent whose every call passes the gate.

mod console;
mod context;
mod discreet;
mod frame;
mod headless;
mod inner;
mod nudge;
mod plan;
mod prompt;
mod steer;
mod stop;
mod tally;
mod terminal;
mod worker;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::rc::Rc;
use std::sync::Arc;

use secrecy::SecretString;
use serde_json::json;
use tollgate::act::sandbox::Walls;
use tollgate::act::undo::{How, Which};
use tollgate::act::{Doing, Hands};
use tollgate::call::schema::TOOLS;
use tollgate::gate::{Approver, Gate, Seat};
use tollgate::ledger::{Event, HaltScope, RunId, Scrubber, SqliteStore, Store};
use tollgate::policy::rule::Lift;
use tollgate::policy::{Mode, Policy, RuleId};

pub(crate) use self::console::{Answer, Console};
use self::context::Context;
use self::discreet::Discreet;
use self::frame::Frame;
use self::headless::Headless;
use self::inner::{Plan, RunInner};
use self::nudge::Nudges;
use self::plan::PlanGate;
use self::stop::{Stop, Urgency};
pub(crate) use self::tally::Tally;
use self::terminal::Terminal;
pub(crate) use self::terminal::whole_call;
use self::worker::{Ended, Worker};
use crate::args::Run;
use crate::assembly::{self, text};
use crate::exit::Exit;
use crate::exposure::Exposure;
use crate::failure::Failure;
use crate::hands::Parts;
use crate::home::{Home, new_run, read_small};
use crate::model::pace::RealPace;
use crate::model::prices::Prices;
use crate::model::spec::ModelSpec;
use crate::model::turn::ToolSpec;
use crate::model::{self, Delivery, Model};
use crate::printer::Printer;
use crate::system::SystemEntropy;
use crate::verbs::{doctor, undo};

/// Who is at the other end of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Presence {
    Person,
    Nobody,
}

/// Everything of a run that outlives its worker.
struct Session {
    store: Arc<SqliteStore>,
    run: RunId,
    gate: Gate,
    seat: Option<Seat>,
    hands: Parts,
    stop: Stop,
    cwd: String,
    prices: Prices,
    context_tokens: u64,
    frame: Frame,
    plan_gate: PlanGate,
    exposed: Exposed,
}

/// The secrets of this machine: their names to be told, their values to be hidden.
struct Exposed {
    names: Exposure,
    scrubber: Arc<Scrubber>,
}

/// Runs the verb.
///
/// # Errors
/// [`Failure`] when the run cannot start; a run that started ends with an exit code.
pub(crate) fn run(args: &Run, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    // A key press counts for a person only where there are keys: a pipe is nobody.
    let keys = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let presence = if args.print || printer.is_json() || !keys { Presence::Nobody } else { Presence::Person };
    if presence == Presence::Nobody && args.task.is_none() {
        return Err(Failure::usage("without a person at a terminal, a run needs a task"));
    }
    // Before anything is opened: what the policy knows besides is looked for when the message is said.
    args.task.as_deref().map_or(Ok(()), |task| refuse_secrets(task, &Policy::builtin()))?;
    let model = open_model(args)?;
    let session = Session::open(args, home, presence)?;
    let console: Rc<RefCell<dyn Console>> = match presence {
        Presence::Person => Rc::new(RefCell::new(Terminal::new(printer, session.stop.clone()))),
        Presence::Nobody => Rc::new(RefCell::new(Headless::new(printer))),
    };
    session.work(args.task.clone(), model, &Discreet::before(&console, &session.exposed.scrubber))
}

/// Runs one task with nobody at the other end, shown on `console`.
///
/// # Errors
/// As [`run`].
pub(crate) fn headless(args: &Run, home: &Home, console: &Rc<RefCell<dyn Console>>) -> Result<Exit, Failure> {
    let model = open_model(args)?;
    let session = Session::open(args, home, Presence::Nobody)?;
    session.work(args.task.clone(), model, &Discreet::before(console, &session.exposed.scrubber))
}

fn open_model(args: &Run) -> Result<Box<dyn Model>, Failure> {
    let name = args.model.as_deref().ok_or_else(|| {
        Failure::usage("name a model: `--model anthropic:NAME`, `openai:NAME`, `ollama:NAME` or `script:FILE`")
    })?;
    let spec = ModelSpec::parse(name, args.base_url.as_deref()).map_err(|error| Failure::usage(error.to_string()))?;
    let key = spec.key_variable().and_then(|name| std::env::var(name).ok()).map(SecretString::from);
    let delivery = if args.no_stream { Delivery::Whole } else { Delivery::Streamed };
    model::open(spec, key, delivery, Box::new(RealPace::new())).map_err(|error| Failure::model(&error))
}

impl Session {
    fn open(args: &Run, home: &Home, presence: Presence) -> Result<Self, Failure> {
        let walls = doctor::walls(home)?;
        let assembly = assembly::assemble(home, &args.scope, &args.limits, walls.confinement())?;
        require(args, &walls, &assembly.policy, presence)?;
        let store = home.ledger()?;
        let run = new_run()?;
        let doing = if args.dry_run { Doing::Dry } else { Doing::Really };
        let hands = Parts::of(home, &assembly, doing)?;
        let scrubber = Arc::clone(&assembly.scrubber);
        let cwd = text(&assembly::workspace(&args.scope)?)?;
        let approver = match presence {
            Presence::Person => Approver::Seat,
            Presence::Nobody => Approver::Nobody,
        };
        let (gate, seat) = assembly
            .builder(Arc::clone(&store) as Arc<dyn Store>, home)
            .operator(home.operator()?)
            .approver(approver)
            .open(run.clone())
            .map_err(|error| Failure::state(&error))?;
        let seat = (presence == Presence::Person).then_some(seat);
        let stop = Stop::new().map_err(|error| Failure::state(&error))?;
        let prices = prices(home)?;
        let context_tokens = context_tokens(args, &prices)?;
        let frame = Frame::draw(&SystemEntropy).map_err(|error| Failure::state(&error))?;
        let plan_gate = if args.approve_plan { PlanGate::Waiting } else { PlanGate::Open };
        let exposed = Exposed { names: Exposure::look(home), scrubber };
        Ok(Self { store, run, gate, seat, hands, stop, cwd, prices, context_tokens, frame, plan_gate, exposed })
    }

    fn work(
        &self,
        task: Option<String>,
        model: Box<dyn Model>,
        console: &Rc<RefCell<dyn Console>>,
    ) -> Result<Exit, Failure> {
        let _listening = self.stop.listen().map_err(|error| Failure::state(&error))?;
        let scope = HaltScope::Run(self.run.clone());
        let _watch = self
            .stop
            .watch(Arc::clone(&self.store) as Arc<dyn Store>, scope)
            .map_err(|error| Failure::state(&error))?;
        self.begin(model.name())?;
        let plan = Rc::new(RefCell::new(Plan::default()));
        let inner = RunInner::new(Rc::clone(&plan), Rc::clone(console));
        let hands = self.hands.open(self.run.as_str(), Box::new(inner))?;
        let mut worker = self.worker(&hands, model, console, plan);
        let mut next = task.or_else(|| console.borrow_mut().next_message());
        let mut ended = Ended::Finished;
        while let Some(message) = next {
            if let Err(failure) = refuse_secrets(&message, self.gate.policy()) {
                console.borrow_mut().notice(&failure.message);
                next = console.borrow_mut().next_message();
                continue;
            }
            ended = worker.work(message);
            let goes_on = matches!(ended, Ended::Finished | Ended::Model(_)) && self.stop.urgency() == Urgency::None;
            next = if goes_on { console.borrow_mut().next_message() } else { None };
        }
        self.finish(&ended, &worker.tally)?;
        let exit = exit(&ended, &worker.tally);
        let summary = json!({
            "run": self.run.as_str(), "ended": ended.why(), "exit": exit.code(), "status": worker.tally.line(),
            "tally": worker.tally.json(),
        });
        console.borrow_mut().end(&summary);
        tell_prompts(&worker.tally, console);
        self.offer_undo(&hands, &ended, console);
        Ok(exit)
    }

    fn worker<'a>(
        &'a self,
        hands: &'a Hands,
        model: Box<dyn Model>,
        console: &Rc<RefCell<dyn Console>>,
        plan: Rc<RefCell<Plan>>,
    ) -> Worker<'a> {
        let tools = tools(self.gate.policy());
        let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
        Worker {
            gate: &self.gate,
            seat: self.seat.as_ref(),
            hands,
            model,
            console: Rc::clone(console),
            stop: &self.stop,
            cwd: self.cwd.clone(),
            system: prompt::system(&self.cwd, &names, &self.frame.explained()),
            tools,
            context: Context::new(self.context_tokens),
            tally: Tally::default(),
            prices: self.prices.clone(),
            messages: 0,
            denials_in_a_row: 0,
            failures_in_a_row: 0,
            frame: self.frame.clone(),
            plan,
            plan_gate: self.plan_gate,
            nudges: Nudges::default(),
            warned: BTreeSet::new(),
        }
    }

    /// What was changed can be taken back: offered where a person broke the run off, and told otherwise.
    fn offer_undo(&self, hands: &Hands, ended: &Ended, console: &Rc<RefCell<dyn Console>>) {
        let steps = hands.undo().steps().unwrap_or_default();
        let changed =
            steps.iter().filter(|step| step.meta.run == self.run.as_str() && !step.changes.is_empty()).count();
        if changed == 0 {
            return;
        }
        let mut console = console.borrow_mut();
        let command = format!("`tollgate undo --run {}`", self.run);
        if !matches!(ended, Ended::Interrupted | Ended::Halted(_)) {
            return console.notice(&format!("{changed} steps changed files; {command} takes them back"));
        }
        let answer = console.question(&format!("{changed} steps changed files. Take them back now? [y/N]"));
        if !matches!(answer.as_deref(), Some("y" | "yes")) {
            return console.notice(&format!("they stay; {command} takes them back"));
        }
        let which = Which::Run(self.run.as_str().to_owned());
        match undo::take_back(hands.undo(), &which, How::Careful) {
            Ok(restored) => console.notice(&format!("{} files are as they were", restored.restored.len())),
            Err(failure) => console.notice(&failure.message),
        }
    }

    fn begin(&self, model: &str) -> Result<(), Failure> {
        let policy = self.gate.policy();
        let start = json!({ "model": model, "cwd": self.cwd, "version": env!("CARGO_PKG_VERSION") });
        let config = json!({
            "policy": tollgate::ledger::Digest::from(policy.digest()).to_string(),
            "settings": policy.settings(),
            "exposed": self.exposed.names.json(),
        });
        self.gate
            .note(Event::RunStart, &start)
            .and_then(|()| self.gate.note(Event::Config, &config))
            .map_err(|denial| Failure::state(&denial.message()))
    }

    fn finish(&self, ended: &Ended, tally: &Tally) -> Result<(), Failure> {
        self.gate
            .note(Event::RunEnd, &json!({ "ended": ended.why(), "tally": tally.json() }))
            .map_err(|denial| Failure::state(&denial.message()))
    }
}

/// What a person types is sent to the model's provider: a secret in it would be told.
fn refuse_secrets(message: &str, policy: &Policy) -> Result<(), Failure> {
    let shown = assembly::scrubber(policy).redact(message);
    if shown == message {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "the message holds a secret, which the model's provider would get to see: `{}`; leave it out, and let the \
         program that needs it read it from where it is kept",
        crate::printer::visible(&shown)
    )))
}

/// Many questions are a sign that a rule is missing.
fn tell_prompts(tally: &Tally, console: &Rc<RefCell<dyn Console>>) {
    let Some((times, rule)) = tally.prompts() else { return };
    let lifted = RuleId::find(rule).is_some_and(|rule| rule.rule().lift != Lift::Nothing);
    let hint = if lifted {
        "an `allow` rule for what you always approve would have saved them (docs/policy.md)"
    } else {
        "no rule can answer it for you"
    };
    let asked = tally.asked.len();
    console.borrow_mut().notice(&format!("you were asked {asked} times, {times} of them because of {rule}; {hint}"));
}

/// How many tokens a turn is sent: a number, or `auto` for three fifths of what the model takes.
fn context_tokens(args: &Run, prices: &Prices) -> Result<u64, Failure> {
    let Some(wanted) = args.max_context_tokens.as_deref() else { return Ok(context::DEFAULT_TOKENS) };
    if wanted == "auto" {
        let model = args.model.as_deref().unwrap_or_default();
        return prices.window(model).map(|window| window / 5 * 3).ok_or_else(|| {
            Failure::usage(format!(
                "the window of `{model}` is not known; give a number, or a `window` in your price table"
            ))
        });
    }
    match wanted.parse() {
        Ok(tokens) if tokens >= 1_000 => Ok(tokens),
        Ok(_) | Err(_) => Err(Failure::usage(format!("`{wanted}` is neither `auto` nor a number from 1000 up"))),
    }
}

/// The shipped prices, under those of the operator's `prices.toml` beside the configuration file.
fn prices(home: &Home) -> Result<Prices, Failure> {
    let shipped = Prices::shipped().map_err(|error| Failure::config(&error))?;
    let file = home.config.with_file_name("prices.toml");
    match read_small(&file).map_err(|error| Failure::config(&error))? {
        None => Ok(shipped),
        Some(text) => Prices::parse(&text)
            .map(|own| shipped.overlaid(own))
            .map_err(|error| Failure::config(&format!("`{}`: {error}", file.display()))),
    }
}

/// A run that finished, but could not do something for want of an approval or because it was denied,
/// does not end with 0.
fn exit(ended: &Ended, tally: &Tally) -> Exit {
    match ended {
        Ended::Finished if tally.denied.iter().any(|rule| rule == "approval.none") => Exit::NeedsApproval,
        Ended::Finished if !tally.denied.is_empty() => Exit::Denied,
        Ended::Finished
        | Ended::Interrupted
        | Ended::Halted(_)
        | Ended::Capped(_)
        | Ended::Model(_)
        | Ended::Guard(_) => ended.exit(),
    }
}

/// Tools of the policy only: the model never sees the schema of another.
fn tools(policy: &Policy) -> Vec<ToolSpec> {
    TOOLS
        .iter()
        .filter(|tool| policy.refuses_tool(tool.name).is_none())
        .map(|tool| ToolSpec {
            name: tool.name.to_owned(),
            description: tool.about.to_owned(),
            schema: tool.json_schema(),
        })
        .collect()
}

/// Where nobody is asked each time, every wall that this build claims must hold.
fn require(args: &Run, walls: &Walls, policy: &Policy, presence: Presence) -> Result<(), Failure> {
    let unasked = presence == Presence::Nobody || policy.settings().mode == Mode::DangerouslySkipPermissions;
    if walls.claimed_all_up() || !(args.require_sandbox || unasked) {
        return Ok(());
    }
    let down: Vec<String> = walls
        .states()
        .iter()
        .filter(|(_, state)| *state != tollgate::act::sandbox::State::Up)
        .map(|(wall, _)| wall.to_string())
        .collect();
    Err(Failure::config(&format!("the sandbox lacks: {}; `tollgate doctor` says how to get it", down.join(", "))))
}
