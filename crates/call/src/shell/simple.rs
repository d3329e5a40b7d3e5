//! One simple command: its words expanded, its assignments and redirections applied.

use super::feed::{Decoded, Feed};
use super::ir::{Assignment, Part, Redirect, RedirectKind, Simple, Word};
use super::lex::{Origin, RawWord};
use super::scope::Value;
use super::tree::{Append, Node, RawAssignment, RawRedirect, RawSimple, RawValue};
use super::walk::{MAX_COMMANDS, MAX_WORDS, Reader};
use crate::action::{ActionKind, Connect, Execute, Flow, Peer, Program, Standing, Target, Why, WriteHow};
use crate::span::Span;

impl Reader<'_> {
    pub(super) fn redirected(&mut self, body: &Node, redirects: &[RawRedirect], input: &Feed) -> Feed {
        let redirects: Vec<Redirect> = redirects.iter().map(|raw| self.redirect(raw)).collect();
        redirects.iter().for_each(|redirect| self.redirect_actions(redirect));
        let input = self.input_of(&redirects, input);
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
        for assignment in simple.assignments.iter().chain(declared) {
            self.poison(assignment, &simple.span);
        }
        let first = self.actions.len();
        let begun = self.part;
        simple.redirects.iter().for_each(|redirect| self.redirect_actions(redirect));
        let input = self.input_of(&simple.redirects, input);
        let feed = self.command(&simple, declared, &input);
        if feed.decoded().max(input.decoded()) == Decoded::Yes {
            self.unpack(first, begun);
        }
        output_of(&simple.redirects, feed)
    }

    /// Expands assignments; where they stand for themselves, they change the scope.
    fn assignments(&mut self, raw: &[RawAssignment], lasting: bool) -> Vec<Assignment> {
        let mut done = Vec::with_capacity(raw.len());
        for assignment in raw {
            if let Some(subscript) = &assignment.subscript {
                self.arithmetic(subscript);
            }
            let before = std::mem::replace(&mut self.decoded, Decoded::No);
            let value = match &assignment.value {
                RawValue::Word(word) => self.scalar(assignment, word),
                RawValue::Array(words) => self.array(assignment, words),
            };
            let name = self.referred(&assignment.name, &value.1.span);
            if lasting {
                self.keep(&name, value.0, &value.1.span);
            } else {
                self.keep_latent(&value.0, &value.1.span);
            }
            self.decoded = self.decoded.max(before);
            done.push(Assignment { name, value: value.1 });
        }
        done
    }

    fn scalar(&mut self, assignment: &RawAssignment, word: &RawWord) -> (Value, Word) {
        let mut value = self.one(word);
        if assignment.append == Append::Yes {
            let before = match self.value(&assignment.name) {
                Value::Parts(parts) => parts,
                Value::List(_) | Value::Unknown(_) => vec![Part::Opaque(Why::Variable(assignment.name.clone()))],
            };
            value.parts = join(before, value.parts);
        }
        if assignment.subscript.is_some() {
            self.keep_latent(&Value::Parts(value.parts.clone()), &value.span);
            return (Value::Unknown(Why::Variable(assignment.name.clone())), value);
        }
        (Value::Parts(value.parts.clone()), value)
    }

    fn array(&mut self, assignment: &RawAssignment, words: &[RawWord]) -> (Value, Word) {
        let words = self.words(words);
        for word in words.iter().filter(|word| word.lead().starts_with('[')) {
            // `([index]=value)`
            self.subscript(&word.shown(), &word.span);
        }
        let span = words.first().map_or_else(|| Span::new("/command", 0, 0), |word| word.span.clone());
        let mut list = match (assignment.append, self.scope.own(&assignment.name)) {
            (Append::Yes, Some(Value::List(list))) => list.clone(),
            (Append::Yes | Append::No, _) => Vec::new(),
        };
        list.extend(words.into_iter().map(|word| word.parts));
        (Value::List(list), Word::opaque_at(Why::Expansion("array".to_owned()), span))
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

    /// Remembers the files that the command wrote: decoded bytes went through it.
    fn unpack(&mut self, first: usize, part: u32) {
        for action in self.actions.get(first..).unwrap_or(&[]).iter().filter(|action| action.part == part) {
            if let ActionKind::Write(Target::Path(path), _) = &action.kind {
                self.unpacked.insert(crate::places::clean(&path.abs));
            }
        }
    }

    /// Notes that a program runs.
    pub(super) fn execute(&mut self, program: Program, standing: Standing, span: &Span) {
        if let Standing::File(path) = &standing
            && self.unpacked.contains(&crate::places::clean(&path.abs))
        {
            self.opaque(Why::DecodedCode, span.clone());
        }
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

impl Reader<'_> {
    /// What a command reads: its last input redirection, or what is piped in.
    fn input_of(&self, redirects: &[Redirect], input: &Feed) -> Feed {
        let last = redirects.iter().rev().find_map(|redirect| match redirect.kind {
            RedirectKind::Text => Some(given_text(redirect).mark(self.decoded)),
            RedirectKind::Input | RedirectKind::ReadWrite => {
                let described = redirect.target.literal().and_then(|name| self.described(name));
                Some(described.unwrap_or_else(|| Feed::stream(super::code::A_FILE)))
            }
            RedirectKind::Output
            | RedirectKind::OutputOther
            | RedirectKind::Append
            | RedirectKind::OutputBoth
            | RedirectKind::Duplicate => None,
        });
        last.unwrap_or_else(|| input.clone())
    }
}

fn given_text(redirect: &Redirect) -> Feed {
    match (redirect.target.literal(), redirect.target.verbatim) {
        (Some(text), Some(at)) => Feed::text(text.to_owned(), Origin::At(at as usize)),
        (Some(text), None) => {
            Feed::text(text.to_owned(), Origin::Range(redirect.span.start as usize, redirect.span.end as usize))
        }
        (None, _) => Feed::stream("a here-document"),
    }
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
