//! Views and copies: same elements elsewhere.

use base::Result;
use graph::{NodeId, compose};
use scalar::{Shape, Sym};

use super::Lower;
use super::ctx::Ctx;

pub(super) fn lookup(target: &str) -> Option<Lower> {
    Some(match target {
        "aten.view.default" | "aten.reshape.default" | "aten._unsafe_view.default" | "aten._reshape_alias.default" => reshape,
        "aten.unsqueeze.default" | "aten.squeeze.dim" | "aten.squeeze.dims" | "aten.squeeze.default" => reshape,
        "aten.permute.default" => permute,
        "aten.t.default" => transpose_2d,
        "aten.transpose.int" => transpose,
        "aten.expand.default" => expand,
        "aten.slice.Tensor" => slice,
        "aten.select.int" => select,
        "aten.clone.default" | "aten.alias.default" | "aten.detach.default" | "aten.lift_fresh_copy.default" => same,
        "aten.cat.default" => cat,
        "aten.split_with_sizes.default" | "aten.split.Tensor" | "aten.unbind.int" => split,
        _ => return None,
    })
}

fn same(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    Ok(vec![c.tensor("self")?])
}

/// Any op that keeps row-major order.
fn reshape(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, shape) = (c.tensor("self")?, c.shape()?);
    Ok(vec![if *c.b.shape(x) == shape { x } else { c.b.reshape(x, shape)? }])
}

fn permute(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let perm = c.ints("dims")?.into_iter().map(|a| c.axis(x, a)).collect::<Result<Vec<_>>>()?;
    let perm: Vec<usize> = perm.into_iter().flatten().collect();
    Ok(vec![c.b.permute(x, &perm)?])
}

fn transpose_2d(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    Ok(vec![if c.rank(x) < 2 { x } else { c.b.permute(x, &[1, 0])? }])
}

fn transpose(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let (Some(i), Some(j)) = (c.axis(x, c.int("dim0")?)?, c.axis(x, c.int("dim1")?)?) else { return Ok(vec![x]) };
    let mut perm: Vec<usize> = (0..c.rank(x)).collect();
    perm.swap(i, j);
    Ok(vec![c.b.permute(x, &perm)?])
}

fn expand(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, shape) = (c.tensor("self")?, c.shape()?);
    Ok(vec![c.expand(x, &shape)?])
}

/// The start of a slice: wrapped, then clamped into the axis.
fn start(c: &Ctx<'_>, extent: &Sym) -> Result<Sym> {
    if !c.has("start") {
        return Ok(Sym::ZERO);
    }
    let start = c.sym("start")?;
    match start.as_int() {
        Some(n) if n < 0 => Ok(Sym::max(&(extent.clone() + Sym::from(n)), &Sym::ZERO)),
        _ => Ok(Sym::min(&start, extent).simplify(c.b.facts())),
    }
}

fn slice(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, out) = (c.tensor("self")?, c.shape()?);
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let step = c.int("step")?;
    let from = start(c, &c.b.shape(x)[axis].clone())?;
    let rank = c.rank(x);
    let mut starts = Shape::from_elem(Sym::ZERO, rank);
    starts[axis] = from;
    let mut steps = vec![1; rank];
    steps[axis] = step;
    Ok(vec![c.b.slice(x, starts, out, &steps)?])
}

fn select(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let (x, out) = (c.tensor("self")?, c.shape()?);
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let index = c.sym("index")?;
    let index = match index.as_int() {
        Some(n) if n < 0 => c.b.shape(x)[axis].clone() + Sym::from(n),
        _ => index,
    };
    let one = compose::slice_axis(c.b, x, axis, &index, &Sym::ONE, 1)?;
    Ok(vec![c.b.reshape(one, out)?])
}

fn cat(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let dtype = c.dtype()?;
    let rank = c.result()?.shape.len();
    let mut parts = Vec::new();
    for x in c.tensors("tensors")? {
        // torch lets empty 1-d tensors join anything.
        if c.rank(x) == 1 && rank != 1 && c.b.shape(x)[0].is_zero() {
            continue;
        }
        parts.push(c.cast(x, dtype)?);
    }
    let Some(&first) = parts.first() else { return Err(c.unsupported("nothing but empty tensors")) };
    let Some(axis) = c.axis(first, c.int("dim")?)? else { return Err(c.unsupported("0-d tensors")) };
    Ok(vec![if parts.len() == 1 { first } else { c.b.concat(&parts, axis)? }])
}

/// Parts along an axis, as long as the results say; without the axis when they have a lower rank.
fn split(c: &mut Ctx<'_>) -> Result<Vec<NodeId>> {
    let x = c.tensor("self")?;
    let Some(axis) = c.axis(x, c.int("dim")?)? else { return Err(c.unsupported("a 0-d tensor")) };
    let mut from = Sym::ZERO;
    let mut parts = Vec::new();
    for out in c.results() {
        let shape = c.shape_of(out)?;
        let whole = shape.len() == c.rank(x);
        let len = if whole { shape[axis].clone() } else { Sym::ONE };
        let part = compose::slice_axis(c.b, x, axis, &from, &len, 1)?;
        from = from + len;
        parts.push(if whole { part } else { c.b.reshape(part, shape)? });
    }
    Ok(parts)
}
