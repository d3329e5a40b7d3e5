//! Reading a file line by line in bounded memory.

use crate::chain::MAX_LINE_BYTES;
use std::io::{self, BufRead};

/// Holds one line, without its line feed.
pub(super) enum Line<'a> {
    /// It ends in a line feed.
    Whole(&'a [u8]),
    /// The file ends in the midst of it.
    Torn(&'a [u8]),
    /// It is longer than any record.
    TooLong,
}

/// Reads lines into one buffer.
pub(super) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new() }
    }

    /// Returns the next line, or `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.buffer.clear();
        let room = MAX_LINE_BYTES as u64 + 1;
        let read = io::Read::take(&mut self.reader, room).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        Ok(Some(match self.buffer.split_last() {
            Some((b'\n', line)) => Line::Whole(line),
            Some(_) | None if self.buffer.len() > MAX_LINE_BYTES => Line::TooLong,
            Some(_) | None => Line::Torn(&self.buffer),
        }))
    }

    /// Counts the lines that are left, the last one whole or not.
    pub(super) fn count_rest(&mut self) -> io::Result<u64> {
        let (mut lines, mut open) = (0_u64, false);
        loop {
            let chunk = self.reader.fill_buf()?;
            let Some(last) = chunk.last() else { break };
            lines += chunk.iter().filter(|b| **b == b'\n').count() as u64;
            open = *last != b'\n';
            let len = chunk.len();
            self.reader.consume(len);
        }
        Ok(lines + u64::from(open))
    }
}
