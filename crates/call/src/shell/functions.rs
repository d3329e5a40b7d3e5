//! Functions of the script: defined, called with their arguments, and read even if never called.

use std::rc::Rc;

use super::feed::Feed;
use super::ir::{Within, Word};
use super::scope::Scope;
use super::tree::Node;
use super::walk::Reader;
use crate::action::{ActionKind, Signal};
use crate::span::Span;

/// A function that was defined.
pub(super) struct Function {
    name: String,
    body: Rc<Node>,
    scope: Scope,
    called: bool,
    active: bool,
}

impl Reader<'_> {
    /// Walks functions that were defined and never called: anything may still call them.
    pub(super) fn uncalled(&mut self) {
        let mut at = 0;
        while let Some(function) = self.functions.get_mut(at) {
            at += 1;
            if std::mem::replace(&mut function.called, true) {
                continue;
            }
            let (body, mut scope) = (Rc::clone(&function.body), function.scope.clone());
            scope.arguments = None;
            let outer = std::mem::replace(&mut self.scope, scope);
            self.inside(Within::Function, |this| this.node(&body, &Feed::Outer));
            self.scope = outer;
        }
    }

    pub(super) fn define(&mut self, names: &[String], body: &Rc<Node>) -> Feed {
        for name in names {
            self.scope.functions.insert(name.clone(), self.functions.len());
            let scope = self.scope.clone();
            self.functions.push(Function {
                name: name.clone(),
                body: Rc::clone(body),
                scope,
                called: false,
                active: false,
            });
        }
        Feed::Outer
    }

    /// Calls a function of the script, if `name` is one.
    pub(super) fn call(&mut self, name: &str, words: &[Word], span: &Span, input: &Feed) -> Option<Feed> {
        let at = *self.scope.functions.get(name)?;
        let function = self.functions.get_mut(at)?;
        function.called = true;
        if function.active {
            let detached = self.within.iter().any(|it| matches!(it, Within::Background | Within::Pipe(_)));
            if detached {
                let kind = ActionKind::Signal(Signal::All("a fork bomb".to_owned()));
                self.act(kind, span.clone());
            }
            return Some(Feed::stream(name));
        }
        function.active = true;
        let body = Rc::clone(&function.body);
        let arguments = words.get(1..).unwrap_or(&[]).to_vec();
        let outer = self.scope.arguments.replace(arguments);
        let feed = self.nest(span.clone(), |this| this.inside(Within::Function, |this| this.node(&body, input)));
        self.scope.arguments = outer;
        if let Some(function) = self.functions.get_mut(at) {
            debug_assert_eq!(function.name, name, "functions are never removed");
            function.active = false;
        }
        Some(feed)
    }
}
