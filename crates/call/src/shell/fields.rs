//! Words that are being put together from pieces.

use super::ir::Part;
use crate::action::Why;

/// Longest word that is followed.
const MAX_WORD: usize = 65_536;
/// What a part that is no text counts for.
pub(super) const PART: usize = 64;

/// Words that are being put together.
pub(super) struct Fields {
    pub(super) done: Vec<Vec<Part>>,
    now: Vec<Part>,
    /// Whether `now` is a word even when empty, because it was quoted.
    pub(super) begun: bool,
    size: usize,
}

impl Fields {
    pub(super) const fn new() -> Self {
        Self { done: Vec::new(), now: Vec::new(), begun: false, size: 0 }
    }

    /// Whether more was put in than is followed; nothing is added any more.
    pub(super) const fn over(&self) -> bool {
        self.size > MAX_WORD
    }

    pub(super) fn text(&mut self, text: &str) {
        self.begun = true;
        self.size += text.len();
        if text.is_empty() || self.over() {
            return;
        }
        match self.now.last_mut() {
            Some(Part::Text(last)) => last.push_str(text),
            Some(Part::Glob(_) | Part::Opaque(_)) | None => self.now.push(Part::Text(text.to_owned())),
        }
    }

    pub(super) fn part(&mut self, part: &Part) {
        match part {
            Part::Text(text) => self.text(text),
            Part::Glob(_) | Part::Opaque(_) => {
                self.begun = true;
                self.size += PART;
                if !self.over() {
                    self.now.push(part.clone());
                }
            }
        }
    }

    pub(super) fn end(&mut self) {
        if self.begun {
            self.size += PART;
            self.done.push(std::mem::take(&mut self.now));
            self.begun = false;
        }
    }

    /// Adds unquoted literal text, whose pattern marks are live.
    pub(super) fn live(&mut self, text: &str) {
        if !text.contains(['*', '?', '[']) {
            return self.text(text);
        }
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '[']) {
            let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
            if !before.is_empty() {
                self.text(before);
            }
            let length = glob_length(after);
            let (mark, after) = after.split_at_checked(length).unwrap_or((after, ""));
            if mark == "[" {
                self.text(mark)
            } else {
                self.part(&Part::Glob(mark.to_owned()))
            }
            rest = after;
        }
        if !rest.is_empty() {
            self.text(rest);
        }
    }

    /// Adds the value of an unquoted expansion: split at blanks, patterns live.
    pub(super) fn split(&mut self, value: &[Part], blanks: &str) {
        for part in value {
            let Part::Text(text) = part else {
                self.part(part);
                continue;
            };
            let mut pieces = text.split(|mark| blanks.contains(mark));
            if let Some(first) = pieces.next().filter(|first| !first.is_empty()) {
                self.live(first);
            }
            for piece in pieces {
                if self.over() {
                    return;
                }
                self.end();
                if !piece.is_empty() {
                    self.live(piece);
                }
            }
        }
    }
}

/// Length of the pattern mark that `text` starts with; 1 for a `[` that nothing closes.
fn glob_length(text: &str) -> usize {
    if text.starts_with('[') { text.find(']').map_or(1, |end| end + 1) } else { 1 }
}

/// Unquoted literal text; `@(…)` and kin are patterns that are not followed.
pub(super) fn live_or_extended(text: &str, fields: &mut Fields) {
    let extended = ["@(", "?(", "*(", "+(", "!("].iter().any(|mark| text.contains(mark));
    if extended { fields.part(&Part::Opaque(Why::Expansion("extended pattern".to_owned()))) } else { fields.live(text) }
}
