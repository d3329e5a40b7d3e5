//! Paths: where a target lies decides, not how it is spelled. This file reads; its neighbours write and delete.

use tollgate_call::action::{Action, ActionKind, Depth, PathRef, Target, WriteHow};
use tollgate_call::facts::{Fact, Kind, PathFact, Refused, Unknown};
use tollgate_call::places::{Place, Protection, clean, is_beneath, protection};

use super::{deletes, writes};
use crate::rule;
use crate::ruling::{Rulings, quoted, why};
use crate::subject::{Doer, View, is_own_descriptor};
use crate::user_rules::Reach;

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match &action.kind {
        ActionKind::Read(target) => read(view, target, action.part, out),
        ActionKind::Write(target, how) => writes::judge(view, target, *how, out),
        ActionKind::Delete(target, depth) => deletes::judge(view, target, *depth, out),
        // What moves away can be moved back; what it replaces cannot.
        ActionKind::Move(from, to) => {
            deletes::judge_leaving(view, from, out);
            writes::judge(view, to, WriteHow::Replace, out);
        }
        ActionKind::Execute(_)
        | ActionKind::Connect(_)
        | ActionKind::Listen(_)
        | ActionKind::Message(_)
        | ActionKind::Spend(_)
        | ActionKind::Install(_)
        | ActionKind::Privilege(_)
        | ActionKind::Persist(_)
        | ActionKind::Control(_)
        | ActionKind::Publish(_)
        | ActionKind::Destroy(_)
        | ActionKind::Signal(_)
        | ActionKind::Opaque(_) => {}
    }
}

fn read(view: &View<'_>, target: &Target, part: u32, out: &mut Rulings) {
    match target {
        Target::Path(path) => read_path(view, path, Reach::One, part, out),
        Target::Beneath(path) => read_path(view, path, Reach::Tree, part, out),
        Target::Glob(path) => read_glob(view, path, part, out),
        // The box hides credential places, so an unknown name reaches none of them.
        Target::Opaque(_) if view.box_pays() || view.part_only_lists(part) => {}
        Target::Opaque(reason) => {
            out.ask(rule::SHELL_OPAQUE, format!("nobody can say which file it reads: {}", why(reason)))
                .instead("name the file");
        }
    }
}

fn read_path(view: &View<'_>, path: &PathRef, reach: Reach, part: u32, out: &mut Rulings) {
    match view.path(path) {
        _ if is_descriptor_of_command(view, path) => {}
        Some(fact) => read_fact(view, path, fact, reach, part, out),
        None => {
            out.ask(rule::PATH_UNKNOWN, format!("nothing is known about {}", quoted(&path.raw)));
        }
    }
}

pub(super) fn is_descriptor_of_command(view: &View<'_>, path: &PathRef) -> bool {
    view.subject.doer == Doer::Command && is_own_descriptor(path)
}

/// A glob is judged as a name, which is what is left of it when nothing matches, and by each match.
fn read_glob(view: &View<'_>, path: &PathRef, part: u32, out: &mut Rulings) {
    read_path(view, path, Reach::Children, part, out);
    for (matched, fact) in matches(view, path) {
        if !out.is_empty() {
            return;
        }
        read_fact(view, &matched, fact, Reach::One, part, out);
    }
    if view.part_only_lists(part) {
        return;
    }
    let expanded = matches!(view.facts.expansions.get(&path.abs), Some(Fact::Known(_)));
    if !expanded && out.is_empty() && view.policy.may_reach_secrets(&clean(&path.abs)) {
        out.ask(rule::PATH_CREDENTIAL, format!("{} may reach a store of credentials", quoted(&path.raw)))
            .instead("name the files you need");
    }
    if let Some(name) = protected_by_glob(view, path, Protection::is_secret).filter(|_| out.is_empty()) {
        out.ask(rule::PATH_PROTECTED, format!("{} reaches {}, which holds secrets", quoted(&path.raw), quoted(&name)))
            .instead("name the files you need");
    }
}

/// The known matches of a glob of which anything is known.
pub(super) fn matches<'a>(view: &View<'a>, path: &PathRef) -> impl Iterator<Item = (PathRef, &'a PathFact)> {
    let facts = view.facts;
    let known = facts.expansions.get(&path.abs).and_then(Fact::known);
    known.into_iter().flat_map(|known| &known.matches).filter_map(|name| {
        let fact = facts.paths.get(name)?;
        Some((PathRef { raw: name.clone(), abs: name.clone() }, fact))
    })
}

fn read_fact(view: &View<'_>, path: &PathRef, fact: &PathFact, reach: Reach, part: u32, out: &mut Rulings) {
    if refused(view, path, fact, out) {
        return;
    }
    read_place(view, &path.raw, fact.place, &fact.resolved, reach, part, out);
    read_protected(view, path, fact, part, out);
    kind(view, path, fact, out);
}

fn read_place(view: &View<'_>, raw: &str, place: Place, resolved: &str, reach: Reach, part: u32, out: &mut Rulings) {
    let command = view.subject.doer == Doer::Command;
    match place {
        Place::Inside | Place::Root | Place::ReadRoot | Place::GuardPolicy => {}
        Place::Credential => credential(raw, out),
        Place::GuardState => guard_files(raw, "reads", out),
        Place::HarmlessDevice if command => {}
        // The kernel's own tunables and tables hold no secrets; other processes do.
        Place::Device if command && (is_beneath(resolved, "/proc/sys") || is_beneath(resolved, "/sys")) => {}
        Place::HarmlessDevice | Place::Device => device(raw, "reads", out),
        // All of it: every process, and what it was given.
        Place::System if command && reach == Reach::Tree && resolved == "/proc" && !view.part_only_lists(part) => {
            device(raw, "reads everything beneath", out);
        }
        Place::System | Place::Temp if command => {}
        Place::Ancestor | Place::Home
            if command && reach == Reach::Tree && view.policy.holds_homes(resolved) && !view.part_only_lists(part) =>
        {
            if !view.box_pays() {
                outside(raw, "reads everything beneath", "name a directory inside the workspace", out);
            }
        }
        Place::Elsewhere
            if command
                && reach == Reach::Tree
                && view.policy.holds_credentials(resolved)
                && !view.part_only_lists(part)
                && !view.box_pays() =>
        {
            outside(raw, "reads everything beneath", "name the files you need", out);
        }
        Place::Elsewhere | Place::Ancestor | Place::Home if command && view.part_only_reads(part) => {}
        Place::System | Place::Temp | Place::Elsewhere | Place::Ancestor | Place::Home => {
            outside(raw, "reads", "read inside the workspace, or ask the operator for a `read_roots` entry", out);
        }
    }
}

fn read_protected(view: &View<'_>, path: &PathRef, fact: &PathFact, part: u32, out: &mut Rulings) {
    let listed = view.policy.is_secret(&fact.resolved) || view.policy.is_secret(&clean(&path.abs));
    // What is not there tells nothing, and a list of names tells no content.
    let silent = fact.kind == Fact::Known(Kind::Absent) || view.part_only_lists(part);
    // A search names what it looks for, and the directory in which it looks is what facts are about.
    let sought = protection(&path.raw).filter(|sought| sought.is_secret());
    match fact.protection.or(sought) {
        Some(Protection::OperatorSecret) => operator_secret(path, out),
        _ if listed => operator_secret(path, out),
        Some(Protection::EnvFile | Protection::Key) if !silent => {
            out.ask(rule::PATH_PROTECTED, format!("{} holds secrets by its name", quoted(&path.raw)))
                .instead("ask for the names you need, or read the example file beside it");
        }
        Some(
            Protection::EnvFile
            | Protection::Key
            | Protection::Git
            | Protection::AgentSettings
            | Protection::Ci
            | Protection::Startup
            | Protection::GuardProject
            | Protection::Operator,
        )
        | None => {}
    }
}

fn operator_secret(path: &PathRef, out: &mut Rulings) {
    out.deny(rule::PATH_PROTECTED, format!("the operator listed {} as secret", quoted(&path.raw)))
        .instead("work without its content");
}

/// What is there: our file tools open regular files only, and for commands a device is a device.
pub(super) fn kind(view: &View<'_>, path: &PathRef, fact: &PathFact, out: &mut Rulings) {
    let file_tool = view.subject.doer == Doer::FileTool;
    match fact.kind {
        Fact::Known(Kind::Absent | Kind::File(_) | Kind::Directory) => {}
        Fact::Known(Kind::Device(..)) if !file_tool && fact.place == Place::HarmlessDevice => {}
        Fact::Known(Kind::Device(..)) => device(&path.raw, "opens", out),
        Fact::Known(Kind::Special) if !file_tool => {}
        Fact::Known(Kind::Special) => {
            out.deny(rule::PATH_SPECIAL, format!("{} is a pipe or socket", quoted(&path.raw)))
                .instead("name a regular file");
        }
        Fact::Unknown(Unknown::NotAsked) => {}
        Fact::Unknown(Unknown::Late | Unknown::Failed) => {
            out.ask(rule::PATH_UNKNOWN, format!("what {} is could not be found out", quoted(&path.raw)));
        }
    }
}

/// Whether the kernel would not open the path as named, so that nothing more need be said.
pub(super) fn refused(view: &View<'_>, path: &PathRef, fact: &PathFact, out: &mut Rulings) -> bool {
    let Some(refused) = fact.refused else { return false };
    let name = quoted(&path.raw);
    let command = view.subject.doer == Doer::Command;
    let (id, because) = match refused {
        Refused::MagicLink => (rule::PATH_ESCAPE, format!("{name} passes through a link of another process")),
        Refused::Race => (rule::PATH_ESCAPE, format!("{name} changed again and again while it was looked at")),
        // A command is judged by where the file really is; if it cannot be opened, it reads nothing.
        Refused::Escapes
        | Refused::Loop
        | Refused::TooLong
        | Refused::NotDirectory
        | Refused::Permission
        | Refused::Other
            if command =>
        {
            return false;
        }
        Refused::Escapes => (rule::PATH_ESCAPE, format!("{name} leaves the roots, at {}", quoted(&fact.resolved))),
        Refused::Loop => (rule::PATH_ESCAPE, format!("{name} is a loop of links")),
        Refused::TooLong => (rule::PATH_UNKNOWN, format!("{name} is longer than a path may be")),
        Refused::NotDirectory => (rule::PATH_UNKNOWN, format!("{name} passes through something that is no directory")),
        Refused::Permission => (rule::PATH_UNKNOWN, format!("{name} is not readable for this user")),
        Refused::Other => (rule::PATH_UNKNOWN, format!("{name} cannot be opened")),
    };
    out.deny(id, because).instead("name a regular path inside the workspace");
    true
}

/// The first name that a glob reaches and `which` is about; of an unexpanded glob, whether it aims at
/// hidden names at all.
pub(super) fn protected_by_glob(view: &View<'_>, path: &PathRef, which: impl Fn(Protection) -> bool) -> Option<String> {
    match view.facts.expansions.get(&path.abs) {
        Some(Fact::Known(expansion)) => {
            expansion.matches.iter().find(|name| protection(name).is_some_and(&which)).cloned()
        }
        Some(Fact::Unknown(_)) | None => {
            let last = path.raw.rsplit('/').next().unwrap_or(&path.raw);
            let aims = last.starts_with('.') || protection(&path.raw).is_some_and(&which);
            aims.then(|| path.raw.clone())
        }
    }
}

pub(super) fn credential(raw: &str, out: &mut Rulings) {
    out.deny(rule::PATH_CREDENTIAL, format!("{} is a store of credentials", quoted(raw)))
        .instead("ask the operator to give the program what it needs without showing it");
}

pub(super) fn guard_files(raw: &str, verb: &str, out: &mut Rulings) {
    out.deny(rule::PATH_GUARD, format!("it {verb} {}, which is the guard's own", quoted(raw)))
        .instead("leave the guard's files to the operator");
}

pub(super) fn device(raw: &str, verb: &str, out: &mut Rulings) {
    out.deny(rule::PATH_DEVICE, format!("it {verb} {}, a device or another process", quoted(raw)))
        .instead("name a regular file");
}

fn outside(raw: &str, verb: &str, step: &'static str, out: &mut Rulings) {
    out.ask(rule::PATH_OUTSIDE, format!("it {verb} {}, outside the workspace", quoted(raw))).instead(step);
}

/// Whether a delete of this depth takes a tree.
pub(super) const fn takes_tree(depth: Depth) -> bool {
    match depth {
        Depth::Single => false,
        Depth::Recursive => true,
    }
}
