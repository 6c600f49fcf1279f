//! Claims about numbers, for continuous integration: `kernels<=40`, `peak-mem<=16MB`.

use base::{Error, Result};

/// `metric op value`.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    text: String,
    metric: String,
    holds: fn(f64, f64) -> bool,
    value: f64,
}

type Relation = (&'static str, fn(f64, f64) -> bool);

/// Longer symbols first.
const RELATIONS: [Relation; 6] = [
    ("<=", |a, b| a <= b),
    (">=", |a, b| a >= b),
    ("==", |a, b| a == b),
    ("<", |a, b| a < b),
    (">", |a, b| a > b),
    ("=", |a, b| a == b),
];

const UNITS: [(&str, f64); 7] =
    [("", 1.0), ("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("MiB", 1048576.0), ("GiB", 1073741824.0)];

impl Claim {
    /// Reads one claim.
    ///
    /// # Errors
    /// Text that is not one.
    pub(crate) fn parse(text: &str) -> Result<Claim> {
        let bad = |why: &str| Error::invalid(format!("--assert {text:?}: {why}; write e.g. kernels<=40 or peak-mem<=16MB"));
        let found = RELATIONS.iter().find_map(|&(symbol, holds)| text.split_once(symbol).map(|(m, v)| (m, holds, v)));
        let (metric, holds, value) = found.ok_or_else(|| bad("no relation"))?;
        let value = value.trim();
        let digits = value.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(value.len());
        let (number, unit) = value.split_at(digits);
        let number: f64 = number.parse().map_err(|_| bad("no number"))?;
        let unit = unit.trim();
        let scale = UNITS.iter().find(|(u, _)| u.eq_ignore_ascii_case(unit)).ok_or_else(|| bad("unknown unit"))?.1;
        Ok(Claim { text: text.to_owned(), metric: metric.trim().to_owned(), holds, value: number * scale })
    }
}

/// Checks claims against measured numbers: the sentences for those that do not hold.
///
/// # Errors
/// A malformed claim, or one about a metric that does not exist.
pub(crate) fn failed(claims: &[String], metrics: &[(&str, f64)]) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for text in claims {
        let claim = Claim::parse(text)?;
        let names = || metrics.iter().map(|m| m.0).collect::<Vec<_>>().join(", ");
        let found = metrics.iter().find(|m| m.0 == claim.metric);
        let &(_, is) = found
            .ok_or_else(|| Error::invalid(format!("--assert {text:?}: no metric {:?}; there are {}", claim.metric, names())))?;
        if !(claim.holds)(is, claim.value) {
            failed.push(format!("assertion failed: {}: {} is {is}", claim.text, claim.metric));
        }
    }
    Ok(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_hold_or_not() {
        let metrics = [("kernels", 41.0), ("peak-mem", 16e6)];
        let check = |c: &str| failed(&[c.to_owned()], &metrics);
        assert_eq!(check("kernels<=41").unwrap(), Vec::<String>::new());
        assert_eq!(check("kernels <= 40").unwrap(), ["assertion failed: kernels <= 40: kernels is 41"]);
        assert!(check("peak-mem<=16MB").unwrap().is_empty() && check("peak-mem<16MB").unwrap().len() == 1);
        assert!(check("peak-mem<=15.5MiB").unwrap().is_empty());
        assert!(check("kernels==41").unwrap().is_empty());
        for bad in ["kernels", "kernels<=", "kernels<=4parsecs", "cats<=4"] {
            assert!(check(bad).is_err(), "{bad}");
        }
    }
}
