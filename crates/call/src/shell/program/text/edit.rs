//! Programs that change text, and the little languages of sed and awk.

use super::super::super::feed::Feed;
use super::super::super::ir::Word;
use super::super::row::{ALL, Pick, Say};
use super::super::run::Use;
use crate::action::{Why, WriteHow};

/// An awk program that only computes and prints.
pub(super) fn awk(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --file -i --include -E --exec", |it, word| {
        it.read(word);
        it.opaque(Why::Code("awk".to_owned()));
    });
    if it.has("-l --load") {
        it.say(Say::Hidden("awk"));
    }
    let given = it.has("-f --file -E --exec");
    let mut programs = it.values("-e --source");
    let from = usize::from(!given && programs.is_empty());
    programs.extend(it.operand(0).filter(|_| from == 1));
    for program in programs {
        match program.literal() {
            Some(text) if awk_is_pure(text) => {}
            Some(_) | None => it.opaque(program.why().cloned().unwrap_or_else(|| Why::Code("awk".to_owned()))),
        }
    }
    if it.has("-i --include") && it.value("-i --include").is_some_and(|word| word.literal() == Some("inplace")) {
        it.each(Pick::From(from), |it, word| it.write(word, WriteHow::Change));
    }
    for word in it.operands(from) {
        let assigns = super::super::super::scan::is_assignment(word.lead());
        if !assigns {
            it.read(&word);
        }
    }
}

/// No `system`, no pipes, no output to files, no `getline` from commands, no indirect calls.
pub(super) fn awk_is_pure(program: &str) -> bool {
    let code = without_strings(program);
    let redirect = code.split(['{', ';', '\n', '}']).any(|statement| {
        let statement = statement.trim_start();
        (statement.starts_with("print") || statement.contains(" print"))
            && statement.contains('>')
            && !statement.contains('(')
    });
    let quoted_redirect = code.contains(">\"") || code.contains("> \"") || code.contains(">>");
    let pipe = code.replace("||", "").contains('|');
    !redirect
        && !quoted_redirect
        && !pipe
        && !["system", "getline", "@load", "@include", "@", "/inet/", "close(", "ENVIRON"]
            .iter()
            .any(|word| code.contains(word))
}

/// The program with the inside of its strings and regular expressions left out.
pub(super) fn without_strings(program: &str) -> String {
    let mut code = String::with_capacity(program.len());
    let mut marks = program.chars();
    let mut quote = None;
    while let Some(mark) = marks.next() {
        match (quote, mark) {
            (Some(_), '\\') => {
                marks.next();
            }
            (Some(open), mark) if mark == open => {
                quote = None;
                code.push(mark);
            }
            (Some(_), _) => {}
            (None, '"') => {
                quote = Some('"');
                code.push('"');
            }
            (None, '/')
                if !code
                    .trim_end()
                    .ends_with(|before: char| before.is_alphanumeric() || matches!(before, ')' | ']' | '_' | '$')) =>
            {
                quote = Some('/');
            }
            (None, mark) => code.push(mark),
        }
    }
    code
}

pub(super) fn sed(it: &mut Use<'_, '_, '_>) {
    let mut scripts = it.values("-e --expression");
    let given = !scripts.is_empty() || it.has("-f --file");
    let from = usize::from(!given);
    scripts.extend(it.operand(0).filter(|_| !given));
    for script in it.values("-f --file") {
        it.read(&script);
        it.opaque(Why::Code("sed".to_owned()));
    }
    for script in &scripts {
        match script.literal() {
            Some(text) => sed_commands(it, text, script),
            None if script.why().is_some() && !script.lead().starts_with("s") => it.opaque(Why::Code("sed".to_owned())),
            None => {}
        }
    }
    let in_place = it.has("-i -I --in-place");
    it.each(Pick::From(from), |it, word| if in_place { it.write(word, WriteHow::Change) } else { it.read(word) });
}

/// Commands of a sed script that write files or run code: `w`, `W`, `e`, and `s///w`, `s///e`.
pub(super) fn sed_commands(it: &mut Use<'_, '_, '_>, text: &str, at: &Word) {
    for line in text.split(['\n', ';']) {
        let command = line.trim_start_matches(|mark: char| {
            mark.is_ascii_digit() || matches!(mark, ' ' | '\t' | ',' | '$' | '!' | '{' | '~' | '+')
        });
        let command = after_address(command);
        let mut marks = command.chars();
        match marks.next() {
            Some('e') => it.opaque(Why::Code("sed".to_owned())),
            Some('w' | 'W') => it.write(&Word::literal_at(marks.as_str().trim(), at.span.clone()), WriteHow::Replace),
            Some('r' | 'R') => it.read(&Word::literal_at(marks.as_str().trim(), at.span.clone())),
            Some('s') => substitution_flags(it, marks.as_str(), at),
            _ => {}
        }
    }
}

/// `/re/cmd` and `/a/,/b/cmd`: what follows the addresses.
pub(super) fn after_address(command: &str) -> &str {
    let mut rest = command;
    while let Some(inside) = rest.strip_prefix('/') {
        let Some(end) = unescaped(inside, '/') else { return rest };
        rest = inside.get(end + 1..).unwrap_or("").trim_start_matches(['I', 'M']);
        rest = rest.trim_start_matches(|mark: char| {
            mark.is_ascii_digit() || matches!(mark, ' ' | '\t' | ',' | '$' | '!' | '{')
        });
    }
    rest
}

pub(super) fn unescaped(text: &str, mark: char) -> Option<usize> {
    let mut escaped = false;
    text.char_indices().find_map(|(at, now)| {
        let hit = now == mark && !escaped;
        escaped = now == '\\' && !escaped;
        hit.then_some(at)
    })
}

pub(super) fn substitution_flags(it: &mut Use<'_, '_, '_>, rest: &str, at: &Word) {
    let Some(mark) = rest.chars().next() else { return };
    let after = rest.get(mark.len_utf8()..).unwrap_or("");
    let flags = unescaped(after, mark)
        .and_then(|end| after.get(end + mark.len_utf8()..))
        .and_then(|after| unescaped(after, mark).and_then(|end| after.get(end + mark.len_utf8()..)));
    let Some(flags) = flags else { return };
    let (plain, file) = flags.split_once('w').map_or((flags, None), |(plain, file)| (plain, Some(file)));
    if plain.contains('e') {
        it.opaque(Why::Code("sed".to_owned()));
    }
    if let Some(file) = file {
        it.write(&Word::literal_at(file.trim(), at.span.clone()), WriteHow::Replace);
    }
}

pub(super) fn vim(it: &mut Use<'_, '_, '_>) {
    for code in it.values("-c --cmd") {
        match code.literal() {
            Some("q" | "wq" | "qa" | "qa!" | "q!" | "x") => {}
            Some(text) => match text.trim_start_matches(':').strip_prefix('!') {
                Some(shell) => {
                    let shell = Word::literal_at(shell, code.span.clone());
                    it.code(&shell);
                    it.opaque(Why::Code("vim".to_owned()));
                }
                None => it.opaque(Why::Code("vim".to_owned())),
            },
            None => it.opaque(Why::Code("vim".to_owned())),
        }
    }
    it.each_value("-S -u -U -s", |it, word| {
        it.read(word);
        it.opaque(Why::Code("vim".to_owned()));
    });
    it.each(ALL, |it, word| {
        if word.lead().starts_with('+') {
            it.opaque(Why::Code("vim".to_owned()))
        } else {
            it.write(word, WriteHow::Change)
        }
    });
}

/// `less '+!CMD'`: what follows the plus is typed into it.
pub(super) fn less(it: &mut Use<'_, '_, '_>) {
    for word in it.simple.words.clone() {
        let typed = word.lead().trim_start_matches('+');
        if word.lead().starts_with('+') && typed.starts_with(['!', '|', '#']) {
            let at = word.lead().len() - typed.len() + 1;
            it.code(&word.without_lead(at));
            it.opaque(Why::Code("less".to_owned()));
        }
    }
}

/// `ed`'s own commands come from its input, and `!` begins one of the shell.
pub(super) fn ed(it: &mut Use<'_, '_, '_>) {
    if it.name != "ed" {
        return;
    }
    match it.input.clone() {
        Feed::Text { text, .. } => text.lines().for_each(|line| escape(it, line)),
        Feed::Stream { .. } => it.opaque(Why::Code("ed".to_owned())),
        Feed::Outer => {}
    }
}

fn escape(it: &mut Use<'_, '_, '_>, line: &str) {
    let Some((before, code)) = line.split_once('!') else { return };
    if before.bytes().all(|byte| byte.is_ascii_digit() || b" ,.$%;rweW".contains(&byte)) {
        it.code(&Word::literal_at(code, it.span()));
        it.opaque(Why::Code("ed".to_owned()));
    }
}
