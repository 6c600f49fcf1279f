//! Pooling: padding, a window view per spatial axis, and one reduction over the taps.

use base::Result;
use scalar::{Combiner, DType, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, cast, full, in_f32, per_channel, with_scalar};
use super::conv::pad_axes;
use super::index::slice_axis;
use super::reduce::{mean, reduce};
use crate::{Builder, NodeId};

/// Geometry of a pooling, one entry per spatial axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pool {
    /// Taps.
    pub kernel: Vec<i64>,
    /// Distance of neighbouring windows.
    pub stride: Vec<i64>,
    /// Padding before and after.
    pub pads: Vec<(i64, i64)>,
    /// Distance of neighbouring taps.
    pub dilation: Vec<i64>,
    /// Round the number of windows up; a window that would start in the padding after the end is dropped.
    pub ceil_mode: bool,
}

impl Pool {
    /// Windows without overlap, padding or dilation.
    pub fn new(kernel: &[i64]) -> Pool {
        let n = kernel.len();
        Pool { kernel: kernel.to_vec(), stride: kernel.to_vec(), pads: vec![(0, 0); n], dilation: vec![1; n], ceil_mode: false }
    }
    fn check(&self, b: &Builder, op: &str, x: NodeId) -> Result<()> {
        let n = self.kernel.len();
        let lens = [self.stride.len(), self.pads.len(), self.dilation.len()];
        if b.shape(x).len() < n || lens != [n; 3] {
            return Err(bad(
                b,
                op,
                &[x],
                format!("kernel {:?}: needs that many trailing axes, strides, pads and dilations", self.kernel),
            ));
        }
        let positive = self.kernel.iter().chain(&self.stride).chain(&self.dilation).all(|&v| v > 0);
        if !positive || self.pads.iter().any(|&(lo, hi)| lo < 0 || hi < 0) {
            return Err(bad(b, op, &[x], "kernel, stride and dilation must be at least 1, pads at least 0"));
        }
        Ok(())
    }
    fn span(&self, i: usize) -> i64 {
        self.dilation[i] * (self.kernel[i] - 1) + 1
    }
    /// Padding after the end, and the extent that the windows use, for an axis of extent `n`.
    fn tail(&self, i: usize, n: &Sym) -> (Sym, Option<Sym>) {
        let (lo, hi) = self.pads[i];
        if !self.ceil_mode {
            return (Sym::from(hi), None);
        }
        let stride = Sym::from(self.stride[i]);
        let windows = (n + lo + hi - self.span(i)).ceil_div(&stride) + 1;
        let windows = Sym::min(&windows, &(n + lo).ceil_div(&stride));
        let used = (windows - 1) * self.stride[i] + self.span(i);
        (Sym::max(&Sym::from(hi), &(&used - n - lo)), Some(used))
    }
    /// Windows of the trailing axes, with the taps of each as a further axis; outside is `fill`.
    ///
    /// # Errors
    /// A geometry that does not fit.
    pub fn windows(&self, b: &mut Builder, x: NodeId, fill: Scalar) -> Result<NodeId> {
        self.check(b, "windows", x)?;
        let (n, rank) = (self.kernel.len(), b.shape(x).len());
        let tails: Vec<_> = (0..n).map(|i| self.tail(i, &b.shape(x)[rank - n + i].clone())).collect();
        let pads: Vec<(Sym, Sym)> = self.pads.iter().zip(&tails).map(|(p, t)| (Sym::from(p.0), t.0.clone())).collect();
        let mut y = pad_axes(b, x, rank - n, &pads, &vec![0; n], fill)?;
        for (i, (_, used)) in tails.iter().enumerate() {
            let axis = rank - n + i;
            if let Some(used) = used {
                y = slice_axis(b, y, axis, &Sym::ZERO, used, 1)?;
            }
            y = b.window(y, axis, self.kernel[i], self.stride[i], self.dilation[i])?;
        }
        Ok(y)
    }
}

fn tap_axes(b: &Builder, y: NodeId, rank: usize) -> Vec<usize> {
    (rank..b.shape(y).len()).collect()
}

/// Least value of a dtype: the identity of max.
fn lowest(dtype: DType) -> Scalar {
    Scalar::from_f64(dtype, f64::NEG_INFINITY)
}

/// Greatest of each window over the trailing axes; padding never wins.
///
/// # Errors
/// A geometry that does not fit.
pub fn max_pool(b: &mut Builder, x: NodeId, p: &Pool) -> Result<NodeId> {
    p.check(b, "max_pool", x)?;
    let rank = b.shape(x).len();
    let fill = lowest(b.dtype(x));
    let y = p.windows(b, x, fill)?;
    let taps = tap_axes(b, y, rank);
    reduce(b, Combiner::Max, y, &taps, false)
}

/// Mean of each window over the trailing axes. The divisor counts padding only with `count_include_pad`, and never the extra
/// padding of `ceil_mode`; f16 and bf16 are summed and divided in f32.
///
/// # Errors
/// A geometry that does not fit, or a dtype that is not a float.
pub fn avg_pool(b: &mut Builder, x: NodeId, p: &Pool, count_include_pad: bool) -> Result<NodeId> {
    p.check(b, "avg_pool", x)?;
    let rank = b.shape(x).len();
    in_f32(b, x, |b, x| {
        let zero = Scalar::zero(b.dtype(x));
        let y = p.windows(b, x, zero)?;
        let taps = tap_axes(b, y, rank);
        let total = reduce(b, Combiner::Sum, y, &taps, false)?;
        let extents = b.shape(x)[rank - p.kernel.len()..].to_vec();
        p.divide_by_counts(b, total, &extents, count_include_pad)
    })
}

impl Pool {
    /// A number per window of axes of `extents`, divided by how many positions that window counts, as in [`avg_pool`].
    ///
    /// # Errors
    /// A dtype that is not a float.
    pub fn divide_by_counts(&self, b: &mut Builder, y: NodeId, extents: &[Sym], count_include_pad: bool) -> Result<NodeId> {
        let padded = self.pads.iter().any(|&pads| pads != (0, 0));
        if !self.ceil_mode && (count_include_pad || !padded) {
            return with_scalar(b, S::Div, y, self.kernel.iter().product::<i64>() as f64);
        }
        let (rank, dtype) = (b.shape(y).len(), b.dtype(y));
        let first = rank - extents.len();
        let mut divisor = None;
        for (i, n) in extents.iter().enumerate() {
            let counts = axis_counts(b, n.clone(), self, i, count_include_pad, dtype)?;
            let counts = per_channel(b, counts, first + i, rank)?;
            divisor = Some(match divisor {
                Some(d) => binary(b, S::Mul, d, counts)?,
                None => counts,
            });
        }
        match divisor {
            Some(d) => binary(b, S::Div, y, d),
            None => Ok(y),
        }
    }
}

/// How many counted positions each window of one axis holds.
fn axis_counts(b: &mut Builder, n: Sym, p: &Pool, i: usize, count_include_pad: bool, dtype: DType) -> Result<NodeId> {
    let one = Scalar::from_i64(dtype, 1);
    let ones = full(b, &Shape::from_iter([n.clone()]), one)?;
    let (lo, hi) = (Sym::from(p.pads[i].0), Sym::from(p.pads[i].1));
    let (tail, used) = p.tail(i, &n);
    let inside = pad_axes(b, ones, 0, &[(lo, hi.clone())], &[0], if count_include_pad { one } else { Scalar::zero(dtype) })?;
    let mut padded = pad_axes(b, inside, 0, &[(Sym::ZERO, tail - hi)], &[0], Scalar::zero(dtype))?;
    if let Some(used) = used {
        padded = slice_axis(b, padded, 0, &Sym::ZERO, &used, 1)?;
    }
    let windows = b.window(padded, 0, p.kernel[i], p.stride[i], p.dilation[i])?;
    reduce(b, Combiner::Sum, windows, &[1], false)
}

/// p-th root of Σ |x|ᵖ of each window, for `p` 1 or 2 (ONNX LpPool without `ceil_mode`).
///
/// # Errors
/// Another `p`, or as [`avg_pool`].
pub fn lp_pool(b: &mut Builder, x: NodeId, g: &Pool, p: i64) -> Result<NodeId> {
    g.check(b, "lp_pool", x)?;
    let rank = b.shape(x).len();
    in_f32(b, x, |b, x| {
        let zero = Scalar::zero(b.dtype(x));
        let y = g.windows(b, x, zero)?;
        let taps = tap_axes(b, y, rank);
        super::reduce::vector_norm(b, y, p, &taps, false)
    })
}

/// Mean over the axes from 2 on, kept with extent 1.
///
/// # Errors
/// A dtype that is not a float.
pub fn global_avg_pool(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    let axes: Vec<usize> = (2..b.shape(x).len()).collect();
    mean(b, x, &axes, true)
}

/// Greatest over the axes from 2 on, kept with extent 1.
///
/// # Errors
/// Never for a tensor node.
pub fn global_max_pool(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    let axes: Vec<usize> = (2..b.shape(x).len()).collect();
    reduce(b, Combiner::Max, x, &axes, true)
}

/// Mean pooling of the trailing axes to the given extents, each a divisor of its axis.
///
/// # Errors
/// Extents that do not divide (unsupported), or a dtype that is not a float.
pub fn adaptive_avg_pool(b: &mut Builder, x: NodeId, out: &[i64]) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    let Some(first) = shape.len().checked_sub(out.len()) else {
        return Err(bad(b, "adaptive_avg_pool", &[x], "has too few axes"));
    };
    let mut split: Shape = shape[..first].iter().cloned().collect();
    let mut axes = Vec::new();
    for (n, &o) in shape[first..].iter().zip(out) {
        let each = (o > 0).then(|| n.exact_div(&Sym::from(o))).flatten();
        let Some(each) = each else {
            let why = format!(
                "adaptive_avg_pool of extent {n} to {o}: only divisors are supported; resize or pool with a kernel instead"
            );
            return Err(base::Error::unsupported(why));
        };
        split.extend([Sym::from(o), each]);
        axes.push(split.len() - 1);
    }
    let blocks = b.reshape(x, &split)?;
    mean(b, blocks, &axes, false)
}

/// x / (bias + α/size · Σ x²)^β over `size` neighbouring channels of axis 1 (local response normalisation).
///
/// # Errors
/// A rank below 2 or a dtype that is not a float.
pub fn local_response_norm(b: &mut Builder, x: NodeId, size: i64, alpha: f64, beta: f64, bias: f64) -> Result<NodeId> {
    let rank = b.shape(x).len();
    if rank < 2 || size < 1 {
        return Err(bad(b, "local_response_norm", &[x], "needs a channel axis 1 and a size of at least 1"));
    }
    let (wide, dtype) = super::broadcast::upcast(b, x)?;
    let squares = b.map(S::Mul, &[wide, wide])?;
    let lo = (size - 1) / 2;
    let zero = Scalar::zero(b.dtype(wide));
    let padded = pad_axes(b, squares, 1, &[(Sym::from(lo), Sym::from(size - 1 - lo))], &[0], zero)?;
    let windows = b.window(padded, 1, size, 1, 1)?;
    let total = reduce(b, Combiner::Sum, windows, &[rank], false)?;
    let scaled = with_scalar(b, S::Mul, total, alpha / size as f64)?;
    let base = with_scalar(b, S::Add, scaled, bias)?;
    let power = with_scalar(b, S::Pow, base, beta)?;
    let y = b.map(S::Div, &[wide, power])?;
    cast(b, y, dtype)
}
