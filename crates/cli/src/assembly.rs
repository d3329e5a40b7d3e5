//! From the command line and the layers of configuration to the parts of a gate.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tollgate::call::facts::Confinement;
use tollgate::call::places::Layout;
use tollgate::call::secret::{find_tokens, is_secret_name};
use tollgate::gate::{Gate, GateBuilder};
use tollgate::ledger::{Scrubber, Store};
use tollgate::policy::Policy;
use tollgate::survey::Surveyor;

use crate::args::{Limits, Scope};
use crate::configuration;
use crate::failure::Failure;
use crate::home::{Home, absolute};
use crate::relay;
use crate::system::{SystemClock, SystemEntropy};

/// Where programs are looked for when the process was given no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The parts of a gate, before it is opened for a run.
#[derive(Debug)]
pub(crate) struct Assembly {
    pub(crate) policy: Policy,
    pub(crate) surveyor: Surveyor,
    pub(crate) scrubber: Arc<Scrubber>,
}

/// Puts the parts together.
///
/// # Errors
/// [`Failure`] when the configuration is wrong or a directory cannot be a root.
pub(crate) fn assemble(home: &Home, scope: &Scope, limits: &Limits, walls: Confinement) -> Result<Assembly, Failure> {
    let workspace = workspace(scope)?;
    let policy = configuration::load(home, &workspace, scope, limits)?;
    let layout = layout(home, &workspace, scope, &policy)?;
    let surveyor = Surveyor::open(layout, &program_path()).map_err(|error| Failure::config(&error))?.confinement(walls);
    let scrubber = Arc::new(scrubber(&policy));
    Ok(Assembly { policy, surveyor, scrubber })
}

impl Assembly {
    /// Begins the gate.
    pub(crate) fn builder(self, store: Arc<dyn Store>, home: &Home) -> GateBuilder {
        let clock = Arc::new(SystemClock);
        let entropy = Arc::new(SystemEntropy);
        Gate::builder(self.policy, self.surveyor, store, clock, entropy, home.person.clone()).scrubber(self.scrubber)
    }
}

/// The real path of the workspace.
///
/// # Errors
/// [`Failure`] when it is not there.
pub(crate) fn workspace(scope: &Scope) -> Result<PathBuf, Failure> {
    let named = absolute(scope.root.as_deref().unwrap_or(Path::new(".")))?;
    std::fs::canonicalize(&named)
        .map_err(|error| Failure::usage(format!("`{}` cannot be the workspace: {error}", named.display())))
}

/// The places of this installation around the workspace.
///
/// # Errors
/// [`Failure`] when a further root is not there.
pub(crate) fn layout(home: &Home, workspace: &Path, scope: &Scope, policy: &Policy) -> Result<Layout, Failure> {
    let mut layout = Layout::of(&text(workspace)?, &home.person.home);
    layout.guard_state = vec![text(&home.state)?];
    layout.guard_policy = vec![text(&home.policy)?, "/etc/tollgate".to_owned()];
    // Written never, read freely: like the policy, and it may lie in the very project that builds it.
    if let Ok(binary) = std::env::current_exe() {
        layout.guard_policy.push(text(&binary)?);
    }
    layout.roots.extend(real_all(&scope.write_roots)?);
    layout.roots.extend(
        policy.settings().roots.iter().filter(|root| !layout.roots.contains(root)).cloned().collect::<Vec<_>>(),
    );
    layout.read_roots.extend(real_all(&scope.read_roots)?);
    layout.read_roots.extend(policy.settings().read_roots.iter().cloned());
    Ok(layout)
}

fn real_all(dirs: &[PathBuf]) -> Result<Vec<String>, Failure> {
    let real = |dir: &PathBuf| {
        let real = std::fs::canonicalize(dir)
            .map_err(|error| Failure::usage(format!("`{}` cannot be a root: {error}", dir.display())))?;
        text(&real)
    };
    dirs.iter().map(real).collect()
}

/// Paths of ours are text: one that is not UTF-8 cannot be compared safely.
pub(crate) fn text(path: &Path) -> Result<String, Failure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::usage(format!("`{}` is not valid UTF-8; choose another directory", path.display())))
}

/// The search path that commands are given.
pub(crate) fn program_path() -> String {
    std::env::var("PATH").ok().filter(|path| !path.is_empty()).unwrap_or_else(|| DEFAULT_PATH.to_owned())
}

/// Scrubs the secrets that this process and the relay's configuration hold, besides the common formats.
pub(crate) fn scrubber(policy: &Policy) -> Scrubber {
    let held = held_secrets(variables());
    let relay = policy.settings().relay.as_ref().map(relay::secrets).unwrap_or_default();
    Scrubber::new(held.iter().chain(&relay).map(|(name, value)| (name.as_str(), value.as_str())))
}

/// The variables of this process that are text.
pub(crate) fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text)
}

/// The secrets in variables: whole values where the name says so, and tokens and passwords inside others.
pub(crate) fn held_secrets(variables: impl Iterator<Item = (String, String)>) -> Vec<(String, String)> {
    let mut secrets = Vec::new();
    for (name, value) in variables {
        // `GOOGLE_APPLICATION_CREDENTIALS` and kin say where the secret is.
        if is_secret_name(&name) && !names_a_file(&value) {
            secrets.push((name.clone(), value.clone()));
        }
        let inside = find_tokens(&value).into_iter().filter_map(|hit| value.get(hit.range));
        secrets.extend(inside.filter(|token| *token != value).map(|token| (name.clone(), token.to_owned())));
    }
    secrets
}

fn names_a_file(value: &str) -> bool {
    Path::new(value).is_absolute() && Path::new(value).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_by_the_name_of_a_variable_and_inside_its_value() {
        let file = std::env::current_exe().unwrap().display().to_string();
        let variables = [
            ("MAIL_PASSWORD", "correct-horse"),
            ("DATABASE_URL", "postgres://app:hunter22@db.example/app"),
            ("GOOGLE_APPLICATION_CREDENTIALS", file.as_str()),
            ("EDITOR", "vim"),
        ];
        let held = held_secrets(variables.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())));
        let shown: Vec<(&str, &str)> = held.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(shown, [("MAIL_PASSWORD", "correct-horse"), ("DATABASE_URL", "hunter22")]);
    }
}
