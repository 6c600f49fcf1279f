//! Combiners: associative functions over a state of one or more components.

use crate::DType;

/// A named associative combination used by reductions and scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// (max m, Σ exp(x − m)): the online softmax state.
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
}
