//! What the suite prints last, and writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use base::Result;
use serde_json::{Value, json};

use super::outcome::Outcome;
use crate::flags::Flags;
use crate::stats::write;

/// Failures that the table shows in full.
const SHOWN: usize = 40;

/// A case that is over.
pub(crate) struct Done {
    /// Its name.
    pub(crate) case: String,
    /// What it came to.
    pub(crate) outcome: Outcome,
    /// How long it took.
    pub(crate) took: Duration,
}

/// All cases.
pub(crate) struct Summary {
    done: Vec<Done>,
    took: Duration,
}

impl Summary {
    /// Cases in any order.
    pub(crate) fn new(mut done: Vec<Done>, took: Duration) -> Summary {
        done.sort_by(|a, b| a.case.cmp(&b.case));
        Summary { done, took }
    }

    /// Number of failed cases.
    pub(crate) fn failures(&self) -> usize {
        self.count("", "failed")
    }

    fn count(&self, kind: &str, word: &str) -> usize {
        self.done.iter().filter(|d| d.case.starts_with(kind) && d.outcome.word() == word).count()
    }

    /// Failures, then one line per kind.
    pub(crate) fn table(&self) -> String {
        let mut out = String::new();
        let failed = self.done.iter().filter_map(|d| if let Outcome::Failed(f) = &d.outcome { Some((d, f)) } else { None });
        for (n, (done, failure)) in failed.enumerate() {
            let lines = if n < SHOWN { &failure.lines[..] } else { &[] };
            let _ = writeln!(out, "{}", done.case);
            lines.iter().for_each(|line| out += &format!("    {line}\n"));
        }
        if self.done.len() == 1
            && let Outcome::Failed(f) = &self.done[0].outcome
        {
            out += &f.detail;
        }
        let _ = writeln!(
            out,
            "\n{:<10} {:>7} {:>7} {:>7} {:>11} {:>9}",
            "cases", "passed", "failed", "skipped", "comparisons", "seconds"
        );
        for (kind, (checks, seconds)) in self.kinds() {
            let count = |word| self.count(kind, word);
            let (passed, failed, skipped) = (count("passed"), count("failed"), count("skipped"));
            let _ = writeln!(out, "{kind:<10} {passed:>7} {failed:>7} {skipped:>7} {checks:>11} {seconds:>9.1}");
        }
        let _ = writeln!(out, "{} cases, {} failed, {:.0} s", self.done.len(), self.failures(), self.took.as_secs_f64());
        out
    }

    /// Comparisons and seconds of each kind.
    fn kinds(&self) -> BTreeMap<&str, (usize, f64)> {
        let mut kinds: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
        for d in &self.done {
            let kind = kinds.entry(d.case.split('/').next().unwrap_or("")).or_default();
            kind.0 += if let Outcome::Passed(n) = d.outcome { n } else { 0 };
            kind.1 += d.took.as_secs_f64();
        }
        kinds
    }

    /// Every case, as data.
    pub(crate) fn to_json(&self, flags: &Flags) -> Value {
        let case = |d: &Done| {
            let mut v = d.outcome.to_json();
            v["case"] = json!(d.case);
            v["seconds"] = json!(d.took.as_secs_f64());
            v
        };
        let cases: Vec<Value> = self.done.iter().map(case).collect();
        json!({ "options": flags.without("out").words(), "failed": self.failures(), "seconds": self.took.as_secs_f64(), "cases": cases })
    }

    /// Writes every case to a file.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub(crate) fn write(&self, path: &str, flags: &Flags) -> Result<()> {
        write(path.as_ref(), self.to_json(flags))
    }

    /// Number of cases.
    pub(crate) fn cases(&self) -> usize {
        self.done.len()
    }
}
