//! What is known about variables: bounds, divisibility, equalities.

mod prove;
mod simplify;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::{Sym, Var};

/// Knowledge about variables, assumed to hold. Every variable is at least 0 unless [`Facts::set_min`] says otherwise.
///
/// Where an axis `v < extent` occurs in an expression, the extent is taken to be at least 1: the expression is only ever
/// evaluated at points of a space that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Facts {
    vars: BTreeMap<Var, VarFacts>,
    equal: BTreeSet<(Sym, Sym)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct VarFacts {
    min: Option<i64>,
    max: Option<i64>,
    below: BTreeSet<Sym>,
    divisible: Option<i64>,
}

impl Facts {
    /// `v ≥ min`. The first call replaces the default bound of 0, later ones tighten.
    pub fn set_min(&mut self, v: Var, min: i64) {
        let f = self.vars.entry(v).or_default();
        f.min = Some(f.min.map_or(min, |m| m.max(min)));
    }
    /// `v ≤ max`.
    pub fn set_max(&mut self, v: Var, max: i64) {
        let f = self.vars.entry(v).or_default();
        f.max = Some(f.max.map_or(max, |m| m.min(max)));
    }
    /// `0 ≤ v < extent`.
    pub fn set_below(&mut self, v: Var, extent: &Sym) {
        if !extent.is_overflow() && !extent.mentions(v) {
            self.vars.entry(v).or_default().below.insert(extent.clone());
        }
    }
    /// `v % k = 0` for a positive `k`.
    pub fn set_divisible(&mut self, v: Var, k: i64) {
        if k > 1 {
            let f = self.vars.entry(v).or_default();
            f.divisible = Some(f.divisible.map_or(k, |old| lcm(old, k)));
        }
    }
    /// `a = b`.
    pub fn assume_equal(&mut self, a: &Sym, b: &Sym) {
        if a != b && !a.is_overflow() && !b.is_overflow() {
            self.equal.insert(if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) });
        }
    }
    /// Forgets everything that mentions the variable.
    pub fn clear_var(&mut self, v: Var) {
        self.vars.remove(&v);
        for f in self.vars.values_mut() {
            f.below.retain(|s| !s.mentions(v));
        }
        self.vars.retain(|_, f| *f != VarFacts::default());
        self.equal.retain(|(a, b)| !a.mentions(v) && !b.mentions(v));
    }
}

/// Least common multiple, or the greater of the two where it does not fit.
fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b).unwrap_or(a.max(b))
}
