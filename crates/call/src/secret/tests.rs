//! What is a token, what is none, and how much work it is to tell.

use super::*;
use table::{Charset, RULES, Rule, Shape};

fn kinds(text: &str) -> Vec<&'static str> {
    find_tokens(text).into_iter().map(|hit| hit.kind).collect()
}

/// Makes a token of the least length that the rule takes.
fn sample(rule: &Rule) -> String {
    let fill = |set: Charset, n: usize| {
        let byte = (b'0'..=b'z').rev().find(|b| set.holds(*b) && b.is_ascii_alphanumeric()).unwrap();
        char::from(byte).to_string().repeat(n)
    };
    match rule.shape {
        Shape::Run { set, min, .. } | Shape::Alone { set, min, .. } => format!("{}{}", rule.prefix, fill(set, min)),
        Shape::Value { set, min } => format!("{}: {}", rule.prefix, fill(set, min)),
        Shape::Assigned { set, min } => format!("MY{}1{}", rule.prefix, fill(set, min)),
        Shape::Parts { set, mins } => {
            let parts: Vec<_> = mins.iter().map(|min| fill(set, *min)).collect();
            let dotted = parts.join(".");
            format!("{}{}", rule.prefix, dotted.get(rule.prefix.len()..).unwrap())
        }
        Shape::Pem => format!("{}RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----", rule.prefix),
        Shape::UserInfo => format!("https{}me:hunter2@", rule.prefix),
    }
}

#[test]
fn every_rule_finds_its_token_in_the_midst_of_text() {
    for rule in RULES {
        let token = sample(rule);
        let text = format!("é \"{token}\" é");
        let hits = find_tokens(&text);
        assert!(hits.iter().any(|hit| hit.kind == rule.kind), "{}: {text} → {hits:?}", rule.kind);
        for hit in hits {
            assert!(text.is_char_boundary(hit.range.start) && text.is_char_boundary(hit.range.end));
        }
    }
}

#[test]
fn a_token_one_character_short_is_none() {
    for rule in RULES {
        if let Shape::Run { .. } | Shape::Alone { .. } = rule.shape {
            let token = sample(rule);
            let short = token.get(..token.len() - 1).unwrap();
            assert!(!kinds(short).contains(&rule.kind), "{short}");
        }
    }
}

#[test]
fn only_the_secret_part_is_taken() {
    let found = |text: &str| {
        let hits = find_tokens(text);
        assert_eq!(hits.len(), 1, "{text}: {hits:?}");
        text.get(hits[0].range.clone()).unwrap().to_owned()
    };
    assert_eq!(found("postgres://me:hunter2@db/x"), "hunter2");
    let basic = format!("Authorization: Basic {}", "dXNlcjpodW50ZXIy");
    assert_eq!(found(&basic), "dXNlcjpodW50ZXIy");
    let pem = "x\n-----BEGIN EC PRIVATE KEY-----\nAA\n-----END EC PRIVATE KEY-----\ny";
    assert!(found(pem).ends_with("KEY-----") && found(pem).starts_with("-----BEGIN"));
}

#[test]
fn a_key_block_without_an_end_is_hidden_to_the_end() {
    let text = "-----BEGIN PRIVATE KEY-----\nAAAA";
    assert_eq!(find_tokens(text)[0].range, 0..text.len());
}

#[test]
fn ordinary_text_holds_no_token() {
    for text in [
        "",
        "git push origin main",
        "https://example.org:8080/a@b",
        "http://user@host/x",
        "task_list sk-learn pypi-server npm_config_cache hf_hub ghp_short xoxb- SG.x.y",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709 550e8400-e29b-41d4-a716-446655440000",
        "eyJhbGciOiJIUzI1NiJ9",
        "mydapi0123456789abcdef0123456789abcdef",
        "Bearer of news",
        "the basic idea: keep it small",
        "MY_TOKEN=$OTHER_TOKEN_2 MY_SECRET=get_secret_v2(1) MY_PASSWORD=changeme-please X_API_KEY=short1",
    ] {
        assert_eq!(find_tokens(text), [], "{text}");
    }
}

#[test]
fn a_token_after_an_escape_in_text_within_text_is_found() {
    let token = format!("ghp_{}", "a".repeat(36));
    for text in [format!("\\n{token}"), format!("a%3D{token}"), format!("x=\\\"{token}\\\"")] {
        assert_eq!(kinds(&text), ["github-token"], "{text}");
    }
    assert_eq!(kinds(&format!("word{token}")), Vec::<&str>::new());
}

/// Counts measured bytes, not time: each byte is measured a bounded number of times.
#[test]
fn hostile_text_is_measured_in_linear_steps() {
    let pieces = [
        "eyJ-",
        "eyJ-a.",
        "sk-",
        "://a:",
        "-----BEGIN ",
        "glpat-",
        "xoxb-",
        "A_TOKEN=",
        "Bearer ",
        "key-",
        "eyJaaaaaaaaaaaaa.eyJaaaaaaaaaaaaa-",
        "-eyJ-----------------",
        "SG.aa-",
        "%20sk-",
        "xapp-xoxb.",
    ];
    for piece in pieces {
        let text = piece.repeat(100_000 / piece.len());
        let mut scan = Scan::new(&text);
        let found = (0..text.len()).filter(|at| scan.at(*at).is_some()).count();
        assert!(scan.measured <= 12 * text.len(), "{piece}: {} in {}, {found} found", scan.measured, text.len());
    }
}

/// Undoes `{N:TEXT}` and `\\n`.
fn spelled(text: &str) -> String {
    let text = text.replace("\\n", "\n");
    let mut pieces = text.split('{');
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (inner, rest) = piece.split_once('}').unwrap();
        let (times, part) = inner.split_once(':').unwrap();
        out.push_str(&part.repeat(times.parse().unwrap()));
        out.push_str(rest);
    }
    out
}

fn examples() -> Vec<[String; 3]> {
    let lines = include_str!("examples.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split('\t').map(spelled).collect::<Vec<_>>().try_into().unwrap()).collect()
}

#[test]
fn every_kind_has_a_token_that_is_found_and_a_near_miss_that_is_not() {
    let examples = examples();
    for [kind, token, near_miss] in &examples {
        assert_eq!(kinds(&format!("x = \"{token}\"")), [kind.as_str()], "{token}");
        assert_eq!(kinds(&format!("x = \"{near_miss}\"")), Vec::<&str>::new(), "{near_miss}");
    }
    let mut told: Vec<&str> = RULES.iter().map(|rule| rule.kind).collect();
    told.sort_unstable();
    told.dedup();
    let shown: Vec<&str> = examples.iter().map(|[kind, ..]| kind.as_str()).collect();
    assert_eq!(shown, told, "one line a kind, in order");
    assert!(told.len() >= 40);
}

/// Hashes, identifiers and pictures are all over repositories and lock files.
#[test]
fn random_text_of_builds_and_locks_holds_no_token() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut of = |digits: &[u8], n: usize| -> String {
        (0..n).map(|_| char::from(digits[usize::try_from(random() >> 33).unwrap() % digits.len()])).collect()
    };
    let (hex, base64) = (b"0123456789abcdef", b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    for _ in 0..200 {
        for text in [
            of(hex, 40),
            format!("{}-{}-4{}-a{}-{}", of(hex, 8), of(hex, 4), of(hex, 3), of(hex, 3), of(hex, 12)),
            format!("\"integrity\": \"sha512-{}==\"", of(base64, 86)),
            format!("checksum = \"{}\"", of(hex, 64)),
            format!("h1:{}=", of(base64, 43)),
            format!("src=\"data:image/png;base64,{}\"", of(base64, 4_000)),
            format!("node_modules/.cache/babel-loader/key-{}.json", of(hex, 20)),
            format!("https://cdn.example/app.{}.js?v={}", of(hex, 20), of(hex, 8)),
        ] {
            assert_eq!(find_tokens(&text), [], "{text}");
        }
    }
}

#[test]
fn text_is_unfinished_from_where_a_token_may_begin() {
    let token = format!("ghp_{}", "a".repeat(36));
    for at in 1..=token.len() {
        let text = format!("é {}", token.get(..at).unwrap());
        assert_eq!(unfinished(&text, 0), 3, "{text}");
    }
    assert_eq!(unfinished(&format!("{token} "), 0), token.len() + 1);
    assert_eq!(unfinished("Bearer", 0), 0);
    assert_eq!(unfinished("AWS_SESSION_TOKEN = \"", 0), 0);
    assert_eq!(unfinished("-----BEGIN PRIVATE KEY-----\nAA", 0), 0);
    assert_eq!(unfinished("see https://user:pas", 0), 9);
    assert_eq!(unfinished("all is said. ", 0), 13);
    assert_eq!(unfinished("", 0), 0);
}

proptest::proptest! {
    /// However a text goes on, what stands before the unfinished part is found the same.
    #[test]
    fn what_comes_later_changes_nothing_before_the_unfinished_part(
        words in proptest::collection::vec(proptest::sample::select(examples()), 1..4),
        cut in 0_usize..400, sep in "[ \n:=/.-]{0,3}",
    ) {
        let whole: String = words.iter().flat_map(|[_, token, miss]| [token, &sep, miss, &sep]).map(String::as_str).collect();
        let cut = whole.floor_char_boundary(cut.min(whole.len()));
        let head = whole.get(..cut).unwrap();
        let shown = unfinished(head, 0);
        let before = |text: &str| find_tokens(text).into_iter().filter(|hit| hit.range.start < shown).collect::<Vec<_>>();
        proptest::prop_assert_eq!(before(head), before(&whole));
    }
}
