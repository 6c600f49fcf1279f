//! Symbolic integers: canonical polynomials over variables, floor divisions, remainders, minima and maxima.
//!
//! Values are mathematical integers; `//` and `%` round toward −∞. A divisor, and every factor of it, is assumed
//! positive. Whatever does not fit (an i64 coefficient, a constant divisor that is not positive, an expression beyond
//! the size limits) becomes the poison value [`Sym::overflow`], which absorbs every operation and evaluates to an error.

mod build;
mod interpret;
mod ops;
pub(crate) mod poly;
mod query;
mod text;
mod var;

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use base::stable_hash;
use serde::{Deserialize, Serialize};

pub(crate) use build::extremum;
pub use interpret::Arithmetic;
pub(crate) use poly::{Mono, Term};
pub use var::Var;

/// A symbolic integer in canonical form; equality is structural.
///
/// ```
/// use scalar::Sym;
/// let x = Sym::parse("(4*i + j)//4").unwrap();
/// assert_eq!(x.to_string(), "i + j//4");
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "Stored", from = "Stored")]
pub struct Sym(Repr);

#[derive(Clone)]
enum Repr {
    Const(i64),
    Poly(Arc<Poly>),
    Overflow,
}

/// At least one term with at least one atom; terms ascending (highest degree first), coefficients not zero.
struct Poly {
    terms: Vec<Term>,
    hash: u64,
    size: u32,
    depth: u16,
    /// Whether a floor division or remainder occurs.
    divides: bool,
    /// [`Var::bit`] of every variable inside.
    vars: u64,
}

/// An indivisible factor of a term.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) enum Atom {
    /// A variable.
    Var(Var),
    /// ⌊numerator / divisor⌋.
    FloorDiv(Sym, Sym),
    /// numerator − divisor · ⌊numerator / divisor⌋.
    Mod(Sym, Sym),
    /// Least of two or more, ascending.
    Min(Arc<[Sym]>),
    /// Greatest of two or more, ascending.
    Max(Arc<[Sym]>),
}

/// What files hold of a [`Sym`].
#[derive(Serialize, Deserialize)]
enum Stored {
    Const(i64),
    Sum(Vec<Term>),
    Overflow,
}

impl From<Sym> for Stored {
    fn from(sym: Sym) -> Stored {
        match sym.0 {
            Repr::Const(c) => Stored::Const(c),
            Repr::Poly(p) => Stored::Sum(p.terms.clone()),
            Repr::Overflow => Stored::Overflow,
        }
    }
}

impl From<Stored> for Sym {
    fn from(stored: Stored) -> Sym {
        match stored {
            Stored::Const(c) => Sym(Repr::Const(c)),
            Stored::Sum(terms) => Sym::from_terms(terms),
            Stored::Overflow => Sym::overflow(),
        }
    }
}

/// Most nodes in one expression tree.
const MAX_SIZE: usize = 4096;
/// Deepest nesting of atoms.
const MAX_DEPTH: usize = 48;

impl Sym {
    /// Zero.
    pub const ZERO: Sym = Sym(Repr::Const(0));
    /// One.
    pub const ONE: Sym = Sym(Repr::Const(1));

    /// The poison value: not a number, absorbs every operation.
    pub const fn overflow() -> Sym {
        Sym(Repr::Overflow)
    }
    /// A variable.
    pub fn var(v: Var) -> Sym {
        Sym::atom(Atom::Var(v))
    }
    /// The variable of that name.
    pub fn named(name: &str) -> Sym {
        Sym::var(Var::new(name))
    }
    /// The product of all; 1 if there are none.
    pub fn product<S: std::borrow::Borrow<Sym>>(factors: impl IntoIterator<Item = S>) -> Sym {
        factors.into_iter().fold(Sym::ONE, |acc, f| &acc * f.borrow())
    }
    /// The value if it is a constant.
    pub fn as_int(&self) -> Option<i64> {
        match self.0 {
            Repr::Const(c) => Some(c),
            _ => None,
        }
    }
    /// The variable if it is exactly one.
    pub fn as_var(&self) -> Option<Var> {
        match self.as_atom() {
            Some(Atom::Var(v)) => Some(*v),
            _ => None,
        }
    }
    /// Whether it is the constant 0.
    pub fn is_zero(&self) -> bool {
        self.is(0)
    }
    /// Whether it is the constant 1.
    pub fn is_one(&self) -> bool {
        self.is(1)
    }
    /// Whether it is the constant `c`.
    pub fn is(&self, c: i64) -> bool {
        self.as_int() == Some(c)
    }
    /// Whether it is the poison value.
    pub fn is_overflow(&self) -> bool {
        matches!(self.0, Repr::Overflow)
    }

    pub(crate) fn as_atom(&self) -> Option<&Atom> {
        match &self.0 {
            Repr::Poly(p) => match p.terms.as_slice() {
                [Term { mono, coef: 1 }] => mono.single(),
                _ => None,
            },
            _ => None,
        }
    }
    pub(crate) fn atom(a: Atom) -> Sym {
        Sym::from_terms(vec![Term { mono: Mono::of(a), coef: 1 }])
    }
    /// One term on its own.
    pub(crate) fn from_term(t: Term) -> Sym {
        Sym::from_terms(vec![t])
    }
    /// The terms; a constant other than 0 is one term without atoms, 0 and the poison value have none.
    pub(crate) fn terms(&self) -> Terms<'_> {
        match &self.0 {
            Repr::Poly(p) => Terms::Many(&p.terms),
            Repr::Const(c) if *c != 0 => Terms::Constant(Term { mono: Mono::unit(), coef: *c }),
            _ => Terms::Many(&[]),
        }
    }
    /// From sorted, combined terms; checks the limits.
    pub(crate) fn from_terms(terms: Vec<Term>) -> Sym {
        match terms.as_slice() {
            [] => return Sym::ZERO,
            [Term { mono, coef }] if mono.degree() == 0 => return Sym(Repr::Const(*coef)),
            _ => {}
        }
        let mut shape = Shape::default();
        for t in &terms {
            shape.size += 1;
            t.mono.atoms().iter().for_each(|a| shape.hold(a));
        }
        if shape.size > MAX_SIZE || shape.depth >= MAX_DEPTH {
            return Sym::overflow();
        }
        let Shape { size, depth, divides, vars } = shape;
        let (size, depth, hash) = (size as u32, depth as u16 + 1, stable_hash(&terms));
        Sym(Repr::Poly(Arc::new(Poly { terms, hash, size, depth, divides, vars })))
    }
    /// Variables inside, as the union of their [`Var::bit`]s.
    pub(crate) fn var_bits(&self) -> u64 {
        if let Repr::Poly(p) = &self.0 { p.vars } else { 0 }
    }
    /// Whether a floor division or remainder occurs inside.
    pub fn divides(&self) -> bool {
        if let Repr::Poly(p) = &self.0 { p.divides } else { false }
    }
    fn key(&self) -> (u8, i64, &[Term]) {
        match &self.0 {
            Repr::Const(c) => (0, *c, &[]),
            Repr::Poly(p) => (1, 0, &p.terms),
            Repr::Overflow => (2, 0, &[]),
        }
    }
    fn same(&self, other: &Sym) -> bool {
        matches!((&self.0, &other.0), (Repr::Poly(a), Repr::Poly(b)) if Arc::ptr_eq(a, b))
    }
    fn surely_different(&self, other: &Sym) -> bool {
        matches!((&self.0, &other.0), (Repr::Poly(a), Repr::Poly(b)) if a.hash != b.hash)
    }
}

/// What [`Sym::from_terms`] measures.
#[derive(Default)]
struct Shape {
    size: usize,
    depth: usize,
    divides: bool,
    vars: u64,
}

impl Shape {
    fn hold(&mut self, a: &Atom) {
        self.size += 1;
        match a {
            Atom::Var(v) => self.vars |= v.bit(),
            Atom::FloorDiv(x, d) | Atom::Mod(x, d) => {
                self.divides = true;
                [x, d].into_iter().for_each(|s| self.nest(s));
            }
            Atom::Min(list) | Atom::Max(list) => list.iter().for_each(|s| self.nest(s)),
        }
    }
    fn nest(&mut self, s: &Sym) {
        self.divides |= s.divides();
        let (size, depth) = if let Repr::Poly(p) = &s.0 { (p.size as usize, usize::from(p.depth)) } else { (1, 0) };
        self.size += size;
        self.depth = self.depth.max(depth);
        self.vars |= s.var_bits();
    }
}

/// Terms of a [`Sym`].
pub(crate) enum Terms<'a> {
    Many(&'a [Term]),
    Constant(Term),
}

impl std::ops::Deref for Terms<'_> {
    type Target = [Term];
    fn deref(&self) -> &[Term] {
        match self {
            Terms::Many(terms) => terms,
            Terms::Constant(term) => std::slice::from_ref(term),
        }
    }
}

impl Atom {
    /// Rebuilt with the expressions directly inside replaced.
    pub(crate) fn map(&self, f: &dyn Fn(&Sym) -> Sym) -> Sym {
        match self {
            Atom::Var(v) => Sym::var(*v),
            Atom::FloorDiv(x, d) => f(x).floor_div(&f(d)),
            Atom::Mod(x, d) => f(x).modulo(&f(d)),
            Atom::Min(list) => extremum(&list.iter().map(f).collect::<Vec<_>>(), true),
            Atom::Max(list) => extremum(&list.iter().map(f).collect::<Vec<_>>(), false),
        }
    }
}

impl PartialEq for Sym {
    fn eq(&self, other: &Sym) -> bool {
        self.same(other) || !self.surely_different(other) && self.key() == other.key()
    }
}
impl Eq for Sym {}
impl PartialOrd for Sym {
    fn partial_cmp(&self, other: &Sym) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Sym {
    fn cmp(&self, other: &Sym) -> Ordering {
        if self.same(other) { Ordering::Equal } else { self.key().cmp(&other.key()) }
    }
    /// The symbolic minimum, as [`Sym::min`]: on an owned receiver, method lookup finds this one first.
    fn min(self, other: Sym) -> Sym {
        Sym::min(&self, &other)
    }
    /// The symbolic maximum, as [`Sym::max`].
    fn max(self, other: Sym) -> Sym {
        Sym::max(&self, &other)
    }
}
impl Hash for Sym {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.0 {
            Repr::Const(c) => state.write_u64(*c as u64),
            Repr::Poly(p) => state.write_u64(p.hash),
            Repr::Overflow => state.write_u8(0),
        }
    }
}
impl Default for Sym {
    fn default() -> Sym {
        Sym::ZERO
    }
}
