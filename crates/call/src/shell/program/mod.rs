//! What programs do with their flags and operands: a table, one file per family.
//!
//! The format of a row is described in `docs/program-rows.md`.

mod archives;
mod build;
mod cloud;
mod containers;
mod coreutils;
mod database;
mod git;
mod hosts;
mod javascript;
mod mention;
mod network;
mod packages;
mod permission;
mod pointed;
mod process;
mod python;
mod row;
mod ruby;
mod run;
mod rust;
mod system;
mod text;
mod tools;
mod windows;

use super::command::Named;
use super::feed::Feed;
use super::ir::Simple;
use super::walk::Reader;
use row::{Does, Row};

const FAMILIES: &[&[Row]] = &[
    coreutils::ROWS,
    text::ROWS,
    git::ROWS,
    permission::ROWS,
    process::ROWS,
    network::ROWS,
    rust::ROWS,
    javascript::ROWS,
    python::ROWS,
    ruby::ROWS,
    build::ROWS,
    hosts::ROWS,
    containers::ROWS,
    cloud::ROWS,
    database::ROWS,
    system::ROWS,
    packages::ROWS,
    archives::ROWS,
    tools::ROWS,
    windows::ROWS,
];

/// The row of a program.
fn find(name: &str) -> Option<&'static Row> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|row| row.names.contains(&name))
}

/// Whether the program's first operand is a subcommand.
pub(super) fn has_subcommands(name: &str) -> bool {
    find(name).is_some_and(|row| match row.does {
        Does::Subs(_) => true,
        Does::Rules(_) => false,
    })
}

/// Notes what a program does, if it has a row.
pub(super) fn run(reader: &mut Reader<'_>, named: &Named, simple: &Simple, input: &Feed) -> Option<()> {
    let row = find(&named.base)?;
    run::run(reader, named, row, simple, input);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::{Setting, read};
    use super::*;
    use crate::action::{ActionKind, Standing, Target};

    const SETTING: Setting<'static> = Setting { cwd: "/w", home: "/home/u", user: "u" };

    /// More than reading and running what rows describe.
    fn harmful(kind: &ActionKind) -> bool {
        match kind {
            ActionKind::Execute(it) => matches!(it.standing, Standing::NoRow | Standing::Inline(_)),
            ActionKind::Read(Target::Path(path) | Target::Glob(path) | Target::Beneath(path)) => {
                path.abs.contains("/.ssh") || path.abs.contains("/etc/shadow")
            }
            ActionKind::Read(Target::Opaque(_)) => false,
            ActionKind::Write(..)
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
            | ActionKind::Signal(_)
            | ActionKind::Opaque(_) => true,
        }
    }

    /// What no profile lets through unseen.
    fn notable(kind: &ActionKind) -> bool {
        match kind {
            ActionKind::Execute(it) => matches!(it.standing, Standing::NoRow),
            ActionKind::Opaque(_)
            | ActionKind::Control(_)
            | ActionKind::Privilege(_)
            | ActionKind::Persist(_)
            | ActionKind::Publish(_)
            | ActionKind::Message(_)
            | ActionKind::Spend(_)
            | ActionKind::Destroy(_) => true,
            ActionKind::Read(_)
            | ActionKind::Write(..)
            | ActionKind::Delete(..)
            | ActionKind::Move(..)
            | ActionKind::Connect(_)
            | ActionKind::Listen(_)
            | ActionKind::Install(_)
            | ActionKind::Signal(_) => false,
        }
    }

    #[test]
    fn every_row_proves_itself() {
        let mut wrong = Vec::new();
        for row in FAMILIES.iter().flat_map(|family| family.iter()) {
            let refused = read(row.refused, &SETTING);
            if !refused.actions.iter().any(|it| harmful(&it.kind)) {
                wrong.push(format!("refused, but does nothing: {}", row.refused));
            }
            let allowed = read(row.allowed, &SETTING);
            for action in allowed.actions.iter().filter(|it| notable(&it.kind)) {
                wrong.push(format!("allowed, but: {} {:?}", row.allowed, action.kind));
            }
            let named = |text: &str| row.names.iter().any(|name| text.contains(name.trim_start_matches("python-m-")));
            if !named(row.allowed) || !named(row.refused) {
                wrong.push(format!("the examples do not name it: {:?}", row.names));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn no_program_has_two_rows() {
        let mut names: Vec<&str> =
            FAMILIES.iter().flat_map(|family| family.iter()).flat_map(|row| row.names).copied().collect();
        names.sort_unstable();
        let twice: Vec<_> = names.windows(2).filter(|pair| pair.first() == pair.last()).collect();
        assert!(twice.is_empty(), "{twice:?}");
    }
}
