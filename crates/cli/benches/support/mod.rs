//! The product as a process: a workspace, a home, a state directory, and payloads as Claude Code writes them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::measure::Failure;

/// The binary under test.
pub(crate) const TOLLGATE: &str = env!("CARGO_BIN_EXE_tollgate");

/// Where a hook answers.
pub(crate) struct Hook {
    work: PathBuf,
    home: PathBuf,
    state: PathBuf,
}

impl Hook {
    /// Lays out a workspace and a home beneath `place`; the state lies where it is said.
    pub(crate) fn new(place: &Path, state: &Path) -> Result<Self, Failure> {
        let (work, home) = (place.join("work"), place.join("home"));
        std::fs::create_dir_all(work.join("src"))?;
        std::fs::create_dir_all(&home)?;
        std::fs::write(work.join("src/main.rs"), "fn main() {}\n")?;
        Ok(Self { work, home, state: state.to_owned() })
    }

    /// The installed command line, without an environment.
    pub(crate) fn args(&self) -> Command {
        let mut command = Command::new(TOLLGATE);
        self.arguments(&mut command);
        command
    }

    /// The same behind another program, such as `time` or `strace`.
    pub(crate) fn behind(&self, program: &str, options: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(options).arg(TOLLGATE);
        self.arguments(&mut command);
        command
    }

    fn arguments(&self, command: &mut Command) {
        command.arg("--state-dir").arg(&self.state).arg("--home").arg(&self.home);
        command.args(["hook", "claude-code", "--event", "PreToolUse", "--root"]).arg(&self.work);
        command.env_clear().current_dir(&self.work);
    }

    /// A payload for one command; each session and call is named by its number.
    pub(crate) fn payload(&self, session: usize, call: usize, command: &str) -> Vec<u8> {
        self.payload_of(session, call, &json!({ "command": command, "description": "look" }))
    }

    /// A payload with any input.
    pub(crate) fn payload_of(&self, session: usize, call: usize, input: &Value) -> Vec<u8> {
        let payload = json!({
            "session_id": format!("bench-{session}"),
            "transcript_path": self.home.join("transcript.jsonl"),
            "cwd": self.work,
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": input,
            "tool_use_id": format!("toolu_{session}_{call}"),
        });
        payload.to_string().into_bytes()
    }
}

/// Runs a command to its end with `input` on standard input.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Result<Output, Failure> {
    use std::io::Write as _;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut stdin = child.stdin.take().ok_or("no standard input")?;
    match stdin.write_all(input) {
        // Whoever does not read to the end has answered already.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => return Err(error.into()),
        Ok(()) | Err(_) => drop(stdin),
    }
    Ok(child.wait_with_output()?)
}

/// What the host would read: `allow`, `ask`, `deny`, or nothing.
pub(crate) fn decision(output: &Output) -> String {
    let said: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let said = said.as_ref().and_then(|said| said.pointer("/hookSpecificOutput/permissionDecision"));
    said.and_then(Value::as_str).unwrap_or("nothing").to_owned()
}

/// Peak memory of one answer in kilobytes, as GNU `time` measures it; none where it is not installed.
pub(crate) fn peak(hook: &Hook, place: &Path, input: &[u8]) -> Result<Option<u64>, Failure> {
    let kept = place.join("peak");
    let kept = kept.to_string_lossy();
    let time = "/usr/bin/time";
    if !Path::new(time).is_file() {
        return Ok(None);
    }
    fed(&mut hook.behind(time, &["-f", "%M", "-o", &kept]), input)?;
    let said = std::fs::read_to_string(&*kept)?;
    Ok(said.lines().last().and_then(|line| line.trim().parse().ok()))
}
