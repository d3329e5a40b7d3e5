//! The one place that writes to people. Data goes to stdout, talk to stderr, and nothing that a model
//! or a file wrote reaches a terminal with its control characters alive.

use std::io::{self, IsTerminal as _};

use serde_json::Value;

/// How results are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// For people.
    Text,
    /// One JSON value a line.
    Json,
}

/// Writes results and talk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    style: Style,
    colour: Colour,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Off,
    On,
}

/// What a piece of text means, and so its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Allowed, held, verified.
    Good,
    /// Asked, partial.
    Care,
    /// Denied, broken.
    Bad,
    /// Secondary.
    Dim,
    /// Emphasis.
    Strong,
}

impl Printer {
    /// Colours only a terminal, and never where `NO_COLOR` is set or the terminal is dumb.
    pub(crate) fn new(style: Style) -> Self {
        let unset = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = style == Style::Text && io::stdout().is_terminal() && unset("NO_COLOR") && !dumb;
        Self { style, colour: if colour { Colour::On } else { Colour::Off } }
    }

    /// Whether results are JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.style == Style::Json
    }

    /// Writes a line of results for people; nothing in JSON style.
    pub(crate) fn line(&self, text: &str) {
        if self.style == Style::Text {
            emit(&mut io::stdout(), &format!("{}\n", escape(text)));
        }
    }

    /// Writes text without ending the line, as it streams in.
    pub(crate) fn stream(&self, text: &str) {
        if self.style == Style::Text {
            emit(&mut io::stdout(), &escape(text));
        }
    }

    /// Writes one JSON value; nothing in text style.
    pub(crate) fn json(&self, value: &Value) {
        if self.style == Style::Json {
            emit(&mut io::stdout(), &format!("{value}\n"));
        }
    }

    /// Writes exactly these bytes of data to stdout, in either style.
    pub(crate) fn data(&self, text: &str) {
        emit(&mut io::stdout(), text);
    }

    /// The same, where it matters that somebody got them.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn delivered(&self, text: &str) -> io::Result<()> {
        let mut stdout = io::stdout();
        io::Write::write_all(&mut stdout, text.as_bytes())?;
        io::Write::flush(&mut stdout)
    }

    /// Says something to the person at the terminal.
    pub(crate) fn say(&self, text: &str) {
        emit(&mut io::stderr(), &format!("{}\n", escape(text)));
    }

    /// Asks for an answer on the same line.
    pub(crate) fn prompt(&self, text: &str) {
        emit(&mut io::stderr(), &escape(text));
    }

    /// Paints trusted text of ours. Untrusted text is escaped by whoever writes the line.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        if self.colour == Colour::Off {
            return text.to_owned();
        }
        let mark = match tone {
            Tone::Good => '\u{e032}',
            Tone::Care => '\u{e033}',
            Tone::Bad => '\u{e031}',
            Tone::Dim => '\u{e030}',
            Tone::Strong => '\u{e034}',
        };
        format!("{mark}{text}\u{e03f}")
    }
}

/// A reader that has gone away is not an error of ours.
fn emit(to: &mut dyn io::Write, text: &str) {
    drop(to.write_all(text.as_bytes()).and_then(|()| to.flush()));
}

/// Makes every character visible and harmless: control, invisible and bidirectional ones are spelled
/// out. Line breaks and tabs stay. Our own paint marks become colours here, and only here.
///
/// # Security
/// The marks are private-use characters. Untrusted text must pass [`visible`] before it is painted, so
/// that it cannot bring its own.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\u{e030}' => out.push_str("\u{1b}[2m"),
            '\u{e031}' => out.push_str("\u{1b}[31m"),
            '\u{e032}' => out.push_str("\u{1b}[32m"),
            '\u{e033}' => out.push_str("\u{1b}[33m"),
            '\u{e034}' => out.push_str("\u{1b}[1m"),
            '\u{e03f}' => out.push_str("\u{1b}[0m"),
            c => push_visible(&mut out, c),
        }
    }
    out
}

/// Spells out everything that a terminal would obey or hide, private-use characters and line breaks included: what a
/// model or a file wrote stays on its own line of ours.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.extend(c.escape_default()),
            c => push_visible(&mut out, c),
        }
    }
    out
}

/// The same for text of several lines that stands by itself.
pub(crate) fn visible_lines(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|c| push_visible(&mut out, c));
    out
}

fn push_visible(out: &mut String, c: char) {
    let hidden = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e000}'..='\u{f8ff}' | '\u{e0000}'..='\u{e0fff}' | '\u{fe00}'..='\u{fe0e}');
    if (c.is_control() && c != '\n' && c != '\t') || hidden {
        out.extend(c.escape_unicode());
    } else {
        out.push(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_escape_is_spelled_out() {
        assert_eq!(escape("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(escape("user\u{202e}txt.exe"), "user\\u{202e}txt.exe");
        assert_eq!(escape("one\n\ttwo naïve"), "one\n\ttwo naïve");
    }

    #[test]
    fn untrusted_text_cannot_bring_paint() {
        assert_eq!(visible("\u{e032}allowed\u{e03f}"), "\\u{e032}allowed\\u{e03f}");
    }

    #[test]
    fn untrusted_text_cannot_begin_a_line_of_ours() {
        assert_eq!(visible("x\napproved, once"), "x\\napproved, once");
        assert_eq!(visible_lines("one\ntwo\u{2800}"), "one\ntwo\\u{2800}");
    }

    #[test]
    fn without_a_terminal_nothing_is_painted() {
        let printer = Printer { style: Style::Text, colour: Colour::Off };
        assert_eq!(printer.paint(Tone::Bad, "no"), "no");
    }
}
