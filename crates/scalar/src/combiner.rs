//! Combiners: associative functions over a state of one or more components.

use serde::{Deserialize, Serialize};

use crate::{DType, Scalar, ScalarOp, eval};

/// A named associative combination used by reductions and scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Combiner {
    /// Σ.
    Sum,
    /// Π.
    Prod,
    /// Greatest; NaN wins.
    Max,
    /// Least; NaN wins.
    Min,
    /// Logical or of bools.
    Any,
    /// Logical and of bools.
    All,
    /// (greatest value, its first index); a NaN wins over any number, the first NaN over later ones.
    ArgMax,
    /// (least value, its first index); NaN as in `ArgMax`.
    ArgMin,
    /// (mean, Σ of squared deviations, count): Chan's parallel form of Welford's algorithm; results f32/f64.
    Welford,
    /// (max m, Σ exp(x − m)): the online softmax state. Where x = m = −∞ the term counts 1, so that a fully masked row has
    /// a finite sum; where x = m = +∞ it is NaN, as computed.
    MaxSum,
    /// Linear recurrence h ← a·h + b over operands (a, b): state (Πa, h). Scans only; not commutative.
    Affine,
}

/// Static facts about a combiner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CombinerInfo {
    /// Text-form name.
    pub name: &'static str,
    /// Operands per element.
    pub operands: usize,
    /// State components, which are also the results.
    pub components: usize,
    /// Whether elements may be combined in any order.
    pub commutative: bool,
    /// Whether reassociation never changes the result.
    pub exact: bool,
}

impl Combiner {
    /// Every row.
    pub const ALL: [Combiner; 11] = [
        Combiner::Sum,
        Combiner::Prod,
        Combiner::Max,
        Combiner::Min,
        Combiner::Any,
        Combiner::All,
        Combiner::ArgMax,
        Combiner::ArgMin,
        Combiner::Welford,
        Combiner::MaxSum,
        Combiner::Affine,
    ];

    /// The table row.
    pub const fn info(self) -> CombinerInfo {
        let (name, operands, components, commutative, exact) = match self {
            Combiner::Sum => ("sum", 1, 1, true, false),
            Combiner::Prod => ("prod", 1, 1, true, false),
            Combiner::Max => ("max", 1, 1, true, true),
            Combiner::Min => ("min", 1, 1, true, true),
            Combiner::Any => ("any", 1, 1, true, true),
            Combiner::All => ("all", 1, 1, true, true),
            Combiner::ArgMax => ("argmax", 1, 2, true, true),
            Combiner::ArgMin => ("argmin", 1, 2, true, true),
            Combiner::Welford => ("welford", 1, 3, true, false),
            Combiner::MaxSum => ("maxsum", 1, 2, true, false),
            Combiner::Affine => ("affine", 2, 2, false, false),
        };
        CombinerInfo { name, operands, components, commutative, exact }
    }
    /// Inverse of the row's name.
    pub fn parse(name: &str) -> Option<Combiner> {
        Combiner::ALL.into_iter().find(|c| c.info().name == name)
    }
    /// Result dtypes for operand dtypes, or why they are wrong.
    ///
    /// `ArgMax` and `ArgMin` give (value, i64). `Welford` gives three of the accumulator dtype.
    ///
    /// # Errors
    /// A sentence fragment such as `any needs bool, got f32`.
    pub fn results(self, operands: &[DType]) -> Result<Vec<DType>, String> {
        let info = self.info();
        if operands.len() != info.operands {
            return Err(format!("{} takes {} operands, got {}", info.name, info.operands, operands.len()));
        }
        let d = operands[0];
        let err = |what: &str| Err(format!("{} needs {what}, got {d}", info.name));
        if d.f8().is_some() {
            return err("a dtype that is computed with, not only stored (cast to f32 first)");
        }
        match self {
            Combiner::Any | Combiner::All if d != DType::Bool => err("bool"),
            Combiner::Any | Combiner::All => Ok(vec![d]),
            Combiner::Max | Combiner::Min => Ok(vec![d]),
            Combiner::ArgMax | Combiner::ArgMin => Ok(vec![d, DType::I64]),
            Combiner::Sum | Combiner::Prod if d == DType::Bool => err("a number (cast bool first)"),
            Combiner::Sum | Combiner::Prod => Ok(vec![d]),
            _ if !d.is_float() => err("a float"),
            Combiner::Affine if operands[1] != d => err("operands of one dtype"),
            Combiner::Welford => Ok(vec![d.accumulator(); 3]),
            _ => Ok(vec![d; 2]),
        }
    }
    /// Dtype of the state's value components for elements of `dtype`: the accumulator where rounding matters.
    pub const fn state_dtype(self, dtype: DType) -> DType {
        match self {
            Combiner::Max | Combiner::Min | Combiner::ArgMax | Combiner::ArgMin | Combiner::Any | Combiner::All => dtype,
            _ => dtype.accumulator(),
        }
    }
    /// The state of no elements of `dtype`: neutral in [`Combiner::combine`].
    pub fn init(self, dtype: DType) -> Vec<Scalar> {
        let d = self.state_dtype(dtype);
        let (zero, one) = (Scalar::zero(d), Scalar::from_i64(d, 1));
        match self {
            Combiner::Sum => vec![zero],
            Combiner::Prod => vec![one],
            Combiner::Max => vec![least(d)],
            Combiner::Min => vec![greatest(d)],
            Combiner::Any => vec![Scalar::bool(false)],
            Combiner::All => vec![Scalar::bool(true)],
            Combiner::ArgMax => vec![least(d), Scalar::i64(0)],
            Combiner::ArgMin => vec![greatest(d), Scalar::i64(0)],
            Combiner::Welford => vec![zero; 3],
            Combiner::MaxSum => vec![least(d), zero],
            Combiner::Affine => vec![one, zero],
        }
    }
    /// The state of one element; `index` is its position along the reduced axes (read by the arg rows).
    pub fn lift(self, operands: &[Scalar], index: i64) -> Vec<Scalar> {
        let x = operands[0];
        let d = self.state_dtype(x.dtype());
        let wide = |x: Scalar| eval(ScalarOp::Cast(d), &[x]);
        match self {
            Combiner::ArgMax | Combiner::ArgMin => vec![x, Scalar::i64(index)],
            Combiner::Welford => vec![wide(x), Scalar::zero(d), Scalar::from_i64(d, 1)],
            Combiner::MaxSum => vec![wide(x), shrink(wide(x), wide(x))],
            Combiner::Affine => vec![wide(x), wide(operands[1])],
            _ => vec![wide(x)],
        }
    }
    /// The state of `state`'s elements followed by `other`'s.
    pub fn combine(self, state: &[Scalar], other: &[Scalar]) -> Vec<Scalar> {
        let (a, b) = (state[0], other[0]);
        match self {
            Combiner::Sum => vec![eval(ScalarOp::Add, &[a, b])],
            Combiner::Prod => vec![eval(ScalarOp::Mul, &[a, b])],
            Combiner::Max => vec![eval(ScalarOp::Max, &[a, b])],
            Combiner::Min => vec![eval(ScalarOp::Min, &[a, b])],
            Combiner::Any => vec![eval(ScalarOp::Or, &[a, b])],
            Combiner::All => vec![eval(ScalarOp::And, &[a, b])],
            Combiner::ArgMax => arg(ScalarOp::Gt, state, other),
            Combiner::ArgMin => arg(ScalarOp::Lt, state, other),
            Combiner::Welford => chan(state, other),
            Combiner::MaxSum => {
                let max = eval(ScalarOp::Max, &[a, b]);
                let scaled = |s: &[Scalar]| eval(ScalarOp::Mul, &[s[1], shrink(s[0], max)]);
                vec![max, eval(ScalarOp::Add, &[scaled(state), scaled(other)])]
            }
            Combiner::Affine => {
                let carried = eval(ScalarOp::Mul, &[b, state[1]]);
                vec![eval(ScalarOp::Mul, &[a, b]), eval(ScalarOp::Add, &[carried, other[1]])]
            }
        }
    }
    /// The results for elements of `dtype`: the state rounded to the dtypes of [`Combiner::results`].
    pub fn finish(self, dtype: DType, state: &[Scalar]) -> Vec<Scalar> {
        match self {
            Combiner::Welford => state.to_vec(),
            Combiner::ArgMax | Combiner::ArgMin => state.to_vec(),
            _ => state.iter().map(|&s| eval(ScalarOp::Cast(dtype), &[s])).collect(),
        }
    }
}

/// −∞, the least integer, or false.
fn least(d: DType) -> Scalar {
    match d {
        d if d.is_float() => Scalar::from_f64(d, f64::NEG_INFINITY),
        d if d.is_signed() => Scalar::from_bits(d, 1 << (8 * d.size() - 1)),
        d => Scalar::zero(d),
    }
}

/// +∞, the greatest integer, or true.
fn greatest(d: DType) -> Scalar {
    match d {
        DType::Bool => Scalar::bool(true),
        d if d.is_float() => Scalar::from_f64(d, f64::INFINITY),
        d => eval(ScalarOp::Not, &[least(d)]),
    }
}

/// exp(x − max), and 1 where both are −∞.
fn shrink(x: Scalar, max: Scalar) -> Scalar {
    if x == max && x.as_f64() == f64::NEG_INFINITY {
        return Scalar::from_i64(x.dtype(), 1);
    }
    eval(ScalarOp::Exp, &[eval(ScalarOp::Sub, &[x, max])])
}

/// The better of two (value, index): NaN beats numbers, then `better`, then the lower index.
fn arg(better: ScalarOp, state: &[Scalar], other: &[Scalar]) -> Vec<Scalar> {
    let nan = |s: &[Scalar]| s[0].dtype().is_float() && s[0].as_f64().is_nan();
    let earlier = other[1].as_i64() < state[1].as_i64();
    let tied = if nan(state) { nan(other) } else { eval(ScalarOp::Eq, &[state[0], other[0]]).is_true() };
    let wins = !nan(state) && (nan(other) || eval(better, &[other[0], state[0]]).is_true());
    if wins || (tied && earlier) { other.to_vec() } else { state.to_vec() }
}

/// Chan, Golub and LeVeque (1979): merges (mean, Σ of squared deviations, count).
fn chan(a: &[Scalar], b: &[Scalar]) -> Vec<Scalar> {
    if !a[2].is_true() {
        return b.to_vec();
    }
    if !b[2].is_true() {
        return a.to_vec();
    }
    let op = |op, x, y| eval(op, &[x, y]);
    let count = op(ScalarOp::Add, a[2], b[2]);
    let delta = op(ScalarOp::Sub, b[0], a[0]);
    let share = op(ScalarOp::Div, b[2], count);
    let mean = op(ScalarOp::Add, a[0], op(ScalarOp::Mul, delta, share));
    let spread = op(ScalarOp::Mul, op(ScalarOp::Mul, delta, delta), op(ScalarOp::Mul, a[2], share));
    vec![mean, op(ScalarOp::Add, op(ScalarOp::Add, a[1], b[1]), spread), count]
}
