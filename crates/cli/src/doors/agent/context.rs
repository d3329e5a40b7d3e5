//! What a turn is sent: the newest messages, and in one line what was left out.
//!
//! Trimming decides nothing: labels, budgets and denials of the run are in the ledger and stay.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tollgate::ledger::Digest;

use crate::model::turn::Message;

/// Bytes of text that make about one token.
const BYTES_A_TOKEN: usize = 4;
/// Messages that are kept at least, where they fit.
const KEPT: usize = 8;
/// Tokens of a conversation where nothing else is said.
pub(crate) const DEFAULT_TOKENS: u64 = 24_000;
/// Most bytes of the user's last message that the summary repeats.
const REPEATED: usize = 4_096;

/// The conversation of a run, trimmed to a number of tokens.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// The newest messages, oldest first; the first is never a result without its call.
    messages: Vec<Message>,
    dropped: Option<Dropped>,
    /// What the user said last, if that was left out.
    task: Option<String>,
    cap: u64,
}

/// What was left out so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dropped {
    messages: usize,
    characters: usize,
    tools: BTreeSet<String>,
    /// SHA-256 over the digest before and the messages left out last.
    sha256: [u8; 32],
}

impl Context {
    /// An empty conversation of at most `cap` tokens.
    pub(crate) const fn new(cap: u64) -> Self {
        Self { messages: Vec::new(), dropped: None, task: None, cap }
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.messages.push(message);
    }

    /// Everything that is sent: what was left out in words, then the newest messages.
    pub(crate) fn sent(&self) -> Vec<Message> {
        self.summary().map(Message::User).into_iter().chain(self.messages.iter().cloned()).collect()
    }

    /// About how many tokens are sent besides `system`.
    pub(crate) fn tokens(&self, system: &str) -> u64 {
        let summary = self.summary().map_or(0, |text| text.len());
        tokens(system.len() + summary + self.messages.iter().map(bytes).sum::<usize>())
    }

    /// Leaves out old messages once four fifths of the cap are reached; says what is left out by now, if anything more.
    pub(crate) fn trim(&mut self, system: &str) -> Option<Value> {
        if self.tokens(system) <= self.cap / 5 * 4 {
            return None;
        }
        let mut start = whole_pair(&self.messages, self.messages.len().saturating_sub(KEPT));
        // Where the newest do not fit either, tokens decide; the last message and its call always stay.
        while self.tokens_from(system, start) > self.cap {
            match next_start(&self.messages, start) {
                Some(next) => start = next,
                None => break,
            }
        }
        if start == 0 {
            return None;
        }
        self.leave_out(start);
        Some(json!({ "dropped": self.dropped.as_ref().map(Dropped::json), "kept": self.messages.len() }))
    }

    fn tokens_from(&self, system: &str, start: usize) -> u64 {
        tokens(system.len() + self.room() + self.messages.iter().skip(start).map(bytes).sum::<usize>())
    }

    /// Bytes of the user's last message that the summary repeats: never more than an eighth of what is sent.
    fn room(&self) -> usize {
        let all = usize::try_from(self.cap).unwrap_or(usize::MAX).saturating_mul(BYTES_A_TOKEN);
        REPEATED.min(all / 8)
    }

    fn leave_out(&mut self, start: usize) {
        let mut dropped = self.dropped.take().unwrap_or_default();
        for message in self.messages.drain(..start) {
            dropped.add(&message);
            if let Message::User(text) = message {
                self.task = Some(text);
            }
        }
        if self.messages.iter().any(|message| matches!(message, Message::User(_))) {
            self.task = None;
        }
        self.dropped = Some(dropped);
    }

    fn summary(&self) -> Option<String> {
        let dropped = self.dropped.as_ref()?;
        let tools: Vec<&str> = dropped.tools.iter().map(String::as_str).collect();
        let tools = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        let mut text = format!(
            "[Left out to save room: {} earlier messages, {} characters; tools used there: {tools}; SHA-256 {}. \
             Read files again for what you need of them.]",
            dropped.messages,
            dropped.characters,
            hex(&dropped.sha256)
        );
        if let Some(task) = &self.task {
            let head = task.get(..task.floor_char_boundary(self.room())).unwrap_or(task);
            text.push_str("\nMy last message was:\n");
            text.push_str(head);
        }
        Some(text)
    }
}

impl Dropped {
    fn add(&mut self, message: &Message) {
        let (kind, text) = match message {
            Message::User(text) => ("user", text.clone()),
            Message::Assistant { text, calls } => {
                self.tools.extend(calls.iter().map(|call| call.name.clone()));
                let calls = calls.iter().map(|call| format!("\0{}\0{}", call.name, call.arguments));
                ("assistant", std::iter::once(text.clone()).chain(calls).collect())
            }
            Message::ToolResult { name, content, .. } => ("result", format!("{name}\0{content}")),
        };
        self.messages += 1;
        self.characters += text.chars().count();
        let parts = [&self.sha256[..], kind.as_bytes(), &text.len().to_le_bytes(), text.as_bytes()];
        self.sha256 = *Digest::of(&parts.concat()).bytes();
    }

    fn json(&self) -> Value {
        json!({
            "messages": self.messages, "characters": self.characters, "tools": self.tools, "sha256": hex(&self.sha256),
        })
    }
}

/// The same place, or the call before it whose result stands there.
fn whole_pair(messages: &[Message], mut start: usize) -> usize {
    while start > 0 && is_result(messages.get(start)) {
        start -= 1;
    }
    start
}

/// The next place after `start` at which a conversation may begin.
fn next_start(messages: &[Message], start: usize) -> Option<usize> {
    (start + 1..messages.len()).find(|at| !is_result(messages.get(*at)))
}

const fn is_result(message: Option<&Message>) -> bool {
    matches!(message, Some(Message::ToolResult { .. }))
}

fn bytes(message: &Message) -> usize {
    match message {
        Message::User(text) => text.len(),
        Message::Assistant { text, calls } => {
            text.len() + calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
        }
        Message::ToolResult { content, .. } => content.len(),
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes / BYTES_A_TOKEN).unwrap_or(u64::MAX)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::turn::ProposedCall;

    /// One thing that happens in a conversation, and how many bytes it brings.
    fn happening() -> impl Strategy<Value = Vec<Message>> {
        let user = (0..3000_usize).prop_map(|size| vec![Message::User("u".repeat(size))]);
        let words = (0..3000_usize).prop_map(|size| vec![said("a", size, 0)]);
        let called = (1..4_usize, 0..9000_usize).prop_map(|(calls, size)| {
            let result = |n: usize| Message::ToolResult {
                call_id: format!("c{n}"),
                name: format!("tool{n}"),
                content: "r".repeat(size),
                is_error: false,
            };
            std::iter::once(said("", 10, calls)).chain((0..calls).map(result)).collect()
        });
        prop_oneof![user, words, called]
    }

    fn said(text: &str, size: usize, calls: usize) -> Message {
        let call =
            |n: usize| ProposedCall { id: format!("c{n}"), name: format!("tool{n}"), arguments: "x".repeat(size) };
        Message::Assistant { text: text.repeat(size), calls: (0..calls).map(call).collect() }
    }

    fn results(messages: &[Message]) -> usize {
        messages.iter().filter(|message| is_result(Some(message))).count()
    }

    proptest! {
        #[test]
        fn what_is_sent_begins_well_fits_and_is_the_same_every_time(
            happenings in prop::collection::vec(happening(), 1..40), cap in 500..30_000_u64,
        ) {
            let run = || {
                let mut context = Context::new(cap);
                for message in happenings.iter().flatten() {
                    context.push(message.clone());
                }
                let told = context.trim("system");
                (context, told)
            };
            let (mut context, told) = run();
            let (again, same) = run();
            prop_assert_eq!(context.sent(), again.sent());
            prop_assert_eq!(&told, &same);
            let sent = context.sent();
            prop_assert!(!is_result(sent.first()), "a result without its call");
            let last: usize = happenings.last().map_or(0, |last| last.iter().map(bytes).sum());
            let fits = context.tokens("system") <= cap + tokens(1024);
            prop_assert!(fits || tokens(last) + 2_048 > cap, "{} of {cap}", context.tokens("system"));
            // Every call that is sent has all of its results, and no result stands alone.
            let called: usize = sent.iter().map(|message| match message {
                Message::Assistant { calls, .. } => calls.len(),
                Message::User(_) | Message::ToolResult { .. } => 0,
            }).sum();
            prop_assert_eq!(called, results(&sent));
            prop_assert_eq!(sent.last(), happenings.iter().flatten().next_back());
            let before = context.sent();
            if context.tokens("system") <= cap / 5 * 4 {
                prop_assert_eq!(context.trim("system"), None);
                prop_assert_eq!(context.sent(), before);
            }
        }
    }

    #[test]
    fn a_short_conversation_is_sent_whole() {
        let mut context = Context::new(1000);
        for n in 0..20 {
            context.push(Message::User(format!("{n}")));
        }
        assert_eq!(context.trim("be brief"), None);
        assert_eq!(context.sent().len(), 20);
    }

    #[test]
    fn the_last_eight_stay_and_the_task_is_repeated() {
        let mut context = Context::new(1000);
        context.push(Message::User("mend the parser".to_owned()));
        for _ in 0..12 {
            context.push(said("a", 300, 0));
        }
        let told = context.trim("").unwrap();
        assert_eq!((&told["dropped"]["messages"], &told["kept"]), (&json!(5), &json!(8)));
        let sent = context.sent();
        assert_eq!(sent.len(), 9);
        let Message::User(summary) = &sent[0] else { panic!("{sent:?}") };
        assert!(summary.contains("5 earlier messages") && summary.ends_with("mend the parser"), "{summary}");
    }
}
