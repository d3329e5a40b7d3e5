//! `grep`: lines that match a regular expression, by ripgrep's own searcher, bounded.
//!
//! # Security
//! Files whose names mark them as secrets are not searched, nor are files with several names, which may
//! be such a secret under another name: the result says how many. Name one with `read_file`, where it
//! is judged by itself. Links are not followed.

use std::fs::File;

use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkMatch};
use tollgate_call::places::protection;
use tollgate_survey::{ScopedDir, Sort};

use super::RESULT_CAP;
use super::glob::{Listing, PatternError, relative};
use super::walk::{Bounds, Ignored, Met, Next, walk};
use crate::held::{Held, HeldError};

/// The most matching lines in one result.
const MAX_MATCHES: usize = 500;
/// Bytes of a line that are shown.
const LINE_CAP: usize = 400;
/// Size limit of the compiled expression, so that a short one cannot take much memory.
const REGEX_CAP: usize = 4 * 1024 * 1024;
/// Files larger than this are not searched.
const FILE_CAP: u64 = 64 * 1024 * 1024;

/// What to look for, and in which files.
#[derive(Clone, Copy)]
pub struct Query<'a> {
    /// Regular expression, as ripgrep takes it.
    pub pattern: &'a str,
    /// Only files whose path or name matches this relative glob.
    pub glob: Option<&'a str>,
    /// Says of an absolute path that it is not to be searched; names that mark secrets never are.
    pub secret: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Query").field("pattern", &self.pattern).field("glob", &self.glob).finish_non_exhaustive()
    }
}

/// Searches the files beneath `dir`; what git ignores is left out.
///
/// # Errors
/// [`PatternError`] if the expression or the glob does not parse.
pub fn grep(dir: &ScopedDir, query: Query<'_>, bounds: Bounds) -> Result<Listing, PatternError> {
    let matcher = expression(query.pattern)?;
    let only = query.glob.map(relative).transpose()?;
    let mut search = Search::new(matcher);
    let told = walk(dir, bounds, Ignored::Skip, &mut |met| {
        let secret = protection(met.rel).is_some_and(|why| why.is_secret())
            || (query.secret)(&format!("{}/{}", dir.resolved(), met.rel));
        search.visit(met, only.as_ref(), secret)
    });
    Ok(search.finish(told.cut))
}

/// Searches one held file.
///
/// # Errors
/// [`GrepFileError`] if the expression does not parse or the file is not the judged one.
pub fn grep_file(held: &Held, pattern: &str) -> Result<Listing, GrepFileError> {
    let mut search = Search::new(expression(pattern)?);
    let (file, _) = held.open()?;
    let cut = search.file(&file, &held.label()) == Next::Stop;
    Ok(search.finish(cut))
}

/// Why one file could not be searched.
#[derive(Debug, thiserror::Error)]
pub enum GrepFileError {
    /// The expression does not parse.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The file is not what was judged.
    #[error(transparent)]
    Held(#[from] HeldError),
}

fn expression(pattern: &str) -> Result<RegexMatcher, PatternError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.size_limit(REGEX_CAP).dfa_size_limit(REGEX_CAP).line_terminator(Some(b'\n'));
    builder
        .build(pattern)
        .map_err(|error| PatternError::Invalid { pattern: pattern.to_owned(), why: error.to_string() })
}

struct Search {
    matcher: RegexMatcher,
    searcher: Searcher,
    text: String,
    count: usize,
    secret: u64,
    linked: u64,
    large: u64,
    failed: u64,
}

impl Search {
    fn new(matcher: RegexMatcher) -> Self {
        let mut searcher = SearcherBuilder::new();
        searcher
            .line_number(true)
            .memory_map(MmapChoice::never())
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(16 * 1024 * 1024));
        Self {
            matcher,
            searcher: searcher.build(),
            text: String::new(),
            count: 0,
            secret: 0,
            linked: 0,
            large: 0,
            failed: 0,
        }
    }

    fn visit(&mut self, met: &Met<'_>, only: Option<&GlobMatcher>, secret: bool) -> Next {
        if met.sort != Sort::File || only.is_some_and(|glob| !glob.is_match(met.rel) && !glob.is_match(met.name)) {
            return Next::On;
        }
        if secret {
            self.secret += 1;
            return Next::On;
        }
        let Ok(file) = met.dir.open_regular(met.name) else {
            self.failed += 1;
            return Next::On;
        };
        match rustix::fs::fstat(&file) {
            Ok(stat) if stat.st_nlink > 1 => self.linked += 1,
            Ok(stat) if u64::try_from(stat.st_size).unwrap_or(0) > FILE_CAP => self.large += 1,
            Ok(_) => return self.file(&file, met.rel),
            Err(_) => self.failed += 1,
        }
        Next::On
    }

    fn file(&mut self, file: &File, rel: &str) -> Next {
        let mut lines = Lines { rel, text: &mut self.text, count: &mut self.count, full: false };
        if self.searcher.search_file(&self.matcher, file, &mut lines).is_err() {
            self.failed += 1;
            return Next::On;
        }
        if lines.full { Next::Stop } else { Next::On }
    }

    fn finish(mut self, cut: bool) -> Listing {
        if self.count == 0 {
            self.text.push_str("[no match; what git ignores and binary files are not searched]\n");
        }
        if cut {
            self.text.push_str(&format!("[cut after {} lines: use a narrower pattern, path or glob]\n", self.count));
        }
        let left_out = [
            (self.secret, "protected file(s) not searched; read_file asks for one by name"),
            (self.linked, "hard-linked file(s) not searched; name one with path"),
            (self.large, "file(s) over 64 MB not searched"),
            (self.failed, "file(s) could not be searched"),
        ];
        for (number, what) in left_out.into_iter().filter(|(number, _)| *number > 0) {
            self.text.push_str(&format!("[{number} {what}]\n"));
        }
        Listing { text: self.text, count: self.count, truncated: cut }
    }
}

/// Collects matching lines as `path:number:line`.
struct Lines<'a> {
    rel: &'a str,
    text: &'a mut String,
    count: &'a mut usize,
    full: bool,
}

impl Sink for Lines<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        let line = String::from_utf8_lossy(found.bytes());
        let line = line.trim_end_matches(['\n', '\r']);
        let shown: String = line.chars().take(LINE_CAP).collect();
        let more = if shown.len() < line.len() { " … [line cut]" } else { "" };
        let row = format!("{}:{}:{shown}{more}\n", self.rel, found.line_number().unwrap_or(0));
        if *self.count >= MAX_MATCHES || self.text.len() + row.len() > RESULT_CAP - 1024 {
            self.full = true;
            return Ok(false);
        }
        self.text.push_str(&row);
        *self.count += 1;
        Ok(true)
    }
}
