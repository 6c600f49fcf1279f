//! Reading and writing by index.

use std::collections::BTreeMap;

use base::{Error, Result};
use graph::{NodeId, WriteCombine, compose};
use scalar::{DType, ScalarOp as S, Sym};

use super::reduce::positions;
use super::{Out, one};
use crate::ctx::{Ctx, data_dependent};
use crate::known::Ints;
use crate::node::{Node, axis};

/// `Gather`: constant indices are made non-negative here, others at run time.
pub(super) fn gather(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let at = axis(n.int("axis", 0), ctx.rank(x))?;
    let extent = ctx.shape(x)[at].clone();
    let constant =
        n.input(1)?.ints().filter(|i| i.consts().is_some_and(|c| c.iter().all(|v| *v < 0 || extent.as_int().is_none())));
    let index = match constant.map(|i| Ints { dtype: DType::I64, ..i }) {
        Some(ints) if ints.values.len() == 1 => {
            let i = ints.values[0].as_int().unwrap_or(0);
            return single(ctx, x, at, i, ints.shape.len());
        }
        _ => ctx.node(n.input(1)?)?,
    };
    one(compose::take(ctx.b(), x, at, index)?)
}

/// One constant position: a slice, whose axis becomes `rank` axes of extent 1.
fn single(ctx: &mut Ctx, x: NodeId, at: usize, i: i64, rank: usize) -> Out {
    let part = compose::select(ctx.b(), x, at, i)?;
    let places: Vec<usize> = (at..at + rank).collect();
    one(ctx.unsqueeze(part, &places)?)
}

pub(super) fn gather_elements(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, index) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let at = axis(n.int("axis", 0), ctx.rank(x))?;
    one(compose::gather(ctx.b(), x, at, index)?)
}

/// `GatherND`; batch axes become further components of the index.
pub(super) fn gather_nd(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, index) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let batch = usize::try_from(n.int("batch_dims", 0)).ok().filter(|&b| b < ctx.rank(x).min(ctx.rank(index)));
    let batch = batch.ok_or_else(|| Error::parse(format!("batch_dims {} is out of range", n.int("batch_dims", 0))))?;
    let index = ctx.cast(index, DType::I64)?;
    let shape = ctx.shape(index);
    let last = shape.len() - 1;
    let mut parts = Vec::new();
    for i in 0..batch {
        let places = positions(ctx, &shape, i)?;
        let mut one_each = shape.clone();
        one_each[last] = Sym::ONE;
        parts.push(ctx.expand(places, &one_each)?);
    }
    parts.push(index);
    let index = if parts.len() == 1 { index } else { ctx.b().concat(&parts, last)? };
    one(compose::gather_nd(ctx.b(), x, index)?)
}

fn combine(n: &Node<'_>) -> Result<WriteCombine> {
    Ok(match n.string("reduction", "none") {
        "none" => WriteCombine::Set,
        "add" => WriteCombine::Add,
        "mul" => WriteCombine::Mul,
        "max" => WriteCombine::Max,
        "min" => WriteCombine::Min,
        other => return Err(Error::parse(format!("reduction '{other}'"))),
    })
}

pub(super) fn scatter_elements(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, index, src) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?, ctx.node(n.input(2)?)?);
    let at = axis(n.int("axis", 0), ctx.rank(x))?;
    one(compose::scatter(ctx.b(), x, at, index, src, combine(n)?)?)
}

pub(super) fn scatter_nd(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, index, src) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?, ctx.node(n.input(2)?)?);
    one(compose::scatter_nd(ctx.b(), x, index, src, combine(n)?)?)
}

/// `TopK`: k is an attribute before op set 10, an operand since.
pub(super) fn top_k(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let at = axis(n.int("axis", -1), ctx.rank(x))?;
    let k = match n.maybe(1) {
        Some(value) => ctx.numbers(value, "k")?.first().copied().ok_or_else(|| Error::parse("k is empty"))?,
        None => n.int("k", 0),
    };
    let attributes = [("axis", at as i64), ("k", k), ("largest", n.int("largest", 1)), ("sorted", n.int("sorted", 1))];
    let attributes: BTreeMap<String, i64> = attributes.map(|(name, v)| (name.to_owned(), v)).into();
    let pair = ctx.b().call("topk", attributes, &[x])?;
    let (values, indices) = (ctx.b().result(pair, 0)?, ctx.b().result(pair, 1)?);
    Ok(vec![values.into(), indices.into()])
}

/// `Compress` with a constant condition: chosen positions of an axis, or of the flattened operand.
pub(super) fn compress(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let mut x = ctx.node(n.input(0)?)?;
    let flags = ctx.numbers(n.input(1)?, "condition")?;
    let at = if n.has("axis") {
        axis(n.int("axis", 0), ctx.rank(x))?
    } else {
        let count = Sym::product(ctx.shape(x));
        x = ctx.b().reshape(x, [count])?;
        0
    };
    let chosen: Vec<Sym> = (0..flags.len()).filter(|&i| flags[i] != 0).map(Sym::from).collect();
    let index = ctx.node(&Ints::vector(chosen).into())?;
    one(compose::index_select(ctx.b(), x, at, index)?)
}

/// `ReverseSequence`: the first `lens[b]` steps of each batch entry in reverse.
pub(super) fn reverse_sequence(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let (x, lens) = (ctx.node(n.input(0)?)?, ctx.node(n.input(1)?)?);
    let shape = ctx.shape(x);
    let (batch, time) = (axis(n.int("batch_axis", 1), shape.len())?, axis(n.int("time_axis", 0), shape.len())?);
    let lens = ctx.cast(lens, DType::I64)?;
    let trailing: Vec<usize> = (1..shape.len() - batch).collect();
    let lens = ctx.unsqueeze(lens, &trailing)?;
    let steps = positions(ctx, &shape, time)?;
    let last = ctx.with(S::Sub, lens, 1.0)?;
    let mirrored = ctx.bin(S::Sub, last, steps)?;
    let inside = ctx.bin(S::Lt, steps, lens)?;
    let index = ctx.select(inside, mirrored, steps)?;
    let index = ctx.expand(index, &shape)?;
    one(ctx.b().gather(x, &[index], &[time])?)
}

/// `OneHot`: `values[1]` where an index meets its class, else `values[0]`; indices outside have no class.
pub(super) fn one_hot(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let index = ctx.node(n.input(0)?)?;
    let depth = n.input(1)?.ints().and_then(|d| d.values.first().cloned());
    let depth = depth.ok_or_else(|| data_dependent("depth"))?;
    let values = ctx.node(n.input(2)?)?;
    let (off, on) = (compose::select(ctx.b(), values, 0, 0)?, compose::select(ctx.b(), values, 0, 1)?);
    let rank = ctx.rank(index) + 1;
    let at = axis(n.int("axis", -1), rank)?;
    let index = ctx.cast(index, DType::I64)?;
    let index = compose::wrap_index(ctx.b(), index, &depth)?;
    let mut shape = ctx.shape(index);
    shape.insert(at, depth);
    let index = ctx.unsqueeze(index, &[at])?;
    let classes = positions(ctx, &shape, at)?;
    let hit = ctx.bin(S::Eq, index, classes)?;
    one(ctx.select(hit, on, off)?)
}
