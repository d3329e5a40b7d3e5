//! The case files are read as their format says, and a bad line is named.

use crate::case::{Case, Expect, Key, read};

fn one(line: &str) -> Case {
    let mut cases = read("x.cases", line).unwrap_or_else(|bad| panic!("{}", bad[0]));
    assert_eq!(cases.len(), 1);
    cases.remove(0)
}

fn bad(line: &str) -> String {
    match read("x.cases", line) {
        Ok(cases) => panic!("{cases:?}"),
        Err(bad) => bad[0].to_string(),
    }
}

#[test]
fn a_line_has_a_decision_a_rule_a_tool_and_arguments() {
    let case = one("deny  net.private  webfetch  http://10.0.0.1/   # a private address");
    assert_eq!((case.expect, case.rules.as_slice()), (Expect::Deny, &["net.private".to_owned()][..]));
    assert_eq!((case.tool.as_str(), case.args.as_str()), ("webfetch", r#"{"url":"http://10.0.0.1/"}"#));
    assert_eq!((case.id.as_str(), case.comment.as_str()), ("x.cases:1", "a private address"));
}

#[test]
fn blank_lines_and_comments_are_passed_over_and_lines_keep_their_numbers() {
    let cases = read("x.cases", "# head\n\nallow  -  todo_list\n").unwrap();
    assert_eq!(cases[0].id, "x.cases:3");
    assert_eq!(cases[0].args, "{}");
}

#[test]
fn a_single_space_and_a_hash_belong_to_a_command() {
    assert_eq!(one("allow  -  run_bash  ls -la # all").args, r#"{"command":"ls -la # all"}"#);
}

#[test]
fn escapes_are_undone_and_nothing_else() {
    let case = one(r"ask  shell.opaque  run_bash  a\n\tb\s\sc \\; \u{2460} \{3:xy}");
    assert_eq!(case.args, r#"{"command":"a\n\tb  c \\; ① xyxyxy"}"#);
    assert_eq!(bad(r"ask  -  run_bash  a \d b"), r"x.cases:1: `\d` is not an escape; a backslash is written `\\`");
    assert_eq!(bad(r"ask  -  run_bash  a \"), r"x.cases:1: `\` is not an escape; a backslash is written `\\`");
    assert!(bad(r"ask  -  run_bash  \u{110000}").contains("is no character"));
    assert!(bad(r"ask  -  run_bash  \{3xy}").contains("COUNT:TEXT"));
}

#[test]
fn arguments_go_by_position_and_by_name() {
    let case = one("allow  -  read_file  src/a.rs  limit:=20");
    assert_eq!(case.args, r#"{"path":"src/a.rs","limit":20}"#);
    let case = one("deny  call.malformed  read_file  a  extra:=true");
    assert_eq!(case.args, r#"{"path":"a","extra":true}"#);
    assert!(bad("allow  -  delete_file  a  b").contains("`b`: `delete_file` takes no argument here"));
    assert!(bad("allow  -  run_bash  ls  -la").contains("`-la`: `run_bash` takes no argument here"));
    assert!(bad("allow  -  read_file  a  path:=\"b\"").contains("`path` is given twice"));
    assert!(bad("allow  -  read_file  a  limit:=x").contains("is not JSON"));
}

#[test]
fn raw_arguments_are_kept_byte_for_byte() {
    let raw = r#"{"path":"a","path":"b"}"#;
    assert_eq!(one(&format!("deny  call.malformed  read_file  ={raw}")).args, raw);
    assert_eq!(one("allow  -  run_bash  { ls; pwd; }").args, r#"{"command":"{ ls; pwd; }"}"#);
}

#[test]
fn the_world_comes_before_the_tool() {
    let case = one("ask  -  @cwd=src @mode=plan  @tracked=a.rs @tracked=b.rs  run_bash  ls");
    assert_eq!(case.one(Key::Cwd), Some("src"));
    assert_eq!(case.all(Key::Tracked).collect::<Vec<_>>(), ["a.rs", "b.rs"]);
    assert!(bad("ask  -  @colour=red  run_bash  ls").contains("`@colour` is not known; one of: approved, box"));
    assert!(bad("ask  -  @cwd  run_bash  ls").contains("is not `@key=value`"));
}

#[test]
fn a_wanted_rule_may_be_one_of_several_or_a_whole_area() {
    let case = one("deny  path.outside|budget.*  run_bash  ls");
    assert!(case.names("path.outside") && case.names("budget.turns") && !case.names("path.temp"));
    assert!(one("allow  -  run_bash  ls").names("anything.at-all"));
}

#[test]
fn an_open_line_says_by_its_rule_which_way_it_is_wrong() {
    assert_eq!(one("open  net.private  webfetch  http://a/").expect, Expect::OpenHole);
    assert_eq!(one("open  -  run_bash  ls").expect, Expect::OpenAlarm);
}

#[test]
fn a_bad_line_is_named_with_its_file_and_number() {
    assert_eq!(
        bad("\npermit  -  run_bash  ls"),
        "x.cases:2: `permit` is not a decision; one of: allow, ask, deny, block, open"
    );
    assert!(bad("allow").contains("the rule is missing"));
    assert!(bad("allow  -").contains("the tool is missing; fields are two spaces apart"));
    assert!(bad("deny  Path  run_bash  ls").contains("`Path` is not a rule id"));
    assert!(bad("deny - run_bash ls").contains("the rule is missing"));
}

#[test]
fn every_bad_line_of_a_file_is_named() {
    let found = read("x.cases", "permit  -  a\nallow  -  todo_list\nallow\n").unwrap_err();
    assert_eq!(found.iter().map(|bad| bad.id.as_str()).collect::<Vec<_>>(), ["x.cases:1", "x.cases:3"]);
}
