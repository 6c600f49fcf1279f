//! Data movement that makes new tensors: joins, repeats, padding, and tensors with a part replaced.

use base::Result;
use graph::{At, NodeId, WriteCombine, compose};
use scalar::{Scalar, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;
use super::view::{named_diagonal, slice_start, wrapped};
use crate::layout::{inverse, permuted};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.cat.default" => cat,
        "aten.repeat.default" => repeat,
        "aten.constant_pad_nd.default" => pad,
        "aten.tril.default" => |c| triangle(c, compose::tril),
        "aten.triu.default" => |c| triangle(c, compose::triu),
        "aten.copy.default" => copy,
        "aten.slice_scatter.default" => slice_scatter,
        "aten.select_scatter.default" => select_scatter,
        "aten.diagonal_scatter.default" => diagonal_scatter,
        _ => return None,
    })
}

fn cat(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let dtype = c.dtype()?;
    let rank = c.result()?.shape.len();
    let mut parts = Vec::new();
    for x in c.tensors("tensors")? {
        // torch lets empty 1-d tensors join anything.
        if c.rank(x) == 1 && rank != 1 && c.b.shape(x)[0].is_zero() {
            continue;
        }
        parts.push(c.cast(x, dtype)?);
    }
    let Some(&first) = parts.first() else { return Err(c.unsupported("nothing but empty tensors")) };
    let Some(axis) = c.axis(first, c.int("dim")?)? else { return Err(c.unsupported("0-d tensors")) };
    Ok(vec![if parts.len() == 1 { first } else { c.b.concat(&parts, axis)? }])
}

/// The whole tensor several times along each axis, and along new leading ones.
fn repeat(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, times) = (c.tensor("self")?, c.syms("repeats")?);
    let new = times.len().saturating_sub(c.rank(x));
    let shape: Shape = std::iter::repeat_n(Sym::ONE, new).chain(c.b.shape(x).iter().cloned()).collect();
    let x = c.reshape(x, &shape)?;
    Ok(vec![compose::tile(c.b, x, &times)?])
}

/// The extents that an amount of padding adds and removes.
fn grown(c: &Ctx<'_>, amount: &Sym) -> Result<(Sym, Sym)> {
    let facts = c.b.facts();
    if facts.proves_ge(amount, &Sym::ZERO) {
        Ok((amount.clone(), Sym::ZERO))
    } else if facts.proves_ge(&Sym::ZERO, amount) {
        Ok((Sym::ZERO, Sym::ZERO - amount))
    } else {
        Err(c.unsupported(format!("a padding of {amount}, which may add or crop")))
    }
}

/// Constant padding; amounts come in pairs from the last axis on, negative ones crop.
fn pad(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (mut x, amounts) = (c.tensor("self")?, c.syms("pad")?);
    let rank = c.rank(x);
    let (mut lo, mut hi) = (vec![Sym::ZERO; rank], vec![Sym::ZERO; rank]);
    for (pair, axis) in amounts.chunks_exact(2).zip((0..rank).rev()) {
        let ((add_lo, cut_lo), (add_hi, cut_hi)) = (grown(c, &pair[0])?, grown(c, &pair[1])?);
        let len = &c.b.shape(x)[axis] - &cut_lo - &cut_hi;
        x = compose::slice_axis(c.b, x, axis, &cut_lo, &len, 1)?;
        (lo[axis], hi[axis]) = (add_lo, add_hi);
    }
    if lo.iter().chain(&hi).all(Sym::is_zero) {
        return Ok(vec![x]);
    }
    let fill = c.scalar(&c.number("value")?, c.b.dtype(x))?;
    Ok(vec![c.b.pad(x, lo, hi, &vec![0; rank], fill)?])
}

fn triangle(c: &mut Ctx<'_>, f: fn(&mut graph::Builder, NodeId, i64) -> Result<NodeId>) -> Result<Vec<NodeId>> {
    let (x, diagonal) = (c.tensor("self")?, c.int("diagonal")?);
    Ok(vec![f(c.b, x, diagonal)?])
}

/// The source, converted and repeated to the destination's type.
fn copy(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (src, dtype, shape) = (c.tensor("src")?, c.dtype()?, c.shape()?);
    let src = c.cast(src, dtype)?;
    Ok(vec![c.expand(src, &shape)?])
}

/// The destination with `src` at every `step`-th index of an axis from `start` on.
fn replaced(c: &mut Ctx<'_>, x: NodeId, src: NodeId, axis: usize, start: Sym, step: i64) -> Result<Vec<NodeId>> {
    let rank = c.rank(x);
    let mut at = (Shape::from_elem(Sym::ZERO, rank), vec![1; rank]);
    (at.0[axis], at.1[axis]) = (start, step);
    let src = c.cast(src, c.b.dtype(x))?;
    Ok(vec![c.b.write(WriteCombine::Set, At::Slice { start: at.0, step: at.1.into() }, x, src, &[])?])
}

fn slice_scatter(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, src) = (c.tensor("self")?, c.tensor("src")?);
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let start = slice_start(c, &c.b.shape(x)[axis].clone())?;
    let step = c.int("step")?;
    replaced(c, x, src, axis, start, step)
}

fn select_scatter(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, src) = (c.tensor("self")?, c.tensor("src")?);
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let index = wrapped(c, &c.sym("index")?, &c.b.shape(x)[axis].clone());
    let src = compose::unsqueeze(c.b, src, &[axis])?;
    replaced(c, x, src, axis, index, 1)
}

/// The source lies along the columns; a mask chooses it on the diagonal.
fn diagonal_scatter(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, src) = (c.tensor("self")?, c.tensor("src")?);
    let diagonal = named_diagonal(c, x)?;
    let turned = permuted(c.b, x, &diagonal.perm)?;
    let shape = c.b.shape(turned).clone();
    let (rows, columns) = (&shape[shape.len() - 2], &shape[shape.len() - 1]);
    let src = c.cast(src, c.b.dtype(x))?;
    let last = shape.len() - 2;
    let (mut lo, mut hi) = (vec![Sym::ZERO; last + 1], vec![Sym::ZERO; last + 1]);
    lo[last] = Sym::from(diagonal.column);
    hi[last] = columns - &c.b.shape(src)[last] - diagonal.column;
    let fill = Scalar::zero(c.b.dtype(src));
    let padded = c.b.pad(src, lo, hi, &vec![0; last + 1], fill)?;
    let row = compose::unsqueeze(c.b, padded, &[last])?;
    let on = on_diagonal(c, rows, columns, diagonal.column - diagonal.row)?;
    let on = c.expand(on, &shape)?;
    let row = c.expand(row, &shape)?;
    let y = c.b.map(S::Select, &[on, row, turned])?;
    Ok(vec![permuted(c.b, y, &inverse(&diagonal.perm))?])
}

/// bool `[rows, columns]`: whether column = row + offset.
fn on_diagonal(c: &mut Ctx<'_>, rows: &Sym, columns: &Sym, offset: i64) -> Result<NodeId> {
    let i = c.b.iota(rows)?;
    let i = compose::with_scalar(c.b, S::Add, i, offset as f64)?;
    let i = compose::unsqueeze(c.b, i, &[1])?;
    let j = c.b.iota(columns)?;
    compose::binary(c.b, S::Eq, i, j)
}
