//! Ops that move elements without computing: reshape, transpose, slices, joins, padding.

use base::{Error, Result};
use scalar::{Shape, Sym};
use smallvec::SmallVec;

use crate::op::Op;
use crate::promote::{Number, Operand, result_type};
use crate::shape::{Dims, Index, IntoIndex, IntoShape, IntoSym, axis};
use crate::tensor::{Recorded, Tensor, user_op};
use crate::trace;

fn one() -> Sym {
    Sym::from(1i64)
}

/// Replaces one extent of −1 by what the element count leaves.
fn infer_extent(shape: Shape, from: &Shape) -> Result<Shape> {
    let unknown: Vec<usize> = (0..shape.len()).filter(|&i| shape[i].as_int() == Some(-1)).collect();
    match unknown[..] {
        [] => Ok(shape),
        [at] => fill_extent(shape, at, from),
        _ => Err(Error::invalid(format!("shape {} has more than one -1", list(&shape)))),
    }
}

fn fill_extent(mut shape: Shape, at: usize, from: &Shape) -> Result<Shape> {
    let known: Vec<Sym> = shape.iter().enumerate().filter(|&(i, _)| i != at).map(|(_, n)| n.clone()).collect();
    let (total, known) = (Sym::product(from), Sym::product(&known));
    if known.is_zero() {
        return Err(Error::invalid(format!("the -1 in shape {} could be anything, since another extent is 0", list(&shape))));
    }
    if let (Some(total), Some(known)) = (total.as_int(), known.as_int())
        && total % known != 0
    {
        return Err(Error::invalid(format!("shape {} is impossible for the {total} elements of {}", list(&shape), list(from))));
    }
    shape[at] = total.floor_div(&known);
    Ok(shape)
}

fn list(shape: &[Sym]) -> String {
    let parts: Vec<String> = shape.iter().map(Sym::to_string).collect();
    format!("[{}]", parts.join(", "))
}

fn reshape(x: &Tensor, shape: Shape) -> Recorded<Tensor> {
    x.ok()?;
    let shape = infer_extent(shape, x.dims())?;
    if shape == *x.dims() { Ok(x.clone()) } else { Tensor::apply(Op::Reshape(shape), &[x]) }
}

fn permute(x: &Tensor, perm: SmallVec<[usize; 6]>) -> Recorded<Tensor> {
    Tensor::apply(Op::Permute(perm), &[x])
}

fn swap(x: &Tensor, a: i64, b: i64) -> Recorded<Tensor> {
    x.ok()?;
    let mut perm: SmallVec<[usize; 6]> = (0..x.rank()).collect();
    perm.swap(axis(a, x.rank())?, axis(b, x.rank())?);
    permute(x, perm)
}

/// Elements `start, start + step, …` along one axis.
fn slice_axis(x: &Tensor, axis: usize, start: Sym, len: Sym, step: i64) -> Recorded<Tensor> {
    let mut starts: Shape = x.dims().iter().map(|_| Sym::from(0i64)).collect();
    let mut lens = x.dims().clone();
    let mut steps: SmallVec<[i64; 4]> = x.dims().iter().map(|_| 1).collect();
    starts[axis] = start;
    lens[axis] = len;
    steps[axis] = step;
    Tensor::apply(Op::Slice { start: starts, len: lens, step: steps }, &[x])
}

/// A position that may count from the end.
fn from_end(at: &Sym, extent: &Sym) -> Sym {
    if at.as_int().is_some_and(|v| v < 0) { extent + at } else { at.clone() }
}

/// Start and length of a range along an axis; an end of `i64::MAX` is the extent, and a numeric range is clamped into a numeric
/// extent.
fn span(start: &Sym, end: Option<&Sym>, extent: &Sym) -> (Sym, Sym) {
    let start = from_end(start, extent);
    let end = end.filter(|e| e.as_int() != Some(i64::MAX)).map_or_else(|| extent.clone(), |e| from_end(e, extent));
    match (start.as_int(), end.as_int(), extent.as_int()) {
        (Some(s), Some(e), Some(n)) => {
            let s = s.clamp(0, n);
            (Sym::from(s), Sym::from(e.clamp(s, n) - s))
        }
        _ => {
            let len = &end - &start;
            (start, len)
        }
    }
}

fn select(x: &Tensor, axis: usize, at: &Sym) -> Recorded<Tensor> {
    let n = &x.dims()[axis];
    let at = from_end(at, n);
    if let (Some(i), Some(n)) = (at.as_int(), n.as_int())
        && !(0..n).contains(&i)
    {
        return Err(Error::invalid(format!("index {i} is out of range for dim {axis} of {}", x.ty())).into());
    }
    let part = slice_axis(x, axis, at, one(), 1)?;
    let mut shape = part.dims().clone();
    shape.remove(axis);
    reshape(&part, shape)
}

fn index(x: &Tensor, entries: &[Index]) -> Recorded<Tensor> {
    x.ok()?;
    let used = entries.iter().filter(|e| !matches!(e, Index::New)).count();
    if used > x.rank() {
        return Err(Error::invalid(format!("{used} indices for {}", x.ty())).into());
    }
    let mut out = x.clone();
    let mut at = 0;
    for entry in entries {
        match entry {
            Index::At(i) => out = select(&out, at, i)?,
            Index::New => {
                let mut shape = out.dims().clone();
                shape.insert(at, one());
                out = reshape(&out, shape)?;
                at += 1;
            }
            Index::Span(start, end) => {
                let (start, len) = span(start, end.as_ref(), &out.dims()[at]);
                if !start.is_zero() || len != out.dims()[at] {
                    out = slice_axis(&out, at, start, len, 1)?;
                }
                at += 1;
            }
        }
    }
    Ok(out)
}

fn expand(x: &Tensor, shape: Shape) -> Recorded<Tensor> {
    x.ok()?;
    let Some(lead) = shape.len().checked_sub(x.rank()) else {
        return Err(Error::invalid(format!("{} has more dims than shape {}", x.ty(), list(&shape))).into());
    };
    let keep = |i: usize, n: &Sym| if n.as_int() == Some(-1) && i >= lead { x.dims()[i - lead].clone() } else { n.clone() };
    let target: Shape = shape.iter().enumerate().map(|(i, n)| keep(i, n)).collect();
    let mut padded: Shape = (0..lead).map(|_| one()).collect();
    padded.extend(x.dims().iter().cloned());
    let x = reshape(x, padded)?;
    if target == *x.dims() { Ok(x) } else { Tensor::apply(Op::Expand(target), &[&x]) }
}

impl Tensor {
    /// Same elements in row-major order under another shape; one extent may be −1.
    #[track_caller]
    pub fn reshape(&self, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("reshape", || reshape(self, shape))
    }
    /// As [`reshape`](Tensor::reshape): tensors have no strides here.
    #[track_caller]
    pub fn view(&self, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("view", || reshape(self, shape))
    }
    /// Joins neighbouring dims into one: `..` for all, or `[first, last]` (inclusive).
    #[track_caller]
    pub fn flatten(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("flatten", || {
            self.ok()?;
            let axes = dims.resolve(self.rank())?;
            let (Some(&first), Some(&last)) = (axes.first(), axes.last()) else { return reshape(self, [1i64].into_shape()) };
            let mut shape: Shape = self.dims()[..first].iter().cloned().collect();
            shape.push(Sym::product(&self.dims()[first..=last]));
            shape.extend(self.dims()[last + 1..].iter().cloned());
            reshape(self, shape)
        })
    }
    /// Splits one dim into several; one of the new extents may be −1.
    #[track_caller]
    pub fn unflatten(&self, dim: i64, sizes: impl IntoShape) -> Tensor {
        let sizes = sizes.into_shape();
        user_op("unflatten", || {
            self.ok()?;
            let at = axis(dim, self.rank())?;
            let sizes = infer_extent(sizes, &self.dims()[at..=at].iter().cloned().collect())?;
            let mut shape: Shape = self.dims()[..at].iter().cloned().collect();
            shape.extend(sizes);
            shape.extend(self.dims()[at + 1..].iter().cloned());
            reshape(self, shape)
        })
    }
    /// Removes dims of extent 1: those listed (others of them stay), or all for `..`.
    #[track_caller]
    pub fn squeeze(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("squeeze", || {
            self.ok()?;
            let axes = dims.resolve(self.rank())?;
            let gone = |(i, n): &(usize, &Sym)| axes.contains(i) && n.as_int() == Some(1);
            let shape = self.dims().iter().enumerate().filter(|e| !gone(e)).map(|(_, n)| n.clone()).collect();
            reshape(self, shape)
        })
    }
    /// Inserts a dim of extent 1; negative positions count from the end of the result.
    #[track_caller]
    pub fn unsqueeze(&self, dim: i64) -> Tensor {
        user_op("unsqueeze", || {
            self.ok()?;
            let mut shape = self.dims().clone();
            shape.insert(axis(dim, self.rank() + 1)?, one());
            reshape(self, shape)
        })
    }
    /// Reorders dims: dim `i` of the result is dim `dims[i]`.
    #[track_caller]
    pub fn permute(&self, dims: impl AsRef<[i64]>) -> Tensor {
        user_op("permute", || {
            self.ok()?;
            let perm = dims.as_ref().iter().map(|&d| axis(d, self.rank())).collect::<Result<_>>()?;
            permute(self, perm)
        })
    }
    /// Swaps two dims.
    #[track_caller]
    pub fn transpose(&self, a: i64, b: i64) -> Tensor {
        user_op("transpose", || swap(self, a, b))
    }
    /// Transpose of a matrix; tensors of rank below 2 stay.
    #[track_caller]
    pub fn t(&self) -> Tensor {
        user_op("t", || match self.ok()?.rank() {
            0 | 1 => Ok(self.clone()),
            2 => swap(self, 0, 1),
            _ => Err(Error::invalid(format!("{} is not a matrix; use transpose", self.ty())).into()),
        })
    }
    /// Repeats dims of extent 1 and adds leading dims; −1 keeps an extent.
    #[track_caller]
    pub fn expand(&self, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("expand", || expand(self, shape))
    }
    /// As [`expand`](Tensor::expand).
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl IntoShape) -> Tensor {
        let shape = shape.into_shape();
        user_op("broadcast_to", || expand(self, shape))
    }
    /// `length` elements from `start` along a dim.
    #[track_caller]
    pub fn narrow(&self, dim: i64, start: impl IntoSym, length: impl IntoSym) -> Tensor {
        let (start, length) = (start.into_sym(), length.into_sym());
        user_op("narrow", || {
            self.ok()?;
            let at = axis(dim, self.rank())?;
            let start = from_end(&start, &self.dims()[at]);
            slice_axis(self, at, start, length, 1)
        })
    }
    /// Every `step`-th element of a range along a dim; ends are clamped, negative positions count from the end.
    #[track_caller]
    pub fn slice(&self, dim: i64, start: i64, end: i64, step: i64) -> Tensor {
        user_op("slice", || {
            self.ok()?;
            if step < 1 {
                return Err(Error::invalid(format!("step must be at least 1, got {step}; use flip to reverse")).into());
            }
            let at = axis(dim, self.rank())?;
            let (start, len) = span(&Sym::from(start), Some(&Sym::from(end)), &self.dims()[at]);
            let len = (len + Sym::from(step - 1)).floor_div(&Sym::from(step));
            slice_axis(self, at, start, len, step)
        })
    }
    /// One position along a dim, which disappears.
    #[track_caller]
    pub fn select(&self, dim: i64, index: impl IntoSym) -> Tensor {
        let index = index.into_sym();
        user_op("select", || {
            self.ok()?;
            select(self, axis(dim, self.rank())?, &index)
        })
    }
    /// Basic indexing of the leading dims: `x.i(0)`, `x.i((.., 1..3))`, `x.i((NewAxis, -1))`.
    ///
    /// ```
    /// use fuseline::{NewAxis, Tensor};
    /// let x = Tensor::arange(0, 6, 1).reshape([2, 3]);
    /// assert_eq!(x.i((.., 1..)).to_vec::<i64>()?, [1, 2, 4, 5]);
    /// assert_eq!(x.i((NewAxis, -1)).shape(), [1, 3]);
    /// # Ok::<(), fuseline::Error>(())
    /// ```
    #[track_caller]
    pub fn i(&self, entries: impl IntoIndex) -> Tensor {
        let entries = entries.into_index();
        user_op("index", || index(self, &entries))
    }
    /// Pieces of `size` elements along a dim; the last may be shorter. The extent must be a number.
    #[track_caller]
    pub fn split(&self, size: usize, dim: i64) -> Vec<Tensor> {
        user_op("split", || {
            self.ok()?;
            let n = extent(self, dim)?;
            if size == 0 {
                return Err(Error::invalid("pieces must have at least one element").into());
            }
            let starts = (0..n.max(1)).step_by(size);
            pieces(self, dim, starts.map(|s| size.min(n - s)))
        })
    }
    /// Pieces of the given lengths along a dim.
    #[track_caller]
    pub fn split_with_sizes(&self, sizes: &[usize], dim: i64) -> Vec<Tensor> {
        user_op("split", || {
            self.ok()?;
            let n = extent(self, dim)?;
            if sizes.iter().sum::<usize>() != n {
                return Err(Error::invalid(format!(
                    "sizes {sizes:?} do not add up to the {n} elements of dim {dim} of {}",
                    self.ty()
                ))
                .into());
            }
            pieces(self, dim, sizes.iter().copied())
        })
    }
    /// At most `chunks` pieces of equal length along a dim; the last may be shorter. The extent must be a number.
    #[track_caller]
    pub fn chunk(&self, chunks: usize, dim: i64) -> Vec<Tensor> {
        user_op("chunk", || {
            self.ok()?;
            if chunks == 0 {
                return Err(Error::invalid("there must be at least one chunk").into());
            }
            let n = extent(self, dim)?;
            let size = n.div_ceil(chunks).max(1);
            let starts = (0..n.max(1)).step_by(size);
            pieces(self, dim, starts.map(|s| size.min(n - s)))
        })
    }
    /// Reverses dims.
    #[track_caller]
    pub fn flip(&self, dims: impl Into<Dims>) -> Tensor {
        let dims = dims.into();
        user_op("flip", || {
            self.ok()?;
            Tensor::apply(Op::Flip(dims.resolve(self.rank())?), &[self])
        })
    }
    /// Surrounds with a value. Pairs (before, after) start at the last dim, as in `torch.nn.functional.pad`; a negative
    /// amount cuts.
    #[track_caller]
    pub fn pad(&self, pads: &[i64], value: impl Into<Number>) -> Tensor {
        let value = value.into();
        user_op("pad", || {
            self.ok()?;
            if !pads.len().is_multiple_of(2) || pads.len() > 2 * self.rank() {
                return Err(Error::invalid(format!(
                    "{} pad amounts for {}; give (before, after) per dim, last dim first",
                    pads.len(),
                    self.ty()
                ))
                .into());
            }
            let mut out = self.clone();
            let mut amounts = vec![(0, 0); self.rank()];
            for (k, pair) in pads.chunks(2).enumerate() {
                let at = self.rank() - 1 - k;
                let (cut_lo, cut_hi) = ((-pair[0]).max(0), (-pair[1]).max(0));
                if cut_lo + cut_hi > 0 {
                    let len = &out.dims()[at] - &Sym::from(cut_lo + cut_hi);
                    out = slice_axis(&out, at, Sym::from(cut_lo), len, 1)?;
                }
                amounts[at] = (pair[0].max(0), pair[1].max(0));
            }
            let lo = amounts.iter().map(|a| Sym::from(a.0)).collect();
            let hi = amounts.iter().map(|a| Sym::from(a.1)).collect();
            Tensor::apply(Op::Pad { lo, hi, value: value.scalar(self.dtype()) }, &[&out])
        })
    }
    /// Rotates elements along a dim by `shift` positions.
    #[track_caller]
    pub fn roll(&self, shift: i64, dim: i64) -> Tensor {
        user_op("roll", || {
            self.ok()?;
            let at = axis(dim, self.rank())?;
            let n = self.dims()[at].clone();
            let cut = match n.as_int() {
                Some(0) => return Ok(self.clone()),
                Some(n) => Sym::from((-shift).rem_euclid(n)),
                None => Sym::from(-shift).modulo(&n),
            };
            let tail = slice_axis(self, at, cut.clone(), &n - &cut, 1)?;
            let head = slice_axis(self, at, Sym::from(0i64), cut, 1)?;
            Tensor::apply(Op::Concat(at), &[&tail, &head])
        })
    }
    /// Repeats the whole tensor along each dim; more counts than dims add leading dims.
    #[track_caller]
    pub fn repeat(&self, counts: &[usize]) -> Tensor {
        user_op("repeat", || tile(self, counts))
    }
    /// As [`repeat`](Tensor::repeat), but fewer counts than dims leave the leading dims alone.
    #[track_caller]
    pub fn tile(&self, counts: &[usize]) -> Tensor {
        user_op("tile", || {
            let mut all = vec![1; self.ok()?.rank().saturating_sub(counts.len())];
            all.extend_from_slice(counts);
            tile(self, &all)
        })
    }
    /// Repeats each element `count` times along a dim.
    #[track_caller]
    pub fn repeat_interleave(&self, count: usize, dim: i64) -> Tensor {
        user_op("repeat_interleave", || {
            self.ok()?;
            let at = axis(dim, self.rank())?;
            let mut shape = self.dims().clone();
            shape.insert(at + 1, one());
            let x = reshape(self, shape.clone())?;
            shape[at + 1] = Sym::from(count as i64);
            let x = Tensor::apply(Op::Expand(shape.clone()), &[&x])?;
            let n = shape.remove(at + 1);
            shape[at] = &shape[at] * &n;
            reshape(&x, shape)
        })
    }
    /// The tensor itself: every tensor is contiguous when it is read.
    pub fn contiguous(&self) -> Tensor {
        self.clone()
    }
}

/// An extent as a number.
fn extent(x: &Tensor, dim: i64) -> Recorded<usize> {
    Ok(trace::concrete(&x.dims()[axis(dim, x.rank())?]))
}

fn pieces(x: &Tensor, dim: i64, lens: impl Iterator<Item = usize>) -> Recorded<Vec<Tensor>> {
    let at = axis(dim, x.rank())?;
    let mut start = 0;
    lens.map(|len| {
        let piece = slice_axis(x, at, Sym::from(start as i64), Sym::from(len as i64), 1);
        start += len;
        piece
    })
    .collect()
}

fn tile(x: &Tensor, counts: &[usize]) -> Recorded<Tensor> {
    x.ok()?;
    let Some(lead) = counts.len().checked_sub(x.rank()) else {
        return Err(Error::invalid(format!("{} counts for {}; give at least one per dim", counts.len(), x.ty())).into());
    };
    let extent = |i: usize| if i < lead { one() } else { x.dims()[i - lead].clone() };
    let mut split = Shape::new();
    let mut wide = Shape::new();
    let mut out = Shape::new();
    for (i, &count) in counts.iter().enumerate() {
        let (n, count) = (extent(i), Sym::from(count as i64));
        split.extend([one(), n.clone()]);
        wide.extend([count.clone(), n.clone()]);
        out.push(&count * &n);
    }
    let x = reshape(x, split)?;
    let x = Tensor::apply(Op::Expand(wide), &[&x])?;
    reshape(&x, out)
}

/// Tensors of one promoted dtype.
fn promoted<T: AsRef<Tensor>>(tensors: &[T]) -> Recorded<Vec<Tensor>> {
    for t in tensors {
        t.as_ref().ok()?;
    }
    if tensors.is_empty() {
        return Err(Error::invalid("needs at least one tensor").into());
    }
    let operands: Vec<Operand> = tensors.iter().map(|t| Operand::from(t.as_ref())).collect();
    let dtype = result_type(operands.iter());
    operands.iter().map(|o| o.cast(dtype)).collect()
}

/// Joins tensors along a dim.
#[track_caller]
pub fn cat<T: AsRef<Tensor>>(tensors: &[T], dim: i64) -> Tensor {
    user_op("cat", || {
        let parts = promoted(tensors)?;
        let at = axis(dim, parts[0].rank())?;
        Tensor::apply(Op::Concat(at), &parts.iter().collect::<Vec<_>>())
    })
}

/// Joins tensors of one shape along a new dim.
#[track_caller]
pub fn stack<T: AsRef<Tensor>>(tensors: &[T], dim: i64) -> Tensor {
    user_op("stack", || {
        let parts = promoted(tensors)?;
        let at = axis(dim, parts[0].rank() + 1)?;
        let rows = parts.iter().map(|p| {
            let mut shape = p.dims().clone();
            shape.insert(at.min(shape.len()), one());
            reshape(p, shape)
        });
        let rows = rows.collect::<Recorded<Vec<_>>>()?;
        Tensor::apply(Op::Concat(at), &rows.iter().collect::<Vec<_>>())
    })
}

impl AsRef<Tensor> for Tensor {
    fn as_ref(&self) -> &Tensor {
        self
    }
}
