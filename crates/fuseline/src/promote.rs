//! PyTorch's type promotion, with Rust scalars in the role of Python scalars.

use scalar::{DType, Scalar};

use crate::Tensor;

/// A Rust number used as an operand: it adapts to the tensor's dtype where PyTorch's would.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// `true` or `false`.
    Bool(bool),
    /// Any integer.
    Int(i64),
    /// Any float.
    Float(f64),
}

impl Number {
    /// The dtype that it has on its own: bool, i64 or f32.
    pub fn dtype(self) -> DType {
        match self {
            Number::Bool(_) => DType::Bool,
            Number::Int(_) => DType::I64,
            Number::Float(_) => DType::F32,
        }
    }
    /// The constant in a dtype.
    pub(crate) fn scalar(self, dtype: DType) -> Scalar {
        match self {
            Number::Bool(v) => Scalar::from_i64(dtype, i64::from(v)),
            Number::Int(v) => Scalar::from_i64(dtype, v),
            Number::Float(v) => Scalar::from_f64(dtype, v),
        }
    }
}

macro_rules! numbers {
    ($($t:ty => $variant:ident as $to:ty),* $(,)?) => {
        $(impl From<$t> for Number {
            fn from(v: $t) -> Number {
                Number::$variant(v as $to)
            }
        })*
    };
}
numbers!(bool => Bool as bool, i8 => Int as i64, u8 => Int as i64, i16 => Int as i64, u16 => Int as i64, i32 => Int as i64,
    u32 => Int as i64, i64 => Int as i64, usize => Int as i64, f32 => Float as f64, f64 => Float as f64);

/// What an operator accepts on its right side: a tensor or a Rust number.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A tensor.
    Tensor(Tensor),
    /// A number.
    Number(Number),
}

impl Operand {
    fn strength(&self) -> (DType, Strength) {
        match self {
            Operand::Tensor(t) => (t.dtype(), if t.rank() == 0 { Strength::Scalar } else { Strength::Tensor }),
            Operand::Number(n) => (n.dtype(), Strength::Number),
        }
    }
}

impl From<Tensor> for Operand {
    fn from(t: Tensor) -> Operand {
        Operand::Tensor(t)
    }
}
impl From<&Tensor> for Operand {
    fn from(t: &Tensor) -> Operand {
        Operand::Tensor(t.clone())
    }
}
impl<N: Into<Number>> From<N> for Operand {
    fn from(n: N) -> Operand {
        Operand::Number(n.into())
    }
}

/// Who decides when dtypes differ: tensors with axes, then 0-d tensors, then Rust numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strength {
    Tensor,
    Scalar,
    Number,
}

/// PyTorch's `result_type`: the dtype in which operands are combined.
pub(crate) fn result_type<'a>(operands: impl Iterator<Item = &'a Operand> + Clone) -> DType {
    let of = |strength| {
        let dtypes = operands.clone().map(Operand::strength).filter(move |&(_, s)| s == strength).map(|(d, _)| d);
        dtypes.reduce(DType::promote)
    };
    let weaker = combine(of(Strength::Scalar), of(Strength::Number));
    combine(of(Strength::Tensor), weaker).unwrap_or(DType::F32)
}

/// A weaker operand changes the dtype only when it is of a higher kind (bool < integer < float).
fn combine(strong: Option<DType>, weak: Option<DType>) -> Option<DType> {
    match (strong, weak) {
        (Some(s), Some(w)) if kind(w) > kind(s) => Some(s.promote(w)),
        (Some(s), _) => Some(s),
        (None, w) => w,
    }
}

fn kind(dtype: DType) -> u8 {
    if dtype.is_float() { 2 } else { u8::from(dtype != DType::Bool) }
}

/// The dtype of ops that give floats: integers and bools become f32.
pub(crate) fn float_type(dtype: DType) -> DType {
    if dtype.is_float() { dtype } else { DType::F32 }
}

/// The dtype of sums and products: bools and integers become i64.
pub(crate) fn sum_type(dtype: DType) -> DType {
    if dtype.is_float() { dtype } else { DType::I64 }
}
