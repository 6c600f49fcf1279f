//! Layout and indexing: slices, joins, gathers, scatters, masks.

use base::{Error, Result};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, broadcast_to, cast, full, reshape_if, scalar_like, where_, with_scalar};
use super::reduce::drop_axes;
use crate::{At, Builder, NodeId, WriteCombine};

/// A possibly negative axis, counted from the end, as an index below `rank`.
///
/// # Errors
/// Out of range.
pub fn axis(op: &str, axis: i64, rank: usize) -> Result<usize> {
    let counted = if axis < 0 { axis + rank as i64 } else { axis };
    let ok = usize::try_from(counted).ok().filter(|&a| a < rank);
    ok.ok_or_else(|| Error::invalid(format!("{op}: axis {axis} is out of range for rank {rank}")))
}

fn extent(b: &Builder, op: &str, x: NodeId, axis: usize) -> Result<Sym> {
    b.shape(x).get(axis).cloned().ok_or_else(|| bad(b, op, &[x], format!("axis {axis} is out of range")))
}

/// `len` elements from `start` in steps of `step` ≥ 1 along one axis; no node when that is all of it.
///
/// # Errors
/// A range outside the axis.
pub fn slice_axis(b: &mut Builder, x: NodeId, axis: usize, start: &Sym, len: &Sym, step: i64) -> Result<NodeId> {
    let n = extent(b, "slice", x, axis)?;
    if start.is_zero() && *len == n && step == 1 {
        return Ok(x);
    }
    let mut lens = b.shape(x).clone();
    let mut starts = Shape::from_elem(Sym::ZERO, lens.len());
    let mut steps = vec![1; lens.len()];
    (starts[axis], lens[axis], steps[axis]) = (start.clone(), len.clone(), step);
    b.slice(x, &starts, &lens, &steps)
}

/// A bound counted from the end when negative, brought into 0..=n.
fn bound(b: &Builder, v: i64, n: &Sym) -> Sym {
    let v = if v < 0 { n + v } else { Sym::from(v) };
    at_most(b, &at_least_zero(b, &v), n)
}

fn at_least_zero(b: &Builder, v: &Sym) -> Sym {
    if b.facts().proves_ge(v, &Sym::ZERO) { v.clone() } else { v.max(&Sym::ZERO) }
}

fn at_most(b: &Builder, v: &Sym, n: &Sym) -> Sym {
    if v.as_int().is_some_and(|v| v >= i64::from(i32::MAX)) || b.facts().proves_ge(v, n) {
        n.clone()
    } else if b.facts().proves_ge(n, v) {
        v.clone()
    } else {
        v.min(n)
    }
}

/// Python's `x[start:end:step]` along one axis: negative bounds count from the end, bounds beyond the axis are clamped, a
/// negative step runs backwards (pass `i64::MIN` as the end to include element 0).
///
/// # Errors
/// A step of 0 or an axis out of range.
pub fn slice_range(b: &mut Builder, x: NodeId, axis: usize, start: i64, end: i64, step: i64) -> Result<NodeId> {
    let n = extent(b, "slice", x, axis)?;
    if step == 0 || step == i64::MIN {
        return Err(bad(b, "slice", &[x], "step must not be 0"));
    }
    if step > 0 {
        let (first, last) = (bound(b, start.max(-i64::MAX / 2), &n), bound(b, end.max(-i64::MAX / 2), &n));
        let len = at_least_zero(b, &(&last - &first)).ceil_div(&Sym::from(step));
        return slice_axis(b, x, axis, &first, &len, step);
    }
    let backwards = b.flip(x, &[axis])?;
    let mirrored = |v: i64| mirror(b, v, &n);
    let (first, last) = (mirrored(start), mirrored(end));
    let len = at_least_zero(b, &(&last - &first)).ceil_div(&Sym::from(-step));
    slice_axis(b, backwards, axis, &first, &len, -step)
}

/// Position of a bound in the reversed axis, brought into 0..=n.
fn mirror(b: &Builder, v: i64, n: &Sym) -> Sym {
    let at = if v < 0 { Sym::from((-1 - v.max(-i64::MAX / 2)).min(i64::MAX / 2)) } else { n - 1 - v };
    if v >= i64::from(i32::MAX) {
        return Sym::ZERO;
    }
    at_most(b, &at_least_zero(b, &at), n)
}

/// Element `i` along an axis (negative counts from the end); the axis disappears.
///
/// # Errors
/// An axis or literal index out of range.
pub fn select(b: &mut Builder, x: NodeId, axis: usize, i: i64) -> Result<NodeId> {
    let n = extent(b, "select", x, axis)?;
    let at = if i < 0 { &n + i } else { Sym::from(i) };
    let one = slice_axis(b, x, axis, &at, &Sym::ONE, 1)?;
    drop_axes(b, one, &[axis])
}

/// Consecutive parts of the given extents along an axis.
///
/// # Errors
/// Extents that do not add up.
pub fn split(b: &mut Builder, x: NodeId, axis: usize, sizes: &[Sym]) -> Result<Vec<NodeId>> {
    let n = extent(b, "split", x, axis)?;
    let total: Sym = sizes.iter().cloned().sum();
    if total.as_int().is_some() && n.as_int().is_some() && total != n {
        return Err(bad(b, "split", &[x], format!("parts add up to {total}, axis {axis} has {n}")));
    }
    let mut start = Sym::ZERO;
    let mut parts = Vec::new();
    for size in sizes {
        parts.push(slice_axis(b, x, axis, &start, size, 1)?);
        start += size;
    }
    Ok(parts)
}

/// `n` parts of ⌈extent/n⌉ each, the last ones shorter or absent (PyTorch's `chunk`); a symbolic extent must be divisible.
///
/// # Errors
/// `n` below 1, or a symbolic extent that `n` does not divide.
pub fn chunk(b: &mut Builder, x: NodeId, n: i64, axis: usize) -> Result<Vec<NodeId>> {
    let extent = extent(b, "chunk", x, axis)?;
    if n < 1 {
        return Err(bad(b, "chunk", &[x], format!("{n} parts: at least 1")));
    }
    let sizes: Vec<Sym> = match (extent.as_int(), extent.exact_div(&Sym::from(n))) {
        (Some(len), _) => {
            let each = ((len + n - 1) / n).max(1);
            let starts = (0..n).map(|i| i * each).take_while(|&s| s < len || s == 0);
            starts.map(|s| Sym::from(each.min(len - s))).collect()
        }
        (None, Some(each)) => vec![each; n as usize],
        (None, None) => {
            return Err(bad(b, "chunk", &[x], format!("{n} parts do not divide the symbolic extent {extent}; split by sizes")));
        }
    };
    split(b, x, axis, &sizes)
}

/// Operands joined along a new axis.
///
/// # Errors
/// No operands, or shapes or dtypes that differ.
pub fn stack(b: &mut Builder, args: &[NodeId], axis: usize) -> Result<NodeId> {
    let rows = args.iter().map(|&a| unsqueeze(b, a, &[axis])).collect::<Result<Vec<_>>>()?;
    b.concat(&rows, axis)
}

/// Removes the listed axes, whose extents are 1 (guarded when symbolic).
///
/// # Errors
/// An axis out of range or with another literal extent.
pub fn squeeze(b: &mut Builder, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    for &axis in axes {
        extent(b, "squeeze", x, axis)?;
    }
    drop_axes(b, x, axes).map_err(|_| bad(b, "squeeze", &[x], format!("axes {axes:?} do not all have extent 1")))
}

/// Inserts axes of extent 1 at the listed places of the result, ascending.
///
/// # Errors
/// A place out of range.
pub fn unsqueeze(b: &mut Builder, x: NodeId, axes: &[usize]) -> Result<NodeId> {
    let mut shape = b.shape(x).clone();
    for &axis in axes {
        if axis > shape.len() {
            return Err(bad(b, "unsqueeze", &[x], format!("axis {axis} is out of range")));
        }
        shape.insert(axis, Sym::ONE);
    }
    reshape_if(b, x, &shape)
}

/// Merges the axes from `start` to `end`, both included; a 0-d operand becomes `[1]`.
///
/// # Errors
/// Axes out of range.
pub fn flatten(b: &mut Builder, x: NodeId, start: usize, end: usize) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    if shape.is_empty() && start == 0 && end == 0 {
        return b.reshape(x, [1i64]);
    }
    if start > end || end >= shape.len() {
        return Err(bad(b, "flatten", &[x], format!("axes {start} to {end} are out of range")));
    }
    let merged = Sym::product(&shape[start..=end]);
    let flat: Shape = shape[..start].iter().cloned().chain([merged]).chain(shape[end + 1..].iter().cloned()).collect();
    reshape_if(b, x, &flat)
}

/// Swaps two axes.
///
/// # Errors
/// Axes out of range.
pub fn transpose(b: &mut Builder, x: NodeId, first: usize, second: usize) -> Result<NodeId> {
    extent(b, "transpose", x, first.max(second))?;
    let mut perm: Vec<usize> = (0..b.shape(x).len()).collect();
    perm.swap(first, second);
    if first == second { Ok(x) } else { b.permute(x, &perm) }
}

/// Repeats the whole tensor `times[i]` times along axis `i` (ONNX Tile, PyTorch `repeat` of equal rank).
///
/// # Errors
/// A count per axis is missing or negative.
pub fn tile(b: &mut Builder, x: NodeId, times: &[Sym]) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    if times.len() != shape.len() {
        return Err(bad(b, "tile", &[x], format!("needs {} counts, got {}", shape.len(), times.len())));
    }
    repeat(b, x, times, true)
}

/// Repeats each element `times` times along an axis (PyTorch `repeat_interleave`, nearest upsampling).
///
/// # Errors
/// An axis out of range.
pub fn repeat_interleave(b: &mut Builder, x: NodeId, axis: usize, times: &Sym) -> Result<NodeId> {
    extent(b, "repeat_interleave", x, axis)?;
    let mut all = vec![Sym::ONE; b.shape(x).len()];
    all[axis] = times.clone();
    repeat(b, x, &all, false)
}

/// Repeats by expanding a unit axis before (`outer`) or after each axis, and merging.
fn repeat(b: &mut Builder, x: NodeId, times: &[Sym], outer: bool) -> Result<NodeId> {
    let (mut apart, mut wide, mut merged) = (Shape::new(), Shape::new(), Shape::new());
    for (n, t) in b.shape(x).iter().zip(times) {
        merged.push(n * t);
        if t.is_one() {
            apart.push(n.clone());
            wide.push(n.clone());
        } else if outer {
            apart.extend([Sym::ONE, n.clone()]);
            wide.extend([t.clone(), n.clone()]);
        } else {
            apart.extend([n.clone(), Sym::ONE]);
            wide.extend([n.clone(), t.clone()]);
        }
    }
    let apart = reshape_if(b, x, &apart)?;
    let wide = broadcast_to(b, apart, &wide)?;
    reshape_if(b, wide, &merged)
}

/// What lies outside in [`pad`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadMode {
    /// One value, rounded to x's dtype.
    Constant(f64),
    /// Mirrored at the first and last element, which are not repeated.
    Reflect,
    /// The nearest element.
    Edge,
    /// Periodic.
    Wrap,
}

/// Adds `lo` and `hi` elements around each axis; negative amounts crop.
///
/// # Errors
/// Amounts for another rank, or a crop beyond the extent.
pub fn pad(b: &mut Builder, x: NodeId, lo: &[i64], hi: &[i64], mode: PadMode) -> Result<NodeId> {
    let rank = b.shape(x).len();
    if lo.len() != rank || hi.len() != rank {
        return Err(bad(b, "pad", &[x], format!("needs amounts for {rank} axes, got {} and {}", lo.len(), hi.len())));
    }
    let mut y = x;
    for i in 0..rank {
        let (first, cut) = ((-lo[i]).max(0), (-lo[i]).max(0) + (-hi[i]).max(0));
        let len = &b.shape(y)[i] - cut;
        y = slice_axis(b, y, i, &Sym::from(first), &len, 1)?;
    }
    let (lo, hi): (Vec<i64>, Vec<i64>) = lo.iter().zip(hi).map(|(&l, &h)| (l.max(0), h.max(0))).unzip();
    match mode {
        _ if lo.iter().chain(&hi).all(|&v| v == 0) => Ok(y),
        PadMode::Constant(v) => {
            let fill = Scalar::from_f64(b.dtype(y), v);
            b.pad(y, lo, hi, &vec![0; rank], fill)
        }
        _ => (0..rank).filter(|&i| lo[i] + hi[i] > 0).try_fold(y, |y, i| pad_axis(b, y, i, lo[i], hi[i], mode)),
    }
}

fn pad_axis(b: &mut Builder, x: NodeId, axis: usize, lo: i64, hi: i64, mode: PadMode) -> Result<NodeId> {
    let n = extent(b, "pad", x, axis)?;
    let i = b.iota(&n + lo + hi)?;
    let i = with_scalar(b, S::Sub, i, lo as f64)?;
    let constant = |b: &mut Builder, s: Sym| b.sym(s);
    let source = match mode {
        PadMode::Wrap => {
            let n = constant(b, n)?;
            binary(b, S::Mod, i, n)?
        }
        PadMode::Reflect => {
            let last = constant(b, &n - 1)?;
            let up = b.map(S::Abs, &[i])?;
            let over = binary(b, S::Sub, up, last)?;
            let over = b.map(S::Abs, &[over])?;
            binary(b, S::Sub, last, over)?
        }
        _ => {
            let last = constant(b, &n - 1)?;
            let low = with_scalar(b, S::Max, i, 0.0)?;
            binary(b, S::Min, low, last)?
        }
    };
    index_select(b, x, axis, source)
}

/// Indices as i64, negative ones counted from the end `n`.
///
/// # Errors
/// Indices that are not integers.
pub fn wrap_index(b: &mut Builder, index: NodeId, n: &Sym) -> Result<NodeId> {
    if !b.dtype(index).is_int() {
        return Err(bad(b, "index", &[index], "indices must be integers"));
    }
    let unsigned = !b.dtype(index).is_signed();
    let index = cast(b, index, DType::I64)?;
    if unsigned {
        return Ok(index);
    }
    let negative = with_scalar(b, S::Lt, index, 0.0)?;
    let n = b.sym(n)?;
    let wrapped = binary(b, S::Add, index, n)?;
    b.map(S::Select, &[negative, wrapped, index])
}

/// `out[.., j, ..] = x[.., index[j], ..]` along an axis, with a 1-d index. Indices must be in range; see [`wrap_index`].
///
/// # Errors
/// An index that is not a vector of integers, or an axis out of range.
pub fn index_select(b: &mut Builder, x: NodeId, axis: usize, index: NodeId) -> Result<NodeId> {
    extent(b, "index_select", x, axis)?;
    if b.shape(index).len() != 1 {
        return Err(bad(b, "index_select", &[x, index], "the index needs one axis"));
    }
    let index = cast(b, index, DType::I64)?;
    let mut out = b.shape(x).clone();
    let mut column = Shape::from_elem(Sym::ONE, out.len());
    out[axis] = b.shape(index)[0].clone();
    column[axis] = out[axis].clone();
    let column = reshape_if(b, index, &column)?;
    let spread = broadcast_to(b, column, &out)?;
    b.gather(x, &[spread], &[axis])
}

/// Slices of x along an axis for an index of any rank, whose axes replace it (ONNX Gather): negative indices count from the end.
///
/// # Errors
/// As [`index_select`].
pub fn take(b: &mut Builder, x: NodeId, axis: usize, index: NodeId) -> Result<NodeId> {
    let n = extent(b, "take", x, axis)?;
    let index = wrap_index(b, index, &n)?;
    take_in_range(b, x, axis, index)
}

fn take_in_range(b: &mut Builder, x: NodeId, axis: usize, index: NodeId) -> Result<NodeId> {
    let shape = b.shape(index).clone();
    let flat = reshape_if(b, index, &Shape::from_iter([Sym::product(&shape)]))?;
    let y = index_select(b, x, axis, flat)?;
    let from = b.shape(x);
    let out: Shape = from[..axis].iter().chain(&shape).chain(&from[axis + 1..]).cloned().collect();
    reshape_if(b, y, &out)
}

/// Rows of a table `[V, …]` by an integer index of any rank; indices must be in 0..V.
///
/// # Errors
/// As [`index_select`].
pub fn embedding(b: &mut Builder, table: NodeId, index: NodeId) -> Result<NodeId> {
    extent(b, "embedding", table, 0)?;
    take_in_range(b, table, 0, index)
}

/// x cut to the extents of `like` on all axes but one.
fn crop_to(b: &mut Builder, x: NodeId, like: &Shape, except: usize) -> Result<NodeId> {
    (0..like.len()).filter(|&i| i != except).try_fold(x, |x, i| slice_axis(b, x, i, &Sym::ZERO, &like[i], 1))
}

/// `out[p] = x[p with p[axis] ← index[p]]` (PyTorch `gather`, ONNX GatherElements): the index has x's rank and at most its
/// extents on the other axes; negative indices count from the end.
///
/// # Errors
/// Ranks that differ or an index that is not of integers.
pub fn gather(b: &mut Builder, x: NodeId, axis: usize, index: NodeId) -> Result<NodeId> {
    let n = extent(b, "gather", x, axis)?;
    let shape = b.shape(index).clone();
    if shape.len() != b.shape(x).len() {
        return Err(bad(b, "gather", &[x, index], "operand and index differ in rank"));
    }
    let index = wrap_index(b, index, &n)?;
    let x = crop_to(b, x, &shape, axis)?;
    b.gather(x, &[index], &[axis])
}

/// dst with `dst[p with p[axis] ← index[p]]` combined with `src[p]`, for p over the index (PyTorch `scatter`, `scatter_add`,
/// ONNX ScatterElements); negative indices count from the end.
///
/// # Errors
/// Ranks or dtypes that differ.
pub fn scatter(b: &mut Builder, dst: NodeId, axis: usize, index: NodeId, src: NodeId, combine: WriteCombine) -> Result<NodeId> {
    let n = extent(b, "scatter", dst, axis)?;
    let shape = b.shape(index).clone();
    if shape.len() != b.shape(dst).len() || shape.len() != b.shape(src).len() {
        return Err(bad(b, "scatter", &[dst, index, src], "destination, index and source differ in rank"));
    }
    let index = wrap_index(b, index, &n)?;
    let src = crop_to(b, src, &shape, usize::MAX)?;
    let at = At::Indices { axes: [axis].into_iter().collect(), unique: false };
    b.write(combine, at, dst, src, &[index])
}

/// How the positions `index[…, m]` of x's first m axes become a gather or write over x's rank.
struct NdIndex {
    /// Extents of the moved elements: position count, 1 for each further indexed axis, the other axes of x.
    space: Shape,
    /// Leading extents of the index, then the other axes of x.
    shape: Shape,
    /// One index per indexed axis, over `space`.
    parts: Vec<NodeId>,
    axes: Vec<usize>,
}

fn nd_index(b: &mut Builder, x: NodeId, index: NodeId) -> Result<NdIndex> {
    let (lead, rest) = nd_extents(b, x, index)?;
    let m = b.shape(x).len() - rest.len();
    let count = Sym::product(&lead);
    let mut space = Shape::from_elem(Sym::ONE, m);
    space[0] = count.clone();
    let mut column = space.clone();
    column.resize(b.shape(x).len(), Sym::ONE);
    space.extend(rest.iter().cloned());
    let flat = reshape_if(b, index, &Shape::from_iter([count, Sym::from(m)]))?;
    let mut parts = Vec::new();
    for k in 0..m {
        let n = b.shape(x)[k].clone();
        let one = select(b, flat, 1, k as i64)?;
        let one = wrap_index(b, one, &n)?;
        let one = reshape_if(b, one, &column)?;
        parts.push(broadcast_to(b, one, &space)?);
    }
    Ok(NdIndex { space, shape: lead.into_iter().chain(rest).collect(), parts, axes: (0..m).collect() })
}

/// Slices of x at positions `index[…, m]` of its first m axes (ONNX GatherND without batch axes); negatives count from the end.
///
/// # Errors
/// A symbolic m, or one that is not from 1 to x's rank.
pub fn gather_nd(b: &mut Builder, x: NodeId, index: NodeId) -> Result<NodeId> {
    let nd = nd_index(b, x, index)?;
    let y = b.gather(x, &nd.parts, &nd.axes)?;
    reshape_if(b, y, &nd.shape)
}

/// dst with slices at positions `index[…, m]` of its first m axes combined with src (ONNX ScatterND).
///
/// # Errors
/// As [`gather_nd`], or a source of another shape.
pub fn scatter_nd(b: &mut Builder, dst: NodeId, index: NodeId, src: NodeId, combine: WriteCombine) -> Result<NodeId> {
    let nd = nd_index(b, dst, index)?;
    let src = reshape_if(b, src, &nd.space)?;
    b.write(combine, At::Indices { axes: nd.axes.into_iter().collect(), unique: false }, dst, src, &nd.parts)
}

/// Leading extents of an nd-index and the extents of x that each position leaves.
fn nd_extents(b: &Builder, x: NodeId, index: NodeId) -> Result<(Shape, Shape)> {
    let (xs, is) = (b.shape(x), b.shape(index));
    let m = is.last().and_then(Sym::as_int).and_then(|m| usize::try_from(m).ok()).filter(|&m| m >= 1 && m <= xs.len());
    let m = m.ok_or_else(|| bad(b, "nd-index", &[x, index], "the index needs a literal last extent from 1 to x's rank"))?;
    Ok((is[..is.len() - 1].iter().cloned().collect(), xs[m..].iter().cloned().collect()))
}

/// 1 where the last axis, of extent `depth`, equals the index, else 0; out-of-range indices give a row of 0.
///
/// # Errors
/// An index that is not of integers.
pub fn one_hot(b: &mut Builder, index: NodeId, depth: &Sym, dtype: DType) -> Result<NodeId> {
    let rank = b.shape(index).len();
    let index = cast(b, index, DType::I64)?;
    let column = unsqueeze(b, index, &[rank])?;
    let classes = b.iota(depth)?;
    let hit = binary(b, S::Eq, column, classes)?;
    cast(b, hit, dtype)
}

/// start + step · (0, 1, …, len − 1) in a dtype.
///
/// # Errors
/// A negative length.
pub fn arange(b: &mut Builder, start: f64, len: &Sym, step: f64, dtype: DType) -> Result<NodeId> {
    let i = b.iota(len)?;
    let i = cast(b, i, dtype)?;
    let scaled = if step == 1.0 { i } else { with_scalar(b, S::Mul, i, step)? };
    if start == 0.0 { Ok(scaled) } else { with_scalar(b, S::Add, scaled, start) }
}

/// bool `[rows, cols]`: whether column ≤ row + `diagonal` (on or below that diagonal).
///
/// # Errors
/// Negative extents.
pub fn lower_mask(b: &mut Builder, rows: &Sym, cols: &Sym, diagonal: &Sym) -> Result<NodeId> {
    let i = b.iota(rows)?;
    let i = unsqueeze(b, i, &[1])?;
    let offset = b.sym(diagonal)?;
    let limit = binary(b, S::Add, i, offset)?;
    let j = b.iota(cols)?;
    binary(b, S::Le, j, limit)
}

fn triangle(b: &mut Builder, x: NodeId, diagonal: i64, lower: bool) -> Result<NodeId> {
    let rank = b.shape(x).len();
    if rank < 2 {
        return Err(bad(b, "tril/triu", &[x], "needs two axes"));
    }
    let (rows, cols) = (b.shape(x)[rank - 2].clone(), b.shape(x)[rank - 1].clone());
    let zero = scalar_like(b, x, 0.0)?;
    if lower {
        let mask = lower_mask(b, &rows, &cols, &Sym::from(diagonal))?;
        where_(b, mask, x, zero)
    } else {
        let mask = lower_mask(b, &rows, &cols, &Sym::from(diagonal - 1))?;
        where_(b, mask, zero, x)
    }
}

/// x on and below a diagonal of its last two axes, else 0.
///
/// # Errors
/// A rank below 2.
pub fn tril(b: &mut Builder, x: NodeId, diagonal: i64) -> Result<NodeId> {
    triangle(b, x, diagonal, true)
}

/// x on and above a diagonal of its last two axes, else 0.
///
/// # Errors
/// A rank below 2.
pub fn triu(b: &mut Builder, x: NodeId, diagonal: i64) -> Result<NodeId> {
    triangle(b, x, diagonal, false)
}

/// x where the mask is false, `value` where it is true.
///
/// # Errors
/// Shapes that do not broadcast.
pub fn masked_fill(b: &mut Builder, x: NodeId, mask: NodeId, value: f64) -> Result<NodeId> {
    let fill = Scalar::from_f64(b.dtype(x), value);
    let fill = full(b, &Shape::new(), fill)?;
    where_(b, mask, fill, x)
}
