//! The tools of the agent door: one table that the model's schemas, the validation and the list of
//! known names are all made from.

use serde_json::{Map, Value, json};

use crate::message::{Recipient, RecipientError, turns_reading};

pub use crate::tools::TOOLS;

/// One tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// What the model is told it does.
    pub about: &'static str,
    /// Its arguments; any other is refused.
    pub fields: &'static [Field],
}

/// One argument.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What the model is told it means.
    pub about: &'static str,
    /// Its type and bounds.
    pub kind: Kind,
    /// Whether it may be left out.
    pub need: Need,
}

/// Whether an argument may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must be given.
    Required,
    /// It may be left out.
    Optional,
    /// It may be left out, and models are not told of it: hosts use it to say more, never less.
    Hidden,
}

/// The type and bounds of an argument.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// Text of at least `min` and at most `max` bytes.
    Text {
        /// Fewest bytes.
        min: usize,
        /// Most bytes.
        max: usize,
        /// What the text is.
        form: Form,
    },
    /// A whole number.
    Int {
        /// Least.
        min: u64,
        /// Greatest.
        max: u64,
    },
    /// True or false.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// What a text is, and so which characters it may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A path: no control characters, no shell expansion.
    Path,
    /// A relative glob: as a path, not absolute, no `..`.
    Pattern,
    /// One line: no control characters.
    Line,
    /// Shell text: tabs and line breaks, no other control characters.
    Command,
    /// Free text: no NUL.
    Content,
    /// One line that is read as it is: no control characters, nothing that turns the reading order.
    Heading,
    /// One recipient of messages.
    Recipient,
}

/// The tool of this name, if there is one.
pub fn tool(name: &str) -> Option<&'static ToolSpec> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// The names of all tools, for an error's end.
pub fn known_names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

/// Why arguments do not fit a tool.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// The arguments are not an object.
    #[error("the arguments of `{0}` must be a JSON object")]
    NotObject(&'static str),
    /// An argument that the tool does not have.
    #[error("`{tool}` has no argument `{field}`; it takes: {known}")]
    UnknownField {
        /// The tool.
        tool: &'static str,
        /// The argument, escaped.
        field: String,
        /// What it takes.
        known: String,
    },
    /// A required argument is absent.
    #[error("`{tool}` needs the argument `{field}`")]
    Missing {
        /// The tool.
        tool: &'static str,
        /// The argument.
        field: &'static str,
    },
    /// An argument of another type.
    #[error("`{field}` must be {want}, not {got}")]
    Type {
        /// The argument.
        field: &'static str,
        /// The type it has in the schema.
        want: String,
        /// The type it came with.
        got: &'static str,
    },
    /// An argument out of its bounds.
    #[error("`{field}` must be {want}; it is {got}")]
    Bounds {
        /// The argument.
        field: &'static str,
        /// Its bounds.
        want: String,
        /// What came.
        got: String,
    },
    /// Text with characters that it may not hold.
    #[error("`{field}` holds {what} at byte {at}; {instead}")]
    Characters {
        /// The argument.
        field: &'static str,
        /// Which character.
        what: String,
        /// Where.
        at: usize,
        /// What to send instead.
        instead: &'static str,
    },
    /// A recipient that is not one.
    #[error("`{field}` is not one recipient: {why}")]
    Recipient {
        /// The argument.
        field: &'static str,
        /// Why not.
        why: RecipientError,
    },
}

/// Arguments that fit their tool.
#[derive(Debug, Clone)]
pub struct Args(Map<String, Value>);

impl ToolSpec {
    /// Checks `args` against this tool.
    ///
    /// # Errors
    /// The first misfit, by [`SchemaError`].
    pub fn check(&'static self, args: Value) -> Result<Args, SchemaError> {
        let Value::Object(map) = args else { return Err(SchemaError::NotObject(self.name)) };
        if let Some(field) = map.keys().find(|key| self.fields.iter().all(|field| field.name != key.as_str())) {
            return Err(SchemaError::UnknownField {
                tool: self.name,
                field: field.escape_debug().take(80).collect(),
                known: self.shown().map(|field| field.name).collect::<Vec<_>>().join(", "),
            });
        }
        for field in self.fields {
            match map.get(field.name) {
                Some(value) => field.check(value)?,
                None if field.need != Need::Required => {}
                None => return Err(SchemaError::Missing { tool: self.name, field: field.name }),
            }
        }
        Ok(Args(map))
    }

    fn shown(&self) -> impl Iterator<Item = &'static Field> {
        self.fields.iter().filter(|field| field.need != Need::Hidden)
    }

    /// The JSON Schema of the arguments, as providers want it.
    pub fn json_schema(&self) -> Value {
        let properties: Map<String, Value> =
            self.shown().map(|field| (field.name.to_owned(), field.json_schema())).collect();
        let required: Vec<&str> =
            self.fields.iter().filter(|field| field.need == Need::Required).map(|field| field.name).collect();
        json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
    }
}

impl Args {
    /// The text argument `name`, if given.
    pub fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).and_then(Value::as_str).map(str::to_owned)
    }

    /// The text argument `name`; empty when absent, which [`ToolSpec::check`] has ruled out for required ones.
    pub fn required(&self, name: &str) -> String {
        self.text(name).unwrap_or_default()
    }

    /// The whole number `name`, if given.
    pub fn int(&self, name: &str) -> Option<u64> {
        self.0.get(name).and_then(Value::as_u64)
    }

    /// Whether the flag `name` is set.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// The arguments as JSON.
    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }
}

impl Field {
    fn check(&self, value: &Value) -> Result<(), SchemaError> {
        match (self.kind, value) {
            (Kind::Text { min, max, form }, Value::String(text)) => self.check_text(text, min, max, form),
            (Kind::Int { min, max }, Value::Number(number)) => match number.as_u64() {
                Some(n) if (min..=max).contains(&n) => Ok(()),
                Some(_) | None => Err(self.bounds(format!("a whole number from {min} to {max}"), number.to_string())),
            },
            (Kind::Flag, Value::Bool(_)) => Ok(()),
            (Kind::Choice(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
            (Kind::Choice(words), Value::String(word)) => {
                Err(self.bounds(format!("one of {}", words.join(", ")), word.escape_debug().take(80).collect()))
            }
            (kind, other) => Err(SchemaError::Type { field: self.name, want: kind.in_words(), got: type_name(other) }),
        }
    }

    fn check_text(&self, text: &str, min: usize, max: usize, form: Form) -> Result<(), SchemaError> {
        if !(min..=max).contains(&text.len()) {
            return Err(self.bounds(format!("{min} to {max} bytes long"), format!("{} bytes long", text.len())));
        }
        if let Some((at, found)) = text.char_indices().find(|(_, c)| !form.permits(*c)) {
            let kind = if found.is_control() { "control" } else { "reading-order" };
            let what = format!("the {kind} character U+{:04X}", found as u32);
            return Err(self.characters(what, at, "remove it"));
        }
        match form {
            Form::Path if text.starts_with('~') || text.starts_with('$') => Err(self.characters(
                "a shell expansion".to_owned(),
                0,
                "write the path itself; `./` before a name that begins so",
            )),
            Form::Path | Form::Pattern if is_windows(text) => {
                Err(self.characters("a Windows drive".to_owned(), 0, "write the path as this system names it"))
            }
            Form::Pattern if text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..") => Err(self
                .characters("an absolute or parent path".to_owned(), 0, "write a pattern relative to the directory")),
            Form::Recipient => {
                Recipient::parse(text).map(drop).map_err(|why| SchemaError::Recipient { field: self.name, why })
            }
            Form::Path | Form::Pattern | Form::Line | Form::Command | Form::Content | Form::Heading => Ok(()),
        }
    }

    const fn bounds(&self, want: String, got: String) -> SchemaError {
        SchemaError::Bounds { field: self.name, want, got }
    }

    const fn characters(&self, what: String, at: usize, instead: &'static str) -> SchemaError {
        SchemaError::Characters { field: self.name, what, at, instead }
    }

    fn json_schema(&self) -> Value {
        match self.kind {
            Kind::Text { min, max, .. } => {
                json!({ "type": "string", "description": self.about, "minLength": min.min(1), "maxLength": max })
            }
            Kind::Int { min, max } => {
                json!({ "type": "integer", "description": self.about, "minimum": min, "maximum": max })
            }
            Kind::Flag => json!({ "type": "boolean", "description": self.about }),
            Kind::Choice(words) => json!({ "type": "string", "description": self.about, "enum": words }),
        }
    }
}

/// `C:\` or `C:/`: a file of that name here would not be what the model means.
fn is_windows(path: &str) -> bool {
    let mut chars = path.chars();
    let drive = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    drive && chars.next() == Some(':') && matches!(chars.next(), Some('\\' | '/'))
}

impl Form {
    fn permits(self, c: char) -> bool {
        match self {
            Self::Path | Self::Pattern | Self::Line | Self::Recipient => !c.is_control(),
            Self::Heading => !c.is_control() && !turns_reading(c),
            Self::Command => !c.is_control() || matches!(c, '\n' | '\t' | '\r'),
            Self::Content => c != '\0',
        }
    }
}

impl Kind {
    fn in_words(self) -> String {
        match self {
            Self::Text { .. } => "text".to_owned(),
            Self::Int { min, max } => format!("a whole number from {min} to {max}"),
            Self::Flag => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
        }
    }
}

const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, args: Value) -> Result<Args, SchemaError> {
        tool(name).unwrap().check(args)
    }

    #[test]
    fn a_boolean_is_not_an_integer() {
        let error = check("read_file", json!({"path": "a", "offset": true})).unwrap_err();
        assert_eq!(error.to_string(), "`offset` must be a whole number from 1 to 1000000, not a boolean");
    }

    #[test]
    fn bounds_are_inclusive() {
        for (limit, fits) in [(0, false), (1, true), (2_000, true), (2_001, false)] {
            assert_eq!(check("read_file", json!({"path": "a", "limit": limit})).is_ok(), fits, "{limit}");
        }
        assert!(check("read_file", json!({"path": "a", "limit": 1.5})).is_err());
        assert!(check("read_file", json!({"path": "a", "limit": "10"})).is_err());
    }

    #[test]
    fn an_unknown_field_names_the_known_ones() {
        let error = check("delete_file", json!({"path": "a", "force": true})).unwrap_err();
        assert_eq!(error.to_string(), "`delete_file` has no argument `force`; it takes: path");
    }

    #[test]
    fn control_characters_and_expansions_are_refused_in_paths() {
        for bad in ["C:\\x", "c:/x", "a\0b", "a\nb", "a\u{1b}b", "~/x", "$HOME/x", "", "\u{7f}"] {
            assert!(check("read_file", json!({"path": bad})).is_err(), "{bad:?}");
        }
        for good in ["a b", "naïve–ファイル.txt", "..hidden/x", "a..b", "%2e%2e/x", "./~", "c:x", "ab:/x"] {
            assert!(check("read_file", json!({"path": good})).is_ok(), "{good:?}");
        }
    }

    #[test]
    fn globs_are_relative() {
        for bad in ["/etc/*", "../*", "a/../../b", "~/*"] {
            assert!(check("glob_files", json!({"pattern": bad})).is_err(), "{bad}");
        }
        assert!(check("glob_files", json!({"pattern": "src/**/*.rs"})).is_ok());
    }

    #[test]
    fn names_are_unique_and_schemas_are_closed() {
        for (at, tool) in TOOLS.iter().enumerate() {
            assert!(TOOLS[at + 1..].iter().all(|other| other.name != tool.name));
            assert_eq!(tool.json_schema()["additionalProperties"], json!(false));
        }
    }
}
