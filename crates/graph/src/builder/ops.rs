//! One method per op.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::{Error, Result};
use scalar::{Combiner, DType, Scalar, ScalarOp, Shape, Sym};

use super::{Builder, in_order, letter};
use crate::{At, ContractSpec, Graph, NodeId, Op, Region, Type, View, WriteCombine};

fn extents(shape: impl IntoIterator<Item: Into<Sym>>) -> Shape {
    shape.into_iter().map(Into::into).collect()
}

/// Every method fails when the op does not take its operands: an error with op, operand types and origin.
#[allow(clippy::missing_errors_doc)]
impl Builder {
    /// 0-d constant.
    pub fn constant(&mut self, value: Scalar) -> Result<NodeId> {
        self.add(Op::Const(value), &[])
    }
    /// 0-d i64 with the value of a symbolic integer.
    pub fn sym(&mut self, value: impl Into<Sym>) -> Result<NodeId> {
        self.add(Op::SymConst(value.into()), &[])
    }
    /// `i64[len]` of 0, 1, 2, ….
    pub fn iota(&mut self, len: impl Into<Sym>) -> Result<NodeId> {
        self.add(Op::Iota(len.into()), &[])
    }
    /// Pointwise on operands of equal shape.
    pub fn map(&mut self, op: ScalarOp, args: &[NodeId]) -> Result<NodeId> {
        self.add(Op::Map(op), args)
    }
    /// Reduces the listed axes, in ascending order, which disappear.
    pub fn reduce(&mut self, combiner: Combiner, args: &[NodeId], axes: &[usize]) -> Result<NodeId> {
        self.add(Op::Reduce(combiner, axes.into()), args)
    }
    /// Inclusive scan along an axis.
    pub fn scan(&mut self, combiner: Combiner, args: &[NodeId], axis: usize) -> Result<NodeId> {
        self.add(Op::Scan(combiner, axis), args)
    }

    /// A layout-only op.
    pub fn view(&mut self, view: View, x: NodeId) -> Result<NodeId> {
        self.add(Op::View(view), &[x])
    }
    /// Same elements in row-major order under another shape.
    pub fn reshape(&mut self, x: NodeId, shape: impl IntoIterator<Item: Into<Sym>>) -> Result<NodeId> {
        self.view(View::Reshape(extents(shape)), x)
    }
    /// Output axis `i` is operand axis `perm[i]`.
    pub fn permute(&mut self, x: NodeId, perm: &[usize]) -> Result<NodeId> {
        self.view(View::Permute(perm.into()), x)
    }
    /// Repeats axes of extent 1; same rank.
    pub fn expand(&mut self, x: NodeId, shape: impl IntoIterator<Item: Into<Sym>>) -> Result<NodeId> {
        self.view(View::Expand(extents(shape)), x)
    }
    /// `out[o] = x[start + o · step]` per axis.
    pub fn slice(
        &mut self,
        x: NodeId,
        start: impl IntoIterator<Item: Into<Sym>>,
        len: impl IntoIterator<Item: Into<Sym>>,
        step: &[i64],
    ) -> Result<NodeId> {
        self.view(View::Slice { start: extents(start), len: extents(len), step: step.into() }, x)
    }
    /// Reverses the listed axes.
    pub fn flip(&mut self, x: NodeId, axes: &[usize]) -> Result<NodeId> {
        self.view(View::Flip(axes.into()), x)
    }
    /// Surrounds with fill, and puts `interior` fill elements between neighbours.
    pub fn pad(
        &mut self,
        x: NodeId,
        lo: impl IntoIterator<Item: Into<Sym>>,
        hi: impl IntoIterator<Item: Into<Sym>>,
        interior: &[i64],
        value: Scalar,
    ) -> Result<NodeId> {
        self.view(View::Pad { lo: extents(lo), hi: extents(hi), interior: interior.into(), value }, x)
    }
    /// Windows of `size` taps along an axis; the taps become a new last axis.
    pub fn window(&mut self, x: NodeId, axis: usize, size: impl Into<Sym>, stride: i64, dilation: i64) -> Result<NodeId> {
        self.view(View::Window { axis, size: size.into(), stride, dilation }, x)
    }

    /// Joins along an axis.
    pub fn concat(&mut self, args: &[NodeId], axis: usize) -> Result<NodeId> {
        self.add(Op::Concat(axis), args)
    }
    /// Two-operand contraction.
    pub fn contract(&mut self, spec: ContractSpec, a: NodeId, b: NodeId) -> Result<NodeId> {
        self.add(Op::Contract(spec), &[a, b])
    }
    /// Contraction by a spec such as `bik,bkj->bij`, with accumulator dtype `acc`. Labels are renamed `a`, `b`, … in order
    /// of first occurrence, so that specs that differ in spelling give one node.
    pub fn einsum(&mut self, spec: &str, a: NodeId, b: NodeId, acc: DType) -> Result<NodeId> {
        let spec = canonical(spec, acc)
            .ok_or_else(|| Error::invalid(format!("einsum {spec:?}: expected a form like \"bik,bkj->bij\"")))?;
        self.contract(spec, a, b)
    }
    /// `out[p] = x[p with p[axes] ← idxₖ(p)]`.
    pub fn gather(&mut self, x: NodeId, indices: &[NodeId], axes: &[usize]) -> Result<NodeId> {
        let args: Vec<NodeId> = [x].into_iter().chain(indices.iter().copied()).collect();
        self.add(Op::Gather(axes.into()), &args)
    }
    /// `dst` with `src` written at `at`; `extra` are the starts or indices that `at` asks for.
    pub fn write(&mut self, combine: WriteCombine, at: At, dst: NodeId, src: NodeId, extra: &[NodeId]) -> Result<NodeId> {
        let args: Vec<NodeId> = [dst, src].into_iter().chain(extra.iter().copied()).collect();
        self.add(Op::Write(combine, at), &args)
    }
    /// A definition of the [`crate::call`] registry.
    pub fn call(&mut self, name: impl Into<String>, attrs: BTreeMap<String, i64>, args: &[NodeId]) -> Result<NodeId> {
        self.add(Op::Call(name.into(), attrs), args)
    }
    /// One of two bodies, by a 0-d bool.
    pub fn region_if(&mut self, condition: NodeId, captures: &[NodeId], then: Graph, other: Graph) -> Result<NodeId> {
        let args: Vec<NodeId> = [condition].into_iter().chain(captures.iter().copied()).collect();
        self.add(Op::Region(Region::If { then: Arc::new(then), other: Arc::new(other) }), &args)
    }
    /// `trip` runs of a body; see [`Region::Loop`].
    pub fn region_loop(
        &mut self,
        trip: impl Into<Sym>,
        carried: &[NodeId],
        scanned: &[NodeId],
        captures: &[NodeId],
        body: Graph,
    ) -> Result<NodeId> {
        let args = [carried, scanned, captures].concat();
        let (carried, scanned) = (carried.len(), scanned.len());
        self.add(Op::Region(Region::Loop { trip: trip.into(), carried, scanned, body: Arc::new(body) }), &args)
    }
    /// Result `i` of a node; a single-result node is its own result 0.
    pub fn result(&mut self, node: NodeId, i: u32) -> Result<NodeId> {
        match self.graph.nodes.get(node.index()).map(|n| &n.ty) {
            Some(Type::Tensor(_)) if i == 0 => Ok(node),
            _ => self.add(Op::Result(i), &[node]),
        }
    }
    /// Identity that forces a buffer.
    pub fn materialize(&mut self, x: NodeId) -> Result<NodeId> {
        self.add(Op::Materialize, &[x])
    }
}

fn canonical(spec: &str, acc: DType) -> Option<ContractSpec> {
    let text: String = spec.chars().filter(|c| !c.is_whitespace()).collect();
    let (operands, out) = text.split_once("->")?;
    let (a, b) = operands.split_once(',')?;
    if ![a, b, out].iter().all(|s| s.bytes().all(|c| c.is_ascii_alphabetic())) {
        return None;
    }
    let order = in_order(a.bytes().chain(b.bytes()).chain(out.bytes()));
    let rename = |s: &str| s.bytes().map(|l| order.iter().position(|&o| o == l).and_then(letter)).collect::<Option<_>>();
    Some(ContractSpec { a: rename(a)?, b: rename(b)?, out: rename(out)?, acc })
}
