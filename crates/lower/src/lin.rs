//! Concrete integer expressions over loop axes and values.

use base::{Error, Result};
use kernel::ValueId;
use scalar::{Arithmetic, Sym, Var};

/// An indivisible part of a [`Lin`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Atom {
    Axis(usize),
    Value(ValueId),
    Div(Lin, i64),
    Mod(Lin, i64),
    Min(Lin, Lin),
    Max(Lin, Lin),
    Mul(Lin, Lin),
}

/// `base + Σ coef · atom`, atoms ascending, coefficients not zero.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Lin {
    pub(crate) base: i64,
    pub(crate) terms: Vec<(Atom, i64)>,
}

/// Inclusive range of every axis and value.
pub(crate) trait Ranges {
    fn axis(&self, axis: usize) -> (i64, i64);
    fn value(&self, value: ValueId) -> (i64, i64);
}

const WIDE: (i64, i64) = (i64::MIN / 4, i64::MAX / 4);

impl Lin {
    pub(crate) fn constant(base: i64) -> Lin {
        Lin { base, terms: Vec::new() }
    }

    pub(crate) fn axis(axis: usize) -> Lin {
        Lin { base: 0, terms: vec![(Atom::Axis(axis), 1)] }
    }

    fn atom(atom: Atom) -> Lin {
        Lin { base: 0, terms: vec![(atom, 1)] }
    }

    pub(crate) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.base)
    }

    /// Coefficient of an axis at the top level.
    pub(crate) fn coef(&self, axis: usize) -> i64 {
        self.terms.iter().find(|(a, _)| *a == Atom::Axis(axis)).map_or(0, |t| t.1)
    }

    /// Only axes, no nested atoms.
    pub(crate) fn is_affine(&self) -> bool {
        self.terms.iter().all(|(a, _)| matches!(a, Atom::Axis(_)))
    }

    pub(crate) fn add(mut self, other: &Lin) -> Lin {
        self.base = self.base.saturating_add(other.base);
        for (atom, c) in &other.terms {
            match self.terms.binary_search_by(|(a, _)| a.cmp(atom)) {
                Ok(i) => {
                    self.terms[i].1 += c;
                    if self.terms[i].1 == 0 {
                        self.terms.remove(i);
                    }
                }
                Err(i) => self.terms.insert(i, (atom.clone(), *c)),
            }
        }
        self
    }

    pub(crate) fn scale(mut self, by: i64) -> Lin {
        if by == 0 {
            return Lin::default();
        }
        self.base = self.base.saturating_mul(by);
        for t in &mut self.terms {
            t.1 = t.1.saturating_mul(by);
        }
        self
    }

    /// Inclusive range.
    pub(crate) fn range(&self, r: &dyn Ranges) -> (i64, i64) {
        self.terms.iter().fold((self.base, self.base), |(lo, hi), (atom, c)| {
            let (a, b) = atom.range(r);
            let (x, y) = (a.saturating_mul(*c), b.saturating_mul(*c));
            (lo.saturating_add(x.min(y)), hi.saturating_add(x.max(y)))
        })
    }

    /// ⌊self / d⌋ for d > 0, simplified by ranges.
    pub(crate) fn div(self, d: i64, r: &dyn Ranges) -> Lin {
        let (whole, mut rest) = self.split_multiples(d);
        let whole = Lin { base: whole.base / d, terms: whole.terms.into_iter().map(|(a, c)| (a, c / d)).collect() };
        let (lo, hi) = rest.range(r);
        if lo >= 0 && hi < d {
            return whole;
        }
        let mut d = d;
        if let Some((reduced, by)) = rest.clone().common_factor(d, r) {
            (rest, d) = (reduced, d / by);
        }
        if let Some(c) = rest.as_constant() {
            return whole.add(&Lin::constant(c.div_euclid(d)));
        }
        if let [(Atom::Div(inner, e), 1)] = &rest.terms[..]
            && rest.base == 0
        {
            return whole.add(&Lin::atom(Atom::Div(inner.clone(), e * d)));
        }
        whole.add(&Lin::atom(Atom::Div(rest, d)))
    }

    /// self mod d for d > 0, simplified by ranges.
    pub(crate) fn modulo(self, d: i64, r: &dyn Ranges) -> Lin {
        let (_, rest) = self.split_multiples(d);
        let (lo, hi) = rest.range(r);
        if lo >= 0 && hi < d {
            return rest;
        }
        if let Some(c) = rest.as_constant() {
            return Lin::constant(c.rem_euclid(d));
        }
        if let Some((reduced, by)) = rest.clone().common_factor(d, r) {
            let low = rest.add(&reduced.clone().scale(-by));
            return reduced.modulo(d / by, r).scale(by).add(&low);
        }
        Lin::atom(Atom::Mod(rest, d))
    }

    /// Terms whose coefficient `d` divides (and that part of the base), and the rest.
    fn split_multiples(self, d: i64) -> (Lin, Lin) {
        let (whole, rest): (Vec<_>, Vec<_>) = self.terms.into_iter().partition(|(_, c)| c % d == 0);
        let low = self.base.rem_euclid(d);
        (Lin { base: self.base - low, terms: whole }, Lin { base: low, terms: rest })
    }

    /// `(q, g)` with self = g·q + s where g > 1 divides `d` and 0 ≤ s < g.
    fn common_factor(self, d: i64, r: &dyn Ranges) -> Option<(Lin, i64)> {
        let mut coefs: Vec<i64> = self.terms.iter().map(|t| gcd(t.1.abs(), d)).filter(|&g| g > 1).collect();
        coefs.sort_unstable();
        coefs.dedup();
        coefs.into_iter().find_map(|g| {
            let (whole, rest) = self.clone().split_multiples(g);
            let (lo, hi) = rest.range(r);
            (lo >= 0 && hi < g && !whole.terms.is_empty())
                .then(|| (Lin { base: whole.base / g, terms: whole.terms.into_iter().map(|(a, c)| (a, c / g)).collect() }, g))
        })
    }

    /// Rebuilds with another expression for some axes.
    pub(crate) fn subst(&self, f: &dyn Fn(usize) -> Option<Lin>, r: &dyn Ranges) -> Lin {
        self.terms.iter().fold(Lin::constant(self.base), |sum, (atom, c)| {
            let part = match atom {
                Atom::Axis(a) => f(*a).unwrap_or_else(|| Lin::axis(*a)),
                Atom::Value(_) => Lin::atom(atom.clone()),
                Atom::Div(x, d) => x.subst(f, r).div(*d, r),
                Atom::Mod(x, d) => x.subst(f, r).modulo(*d, r),
                Atom::Min(x, y) => min(x.subst(f, r), y.subst(f, r), r),
                Atom::Max(x, y) => max(x.subst(f, r), y.subst(f, r), r),
                Atom::Mul(x, y) => mul(x.subst(f, r), y.subst(f, r)),
            };
            sum.add(&part.scale(*c))
        })
    }

    /// Visits this expression and every nested one.
    pub(crate) fn visit(&self, f: &mut dyn FnMut(&Lin)) {
        f(self);
        for (atom, _) in &self.terms {
            match atom {
                Atom::Axis(_) | Atom::Value(_) => {}
                Atom::Div(x, _) | Atom::Mod(x, _) => x.visit(f),
                Atom::Min(x, y) | Atom::Max(x, y) | Atom::Mul(x, y) => {
                    x.visit(f);
                    y.visit(f);
                }
            }
        }
    }

    /// Visits every nested atom.
    pub(crate) fn visit_atoms(&self, f: &mut dyn FnMut(&Atom)) {
        self.visit(&mut |lin| lin.terms.iter().for_each(|(a, _)| f(a)));
    }
}

impl Atom {
    fn range(&self, r: &dyn Ranges) -> (i64, i64) {
        match self {
            Atom::Axis(a) => r.axis(*a),
            Atom::Value(v) => r.value(*v),
            Atom::Div(x, d) => {
                let (lo, hi) = x.range(r);
                (lo.div_euclid(*d), hi.div_euclid(*d))
            }
            Atom::Mod(x, d) => {
                let (lo, hi) = x.range(r);
                if lo >= 0 { (0, hi.min(d - 1)) } else { (0, d - 1) }
            }
            Atom::Min(x, y) => {
                let (a, b) = (x.range(r), y.range(r));
                (a.0.min(b.0), a.1.min(b.1))
            }
            Atom::Max(x, y) => {
                let (a, b) = (x.range(r), y.range(r));
                (a.0.max(b.0), a.1.max(b.1))
            }
            Atom::Mul(..) => WIDE,
        }
    }
}

pub(crate) fn min(a: Lin, b: Lin, r: &dyn Ranges) -> Lin {
    let difference = a.clone().add(&b.clone().scale(-1)).range(r);
    if difference.1 <= 0 {
        a
    } else if difference.0 >= 0 {
        b
    } else {
        Lin::atom(Atom::Min(a, b))
    }
}

pub(crate) fn max(a: Lin, b: Lin, r: &dyn Ranges) -> Lin {
    let difference = a.clone().add(&b.clone().scale(-1)).range(r);
    if difference.0 >= 0 {
        a
    } else if difference.1 <= 0 {
        b
    } else {
        Lin::atom(Atom::Max(a, b))
    }
}

pub(crate) fn mul(a: Lin, b: Lin) -> Lin {
    match (a.as_constant(), b.as_constant()) {
        (Some(c), _) => b.scale(c),
        (_, Some(c)) => a.scale(c),
        _ => Lin::atom(Atom::Mul(a, b)),
    }
}

pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Reads symbolic expressions with every dimension bound.
pub(crate) struct Reader<'a> {
    pub(crate) var: &'a dyn Fn(Var) -> Option<Lin>,
    pub(crate) ranges: &'a dyn Ranges,
}

impl Reader<'_> {
    pub(crate) fn read(&mut self, sym: &Sym) -> Result<Lin> {
        sym.interpret(self)
    }
}

fn divisor(b: &Lin) -> Result<i64> {
    match b.as_constant() {
        Some(d) if d > 0 => Ok(d),
        Some(0) => Ok(1),
        _ => Err(Error::unsupported("lowering: division by something that is not a positive number")),
    }
}

impl Arithmetic for Reader<'_> {
    type Value = Lin;
    type Error = Error;

    fn constant(&mut self, c: i64) -> Lin {
        Lin::constant(c)
    }
    fn var(&mut self, v: Var) -> Result<Lin> {
        (self.var)(v).ok_or_else(|| Error::internal(format!("lowering: {} has no value", v.name())))
    }
    fn add(&mut self, a: Lin, b: Lin) -> Lin {
        a.add(&b)
    }
    fn mul(&mut self, a: Lin, b: Lin) -> Result<Lin> {
        Ok(mul(a, b))
    }
    fn floor_div(&mut self, a: Lin, b: Lin) -> Result<Lin> {
        Ok(a.div(divisor(&b)?, self.ranges))
    }
    fn modulo(&mut self, a: Lin, b: Lin) -> Result<Lin> {
        Ok(a.modulo(divisor(&b)?, self.ranges))
    }
    fn min(&mut self, a: Lin, b: Lin) -> Result<Lin> {
        Ok(min(a, b, self.ranges))
    }
    fn max(&mut self, a: Lin, b: Lin) -> Result<Lin> {
        Ok(max(a, b, self.ranges))
    }
    fn overflow(&mut self) -> Error {
        Error::invalid("a size or index does not fit 64 bits")
    }
}
