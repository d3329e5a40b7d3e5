//! Brace expansion: `{a,b}` and `{1..3}`, on a word that is already cut.

use super::lex::{Piece, PieceKind, Quoted, RawWord};

/// Most words that one word may become.
const MAX_WORDS: usize = 512;
const MAX_DEPTH: u32 = 8;

/// What brace expansion made of a word.
pub(super) enum Braces {
    /// There are none.
    None,
    /// The words, in order.
    Words(Vec<RawWord>),
    /// More than is followed.
    TooMany,
}

/// Expands the braces of `word`.
pub(super) fn expand(word: &RawWord) -> Braces {
    if !word.pieces.iter().any(has_brace) {
        return Braces::None;
    }
    let marks: Vec<Mark> = word.pieces.iter().flat_map(split).collect();
    // `$x{a,b}` is `$xa` and `$xb`: the name takes in what follows.
    let grows = |pair: &[Mark]| {
        let variable =
            matches!(pair.first(), Some(Mark::Piece(Piece { kind: PieceKind::Variable(_, None), quoted: Quoted::No })));
        variable && matches!(pair.last(), Some(Mark::Open))
    };
    if marks.windows(2).any(grows) {
        return Braces::TooMany;
    }
    let Some(words) = alternatives(&marks, 0) else { return Braces::TooMany };
    if words.len() == 1 {
        return Braces::None;
    }
    let make = |pieces| RawWord { pieces, origin: word.origin, verbatim: None };
    Braces::Words(words.into_iter().map(|marks| make(join(&marks))).collect())
}

fn has_brace(piece: &Piece) -> bool {
    match (&piece.kind, piece.quoted) {
        (PieceKind::Text(text), Quoted::No) => text.contains('{'),
        (
            PieceKind::Text(_)
            | PieceKind::Variable(..)
            | PieceKind::Command(..)
            | PieceKind::Process(..)
            | PieceKind::Arithmetic(_)
            | PieceKind::Other(..),
            _,
        ) => false,
    }
}

#[derive(Clone)]
enum Mark {
    Open,
    Comma,
    Close,
    Piece(Piece),
}

fn split(piece: &Piece) -> Vec<Mark> {
    let (PieceKind::Text(text), Quoted::No) = (&piece.kind, piece.quoted) else {
        return vec![Mark::Piece(piece.clone())];
    };
    let mut marks = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find(['{', ',', '}']) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        if !before.is_empty() {
            marks.push(Mark::Piece(plain(before)));
        }
        let mut chars = after.chars();
        match chars.next() {
            Some('{') => marks.push(Mark::Open),
            Some(',') => marks.push(Mark::Comma),
            _ => marks.push(Mark::Close),
        }
        rest = chars.as_str();
    }
    if !rest.is_empty() {
        marks.push(Mark::Piece(plain(rest)));
    }
    marks
}

fn plain(text: &str) -> Piece {
    Piece { kind: PieceKind::Text(text.to_owned()), quoted: Quoted::No }
}

/// Every word that `marks` stands for; `None` when there are too many.
fn alternatives(marks: &[Mark], depth: u32) -> Option<Vec<Vec<Mark>>> {
    let Some((start, end, choices)) = first_group(marks) else { return Some(vec![marks.to_vec()]) };
    if depth >= MAX_DEPTH || choices.is_empty() {
        return None;
    }
    let before = marks.get(..start).unwrap_or(&[]);
    let mut middle = Vec::new();
    for choice in choices {
        middle.extend(alternatives(&choice, depth + 1)?);
    }
    let after = alternatives(marks.get(end + 1..).unwrap_or(&[]), depth + 1)?;
    if middle.len().saturating_mul(after.len()) > MAX_WORDS {
        return None;
    }
    let combine = |choice: &Vec<Mark>, rest: &Vec<Mark>| [before, choice.as_slice(), rest.as_slice()].concat();
    Some(middle.iter().flat_map(|choice| after.iter().map(move |rest| combine(choice, rest))).collect())
}

/// The first `{…}` that expands: where it opens and closes, and its choices.
fn first_group(marks: &[Mark]) -> Option<(usize, usize, Vec<Vec<Mark>>)> {
    let opens = marks.iter().enumerate().filter(|(_, mark)| matches!(mark, Mark::Open)).map(|(at, _)| at);
    opens.take(16).find_map(|start| {
        let (end, commas) = closing(marks, start)?;
        let inside = marks.get(start + 1..end)?;
        let choices = if commas.is_empty() { sequence(inside)? } else { cut_at(marks, start, &commas, end) };
        Some((start, end, choices))
    })
}

fn closing(marks: &[Mark], start: usize) -> Option<(usize, Vec<usize>)> {
    let mut level = 0_u32;
    let mut commas = Vec::new();
    for (at, mark) in marks.iter().enumerate().skip(start) {
        match mark {
            Mark::Open => level += 1,
            Mark::Comma if level == 1 => commas.push(at),
            Mark::Close if level == 1 => return Some((at, commas)),
            Mark::Close => level -= 1,
            Mark::Comma | Mark::Piece(_) => {}
        }
    }
    None
}

fn cut_at(marks: &[Mark], start: usize, commas: &[usize], end: usize) -> Vec<Vec<Mark>> {
    let starts = std::iter::once(start).chain(commas.iter().copied());
    let ends = commas.iter().copied().chain(std::iter::once(end));
    starts.zip(ends).map(|(from, to)| marks.get(from + 1..to).unwrap_or(&[]).to_vec()).collect()
}

/// `1..5`, `a..e`, `1..9..2`; no choices at all where there are too many.
fn sequence(inside: &[Mark]) -> Option<Vec<Vec<Mark>>> {
    let [Mark::Piece(Piece { kind: PieceKind::Text(text), quoted: Quoted::No })] = inside else { return None };
    let mut ends = text.split("..");
    let (first, last, step) = (ends.next()?, ends.next()?, ends.next());
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1);
    let names = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(from), Ok(to)) => match range(from, to, step) {
            Some(all) => all.into_iter().map(|at| at.to_string()).collect::<Vec<_>>(),
            None => Vec::new(),
        },
        _ => letters(first, last, step)?,
    };
    Some(names.iter().map(|name| vec![Mark::Piece(plain(name))]).collect())
}

fn range(from: i64, to: i64, step: u64) -> Option<Vec<i64>> {
    let count = usize::try_from(from.abs_diff(to) / step).ok()?;
    if count >= MAX_WORDS {
        return None;
    }
    let step = i64::try_from(step).ok()? * if to < from { -1 } else { 1 };
    Some(
        (0..=count)
            .scan(from, |at, _| {
                let here = *at;
                *at = at.saturating_add(step);
                Some(here)
            })
            .collect(),
    )
}

fn letters(first: &str, last: &str, step: u64) -> Option<Vec<String>> {
    let one = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|mark| mark.is_ascii_alphabetic() && chars.next().is_none())
    };
    let codes = range(i64::from(u32::from(one(first)?)), i64::from(u32::from(one(last)?)), step)?;
    Some(
        codes
            .into_iter()
            .filter_map(|code| u32::try_from(code).ok().and_then(char::from_u32))
            .map(String::from)
            .collect(),
    )
}

/// Marks that did not expand are text again.
fn join(marks: &[Mark]) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for mark in marks {
        let piece = match mark {
            Mark::Open => plain("{"),
            Mark::Comma => plain(","),
            Mark::Close => plain("}"),
            Mark::Piece(piece) => piece.clone(),
        };
        if let (Some(Piece { kind: PieceKind::Text(last), quoted: Quoted::No }), PieceKind::Text(text), Quoted::No) =
            (pieces.last_mut(), &piece.kind, piece.quoted)
        {
            last.push_str(text);
        } else {
            pieces.push(piece);
        }
    }
    pieces
}
