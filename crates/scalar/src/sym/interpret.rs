//! Reading an expression in another arithmetic.

use super::poly::Mono;
use super::{Atom, Sym, Var};

/// An arithmetic in which a [`Sym`] can be read, e.g. concrete integers over loop axes.
pub trait Arithmetic {
    /// Its numbers.
    type Value;
    /// Why an expression cannot be read.
    type Error;
    /// A constant.
    fn constant(&mut self, c: i64) -> Self::Value;
    /// A variable.
    fn var(&mut self, v: Var) -> Result<Self::Value, Self::Error>;
    /// a + b.
    fn add(&mut self, a: Self::Value, b: Self::Value) -> Self::Value;
    /// a · b.
    fn mul(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// ⌊a / b⌋.
    fn floor_div(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// a − b·⌊a / b⌋.
    fn modulo(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Lesser.
    fn min(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// Greater.
    fn max(&mut self, a: Self::Value, b: Self::Value) -> Result<Self::Value, Self::Error>;
    /// The poison value.
    fn overflow(&mut self) -> Self::Error;
}

impl Sym {
    /// Reads the expression in another arithmetic.
    ///
    /// # Errors
    /// What the arithmetic cannot express, or the poison value.
    pub fn interpret<A: Arithmetic>(&self, a: &mut A) -> Result<A::Value, A::Error> {
        if self.is_overflow() {
            return Err(a.overflow());
        }
        let mut sum = None;
        for term in self.terms().iter() {
            let product = mono(&term.mono, term.coef, a)?;
            sum = Some(match sum {
                None => product,
                Some(s) => a.add(s, product),
            });
        }
        Ok(sum.unwrap_or_else(|| a.constant(0)))
    }
}

fn mono<A: Arithmetic>(m: &Mono, coef: i64, a: &mut A) -> Result<A::Value, A::Error> {
    let mut product = a.constant(coef);
    for factor in m.atoms() {
        let factor = atom(factor, a)?;
        product = a.mul(product, factor)?;
    }
    Ok(product)
}

fn atom<A: Arithmetic>(x: &Atom, a: &mut A) -> Result<A::Value, A::Error> {
    match x {
        Atom::Var(v) => a.var(*v),
        Atom::FloorDiv(n, d) => {
            let (n, d) = (n.interpret(a)?, d.interpret(a)?);
            a.floor_div(n, d)
        }
        Atom::Mod(n, d) => {
            let (n, d) = (n.interpret(a)?, d.interpret(a)?);
            a.modulo(n, d)
        }
        Atom::Min(list) | Atom::Max(list) => {
            let least = matches!(x, Atom::Min(_));
            let mut result = list[0].interpret(a)?;
            for other in &list[1..] {
                let other = other.interpret(a)?;
                result = if least { a.min(result, other)? } else { a.max(result, other)? };
            }
            Ok(result)
        }
    }
}
