//! Reading and rewriting expressions.

use std::collections::{BTreeMap, BTreeSet};

use base::{Error, Result};
use smallvec::SmallVec;

use super::poly::Mono;
use super::{Atom, Repr, Sym, Term, Var};

impl Sym {
    /// Every variable that occurs.
    pub fn vars(&self) -> BTreeSet<Var> {
        let mut out = BTreeSet::new();
        self.visit(&mut |a| {
            if let Atom::Var(v) = a {
                out.insert(*v);
            }
        });
        out
    }
    /// Whether the variable occurs.
    pub fn mentions(&self, v: Var) -> bool {
        self.var_bits() & v.bit() != 0 && self.any(&|a| matches!(a, Atom::Var(w) if *w == v))
    }
    /// The floor divisions and remainders inside, as (numerator, divisor), each pair once, outer ones first.
    pub fn atoms(&self) -> Vec<(Sym, Sym)> {
        let mut out: Vec<(Sym, Sym)> = Vec::new();
        self.visit(&mut |a| {
            if let Atom::FloorDiv(x, d) | Atom::Mod(x, d) = a {
                let pair = (x.clone(), d.clone());
                if !out.contains(&pair) {
                    out.push(pair);
                }
            }
        });
        out
    }
    /// Visits every atom, outer ones first.
    pub(crate) fn visit(&self, f: &mut dyn FnMut(&Atom)) {
        let Repr::Poly(p) = &self.0 else { return };
        for a in p.terms.iter().flat_map(|t| t.mono.atoms()) {
            f(a);
            match a {
                Atom::Var(_) => {}
                Atom::FloorDiv(x, d) | Atom::Mod(x, d) => {
                    x.visit(f);
                    d.visit(f);
                }
                Atom::Min(list) | Atom::Max(list) => list.iter().for_each(|s| s.visit(f)),
            }
        }
    }
    /// Whether an atom anywhere inside satisfies `f`.
    pub(crate) fn any(&self, f: &dyn Fn(&Atom) -> bool) -> bool {
        let Repr::Poly(p) = &self.0 else { return false };
        p.terms.iter().flat_map(|t| t.mono.atoms()).any(|a| {
            f(a) || match a {
                Atom::Var(_) => false,
                Atom::FloorDiv(x, d) | Atom::Mod(x, d) => x.any(f) || d.any(f),
                Atom::Min(list) | Atom::Max(list) => list.iter().any(|s| s.any(f)),
            }
        })
    }
    /// Replaces variables, all at once; `None` keeps one.
    pub fn subst(&self, f: &dyn Fn(Var) -> Option<Sym>) -> Sym {
        if !self.any(&|a| matches!(a, Atom::Var(v) if f(*v).is_some())) {
            return self.clone();
        }
        self.map_atoms(&mut |a| match a {
            Atom::Var(v) => f(*v).unwrap_or_else(|| Sym::var(*v)),
            compound => compound.map(&|s| s.subst(f)),
        })
    }
    /// Rebuilds the sum with its outermost atoms replaced.
    pub(crate) fn map_atoms(&self, f: &mut dyn FnMut(&Atom) -> Sym) -> Sym {
        let Repr::Poly(p) = &self.0 else { return self.clone() };
        let mut changed = false;
        let mut sum = Sym::ZERO;
        for t in &p.terms {
            let parts: SmallVec<[Sym; 4]> = t.mono.atoms().iter().map(&mut *f).collect();
            let kept = t.mono.atoms().iter().zip(&parts).all(|(a, s)| s.as_atom() == Some(a));
            changed |= !kept;
            sum += if kept { Sym::from_term(t.clone()) } else { parts.iter().fold(Sym::from(t.coef), |product, s| product * s) };
        }
        if changed { sum } else { self.clone() }
    }
    /// The value under an assignment.
    ///
    /// # Errors
    /// A variable without a value (named), a divisor that is not positive, or a result beyond i64.
    pub fn eval(&self, value: &dyn Fn(Var) -> Option<i64>) -> Result<i64> {
        let p = match &self.0 {
            Repr::Const(c) => return Ok(*c),
            Repr::Overflow => {
                return Err(Error::invalid("a symbolic size overflowed (beyond 64 bits, or divided by a number below 1)"));
            }
            Repr::Poly(p) => p,
        };
        let too_big = || Error::invalid(format!("{self} does not fit 64 bits"));
        let mut sum = 0i128;
        for t in &p.terms {
            let mut product = i128::from(t.coef);
            for a in t.mono.atoms() {
                product = product.checked_mul(i128::from(a.eval(value)?)).ok_or_else(too_big)?;
            }
            sum = sum.checked_add(product).ok_or_else(too_big)?;
        }
        i64::try_from(sum).map_err(|_| too_big())
    }
    /// Splits into Σ coefficient · axis + rest, where coefficients and rest mention no axis.
    ///
    /// `None` if an axis occurs in another way.
    pub fn linear(&self, is_axis: &dyn Fn(Var) -> bool) -> Option<(BTreeMap<Var, Sym>, Sym)> {
        if self.is_overflow() {
            return None;
        }
        let mut coefs: BTreeMap<Var, Vec<Term>> = BTreeMap::new();
        let mut rest = Vec::new();
        for t in self.terms().iter() {
            let in_axes = |a: &Atom| a.any(&|a| matches!(a, Atom::Var(v) if is_axis(*v)));
            let mut factors = t.mono.atoms().iter().filter(|a| in_axes(a));
            let axis = match (factors.next(), factors.next()) {
                (None, _) => None,
                (Some(Atom::Var(v)), None) => Some(*v),
                _ => return None,
            };
            match axis {
                None => rest.push(t.clone()),
                Some(v) => {
                    let mono = t.mono.over(&Mono::of(Atom::Var(v)))?;
                    coefs.entry(v).or_default().push(Term { mono, coef: t.coef });
                }
            }
        }
        Some((coefs.into_iter().map(|(v, terms)| (v, Sym::collect(terms))).collect(), Sym::collect(rest)))
    }
}

impl Atom {
    fn any(&self, f: &dyn Fn(&Atom) -> bool) -> bool {
        match self {
            Atom::Var(_) => f(self),
            Atom::FloorDiv(x, d) | Atom::Mod(x, d) => f(self) || x.any(f) || d.any(f),
            Atom::Min(list) | Atom::Max(list) => f(self) || list.iter().any(|s| s.any(f)),
        }
    }
    fn eval(&self, value: &dyn Fn(Var) -> Option<i64>) -> Result<i64> {
        match self {
            Atom::Var(v) => value(*v).ok_or_else(|| Error::invalid(format!("dimension {v} has no value"))),
            Atom::FloorDiv(x, d) => Ok(x.eval(value)?.div_euclid(positive(d, value)?)),
            Atom::Mod(x, d) => Ok(x.eval(value)?.rem_euclid(positive(d, value)?)),
            Atom::Min(list) => list.iter().try_fold(i64::MAX, |m, s| Ok(m.min(s.eval(value)?))),
            Atom::Max(list) => list.iter().try_fold(i64::MIN, |m, s| Ok(m.max(s.eval(value)?))),
        }
    }
}

fn positive(d: &Sym, value: &dyn Fn(Var) -> Option<i64>) -> Result<i64> {
    let v = d.eval(value)?;
    if v > 0 { Ok(v) } else { Err(Error::invalid(format!("division by {d} = {v}; a divisor must be at least 1"))) }
}
