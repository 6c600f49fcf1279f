//! Pooling.

use base::Result;
use graph::NodeId;
use graph::compose::{self, Pool};
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.avg_pool1d.default" => |c| average(c, 1),
        "aten.avg_pool2d.default" => |c| average(c, 2),
        "aten.avg_pool3d.default" => |c| average(c, 3),
        "aten._adaptive_avg_pool2d.default" | "aten._adaptive_avg_pool3d.default" => adaptive_average,
        "aten._adaptive_avg_pool2d_backward.default" => |c| adaptive_average_backward(c, 2),
        "aten._adaptive_avg_pool3d_backward.default" => |c| adaptive_average_backward(c, 3),
        "aten.max_pool2d_with_indices.default" => |c| greatest(c, 2),
        "aten.max_pool3d_with_indices.default" => |c| greatest(c, 3),
        _ => return None,
    })
}

/// A list with one entry per spatial axis; a single entry stands for all, none for `default`.
fn each(c: &Ctx<'_>, name: &str, spatial: usize, default: &[i64]) -> Result<Vec<i64>> {
    let given = c.ints(name)?;
    match given.len() {
        0 => Ok(default.to_vec()),
        1 => Ok(vec![given[0]; spatial]),
        n if n == spatial => Ok(given),
        n => Err(c.unsupported(format!("{n} entries of {name}"))),
    }
}

fn geometry(c: &Ctx<'_>, spatial: usize) -> Result<Pool> {
    let kernel = each(c, "kernel_size", spatial, &[])?;
    let stride = each(c, "stride", spatial, &kernel)?;
    let pads = each(c, "padding", spatial, &vec![0; spatial])?.into_iter().map(|p| (p, p)).collect();
    let dilation = each(c, "dilation", spatial, &vec![1; spatial])?;
    Ok(Pool { kernel, stride, pads, dilation, ceil_mode: c.flag("ceil_mode")? })
}

/// Means of windows.
fn average(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    if c.has("divisor_override") || !c.b.dtype(x).is_float() {
        return Err(c.unsupported("a divisor of its own, or integers"));
    }
    let pool = geometry(c, spatial)?;
    let count_include_pad = c.flag("count_include_pad")?;
    Ok(vec![compose::avg_pool(c.b, x, &pool, count_include_pad)?])
}

/// Means of equal blocks.
fn adaptive_average(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let out = c.ints("output_size")?;
    Ok(vec![compose::adaptive_avg_pool(c.b, x, &out)?])
}

/// The gradient over the block's extents, one after the other, for every element of the block.
fn adaptive_average_backward(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let (grad, out, dtype) = (c.tensor("grad_output")?, c.shape()?, c.dtype()?);
    let from = c.b.shape(grad).clone();
    let first = out.len() - spatial;
    let (mut columns, mut blocks): (Shape, Shape) =
        (from[..first].iter().cloned().collect(), out[..first].iter().cloned().collect());
    let mut y = c.cast(grad, dtype.accumulator())?;
    for (have, want) in from[first..].iter().zip(&out[first..]) {
        let block = want.exact_div(have).ok_or_else(|| c.unsupported(format!("blocks of unequal size: {want} over {have}")))?;
        let extent = c.constant(&super::ctx::Number::Sym(block.clone()), c.b.dtype(y))?;
        let extent = c.expand(extent, &from)?;
        y = c.b.map(S::Div, &[y, extent])?;
        columns.extend([have.clone(), Sym::ONE]);
        blocks.extend([have.clone(), block]);
    }
    let y = c.cast(y, dtype)?;
    let y = c.b.reshape(y, columns)?;
    let y = c.b.expand(y, blocks)?;
    Ok(vec![c.b.reshape(y, out)?])
}

/// Greatest elements of windows, and their flat positions in the plane.
fn greatest(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let pool = geometry(c, spatial)?;
    if pool.ceil_mode {
        return Err(c.unsupported("ceil_mode"));
    }
    let shape = c.b.shape(x).clone();
    let rank = shape.len();
    let places = positions(c, &shape, spatial)?;
    let values = windows(c, x, &pool, spatial, lowest(c.b.dtype(x)))?;
    let places = windows(c, places, &pool, spatial, Scalar::from_i64(DType::I64, 0))?;
    let taps: Vec<usize> = (rank..c.b.shape(values).len()).collect();
    let best = compose::max(c.b, values, &taps, false)?;
    let at = last_nan_or_first_best(c, values, best, places, &taps)?;
    Ok(vec![best, at])
}

/// Of the places where the window holds its greatest, the first; where it holds NaN, the last.
fn last_nan_or_first_best(c: &mut Ctx<'_>, values: NodeId, best: NodeId, places: NodeId, taps: &[usize]) -> Result<NodeId> {
    let shape = c.b.shape(values).clone();
    let mut column = c.b.shape(best).clone();
    column.extend(taps.iter().map(|_| Sym::ONE));
    let spread = c.b.reshape(best, column)?;
    let spread = c.b.expand(spread, &shape)?;
    let equal = c.b.map(S::Eq, &[values, spread])?;
    let far = compose::full(c.b, &shape, Scalar::from_i64(DType::I64, i64::MAX))?;
    let first = c.b.map(S::Select, &[equal, places, far])?;
    let first = c.b.reduce(Combiner::Min, &[first], taps)?;
    if !c.b.dtype(values).is_float() {
        return Ok(first);
    }
    let undefined = c.b.map(S::IsNan, &[values])?;
    let none = compose::full(c.b, &shape, Scalar::from_i64(DType::I64, -1))?;
    let last = c.b.map(S::Select, &[undefined, places, none])?;
    let last = c.b.reduce(Combiner::Max, &[last], taps)?;
    let any = compose::with_scalar(c.b, S::Ge, last, 0.0)?;
    c.b.map(S::Select, &[any, last, first])
}

/// Least value of a dtype.
fn lowest(dtype: DType) -> Scalar {
    Scalar::from_f64(dtype, f64::NEG_INFINITY)
}

/// Row-major positions over the trailing axes.
fn positions(c: &mut Ctx<'_>, shape: &Shape, spatial: usize) -> Result<NodeId> {
    let plane: Shape = shape[shape.len() - spatial..].iter().cloned().collect();
    let flat = c.b.iota(Sym::product(&plane))?;
    let flat = c.b.reshape(flat, &plane)?;
    c.expand(flat, shape)
}

/// Windows of the trailing axes as further axes.
fn windows(c: &mut Ctx<'_>, x: NodeId, pool: &Pool, spatial: usize, fill: Scalar) -> Result<NodeId> {
    let rank = c.rank(x);
    let first = rank - spatial;
    let pads: Shape = (0..rank).map(|a| Sym::from(if a < first { 0 } else { pool.pads[a - first].0 })).collect();
    let mut y = if pads.iter().all(Sym::is_zero) { x } else { c.b.pad(x, &pads, &pads, &vec![0; rank], fill)? };
    for i in 0..spatial {
        y = c.b.window(y, first + i, pool.kernel[i], pool.stride[i], pool.dilation[i])?;
    }
    Ok(y)
}
