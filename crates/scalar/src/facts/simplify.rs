//! Rewriting under facts.

use super::Facts;
use super::equal::gcd;
use super::prove::Prover;
use crate::Sym;
use crate::sym::{Atom, Mono, Term, extremum, poly};

/// Passes over an expression before giving up on a fixed point.
const MAX_ROUNDS: usize = 5;

impl Sym {
    /// An equal expression under the facts, simpler where they allow it.
    ///
    /// ```
    /// use scalar::{Facts, Sym, Var};
    /// let mut facts = Facts::default();
    /// facts.set_below(Var::new("w"), &Sym::named("W"));
    /// let row = Sym::parse("(h*W + w)//W").unwrap();
    /// assert_eq!(row.simplify(&facts).to_string(), "h");
    /// ```
    pub fn simplify(&self, facts: &Facts) -> Sym {
        if self.as_int().is_some() || self.is_overflow() {
            return self.clone();
        }
        facts.0.memo.simplified(self, || Prover::new(facts, &[self]).simplify(self))
    }
}

impl Prover<'_> {
    pub(super) fn simplify(&self, e: &Sym) -> Sym {
        let mut now = self.facts.rewrite(e);
        for _ in 0..MAX_ROUNDS {
            let next = self.facts.rewrite(&self.undivide(&now.map_atoms(&mut |a| self.simplify_atom(a))));
            if next.is_overflow() {
                return now;
            }
            if next == now {
                break;
            }
            now = next;
        }
        now
    }
    fn simplify_atom(&self, a: &Atom) -> Sym {
        if let Some(c) = self.atom_range(a).single() {
            return Sym::from(c);
        }
        if let Atom::Var(v) = a {
            return Sym::var(*v);
        }
        if let Some(known) = self.simplified.borrow().get(a) {
            return known.clone();
        }
        let better = self.simplify_compound(a);
        self.simplified.borrow_mut().insert(a.clone(), better.clone());
        better
    }
    fn simplify_compound(&self, a: &Atom) -> Sym {
        let inner = a.map(&|s| self.simplify(s));
        let better = match inner.as_atom() {
            Some(Atom::FloorDiv(x, d)) => self.quotient(x, d),
            Some(Atom::Mod(x, d)) => self.remainder(x, d),
            Some(Atom::Min(list)) => Some(self.extremum(list, true)),
            Some(Atom::Max(list)) => Some(self.extremum(list, false)),
            _ => None,
        };
        better.unwrap_or(inner)
    }

    fn quotient(&self, x: &Sym, d: &Sym) -> Option<Sym> {
        if let Some(q) = self.known_quotient(x, d) {
            return Some(Sym::from(q));
        }
        if let Some((multiple, rest)) = self.split_multiples(x, d) {
            return Some(multiple.floor_div(d) + rest.floor_div(d));
        }
        let (k, whole, _) = self.split_common(x, d)?;
        Some(whole.floor_div(&d.exact_div(&k)?))
    }
    fn remainder(&self, x: &Sym, d: &Sym) -> Option<Sym> {
        if let Some(q) = self.known_quotient(x, d) {
            return Some(x - d * q);
        }
        if d.as_int().is_some_and(|k| self.multiple_of(x) % k == 0) {
            return Some(Sym::ZERO);
        }
        if let Some((_, rest)) = self.split_multiples(x, d) {
            return Some(rest.modulo(d));
        }
        let (k, whole, part) = self.split_common(x, d)?;
        Some(whole.modulo(&d.exact_div(&k)?) * k + part)
    }
    /// Separates the terms that a constant `d` divides by divisibility facts; both parts are not zero.
    fn split_multiples(&self, x: &Sym, d: &Sym) -> Option<(Sym, Sym)> {
        let k = d.as_int()?;
        let (multiple, rest): (Vec<Term>, Vec<Term>) = x.terms().iter().cloned().partition(|t| self.term_multiple(t) % k == 0);
        (!multiple.is_empty() && !rest.is_empty()).then(|| (Sym::collect(multiple), Sym::collect(rest)))
    }
    /// `(k, w, r)` with `x = k·w + r`, `0 ≤ r < k`, for some `k` other than 1 that divides `d` and a term of `x`.
    fn split_common(&self, x: &Sym, d: &Sym) -> Option<(Sym, Sym, Sym)> {
        let mut tried: Vec<Term> = Vec::new();
        for t in x.terms().iter().filter(|t| t.mono.degree() > 0) {
            let k = poly::content(std::iter::once(t).chain(d.terms().iter()))?;
            if (k.coef == 1 && k.mono.degree() == 0) || tried.contains(&k) {
                continue;
            }
            tried.push(k.clone());
            let (mut whole, mut part) = (Vec::new(), Vec::new());
            for t in x.terms().iter() {
                match t.over(&k) {
                    Some(q) => whole.push(q),
                    None => part.push(t.clone()),
                }
            }
            let (whole, part, k) = (Sym::collect(whole), Sym::collect(part), Sym::from_term(k));
            if let Some(q) = self.known_quotient(&part, &k) {
                return Some((k.clone(), whole + q, part - k * q));
            }
        }
        None
    }
    /// Replaces `k·(x//k)` by `x` where `k` is known to divide `x`.
    fn undivide(&self, e: &Sym) -> Sym {
        e.terms().iter().fold(Sym::ZERO, |sum, t| sum + self.undivided(t).unwrap_or_else(|| Sym::from_term(t.clone())))
    }
    fn undivided(&self, t: &Term) -> Option<Sym> {
        t.mono.atoms().iter().find_map(|a| {
            let Atom::FloorDiv(x, d) = a else { return None };
            let k = d.as_int().filter(|k| t.coef % k == 0 && self.multiple_of(x) % k == 0)?;
            Some(Sym::from_term(Term { mono: t.mono.over(&Mono::of(a.clone()))?, coef: t.coef / k }) * x)
        })
    }
    /// A positive constant that divides the expression (1 if none is known).
    fn multiple_of(&self, e: &Sym) -> i64 {
        e.terms().iter().fold(0, |g, t| gcd(g, self.term_multiple(t))).max(1)
    }
    fn term_multiple(&self, t: &Term) -> i64 {
        let known = t.mono.atoms().iter().map(|a| self.atom_multiple(a));
        known.fold(t.coef.checked_abs().unwrap_or(1), |m, k| m.checked_mul(k).unwrap_or(m)).max(1)
    }
    fn atom_multiple(&self, a: &Atom) -> i64 {
        match a {
            Atom::Var(v) => self.facts.divisor(*v),
            Atom::FloorDiv(x, d) => match (self.multiple_of(x), d.as_int()) {
                (m, Some(k)) if m % k == 0 => m / k,
                _ => 1,
            },
            Atom::Mod(x, d) => gcd(self.multiple_of(x), self.multiple_of(d)),
            Atom::Min(list) | Atom::Max(list) => list.iter().fold(0, |g, s| gcd(g, self.multiple_of(s))).max(1),
        }
    }
    /// Drops members that another one always beats.
    fn extremum(&self, list: &[Sym], least: bool) -> Sym {
        let mut kept: Vec<Sym> = Vec::new();
        let beats = |a: &Sym, b: &Sym| self.proves(&if least { b - a } else { a - b });
        for s in list {
            if !kept.iter().any(|k| beats(k, s)) {
                kept.retain(|k| !beats(s, k));
                kept.push(s.clone());
            }
        }
        extremum(&kept, least)
    }
}
