//! Representative sizes for cost estimates.

use std::collections::BTreeMap;

use scalar::{Facts, Sym, Var};
use serde::{Deserialize, Serialize};

/// Numbers that stand for dimensions while a plan is chosen.
///
/// A dimension without a given size counts as 128, moved into its bounds. Plans are legal for every size; only the choice
/// among legal ones looks at these.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sizes {
    dims: BTreeMap<Var, i64>,
}

/// Size of a dimension that nothing is known about.
const TYPICAL: i64 = 128;

impl Sizes {
    /// Sizes for a graph's facts, with some dimensions given.
    pub fn new(facts: &Facts, given: BTreeMap<Var, i64>) -> Sizes {
        let mut dims = given;
        for var in facts.vars() {
            dims.entry(var).or_insert_with(|| {
                let sym = Sym::from(var);
                let lo = facts.min_of(&sym).unwrap_or(0);
                let hi = facts.max_of(&sym).unwrap_or(i64::MAX);
                TYPICAL.clamp(lo, hi.max(lo))
            });
        }
        Sizes { dims }
    }

    /// Size of one dimension.
    pub fn dim(&self, var: Var) -> i64 {
        self.dims.get(&var).copied().unwrap_or(TYPICAL)
    }

    /// Value of an expression over dimensions; expressions that do not evaluate count as 1.
    pub fn eval(&self, sym: &Sym) -> f64 {
        sym.eval(&|v| Some(self.dim(v))).map_or(1.0, |n| n.max(0) as f64)
    }

    /// Number of elements of a shape.
    pub fn elements(&self, shape: &[Sym]) -> f64 {
        shape.iter().map(|s| self.eval(s)).product()
    }
}
