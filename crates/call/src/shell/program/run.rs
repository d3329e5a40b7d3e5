//! Applies a row to an invocation.

use super::super::args::{Args, Order};
use super::super::command::{Named, kept};
use super::super::feed::Feed;
use super::super::ir::{Simple, Word};
use super::super::walk::Reader;
use super::row::{Does, Pick, Row, Rule, Say, Sub};
use crate::action::{
    ActionKind, Connect, Control, Depth, Destroy, DestroyClass, Execute, Flow, Install, Listen, Peer, Publish, Signal,
    Standing, Target, Why, WriteHow,
};
use crate::span::Span;

/// An invocation of a program with a row.
pub(super) struct Use<'r, 's, 'w> {
    pub(super) reader: &'r mut Reader<'s>,
    pub(super) simple: &'w Simple,
    pub(super) input: &'w Feed,
    /// The program's name.
    pub(super) name: &'w str,
    /// The subcommand as the row spells it, or empty.
    pub(super) sub: &'static str,
    /// Flags before the subcommand.
    pub(super) global: Args,
    pub(super) args: Args,
    /// Where the note that the program runs stands among the actions.
    executed: usize,
    /// The directory to come back to, where a flag such as `git -C` changed it.
    outer: Option<Option<String>>,
}

/// Applies `row`.
pub(super) fn run(reader: &mut Reader<'_>, named: &Named, row: &'static Row, simple: &Simple, input: &Feed) {
    let words = simple.words.get(1..).unwrap_or(&[]);
    let executed = reader.actions.len();
    let span = simple.words.first().map_or(&simple.span, |word| &word.span);
    reader.execute(named.program.clone(), kept(&named.standing, Standing::Row), span);
    let (global, args, sub, rules) = match row.does {
        Does::Rules(rules) => {
            let args = Args::parse_listed(words, &valued(row.values, rules), row.style, Order::Free);
            (Args::default(), args, "", rules)
        }
        Does::Subs(subs) => {
            // `cargo +nightly build`: the toolchain comes before the subcommand.
            let words = if words.first().is_some_and(|word| word.lead().starts_with('+')) {
                words.get(1..).unwrap_or(&[])
            } else {
                words
            };
            let global = Args::parse(words, row.values, row.style, Order::Leading);
            let (sub, name, taken) = choose(subs, &global.operands);
            let rest = global.operands.get(taken..).unwrap_or(&[]);
            let rules = sub.map_or(UNKNOWN, |sub| sub.rules);
            let values = valued(sub.map_or(row.values, |sub| sub.values), rules);
            let args = Args::parse_listed(rest, &values, row.style, Order::Free);
            (global, args, name, rules)
        }
    };
    let mut it = Use { reader, simple, input, name: &named.base, sub, global, args, executed, outer: None };
    for rule in row.always.iter().chain(rules) {
        it.apply(rule);
    }
    super::pointed::note(&mut it);
    super::mention::note(&mut it, executed);
    if let Some(cwd) = it.outer {
        reader.scope.cwd = cwd;
    }
}

/// The flags that take a value: those listed, and those whose value a rule names.
fn valued(listed: &'static str, rules: &[Rule]) -> Vec<&'static str> {
    let named = rules.iter().filter_map(|rule| match *rule {
        Rule::ReadFlag(names) | Rule::WriteFlag(names) => Some(names),
        Rule::Read(_)
        | Rule::Write(..)
        | Rule::Delete(..)
        | Rule::If(..)
        | Rule::IfNot(..)
        | Rule::Always(_)
        | Rule::Code(_) => None,
    });
    std::iter::once(listed).chain(named).collect()
}

const UNKNOWN: &[Rule] = &[Rule::Always(Say::Unknown)];

/// The entry that names the first operands, how the row spells it, and how many words that takes.
fn choose(subs: &'static [Sub], operands: &[Word]) -> (Option<&'static Sub>, &'static str, usize) {
    let mut best: (Option<&'static Sub>, &'static str, usize) = (None, "", 0);
    let first = operands.first().and_then(Word::literal).unwrap_or("");
    for sub in subs {
        // Most entries do not hold the word at all; only the others are looked at name by name.
        let open = sub.names.is_empty() || sub.names == "*" || first.is_empty();
        if !open && !sub.names.contains(first) {
            continue;
        }
        for name in sub.names.split(',') {
            let length = name.split(' ').filter(|word| !word.is_empty()).count();
            let fits = name
                .split(' ')
                .filter(|word| !word.is_empty())
                .zip(operands)
                .filter(|(name, word)| word.literal() == Some(name))
                .count();
            let any = (name.is_empty() && operands.is_empty())
                || (name == "*" && best.0.is_none() && operands.first().is_some_and(|word| word.literal().is_some()));
            if any && best.0.is_none() {
                best = (Some(sub), name, 0);
            } else if !name.is_empty() && fits == length && (length > best.2 || best.0.is_none()) {
                best = (Some(sub), name, length);
            }
        }
    }
    best
}

impl Use<'_, '_, '_> {
    fn apply(&mut self, rule: &Rule) {
        match *rule {
            Rule::Read(pick) => self.each(pick, |this, word| this.read(word)),
            Rule::Write(pick, how) => self.each(pick, |this, word| this.write(word, how)),
            Rule::Delete(pick, depth) => self.each(pick, |this, word| this.delete(word, depth)),
            Rule::ReadFlag(names) => self.each_value(names, |this, word| this.read(word)),
            Rule::WriteFlag(names) => self.each_value(names, |this, word| this.write(word, WriteHow::Replace)),
            Rule::If(names, say) => {
                if self.has(names) {
                    self.say(say);
                }
            }
            Rule::IfNot(names, say) => {
                if !self.has(names) {
                    self.say(say);
                }
            }
            Rule::Always(say) => self.say(say),
            Rule::Code(code) => code(self),
        }
    }

    /// Whether any of the flags was given, before or after the subcommand.
    pub(super) fn has(&self, names: &str) -> bool {
        self.args.has(names) || self.global.has(names)
    }

    /// The value of the last of these flags.
    pub(super) fn value(&self, names: &str) -> Option<Word> {
        self.args.value(names).or_else(|| self.global.value(names)).cloned()
    }

    /// The values of these flags.
    pub(super) fn values(&self, names: &str) -> Vec<Word> {
        self.global.values(names).chain(self.args.values(names)).cloned().collect()
    }

    /// An operand, if there is one.
    pub(super) fn operand(&self, at: usize) -> Option<Word> {
        self.args.operands.get(at).cloned()
    }

    /// The operands from this one on.
    pub(super) fn operands(&self, from: usize) -> Vec<Word> {
        self.args.operands.get(from..).unwrap_or(&[]).to_vec()
    }

    /// The words from this operand on, flags among them: the command that it begins.
    pub(super) fn tail(&self, at: usize) -> Vec<Word> {
        let Some(first) = self.args.operands.get(at) else { return Vec::new() };
        self.simple.words.iter().skip(1).skip_while(|word| *word != first).cloned().collect()
    }

    /// The text of an operand, if it is known.
    pub(super) fn literal(&self, at: usize) -> Option<&str> {
        self.args.operands.get(at).and_then(Word::literal)
    }

    pub(super) fn each(&mut self, pick: Pick, act: impl Fn(&mut Self, &Word)) {
        let count = self.args.operands.len();
        let range = match pick {
            Pick::From(from) => from..count,
            Pick::At(at) => at..(at + 1).min(count),
            Pick::Last => count.saturating_sub(1)..count,
            Pick::ButLast => 0..count.saturating_sub(1),
        };
        for word in self.args.operands.get(range).unwrap_or(&[]).to_vec() {
            act(self, &word);
        }
    }

    pub(super) fn each_value(&mut self, names: &str, act: impl Fn(&mut Self, &Word)) {
        for word in self.values(names) {
            act(self, &word);
        }
    }

    /// The path that `word` names.
    pub(super) fn target(&self, word: &Word) -> Target {
        word.target(self.reader.scope.cwd.as_deref())
    }

    /// Notes that a file is read; `-` is standard input.
    pub(super) fn read(&mut self, word: &Word) {
        if !self.is_stream(word) {
            let target = self.target(word);
            self.act_at(ActionKind::Read(target), word);
        }
    }

    /// Notes that a file is written; `-` is standard output.
    pub(super) fn write(&mut self, word: &Word, how: WriteHow) {
        if !self.is_stream(word) {
            let target = self.target(word);
            self.act_at(ActionKind::Write(target, how), word);
        }
    }

    /// Standard input or output, or a process substitution: no file.
    fn is_stream(&self, word: &Word) -> bool {
        word.literal().is_some_and(|name| name == "-" || self.reader.described(name).is_some())
    }

    /// Notes that something is removed; also from where a failed `cd` would have left the script.
    pub(super) fn delete(&mut self, word: &Word, depth: Depth) {
        let target = self.target(word);
        self.act_at(ActionKind::Delete(target.clone(), depth), word);
        if let Some(fallback) = self.reader.scope.fallback.clone()
            && !word.lead().starts_with('/')
            && word.why().is_none()
        {
            let other = word.target(Some(&fallback));
            if other != target {
                self.act_at(ActionKind::Delete(other, depth), word);
            }
        }
    }

    /// Changes the directory for the rest of this invocation.
    pub(super) fn enter(&mut self, directory: &Word) {
        let next = self.reader.enter(directory);
        let before = std::mem::replace(&mut self.reader.scope.cwd, next);
        self.outer.get_or_insert(before);
    }

    /// The directory before a flag changed it.
    pub(super) fn before(&self) -> Option<&str> {
        self.outer.as_ref().unwrap_or(&self.reader.scope.cwd).as_deref()
    }

    pub(super) fn act_at(&mut self, kind: ActionKind, word: &Word) {
        self.reader.act(kind, word.span.clone());
    }

    /// Notes something about the whole command.
    pub(super) fn act(&mut self, kind: ActionKind) {
        let span = self.span();
        self.reader.act(kind, span);
    }

    pub(super) fn span(&self) -> Span {
        self.simple.span.clone()
    }

    pub(super) fn opaque(&mut self, why: Why) {
        self.act(ActionKind::Opaque(why));
    }

    pub(super) fn connect(&mut self, peer: Peer, flow: Flow) {
        self.act(ActionKind::Connect(Connect { peer, flow }));
    }

    pub(super) fn destroy(&mut self, class: DestroyClass, what: impl Into<String>) {
        self.act(ActionKind::Destroy(Destroy { class, what: what.into() }));
    }

    /// Changes how the program itself stands.
    pub(super) fn stands(&mut self, standing: Standing) {
        if let Some(ActionKind::Execute(Execute { standing: now, .. })) =
            self.reader.actions.get_mut(self.executed).map(|action| &mut action.kind)
            && !matches!(now, Standing::File(_))
        {
            *now = standing;
        }
    }

    /// Reads words as another command.
    pub(super) fn inner(&mut self, words: &[Word]) {
        let input = self.input.clone();
        self.reader.inner(words, Vec::new(), self.simple, &input);
    }

    /// Reads a word as shell code.
    pub(super) fn code(&mut self, word: &Word) {
        let decoded = self.reader.decoded;
        self.reader.code(std::slice::from_ref(word), decoded, self.simple);
    }

    pub(super) fn say(&mut self, say: Say) {
        let kind = match say {
            Say::Project => return self.stands(Standing::Project),
            Say::Unknown => return self.stands(Standing::NoRow),
            Say::Service(name, flow) => return self.connect(Peer::Service(name.to_owned()), flow),
            Say::Registry(name, flow) => return self.connect(Peer::Registry(name.to_owned()), flow),
            Say::Listen(scope, text) => ActionKind::Listen(Listen { scope, text: text.to_owned() }),
            Say::Install(scope, source) => {
                ActionKind::Install(Install { manager: self.name.to_owned(), scope, source })
            }
            Say::Privilege(text) => ActionKind::Privilege(text.to_owned()),
            Say::Persist(text) => ActionKind::Persist(text.to_owned()),
            Say::Environment(text) => ActionKind::Control(Control::Environment(text.to_owned())),
            Say::Configuration(text) => ActionKind::Control(Control::Configuration(text.to_owned())),
            Say::Guard(text) => ActionKind::Control(Control::Guard(text.to_owned())),
            Say::Traces(text) => ActionKind::Control(Control::Traces(text.to_owned())),
            Say::Package(text) => ActionKind::Publish(Publish::Package(text.to_owned())),
            Say::Deploy(text) => ActionKind::Publish(Publish::Deploy(text.to_owned())),
            Say::Post(text) => ActionKind::Publish(Publish::Post(text.to_owned())),
            Say::Upload(text) => ActionKind::Publish(Publish::Upload(text.to_owned())),
            Say::Message(text) => ActionKind::Message(text.to_owned()),
            Say::Spend(text) => ActionKind::Spend(text.to_owned()),
            Say::Destroy(class, text) => return self.destroy(class, text),
            Say::SignalAll(text) => ActionKind::Signal(Signal::All(text.to_owned())),
            Say::Hidden(text) => ActionKind::Opaque(Why::Code(text.to_owned())),
        };
        self.act(kind);
    }
}
