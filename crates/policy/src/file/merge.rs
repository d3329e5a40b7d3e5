//! Laying a file over what the layers before it said: the stricter counts.

use std::ops::Range;

use tollgate_call::address::HostPattern;
use tollgate_call::message::RecipientPattern;
use tollgate_call::places::{clean, is_beneath};
use toml::Spanned;

use super::raw::{RawCaps, RawFile, RawRule, RawWindow};
use super::{Diagnostic, Layer, LayerKind};
use crate::decision::Decision;
use crate::invocation::Invocation;
use crate::policy::Ground;
use crate::relay::Relay;
use crate::settings::{Caps, HostPrompt, Settings, UserRule, WindowCaps};

/// One file being laid over the others.
pub(super) struct Merging<'a> {
    pub(super) layer: &'a Layer<'a>,
    pub(super) ground: &'a Ground<'a>,
    pub(super) ceiling: Option<&'a RawFile>,
}

type List = Option<Vec<Spanned<String>>>;

impl Merging<'_> {
    /// Changes `settings`, and says what the file may not say.
    pub(super) fn apply(&self, file: &RawFile, settings: &mut Settings) -> Vec<Diagnostic> {
        let mut found = match self.layer.kind {
            LayerKind::Project => self.loosening(file),
            LayerKind::User => self.above_ceiling(file),
            LayerKind::System => Vec::new(),
        };
        if found.is_empty() {
            self.tighten(file, settings);
            self.modes(file, settings);
            self.open(file, settings);
            for rule in &file.rule {
                settings.rules.push(self.rule(rule));
            }
        }
        found.sort_by_key(|diagnostic| diagnostic.line);
        found
    }

    /// What a project's file holds that only the operator may say.
    fn loosening(&self, file: &RawFile) -> Vec<Diagnostic> {
        let first = |list: &List| list.as_ref().map(|list| list.first().map_or(0..0, Spanned::span));
        let keys = [
            ("host_prompt", file.host_prompt.as_ref().map(Spanned::span)),
            ("roots", first(&file.roots)),
            ("read_roots", first(&file.read_roots)),
            ("allow_hosts", first(&file.allow_hosts)),
            ("recipients", first(&file.recipients)),
            ("env_allow", first(&file.env_allow)),
            ("relay", file.relay.as_ref().map(Spanned::span)),
        ];
        let keys = keys.into_iter().filter_map(|(key, span)| Some((key, span?)));
        let mut found: Vec<Diagnostic> =
            keys.map(|(key, span)| self.not_in_project(span, &format!("`{key}`"))).collect();
        let allows = file.rule.iter().filter(|rule| *rule.effect.get_ref() == Decision::Allow);
        found.extend(allows.map(|rule| self.not_in_project(rule.effect.span(), "an allow rule")));
        found
    }

    fn not_in_project(&self, span: Range<usize>, what: &str) -> Diagnostic {
        let message = format!("{what} loosens, and a project's file may only tighten");
        Diagnostic::at(self.layer, span, message, "move it to the operator's own file")
    }

    /// Entries of the user that the system's file does not let through.
    fn above_ceiling(&self, file: &RawFile) -> Vec<Diagnostic> {
        let Some(ceiling) = self.ceiling else { return Vec::new() };
        let beneath = |dir: &str, top: &str| is_beneath(&self.directory(dir), &self.directory(top));
        let host = |entry: &str, top: &str| matches!((HostPattern::parse(top), HostPattern::parse(entry)), (Ok(top), Ok(entry)) if top.includes(&entry));
        let recipient = |entry: &str, top: &str| matches!((RecipientPattern::parse(top), RecipientPattern::parse(entry)), (Ok(top), Ok(entry)) if top.includes(&entry));
        let mut found = Vec::new();
        found.extend(self.beyond(&file.roots, &ceiling.roots, beneath));
        found.extend(self.beyond(&file.read_roots, &ceiling.read_roots, beneath));
        found.extend(self.beyond(&file.allow_hosts, &ceiling.allow_hosts, host));
        found.extend(self.beyond(&file.recipients, &ceiling.recipients, recipient));
        found.extend(self.beyond(&file.env_allow, &ceiling.env_allow, |entry, top| entry == top));
        let forbidden = ceiling.host_prompt.as_ref().is_some_and(|prompt| !prompt.get_ref());
        if let Some(prompt) = file.host_prompt.as_ref().filter(|prompt| forbidden && *prompt.get_ref()) {
            found.push(self.over(prompt.span(), "host_prompt = true"));
        }
        if let (Some(relay), Some(_)) = (&file.relay, &ceiling.relay) {
            found.push(self.over(relay.span(), "a relay of one's own"));
        }
        found
    }

    fn beyond(&self, list: &List, ceiling: &List, within: impl Fn(&str, &str) -> bool) -> Vec<Diagnostic> {
        let Some(ceiling) = ceiling else { return Vec::new() };
        let entries = list.iter().flatten();
        entries
            .filter(|entry| !ceiling.iter().any(|top| within(entry.get_ref(), top.get_ref())))
            .map(|entry| self.over(entry.span(), entry.get_ref()))
            .collect()
    }

    fn over(&self, span: Range<usize>, what: &str) -> Diagnostic {
        let message = format!("`{what}` is beyond the ceiling that the system's file sets");
        Diagnostic::at(self.layer, span, message, "leave it out, or let the administrator raise the ceiling")
    }

    /// What every layer may do.
    fn tighten(&self, file: &RawFile, settings: &mut Settings) {
        if let Some(profile) = &file.profile {
            settings.profile = settings.profile.max(*profile.get_ref());
        }
        settings.protected.extend(texts(&file.protected));
        settings.secret.extend(texts(&file.secret));
        settings.disabled_tools.extend(texts(&file.disabled_tools));
        if let Some(tools) = &file.tools {
            let names: Vec<String> = tools.iter().map(|tool| tool.get_ref().clone()).collect();
            settings.tools = Some(crate::policy::narrowed(settings.tools.take(), names));
        }
        if let Some(caps) = &file.caps {
            self.caps(caps.get_ref(), &mut settings.caps);
        }
    }

    /// The user's caps replace the defaults; beyond the system's and above the user's, nothing rises.
    fn caps(&self, raw: &RawCaps, caps: &mut Caps) {
        let top = self.ceiling.and_then(|file| file.caps.as_ref()).map(Spanned::get_ref);
        let rises = match self.layer.kind {
            LayerKind::System | LayerKind::User => true,
            LayerKind::Project => false,
        };
        let limit = |value: u64, now: u64, top: Option<u64>| {
            if rises { top.map_or(value, |top| value.min(top)) } else { value.min(now) }
        };
        if let Some(turns) = raw.turns {
            caps.turns = limit(turns, caps.turns, top.and_then(|top| top.turns));
        }
        if let Some(calls) = raw.tool_calls {
            caps.tool_calls = limit(calls, caps.tool_calls, top.and_then(|top| top.tool_calls));
        }
        if let Some(usd) = raw.cost_usd {
            caps.cost_microusd =
                limit(microusd(usd), caps.cost_microusd, top.and_then(|top| top.cost_usd).map(microusd));
        }
        if let Some(secs) = raw.wall_secs {
            caps.wall_secs = limit(secs, caps.wall_secs, top.and_then(|top| top.wall_secs));
        }
        if let Some(tokens) = raw.tokens {
            let now = caps.tokens.unwrap_or(u64::MAX);
            caps.tokens = Some(limit(tokens, now, top.and_then(|top| top.tokens)));
        }
        for (tool, calls) in &raw.per_tool {
            let now = caps.per_tool.get(tool).copied().unwrap_or(u64::MAX);
            let top = top.and_then(|top| top.per_tool.get(tool).copied());
            caps.per_tool.insert(tool.clone(), limit(*calls, now, top));
        }
        window(raw.hour.as_ref(), &mut caps.hour);
        window(raw.day.as_ref(), &mut caps.day);
    }

    /// A mode of the user is a wish; of the system and of a project, a limit.
    fn modes(&self, file: &RawFile, settings: &mut Settings) {
        let Some(mode) = file.mode.as_ref().map(|mode| *mode.get_ref()) else { return };
        match self.layer.kind {
            LayerKind::User => settings.mode = mode.min(settings.highest_mode),
            LayerKind::System | LayerKind::Project => {
                settings.highest_mode = settings.highest_mode.min(mode);
                settings.mode = settings.mode.min(mode);
            }
        }
    }

    /// What only the operator may say; the project's file was refused before.
    fn open(&self, file: &RawFile, settings: &mut Settings) {
        let dirs = |list: &List| texts(list).map(|dir| self.directory(&dir)).collect::<Vec<_>>();
        let opens = match self.layer.kind {
            LayerKind::System | LayerKind::User => true,
            LayerKind::Project => false,
        };
        if !opens {
            return;
        }
        replace(&mut settings.roots, file.roots.as_ref().map(|_| dirs(&file.roots)));
        replace(&mut settings.read_roots, file.read_roots.as_ref().map(|_| dirs(&file.read_roots)));
        replace(&mut settings.allow_hosts, file.allow_hosts.as_ref().map(|_| texts(&file.allow_hosts).collect()));
        replace(&mut settings.recipients, file.recipients.as_ref().map(|_| texts(&file.recipients).collect()));
        replace(&mut settings.env_allow, file.env_allow.as_ref().map(|_| texts(&file.env_allow).collect()));
        if let Some(prompt) = &file.host_prompt {
            settings.host_prompt = if *prompt.get_ref() { HostPrompt::Accepted } else { HostPrompt::Refused };
        }
        if let Some(relay) = &file.relay {
            // What cannot work was said before, by `dead`.
            settings.relay = relay.get_ref().relay(|name| self.directory(name)).ok();
            let kept = settings.relay.as_ref().and_then(Relay::secret_file).map(globset::escape);
            settings.secret.extend(kept);
        }
    }

    fn directory(&self, written: &str) -> String {
        clean(
            &written
                .strip_prefix("~/")
                .map_or_else(|| written.to_owned(), |rest| format!("{}/{rest}", self.ground.home)),
        )
    }

    pub(super) fn rule(&self, rule: &RawRule) -> UserRule {
        let text = |field: &Option<Spanned<String>>| field.as_ref().map(|field| field.get_ref().clone());
        let line = Diagnostic::at(self.layer, rule.effect.span(), "", "").line;
        UserRule {
            effect: *rule.effect.get_ref(),
            tool: text(&rule.tool),
            program: text(&rule.program),
            action: rule.action.as_ref().map(|action| *action.get_ref()),
            path: text(&rule.path),
            host: text(&rule.host),
            invocation: Invocation {
                subcommand: text(&rule.subcommand),
                flag: texts(&rule.flag).collect(),
                not_flag: texts(&rule.not_flag).collect(),
            },
            at: format!("{}:{line}", self.layer.name),
        }
    }
}

fn texts(list: &List) -> impl Iterator<Item = String> {
    list.iter().flatten().map(|entry| entry.get_ref().clone())
}

/// A list of the user takes the place of the system's, beneath whose ceiling it was checked to be.
fn replace(old: &mut Vec<String>, new: Option<Vec<String>>) {
    if let Some(new) = new {
        *old = new;
    }
}

/// Whole micro-dollars, bounded before by [`super::dead`].
/// Nothing is capped until a layer says so, and then the smallest of all counts.
fn window(raw: Option<&RawWindow>, caps: &mut WindowCaps) {
    let Some(raw) = raw else { return };
    let least = |now: &mut Option<u64>, wanted: Option<u64>| {
        *now = match (*now, wanted) {
            (Some(now), Some(wanted)) => Some(now.min(wanted)),
            (now, wanted) => now.or(wanted),
        };
    };
    least(&mut caps.tool_calls, raw.tool_calls);
    least(&mut caps.tokens, raw.tokens);
    least(&mut caps.cost_microusd, raw.cost_usd.map(microusd));
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be within 0 and 1e9 dollars")]
fn microusd(usd: f64) -> u64 {
    (usd * 1e6).round() as u64
}
