//! Scalar ops, with broadcasts by views.

use base::Result;
use graph::NodeId;
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::{Gen, Profile};

/// Continuous functions with small derivatives.
const TAME_UNARY: [S; 10] = [S::Neg, S::Abs, S::Sin, S::Cos, S::Tanh, S::Sigmoid, S::Erf, S::Atan, S::Asinh, S::Exp];
/// Ops that IEEE 754 or integer arithmetic fixes to the bit.
const EXACT_UNARY: [S; 12] =
    [S::Neg, S::Abs, S::Sign, S::Sqrt, S::Floor, S::Ceil, S::Trunc, S::Round, S::Not, S::IsNan, S::IsInf, S::Neg];
const TAME_BINARY: [S; 5] = [S::Add, S::Sub, S::Mul, S::Max, S::Min];
const EXACT_BINARY: [S; 20] = [
    S::Add,
    S::Sub,
    S::Mul,
    S::Div,
    S::Max,
    S::Min,
    S::And,
    S::Or,
    S::Xor,
    S::Shl,
    S::Shr,
    S::Lt,
    S::Le,
    S::Gt,
    S::Ge,
    S::Eq,
    S::Ne,
    S::FloorDiv,
    S::Mod,
    S::Rem,
];

impl Gen<'_, '_> {
    /// One of the ops of an arity that the profile allows and that takes the dtype.
    fn scalar_op(&mut self, arity: usize, dtype: DType) -> Option<S> {
        let list: Vec<S> = match (self.profile, arity) {
            (Profile::Tame, 1) => TAME_UNARY.to_vec(),
            (Profile::Tame, _) => TAME_BINARY.to_vec(),
            (Profile::Exact, 1) => EXACT_UNARY.to_vec(),
            (Profile::Exact, _) => EXACT_BINARY.to_vec(),
            (Profile::Any, _) => S::PLAIN.into_iter().filter(|s| s.arity() == arity).collect(),
        };
        let inexact = |s: &S| self.profile == Profile::Exact && dtype.is_float() && matches!(s, S::FloorDiv | S::Mod | S::Rem);
        let fit: Vec<S> = list.into_iter().filter(|s| s.result(&vec![dtype; arity]).is_ok() && !inexact(s)).collect();
        if fit.is_empty() { None } else { Some(*self.choice.pick(&fit)) }
    }

    pub(super) fn unary(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        match self.scalar_op(1, self.b.dtype(x)) {
            // Growth of eˣ is kept in bounds where values are to stay small.
            Some(S::Exp) if self.profile == Profile::Tame => {
                let t = self.b.map(S::Tanh, &[x])?;
                self.b.map(S::Exp, &[t]).map(Some)
            }
            Some(op) => self.b.map(op, &[x]).map(Some),
            None => Ok(None),
        }
    }

    pub(super) fn binary(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let Some(op) = self.scalar_op(2, self.b.dtype(x)) else { return Ok(None) };
        let y = self.partner(x)?;
        let (x, y) = self.broadcast(x, y)?;
        self.b.map(op, &[x, y]).map(Some)
    }

    pub(super) fn select(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let y = self.partner(x)?;
        let (x, y) = self.broadcast(x, y)?;
        if self.profile == Profile::Tame {
            return self.b.map(S::Max, &[x, y]).map(Some);
        }
        let other = self.partner(x)?;
        let (x2, other) = self.broadcast(x, other)?;
        if self.shape(x2) != self.shape(x) {
            return Ok(None);
        }
        let op = *self.choice.pick(&[S::Lt, S::Eq, S::Ge, S::Ne]);
        let condition = self.b.map(op, &[x, other])?;
        self.b.map(S::Select, &[condition, x, y]).map(Some)
    }

    pub(super) fn cast(&mut self) -> Result<Option<NodeId>> {
        let x = self.value();
        let from = self.b.dtype(x);
        let to = self.dtype();
        if self.profile == Profile::Any
            && to.size() == from.size()
            && from != DType::Bool
            && to != DType::Bool
            && self.choice.chance(80)
        {
            return self.b.map(S::Bitcast(to), &[x]).map(Some);
        }
        self.b.map(S::Cast(to), &[x]).map(Some)
    }

    /// A value of x's dtype that may broadcast with it: a pool value, a constant, or x itself.
    pub(super) fn partner(&mut self, x: NodeId) -> Result<NodeId> {
        let dtype = self.b.dtype(x);
        match self.choice.below(8) {
            0 => Ok(x),
            1 | 2 => {
                let value = self.constant(dtype);
                let c = self.b.constant(value)?;
                self.spread(c, &self.shape(x))
            }
            _ => {
                let y = self.value();
                let fits = self.common(&self.shape(x), &self.shape(y)).is_some();
                match (fits, self.b.dtype(y) == dtype) {
                    (false, _) => Ok(x),
                    (true, true) => Ok(y),
                    (true, false) => self.b.map(S::Cast(dtype), &[y]),
                }
            }
        }
    }

    fn constant(&mut self, dtype: DType) -> Scalar {
        let plain = [0.0, 1.0, 2.0, -1.0, 0.5, -0.0, 3.0, 0.25];
        let wild = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-310, 65504.0, 1e-40, -0.0, 127.0];
        let v = if self.profile != Profile::Tame && self.choice.chance(50) {
            *self.choice.pick(&wild)
        } else {
            *self.choice.pick(&plain)
        };
        Scalar::from_f64(dtype, v)
    }

    /// A 0-d value repeated over a shape.
    pub(super) fn spread(&mut self, x: NodeId, shape: &Shape) -> Result<NodeId> {
        let ones: Vec<Sym> = shape.iter().map(|_| Sym::ONE).collect();
        let flat = self.b.reshape(x, ones)?;
        self.b.expand(flat, shape.clone())
    }

    /// Both values at their common shape.
    fn broadcast(&mut self, x: NodeId, y: NodeId) -> Result<(NodeId, NodeId)> {
        let Some(shape) = self.common(&self.shape(x), &self.shape(y)) else { return Ok((x, x)) };
        Ok((self.broadcast_to(x, &shape)?, self.broadcast_to(y, &shape)?))
    }

    pub(super) fn broadcast_to(&mut self, x: NodeId, shape: &Shape) -> Result<NodeId> {
        let own = self.shape(x);
        if own == *shape {
            return Ok(x);
        }
        let lead = shape.len() - own.len();
        let padded = std::iter::repeat_n(Sym::ONE, lead).chain(own);
        let flat = self.b.reshape(x, padded)?;
        self.b.expand(flat, shape.clone())
    }

    /// The broadcast of two shapes, aligned at the last axis; only the number 1 repeats.
    fn common(&self, a: &Shape, b: &Shape) -> Option<Shape> {
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let lead = long.len() - short.len();
        let mut shape = long.clone();
        for (n, s) in shape[lead..].iter_mut().zip(short) {
            match (n.is_one(), s.is_one()) {
                (_, true) => {}
                (true, false) => *n = s.clone(),
                (false, false) if self.facts().proves_eq(n, s) => {}
                _ => return None,
            }
        }
        Some(shape)
    }
}
