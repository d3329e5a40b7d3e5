//! Expansion: a word as cut becomes the words that the command would get.

use super::braces::{self, Braces};
use super::feed::Feed;
use super::fields::{Fields, PART, live_or_extended};
use super::ir::{Part, Word};
use super::lex::{Modifier, Origin, Piece, PieceKind, Quoted, RawWord};
use super::pattern;
use super::scope::Value;
use super::walk::Reader;
use crate::action::Why;

impl Reader<'_> {
    /// Expands words as the arguments of a command.
    pub(super) fn words(&mut self, raw: &[RawWord]) -> Vec<Word> {
        let mut words = Vec::with_capacity(raw.len());
        for word in raw {
            match braces::expand(word) {
                Braces::None => self.word_into(word, &mut words),
                Braces::Words(all) if self.room(all.len() * 16) => {
                    all.iter().for_each(|word| self.word_into(word, &mut words))
                }
                Braces::Words(_) | Braces::TooMany => {
                    words.push(Word::opaque_at(Why::Limit("brace expansion".to_owned()), self.span(word.origin)))
                }
            }
        }
        words
    }

    /// Expands a word that stays one word: an assignment, a redirection target, a here-document.
    pub(super) fn one(&mut self, raw: &RawWord) -> Word {
        if self.spent() {
            return self.too_long(raw);
        }
        let mut fields = Fields::new();
        for (at, piece) in raw.pieces.iter().enumerate() {
            match (&piece.kind, piece.quoted) {
                (PieceKind::Text(text), Quoted::No) if at == 0 && (text.contains('/') || raw.pieces.len() == 1) => {
                    let rest = self.tilde(text, &mut fields);
                    fields.text(rest);
                }
                (PieceKind::Text(text), Quoted::Yes | Quoted::No) => fields.text(text),
                (kind, _) => {
                    let quoted = Piece { kind: kind.clone(), quoted: Quoted::Yes };
                    self.piece(&quoted, &mut fields);
                }
            }
        }
        if fields.over() {
            return self.too_long(raw);
        }
        fields.end();
        let parts = fields.done.into_iter().next().unwrap_or_default();
        self.finish(parts, raw)
    }

    fn word_into(&mut self, raw: &RawWord, words: &mut Vec<Word>) {
        if self.spent() {
            return words.push(self.too_long(raw));
        }
        let mut fields = Fields::new();
        for (at, piece) in raw.pieces.iter().enumerate() {
            match (&piece.kind, piece.quoted) {
                (PieceKind::Text(text), Quoted::No) if at == 0 && (text.contains('/') || raw.pieces.len() == 1) => {
                    let rest = self.tilde(text, &mut fields);
                    live_or_extended(rest, &mut fields);
                }
                (PieceKind::Text(text), Quoted::No) => live_or_extended(text, &mut fields),
                (PieceKind::Text(text), Quoted::Yes) => fields.text(text),
                (
                    PieceKind::Variable(..)
                    | PieceKind::Command(..)
                    | PieceKind::Process(..)
                    | PieceKind::Arithmetic(_)
                    | PieceKind::Other(..),
                    _,
                ) => self.piece(piece, &mut fields),
            }
        }
        if fields.over() {
            return words.push(self.too_long(raw));
        }
        fields.end();
        for parts in fields.done {
            let word = self.finish(parts, raw);
            words.push(word);
        }
    }

    fn finish(&mut self, parts: Vec<Part>, raw: &RawWord) -> Word {
        let span = self.span(raw.origin);
        let size = |part: &Part| if let Part::Text(text) = part { text.len() } else { PART };
        self.room(parts.iter().map(size).sum());
        let verbatim = raw.verbatim.filter(|_| matches!(parts.as_slice(), [Part::Text(_)]));
        Word { parts, span, verbatim: verbatim.and_then(|at| u32::try_from(at).ok()) }
    }

    fn too_long(&self, raw: &RawWord) -> Word {
        Word::opaque_at(Why::Limit("expanded text".to_owned()), self.span(raw.origin))
    }

    /// Puts in the home directory for a `~` at the start of a word; returns the text after it.
    fn tilde<'t>(&self, text: &'t str, fields: &mut Fields) -> &'t str {
        let Some(rest) = text.strip_prefix('~') else { return text };
        let (user, path) = rest.find('/').and_then(|at| rest.split_at_checked(at)).unwrap_or((rest, ""));
        match user {
            "" => fields.text(self.setting.home),
            "+" => fields.text(self.scope.cwd.as_deref().unwrap_or("~+")),
            "root" => fields.text("/root"),
            "-" => match self.scope.previous.as_deref() {
                Some(previous) => fields.text(previous),
                None => return text,
            },
            name if name == self.setting.user => fields.text(self.setting.home),
            name if name.starts_with(|mark: char| mark == '_' || mark.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')) =>
            {
                fields.text("/home/");
                fields.text(name);
            }
            _ => return text,
        }
        path
    }

    fn piece(&mut self, piece: &Piece, fields: &mut Fields) {
        match &piece.kind {
            PieceKind::Text(text) => fields.text(text),
            PieceKind::Variable(name, modifier) => self.variable(name, modifier.as_ref(), piece.quoted, fields),
            PieceKind::Command(text, origin) => {
                let value = self.substitute(text, *origin);
                self.place(&value, piece.quoted, fields);
            }
            PieceKind::Process(text, origin) => {
                let feed = self.substitution(text, *origin);
                let name = self.descriptor(feed);
                fields.text(&name);
            }
            PieceKind::Arithmetic(inner) => {
                let inner = inner.clone();
                self.arithmetic(&inner);
                fields.part(&Part::Glob("*".to_owned()));
            }
            PieceKind::Other(what, inner) => {
                let inner = self.one(&inner.clone());
                self.other(what, &inner, piece.quoted, fields);
            }
        }
    }

    fn place(&self, value: &[Part], quoted: Quoted, fields: &mut Fields) {
        match quoted {
            Quoted::Yes => {
                fields.begun = true;
                value.iter().for_each(|part| fields.part(part));
            }
            Quoted::No => match self.scope.lookup("IFS", self.setting) {
                Value::Parts(parts) => match parts.as_slice() {
                    [] => fields.split(value, ""),
                    [Part::Text(blanks)] => fields.split(value, blanks),
                    [Part::Glob(_) | Part::Opaque(_)] | [_, _, ..] => {
                        fields.part(&Part::Opaque(Why::Variable("IFS".to_owned())))
                    }
                },
                Value::List(_) | Value::Unknown(_) => fields.part(&Part::Opaque(Why::Variable("IFS".to_owned()))),
            },
        }
    }

    fn variable(&mut self, name: &str, modifier: Option<&Modifier>, quoted: Quoted, fields: &mut Fields) {
        if fields.over() {
            return;
        }
        let operand = modifier.map(|modifier| self.one(&modifier.operand.clone()));
        if matches!(name, "@" | "*") && modifier.is_none() {
            return self.arguments(quoted, fields);
        }
        self.taint_from(name);
        let value = self.value(name);
        let value = match (modifier, operand) {
            (Some(modifier), Some(operand)) => self.modified(name, value, &modifier.operator, &operand),
            _ => value,
        };
        match value {
            Value::Parts(parts) => self.place(&parts, quoted, fields),
            Value::List(list) => self.place(list.first().map_or(&[], Vec::as_slice), quoted, fields),
            Value::Unknown(why) => fields.part(&Part::Opaque(why)),
        }
    }

    /// The value of a variable or positional parameter.
    pub(super) fn value(&self, name: &str) -> Value {
        let Ok(index) = name.parse::<usize>() else { return self.scope.lookup(name, self.setting) };
        match &self.scope.arguments {
            Some(arguments) if index > 0 => {
                Value::Parts(arguments.get(index - 1).map(|word| word.parts.clone()).unwrap_or_default())
            }
            Some(_) | None => Value::Unknown(Why::Variable(name.to_owned())),
        }
    }

    fn arguments(&self, quoted: Quoted, fields: &mut Fields) {
        let Some(arguments) = &self.scope.arguments else {
            return fields.part(&Part::Opaque(Why::Variable("@".to_owned())));
        };
        for (at, word) in arguments.iter().enumerate() {
            if at > 0 {
                fields.end();
            }
            self.place(&word.parts, quoted, fields);
        }
    }

    fn modified(&mut self, name: &str, value: Value, operator: &str, operand: &Word) -> Value {
        if matches!(operator, ":=" | "=") {
            self.default_given(name, &value, operand);
        }
        let unknown = Value::Unknown(Why::Variable(name.to_owned()));
        let known = match &value {
            Value::Parts(parts) => Word { parts: parts.clone(), ..operand.clone() },
            Value::List(_) | Value::Unknown(_) => return unknown,
        };
        let Some(text) = known.literal().map(str::to_owned) else { return unknown };
        let operand_value = Value::Parts(operand.parts.clone());
        match operator {
            ":-" | ":=" | "-" | "=" | ":?" | "?" if !text.is_empty() || !operator.starts_with(':') => value,
            ":=" => {
                self.scope.set(name, operand_value.clone());
                operand_value
            }
            ":-" => operand_value,
            ":+" if text.is_empty() => Value::Parts(Vec::new()),
            ":+" | "+" => operand_value,
            "#" | "##" | "%" | "%%" => match operand.literal() {
                Some(pattern) => pattern::remove(&text, operator, pattern)
                    .map_or(unknown, |text| Value::Parts(vec![Part::Text(text)])),
                None => unknown,
            },
            _ => unknown,
        }
    }

    /// `${…}` in a form that has no piece of its own.
    fn other(&mut self, what: &str, inner: &Word, quoted: Quoted, fields: &mut Fields) {
        let inside = what.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).unwrap_or("");
        self.parameter_again(inside, inner);
        if inside.starts_with('#') {
            return fields.part(&Part::Glob("*".to_owned()));
        }
        if let Some((name, index)) = inside.strip_suffix(']').and_then(|rest| rest.split_once('['))
            && let Some(Value::List(list)) = self.scope.own(name)
        {
            return self.elements(&list.clone(), index, quoted, fields);
        }
        if let Some(text) = self.reworked(inside) {
            return self.place(&[Part::Text(text)], quoted, fields);
        }
        let why = inner.why().cloned().unwrap_or_else(|| Why::Expansion(what.to_owned()));
        fields.part(&Part::Opaque(why));
    }

    fn elements(&self, list: &[Vec<Part>], index: &str, quoted: Quoted, fields: &mut Fields) {
        let unknown = Part::Opaque(Why::Expansion(format!("[{index}]")));
        match (index, index.parse::<usize>()) {
            ("@" | "*", _) => {
                for (at, parts) in list.iter().enumerate() {
                    if at > 0 {
                        fields.end();
                    }
                    self.place(parts, quoted, fields);
                }
            }
            (_, Ok(at)) => self.place(list.get(at).map_or(&[], Vec::as_slice), quoted, fields),
            (_, Err(_)) => fields.part(&unknown),
        }
    }

    /// `${x:1:2}`, `${x/a/b}`, `${x^^}`, `${!x}` of a variable whose text is known.
    fn reworked(&self, inside: &str) -> Option<String> {
        if let Some(name) = inside.strip_prefix('!') {
            let pointed = self.known_text(name)?;
            return self.known_text(&pointed);
        }
        let length = inside.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        let (name, rest) = inside.split_at_checked(length)?;
        pattern::rework(&self.known_text(name)?, rest)
    }

    fn known_text(&self, name: &str) -> Option<String> {
        match self.value(name) {
            Value::Parts(parts) => match parts.as_slice() {
                [] => Some(String::new()),
                [Part::Text(text)] => Some(text.clone()),
                [Part::Glob(_) | Part::Opaque(_)] | [_, _, ..] => None,
            },
            Value::List(_) | Value::Unknown(_) => None,
        }
    }

    /// Expands what stands in arithmetic, and forgets the variables that it may set.
    pub(super) fn arithmetic(&mut self, inner: &RawWord) {
        let word = self.one(inner);
        let text = word.shown();
        self.evaluate(&text, &word.span);
        if text.contains('=') || text.contains("++") || text.contains("--") {
            let names = text.split(|mark: char| mark != '_' && !mark.is_ascii_alphanumeric());
            for name in names.filter(|name| super::scan::is_name(name)) {
                self.count_in(name, &word.span);
            }
        }
    }

    /// The text that a command substitution leaves.
    fn substitute(&mut self, text: &str, origin: Origin) -> Vec<Part> {
        let feed = self.substitution(text, origin);
        self.decoded = self.decoded.max(feed.decoded());
        match feed {
            Feed::Text { text, .. } => vec![Part::Text(text.trim_end_matches('\n').to_owned())],
            Feed::Outer => Vec::new(),
            Feed::Stream { from, .. } => {
                self.source = Some(from);
                vec![Part::Opaque(Why::Substitution)]
            }
        }
    }
}
