//! Constructors that canonicalise.

use std::sync::Arc;

use super::poly::{self, Mono, Term};
use super::{Atom, Repr, Sym};

impl Sym {
    /// Canonical sum of sorted, combined terms; `None` is overflow.
    fn sum(terms: Option<Vec<Term>>) -> Sym {
        match terms {
            None => Sym::overflow(),
            Some(terms) => match rejoin(&terms) {
                Some(better) => better,
                None => Sym::from_terms(terms),
            },
        }
    }
    fn either_overflow(&self, other: &Sym) -> bool {
        self.is_overflow() || other.is_overflow()
    }
    pub(super) fn plus(&self, other: &Sym) -> Sym {
        match (&self.0, &other.0) {
            (Repr::Overflow, _) | (_, Repr::Overflow) => Sym::overflow(),
            (Repr::Const(0), _) => other.clone(),
            (_, Repr::Const(0)) => self.clone(),
            (Repr::Const(a), Repr::Const(b)) => a.checked_add(*b).map_or(Sym::overflow(), Sym::from),
            _ => Sym::sum(poly::add(&self.terms(), &other.terms())),
        }
    }
    pub(super) fn minus(&self, other: &Sym) -> Sym {
        match (&self.0, &other.0) {
            (Repr::Const(a), Repr::Const(b)) => a.checked_sub(*b).map_or(Sym::overflow(), Sym::from),
            _ if self.either_overflow(other) => Sym::overflow(),
            _ => Sym::sum(poly::sub_scaled(&self.terms(), &other.terms(), &Term { mono: Mono::unit(), coef: 1 })),
        }
    }
    pub(super) fn times(&self, other: &Sym) -> Sym {
        match (&self.0, &other.0) {
            (Repr::Overflow, _) | (_, Repr::Overflow) => Sym::overflow(),
            (Repr::Const(0), _) | (_, Repr::Const(0)) => Sym::ZERO,
            (Repr::Const(1), _) => other.clone(),
            (_, Repr::Const(1)) => self.clone(),
            (Repr::Const(a), Repr::Const(b)) => a.checked_mul(*b).map_or(Sym::overflow(), Sym::from),
            _ => Sym::sum(poly::mul(&self.terms(), &other.terms())),
        }
    }
    /// Canonical sum of terms in any order.
    pub(crate) fn collect(terms: Vec<Term>) -> Sym {
        Sym::sum(poly::collect(terms))
    }

    /// ⌊self / d⌋ for a positive `d`; a constant `d ≤ 0` gives the poison value.
    pub fn floor_div(&self, d: &Sym) -> Sym {
        if let Some(done) = self.trivial_division(d, i64::div_euclid) {
            return done;
        }
        if d.is_one() {
            return self.clone();
        }
        let Some((q, r)) = poly::divide(&self.terms(), &d.terms()) else { return Sym::overflow() };
        if !q.is_empty() {
            return Sym::sum(Some(q)) + Sym::sum(Some(r)).floor_div(d);
        }
        if let Some((g, x, _)) = common_factor(self, d) {
            return x.floor_div(&divided(d, &g));
        }
        match self.nested() {
            Some((Atom::FloorDiv(y, a), c)) => (y + a * c).floor_div(&(a * d)),
            Some((Atom::Mod(y, e), 0)) if e.exact_div(d).is_some() => match e.exact_div(d) {
                Some(f) => y.floor_div(d).modulo(&f),
                None => Sym::overflow(),
            },
            _ => Sym::atom(Atom::FloorDiv(self.clone(), d.clone())),
        }
    }
    /// `self − d·⌊self / d⌋` for a positive `d`; a constant `d ≤ 0` gives the poison value.
    pub fn modulo(&self, d: &Sym) -> Sym {
        if let Some(done) = self.trivial_division(d, i64::rem_euclid) {
            return done;
        }
        if d.is_one() {
            return Sym::ZERO;
        }
        let Some((q, r)) = poly::divide(&self.terms(), &d.terms()) else { return Sym::overflow() };
        if !q.is_empty() {
            return Sym::sum(Some(r)).modulo(d);
        }
        if let Some(inner) = drop_inner_mods(self, d) {
            return inner.modulo(d);
        }
        if let Some((g, x, c)) = common_factor(self, d) {
            return Sym::from_term(g.clone()) * x.modulo(&divided(d, &g)) + c;
        }
        match self.as_atom() {
            Some(Atom::Mod(_, e)) if d.exact_div(e).is_some() => self.clone(),
            _ => Sym::atom(Atom::Mod(self.clone(), d.clone())),
        }
    }
    fn trivial_division(&self, d: &Sym, fold: fn(i64, i64) -> i64) -> Option<Sym> {
        match (&self.0, &d.0) {
            (Repr::Overflow, _) | (_, Repr::Overflow) => Some(Sym::overflow()),
            (_, Repr::Const(k)) if *k <= 0 => Some(Sym::overflow()),
            (Repr::Const(0), _) => Some(Sym::ZERO),
            (Repr::Const(a), Repr::Const(k)) => Some(Sym::from(fold(*a, *k))),
            _ => None,
        }
    }
    /// Splits `atom + constant`.
    fn nested(&self) -> Option<(&Atom, i64)> {
        let Repr::Poly(p) = &self.0 else { return None };
        match p.terms.as_slice() {
            [t] if t.coef == 1 => t.mono.single().map(|a| (a, 0)),
            [t, c] if t.coef == 1 && c.mono.degree() == 0 => t.mono.single().map(|a| (a, c.coef)),
            _ => None,
        }
    }
    /// ⌈self / d⌉ for a positive `d`.
    pub fn ceil_div(&self, d: &Sym) -> Sym {
        (self + d - 1).floor_div(d)
    }
    /// The lesser.
    pub fn min(&self, other: &Sym) -> Sym {
        extremum(&[self.clone(), other.clone()], true)
    }
    /// The greater.
    pub fn max(&self, other: &Sym) -> Sym {
        extremum(&[self.clone(), other.clone()], false)
    }
    /// The quotient when `d` divides every value of `self` as polynomials: constants, products and whole sums.
    pub fn exact_div(&self, d: &Sym) -> Option<Sym> {
        if self.either_overflow(d) || d.is_zero() {
            return None;
        }
        poly::exact_div(&self.terms(), &d.terms()).map(|q| Sym::sum(Some(q)))
    }
}

/// Least (or greatest) of several: flattened, sorted, without members that another one beats by a constant.
pub(crate) fn extremum(list: &[Sym], least: bool) -> Sym {
    let mut flat = Vec::new();
    for s in list {
        match s.as_atom() {
            Some(Atom::Min(inner)) if least => flat.extend(inner.iter().cloned()),
            Some(Atom::Max(inner)) if !least => flat.extend(inner.iter().cloned()),
            _ => flat.push(s.clone()),
        }
    }
    let mut kept: Vec<Sym> = Vec::new();
    for s in flat {
        if s.is_overflow() {
            return Sym::overflow();
        }
        let beaten = |by: &Sym, x: &Sym| (x - by).as_int().is_some_and(|c| if least { c >= 0 } else { c <= 0 });
        if !kept.iter().any(|k| beaten(k, &s)) {
            kept.retain(|k| !beaten(&s, k));
            kept.push(s);
        }
    }
    kept.sort();
    match kept.as_slice() {
        [one] => one.clone(),
        _ if least => Sym::atom(Atom::Min(Arc::from(kept))),
        _ => Sym::atom(Atom::Max(Arc::from(kept))),
    }
}

fn divided(d: &Sym, g: &Term) -> Sym {
    d.exact_div(&Sym::from_term(g.clone())).unwrap_or(Sym::overflow())
}

/// `(g, x', c)` with `x = g·x' + c`, `0 ≤ c < g`, where `g ≠ 1` divides `d` and every term of `x` but its constant.
fn common_factor(x: &Sym, d: &Sym) -> Option<(Term, Sym, i64)> {
    let (xs, ds) = (x.terms(), d.terms());
    let constant = xs.last().filter(|t| t.mono.degree() == 0 && d.as_int().is_some()).map_or(0, |t| t.coef);
    let rest = if constant == 0 { &xs[..] } else { &xs[..xs.len() - 1] };
    let g = poly::content(rest.iter().chain(ds.iter()))?;
    if g.coef == 1 && g.mono.degree() == 0 {
        return None;
    }
    let quotient = rest.iter().map(|t| t.over(&g)).collect::<Option<Vec<_>>>()?;
    let (whole, part) = (constant.div_euclid(g.coef), constant.rem_euclid(g.coef));
    Some((g, Sym::collect(quotient) + whole, part))
}

/// Inside `… % d`, `y % e` is `y` when `d` divides `e`.
fn drop_inner_mods(x: &Sym, d: &Sym) -> Option<Sym> {
    let mut changed = false;
    let mut sum = Sym::ZERO;
    for t in x.terms().iter() {
        let mut product = Sym::from(t.coef);
        for a in t.mono.atoms() {
            match a {
                Atom::Mod(y, e) if e.exact_div(d).is_some() => {
                    changed = true;
                    product = product * y;
                }
                _ => product = product * Sym::atom(a.clone()),
            }
        }
        sum += product;
    }
    changed.then_some(sum)
}

/// Replaces `c·d·(x//d) + c·(x%d)` by `c·x`, once.
fn rejoin(terms: &[Term]) -> Option<Sym> {
    for t in terms {
        for a in t.mono.atoms() {
            let Atom::Mod(x, d) = a else { continue };
            let quotient = x.floor_div(d);
            if !matches!(quotient.as_atom(), Some(Atom::FloorDiv(..))) {
                continue;
            }
            let outer = Term { mono: t.mono.over(&Mono::of(a.clone()))?, coef: t.coef };
            let Some(needed) = poly::mul(&d.terms(), &quotient.terms()).and_then(|n| poly::scale(&n, &outer)) else { continue };
            if needed.iter().all(|n| contains(terms, n)) {
                let rest = poly::add(terms, &poly::scale(&needed, &Term { mono: Mono::unit(), coef: -1 })?)?;
                let rest = poly::add(&rest, &[Term { mono: t.mono.clone(), coef: t.coef.checked_neg()? }])?;
                return Some(Sym::sum(poly::add(&rest, &poly::scale(&x.terms(), &outer)?)));
            }
        }
    }
    None
}

/// Whether the sum has the product with the same sign and at least the same weight.
fn contains(terms: &[Term], part: &Term) -> bool {
    terms.binary_search_by(|t| t.mono.cmp(&part.mono)).is_ok_and(|at| {
        let have = terms[at].coef;
        have.signum() == part.coef.signum() && have.unsigned_abs() >= part.coef.unsigned_abs()
    })
}
