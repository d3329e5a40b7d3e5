//! The only module that knows the parser: its syntax tree becomes ours.
//!
//! The parser gives structure; words are cut by [`super::lex`] from the text itself. Every match on
//! the parser's types is exhaustive, so that a construct which a new version adds does not compile
//! until it has been read.

mod operators;

use std::rc::Rc;

use shuck_ast as ast;
use shuck_parser::parser::{Parser, ShellDialect, ShellProfile};

use super::ir::RedirectKind;
use super::lex::{Mode, Origin, RawWord, cut};
use super::scan::MAX_DEPTH;
use super::tree::{Append, Loop, Node, RawAssignment, RawRedirect, RawSimple, RawValue, Tree};
use crate::action::Why;
use operators::{is_arithmetic, is_pipe, link};

/// Parser levels allowed: several per level of the scanner.
const PARSER_DEPTH: usize = 2 * MAX_DEPTH as usize;
/// Parser steps allowed per byte, and at least.
const FUEL_PER_BYTE: usize = 64;
const FUEL_LEAST: usize = 4096;

/// Parses `text`, which stands at `origin`.
///
/// # Errors
/// Says why the text is not understood; nothing of it may then be trusted.
pub(super) fn parse(text: &str, origin: Origin) -> Result<Tree, Why> {
    // The parser is not ours. Should it panic, the command is refused, not the whole gate lost.
    std::panic::catch_unwind(|| convert(text, origin))
        .unwrap_or_else(|_| Err(Why::Unparsed("the parser gave up on this text".to_owned())))
}

fn convert(text: &str, origin: Origin) -> Result<Tree, Why> {
    let fuel = text.len().saturating_mul(FUEL_PER_BYTE).max(FUEL_LEAST);
    let profile = ShellProfile::native(ShellDialect::Bash);
    let parsed = Parser::with_limits_and_profile(text, PARSER_DEPTH, fuel, profile).parse();
    if parsed.is_err() {
        return Err(Why::Unparsed(reason(&parsed)));
    }
    let mut reader = Reader { text, origin, commands: 0 };
    let body = reader.sequence(&parsed.file.body);
    Ok(Tree { body, commands: reader.commands })
}

fn reason(parsed: &shuck_parser::parser::ParseResult) -> String {
    let terminal = parsed.terminal_error.as_ref().map(ToString::to_string);
    terminal.or_else(|| parsed.diagnostics.first().map(|first| first.message.clone())).unwrap_or_default()
}

struct Reader<'t> {
    text: &'t str,
    origin: Origin,
    commands: u32,
}

impl Reader<'_> {
    fn sequence(&mut self, body: &ast::StmtSeq) -> Vec<Node> {
        body.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&mut self, statement: &ast::Stmt) -> Node {
        let node = self.command(&statement.command, &statement.redirects);
        match statement.terminator {
            Some(ast::StmtTerminator::Background(
                ast::BackgroundOperator::Plain | ast::BackgroundOperator::Pipe | ast::BackgroundOperator::Bang,
            )) => Node::Background(Box::new(node)),
            Some(ast::StmtTerminator::Semicolon) | None => node,
        }
    }

    fn command(&mut self, command: &ast::Command, redirects: &[ast::Redirect]) -> Node {
        let redirects = self.redirects(redirects);
        let node = match command {
            ast::Command::Simple(simple) => return self.simple(simple, redirects),
            ast::Command::Builtin(builtin) => return self.builtin(builtin, redirects),
            ast::Command::Decl(declaration) => return self.declaration(declaration, redirects),
            ast::Command::Binary(binary) => self.binary(binary),
            ast::Command::Compound(compound) => self.compound(compound),
            ast::Command::Function(function) => self.function(function),
            ast::Command::AnonymousFunction(function) => self.unknown("an anonymous function", function.span),
        };
        if redirects.is_empty() { node } else { Node::Redirected(Box::new(node), redirects) }
    }

    fn simple(&mut self, simple: &ast::SimpleCommand, redirects: Vec<RawRedirect>) -> Node {
        let named = simple.name.span.start.offset() < simple.name.span.end.offset();
        let name = named.then_some(&simple.name);
        self.commands += u32::from(named);
        let mut words = self.joined(name.into_iter().chain(&simple.args).map(|word| word.span));
        // `! ! cmd`: the second mark is no command either.
        let marks = words.iter().take_while(|word| word.is("!")).count();
        words.drain(..marks);
        self.finish(words, &simple.assignments, Vec::new(), redirects, simple.span)
    }

    fn builtin(&mut self, builtin: &ast::BuiltinCommand, redirects: Vec<RawRedirect>) -> Node {
        let (name, first, rest, assignments, span) = match builtin {
            ast::BuiltinCommand::Break(it) => ("break", &it.depth, &it.extra_args, &it.assignments, it.span),
            ast::BuiltinCommand::Continue(it) => ("continue", &it.depth, &it.extra_args, &it.assignments, it.span),
            ast::BuiltinCommand::Return(it) => ("return", &it.code, &it.extra_args, &it.assignments, it.span),
            ast::BuiltinCommand::Exit(it) => ("exit", &it.code, &it.extra_args, &it.assignments, it.span),
        };
        self.commands += 1;
        let (start, end) = self.range(span);
        let mut words = vec![cut(name, Origin::Range(start, end), Mode::Word)];
        words.extend(first.iter().chain(rest).map(|word| self.word(word.span)));
        self.finish(words, assignments, Vec::new(), redirects, span)
    }

    fn declaration(&mut self, declaration: &ast::DeclClause, redirects: Vec<RawRedirect>) -> Node {
        self.commands += 1;
        let mut words = vec![self.word(declaration.variant_span)];
        let mut declared = Vec::new();
        for operand in &declaration.operands {
            match operand {
                ast::DeclOperand::Flag(word) | ast::DeclOperand::Dynamic(word) => words.push(self.word(word.span)),
                ast::DeclOperand::Name(name) => words.push(self.word(name.span)),
                ast::DeclOperand::Assignment(assignment) => declared.push(self.assignment(assignment)),
            }
        }
        self.finish(words, &declaration.assignments, declared, redirects, declaration.span)
    }

    fn finish(
        &self,
        words: Vec<RawWord>,
        assignments: &[ast::Assignment],
        declared: Vec<RawAssignment>,
        redirects: Vec<RawRedirect>,
        span: ast::Span,
    ) -> Node {
        let assignments = assignments.iter().map(|assignment| self.assignment(assignment)).collect();
        Node::Simple(Box::new(RawSimple { words, assignments, declared, redirects, span: self.range(span) }))
    }

    /// Unrolls left-nested `&&`, `||` and `|`, so that a long chain is no deep tree.
    fn binary(&mut self, binary: &ast::BinaryCommand) -> Node {
        let pipe = is_pipe(binary.op);
        let mut rest = vec![(binary.op, &*binary.right)];
        let mut left = &*binary.left;
        while let ast::Command::Binary(inner) = &left.command
            && is_pipe(inner.op) == pipe
            && left.redirects.is_empty()
            && left.terminator.is_none()
        {
            rest.push((inner.op, &*inner.right));
            left = &*inner.left;
        }
        let first = self.statement(left);
        let rest: Vec<(ast::BinaryOp, Node)> =
            rest.into_iter().rev().map(|(op, statement)| (op, self.statement(statement))).collect();
        if pipe {
            Node::Pipe(std::iter::once(first).chain(rest.into_iter().map(|(_, node)| node)).collect())
        } else {
            Node::Chain(Box::new(first), rest.into_iter().map(|(op, node)| (link(op), node)).collect())
        }
    }

    fn function(&mut self, function: &ast::FunctionDef) -> Node {
        self.commands += 1;
        let names = function.static_names().map(|name| name.as_str().to_owned()).collect();
        let body = self.statement(&function.body);
        Node::Function(names, Rc::new(body))
    }

    fn compound(&mut self, compound: &ast::CompoundCommand) -> Node {
        match compound {
            ast::CompoundCommand::If(it) => self.branch_if(it),
            ast::CompoundCommand::For(it) => self.branch_for(it),
            ast::CompoundCommand::ArithmeticFor(it) => self.arithmetic_for(it),
            ast::CompoundCommand::While(it) => {
                let head = self.sequence(&it.condition);
                self.repeat(Vec::new(), None, head, &it.body)
            }
            ast::CompoundCommand::Until(it) => {
                let head = self.sequence(&it.condition);
                self.repeat(Vec::new(), None, head, &it.body)
            }
            ast::CompoundCommand::Case(it) => self.case(it),
            ast::CompoundCommand::Select(it) => {
                let words = it.words.iter().map(|word| self.word(word.span)).collect();
                self.repeat(vec![it.variable.as_str().to_owned()], Some(words), Vec::new(), &it.body)
            }
            ast::CompoundCommand::Subshell(body) => Node::Subshell(self.sequence(body)),
            ast::CompoundCommand::BraceGroup(body) => Node::Group(self.sequence(body)),
            ast::CompoundCommand::Arithmetic(it) => {
                Node::Arithmetic(it.expr_span.map(|span| self.quoted(span)).into_iter().collect())
            }
            ast::CompoundCommand::Time(it) => {
                self.commands += 1;
                Node::Group(it.command.iter().map(|statement| self.statement(statement)).collect())
            }
            ast::CompoundCommand::Conditional(it) => Node::Group(self.conditional(&it.expression)),
            ast::CompoundCommand::Coproc(it) => {
                self.commands += 1;
                Node::Background(Box::new(self.statement(&it.body)))
            }
            ast::CompoundCommand::Repeat(it) => self.unknown("a zsh `repeat`", it.span),
            ast::CompoundCommand::Foreach(it) => self.unknown("a zsh `foreach`", it.span),
            ast::CompoundCommand::Always(it) => self.unknown("a zsh `always`", it.span),
        }
    }

    fn arithmetic_for(&mut self, it: &ast::ArithmeticForCommand) -> Node {
        let spans = [it.init_span, it.condition_span, it.step_span];
        let words = spans.into_iter().flatten().map(|span| self.quoted(span)).collect();
        self.repeat(Vec::new(), None, vec![Node::Arithmetic(words)], &it.body)
    }

    fn branch_if(&mut self, it: &ast::IfCommand) -> Node {
        let mut test = self.sequence(&it.condition);
        let mut arms = vec![self.sequence(&it.then_branch)];
        for (condition, body) in &it.elif_branches {
            test.extend(self.sequence(condition));
            arms.push(self.sequence(body));
        }
        arms.push(it.else_branch.as_ref().map(|body| self.sequence(body)).unwrap_or_default());
        Node::Branch(test, arms)
    }

    fn branch_for(&mut self, it: &ast::ForCommand) -> Node {
        let variables = it.targets.iter().map(|target| self.slice(target.span).to_owned()).collect();
        let words = it.words.as_ref().map(|words| words.iter().map(|word| self.word(word.span)).collect());
        self.repeat(variables, words, Vec::new(), &it.body)
    }

    fn repeat(
        &mut self,
        variables: Vec<String>,
        words: Option<Vec<RawWord>>,
        head: Vec<Node>,
        body: &ast::StmtSeq,
    ) -> Node {
        let body = self.sequence(body);
        Node::Loop(Box::new(Loop { variables, words, head, body }))
    }

    fn case(&mut self, it: &ast::CaseCommand) -> Node {
        let mut words = vec![self.word(it.word.span)];
        let mut arms = vec![Vec::new()];
        for item in &it.cases {
            words.extend(item.patterns.iter().map(|pattern| self.word(pattern.span)));
            arms.push(self.sequence(&item.body));
        }
        Node::Branch(vec![Node::Words(words)], arms)
    }

    /// The words of a `[[ … ]]`, without recursion: `&&` chains nest to the left.
    ///
    /// Those that the shell evaluates as arithmetic or as names stand apart.
    fn conditional(&self, expression: &ast::ConditionalExpr) -> Vec<Node> {
        let (mut plain, mut evaluated) = (Vec::new(), Vec::new());
        let mut open = vec![(expression, false)];
        while let Some((expression, counts)) = open.pop() {
            let span = match expression {
                ast::ConditionalExpr::Binary(it) => {
                    let counts = is_arithmetic(it.op);
                    open.extend([(&*it.left, counts), (&*it.right, counts)]);
                    continue;
                }
                ast::ConditionalExpr::Unary(it) => {
                    open.push((&it.expr, it.op == ast::ConditionalUnaryOp::VariableSet));
                    continue;
                }
                ast::ConditionalExpr::Parenthesized(it) => {
                    open.push((&it.expr, counts));
                    continue;
                }
                ast::ConditionalExpr::Word(word) | ast::ConditionalExpr::Regex(word) => word.span,
                ast::ConditionalExpr::Pattern(pattern) => pattern.span,
                ast::ConditionalExpr::VarRef(name) => name.span,
            };
            if counts { &mut evaluated } else { &mut plain }.push(self.word(span));
        }
        vec![Node::Words(plain), Node::Arithmetic(evaluated)]
    }

    fn assignment(&self, assignment: &ast::Assignment) -> RawAssignment {
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => RawValue::Word(self.word(word.span)),
            ast::AssignmentValue::Compound(array) => {
                RawValue::Array(array.elements.iter().map(|it| self.word(it.span())).collect())
            }
        };
        RawAssignment {
            name: assignment.target.name.as_str().to_owned(),
            value,
            append: if assignment.append { Append::Yes } else { Append::No },
            subscript: assignment.target.subscript.as_ref().map(|subscript| self.quoted(subscript.span())),
        }
    }

    fn redirects(&self, redirects: &[ast::Redirect]) -> Vec<RawRedirect> {
        redirects.iter().map(|redirect| self.redirect(redirect)).collect()
    }

    fn redirect(&self, redirect: &ast::Redirect) -> RawRedirect {
        let target = match &redirect.target {
            ast::RedirectTarget::Word(word) => self.word(word.span),
            ast::RedirectTarget::Heredoc(heredoc) => self.heredoc(heredoc),
        };
        let other = !matches!(redirect.fd, None | Some(1)) || redirect.fd_var.is_some();
        let kind = match redirect.kind {
            ast::RedirectKind::Output | ast::RedirectKind::Clobber if other => RedirectKind::OutputOther,
            ast::RedirectKind::Output | ast::RedirectKind::Clobber => RedirectKind::Output,
            ast::RedirectKind::Append if other => RedirectKind::OutputOther,
            ast::RedirectKind::Append => RedirectKind::Append,
            ast::RedirectKind::Input => RedirectKind::Input,
            ast::RedirectKind::ReadWrite => RedirectKind::ReadWrite,
            ast::RedirectKind::HereDoc | ast::RedirectKind::HereDocStrip | ast::RedirectKind::HereString => {
                RedirectKind::Text
            }
            ast::RedirectKind::DupOutput | ast::RedirectKind::DupInput => RedirectKind::Duplicate,
            ast::RedirectKind::OutputBoth => RedirectKind::OutputBoth,
        };
        RawRedirect { kind, target, span: self.range(redirect.span) }
    }

    fn heredoc(&self, heredoc: &ast::Heredoc) -> RawWord {
        let (start, end) = (heredoc.body.span.start.offset(), heredoc.body.span.end.offset());
        let slice = self.text.get(start..end).unwrap_or("");
        let (text, origin) = if heredoc.delimiter.strip_tabs {
            let stripped: String = slice.split_inclusive('\n').map(|line| line.trim_start_matches('\t')).collect();
            let (from, to) = self.origin.range(start, end);
            (stripped, Origin::Range(from, to))
        } else {
            (slice.to_owned(), self.origin.plus(start))
        };
        if heredoc.delimiter.expands_body { cut(&text, origin, Mode::Quoted) } else { RawWord::text(text, origin) }
    }

    /// Cuts words where quoting says that they end, wherever the parser thought they did.
    fn joined(&self, spans: impl Iterator<Item = ast::Span>) -> Vec<RawWord> {
        let mut words = Vec::new();
        let mut done = 0;
        for span in spans {
            let start = span.start.offset();
            if start < done {
                continue;
            }
            done = super::skip::word_end(self.text, start).max(span.end.offset());
            words.push(cut(self.text.get(start..done).unwrap_or(""), self.origin.plus(start), Mode::Word));
        }
        words
    }

    fn unknown(&mut self, what: &str, span: ast::Span) -> Node {
        Node::Unknown(Why::Unparsed(what.to_owned()), self.range(span))
    }

    fn word(&self, span: ast::Span) -> RawWord {
        cut(self.slice(span), self.origin.plus(span.start.offset()), Mode::Word)
    }

    fn quoted(&self, span: ast::Span) -> RawWord {
        cut(self.slice(span), self.origin.plus(span.start.offset()), Mode::Quoted)
    }

    fn slice(&self, span: ast::Span) -> &str {
        self.text.get(span.start.offset()..span.end.offset()).unwrap_or("")
    }

    fn range(&self, span: ast::Span) -> (usize, usize) {
        self.origin.range(span.start.offset(), span.end.offset())
    }
}
