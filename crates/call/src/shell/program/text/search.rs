//! Searching and showing text.

use super::super::super::ir::Word;
use super::super::row::{Pick, Say};
use super::super::run::Use;
use crate::action::WriteHow;

/// The pattern is the first operand unless `-e` or `-f` gives it.
pub(super) fn grep(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --file --exclude-from", |it, word| it.read(word));
    let listing = it.has("--files --type-list --list-file-types");
    let from = usize::from(!it.has("-e --regexp -f --file") && !listing);
    let recursive = it.has("-r -R --recursive --dereference-recursive")
        || it.args.value("-d --directories").and_then(Word::literal) == Some("recurse")
        || matches!(it.name, "rg" | "ag" | "ack" | "rgrep" | "ripgrep");
    it.each(
        Pick::From(from),
        |it, word| if recursive && leaves(word) { it.read(&word.beneath()) } else { it.read(word) },
    );
    if recursive && it.operand(from).is_none() {
        let here = Word::literal_at(".", it.span());
        it.read(&here);
    }
}

/// A place that may hold more than the project: all that lies beneath it is what is read.
fn leaves(word: &Word) -> bool {
    let lead = word.lead();
    word.literal().is_some() && (lead.starts_with(['/', '~']) || lead.split('/').any(|part| part == ".."))
}

pub(super) fn patch(it: &mut Use<'_, '_, '_>) {
    it.each_value("-i --input", |it, word| it.read(word));
    it.each_value("-o --output -r --reject-file", |it, word| it.write(word, WriteHow::Replace));
    match it.operand(0) {
        Some(file) => it.write(&file, WriteHow::Change),
        None => {
            let here = it.value("-d --directory").unwrap_or_else(|| Word::literal_at(".", it.span()));
            it.write(&here.beneath(), WriteHow::Change);
        }
    }
    it.each(Pick::At(1), |it, word| it.read(word));
}

pub(super) fn jq(it: &mut Use<'_, '_, '_>) {
    it.each_value("-f --from-file", |it, word| it.read(word));
    for triple in it.simple.words.clone().windows(3) {
        if let [flag, _, file] = triple
            && matches!(flag.literal(), Some("--slurpfile" | "--rawfile"))
        {
            it.read(file);
        }
    }
    // `yq eval EXPR FILE`: every later word may be a file.
    let skip = usize::from(matches!(it.literal(0), Some("eval" | "e" | "ea" | "eval-all")));
    let from = skip + usize::from(!it.has("-f --from-file"));
    let in_place = it.name != "jq" && it.has("-i --inplace");
    it.each(Pick::From(from), |it, word| if in_place { it.write(word, WriteHow::Change) } else { it.read(word) });
}

/// `date -s` sets the clock; `dmesg -C` erases; the rest only print.
pub(super) fn clock(it: &mut Use<'_, '_, '_>) {
    if it.name.ends_with("date") && it.has("-s --set") {
        it.say(Say::Privilege("the system clock"));
    }
    if it.name == "dmesg" && it.has("-C --clear -c --read-clear") {
        it.say(Say::Traces("the kernel log"));
    }
    if matches!(it.name, "shuf" | "bc" | "factor") {
        it.each_value("-o --output", |it, word| it.write(word, WriteHow::Replace));
        let files = it.operands(0);
        files.iter().for_each(|word| it.read(word));
    }
    if it.name == "man" && it.has("-P --pager -H --html") {
        it.say(Say::Hidden("pager"));
    }
}
