//! Dimension names to symbols.

use std::collections::BTreeMap;

use base::{Error, Result};
use scalar::{Sym, Var};

use crate::proto::DimensionProto;

/// Symbols made so far, by the text of the dimension.
pub(crate) struct Dims<'a> {
    fixed: &'a BTreeMap<String, i64>,
    by_text: BTreeMap<String, Var>,
    used: BTreeMap<String, bool>,
}

impl<'a> Dims<'a> {
    pub(crate) fn new(fixed: &'a BTreeMap<String, i64>) -> Dims<'a> {
        Dims { fixed, by_text: BTreeMap::new(), used: fixed.keys().map(|k| (k.clone(), false)).collect() }
    }
    /// Extent of an input's axis: its number, the symbol of its name, or a symbol named after input and axis.
    pub(crate) fn extent(&mut self, dim: &DimensionProto, input: &str, axis: usize) -> Result<Sym> {
        if let Some(n) = dim.dim_value.filter(|&n| n >= 0) {
            return Ok(Sym::from(n));
        }
        let text = dim.dim_param().trim();
        let unnamed = !text.chars().any(char::is_alphanumeric);
        let own = format!("{input}_{axis}");
        let text = if unnamed { own.as_str() } else { text };
        for name in [text, &identifier(text)] {
            if let Some(&n) = self.fixed.get(name) {
                self.used.insert(name.to_owned(), true);
                return fixed(name, n);
            }
        }
        if let Some(&var) = self.by_text.get(text) {
            return Ok(Sym::var(var));
        }
        let taken = |name: &str| self.by_text.values().any(|v| v.name() == name);
        let base = identifier(text);
        let name = if taken(&base) { (2..).map(|i| format!("{base}_{i}")).find(|n| !taken(n)).unwrap_or(base) } else { base };
        let var = Var::new(&name);
        self.by_text.insert(text.to_owned(), var);
        Ok(Sym::var(var))
    }
    /// Fails when a dimension to fix was not met.
    ///
    /// # Errors
    /// The name, with those that exist.
    pub(crate) fn check_used(&self) -> Result<()> {
        match self.used.iter().find(|(_, used)| !**used) {
            None => Ok(()),
            Some((name, _)) => {
                let known: Vec<&str> = self.by_text.keys().map(String::as_str).collect();
                Err(Error::invalid(format!("no input has a dimension '{name}'; dynamic dimensions: {}", known.join(", "))))
            }
        }
    }
}

fn fixed(name: &str, n: i64) -> Result<Sym> {
    if n < 0 { Err(Error::invalid(format!("dimension {name} cannot be {n}"))) } else { Ok(Sym::from(n)) }
}

/// The text as an identifier: other characters become `_`, and a letter comes first.
fn identifier(text: &str) -> String {
    let body: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(60).collect();
    let body = body.trim_matches('_');
    if body.starts_with(|c: char| c.is_ascii_alphabetic()) && !matches!(body, "min" | "max") {
        body.to_owned()
    } else {
        format!("d_{body}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> DimensionProto {
        DimensionProto { dim_value: None, dim_param: Some(text.into()) }
    }

    #[test]
    fn names_become_identifiers_and_stay_distinct() {
        let none = BTreeMap::new();
        let mut dims = Dims::new(&none);
        let mut show = |d: &DimensionProto, axis| dims.extent(d, "x", axis).unwrap().to_string();
        assert_eq!(show(&named("batch"), 0), "batch");
        assert_eq!(show(&named("p2o.DynamicDimension.0"), 0), "p2o_DynamicDimension_0");
        assert_eq!(show(&named("?"), 2), "x_2");
        assert_eq!(show(&DimensionProto { dim_value: Some(-1), dim_param: None }, 0), "x_0");
        assert_eq!(show(&named("floor(height/2)"), 0), "floor_height_2");
        assert_eq!(show(&named("floor(height*2)"), 0), "floor_height_2_2");
        assert_eq!(show(&named("batch"), 1), "batch");
    }

    #[test]
    fn fixed_dimensions() {
        let fixed = BTreeMap::from([("batch".to_owned(), 4)]);
        let mut dims = Dims::new(&fixed);
        assert!(dims.check_used().unwrap_err().to_string().contains("'batch'"));
        assert_eq!(dims.extent(&named("batch"), "x", 0).unwrap().as_int(), Some(4));
        dims.check_used().unwrap();
    }
}
