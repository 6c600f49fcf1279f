//! Equalities as rewrite rules.

use super::{Equalities, Facts};
use crate::sym::{Atom, Mono, Term};
use crate::{Sym, Var};

/// Replaces a product of atoms by an equal expression.
#[derive(Clone)]
pub(super) struct Rule {
    from: Mono,
    /// Variables of `from`, as a union of bits.
    from_bits: u64,
    to: Sym,
}

/// Times that all rules are applied before giving up on a fixed point.
const MAX_ROUNDS: usize = 6;

impl Equalities {
    /// Recomputes the rules from the equalities.
    pub(super) fn orient(&mut self) {
        self.rules.clear();
        self.aliases.clear();
        let pairs = std::mem::take(&mut self.pairs);
        for (a, b) in &pairs {
            let Some(rule) = solve(&self.rewrite(a), &self.rewrite(b)) else { continue };
            if let (Some(v), Some(Atom::Var(alias))) = (rule.to.as_var(), rule.from.single()) {
                self.aliases.entry(v).or_default().push(*alias);
            }
            self.rules.push(rule);
        }
        self.pairs = pairs;
    }
    /// Applies the rules until nothing changes.
    fn rewrite(&self, e: &Sym) -> Sym {
        let mut now = e.clone();
        if self.rules.is_empty() || e.var_bits() == 0 {
            return now;
        }
        for _ in 0..MAX_ROUNDS {
            let next = self.rules.iter().fold(now.clone(), |e, rule| rule.apply(e));
            if next == now {
                break;
            }
            now = next;
        }
        if now.is_overflow() { e.clone() } else { now }
    }
}

impl Facts {
    /// Applies the equalities as rules until nothing changes.
    pub(super) fn rewrite(&self, e: &Sym) -> Sym {
        self.0.equalities.rewrite(e)
    }
    /// Variables that rules replace by `v`.
    pub(super) fn aliases(&self, v: Var) -> &[Var] {
        self.0.equalities.aliases.get(&v).map_or(&[], Vec::as_slice)
    }
}

impl Rule {
    fn new(from: Mono, to: Sym) -> Rule {
        let from_bits = Sym::from_term(Term { mono: from.clone(), coef: 1 }).var_bits();
        Rule { from, from_bits, to }
    }
    fn apply(&self, e: Sym) -> Sym {
        let absent = self.from_bits & !e.var_bits() != 0;
        if absent || !self.from.atoms().iter().all(|part| e.any(&|a| a == part)) {
            return e;
        }
        let inside = e.map_atoms(&mut |a| a.map(&|s| self.apply(s.clone())));
        let hit = |t: &Term| t.mono.over(&self.from).map(|mono| Term { mono, coef: t.coef });
        if !inside.terms().iter().any(|t| hit(t).is_some()) {
            return inside;
        }
        inside.terms().iter().fold(Sym::ZERO, |sum, t| match hit(t) {
            Some(rest) => sum + Sym::from_term(rest) * &self.to,
            None => sum + Sym::from_term(t.clone()),
        })
    }
}

/// The rule for `a = b`: a lone variable is replaced by the other side, else some variable with coefficient ±1, else the
/// leading product with coefficient ±1.
fn solve(a: &Sym, b: &Sym) -> Option<Rule> {
    let difference = primitive(&(a - b));
    if difference.as_int().is_some() || difference.is_overflow() {
        return None;
    }
    let isolate = |mono: &Mono| {
        let t = difference.terms().iter().find(|t| t.mono == *mono && t.coef.abs() == 1)?.clone();
        let to = (&difference - Sym::from_term(t.clone())) * -t.coef;
        let grows = mono.atoms().iter().all(|part| to.any(&|a| a == part));
        (!grows).then(|| Rule::new(mono.clone(), to))
    };
    let isolate_var = |v: &Var| isolate(&Mono::of(Atom::Var(*v))).filter(|rule| !rule.to.mentions(*v));
    let mut lone: Vec<Var> = [a, b].into_iter().filter_map(Sym::as_var).collect();
    lone.sort();
    let vars = difference.vars();
    let leading = || difference.terms().iter().filter(|t| t.mono.degree() > 0).find_map(|t| isolate(&t.mono));
    lone.iter().rev().chain(vars.iter().rev()).find_map(isolate_var).or_else(leading)
}

/// Divided by the greatest constant that divides every coefficient.
fn primitive(e: &Sym) -> Sym {
    let g = e.terms().iter().fold(0, |g, t| gcd(g, t.coef));
    e.exact_div(&Sym::from(g)).unwrap_or_else(|| e.clone())
}

/// Greatest common divisor, not negative where it fits.
pub(super) fn gcd(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}
