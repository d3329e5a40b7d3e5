use super::*;
use serde_json::json;
use std::sync::Arc;

const SECRET: &str = "p\"ss wörd/+42";

fn scrubber() -> Scrubber {
    Scrubber::new([("DB", SECRET), ("PIN", "1234"), ("ID", "9007199254740993")])
}

#[test]
fn a_known_value_is_hidden_in_every_spelling() {
    let encoded: [&str; 8] = [
        SECRET,
        "p\\\"ss wörd/+42",
        "p%22ss%20w%C3%B6rd%2F%2B42",
        "p%22ss+w%c3%b6rd%2f%2b42",
        "702273732077c3b672642f2b3432",
        "cCJzcyB3w7ZyZC8rNDI=",
        "dXNlcjpwInNzIHfDtnJkLys0Mg==", // user:…
        "YTpwInNzIHfDtnJkLys0Mg==",     // a:…
    ];
    for text in encoded.into_iter().filter(|t| !t.starts_with("7022")) {
        let shown = scrubber().scrub_text(&format!("<{text}>")).to_text();
        assert!(shown.contains("[secret:DB:"), "{text} → {shown}");
    }
    let hex: String = SECRET.bytes().map(|b| format!("{b:02x}")).collect();
    assert!(scrubber().scrub_text(&hex).to_text().starts_with("[secret:DB:"));
}

#[test]
fn keys_and_numbers_are_scrubbed_too() {
    let shown = scrubber().scrub_value(&json!({SECRET: 9_007_199_254_740_993_u64, "n": 5})).to_text();
    assert!(!shown.contains("wörd") && !shown.contains("9007"), "{shown}");
    assert!(shown.contains("\"n\":5"));
}

#[test]
fn two_keys_that_become_one_placeholder_are_both_kept() {
    let value = json!({SECRET: 1, json_form(): 2});
    assert_eq!(scrubber().scrub_value(&value).value().as_object().unwrap().len(), 2);
}

fn json_form() -> String {
    SECRET.replace('"', "\\\"")
}

#[test]
fn short_values_are_named_as_not_hidden() {
    assert_eq!(scrubber().too_short(), ["PIN".to_owned()]);
}

#[test]
fn of_two_secrets_that_share_characters_none_remains() {
    let scrubber = Scrubber::new([("A", "abcdefgh"), ("B", "fghijklm"), ("C", "cdefghij")]);
    let shown = scrubber.scrub_text("<abcdefghijklm>").to_text();
    assert!(shown.starts_with("<[secret:A:") && shown.ends_with("]>"), "{shown}");
}

#[test]
fn when_nothing_can_be_searched_nothing_is_shown() {
    let scrubber = Scrubber { known: Known::Unsearchable, too_short: Vec::new() };
    assert_eq!(scrubber.scrub_text("anything").to_text(), "[secret:unsearchable]");
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: String = bytes.iter().map(|b| format!("{b:08b}")).collect();
    let digit = |six: &[u8]| {
        let six = format!("{:0<6}", std::str::from_utf8(six).unwrap());
        char::from(DIGITS[usize::from_str_radix(&six, 2).unwrap()])
    };
    bits.as_bytes().chunks(6).map(digit).collect()
}

proptest::proptest! {
    #[test]
    fn no_known_value_survives_in_any_company(
        secret in "[ -~é]{8,24}", before in "[a-zA-Z0-9 :/=\"]{0,9}", after in "[a-zA-Z0-9 :/=\"]{0,9}",
    ) {
        let scrubber = Scrubber::new([("S", secret.as_str())]);
        let text = format!("{before}{secret}{after}");
        let nested = serde_json::json!({"k": text}).to_string();
        let hex: String = text.bytes().map(|b| format!("{b:02x}")).collect();
        for spelled in [text.clone(), nested, hex, base64(text.as_bytes())] {
            let shown = scrubber.scrub_text(&spelled).to_text();
            proptest::prop_assert!(shown.contains("[secret:"), "{} → {}", spelled, shown);
            proptest::prop_assert!(!shown.contains(&secret));
        }
    }

    #[test]
    fn any_value_becomes_a_payload_that_reads_back_as_it_is(text in "\\PC*", number in proptest::num::f64::NORMAL) {
        let value = serde_json::json!({ text.clone(): [text.clone(), number], "n": number.to_bits() });
        let kept = Scrubber::formats_only().scrub_value(&value);
        let canonical = serde_json_canonicalizer::to_vec(kept.value()).unwrap();
        let back: Value = serde_json::from_slice(&canonical).unwrap();
        proptest::prop_assert_eq!(serde_json_canonicalizer::to_vec(&back).unwrap(), canonical);
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
    for text in ["", "cargo test -p x", "see https://example.org/a?b=c", "日本語 \u{1}"] {
        assert_eq!(scrubber().scrub_text(text).to_text(), text);
    }
}

#[test]
fn the_same_secret_gets_the_same_placeholder_everywhere() {
    let one = scrubber().scrub_text(SECRET).to_text();
    // The last Base64 digit holds bits of what follows, so it is not part of what is looked for.
    let encoded = scrubber().scrub_text("cCJzcyB3w7ZyZC8rNDI=").to_text();
    assert!(encoded.starts_with(&one), "{encoded}");
}

#[test]
fn a_long_text_keeps_its_size_and_hash_and_no_secret_at_the_cut() {
    let text = format!("{}{SECRET}", "é".repeat(MAX_TEXT_BYTES / 2 - 3));
    let kept = scrubber().scrub_text(&text);
    let value = kept.value();
    assert_eq!(value["cut"], json!(true));
    assert!(value["text"].as_str().unwrap().len() <= MAX_TEXT_BYTES);
    assert!(!value["text"].as_str().unwrap().contains("p\"ss"));
    assert_eq!(value["sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn a_payload_of_any_size_becomes_a_bounded_one() {
    let wide = json!(vec!["\u{1}\u{2}\u{3}"; 50_000]);
    let kept = scrubber().scrub_value(&wide);
    assert!(kept.value().to_string().len() <= MAX_DATA_BYTES);
    assert!(scrubber().scrub_whole(&wide).is_none());
    let mut deep = json!("leaf");
    for _ in 0..500 {
        deep = json!([deep]);
    }
    assert!(kept.value().is_object() && scrubber().scrub_whole(&deep).is_none());
    assert!(scrubber().scrub_value(&deep).to_text().contains("too deep"));
}

#[test]
fn the_estimate_of_the_size_is_never_below_the_size() {
    for value in [json!(null), json!([1, 2.5, "a\n\u{1f}\"", {"k": [true, false]}]), json!({})] {
        assert!(rendered_len(&value) >= value.to_string().len(), "{value}");
    }
}

#[test]
fn a_value_that_an_encoder_broke_over_lines_is_hidden() {
    let secret = "s3cr3t/".repeat(12);
    let scrubber = Scrubber::new([("LONG", secret.as_str())]);
    let wrapped = |text: &str, width: usize, end: &str| -> String {
        text.as_bytes().chunks(width).map(|line| format!("{}{end}", std::str::from_utf8(line).unwrap())).collect()
    };
    let hex: String = secret.bytes().map(|b| format!("{b:02x}")).collect();
    for text in [wrapped(&base64(secret.as_bytes()), 76, "\n"), wrapped(&hex, 60, "\r\n"), wrapped(&secret, 40, "\n")] {
        let shown = scrubber.redact(&format!("before\n{text}after\n"));
        assert!(shown.starts_with("before\n[secret:LONG:") && shown.ends_with("after\n"), "{text} → {shown}");
        assert!(shown.len() < 60, "{shown}");
    }
}

#[test]
fn a_value_is_hidden_as_encoders_of_scripts_and_pages_spell_it() {
    let scrubber = Scrubber::new([("W", "pä<s&'s'(1)/x")]);
    for text in [
        "p\\u00e4<s&'s'(1)/x",
        "pä\\u003cs\\u0026's'(1)/x",
        "pä&lt;s&amp;&#39;s&#39;(1)/x",
        "p%C3%A4%3Cs%26's'(1)%2Fx",
        "p%C3%A4%3Cs&'s'(1)/x",
        "pä<s&'s'(1)\\/x",
    ] {
        let shown = scrubber.redact(text);
        assert!(shown.starts_with("[secret:W:"), "{text} → {shown}");
    }
}

#[test]
fn known_values_are_named_wherever_they_stand_in_a_call() {
    let value =
        json!({"url": "https://x/?q=cCJzcyB3w7ZyZC8rNDI", "deep": [{"n": 9_007_199_254_740_993_u64}], "p": "1234"});
    assert_eq!(scrubber().known_in(&value), ["DB", "ID"]);
    assert!(scrubber().known_in(&json!({"path": "src/main.rs"})).is_empty());
}

#[test]
fn what_was_hidden_is_told_apart() {
    let token = format!("ghp_{}", "a1".repeat(18));
    let told = |text: &str| scrubber().redact_told(text).1;
    assert_eq!(told("nothing"), Hidden::default());
    assert_eq!(told(SECRET), Hidden { known: true, tokens: false });
    assert_eq!(told(&token), Hidden { known: false, tokens: true });
    assert_eq!(told("postgres://me:hunter22@db"), Hidden::default(), "whose it is, nobody can say");
}

#[test]
fn redacting_twice_changes_nothing() {
    let text = format!("https://u:{SECRET}@h ghp_{} postgres://me:hunter22@db", "a".repeat(36));
    let once = scrubber().redact(&text);
    assert_eq!(scrubber().redact(&once), once);
}

proptest::proptest! {
    /// However a text is cut into pieces, as much is hidden as in one piece.
    #[test]
    fn pieces_are_redacted_as_the_whole(
        words in proptest::collection::vec(proptest::prop_oneof![
            "[ a-zé]{0,6}", "ghp_[a-z]{36}", "sk-ant-[a-z]{20,24}", "AKIA[A-Z]{15,17}", "Bearer [a-z0-9]{18,22}",
            proptest::strategy::Just(SECRET.to_owned()), proptest::strategy::Just("p\"ss wör".to_owned()),
            proptest::strategy::Just("https://me:hunter22@db/".to_owned()),
            proptest::strategy::Just("-----BEGIN PRIVATE KEY-----AA-----END PRIVATE KEY-----".to_owned()),
        ], 0..6),
        cuts in proptest::collection::vec(1_usize..9, 1..200),
    ) {
        let whole = words.concat();
        let scrubber = Arc::new(scrubber());
        let mut stream = ScrubStream::new(Arc::clone(&scrubber));
        let (mut shown, mut rest, mut cuts) = (String::new(), whole.as_str(), cuts.iter().cycle());
        while !rest.is_empty() {
            let at = rest.ceil_char_boundary(*cuts.next().unwrap());
            shown.push_str(&stream.push(rest.get(..at).unwrap()));
            rest = rest.get(at..).unwrap();
        }
        shown.push_str(&stream.finish());
        proptest::prop_assert_eq!(shown, scrubber.redact(&whole));
    }
}

#[test]
fn a_long_stream_without_a_break_is_not_read_again_for_every_piece() {
    let mut stream = ScrubStream::new(Arc::new(scrubber()));
    let mut shown = 0;
    for _ in 0..40_000 {
        shown += stream.push("eyJa").len();
    }
    assert_eq!(shown + stream.finish().len(), 160_000);
}
