//! Constant intervals.

use super::prove::Prover;
use crate::sym::{Atom, Term};
use crate::{Sym, Var};

/// An end of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Below,
    At(i128),
    Above,
}

/// All integers from `lo` to `hi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    lo: End,
    hi: End,
}

use End::{Above, At, Below};

impl Range {
    pub(super) const ALL: Range = Range { lo: Below, hi: Above };

    pub(super) fn point(c: i128) -> Range {
        Range { lo: At(c), hi: At(c) }
    }
    pub(super) fn new(lo: Option<i128>, hi: Option<i128>) -> Range {
        Range { lo: lo.map_or(Below, At), hi: hi.map_or(Above, At) }
    }
    pub(super) fn lo(self) -> Option<i128> {
        if let At(c) = self.lo { Some(c) } else { None }
    }
    pub(super) fn hi(self) -> Option<i128> {
        if let At(c) = self.hi { Some(c) } else { None }
    }
    /// The only member, when there is one.
    pub(super) fn single(self) -> Option<i64> {
        if self.lo == self.hi { self.lo().and_then(|c| i64::try_from(c).ok()) } else { None }
    }
    fn plus(self, other: Range) -> Range {
        let add = |a: Option<i128>, b: Option<i128>| a?.checked_add(b?);
        Range::new(add(self.lo(), other.lo()), add(self.hi(), other.hi()))
    }
    fn times(self, other: Range) -> Range {
        self.corners(other).unwrap_or(Range::ALL)
    }
    /// `None` where a product leaves i128.
    fn corners(self, other: Range) -> Option<Range> {
        let corner = |a: End, b: End| match (a, b) {
            (At(x), At(y)) => x.checked_mul(y).map(At),
            (At(0), _) | (_, At(0)) => Some(At(0)),
            _ => Some(if (a > At(0)) == (b > At(0)) { Above } else { Below }),
        };
        let (ll, lh) = (corner(self.lo, other.lo)?, corner(self.lo, other.hi)?);
        let (hl, hh) = (corner(self.hi, other.lo)?, corner(self.hi, other.hi)?);
        Some(Range { lo: ll.min(lh).min(hl.min(hh)), hi: ll.max(lh).max(hl.max(hh)) })
    }
    /// Floor quotients by divisors of at least 1.
    pub(super) fn floor_div(self, d: Range) -> Range {
        let least = d.lo().unwrap_or(1).max(1);
        let greatest = d.hi().map(|h| h.max(1));
        let lo = self.lo().map(|x| if x < 0 { x.div_euclid(least) } else { greatest.map_or(0, |g| x / g) });
        let hi = self.hi().map(|x| if x >= 0 { x / least } else { greatest.map_or(-1, |g| x.div_euclid(g)) });
        Range::new(lo, hi)
    }
    fn min(self, other: Range) -> Range {
        Range { lo: self.lo.min(other.lo), hi: self.hi.min(other.hi) }
    }
    fn max(self, other: Range) -> Range {
        Range { lo: self.lo.max(other.lo), hi: self.hi.max(other.hi) }
    }
}

/// How many bounds by other variables are followed.
const MAX_CHAIN: usize = 6;

impl Prover<'_> {
    /// Values of an expression.
    pub(super) fn range(&self, e: &Sym) -> Range {
        self.range_within(e, MAX_CHAIN)
    }
    fn range_within(&self, e: &Sym, chain: usize) -> Range {
        if e.is_overflow() {
            return Range::ALL;
        }
        let term = |t: &Term| {
            let start = Range::point(i128::from(t.coef));
            t.mono.atoms().iter().fold(start, |r, a| r.times(self.range_of_atom(a, chain)))
        };
        e.terms().iter().fold(Range::point(0), |sum, t| sum.plus(term(t)))
    }
    pub(super) fn atom_range(&self, a: &Atom) -> Range {
        self.range_of_atom(a, MAX_CHAIN)
    }
    fn range_of_atom(&self, a: &Atom, chain: usize) -> Range {
        let of = |s: &Sym| self.range_within(s, chain);
        match a {
            Atom::Var(v) => self.var_range(*v, chain),
            Atom::FloorDiv(x, d) => of(x).floor_div(of(d)),
            Atom::Mod(x, d) => {
                let (x, d) = (of(x), of(d));
                let below = d.hi().map(|h| (h - 1).max(0));
                let hi = if x.lo >= At(0) { x.hi().into_iter().chain(below).min() } else { below };
                Range::new(Some(0), hi)
            }
            Atom::Min(list) => list.iter().map(of).reduce(Range::min).unwrap_or(Range::ALL),
            Atom::Max(list) => list.iter().map(of).reduce(Range::max).unwrap_or(Range::ALL),
        }
    }
    fn var_range(&self, v: Var, chain: usize) -> Range {
        if let Some(&known) = self.ranges.borrow().get(&(v, chain)) {
            return known;
        }
        let mut hi = self.facts.max(v).map(i128::from);
        if chain > 0 {
            for extent in self.facts.below(v) {
                let top = self.range_within(extent, chain - 1).hi().and_then(|h| h.checked_sub(1));
                hi = hi.into_iter().chain(top).min();
            }
        }
        let range = Range::new(Some(i128::from(self.least(v))), hi);
        self.ranges.borrow_mut().insert((v, chain), range);
        range
    }
}
