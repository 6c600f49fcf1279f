//! Pooling.

use base::Result;
use graph::NodeId;
use graph::compose::{self, Cover, Pool};
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Shape, Sym};

use super::Lower;
use super::ctx::{Ctx, Number};

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.avg_pool1d.default" => |c| average(c, 1),
        "aten.avg_pool2d.default" => |c| average(c, 2),
        "aten.avg_pool3d.default" => |c| average(c, 3),
        "aten._adaptive_avg_pool2d.default" | "aten._adaptive_avg_pool3d.default" => adaptive_average,
        "aten._adaptive_avg_pool2d_backward.default" => |c| adaptive_average_backward(c, 2),
        "aten._adaptive_avg_pool3d_backward.default" => |c| adaptive_average_backward(c, 3),
        "aten.avg_pool2d_backward.default" => |c| average_backward(c, 2),
        "aten.avg_pool3d_backward.default" => |c| average_backward(c, 3),
        "aten.max_pool2d_with_indices_backward.default" => |c| greatest_backward(c, 2),
        "aten.max_pool3d_with_indices_backward.default" => |c| greatest_backward(c, 3),
        "aten.max_pool2d_with_indices.default" => |c| greatest(c, 2),
        "aten.max_pool3d_with_indices.default" => |c| greatest(c, 3),
        _ => return None,
    })
}

fn geometry(c: &Ctx<'_>, spatial: usize) -> Result<Pool> {
    let kernel = c.per_axis("kernel_size", spatial, &[])?;
    let stride = c.per_axis("stride", spatial, &kernel)?;
    let pads = c.per_axis("padding", spatial, &vec![0; spatial])?.into_iter().map(|p| (p, p)).collect();
    let dilation = c.per_axis("dilation", spatial, &vec![1; spatial])?;
    Ok(Pool { kernel, stride, pads, dilation, ceil_mode: c.flag("ceil_mode")? })
}

/// Refuses what torch has no kernel for.
fn averaged(c: &Ctx<'_>, dtype: DType, spatial: usize) -> Result<()> {
    let refused = !dtype.is_float() || spatial == 3 && dtype.accumulator() != dtype;
    if refused { Err(c.unsupported(dtype)) } else { Ok(()) }
}

/// Means of windows: their sums over the divisor that the user gave, or over what they count.
fn average(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let dtype = c.b.dtype(x);
    averaged(c, dtype, spatial)?;
    let pool = geometry(c, spatial)?;
    let wide = c.cast(x, dtype.accumulator())?;
    let zero = Scalar::zero(c.b.dtype(wide));
    let windows = pool.windows(c.b, wide, zero)?;
    let taps: Vec<usize> = (c.rank(x)..c.rank(windows)).collect();
    let total = c.b.reduce(Combiner::Sum, &[windows], &taps)?;
    let extents = c.b.shape(x)[c.rank(x) - spatial..].to_vec();
    let y = divided(c, total, &pool, &extents)?;
    Ok(vec![c.cast(y, dtype)?])
}

/// A number per window over its divisor.
fn divided(c: &mut Ctx<'_>, y: NodeId, pool: &Pool, extents: &[Sym]) -> Result<NodeId> {
    if c.has("divisor_override") {
        return compose::with_scalar(c.b, S::Div, y, c.int("divisor_override")? as f64);
    }
    let padding = c.flag("count_include_pad")?;
    pool.divide_by_counts(c.b, y, extents, padding)
}

/// The rounded quotients of all windows that hold a position, added up.
fn average_backward(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let (grad, out, dtype) = (c.tensor("grad_output")?, c.shape()?, c.dtype()?);
    averaged(c, dtype, spatial)?;
    let pool = geometry(c, spatial)?;
    let extents = &out[out.len() - spatial..];
    let cover = Cover::new(&pool, extents)?;
    let wide = c.cast(grad, dtype.accumulator())?;
    let quotients = divided(c, wide, &pool, extents)?;
    let rounded = c.cast(quotients, dtype)?;
    let y = cover.windows(c.b, rounded, Scalar::zero(dtype))?;
    let y = cover.held(c.b, y)?;
    summed(c, &cover, y, dtype)
}

/// The sum over the windows of a cover, rounded once.
fn summed(c: &mut Ctx<'_>, cover: &Cover<'_>, y: NodeId, dtype: DType) -> Result<Vec<NodeId>> {
    let y = c.cast(y, dtype.accumulator())?;
    let y = cover.sum(c.b, y)?;
    Ok(vec![c.cast(y, dtype)?])
}

/// The gradients of all windows whose greatest element a position is, added up.
fn greatest_backward(c: &mut Ctx<'_>, spatial: usize) -> Result<Vec<NodeId>> {
    let (grad, at, out, dtype) = (c.tensor("grad_output")?, c.tensor("indices")?, c.shape()?, c.dtype()?);
    let pool = geometry(c, spatial)?;
    let extents = &out[out.len() - spatial..];
    let cover = Cover::new(&pool, extents)?;
    let grads = cover.windows(c.b, grad, Scalar::zero(dtype))?;
    let at = cover.windows(c.b, at, Scalar::from_i64(DType::I64, -1))?;
    let lows: Vec<i64> = pool.pads.iter().map(|p| p.0).collect();
    let own = grid(c, extents, &cover.lengths(), &vec![1; spatial], &lows, DType::I64)?;
    let own = cover.split(c.b, own)?;
    let hit = compose::binary(c.b, S::Eq, at, own)?;
    let zero = c.constant(&Number::Int(0), dtype)?;
    let y = compose::where_(c.b, hit, grads, zero)?;
    summed(c, &cover, y, dtype)
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
        let extent = c.constant(&Number::from(block.clone()), c.b.dtype(y))?;
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
    let rank = c.rank(x);
    let least = Scalar::from_f64(c.b.dtype(x), f64::NEG_INFINITY);
    let values = pool.windows(c.b, x, least)?;
    let taps: Vec<usize> = (rank..c.b.shape(values).len()).collect();
    let best = compose::max(c.b, values, &taps, false)?;
    let hit = hits(c, x, values, best, &pool)?;
    let at = places(c, x, values, hit, &pool)?;
    Ok(vec![best, at])
}

/// Whether an element of a window is its greatest; padding never is.
fn hits(c: &mut Ctx<'_>, x: NodeId, values: NodeId, best: NodeId, pool: &Pool) -> Result<NodeId> {
    let shape = c.b.shape(values).clone();
    let mut column = c.b.shape(best).clone();
    column.extend(pool.kernel.iter().map(|_| Sym::ONE));
    let spread = c.b.reshape(best, column)?;
    let spread = c.b.expand(spread, &shape)?;
    let equal = c.b.map(S::Eq, &[values, spread])?;
    if pool.pads.iter().all(|p| *p == (0, 0)) {
        return Ok(equal);
    }
    let own = c.b.shape(x).clone();
    let all = compose::full(c.b, &own, Scalar::bool(true))?;
    let inside = pool.windows(c.b, all, Scalar::bool(false))?;
    c.b.map(S::And, &[equal, inside])
}

/// The flat position of the first hit of each window, or of its last NaN: one maximum over keys, −place of a hit and
/// `far` + place of a NaN.
fn places(c: &mut Ctx<'_>, x: NodeId, values: NodeId, hit: NodeId, pool: &Pool) -> Result<NodeId> {
    let rank = c.rank(x);
    let plane = Sym::product(&c.b.shape(x)[rank - pool.kernel.len()..]);
    let small = plane.as_int().is_some_and(|n| n < 1 << 28);
    let (dtype, far) = if small { (DType::I32, 1i64 << 30) } else { (DType::I64, 1i64 << 62) };
    let shape = c.b.shape(values).clone();
    let extents = c.b.shape(x)[rank - pool.kernel.len()..].to_vec();
    let offsets = grid(c, &extents, &pool.kernel, &pool.dilation, &vec![0; pool.kernel.len()], dtype)?;
    let offset = c.expand(offsets, &shape)?;
    let never = compose::full(c.b, &shape, Scalar::from_i64(dtype, -far))?;
    let back = c.b.map(S::Neg, &[offset])?;
    let mut key = c.b.map(S::Select, &[hit, back, never])?;
    if c.b.dtype(values).is_float() {
        let undefined = c.b.map(S::IsNan, &[values])?;
        let beyond = compose::full(c.b, &shape, Scalar::from_i64(dtype, far))?;
        let beyond = c.b.map(S::Add, &[offset, beyond])?;
        key = c.b.map(S::Select, &[undefined, beyond, key])?;
    }
    let key = c.b.reduce(Combiner::Max, &[key], &(rank..shape.len()).collect::<Vec<_>>())?;
    let out = c.b.shape(key).clone();
    let limit = compose::full(c.b, &out, Scalar::from_i64(dtype, far))?;
    let undefined = c.b.map(S::Ge, &[key, limit])?;
    let (first, last) = (c.b.map(S::Neg, &[key])?, c.b.map(S::Sub, &[key, limit])?);
    let offset = c.b.map(S::Select, &[undefined, last, first])?;
    let lows: Vec<i64> = pool.pads.iter().map(|p| p.0).collect();
    let counts: Vec<Sym> = out[rank - pool.kernel.len()..].to_vec();
    let start = grid(c, &extents, &counts, &pool.stride, &lows, dtype)?;
    let start = c.expand(start, &out)?;
    let at = c.b.map(S::Add, &[start, offset])?;
    c.cast(at, DType::I64)
}

/// Flat positions in a plane of `extents` of the points `index · step − low` of each spatial axis.
fn grid<N: Clone + Into<Sym>>(
    c: &mut Ctx<'_>,
    extents: &[Sym],
    counts: &[N],
    steps: &[i64],
    lows: &[i64],
    dtype: DType,
) -> Result<NodeId> {
    let shape: Shape = counts.iter().cloned().map(Into::into).collect();
    let mut flat = compose::full(c.b, &shape, Scalar::zero(dtype))?;
    for i in 0..shape.len() {
        let index = c.b.iota(shape[i].clone())?;
        let index = c.cast(index, dtype)?;
        let point = compose::with_scalar(c.b, S::Mul, index, steps[i] as f64)?;
        let point = compose::with_scalar(c.b, S::Sub, point, lows[i] as f64)?;
        let row = c.constant(&Number::from(Sym::product(&extents[i + 1..])), dtype)?;
        let row = c.expand(row, &Shape::from_iter([shape[i].clone()]))?;
        let point = c.b.map(S::Mul, &[point, row])?;
        let mut column = Shape::from_elem(Sym::ONE, shape.len());
        column[i] = shape[i].clone();
        let point = c.b.reshape(point, column)?;
        let point = c.expand(point, &shape)?;
        flat = c.b.map(S::Add, &[flat, point])?;
    }
    Ok(flat)
}
