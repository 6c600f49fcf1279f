//! Activations. Each computes in f32 for f16 and bf16 and rounds once, as PyTorch's kernels do.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI, SQRT_2};

use base::Result;
use scalar::ScalarOp as S;

use super::broadcast::{bad, binary, clamp, in_f32, per_channel, scalar_like, scalar_with, where_, with_scalar};
use crate::{Builder, NodeId};

/// max(x, 0); NaN stays NaN.
///
/// # Errors
/// A bool operand.
pub fn relu(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    clamp(b, x, Some(0.0), None)
}

/// min(max(x, 0), 6).
///
/// # Errors
/// A bool operand.
pub fn relu6(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    clamp(b, x, Some(0.0), Some(6.0))
}

/// x where x > 0, else f(x).
fn positive_or(b: &mut Builder, x: NodeId, f: impl FnOnce(&mut Builder, NodeId) -> Result<NodeId>) -> Result<NodeId> {
    let positive = with_scalar(b, S::Gt, x, 0.0)?;
    let other = f(b, x)?;
    b.map(S::Select, &[positive, x, other])
}

/// x where x > 0, else `slope` · x.
///
/// # Errors
/// An operand that is not a float.
pub fn leaky_relu(b: &mut Builder, x: NodeId, slope: f64) -> Result<NodeId> {
    in_f32(b, x, |b, x| positive_or(b, x, |b, x| with_scalar(b, S::Mul, x, slope)))
}

/// x where x > 0, else slope · x, with one slope per channel at axis 1 (`[C]`), one for all, or a broadcastable tensor.
///
/// # Errors
/// A slope that does not broadcast.
pub fn prelu(b: &mut Builder, x: NodeId, slope: NodeId) -> Result<NodeId> {
    let rank = b.shape(x).len();
    let one_each = rank > 2 && b.shape(slope).len() == 1 && !b.shape(slope)[0].is_one() && b.shape(slope)[0] == b.shape(x)[1];
    let slope = if one_each { per_channel(b, slope, 1, rank)? } else { slope };
    in_f32(b, x, |b, x| {
        let positive = with_scalar(b, S::Gt, x, 0.0)?;
        let scaled = binary(b, S::Mul, x, slope)?;
        where_(b, positive, x, scaled)
    })
}

/// x where x > 0, else `alpha` · (eˣ − 1).
///
/// # Errors
/// An operand that is not a float.
pub fn elu(b: &mut Builder, x: NodeId, alpha: f64) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        positive_or(b, x, |b, x| {
            let e = b.map(S::Expm1, &[x])?;
            with_scalar(b, S::Mul, e, alpha)
        })
    })
}

/// λ·x where x > 0, else λ·α·(eˣ − 1), with α 1.6732632423543772 and λ 1.0507009873554805 (Klambauer et al. 2017).
///
/// # Errors
/// An operand that is not a float.
pub fn selu(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let y = elu(b, x, 1.673_263_242_354_377_2)?;
        with_scalar(b, S::Mul, y, 1.050_700_987_355_480_5)
    })
}

/// max(x, 0) + min(α·(e^(x/α) − 1), 0).
///
/// # Errors
/// An operand that is not a float.
pub fn celu(b: &mut Builder, x: NodeId, alpha: f64) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        positive_or(b, x, |b, x| {
            let scaled = with_scalar(b, S::Div, x, alpha)?;
            let e = b.map(S::Expm1, &[scaled])?;
            with_scalar(b, S::Mul, e, alpha)
        })
    })
}

/// min(max(`slope` · x + `offset`, 0), 1); PyTorch has slope 1/6 and offset 1/2, ONNX by default 0.2 and 0.5.
///
/// # Errors
/// An operand that is not a float.
pub fn hardsigmoid(b: &mut Builder, x: NodeId, slope: f64, offset: f64) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let scaled = with_scalar(b, S::Mul, x, slope)?;
        let y = with_scalar(b, S::Add, scaled, offset)?;
        clamp(b, y, Some(0.0), Some(1.0))
    })
}

/// x · min(max(x + 3, 0), 6) / 6.
///
/// # Errors
/// An operand that is not a float.
pub fn hardswish(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let shifted = with_scalar(b, S::Add, x, 3.0)?;
        let gate = clamp(b, shifted, Some(0.0), Some(6.0))?;
        let y = b.map(S::Mul, &[x, gate])?;
        with_scalar(b, S::Div, y, 6.0)
    })
}

/// 1/(1 + e⁻ˣ).
///
/// # Errors
/// An operand that is not a float.
pub fn sigmoid(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| b.map(S::Sigmoid, &[x]))
}

/// x · σ(x).
///
/// # Errors
/// An operand that is not a float.
pub fn silu(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let s = b.map(S::Sigmoid, &[x])?;
        b.map(S::Mul, &[x, s])
    })
}

/// ln(1 + e^(βx))/β; x itself where βx exceeds `threshold` (PyTorch: β 1, threshold 20).
///
/// # Errors
/// An operand that is not a float, or β = 0.
pub fn softplus(b: &mut Builder, x: NodeId, beta: f64, threshold: f64) -> Result<NodeId> {
    if beta == 0.0 {
        return Err(bad(b, "softplus", &[x], "beta must not be 0"));
    }
    in_f32(b, x, |b, x| {
        let scaled = with_scalar(b, S::Mul, x, beta)?;
        let e = b.map(S::Exp, &[scaled])?;
        let log = b.map(S::Log1p, &[e])?;
        let soft = with_scalar(b, S::Div, log, beta)?;
        let linear = with_scalar(b, S::Gt, scaled, threshold)?;
        b.map(S::Select, &[linear, x, soft])
    })
}

/// x · tanh(softplus(x)).
///
/// # Errors
/// An operand that is not a float.
pub fn mish(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let s = softplus(b, x, 1.0, 20.0)?;
        let t = b.map(S::Tanh, &[s])?;
        b.map(S::Mul, &[x, t])
    })
}

/// x / (1 + |x|).
///
/// # Errors
/// An operand that is not a float.
pub fn softsign(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let a = b.map(S::Abs, &[x])?;
        let d = with_scalar(b, S::Add, a, 1.0)?;
        b.map(S::Div, &[x, d])
    })
}

/// x/2 · (1 + erf(x/√2)).
///
/// # Errors
/// An operand that is not a float.
pub fn gelu(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let scaled = with_scalar(b, S::Mul, x, FRAC_1_SQRT_2)?;
        let e = b.map(S::Erf, &[scaled])?;
        let gate = with_scalar(b, S::Add, e, 1.0)?;
        let half = with_scalar(b, S::Mul, x, 0.5)?;
        b.map(S::Mul, &[half, gate])
    })
}

/// x/2 · (1 + tanh(√(2/π)·(x + 0.044715·x³))).
///
/// # Errors
/// An operand that is not a float.
pub fn gelu_tanh(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let square = b.map(S::Mul, &[x, x])?;
        let cube = b.map(S::Mul, &[square, x])?;
        let bent = with_scalar(b, S::Mul, cube, 0.044715)?;
        let inner = b.map(S::Add, &[x, bent])?;
        let inner = with_scalar(b, S::Mul, inner, FRAC_2_SQRT_PI / SQRT_2)?;
        let t = b.map(S::Tanh, &[inner])?;
        let gate = with_scalar(b, S::Add, t, 1.0)?;
        let half = with_scalar(b, S::Mul, x, 0.5)?;
        b.map(S::Mul, &[half, gate])
    })
}

/// x · σ(1.702·x), the approximation used by CLIP.
///
/// # Errors
/// An operand that is not a float.
pub fn quick_gelu(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    in_f32(b, x, |b, x| {
        let scaled = with_scalar(b, S::Mul, x, 1.702)?;
        let s = b.map(S::Sigmoid, &[scaled])?;
        b.map(S::Mul, &[x, s])
    })
}

/// x where |x| > `lambda`, moved towards 0 by `bias`, else 0 (ONNX Shrink).
///
/// # Errors
/// A bool operand.
pub fn shrink(b: &mut Builder, x: NodeId, lambda: f64, bias: f64) -> Result<NodeId> {
    let (above, below) = (with_scalar(b, S::Gt, x, lambda)?, with_scalar(b, S::Lt, x, -lambda)?);
    let (less, more) = (with_scalar(b, S::Sub, x, bias)?, with_scalar(b, S::Add, x, bias)?);
    let zero = scalar_like(b, x, 0.0)?;
    let low = b.map(S::Select, &[below, more, zero])?;
    b.map(S::Select, &[above, less, low])
}

/// 1 − x.
///
/// # Errors
/// A bool operand.
pub(crate) fn one_minus(b: &mut Builder, x: NodeId) -> Result<NodeId> {
    scalar_with(b, S::Sub, 1.0, x)
}
