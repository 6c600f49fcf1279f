//! Views: the same elements under other positions.

use base::Result;
use graph::{NodeId, compose};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;
use crate::layout::permuted;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.view.default" | "aten.reshape.default" | "aten._unsafe_view.default" | "aten._reshape_alias.default" => reshape,
        "aten.unsqueeze.default" | "aten.squeeze.dim" | "aten.squeeze.dims" | "aten.squeeze.default" => reshape,
        "aten.permute.default" => permute,
        "aten.t.default" => transpose_2d,
        "aten.transpose.int" => transpose,
        "aten.expand.default" => expand,
        "aten.slice.Tensor" => slice,
        "aten.select.int" => select,
        "aten.unfold.default" => unfold,
        "aten.diagonal.default" => diagonal,
        "aten.flip.default" => flip,
        "aten.view.dtype" => bitcast,
        "aten.clone.default" | "aten.alias.default" | "aten.detach.default" | "aten.lift_fresh_copy.default" => same,
        "aten.split_with_sizes.default" | "aten.split.Tensor" | "aten.unbind.int" => split,
        _ => return None,
    })
}

fn same(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    Ok(vec![c.tensor("self")?])
}

/// Any op that keeps row-major order.
fn reshape(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, shape) = (c.tensor("self")?, c.shape()?);
    Ok(vec![c.reshape(x, &shape)?])
}

fn permute(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let perm = c.ints("dims")?.into_iter().map(|a| c.axis(x, a)).collect::<Result<Vec<_>>>()?;
    let perm: Vec<usize> = perm.into_iter().flatten().collect();
    Ok(vec![permuted(c.b, x, &perm)?])
}

fn transpose_2d(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    Ok(vec![if c.rank(x) < 2 { x } else { c.b.permute(x, &[1, 0])? }])
}

fn transpose(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (Some(i), Some(j)) = (c.axis(x, c.int("dim0")?)?, c.axis(x, c.int("dim1")?)?) else { return Ok(vec![x]) };
    Ok(vec![compose::transpose(c.b, x, i, j)?])
}

fn expand(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, shape) = (c.tensor("self")?, c.shape()?);
    Ok(vec![c.expand(x, &shape)?])
}

/// A position counted from the end `n` when negative.
pub(super) fn wrapped(c: &Ctx<'_>, at: &Sym, n: &Sym) -> Sym {
    let below = Sym::from(-1) - at;
    if c.b.facts().proves_ge(at, &Sym::ZERO) {
        at.clone()
    } else if c.b.facts().proves_ge(&below, &Sym::ZERO) {
        n + at
    } else {
        let negative = Sym::min(&Sym::max(&(Sym::ZERO - at), &Sym::ZERO), &Sym::ONE);
        at + n * negative
    }
}

/// The start of a slice of an axis of extent `n`: wrapped, then clamped into the axis.
pub(super) fn slice_start(c: &Ctx<'_>, n: &Sym) -> Result<Sym> {
    if !c.has("start") {
        return Ok(Sym::ZERO);
    }
    let at = wrapped(c, &c.sym("start")?, n);
    let facts = c.b.facts();
    let at = if facts.proves_ge(&at, &Sym::ZERO) { at } else { Sym::max(&at, &Sym::ZERO) };
    Ok(if facts.proves_ge(n, &at) { at } else { Sym::min(&at, n) })
}

fn slice(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, out) = (c.tensor("self")?, c.shape()?);
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let step = c.int("step")?;
    let start = slice_start(c, &c.b.shape(x)[axis].clone())?;
    Ok(vec![compose::slice_axis(c.b, x, axis, &start, &out[axis], step)?])
}

fn select(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, out) = (c.tensor("self")?, c.shape()?);
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let index = wrapped(c, &c.sym("index")?, &c.b.shape(x)[axis].clone());
    let one = compose::slice_axis(c.b, x, axis, &index, &Sym::ONE, 1)?;
    Ok(vec![c.reshape(one, &out)?])
}

/// Windows along an axis; their elements are the last axis.
fn unfold(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (size, step) = (c.sym("size")?, c.int("step")?);
    let Some(axis) = c.axis(x, c.int("dimension")?)? else {
        let out = c.shape()?;
        return Ok(vec![c.reshape(x, &out)?]);
    };
    Ok(vec![c.b.window(x, axis, size, step, 1)?])
}

/// Two axes and an offset: how `diagonal` and its scatter name a diagonal.
pub(super) struct Diagonal {
    /// The axes, which become the last two, after all others.
    pub(super) perm: Vec<usize>,
    /// First row of the diagonal.
    pub(super) row: i64,
    /// First column of the diagonal.
    pub(super) column: i64,
}

/// The diagonal of `x` that the arguments name.
pub(super) fn named_diagonal(c: &Ctx<'_>, x: NodeId) -> Result<Diagonal> {
    let (Some(i), Some(j)) = (c.axis(x, c.int("dim1")?)?, c.axis(x, c.int("dim2")?)?) else {
        return Err(c.unsupported("a 0-d tensor"));
    };
    let offset = c.int("offset")?;
    let others = (0..c.rank(x)).filter(|&a| a != i && a != j);
    Ok(Diagonal { perm: others.chain([i, j]).collect(), row: (-offset).max(0), column: offset.max(0) })
}

/// The square around the diagonal, one element of each of whose rows stays: in rows that are one element longer, those elements
/// are a column.
fn diagonal(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, out) = (c.tensor("self")?, c.shape()?);
    let Diagonal { perm, row, column } = named_diagonal(c, x)?;
    let Some((len, lead)) = out.split_last() else { return Err(c.unsupported("a result without axes")) };
    let last = lead.len();
    let x = permuted(c.b, x, &perm)?;
    let x = compose::slice_axis(c.b, x, last, &Sym::from(row), len, 1)?;
    let x = compose::slice_axis(c.b, x, last + 1, &Sym::from(column), len, 1)?;
    let with = |extents: &[Sym]| -> Shape { lead.iter().chain(extents).cloned().collect() };
    let flat = c.reshape(x, &with(&[len * len]))?;
    if let Some(n) = len.as_int() {
        return Ok(vec![compose::slice_axis(c.b, flat, last, &Sym::ZERO, len, n + 1)?]);
    }
    let mut hi = vec![Sym::ZERO; last + 1];
    hi[last] = len.clone();
    let fill = Scalar::zero(c.b.dtype(flat));
    let longer = c.b.pad(flat, vec![Sym::ZERO; last + 1], hi, &vec![0; last + 1], fill)?;
    let rows = c.reshape(longer, &with(&[len.clone(), len + 1]))?;
    let first = compose::slice_axis(c.b, rows, last + 1, &Sym::ZERO, &Sym::ONE, 1)?;
    Ok(vec![c.reshape(first, &out)?])
}

fn flip(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let given = c.ints("dims")?;
    if given.is_empty() {
        return Ok(vec![x]);
    }
    let axes = c.axes(x, "dims")?;
    Ok(vec![if axes.is_empty() { x } else { c.b.flip(x, &axes)? }])
}

/// The same bits under another dtype of the same size.
fn bitcast(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, to) = (c.tensor("self")?, c.dtype()?);
    let from = c.b.dtype(x);
    if from == to {
        return Ok(vec![x]);
    }
    if from.size() != to.size() || from == DType::Bool || to == DType::Bool {
        return Err(c.unsupported(format!("{from} as {to}")));
    }
    Ok(vec![c.b.map(S::Bitcast(to), &[x])?])
}

/// Parts along an axis, as long as the results say; without the axis when they have a lower rank.
fn split(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let mut from = Sym::ZERO;
    let mut parts = Vec::new();
    for out in c.results() {
        let shape = c.shape_of(out)?;
        let whole = shape.len() == c.rank(x);
        let len = if whole { shape[axis].clone() } else { Sym::ONE };
        let part = compose::slice_axis(c.b, x, axis, &from, &len, 1)?;
        from += len;
        parts.push(c.reshape(part, &shape)?);
    }
    Ok(parts)
}
