//! Writes at positions that tensors hold. Sums of f16 and bf16 accumulate in f32; colliding writes happen in row-major order.

use base::Result;
use graph::{At, NodeId, WriteCombine as W, compose};
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::{Ctx, Number};
use super::index::{Advanced, advanced, cropped, integers, spread, vector, with_axis};
use crate::layout::{inverse, permuted};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.scatter.src" => |c| scatter(c, W::Set),
        "aten.scatter.value" => |c| scatter(c, W::Set),
        "aten.scatter.reduce" | "aten.scatter.value_reduce" => scatter_named,
        "aten.scatter_add.default" => |c| scatter(c, W::Add),
        "aten.scatter_reduce.two" => scatter_reduce,
        "aten.index_add.default" => index_add,
        "aten.index_put.default" => index_put,
        "aten.embedding_dense_backward.default" => embedding_backward,
        _ => return None,
    })
}

/// `dst` combined with `src` at positions given along some axes; sums and products of halves round once.
fn written(c: &mut Ctx<'_>, how: W, dst: NodeId, src: NodeId, parts: &[NodeId], axes: &[usize]) -> Result<NodeId> {
    let dtype = c.b.dtype(dst);
    let wide = if matches!(how, W::Add | W::Mul) { dtype.accumulator() } else { dtype };
    let (dst, src) = (c.cast(dst, wide)?, c.cast(src, wide)?);
    let y = c.b.write(how, At::Indices { axes: axes.into(), unique: false }, dst, src, parts)?;
    c.cast(y, dtype)
}

/// What a scatter writes: a tensor cut to the index, or a number.
fn source(c: &mut Ctx<'_>, dtype: DType, shape: &Shape) -> Result<NodeId> {
    if c.has("src") {
        let src = c.tensor("src")?;
        let src = vector(c, src)?;
        return cropped(c, src, shape, None);
    }
    let value = c.number("value")?;
    let value = c.constant(&value, dtype)?;
    c.expand(value, shape)
}

fn scatter(c: &mut Ctx<'_>, how: W) -> Result<Vec<NodeId>> {
    let ((dst, axis), index) = (with_axis(c, "self")?, integers(c, "index")?);
    let shape = c.b.shape(index).clone();
    cropped(c, dst, &shape, Some(axis))?;
    let src = source(c, c.b.dtype(dst), &shape)?;
    let y = written(c, how, dst, src, &[index], &[axis])?;
    let out = c.shape()?;
    Ok(vec![c.reshape(y, &out)?])
}

fn scatter_named(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    match c.text("reduce")? {
        Some("add") => scatter(c, W::Add),
        Some("multiply") => scatter(c, W::Mul),
        other => Err(c.unsupported(format!("reduce {other:?}"))),
    }
}

/// With `include_self` off, written positions start from the reduction's neutral value.
fn scatter_reduce(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (how, combiner) = match c.text("reduce")? {
        Some("sum") => (W::Add, Combiner::Sum),
        Some("prod") => (W::Mul, Combiner::Prod),
        Some("amax") => (W::Max, Combiner::Max),
        Some("amin") => (W::Min, Combiner::Min),
        other => return Err(c.unsupported(format!("reduce {other:?}"))),
    };
    if c.flag("include_self")? {
        return scatter(c, how);
    }
    let ((dst, axis), index) = (with_axis(c, "self")?, integers(c, "index")?);
    let (dtype, shape) = (c.b.dtype(dst), c.b.shape(index).clone());
    if dtype == DType::Bool {
        return Err(c.unsupported("bool"));
    }
    cropped(c, dst, &shape, Some(axis))?;
    let neutral = Scalar::from_f64(dtype, combiner.init(dtype)[0].as_f64());
    let neutral = compose::full(c.b, &shape, neutral)?;
    let cleared = written(c, W::Set, dst, neutral, &[index], &[axis])?;
    let src = source(c, dtype, &shape)?;
    let y = written(c, how, cleared, src, &[index], &[axis])?;
    let out = c.shape()?;
    Ok(vec![c.reshape(y, &out)?])
}

/// Slices of the source, times a factor, added at indices along one axis.
fn index_add(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let ((dst, axis), index) = (with_axis(c, "self")?, integers(c, "index")?);
    let (src, alpha) = (c.tensor("source")?, c.number("alpha")?);
    let mut src = vector(c, src)?;
    let shape = c.b.shape(src).clone();
    if alpha != Number::Int(1) {
        let math = c.b.dtype(src).accumulator();
        let factor = c.constant(&alpha, math)?;
        let (wide, factor) = (c.cast(src, math)?, c.expand(factor, &shape)?);
        src = c.b.map(S::Mul, &[wide, factor])?;
    }
    let index = spread(c, index, axis, &shape)?;
    let y = written(c, W::Add, dst, src, &[index], &[axis])?;
    let out = c.shape()?;
    Ok(vec![c.reshape(y, &out)?])
}

fn index_put(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, indices, accumulate) = (c.tensor("self")?, c.optional_tensors("indices")?, c.flag("accumulate")?);
    let values = c.tensor("values")?;
    if indices.iter().flatten().any(|&i| c.b.dtype(i) == DType::Bool) {
        return if accumulate { Err(c.unsupported("adding under a mask")) } else { masked(c, x, &indices, values) };
    }
    let Advanced { perm, axes, parts, space, shape } = advanced(c, x, &indices)?;
    let values = c.expand(values, &shape)?;
    let values = c.reshape(values, &space)?;
    let x = permuted(c.b, x, &perm)?;
    let y = written(c, if accumulate { W::Add } else { W::Set }, x, values, &parts, &axes)?;
    Ok(vec![permuted(c.b, y, &inverse(&perm))?])
}

/// One number written where a mask over some neighbouring axes is true.
fn masked(c: &mut Ctx<'_>, x: NodeId, indices: &[Option<NodeId>], values: NodeId) -> Result<Vec<NodeId>> {
    let first = indices.iter().position(Option::is_some).unwrap_or(0);
    let (Some(mask), true) = (indices[first], indices[first + 1..].iter().all(Option::is_none)) else {
        return Err(c.unsupported("a mask among other indices"));
    };
    if !c.b.shape(values).iter().all(Sym::is_one) {
        return Err(c.unsupported("several values under a mask"));
    }
    let shape = c.b.shape(x).clone();
    let mut extents = c.b.shape(mask).clone();
    extents.resize(shape.len() - first, Sym::ONE);
    let mask = c.reshape(mask, &extents)?;
    let mask = c.expand(mask, &shape)?;
    let value = c.reshape(values, &Shape::new())?;
    let value = c.expand(value, &shape)?;
    Ok(vec![c.b.map(S::Select, &[mask, value, x])?])
}

/// Rows of the gradient added up by the index of their row; those of `padding_idx` count as zeros.
fn embedding_backward(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    if c.flag("scale_grad_by_freq")? {
        return Err(c.unsupported("scaled by frequency"));
    }
    let (grad, index, padding, out) = (c.tensor("grad_output")?, integers(c, "indices")?, c.int("padding_idx")?, c.shape()?);
    let flat = Shape::from_iter([Sym::product(c.b.shape(index).clone())]);
    let rows = Shape::from_iter([flat[0].clone(), out[1].clone()]);
    let (index, grad) = (c.reshape(index, &flat)?, c.reshape(grad, &rows)?);
    let index = spread(c, index, 0, &rows)?;
    let grad = if padding < 0 {
        grad
    } else {
        let pad = compose::with_scalar(c.b, S::Eq, index, padding as f64)?;
        let zero = compose::scalar_like(c.b, grad, 0.0)?;
        c.b.map(S::Select, &[pad, zero, grad])?
    };
    let zeros = compose::full(c.b, &out, Scalar::zero(c.b.dtype(grad)))?;
    Ok(vec![written(c, W::Add, zeros, grad, &[index], &[0])?])
}
