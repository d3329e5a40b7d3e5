//! Rules of policy files, indexed so that ten times the rules do not take ten times as long.

use std::collections::HashMap;

use globset::{GlobMatcher, GlobSet, GlobSetBuilder};
use tollgate_call::address::HostPattern;
use tollgate_call::shell::Simple;

use crate::decision::Decision;
use crate::invocation::Invocation;
use crate::policy::{Ground, PolicyError, anchored, glob, host, name_matches};
use crate::settings::{ActionName, UserRule};

/// Compiled rules and their index: each rule stands under its most selective field.
#[derive(Debug, Clone, Default)]
pub(crate) struct UserRules {
    rules: Vec<Compiled>,
    by_program: HashMap<String, Vec<usize>>,
    by_host: HashMap<String, Vec<usize>>,
    by_path: GlobSet,
    path_rules: Vec<usize>,
    /// The path rules by what stands before their first wildcard, in the order of letters.
    by_literal: Vec<(String, usize)>,
    by_action: HashMap<ActionName, Vec<usize>>,
    by_tool: HashMap<String, Vec<usize>>,
    wild_tools: Vec<usize>,
}

#[derive(Debug, Clone)]
struct Compiled {
    effect: Decision,
    tool: Option<String>,
    program: Option<String>,
    action: Option<ActionName>,
    path: Option<PathRule>,
    host: Option<HostPattern>,
    invocation: Invocation,
    at: String,
}

#[derive(Debug, Clone)]
struct PathRule {
    matcher: GlobMatcher,
    /// What stands before the first wildcard.
    literal: String,
}

/// What one action offers for matching.
#[derive(Debug, Default)]
pub(crate) struct Offer<'a> {
    pub(crate) tool: &'a str,
    /// Programs of the action's part.
    pub(crate) programs: &'a [&'a str],
    pub(crate) action: Option<ActionName>,
    pub(crate) paths: Vec<OfferedPath<'a>>,
    pub(crate) host: Option<(String, u16)>,
    /// The command that the action is part of, where there is one.
    pub(crate) command: Option<&'a Simple>,
    /// Whether it comes from a redirection or an assignment, which no word of the command names.
    pub(crate) beside: bool,
}

/// A path of an action, cleaned or resolved.
#[derive(Debug)]
pub(crate) struct OfferedPath<'a> {
    pub(crate) path: std::borrow::Cow<'a, str>,
    pub(crate) reach: Reach,
}

/// How much of the tree at a path an action reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The path itself.
    One,
    /// Children, by a glob.
    Children,
    /// Everything beneath.
    Tree,
}

/// What the rules say about one action: the strictest demand, and whether one allows.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Hits<'a> {
    /// Where the first matching deny rule is written.
    pub(crate) deny: Option<&'a str>,
    /// Where the first matching ask rule is written.
    pub(crate) ask: Option<&'a str>,
    /// Where the first allow rule that covers all of the action is written.
    pub(crate) allow: Option<&'a str>,
}

impl UserRules {
    pub(crate) fn new(rules: &[UserRule], ground: &Ground<'_>) -> Result<Self, PolicyError> {
        let mut index = Self::default();
        let mut paths = GlobSetBuilder::new();
        for (at, rule) in rules.iter().enumerate() {
            let compiled = Compiled::new(rule, ground)?;
            match &compiled {
                Compiled { program: Some(program), .. } => push(&mut index.by_program, program.clone(), at),
                Compiled { host: Some(host), .. } => push(&mut index.by_host, host.host().to_owned(), at),
                Compiled { path: Some(path), .. } => {
                    paths.add(path.matcher.glob().clone());
                    index.path_rules.push(at);
                    index.by_literal.push((path.literal.clone(), at));
                }
                Compiled { action: Some(action), .. } => index.by_action.entry(*action).or_default().push(at),
                Compiled { tool: Some(tool), .. } if !tool.ends_with('*') => push(&mut index.by_tool, tool.clone(), at),
                Compiled { .. } => index.wild_tools.push(at),
            }
            index.rules.push(compiled);
        }
        index.by_path = paths
            .build()
            .map_err(|error| PolicyError::Glob("the path rules together".to_owned(), error.to_string()))?;
        index.by_literal.sort_unstable();
        Ok(index)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// What the rules say about an action.
    pub(crate) fn hits(&self, offer: &Offer<'_>) -> Hits<'_> {
        let mut hits = Hits::default();
        self.candidates(offer, |rule| {
            let slot = match rule.effect {
                Decision::Allow if rule.covers(offer) => &mut hits.allow,
                Decision::Ask if rule.touches(offer) => &mut hits.ask,
                Decision::Deny if rule.touches(offer) => &mut hits.deny,
                Decision::Allow | Decision::Ask | Decision::Deny => return,
            };
            slot.get_or_insert(rule.at.as_str());
        });
        hits
    }

    fn candidates<'s>(&'s self, offer: &Offer<'_>, mut each: impl FnMut(&'s Compiled)) {
        let mut visit = |list: &[usize]| list.iter().filter_map(|at| self.rules.get(*at)).for_each(&mut each);
        for program in offer.programs {
            self.by_program.get(*program).into_iter().for_each(|list| visit(list));
        }
        if let Some((host, _)) = &offer.host {
            for name in suffixes(host) {
                self.by_host.get(name).into_iter().for_each(|list| visit(list));
            }
        }
        if let Some(action) = offer.action {
            self.by_action.get(&action).into_iter().for_each(|list| visit(list));
        }
        self.by_tool.get(offer.tool).into_iter().for_each(|list| visit(list));
        visit(&self.wild_tools);
        self.path_candidates(offer, &mut visit);
    }

    fn path_candidates(&self, offer: &Offer<'_>, visit: &mut impl FnMut(&[usize])) {
        if self.path_rules.is_empty() || offer.paths.is_empty() {
            return;
        }
        let mut found = Vec::new();
        for path in &offer.paths {
            self.matching(path.path.as_ref(), &mut found);
            // What reaches further may meet a rule that does not match the directory's own name.
            if let Some(stranger) = path.stranger() {
                self.matching(&stranger, &mut found);
                found.extend(self.beneath(path.path.trim_end_matches('/')));
            }
        }
        found.sort_unstable();
        found.dedup();
        visit(&found);
    }

    fn matching(&self, path: &str, found: &mut Vec<usize>) {
        let sets = self.by_path.matches(path);
        found.extend(sets.into_iter().filter_map(|set| self.path_rules.get(set).copied()));
    }

    /// Rules whose first letters lead below `dir`.
    fn beneath(&self, dir: &str) -> impl Iterator<Item = usize> {
        let prefix = format!("{dir}/");
        let from = self.by_literal.partition_point(|(literal, _)| *literal < prefix);
        let below = self.by_literal.get(from..).unwrap_or_default().iter();
        below.take_while(move |(literal, _)| literal.starts_with(&prefix)).map(|(_, at)| *at)
    }
}

impl OfferedPath<'_> {
    /// A name that is reached and that no rule can know of; none where only the path itself is reached.
    fn stranger(&self) -> Option<String> {
        let path = self.path.trim_end_matches('/');
        match self.reach {
            Reach::One => None,
            Reach::Children => Some(format!("{path}/{STRANGER}")),
            Reach::Tree => Some(format!("{path}/{STRANGER}/{STRANGER}")),
        }
    }
}

impl Compiled {
    fn new(rule: &UserRule, ground: &Ground<'_>) -> Result<Self, PolicyError> {
        Ok(Self {
            effect: rule.effect,
            tool: rule.tool.clone(),
            program: rule.program.clone(),
            action: rule.action,
            path: rule.path.as_deref().map(|path| PathRule::new(path, ground)).transpose()?,
            host: rule.host.as_deref().map(host).transpose()?,
            invocation: rule.invocation.clone(),
            at: rule.at.clone(),
        })
    }

    /// Whether an allow rule covers everything that the action is.
    fn covers(&self, offer: &Offer<'_>) -> bool {
        self.fits_tool(offer)
            && self.covers_words(offer)
            && self
                .program
                .as_deref()
                .is_none_or(|own| !offer.programs.is_empty() && offer.programs.iter().all(|program| *program == own))
            && self.action.map_or(offer.action != Some(ActionName::Opaque), |own| offer.action == Some(own))
            && self
                .host
                .as_ref()
                .is_none_or(|own| offer.host.as_ref().is_some_and(|(name, port)| own.covers(name, *port)))
            && self
                .path
                .as_ref()
                .is_none_or(|own| !offer.paths.is_empty() && offer.paths.iter().all(|path| own.covers(path)))
    }

    /// Whether an ask or deny rule is about any of what the action is.
    fn touches(&self, offer: &Offer<'_>) -> bool {
        self.fits_tool(offer)
            && offer.command.is_none_or(|command| self.invocation.touches(&command.words))
            && self.program.as_deref().is_none_or(|own| offer.programs.contains(&own))
            && self.action.is_none_or(|own| offer.action == Some(own))
            && self
                .host
                .as_ref()
                .is_none_or(|own| offer.host.as_ref().is_some_and(|(name, port)| own.touches(name, *port)))
            && self.path.as_ref().is_none_or(|own| offer.paths.iter().any(|path| own.touches(path)))
    }

    /// A program allows its words; what stands beside them must be named by a path or an action.
    fn covers_words(&self, offer: &Offer<'_>) -> bool {
        let words = match offer.command {
            Some(command) => self.invocation.covers(&command.words),
            None => self.invocation.is_open(),
        };
        words && !(offer.beside && self.path.is_none() && self.action.is_none())
    }

    fn fits_tool(&self, offer: &Offer<'_>) -> bool {
        self.tool.as_deref().is_none_or(|own| name_matches(own, offer.tool))
    }
}

impl PathRule {
    fn new(path: &str, ground: &Ground<'_>) -> Result<Self, PolicyError> {
        let pattern = anchored(path, ground);
        let literal = pattern.split(['*', '?', '[', '{', '\\']).next().unwrap_or_default().to_owned();
        Ok(Self { matcher: glob(&pattern)?.compile_matcher(), literal })
    }

    fn covers(&self, offered: &OfferedPath<'_>) -> bool {
        match offered.stranger() {
            None => self.matcher.is_match(offered.path.trim_end_matches('/')),
            Some(stranger) => self.matcher.is_match(stranger),
        }
    }

    fn touches(&self, offered: &OfferedPath<'_>) -> bool {
        let beneath = || self.literal.starts_with(&format!("{}/", offered.path.trim_end_matches('/')));
        self.matcher.is_match(offered.path.as_ref())
            || (offered.reach != Reach::One && (beneath() || self.covers(offered)))
    }
}

/// A name that no file has: what a pattern says about it, it says about any name.
const STRANGER: &str = "\u{1}";

fn push(map: &mut HashMap<String, Vec<usize>>, key: String, at: usize) {
    map.entry(key).or_default().push(at);
}

/// `a.b.c`, `b.c`, `c`.
fn suffixes(host: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(host), |rest| rest.split_once('.').map(|(_, rest)| rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(paths: &[&str]) -> UserRules {
        let rule = |path: &&str| UserRule {
            effect: Decision::Deny,
            path: Some((*path).to_owned()),
            tool: None,
            program: None,
            action: None,
            host: None,
            invocation: Invocation::default(),
            at: String::new(),
        };
        let rules: Vec<UserRule> = paths.iter().map(rule).collect();
        UserRules::new(&rules, &Ground { workspace: "/w", home: "/home/u" }).unwrap()
    }

    /// The index may offer too much, never too little.
    #[test]
    fn the_index_finds_every_path_rule_that_touches() {
        let patterns =
            ["**", "a", "a/*", "a/b/**", "ab/c", "**/*.rs", "/etc/**", "/w/a/b/c", "*/b", "/**/x", "a?/c", "{a,d}/e"];
        let index = rules(&patterns);
        for path in ["/", "/w", "/w/a", "/w/a/b", "/w/ab", "/w/d", "/etc", "/e", "/w/a/b/c", "/other"] {
            for reach in [Reach::One, Reach::Children, Reach::Tree] {
                let offered = || OfferedPath { path: path.into(), reach };
                let offer = Offer { paths: vec![offered()], ..Offer::default() };
                let mut found = Vec::new();
                index.path_candidates(&offer, &mut |list: &[usize]| found.extend_from_slice(list));
                for (at, rule) in index.rules.iter().enumerate() {
                    let own = rule.path.as_ref().unwrap();
                    let met = own.touches(&offered()) || own.covers(&offered());
                    assert!(!met || found.contains(&at), "{} for {path} {reach:?}", patterns[at]);
                }
            }
        }
    }
}
