//! Signals: windows, the discrete Fourier transform, causal convolution, and writing into a cache.

use std::f64::consts::TAU;

use base::{Error, Result};
use graph::compose::{self, Conv};
use graph::{HostTensor, NodeId, WriteCombine};
use scalar::{DType, ScalarOp as S, Shape, Sym};

use super::reduce::positions;
use super::{Out, one};
use crate::ctx::{Ctx, data_dependent};
use crate::node::{Node, axis};
use crate::tensor;
use crate::value::Value;

/// `HannWindow`, `HammingWindow`, `BlackmanWindow`: Σₖ cₖ·cos(2πk·i/n) with n the size, or one less.
pub(super) fn window(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let coefficients: &[f64] = match n.op() {
        "HannWindow" => &[0.5, -0.5],
        "HammingWindow" => &[25.0 / 46.0, -21.0 / 46.0],
        _ => &[0.42, -0.5, 0.08],
    };
    let size = n.input(0)?.ints().and_then(|s| s.values.first().cloned()).ok_or_else(|| data_dependent("size"))?;
    let dtype = tensor::dtype(n.int("output_datatype", 1) as i32)?;
    let periods = if n.flag("periodic", true) { size.clone() } else { &size - 1 };
    let i = ctx.b().iota(size)?;
    let i = ctx.cast(i, DType::F32)?;
    let periods = ctx.sym_node(&periods, DType::F32)?;
    let phase = ctx.bin(S::Div, i, periods)?;
    let mut sum = ctx.with(S::Mul, phase, 0.0)?;
    sum = ctx.with(S::Add, sum, coefficients[0])?;
    for (k, &c) in coefficients.iter().enumerate().skip(1) {
        let angle = ctx.with(S::Mul, phase, TAU * k as f64)?;
        let wave = ctx.un(S::Cos, angle)?;
        let term = ctx.with(S::Mul, wave, c)?;
        sum = ctx.bin(S::Add, sum, term)?;
    }
    one(ctx.cast(sum, dtype)?)
}

/// Longest transform: its matrices have the square of that many elements.
const LONGEST: usize = 4096;

/// What a transform is, in numbers.
struct Transform {
    /// Elements of the signal that are used.
    taken: usize,
    length: usize,
    inverse: bool,
    onesided: bool,
}

/// `DFT` of a constant length: products with the matrices of cosines and sines.
pub(super) fn dft(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let rank = ctx.rank(x);
    let at = match n.maybe(2) {
        Some(value) => ctx.numbers(value, "axis")?.first().copied().unwrap_or(-2),
        None => n.int("axis", if n.opset >= 20 { -2 } else { 1 }),
    };
    let at = axis(at, rank)?;
    if at + 1 == rank {
        return Err(Error::parse("the last axis holds real and imaginary parts"));
    }
    let shape = ctx.shape(x);
    let fixed = |s: &Sym| s.as_int().and_then(|v| usize::try_from(v).ok());
    let unknown = || Error::unsupported("a dynamic length");
    let have = fixed(&shape[at]).ok_or_else(unknown)?;
    let (inverse, onesided) = (n.flag("inverse", false), n.flag("onesided", false));
    let length = match n.maybe(1) {
        Some(value) => ctx.numbers(value, "dft_length")?.first().and_then(|&l| usize::try_from(l).ok()).unwrap_or(have),
        None if inverse && onesided => 2 * have.saturating_sub(1),
        None => have,
    };
    if length == 0 || length > LONGEST {
        return Err(Error::unsupported(format!("a transform of length {length}; 1 to {LONGEST} are supported")));
    }
    let taken = have.min(if inverse && onesided { length / 2 + 1 } else { length });
    let t = Transform { taken, length, inverse, onesided };
    let used = ctx.slice(x, at, &Sym::ZERO, &Sym::from(taken), 1)?;
    let real = compose::select(ctx.b(), used, rank - 1, 0)?;
    let imaginary = if shape[rank - 1].is_one() { None } else { Some(compose::select(ctx.b(), used, rank - 1, 1)?) };
    one(t.apply(ctx, real, imaginary, at)?)
}

impl Transform {
    fn apply(&self, ctx: &mut Ctx, real: NodeId, imaginary: Option<NodeId>, at: usize) -> Result<NodeId> {
        let sign = if self.inverse { 1.0 } else { -1.0 };
        let mut re = self.product(ctx, real, at, |a| a.cos())?;
        let mut im = self.product(ctx, real, at, move |a| sign * a.sin())?;
        if let Some(imaginary) = imaginary {
            let crossed = self.product(ctx, imaginary, at, move |a| -sign * a.sin())?;
            re = ctx.bin(S::Add, re, crossed)?;
            let straight = self.product(ctx, imaginary, at, |a| a.cos())?;
            im = ctx.bin(S::Add, im, straight)?;
        }
        let last = ctx.rank(re);
        let re = ctx.unsqueeze(re, &[last])?;
        if self.inverse && self.onesided {
            return Ok(re);
        }
        let im = ctx.unsqueeze(im, &[last])?;
        ctx.b().concat(&[re, im], last)
    }

    /// The signal times the matrix of a function of the angle.
    fn product(&self, ctx: &mut Ctx, x: NodeId, at: usize, f: impl Fn(f64) -> f64) -> Result<NodeId> {
        let out = if self.onesided && !self.inverse { self.length / 2 + 1 } else { self.length };
        // A real result doubles what its mirrored half would add.
        let folded = |k: usize| self.inverse && self.onesided && k > 0 && 2 * k != self.length;
        let one = if self.inverse { 1.0 / self.length as f64 } else { 1.0 };
        let scale = |k: usize| if folded(k) { 2.0 * one } else { one };
        let angle = |i: usize, k: usize| TAU * ((i * k) % self.length) as f64 / self.length as f64;
        let values: Vec<f64> =
            (0..out).flat_map(|i| (0..self.taken).map(move |k| (i, k))).map(|(i, k)| f(angle(i, k)) * scale(k)).collect();
        along(ctx, x, at, &values, out)
    }
}

/// A matrix `[out, extent]` of numbers times an axis.
pub(super) fn along(ctx: &mut Ctx, x: NodeId, at: usize, matrix: &[f64], out: usize) -> Result<NodeId> {
    if ctx.rank(x) > 20 {
        return Err(Error::unsupported(format!("rank {}", ctx.rank(x))));
    }
    let dtype = ctx.dtype(x);
    let wide = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let x = ctx.cast(x, wide)?;
    let data = HostTensor::from_f64s(wide, &[out, matrix.len() / out.max(1)], matrix);
    let weights = ctx.node(&Value::constant("matrix", data))?;
    let letter = |i: usize| char::from(b'a' + i as u8);
    let own: String = (0..ctx.rank(x)).map(letter).collect();
    let result: String = (0..ctx.rank(x)).map(|i| if i == at { 'z' } else { letter(i) }).collect();
    let spec = format!("{own},z{}->{result}", letter(at));
    let product = ctx.b().einsum(&spec, x, weights, wide)?;
    ctx.cast(product, dtype)
}

/// `CausalConvWithState`: depthwise over what came before and now; also the last k − 1 elements, for the next call.
pub(super) fn causal_conv(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, weight) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let shape = ctx.shape(x);
    if shape.len() != 3 || ctx.rank(weight) != 3 {
        return Err(Error::parse("the input must be [N, C, L] and the weight [C, 1, k]"));
    }
    let bias = n.maybe(2).map(|v| ctx.node(v)).transpose()?;
    let kept = &ctx.shape(weight)[2] - 1;
    let before = match n.maybe(3) {
        Some(value) => ctx.node(value)?,
        None => {
            let zeros: Shape = [shape[0].clone(), shape[1].clone(), kept.clone()].into_iter().collect();
            ctx.full(scalar::Scalar::from_f64(ctx.dtype(x), 0.0), &zeros)?
        }
    };
    let all = ctx.b().concat(&[before, x], 2)?;
    let groups = shape[1].as_int().ok_or_else(|| Error::unsupported("a dynamic number of channels"))?;
    let y = compose::conv(ctx.b(), all, weight, bias, &Conv { groups, ..Conv::new(1) })?;
    let y = match n.string("activation", "none") {
        "none" => y,
        "silu" | "swish" => compose::silu(ctx.b(), y)?,
        other => return Err(Error::parse(format!("activation '{other}'"))),
    };
    let state = ctx.slice(all, 2, &shape[2], &kept, 1)?;
    Ok(vec![y.into(), state.into()])
}

/// `TensorScatter`: an update written into a cache along one axis, from a position per batch entry on.
pub(super) fn cache_write(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (cache, update) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let shape = ctx.shape(update);
    let at = axis(n.int("axis", -2), shape.len())?;
    let mut places = positions(ctx, &shape, at)?;
    if let Some(starts) = n.maybe(2) {
        let starts = ctx.node(starts)?;
        let starts = ctx.cast(starts, DType::I64)?;
        let trailing: Vec<usize> = (1..shape.len()).collect();
        let starts = ctx.unsqueeze(starts, &trailing)?;
        places = ctx.bin(S::Add, places, starts)?;
    }
    if n.string("mode", "linear") == "circular" {
        let extent = ctx.shape(cache)[at].clone();
        let extent = ctx.sym_node(&extent, DType::I64)?;
        places = ctx.bin(S::Mod, places, extent)?;
    }
    let places = ctx.expand(places, &shape)?;
    one(compose::scatter(ctx.b(), cache, at, places, update, WriteCombine::Set)?)
}
