//! What a text of SQL loses, and the clients that take one.

use super::super::super::ir::Word;
use super::super::row::Say;
use super::super::run::Use;
use crate::action::{DestroyClass, Flow, Peer, Why, WriteHow};

/// Says what a text of SQL loses or runs.
pub(super) fn sql(it: &mut Use<'_, '_, '_>, text: &str, at: &Word) {
    for statement in statements(text) {
        let upper = statement.to_ascii_uppercase();
        let words: Vec<&str> = upper
            .split(|mark: char| !mark.is_ascii_alphanumeric() && mark != '_')
            .filter(|word| !word.is_empty())
            .collect();
        if let Some(what) = loses(&words) {
            it.destroy(DestroyClass::Database, what);
        }
        if leaves_database(&statement, &upper, &words) {
            it.act_at(crate::action::ActionKind::Opaque(Why::Code("sql".to_owned())), at);
        }
        if matches!(words.as_slice(), ["GRANT" | "REVOKE", ..] | ["CREATE" | "ALTER", "USER" | "ROLE", ..]) {
            it.say(Say::Privilege("rights in a database"));
        }
    }
}

/// What a statement loses, in words.
fn loses(words: &[&str]) -> Option<String> {
    let has = |word: &str| words.contains(&word);
    let what = match words {
        ["DROP", kind, ..] => return Some(format!("drops a {}", kind.to_ascii_lowercase())),
        ["TRUNCATE", ..] => "empties a table",
        ["DELETE", ..] if !has("WHERE") => "deletes every row of a table",
        ["UPDATE", ..] if !has("WHERE") => "overwrites every row of a table",
        ["ALTER", ..] if has("DROP") => "drops part of a table",
        ["SELECT" | "INSERT", ..] => return None,
        _ if has("DROP") && (has("TABLE") || has("DATABASE") || has("SCHEMA")) => "drops something",
        ["CREATE", ..] => return None,
        _ if has("DELETE") && has("FROM") && !has("WHERE") => "deletes every row of a table",
        _ => return None,
    };
    Some(what.to_owned())
}

/// Whether a statement reads or writes files, or runs programs.
fn leaves_database(statement: &str, upper: &str, words: &[&str]) -> bool {
    const MARKS: [&str; 9] = [
        "PROGRAM '",
        "LOAD_FILE",
        "XP_CMDSHELL",
        "INTO OUTFILE",
        "LO_EXPORT",
        "PG_READ_FILE",
        "LOAD_EXTENSION",
        "SYS_EXEC",
        "INTO DUMPFILE",
    ];
    let start = statement.trim_start();
    MARKS.iter().any(|mark| upper.contains(mark))
        || (words.contains(&"DO") && (words.contains(&"LANGUAGE") || words.contains(&"EXECUTE")))
        || ["\\!", ".shell", ".system"].iter().any(|mark| start.starts_with(mark))
        || statement.contains("\\copy")
        || statement.contains("\\o |")
}

/// Statements without comments and quoted text.
pub(super) fn statements(text: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut marks = text.chars().peekable();
    let mut quote = None;
    let mut comment = false;
    while let Some(mark) = marks.next() {
        let next = marks.peek().copied();
        let Some(now) = all.last_mut() else { return all };
        match (quote, mark, next) {
            (Some(open), _, _) if mark == open => quote = None,
            (Some(_), _, _) => {
                if mark == '\'' {
                    now.push(mark);
                }
            }
            (None, '\n', _) if comment => comment = false,
            (None, _, _) if comment => {}
            (None, '-', Some('-')) => comment = true,
            (None, '/', Some('*')) => {
                let mut before = ' ';
                for inside in marks.by_ref() {
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
                now.push(' ');
            }
            (None, '\'' | '"', _) => {
                quote = Some(mark);
                now.push('\'');
            }
            (None, ';', _) => all.push(String::new()),
            (None, mark, _) => now.push(mark),
        }
    }
    all
}

pub(super) fn sql_word(it: &mut Use<'_, '_, '_>, word: &Word) {
    let text = word.shown();
    sql(it, &text, word);
    if word.why().is_some() {
        it.act_at(crate::action::ActionKind::Opaque(Why::Code("sql".to_owned())), word);
    }
}

pub(super) fn input(it: &mut Use<'_, '_, '_>) {
    match it.input.clone() {
        super::super::super::feed::Feed::Text { text, .. } => {
            let at = Word::literal_at(String::new(), it.span());
            sql(it, &text, &at);
        }
        super::super::super::feed::Feed::Stream { .. } => it.opaque(Why::Code("sql".to_owned())),
        super::super::super::feed::Feed::Outer => {}
    }
}

pub(super) fn sql_client(it: &mut Use<'_, '_, '_>) {
    let host = it.value("-h --host").or_else(|| it.operands(0).into_iter().find(|word| word.lead().contains("://")));
    match host {
        Some(host) if host.literal().is_some_and(|text| text.contains("://")) => {
            it.connect(Peer::Url(host.shown()), Flow::Session)
        }
        Some(host) if host.literal().is_some() => it.connect(Peer::Host(host.shown()), Flow::Session),
        Some(host) => it.connect(Peer::Opaque(host.why().cloned().unwrap_or(Why::Input)), Flow::Session),
        None => it.connect(Peer::Service("database".to_owned()), Flow::Session),
    }
    let texts = it.values("-c --command -e --execute -Q --query");
    let texts: Vec<Word> = texts.into_iter().chain(it.values("-q")).collect();
    texts.iter().for_each(|text| sql_word(it, text));
    for file in it.values("-f --file -i --init-file") {
        it.read(&file);
        it.act_at(crate::action::ActionKind::Opaque(Why::Code("sql".to_owned())), &file);
    }
    it.each_value("-o --output -L --log-file", |it, word| it.write(word, WriteHow::Replace));
    if texts.is_empty() && !it.has("-l --list -f --file") {
        input(it);
    }
}

pub(super) fn sqlite(it: &mut Use<'_, '_, '_>) {
    // Its long flags have one dash; operands are the file, then statements.
    let words: Vec<Word> = it.simple.words.get(1..).unwrap_or(&[]).to_vec();
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.lead() {
            "-cmd" | "-init" | "-separator" | "-newline" | "-nullvalue" | "-vfs" | "--cmd" | "--init" => {
                if let Some(value) = rest.next()
                    && word.lead().ends_with("cmd")
                {
                    sqlite_text(it, value);
                }
            }
            lead if lead.starts_with('-') => {}
            _ => operands.push(word.clone()),
        }
    }
    let read_only = words.iter().any(|word| matches!(word.literal(), Some("-readonly" | "--readonly")));
    let Some((file, texts)) = operands.split_first() else { return input(it) };
    let selects = !texts.is_empty() && texts.iter().all(|text| text.literal().is_some_and(selects));
    if read_only || selects || file.literal() == Some(":memory:") {
        it.read(file);
    } else {
        it.write(file, WriteHow::Change);
    }
    texts.iter().for_each(|text| sqlite_text(it, text));
    if texts.is_empty() {
        input(it);
    }
}

pub(super) fn selects(text: &str) -> bool {
    let text = text.trim_start().to_ascii_lowercase();
    [".schema", ".tables", ".dump", ".indexes", ".databases", "select", "pragma table", "explain", ".mode", ".headers"]
        .iter()
        .any(|start| text.starts_with(start))
        && !text.trim_end_matches([';', ' ']).contains(';')
}

pub(super) fn sqlite_text(it: &mut Use<'_, '_, '_>, text: &Word) {
    let shown = text.shown();
    if [
        ".shell", ".system", ".load", ".import", ".output", ".once", ".read", ".open", ".restore", ".save", ".backup",
        ".clone", ".log",
    ]
    .iter()
    .any(|verb| shown.trim_start().starts_with(verb))
    {
        it.act_at(crate::action::ActionKind::Opaque(Why::Code("sqlite command".to_owned())), text);
    }
    sqlite_files(it, &shown, text);
    sql_word(it, text);
}

/// Files that a statement names: `writefile('x', …)`, `ATTACH 'x'`, `VACUUM INTO 'x'`, `readfile('x')`.
fn sqlite_files(it: &mut Use<'_, '_, '_>, text: &str, at: &Word) {
    let lower = text.to_ascii_lowercase();
    for (mark, writes) in [("writefile", true), ("attach", true), ("vacuum", true), ("readfile", false)] {
        for (start, _) in lower.match_indices(mark) {
            let Some(name) = text.get(start..).and_then(|rest| rest.split(['\'', '"']).nth(1)) else { continue };
            let file = Word::literal_at(name, at.span.clone());
            if writes { it.write(&file, WriteHow::Change) } else { it.read(&file) }
        }
    }
}
