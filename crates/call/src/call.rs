//! A validated call: a tool of ours with checked arguments, and the actions they amount to.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::action::{Action, ActionKind, Connect, Depth, Flow, PathRef, Peer, Target, WriteHow};
use crate::canonical;
use crate::host;
use crate::json::{self, JsonError};
use crate::message::Recipient;
use crate::proposal::{Origin, Proposal};
use crate::schema::{self, Args, SchemaError};
use crate::shell::{self, Script, Setting};
use crate::span::Span;

/// A tool and its checked arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Tool {
    /// Runs a bash command.
    RunBash {
        /// The command.
        command: String,
        /// Seconds until it is stopped.
        timeout_secs: Option<u64>,
        /// Whether a host would run it outside its own sandbox.
        outside_box: bool,
    },
    /// Reads lines of a file.
    ReadFile {
        /// The file.
        path: String,
        /// First line, from 1.
        offset: Option<u64>,
        /// Number of lines.
        limit: Option<u64>,
    },
    /// Lists files by a relative glob.
    GlobFiles {
        /// The glob.
        pattern: String,
        /// Directory to start in.
        path: Option<String>,
    },
    /// Searches files.
    Grep {
        /// The regular expression.
        pattern: String,
        /// Where.
        path: Option<String>,
        /// Only these files.
        glob: Option<String>,
    },
    /// Writes a whole file.
    WriteFile {
        /// The file.
        path: String,
        /// The content.
        content: String,
    },
    /// Replaces text in a file.
    EditFile {
        /// The file.
        path: String,
        /// What to replace.
        old_string: String,
        /// With what.
        new_string: String,
        /// Everywhere, or exactly once.
        replace_all: bool,
    },
    /// Deletes a file.
    DeleteFile {
        /// The file.
        path: String,
    },
    /// Fetches a page.
    WebFetch {
        /// The address.
        url: String,
    },
    /// Sends a message.
    SendMessage {
        /// The recipient.
        to: String,
        /// The subject.
        subject: String,
        /// The text.
        body: String,
    },
    /// Adds to the plan.
    TodoAppend {
        /// The item.
        text: String,
    },
    /// Lists the plan.
    TodoList,
    /// Sets a status in the plan.
    TodoUpdate {
        /// The item's number.
        id: u64,
        /// Its new status.
        status: String,
    },
    /// Reads the notes of the run.
    ReadScratchpad,
    /// Replaces the notes of the run.
    WriteScratchpad {
        /// The notes.
        content: String,
    },
    /// Asks the user.
    AskQuestion {
        /// The question.
        question: String,
    },
    /// A tool of somebody else, of which only the name and the arguments are known.
    Foreign {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Value,
    },
}

/// Why a proposal is not a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The tool does not exist behind this door.
    #[error("there is no tool `{name}`; the tools are: {known}")]
    UnknownTool {
        /// The name, escaped and cut.
        name: String,
        /// All names.
        known: String,
    },
    /// The arguments are not strict JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// The arguments do not fit the tool.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The arguments cannot be put in canonical form (RFC 8785).
    #[error("the arguments have no canonical form: {0}")]
    Canonical(String),
}

/// Who the call would run as, for expansions such as `~`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Absolute home directory.
    pub home: String,
    /// Login name.
    pub user: String,
}

/// A validated call and its actions.
///
/// ```
/// use tollgate_call::{Call, Door, Origin, Person, Proposal, Untrusted};
/// let origin = Origin { door: Door::Agent, run: "r".into(), call_id: "c".into(), cwd: "/w".into() };
/// let person = Person { home: "/home/u".into(), user: "u".into() };
/// let proposal = Proposal {
///     tool: Untrusted::new("read_file".into()),
///     args: Untrusted::new(br#"{"path":"notes.txt"}"#.to_vec()),
///     origin,
/// };
/// let call = Call::read(&proposal, &person)?;
/// assert_eq!(call.name(), "read_file");
/// # Ok::<(), tollgate_call::Malformed>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    name: String,
    tool: Tool,
    args: Value,
    actions: Vec<Action>,
    script: Option<Script>,
    origin: Origin,
    digest: [u8; 32],
}

impl Call {
    /// Reads a proposal.
    ///
    /// # Errors
    /// [`Malformed`], naming the exact misfit.
    pub fn read(proposal: &Proposal, person: &Person) -> Result<Self, Malformed> {
        let name = proposal.tool.as_untrusted();
        let value = json::parse(proposal.args.as_untrusted())?;
        let (tool, args) = match schema::tool(name) {
            Some(spec) => {
                let args = spec.check(value)?;
                (Tool::of(name, &args), args.into_value())
            }
            None if proposal.origin.door.refuses_unknown_tools() => return Err(unknown(name)),
            None => {
                json::short_texts(&value)?;
                (Tool::Foreign { name: name.clone(), args: value.clone() }, value)
            }
        };
        Self::assemble(name.clone(), tool, args, proposal.origin.clone(), person)
    }

    fn assemble(name: String, tool: Tool, args: Value, origin: Origin, person: &Person) -> Result<Self, Malformed> {
        let digest = canonical::digest(&name, &args, &origin.cwd)?;
        let setting = Setting { cwd: &origin.cwd, home: &person.home, user: &person.user };
        let script = tool.command().map(|command| shell::read(command, &setting));
        let mut actions = tool.actions(&origin.cwd);
        actions.extend(script.iter().flat_map(|script| script.actions.iter().cloned()));
        Ok(Self { name, tool, args, actions, script, origin, digest })
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tool and its arguments.
    pub const fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The arguments as JSON.
    pub const fn args(&self) -> &Value {
        &self.args
    }

    /// What the call does.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The shell reading, for `run_bash`.
    pub const fn script(&self) -> Option<&Script> {
        self.script.as_ref()
    }

    /// Where it came from.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// SHA-256 of the canonical JSON (RFC 8785) of tool, arguments and working directory: equal iff the
    /// calls are canonically equal. Integers that a double does not hold are told apart besides.
    pub const fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// SHA-256 of what the call does, whatever its spelling. A call with anything opaque in it is only
    /// equal to itself.
    pub fn intent(&self) -> [u8; 32] {
        let mut kinds: Vec<String> = self.actions.iter().map(|action| format!("{:?}", action.kind)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let opaque = kinds.is_empty()
            || self.actions.iter().any(|a| matches!(a.kind, ActionKind::Opaque(_) | ActionKind::Execute(_)));
        let mut hash = Sha256::new();
        for kind in &kinds {
            hash.update(kind.as_bytes());
            hash.update([0]);
        }
        if opaque {
            hash.update(self.digest);
        }
        hash.finalize().into()
    }

    /// The text that a span points into.
    pub fn pointed(&self, span: &Span) -> Option<&str> {
        self.args.pointer(&span.pointer).and_then(Value::as_str)
    }
}

/// A recipient, checked before, in normal form.
fn recipient(to: String) -> String {
    Recipient::parse(&to).map_or(to, |recipient| recipient.to_string())
}

impl Tool {
    /// Names are those of [`schema::TOOLS`]; a test walks the table through here.
    fn of(name: &str, args: &Args) -> Self {
        let path = || args.required("path");
        match name {
            "run_bash" => Self::RunBash {
                command: args.required("command"),
                timeout_secs: args.int("timeout_secs"),
                outside_box: args.flag("outside_box"),
            },
            "read_file" => Self::ReadFile { path: path(), offset: args.int("offset"), limit: args.int("limit") },
            "glob_files" => Self::GlobFiles { pattern: args.required("pattern"), path: args.text("path") },
            "grep" => {
                Self::Grep { pattern: args.required("pattern"), path: args.text("path"), glob: args.text("glob") }
            }
            "write_file" => Self::WriteFile { path: path(), content: args.required("content") },
            "edit_file" => Self::EditFile {
                path: path(),
                old_string: args.required("old_string"),
                new_string: args.required("new_string"),
                replace_all: args.flag("replace_all"),
            },
            "delete_file" => Self::DeleteFile { path: path() },
            "webfetch" => Self::WebFetch { url: args.required("url") },
            "send_message" => Self::SendMessage {
                to: recipient(args.required("to")),
                subject: args.required("subject"),
                body: args.required("body"),
            },
            "todo_append" => Self::TodoAppend { text: args.required("text") },
            "todo_list" => Self::TodoList,
            "todo_update" => {
                Self::TodoUpdate { id: args.int("id").unwrap_or_default(), status: args.required("status") }
            }
            "read_scratchpad" => Self::ReadScratchpad,
            "write_scratchpad" => Self::WriteScratchpad { content: args.required("content") },
            "ask_question" => Self::AskQuestion { question: args.required("question") },
            other => Self::Foreign { name: other.to_owned(), args: args.clone().into_value() },
        }
    }

    /// The shell text, of the one tool that has any.
    pub const fn command(&self) -> Option<&String> {
        if let Self::RunBash { command, .. } = self { Some(command) } else { None }
    }

    /// What a tool does with its arguments; what shell text does is read by [`shell`].
    fn actions(&self, cwd: &str) -> Vec<Action> {
        let at = |path: &str| Target::Path(PathRef::join(cwd, path));
        let beneath = |path: Option<&String>| Target::Beneath(PathRef::join(cwd, path.map_or(".", String::as_str)));
        let path_span = |path: &str| Span::whole("/path", path);
        match self {
            Self::ReadFile { path, .. } => vec![one(ActionKind::Read(at(path)), path_span(path))],
            Self::GlobFiles { pattern, path } => {
                vec![one(ActionKind::Read(beneath(path.as_ref())), Span::whole("/pattern", pattern))]
            }
            Self::Grep { pattern, path, .. } => {
                vec![one(ActionKind::Read(beneath(path.as_ref())), Span::whole("/pattern", pattern))]
            }
            Self::WriteFile { path, .. } => {
                vec![one(ActionKind::Write(at(path), WriteHow::Replace), path_span(path))]
            }
            Self::EditFile { path, .. } => vec![
                one(ActionKind::Read(at(path)), path_span(path)),
                one(ActionKind::Write(at(path), WriteHow::Change), path_span(path)),
            ],
            Self::DeleteFile { path } => vec![one(ActionKind::Delete(at(path), Depth::Single), path_span(path))],
            Self::WebFetch { url } => vec![one(
                ActionKind::Connect(Connect { peer: Peer::Url(url.clone()), flow: Flow::Fetch }),
                Span::whole("/url", url),
            )],
            Self::SendMessage { to, .. } => vec![one(ActionKind::Message(to.clone()), Span::whole("/to", to))],
            Self::Foreign { name, args } => {
                host::actions(name, args).into_iter().map(|kind| one(kind, Span::new("", 0, 0))).collect()
            }
            Self::RunBash { outside_box: true, .. } => {
                vec![one(ActionKind::Privilege("runs outside the host's sandbox".to_owned()), Span::new("", 0, 0))]
            }
            Self::RunBash { .. }
            | Self::TodoAppend { .. }
            | Self::TodoList
            | Self::TodoUpdate { .. }
            | Self::ReadScratchpad
            | Self::WriteScratchpad { .. }
            | Self::AskQuestion { .. } => Vec::new(),
        }
    }
}

const fn one(kind: ActionKind, span: Span) -> Action {
    Action { kind, span, part: 0 }
}

fn unknown(name: &str) -> Malformed {
    Malformed::UnknownTool { name: name.escape_debug().take(80).collect(), known: schema::known_names() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::action::Why;
    use crate::proposal::Door;
    use crate::untrusted::Untrusted;

    fn read(door: Door, tool: &str, args: &str) -> Result<Call, Malformed> {
        let origin = Origin { door, run: "r".into(), call_id: "c".into(), cwd: "/w".into() };
        let proposal =
            Proposal { tool: Untrusted::new(tool.into()), args: Untrusted::new(args.as_bytes().to_vec()), origin };
        Call::read(&proposal, &Person { home: "/home/u".into(), user: "u".into() })
    }

    #[test]
    fn every_tool_of_the_table_has_a_typed_form() {
        for spec in schema::TOOLS {
            let args: serde_json::Map<String, Value> = spec
                .fields
                .iter()
                .map(|field| {
                    let value = match field.kind {
                        schema::Kind::Text { .. } => json!("x"),
                        schema::Kind::Int { min, .. } => json!(min),
                        schema::Kind::Flag => json!(true),
                        schema::Kind::Choice(words) => json!(words[0]),
                    };
                    (field.name.to_owned(), value)
                })
                .collect();
            let call = read(Door::Agent, spec.name, &Value::Object(args).to_string()).unwrap();
            assert!(!matches!(call.tool(), Tool::Foreign { .. }), "{}", spec.name);
        }
    }

    #[test]
    fn an_unknown_tool_is_refused_by_the_agent_door_and_opaque_elsewhere() {
        let error = read(Door::Agent, "launch", "{}").unwrap_err().to_string();
        assert!(error.contains("there is no tool `launch`") && error.contains("run_bash"), "{error}");
        let call = read(Door::Hook, "launch", "{}").unwrap();
        assert_eq!(call.actions()[0].kind, ActionKind::Opaque(Why::UnknownTool("launch".into())));
    }

    #[test]
    fn a_text_too_long_to_judge_is_refused_before_it_is_judged() {
        let store =
            |len: usize| read(Door::Hook, "mcp__db__put", &format!(r#"{{"rows":[{{"x":"{}"}}]}}"#, "a".repeat(len)));
        assert!(store(json::MAX_TEXT).is_ok());
        assert_eq!(store(json::MAX_TEXT + 1).unwrap_err(), JsonError::LongText(json::MAX_TEXT + 1).into());
        let escaped = format!("\"{}\"", "\\u0041".repeat(json::MAX_TEXT + 1));
        assert!(matches!(read(Door::Hook, "Bash", &escaped), Err(Malformed::Json(JsonError::LongText(_)))));
    }

    #[test]
    fn the_digest_ignores_spelling_and_nothing_else() {
        let a = read(Door::Agent, "write_file", r#"{"path":"a","content":"x"}"#).unwrap();
        let b = read(Door::Agent, "write_file", "{ \"content\" : \"\\u0078\", \"path\":\"a\"}").unwrap();
        let c = read(Door::Agent, "write_file", r#"{"path":"a","content":"y"}"#).unwrap();
        assert_eq!(a.digest(), b.digest());
        assert_ne!(a.digest(), c.digest());
    }

    #[test]
    fn integers_that_a_double_does_not_hold_are_told_apart() {
        let pay = |args: &str| read(Door::Hook, "mcp__bank__pay", args).unwrap().digest();
        let all = [
            pay(r#"{"amount":9007199254740993,"to":1}"#),
            pay(r#"{"amount":9007199254740992,"to":1}"#),
            pay(r#"{"amount":-9007199254740993,"to":1}"#),
            pay(r#"{"amount":1,"to":9007199254740993}"#),
            pay(r#"{"amount":[9007199254740993],"to":9007199254740995}"#),
            pay(r#"{"amount":[9007199254740995],"to":9007199254740993}"#),
        ];
        let different: std::collections::BTreeSet<_> = all.into_iter().collect();
        assert_eq!(different.len(), all.len());
        assert_eq!(pay(r#"{"to":1,"amount":9007199254740993}"#), all[0], "the order of keys is spelling");
        assert_eq!(pay(r#"{"amount":1.0}"#), pay(r#"{"amount":1}"#));
    }
}
