//! A scene to judge in: a workspace at `/home/u/w`, names judged by their letters, and what a test changes.

use std::borrow::Cow;

use tollgate_call::action::{
    Action, ActionKind, Connect, Depth, Execute, Flow, PathRef, Peer, Program, Standing, Target, WriteHow,
};
use tollgate_call::assume;
use tollgate_call::facts::{Confinement, Expansion, Fact, Facts, PathFact};
use tollgate_call::places::Layout;
use tollgate_call::proposal::Door;
use tollgate_call::run_state::RunState;
use tollgate_call::span::Span;

use crate::decision::Decision;
use crate::finding::Findings;
use crate::judge::judge_subject;
use crate::policy::{Ground, Policy};
use crate::settings::Settings;
use crate::subject::{Doer, Subject};

pub(crate) const ROOT: &str = "/home/u/w";
pub(crate) const HOME: &str = "/home/u";
pub(crate) const GROUND: Ground<'static> = Ground { workspace: ROOT, home: HOME };

#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) settings: Settings,
    pub(crate) facts: Facts,
    pub(crate) run: RunState,
    pub(crate) doer: Doer,
    pub(crate) door: Door,
    pub(crate) tool: &'static str,
    pub(crate) actions: Vec<Action>,
    pub(crate) command_bytes: usize,
}

/// A command of a hook, outside any box.
pub(crate) fn command() -> Scene {
    Scene {
        settings: Settings::default(),
        facts: Facts::none(),
        run: RunState::default(),
        doer: Doer::Command,
        door: Door::Hook,
        tool: "run_bash",
        actions: Vec::new(),
        command_bytes: 10,
    }
}

/// A file tool of the agent door.
pub(crate) fn file_tool() -> Scene {
    Scene { doer: Doer::FileTool, door: Door::Agent, tool: "write_file", ..command() }
}

/// The fetch tool of the agent door.
pub(crate) fn fetch() -> Scene {
    Scene { doer: Doer::Fetch, door: Door::Agent, tool: "webfetch", ..command() }
}

impl Scene {
    /// Adds an action in the first part.
    pub(crate) fn act(self, kind: ActionKind) -> Self {
        self.act_in(0, kind)
    }

    /// Adds an action in a part, with facts by the letters of its names.
    pub(crate) fn act_in(mut self, part: u32, kind: ActionKind) -> Self {
        let action = Action { kind, span: Span::new("/command", 0, 1), part };
        for (abs, fact) in assume::facts(&layout(), std::slice::from_ref(&action)).paths {
            self.facts.paths.entry(abs).or_insert(fact);
        }
        self.actions.push(action);
        self
    }

    pub(crate) fn boxed(mut self) -> Self {
        self.facts.confinement = Confinement::Enforced;
        self
    }

    pub(crate) fn half_boxed(mut self) -> Self {
        self.facts.confinement = Confinement::Partial(vec!["seccomp".into()]);
        self
    }

    pub(crate) fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub(crate) fn running(mut self, change: impl FnOnce(&mut RunState)) -> Self {
        change(&mut self.run);
        self
    }

    /// Changes what is known about a name; call it after the action that names it.
    pub(crate) fn fact(mut self, raw: &str, change: impl FnOnce(&mut PathFact)) -> Self {
        let path = path(raw);
        let fact = self.facts.paths.entry(path.abs.clone()).or_insert_with(|| assume::fact(&layout(), &path.abs));
        change(fact);
        self
    }

    pub(crate) fn expansion(mut self, raw: &str, matches: &[&str], untracked: Fact<u64>) -> Self {
        let matches: Vec<String> = matches.iter().map(|name| path(name).abs).collect();
        let files = matches.len() as u64;
        let known = Fact::Known(Expansion { matches, more: false, untracked, files });
        self.facts.expansions.insert(path(raw).abs, known);
        self
    }

    pub(crate) fn judge(&self) -> Findings {
        let policy = Policy::new(self.settings.clone(), &GROUND).unwrap();
        self.judge_by(&policy)
    }

    pub(crate) fn judge_by(&self, policy: &Policy) -> Findings {
        let subject = Subject {
            tool: self.tool,
            doer: self.doer,
            door: self.door,
            cwd: ROOT,
            actions: &self.actions,
            commands: &[],
            command_bytes: self.command_bytes,
            outgoing: Vec::new(),
            digest: [7; 32],
            intent: Some([8; 32]),
        };
        judge_subject(policy, &subject, &self.facts, &self.run)
    }

    /// The decision and the rule that made it, such as `deny path.outside`.
    pub(crate) fn verdict(&self) -> String {
        let findings = self.judge();
        format!("{} {}", findings.decision(), findings.deciding().rule)
    }

    pub(crate) fn decision(&self) -> Decision {
        self.judge().decision()
    }
}

pub(crate) fn path(raw: &str) -> PathRef {
    let home = raw.strip_prefix("~/").map(|rest| Cow::Owned(format!("{HOME}/{rest}")));
    let home = home.or_else(|| (raw == "~").then_some(Cow::Borrowed(HOME)));
    PathRef { raw: raw.to_owned(), ..PathRef::join(ROOT, home.as_deref().unwrap_or(raw)) }
}

pub(crate) fn layout() -> Layout {
    Layout::of(ROOT, HOME)
}

pub(crate) fn at(raw: &str) -> Target {
    if raw.contains('*') { Target::Glob(path(raw)) } else { Target::Path(path(raw)) }
}

pub(crate) fn read(raw: &str) -> ActionKind {
    ActionKind::Read(at(raw))
}

pub(crate) fn read_beneath(raw: &str) -> ActionKind {
    ActionKind::Read(Target::Beneath(path(raw)))
}

pub(crate) fn write(raw: &str) -> ActionKind {
    ActionKind::Write(at(raw), WriteHow::Replace)
}

pub(crate) fn delete(raw: &str) -> ActionKind {
    ActionKind::Delete(at(raw), Depth::Single)
}

pub(crate) fn delete_tree(raw: &str) -> ActionKind {
    ActionKind::Delete(at(raw), Depth::Recursive)
}

pub(crate) fn moves(from: &str, to: &str) -> ActionKind {
    ActionKind::Move(at(from), at(to))
}

pub(crate) fn runs(name: &str, standing: Standing) -> ActionKind {
    let program = if name.contains('/') { Program::Path(path(name)) } else { Program::Name(name.to_owned()) };
    ActionKind::Execute(Execute { program, standing })
}

pub(crate) fn script(raw: &str) -> ActionKind {
    runs(raw, Standing::File(path(raw)))
}

pub(crate) fn url(text: &str, flow: Flow) -> ActionKind {
    ActionKind::Connect(Connect { peer: Peer::Url(text.to_owned()), flow })
}

pub(crate) fn host(text: &str, flow: Flow) -> ActionKind {
    ActionKind::Connect(Connect { peer: Peer::Host(text.to_owned()), flow })
}
