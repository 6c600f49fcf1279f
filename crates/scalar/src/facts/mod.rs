//! What is known about variables: bounds, divisibility, equalities.

mod check;
mod equal;
mod prove;
mod range;
mod sample;
mod simplify;
mod text;

use std::collections::{BTreeMap, BTreeSet};

use crate::sym::Atom;
use crate::{Sym, Var};

/// Knowledge about variables, assumed to hold. Every variable is at least 0 unless [`Facts::set_min`] says otherwise.
///
/// Where an axis `v < extent` occurs in an expression, the extent is taken to be at least 1: the expression is only ever
/// evaluated at points of a space that is not empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Facts {
    vars: BTreeMap<Var, VarFacts>,
    equal: BTreeSet<(Sym, Sym)>,
    /// Derived from `equal`.
    rules: Vec<equal::Rule>,
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
            self.learn_bounds(a, b);
            self.learn_bounds(b, a);
            self.orient();
        }
    }
    /// From `v = min(c, …)` the bound `v ≤ c`, and from `v = max(c, …)` with `c > 0` the bound `v ≥ c`.
    fn learn_bounds(&mut self, v: &Sym, e: &Sym) {
        let Some(v) = v.as_var() else { return };
        match e.as_atom() {
            Some(Atom::Min(list)) => list.iter().filter_map(Sym::as_int).for_each(|c| self.set_max(v, c)),
            Some(Atom::Max(list)) => list.iter().filter_map(Sym::as_int).filter(|c| *c > 0).for_each(|c| self.set_min(v, c)),
            _ => {}
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
        self.orient();
    }

    /// The facts of the variable and of those that rules replace by it.
    fn about(&self, v: Var) -> impl Iterator<Item = &VarFacts> {
        std::iter::once(v).chain(self.aliases(v)).filter_map(|v| self.vars.get(&v))
    }
    fn min(&self, v: Var) -> i64 {
        let own = |f: &VarFacts| f.min.unwrap_or(0).max(if f.below.is_empty() { i64::MIN } else { 0 });
        let alias = self.aliases(v).map(|a| self.vars.get(&a).map_or(0, own)).max();
        self.vars.get(&v).map_or(0, own).max(alias.unwrap_or(i64::MIN))
    }
    fn max(&self, v: Var) -> Option<i64> {
        self.about(v).filter_map(|f| f.max).min()
    }
    fn below(&self, v: Var) -> impl Iterator<Item = &Sym> {
        self.about(v).flat_map(|f| &f.below)
    }
    fn divisor(&self, v: Var) -> i64 {
        self.about(v).filter_map(|f| f.divisible).fold(1, lcm)
    }
}

/// Least common multiple, or the greater of the two where it does not fit.
fn lcm(a: i64, b: i64) -> i64 {
    (a / equal::gcd(a, b)).checked_mul(b).unwrap_or(a.max(b))
}
