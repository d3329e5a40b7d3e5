//! Text that the shell reads a second time: arithmetic, subscripts, prompts.
//!
//! Bash expands an arithmetic expression, and then evaluates it: a name in it stands for its value,
//! which is an expression again, and a subscript in that value is expanded once more. So
//! `x='a[$(rm f)]'; ((x))` runs `rm`.

use std::collections::BTreeSet;

use super::feed::Feed;
use super::ir::{Part, Word};
use super::lex::{Mode, Origin, cut};
use super::scan::is_name;
use super::scope::Value;
use super::walk::Reader;
use crate::action::Why;
use crate::span::Span;

/// Texts that are kept because they would run if they were read again.
const MAX_LATENT: usize = 64;
/// Stands for the part of a text that is not known.
const UNKNOWN: &str = "…";

impl Reader<'_> {
    /// Reads what runs when the shell evaluates `text` as arithmetic, or as a name with a subscript.
    ///
    /// # Security
    /// A value that comes from a file or from another program is not known here, so that what it
    /// would run is not seen.
    pub(super) fn evaluate(&mut self, text: &str, span: &Span) {
        let mut seen = BTreeSet::new();
        let mut open = vec![text.to_owned()];
        while let Some(text) = open.pop() {
            if !self.room(text.len()) {
                return;
            }
            if let Some(again) = self.expand_again(&text, span)
                && again != text
            {
                open.push(again);
            }
            let names = text.split(|mark: char| mark != '_' && !mark.is_ascii_alphanumeric());
            for name in names.filter(|name| is_name(name)) {
                if seen.insert(name.to_owned()) {
                    open.extend(self.held(name));
                }
            }
        }
    }

    /// Reads what runs when `written`, used as the name of a variable, has a subscript.
    pub(super) fn subscript(&mut self, written: &str, span: &Span) {
        if let Some((_, index)) = written.split_once('[') {
            self.evaluate(index, span);
        }
    }

    /// Expands a text as the shell does inside double quotes; `None` if nothing in it would change.
    pub(super) fn expand_again(&mut self, text: &str, span: &Span) -> Option<String> {
        if !runs_again(text) {
            return None;
        }
        let origin = Origin::Range(span.start as usize, span.end as usize);
        if !self.another_text(text.len()) {
            self.limit("text that is read again", span.clone());
            return None;
        }
        let mut word = None;
        self.nest(span.clone(), |this| {
            word = Some(this.one(&cut(text, origin, Mode::Quoted)));
            Feed::Outer
        });
        word.map(|word: Word| word.shown())
    }

    /// What the shell evaluates in `${…}`: subscripts, offsets, what `${!x}` refers to, prompts.
    pub(super) fn parameter_again(&mut self, inside: &str, inner: &Word) {
        let body = inside.trim_start_matches(['!', '#']);
        let length = body.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        let Some((name, rest)) = body.split_at_checked(length) else { return };
        let span = inner.span.clone();
        self.taint_from(name);
        if rest.ends_with("@P") {
            self.prompt(name, &span);
        }
        if inside.starts_with('!') {
            self.pointed(name, rest, &span);
        }
        let offset = rest.starts_with(':') && ![":-", ":=", ":+", ":?"].iter().any(|mark| rest.starts_with(mark));
        if rest.starts_with('[') || offset {
            self.evaluate(&inner.shown(), &span);
        }
    }

    /// `${!x}`: the value of `x` is a name, perhaps with a subscript, and may be given a default.
    fn pointed(&mut self, name: &str, rest: &str, span: &Span) {
        for text in self.held(name) {
            self.subscript(&text, span);
            if rest.starts_with(":=") || rest.starts_with('=') {
                self.assign(&text, Value::Unknown(Why::Variable(name.to_owned())), span);
            }
        }
    }

    /// `${x@P}`: the value is expanded as a prompt is.
    pub(super) fn prompt(&mut self, name: &str, span: &Span) {
        let texts = self.held(name);
        if texts.is_empty() || texts.iter().any(|text| text.contains(UNKNOWN)) {
            self.opaque(Why::Variable(name.to_owned()), span.clone());
        }
        for text in texts {
            self.expand_again(&text, span);
        }
    }

    /// Keeps a value that would run if it were read again, for when the variable is no longer known.
    pub(super) fn keep_latent(&mut self, value: &Value, span: &Span) {
        for text in texts(value).filter(|text| runs_again(text)) {
            if self.latent.len() >= MAX_LATENT {
                self.limit("quoted substitutions", span.clone());
                return;
            }
            self.latent.push(text);
        }
    }

    /// The texts that a variable holds; one that became unknown holds whatever was ever assigned.
    fn held(&mut self, name: &str) -> Vec<String> {
        let value = self.value(name);
        match &value {
            Value::Unknown(_) if self.scope.own(name).is_none() && !self.scope.is_full() => Vec::new(),
            Value::Unknown(_) => std::mem::take(&mut self.latent),
            Value::Parts(_) | Value::List(_) => texts(&value).collect(),
        }
    }
}

fn texts(value: &Value) -> impl Iterator<Item = String> {
    let lists: Vec<&[Part]> = match value {
        Value::Parts(parts) => vec![parts.as_slice()],
        Value::List(list) => list.iter().map(Vec::as_slice).collect(),
        Value::Unknown(_) => Vec::new(),
    };
    let texts: Vec<String> = lists.into_iter().map(shown).filter(|text| !text.is_empty()).collect();
    texts.into_iter()
}

fn shown(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text(text) | Part::Glob(text) => text.clone(),
        Part::Opaque(_) => UNKNOWN.to_owned(),
    };
    parts.iter().map(text).collect()
}

/// Whether a text does something when it is expanded.
fn runs_again(text: &str) -> bool {
    text.contains(['$', '`'])
}
