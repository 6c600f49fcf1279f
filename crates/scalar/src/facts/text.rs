//! Text form, one fact a line: `n >= 1`, `n <= 512`, `n % 8 == 0`, `j < n`, `a == b`.

use super::Facts;
use crate::{Sym, Var};

impl Facts {
    /// One line per fact, in a fixed order.
    pub fn lines(&self) -> Vec<String> {
        let mut out = Vec::new();
        for (v, f) in &self.0.vars {
            out.extend(f.min.map(|m| format!("{v} >= {m}")));
            out.extend(f.max.map(|m| format!("{v} <= {m}")));
            out.extend(f.divisible.map(|k| format!("{v} % {k} == 0")));
            out.extend(f.below.iter().map(|s| format!("{v} < {s}")));
        }
        out.extend(self.0.equalities.pairs.iter().map(|(a, b)| format!("{a} == {b}")));
        out
    }
    /// Adds the fact of one line of [`Facts::lines`].
    ///
    /// # Errors
    /// What is wrong with the line.
    pub fn parse_line(&mut self, line: &str) -> Result<(), String> {
        let split = |op: &str| line.split_once(op).map(|(a, b)| (a.trim(), b.trim()));
        if let Some((a, b)) = split(">=") {
            self.set_min(variable(a)?, integer(b)?);
        } else if let Some((a, b)) = split("<=") {
            self.set_max(variable(a)?, integer(b)?);
        } else if let Some((a, b)) = split("==") {
            match a.split_once('%').map(|(v, k)| (variable(v.trim()), integer(k.trim()))) {
                Some((Ok(v), Ok(k))) if b == "0" && k >= 1 => self.set_divisible(v, k),
                Some((Ok(_), Ok(k))) if k < 1 => return Err(format!("`{line}`: the divisor must be at least 1")),
                _ => self.assume_equal(&Sym::parse(a)?, &Sym::parse(b)?),
            }
        } else if let Some((a, b)) = split("<") {
            self.set_below(variable(a)?, &Sym::parse(b)?);
        } else {
            return Err(format!("`{line}` is no fact; write v >= 1, v <= 9, v % 8 == 0, v < n or a == b"));
        }
        Ok(())
    }
}

fn variable(text: &str) -> Result<Var, String> {
    Sym::parse(text)?.as_var().ok_or_else(|| format!("`{text}` is not a variable"))
}

fn integer(text: &str) -> Result<i64, String> {
    Sym::parse(text)?.as_int().ok_or_else(|| format!("`{text}` is not an integer"))
}
