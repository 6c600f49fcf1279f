//! Elementwise ops.

use base::Error;
use scalar::{DType, ScalarOp};

use crate::op::{Composite, Op};
use crate::promote::{Number, Operand, float_type, result_type};
use crate::tensor::{Recorded, Tensor, user_op};

/// How the operands of a binary op decide the dtype that it computes in.
#[derive(Clone, Copy)]
enum Rule {
    /// Promoted.
    Promote,
    /// Promoted, and f32 for integers and bools.
    Float,
    /// Converted to bool.
    Bool,
}

fn binary(op: ScalarOp, rule: Rule, a: &Operand, b: &Operand) -> Recorded<Tensor> {
    a.ok()?;
    b.ok()?;
    let promoted = result_type([a, b].into_iter());
    let dtype = match rule {
        Rule::Promote => promoted,
        Rule::Float => float_type(promoted),
        Rule::Bool => DType::Bool,
    };
    Tensor::apply(Op::Map(op), &[&a.cast(dtype)?, &b.cast(dtype)?])
}

macro_rules! binary_ops {
    ($($(#[$doc:meta])* $name:ident: $op:ident, $rule:ident;)*) => {
        impl Tensor {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self, other: impl Into<Operand>) -> Tensor {
                let other = other.into();
                user_op(stringify!($name), || binary(ScalarOp::$op, Rule::$rule, &self.into(), &other))
            })*
        }
    };
}

binary_ops! {
    /// `self + other`.
    add: Add, Promote;
    /// `self − other`.
    sub: Sub, Promote;
    /// `self · other`.
    mul: Mul, Promote;
    /// True division: integers give f32.
    div: Div, Float;
    /// `⌊self / other⌋`.
    floor_divide: FloorDiv, Promote;
    /// Remainder with the sign of `other` (Python's `%`).
    remainder: Mod, Promote;
    /// Remainder with the sign of `self` (C's `fmod`).
    fmod: Rem, Promote;
    /// `self` to the power `other`.
    pow: Pow, Promote;
    /// Greater of two; NaN if either is NaN.
    maximum: Max, Promote;
    /// Lesser of two; NaN if either is NaN.
    minimum: Min, Promote;
    /// Angle of the point (`other`, `self`).
    atan2: Atan2, Float;
    /// `self = other`, as bool.
    eq: Eq, Promote;
    /// `self ≠ other`, as bool.
    ne: Ne, Promote;
    /// `self < other`, as bool.
    lt: Lt, Promote;
    /// `self ≤ other`, as bool.
    le: Le, Promote;
    /// `self > other`, as bool.
    gt: Gt, Promote;
    /// `self ≥ other`, as bool.
    ge: Ge, Promote;
    /// Both are not zero.
    logical_and: And, Bool;
    /// At least one is not zero.
    logical_or: Or, Bool;
    /// Exactly one is not zero.
    logical_xor: Xor, Bool;
    /// Bitwise (or logical) and.
    bitwise_and: And, Promote;
    /// Bitwise (or logical) or.
    bitwise_or: Or, Promote;
    /// Bitwise (or logical) exclusive or.
    bitwise_xor: Xor, Promote;
}

macro_rules! unary_ops {
    ($($(#[$doc:meta])* $name:ident: $op:expr, $float:expr;)*) => {
        impl Tensor {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self) -> Tensor {
                user_op(stringify!($name), || unary($op, $float, self))
            })*
        }
    };
}

/// Applies a scalar op, after converting integers and bools to f32 when it needs floats.
fn unary(op: ScalarOp, float: bool, x: &Tensor) -> Recorded<Tensor> {
    x.ok()?;
    let x = if float { x.cast_to(float_type(x.dtype()))? } else { x.clone() };
    Tensor::apply(Op::Map(op), &[&x])
}

unary_ops! {
    /// −x.
    neg: ScalarOp::Neg, false;
    /// |x|.
    abs: ScalarOp::Abs, false;
    /// −1, 0 or 1; NaN stays NaN.
    sign: ScalarOp::Sign, false;
    /// eˣ.
    exp: ScalarOp::Exp, true;
    /// 2ˣ.
    exp2: ScalarOp::Exp2, true;
    /// eˣ − 1.
    expm1: ScalarOp::Expm1, true;
    /// Natural logarithm.
    log: ScalarOp::Log, true;
    /// Base-2 logarithm.
    log2: ScalarOp::Log2, true;
    /// ln(1 + x).
    log1p: ScalarOp::Log1p, true;
    /// √x.
    sqrt: ScalarOp::Sqrt, true;
    /// 1/√x.
    rsqrt: ScalarOp::Rsqrt, true;
    /// 1/x.
    reciprocal: ScalarOp::Recip, true;
    /// Sine.
    sin: ScalarOp::Sin, true;
    /// Cosine.
    cos: ScalarOp::Cos, true;
    /// Tangent.
    tan: ScalarOp::Tan, true;
    /// Arc sine.
    asin: ScalarOp::Asin, true;
    /// Arc cosine.
    acos: ScalarOp::Acos, true;
    /// Arc tangent.
    atan: ScalarOp::Atan, true;
    /// Hyperbolic sine.
    sinh: ScalarOp::Sinh, true;
    /// Hyperbolic cosine.
    cosh: ScalarOp::Cosh, true;
    /// Hyperbolic tangent.
    tanh: ScalarOp::Tanh, true;
    /// Error function.
    erf: ScalarOp::Erf, true;
    /// 1/(1 + e⁻ˣ).
    sigmoid: ScalarOp::Sigmoid, true;
    /// Bitwise complement of integers, logical not of bools.
    bitwise_not: ScalarOp::Not, false;
}

macro_rules! rounding_ops {
    ($($(#[$doc:meta])* $name:ident: $op:ident;)*) => {
        impl Tensor {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self) -> Tensor {
                user_op(stringify!($name), || round_with(ScalarOp::$op, self))
            })*
        }
    };
}

/// Integers are already round.
fn round_with(op: ScalarOp, x: &Tensor) -> Recorded<Tensor> {
    if x.dtype().is_int() { Ok(x.clone()) } else { Tensor::apply(Op::Map(op), &[x]) }
}

rounding_ops! {
    /// Greatest integer not above x.
    floor: Floor;
    /// Least integer not below x.
    ceil: Ceil;
    /// Nearest integer, halves to even.
    round: Round;
    /// Toward zero.
    trunc: Trunc;
}

macro_rules! activations {
    ($($(#[$doc:meta])* $name:ident: $which:expr;)*) => {
        impl Tensor {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(&self) -> Tensor {
                user_op(stringify!($name), || Tensor::apply(Op::Compose($which), &[self]))
            })*
        }
    };
}

activations! {
    /// max(x, 0).
    relu: Composite::Relu;
    /// x · Φ(x), with the error function.
    gelu: Composite::Gelu;
    /// min(max(x, 0), 6).
    relu6: Composite::Relu6;
    /// λ·x where x > 0, else λ·α·(eˣ − 1), with the constants of Klambauer et al. 2017.
    selu: Composite::Selu;
    /// x / (1 + |x|).
    softsign: Composite::Softsign;
    /// Gelu in its tanh form (`approximate="tanh"`).
    gelu_tanh: Composite::GeluTanh;
    /// x · sigmoid(x).
    silu: Composite::Silu;
    /// x · clamp(x + 3, 0, 6) / 6.
    hardswish: Composite::HardSwish;
    /// clamp(x + 3, 0, 6) / 6.
    hardsigmoid: Composite::HardSigmoid;
    /// x · tanh(softplus(x)).
    mish: Composite::Mish;
    /// ln(1 + eˣ).
    softplus: Composite::Softplus;
}

/// A predicate that is constantly false for dtypes without NaN and infinity.
fn float_predicate(x: &Tensor, op: ScalarOp) -> Recorded<Tensor> {
    if x.dtype().is_float() {
        return Tensor::apply(Op::Map(op), &[x]);
    }
    Tensor::apply(Op::Map(ScalarOp::Ne), &[x, x])
}

impl Tensor {
    /// Converts to a dtype: floats to integers truncate, integers wrap, anything to bool is `x ≠ 0`.
    #[track_caller]
    pub fn to_dtype(&self, dtype: DType) -> Tensor {
        user_op("to_dtype", || self.cast_to(dtype))
    }
    /// A recorded cast, or the tensor itself.
    pub(crate) fn cast_to(&self, dtype: DType) -> Recorded<Tensor> {
        if self.dtype() == dtype { Ok(self.clone()) } else { Tensor::apply(Op::Cast(dtype), &[self]) }
    }
    /// x².
    #[track_caller]
    pub fn square(&self) -> Tensor {
        user_op("square", || Tensor::apply(Op::Map(ScalarOp::Mul), &[self, self]))
    }
    /// x = 0, as bool.
    #[track_caller]
    pub fn logical_not(&self) -> Tensor {
        user_op("logical_not", || Tensor::apply(Op::Map(ScalarOp::Not), &[&self.cast_to(DType::Bool)?]))
    }
    /// Whether x is NaN, as bool.
    #[track_caller]
    pub fn isnan(&self) -> Tensor {
        user_op("isnan", || float_predicate(self, ScalarOp::IsNan))
    }
    /// Whether x is ±∞, as bool.
    #[track_caller]
    pub fn isinf(&self) -> Tensor {
        user_op("isinf", || float_predicate(self, ScalarOp::IsInf))
    }
    /// Whether x is neither NaN nor ±∞, as bool.
    #[track_caller]
    pub fn isfinite(&self) -> Tensor {
        user_op("isfinite", || {
            let either = Tensor::apply(Op::Map(ScalarOp::Or), &[&self.isnan(), &self.isinf()])?;
            Tensor::apply(Op::Map(ScalarOp::Not), &[&either])
        })
    }
    /// min(max(x, low), high); a bound may be left out with `None`.
    #[track_caller]
    pub fn clamp<L: Into<Number>, H: Into<Number>>(&self, low: impl Into<Option<L>>, high: impl Into<Option<H>>) -> Tensor {
        let (low, high) = (low.into().map(Into::into), high.into().map(Into::into));
        user_op("clamp", || {
            let floor = match low {
                Some(n) => binary(ScalarOp::Max, Rule::Promote, &self.into(), &Operand::Number(n))?,
                None => self.clone(),
            };
            match high {
                Some(n) => binary(ScalarOp::Min, Rule::Promote, &floor.into(), &Operand::Number(n)),
                None => Ok(floor),
            }
        })
    }
    /// max(x, low).
    #[track_caller]
    pub fn clamp_min(&self, low: impl Into<Number>) -> Tensor {
        let low = Operand::Number(low.into());
        user_op("clamp_min", || binary(ScalarOp::Max, Rule::Promote, &self.into(), &low))
    }
    /// min(x, high).
    #[track_caller]
    pub fn clamp_max(&self, high: impl Into<Number>) -> Tensor {
        let high = Operand::Number(high.into());
        user_op("clamp_max", || binary(ScalarOp::Min, Rule::Promote, &self.into(), &high))
    }
    /// x where x > 0, else `slope · x`.
    #[track_caller]
    pub fn leaky_relu(&self, slope: f64) -> Tensor {
        user_op("leaky_relu", || Tensor::apply(Op::Compose(Composite::LeakyRelu(slope.into())), &[self]))
    }
    /// x where x > 0, else `alpha · (eˣ − 1)`.
    #[track_caller]
    pub fn elu(&self, alpha: f64) -> Tensor {
        user_op("elu", || Tensor::apply(Op::Compose(Composite::Elu(alpha.into())), &[self]))
    }
    /// `value` where `mask` holds, else x; `mask` broadcasts.
    #[track_caller]
    pub fn masked_fill(&self, mask: &Tensor, value: impl Into<Number>) -> Tensor {
        let value = value.into();
        user_op("masked_fill", || select(mask, &Operand::Tensor(Tensor::constant(value, self.dtype())), &self.into()))
    }
    /// x where `condition` holds, else `other`.
    #[track_caller]
    pub fn where_(&self, condition: &Tensor, other: impl Into<Operand>) -> Tensor {
        let other = other.into();
        user_op("where", || select(condition, &self.into(), &other))
    }
    /// x + t · (end − x).
    #[track_caller]
    pub fn lerp(&self, end: &Tensor, t: impl Into<Operand>) -> Tensor {
        let t = t.into();
        user_op("lerp", || Ok(self.add(end.sub(self).mul(t))))
    }
}

/// `a` where `condition` holds, else `b`; all three broadcast.
#[track_caller]
pub fn where_(condition: &Tensor, a: impl Into<Operand>, b: impl Into<Operand>) -> Tensor {
    let (a, b) = (a.into(), b.into());
    user_op("where", || select(condition, &a, &b))
}

fn select(condition: &Tensor, a: &Operand, b: &Operand) -> Recorded<Tensor> {
    condition.ok()?;
    a.ok()?;
    b.ok()?;
    if condition.dtype() != DType::Bool {
        return Err(Error::invalid(format!("the condition is {}, it must be bool", condition.ty())).into());
    }
    let dtype = result_type([a, b].into_iter());
    Tensor::apply(Op::Map(ScalarOp::Select), &[condition, &a.cast(dtype)?, &b.cast(dtype)?])
}

macro_rules! operators {
    ($($trait:ident $method:ident $name:literal: $op:ident, $rule:ident;)*) => {
        $(
            impl<R: Into<Operand>> std::ops::$trait<R> for &Tensor {
                type Output = Tensor;
                #[track_caller]
                fn $method(self, other: R) -> Tensor {
                    let other = other.into();
                    user_op($name, || binary(ScalarOp::$op, Rule::$rule, &self.into(), &other))
                }
            }
            impl<R: Into<Operand>> std::ops::$trait<R> for Tensor {
                type Output = Tensor;
                #[track_caller]
                fn $method(self, other: R) -> Tensor {
                    let other = other.into();
                    user_op($name, || binary(ScalarOp::$op, Rule::$rule, &self.into(), &other))
                }
            }
            operators!(@left $trait $method $name, $op, $rule; f32, f64, i32, i64);
        )*
    };
    (@left $trait:ident $method:ident $name:literal, $op:ident, $rule:ident; $($number:ty),*) => {
        $(
            impl std::ops::$trait<&Tensor> for $number {
                type Output = Tensor;
                #[track_caller]
                fn $method(self, other: &Tensor) -> Tensor {
                    user_op($name, || binary(ScalarOp::$op, Rule::$rule, &self.into(), &other.into()))
                }
            }
            impl std::ops::$trait<Tensor> for $number {
                type Output = Tensor;
                #[track_caller]
                fn $method(self, other: Tensor) -> Tensor {
                    user_op($name, || binary(ScalarOp::$op, Rule::$rule, &self.into(), &other.into()))
                }
            }
        )*
    };
}

operators! {
    Add add "add": Add, Promote;
    Sub sub "sub": Sub, Promote;
    Mul mul "mul": Mul, Promote;
    Div div "div": Div, Float;
    Rem rem "remainder": Mod, Promote;
}

macro_rules! bit_operators {
    ($($trait:ident $method:ident $name:literal: $op:ident;)*) => {
        $(
            impl std::ops::$trait<&Tensor> for &Tensor {
                type Output = Tensor;
                #[track_caller]
                fn $method(self, other: &Tensor) -> Tensor {
                    user_op($name, || binary(ScalarOp::$op, Rule::Promote, &self.into(), &other.into()))
                }
            }
            impl std::ops::$trait for Tensor {
                type Output = Tensor;
                #[track_caller]
                fn $method(self, other: Tensor) -> Tensor {
                    user_op($name, || binary(ScalarOp::$op, Rule::Promote, &self.into(), &other.into()))
                }
            }
        )*
    };
}

bit_operators! {
    BitAnd bitand "bitwise_and": And;
    BitOr bitor "bitwise_or": Or;
    BitXor bitxor "bitwise_xor": Xor;
}

impl std::ops::Neg for &Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        user_op("neg", || unary(ScalarOp::Neg, false, self))
    }
}
impl std::ops::Neg for Tensor {
    type Output = Tensor;
    #[track_caller]
    fn neg(self) -> Tensor {
        user_op("neg", || unary(ScalarOp::Neg, false, &self))
    }
}
impl std::ops::Not for &Tensor {
    type Output = Tensor;
    #[track_caller]
    fn not(self) -> Tensor {
        user_op("bitwise_not", || unary(ScalarOp::Not, false, self))
    }
}
