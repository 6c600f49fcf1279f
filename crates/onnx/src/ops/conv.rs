//! Convolutions.

use base::{Error, Result};
use graph::{NodeId, compose};
use scalar::{DType, ScalarOp as S, Sym};

use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;

/// Largest stride, dilation, padding or pooling window along an axis.
const MAX_GEOMETRY: i64 = 1 << 20;

/// Window geometry that convolutions and pools share, per spatial axis.
pub(super) struct Geometry {
    pub(super) kernel: Vec<i64>,
    pub(super) stride: Vec<i64>,
    pub(super) dilation: Vec<i64>,
    pub(super) pads: Vec<(Sym, Sym)>,
}

/// A list attribute with one positive number per spatial axis.
pub(super) fn per_axis(n: &Node<'_>, name: &str, spatial: usize, default: i64) -> Result<Vec<i64>> {
    match n.ints(name) {
        None => Ok(vec![default; spatial]),
        Some([]) => Ok(vec![default; spatial]),
        Some(list) if list.len() == spatial && list.iter().all(|&v| (0..=MAX_GEOMETRY).contains(&v)) => Ok(list.to_vec()),
        Some(list) => Err(Error::parse(format!("{name} {list:?} for {spatial} spatial axes"))),
    }
}

/// Reads strides, dilations, pads and `auto_pad` for an operand whose spatial extents are `extents`.
pub(super) fn geometry(n: &Node<'_>, kernel: Vec<i64>, extents: &[Sym]) -> Result<Geometry> {
    let spatial = extents.len();
    let (stride, dilation) = (per_axis(n, "strides", spatial, 1)?, per_axis(n, "dilations", spatial, 1)?);
    if kernel.len() != spatial || stride.iter().chain(&dilation).chain(&kernel).any(|&v| v < 1) {
        return Err(Error::parse(format!(
            "kernel {kernel:?}, strides {stride:?}, dilations {dilation:?} for {spatial} spatial axes"
        )));
    }
    let pads = match n.string("auto_pad", "NOTSET") {
        "NOTSET" => explicit_pads(n, spatial)?,
        "VALID" => vec![(Sym::ZERO, Sym::ZERO); spatial],
        mode @ ("SAME_UPPER" | "SAME_LOWER") => (0..spatial)
            .map(|i| same_pads(&extents[i], dilation[i] * (kernel[i] - 1) + 1, stride[i], mode == "SAME_UPPER"))
            .collect(),
        other => return Err(Error::parse(format!("auto_pad '{other}'"))),
    };
    Ok(Geometry { kernel, stride, dilation, pads })
}

fn explicit_pads(n: &Node<'_>, spatial: usize) -> Result<Vec<(Sym, Sym)>> {
    let list = per_axis(n, "pads", 2 * spatial, 0)?;
    Ok((0..spatial).map(|i| (Sym::from(list[i]), Sym::from(list[spatial + i]))).collect())
}

/// Padding that gives ⌈extent / stride⌉ windows; the odd element goes after (upper) or before (lower).
fn same_pads(extent: &Sym, span: i64, stride: i64, upper: bool) -> (Sym, Sym) {
    let windows = extent.ceil_div(&Sym::from(stride));
    let exact = (&windows - 1) * stride + span - extent;
    let total = if span >= stride { exact } else { Sym::max(&exact, &Sym::ZERO) };
    let less = total.floor_div(&Sym::from(2));
    let more = &total - &less;
    if upper { (less, more) } else { (more, less) }
}

/// Spatial extents of a constant-size kernel operand.
fn kernel_of(ctx: &Ctx, n: &Node<'_>, w: NodeId) -> Result<Vec<i64>> {
    let shape = ctx.shape(w);
    let extent = |d: &Sym| d.as_int().ok_or_else(|| Error::unsupported("a kernel of dynamic extents"));
    let kernel = shape.iter().skip(2).map(extent).collect::<Result<Vec<_>>>()?;
    match n.ints("kernel_shape") {
        Some(list) if !list.is_empty() && list != kernel => {
            Err(Error::parse(format!("kernel_shape {list:?} of a weight with {kernel:?}")))
        }
        _ => Ok(kernel),
    }
}

fn operand(ctx: &mut Ctx, n: &Node<'_>, i: usize) -> Result<Option<NodeId>> {
    n.maybe(i).map(|v| ctx.node(v)).transpose()
}

/// Spatial extents of `[N, C, …]`.
pub(super) fn spatial(ctx: &Ctx, x: NodeId) -> Result<Vec<Sym>> {
    let shape = ctx.shape(x);
    if shape.len() < 3 {
        return Err(Error::parse(format!("operand has rank {}; [N, C, …] expected", shape.len())));
    }
    Ok(shape[2..].to_vec())
}

pub(super) fn conv(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, w) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let bias = operand(ctx, n, 2)?;
    one(convolve(ctx, n, x, w, bias)?)
}

fn convolve(ctx: &mut Ctx, n: &Node<'_>, x: NodeId, w: NodeId, bias: Option<NodeId>) -> Result<NodeId> {
    let g = geometry(n, kernel_of(ctx, n, w)?, &spatial(ctx, x)?)?;
    let g = compose::Conv { stride: g.stride, pads: g.pads, dilation: g.dilation, groups: n.int("group", 1) };
    compose::conv(ctx.b(), x, w, bias, &g)
}

pub(super) fn conv_transpose(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, w) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let bias = operand(ctx, n, 2)?;
    let extents = spatial(ctx, x)?;
    let count = extents.len();
    let mut g = geometry(n, kernel_of(ctx, n, w)?, &vec![Sym::ONE; count])?;
    let extra = per_axis(n, "output_padding", count, 0)?;
    for i in 0..count {
        if let Some(total) = total_padding(n, &g, &extents[i], i, extra[i])? {
            g.pads[i] = split_padding(n, total);
        }
    }
    let g = compose::Conv { stride: g.stride, pads: g.pads, dilation: g.dilation, groups: n.int("group", 1) };
    one(compose::conv_transpose(ctx.b(), x, w, bias, &g, &extra)?)
}

/// Padding that `output_shape` or a SAME mode asks of one axis of a transposed convolution.
fn total_padding(n: &Node<'_>, g: &Geometry, extent: &Sym, i: usize, extra: i64) -> Result<Option<i64>> {
    let reach = (g.kernel[i] - 1) * g.dilation[i] + 1;
    let same = n.string("auto_pad", "NOTSET").starts_with("SAME");
    let Some(list) = n.ints("output_shape").filter(|l| !l.is_empty()) else {
        return Ok(same.then_some((reach + extra - g.stride[i]).max(0)));
    };
    let skip = list.len().checked_sub(g.kernel.len()).ok_or_else(|| Error::parse(format!("output_shape {list:?}")))?;
    let have = extent.as_int().ok_or_else(|| Error::unsupported("output_shape with a dynamic extent"))?;
    let span = have.checked_sub(1).and_then(|v| v.checked_mul(g.stride[i])).and_then(|v| v.checked_add(extra + reach));
    let total = span.and_then(|v| v.checked_sub(list[skip + i]));
    total.map(Some).ok_or_else(|| Error::parse(format!("output_shape {list:?}")))
}

/// Before and after: the odd element goes after in SAME_UPPER, else before.
fn split_padding(n: &Node<'_>, total: i64) -> (Sym, Sym) {
    let half = total.div_euclid(2);
    let (lo, hi) = if n.string("auto_pad", "NOTSET") == "SAME_UPPER" { (half, total - half) } else { (total - half, half) };
    (Sym::from(lo), Sym::from(hi))
}

/// `ConvInteger`: 8-bit operands less their zero points, accumulated in i32.
pub(super) fn conv_integer(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = super::quant::centred(ctx, n, 0, 2, 1)?;
    let w = super::quant::centred(ctx, n, 1, 3, 0)?;
    one(convolve(ctx, n, x, w, None)?)
}

/// `QLinearConv`: convolution of integers, scaled and rounded back.
pub(super) fn qlinear_conv(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = super::quant::centred(ctx, n, 0, 2, 1)?;
    let w = super::quant::centred(ctx, n, 3, 5, 0)?;
    let bias = operand(ctx, n, 8)?;
    let y = convolve(ctx, n, x, w, bias)?;
    let rank = ctx.rank(y);
    let y = ctx.cast(y, DType::F32)?;
    let (xs, ws) = (ctx.node(n.input(1)?)?, ctx.node(n.input(4)?)?);
    let ws = super::quant::on_axis(ctx, ws, 1, rank)?;
    let xs = super::quant::on_axis(ctx, xs, 1, rank)?;
    let scale = ctx.bin(S::Mul, xs, ws)?;
    let real = ctx.bin(S::Mul, y, scale)?;
    one(super::quant::quantize(ctx, real, n.input(6)?, n.maybe(7), 1)?)
}
