//! `Slice` with symbolic bounds.

use base::{Error, Result};
use graph::NodeId;
use scalar::{Facts, Sym};

use super::shape::listed;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::{Node, axis};

/// Bounds at least this large mean the end of the axis.
const FAR: i64 = i32::MAX as i64;

pub(super) fn slice(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let mut x = ctx.node(n.input(0)?)?;
    let starts = bounds(ctx, n, "starts", 1)?;
    let ends = bounds(ctx, n, "ends", 2)?;
    let list = listed(ctx, n, 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = match n.maybe(4) {
        Some(value) => ctx.numbers(value, "steps")?,
        None => vec![1; starts.len()],
    };
    if [ends.len(), list.len(), steps.len()].iter().any(|&l| l != starts.len()) {
        return Err(Error::parse("starts, ends, axes and steps differ in length"));
    }
    for i in 0..starts.len() {
        let at = axis(list[i], ctx.rank(x))?;
        x = along(ctx, x, at, &starts[i], &ends[i], steps[i])?;
    }
    one(x)
}

fn bounds(ctx: &Ctx, n: &Node<'_>, attribute: &str, operand: usize) -> Result<Vec<Sym>> {
    match n.ints(attribute) {
        Some(list) => Ok(list.iter().map(|&v| Sym::from(v)).collect()),
        None => ctx.vector(n.input(operand)?, attribute),
    }
}

/// `x[start:end:step]` along one axis.
fn along(ctx: &mut Ctx, x: NodeId, at: usize, start: &Sym, end: &Sym, step: i64) -> Result<NodeId> {
    let extent = ctx.shape(x)[at].clone();
    let facts = ctx.facts().clone();
    if step == 0 || step == i64::MIN {
        return Err(Error::parse(format!("step {step}")));
    }
    let (first, span) = if step > 0 {
        let (first, past) = (position(start, &extent, &facts)?, position(end, &extent, &facts)?);
        let span = &past - &first;
        (first, span)
    } else {
        let (first, past) = (mirrored(start, &extent, &facts)?, mirrored(end, &extent, &facts)?);
        let span = &past - &first;
        (first, span)
    };
    let len = span.ceil_div(&Sym::from(step.abs()));
    let len = if facts.proves_ge(&len, &Sym::ZERO) { len } else { Sym::max(&len, &Sym::ZERO) };
    let (first, len) = (first.simplify(&facts), len.simplify(&facts));
    let first = if len.is_zero() { Sym::ZERO } else { first };
    let x = if step < 0 { ctx.b().flip(x, &[at])? } else { x };
    ctx.slice(x, at, &first, &len, step.abs())
}

/// A bound as a position from 0 to the extent.
fn position(v: &Sym, extent: &Sym, facts: &Facts) -> Result<Sym> {
    Ok(clamped(&from_start(v, extent, facts)?, extent, facts))
}

/// The position of a bound in the reversed axis: extent − 1 − bound, from 0 to the extent.
fn mirrored(v: &Sym, extent: &Sym, facts: &Facts) -> Result<Sym> {
    let last = extent - &Sym::ONE;
    if v.as_int().is_some_and(|c| c <= -FAR) {
        return Ok(extent.clone());
    }
    let at = from_start(v, extent, facts)?;
    Ok(clamped(&(&last - &at), extent, facts))
}

/// Negative bounds count from the end.
fn from_start(v: &Sym, extent: &Sym, facts: &Facts) -> Result<Sym> {
    match v.as_int() {
        Some(c) if c >= FAR => Ok(extent.clone()),
        Some(c) if c <= -FAR => Ok(Sym::from(-1)),
        Some(c) if c < 0 => Ok(extent + &Sym::from(c)),
        Some(_) => Ok(v.clone()),
        None if facts.proves_ge(v, &Sym::ZERO) => Ok(v.clone()),
        None if facts.proves_lt(v, &Sym::ZERO) => Ok(extent + v),
        None => Err(Error::unsupported(format!("bound {v} may be negative or not, depending on dimensions"))),
    }
}

fn clamped(v: &Sym, extent: &Sym, facts: &Facts) -> Sym {
    let v = if facts.proves_ge(v, &Sym::ZERO) { v.clone() } else { Sym::max(v, &Sym::ZERO) };
    if facts.proves_ge(extent, &v) { v } else { Sym::min(&v, extent) }
}
