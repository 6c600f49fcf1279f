//! Terms and their arithmetic. `None` means that a coefficient left i64 or a product has too many terms.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use super::Atom;

/// A product of atoms, ascending, repeated for powers. Ordered by degree, highest first, then lexicographically: the
/// reverse of a graded lexicographic monomial order, so the first term of a sorted sum is its leading term.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Mono(SmallVec<[Atom; 2]>);

/// A coefficient times a product of atoms.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Term {
    pub(crate) mono: Mono,
    pub(crate) coef: i64,
}

/// Most products formed by one multiplication.
const MAX_PRODUCTS: usize = 4096;

impl Mono {
    pub(crate) fn unit() -> Mono {
        Mono(SmallVec::new())
    }
    pub(crate) fn of(a: Atom) -> Mono {
        Mono(smallvec![a])
    }
    pub(crate) fn from_atoms(atoms: impl IntoIterator<Item = Atom>) -> Mono {
        let mut list: SmallVec<[Atom; 2]> = atoms.into_iter().collect();
        list.sort();
        Mono(list)
    }
    pub(crate) fn atoms(&self) -> &[Atom] {
        &self.0
    }
    pub(crate) fn degree(&self) -> usize {
        self.0.len()
    }
    pub(crate) fn single(&self) -> Option<&Atom> {
        if self.0.len() == 1 { self.0.first() } else { None }
    }
    pub(crate) fn times(&self, other: &Mono) -> Mono {
        Mono::from_atoms(self.0.iter().chain(&other.0).cloned())
    }
    /// The quotient when every atom of `other` occurs.
    pub(crate) fn over(&self, other: &Mono) -> Option<Mono> {
        let mut rest = self.0.clone();
        for a in &other.0 {
            let at = rest.iter().position(|r| r == a)?;
            rest.remove(at);
        }
        Some(Mono(rest))
    }
    /// The atoms that both have.
    pub(crate) fn common(&self, other: &Mono) -> Mono {
        let mut left = other.0.clone();
        let mut out = SmallVec::new();
        for a in &self.0 {
            if let Some(at) = left.iter().position(|l| l == a) {
                left.remove(at);
                out.push(a.clone());
            }
        }
        Mono(out)
    }
}

impl Ord for Mono {
    fn cmp(&self, other: &Mono) -> Ordering {
        other.0.len().cmp(&self.0.len()).then_with(|| self.0.cmp(&other.0))
    }
}
impl PartialOrd for Mono {
    fn partial_cmp(&self, other: &Mono) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Term {
    pub(crate) fn times(&self, other: &Term) -> Option<Term> {
        Some(Term { mono: self.mono.times(&other.mono), coef: self.coef.checked_mul(other.coef)? })
    }
    /// The exact quotient.
    pub(crate) fn over(&self, other: &Term) -> Option<Term> {
        let coef = if self.coef.checked_rem(other.coef)? == 0 { self.coef.checked_div(other.coef)? } else { return None };
        Some(Term { mono: self.mono.over(&other.mono)?, coef })
    }
}

/// Sum of two sorted sums.
pub(crate) fn add(a: &[Term], b: &[Term]) -> Option<Vec<Term>> {
    let mut out = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].mono.cmp(&b[j].mono) {
            Ordering::Less => {
                out.push(a[i].clone());
                i += 1;
            }
            Ordering::Greater => {
                out.push(b[j].clone());
                j += 1;
            }
            Ordering::Equal => {
                let coef = a[i].coef.checked_add(b[j].coef)?;
                if coef != 0 {
                    out.push(Term { mono: a[i].mono.clone(), coef });
                }
                (i, j) = (i + 1, j + 1);
            }
        }
    }
    out.extend_from_slice(&a[i..]);
    out.extend_from_slice(&b[j..]);
    Some(out)
}

/// `terms · by`, sorted.
pub(crate) fn scale(terms: &[Term], by: &Term) -> Option<Vec<Term>> {
    if by.coef == 0 {
        return Some(Vec::new());
    }
    let mut out = terms.iter().map(|t| t.times(by)).collect::<Option<Vec<_>>>()?;
    if by.mono.degree() > 0 {
        out.sort_by(|a, b| a.mono.cmp(&b.mono));
    }
    Some(out)
}

/// Product of two sorted sums.
pub(crate) fn mul(a: &[Term], b: &[Term]) -> Option<Vec<Term>> {
    if a.len().saturating_mul(b.len()) > MAX_PRODUCTS {
        return None;
    }
    let mut products = Vec::with_capacity(a.len() * b.len());
    for x in a {
        for y in b {
            products.push(x.times(y)?);
        }
    }
    collect(products)
}

/// Sorts, and combines equal products of atoms.
pub(crate) fn collect(mut terms: Vec<Term>) -> Option<Vec<Term>> {
    terms.sort_by(|a, b| a.mono.cmp(&b.mono));
    let mut out: Vec<Term> = Vec::with_capacity(terms.len());
    for t in terms {
        match out.last_mut() {
            Some(last) if last.mono == t.mono => last.coef = last.coef.checked_add(t.coef)?,
            _ => out.push(t),
        }
    }
    out.retain(|t| t.coef != 0);
    Some(out)
}

/// `a − b · t`.
pub(crate) fn sub_scaled(a: &[Term], b: &[Term], t: &Term) -> Option<Vec<Term>> {
    add(a, &scale(b, &Term { mono: t.mono.clone(), coef: t.coef.checked_neg()? })?)
}

/// Quotient when `d` divides `x` exactly as polynomials.
pub(crate) fn exact_div(x: &[Term], d: &[Term]) -> Option<Vec<Term>> {
    let lead = d.first()?;
    let (mut rest, mut quotient) = (x.to_vec(), Vec::new());
    while let Some(t) = rest.first() {
        if quotient.len() > MAX_PRODUCTS {
            return None;
        }
        let q = t.over(lead)?;
        rest = sub_scaled(&rest, d, &q)?;
        quotient.push(q);
    }
    collect(quotient)
}

/// Some `(q, r)` with `x = q·d + r`, where `r` keeps no term that a term of `q` could remove.
///
/// Coefficients divide toward zero, the constant term toward −∞.
pub(crate) fn divide(x: &[Term], d: &[Term]) -> Option<(Vec<Term>, Vec<Term>)> {
    let lead = d.first()?;
    let (mut rest, mut q, mut r) = (x.to_vec(), Vec::new(), Vec::new());
    while let Some(t) = rest.first().cloned() {
        let part = t.mono.over(&lead.mono).and_then(|mono| {
            let floor = t.mono.degree() == 0;
            let coef = if floor { t.coef.checked_div_euclid(lead.coef)? } else { t.coef.checked_div(lead.coef)? };
            (coef != 0).then_some(Term { mono, coef })
        });
        if let Some(part) = part {
            rest = sub_scaled(&rest, d, &part)?;
            q.push(part);
        }
        if rest.first().is_some_and(|now| now.mono == t.mono) {
            r.push(rest.remove(0));
        }
        if q.len() + r.len() > MAX_PRODUCTS {
            return None;
        }
    }
    let (q, r) = (collect(q)?, collect(r)?);
    Some(if d.len() > 1 && r.len() >= x.len() { (Vec::new(), x.to_vec()) } else { (q, r) })
}

/// Greatest constant that divides all coefficients, and the atoms that all terms share.
pub(crate) fn content<'a>(terms: impl IntoIterator<Item = &'a Term>) -> Option<Term> {
    let mut it = terms.into_iter();
    let first = it.next()?;
    let start = (first.mono.clone(), first.coef.unsigned_abs());
    let (mono, coef) = it.fold(start, |(m, c), t| (m.common(&t.mono), gcd(c, t.coef.unsigned_abs())));
    Some(Term { mono, coef: i64::try_from(coef).ok()? })
}

pub(crate) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
