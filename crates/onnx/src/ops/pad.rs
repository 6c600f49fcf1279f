//! `Pad`.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, PadMode};
use scalar::{Scalar, Sym};

use super::shape::listed;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axis};

pub(super) fn pad(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let (lo, hi) = amounts(ctx, n, ctx.rank(x))?;
    let mode = match n.string("mode", "constant") {
        "constant" => return one(constant(ctx, n, x, &lo, &hi)?),
        "reflect" => PadMode::Reflect,
        "edge" => PadMode::Edge,
        "wrap" => PadMode::Wrap,
        other => return Err(Error::parse(format!("mode '{other}'"))),
    };
    let literal = |s: &[Sym]| s.iter().map(Sym::as_int).collect::<Option<Vec<_>>>();
    let (Some(lo), Some(hi)) = (literal(&lo), literal(&hi)) else {
        return Err(Error::unsupported("pads that depend on dimensions, other than with constants"));
    };
    one(compose::pad(ctx.b(), x, &lo, &hi, mode)?)
}

/// Amounts before and after each axis: an attribute in old op sets, an operand for some axes since.
fn amounts(ctx: &Ctx, n: &Node<'_>, rank: usize) -> Result<(Vec<Sym>, Vec<Sym>)> {
    let list = match n.ints("pads").or_else(|| n.ints("paddings")) {
        Some(list) => list.iter().map(|&v| Sym::from(v)).collect(),
        None => ctx.vector(n.input(1)?, "pads")?,
    };
    let axes = listed(ctx, n, 3)?.unwrap_or_else(|| (0..rank as i64).collect());
    if list.len() != 2 * axes.len() {
        return Err(Error::parse(format!("{} pads for {} axes", list.len(), axes.len())));
    }
    let (mut lo, mut hi) = (vec![Sym::ZERO; rank], vec![Sym::ZERO; rank]);
    for (i, &a) in axes.iter().enumerate() {
        let at = axis(a, rank)?;
        (lo[at], hi[at]) = (list[i].clone(), list[axes.len() + i].clone());
    }
    Ok((lo, hi))
}

/// Pads with one value; negative amounts crop. A value that is not constant is selected where the mask is padding.
fn constant(ctx: &mut Ctx, n: &Node<'_>, x: NodeId, lo: &[Sym], hi: &[Sym]) -> Result<NodeId> {
    let dtype = ctx.dtype(x);
    let value = match n.maybe(2) {
        None => Some(Scalar::from_f64(dtype, f64::from(n.float("value", 0.0)))),
        Some(v) => v.host().filter(|h| h.len() == 1 && h.dtype() == dtype).map(|h| h.get(0)),
    };
    if let Some(value) = value {
        return filled(ctx, x, lo, hi, value);
    }
    let value = ctx.node(n.input(2)?)?;
    let value = super::math::scalar_of(ctx, value)?;
    let shape = ctx.shape(x);
    let ones = ctx.full(Scalar::bool(true), &shape)?;
    let inside = filled(ctx, ones, lo, hi, Scalar::bool(false))?;
    let padded = filled(ctx, x, lo, hi, Scalar::zero(dtype))?;
    ctx.select(inside, padded, value)
}

fn filled(ctx: &mut Ctx, x: NodeId, lo: &[Sym], hi: &[Sym], value: Scalar) -> Result<NodeId> {
    let negative = |s: &Sym| s.as_int().is_some_and(|v| v < 0);
    let mut y = x;
    for (at, (l, h)) in lo.iter().zip(hi).enumerate().filter(|(_, (l, h))| negative(l) || negative(h)) {
        let crop = |s: &Sym| if negative(s) { &Sym::ZERO - s } else { Sym::ZERO };
        let len = &ctx.shape(y)[at] - &(&crop(l) + &crop(h));
        y = ctx.slice(y, at, &crop(l), &len, 1)?;
    }
    let kept = |s: &[Sym]| s.iter().map(|v| if negative(v) { Sym::ZERO } else { v.clone() }).collect::<Vec<_>>();
    let interior = vec![0; lo.len()];
    ctx.b().pad(y, kept(lo), kept(hi), &interior, value)
}
