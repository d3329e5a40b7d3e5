//! Flags, flag values and operands of a command line.

use super::ir::Word;

/// How a program writes its flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// `-rf`, `--force`, `--file=x`.
    Gnu,
    /// `-name value`: one dash, whole words (find, terraform, go, java).
    Words,
}

/// Whether flags may follow the first operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Anywhere.
    Free,
    /// All that follows the first operand belongs to it (wrappers).
    Leading,
}

/// Arguments, told apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    pub(super) flags: Vec<Flag>,
    pub(super) operands: Vec<Word>,
    /// How many words were looked at: with [`Order::Leading`], where the operands start.
    pub(super) consumed: usize,
}

/// A flag as given.
#[derive(Debug, Clone)]
pub(super) struct Flag {
    /// With its dashes: `-f`, `--file`.
    pub(super) name: String,
    /// Attached, or the next word.
    pub(super) value: Option<Word>,
    spelling: Spelling,
}

/// Whether a flag is listed as it was given, or may be short for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spelling {
    Listed,
    Short,
}

impl Args {
    /// Tells the words after the command word apart.
    ///
    /// `values` lists the flags that take a value, separated by blanks; `-i?` takes one only when
    /// it is attached.
    pub(super) fn parse(words: &[Word], values: &str, style: Style, order: Order) -> Self {
        Self::parse_listed(words, &[values], style, order)
    }

    /// [`Self::parse`] with several lists of flags that take a value.
    pub(super) fn parse_listed(words: &[Word], values: &[&str], style: Style, order: Order) -> Self {
        let mut args = Self::default();
        let mut words_left = words.iter();
        while let Some(word) = words_left.next() {
            let lead = word.lead();
            if lead == "--" && word.literal().is_some() {
                args.consumed += 1;
                args.operands.extend(words_left.cloned());
                break;
            }
            if lead.len() < 2 || !lead.starts_with('-') {
                if order == Order::Leading {
                    args.operands.push(word.clone());
                    args.operands.extend(words_left.cloned());
                    break;
                }
                args.consumed += 1;
                args.operands.push(word.clone());
                continue;
            }
            args.consumed += 1;
            let wants = if lead.starts_with("--") || style == Style::Words {
                args.long(word, values)
            } else {
                args.cluster(word, values)
            };
            if wants && let Some(value) = words_left.next() {
                args.consumed += 1;
                if let Some(flag) = args.flags.last_mut() {
                    flag.value = Some(value.clone());
                }
            }
        }
        args
    }

    /// `--name`, `--name=value`; says whether the next word is its value.
    fn long(&mut self, word: &Word, values: &[&str]) -> bool {
        let lead = word.lead();
        if let Some((name, _)) = lead.split_once('=') {
            let value = word.without_lead(name.len() + 1);
            self.flags.push(Flag { name: name.to_owned(), value: Some(value), spelling: spelling(values, name) });
            return false;
        }
        if word.literal().is_none() {
            self.operands.push(word.clone());
            return false;
        }
        self.flags.push(Flag { name: lead.to_owned(), value: None, spelling: spelling(values, lead) });
        lists(values, lead)
    }

    /// `-abc`; says whether the next word is the value of the last one.
    fn cluster(&mut self, word: &Word, values: &[&str]) -> bool {
        let lead = word.lead();
        for (at, mark) in lead.char_indices().skip(1) {
            let name = format!("-{mark}");
            let after = at + mark.len_utf8();
            let takes = lists(values, &name);
            let attached = takes || lists(values, &format!("{name}?"));
            let more = after < lead.len() || word.parts.len() > 1;
            if attached && more {
                self.flags.push(Flag { name, value: Some(word.without_lead(after)), spelling: Spelling::Listed });
                return false;
            }
            self.flags.push(Flag { name, value: None, spelling: Spelling::Listed });
            if takes {
                return true;
            }
        }
        if word.parts.len() > 1 {
            self.operands.push(word.clone());
        }
        false
    }

    /// Every flag that was given with a value.
    pub(super) fn given(&self) -> impl Iterator<Item = (&str, &Word)> {
        self.flags.iter().filter_map(|flag| Some((flag.name.as_str(), flag.value.as_ref()?)))
    }

    /// Whether any of `names` was given, in full or shortened without doubt.
    pub(super) fn has(&self, names: &str) -> bool {
        self.flags.iter().any(|flag| is_one_of(names, flag))
    }

    /// The value of the last of `names` that was given.
    pub(super) fn value(&self, names: &str) -> Option<&Word> {
        self.flags.iter().rev().filter(|flag| is_one_of(names, flag)).find_map(|flag| flag.value.as_ref())
    }

    /// The values of all of `names` that were given.
    pub(super) fn values<'a>(&'a self, names: &'a str) -> impl Iterator<Item = &'a Word> {
        self.flags.iter().filter(|flag| is_one_of(names, flag)).filter_map(|flag| flag.value.as_ref())
    }
}

fn lists(values: &[&str], name: &str) -> bool {
    values.iter().flat_map(|list| list.split_ascii_whitespace()).any(|listed| listed == name)
}

fn spelling(values: &[&str], name: &str) -> Spelling {
    if lists(values, name) { Spelling::Listed } else { Spelling::Short }
}

/// A long flag may be shortened: `--recurs` is `--recursive`. Four letters at least, and never one
/// that is listed itself: `--body` is not short for `--body-file`.
fn is_one_of(names: &str, flag: &Flag) -> bool {
    let given = flag.name.as_str();
    let short = flag.spelling == Spelling::Short && given.len() >= 6 && given.starts_with("--");
    names
        .split_ascii_whitespace()
        .any(|name| name == given || (short && name.len() > given.len() && name.starts_with(given)))
}
