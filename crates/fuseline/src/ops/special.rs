//! Elementwise functions made of others.
//!
//! All of them broadcast and promote as the ops that they consist of; integers become f32 where a float is needed. Results have
//! the broadcast shape of the operands.

use base::Error;
use scalar::ScalarOp;

use crate::op::Op;
use crate::promote::{Number, Operand};
use crate::shape::axis;
use crate::tensor::{Recorded, Tensor, user_op};

macro_rules! composed {
    ($($(#[$doc:meta])* $name:ident: |$x:ident| $body:expr;)*) => {
        impl Tensor {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self) -> Tensor {
                user_op(stringify!($name), || {
                    let $x = self.ok()?;
                    Ok($body)
                })
            })*
        }
    };
}

composed! {
    /// Base-10 logarithm.
    log10: |x| x.log() / std::f64::consts::LN_10;
    /// Inverse hyperbolic sine.
    asinh: |x| float(x, ScalarOp::Asinh)?;
    /// Inverse hyperbolic cosine; NaN below 1.
    acosh: |x| float(x, ScalarOp::Acosh)?;
    /// Inverse hyperbolic tangent; NaN outside of [−1, 1].
    atanh: |x| float(x, ScalarOp::Atanh)?;
    /// x − trunc(x), with the sign of x.
    frac: |x| x - x.trunc();
    /// ln(x / (1 − x)).
    logit: |x| (x / (1.0 - x)).log();
    /// ln(1 / (1 + e⁻ˣ)), without overflow.
    log_sigmoid: |x| -(-x).softplus();
    /// x − tanh(x).
    tanhshrink: |x| x - x.tanh();
    /// Degrees as radians.
    deg2rad: |x| x * (std::f64::consts::PI / 180.0);
    /// Radians as degrees.
    rad2deg: |x| x * (180.0 / std::f64::consts::PI);
    /// sin(πx) / (πx), and 1 at 0.
    sinc: |x| {
        let angle = x * std::f64::consts::PI;
        (angle.sin() / &angle).masked_fill(&x.eq(0), 1)
    };
    /// The tensor itself, without the sign of zero changed.
    positive: |x| x.clone();
}

/// A scalar op of floats.
fn float(x: &Tensor, op: ScalarOp) -> Recorded<Tensor> {
    Tensor::apply(Op::Map(op), &[&x.cast_to(crate::promote::float_type(x.dtype()))?])
}

impl Tensor {
    /// √(x² + y²), without overflow of the squares.
    #[track_caller]
    pub fn hypot(&self, other: &Tensor) -> Tensor {
        user_op("hypot", || {
            let (a, b) = (self.ok()?.abs(), other.ok()?.abs());
            let (high, low) = (a.maximum(&b), a.minimum(&b));
            let ratio = &low / &high;
            let scaled = &high * (ratio.square() + 1.0).sqrt();
            Ok(high.where_(&high.eq(0).logical_or(high.isinf()), scaled))
        })
    }
    /// ln(eˣ + eʸ), without overflow.
    #[track_caller]
    pub fn logaddexp(&self, other: &Tensor) -> Tensor {
        user_op("logaddexp", || {
            let (a, b) = (self.ok()?, other.ok()?);
            let tail = (-(a - b).abs()).exp().log1p();
            Ok((a + std::f64::consts::LN_2).where_(&a.eq(b), a.maximum(b) + tail))
        })
    }
    /// x · ln(y), and 0 where x is 0 (NaN where y is NaN).
    #[track_caller]
    pub fn xlogy(&self, other: &Tensor) -> Tensor {
        user_op("xlogy", || {
            let product = self.ok()? * other.ok()?.log();
            let nothing = self.eq(0).logical_and(other.isnan().logical_not());
            Ok(product.masked_fill(&nothing, 0))
        })
    }
    /// self + value · a · b.
    #[track_caller]
    pub fn addcmul(&self, a: &Tensor, b: &Tensor, value: impl Into<Number>) -> Tensor {
        let value = Operand::Number(value.into());
        user_op("addcmul", || Ok(self.add((a.ok()? * b.ok()?).mul(value))))
    }
    /// self + value · a / b.
    #[track_caller]
    pub fn addcdiv(&self, a: &Tensor, b: &Tensor, value: impl Into<Number>) -> Tensor {
        let value = Operand::Number(value.into());
        user_op("addcdiv", || Ok(self.add((a.ok()? / b.ok()?).mul(value))))
    }
    /// NaN becomes `nan`; infinities become the greatest and least finite numbers of the dtype.
    #[track_caller]
    pub fn nan_to_num(&self, nan: f64) -> Tensor {
        user_op("nan_to_num", || {
            let x = self.ok()?;
            let Some(most) = x.dtype().largest() else { return Ok(x.clone()) };
            Ok(x.masked_fill(&x.isnan(), nan).clamp(-most, most))
        })
    }
    /// min(max(x, low), high).
    #[track_caller]
    pub fn hardtanh(&self, low: f64, high: f64) -> Tensor {
        user_op("hardtanh", || Ok(self.ok()?.clamp(low, high)))
    }
    /// max(x, 0) + min(α·(e^(x/α) − 1), 0).
    #[track_caller]
    pub fn celu(&self, alpha: f64) -> Tensor {
        user_op("celu", || {
            let x = self.ok()?;
            Ok(x.relu() + ((x / alpha).expm1() * alpha).clamp_max(0))
        })
    }
    /// x where |x| > `lambda`, else 0.
    #[track_caller]
    pub fn hardshrink(&self, lambda: f64) -> Tensor {
        user_op("hardshrink", || {
            let x = self.ok()?;
            Ok(x.masked_fill(&x.abs().le(lambda), 0))
        })
    }
    /// x moved toward 0 by `lambda`, and 0 where |x| ≤ `lambda`.
    #[track_caller]
    pub fn softshrink(&self, lambda: f64) -> Tensor {
        user_op("softshrink", || {
            let x = self.ok()?;
            Ok(x - x.clamp(-lambda, lambda))
        })
    }
    /// x where x > `threshold`, else `value`.
    #[track_caller]
    pub fn threshold(&self, threshold: f64, value: impl Into<Number>) -> Tensor {
        let value = value.into();
        user_op("threshold", || {
            let x = self.ok()?;
            // NaN stays: it is not at most the threshold.
            Ok(x.masked_fill(&x.le(threshold), value))
        })
    }
    /// The first half of a dim times the sigmoid of the second.
    #[track_caller]
    pub fn glu(&self, dim: i64) -> Tensor {
        user_op("glu", || {
            let x = self.ok()?;
            let n = &x.dims()[axis(dim, x.rank())?];
            if n.as_int().is_some_and(|n| n % 2 != 0) {
                return Err(Error::invalid(format!("dim {dim} of {} must be even", x.ty())).into());
            }
            let half = n.floor_div(&scalar::Sym::from(2i64));
            Ok(x.narrow(dim, 0, &half) * x.narrow(dim, &half, &half).sigmoid())
        })
    }
    /// Whether elements are as near as |x − y| ≤ `atol` + `rtol` · |y|, as bool; equal infinities are, NaN is not.
    #[track_caller]
    pub fn isclose(&self, other: &Tensor, rtol: f64, atol: f64) -> Tensor {
        user_op("isclose", || {
            let (a, b) = (self.ok()?, other.ok()?);
            let near = (a - b).abs().le(b.abs() * rtol + atol);
            Ok(a.eq(b).logical_or(near.logical_and(b.isfinite())))
        })
    }
    /// Whether all elements are close, which is a read.
    ///
    /// # Errors
    /// As [`eval`](Tensor::eval).
    ///
    /// ```
    /// use fuseline::Tensor;
    /// let x = Tensor::new([1.0f32, 2.0]);
    /// assert!(x.allclose(&(&x + 1e-7), 1e-5, 1e-8)? && !x.allclose(&(&x + 1e-2), 1e-5, 1e-8)?);
    /// # Ok::<(), fuseline::Error>(())
    /// ```
    #[track_caller]
    pub fn allclose(&self, other: &Tensor, rtol: f64, atol: f64) -> base::Result<bool> {
        self.isclose(other, rtol, atol).all(..).item()
    }
    /// Whether shapes, dtypes and elements are the same, which is a read; NaN differs from itself.
    ///
    /// # Errors
    /// As [`eval`](Tensor::eval).
    #[track_caller]
    pub fn equal(&self, other: &Tensor) -> base::Result<bool> {
        let same = self.check()?.dtype() == other.check()?.dtype() && self.shape() == other.shape();
        if same { self.eq(other).all(..).item() } else { Ok(false) }
    }
}
