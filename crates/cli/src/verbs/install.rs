//! `tollgate install` and `uninstall`: our hook in a host agent's settings.
//!
//! Everything else in the settings is kept, in its order; a backup lies beside the file; doing it twice
//! changes nothing.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::args::{Agent, Install};
use crate::assembly::text;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::home::{Home, absolute, read_small, write_private};
use crate::printer::Printer;

/// Events that the gate has a say in, and whether the host must block when the hook fails.
const EVENTS: &[(&str, bool)] = &[("PreToolUse", true), ("PostToolUse", false), ("PostToolUseFailure", false)];
/// Seconds that the host waits; the hook itself answers well before.
const HOST_TIMEOUT: u64 = 15;

/// Puts the hook in.
///
/// # Errors
/// [`Failure`] when the settings cannot be read as JSON or written; they are left as they were.
pub(crate) fn install(args: &Install, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let file = settings_file(args, home)?;
    let before = load(&file)?;
    let mut after = without_ours(before.clone());
    let root = args.project.as_deref().map(absolute).transpose()?;
    for (event, blocks) in EVENTS {
        add(&mut after, event, *blocks, &command(home, event, root.as_deref())?)
            .map_err(|what| Failure::config(&format!("`{}` is left as it is: {what}", file.display())))?;
    }
    save(&file, &before, &after)?;
    printer.line(&format!("The hook is in {}.", file.display()));
    if home.operator()?.is_none() {
        printer.line("No operator's secret is set, so what would need an approval is denied: run `tollgate init`.");
    }
    printer.json(&json!({ "settings": file, "changed": before != after }));
    Ok(Exit::Ok)
}

/// Takes the hook out.
///
/// # Errors
/// [`Failure`] when the settings cannot be read as JSON or written.
pub(crate) fn uninstall(args: &Install, home: &Home, printer: Printer) -> Result<Exit, Failure> {
    let file = settings_file(args, home)?;
    let before = load(&file)?;
    let after = without_ours(before.clone());
    save(&file, &before, &after)?;
    printer.line(&format!("The hook is out of {}.", file.display()));
    printer.json(&json!({ "settings": file, "changed": before != after }));
    Ok(Exit::Ok)
}

/// The file itself where a link leads to it, so that the link is not replaced.
fn settings_file(args: &Install, home: &Home) -> Result<PathBuf, Failure> {
    let Agent::ClaudeCode = args.agent;
    let dir = match &args.project {
        Some(dir) => absolute(dir)?,
        None => PathBuf::from(&home.person.home),
    };
    let file = dir.join(".claude/settings.json");
    Ok(std::fs::canonicalize(&file).unwrap_or(file))
}

/// The exact command line, with this installation's own places pinned.
fn command(home: &Home, event: &str, root: Option<&Path>) -> Result<(String, Vec<String>), Failure> {
    let binary = std::env::current_exe().map_err(|error| Failure::state(&error))?;
    let mut words = vec!["--state-dir".to_owned(), text(&home.state)?, "--config".to_owned(), text(&home.config)?];
    words.extend(["--home".to_owned(), home.person.home.clone()]);
    words.extend(["hook", "claude-code", "--event", event].map(str::to_owned));
    if let Some(root) = root {
        words.extend(["--root".to_owned(), text(root)?]);
    }
    Ok((text(&binary)?, words))
}

fn load(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = read_small(file).map_err(|error| Failure::config(&format!("`{}`: {error}", file.display())))?;
    let value = match text.as_deref().map(str::trim) {
        None | Some("") => return Ok(Map::new()),
        Some(text) => tollgate::call::json::parse(text.as_bytes()),
    };
    match value {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Failure::config(&format!("`{}` is not a JSON object; it is left as it is", file.display()))),
        Err(error) => Err(Failure::config(&format!("`{}` is left as it is: {error}", file.display()))),
    }
}

/// Settings without any hook of ours; lists and tables that become empty go too.
fn without_ours(mut settings: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(hooks)) = settings.get_mut("hooks") else { return settings };
    for groups in hooks.values_mut() {
        let Value::Array(groups) = groups else { continue };
        for group in groups.iter_mut() {
            if let Some(Value::Array(list)) = group.get_mut("hooks") {
                list.retain(|hook| !is_ours(hook));
            }
        }
        groups.retain(|group| group.get("hooks").and_then(Value::as_array).is_none_or(|list| !list.is_empty()));
    }
    hooks.retain(|_, groups| groups.as_array().is_none_or(|groups| !groups.is_empty()));
    if hooks.is_empty() {
        settings.shift_remove("hooks");
    }
    settings
}

/// A command of a `tollgate` binary whose words call its hook door.
fn is_ours(hook: &Value) -> bool {
    let command = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    let binary = Path::new(command).file_name().is_some_and(|name| name == "tollgate");
    let words = hook.get("args").and_then(Value::as_array);
    binary && words.is_some_and(|words| words.iter().any(|word| word == "hook"))
}

/// # Errors
/// What stands where the hook should go. A hook that is not put in must not be reported as put in.
fn add(
    settings: &mut Map<String, Value>,
    event: &str,
    blocks: bool,
    (binary, words): &(String, Vec<String>),
) -> Result<(), String> {
    let mut hook = json!({ "type": "command", "command": binary, "args": words, "timeout": HOST_TIMEOUT });
    if let (true, Value::Object(hook)) = (blocks, &mut hook) {
        hook.insert("onFailure".to_owned(), json!("block"));
    }
    let hooks = settings.entry("hooks").or_insert_with(|| json!({}));
    let Value::Object(hooks) = hooks else { return Err("its `hooks` is not an object".to_owned()) };
    let Value::Array(groups) = hooks.entry(event).or_insert_with(|| json!([])) else {
        return Err(format!("its `hooks.{event}` is not a list"));
    };
    groups.push(json!({ "matcher": "*", "hooks": [hook] }));
    Ok(())
}

fn save(file: &Path, before: &Map<String, Value>, after: &Map<String, Value>) -> Result<(), Failure> {
    if before == after {
        return Ok(());
    }
    let failed = |error: &dyn std::fmt::Display| Failure::config(&format!("`{}`: {error}", file.display()));
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).map_err(|error| failed(&error))?;
    }
    if file.exists() {
        std::fs::copy(file, file.with_extension("json.tollgate-backup")).map_err(|error| failed(&error))?;
    }
    let text = serde_json::to_string_pretty(after).map_err(|error| failed(&error))?;
    write_private(file, &format!("{text}\n")).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn taking_out_keeps_everybody_elses_hooks_and_order() {
        let theirs = json!({ "model": "x", "hooks": { "PreToolUse": [
            { "matcher": "Bash", "hooks": [{ "type": "command", "command": "/bin/lint" }] } ] }, "z": 1 });
        let mut settings = map(theirs.clone());
        add(&mut settings, "PreToolUse", true, &("/opt/tollgate".into(), vec!["hook".into()])).unwrap();
        add(&mut settings, "PostToolUse", false, &("/opt/tollgate".into(), vec!["hook".into()])).unwrap();
        assert_ne!(settings, map(theirs.clone()));
        assert_eq!(without_ours(settings), map(theirs));
    }

    #[test]
    fn somebody_elses_program_is_not_ours() {
        assert!(!is_ours(&json!({ "command": "/opt/tollgate-lint", "args": ["hook"] })));
        assert!(!is_ours(&json!({ "command": "/opt/tollgate", "args": ["log"] })));
        assert!(is_ours(&json!({ "command": "/opt/tollgate", "args": ["--state-dir", "x", "hook", "claude-code"] })));
    }
}
