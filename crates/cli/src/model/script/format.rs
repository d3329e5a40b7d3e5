//! The script file, version 1. `docs/script-format.md` is its description.

use std::path::{Path, PathBuf};

use regex::Regex;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use thiserror::Error;

/// A script file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ScriptError {
    /// The file cannot be read.
    #[error("the script `{}` cannot be read: {said}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        said: String,
    },
    /// The file is not a script.
    #[error("the script `{}` is wrong; see docs/script-format.md\n{said}", .path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why, with the line.
        said: String,
    },
    /// A step contradicts itself.
    #[error("step {number} of the script `{}` is wrong: {why}", .path.display())]
    Step {
        /// The file.
        path: PathBuf,
        /// Which step, counted from 1.
        number: usize,
        /// Why.
        why: &'static str,
    },
    /// The loopback server cannot start.
    #[error("the script's server cannot start: {0}")]
    Serve(String),
}

/// A whole script.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[serde(default)]
    #[expect(dead_code, reason = "reading it is the check")]
    version: Version,
    /// What the script is called.
    pub(super) name: String,
    /// Whether the model obeys instructions that it finds in tool results.
    #[serde(default)]
    pub(super) gullible: bool,
    /// What it says when no step matches.
    #[serde(default = "nothing_more")]
    pub(super) otherwise: String,
    /// The steps, in the order in which they are tried.
    #[serde(default, rename = "step")]
    pub(super) steps: Vec<Step>,
}

/// One answer, and when it is given.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    #[serde(default)]
    pub(super) when: When,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default)]
    pub(super) calls: Vec<ScriptCall>,
    #[serde(default)]
    pub(super) raw_calls: Vec<RawCall>,
    /// What goes wrong with the answer.
    pub(super) fault: Option<Fault>,
    /// How many times it goes wrong before it goes well; 1 if left out.
    pub(super) times: Option<u32>,
    /// The seconds that an `http-429` asks the client to wait.
    pub(super) retry_after: Option<u32>,
    /// The tokens that the answer claims; counted from its text if left out.
    pub(super) usage: Option<Tokens>,
    /// Whether the step stays usable after its first answer.
    #[serde(default)]
    pub(super) repeat: bool,
}

/// The conditions of a step; all that are given must hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    /// Matches the newest user message.
    pub(super) user: Option<Pattern>,
    /// Matches one of the tool results that just arrived.
    pub(super) result: Option<Pattern>,
    /// Names the tool of that result.
    pub(super) tool: Option<String>,
    /// Is the number of this answer, counted from 1.
    pub(super) turn: Option<u32>,
}

/// A proposed call with well-formed arguments.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScriptCall {
    pub(super) tool: String,
    #[serde(default)]
    pub(super) args: Map<String, Value>,
}

/// A proposed call whose arguments are sent as they stand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCall {
    pub(super) tool: String,
    pub(super) args: String,
}

/// What can go wrong with an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(super) enum Fault {
    /// HTTP 429.
    #[serde(rename = "http-429")]
    Http429,
    /// HTTP 500.
    #[serde(rename = "http-500")]
    Http500,
    /// The connection breaks in the middle of the answer.
    #[serde(rename = "broken-stream")]
    BrokenStream,
    /// A body that is no JSON.
    #[serde(rename = "garbage")]
    Garbage,
    /// Nothing comes, and the connection stays open.
    #[serde(rename = "hang")]
    Hang,
    /// The arguments of every call are cut in half.
    #[serde(rename = "garbage-arguments")]
    GarbageArguments,
}

/// Token counts that a step claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tokens {
    /// All input tokens, those from the cache included.
    pub(super) input: u32,
    pub(super) output: u32,
    #[serde(default)]
    pub(super) cached: u32,
    #[serde(default)]
    pub(super) reasoning: u32,
}

/// A substring, or a regular expression after `~`.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    Part(String),
    Regex(Regex),
}

impl Pattern {
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Part(part) => text.contains(part),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix('~') {
            Some(regex) => Regex::new(regex).map(Self::Regex).map_err(serde::de::Error::custom),
            None => Ok(Self::Part(text)),
        }
    }
}

/// The only version so far.
#[derive(Debug, Clone, Copy, Default)]
struct Version;

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            1 => Ok(Self),
            other => Err(serde::de::Error::custom(format!("version `{other}` is not known; write version = 1"))),
        }
    }
}

fn nothing_more() -> String {
    "I have nothing more to do.".into()
}

impl Script {
    /// Reads and checks a script file.
    ///
    /// # Errors
    /// [`ScriptError`], with the line where there is one.
    pub(super) fn read(path: &Path) -> Result<Self, ScriptError> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| ScriptError::Read { path: path.into(), said: error.to_string() })?;
        Self::parse(&text, path)
    }

    /// Parses and checks a script.
    ///
    /// # Errors
    /// [`ScriptError::Parse`] or [`ScriptError::Step`].
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, ScriptError> {
        let script: Self =
            toml::from_str(text).map_err(|error| ScriptError::Parse { path: path.into(), said: error.to_string() })?;
        for (place, step) in script.steps.iter().enumerate() {
            if let Some(why) = step.contradiction() {
                return Err(ScriptError::Step { path: path.into(), number: place.saturating_add(1), why });
            }
        }
        Ok(script)
    }
}

impl Step {
    fn contradiction(&self) -> Option<&'static str> {
        let silent = self.text.is_empty() && self.calls.is_empty() && self.raw_calls.is_empty();
        let no_calls = self.calls.is_empty() && self.raw_calls.is_empty();
        match (self.fault, self.times) {
            (None, _) if silent => Some("it says nothing and calls nothing; give text, calls, raw_calls or fault"),
            (None, Some(_)) => Some("times counts faults; give fault too"),
            (Some(_), Some(0)) => Some("times = 0 means no fault; leave fault out"),
            (Some(Fault::GarbageArguments), _) if no_calls => Some("garbage-arguments needs calls to spoil"),
            (fault, _) if self.retry_after.is_some() && fault != Some(Fault::Http429) => {
                Some("retry_after goes with fault = \"http-429\"")
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Script, ScriptError> {
        Script::parse(text, Path::new("a.toml"))
    }

    #[test]
    fn an_unknown_key_is_pointed_at() {
        let error = parse("name = \"x\"\n[[step]]\ntext = \"hi\"\ntxet = \"ho\"\n").unwrap_err().to_string();
        assert!(error.contains("line 4") && error.contains("txet"), "{error}");
        for wrong in ["name='x'\nmood='y'", "name='x'\n[[step]]\nwhen={usr='a'}\ntext='b'", "text='no name'"] {
            assert!(matches!(parse(wrong), Err(ScriptError::Parse { .. })), "{wrong}");
        }
    }

    #[test]
    fn a_bad_regex_version_or_fault_is_refused() {
        for wrong in [
            "name='x'\nversion=2",
            "name='x'\n[[step]]\nwhen={user='~('}\ntext='b'",
            "name='x'\n[[step]]\nfault='flood'",
        ] {
            assert!(matches!(parse(wrong), Err(ScriptError::Parse { .. })), "{wrong}");
        }
        assert!(parse("version = 1\nname = 'x'").is_ok());
    }

    #[test]
    fn a_step_that_contradicts_itself_is_refused_by_number() {
        for wrong in [
            "when={turn=1}",
            "text='a'\ntimes=2",
            "fault='hang'\ntimes=0",
            "fault='garbage-arguments'\ntext='a'",
            "fault='hang'\nretry_after=1",
        ] {
            let error = parse(&format!("name='x'\n[[step]]\ntext='fine'\n[[step]]\n{wrong}")).unwrap_err();
            assert!(matches!(error, ScriptError::Step { number: 2, .. }), "{wrong}: {error}");
        }
    }

    #[test]
    fn a_tilde_makes_a_regex() {
        let script = parse("name='x'\n[[step]]\nwhen={user='~^ti.y$'}\ntext='b'").unwrap();
        let pattern = script.steps[0].when.user.as_ref().unwrap();
        assert!(pattern.matches("tidy") && !pattern.matches("tidy up"));
    }
}
