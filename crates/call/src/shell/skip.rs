//! Finds where quotes, substitutions and words end.

use super::scan::{End, MAX_ARITHMETIC, MAX_BRACE_STEPS, MAX_DEPTH, MAX_PIECES};

/// A reading position.
pub(super) struct Cursor<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    depth: u32,
    pub(super) commands: u32,
    pub(super) too_deep: bool,
    /// Words of commands read.
    pub(super) words: u32,
    /// Pieces seen on every level.
    pieces: u32,
    /// Opening braces seen in quotes.
    quoted_braces: usize,
    pub(super) heredocs: Vec<Heredoc<'t>>,
}

pub(super) struct Heredoc<'t> {
    pub(super) delimiter: std::borrow::Cow<'t, str>,
    pub(super) strip_tabs: bool,
}

impl<'t> Cursor<'t> {
    pub(super) const fn new(text: &'t str, at: usize) -> Self {
        Self {
            text,
            at,
            depth: 0,
            commands: 0,
            too_deep: false,
            words: 0,
            pieces: 0,
            quoted_braces: 0,
            heredocs: Vec::new(),
        }
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The text from `start` to here.
    pub(super) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.at).unwrap_or("")
    }

    /// Counts pieces; past the most that are read, stops at the end of the text.
    pub(super) fn count(&mut self, pieces: u32) {
        self.pieces = self.pieces.saturating_add(pieces);
        if self.pieces > MAX_PIECES {
            self.too_deep = true;
            self.at = self.text.len();
        }
    }

    /// Runs `inner` one level deeper, or stops at the end of the text where that is too deep.
    pub(super) fn nested(&mut self, inner: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_DEPTH {
            self.too_deep = true;
            self.at = self.text.len();
            return;
        }
        self.depth += 1;
        inner(self);
        self.depth -= 1;
    }

    /// Skips `'…'`, standing on the opening quote.
    pub(super) fn single(&mut self) {
        let start = self.at;
        self.at += 1;
        self.at = self.rest().find('\'').map_or(self.text.len(), |found| self.at + found + 1);
        self.braces_since(start);
    }

    /// Counts opening braces in quotes: for each, the parser looks to the end of the text. Past what takes too long,
    /// stops there.
    fn braces_since(&mut self, start: usize) {
        self.quoted_braces += self.since(start).bytes().filter(|byte| *byte == b'{').count();
        if self.quoted_braces.saturating_mul(self.text.len()) > MAX_BRACE_STEPS {
            self.too_deep = true;
            self.at = self.text.len();
        }
    }

    /// Skips `$'…'`, standing on the dollar.
    pub(super) fn ansi(&mut self) {
        let start = self.at;
        self.at += 2;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'\'' => break,
                _ => {}
            }
        }
        self.braces_since(start);
    }

    /// Skips `"…"`, standing on the opening quote.
    pub(super) fn double(&mut self) {
        let start = self.at;
        self.at += 1;
        self.nested(|this| {
            while let Some(byte) = this.peek() {
                match byte {
                    b'"' => {
                        this.at += 1;
                        return;
                    }
                    b'\\' => this.at += 2,
                    b'`' => this.backtick(),
                    b'$' => this.dollar(),
                    _ => this.at += 1,
                }
            }
        });
        self.braces_since(start);
    }

    /// Skips `` `…` ``, standing on the opening one.
    pub(super) fn backtick(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'\\' => self.at += 1,
                b'`' => return,
                _ => {}
            }
        }
    }

    /// Skips what a dollar begins: `$(…)`, `$((…))`, `${…}`, or the dollar alone.
    pub(super) fn dollar(&mut self) {
        match self.peek_at(1) {
            Some(b'(') => {
                if let Some(end) = self.arithmetic_end(self.at + 1) {
                    self.at = end;
                } else {
                    self.at += 2;
                    self.parens();
                }
            }
            Some(b'{') => {
                self.at += 2;
                self.braces();
            }
            _ => self.at += 1,
        }
    }

    /// Past the end of `((…))` whose first `(` stands at `open`, if that is what stands there
    /// rather than two groups.
    pub(super) fn arithmetic_end(&self, open: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        if bytes.get(open) != Some(&b'(') || bytes.get(open + 1) != Some(&b'(') {
            return None;
        }
        let mut level = 2_u32;
        for at in open + 2..open + 2 + MAX_ARITHMETIC {
            match bytes.get(at)? {
                b'(' => level += 1,
                b')' if level == 2 => return (bytes.get(at + 1) == Some(&b')')).then_some(at + 2),
                b')' => level -= 1,
                b'\'' | b'"' | b'`' | b'\\' | b'\n' => return None,
                _ => {}
            }
        }
        None
    }

    /// Skips to past the `)` that closes a substitution or subshell whose `(` was just passed.
    pub(super) fn parens(&mut self) {
        let commands = self.commands;
        self.count(1);
        self.nested(|this| this.script(End::Paren));
        self.commands = commands;
    }

    /// Skips to past the `}` that closes a `${` that was just passed.
    pub(super) fn braces(&mut self) {
        self.nested(|this| {
            while let Some(byte) = this.peek() {
                match byte {
                    b'}' => {
                        this.at += 1;
                        return;
                    }
                    b'\\' => this.at += 2,
                    b'\'' => this.single(),
                    b'"' => this.double(),
                    b'`' => this.backtick(),
                    b'$' => this.dollar(),
                    _ => this.at += 1,
                }
            }
        });
    }

    /// Skips one word, standing on its first byte.
    pub(super) fn word(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b';' | b'&' | b'|' | b'(' | b')' => {
                    if byte == b'(' && self.extglob() {
                        self.at += 1;
                        self.parens();
                        continue;
                    }
                    return;
                }
                b'<' | b'>' if self.peek_at(1) == Some(b'(') => {
                    self.at += 2;
                    self.parens();
                }
                b'<' | b'>' => return,
                b'{' | b'[' => {
                    self.count(1);
                    self.at += 1;
                }
                b'\\' => self.at += 2,
                b'\'' => self.single(),
                b'"' => self.double(),
                b'`' => self.backtick(),
                b'$' if self.peek_at(1) == Some(b'\'') => self.ansi(),
                b'$' => self.dollar(),
                _ => self.at += 1,
            }
        }
    }

    /// Whether the `(` here continues `?( *( +( @( !(` or `name=(`.
    fn extglob(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.text.as_bytes().get(at));
        matches!(before, Some(b'?' | b'*' | b'+' | b'@' | b'!' | b'='))
    }
}

/// Where the word that starts at `start` ends.
pub(super) fn word_end(text: &str, start: usize) -> usize {
    let mut cursor = Cursor::new(text, start);
    cursor.word();
    cursor.at.min(text.len())
}
