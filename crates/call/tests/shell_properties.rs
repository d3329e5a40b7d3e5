//! Properties of reading commands, and comparisons with a real shell.

#[expect(dead_code, reason = "the tables of the other test use the rest")]
mod common;

use std::collections::BTreeSet;

use common::{SETTING, script, shown};
use proptest::prelude::*;
use tollgate_call::action::{ActionKind, Why};
use tollgate_call::shell::{Word, read};

const PARTS: &[&str] = &[
    "rm -rf a",
    "ls",
    "git push -f",
    "echo x > y",
    "curl https://x.example",
    "cat <<'E'\nx\nE",
    "(ls; rm b)",
    "for i in 1 2; do touch $i; done",
    "if ls; then rm c; fi",
    "sudo id",
    "bash -c 'rm d'",
    "a=1",
    "unknown x",
    "echo $(rm e)",
    "[[ -f x ]]",
    "f() { rm g; }",
    "python3 -c 'x()'",
];

/// Pieces that are awkward for shells.
const TOKENS: &[&str] = &[
    "c0", "c1", "c2", "c3", ";", "&&", "||", "|", "&", "(", ")", "{", "}", "!", "if", "then", "else", "fi", "for",
    "in", "do", "done", "while", "case", "esac", ";;", "x=1", "\"", "'", "$(", "`", "$((", "))", "<<E", "\n", "E", "#",
    "\\", "<(", ">", "a", "[[", "]]", "${x", "*", "~", "$x",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let script = script(&text);
        prop_assert!(!script.actions.is_empty() || script.commands.iter().all(|it| it.words.is_empty()));
    }

    #[test]
    fn any_tokens_are_read_without_a_panic(at in prop::collection::vec(0..TOKENS.len(), 0..40)) {
        let text: Vec<&str> = at.iter().filter_map(|at| TOKENS.get(*at)).copied().collect();
        prop_assert_eq!(script(&text.join(" ")), script(&text.join(" ")));
    }

    #[test]
    fn a_list_does_what_its_parts_do(a in 0..PARTS.len(), b in 0..PARTS.len()) {
        let (Some(a), Some(b)) = (PARTS.get(a), PARTS.get(b)) else { return Ok(()) };
        let both: BTreeSet<String> = shown(&format!("{a}\n{b}")).into_iter().collect();
        for action in shown(a).into_iter().chain(shown(b)) {
            prop_assert!(both.contains(&action), "{} is missing from {}; {}", action, a, b);
        }
    }
}

/// Runs bash on a script, if there is one; says so and returns nothing if not.
#[expect(clippy::disallowed_types, reason = "the real shell is the oracle of these tests")]
#[expect(clippy::print_stderr, reason = "a skipped comparison must be seen")]
fn bash(arguments: &[&str]) -> Option<(bool, Vec<u8>)> {
    let output = std::process::Command::new("/bin/bash")
        .args(["--norc", "--noprofile"])
        .args(arguments)
        .env_clear()
        .env("HOME", SETTING.home)
        .stdin(std::process::Stdio::null())
        .output();
    match output {
        Ok(output) => Some((output.status.success(), output.stdout)),
        Err(error) => {
            eprintln!("skipped: no bash to compare with ({error})");
            None
        }
    }
}

/// A fixed sequence of numbers, so that every run compares the same texts.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % most.max(1)
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from.get(self.below(from.len())).copied().unwrap_or("")
    }
}

#[test]
fn pure_words_are_what_bash_makes_of_them() {
    const PIECES: &[&str] = &[
        "a",
        "b c",
        "'x y'",
        "\"p q\"",
        "\"a'b\"",
        "'a\"b'",
        "\\ ",
        "\\\\",
        "\\'",
        "$'\\x41'",
        "$'a\\tb'",
        "$'\\''",
        "{a,b}",
        "{1..3}",
        "{c..a}",
        "''",
        "\"\"",
        "$HOME",
        "\"$HOME\"",
        "${HOME}",
        "~",
        "x{1,{2,3}}y",
        "\"{a,b}\"",
        "a=b",
        "{a}",
        "{,x}",
        "$v",
        "\"$v\"",
        "${v}z",
        "${v#p}",
        "${v%q*}",
        "${v:1:3}",
        "${v/q/Q}",
        "${v^^}",
        "$'\\101'",
        "\"\\$x\"",
        "\"\\n\"",
        "\\a",
        "é",
        "${#v}x",
        "-",
        "%",
    ];
    let mut numbers = Numbers(7);
    let words: Vec<String> =
        (0..600).map(|_| (0..=numbers.below(4)).map(|_| numbers.pick(PIECES)).collect::<String>()).collect();
    let body: String = words.iter().map(|word| format!("printf '%s\\0' {word}; printf '\\1\\0'\n")).collect();
    let Some((_, output)) = bash(&["-c", &format!("v='p q'\n{body}")]) else { return };
    let text = String::from_utf8_lossy(&output);
    let mut expected =
        text.split("\u{1}\0").map(|part| part.split_terminator('\0').map(str::to_owned).collect::<Vec<_>>());
    let mut compared = 0;
    for word in &words {
        let script = read(&format!("v='p q'\necho {word}"), &SETTING);
        let ours: Option<Vec<String>> = script
            .commands
            .last()
            .map(|it| it.words.iter().skip(1).map(|word| word.literal().map(str::to_owned)).collect::<Option<Vec<_>>>())
            .unwrap_or_default();
        let mut theirs = expected.next().unwrap_or_default();
        // `printf '%s\0'` without words still prints one empty string.
        if theirs == [String::new()] && ours.as_ref().is_some_and(Vec::is_empty) {
            theirs.clear();
        }
        // Which users there are is not for this reading to know.
        if word.starts_with('~') && word.chars().nth(1).is_some_and(char::is_alphanumeric) {
            continue;
        }
        // What the parser cannot read is asked about, not compared.
        if script.actions.iter().any(|it| matches!(it.kind, ActionKind::Opaque(Why::Unparsed(_)))) {
            continue;
        }
        compared += 1;
        if let Some(ours) = ours {
            assert_eq!(ours, theirs, "{word}");
        } else {
            let grows = ["$HOME{", "$v{", "}{"].iter().any(|mark| word.contains(mark));
            let other = script.commands.last().is_some_and(|it| {
                it.words
                    .iter()
                    .filter_map(Word::why)
                    .any(|why| matches!(why, Why::Variable(name) if name != "HOME" && name != "v"))
            });
            assert!(grows || other || word.contains("${#"), "{word} is pure and must be known");
        }
    }
    assert!(compared > 500, "only {compared} of {} words could be compared", words.len());
}

/// Scripts of commands that do not exist; bash reports every one that it tries to run.
fn generated(numbers: &mut Numbers, depth: usize) -> String {
    let name = numbers.pick(&["c0", "c1", "c2", "c3", "c4", "c5"]);
    if depth == 0 {
        return name.to_owned();
    }
    let mut inner = || generated(numbers, depth - 1);
    let (a, b) = (inner(), inner());
    match numbers.below(16) {
        0 => format!("{a}; {b}"),
        1 => format!("{a} && {b}"),
        2 => format!("{a} || {b}"),
        3 => format!("{a} | {b}"),
        4 => format!("( {a} ); {b}"),
        5 => format!("{{ {a}; {b}; }}"),
        6 => format!("if {a}; then {b}; else c5; fi"),
        7 => format!("for i in 1 2; do {a}; done"),
        8 => format!("{name} \"$({a})\" `c4`"),
        9 => format!("case x in y) {a};; *) {b};; esac"),
        10 => format!("! {a}"),
        11 => format!("{name} <<E\n$({a})\nE\n{b}"),
        12 => format!("eval '{name} x'; {a}"),
        13 => format!("f() {{ {a}; }}; f; {b}"),
        14 => format!("v={name}; $v a; {b}"),
        _ => format!("[[ -n $({a}) ]]; {b}"),
    }
}

#[test]
fn every_command_that_bash_starts_is_noted() {
    let mut numbers = Numbers(11);
    let mut compared = 0;
    for round in 0..250 {
        let text = generated(&mut numbers, 1 + round % 3);
        let handler = "command_not_found_handle() { echo \"START $1\" >&9; case $1 in c[024]) return 0;; *) return 1;; esac; }; exec 9>&1 >/dev/null 2>/dev/null; PATH=/nonexistent\n";
        let Some((_, output)) = bash(&["-c", &format!("{handler}{text}")]) else { return };
        let started: BTreeSet<String> = String::from_utf8_lossy(&output)
            .lines()
            .filter_map(|line| line.strip_prefix("START ").map(str::to_owned))
            .collect();
        let script = script(&text);
        let noted: BTreeSet<String> =
            script.commands.iter().filter_map(|it| it.words.first()?.literal().map(str::to_owned)).collect();
        let unread = script.actions.iter().any(|it| matches!(it.kind, ActionKind::Opaque(_)));
        assert!(unread || started.is_subset(&noted), "{text}\nstarted {started:?}\nnoted {noted:?}");
        compared += started.len();
    }
    assert!(compared > 100, "bash started only {compared} commands");
}

#[test]
fn what_bash_rejects_or_we_do_not_parse_is_opaque() {
    let mut numbers = Numbers(23);
    for _ in 0..250 {
        let text: Vec<&str> = (0..1 + numbers.below(8)).map(|_| numbers.pick(TOKENS)).collect();
        let text = text.join(" ");
        let Some((accepted, _)) = bash(&["-n", "-c", &text]) else { return };
        let script = script(&text);
        let opaque = script
            .actions
            .iter()
            .any(|it| matches!(it.kind, ActionKind::Opaque(Why::Unparsed(_) | Why::Unexplained | Why::Limit(_))));
        let quiet = script.commands.is_empty() && script.actions.is_empty();
        let blank = text.split_whitespace().all(|token| matches!(token, "\n")) || text.trim_start().starts_with('#');
        assert!(!(accepted && quiet) || blank || !text.contains('c'), "{text:?}: nothing was noted");
        assert!(opaque || !quiet || blank || accepted, "{text:?}: rejected by bash, and we said nothing");
    }
}
