//! The tables of the documentation say what the code says.
#![forbid(unsafe_code)]
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail by panicking too")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use tollgate::call::schema::{Field, Form, Kind, Need, TOOLS};
use tollgate::ledger::Event;
use tollgate::policy::RuleId;
use tollgate::policy::rule::ALL;

/// The rows of the table whose heading begins with `heading`, cell by cell, code marks left in.
fn table(page: &str, heading: &str) -> Vec<Vec<String>> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(page);
    let text = std::fs::read_to_string(&file).unwrap();
    let body = text.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim_start_matches("| ").trim_end_matches(" |");
        inner.split(" | ").map(str::to_owned).collect()
    };
    body.take_while(|line| line.starts_with('|')).map(cells).collect()
}

fn first_two(rows: Vec<Vec<String>>) -> Vec<[String; 2]> {
    rows.into_iter().map(|row| [row[0].clone(), row[1].clone()]).collect()
}

/// Codes and meanings as `exit.rs` has them: a binary exports nothing that a test could name.
fn codes() -> Vec<[String; 2]> {
    let source = include_str!("../src/exit.rs");
    let row = |line: &str| -> Option<[String; 2]> {
        let rest = line.trim().strip_prefix("(Self::")?.strip_suffix("\"),")?;
        let (head, meaning) = rest.split_once(", \"")?;
        Some([head.split_once(", ")?.1.to_owned(), meaning.to_owned()])
    };
    source.lines().filter_map(row).collect()
}

#[test]
fn both_tables_of_exit_codes_are_the_table_of_the_code() {
    let codes = codes();
    assert!(codes.len() >= 9, "the table in exit.rs was not found: {codes:?}");
    for page in ["README.md", "docs/exit-codes.md"] {
        let shown = first_two(table(page, "| code | meaning |"));
        assert_eq!(shown, codes, "{page}");
    }
}

#[test]
fn each_tool_is_documented_with_its_arguments_and_bounds() {
    let shown: Vec<String> =
        table("docs/tools.md", "| tool | argument |").into_iter().map(|row| row.join(" | ")).collect();
    let told: Vec<String> = TOOLS.iter().flat_map(|tool| arguments(tool.name, tool.fields)).collect();
    assert_eq!(shown, told);
}

fn arguments(tool: &str, fields: &[Field]) -> Vec<String> {
    if fields.is_empty() {
        return vec![format!("`{tool}` | – | no arguments | –")];
    }
    let need = |field: &Field| match field.need {
        Need::Required => "required",
        Need::Optional => "optional",
        Need::Hidden => "hosts only",
    };
    fields
        .iter()
        .map(|field| format!("`{tool}` | `{}` | {} | {}", field.name, bounds(field.kind), need(field)))
        .collect()
}

fn bounds(kind: Kind) -> String {
    match kind {
        Kind::Text { min, max, form } => format!("{}, {min} to {} bytes", form_name(form), grouped(max as u64)),
        Kind::Int { min, max } => format!("whole number, {min} to {}", grouped(max)),
        Kind::Flag => "true or false".to_owned(),
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
    }
}

fn form_name(form: Form) -> &'static str {
    match form {
        Form::Path => "path",
        Form::Pattern => "relative glob",
        Form::Line => "one line",
        Form::Command => "shell text",
        Form::Content => "free text",
        Form::Heading => "plain line",
        Form::Recipient => "recipient",
    }
}

/// A number with commas between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| str::from_utf8(group).unwrap()).collect();
    groups.join(",")
}

#[test]
fn each_event_of_the_log_is_documented_once() {
    let rows = table("docs/audit.md", "| event | when |");
    let shown: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
    let known: Vec<&str> = Event::ALL.iter().map(|(_, name)| *name).collect();
    assert_eq!(shown, known);
}

/// Every page of ours with its text.
fn pages() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let list = |dir: PathBuf| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = list(root.join("docs")).chain(list(root));
    let pages = files.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    pages.map(|page| (page.clone(), std::fs::read_to_string(&page).unwrap())).collect()
}

/// What stands between single code marks, code blocks left out.
fn marked(text: &str) -> impl Iterator<Item = &str> {
    let outside_blocks = text.split("```").step_by(2);
    outside_blocks.flat_map(|part| part.split('`').skip(1).step_by(2))
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn expanded(path: &str) -> Vec<String> {
    let braces = path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (choices, tail))) = braces else { return vec![path.to_owned()] };
    choices.split(',').map(|choice| format!("{head}{choice}{tail}")).collect()
}

#[test]
fn links_between_pages_lead_to_files() {
    let mut dead = BTreeSet::new();
    for (page, text) in pages() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or_default();
            let outside = file.is_empty() || file.contains("://") || file.starts_with("mailto:");
            if !outside && !page.with_file_name(file).exists() {
                dead.insert(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn files_of_the_tree_that_pages_name_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut dead = BTreeSet::new();
    let mut named = 0;
    for (page, text) in pages() {
        let ours = |token: &&str| ["crates/", "cases/", "docs/", "examples/"].iter().any(|dir| token.starts_with(dir));
        let whole = |token: &&str| !token.contains(['*', ' ']) && !token.contains("FILE") && !token.contains("/X/");
        for path in marked(&text).filter(ours).filter(whole).flat_map(expanded) {
            named += 1;
            if !root.join(&path).exists() {
                dead.insert(format!("{}: {path}", page.display()));
            }
        }
    }
    assert!(named > 50, "only {named} files are named: the pages were not read");
    assert!(dead.is_empty(), "{dead:#?}");
}

/// A rule that a page names is policy's, or in the table of the gate's own.
#[test]
fn rules_that_pages_name_exist() {
    let own: Vec<String> = table("docs/audit.md", "| rule | meaning |").into_iter().map(|row| row[0].clone()).collect();
    let is_known = |id: &str| RuleId::find(id).is_some() || own.contains(&format!("`{id}`"));
    let areas: BTreeSet<&str> = ALL.iter().filter_map(|rule| rule.as_str().split('.').next()).collect();
    let mut unknown = BTreeSet::new();
    for (page, text) in pages() {
        let rule = |token: &&str| {
            let parts = token.split_once('.').filter(|(area, _)| areas.contains(area));
            parts
                .is_some_and(|(_, reason)| reason != "rs" && reason.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        };
        unknown.extend(marked(&text).filter(rule).filter(|id| !is_known(id)).map(|id| (page.clone(), id.to_owned())));
    }
    assert!(unknown.is_empty(), "{unknown:#?}");
}
