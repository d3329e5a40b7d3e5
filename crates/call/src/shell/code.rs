//! Text that is run: words given to `eval` or `sh -c`, and what flows into an interpreter.

use super::feed::{Decoded, Feed};
use super::ir::{Part, Simple, Within, Word};
use super::lex::Origin;
use super::scope::Value;
use super::walk::Reader;
use crate::action::{PathRef, Program, Standing, Why};

impl Reader<'_> {
    /// Reads words, joined by blanks, as a script in the present scope.
    ///
    /// What is not known in them becomes a variable that is not known, so that the rest is read.
    pub(super) fn code(&mut self, words: &[Word], decoded: Decoded, simple: &Simple) -> Feed {
        let (text, why) = self.spell(words);
        if decoded == Decoded::Yes {
            self.opaque(Why::DecodedCode, simple.span.clone());
        } else if let Some(why) = why {
            // What a program printed is run: the same as piping it into a shell.
            let why = match (why, self.source.take()) {
                (Why::Substitution, Some(from)) if is_network(&from) => Why::Piped(command_name(simple)),
                (why, _) => why,
            };
            self.opaque(why, simple.span.clone());
        }
        let origin = match words {
            [Word { verbatim: Some(at), .. }] => Origin::At(*at as usize),
            [] => Origin::Range(simple.span.start as usize, simple.span.end as usize),
            [first, ..] => {
                let last = words.last().unwrap_or(first);
                Origin::Range(first.span.start as usize, last.span.end as usize)
            }
        };
        self.inside(Within::Wrapped, |this| this.script(&text, origin))
    }

    fn spell(&mut self, words: &[Word]) -> (String, Option<Why>) {
        let mut text = String::new();
        let mut unknown = None;
        for word in words {
            if !text.is_empty() {
                text.push(' ');
            }
            for part in &word.parts {
                match part {
                    Part::Text(part) | Part::Glob(part) => text.push_str(part),
                    Part::Opaque(why) => {
                        let name = format!("__unknown_{}", text.len());
                        self.scope.set(&name, Value::Unknown(why.clone()));
                        text.push_str(&format!("${{{name}}}"));
                        unknown = Some(why.clone());
                    }
                }
            }
        }
        (text, unknown)
    }

    /// Reads what flows into a shell.
    pub(super) fn code_from(&mut self, feed: &Feed, simple: &Simple) -> Feed {
        if feed.decoded() == Decoded::Yes {
            self.opaque(Why::DecodedCode, simple.span.clone());
        }
        match feed {
            Feed::Text { text, origin, .. } => {
                let (text, origin) = (text.clone(), *origin);
                self.inside(Within::Wrapped, |this| this.script(&text, origin))
            }
            Feed::Stream { from, decoded: Decoded::No, .. } if from == A_FILE => {
                self.file_input(simple);
                Feed::stream("a shell")
            }
            Feed::Stream { decoded: Decoded::No, .. } => {
                self.opaque(Why::Piped(command_name(simple)), simple.span.clone());
                Feed::stream("a shell")
            }
            Feed::Stream { decoded: Decoded::Yes, .. } | Feed::Outer => Feed::stream("a shell"),
        }
    }
}

impl Reader<'_> {
    /// `sh < FILE`: the file is code.
    pub(super) fn file_input(&mut self, simple: &Simple) {
        let file = simple.redirects.iter().rev().find(|redirect| redirect.kind == super::ir::RedirectKind::Input);
        let name = file.and_then(|file| file.target.literal());
        match (name, self.scope.cwd.clone()) {
            (Some(name), Some(cwd)) => {
                let path = PathRef::join(&cwd, name);
                self.execute(Program::Name(command_name(simple)), Standing::File(path), &simple.span);
            }
            _ => self.opaque(Why::Piped(command_name(simple)), simple.span.clone()),
        }
    }
}

/// What [`Feed::Stream`] calls a redirected file.
pub(super) const A_FILE: &str = "a file";

/// The command word, for messages.
fn command_name(simple: &Simple) -> String {
    simple.words.first().map_or_else(|| "a shell".to_owned(), Word::shown)
}

fn is_network(name: &str) -> bool {
    matches!(
        name,
        "curl"
            | "wget"
            | "http"
            | "https"
            | "xh"
            | "nc"
            | "ncat"
            | "netcat"
            | "socat"
            | "ssh"
            | "fetch"
            | "dig"
            | "openssl"
            | "lynx"
            | "ftp"
    )
}
