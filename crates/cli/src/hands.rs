//! What the hands of a run are given: the box, the environment, the undo store.

use std::ffi::OsString;
use std::path::PathBuf;

use tollgate::act::relay::Relay;
use tollgate::act::run::Commands;
use tollgate::act::sandbox::{Helper, Limits};
use tollgate::act::undo::{self, Keep, Undo};
use tollgate::act::{Doing, Hands, Inner};
use tollgate::call::places::CREDENTIALS;
use tollgate::policy::{Policy, relay as configured};

use crate::assembly::{Assembly, program_path};
use crate::failure::Failure;
use crate::home::Home;
use crate::relay;

/// Variables that commands see, where this process has them; the operator lists further ones.
const ENVIRONMENT: &[&str] = &["HOME", "USER", "LANG", "LC_ALL", "TERM"];

/// What the hands of a run are made of.
#[derive(Debug)]
pub(crate) struct Parts {
    state: PathBuf,
    doing: Doing,
    commands: Commands,
    relay: Option<Relay>,
    policy: Policy,
}

impl Parts {
    /// Collects the parts.
    ///
    /// # Errors
    /// [`Failure`] when the state directory cannot be used.
    pub(crate) fn of(home: &Home, assembly: &Assembly, doing: Doing) -> Result<Self, Failure> {
        let layout = assembly.surveyor.layout();
        let state = home.state_dir()?.path().to_owned();
        let commands = Commands {
            helper: Helper::this_program(),
            roots: layout.roots.clone(),
            hidden: hidden(home, &assembly.policy),
            guarded: layout.guard_policy.iter().map(PathBuf::from).collect(),
            pointed: assembly.surveyor.pointed().into_iter().map(PathBuf::from).collect(),
            env: environment(home, &assembly.policy.settings().env_allow),
            limits: Limits::default(),
            kept: undo::Limits::default(),
        };
        let relay = assembly.policy.settings().relay.as_ref().map(relay::open);
        Ok(Self { state, doing, commands, relay, policy: assembly.policy.clone() })
    }

    /// Opens the hands of run `run`.
    ///
    /// # Errors
    /// [`Failure`] when the undo store cannot be used.
    pub(crate) fn open(&self, run: &str, inner: Box<dyn Inner>) -> Result<Hands, Failure> {
        let undo = Undo::open(&self.state).map_err(|error| Failure::state(&error))?;
        undo.prune(Keep::default()).map_err(|error| Failure::state(&error))?;
        let policy = self.policy.clone();
        Ok(Hands::new(undo, run, self.doing)
            .commands(self.commands.clone())
            .relay(self.relay.clone())
            .secret(Box::new(move |path| policy.is_secret(path)))
            .inner(inner))
    }
}

/// Places that no command reads: the guard's state, credential stores, and the relay's secret.
fn hidden(home: &Home, policy: &Policy) -> Vec<PathBuf> {
    let person = PathBuf::from(&home.person.home);
    let secret = policy.settings().relay.as_ref().and_then(configured::Relay::secret_file).map(PathBuf::from);
    let stores = CREDENTIALS.iter().map(|name| person.join(name));
    std::iter::once(home.state.clone()).chain(stores).chain(secret).collect()
}

/// The whole environment of commands: a short list, and what the operator allows.
fn environment(home: &Home, allowed: &[String]) -> Vec<(OsString, OsString)> {
    let listed = ENVIRONMENT.iter().copied().chain(allowed.iter().map(String::as_str));
    let mut env: Vec<(OsString, OsString)> =
        listed.filter_map(|name| Some((name.into(), std::env::var_os(name)?))).collect();
    env.retain(|(name, _)| name != "HOME" && name != "USER");
    env.push(("PATH".into(), program_path().into()));
    env.push(("HOME".into(), home.person.home.clone().into()));
    env.push(("USER".into(), home.person.user.clone().into()));
    env
}
