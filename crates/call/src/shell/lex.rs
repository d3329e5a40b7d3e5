//! Cuts one word of the input into the pieces that expansion works on.
//!
//! Quote removal happens here, so that "quoted" is a property of a piece and no later step has to
//! look at quotes again.

use super::scan::is_name;
use super::skip::Cursor;

/// Where a text stands in the original input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Its first byte is the input's byte at this offset.
    At(usize),
    /// It was decoded or built: all of it belongs to this range.
    Range(usize, usize),
}

impl Origin {
    /// The origin of the part that starts `offset` bytes into the text.
    pub(super) const fn plus(self, offset: usize) -> Self {
        match self {
            Self::At(at) => Self::At(at + offset),
            Self::Range(start, end) => Self::Range(start, end),
        }
    }

    /// The input range of `start..end` of the text.
    pub(super) const fn range(self, start: usize, end: usize) -> (usize, usize) {
        match self {
            Self::At(at) => (at + start, at + end),
            Self::Range(start, end) => (start, end),
        }
    }
}

/// A word, cut.
#[derive(Debug, Clone)]
pub(super) struct RawWord {
    pub(super) pieces: Vec<Piece>,
    pub(super) origin: (usize, usize),
    /// Where the text of a word that is one run of literal text stands in the input.
    pub(super) verbatim: Option<usize>,
}

/// A piece of a word.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) kind: PieceKind,
    pub(super) quoted: Quoted,
}

/// Whether quotes protect a piece from splitting and globbing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoted {
    Yes,
    No,
}

/// What a piece is.
#[derive(Debug, Clone)]
pub(super) enum PieceKind {
    /// Literal text.
    Text(String),
    /// `$name` or `${name…}`.
    Variable(String, Option<Modifier>),
    /// `$(…)`, `` `…` ``: a script whose output stands here.
    Command(String, Origin),
    /// `<(…)`, `>(…)`.
    Process(String, Origin),
    /// `$((…))`: a number.
    Arithmetic(RawWord),
    /// Anything else: what it is, and the words inside it.
    Other(String, RawWord),
}

/// What follows the name in `${name…}`.
#[derive(Debug, Clone)]
pub(super) struct Modifier {
    /// The operator, such as `:-` or `##`.
    pub(super) operator: String,
    /// Its operand.
    pub(super) operand: RawWord,
}

/// How text is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// A word of a command.
    Word,
    /// The inside of double quotes or of an expanding here-document.
    Quoted,
}

/// Cuts `text`, which stands at `origin`.
pub(super) fn cut(text: &str, origin: Origin, mode: Mode) -> RawWord {
    cut_deep(text, origin, mode, 0)
}

fn cut_deep(text: &str, origin: Origin, mode: Mode, depth: u32) -> RawWord {
    let quoted = if mode == Mode::Quoted { Quoted::Yes } else { Quoted::No };
    let mut cutter = Cutter { cursor: Cursor::new(text, 0), text, origin, pieces: Vec::new(), quoted, depth };
    cutter.run();
    let verbatim = cutter.verbatim(mode);
    RawWord { verbatim, pieces: cutter.pieces, origin: origin.range(0, text.len()) }
}

struct Cutter<'t> {
    cursor: Cursor<'t>,
    text: &'t str,
    origin: Origin,
    pieces: Vec<Piece>,
    quoted: Quoted,
    depth: u32,
}

impl<'t> Cutter<'t> {
    fn run(&mut self) {
        while let Some(byte) = self.cursor.peek() {
            match (byte, self.quoted) {
                (b'\\', _) => self.escape(),
                (b'\'', Quoted::No) => self.single(),
                (b'"', Quoted::No) => self.double(),
                (b'`', _) => self.backtick(),
                (b'$', _) => self.dollar(),
                (b'<' | b'>', Quoted::No) if self.cursor.peek_at(1) == Some(b'(') => self.process(),
                _ => self.plain(),
            }
        }
    }

    /// The input offset of the text, if the word is one literal run without escapes.
    fn verbatim(&self, mode: Mode) -> Option<usize> {
        let [Piece { kind: PieceKind::Text(text), .. }] = self.pieces.as_slice() else { return None };
        let Origin::At(at) = self.origin else { return None };
        if text == self.text {
            return Some(at);
        }
        let inside = self.text.get(1..self.text.len().saturating_sub(1))?;
        (mode == Mode::Word && text == inside).then_some(at + 1)
    }

    fn text(&mut self, text: &str, quoted: Quoted) {
        if let Some(Piece { kind: PieceKind::Text(last), quoted: before }) = self.pieces.last_mut()
            && *before == quoted
        {
            last.push_str(text);
            return;
        }
        self.push(PieceKind::Text(text.to_owned()), quoted);
    }

    fn push(&mut self, kind: PieceKind, quoted: Quoted) {
        self.pieces.push(Piece { kind, quoted });
    }

    fn plain(&mut self) {
        let start = self.cursor.at;
        let rest = self.cursor.rest();
        let length = rest
            .bytes()
            .skip(1)
            .position(|byte| matches!(byte, b'\\' | b'\'' | b'"' | b'`' | b'$' | b'<' | b'>'))
            .map_or(rest.len(), |found| found + 1);
        self.cursor.at += length;
        let text = self.cursor.since(start);
        self.text(text, self.quoted);
    }

    fn escape(&mut self) {
        let Some(next) = self.cursor.rest().chars().nth(1) else {
            self.cursor.at += 1;
            return self.text("\\", Quoted::Yes);
        };
        self.cursor.at += 1 + next.len_utf8();
        let mut buffer = [0; 4];
        let next_text = next.encode_utf8(&mut buffer);
        match (self.quoted, next) {
            (_, '\n') => {}
            (Quoted::Yes, '$' | '`' | '"' | '\\') | (Quoted::No, _) => self.text(next_text, Quoted::Yes),
            (Quoted::Yes, _) => {
                self.text("\\", Quoted::Yes);
                self.text(next_text, Quoted::Yes);
            }
        }
    }

    fn single(&mut self) {
        let start = self.cursor.at + 1;
        self.cursor.single();
        let text = self.text.get(start..self.cursor.at.saturating_sub(1)).unwrap_or("");
        self.text(text, Quoted::Yes);
    }

    fn double(&mut self) {
        let start = self.cursor.at + 1;
        self.cursor.double();
        let inside = self.text.get(start..self.cursor.at.saturating_sub(1)).unwrap_or("");
        let inner = self.nested(inside, start, Mode::Quoted);
        if inner.pieces.is_empty() {
            self.text("", Quoted::Yes);
        }
        for piece in inner.pieces {
            match piece.kind {
                PieceKind::Text(text) => self.text(&text, Quoted::Yes),
                kind @ (PieceKind::Variable(..)
                | PieceKind::Command(..)
                | PieceKind::Process(..)
                | PieceKind::Arithmetic(_)
                | PieceKind::Other(..)) => self.push(kind, Quoted::Yes),
            }
        }
    }

    fn backtick(&mut self) {
        let start = self.cursor.at;
        self.cursor.backtick();
        let inside = self.text.get(start + 1..self.cursor.at.saturating_sub(1)).unwrap_or("");
        if inside.contains('\\') {
            let (from, to) = self.origin.range(start, self.cursor.at);
            self.push(PieceKind::Command(unescape_backtick(inside), Origin::Range(from, to)), self.quoted);
        } else {
            self.push(PieceKind::Command(inside.to_owned(), self.origin.plus(start + 1)), self.quoted);
        }
    }

    fn process(&mut self) {
        let start = self.cursor.at + 2;
        self.cursor.at = start;
        self.cursor.parens();
        let inside = self.text.get(start..self.cursor.at.saturating_sub(1)).unwrap_or("");
        self.push(PieceKind::Process(inside.to_owned(), self.origin.plus(start)), Quoted::Yes);
    }

    fn dollar(&mut self) {
        let start = self.cursor.at;
        match self.cursor.peek_at(1) {
            Some(b'\'') if self.quoted == Quoted::No => {
                self.cursor.ansi();
                let inside = self.text.get(start + 2..self.cursor.at.saturating_sub(1)).unwrap_or("");
                self.text(&super::ansi::decode(inside), Quoted::Yes);
            }
            Some(b'"') if self.quoted == Quoted::No => self.cursor.at += 1,
            Some(b'(') => self.parenthesis(start),
            Some(b'{') => self.parameter(start),
            Some(b'[') => self.legacy_arithmetic(start),
            Some(byte) if byte == b'_' || byte.is_ascii_alphabetic() => self.named(start),
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.cursor.at += 2;
                let name = self.cursor.since(start + 1).to_owned();
                self.push(PieceKind::Variable(name, None), self.quoted);
            }
            _ => {
                self.cursor.at += 1;
                self.text("$", self.quoted);
            }
        }
    }

    fn named(&mut self, start: usize) {
        self.cursor.at += 1;
        while self.cursor.peek().is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric()) {
            self.cursor.at += 1;
        }
        let name = self.cursor.since(start + 1).to_owned();
        self.push(PieceKind::Variable(name, None), self.quoted);
    }

    fn parenthesis(&mut self, start: usize) {
        let arithmetic = self.cursor.arithmetic_end(start + 1).is_some();
        self.cursor.dollar();
        let cut = if arithmetic { 2 } else { 1 };
        let inside = self.text.get(start + 1 + cut..self.cursor.at.saturating_sub(cut)).unwrap_or("");
        if arithmetic {
            let inner = self.nested(inside, start + 3, Mode::Quoted);
            self.push(PieceKind::Arithmetic(inner), self.quoted);
        } else {
            self.push(PieceKind::Command(inside.to_owned(), self.origin.plus(start + 2)), self.quoted);
        }
    }

    fn legacy_arithmetic(&mut self, start: usize) {
        let length = self.cursor.rest().find(']').map_or(self.cursor.rest().len(), |found| found + 1);
        self.cursor.at += length;
        let inside = self.text.get(start + 2..self.cursor.at.saturating_sub(1)).unwrap_or("");
        let inner = self.nested(inside, start + 2, Mode::Quoted);
        self.push(PieceKind::Arithmetic(inner), self.quoted);
    }

    fn parameter(&mut self, start: usize) {
        self.cursor.dollar();
        let inside = self.text.get(start + 2..self.cursor.at.saturating_sub(1)).unwrap_or("");
        let (name, rest) = split_name(inside);
        let kind = if rest.is_empty() && !name.is_empty() {
            PieceKind::Variable(name.to_owned(), None)
        } else if let Some(operator) = operator(name, rest) {
            let at = inside.len() - rest.len() + operator.len();
            let mode = if self.quoted == Quoted::Yes { Mode::Quoted } else { Mode::Word };
            let operand = self.nested(inside.get(at..).unwrap_or(""), start + 2 + at, mode);
            PieceKind::Variable(name.to_owned(), Some(Modifier { operator: operator.to_owned(), operand }))
        } else {
            let inner = self.nested(inside, start + 2, Mode::Quoted);
            PieceKind::Other(format!("${{{inside}}}"), inner)
        };
        self.push(kind, self.quoted);
    }

    /// Cuts a part of this word; too deep inside, the rest is left unread and unknown.
    fn nested(&self, inside: &str, offset: usize, mode: Mode) -> RawWord {
        let origin = self.origin.plus(offset);
        if self.depth >= super::scan::MAX_DEPTH {
            let empty = RawWord { pieces: Vec::new(), origin: origin.range(0, inside.len()), verbatim: None };
            let kind = PieceKind::Other("nesting".to_owned(), empty.clone());
            return RawWord { pieces: vec![Piece { kind, quoted: Quoted::Yes }], ..empty };
        }
        cut_deep(inside, origin, mode, self.depth + 1)
    }
}

/// The name at the start of the inside of `${…}`, and the rest.
fn split_name(inside: &str) -> (&str, &str) {
    let length = inside.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
    let (name, rest) = inside.split_at_checked(length).unwrap_or((inside, ""));
    if is_name(name) || (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())) {
        return (name, rest);
    }
    let special = inside.len() == 1 && matches!(inside, "@" | "*" | "#" | "?" | "-" | "$" | "!");
    if special { (inside, "") } else { ("", inside) }
}

/// The operators whose meaning is known: defaults, alternatives, prefix and suffix removal.
fn operator(name: &str, rest: &str) -> Option<&'static str> {
    if name.is_empty() {
        return None;
    }
    [":-", ":=", ":+", ":?", "-", "=", "+", "?", "##", "#", "%%", "%"].into_iter().find(|known| rest.starts_with(known))
}

fn unescape_backtick(inside: &str) -> String {
    let mut text = String::with_capacity(inside.len());
    let mut marks = inside.chars().peekable();
    while let Some(mark) = marks.next() {
        if mark == '\\' && matches!(marks.peek(), Some('`' | '\\' | '$')) {
            text.extend(marks.next());
        } else {
            text.push(mark);
        }
    }
    text
}

impl RawWord {
    /// Whether it is `text`, unquoted.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.pieces.as_slice(), [Piece { kind: PieceKind::Text(only), quoted: Quoted::No }] if only == text)
    }

    /// A word that is `text` and nothing else.
    pub(super) fn text(text: String, origin: Origin) -> Self {
        let range = origin.range(0, text.len());
        let verbatim = match origin {
            Origin::At(at) => Some(at),
            Origin::Range(..) => None,
        };
        Self { pieces: vec![Piece { kind: PieceKind::Text(text), quoted: Quoted::Yes }], origin: range, verbatim }
    }
}
