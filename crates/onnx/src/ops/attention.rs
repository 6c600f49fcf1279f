//! `Attention` and `RotaryEmbedding`.

use base::{Error, Result};
use graph::NodeId;
use graph::compose::{self, Pairing};
use scalar::{DType, Scalar, ScalarOp as S, Sym};

use super::reduce::positions;
use super::{Out, one};
use crate::ctx::Ctx;
use crate::node::Node;

/// `Attention`: softmax(softcap(q·kᵀ·scale) + bias)·v with heads, a cache of past keys and values, and masks.
pub(super) fn attention(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let packed = n.maybe(0).is_some_and(|v| ctx.extents(v).len() == 3);
    let q = heads(ctx, n, 0, "q_num_heads")?;
    let (k, v) = (heads(ctx, n, 1, "kv_num_heads")?, heads(ctx, n, 2, "kv_num_heads")?);
    let dtype = ctx.dtype(q);
    let past = n.maybe(4).map(|p| ctx.extents(p)[2].clone()).unwrap_or(Sym::ZERO);
    let (k, v) = (cached(ctx, n, 4, k)?, cached(ctx, n, 5, v)?);
    let capped = scores(ctx, n, q, k)?;
    let biased = match bias(ctx, n, capped, &past)? {
        Some(bias) => ctx.bin(S::Add, capped, bias)?,
        None => capped,
    };
    let precision = match n.int("softmax_precision", 0) {
        0 => dtype,
        code => crate::tensor::dtype(code as i32)?,
    };
    let wide = ctx.cast(biased, precision)?;
    let p = compose::softmax(ctx.b(), wide, 3)?;
    let values = grouped(ctx, q, v)?;
    let values = ctx.cast(values, precision)?;
    let y = compose::matmul(ctx.b(), p, values)?;
    let y = ctx.cast(y, dtype)?;
    let y = if packed { merged(ctx, y)? } else { y };
    let shown = match n.int("qk_matmul_output_mode", 0) {
        2 => biased,
        3 => p,
        _ => capped,
    };
    let shown = ctx.cast(shown, dtype)?;
    Ok(vec![y.into(), k.into(), v.into(), shown.into()])
}

/// An operand as `[N, heads, length, size]`; rank 3 packs the heads in the last axis.
fn heads(ctx: &mut Ctx, n: &Node<'_>, i: usize, attribute: &str) -> Result<NodeId> {
    let x = ctx.node(n.input(i)?)?;
    let shape = ctx.shape(x);
    match shape.len() {
        4 => Ok(x),
        3 => split_heads(ctx, x, n.int(attribute, 0)),
        rank => Err(Error::parse(format!("operand {i} has rank {rank}; 3 or 4 expected"))),
    }
}

fn split_heads(ctx: &mut Ctx, x: NodeId, heads: i64) -> Result<NodeId> {
    let shape = ctx.shape(x);
    let count = Sym::from(heads);
    let size = if heads > 0 { shape[2].exact_div(&count) } else { None };
    let size = size.ok_or_else(|| Error::parse(format!("{heads} heads do not divide {}", shape[2])))?;
    let split = ctx.b().reshape(x, [shape[0].clone(), shape[1].clone(), count, size])?;
    ctx.b().permute(split, &[0, 2, 1, 3])
}

/// `[N, heads, length, size]` as `[N, length, heads · size]`.
fn merged(ctx: &mut Ctx, x: NodeId) -> Result<NodeId> {
    let shape = ctx.shape(x);
    let moved = ctx.b().permute(x, &[0, 2, 1, 3])?;
    ctx.b().reshape(moved, [shape[0].clone(), shape[2].clone(), &shape[1] * &shape[3]])
}

/// The past before the new steps.
fn cached(ctx: &mut Ctx, n: &Node<'_>, i: usize, new: NodeId) -> Result<NodeId> {
    let Some(past) = n.maybe(i) else { return Ok(new) };
    let past = ctx.node(past)?;
    ctx.b().concat(&[past, new], 2)
}

/// Each key or value head repeated for the query heads that share it.
fn grouped(ctx: &mut Ctx, q: NodeId, x: NodeId) -> Result<NodeId> {
    let (queries, own) = (ctx.shape(q)[1].clone(), ctx.shape(x)[1].clone());
    if queries == own {
        return Ok(x);
    }
    let times = queries.exact_div(&own).ok_or_else(|| Error::parse(format!("{own} heads do not divide {queries}")))?;
    compose::repeat_interleave(ctx.b(), x, 1, &times)
}

/// softcap(q·kᵀ·scale).
fn scores(ctx: &mut Ctx, n: &Node<'_>, q: NodeId, k: NodeId) -> Result<NodeId> {
    let size = ctx.shape(q)[3].as_int().filter(|&s| s > 0);
    let scale = match (n.has("scale"), size) {
        (true, _) => f64::from(n.float("scale", 1.0)),
        (false, Some(size)) => 1.0 / (size as f64).sqrt(),
        (false, None) => return Err(Error::unsupported("a dynamic head size without scale")),
    };
    let k = grouped(ctx, q, k)?;
    let (q, k) = (ctx.with(S::Mul, q, scale.sqrt())?, ctx.with(S::Mul, k, scale.sqrt())?);
    let scores = compose::matmul_nt(ctx.b(), q, k)?;
    let cap = f64::from(n.float("softcap", 0.0));
    if cap <= 0.0 {
        return Ok(scores);
    }
    let ratio = ctx.with(S::Div, scores, cap)?;
    let bent = ctx.un(S::Tanh, ratio)?;
    ctx.with(S::Mul, bent, cap)
}

/// The sum of mask, causal mask and padding mask: 0 where a key takes part, −∞ where it does not.
fn bias(ctx: &mut Ctx, n: &Node<'_>, scores: NodeId, past: &Sym) -> Result<Option<NodeId>> {
    let (shape, dtype) = (ctx.shape(scores), ctx.dtype(scores));
    let mut total = n.maybe(3).map(|m| ctx.node(m)).transpose()?.map(|m| mask(ctx, m, &shape[3], dtype)).transpose()?;
    let columns = positions(ctx, &shape, 3)?;
    let mut allowed = Vec::new();
    if n.flag("is_causal", false) {
        let rows = positions(ctx, &shape, 2)?;
        let past = ctx.sym_node(past, DType::I64)?;
        let last = ctx.bin(S::Add, rows, past)?;
        allowed.push(ctx.bin(S::Le, columns, last)?);
    }
    if let Some(lengths) = n.maybe(6) {
        let lengths = ctx.node(lengths)?;
        let lengths = ctx.unsqueeze(lengths, &[1, 2, 3])?;
        allowed.push(ctx.bin(S::Lt, columns, lengths)?);
    }
    for condition in allowed {
        let extra = open(ctx, condition, dtype)?;
        total = Some(match total {
            Some(total) => ctx.bin(S::Add, total, extra)?,
            None => extra,
        });
    }
    Ok(total)
}

/// 0 where true, else −∞.
fn open(ctx: &mut Ctx, condition: NodeId, dtype: DType) -> Result<NodeId> {
    let (zero, never) = (ctx.number_node(dtype, 0.0)?, ctx.number_node(dtype, f64::NEG_INFINITY)?);
    ctx.select(condition, zero, never)
}

/// A mask of bools or floats as a bias over all keys; keys that it lacks take no part.
fn mask(ctx: &mut Ctx, m: NodeId, keys: &Sym, dtype: DType) -> Result<NodeId> {
    let bias = if ctx.dtype(m) == DType::Bool { open(ctx, m, dtype)? } else { ctx.cast(m, dtype)? };
    let last = ctx.rank(bias) - 1;
    let lacking = (keys - &ctx.shape(bias)[last]).as_int().filter(|&l| l > 0);
    match lacking {
        Some(l) => ctx.pad(bias, last, &Sym::ZERO, &Sym::from(l), Scalar::from_f64(dtype, f64::NEG_INFINITY)),
        None => Ok(bias),
    }
}

/// `RotaryEmbedding` of the first `rotary_embedding_dim` elements of each head.
pub(super) fn rotary(ctx: &mut Ctx, n: &Node<'_>) -> Out {
    let packed = n.maybe(0).is_some_and(|v| ctx.extents(v).len() == 3);
    let x = heads(ctx, n, 0, "num_heads")?;
    let size = ctx.shape(x)[3].clone();
    let part = match n.int("rotary_embedding_dim", 0) {
        0 => size.clone(),
        d => Sym::from(d),
    };
    let mut tables = [ctx.node(n.input(1)?)?, ctx.node(n.input(2)?)?];
    for table in &mut tables {
        if let Some(places) = n.maybe(3) {
            let places = ctx.node(places)?;
            *table = compose::take(ctx.b(), *table, 0, places)?;
        }
        *table = ctx.unsqueeze(*table, &[1])?;
    }
    let pairing = if n.flag("interleaved", false) { Pairing::Neighbours } else { Pairing::Halves };
    let turned = ctx.slice(x, 3, &Sym::ZERO, &part, 1)?;
    let turned = compose::rope(ctx.b(), turned, tables[0], tables[1], pairing)?;
    let rest = &size - &part;
    let y = if rest.is_zero() {
        turned
    } else {
        let kept = ctx.slice(x, 3, &part, &rest, 1)?;
        ctx.b().concat(&[turned, kept], 3)?
    };
    one(if packed { merged(ctx, y)? } else { y })
}
