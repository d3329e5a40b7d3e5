//! The size rule: files of at most 400 lines, functions of at most 40.
//!
//! Not counted: items under `#[cfg(test)]` or `#[test]`, and data tables. A data table is what lies
//! between the outer brackets of a `const` or `static` array, as long as it holds no `fn`, `let`,
//! `if`, `match`, `for` or `while`: rows are read one at a time and have no flow to follow.
//! Everything else counts, blank lines and comments too.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::exceptions::{EXCEPTIONS, Exception};
use super::tokens::{Token, Word, tokens};
use crate::command::{Failed, read};

const FILE_LINES: usize = 400;
const FUNCTION_LINES: usize = 40;

/// What was measured in one file.
#[derive(Debug, PartialEq, Eq)]
struct Measured {
    /// Lines that count.
    lines: usize,
    /// Functions by name with their lines.
    functions: Vec<(String, usize)>,
    /// Modules that only tests have, declared here and written elsewhere.
    test_modules: Vec<String>,
}

/// Complains about every file and function that is too large, and every exception that is not needed.
pub(crate) fn check(root: &Path) -> Result<Vec<String>, Failed> {
    let mut files = Vec::new();
    for top in ["crates", "xtask"] {
        sources(&root.join(top), &mut files)?;
    }
    let mut measured = Vec::new();
    for file in &files {
        measured.push((file.clone(), measure(&read(file)?)));
    }
    let tests = test_files(&measured);
    let mut used = BTreeSet::new();
    let mut complaints = Vec::new();
    for (file, found) in measured.iter().filter(|(file, _)| !tests.iter().any(|test| file.starts_with(test))) {
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().into_owned();
        complaints.extend(complain(&name, found, EXCEPTIONS, &mut used));
    }
    let idle = EXCEPTIONS.iter().enumerate().filter(|(at, _)| !used.contains(at));
    complaints
        .extend(idle.map(|(_, it)| format!("size: the exception for `{}` {} is not needed", it.file, it.function)));
    Ok(complaints)
}

/// Every Rust file below a `src` directory, in order.
fn sources(dir: &Path, found: &mut Vec<PathBuf>) -> Result<(), Failed> {
    let failed = |error| Failed::File { path: dir.to_owned(), error };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        entries.push(entry.map_err(failed)?.path());
    }
    entries.sort();
    for path in entries {
        let in_src = path.components().any(|part| part.as_os_str() == "src");
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, found)?;
        } else if in_src && path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    Ok(())
}

/// Files and directories of modules that were declared under `#[cfg(test)]`.
fn test_files(measured: &[(PathBuf, Measured)]) -> Vec<PathBuf> {
    let mut tests = Vec::new();
    for (file, found) in measured {
        let top = ["lib.rs", "main.rs", "mod.rs"].iter().any(|name| file.ends_with(name));
        let dir = if top { file.parent().map(Path::to_owned) } else { Some(file.with_extension("")) };
        for module in &found.test_modules {
            tests.extend(dir.iter().map(|dir| dir.join(format!("{module}.rs"))));
            tests.extend(dir.iter().map(|dir| dir.join(module)));
        }
    }
    tests
}

fn complain(file: &str, found: &Measured, exceptions: &[Exception], used: &mut BTreeSet<usize>) -> Vec<String> {
    let mut excepted = |function: &str| {
        let at = exceptions.iter().position(|it| it.file == file && it.function == function);
        used.extend(at);
        at.is_some_and(|at| exceptions.get(at).is_some_and(|it| !it.reason.is_empty()))
    };
    let mut complaints = Vec::new();
    if found.lines > FILE_LINES && !excepted("") {
        complaints.push(format!("size: `{file}` has {} lines; split it ({FILE_LINES} at most)", found.lines));
    }
    for (name, lines) in found.functions.iter().filter(|(_, lines)| *lines > FUNCTION_LINES) {
        if !excepted(name) {
            complaints
                .push(format!("size: `{name}` of `{file}` has {lines} lines; split it ({FUNCTION_LINES} at most)"));
        }
    }
    complaints
}

fn measure(text: &str) -> Measured {
    let words = tokens(text);
    let mut found = Measured { lines: 0, functions: Vec::new(), test_modules: Vec::new() };
    let mut skipped = BTreeSet::new();
    let mut spans = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if let Some(end) = test_item(&words, at) {
            found.test_modules.extend(declared_module(&words, at, end));
            skipped.extend(line(&words, at)..=line(&words, end));
            at = end + 1;
            continue;
        }
        if let Some((open, close)) = data_table(&words, at) {
            skipped.extend(line(&words, open) + 1..line(&words, close));
        }
        spans.extend(function(&words, at).map(|(name, close)| (name, line(&words, at)..=line(&words, close))));
        at += 1;
    }
    let count = |lines: std::ops::RangeInclusive<usize>| lines.filter(|number| !skipped.contains(number)).count();
    found.lines = count(1..=text.lines().count());
    found.functions = spans.into_iter().map(|(name, lines)| (name.to_owned(), count(lines))).collect();
    found
}

/// The last token of the item whose `#[cfg(test)]` or `#[test]` begins at `at`.
fn test_item(words: &[Token<'_>], at: usize) -> Option<usize> {
    let attribute_end = attribute(words, at)?;
    let inside: Vec<&str> = (at..attribute_end).filter_map(|i| name(words, i)).collect();
    let is_test = matches!(inside.as_slice(), ["test"] | ["cfg", "test"] | ["cfg", "all", "test", ..]);
    if !is_test {
        return None;
    }
    let mut next = attribute_end + 1;
    while let Some(end) = attribute(words, next) {
        next = end + 1;
    }
    item_end(words, next)
}

/// The `]` of the outer attribute that begins at `at`.
fn attribute(words: &[Token<'_>], at: usize) -> Option<usize> {
    (is_mark(words, at, '#') && is_mark(words, at + 1, '[')).then(|| closing(words, at + 1)).flatten()
}

/// The module's name, when the item from `at` to `end` is `mod name;`.
fn declared_module(words: &[Token<'_>], at: usize, end: usize) -> Option<String> {
    let is_declaration = is_mark(words, end, ';') && name(words, end.checked_sub(2)?) == Some("mod");
    is_declaration.then(|| (at..end).filter_map(|i| name(words, i)).next_back().map(str::to_owned)).flatten()
}

/// The brackets of an array that a `const` or `static` at `at` is set to, when it is only data.
fn data_table(words: &[Token<'_>], at: usize) -> Option<(usize, usize)> {
    let constant = matches!(name(words, at), Some("const" | "static")) && name(words, at + 1).is_some();
    let end = constant.then(|| item_end_after_value(words, at)).flatten()?;
    let equals = (at..end).find(|i| is_mark(words, *i, '='))?;
    let open = (equals + 1..end).find(|i| !is_mark(words, *i, '&'))?;
    let close = is_mark(words, open, '[').then(|| closing(words, open)).flatten()?;
    let flows = |i| matches!(name(words, i), Some("fn" | "let" | "if" | "match" | "for" | "while"));
    (!(open..close).any(flows)).then_some((open, close))
}

/// The `;` that ends a constant, braces within it passed over.
fn item_end_after_value(words: &[Token<'_>], at: usize) -> Option<usize> {
    let mut next = at;
    while next < words.len() {
        if is_mark(words, next, ';') {
            return Some(next);
        }
        next = closing(words, next).unwrap_or(next) + 1;
    }
    None
}

/// The name of the function whose `fn` is at `at`, and the brace that closes its body.
fn function<'a>(words: &[Token<'a>], at: usize) -> Option<(&'a str, usize)> {
    let named = (name(words, at) == Some("fn")).then(|| name(words, at + 1)).flatten()?;
    let end = item_end(words, at)?;
    is_mark(words, end, '}').then_some((named, end))
}

/// The `;` or the closing brace that ends the item at `at`.
fn item_end(words: &[Token<'_>], at: usize) -> Option<usize> {
    let mut next = at;
    while next < words.len() {
        if is_mark(words, next, ';') {
            return Some(next);
        }
        let close = closing(words, next);
        if is_mark(words, next, '{') {
            return close;
        }
        next = close.unwrap_or(next) + 1;
    }
    None
}

/// The mark that closes the bracket at `at`.
fn closing(words: &[Token<'_>], at: usize) -> Option<usize> {
    let opens = |word| matches!(word, Word::Mark('(' | '[' | '{'));
    let closes = |word| matches!(word, Word::Mark(')' | ']' | '}'));
    let mut depth = 0_usize;
    for (i, token) in words.iter().enumerate().skip(at) {
        if opens(token.word) {
            depth += 1;
        } else if closes(token.word) {
            depth = depth.checked_sub(1)?;
        }
        if depth == 0 {
            return (i > at).then_some(i);
        }
    }
    None
}

fn name<'a>(words: &[Token<'a>], at: usize) -> Option<&'a str> {
    match words.get(at)?.word {
        Word::Name(name) => Some(name),
        Word::Mark(_) | Word::Literal => None,
    }
}

fn is_mark(words: &[Token<'_>], at: usize, mark: char) -> bool {
    words.get(at).is_some_and(|token| token.word == Word::Mark(mark))
}

fn line(words: &[Token<'_>], at: usize) -> usize {
    words.get(at).map_or(0, |token| token.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn functions(text: &str) -> Vec<(String, usize)> {
        measure(text).functions
    }

    #[test]
    fn a_function_is_measured_from_its_first_line_to_its_last() {
        let text =
            "fn a() {\n    b();\n}\n\nimpl X {\n    fn c(&self,\n        d: [u8; { 1 }],\n    ) -> Y {\n    }\n}\n";
        assert_eq!(functions(text), [("a".to_owned(), 3), ("c".to_owned(), 4)]);
    }

    #[test]
    fn a_declaration_and_a_function_type_are_not_functions() {
        assert_eq!(functions("trait T { fn a(&self); }\ntype F = fn(u8) -> u8;\n"), []);
    }

    #[test]
    fn braces_in_text_do_not_end_a_function() {
        assert_eq!(functions("fn a() {\n    b(\"}\"); // }\n    c('}');\n}\n"), [("a".to_owned(), 4)]);
    }

    #[test]
    fn tests_do_not_count() {
        let text =
            "fn a() {}\n#[cfg(test)]\n#[path = \"x.rs\"]\nmod tests {\n    fn b() {\n    }\n}\n#[test]\nfn c() {\n}\n";
        assert_eq!(measure(text), Measured { lines: 1, functions: vec![("a".to_owned(), 1)], test_modules: vec![] });
    }

    #[test]
    fn what_is_not_only_for_tests_counts() {
        let text = "#[cfg(not(test))]\nmod a {\n}\n#[cfg(unix)]\nfn b() {}\n";
        assert_eq!(measure(text).lines, 5);
    }

    #[test]
    fn a_test_module_in_a_file_of_its_own_is_named() {
        assert_eq!(measure("#[cfg(test)]\nmod tests;\nmod real;\n").test_modules, ["tests"]);
        let declared = Measured { lines: 1, functions: vec![], test_modules: vec!["tests".to_owned()] };
        assert_eq!(test_files(&[("a/b.rs".into(), declared)]), [PathBuf::from("a/b/tests.rs"), "a/b/tests".into()]);
    }

    #[test]
    fn rows_of_a_table_do_not_count() {
        let text = "const A: &[&str] = &[\n    \"a\",\n    \"b\",\n];\nstatic B: [u8; 2] = [\n    1,\n    2,\n];\n";
        assert_eq!(measure(text).lines, 4);
    }

    #[test]
    fn a_table_with_flow_in_it_counts() {
        let text = "const A: &[fn()] = &[\n    {\n        fn a() {}\n        a\n    },\n];\n";
        assert_eq!(measure(text).lines, 6);
        assert_eq!(measure("const fn a() -> [u8; 2] {\n    [\n        1,\n        2,\n    ]\n}\n").lines, 6);
    }

    #[test]
    fn the_table_of_a_function_does_not_make_the_function_long() {
        let text = "fn a() {\n    const B: [u8; 2] = [\n        1,\n        2,\n    ];\n}\n";
        assert_eq!(measure(text).lines, 4);
        assert_eq!(functions(text), [("a".to_owned(), 4)]);
    }

    #[test]
    fn an_exception_is_for_one_file_and_needs_a_reason() {
        let found = Measured { lines: 401, functions: vec![("f".to_owned(), 41)], test_modules: vec![] };
        let exception = |file, function, reason| Exception { file, function, reason };
        let left = |exceptions: &[Exception]| complain("a.rs", &found, exceptions, &mut BTreeSet::new()).len();
        assert_eq!(left(&[]), 2);
        assert_eq!(left(&[exception("a.rs", "", "one state machine")]), 1);
        assert_eq!(left(&[exception("a.rs", "f", "")]), 2);
        assert_eq!(left(&[exception("b.rs", "f", "elsewhere")]), 2);
    }

    #[test]
    fn unbalanced_text_is_measured_without_a_crash() {
        for text in ["fn a() {", "}", "#[cfg(test)]", "const A: &[u8] = &[", "fn", "#["] {
            measure(text);
        }
    }
}
