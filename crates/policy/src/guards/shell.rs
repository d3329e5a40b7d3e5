//! Shell: what runs, and what cannot be known before it runs.

use tollgate_call::action::{Action, ActionKind, Execute, PathRef, Program, Standing, Why};
use tollgate_call::facts::{Fact, ProgramFact, Tracked};
use tollgate_call::places::{Place, clean, is_beneath};

use crate::rule;
use crate::ruling::{Rulings, quoted, why};
use crate::subject::View;

pub(super) fn judge(view: &View<'_>, action: &Action, out: &mut Rulings) {
    match &action.kind {
        ActionKind::Execute(execute) => run(view, execute, out),
        ActionKind::Opaque(reason) => opaque(view, reason, out),
        ActionKind::Read(_)
        | ActionKind::Write(..)
        | ActionKind::Delete(..)
        | ActionKind::Move(..)
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
        | ActionKind::Signal(_) => {}
    }
}

fn run(view: &View<'_>, execute: &Execute, out: &mut Rulings) {
    match &execute.program {
        Program::Opaque(reason) => return opaque_program(view, reason, out),
        Program::Name(name) => impostor(view, name, None, &execute.standing, out),
        Program::Path(path) => impostor(view, &path.raw, Some(path), &execute.standing, out),
    }
    match &execute.standing {
        Standing::Row | Standing::Builtin | Standing::Project => {}
        Standing::NoRow => unknown_program(view, word(&execute.program), out),
        Standing::File(path) => own_code(view, path, out),
        Standing::Inline(language) => inline_code(view, language, out),
    }
}

fn word(program: &Program) -> &str {
    match program {
        Program::Name(name) => name,
        Program::Path(path) => &path.raw,
        Program::Opaque(_) => "it",
    }
}

/// A row describes the system's program of that name, not a file of the same name elsewhere.
fn impostor(view: &View<'_>, word: &str, path: Option<&PathRef>, standing: &Standing, out: &mut Rulings) {
    match standing {
        Standing::Row | Standing::Project | Standing::Inline(_) => {}
        // A builtin is no file; the others are judged as what they are.
        Standing::Builtin | Standing::NoRow | Standing::File(_) => return,
    }
    let file = view.facts.programs.get(word).and_then(Fact::known);
    let place = file.map(|file| file.place).or_else(|| path.and_then(|path| view.path(path)).map(|fact| fact.place));
    let doubtful = match place {
        Some(Place::Inside | Place::Root | Place::Temp | Place::ReadRoot) => !is_of_the_project(file, path),
        Some(Place::GuardState) => {
            out.deny(rule::PATH_GUARD, format!("it runs {}, which is the guard's own", quoted(word)));
            false
        }
        Some(Place::System | Place::Elsewhere | Place::GuardPolicy) => false,
        Some(Place::Ancestor | Place::Home | Place::Credential | Place::HarmlessDevice | Place::Device) => true,
        None => path.is_some_and(|path| !SYSTEM_BIN.iter().any(|dir| is_beneath(&clean(&path.abs), dir))),
    };
    if doubtful && !view.in_box() {
        out.ask(rule::SHELL_OWN_CODE, format!("{} is not the system's program of that name", quoted(word)))
            .instead("name the system's program, or let the operator look at the file");
    }
}

/// Programs that a package manager put into the project: as reviewed as the project's dependencies are.
fn is_of_the_project(file: Option<&ProgramFact>, path: Option<&PathRef>) -> bool {
    let name = file.map(|file| file.file.as_str()).or_else(|| path.map(|path| path.abs.as_str())).unwrap_or_default();
    PROJECT_BIN.iter().any(|dir| name.contains(dir))
}

fn opaque_program(view: &View<'_>, reason: &Why, out: &mut Rulings) {
    if *reason == Why::DecodedCode {
        decoded(out);
    } else if !view.box_pays() {
        out.ask(rule::SHELL_OPAQUE, format!("nobody can say which program runs: {}", self::why(reason)))
            .instead("write the program's name");
    }
}

fn unknown_program(view: &View<'_>, name: &str, out: &mut Rulings) {
    if !view.box_pays() {
        out.ask(rule::SHELL_UNKNOWN_PROGRAM, format!("no table describes this use of {}", quoted(name)))
            .instead("use a common program, or ask the operator for a rule that names this one");
    }
}

fn inline_code(view: &View<'_>, language: &str, out: &mut Rulings) {
    if !view.box_pays() {
        out.ask(rule::SHELL_INLINE_CODE, format!("it runs {} code that is given inline", quoted(language)))
            .instead("use the file tools, or put the code into a file of the project");
    }
}

/// Files run as code: free in the box, and where version control shows that they are as committed.
fn own_code(view: &View<'_>, path: &PathRef, out: &mut Rulings) {
    if view.in_box() {
        return;
    }
    let name = quoted(&path.raw);
    let Some(fact) = view.path(path) else {
        return ask_own(out, format!("nothing is known about {name}, which it runs"));
    };
    match (fact.place, &fact.tracked) {
        // The workspace itself, as a build tool is pointed at it.
        (Place::System | Place::Root, _) => {}
        (Place::Inside, Fact::Known(Tracked::Clean)) if !view.run.wrote(&fact.resolved) => {}
        (Place::Inside, Fact::Known(Tracked::Clean)) => ask_own(out, format!("this run wrote {name}, which it runs")),
        (Place::Inside, _) => ask_own(out, format!("{name} is not as it was committed, as far as is known")),
        (Place::Credential, _) => super::paths::credential(&path.raw, out),
        (Place::GuardState, _) => super::paths::guard_files(&path.raw, "runs", out),
        (Place::Device, _) => super::paths::device(&path.raw, "runs", out),
        (
            Place::Ancestor
            | Place::Home
            | Place::ReadRoot
            | Place::Temp
            | Place::GuardPolicy
            | Place::HarmlessDevice
            | Place::Elsewhere,
            _,
        ) => ask_own(out, format!("{name} lies outside the workspace")),
    }
}

fn ask_own(out: &mut Rulings, because: String) {
    out.ask(rule::SHELL_OWN_CODE, because).instead("let the operator look at the file, or run it in the box");
}

fn opaque(view: &View<'_>, reason: &Why, out: &mut Rulings) {
    match reason {
        Why::DecodedCode => decoded(out),
        Why::Piped(to) => {
            out.deny(rule::SHELL_PIPED, format!("what it receives is run by {} unseen", quoted(to)))
                .instead("save it to a file, read it, and run the file");
        }
        Why::Unparsed(_) | Why::Unexplained => {
            out.ask(rule::SHELL_UNPARSED, self::why(reason)).instead("write it in plainer shell, in several calls");
        }
        Why::Limit(_) => {
            out.ask(rule::SHELL_LONG, self::why(reason)).instead("split it into several calls");
        }
        Why::Elsewhere(_) => {
            out.ask(rule::SHELL_ELSEWHERE, self::why(reason)).instead("let the operator approve exactly this command");
        }
        Why::UnknownProgram(name) => unknown_program(view, name, out),
        Why::Code(language) => inline_code(view, language, out),
        Why::UnknownTool(name) => super::tools::unknown(view, name, out),
        Why::Variable(_) | Why::Substitution | Why::Input | Why::Directory | Why::Expansion(_) => {
            if !view.box_pays() {
                out.ask(rule::SHELL_OPAQUE, self::why(reason)).instead("write the value itself");
            }
        }
    }
}

fn decoded(out: &mut Rulings) {
    out.deny(rule::SHELL_DECODED, "it decodes hidden text and runs it").instead("write the command itself");
}

const SYSTEM_BIN: &[&str] = &["/bin", "/sbin", "/usr", "/opt", "/nix", "/gnu", "/snap", "/lib"];

const PROJECT_BIN: &[&str] = &["/node_modules/.bin/", "/.venv/bin/", "/venv/bin/", "/vendor/bin/", "/.tox/"];
