//! Attention and rotary position embedding.

use base::Result;
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::broadcast::{bad, binary, broadcast_to, cast, full, reshape_if, upcast, where_, with_scalar};
use super::index::{arange, lower_mask, select, slice_axis, stack, unsqueeze};
use super::linear::{matmul, matmul_nt};
use super::reduce::softmax;
use crate::{Builder, NodeId};

/// Settings of [`attention`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Attention {
    /// bool (true takes part) or float (added to the scores), broadcast to `[…, L, S]`.
    pub mask: Option<NodeId>,
    /// Query i sees keys up to i.
    pub causal: bool,
    /// Factor of the scores; 1/√E by default.
    pub scale: Option<f64>,
}

/// softmax(q·kᵀ·scale + mask)·v for q `[…, L, E]`, k `[…, S, E]`, v `[…, S, V]` (Vaswani et al. 2017; PyTorch's
/// `scaled_dot_product_attention`). Where q has h times as many heads (third axis from the end) as k and v, each of theirs
/// serves h neighbouring query heads.
///
/// # Errors
/// Ranks below 2, or extents or dtypes that differ.
pub fn attention(b: &mut Builder, q: NodeId, k: NodeId, v: NodeId, options: &Attention) -> Result<NodeId> {
    let rank = b.shape(q).len();
    if rank < 2 || b.shape(k).len() < 2 || b.shape(v).len() < 2 {
        return Err(bad(b, "attention", &[q, k, v], "operands need two axes"));
    }
    let (k, v) = (share_heads(b, q, k)?, share_heads(b, q, v)?);
    let scores = matmul_nt(b, q, k)?;
    let scores = scale(b, scores, q, options.scale)?;
    let scores = mask(b, scores, options)?;
    let weights = softmax(b, scores, b.shape(scores).len() - 1)?;
    matmul(b, weights, v)
}

fn scale(b: &mut Builder, scores: NodeId, q: NodeId, scale: Option<f64>) -> Result<NodeId> {
    let width = b.shape(q).last().cloned().unwrap_or(Sym::ONE);
    if let Some(s) = scale.or_else(|| width.as_int().map(|n| 1.0 / (n as f64).sqrt())) {
        return with_scalar(b, S::Mul, scores, s);
    }
    let n = b.sym(width)?;
    let n = cast(b, n, DType::F32)?;
    let s = b.map(S::Rsqrt, &[n])?;
    let s = cast(b, s, b.dtype(scores))?;
    binary(b, S::Mul, scores, s)
}

fn mask(b: &mut Builder, scores: NodeId, options: &Attention) -> Result<NodeId> {
    let mut scores = scores;
    if options.causal {
        let rank = b.shape(scores).len();
        let (rows, cols) = (b.shape(scores)[rank - 2].clone(), b.shape(scores)[rank - 1].clone());
        let seen = lower_mask(b, &rows, &cols, &Sym::ZERO)?;
        scores = keep_where(b, seen, scores)?;
    }
    match options.mask {
        Some(m) if b.dtype(m) == DType::Bool => keep_where(b, m, scores),
        Some(m) => {
            let m = cast(b, m, b.dtype(scores))?;
            binary(b, S::Add, scores, m)
        }
        None => Ok(scores),
    }
}

fn keep_where(b: &mut Builder, seen: NodeId, scores: NodeId) -> Result<NodeId> {
    let fill = Scalar::from_f64(b.dtype(scores), f64::NEG_INFINITY);
    let fill = full(b, &Shape::new(), fill)?;
    where_(b, seen, scores, fill)
}

/// k or v with each head repeated for the query heads that share it.
fn share_heads(b: &mut Builder, q: NodeId, k: NodeId) -> Result<NodeId> {
    let (rq, rk) = (b.shape(q).len(), b.shape(k).len());
    if rq < 3 || rk != rq {
        return Ok(k);
    }
    let heads = b.shape(q)[rq - 3].clone();
    let shape = b.shape(k).clone();
    let own = &shape[rk - 3];
    if heads == *own || own.is_one() {
        return Ok(k);
    }
    let Some(times) = heads.exact_div(own) else { return Ok(k) };
    let apart = unsqueeze(b, k, &[rk - 2])?;
    let mut wide = b.shape(apart).clone();
    wide[rk - 2] = times;
    let wide = broadcast_to(b, apart, &wide)?;
    let mut merged = shape.clone();
    merged[rk - 3] = heads;
    reshape_if(b, wide, &merged)
}

/// Which elements rotary embedding pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Element i with element i + D/2 (GPT-NeoX, Llama).
    Halves,
    /// Element 2i with element 2i + 1 (GPT-J, the paper).
    Neighbours,
}

/// Rotates pairs (u, v) of the last axis of x `[…, L, D]` to (u·cos − v·sin, v·cos + u·sin), with `cos` and `sin`
/// broadcast to `[…, L, D/2]` (Su et al. 2021); in f32 for f16 and bf16.
///
/// # Errors
/// An odd or indivisible D, or tables that do not broadcast.
pub fn rope(b: &mut Builder, x: NodeId, cos: NodeId, sin: NodeId, pairing: Pairing) -> Result<NodeId> {
    let shape = b.shape(x).clone();
    let half = shape.last().and_then(|d| d.exact_div(&Sym::from(2)));
    let half = half.ok_or_else(|| bad(b, "rope", &[x], "the last extent must be even"))?;
    let last = shape.len() - 1;
    let (wide, dtype) = upcast(b, x)?;
    let compute = b.dtype(wide);
    let (cos, sin) = (cast(b, cos, compute)?, cast(b, sin, compute)?);
    let (u, v) = match pairing {
        Pairing::Halves => (slice_axis(b, wide, last, &Sym::ZERO, &half, 1)?, slice_axis(b, wide, last, &half, &half, 1)?),
        Pairing::Neighbours => {
            let mut apart = shape.clone();
            apart[last] = half;
            apart.push(Sym::from(2));
            let pairs = b.reshape(wide, &apart)?;
            (select(b, pairs, last + 1, 0)?, select(b, pairs, last + 1, 1)?)
        }
    };
    let (p, q) = (turn(b, S::Sub, u, cos, v, sin)?, turn(b, S::Add, v, cos, u, sin)?);
    let y = match pairing {
        Pairing::Halves => b.concat(&[p, q], last)?,
        Pairing::Neighbours => {
            let pairs = stack(b, &[p, q], last + 1)?;
            b.reshape(pairs, &shape)?
        }
    };
    cast(b, y, dtype)
}

/// u·cos ± v·sin.
fn turn(b: &mut Builder, op: S, u: NodeId, cos: NodeId, v: NodeId, sin: NodeId) -> Result<NodeId> {
    let (p, q) = (binary(b, S::Mul, u, cos)?, binary(b, S::Mul, v, sin)?);
    b.map(op, &[p, q])
}

/// (cos, sin) of `position · base^(−2i/D)` as f32 `[L, D/2]`, for 1-d integer positions `[L]`.
///
/// # Errors
/// An odd D or positions that are not a vector.
pub fn rope_tables(b: &mut Builder, positions: NodeId, dim: i64, base: f64) -> Result<(NodeId, NodeId)> {
    if dim < 2 || dim % 2 != 0 || b.shape(positions).len() != 1 {
        return Err(bad(b, "rope_tables", &[positions], format!("needs a vector of positions and an even width, got {dim}")));
    }
    let exponent = arange(b, 0.0, &Sym::from(dim / 2), -2.0 / dim as f64 * base.log2(), DType::F32)?;
    let frequency = b.map(S::Exp2, &[exponent])?;
    let positions = cast(b, positions, DType::F32)?;
    let column = unsqueeze(b, positions, &[1])?;
    let angle = binary(b, S::Mul, column, frequency)?;
    Ok((b.map(S::Cos, &[angle])?, b.map(S::Sin, &[angle])?))
}
