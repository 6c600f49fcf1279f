//! Values as polynomials in one value x, in one tanh of a polynomial of x, and in one factor, which tells functions however they are
//! written.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_2_SQRT_PI, SQRT_2};

use scalar::ScalarOp as S;

use crate::comp::{Comp, Def, ValueId};

/// Relative difference up to which coefficients are the same: they are rounded to f32, and so are their products.
const SAME: f64 = 1e-5;

/// Greatest powers of x, of tanh and of the factor.
const MOST: [u32; 3] = [4, 2, 1];

/// Coefficients by the powers of x, of tanh and of the factor.
type Terms = BTreeMap<[u32; 3], f64>;

/// Evaluates values of a comp as polynomials.
struct Polynomials<'a> {
    comp: &'a Comp,
    /// Whether a value is x.
    is_x: &'a dyn Fn(ValueId) -> bool,
    /// Whether a value is the factor.
    is_factor: &'a dyn Fn(ValueId) -> bool,
    /// What the one tanh is of.
    inside: Option<Terms>,
    known: BTreeMap<ValueId, Terms>,
}

/// The factor of x in what tanh is of, in gelu's tanh form; that of x³ is `CUBE` as large.
const SCALE: f64 = FRAC_2_SQRT_PI / SQRT_2;
const CUBE: f64 = 0.044_715;

/// Whether a value is gelu in its tanh form of x.
pub(crate) fn is_gelu_tanh(comp: &Comp, value: ValueId, is_x: &dyn Fn(ValueId) -> bool) -> bool {
    is_of_gelu(comp, value, is_x, &|_| false, &Terms::from([([1, 0, 0], 0.5), ([1, 1, 0], 0.5)]))
}

/// Whether a value is a factor times the derivative of gelu in its tanh form at x: with t = tanh(s·(x + c·x³)), that is
/// (1 + t)/2 + x/2 · (1 − t²) · s·(1 + 3c·x²).
pub(crate) fn is_gelu_tanh_backward(
    comp: &Comp,
    value: ValueId,
    is_x: &dyn Fn(ValueId) -> bool,
    is_factor: &dyn Fn(ValueId) -> bool,
) -> bool {
    let (line, cube) = (SCALE / 2.0, SCALE * CUBE * 1.5);
    let want = [([0, 0, 1], 0.5), ([0, 1, 1], 0.5), ([1, 0, 1], line), ([1, 2, 1], -line), ([3, 0, 1], cube), ([3, 2, 1], -cube)];
    is_of_gelu(comp, value, is_x, is_factor, &Terms::from(want))
}

/// Whether a value is a polynomial in x, the tanh that is in gelu, and the factor.
fn is_of_gelu(
    comp: &Comp,
    value: ValueId,
    is_x: &dyn Fn(ValueId) -> bool,
    is_factor: &dyn Fn(ValueId) -> bool,
    want: &Terms,
) -> bool {
    let mut polynomials = Polynomials { comp, is_x, is_factor, inside: None, known: BTreeMap::new() };
    let outside = polynomials.terms(value);
    let same = |terms: Option<Terms>, want: &Terms| terms.is_some_and(|have| are_same(&have, want));
    let inside = Terms::from([([1, 0, 0], SCALE), ([3, 0, 0], SCALE * CUBE)]);
    same(outside, want) && same(polynomials.inside, &inside)
}

fn are_same(a: &Terms, b: &Terms) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|((p, x), (q, y))| p == q && (x - y).abs() <= SAME * y.abs())
}

fn combined(mut a: Terms, b: &Terms, factor: f64) -> Terms {
    for (power, c) in b {
        *a.entry(*power).or_default() += factor * c;
    }
    a.retain(|_, c| *c != 0.0);
    a
}

fn times(a: &Terms, b: &Terms) -> Option<Terms> {
    let mut out = Terms::new();
    for (p, c) in a {
        for (q, d) in b {
            let powers = [0, 1, 2].map(|i| p[i] + q[i]);
            if powers.iter().zip(MOST).any(|(power, most)| *power > most) {
                return None;
            }
            out = combined(out, &Terms::from([(powers, c * d)]), 1.0);
        }
    }
    Some(out)
}

fn constant(terms: &Terms) -> Option<f64> {
    if terms.is_empty() { Some(0.0) } else { terms.get(&[0; 3]).copied().filter(|_| terms.len() == 1) }
}

impl Polynomials<'_> {
    fn terms(&mut self, value: ValueId) -> Option<Terms> {
        if (self.is_x)(value) {
            return Some(Terms::from([([1, 0, 0], 1.0)]));
        }
        if (self.is_factor)(value) {
            return Some(Terms::from([([0, 0, 1], 1.0)]));
        }
        if let Some(known) = self.known.get(&value) {
            return Some(known.clone());
        }
        let terms = match &self.comp.value(value).def {
            Def::Const(c) => Some(Terms::from([([0; 3], c.as_f64())])),
            Def::Op(op, args) => self.op(*op, args),
            _ => None,
        }?;
        self.known.insert(value, terms.clone());
        Some(terms)
    }

    fn op(&mut self, op: S, args: &[ValueId]) -> Option<Terms> {
        let all = args.iter().map(|&a| self.terms(a)).collect::<Option<Vec<_>>>()?;
        match (op, &all[..]) {
            (S::Add, [a, b]) => Some(combined(a.clone(), b, 1.0)),
            (S::Sub, [a, b]) => Some(combined(a.clone(), b, -1.0)),
            (S::Neg, [a]) => Some(combined(Terms::new(), a, -1.0)),
            (S::Mul, [a, b]) => times(a, b),
            (S::Div, [a, b]) => constant(b).filter(|d| *d != 0.0).map(|d| combined(Terms::new(), a, 1.0 / d)),
            (S::Pow, [a, b]) => match constant(b)? {
                2.0 => times(a, a),
                3.0 => times(&times(a, a)?, a),
                _ => None,
            },
            (S::Tanh, [a]) => self.tanh(a.clone()),
            _ => None,
        }
    }

    fn tanh(&mut self, inside: Terms) -> Option<Terms> {
        if inside.keys().any(|[_, t, factor]| t + factor > 0) || self.inside.as_ref().is_some_and(|other| *other != inside) {
            return None;
        }
        self.inside = Some(inside);
        Some(Terms::from([([0, 1, 0], 1.0)]))
    }
}
