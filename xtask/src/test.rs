//! `cargo xtask test`: sets up what the tests need, then runs all of them.

use std::process::Command;

use crate::command::{Failed, answers, cargo, run as run_command, say};

/// A program that tests start, and the Debian package that brings it.
struct Need {
    program: &'static str,
    package: &'static str,
    why: &'static str,
}

// The C compiler is not listed: without one, this program could not have been linked either.
const NEEDS: &[Need] = &[
    Need { program: "git", package: "git", why: "tests build small repositories with it" },
    Need { program: "bash", package: "bash", why: "commands run in it, and it checks our parser" },
];

/// Runs doc tests, then every other test, so that the test runner's own summary is the last line.
pub(crate) fn run(extra: &[String]) -> Result<(), Failed> {
    set_up()?;
    run_command(&mut cargo(&["test", "--workspace", "--doc", "--quiet"]))?;
    let mut nextest = cargo(&["nextest", "run", "--workspace", "--profile", profile()]);
    run_command(nextest.args(extra))
}

/// In CI every failure is shown; at a desk the first one stops the run.
fn profile() -> &'static str {
    if std::env::var_os("CI").is_some() { "ci" } else { "default" }
}

fn set_up() -> Result<(), Failed> {
    let lacks = |need: &&Need| !answers(Command::new(need.program).arg("--version"));
    let missing: Vec<&Need> = NEEDS.iter().filter(lacks).collect();
    if !missing.is_empty() {
        install(&missing)?;
    }
    if answers(&mut cargo(&["nextest", "--version"])) {
        return Ok(());
    }
    say("xtask: cargo-nextest is missing; installing it (once, some minutes)");
    run_command(&mut cargo(&["install", "cargo-nextest", "--locked"]))
}

/// Installs packages where that is possible; elsewhere says which programs are missing and why.
fn install(missing: &[&Need]) -> Result<(), Failed> {
    let wanted: Vec<String> = missing.iter().map(|need| format!("`{}` ({})", need.program, need.why)).collect();
    let packages: Vec<&str> = missing.iter().map(|need| need.package).collect();
    let wanted = wanted.join(", ");
    if !is_root() || !answers(Command::new("apt-get").arg("--version")) {
        let packages = packages.join(" ");
        return Err(Failed::Missing(format!("tests need {wanted}; install the package(s): {packages}")));
    }
    say(&format!("xtask: installing {wanted}"));
    // A new machine has no list of packages yet.
    run_command(Command::new("apt-get").arg("update"))?;
    run_command(Command::new("apt-get").args(["install", "-y", "--no-install-recommends"]).args(packages))
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|done| done.stdout.trim_ascii() == b"0")
}
