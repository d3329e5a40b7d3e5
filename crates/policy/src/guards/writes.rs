//! Writes: beneath the roots only, and never through a second name unasked.

use tollgate_call::action::{PathRef, Target, WriteHow};
use tollgate_call::facts::{Fact, Kind, PathFact, Unknown};
use tollgate_call::places::{Place, Protection, clean};

use super::paths::{
    credential, device, guard_files, is_descriptor_of_command, kind, matches, protected_by_glob, refused,
};
use crate::mode::Mode;
use crate::rule;
use crate::ruling::{Rulings, quoted, why};
use crate::subject::{Doer, View};

pub(super) fn judge(view: &View<'_>, target: &Target, how: WriteHow, out: &mut Rulings) {
    match target {
        Target::Path(path) | Target::Beneath(path) => match view.path(path) {
            _ if is_descriptor_of_command(view, path) => {}
            Some(fact) => write_fact(view, path, fact, how, out),
            None => unknown(path, out),
        },
        Target::Glob(path) => write_glob(view, path, how, out),
        // In the box only the roots can be written.
        Target::Opaque(_) if view.box_pays() => {}
        Target::Opaque(reason) => {
            out.ask(rule::SHELL_OPAQUE, format!("nobody can say which file it writes: {}", why(reason)))
                .instead("name the file");
        }
    }
}

fn write_fact(view: &View<'_>, path: &PathRef, fact: &PathFact, how: WriteHow, out: &mut Rulings) {
    if refused(view, path, fact, out) {
        return;
    }
    if is_question(view, path, fact, how) {
        outside(view, &path.raw, out);
    } else {
        place(view, &path.raw, fact.place, out);
    }
    protected(view, path, fact, out);
    kind(view, path, fact, out);
    hard_link(path, fact, how, out);
    directory(view, path, fact, how, out);
}

fn write_glob(view: &View<'_>, path: &PathRef, how: WriteHow, out: &mut Rulings) {
    match view.path(path) {
        Some(fact) => place(view, &path.raw, fact.place, out),
        None => unknown(path, out),
    }
    for (matched, fact) in matches(view, path) {
        if !out.is_empty() {
            return;
        }
        write_fact(view, &matched, fact, how, out);
    }
    if let Some(name) = protected_by_glob(view, path, |_| true).filter(|_| out.is_empty()) {
        out.ask(rule::PATH_PROTECTED, format!("{} reaches {}, a protected name", quoted(&path.raw), quoted(&name)))
            .instead("name the files you mean");
    }
}

pub(super) fn place(view: &View<'_>, raw: &str, place: Place, out: &mut Rulings) {
    let command = view.subject.doer == Doer::Command;
    match place {
        Place::Inside | Place::Root => {}
        Place::HarmlessDevice if command => {}
        Place::HarmlessDevice | Place::Device => device(raw, "writes", out),
        Place::GuardState | Place::GuardPolicy => guard_files(raw, "writes", out),
        Place::Credential => credential(raw, out),
        // A command in a box of ours has a temporary directory of its own.
        Place::Temp if command && view.is_performed_here() => {}
        Place::Temp => {
            out.ask(rule::PATH_TEMP, format!("it writes {}, a temporary place shared with others", quoted(raw)))
                .instead("use a directory inside the workspace, such as `tmp/`");
        }
        Place::Ancestor | Place::Home | Place::ReadRoot | Place::System | Place::Elsewhere => {
            out.deny(rule::PATH_OUTSIDE, format!("it writes {}, outside the workspace", quoted(raw)))
                .instead("write inside the workspace");
        }
    }
}

/// Whether a command's write outside the roots is somebody's choice: a plain place, said openly, and nothing there that
/// is lost or obeyed later. Tools of ours never ask: they could not write there anyway.
fn is_question(view: &View<'_>, path: &PathRef, fact: &PathFact, how: WriteHow) -> bool {
    let plain = match fact.place {
        Place::Elsewhere | Place::ReadRoot => how == WriteHow::Metadata || !runs_later(fact),
        Place::Inside
        | Place::Root
        | Place::Ancestor
        | Place::Home
        | Place::Temp
        | Place::Credential
        | Place::GuardState
        | Place::GuardPolicy
        | Place::HarmlessDevice
        | Place::Device
        | Place::System => false,
    };
    let lost = how == WriteHow::Replace && matches!(fact.kind, Fact::Known(Kind::File(_)));
    // A name that leads elsewhere deceives whoever is asked.
    let said = clean(&path.abs) == fact.resolved;
    // Where questions are skipped there is nobody to choose.
    let asks = view.policy.settings().mode != Mode::DangerouslySkipPermissions;
    view.subject.doer == Doer::Command && plain && !lost && said && asks
}

/// Whether what is written there is obeyed or run later. git's own settings are judged as configuration besides.
fn runs_later(fact: &PathFact) -> bool {
    let program = fact.resolved.rsplit('/').take(2).any(|name| name == "bin");
    program || (fact.protection.is_some() && !fact.resolved.ends_with("/.gitconfig"))
}

fn outside(view: &View<'_>, raw: &str, out: &mut Rulings) {
    let instead = if view.is_performed_here() {
        "write inside the workspace; the box opens no other place, unless the operator starts it with `--rw DIR`"
    } else {
        "write inside the workspace"
    };
    out.ask(rule::PATH_OUTSIDE, format!("it writes {}, outside the workspace", quoted(raw))).instead(instead);
}

/// Protected names: a question, except for those that the operator listed.
pub(super) fn protected(view: &View<'_>, path: &PathRef, fact: &PathFact, out: &mut Rulings) {
    let cleaned = clean(&path.abs);
    let listed = [fact.resolved.as_str(), cleaned.as_str()]
        .iter()
        .any(|name| view.policy.is_protected(name) || view.policy.is_secret(name));
    let name = quoted(&path.raw);
    match fact.protection {
        Some(Protection::Operator | Protection::OperatorSecret) => operator(&name, out),
        _ if listed => operator(&name, out),
        Some(Protection::GuardProject) => {
            out.ask(rule::PATH_GUARD, format!("{name} is the project's policy file"))
                .instead("let the operator change it; a running run keeps what it read at its start");
        }
        Some(protection) => {
            out.ask(rule::PATH_PROTECTED, format!("{name} is protected: {}", meaning(protection)))
                .instead("leave it, or let the operator approve exactly this change");
        }
        None => {}
    }
}

fn operator(name: &str, out: &mut Rulings) {
    out.deny(rule::PATH_PROTECTED, format!("the operator listed {name} as not to be changed"))
        .instead("reach the goal without changing it");
}

const fn meaning(protection: Protection) -> &'static str {
    match protection {
        Protection::Git => "it configures what git runs or where it looks",
        Protection::AgentSettings => "it instructs or configures coding agents",
        Protection::Ci => "it runs on other machines with their rights",
        Protection::Startup => "it runs by itself later",
        Protection::EnvFile => "it holds environment secrets",
        Protection::Key => "it holds keys or credentials",
        Protection::GuardProject => "it is the project's policy file",
        Protection::Operator | Protection::OperatorSecret => "the operator listed it",
    }
}

fn hard_link(path: &PathRef, fact: &PathFact, how: WriteHow, out: &mut Rulings) {
    match how {
        WriteHow::MakeDir | WriteHow::Link => return,
        WriteHow::Replace | WriteHow::Change | WriteHow::Metadata => {}
    }
    match (&fact.kind, &fact.links) {
        // Directories count their children.
        (Fact::Known(Kind::Directory), _) => {}
        (_, Fact::Known(0 | 1) | Fact::Unknown(Unknown::NotAsked)) => {}
        (_, Fact::Known(names)) => {
            out.ask(rule::PATH_HARDLINK, format!("{} has {names} names, and all would change", quoted(&path.raw)))
                .instead("copy the file and change the copy");
        }
        (_, Fact::Unknown(Unknown::Late | Unknown::Failed)) => {
            out.ask(
                rule::PATH_UNKNOWN,
                format!("whether {} has other names could not be found out", quoted(&path.raw)),
            );
        }
    }
}

/// A command that copies into a directory names the directory; a file tool that writes one is mistaken.
fn directory(view: &View<'_>, path: &PathRef, fact: &PathFact, how: WriteHow, out: &mut Rulings) {
    let mistaken = match how {
        WriteHow::Replace | WriteHow::Change => view.subject.doer == Doer::FileTool,
        WriteHow::Metadata | WriteHow::MakeDir | WriteHow::Link => false,
    };
    if mistaken && fact.kind == Fact::Known(Kind::Directory) {
        out.deny(rule::PATH_SPECIAL, format!("{} is a directory", quoted(&path.raw))).instead("name a file in it");
    }
}

/// Where nothing is known, nothing is written.
fn unknown(path: &PathRef, out: &mut Rulings) {
    out.deny(rule::PATH_UNKNOWN, format!("nothing is known about {}", quoted(&path.raw)));
}
