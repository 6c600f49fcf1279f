//! The scalar op table.

use crate::DType;

/// One pointwise operation on scalars.
///
/// Operands of one op have one dtype, except where a row says otherwise. Composites (gelu, silu, where with
/// broadcasting, …) are built from these by the faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ScalarOp {
    /// −x (wraps for integers).
    Neg,
    /// |x| (wraps for the least integer).
    Abs,
    /// −1, +0 or 1 in x's dtype; NaN stays NaN.
    Sign,
    /// Square root.
    Sqrt,
    /// 1/√x.
    Rsqrt,
    /// 1/x.
    Recip,
    /// eˣ.
    Exp,
    /// 2ˣ.
    Exp2,
    /// eˣ − 1.
    Expm1,
    /// Natural logarithm.
    Log,
    /// Base-2 logarithm.
    Log2,
    /// ln(1 + x).
    Log1p,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Arc sine.
    Asin,
    /// Arc cosine.
    Acos,
    /// Arc tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Inverse hyperbolic sine.
    Asinh,
    /// Inverse hyperbolic cosine.
    Acosh,
    /// Inverse hyperbolic tangent.
    Atanh,
    /// Hyperbolic tangent.
    Tanh,
    /// Error function.
    Erf,
    /// 1/(1 + e⁻ˣ).
    Sigmoid,
    /// Greatest integer not above x.
    Floor,
    /// Least integer not below x.
    Ceil,
    /// Rounds toward zero.
    Trunc,
    /// Rounds half to even.
    Round,
    /// Logical not for bool, bitwise complement for integers.
    Not,
    /// Whether x is NaN; bool result.
    IsNan,
    /// Whether x is ±∞; bool result.
    IsInf,
    /// Converts to a dtype: float→int truncates and saturates (NaN → 0), int→int wraps, anything→bool is `x ≠ 0`;
    /// f64 and 32- or 64-bit integers reach f16 and bf16 through f32, as in PyTorch.
    Cast(DType),
    /// Same bits, other dtype of the same size.
    Bitcast(DType),
    /// a + b (bool: or).
    Add,
    /// a − b.
    Sub,
    /// a · b (bool: and).
    Mul,
    /// a / b; integers truncate toward zero, division by zero gives 0.
    Div,
    /// ⌊a / b⌋; integers floor, division by zero gives 0.
    FloorDiv,
    /// Remainder with the sign of a (C `fmod`); integer division by zero gives 0.
    Rem,
    /// Remainder with the sign of b (Python `%`); integer division by zero gives 0.
    Mod,
    /// Greater of two; NaN if either is NaN; the first of ±0.
    Max,
    /// Lesser of two; NaN if either is NaN; the first of ±0.
    Min,
    /// aᵇ; integers by repeated multiplication with wrapping, negative exponents give 0 (1 and −1 excepted).
    Pow,
    /// Angle of the point (b, a).
    Atan2,
    /// Bitwise and logical and.
    And,
    /// Bitwise and logical or.
    Or,
    /// Bitwise and logical exclusive or.
    Xor,
    /// a << b; 0 when b is not below the width.
    Shl,
    /// a >> b, arithmetic for signed; sign fill when b is not below the width.
    Shr,
    /// a < b; bool result.
    Lt,
    /// a ≤ b; bool result.
    Le,
    /// a > b; bool result.
    Gt,
    /// a ≥ b; bool result.
    Ge,
    /// a = b; bool result.
    Eq,
    /// a ≠ b; bool result.
    Ne,
    /// `c ? a : b`; first operand bool.
    Select,
    /// a · b + c with one rounding.
    Fma,
    /// Philox4x32-10: word `counter mod 4` of the block `counter div 4` under `key`; operands (key i64, counter i64),
    /// u32 result. The parameter is the static stream id, the third word of the block counter.
    Philox(u32),
}

use ScalarOp as S;
use serde::{Deserialize, Serialize};

impl ScalarOp {
    /// Rows without a parameter, for tables and text.
    pub const PLAIN: [ScalarOp; 56] = [
        S::Neg,
        S::Abs,
        S::Sign,
        S::Sqrt,
        S::Rsqrt,
        S::Recip,
        S::Exp,
        S::Exp2,
        S::Expm1,
        S::Log,
        S::Log2,
        S::Log1p,
        S::Sin,
        S::Cos,
        S::Tan,
        S::Asin,
        S::Acos,
        S::Atan,
        S::Sinh,
        S::Cosh,
        S::Asinh,
        S::Acosh,
        S::Atanh,
        S::Tanh,
        S::Erf,
        S::Sigmoid,
        S::Floor,
        S::Ceil,
        S::Trunc,
        S::Round,
        S::Not,
        S::IsNan,
        S::IsInf,
        S::Add,
        S::Sub,
        S::Mul,
        S::Div,
        S::FloorDiv,
        S::Rem,
        S::Mod,
        S::Max,
        S::Min,
        S::Pow,
        S::Atan2,
        S::And,
        S::Or,
        S::Xor,
        S::Shl,
        S::Shr,
        S::Lt,
        S::Le,
        S::Gt,
        S::Ge,
        S::Eq,
        S::Ne,
        S::Select,
    ];

    /// Text-form name; parameterised rows print as `cast.f32`, `bitcast.i32`, `philox.7`.
    pub fn name(self) -> String {
        match self {
            S::Cast(d) => format!("cast.{d}"),
            S::Bitcast(d) => format!("bitcast.{d}"),
            S::Philox(stream) => format!("philox.{stream}"),
            S::IsNan => "isnan".into(),
            S::IsInf => "isinf".into(),
            plain => format!("{plain:?}").to_lowercase(),
        }
    }
    /// Inverse of [`ScalarOp::name`].
    pub fn parse(name: &str) -> Option<ScalarOp> {
        match name.split_once('.') {
            Some(("cast", d)) => DType::parse(d).map(S::Cast),
            Some(("bitcast", d)) => DType::parse(d).map(S::Bitcast),
            Some(("philox", n)) => n.parse().ok().map(S::Philox),
            Some(_) => None,
            None if name == "fma" => Some(S::Fma),
            None => S::PLAIN.into_iter().find(|op| op.name() == name),
        }
    }
    /// Number of operands.
    pub const fn arity(self) -> usize {
        match self {
            S::Select | S::Fma => 3,
            S::Add | S::Sub | S::Mul | S::Div | S::FloorDiv | S::Rem | S::Mod | S::Max | S::Min | S::Pow | S::Atan2 => 2,
            S::And | S::Or | S::Xor | S::Shl | S::Shr | S::Lt | S::Le | S::Gt | S::Ge | S::Eq | S::Ne | S::Philox(_) => 2,
            _ => 1,
        }
    }
    /// Whether the operands may be swapped.
    pub const fn is_commutative(self) -> bool {
        matches!(self, S::Add | S::Mul | S::Max | S::Min | S::And | S::Or | S::Xor | S::Eq | S::Ne)
    }
    /// Result dtype, or why these operand dtypes are wrong.
    ///
    /// # Errors
    /// A sentence fragment such as `exp needs a float, got i32`.
    pub fn result(self, args: &[DType]) -> Result<DType, String> {
        let name = self.name();
        if args.len() != self.arity() {
            return Err(format!("{name} takes {} operands, got {}", self.arity(), args.len()));
        }
        let d = args[args.len() - 1];
        let same = |args: &[DType]| {
            if args.iter().all(|&a| a == d) {
                Ok(d)
            } else {
                Err(format!("{name} needs operands of one dtype, got {}", list(args)))
            }
        };
        let need = |ok: bool, what: &str| if ok { Ok(d) } else { Err(format!("{name} needs {what}, got {d}")) };
        let stores = matches!(self, S::Select | S::Cast(_) | S::Bitcast(_));
        if let Some(stored) = args.iter().find(|a| a.f8().is_some()).filter(|_| !stores) {
            return Err(format!("{name} does not compute in {stored}, which is only stored: cast to f32 first"));
        }
        match self {
            S::Select if args[0] != DType::Bool => Err(format!("select needs a bool condition, got {}", args[0])),
            S::Select => same(&args[1..]),
            S::Philox(_) if args == [DType::I64, DType::I64] => Ok(DType::U32),
            S::Philox(_) => Err(format!("{name} needs i64 key and counter, got {}", list(args))),
            S::Cast(to) => Ok(to),
            S::Bitcast(to) if to.size() == d.size() => Ok(to),
            S::Bitcast(to) => Err(format!("bitcast from {d} to {to}: sizes differ")),
            S::IsNan | S::IsInf => need(d.is_float(), "a float").map(|_| DType::Bool),
            S::Lt | S::Le | S::Gt | S::Ge | S::Eq | S::Ne => same(args).map(|_| DType::Bool),
            S::Not => need(!d.is_float(), "bool or an integer"),
            S::And | S::Or | S::Xor => same(args).and_then(|_| need(!d.is_float(), "bool or integers")),
            S::Shl | S::Shr => same(args).and_then(|_| need(d.is_int(), "integers")),
            S::Neg | S::Abs | S::Sign => need(d != DType::Bool, "a number"),
            S::Floor | S::Ceil | S::Trunc | S::Round => need(d.is_float(), "a float"),
            S::Add | S::Mul | S::Max | S::Min => same(args),
            S::Sub | S::Div | S::FloorDiv | S::Rem | S::Mod | S::Pow => {
                same(args).and_then(|_| need(d != DType::Bool, "numbers"))
            }
            S::Atan2 | S::Fma => same(args).and_then(|_| need(d.is_float(), "floats")),
            _ => need(d.is_float(), "a float"),
        }
    }
}

fn list(dtypes: &[DType]) -> String {
    dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ")
}
