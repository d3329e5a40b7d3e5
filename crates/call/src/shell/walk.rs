//! Walks a script in the order the shell runs it, and notes every simple command.

use std::collections::BTreeSet;

use super::changes::{MOVES, assigned, leaves};
use super::feed::{Decoded, Feed};
use super::functions::Function;
use super::ir::{Simple, Within};
use super::lex::Origin;
use super::scope::{Scope, Value};
use super::tree::{Link, Loop, Node, Tree};
use super::{Setting, parse, scan};
use crate::action::{Action, ActionKind, Why};
use crate::span::Span;

/// Commands, texts and bytes that one reading may take; more is [`Why::Limit`].
pub(super) const MAX_COMMANDS: usize = 1024;
/// Words that one command may have.
pub(super) const MAX_WORDS: usize = 2048;
const MAX_TEXTS: u32 = 256;
const MAX_BYTES: usize = 2 * 65_536;
/// Levels of structure, wrapping and substitution together.
const MAX_LEVELS: u32 = 32;
/// Notes of a limit that are made.
const MAX_LIMITS: u32 = 16;
/// Bytes of expanded words that one reading may hold.
const MAX_EXPANDED: usize = 1024 * 1024;
/// Loop values that are followed one by one.
const MAX_VALUES: usize = 16;

/// A reading in progress.
pub(super) struct Reader<'s> {
    pub(super) setting: &'s Setting<'s>,
    pub(super) scope: Scope,
    pub(super) actions: Vec<Action>,
    pub(super) commands: Vec<Simple>,
    pub(super) within: Vec<Within>,
    /// Whether the words being expanded hold decoded text.
    pub(super) decoded: Decoded,
    pub(super) functions: Vec<Function>,
    /// Values that would run if the shell read them again.
    pub(super) latent: Vec<String>,
    /// Files that decoded text was written to.
    pub(super) unpacked: BTreeSet<String>,
    descriptors: Vec<Feed>,
    level: u32,
    texts: u32,
    bytes: usize,
    unrolled: usize,
    expanded: usize,
    /// The program whose output the last unknown substitution was.
    pub(super) source: Option<String>,
    pub(super) part: u32,
    limits: u32,
}

impl<'s> Reader<'s> {
    pub(super) fn new(setting: &'s Setting<'s>) -> Self {
        Self {
            setting,
            scope: Scope::new(setting.cwd),
            actions: Vec::new(),
            commands: Vec::new(),
            within: Vec::new(),
            decoded: Decoded::No,
            functions: Vec::new(),
            latent: Vec::new(),
            unpacked: BTreeSet::new(),
            descriptors: Vec::new(),
            level: 0,
            texts: 0,
            bytes: 0,
            unrolled: 0,
            expanded: 0,
            source: None,
            part: 0,
            limits: 0,
        }
    }

    /// Reads a text as a script and returns what it prints, as far as that is known.
    pub(super) fn script(&mut self, text: &str, origin: Origin) -> Feed {
        let (start, end) = origin.range(0, text.len());
        let whole = self.span((start, end));
        if !self.another_text(text.len()) {
            return self.limit("script text", whole);
        }
        let scan = scan::scan(text);
        if scan.too_deep {
            return self.limit("nesting, here-documents or braces", whole);
        }
        match parse::parse(text, origin) {
            Ok(Tree { body, commands }) => {
                if commands < scan.commands {
                    self.act(ActionKind::Opaque(Why::Unexplained), whole.clone());
                }
                self.nest(whole, |this| this.sequence(&body, &Feed::Outer))
            }
            Err(why) => {
                self.act(ActionKind::Opaque(why), whole);
                Feed::stream("unparsed text")
            }
        }
    }

    /// Counts a text that is read; says whether it is still one that may be.
    pub(super) const fn another_text(&mut self, bytes: usize) -> bool {
        self.texts += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.texts <= MAX_TEXTS && self.bytes <= MAX_BYTES
    }

    /// Adds an action of the command being read.
    pub(super) fn act(&mut self, kind: ActionKind, span: Span) {
        if self.actions.len() < 2 * MAX_COMMANDS {
            let ends = self.ends_of_link(&kind);
            self.actions.push(Action { kind, span: span.clone(), part: self.part });
            let part = self.part;
            self.actions.extend(ends.into_iter().map(|kind| Action { kind, span: span.clone(), part }));
        } else {
            let end = Span::new("/command", 0, 0);
            self.limit("number of actions", end);
        }
    }

    pub(super) fn opaque(&mut self, why: Why, span: Span) {
        self.act(ActionKind::Opaque(why), span);
    }

    /// Counts expanded text; says whether there is still room for more.
    pub(super) fn room(&mut self, bytes: usize) -> bool {
        let before = self.spent();
        self.expanded = self.expanded.saturating_add(bytes).saturating_add(16);
        if self.spent() && !before {
            self.limit("expanded text", Span::new("/command", 0, 0));
        }
        !self.spent()
    }

    /// Whether the room for expanded text is used up; a limit has then been noted.
    pub(super) const fn spent(&self) -> bool {
        self.expanded > MAX_EXPANDED
    }

    /// Notes that something is larger or deeper than is judged.
    pub(super) fn limit(&mut self, what: &str, span: Span) -> Feed {
        // One note is enough to ask; hostile input would make thousands.
        if self.limits < MAX_LIMITS {
            self.limits += 1;
            let kind = ActionKind::Opaque(Why::Limit(what.to_owned()));
            self.actions.push(Action { kind, span, part: self.part });
        }
        Feed::stream(what)
    }

    pub(super) fn span(&self, (start, end): (usize, usize)) -> Span {
        Span::new("/command", start, end)
    }

    pub(super) fn inside<T>(&mut self, within: Within, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.within.push(within);
        let result = inner(self);
        self.within.pop();
        result
    }

    /// Runs `inner` one level deeper, unless that is too deep.
    pub(super) fn nest(&mut self, span: Span, inner: impl FnOnce(&mut Self) -> Feed) -> Feed {
        if self.level >= MAX_LEVELS {
            return self.limit("nesting", span);
        }
        self.level += 1;
        let feed = inner(self);
        self.level -= 1;
        feed
    }

    /// Reads the inside of `$(…)` or `<(…)`: its changes stay inside.
    pub(super) fn substitution(&mut self, text: &str, origin: Origin) -> Feed {
        if text.trim() == "pwd"
            && let Some(cwd) = &self.scope.cwd
        {
            return Feed::text(cwd.clone(), origin);
        }
        let outer = self.scope.clone();
        let part = self.part;
        let feed = self.inside(Within::Substitution, |this| this.script(text, origin));
        self.scope = outer;
        self.part = part;
        match (feed, redirected_input(text)) {
            (_, Some(_)) => Feed::stream(super::code::A_FILE),
            (feed, None) => feed,
        }
    }

    /// Gives a process substitution its name, and remembers what it prints.
    pub(super) fn descriptor(&mut self, feed: Feed) -> String {
        self.descriptors.push(feed);
        format!("/dev/fd/{}", 62 + self.descriptors.len())
    }

    /// What a process substitution named by [`Self::descriptor`] prints.
    pub(super) fn described(&self, name: &str) -> Option<Feed> {
        let number: usize = name.strip_prefix("/dev/fd/")?.parse().ok()?;
        self.descriptors.get(number.checked_sub(63)?).cloned()
    }

    fn sequence(&mut self, nodes: &[Node], input: &Feed) -> Feed {
        let mut output = Feed::Outer;
        for node in nodes {
            let feed = self.node(node, input);
            output = output.then(feed);
        }
        output
    }

    pub(super) fn node(&mut self, node: &Node, input: &Feed) -> Feed {
        if self.limits >= MAX_LIMITS {
            return Feed::stream("unread text");
        }
        match node {
            Node::Simple(simple) => self.simple(simple, input),
            Node::Chain(first, rest) => self.chain(first, rest, input),
            Node::Pipe(stages) => self.nest(Span::new("/command", 0, 0), |this| this.pipe(stages, input)),
            Node::Group(body) => self.nest(Span::new("/command", 0, 0), |this| this.sequence(body, input)),
            Node::Subshell(body) => self.apart(Within::Subshell, |this| this.sequence(body, input)),
            Node::Branch(test, arms) => self.branch(test, arms, input),
            Node::Loop(it) => self.repeat(it, input),
            Node::Function(names, body) => self.define(names, body),
            Node::Background(body) => self.apart(Within::Background, |this| this.node(body, input)),
            Node::Words(words) => {
                words.iter().for_each(|word| drop(self.one(word)));
                Feed::Outer
            }
            Node::Arithmetic(words) => {
                words.iter().for_each(|word| self.arithmetic(word));
                Feed::Outer
            }
            Node::Redirected(body, redirects) => self.redirected(body, redirects, input),
            Node::Unknown(why, range) => {
                let span = self.span(*range);
                self.opaque(why.clone(), span);
                Feed::stream("unparsed text")
            }
        }
    }

    /// Reads what runs in a shell of its own: its changes stay inside.
    fn apart(&mut self, within: Within, inner: impl FnOnce(&mut Self) -> Feed) -> Feed {
        let outer = self.scope.clone();
        let feed = self.inside(within, |this| this.nest(Span::new("/command", 0, 0), inner));
        self.scope = outer;
        feed
    }

    fn chain(&mut self, first: &Node, rest: &[(Link, Node)], input: &Feed) -> Feed {
        let mut before = self.scope.clone();
        let mut output = self.node(first, input);
        for (link, node) in rest {
            let reached = self.scope.clone();
            if *link == Link::Or {
                self.scope.merge(&before);
            }
            let feed = self.inside(Within::Condition, |this| this.node(node, input));
            match link {
                Link::Or if leaves(node) => self.scope = reached.clone(),
                Link::Or => self.scope.merge(&reached),
                Link::And => {}
            }
            before = reached;
            output = output.then(feed);
        }
        output
    }

    fn pipe(&mut self, stages: &[Node], input: &Feed) -> Feed {
        let outer = self.scope.clone();
        let mut feed = input.clone();
        for (at, stage) in stages.iter().enumerate() {
            let position = Within::Pipe(u32::try_from(at).unwrap_or(u32::MAX));
            feed = self.inside(position, |this| this.node(stage, &feed));
            if matches!(feed, Feed::Outer) {
                feed = Feed::text(String::new(), Origin::Range(0, 0));
            }
            self.scope = outer.clone();
        }
        feed
    }

    fn branch(&mut self, test: &[Node], arms: &[Vec<Node>], input: &Feed) -> Feed {
        self.nest(Span::new("/command", 0, 0), |this| {
            this.inside(Within::Condition, |this| this.sequence(test, input));
            let before = this.scope.clone();
            let mut after: Option<Scope> = None;
            let mut output = Feed::Outer;
            for arm in arms {
                this.scope = before.clone();
                let feed = this.inside(Within::Branch, |this| this.sequence(arm, input));
                output = either(output, feed);
                if !arm.last().is_some_and(leaves) {
                    match &mut after {
                        Some(after) => after.merge(&this.scope),
                        None => after = Some(this.scope.clone()),
                    }
                }
            }
            this.scope = after.unwrap_or(before);
            output
        })
    }

    fn repeat(&mut self, it: &Loop, input: &Feed) -> Feed {
        self.nest(Span::new("/command", 0, 0), |this| {
            this.decoded = Decoded::No;
            let values = it.words.as_ref().map(|words| this.words(words));
            let decoded = this.decoded;
            let mut changed = BTreeSet::new();
            assigned(&it.head, &mut changed);
            assigned(&it.body, &mut changed);
            let before = this.scope.clone();
            changed.iter().filter(|name| *name != MOVES).for_each(|name| this.scope.forget(name));
            let literal = values.as_ref().is_some_and(|values| values.iter().all(|value| value.why().is_none()));
            let few = values.as_ref().map_or(0, Vec::len) <= MAX_VALUES && this.unrolled < 4 * MAX_VALUES;
            match (values, it.variables.as_slice()) {
                (Some(values), [name]) if literal && few => {
                    this.unrolled += values.len();
                    for value in values {
                        this.decoded = decoded;
                        this.assign(name, Value::Parts(value.parts), &value.span);
                        this.turn(it, input);
                    }
                }
                (values, names) => {
                    let why = values.iter().flatten().find_map(|value| value.why().cloned());
                    for name in names {
                        let why = why.clone().unwrap_or_else(|| Why::Variable(name.clone()));
                        let span = Span::new("/command", 0, 0);
                        this.assign(name, Value::Unknown(why), &span);
                    }
                    if changed.contains(MOVES) {
                        // A second turn starts where the first one ended.
                        this.scope.cwd = None;
                    }
                    this.turn(it, input);
                }
            }
            this.scope.merge(&before);
            Feed::stream("a loop")
        })
    }

    fn turn(&mut self, it: &Loop, input: &Feed) {
        self.inside(Within::Condition, |this| this.sequence(&it.head, input));
        self.inside(Within::Loop, |this| this.sequence(&it.body, input));
    }
}

/// `$(< file)` prints the file.
fn redirected_input(text: &str) -> Option<()> {
    let rest = text.trim_start().strip_prefix('<')?;
    (!rest.starts_with(['<', '('])).then_some(())
}

/// Output of one of two ways: known only when both are the same.
fn either(one: Feed, other: Feed) -> Feed {
    match (one, other) {
        (Feed::Outer, feed) | (feed, Feed::Outer) => feed,
        (one, other) => {
            let decoded = one.decoded().max(other.decoded());
            Feed::stream("a branch").mark(decoded)
        }
    }
}
