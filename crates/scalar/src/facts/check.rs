//! Facts under an assignment.

use base::{Error, Result};

use super::Facts;
use crate::{Sym, Var};

impl Facts {
    /// Whether the values of a run satisfy every fact; facts about variables without a value hold.
    ///
    /// # Errors
    /// The first fact that does not hold, with the values of its variables.
    pub fn check(&self, value: &dyn Fn(Var) -> Option<i64>) -> Result<()> {
        for (&v, f) in &self.0.vars {
            let Some(x) = value(v) else { continue };
            let at_least = f.min.unwrap_or(0);
            expect(x >= at_least, || format!("{v} >= {at_least}"), || format!("{v} is {x}"))?;
            if let Some(max) = f.max {
                expect(x <= max, || format!("{v} <= {max}"), || format!("{v} is {x}"))?;
            }
            if let Some(k) = f.divisible {
                expect(x % k == 0, || format!("{v} % {k} == 0"), || format!("{v} is {x}"))?;
            }
            for extent in &f.below {
                if let Some(n) = bound(extent, value)? {
                    expect(x < n, || format!("{v} < {extent}"), || format!("{v} is {x} and {extent} is {n}"))?;
                }
            }
        }
        for (a, b) in &self.0.equalities.pairs {
            if let (Some(x), Some(y)) = (bound(a, value)?, bound(b, value)?) {
                expect(x == y, || format!("{a} == {b}"), || format!("{a} is {x} and {b} is {y}"))?;
            }
        }
        Ok(())
    }
}

/// The value of an expression whose variables all have one.
fn bound(s: &Sym, value: &dyn Fn(Var) -> Option<i64>) -> Result<Option<i64>> {
    if s.vars().into_iter().any(|v| value(v).is_none()) { Ok(None) } else { s.eval(value).map(Some) }
}

fn expect(holds: bool, fact: impl FnOnce() -> String, found: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::invalid(format!("the graph assumes {}, but {}", fact(), found()))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broken_fact_is_named() {
        let mut facts = Facts::default();
        for line in ["n >= 1", "n <= 9", "n % 2 == 0", "j < n", "n == 2*m"] {
            facts.parse_line(line).unwrap();
        }
        let check = |n: i64, m: Option<i64>| {
            let value = |v: Var| {
                if v.name() == "n" {
                    Some(n)
                } else if v.name() == "m" {
                    m
                } else {
                    None
                }
            };
            facts.check(&value).map_err(|e| e.to_string())
        };
        assert_eq!(check(4, Some(2)), Ok(()));
        assert_eq!(check(4, None), Ok(()));
        assert_eq!(check(0, None).unwrap_err(), "the graph assumes n >= 1, but n is 0");
        assert_eq!(check(10, None).unwrap_err(), "the graph assumes n <= 9, but n is 10");
        assert_eq!(check(3, None).unwrap_err(), "the graph assumes n % 2 == 0, but n is 3");
        assert!(check(4, Some(3)).unwrap_err().starts_with("the graph assumes "));
    }
}
