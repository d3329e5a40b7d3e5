//! One simple command: its words expanded, its assignments and redirections applied.

use super::feed::{Decoded, Feed};
use super::ir::{Assignment, Part, Redirect, RedirectKind, Simple, Word};
use super::lex::{Origin, RawWord};
use super::scope::Value;
use super::tree::{Append, Node, RawAssignment, RawRedirect, RawSimple, RawValue};
use super::walk::{MAX_COMMANDS, MAX_WORDS, Reader};
use crate::action::{ActionKind, Connect, Control, Execute, Flow, Peer, Program, Standing, Why, WriteHow};
use crate::span::Span;

impl Reader<'_> {
    pub(super) fn redirected(&mut self, body: &Node, redirects: &[RawRedirect], input: &Feed) -> Feed {
        let redirects: Vec<Redirect> = redirects.iter().map(|raw| self.redirect(raw)).collect();
        redirects.iter().for_each(|redirect| self.redirect_actions(redirect));
        let input = input_of(&redirects, input);
        let feed = self.nest(Span::new("/command", 0, 0), |this| this.node(body, &input));
        output_of(&redirects, feed)
    }

    pub(super) fn simple(&mut self, raw: &RawSimple, input: &Feed) -> Feed {
        let span = self.span(raw.span);
        if self.commands.len() >= MAX_COMMANDS {
            return self.limit("number of commands", span);
        }
        if raw.words.len() > MAX_WORDS {
            return self.limit("number of words", span);
        }
        self.decoded = Decoded::No;
        self.source = None;
        let words = self.words(&raw.words);
        let assignments = self.assignments(&raw.assignments, words.is_empty());
        let declared = self.assignments(&raw.declared, true);
        let redirects: Vec<Redirect> = raw.redirects.iter().map(|raw| self.redirect(raw)).collect();
        let simple =
            Simple { words, assignments, redirects, cwd: self.scope.cwd.clone(), within: self.within.clone(), span };
        self.run(simple, &declared, input)
    }

    /// Notes a command and what it does.
    pub(super) fn run(&mut self, simple: Simple, declared: &[Assignment], input: &Feed) -> Feed {
        if self.commands.len() >= MAX_COMMANDS || simple.words.len() > MAX_WORDS {
            return self.limit("number of commands", simple.span);
        }
        self.part = u32::try_from(self.commands.len()).unwrap_or(u32::MAX);
        self.commands.push(simple.clone());
        simple.redirects.iter().for_each(|redirect| self.redirect_actions(redirect));
        for assignment in simple.assignments.iter().chain(declared) {
            self.poison(assignment, &simple.span);
        }
        let input = input_of(&simple.redirects, input);
        let feed = self.command(&simple, declared, &input);
        output_of(&simple.redirects, feed)
    }

    /// Expands assignments; where they stand for themselves, they change the scope.
    fn assignments(&mut self, raw: &[RawAssignment], lasting: bool) -> Vec<Assignment> {
        let mut done = Vec::with_capacity(raw.len());
        for assignment in raw {
            if let Some(subscript) = &assignment.subscript {
                self.arithmetic(subscript);
            }
            let value = match &assignment.value {
                RawValue::Word(word) => self.scalar(assignment, word, lasting),
                RawValue::Array(words) => self.array(assignment, words, lasting),
            };
            done.push(Assignment { name: assignment.name.clone(), value });
        }
        done
    }

    fn scalar(&mut self, assignment: &RawAssignment, word: &RawWord, lasting: bool) -> Word {
        let mut value = self.one(word);
        if assignment.append == Append::Yes {
            let before = match self.value(&assignment.name) {
                Value::Parts(parts) => parts,
                Value::List(_) | Value::Unknown(_) => vec![Part::Opaque(Why::Variable(assignment.name.clone()))],
            };
            value.parts = join(before, value.parts);
        }
        if lasting {
            let known = assignment.subscript.is_none();
            let unknown = Value::Unknown(Why::Variable(assignment.name.clone()));
            self.scope.set(&assignment.name, if known { Value::Parts(value.parts.clone()) } else { unknown });
        }
        value
    }

    fn array(&mut self, assignment: &RawAssignment, words: &[RawWord], lasting: bool) -> Word {
        let words = self.words(words);
        let span = words.first().map_or_else(|| Span::new("/command", 0, 0), |word| word.span.clone());
        if lasting {
            let mut list = match (assignment.append, self.scope.own(&assignment.name)) {
                (Append::Yes, Some(Value::List(list))) => list.clone(),
                (Append::Yes | Append::No, _) => Vec::new(),
            };
            list.extend(words.into_iter().map(|word| word.parts));
            self.scope.set(&assignment.name, Value::List(list));
        }
        Word::opaque_at(Why::Expansion("array".to_owned()), span)
    }

    fn redirect(&mut self, raw: &RawRedirect) -> Redirect {
        let target = if raw.kind == RedirectKind::Text {
            self.one(&raw.target)
        } else {
            // A name is expanded as words are, and must come to one word.
            let mut words = self.words(std::slice::from_ref(&raw.target));
            match (words.pop(), words.is_empty()) {
                (Some(word), true) => word,
                (Some(word), false) => Word::opaque_at(Why::Expansion("several names".to_owned()), word.span),
                (None, _) => Word::literal_at("", self.span(raw.target.origin)),
            }
        };
        Redirect { kind: raw.kind, target, span: self.span(raw.span) }
    }

    fn redirect_actions(&mut self, redirect: &Redirect) {
        if redirect.target.literal().is_some_and(|name| name.starts_with("/dev/tcp/") || name.starts_with("/dev/udp/"))
        {
            return self.socket(redirect);
        }
        if redirect.target.literal().is_some_and(|name| self.described(name).is_some()) {
            return;
        }
        if matches!(redirect.target.literal(), Some("/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/stdin")) {
            return;
        }
        let target = redirect.target.target(self.scope.cwd.as_deref());
        let kind = match redirect.kind {
            RedirectKind::Input => ActionKind::Read(target),
            RedirectKind::Output | RedirectKind::OutputOther | RedirectKind::OutputBoth => {
                ActionKind::Write(target, WriteHow::Replace)
            }
            RedirectKind::Append | RedirectKind::ReadWrite => ActionKind::Write(target, WriteHow::Change),
            RedirectKind::Duplicate if is_descriptor(&redirect.target) => return,
            RedirectKind::Duplicate => ActionKind::Write(target, WriteHow::Replace),
            RedirectKind::Text => return,
        };
        self.act(kind, redirect.span.clone());
    }

    fn socket(&mut self, redirect: &Redirect) {
        let name = redirect.target.shown();
        let mut parts = name.trim_start_matches("/dev/tcp/").trim_start_matches("/dev/udp/").splitn(2, '/');
        let host = parts.next().unwrap_or("");
        let port = parts.next().unwrap_or("");
        let peer = Peer::Host(format!("{host}:{port}"));
        let connect = Connect { peer, flow: Flow::Session };
        self.act(ActionKind::Connect(connect), redirect.span.clone());
    }

    fn poison(&mut self, assignment: &Assignment, span: &Span) {
        if super::environment::runs_code(&assignment.name, &assignment.value, self.scope.cwd.as_deref()) {
            self.act(ActionKind::Control(Control::Environment(assignment.name.clone())), span.clone());
        }
    }

    /// Notes that a program runs.
    pub(super) fn execute(&mut self, program: Program, standing: Standing, span: &Span) {
        self.act(ActionKind::Execute(Execute { program, standing }), span.clone());
    }
}

fn join(mut before: Vec<Part>, after: Vec<Part>) -> Vec<Part> {
    for part in after {
        match (before.last_mut(), part) {
            (Some(Part::Text(last)), Part::Text(text)) => last.push_str(&text),
            (_, part) => before.push(part),
        }
    }
    before
}

/// What a command reads: its last input redirection, or what is piped in.
fn input_of(redirects: &[Redirect], input: &Feed) -> Feed {
    let last = redirects.iter().rev().find_map(|redirect| match redirect.kind {
        RedirectKind::Text => Some(match (redirect.target.literal(), redirect.target.verbatim) {
            (Some(text), Some(at)) => Feed::text(text.to_owned(), Origin::At(at as usize)),
            (Some(text), None) => {
                Feed::text(text.to_owned(), Origin::Range(redirect.span.start as usize, redirect.span.end as usize))
            }
            (None, _) => Feed::stream("a here-document"),
        }),
        RedirectKind::Input | RedirectKind::ReadWrite => Some(Feed::stream(super::code::A_FILE)),
        RedirectKind::Output
        | RedirectKind::OutputOther
        | RedirectKind::Append
        | RedirectKind::OutputBoth
        | RedirectKind::Duplicate => None,
    });
    last.unwrap_or_else(|| input.clone())
}

/// What is left on standard output after the redirections.
fn output_of(redirects: &[Redirect], feed: Feed) -> Feed {
    let away = redirects.iter().any(|redirect| {
        matches!(redirect.kind, RedirectKind::Output | RedirectKind::Append | RedirectKind::OutputBoth)
            && redirect
                .target
                .literal()
                .is_none_or(|name| !name.starts_with("/dev/std") && !name.starts_with("/dev/fd"))
    });
    if away { Feed::Outer } else { feed }
}

/// `2>&1`, `>&-`, `<&3-`: no file.
fn is_descriptor(word: &Word) -> bool {
    word.literal().is_some_and(|text| text.trim_end_matches('-').bytes().all(|byte| byte.is_ascii_digit()))
}
