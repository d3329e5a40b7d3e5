//! Reads case files; the format is in `docs/cases-format.md`.
//!
//! Tests of other doors include this file by path, so that all doors read one format.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use tollgate_call::schema::{self, Kind};

/// One line: a call, the world it is made in, and what must be said to it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Case {
    /// The file's name and the line's number, such as `paths.cases:12`.
    pub(crate) id: String,
    /// What must be said.
    pub(crate) expect: Expect,
    /// Rules of which one must say it; empty = any.
    pub(crate) rules: Vec<String>,
    /// The world, as `key=value` pairs in order.
    pub(crate) world: Vec<(Key, String)>,
    /// The tool's name.
    pub(crate) tool: String,
    /// The arguments as JSON text, exactly as a model would send them.
    pub(crate) args: String,
    /// The comment.
    pub(crate) comment: String,
}

/// What must be said to a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// Exactly Allow.
    Allow,
    /// Exactly Ask.
    Ask,
    /// Exactly Deny.
    Deny,
    /// Ask or Deny.
    Block,
    /// A known hole: it should be blocked and is allowed today.
    OpenHole,
    /// A known false alarm: it should be allowed and is not today.
    OpenAlarm,
}

/// What a line may say about its world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    Approved,
    Box,
    Branch,
    Cap,
    Cwd,
    Dir,
    Dirty,
    Door,
    Expands,
    File,
    Given,
    Hardlink,
    Host,
    Ignored,
    Link,
    Mode,
    Modified,
    Profile,
    Recipient,
    Remote,
    Repeat,
    Resolves,
    Taint,
    Tools,
    Tracked,
    Untracked,
}

const KEYS: &[(&str, Key)] = &[
    ("approved", Key::Approved),
    ("box", Key::Box),
    ("branch", Key::Branch),
    ("cap", Key::Cap),
    ("cwd", Key::Cwd),
    ("dir", Key::Dir),
    ("dirty", Key::Dirty),
    ("door", Key::Door),
    ("expands", Key::Expands),
    ("file", Key::File),
    ("given", Key::Given),
    ("hardlink", Key::Hardlink),
    ("host", Key::Host),
    ("ignored", Key::Ignored),
    ("link", Key::Link),
    ("mode", Key::Mode),
    ("modified", Key::Modified),
    ("profile", Key::Profile),
    ("recipient", Key::Recipient),
    ("remote", Key::Remote),
    ("repeat", Key::Repeat),
    ("resolves", Key::Resolves),
    ("taint", Key::Taint),
    ("tools", Key::Tools),
    ("tracked", Key::Tracked),
    ("untracked", Key::Untracked),
];

/// A line that is not a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadLine {
    /// The file's name and the line's number.
    pub(crate) id: String,
    /// What is wrong with it.
    pub(crate) why: String,
}

impl fmt::Display for BadLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.id, self.why)
    }
}

impl Case {
    /// All values that the world has for a key, in order.
    pub(crate) fn all(&self, key: Key) -> impl Iterator<Item = &str> {
        self.world.iter().filter(move |(found, _)| *found == key).map(|(_, value)| value.as_str())
    }

    /// The last value that the world has for a key.
    pub(crate) fn one(&self, key: Key) -> Option<&str> {
        self.all(key).last()
    }

    /// The name of the file it stands in.
    pub(crate) fn file(&self) -> &str {
        self.id.split(':').next().unwrap_or_default()
    }

    /// The call in one line.
    pub(crate) fn text(&self) -> String {
        format!("{} {}", self.tool, self.args)
    }

    /// Whether one of the wanted rules is `rule`; a wanted rule may end in `*`.
    pub(crate) fn names(&self, rule: &str) -> bool {
        let fits = |wanted: &String| match wanted.strip_suffix('*') {
            Some(start) => rule.starts_with(start),
            None => wanted == rule,
        };
        self.rules.is_empty() || self.rules.iter().any(fits)
    }
}

/// Reads every `.cases` file of a directory, in order of name.
pub(crate) fn read_dir(dir: &Path) -> Result<Vec<Case>, Vec<BadLine>> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(dir)
        .unwrap_or_else(|error| panic!("{}: {error}", dir.display()))
        .map(|entry| entry.expect("a directory entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "cases"))
        .collect();
    files.sort();
    let (mut cases, mut bad) = (Vec::new(), Vec::new());
    for file in files {
        let text = crate::disk::text(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match read(&name, &text) {
            Ok(found) => cases.extend(found),
            Err(found) => bad.extend(found),
        }
    }
    if bad.is_empty() { Ok(cases) } else { Err(bad) }
}

/// Reads one file's text; every bad line is named, not only the first.
pub(crate) fn read(file: &str, text: &str) -> Result<Vec<Case>, Vec<BadLine>> {
    let (mut cases, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let id = format!("{file}:{}", number + 1);
        match read_line(&id, line) {
            Ok(case) => cases.push(case),
            Err(why) => bad.push(BadLine { id, why }),
        }
    }
    if bad.is_empty() { Ok(cases) } else { Err(bad) }
}

fn read_line(id: &str, line: &str) -> Result<Case, String> {
    let (line, comment) = line.split_once("  # ").map_or((line, ""), |(line, comment)| (line, comment.trim()));
    let mut fields = line.trim_end().split("  ").map(str::trim).filter(|field| !field.is_empty()).peekable();
    let decision = fields.next().unwrap_or_default();
    let rule = fields.next().ok_or("the rule is missing; write `-` for any")?;
    let rules = read_rules(rule)?;
    let expect = read_expect(decision, &rules)?;
    let mut world = Vec::new();
    while let Some(field) = fields.next_if(|field| field.starts_with('@')) {
        for pair in field.split(' ') {
            world.push(read_pair(pair)?);
        }
    }
    let tool = fields.next().ok_or("the tool is missing; fields are two spaces apart")?.to_owned();
    let args = read_args(&tool, &fields.collect::<Vec<_>>())?;
    Ok(Case { id: id.to_owned(), expect, rules, world, tool, args, comment: comment.to_owned() })
}

fn read_expect(decision: &str, rules: &[String]) -> Result<Expect, String> {
    match decision {
        "allow" => Ok(Expect::Allow),
        "ask" => Ok(Expect::Ask),
        "deny" => Ok(Expect::Deny),
        "block" => Ok(Expect::Block),
        "open" if rules.is_empty() => Ok(Expect::OpenAlarm),
        "open" => Ok(Expect::OpenHole),
        _ => Err(format!("`{decision}` is not a decision; one of: allow, ask, deny, block, open")),
    }
}

fn read_rules(rule: &str) -> Result<Vec<String>, String> {
    if rule == "-" {
        return Ok(Vec::new());
    }
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let is_rule =
        |rule: &str| rule.split_once('.').is_some_and(|(area, why)| is_word(area) && (why == "*" || is_word(why)));
    let rules: Vec<String> = rule.split('|').map(str::to_owned).collect();
    match rules.iter().find(|rule| !is_rule(rule)) {
        Some(bad) => Err(format!("`{bad}` is not a rule id such as `path.outside`")),
        None => Ok(rules),
    }
}

fn read_pair(pair: &str) -> Result<(Key, String), String> {
    let (name, value) = pair
        .strip_prefix('@')
        .and_then(|pair| pair.split_once('='))
        .ok_or_else(|| format!("`{pair}` is not `@key=value`"))?;
    let key = KEYS.iter().find(|(known, _)| *known == name).map(|(_, key)| *key);
    let known = || KEYS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let key = key.ok_or_else(|| format!("`@{name}` is not known; one of: {}", known()))?;
    Ok((key, unescape(value)?))
}

/// Makes the JSON arguments: as they are after `=`, else by position and by name.
fn read_args(tool: &str, fields: &[&str]) -> Result<String, String> {
    if let [raw] = fields
        && let Some(raw) = raw.strip_prefix('=')
    {
        return unescape(raw);
    }
    let known = schema::tool(tool).map_or(&[][..], |spec| spec.fields);
    let names: Vec<&str> = known.iter().map(|field| field.name).collect();
    let mut args = Map::new();
    let mut positions = known.iter().filter(|field| matches!(field.kind, Kind::Text { .. })).map(|field| field.name);
    for field in fields {
        let (name, value) = match named(field, &names) {
            Some((name, value)) => (name.to_owned(), value?),
            None => {
                let name = positions.next().ok_or_else(|| format!("`{field}`: `{tool}` takes no argument here"))?;
                (name.to_owned(), Value::String(unescape(field)?))
            }
        };
        if args.insert(name.clone(), value).is_some() {
            return Err(format!("`{name}` is given twice"));
        }
    }
    serde_json::to_string(&args).map_err(|error| error.to_string())
}

/// `name:=JSON`, for arguments that are not text and for names that the tool does not have.
fn named<'a>(field: &'a str, names: &[&str]) -> Option<(&'a str, Result<Value, String>)> {
    let (name, json) = field.split_once(":=")?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = || {
        let json = unescape(json)?;
        serde_json::from_str(&json)
            .map_err(|error| format!("`{json}` is not JSON ({error}); known names: {}", names.join(", ")))
    };
    is_name.then(|| (name, value()))
}

/// Undoes the escapes: `\n \t \r \0 \s \\`, `\u{…}` and `\{COUNT:TEXT}`.
pub(crate) fn unescape(text: &str) -> Result<String, String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        plain.push_str(before);
        let mut chars = after.chars();
        match chars.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('0') => plain.push('\0'),
            Some('s') => plain.push(' '),
            Some('\\') => plain.push('\\'),
            Some('u') => {
                let (code, left) = braced(chars.as_str())?;
                plain.push(
                    u32::from_str_radix(code, 16)
                        .ok()
                        .and_then(char::from_u32)
                        .ok_or(format!("`\\u{{{code}}}` is no character"))?,
                );
                chars = left.chars();
            }
            Some('{') => {
                let (inner, left) = braced(after)?;
                let (count, part) =
                    inner.split_once(':').ok_or(format!("`\\{{{inner}}}` is not `\\{{COUNT:TEXT}}`"))?;
                let count: usize = count.parse().map_err(|_| format!("`{count}` is not a count"))?;
                plain.push_str(&unescape(part)?.repeat(count));
                chars = left.chars();
            }
            other => {
                return Err(format!(
                    "`\\{}` is not an escape; a backslash is written `\\\\`",
                    other.map(String::from).unwrap_or_default()
                ));
            }
        }
        rest = chars.as_str();
    }
    plain.push_str(rest);
    Ok(plain)
}

/// What stands between `{` and the next `}`, and what follows.
fn braced(text: &str) -> Result<(&str, &str), String> {
    let inner = text.strip_prefix('{').ok_or("`{` is missing after the escape")?;
    inner.split_once('}').ok_or_else(|| "`}` is missing after the escape".to_owned())
}
