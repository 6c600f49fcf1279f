//! Random numbers from Philox counters: the same key, offset and stream give the same numbers on every target.
//!
//! `key` and `offset` are 0-d i64. Element i of a draw uses the words from `offset + i·words` on; the caller advances the
//! offset between executions by at least the words used. Draws with different static streams are independent.

use std::f64::consts::TAU;

use base::Result;
use scalar::{DType, Scalar, ScalarOp as S, Shape, Sym};

use super::activation::one_minus;
use super::broadcast::{bad, binary, broadcast_to, cast, full, reshape_if, scalar_like, upcast, with_scalar};
use crate::{Builder, NodeId};

/// Source of one draw.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Seed, 0-d i64.
    pub key: NodeId,
    /// First word, 0-d i64.
    pub offset: NodeId,
    /// Static stream id.
    pub stream: u32,
}

/// Word `offset + words·i + word` as f32 in [0, 1): its top 24 bits times 2⁻²⁴.
fn unit(b: &mut Builder, n: &Sym, key: Key, words: i64, word: i64) -> Result<NodeId> {
    let i = b.iota(n)?;
    let i = if words == 1 { i } else { with_scalar(b, S::Mul, i, words as f64)? };
    let i = if word == 0 { i } else { with_scalar(b, S::Add, i, word as f64)? };
    let counter = binary(b, S::Add, i, key.offset)?;
    let seed = broadcast_to(b, key.key, &Shape::from_iter([n.clone()]))?;
    let bits = b.map(S::Philox(key.stream), &[seed, counter])?;
    let top = with_scalar(b, S::Shr, bits, 8.0)?;
    let top = cast(b, top, DType::F32)?;
    with_scalar(b, S::Mul, top, 1.0 / f64::from(1 << 24))
}

/// Uniform in [0, 1), f32 with 24 random bits converted to `dtype`. One word per element.
///
/// # Errors
/// A key or offset that is not 0-d i64, or a dtype that is not a float.
pub fn rand_uniform(b: &mut Builder, shape: &Shape, dtype: DType, key: Key) -> Result<NodeId> {
    let u = unit(b, &Sym::product(shape), key, 1, 0)?;
    let u = reshape_if(b, u, shape)?;
    to_float(b, "rand_uniform", u, dtype)
}

/// Standard normal by Box–Muller: √(−2 ln(1 − u₁)) · cos(2π·u₂). Two words per element.
///
/// # Errors
/// As [`rand_uniform`].
pub fn randn(b: &mut Builder, shape: &Shape, dtype: DType, key: Key) -> Result<NodeId> {
    let n = Sym::product(shape);
    let (u, v) = (unit(b, &n, key, 2, 0)?, unit(b, &n, key, 2, 1)?);
    let u = one_minus(b, u)?;
    let log = b.map(S::Log, &[u])?;
    let square = with_scalar(b, S::Mul, log, -2.0)?;
    let radius = b.map(S::Sqrt, &[square])?;
    let angle = with_scalar(b, S::Mul, v, TAU)?;
    let cosine = b.map(S::Cos, &[angle])?;
    let z = b.map(S::Mul, &[radius, cosine])?;
    let z = reshape_if(b, z, shape)?;
    to_float(b, "randn", z, dtype)
}

fn to_float(b: &mut Builder, op: &str, x: NodeId, dtype: DType) -> Result<NodeId> {
    if dtype.is_float() { cast(b, x, dtype) } else { Err(bad(b, op, &[x], format!("{dtype} is not a float"))) }
}

/// x / (1 − p) where a uniform number is at least p, else 0; in f32 for f16 and bf16. One word per element; no mask is a
/// result, it is recomputed from the counters where needed.
///
/// # Errors
/// `p` outside 0..=1, or a dtype that is not a float.
pub fn dropout(b: &mut Builder, x: NodeId, p: f64, key: Key) -> Result<NodeId> {
    if !(0.0..=1.0).contains(&p) {
        return Err(bad(b, "dropout", &[x], format!("p = {p} is not between 0 and 1")));
    }
    if p == 0.0 {
        return Ok(x);
    }
    let shape = b.shape(x).clone();
    if p == 1.0 {
        return full(b, &shape, Scalar::zero(b.dtype(x)));
    }
    let u = rand_uniform(b, &shape, DType::F32, key)?;
    let kept = with_scalar(b, S::Ge, u, p)?;
    let (wide, dtype) = upcast(b, x)?;
    let scaled = with_scalar(b, S::Mul, wide, 1.0 / (1.0 - p))?;
    let zero = scalar_like(b, scaled, 0.0)?;
    let y = b.map(S::Select, &[kept, scaled, zero])?;
    cast(b, y, dtype)
}
