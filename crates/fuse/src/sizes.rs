//! Representative sizes for cost estimates.

use std::collections::BTreeMap;

use scalar::{Facts, Sym, Var};

/// Numbers that stand for dimensions while a plan is chosen.
///
/// A dimension without a given size counts as 128, moved into its bounds. Plans are legal for every size; only the choice
/// among legal ones looks at these.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    given: BTreeMap<Var, i64>,
    facts: Facts,
}

impl Sizes {
    /// Sizes for a graph's facts, with some dimensions given.
    pub fn new(facts: &Facts, given: BTreeMap<Var, i64>) -> Sizes {
        Sizes { given, facts: facts.clone() }
    }

    /// Size of one dimension.
    pub fn dim(&self, var: Var) -> i64 {
        if let Some(&n) = self.given.get(&var) {
            return n;
        }
        let sym = Sym::from(var);
        let lo = self.facts.min_of(&sym).unwrap_or(0);
        let hi = self.facts.max_of(&sym).unwrap_or(i64::MAX);
        128.clamp(lo, hi.max(lo))
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
