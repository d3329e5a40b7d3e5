//! `edit_file`: replaces one exact text, or every one, and nothing else.

use std::io::Read;

use super::write::replace_with;
use super::{ChangeError, Changed, Record};
use crate::held::Held;

/// The largest file that is edited; larger ones are for commands.
const EDIT_CAP: u64 = 16 * 1024 * 1024;

/// Which occurrences are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The only one; several are an error.
    Only,
    /// All of them.
    Every,
}

/// Why an edit does not fit the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// There is nothing to look for.
    #[error("old_string is empty; give the text to replace, or use write_file")]
    Empty,
    /// The two texts are equal.
    #[error("old_string and new_string are equal; nothing would change")]
    Same,
    /// The text is not there.
    #[error("old_string was not found in `{path}`{hint}; read the file again and copy the text exactly")]
    NotFound {
        /// The file.
        path: String,
        /// What comes close, if anything.
        hint: &'static str,
    },
    /// The text is there more than once.
    #[error(
        "old_string was found {count} times in `{path}`, first in lines {lines}; add lines around it until it is unique, or set replace_all"
    )]
    Ambiguous {
        /// The file.
        path: String,
        /// How often.
        count: usize,
        /// The first few lines.
        lines: String,
    },
    /// The file is not text.
    #[error("`{0}` is not UTF-8 text; edit_file changes text only")]
    NotText(String),
    /// The file is too large.
    #[error("`{path}` has {size} bytes; edit_file changes files of at most {EDIT_CAP}")]
    TooLarge {
        /// The file.
        path: String,
        /// Its size.
        size: u64,
    },
}

/// Replaces `old` by `new` in the held file. Line ends stay as the file has them.
///
/// # Errors
/// [`EditError`] if the text does not fit, else as [`super::write::write`]; the file is then as it was.
pub fn edit(held: Held, old: &str, new: &str, which: Which, record: &Record<'_>) -> Result<Changed, ChangeError> {
    let text = content(&held)?;
    let edited = apply(&text, &held.label(), old, new, which)?;
    let before = record.undo.snapshot(&held)?;
    // The text was read before the snapshot: only if both are one version is the edit about it.
    if !before.state.is_content(text.as_bytes()) {
        return Err(crate::held::HeldError::Swapped(held.label()).into());
    }
    let mut changed = replace_with(held, before, edited.text.as_bytes(), record)?;
    changed.told = format!("{} replacement(s); {}", edited.count, changed.told);
    Ok(changed)
}

/// Reads the held file as text.
pub(crate) fn content(held: &Held) -> Result<String, ChangeError> {
    let (mut file, stat) = held.open()?;
    let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if size > EDIT_CAP {
        return Err(EditError::TooLarge { path: held.label(), size }.into());
    }
    let mut bytes = Vec::new();
    (&mut file).take(EDIT_CAP).read_to_end(&mut bytes).map_err(|error| held.io(error))?;
    String::from_utf8(bytes).map_err(|_| EditError::NotText(held.label()).into())
}

/// A text after its edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edited {
    pub(crate) text: String,
    pub(crate) count: usize,
}

/// Applies an edit to `text`, in memory.
pub(crate) fn apply(text: &str, path: &str, old: &str, new: &str, which: Which) -> Result<Edited, EditError> {
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::Same);
    }
    let (old, new) = in_line_ends_of(text, old, new);
    let count = text.matches(old.as_str()).count();
    match (count, which) {
        (0, _) => Err(EditError::NotFound { path: path.to_owned(), hint: hint(text, &old) }),
        (1, _) | (_, Which::Every) => Ok(Edited { text: text.replace(old.as_str(), &new), count }),
        (count, Which::Only) => {
            Err(EditError::Ambiguous { path: path.to_owned(), count, lines: first_lines(text, &old) })
        }
    }
}

/// In a file of CRLF lines, texts that a model gave with LF are meant with CRLF.
fn in_line_ends_of(text: &str, old: &str, new: &str) -> (String, String) {
    let crlf = text.matches("\r\n").count();
    let all_crlf = crlf > 0 && crlf == text.matches('\n').count();
    let widen = |part: &str| part.replace("\r\n", "\n").replace('\n', "\r\n");
    if all_crlf && !text.contains(old) {
        (widen(old), widen(new))
    } else if all_crlf {
        (old.to_owned(), widen(new))
    } else {
        (old.to_owned(), new.to_owned())
    }
}

fn hint(text: &str, old: &str) -> &'static str {
    let squeeze = |part: &str| part.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = squeeze(old);
    if wanted.is_empty() {
        ""
    } else if squeeze(text).contains(&wanted) {
        " (it is there with other spaces or line breaks)"
    } else if text.to_lowercase().contains(&old.to_lowercase()) {
        " (it is there in other upper or lower case)"
    } else {
        ""
    }
}

fn first_lines(text: &str, old: &str) -> String {
    let line = |at: usize| text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
    let lines: Vec<String> = text.match_indices(old).take(5).map(|(at, _)| line(at).to_string()).collect();
    lines.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn once(text: &str, old: &str, new: &str) -> Result<String, EditError> {
        apply(text, "f", old, new, Which::Only).map(|edited| edited.text)
    }

    #[test]
    fn a_unique_text_is_replaced_and_nothing_else() {
        assert_eq!(once("a b c", "b", "B").unwrap(), "a B c");
    }

    #[test]
    fn a_text_found_twice_is_refused_with_its_lines() {
        let error = once("x\ny\nx\n", "x", "z").unwrap_err();
        assert_eq!(error, EditError::Ambiguous { path: "f".into(), count: 2, lines: "1, 3".into() });
    }

    #[test]
    fn every_occurrence_is_replaced_when_asked() {
        assert_eq!(apply("x x", "f", "x", "y", Which::Every).unwrap(), Edited { text: "y y".into(), count: 2 });
    }

    #[test]
    fn crlf_files_stay_crlf() {
        assert_eq!(once("a\r\nb\r\nc\r\n", "a\nb", "1\n2\n3").unwrap(), "1\r\n2\r\n3\r\nc\r\n");
        assert_eq!(once("a\r\nb\r\n", "b", "x\ny").unwrap(), "a\r\nx\r\ny\r\n");
        assert_eq!(once("a\r\nb\r\n", "a\r\nb", "x\r\ny").unwrap(), "x\r\ny\r\n");
    }

    #[test]
    fn a_miss_says_what_comes_close() {
        let hint = |text, old| {
            let error = once(text, old, "!").unwrap_err();
            let EditError::NotFound { hint, .. } = error else { panic!("{error}") };
            hint
        };
        assert!(hint("fn  a()", "fn a()").contains("spaces"));
        assert!(hint("Hello", "hello").contains("case"));
        assert_eq!(hint("abc", "xyz"), "");
    }

    #[test]
    fn empty_and_equal_texts_are_refused() {
        assert_eq!(once("a", "", "b"), Err(EditError::Empty));
        assert_eq!(once("a", "a", "a"), Err(EditError::Same));
    }
}
