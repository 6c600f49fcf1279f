//! Shapes, layout and constants.

use base::{Error, Result};
use graph::{HostTensor, NodeId, compose};
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::reduce::positions;
use super::{Out, one};
use crate::ctx::{Ctx, data_dependent};
use crate::known::Ints;
use crate::node::{Node, axes, axis};
use crate::value::Value;

pub(super) fn shape(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let extents = ctx.extents(n.input(0)?);
    let rank = extents.len() as i64;
    let clamp = |v: i64| (if v < 0 { v.saturating_add(rank) } else { v }).clamp(0, rank) as usize;
    let (start, end) = (clamp(n.int("start", 0)), clamp(n.int("end", rank)));
    Ok(vec![Ints::vector(extents[start..end.max(start)].to_vec()).into()])
}

pub(super) fn size(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let count = Sym::product(ctx.extents(n.input(0)?));
    Ok(vec![Ints::new(DType::I64, Vec::new(), vec![count]).into()])
}

pub(super) fn identity(_: &mut Ctx, n: &Node<'_>) -> Out {
    Ok(vec![n.input(0)?.clone()])
}

pub(super) fn constant(_: &mut Ctx, n: &Node<'_>) -> Out {
    let vector =
        |dtype, count: usize, values: &mut dyn Iterator<Item = Scalar>| HostTensor::from_scalars(dtype, &[count], values);
    let value = if let Some(t) = n.tensor("value")? {
        t
    } else if n.has("value_float") {
        HostTensor::from_f64s(DType::F32, &[], &[f64::from(n.float("value_float", 0.0))])
    } else if n.has("value_int") {
        HostTensor::from_i64s(DType::I64, &[], &[n.int("value_int", 0)])
    } else if let Some(list) = n.floats("value_floats") {
        vector(DType::F32, list.len(), &mut list.iter().map(|&v| Scalar::f32(v)))
    } else if let Some(list) = n.ints("value_ints") {
        vector(DType::I64, list.len(), &mut list.iter().map(|&v| Scalar::i64(v)))
    } else {
        return Err(Error::unsupported("constant that is a string or sparse"));
    };
    Ok(vec![Value::constant(n.label(), value)])
}

pub(super) fn constant_of_shape(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let extents = Shape::from_vec(ctx.vector(n.input(0)?, "shape")?);
    let value = n.tensor("value")?;
    let value = match &value {
        None => Scalar::f32(0.0),
        Some(t) if t.len() == 1 => t.get(0),
        Some(t) => return Err(Error::parse(format!("value has shape {:?}; one element expected", t.shape()))),
    };
    one(ctx.full(value, &extents)?)
}

pub(super) fn reshape(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let target = match n.ints("shape") {
        Some(list) => list.iter().map(|&d| Sym::from(d)).collect(),
        None => ctx.vector(n.input(1)?, "shape")?,
    };
    let own = ctx.shape(x);
    let allow_zero = n.flag("allowzero", false);
    let resolved = target_shape(&own, &target, allow_zero)?;
    one(ctx.b().reshape(x, resolved)?)
}

/// The shape that a Reshape target means: 0 copies an extent, one −1 takes what remains.
fn target_shape(own: &Shape, target: &[Sym], allow_zero: bool) -> Result<Shape> {
    let bad = |why: &str| {
        let texts: Vec<String> = target.iter().map(Sym::to_string).collect();
        Error::parse(format!("target shape [{}]: {why}", texts.join(", ")))
    };
    let mut out = Shape::new();
    for (i, d) in target.iter().enumerate() {
        out.push(match d.as_int() {
            Some(0) if !allow_zero => own.get(i).cloned().ok_or_else(|| bad("0 copies an axis that does not exist"))?,
            Some(n) if n < -1 => return Err(bad("negative extent")),
            _ => d.clone(),
        });
    }
    let mut open = out.iter().enumerate().filter(|(_, d)| d.is(-1)).map(|(i, _)| i);
    if let Some(at) = open.next() {
        if open.next().is_some() {
            return Err(bad("more than one -1"));
        }
        out[at] = remaining(own, &out, at).ok_or_else(|| bad("the element count does not fit"))?;
    }
    Ok(out)
}

/// Product of `own` over product of the other extents of `out`, common factors cancelled first.
fn remaining(own: &Shape, out: &Shape, at: usize) -> Option<Sym> {
    let mut from: Vec<Sym> = own.to_vec();
    let mut rest = Vec::new();
    for d in out.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, d)| d) {
        match from.iter().position(|f| f == d && !d.is_zero()) {
            Some(i) => {
                from.remove(i);
            }
            None => rest.push(d.clone()),
        }
    }
    let (total, rest) = (Sym::product(&from), Sym::product(&rest));
    match (total.as_int(), rest.as_int()) {
        (Some(0), Some(0)) => Some(Sym::ZERO),
        (_, Some(0)) => None,
        (Some(t), Some(r)) if t % r != 0 => None,
        _ => Some(total.exact_div(&rest).unwrap_or_else(|| total.floor_div(&rest))),
    }
}

pub(super) fn flatten(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let own = ctx.shape(x);
    let at = n.int("axis", 1);
    let at = if at == own.len() as i64 { own.len() } else { axis(at, own.len())? };
    one(ctx.b().reshape(x, [Sym::product(&own[..at]), Sym::product(&own[at..])])?)
}

/// Axes from the attribute of old op sets or an operand.
pub(super) fn listed(ctx: &Ctx, n: &Node<'_>, operand: usize) -> Result<Option<Vec<i64>>> {
    match (n.ints("axes"), n.maybe(operand)) {
        (Some(list), _) => Ok(Some(list.to_vec())),
        (None, Some(value)) => ctx.numbers(value, "axes").map(Some),
        (None, None) => Ok(None),
    }
}

pub(super) fn squeeze(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let own = ctx.shape(x);
    let drop = match listed(ctx, n, 1)? {
        Some(list) => axes(&list, own.len())?,
        None => (0..own.len()).filter(|&d| own[d].is_one()).collect(),
    };
    if let Some(&bad) = drop.iter().find(|&&d| own[d].as_int().is_some_and(|e| e != 1)) {
        return Err(Error::parse(format!("axis {bad} has extent {}, not 1", own[bad])));
    }
    let kept: Shape = (0..own.len()).filter(|d| !drop.contains(d)).map(|d| own[d].clone()).collect();
    one(ctx.b().reshape(x, kept)?)
}

pub(super) fn unsqueeze(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let list = listed(ctx, n, 1)?.ok_or_else(|| Error::parse("axes are missing"))?;
    let at = axes(&list, ctx.rank(x) + list.len())?;
    one(ctx.unsqueeze(x, &at)?)
}

pub(super) fn transpose(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let rank = ctx.rank(x);
    let perm = match n.ints("perm") {
        Some(list) if list.len() == rank => list.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>>>()?,
        Some(list) => return Err(Error::parse(format!("perm {list:?} for rank {rank}"))),
        None => (0..rank).rev().collect(),
    };
    one(ctx.b().permute(x, &perm)?)
}

pub(super) fn expand(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let target = ctx.vector(n.input(1)?, "shape")?;
    let own = ctx.shape(x);
    let rank = own.len().max(target.len());
    let at = |s: &[Sym], i: usize| if i + s.len() < rank { Sym::ONE } else { s[i + s.len() - rank].clone() };
    let shape: Shape = (0..rank)
        .map(|i| match (at(&own, i), at(&target, i)) {
            (own, target) if target.is_one() => own,
            (_, target) => target,
        })
        .collect();
    one(ctx.expand(x, &shape)?)
}

pub(super) fn tile(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let own = ctx.shape(x);
    let repeats = ctx.vector(n.input(1)?, "repeats")?;
    if repeats.len() != own.len() {
        return Err(Error::parse(format!("{} repeats for rank {}", repeats.len(), own.len())));
    }
    one(compose::tile(ctx.b(), x, &repeats)?)
}

pub(super) fn concat(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let parts = n.inputs.iter().flatten().map(|v| ctx.node(v)).collect::<Result<Vec<_>>>()?;
    let &first = parts.first().ok_or_else(|| Error::parse("no operands"))?;
    let at = axis(n.int("axis", 1), ctx.rank(first))?;
    one(if parts.len() == 1 { first } else { ctx.b().concat(&parts, at)? })
}

pub(super) fn split(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let own = ctx.shape(x);
    let at = axis(n.int("axis", 0), own.len())?;
    let sizes = match (n.ints("split"), n.maybe(1)) {
        (Some(list), _) => list.iter().map(|&d| Sym::from(d)).collect(),
        (None, Some(value)) => ctx.vector(value, "split")?,
        (None, None) => equal_parts(&own[at], n.int("num_outputs", n.outputs() as i64))?,
    };
    let total: Sym = sizes.iter().fold(Sym::ZERO, |a, b| &a + b);
    if let (Some(sum), Some(extent)) = (total.as_int(), own[at].as_int())
        && sum != extent
    {
        return Err(Error::parse(format!("split sizes sum to {sum}, the axis has {extent}")));
    }
    let mut start = Sym::ZERO;
    let mut out = Vec::new();
    for size in &sizes {
        out.push(ctx.slice(x, at, &start, size, 1)?.into());
        start = &start + size;
    }
    Ok(out)
}

/// Equal parts, the last one smaller when the extent is no multiple.
fn equal_parts(extent: &Sym, parts: i64) -> Result<Vec<Sym>> {
    if !(1..=1 << 16).contains(&parts) {
        return Err(Error::parse(format!("split into {parts} parts")));
    }
    let count = Sym::from(parts);
    let each = extent.exact_div(&count).unwrap_or_else(|| extent.ceil_div(&count));
    let last = extent - &(&each * &Sym::from(parts - 1));
    Ok((1..parts).map(|_| each.clone()).chain([last]).collect())
}

pub(super) fn range(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let dtype = ctx.value_dtype(n.input(0)?);
    let number =
        |i: usize| n.input(i)?.host().filter(|h| h.len() == 1).map(|h| h.get(0)).ok_or_else(|| data_dependent("range bound"));
    let symbol = |i: usize| -> Result<Option<Sym>> { Ok(n.input(i)?.ints().and_then(|v| v.values.first().cloned())) };
    let (start, limit, delta) = (symbol(0)?, symbol(1)?, symbol(2)?.and_then(|d| d.as_int()));
    let (count, start, delta) = match (start, limit, delta) {
        (Some(start), Some(limit), Some(delta)) if delta != 0 && dtype.is_int() => {
            let (span, step) = if delta > 0 { (&limit - &start, delta) } else { (&start - &limit, -delta) };
            let count = Sym::max(&span.ceil_div(&Sym::from(step)), &Sym::ZERO).simplify(ctx.facts());
            (count, ctx.sym_node(&start, dtype)?, ctx.number_node(dtype, delta as f64)?)
        }
        _ => {
            let (start, limit, delta) = (number(0)?, number(1)?, number(2)?);
            let count = ((limit.as_f64() - start.as_f64()) / delta.as_f64()).ceil().max(0.0);
            if count.is_nan() || count > 1e9 {
                return Err(Error::parse(format!("range from {start} to {limit} by {delta}")));
            }
            (Sym::from(count as i64), ctx.b().constant(start)?, ctx.b().constant(delta)?)
        }
    };
    let steps = ctx.b().iota(count)?;
    let steps = ctx.cast(steps, dtype)?;
    let scaled = ctx.bin(S::Mul, steps, delta)?;
    one(ctx.bin(S::Add, scaled, start)?)
}

/// Column minus row, as i64, to broadcast against a matrix.
fn diagonal(ctx: &mut Ctx, shape: &Shape) -> Result<NodeId> {
    let rank = shape.len();
    let (rows, columns) = (positions(ctx, shape, rank - 2)?, positions(ctx, shape, rank - 1)?);
    ctx.bin(S::Sub, columns, rows)
}

pub(super) fn eye_like(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let shape = ctx.extents(n.input(0)?);
    if shape.len() != 2 {
        return Err(Error::parse(format!("operand has rank {}, not 2", shape.len())));
    }
    let own = ctx.value_dtype(n.input(0)?);
    let dtype = if n.has("dtype") { crate::tensor::dtype(n.int("dtype", 0) as i32)? } else { own };
    let d = diagonal(ctx, &shape)?;
    let on = ctx.with(S::Eq, d, n.int("k", 0) as f64)?;
    one(ctx.cast(on, dtype)?)
}

pub(super) fn trilu(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let shape = ctx.shape(x);
    if shape.len() < 2 {
        return Err(Error::parse(format!("operand has rank {}; at least 2 expected", shape.len())));
    }
    let k = match n.maybe(1) {
        Some(value) => {
            let k = ctx.node(value)?;
            super::math::scalar_of(ctx, k)?
        }
        None => ctx.number_node(DType::I64, 0.0)?,
    };
    let d = diagonal(ctx, &shape)?;
    let keep = ctx.bin(if n.flag("upper", true) { S::Ge } else { S::Le }, d, k)?;
    let zero = Scalar::zero(ctx.dtype(x));
    let zero = ctx.b().constant(zero)?;
    one(ctx.select(keep, x, zero)?)
}

pub(super) fn depth_to_space(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let (own, b) = blocks(ctx, n, x)?;
    let c = own[1].floor_div(&(&b * &b));
    let (split, perm) = match n.string("mode", "DCR") {
        "DCR" => ([own[0].clone(), b.clone(), b.clone(), c.clone(), own[2].clone(), own[3].clone()], [0, 3, 4, 1, 5, 2]),
        "CRD" => ([own[0].clone(), c.clone(), b.clone(), b.clone(), own[2].clone(), own[3].clone()], [0, 1, 4, 2, 5, 3]),
        other => return Err(Error::parse(format!("mode '{other}' is neither DCR nor CRD"))),
    };
    let parts = ctx.b().reshape(x, split)?;
    let moved = ctx.b().permute(parts, &perm)?;
    one(ctx.b().reshape(moved, [own[0].clone(), c, &own[2] * &b, &own[3] * &b])?)
}

pub(super) fn space_to_depth(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let x = ctx.node(n.input(0)?)?;
    let (own, b) = blocks(ctx, n, x)?;
    let (h, w) = (own[2].floor_div(&b), own[3].floor_div(&b));
    let parts = ctx.b().reshape(x, [own[0].clone(), own[1].clone(), h.clone(), b.clone(), w.clone(), b.clone()])?;
    let moved = ctx.b().permute(parts, &[0, 3, 5, 1, 2, 4])?;
    one(ctx.b().reshape(moved, [own[0].clone(), &own[1] * &(&b * &b), h, w])?)
}

/// Shape of a rank-4 operand, and the block size.
fn blocks(ctx: &Ctx, n: &Node<'_>, x: NodeId) -> Result<(Shape, Sym)> {
    let own = ctx.shape(x);
    let block = n.int("blocksize", 0);
    if own.len() != 4 || !(1..=1 << 16).contains(&block) {
        return Err(Error::parse(format!("rank {} and block size {block}; rank 4 and a positive size expected", own.len())));
    }
    Ok((own, Sym::from(block)))
}

pub(super) fn dropout(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let training = match n.maybe(2) {
        Some(value) => ctx.number(value, "training_mode")?.is_true(),
        None => false,
    };
    let ratio = match n.maybe(1) {
        Some(value) if training => ctx.number(value, "ratio")?.as_f64(),
        _ => 0.0,
    };
    if ratio != 0.0 {
        return Err(Error::unsupported("dropout in training mode"));
    }
    let x = n.input(0)?.clone();
    if !n.wants(1) {
        return Ok(vec![x]);
    }
    let extents = ctx.extents(&x);
    let dtype = if n.opset >= 10 { DType::Bool } else { ctx.value_dtype(&x) };
    let mask = ctx.full(Scalar::from_i64(dtype, 1), &extents)?;
    Ok(vec![x, mask.into()])
}

/// `CenterCropPad`: each listed axis gets the wanted extent, cropped or padded evenly.
pub(super) fn center_crop_pad(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let mut x = ctx.node(n.input(0)?)?;
    let rank = ctx.rank(x);
    let list = n.ints("axes").map_or_else(|| (0..rank as i64).collect(), <[i64]>::to_vec);
    let wanted = ctx.numbers(n.input(1)?, "shape")?;
    for (&a, &want) in list.iter().zip(&wanted) {
        let at = axis(a, rank)?;
        let have = ctx.shape(x)[at].as_int().ok_or_else(|| Error::unsupported("a dynamic extent"))?;
        if want <= have {
            x = ctx.slice(x, at, &Sym::from((have - want) / 2), &Sym::from(want), 1)?;
        } else {
            let lo = (want - have) / 2;
            let zero = Scalar::zero(ctx.dtype(x));
            x = ctx.pad(x, at, &Sym::from(lo), &Sym::from(want - have - lo), zero)?;
        }
    }
    one(x)
}
