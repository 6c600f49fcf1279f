//! Quantisation.

use base::{Error, Result};
use graph::NodeId;
use scalar::{DType, ScalarOp as S, Shape, Sym};

use super::math::scalar_of;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axis};
use crate::value::Value;

/// A scale or zero point as it broadcasts against `rank` axes: 0-d, or a vector along `at`.
pub(super) fn on_axis(ctx: &mut Ctx, p: NodeId, at: usize, rank: usize) -> Result<NodeId> {
    let shape = ctx.shape(p);
    match shape.len() {
        0 => Ok(p),
        1 if shape[0].is_one() => scalar_of(ctx, p),
        1 => {
            let trailing: Vec<usize> = (1..rank.saturating_sub(at)).collect();
            ctx.unsqueeze(p, &trailing)
        }
        _ => Ok(p),
    }
}

/// An 8-bit operand less its zero point, as i32.
pub(super) fn centred(ctx: &mut Ctx, n: &Node<'_>, operand: usize, zero: usize, at: usize) -> Result<NodeId> {
    let x = ctx.node(n.input(operand)?)?;
    let wide = ctx.cast(x, DType::I32)?;
    let Some(zero) = n.maybe(zero) else { return Ok(wide) };
    let zero = ctx.node(zero)?;
    let zero = ctx.cast(zero, DType::I32)?;
    let zero = on_axis(ctx, zero, at, ctx.rank(wide))?;
    ctx.bin(S::Sub, wide, zero)
}

/// A scale or zero point spread over blocks, lanes or the whole operand.
fn spread(ctx: &mut Ctx, n: &Node<'_>, p: NodeId, x: &Shape) -> Result<NodeId> {
    let block = n.int("block_size", 0);
    if ctx.rank(p) == 0 {
        return Ok(p);
    }
    let at = axis(n.int("axis", 1), x.len())?;
    if block == 0 {
        return on_axis(ctx, p, at, x.len());
    }
    if block < 0 || ctx.rank(p) != x.len() {
        return Err(Error::parse(format!("block_size {block} with a scale of rank {}", ctx.rank(p))));
    }
    let repeated = graph::compose::repeat_interleave(ctx.b(), p, at, &Sym::from(block))?;
    ctx.slice(repeated, at, &Sym::ZERO, &x[at], 1)
}

pub(super) fn dequantize_linear(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, scale) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let shape = ctx.shape(x);
    let out = if n.has("output_dtype") && n.int("output_dtype", 0) != 0 {
        crate::tensor::dtype(n.int("output_dtype", 0) as i32)?
    } else {
        ctx.dtype(scale)
    };
    let mut y = x;
    if let Some(zero) = n.maybe(2) {
        let zero = ctx.node(zero)?;
        let (wide, zero) = (ctx.cast(x, DType::I32)?, ctx.cast(zero, DType::I32)?);
        let zero = spread(ctx, n, zero, &shape)?;
        y = ctx.bin(S::Sub, wide, zero)?;
    }
    let compute = ctx.dtype(scale);
    let y = ctx.cast(y, compute)?;
    let scale = spread(ctx, n, scale, &shape)?;
    let y = ctx.bin(S::Mul, y, scale)?;
    one(ctx.cast(y, out)?)
}

pub(super) fn quantize_linear(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let shape = ctx.shape(x);
    let scale = ctx.node(n.input(1)?)?;
    let scale = spread(ctx, n, scale, &shape)?;
    let zero = n.maybe(2).map(|v| ctx.node(v)).transpose()?;
    let out = match (zero, n.int("output_dtype", 0)) {
        (Some(zero), _) => ctx.dtype(zero),
        (None, 0) => DType::U8,
        (None, code) => crate::tensor::dtype(code as i32)?,
    };
    let zero = zero.map(|z| spread(ctx, n, z, &shape)).transpose()?;
    one(rounded(ctx, x, scale, zero, out)?)
}

/// Reals to integers by a scale and zero point along `at`.
pub(super) fn quantize(ctx: &mut Ctx, x: NodeId, scale: &Value, zero: Option<&Value>, at: usize) -> Result<NodeId> {
    let rank = ctx.rank(x);
    let scale = ctx.node(scale)?;
    let scale = ctx.cast(scale, DType::F32)?;
    let scale = on_axis(ctx, scale, at, rank)?;
    let zero = zero.map(|v| ctx.node(v)).transpose()?;
    let out = zero.map_or(DType::U8, |z| ctx.dtype(z));
    let zero = zero.map(|z| on_axis(ctx, z, at, rank)).transpose()?;
    rounded(ctx, x, scale, zero, out)
}

/// saturate(round(x / scale) + zero).
fn rounded(ctx: &mut Ctx, x: NodeId, scale: NodeId, zero: Option<NodeId>, out: DType) -> Result<NodeId> {
    let (lo, hi) = match out {
        DType::I8 => (-128.0, 127.0),
        DType::U8 => (0.0, 255.0),
        DType::I16 => (-32768.0, 32767.0),
        DType::U16 => (0.0, 65535.0),
        other => return Err(Error::unsupported(format!("quantisation to {other}"))),
    };
    let (x, scale) = (ctx.cast(x, DType::F32)?, ctx.cast(scale, DType::F32)?);
    let ratio = ctx.bin(S::Div, x, scale)?;
    let mut y = ctx.un(S::Round, ratio)?;
    if let Some(zero) = zero {
        let zero = ctx.cast(zero, DType::F32)?;
        y = ctx.bin(S::Add, y, zero)?;
    }
    let y = ctx.with(S::Max, y, lo)?;
    let y = ctx.with(S::Min, y, hi)?;
    ctx.cast(y, out)
}

/// `DynamicQuantizeLinear`: u8 with scale (max − min)/255 over a range that includes 0.
pub(super) fn dynamic(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let axes: Vec<usize> = (0..ctx.rank(x)).collect();
    let (lo, hi) = if axes.is_empty() {
        (x, x)
    } else {
        (ctx.b().reduce(scalar::Combiner::Min, &[x], &axes)?, ctx.b().reduce(scalar::Combiner::Max, &[x], &axes)?)
    };
    let (lo, hi) = (ctx.with(S::Min, lo, 0.0)?, ctx.with(S::Max, hi, 0.0)?);
    let range = ctx.bin(S::Sub, hi, lo)?;
    let scale = ctx.with(S::Div, range, 255.0)?;
    let negated = ctx.un(S::Neg, lo)?;
    let zero = ctx.bin(S::Div, negated, scale)?;
    let zero = ctx.un(S::Round, zero)?;
    let zero = ctx.with(S::Max, zero, 0.0)?;
    let zero = ctx.with(S::Min, zero, 255.0)?;
    let zero = ctx.cast(zero, DType::U8)?;
    let y = rounded(ctx, x, scale, Some(zero), DType::U8)?;
    Ok(vec![y.into(), scale.into(), zero.into()])
}
