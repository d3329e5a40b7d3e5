//! What commands may change: names that a loop assigns, and whether control comes back.

use std::collections::BTreeSet;

use super::lex::{Piece, PieceKind, RawWord};
use super::scan;
use super::tree::{Node, RawSimple};

/// Stands among the changed names for a change of directory; no variable has this name.
pub(super) const MOVES: &str = "*cd";

/// Whether a command leaves the script, the function or the loop.
pub(super) fn leaves(node: &Node) -> bool {
    match node {
        Node::Simple(simple) => simple.words.first().is_some_and(|word| match word.pieces.as_slice() {
            [Piece { kind: PieceKind::Text(text), .. }] => {
                matches!(text.as_str(), "exit" | "return" | "break" | "continue")
            }
            _ => false,
        }),
        Node::Group(body) => body.last().is_some_and(leaves),
        Node::Redirected(body, _) => leaves(body),
        Node::Chain(..)
        | Node::Pipe(_)
        | Node::Subshell(_)
        | Node::Branch(..)
        | Node::Loop(_)
        | Node::Function(..)
        | Node::Background(_)
        | Node::Words(_)
        | Node::Arithmetic(_)
        | Node::Unknown(..) => false,
    }
}

/// Names that the commands may assign, for code that runs more than once.
pub(super) fn assigned(nodes: &[Node], names: &mut BTreeSet<String>) {
    let mut open: Vec<&Node> = nodes.iter().collect();
    while let Some(node) = open.pop() {
        match node {
            Node::Simple(simple) => assigned_by(simple, names),
            Node::Chain(first, rest) => {
                open.push(first);
                open.extend(rest.iter().map(|(_, node)| node));
            }
            Node::Pipe(body) | Node::Subshell(body) | Node::Group(body) => open.extend(body),
            Node::Branch(test, arms) => {
                open.extend(test);
                open.extend(arms.iter().flatten());
            }
            Node::Loop(it) => {
                names.extend(it.variables.iter().cloned());
                open.extend(it.head.iter().chain(&it.body));
            }
            Node::Function(_, body) => open.push(body),
            Node::Background(body) | Node::Redirected(body, _) => open.push(body),
            Node::Words(_) | Node::Arithmetic(_) | Node::Unknown(..) => {}
        }
    }
}

/// Names that one command may assign: its assignments, and every word of `read` and kin.
pub(super) fn assigned_by(simple: &RawSimple, names: &mut BTreeSet<String>) {
    names.extend(simple.assignments.iter().chain(&simple.declared).map(|assignment| assignment.name.clone()));
    let text = |word: &RawWord| match word.pieces.as_slice() {
        [Piece { kind: PieceKind::Text(text), .. }] => Some(text.clone()),
        _ => None,
    };
    let mut words = simple.words.iter().filter_map(text);
    let first = words.next().unwrap_or_default();
    if matches!(first.as_str(), "cd" | "pushd" | "popd" | "eval" | "chdir") {
        names.insert(MOVES.to_owned());
    }
    if matches!(first.as_str(), "read" | "mapfile" | "readarray" | "printf" | "getopts" | "unset" | "let") {
        names.extend(words.filter(|word| scan::is_name(word)));
    }
}
