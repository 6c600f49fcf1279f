//! Constants: evaluation, symbolic integer arithmetic, and uniform values.
//!
//! A *uniform* value is a 0-d value spread over a shape. Its one form is `expand(reshape(v, [1, …]), shape)`, without the
//! expand where every extent is 1, and `v` itself for rank 0.

use graph::{NodeId, Op, View};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::Cx;

super::rules! { symbol_constant, map_of_constants, map_of_symbols, compare_symbols, map_of_uniforms, view_of_uniform, pad_of_uniform,
concat_of_uniforms }

/// A symbolic constant that is a number is a plain constant.
fn symbol_constant(cx: &mut Cx<'_>, op: &Op, _: &[NodeId]) -> Option<NodeId> {
    let Op::SymConst(value) = op else { return None };
    let value = value.as_int()?;
    cx.constant(Scalar::i64(value))
}

/// A scalar op on 0-d constants is evaluated.
fn map_of_constants(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(s) = op else { return None };
    let values: Option<Vec<Scalar>> = args.iter().map(|&a| cx.scalar(a)).collect();
    cx.constant(scalar::eval(*s, &values?))
}

/// Integer arithmetic on 0-d symbolic constants is done by [`Sym`].
fn map_of_symbols(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(s) = op else { return None };
    let values: Option<Vec<Sym>> = args.iter().map(|&a| cx.symbol(a)).collect();
    let values = values?;
    let value = match (s, values.as_slice()) {
        (S::Add, [a, b]) => a + b,
        (S::Sub, [a, b]) => a - b,
        (S::Mul, [a, b]) => a * b,
        (S::Neg, [a]) => -a,
        (S::Min, [a, b]) => a.min(b),
        (S::Max, [a, b]) => a.max(b),
        (S::FloorDiv, [a, b]) if cx.at_least(b, 1) => a.floor_div(b),
        (S::Div, [a, b]) if cx.at_least(b, 1) && cx.at_least(a, 0) => a.floor_div(b),
        (S::Mod, [a, b]) if cx.at_least(b, 1) => a.modulo(b),
        (S::Rem, [a, b]) if cx.at_least(b, 1) && cx.at_least(a, 0) => a.modulo(b),
        _ => return None,
    };
    if value.is_overflow() { None } else { cx.make(Op::SymConst(value), &[]) }
}

/// A comparison of symbolic constants that the facts decide.
fn compare_symbols(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(s) = op else { return None };
    let &[a, b] = args else { return None };
    let (a, b) = (cx.symbol(a)?, cx.symbol(b)?);
    let (less, more) = (&b - &a, a - b);
    let value = match s {
        S::Lt | S::Ge if cx.at_least(&less, 1) => *s == S::Lt,
        S::Lt | S::Ge if cx.at_least(&more, 0) => *s == S::Ge,
        S::Gt | S::Le if cx.at_least(&more, 1) => *s == S::Gt,
        S::Gt | S::Le if cx.at_least(&less, 0) => *s == S::Le,
        S::Eq | S::Ne if cx.at_least(&less, 1) || cx.at_least(&more, 1) => *s == S::Ne,
        S::Eq | S::Ne if more == Sym::ZERO => *s == S::Eq,
        _ => return None,
    };
    cx.constant(Scalar::bool(value))
}

/// A scalar op on uniform values is done once, on the 0-d values.
fn map_of_uniforms(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::Map(_) = op else { return None };
    let shape = cx.shape(*args.first()?).clone();
    if shape.is_empty() {
        return None;
    }
    let roots: Option<Vec<NodeId>> = args.iter().map(|&a| cx.uniform(a)).collect();
    let value = cx.make(op.clone(), &roots?)?;
    cx.spread(value, &shape)
}

/// A view of a uniform value is uniform.
fn view_of_uniform(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::View(view) = op else { return None };
    if matches!(view, View::Pad { .. }) {
        return None;
    }
    let root = cx.uniform(args[0])?;
    let shape = cx.view_shape(view, args[0])?;
    let plain = matches!(view, View::Reshape(s) if args[0] == root && ones(s));
    let spread = matches!(view, View::Expand(_)) && matches!(cx.op(args[0]), Op::View(View::Reshape(_))) && !ones(&shape);
    if plain || spread {
        return None;
    }
    cx.spread(root, &shape)
}

/// Padding a uniform constant with the same value makes it larger.
fn pad_of_uniform(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let Op::View(view @ View::Pad { value, .. }) = op else { return None };
    let root = cx.uniform(args[0])?;
    if cx.scalar(root)? != *value {
        return None;
    }
    let shape = cx.view_shape(view, args[0])?;
    cx.spread(root, &shape)
}

/// Joining spreads of one value is a larger spread.
fn concat_of_uniforms(cx: &mut Cx<'_>, op: &Op, args: &[NodeId]) -> Option<NodeId> {
    let &Op::Concat(axis) = op else { return None };
    let root = cx.uniform(args[0])?;
    if args.len() < 2 || args[1..].iter().any(|&a| cx.uniform(a) != Some(root)) {
        return None;
    }
    let mut shape = cx.shape(args[0]).clone();
    shape[axis] = args.iter().fold(Sym::ZERO, |n, &a| n + &cx.shape(a)[axis]);
    cx.spread(root, &shape)
}

/// Whether every extent is the number 1.
fn ones(shape: &Shape) -> bool {
    shape.iter().all(|s| s.is_one())
}

impl Cx<'_> {
    /// The value of a 0-d constant.
    pub(super) fn scalar(&self, id: NodeId) -> Option<Scalar> {
        if let Op::Const(value) = self.op(id) { Some(*value) } else { None }
    }
    /// The value of a constant, 0-d or spread over a shape.
    pub(super) fn splat(&self, id: NodeId) -> Option<Scalar> {
        self.scalar(self.uniform(id)?)
    }
    /// The value of a 0-d i64 constant, symbolic or not.
    pub(super) fn symbol(&self, id: NodeId) -> Option<Sym> {
        match self.op(id) {
            Op::SymConst(value) => Some(value.clone()),
            Op::Const(value) if value.dtype() == DType::I64 => Some(Sym::from(value.as_i64())),
            _ => None,
        }
    }
    /// The 0-d value that this value repeats at every position.
    pub(super) fn uniform(&self, id: NodeId) -> Option<NodeId> {
        let mut at = id;
        while !self.shape(at).is_empty() {
            match self.op(at) {
                Op::View(View::Expand(_) | View::Reshape(_)) => at = self.args(at)[0],
                _ => return None,
            }
        }
        Some(at)
    }
    /// The one form of a 0-d value repeated over a shape.
    pub(super) fn spread(&mut self, value: NodeId, shape: &Shape) -> Option<NodeId> {
        if shape.is_empty() {
            return Some(value);
        }
        let unit: Shape = shape.iter().map(|_| Sym::ONE).collect();
        let flat = self.make(Op::View(View::Reshape(unit)), &[value])?;
        if ones(shape) { Some(flat) } else { self.make(Op::View(View::Expand(shape.clone())), &[flat]) }
    }
    /// A constant repeated over a shape.
    pub(super) fn full(&mut self, value: Scalar, shape: &Shape) -> Option<NodeId> {
        let value = self.constant(value)?;
        self.spread(value, shape)
    }
    /// A 0-d constant.
    pub(super) fn constant(&mut self, value: Scalar) -> Option<NodeId> {
        self.make(Op::Const(value), &[])
    }
}
