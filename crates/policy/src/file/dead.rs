//! Names that exist nowhere and rules that could never decide anything: they refuse to start.

use std::ops::Range;

use tollgate_call::address::HostPattern;
use tollgate_call::message::RecipientPattern;
use tollgate_call::schema::{TOOLS, known_names};
use toml::Spanned;

use super::raw::{RawFile, RawRule};
use super::{Diagnostic, Layer};
use crate::decision::Decision;
use crate::policy::glob;
use crate::settings::ActionName;

/// Everything wrong in the entries of one file.
pub(super) fn check(file: &RawFile, layer: &Layer<'_>) -> Vec<Diagnostic> {
    let mut check = Check { layer, found: Vec::new() };
    let lists = |list: &Option<Vec<Spanned<String>>>| list.clone().unwrap_or_default();
    for tool in lists(&file.tools).iter().chain(&lists(&file.disabled_tools)) {
        check.tool(tool);
    }
    for entry in lists(&file.allow_hosts) {
        check.host(&entry);
    }
    for entry in lists(&file.recipients) {
        check.recipient(&entry);
    }
    if let Some(relay) = &file.relay
        && let Err((wrong, help)) = relay.get_ref().relay(str::to_owned)
    {
        check.say(relay.span(), wrong, help);
    }
    for entry in lists(&file.protected).iter().chain(&lists(&file.secret)) {
        check.glob(entry);
    }
    for dir in lists(&file.roots).iter().chain(&lists(&file.read_roots)) {
        check.directory(dir);
    }
    if let Some(caps) = &file.caps {
        let names = caps.get_ref().per_tool.keys();
        names.for_each(|name| check.tool(&Spanned::new(caps.span(), name.clone())));
        let windows = [&caps.get_ref().hour, &caps.get_ref().day];
        let windows = windows.into_iter().flatten().map(|window| window.cost_usd);
        if windows.chain([caps.get_ref().cost_usd]).flatten().any(|usd| !(0.0..=1e9).contains(&usd)) {
            check.say(caps.span(), "`cost_usd` is out of bounds", "give dollars between 0 and 1000000000");
        }
    }
    for (at, rule) in file.rule.iter().enumerate() {
        check.rule(rule);
        check.shadowed(rule, file.rule.get(..at).unwrap_or_default());
    }
    check.found
}

struct Check<'a> {
    layer: &'a Layer<'a>,
    found: Vec<Diagnostic>,
}

impl Check<'_> {
    fn say(&mut self, span: Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push(Diagnostic::at(self.layer, span, message, help));
    }

    fn tool(&mut self, tool: &Spanned<String>) {
        let name = tool.get_ref().as_str();
        if let Some((_, ours)) = HOST_NAMES.iter().find(|(host, _)| *host == name) {
            return self.say(tool.span(), format!("`{name}` is a host's name of a tool"), format!("write `{ours}`"));
        }
        let bare = name.strip_suffix('*').unwrap_or(name);
        let formed = bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        // Tools of servers carry `__`, those of hosts begin with a capital.
        let foreign = bare.contains("__") || bare.starts_with(|c: char| c.is_ascii_uppercase());
        let ours = if name.ends_with('*') {
            TOOLS.iter().any(|spec| spec.name.starts_with(bare))
        } else {
            TOOLS.iter().any(|spec| spec.name == name)
        };
        if !formed || !(foreign || ours) {
            self.say(tool.span(), format!("there is no tool `{name}`"), format!("the tools are: {}", known_names()));
        }
    }

    fn host(&mut self, entry: &Spanned<String>) {
        if let Err(error) = HostPattern::parse(entry.get_ref()) {
            self.say(entry.span(), error.to_string(), "write `host`, `*.host`, each with or without `:port`");
        }
    }

    fn recipient(&mut self, entry: &Spanned<String>) {
        if let Err(error) = RecipientPattern::parse(entry.get_ref()) {
            let message = format!("`{}` can never be a recipient: {error}", entry.get_ref());
            self.say(entry.span(), message, "write an address, `@domain`, or a webhook's channel such as `#builds`");
        }
    }

    fn glob(&mut self, entry: &Spanned<String>) {
        let pattern = entry.get_ref();
        if pattern.is_empty() || pattern.split('/').any(|part| part == "..") {
            let message = format!("`{pattern}` can never match: real paths hold no `..` and are not empty");
            self.say(entry.span(), message, "write the path from the workspace, from `~/` or from `/`");
        } else if let Err(error) = glob(pattern) {
            self.say(entry.span(), error.to_string(), "write a glob such as `tests/**`");
        }
    }

    fn directory(&mut self, dir: &Spanned<String>) {
        let name = dir.get_ref();
        let from = name.starts_with('/') || name.starts_with("~/");
        if !from || name == "/" || name.split('/').any(|part| part == "..") {
            let message = format!("`{name}` is not a directory that may be opened");
            self.say(dir.span(), message, "write an absolute directory other than `/`, or one beneath `~/`");
        }
    }

    fn rule(&mut self, rule: &RawRule) {
        if let Some(tool) = &rule.tool {
            self.tool(tool);
        }
        if let Some(program) = &rule.program {
            self.program(program);
        }
        if let Some(path) = &rule.path {
            self.glob(path);
            if path.get_ref().ends_with('/') {
                let message = format!("`{}` can never match: real paths do not end in a slash", path.get_ref());
                self.say(path.span(), message, format!("write `{}**`", path.get_ref()));
            }
        }
        if let Some(host) = &rule.host {
            self.host(host);
        }
        self.never(rule);
        self.too_wide(rule);
        self.invocation(rule);
    }

    /// Words behind a program need one, and flags are flags.
    fn invocation(&mut self, rule: &RawRule) {
        let words = rule.subcommand.iter();
        let flags = rule.flag.iter().chain(&rule.not_flag).flatten();
        if let (None, Some(word)) = (&rule.program, words.clone().chain(flags.clone()).next()) {
            let message = "`subcommand`, `flag` and `not_flag` are about the words behind a program";
            self.say(word.span(), message, "add `program`");
        }
        for word in words.filter(|word| word.get_ref().split(' ').any(|part| part.is_empty() || part.starts_with('-')))
        {
            let message = format!("`{}` is no subcommand", word.get_ref());
            self.say(word.span(), message, "write words such as `push` or `compose up`, one space apart");
        }
        for flag in flags.filter(|flag| !flag.get_ref().starts_with('-') || flag.get_ref().contains(['=', ' '])) {
            let message = format!("`{}` is no flag", flag.get_ref());
            self.say(flag.span(), message, "write it with its dashes and without a value, such as `--force`");
        }
    }

    fn program(&mut self, program: &Spanned<String>) {
        let name = program.get_ref();
        let bare = !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+' | b'['));
        if !bare {
            let message = format!("`{name}` can never match: a program is a bare name");
            self.say(
                program.span(),
                message,
                "write the name alone, such as `git`; arguments and wildcards have no place",
            );
        }
    }

    /// Fields that exclude one another.
    fn never(&mut self, rule: &RawRule) {
        use ActionName::{Connect, Delete, Move, Read, Write};
        let action = rule.action.as_ref().map(|action| *action.get_ref());
        let tool = rule.tool.as_ref().map(|tool| tool.get_ref().as_str());
        let acts = tool.and_then(acts_of);
        let clash = if rule.path.is_some() && rule.host.is_some() {
            Some("no action has both a path and a host")
        } else if rule.path.is_some() && action.is_some_and(|own| ![Read, Write, Delete, Move].contains(&own)) {
            Some("only read, write, delete and move have a path")
        } else if rule.host.is_some() && action.is_some_and(|own| own != Connect) {
            Some("only connect has a host")
        } else if rule.program.is_some() && tool.is_some_and(|own| own != "run_bash") {
            Some("only `run_bash` runs programs")
        } else if acts.is_some_and(|acts| action.is_some_and(|own| !acts.contains(&own))) {
            Some("the tool never does this")
        } else if acts
            .is_some_and(|acts| rule.path.is_some() && !acts.iter().any(|own| [Read, Write, Delete].contains(own)))
        {
            Some("the tool has no path")
        } else if acts.is_some_and(|acts| rule.host.is_some() && !acts.contains(&Connect)) {
            Some("the tool has no host")
        } else {
            None
        };
        if let Some(clash) = clash {
            self.say(
                rule.effect.span(),
                format!("the rule can never match: {clash}"),
                "split it, or leave a field out",
            );
        }
    }

    /// Allow rules that cover what nobody looked at, or that cannot lift anything.
    fn too_wide(&mut self, rule: &RawRule) {
        if *rule.effect.get_ref() != Decision::Allow {
            return;
        }
        let tool = rule.tool.as_ref().map(|tool| tool.get_ref().as_str());
        let bare = rule.program.is_none() && rule.action.is_none() && rule.path.is_none() && rule.host.is_none();
        let every = tool.is_none_or(|own| own == "*" || "run_bash".strip_prefix(own.trim_end_matches('*')).is_some());
        if bare && every {
            let message = "an allow rule must say more than that a command may run";
            self.say(rule.effect.span(), message, "add `program`, `action`, `path` or `host`");
        }
        if rule.action.as_ref().is_some_and(|action| *action.get_ref() == ActionName::Spend) {
            let message = "the rule can never lift anything: spending always needs a human";
            self.say(rule.effect.span(), message, "leave it out");
        }
    }

    fn shadowed(&mut self, rule: &RawRule, earlier: &[RawRule]) {
        if let Some(broad) = earlier.iter().find(|broad| shadows(broad, rule)) {
            let at = Diagnostic::at(self.layer, broad.effect.span(), "", "").line;
            let message = format!("the rule decides nothing: the one on line {at} already covers it");
            self.say(rule.effect.span(), message, "leave one of them out");
        }
    }
}

fn shadows(broad: &RawRule, narrow: &RawRule) -> bool {
    // An allow rule does not stand in the way of a stricter one, nor an ask rule of a denial.
    broad.effect.get_ref() >= narrow.effect.get_ref()
        && covers(&broad.tool, &narrow.tool)
        && covers(&broad.program, &narrow.program)
        && covers(&broad.action, &narrow.action)
        && covers(&broad.path, &narrow.path)
        && covers(&broad.host, &narrow.host)
        // Words are not compared: a rule with any is narrower than it looks.
        && broad.subcommand.is_none()
        && broad.flag.is_none()
        && broad.not_flag.is_none()
        // An allow rule without an action leaves out what is opaque.
        && !(*broad.effect.get_ref() == Decision::Allow
            && broad.action.is_none()
            && narrow.action.as_ref().is_some_and(|own| *own.get_ref() == ActionName::Opaque))
}

fn covers<T: PartialEq>(broad: &Option<Spanned<T>>, narrow: &Option<Spanned<T>>) -> bool {
    match (broad, narrow) {
        (None, _) => true,
        (Some(broad), Some(narrow)) => broad.get_ref() == narrow.get_ref(),
        (Some(_), None) => false,
    }
}

/// What a tool of ours can do; `None` for those that can do anything.
fn acts_of(tool: &str) -> Option<&'static [ActionName]> {
    use ActionName::{Connect, Delete, Message, Read, Write};
    match tool {
        "read_file" | "glob_files" | "grep" => Some(&[Read]),
        "write_file" => Some(&[Write]),
        "edit_file" => Some(&[Read, Write]),
        "delete_file" => Some(&[Delete]),
        "webfetch" => Some(&[Connect]),
        "send_message" => Some(&[Message]),
        "todo_append" | "todo_list" | "todo_update" | "read_scratchpad" | "write_scratchpad" | "ask_question" => {
            Some(&[])
        }
        _ => None,
    }
}

/// Names that hosts give to tools which reach us under our own names.
const HOST_NAMES: &[(&str, &str)] = &[
    ("Bash", "run_bash"),
    ("Edit", "edit_file"),
    ("Glob", "glob_files"),
    ("Grep", "grep"),
    ("MultiEdit", "edit_file"),
    ("Read", "read_file"),
    ("WebFetch", "webfetch"),
    ("Write", "write_file"),
    ("bash", "run_bash"),
    ("edit", "edit_file"),
    ("read", "read_file"),
    ("shell", "run_bash"),
    ("write", "write_file"),
];
