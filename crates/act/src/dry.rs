//! Dry run: says what would be done, and does nothing.

use similar::TextDiff;
use tollgate_gate::{Deed, EditScope};
use tollgate_survey::ScopedPath;

use crate::files::RESULT_CAP;
use crate::files::edit::{self, Which};
use crate::held::Held;

/// What a dry run makes of a deed.
pub(crate) enum Described {
    /// It would change something: this is what.
    Told(String),
    /// It changes nothing and may be done.
    Harmless(Box<Deed>),
}

/// Describes `deed`, unless it changes nothing.
pub(crate) fn describe(deed: Deed) -> Described {
    let told = match deed {
        Deed::Read { .. } | Deed::Glob { .. } | Deed::Grep { .. } | Deed::Inner(_) => {
            return Described::Harmless(Box::new(deed));
        }
        Deed::Run { script, cwd, timeout, .. } => {
            format!("would run in `{}`, for at most {} s:\n{}", cwd.resolved(), timeout.as_secs(), script.text())
        }
        Deed::Write { file, content } => write(file, &content),
        Deed::Edit { file, old, new, scope } => edit(file, &old, &new, scope),
        Deed::Delete { file } => delete(&file),
        Deed::Fetch { destination } => format!("would fetch {}", destination.url()),
        Deed::Send { to, subject, body } => format!("would send to {to}: {subject}\n\n{body}"),
    };
    Described::Told(cut(&format!("dry run, nothing was done: {told}"), RESULT_CAP))
}

fn write(file: ScopedPath, content: &str) -> String {
    let path = file.display().to_owned();
    if file.identity().is_none() {
        return format!("would create `{path}`\n{}", diff(&path, "", content));
    }
    match Held::of(file).map_err(|error| error.to_string()).and_then(|held| text(&held)) {
        Ok(old) => format!("would replace `{path}`\n{}", diff(&path, &old, content)),
        Err(error) => format!("would replace `{path}`, of which no diff can be shown: {error}"),
    }
}

fn edit(file: ScopedPath, old: &str, new: &str, scope: EditScope) -> String {
    let path = file.display().to_owned();
    let edited = Held::of(file).map_err(|error| error.to_string()).and_then(|held| {
        let before = text(&held)?;
        let after = edit::apply(&before, &path, old, new, which(scope)).map_err(|error| error.to_string())?;
        Ok(diff(&path, &before, &after.text))
    });
    match edited {
        Ok(diff) => format!("would edit `{path}`\n{diff}"),
        Err(error) => format!("would fail to edit `{path}`: {error}"),
    }
}

fn delete(file: &ScopedPath) -> String {
    match file.stat() {
        Some(look) => format!("would delete `{}` ({:?})", file.display(), look.kind),
        None => format!("would fail to delete `{}`: it does not exist", file.display()),
    }
}

fn text(held: &Held) -> Result<String, String> {
    edit::content(held).map_err(|error| error.to_string())
}

/// Which occurrences an edit means.
pub(crate) const fn which(scope: EditScope) -> Which {
    match scope {
        EditScope::Once => Which::Only,
        EditScope::All => Which::Every,
    }
}

/// A unified diff of one file.
///
/// ```
/// let diff = tollgate_act::dry::diff("notes.txt", "one\ntwo\n", "one\n2\n");
/// assert!(diff.contains("--- a/notes.txt") && diff.contains("-two\n+2\n"));
/// ```
pub fn diff(path: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().context_radius(3).header(&format!("a/{path}"), &format!("b/{path}")).to_string()
}

/// Cuts a text to at most `cap` bytes, saying so and keeping both ends.
pub(crate) fn cut(text: &str, cap: usize) -> String {
    if text.len() <= cap {
        return text.to_owned();
    }
    let half = cap.saturating_sub(64) / 2;
    let head = text.get(..text.floor_char_boundary(half)).unwrap_or_default();
    let tail = text.get(text.ceil_char_boundary(text.len() - half)..).unwrap_or_default();
    format!("{head}\n[{} bytes cut]\n{tail}", text.len() - head.len() - tail.len())
}
