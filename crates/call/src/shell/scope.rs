//! What is known at a point of a script: variables, the working directory, functions.

use std::collections::{BTreeMap, BTreeSet};

use super::Setting;
use super::feed::Decoded;
use super::ir::{Part, Word};
use crate::action::Why;

/// The state that a command sees and changes.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    variables: BTreeMap<String, Value>,
    /// Where commands run; `None` after a `cd` that could not be followed.
    pub(super) cwd: Option<String>,
    /// Where they run if the last `cd` failed and the script went on.
    pub(super) fallback: Option<String>,
    pub(super) previous: Option<String>,
    pub(super) stack: Vec<Option<String>>,
    /// Arguments of the function or script being read; `None` when not known.
    pub(super) arguments: Option<Vec<Word>>,
    /// Functions by name, as indexes into the reader's list.
    pub(super) functions: BTreeMap<String, usize>,
    pub(super) aliases: BTreeMap<String, String>,
    /// Variables that children see.
    pub(super) exported: BTreeSet<String>,
    /// Variables of `declare -i`: what is assigned to them is evaluated.
    pub(super) integers: BTreeSet<String>,
    /// Variables of `declare -n`, and what they refer to; `None` where that is not known.
    pub(super) links: BTreeMap<String, Option<String>>,
    /// Variables that hold decoded text.
    decoded: BTreeSet<String>,
}

/// Variables that are followed; one more is as unknown as one that was never set.
const MAX_VARIABLES: usize = 256;

/// References from name to name that are followed.
const MAX_LINKS: usize = 8;

/// The number of the process that the shell serves; a pattern that nothing else stands for.
pub(super) const PARENT: &str = "?*";

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Parts(Vec<Part>),
    List(Vec<Vec<Part>>),
    Unknown(Why),
}

impl Scope {
    pub(super) fn new(cwd: &str) -> Self {
        Self {
            variables: BTreeMap::new(),
            cwd: Some(cwd.to_owned()),
            fallback: None,
            previous: None,
            stack: Vec::new(),
            arguments: None,
            functions: BTreeMap::new(),
            aliases: BTreeMap::new(),
            exported: BTreeSet::new(),
            integers: BTreeSet::new(),
            links: BTreeMap::new(),
            decoded: BTreeSet::new(),
        }
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: &str, value: Value) {
        let special = matches!(name, "HOME" | "USER" | "LOGNAME" | "IFS" | "PWD" | "OLDPWD");
        if special || self.variables.len() < MAX_VARIABLES || self.variables.contains_key(name) {
            self.variables.insert(name.to_owned(), value);
        }
    }

    /// Whether a variable that is set now may not be remembered.
    pub(super) fn is_full(&self) -> bool {
        self.variables.len() >= MAX_VARIABLES
    }

    /// Notes whether a variable holds decoded text.
    pub(super) fn mark(&mut self, name: &str, decoded: Decoded) {
        match decoded {
            Decoded::Yes => self.decoded.insert(name.to_owned()),
            Decoded::No => self.decoded.remove(name),
        };
    }

    /// Whether a variable holds decoded text.
    pub(super) fn is_decoded(&self, name: &str) -> bool {
        self.decoded.contains(name)
    }

    /// What `name` refers to in the end; `None` if that is not known.
    pub(super) fn referred(&self, name: &str) -> Option<String> {
        let mut name = name;
        for _ in 0..MAX_LINKS {
            match self.links.get(name) {
                None => return Some(name.to_owned()),
                Some(next) => name = next.as_deref()?,
            }
        }
        None
    }

    /// Makes a variable unknown.
    pub(super) fn forget(&mut self, name: &str) {
        self.set(name, Value::Unknown(Why::Variable(name.to_owned())));
    }

    /// Whether the script itself set the variable.
    pub(super) fn own(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// What a variable holds: set by the script, or one of the few that the setting fixes.
    pub(super) fn lookup(&self, name: &str, setting: &Setting<'_>) -> Value {
        if let Some(link) = self.links.get(name) {
            return self.linked(name, link.as_deref());
        }
        if let Some(value) = self.variables.get(name) {
            return value.clone();
        }
        let text = match name {
            "HOME" => setting.home,
            "USER" | "LOGNAME" if !setting.user.is_empty() => setting.user,
            "IFS" => " \t\n",
            "PWD" => return self.directory(self.cwd.as_deref()),
            "OLDPWD" => return self.directory(self.previous.as_deref()),
            "$" | "?" | "#" | "!" | "RANDOM" | "SRANDOM" | "UID" | "EUID" | "BASHPID" | "SECONDS" | "LINENO"
            | "COLUMNS" | "LINES" | "EPOCHSECONDS" | "SHLVL" => {
                return Value::Parts(vec![Part::Glob("*".to_owned())]);
            }
            "PPID" => return Value::Parts(vec![Part::Glob(PARENT.to_owned())]),
            _ => return Value::Unknown(Why::Variable(name.to_owned())),
        };
        Value::Parts(vec![Part::Text(text.to_owned())])
    }

    fn linked(&self, name: &str, link: Option<&str>) -> Value {
        let target = link.and_then(|_| self.referred(name));
        let value = target.and_then(|target| self.variables.get(&target).cloned());
        value.unwrap_or_else(|| Value::Unknown(Why::Variable(name.to_owned())))
    }

    fn directory(&self, directory: Option<&str>) -> Value {
        directory.map_or(Value::Unknown(Why::Directory), |at| Value::Parts(vec![Part::Text(at.to_owned())]))
    }

    /// Keeps only what holds on both ways of reaching a point.
    pub(super) fn merge(&mut self, other: &Self) {
        for (name, value) in &mut self.variables {
            if other.variables.get(name) != Some(value) {
                *value = Value::Unknown(Why::Variable(name.clone()));
            }
        }
        for name in other.variables.keys() {
            if !self.variables.contains_key(name) {
                self.variables.insert(name.clone(), Value::Unknown(Why::Variable(name.clone())));
            }
        }
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        if self.fallback.is_none() {
            self.fallback.clone_from(&other.fallback);
        }
        for (name, at) in &other.functions {
            self.functions.entry(name.clone()).or_insert(*at);
        }
        self.integers.extend(other.integers.iter().cloned());
        self.decoded.extend(other.decoded.iter().cloned());
        for (name, link) in &other.links {
            if self.links.get(name) != Some(link) {
                self.links.insert(name.clone(), None);
            }
        }
        self.aliases.extend(other.aliases.iter().map(|(name, text)| (name.clone(), text.clone())));
    }

    /// What a child shell starts with: exported variables, no functions, and its own arguments.
    pub(super) fn child(&self, arguments: Vec<Word>) -> Self {
        let mut child = self.clone();
        for (name, value) in &mut child.variables {
            let internal = name.starts_with("__unknown_");
            if !internal && !self.exported.contains(name) {
                *value = Value::Unknown(Why::Variable(name.clone()));
            }
        }
        child.functions.clear();
        child.arguments = Some(arguments);
        child
    }

    /// Makes every variable unknown, as after code that could not be read.
    pub(super) fn forget_all(&mut self) {
        for (name, value) in &mut self.variables {
            *value = Value::Unknown(Why::Variable(name.clone()));
        }
        self.cwd = None;
    }
}
