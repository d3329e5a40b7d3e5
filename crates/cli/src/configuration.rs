//! The layers of configuration: system ceiling, user, project, command line.

use std::path::Path;

use tollgate::policy::{Caps, Ground, Layer, LayerKind, Mode, Policy, Profile, Settings};

use crate::args::{Limits, Scope};
use crate::assembly::text;
use crate::failure::Failure;
use crate::home::{Home, read_foreign, read_small};

/// The system's ceiling, which no layer lifts.
const SYSTEM_FILE: &str = "/etc/tollgate/tollgate.toml";
/// The project's file, which may only tighten.
const PROJECT_FILE: &str = "tollgate.toml";

/// Loads the layers and lays the command line over them.
///
/// # Errors
/// [`Failure`] when a layer is wrong; nothing starts on a policy that was half understood.
pub(crate) fn load(home: &Home, workspace: &Path, scope: &Scope, limits: &Limits) -> Result<Policy, Failure> {
    let project = workspace.join(PROJECT_FILE);
    let files = [
        (LayerKind::System, Path::new(SYSTEM_FILE)),
        (LayerKind::User, home.config.as_path()),
        (LayerKind::Project, project.as_path()),
    ];
    let mut texts = Vec::new();
    for (kind, file) in files {
        // Only the project's file may be somebody else's work.
        let text = if kind == LayerKind::Project { read_foreign(file) } else { read_small(file) };
        let text = text.map_err(|error| Failure::config(&format!("`{}` cannot be read: {error}", file.display())))?;
        texts.extend(text.map(|text| (kind, file.display().to_string(), text)));
    }
    let layers: Vec<Layer<'_>> = texts.iter().map(|(kind, name, text)| Layer { kind: *kind, name, text }).collect();
    let workspace = text(workspace)?;
    let ground = Ground { workspace: &workspace, home: &home.person.home };
    let policy = Policy::from_layers(&layers, &ground).map_err(|error| Failure::config(&error))?;
    let mut settings = policy.settings().clone();
    lay_over(&mut settings, scope, limits)?;
    Policy::new(settings, &ground).map_err(|error| Failure::config(&error))
}

fn lay_over(settings: &mut Settings, scope: &Scope, limits: &Limits) -> Result<(), Failure> {
    if let Some(mode) = &scope.mode {
        settings.mode = Mode::named(mode).ok_or_else(|| unknown("mode", mode, &Mode::ALL.map(Mode::as_str)))?;
    }
    if let Some(profile) = &scope.profile {
        let wanted =
            Profile::named(profile).ok_or_else(|| unknown("profile", profile, &Profile::ALL.map(Profile::as_str)))?;
        settings.profile = settings.profile.max(wanted);
    }
    settings.allow_hosts.extend(scope.allow_hosts.iter().cloned());
    if !scope.tools.is_empty() {
        settings.tools = Some(known_tools(&scope.tools)?);
    }
    let caps = &mut settings.caps;
    caps.turns = limits.max_turns.unwrap_or(caps.turns);
    let usual = limits.usual_tool_calls.filter(|_| caps.tool_calls == Caps::default().tool_calls);
    caps.tool_calls = limits.max_tool_calls.or(usual).unwrap_or(caps.tool_calls);
    caps.wall_secs = limits.max_wall_secs.unwrap_or(caps.wall_secs);
    caps.tokens = limits.max_tokens.or(caps.tokens);
    if let Some(dollars) = &limits.max_cost_usd {
        caps.cost_microusd = microusd(dollars)?;
    }
    for pair in &limits.per_tool {
        let (tool, count) = tool_cap(pair)?;
        caps.per_tool.insert(tool, count);
    }
    Ok(())
}

fn known_tools(names: &[String]) -> Result<Vec<String>, Failure> {
    match names.iter().find(|name| tollgate::call::schema::tool(name).is_none()) {
        None => Ok(names.to_vec()),
        Some(name) => Err(Failure::usage(format!(
            "there is no tool `{name}`; the tools are: {}",
            tollgate::call::schema::known_names()
        ))),
    }
}

fn tool_cap(pair: &str) -> Result<(String, u64), Failure> {
    let parsed = pair.split_once('=').and_then(|(tool, count)| Some((tool, count.parse().ok()?)));
    let (tool, count) =
        parsed.ok_or_else(|| Failure::usage(format!("`{pair}` is not TOOL=N, such as `write_file=5`")))?;
    known_tools(&[tool.to_owned()])?;
    Ok((tool.to_owned(), count))
}

/// Whole micro-dollars of a decimal number of dollars, exactly.
pub(crate) fn microusd(dollars: &str) -> Result<u64, Failure> {
    let wrong = || Failure::usage(format!("`{dollars}` is not an amount of dollars, such as `5` or `0.25`"));
    let (whole, part) = dollars.split_once('.').unwrap_or((dollars, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 || (whole.is_empty() && part.is_empty()) {
        return Err(wrong());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| wrong())? };
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    whole.checked_mul(1_000_000).and_then(|micro| micro.checked_add(part)).ok_or_else(wrong)
}

fn unknown(what: &str, word: &str, words: &[&str]) -> Failure {
    Failure::usage(format!("`{word}` is not a {what}; choose one of: {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_become_exact_microdollars() {
        assert_eq!(microusd("5").unwrap(), 5_000_000);
        assert_eq!(microusd("0.25").unwrap(), 250_000);
        assert_eq!(microusd(".000001").unwrap(), 1);
        for wrong in ["", ".", "-1", "1e3", "0.0000001", "5 ", "99999999999999999999"] {
            assert!(microusd(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_cap_on_an_unknown_tool_is_refused() {
        assert!(tool_cap("write_file=5").is_ok());
        assert!(tool_cap("write_files=5").is_err());
        assert!(tool_cap("write_file").is_err());
    }
}
