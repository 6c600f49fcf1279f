//! Pools.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, Pool};
use scalar::{Scalar, ScalarOp as S, Sym};

use super::conv::{geometry, per_axis, spatial};
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;

pub(super) fn pool(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    if n.wants(1) {
        return Err(Error::unsupported("the Indices result"));
    }
    let extents = spatial(ctx, x)?;
    let kernel = per_axis(n, "kernel_shape", extents.len(), 0)?;
    let g = geometry(n, kernel, &extents)?;
    let ceil_mode = n.flag("ceil_mode", false);
    let literal: Option<Vec<(i64, i64)>> = g.pads.iter().map(|(lo, hi)| Some((lo.as_int()?, hi.as_int()?))).collect();
    let include = n.flag("count_include_pad", false);
    let (x, pads) = match literal {
        Some(pads) => (x, pads),
        None if n.op() == "MaxPool" => (pad_lowest(ctx, x, &g.pads)?, vec![(0, 0); extents.len()]),
        None => return Err(Error::unsupported("SAME padding of a dynamic extent")),
    };
    let pool = Pool { kernel: g.kernel, stride: g.stride, pads, dilation: g.dilation, ceil_mode };
    one(match n.op() {
        "MaxPool" => compose::max_pool(ctx.b(), x, &pool)?,
        "AveragePool" => compose::avg_pool(ctx.b(), x, &pool, include)?,
        _ => lp(ctx, x, &pool, n.int("p", 2))?,
    })
}

/// (Σ|x|ᵖ)^(1/p) of each window: the mean of powers times the number of taps.
fn lp(ctx: &mut Ctx, x: NodeId, pool: &Pool, p: i64) -> Result<NodeId> {
    if p == 1 || p == 2 {
        return compose::lp_pool(ctx.b(), x, pool, p);
    }
    if p < 1 || pool.ceil_mode {
        return Err(Error::unsupported(format!("p = {p} with ceil_mode {}", pool.ceil_mode)));
    }
    let a = ctx.un(S::Abs, x)?;
    let power = ctx.with(S::Pow, a, p as f64)?;
    let mean = compose::avg_pool(ctx.b(), power, pool, true)?;
    let total = ctx.with(S::Mul, mean, pool.kernel.iter().map(|&k| k as f64).product())?;
    ctx.with(S::Pow, total, 1.0 / p as f64)
}

/// Padding by amounts that depend on the size, with the least value.
fn pad_lowest(ctx: &mut Ctx, x: NodeId, pads: &[(Sym, Sym)]) -> Result<NodeId> {
    let lowest = Scalar::from_f64(ctx.dtype(x), f64::NEG_INFINITY);
    let side = |f: fn(&(Sym, Sym)) -> &Sym| {
        [Sym::ZERO, Sym::ZERO].into_iter().chain(pads.iter().map(|p| f(p).clone())).collect::<Vec<_>>()
    };
    let interior = vec![0; pads.len() + 2];
    let (lo, hi) = (side(|p| &p.0), side(|p| &p.1));
    ctx.b().pad(x, lo, hi, &interior, lowest)
}

pub(super) fn lrn(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let (alpha, beta, bias) = (n.float("alpha", 1e-4), n.float("beta", 0.75), n.float("bias", 1.0));
    one(compose::local_response_norm(ctx.b(), x, n.int("size", 1), f64::from(alpha), f64::from(beta), f64::from(bias))?)
}
