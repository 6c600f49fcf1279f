//! Bounds and proofs.

use super::Facts;
use crate::Sym;

impl Facts {
    /// A constant lower bound.
    pub fn min_of(&self, e: &Sym) -> Option<i64> {
        e.as_int()
    }
    /// A constant upper bound.
    pub fn max_of(&self, e: &Sym) -> Option<i64> {
        e.as_int()
    }
    /// Whether `a = b` for every assignment.
    pub fn proves_eq(&self, a: &Sym, b: &Sym) -> bool {
        (a - b).is_zero() || self.equal.contains(&(a.clone(), b.clone())) || self.equal.contains(&(b.clone(), a.clone()))
    }
    /// Whether `a ≥ b` for every assignment.
    pub fn proves_ge(&self, a: &Sym, b: &Sym) -> bool {
        (a - b).as_int().is_some_and(|c| c >= 0)
    }
    /// Whether `a < b` for every assignment.
    pub fn proves_lt(&self, a: &Sym, b: &Sym) -> bool {
        (b - a).as_int().is_some_and(|c| c > 0)
    }
    /// Whether `divisor` divides `x` for every assignment.
    pub fn divides(&self, divisor: &Sym, x: &Sym) -> bool {
        x.exact_div(divisor).is_some()
    }
}
