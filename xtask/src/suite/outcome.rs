//! What one case came to.

use base::Error;
use serde_json::{Value, json};

/// Lines that a failure may take in the table.
pub(crate) const LINES: usize = 6;
/// Characters of such a line.
const WIDTH: usize = 240;

/// What one case came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// So many comparisons agreed.
    Passed(usize),
    /// It does not apply here; the reason.
    Skipped(String),
    /// What went wrong.
    Failed(Failure),
}

/// What went wrong, short and long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failure {
    /// At most [`LINES`] lines.
    pub(crate) lines: Vec<String>,
    /// The program, for the results file.
    pub(crate) detail: String,
}

impl Failure {
    /// A failure with a program text; lines beyond the limit are dropped.
    pub(crate) fn new(lines: impl IntoIterator<Item = String>, detail: String) -> Failure {
        let short = |line: &str| line.chars().take(WIDTH).collect::<String>();
        let lines: Vec<String> = lines.into_iter().flat_map(|l| l.lines().map(short).collect::<Vec<_>>()).collect();
        let mut kept: Vec<String> = lines.iter().take(LINES).cloned().collect();
        if lines.len() > LINES {
            kept[LINES - 1] = format!("… and {} more lines", lines.len() - LINES + 1);
        }
        Failure { lines: kept, detail }
    }
}

impl From<Error> for Outcome {
    fn from(e: Error) -> Outcome {
        Outcome::Failed(Failure::new([e.to_string()], String::new()))
    }
}

impl Outcome {
    /// Passed if there are no complaints.
    pub(crate) fn of(checks: usize, complaints: Vec<String>, detail: impl FnOnce() -> String) -> Outcome {
        if complaints.is_empty() { Outcome::Passed(checks) } else { Outcome::Failed(Failure::new(complaints, detail())) }
    }

    /// One word for it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Outcome::Passed(_) => "passed",
            Outcome::Skipped(_) => "skipped",
            Outcome::Failed(_) => "failed",
        }
    }

    /// As data.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Outcome::Passed(checks) => json!({ "outcome": "passed", "checks": checks }),
            Outcome::Skipped(why) => json!({ "outcome": "skipped", "why": why }),
            Outcome::Failed(f) => json!({ "outcome": "failed", "lines": f.lines, "detail": f.detail }),
        }
    }

    /// From data that [`Outcome::to_json`] made; anything else is a failure.
    pub(crate) fn from_json(v: &Value) -> Outcome {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        match v["outcome"].as_str() {
            Some("passed") => Outcome::Passed(v["checks"].as_u64().unwrap_or(0) as usize),
            Some("skipped") => Outcome::Skipped(text(&v["why"])),
            _ => {
                let lines = v["lines"].as_array().map(|l| l.iter().map(text).collect()).unwrap_or_default();
                Outcome::Failed(Failure { lines, detail: text(&v["detail"]) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_survive_a_pipe() {
        let failed = Outcome::Failed(Failure::new((0..9).map(|i| format!("line {i}")), "func".into()));
        for outcome in [Outcome::Passed(3), Outcome::Skipped("no".into()), failed] {
            assert_eq!(Outcome::from_json(&outcome.to_json()), outcome);
        }
    }

    #[test]
    fn failures_are_short() {
        let failure = Failure::new((0..9).map(|i| format!("line {i}")), String::new());
        assert_eq!(failure.lines.len(), LINES);
        assert_eq!(failure.lines[LINES - 1], "… and 4 more lines");
    }
}
