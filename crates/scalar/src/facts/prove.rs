//! Proofs that an expression is never negative, by eliminating one atom after another with a bound of its own.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use super::Facts;
use super::memo::Question;
use super::range::Range;
use super::sample::Samples;
use crate::sym::{Atom, Mono, Term, poly};
use crate::{Sym, Var};

/// Facts plus what the presence of axes implies, for one question.
pub(super) struct Prover<'a> {
    pub(super) facts: &'a Facts,
    /// Every variable that the question or a bound of its variables mentions.
    pub(super) vars: BTreeSet<Var>,
    pub(super) samples: OnceCell<Samples>,
    /// Results so far: ranges of variables by how far bounds were followed, and simplified atoms.
    pub(super) ranges: RefCell<BTreeMap<(Var, usize), Range>>,
    pub(super) simplified: RefCell<base::HashMap<Atom, Sym>>,
    /// Lower bounds that hold because an axis below an extent exists.
    floors: BTreeMap<Var, i64>,
    /// Steps left to the present proof, and to all of them.
    fuel: Cell<u32>,
    budget: Cell<u32>,
}

/// Steps of one proof.
const PROOF_FUEL: u32 = 60;
/// Steps of all proofs of one question.
const TOTAL_FUEL: u32 = 6000;

impl Facts {
    /// A constant lower bound.
    pub fn min_of(&self, e: &Sym) -> Option<i64> {
        let p = Prover::new(self, &[e]);
        p.range(&p.simplify(e)).lo().and_then(|c| i64::try_from(c).ok())
    }
    /// A constant upper bound.
    pub fn max_of(&self, e: &Sym) -> Option<i64> {
        let p = Prover::new(self, &[e]);
        p.range(&p.simplify(e)).hi().and_then(|c| i64::try_from(c).ok())
    }
    /// Whether `a = b` for every assignment.
    pub fn proves_eq(&self, a: &Sym, b: &Sym) -> bool {
        if a.is_overflow() || b.is_overflow() {
            return false;
        }
        if a == b || a.as_int().is_some() && b.as_int().is_some() {
            return a == b;
        }
        self.0.memo.proved(Question::Equal, a, b, || {
            let p = Prover::new(self, &[a, b]);
            let difference = p.simplify(&(a - b));
            difference.is_zero()
                || expand_mods(&difference).is_zero()
                || (p.proves(&difference) && p.proves(&-&difference))
                || p.simplify(a) == p.simplify(b)
        })
    }
    /// Whether `a ≥ b` for every assignment.
    pub fn proves_ge(&self, a: &Sym, b: &Sym) -> bool {
        if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
            return a >= b;
        }
        self.0.memo.proved(Question::AtLeast, a, b, || {
            let p = Prover::new(self, &[a, b]);
            p.proves(&p.simplify(&(a - b)))
        })
    }
    /// Whether `a < b` for every assignment.
    pub fn proves_lt(&self, a: &Sym, b: &Sym) -> bool {
        if let (Some(a), Some(b)) = (a.as_int(), b.as_int()) {
            return a < b;
        }
        self.0.memo.proved(Question::Below, a, b, || {
            let p = Prover::new(self, &[a, b]);
            p.proves(&p.simplify(&(b - a - 1)))
        })
    }
    /// Whether `divisor` divides `x` for every assignment.
    pub fn divides(&self, divisor: &Sym, x: &Sym) -> bool {
        x.modulo(divisor).simplify(self).is_zero()
    }
}

/// Writes `x % d` as `x − d·(x//d)`.
fn expand_mods(e: &Sym) -> Sym {
    e.map_atoms(&mut |a| match a {
        Atom::Mod(x, d) => x - d * x.floor_div(d),
        other => Sym::atom(other.clone()),
    })
}

impl<'a> Prover<'a> {
    /// For a question about the expressions: the axes in them exist.
    pub(super) fn new(facts: &'a Facts, about: &[&Sym]) -> Prover<'a> {
        let mut p = Prover {
            facts,
            vars: BTreeSet::new(),
            samples: OnceCell::new(),
            ranges: RefCell::default(),
            simplified: RefCell::default(),
            floors: BTreeMap::new(),
            fuel: Cell::new(0),
            budget: Cell::new(TOTAL_FUEL),
        };
        let mut todo: Vec<Var> = about.iter().flat_map(|e| e.vars()).collect();
        while let Some(v) = todo.pop() {
            if p.vars.insert(v) {
                todo.extend(facts.below(v).flat_map(Sym::vars));
                todo.extend(facts.rewrite(&Sym::var(v)).vars());
                for extent in facts.below(v) {
                    p.assume_at_least(&facts.rewrite(extent), 1);
                }
            }
        }
        p.ranges.borrow_mut().clear();
        p
    }
    /// Notes what `e ≥ bound` says about single variables.
    fn assume_at_least(&mut self, e: &Sym, bound: i64) {
        let terms = e.terms();
        let (t, constant) = match &*terms {
            [t] => (t, 0),
            [t, c] if c.mono.degree() == 0 => (t, c.coef),
            _ => return,
        };
        let Some(bound) = bound.checked_sub(constant).filter(|_| t.coef > 0) else { return };
        let needed = bound.div_euclid(t.coef) + i64::from(bound.rem_euclid(t.coef) != 0);
        match t.mono.atoms() {
            [Atom::Var(v)] => {
                let floor = self.floors.entry(*v).or_insert(needed);
                *floor = (*floor).max(needed);
            }
            [Atom::FloorDiv(x, d)] => {
                if let Some(least) = d.as_int().and_then(|k| k.checked_mul(needed)) {
                    self.assume_at_least(x, least);
                }
            }
            [Atom::Min(list)] => list.iter().for_each(|s| self.assume_at_least(s, needed)),
            factors if needed >= 1 && factors.iter().all(|a| self.atom_range(a).lo().is_some_and(|lo| lo >= 0)) => {
                factors.iter().for_each(|a| self.assume_at_least(&Sym::atom(a.clone()), 1));
            }
            _ => {}
        }
    }
    /// Greatest known lower bound of a variable.
    pub(super) fn least(&self, v: Var) -> i64 {
        self.facts.min(v).max(self.floors.get(&v).copied().unwrap_or(i64::MIN))
    }

    /// Whether `e ≥ 0` can be shown.
    pub(super) fn proves(&self, e: &Sym) -> bool {
        let grant = PROOF_FUEL.min(self.budget.get());
        self.fuel.set(grant);
        let shown = !e.is_overflow() && self.nonneg(e);
        self.budget.set(self.budget.get() - (grant - self.fuel.get()));
        shown
    }
    /// ⌊x / d⌋ where it is shown to be one constant.
    pub(super) fn known_quotient(&self, x: &Sym, d: &Sym) -> Option<i64> {
        if let Some(q) = self.range(x).floor_div(self.range(d)).single() {
            return Some(q);
        }
        let q = self.sampled_quotient(x, d)?;
        let above = x - d * q;
        (self.proves(&(d - &above - 1)) && self.proves(&above)).then_some(q)
    }

    fn nonneg(&self, e: &Sym) -> bool {
        if e.is_overflow() || self.fuel.get() == 0 {
            return false;
        }
        self.fuel.set(self.fuel.get() - 1);
        let e = &self.facts.rewrite(e);
        let range = self.range(e);
        if range.lo().is_some_and(|lo| lo >= 0) {
            return true;
        }
        if range.hi().is_some_and(|hi| hi < 0) {
            return false;
        }
        self.nonneg_from_floors(e) || (!self.refutes(e) && self.nonneg_by_elimination(e))
    }
    /// Writes every atom as its lower bound plus something not negative; then no coefficient may be negative.
    fn nonneg_from_floors(&self, e: &Sym) -> bool {
        let shifted = e.terms().iter().try_fold(Vec::new(), |sum, t| {
            let mut product = vec![Term { mono: Mono::unit(), coef: t.coef }];
            for a in t.mono.atoms() {
                let floor = i64::try_from(self.atom_range(a).lo()?).ok()?;
                let mut shifted = vec![Term { mono: Mono::of(a.clone()), coef: 1 }];
                if floor != 0 {
                    shifted.push(Term { mono: Mono::unit(), coef: floor });
                }
                product = poly::mul(&product, &shifted)?;
            }
            poly::add(&sum, &product)
        });
        shifted.is_some_and(|terms| terms.iter().all(|t| t.coef >= 0))
    }
    fn nonneg_by_elimination(&self, e: &Sym) -> bool {
        for a in self.elimination_order(e) {
            let Some((c, rest)) = split(e, &a) else { continue };
            let rises = self.nonneg(&c);
            if rises || self.nonneg(&-&c) {
                return self.bounds(&a, &c, &rest, rises).iter().any(|all| all.iter().all(|goal| self.nonneg(goal)));
            }
        }
        false
    }
    /// Compound atoms first, then bounded variables, a variable before those that its bounds mention.
    fn elimination_order(&self, e: &Sym) -> Vec<Atom> {
        let mut compound = Vec::new();
        let mut vars: Vec<Var> = Vec::new();
        for a in e.terms().iter().flat_map(|t| t.mono.atoms()) {
            match a {
                Atom::Var(v) if vars.contains(v) => {}
                Atom::Var(v) if self.facts.below(*v).next().is_some() || self.facts.max(*v).is_some() => vars.push(*v),
                Atom::Var(_) => {}
                other if compound.contains(other) => {}
                other => compound.push(other.clone()),
            }
        }
        let bounds_another = |v: Var| vars.iter().any(|&w| self.facts.below(w).any(|extent| extent.mentions(v)));
        let (later, first): (Vec<Var>, Vec<Var>) = vars.iter().partition(|&&v| bounds_another(v));
        compound.extend(first.into_iter().chain(later).map(Atom::Var));
        compound
    }
    /// Lists of goals, each of which together imply `c·a + rest ≥ 0`; `c ≥ 0` if `rises`, else `c ≤ 0`.
    fn bounds(&self, a: &Atom, c: &Sym, rest: &Sym, rises: bool) -> Vec<Vec<Sym>> {
        let with = |bound: &Sym| rest + c * bound;
        let range = self.atom_range(a);
        let constant = if rises { range.lo() } else { range.hi() };
        let mut out: Vec<Vec<Sym>> = Vec::new();
        match a {
            Atom::Var(v) if !rises => out.extend(self.facts.below(*v).map(|extent| vec![with(&(extent - 1))])),
            Atom::Var(_) => {}
            Atom::FloorDiv(x, d) => {
                let reach = if rises { x - d + 1 } else { x.clone() };
                if let Some(whole) = c.exact_div(d) {
                    out.push(vec![rest + whole * &reach]);
                }
                out.push(vec![rest * d + c * reach + d - 1]);
            }
            Atom::Mod(x, d) if !rises => out.extend([vec![with(&(d - 1))], vec![with(x), x.clone()]]),
            Atom::Mod(..) => {}
            Atom::Min(list) | Atom::Max(list) => {
                let goals = list.iter().map(with);
                if matches!(a, Atom::Min(_)) == rises { out.push(goals.collect()) } else { out.extend(goals.map(|g| vec![g])) }
            }
        }
        out.extend(constant.and_then(|b| i64::try_from(b).ok()).map(|b| vec![with(&Sym::from(b))]));
        out
    }
}

/// `(c, rest)` with `e = c·a + rest`, where `a` is no factor of a term of either.
fn split(e: &Sym, a: &Atom) -> Option<(Sym, Sym)> {
    let factor = Mono::of(a.clone());
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for t in e.terms().iter() {
        match t.mono.over(&factor) {
            Some(mono) if mono.over(&factor).is_some() => return None,
            Some(mono) => with.push(Term { mono, coef: t.coef }),
            None => without.push(t.clone()),
        }
    }
    Some((Sym::collect(with), Sym::collect(without)))
}
