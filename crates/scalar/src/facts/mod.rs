//! What is known about variables: bounds, divisibility, equalities.

mod check;
mod equal;
mod memo;
mod prove;
mod range;
mod sample;
mod simplify;
mod text;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::sym::Atom;
use crate::{Sym, Var};

/// Knowledge about variables, assumed to hold. Every variable is at least 0 unless [`Facts::set_min`] says otherwise.
///
/// Where an axis `v < extent` occurs in an expression, the extent is taken to be at least 1: the expression is only ever
/// evaluated at points of a space that is not empty.
///
/// Clones share one record, and with it the answers to earlier questions, until one of them learns something; those that
/// learn the same axes in the same order share a record again.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub struct Facts(Arc<Known>);

#[derive(Default)]
struct Known {
    vars: BTreeMap<Var, VarFacts>,
    equalities: Arc<Equalities>,
    memo: memo::Memo,
}

#[derive(Clone, Default)]
struct Equalities {
    pairs: BTreeSet<(Sym, Sym)>,
    /// Derived from `pairs`.
    rules: Vec<equal::Rule>,
    /// Variables that rules replace by a variable, in the order of the rules.
    aliases: BTreeMap<Var, Vec<Var>>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct VarFacts {
    min: Option<i64>,
    max: Option<i64>,
    below: BTreeSet<Sym>,
    divisible: Option<i64>,
}

/// What files hold of [`Facts`].
#[derive(Serialize, Deserialize)]
struct Stored {
    vars: BTreeMap<Var, VarFacts>,
    pairs: BTreeSet<(Sym, Sym)>,
}

impl From<Facts> for Stored {
    fn from(facts: Facts) -> Stored {
        let (vars, pairs) = facts.key();
        Stored { vars: vars.clone(), pairs: pairs.clone() }
    }
}

impl From<Stored> for Facts {
    fn from(stored: Stored) -> Facts {
        let mut equalities = Equalities { pairs: stored.pairs, ..Equalities::default() };
        equalities.orient();
        Facts(Arc::new(Known { vars: stored.vars, equalities: Arc::new(equalities), memo: memo::Memo::default() }))
    }
}

impl Facts {
    /// `v ≥ min`. The first call replaces the default bound of 0, later ones tighten.
    pub fn set_min(&mut self, v: Var, min: i64) {
        let f = self.learn().vars.entry(v).or_default();
        f.min = Some(f.min.map_or(min, |m| m.max(min)));
    }
    /// `v ≤ max`.
    pub fn set_max(&mut self, v: Var, max: i64) {
        let f = self.learn().vars.entry(v).or_default();
        f.max = Some(f.max.map_or(max, |m| m.min(max)));
    }
    /// `0 ≤ v < extent`.
    pub fn set_below(&mut self, v: Var, extent: &Sym) {
        let known = self.0.vars.get(&v).is_some_and(|f| f.below.contains(extent));
        if known || extent.is_overflow() || extent.mentions(v) {
            return;
        }
        *self = self.0.memo.with_axis(v, extent, || {
            let mut wider = self.clone();
            wider.learn().vars.entry(v).or_default().below.insert(extent.clone());
            wider
        });
    }
    /// `v % k = 0` for a positive `k`.
    pub fn set_divisible(&mut self, v: Var, k: i64) {
        if k > 1 {
            let f = self.learn().vars.entry(v).or_default();
            f.divisible = Some(f.divisible.map_or(k, |old| lcm(old, k)));
        }
    }
    /// `a = b`.
    pub fn assume_equal(&mut self, a: &Sym, b: &Sym) {
        if a != b && !a.is_overflow() && !b.is_overflow() {
            let pair = if a < b { (a.clone(), b.clone()) } else { (b.clone(), a.clone()) };
            let equalities = self.equalities_mut();
            if !equalities.pairs.insert(pair) {
                return;
            }
            equalities.orient();
            self.learn_bounds(a, b);
            self.learn_bounds(b, a);
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
        let known = self.learn();
        known.vars.remove(&v);
        for f in known.vars.values_mut() {
            f.below.retain(|s| !s.mentions(v));
        }
        known.vars.retain(|_, f| *f != VarFacts::default());
        let equalities = self.equalities_mut();
        equalities.pairs.retain(|(a, b)| !a.mentions(v) && !b.mentions(v));
        equalities.orient();
    }
    /// Every variable that some fact is about.
    pub fn vars(&self) -> BTreeSet<Var> {
        let pairs = self.0.equalities.pairs.iter().flat_map(|(a, b)| [a, b]);
        let extents = self.0.vars.values().flat_map(|f| &f.below);
        self.0.vars.keys().copied().chain(pairs.chain(extents).flat_map(Sym::vars)).collect()
    }
    /// Drops the answers to earlier questions, to free their memory.
    pub fn forget_answers(&mut self) {
        self.learn();
    }

    /// A record of one's own to change, without answers.
    fn learn(&mut self) -> &mut Known {
        let known = Arc::make_mut(&mut self.0);
        known.memo = memo::Memo::default();
        known
    }
    fn equalities_mut(&mut self) -> &mut Equalities {
        Arc::make_mut(&mut self.learn().equalities)
    }
    /// The facts of the variable and of those that rules replace by it.
    fn about(&self, v: Var) -> impl Iterator<Item = &VarFacts> {
        std::iter::once(v).chain(self.aliases(v).iter().copied()).filter_map(|v| self.0.vars.get(&v))
    }
    fn min(&self, v: Var) -> i64 {
        let own = |f: &VarFacts| f.min.unwrap_or(0).max(if f.below.is_empty() { i64::MIN } else { 0 });
        let min = |v: &Var| self.0.vars.get(v).map_or(0, own);
        self.aliases(v).iter().map(min).fold(min(&v), i64::max)
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
    fn key(&self) -> (&BTreeMap<Var, VarFacts>, &BTreeSet<(Sym, Sym)>) {
        (&self.0.vars, &self.0.equalities.pairs)
    }
}

impl Clone for Known {
    fn clone(&self) -> Known {
        Known { vars: self.vars.clone(), equalities: self.equalities.clone(), memo: memo::Memo::default() }
    }
}
impl PartialEq for Facts {
    fn eq(&self, other: &Facts) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.key() == other.key()
    }
}
impl Eq for Facts {}
impl PartialOrd for Facts {
    fn partial_cmp(&self, other: &Facts) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Facts {
    fn cmp(&self, other: &Facts) -> Ordering {
        self.key().cmp(&other.key())
    }
}
impl Hash for Facts {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}
impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lines()).finish()
    }
}

/// Least common multiple, or the greater of the two where it does not fit.
fn lcm(a: i64, b: i64) -> i64 {
    (a / equal::gcd(a, b)).checked_mul(b).unwrap_or(a.max(b))
}
