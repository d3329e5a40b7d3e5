//! `read_file`: numbered lines of a text file, bounded in every direction, with a notice of what is left.

use std::io::{BufRead, BufReader};

use super::RESULT_CAP;
use crate::held::{Held, HeldError};

/// Lines returned when no limit is given.
pub const DEFAULT_LIMIT: u64 = 200;
/// The most lines returned at once.
pub const MAX_LIMIT: u64 = 2_000;
/// Bytes of a line that are shown.
const LINE_CAP: usize = 2_000;
/// Bytes at the start in which a NUL means that the file is binary.
const PROBE: usize = 8 * 1024;
/// The result leaves room for its own notice.
const BODY_CAP: usize = RESULT_CAP - 512;

/// Which lines are wanted: from 1, at most [`MAX_LIMIT`].
///
/// ```
/// use tollgate_act::files::read::Lines;
/// assert_eq!(Lines::of(None, None), Lines { offset: 1, limit: 200 });
/// assert_eq!(Lines::of(Some(9), Some(9_999)), Lines { offset: 9, limit: 2_000 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lines {
    /// The first, counted from 1.
    pub offset: u64,
    /// How many.
    pub limit: u64,
}

impl Lines {
    /// The lines that a call asks for; what it leaves out is the default.
    pub fn of(offset: Option<u64>, limit: Option<u64>) -> Self {
        Self { offset: offset.unwrap_or(1).max(1), limit: limit.unwrap_or(DEFAULT_LIMIT).clamp(1, MAX_LIMIT) }
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Numbered lines, then a notice in square brackets.
    pub text: String,
    /// Bytes of the whole file.
    pub size: u64,
    /// Whether something of the asked lines was left out.
    pub truncated: bool,
}

/// Reads `lines` of the held file.
///
/// # Errors
/// [`HeldError`] for what is not a regular file, or not the judged one. Never blocks on a FIFO.
pub fn read(held: &Held, lines: Lines) -> Result<Text, HeldError> {
    let (file, stat) = held.open()?;
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let mut source = BufReader::with_capacity(64 * 1024, file);
    let head = source.fill_buf().map_err(|error| held.io(error))?;
    if head.iter().take(PROBE).any(|byte| *byte == 0) {
        let text = format!("[`{}` is binary: {size} bytes, not shown; use a command that understands it]", held.spot());
        return Ok(Text { text, size, truncated: false });
    }
    let mut page = Page::new(lines);
    page.fill(&mut source).map_err(|error| held.io(error))?;
    Ok(page.finish(size))
}

/// Collects the wanted lines in bounded memory.
struct Page {
    wanted: Lines,
    text: String,
    number: u64,
    shown: u64,
    cut_lines: u64,
    replaced: bool,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    File,
    Limit,
    Cap,
}

/// One line: the bytes that are shown, and how many there were.
struct Line {
    head: Vec<u8>,
    length: u64,
}

impl Page {
    const fn new(wanted: Lines) -> Self {
        Self { wanted, text: String::new(), number: 0, shown: 0, cut_lines: 0, replaced: false, end: End::File }
    }

    fn fill(&mut self, source: &mut dyn BufRead) -> std::io::Result<()> {
        while let Some(line) = next_line(source)? {
            self.number += 1;
            if self.number < self.wanted.offset {
                continue;
            }
            if self.shown >= self.wanted.limit {
                self.end = End::Limit;
                break;
            }
            if !self.push(&line) {
                self.end = End::Cap;
                break;
            }
        }
        Ok(())
    }

    /// Adds a line, or says that the page is full.
    fn push(&mut self, line: &Line) -> bool {
        let shown = String::from_utf8_lossy(&line.head);
        self.replaced |= matches!(shown, std::borrow::Cow::Owned(_));
        let hidden = line.length.saturating_sub(line.head.len() as u64);
        let mut row = format!("{:>6}\t{shown}", self.number);
        if hidden > 0 {
            row.push_str(&format!(" … [line cut: {hidden} more bytes]"));
            self.cut_lines += 1;
        }
        row.push('\n');
        if self.text.len() + row.len() > BODY_CAP {
            return false;
        }
        self.text.push_str(&row);
        self.shown += 1;
        true
    }

    fn finish(mut self, size: u64) -> Text {
        let truncated = self.end == End::Cap || self.cut_lines > 0;
        for notice in self.notices(size) {
            self.text.push_str(&format!("[{notice}]\n"));
        }
        Text { text: self.text, size, truncated }
    }

    fn notices(&self, size: u64) -> Vec<String> {
        let next = self.wanted.offset + self.shown;
        let mut notices = Vec::new();
        match self.end {
            End::File if size == 0 => notices.push("the file is empty".to_owned()),
            End::File if self.shown == 0 => {
                notices.push(format!("the file has {} lines; there is no line {}", self.number, self.wanted.offset));
            }
            End::File => {}
            End::Limit => notices.push(format!("more follows: continue with offset {next}")),
            End::Cap => notices.push(format!("cut at {} KB: continue with offset {next}", RESULT_CAP / 1024)),
        }
        if self.cut_lines > 0 {
            notices.push(format!("{} line(s) longer than {LINE_CAP} bytes were cut", self.cut_lines));
        }
        if self.replaced {
            notices.push("some bytes are not UTF-8 and are shown as \u{fffd}".to_owned());
        }
        notices
    }
}

/// The next line without its end, keeping at most [`LINE_CAP`] bytes of it.
fn next_line(source: &mut dyn BufRead) -> std::io::Result<Option<Line>> {
    let mut line = Line { head: Vec::new(), length: 0 };
    let mut any = false;
    loop {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            return Ok(any.then(|| line.trimmed()));
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let part = end.and_then(|end| chunk.get(..end)).unwrap_or(chunk);
        let room = LINE_CAP.saturating_sub(line.head.len());
        line.head.extend(part.iter().take(room));
        line.length += part.len() as u64;
        let used = part.len() + usize::from(end.is_some());
        source.consume(used);
        if end.is_some() {
            return Ok(Some(line.trimmed()));
        }
    }
}

impl Line {
    /// Without the carriage return of a CRLF line, and without a character that the cut split.
    fn trimmed(mut self) -> Self {
        let whole = self.head.len() as u64 == self.length;
        if whole && self.head.last() == Some(&b'\r') {
            self.head.pop();
            self.length -= 1;
        } else if !whole
            && let Err(error) = std::str::from_utf8(&self.head)
            && error.error_len().is_none()
        {
            self.head.truncate(error.valid_up_to());
        }
        self
    }
}
