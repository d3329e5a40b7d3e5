//! How a call is read: its simple commands, what each does, and what the policy says of it, in words and as JSON.

use serde_json::{Value, json};
use tollgate::call::shell::{Simple, Within};
use tollgate::call::{Call, Span};
use tollgate::policy::{Decision, Finding, Findings};

use super::spoken;
use crate::printer::{Printer, Tone, visible};

/// One simple command, or the whole call of a tool that runs none.
struct Part<'a> {
    number: u32,
    command: Option<&'a Simple>,
    text: String,
    actions: Vec<&'a tollgate::call::Action>,
    findings: Vec<&'a Finding>,
}

/// Prints the reading, part by part. Parts that do nothing and about which nothing is said are left out.
pub(super) fn tell(call: &Call, findings: &Findings, printer: Printer) {
    for part in parts(call, findings) {
        let within = part.command.map_or_else(String::new, |command| standing(&command.within));
        printer.line(&format!("  {}{within}", printer.paint(Tone::Strong, &visible(&part.text))));
        for action in part.actions {
            printer.line(&format!("      {}", visible(&spoken::words(&action.kind))));
        }
        for finding in part.findings {
            tell_finding(call, finding, printer);
        }
    }
}

fn tell_finding(call: &Call, finding: &Finding, printer: Printer) {
    let decision = printer.paint(tone(finding.decision), finding.decision.as_str());
    printer.line(&format!("    {decision} [{}] {}", finding.rule, visible(&finding.because)));
    if let Some((line, mark)) = finding.span.as_ref().and_then(|span| underlined(call.pointed(span)?, span)) {
        printer.line(&format!("        {line}\n        {mark}"));
    }
    if let Some(instead) = &finding.instead {
        printer.line(&format!("      instead: {}", visible(instead)));
    }
}

/// The colour of a decision.
pub(super) const fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Allow => Tone::Good,
        Decision::Ask => Tone::Care,
        Decision::Deny => Tone::Bad,
    }
}

/// The reading as JSON: `[{part, text, cwd, within, actions, findings}]`.
pub(super) fn json(call: &Call, findings: &Findings) -> Value {
    parts(call, findings).iter().map(part_json).collect()
}

fn part_json(part: &Part<'_>) -> Value {
    let within = part.command.map_or_else(Vec::new, |command| command.within.iter().map(word).collect());
    json!({
        "part": part.number,
        "text": part.text,
        "cwd": part.command.and_then(|command| command.cwd.as_deref()),
        "within": within,
        "actions": part.actions.iter().map(|action| spoken::action(action)).collect::<Vec<_>>(),
        "findings": part.findings.iter().map(|finding| finding_json(finding)).collect::<Vec<_>>(),
    })
}

fn finding_json(finding: &Finding) -> Value {
    json!({
        "decision": finding.decision.as_str(),
        "rule": finding.rule.as_str(),
        "because": finding.because,
        "instead": finding.instead,
        "span": finding.span.as_ref().map(|span| json!({
            "pointer": span.pointer, "start": span.start, "end": span.end,
        })),
    })
}

/// The parts in the order they run. What nothing speaks against is said by the decision alone.
fn parts<'a>(call: &'a Call, findings: &'a Findings) -> Vec<Part<'a>> {
    let commands = call.script().map_or(&[][..], |script| &script.commands);
    let count = commands.len().max(1);
    let part = |at: usize| {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        let command = commands.get(at);
        Part {
            number,
            command,
            text: command.map_or_else(|| call.name().to_owned(), |command| shown(call, &command.span)),
            actions: call.actions().iter().filter(|action| action.part == number).collect(),
            findings: said(findings, number),
        }
    };
    (0..count).map(part).filter(|part| !part.actions.is_empty() || !part.findings.is_empty()).collect()
}

/// What is said against a part, each once: the ways that a command may go often end alike.
fn said(findings: &Findings, part: u32) -> Vec<&Finding> {
    let mut said: Vec<&Finding> = Vec::new();
    for finding in findings.into_iter().filter(|it| it.part == part && it.decision != Decision::Allow) {
        if !said.contains(&finding) {
            said.push(finding);
        }
    }
    said
}

/// The text of a command; one that another command made, or that is empty, is called so.
fn shown(call: &Call, span: &Span) -> String {
    let range = span.start as usize..span.end as usize;
    match call.pointed(span).and_then(|text| text.get(range)) {
        Some(text) if !text.trim().is_empty() => text.trim().trim_end_matches(['&', '|', ';', ' ']).to_owned(),
        Some(_) | None => "(made by another part)".to_owned(),
    }
}

/// In words, what a command stands in.
fn standing(within: &[Within]) -> String {
    if within.is_empty() {
        return String::new();
    }
    format!("   ({})", within.iter().map(word).collect::<Vec<_>>().join(", "))
}

fn word(within: &Within) -> String {
    match within {
        Within::Pipe(position) => format!("stage {} of a pipe", position + 1),
        Within::Subshell => "in a subshell".to_owned(),
        Within::Condition => "on a condition".to_owned(),
        Within::Branch => "in a branch".to_owned(),
        Within::Loop => "in a loop".to_owned(),
        Within::Function => "in a function".to_owned(),
        Within::Trap => "in a trap".to_owned(),
        Within::Background => "in the background".to_owned(),
        Within::Substitution => "in a substitution".to_owned(),
        Within::Wrapped => "run by another program".to_owned(),
        Within::Elsewhere => "on another machine".to_owned(),
    }
}

/// Characters that are shown on either side of what is underlined.
const BESIDE: usize = 60;

/// The line that a span begins on, and the mark under it; columns are those of the text as shown. Of a long line, what
/// stands beside the mark.
fn underlined(text: &str, span: &Span) -> Option<(String, String)> {
    let (start, end) = (span.start as usize, span.end as usize);
    let head = text.get(..start)?;
    let line_start = head.rfind('\n').map_or(0, |at| at + 1);
    let line_end = text.get(start..)?.find('\n').map_or(text.len(), |at| start + at);
    let before = ending(&visible(text.get(line_start..start)?));
    let marked = visible(text.get(start..end.min(line_end))?);
    let line = format!("{before}{marked}{}", beginning(&visible(text.get(end.min(line_end)..line_end)?)));
    let mark = format!("{}{}", " ".repeat(before.chars().count()), "^".repeat(marked.chars().count().max(1)));
    Some((line, mark))
}

fn ending(text: &str) -> String {
    match text.char_indices().rev().nth(BESIDE) {
        Some((at, _)) => format!("…{}", text.get(at..).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn beginning(text: &str) -> String {
    match text.char_indices().nth(BESIDE) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Words of a command line as one command: a single word is taken as it is, several are quoted where they need it.
pub(super) fn one_command(words: &[String]) -> String {
    match words {
        [command] => command.clone(),
        words => words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_under_the_part_on_its_own_line() {
        let (line, mark) = underlined("cd x\nrm -rf /tmp", &Span::new("/command", 8, 11)).unwrap();
        assert_eq!((line.as_str(), mark.as_str()), ("rm -rf /tmp", "   ^^^"));
    }

    #[test]
    fn a_mark_counts_escaped_characters_as_they_are_shown() {
        let (line, mark) = underlined("a\u{1b}b", &Span::new("/command", 2, 3)).unwrap();
        assert_eq!((line.as_str(), mark.as_str()), ("a\\u{1b}b", "       ^"));
    }

    #[test]
    fn of_a_long_line_what_stands_beside_the_mark_is_shown() {
        let text = format!("{} rm {}", "é".repeat(200), "x".repeat(200));
        let (line, mark) = underlined(&text, &Span::new("/command", 401, 403)).unwrap();
        assert!(line.chars().count() < 140 && line.starts_with('…') && line.ends_with('…'), "{line}");
        let at = mark.chars().take_while(|c| *c == ' ').count();
        assert_eq!(line.chars().skip(at).take(2).collect::<String>(), "rm");
    }

    #[test]
    fn words_stay_words() {
        let words = |words: &[&str]| one_command(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(words(&["ls | wc"]), "ls | wc");
        assert_eq!(words(&["rm", "-rf", "a b", "it's", ""]), r"rm -rf 'a b' 'it'\''s' ''");
    }
}
