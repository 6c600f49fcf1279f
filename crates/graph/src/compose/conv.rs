//! Convolutions: padding, a window view per spatial axis, and one contraction.

use base::Result;
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, per_channel, reshape_if};
use super::index::slice_axis;
use super::linear::labels;
use crate::{Builder, ContractSpec, NodeId};

/// Geometry of a convolution, one entry per spatial axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conv {
    /// Distance of neighbouring windows.
    pub stride: Vec<i64>,
    /// Zeros before and after.
    pub pads: Vec<(Sym, Sym)>,
    /// Distance of neighbouring taps.
    pub dilation: Vec<i64>,
    /// Groups of channels that do not mix.
    pub groups: i64,
}

impl Conv {
    /// Stride and dilation 1, no padding, one group.
    pub fn new(spatial: usize) -> Conv {
        Conv { stride: vec![1; spatial], pads: vec![(Sym::ZERO, Sym::ZERO); spatial], dilation: vec![1; spatial], groups: 1 }
    }
    fn check(&self, b: &Builder, op: &str, x: NodeId, w: NodeId) -> Result<usize> {
        let spatial = b.shape(x).len().checked_sub(2).filter(|&n| n > 0 && b.shape(w).len() == n + 2);
        let spatial =
            spatial.ok_or_else(|| bad(b, op, &[x, w], "needs x [N, C, …] and a weight of the same rank, at least 3"))?;
        let lens = [self.stride.len(), self.pads.len(), self.dilation.len()];
        if lens != [spatial; 3] {
            return Err(bad(b, op, &[x, w], format!("needs stride, pads and dilation for {spatial} spatial axes, got {lens:?}")));
        }
        if self.groups < 1 {
            return Err(bad(b, op, &[x, w], format!("{} groups: at least 1", self.groups)));
        }
        Ok(spatial)
    }
}

/// Pads the axes from `first` on; no node when nothing is added.
pub(crate) fn pad_axes(
    b: &mut Builder,
    x: NodeId,
    first: usize,
    pads: &[(Sym, Sym)],
    interior: &[i64],
    fill: Scalar,
) -> Result<NodeId> {
    if pads.iter().all(|(lo, hi)| lo.is_zero() && hi.is_zero()) && interior.iter().all(|&i| i == 0) {
        return Ok(x);
    }
    let rest = b.shape(x).len() - first - pads.len();
    let around = |side: fn(&(Sym, Sym)) -> &Sym| -> Shape {
        std::iter::repeat_n(Sym::ZERO, first)
            .chain(pads.iter().map(|p| side(p).clone()))
            .chain(std::iter::repeat_n(Sym::ZERO, rest))
            .collect()
    };
    let mut inside = vec![0; first];
    inside.extend_from_slice(interior);
    inside.resize(first + pads.len() + rest, 0);
    let (lo, hi) = (around(|p| &p.0), around(|p| &p.1));
    b.pad(x, &lo, &hi, &inside, fill)
}

/// n-dimensional cross-correlation of x `[N, C, …]` with w `[O, C/groups, …]`, plus a bias `[O]`:
/// `y[n, o, p] = bias[o] + Σ_{c, k} x[n, c, p·stride + k·dilation − lo] · w[o, c, k]`. f16 and bf16 accumulate in f32;
/// 8-bit integers accumulate in and give i32.
///
/// Taps of extent 1 make no window; groups are a batch label; one channel per group (depthwise) contracts taps only.
///
/// # Errors
/// Ranks, extents or dtypes that do not fit, or channels that `groups` does not divide.
pub fn conv(b: &mut Builder, x: NodeId, w: NodeId, bias: Option<NodeId>, g: &Conv) -> Result<NodeId> {
    let spatial = g.check(b, "conv", x, w)?;
    let acc = if b.dtype(x).size() == 1 && b.dtype(x) != DType::Bool { DType::I32 } else { b.dtype(x).accumulator() };
    let zero = Scalar::zero(b.dtype(x));
    let padded = pad_axes(b, x, 2, &g.pads, &vec![0; spatial], zero)?;
    let (windows, taps) = tap_windows(b, padded, w, g)?;
    let parts = Groups::new(b, x, w, g.groups)?;
    let y = parts.contract(b, windows, w, &taps, spatial, acc).map_err(|e| bad(b, "conv", &[x, w], e))?;
    match bias {
        Some(v) => {
            let v = per_channel(b, v, 1, spatial + 2)?;
            binary(b, S::Add, y, v)
        }
        None => Ok(y),
    }
}

/// x with a trailing tap axis for each spatial axis whose kernel extent is not 1, and those spatial axes.
fn tap_windows(b: &mut Builder, x: NodeId, w: NodeId, g: &Conv) -> Result<(NodeId, Vec<usize>)> {
    let mut y = x;
    let mut taps = Vec::new();
    for i in 0..g.stride.len() {
        let size = b.shape(w)[2 + i].clone();
        if size.is_one() {
            let n = b.shape(y)[2 + i].clone();
            y = slice_axis(b, y, 2 + i, &Sym::ZERO, &n.ceil_div(&Sym::from(g.stride[i].max(1))), g.stride[i])?;
        } else {
            y = b.window(y, 2 + i, size, g.stride[i], g.dilation[i]).map_err(|e| bad(b, "conv", &[x, w], e))?;
            taps.push(i);
        }
    }
    Ok((y, taps))
}

/// Channel counts of one group.
struct Groups {
    groups: i64,
    inputs: Sym,
    outputs: Sym,
}

impl Groups {
    fn new(b: &Builder, x: NodeId, w: NodeId, groups: i64) -> Result<Groups> {
        let g = Sym::from(groups);
        let each = |n: &Sym| n.exact_div(&g);
        match (each(&b.shape(x)[1]), each(&b.shape(w)[0])) {
            (Some(inputs), Some(outputs)) => Ok(Groups { groups, inputs, outputs }),
            _ => Err(bad(b, "conv", &[x, w], format!("{groups} groups do not divide the input and output channels"))),
        }
    }
    /// Contracts windows `[N, C, out…, taps…]` with the weight to `[N, O, out…]`.
    fn contract(&self, b: &mut Builder, x: NodeId, w: NodeId, taps: &[usize], spatial: usize, acc: DType) -> Result<NodeId> {
        let (xs, ws) = (b.shape(x).clone(), b.shape(w).clone());
        let group = (self.groups > 1).then(|| (GROUP, Sym::from(self.groups)));
        let input = |n: &Sym| (self.groups == 1 || !self.inputs.is_one()).then(|| (INPUT, n.clone()));
        let output = (self.groups == 1 || !self.outputs.is_one()).then(|| (OUTPUT, self.outputs.clone()));
        let places: Vec<Axis> = (0..spatial).map(|i| (PLACE + i, xs[2 + i].clone())).collect();
        let taps: Vec<Axis> = taps.iter().map(|&i| (PLACE + spatial + i, ws[2 + i].clone())).collect();
        let batch = [(BATCH, xs[0].clone())];
        let x_axes: Vec<Axis> = batch
            .iter()
            .cloned()
            .chain(group.clone())
            .chain(input(&self.inputs))
            .chain(places.clone())
            .chain(taps.clone())
            .collect();
        let w_axes: Vec<Axis> = group.clone().into_iter().chain(output.clone()).chain(input(&ws[1])).chain(taps).collect();
        let y_axes: Vec<Axis> = batch.into_iter().chain(group).chain(output).chain(places).collect();
        let (x, w) = (reshape_if(b, x, &extents(&x_axes))?, reshape_if(b, w, &extents(&w_axes))?);
        let letters = |axes: &[Axis]| labels(axes.iter().map(|a| a.0));
        let y = b.einsum(&format!("{},{}->{}", letters(&x_axes), letters(&w_axes), letters(&y_axes)), x, w, acc)?;
        let merged = [xs[0].clone(), &self.outputs * self.groups].into_iter().chain(xs[2..2 + spatial].iter().cloned());
        reshape_if(b, y, &merged.collect())
    }
}

/// A label and its extent.
type Axis = (usize, Sym);

/// Labels of a convolution; the spatial axes from `PLACE` on, then their taps.
const BATCH: usize = 0;
const GROUP: usize = 1;
const OUTPUT: usize = 2;
const INPUT: usize = 3;
const PLACE: usize = 4;

fn extents(axes: &[Axis]) -> Shape {
    axes.iter().map(|a| a.1.clone()).collect()
}

/// Transposed convolution of x `[N, C, …]` with w `[C, O/groups, …]`: the gradient of [`conv`] with respect to its input.
/// Output extent per axis: `(n − 1)·stride − lo − hi + dilation·(k − 1) + output_padding + 1`.
///
/// It is a convolution with stride 1 of x with `stride − 1` zeros between neighbours and the flipped kernel.
///
/// # Errors
/// As [`conv`]; kernel extents and pads must be literal.
pub fn conv_transpose(
    b: &mut Builder,
    x: NodeId,
    w: NodeId,
    bias: Option<NodeId>,
    g: &Conv,
    output_padding: &[i64],
) -> Result<NodeId> {
    let spatial = g.check(b, "conv_transpose", x, w)?;
    if output_padding.len() != spatial {
        return Err(bad(b, "conv_transpose", &[x, w], format!("needs output_padding for {spatial} spatial axes")));
    }
    if tiles_exactly(b, w, g, output_padding) {
        return conv_transpose_tiles(b, x, w, bias, spatial);
    }
    let mut edges = Vec::new();
    for (i, extra) in output_padding.iter().enumerate() {
        let literal = (b.shape(w)[2 + i].as_int(), g.pads[i].0.as_int(), g.pads[i].1.as_int());
        let (Some(k), Some(lo), Some(hi)) = literal else {
            return Err(bad(b, "conv_transpose", &[x, w], "kernel extents and pads must be literal"));
        };
        let reach = g.dilation[i] * (k - 1);
        edges.push((reach - lo, reach - hi + extra));
    }
    let spread = spread(b, x, &edges, &g.stride)?;
    let flipped = transposed_weight(b, x, w, g.groups)?;
    let plain = Conv { dilation: g.dilation.clone(), groups: g.groups, ..Conv::new(spatial) };
    conv(b, spread, flipped, bias, &plain)
}

/// Each input position writes its own tile of the output: the kernel is as large as the stride, and nothing is cut or added.
fn tiles_exactly(b: &Builder, w: NodeId, g: &Conv, output_padding: &[i64]) -> bool {
    let kernel = &b.shape(w)[2..];
    let whole = kernel.iter().zip(&g.stride).all(|(k, s)| k.is(*s));
    let bare = g.pads.iter().all(|(lo, hi)| lo.is_zero() && hi.is_zero()) && output_padding.iter().all(|&e| e == 0);
    whole && bare && g.groups == 1 && g.dilation.iter().all(|&d| d == 1)
}

/// `out[n, o, h·s + i, …] = Σ_c x[n, c, h, …] · w[c, o, i, …]`: a contraction over the channels, then a reshape.
fn conv_transpose_tiles(b: &mut Builder, x: NodeId, w: NodeId, bias: Option<NodeId>, spatial: usize) -> Result<NodeId> {
    let (xs, ws) = (b.shape(x).clone(), b.shape(w).clone());
    let space: Vec<u8> = (0..spatial as u8).map(|i| 3 + 2 * i).collect();
    let taps: Vec<u8> = (0..spatial as u8).map(|i| 4 + 2 * i).collect();
    let labels = |first: [u8; 2], rest: &[u8]| first.into_iter().chain(rest.iter().copied()).collect();
    let pairs: Vec<u8> = space.iter().zip(&taps).flat_map(|(&h, &i)| [h, i]).collect();
    let acc = b.dtype(x).accumulator();
    let spec = ContractSpec { a: labels([0, 1], &space), b: labels([1, 2], &taps), out: labels([0, 2], &pairs), acc };
    let tiles = b.contract(spec, x, w)?;
    let shape: Shape = [xs[0].clone(), ws[1].clone()].into_iter().chain((0..spatial).map(|i| &xs[2 + i] * &ws[2 + i])).collect();
    let y = b.reshape(tiles, &shape)?;
    match bias {
        Some(v) => {
            let v = per_channel(b, v, 1, shape.len())?;
            binary(b, S::Add, y, v)
        }
        None => Ok(y),
    }
}

/// x with zeros between neighbours and `edges` zeros around; a negative edge crops.
fn spread(b: &mut Builder, x: NodeId, edges: &[(i64, i64)], stride: &[i64]) -> Result<NodeId> {
    let pads: Vec<(Sym, Sym)> = edges.iter().map(|&(lo, hi)| (Sym::from(lo.max(0)), Sym::from(hi.max(0)))).collect();
    let interior: Vec<i64> = stride.iter().map(|s| s - 1).collect();
    let zero = Scalar::zero(b.dtype(x));
    let mut y = pad_axes(b, x, 2, &pads, &interior, zero)?;
    for (i, &(lo, hi)) in edges.iter().enumerate() {
        let (first, cut) = ((-lo).max(0), (-lo).max(0) + (-hi).max(0));
        if cut > 0 {
            let len = &b.shape(y)[2 + i] - cut;
            y = slice_axis(b, y, 2 + i, &Sym::from(first), &len, 1)?;
        }
    }
    Ok(y)
}

/// w `[C, O/groups, …]` as `[O, C/groups, …]` with reversed taps.
fn transposed_weight(b: &mut Builder, x: NodeId, w: NodeId, groups: i64) -> Result<NodeId> {
    let shape = b.shape(w).clone();
    let g = Sym::from(groups);
    let each = shape[0]
        .exact_div(&g)
        .ok_or_else(|| bad(b, "conv_transpose", &[x, w], format!("{groups} groups do not divide the channels")))?;
    let flipped = b.flip(w, &(2..shape.len()).collect::<Vec<_>>())?;
    let taps = shape[2..].iter().cloned();
    let grouped: Shape = [g.clone(), each.clone(), shape[1].clone()].into_iter().chain(taps.clone()).collect();
    let split = b.reshape(flipped, &grouped)?;
    let perm: Vec<usize> = [0, 2, 1].into_iter().chain(3..grouped.len()).collect();
    let swapped = b.permute(split, &perm)?;
    let merged: Shape = [&shape[1] * groups, each].into_iter().chain(taps).collect();
    b.reshape(swapped, &merged)
}
