//! What the operators of the parser mean here.

use shuck_ast as ast;

use super::super::tree::Link;

pub(super) const fn is_pipe(op: ast::BinaryOp) -> bool {
    match op {
        ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll => true,
        ast::BinaryOp::And | ast::BinaryOp::Or => false,
    }
}

pub(super) const fn link(op: ast::BinaryOp) -> Link {
    match op {
        ast::BinaryOp::Or => Link::Or,
        ast::BinaryOp::And | ast::BinaryOp::Pipe | ast::BinaryOp::PipeAll => Link::And,
    }
}

pub(super) const fn is_arithmetic(op: ast::ConditionalBinaryOp) -> bool {
    use ast::ConditionalBinaryOp as Op;
    match op {
        Op::ArithmeticEq
        | Op::ArithmeticNe
        | Op::ArithmeticLe
        | Op::ArithmeticGe
        | Op::ArithmeticLt
        | Op::ArithmeticGt => true,
        Op::RegexMatch
        | Op::NewerThan
        | Op::OlderThan
        | Op::SameFile
        | Op::And
        | Op::Or
        | Op::PatternEqShort
        | Op::PatternEq
        | Op::PatternNe
        | Op::LexicalBefore
        | Op::LexicalAfter => false,
    }
}
