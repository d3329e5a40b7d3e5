//! Known values, found in whatever spelling.

use std::ops::Range;

use aho_corasick::AhoCorasick;

use super::{forms, placeholder};

/// Says which values are known.
pub(super) enum Known {
    Nothing,
    Values(Values),
    /// They are too many to be searched for, so every text is hidden.
    Unsearchable,
}

/// Known values in every spelling, and what stands for each.
pub(super) struct Values {
    search: AhoCorasick,
    /// By number of the spelling: the secret's name, and its placeholder.
    names: Vec<(String, String)>,
    /// All spellings, sorted.
    forms: Vec<String>,
    longest: usize,
}

/// One find.
pub(super) struct Hit<'a> {
    pub(super) range: Range<usize>,
    pub(super) name: &'a str,
    pub(super) placeholder: &'a str,
}

impl Known {
    pub(super) fn of(secrets: &[(&str, &str)]) -> Self {
        let mut forms = Vec::new();
        let mut names = Vec::new();
        for (name, value) in secrets {
            for form in forms::of(value) {
                forms.push(form);
                names.push(((*name).to_owned(), placeholder(name, value)));
            }
        }
        if forms.is_empty() {
            return Self::Nothing;
        }
        let Ok(search) = AhoCorasick::new(&forms) else { return Self::Unsearchable };
        let longest = forms.iter().map(String::len).max().unwrap_or(0);
        forms.sort_unstable();
        Self::Values(Values { search, names, forms, longest })
    }

    /// Lists every find, overlapping ones too: of two secrets that share characters none may remain.
    pub(super) fn find(&self, text: &str) -> Vec<Hit<'_>> {
        match self {
            Self::Nothing => Vec::new(),
            Self::Values(values) => {
                let mut hits = values.find(text);
                hits.extend(values.find_wrapped(text));
                hits
            }
            Self::Unsearchable => {
                let name = "unsearchable";
                vec![Hit { range: 0..text.len(), name, placeholder: "[secret:unsearchable]" }]
            }
        }
    }

    /// Where, from the byte `from` on, the first spelling begins that the end of `text` cuts off; its
    /// length when there is none.
    pub(super) fn unfinished(&self, text: &str, from: usize) -> usize {
        match self {
            Self::Nothing => text.len(),
            Self::Values(values) => values.unfinished(text, from),
            Self::Unsearchable => from,
        }
    }
}

impl Values {
    fn find(&self, text: &str) -> Vec<Hit<'_>> {
        let hit = |found: aho_corasick::Match| {
            let (name, placeholder) = self.names.get(found.pattern().as_usize())?;
            Some(Hit { range: found.range(), name, placeholder })
        };
        self.search.find_overlapping_iter(text).filter_map(hit).collect()
    }

    /// `base64` and `xxd` break their lines: looks across line breaks.
    fn find_wrapped(&self, text: &str) -> Vec<Hit<'_>> {
        let lines = Lines::of(text);
        if lines.starts.len() < 2 {
            return Vec::new();
        }
        let mut hits = self.find(&lines.joined);
        hits.retain_mut(|hit| lines.spread(&mut hit.range));
        hits
    }

    fn unfinished(&self, text: &str, from: usize) -> usize {
        let first = text.len().saturating_sub(self.longest).max(from);
        let cut_off = |at: &usize| {
            let Some(tail) = text.get(*at..) else { return false };
            let next = self.forms.partition_point(|form| form.as_str() < tail);
            self.forms.get(next).is_some_and(|form| form.starts_with(tail))
        };
        (first..text.len()).find(cut_off).unwrap_or(text.len())
    }
}

/// A text without its line breaks.
struct Lines {
    joined: String,
    /// For each line: where it starts in the joined text, and where in the text.
    starts: Vec<(usize, usize)>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let mut lines = Self { joined: String::new(), starts: Vec::new() };
        if !text.contains('\n') {
            return lines;
        }
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            lines.starts.push((lines.joined.len(), at));
            lines.joined.push_str(line.trim_end_matches(['\n', '\r']));
            at += line.len();
        }
        lines
    }

    /// Translates a range of the joined text; says whether it spreads over a line break.
    fn spread(&self, range: &mut Range<usize>) -> bool {
        let line = |at: usize| self.starts.partition_point(|(joined, _)| *joined <= at).saturating_sub(1);
        let (first, last) = (line(range.start), line(range.end.saturating_sub(1)));
        let place = |line: usize, at: usize| self.starts.get(line).map(|(joined, text)| text + (at - joined));
        let (Some(start), Some(end)) = (place(first, range.start), place(last, range.end)) else { return false };
        *range = start..end;
        first != last
    }
}
