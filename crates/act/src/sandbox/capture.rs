//! Bounded capture of an output stream.

use std::collections::VecDeque;

/// Holds the head and the tail of an output stream and counts what fell between.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, at most half of the cap.
    pub head: Vec<u8>,
    /// The last bytes, at most half of the cap; empty while everything fits in `head`.
    pub tail: Vec<u8>,
    /// How many bytes between the two were dropped.
    pub dropped: u64,
}

impl Captured {
    /// Joins head and tail, with one line saying how much is missing where something is.
    #[must_use]
    pub fn joined(&self) -> Vec<u8> {
        let mut all = self.head.clone();
        if self.dropped > 0 {
            all.extend_from_slice(format!("\n[{} bytes dropped]\n", self.dropped).as_bytes());
        }
        all.extend_from_slice(&self.tail);
        all
    }

    /// Joins as text, with unreadable bytes replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.joined()).into_owned()
    }
}

/// Collects a stream in memory of at most `cap` bytes.
#[derive(Debug)]
pub(super) struct Capture {
    head: Vec<u8>,
    head_cap: usize,
    tail: VecDeque<u8>,
    tail_cap: usize,
    dropped: u64,
}

impl Capture {
    pub(super) fn new(cap: usize) -> Self {
        let tail_cap = cap / 2;
        Self { head: Vec::new(), head_cap: cap - tail_cap, tail: VecDeque::new(), tail_cap, dropped: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at_checked(self.head_cap - self.head.len()).unwrap_or((bytes, &[]));
        self.head.extend_from_slice(first);
        // Only the end of a large chunk can survive; the rest need not pass through the queue.
        let surplus = rest.len().saturating_sub(self.tail_cap);
        let kept = rest.get(surplus..).unwrap_or_default();
        self.tail.extend(kept);
        let excess = self.tail.len().saturating_sub(self.tail_cap);
        self.tail.drain(..excess);
        self.dropped += (surplus + excess) as u64;
    }

    pub(super) fn finish(self) -> Captured {
        Captured { head: self.head, tail: self.tail.into(), dropped: self.dropped }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(cap: usize, chunks: &[&[u8]]) -> Captured {
        let mut capture = Capture::new(cap);
        chunks.iter().for_each(|chunk| capture.push(chunk));
        capture.finish()
    }

    #[test]
    fn what_fits_is_kept_whole() {
        let all = captured(8, &[b"abc", b"defgh"]);
        assert_eq!((all.joined(), all.dropped), (b"abcdefgh".to_vec(), 0));
    }

    #[test]
    fn the_middle_is_dropped_and_counted_however_it_is_chunked() {
        let text: Vec<u8> = (0..=255).collect();
        let whole = captured(10, &[&text]);
        let single: Vec<&[u8]> = text.chunks(1).collect();
        assert_eq!(whole, captured(10, &single));
        assert_eq!((whole.head.as_slice(), whole.tail.as_slice(), whole.dropped), (&text[..5], &text[251..], 246));
    }

    #[test]
    fn a_cap_of_nothing_keeps_nothing_and_still_counts() {
        assert_eq!(captured(0, &[b"abc"]), Captured { dropped: 3, ..Captured::default() });
    }
}
