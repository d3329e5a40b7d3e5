//! Where in a proposal something came from.

use std::borrow::Cow;

/// Points at a part of a proposal's arguments: a JSON pointer (RFC 6901) and a UTF-8 byte range in
/// the decoded string that the pointer names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// JSON pointer into the arguments, such as `/command`.
    pub pointer: Cow<'static, str>,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `start..end` in the string at `pointer`.
    pub fn new(pointer: impl Into<Cow<'static, str>>, start: usize, end: usize) -> Self {
        Self { pointer: pointer.into(), start: clamp(start), end: clamp(end) }
    }

    /// The whole of the string `text` at `pointer`.
    pub fn whole(pointer: impl Into<Cow<'static, str>>, text: &str) -> Self {
        Self::new(pointer, 0, text.len())
    }

    /// The part of `text` that this span covers, if it lies on character boundaries.
    pub fn slice<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.get(self.start as usize..self.end as usize)
    }
}

/// Inputs are bounded far below 4 GiB; a larger offset can only be a bug, and saturates.
fn clamp(offset: usize) -> u32 {
    u32::try_from(offset).unwrap_or(u32::MAX)
}
