//! `glob_files`: names that match a relative pattern, in order, bounded.

use globset::{GlobBuilder, GlobMatcher};
use tollgate_survey::{ScopedDir, Sort};

use super::walk::{Bounds, Ignored, Next, walk};

/// The most names in one result.
const MAX_NAMES: usize = 1_000;

/// Why a pattern cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It is absolute, or has a `..`.
    #[error("the pattern `{0}` must be relative and without `..`; set path to the directory to start in")]
    NotRelative(String),
    /// It does not parse.
    #[error("the pattern `{pattern}` is not valid: {why}")]
    Invalid {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        why: String,
    },
}

/// A list of names, or of lines, and whether there would have been more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// One a line, then a notice in square brackets.
    pub text: String,
    /// How many.
    pub count: usize,
    /// Whether something was left out.
    pub truncated: bool,
}

/// Lists the files and links beneath `dir` that match `pattern`; what git ignores is left out.
///
/// `*` stays within a component, `**` does not. Links are listed and not followed.
///
/// # Errors
/// [`PatternError`] if the pattern is absolute, climbs, or does not parse.
pub fn glob(dir: &ScopedDir, pattern: &str, bounds: Bounds) -> Result<Listing, PatternError> {
    let matcher = relative(pattern)?;
    let mut text = String::new();
    let mut count = 0;
    let told = walk(dir, bounds, Ignored::Skip, &mut |met| {
        if met.sort == Sort::Directory || !matcher.is_match(met.rel) {
            return Next::On;
        }
        if count >= MAX_NAMES || text.len() + met.rel.len() > super::RESULT_CAP - 512 {
            return Next::Stop;
        }
        count += 1;
        text.push_str(met.rel);
        text.push(if met.sort == Sort::Link { '@' } else { ' ' });
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
        Next::On
    });
    if count == 0 {
        text.push_str("[no file matches; what git ignores is not searched]\n");
    }
    if told.cut {
        text.push_str(&format!("[cut after {count} names: use a narrower pattern]\n"));
    }
    if told.unreadable > 0 {
        text.push_str(&format!("[{} directories could not be read]\n", told.unreadable));
    }
    Ok(Listing { text, count, truncated: told.cut })
}

/// Compiles a pattern that stays beneath its start.
pub(super) fn relative(pattern: &str) -> Result<GlobMatcher, PatternError> {
    let climbs = pattern.split('/').any(|part| part == "..");
    if pattern.starts_with('/') || climbs {
        return Err(PatternError::NotRelative(pattern.to_owned()));
    }
    let plain = pattern.strip_prefix("./").unwrap_or(pattern);
    let glob = GlobBuilder::new(plain).literal_separator(true).backslash_escape(true).build();
    let glob =
        glob.map_err(|error| PatternError::Invalid { pattern: pattern.to_owned(), why: error.kind().to_string() })?;
    Ok(glob.compile_matcher())
}
