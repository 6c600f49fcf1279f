//! Expected-output files: `tests/files/<stage>/*.t`.
//!
//! ```text
//! test simplify
//! func f(x: f32[4]) -> (y) {
//!   …
//! }
//! ----
//! expected output of the stage, or `error: …`
//! ```
//! With `BLESS=1` in the environment of a test, the expected part is rewritten instead of compared.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use base::{Error, Result};

/// A stage: the text between header and `----` to the output.
pub type Stage = Box<dyn Fn(&str) -> Result<String>>;

/// Stages by the name in the header.
#[derive(Default)]
pub struct Stages {
    table: BTreeMap<String, Stage>,
}

impl Stages {
    /// Adds or replaces a stage.
    #[must_use]
    pub fn with(mut self, name: &str, stage: impl Fn(&str) -> Result<String> + 'static) -> Stages {
        self.table.insert(name.to_owned(), Box::new(stage));
        self
    }

    /// Output of the stage that the header names; a failure is output too, as `error: …`.
    ///
    /// # Errors
    /// A header that is missing or names no stage of the table.
    pub fn output(&self, file: &str) -> Result<String> {
        let (name, body, _) = split(file)?;
        let known = || self.table.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
        let stage =
            self.table.get(name).ok_or_else(|| Error::invalid(format!("unknown stage {name:?}; there are {}", known())))?;
        let output = stage(body).unwrap_or_else(|e| format!("error: {e}"));
        Ok(format!("{}\n", output.trim_end()))
    }

    /// Runs every `.t` file under a folder; rewrites the expected parts when `bless` is set.
    ///
    /// # Errors
    /// All files whose output is not the expected one, with the first line that differs; a folder without files.
    pub fn run_folder(&self, folder: &Path, bless: bool) -> Result<usize> {
        let mut files = Vec::new();
        collect(folder, &mut files)?;
        if files.is_empty() {
            return Err(Error::io(format!("no .t files under {}", folder.display())));
        }
        let mut report = String::new();
        for path in &files {
            if let Err(e) = self.run_file(path, bless) {
                let _ = writeln!(report, "{}: {e}", path.display());
            }
        }
        if report.is_empty() {
            Ok(files.len())
        } else {
            Err(Error::invalid(format!("{report}BLESS=1 rewrites the expected output")))
        }
    }

    fn run_file(&self, path: &Path, bless: bool) -> Result<()> {
        let file = std::fs::read_to_string(path)?;
        let output = self.output(&file)?;
        let (name, body, expected) = split(&file)?;
        if output == expected {
            return Ok(());
        }
        if bless {
            return Ok(std::fs::write(path, format!("test {name}\n{body}----\n{output}"))?);
        }
        Err(Error::invalid(difference(expected, &output)))
    }
}

/// Stage name, body and expected output of a file.
fn split(file: &str) -> Result<(&str, &str, &str)> {
    let (header, rest) = file.split_once('\n').unwrap_or((file, ""));
    let name = header.strip_prefix("test ").ok_or_else(|| Error::invalid("the first line must be `test <stage>`"))?.trim();
    match rest.split_once("----\n") {
        Some((body, expected)) => Ok((name, body, expected)),
        None => Ok((name, rest.strip_suffix("----").unwrap_or(rest), "")),
    }
}

/// The first line that differs, and the whole output.
fn difference(expected: &str, output: &str) -> String {
    let (mut want, mut got) = (expected.lines(), output.lines());
    let mut line = 1;
    loop {
        match (want.next(), got.next()) {
            (Some(w), Some(g)) if w == g => line += 1,
            (w, g) => {
                let show = |l: Option<&str>| l.map_or("nothing".to_owned(), |l| format!("{l:?}"));
                return format!("line {line} of the output: expected {}, got {}\n{output}", show(w), show(g));
            }
        }
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let mut entries = std::fs::read_dir(folder)?.map(|e| Ok(e?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "t") {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stages() -> Stages {
        Stages::default().with("upper", |body| Ok(body.to_uppercase())).with("fail", |_| Err(Error::invalid("no")))
    }

    #[test]
    fn output_and_errors() {
        assert_eq!(stages().output("test upper\nabc\n----\n").unwrap(), "ABC\n");
        assert_eq!(stages().output("test fail\nabc\n----\n").unwrap(), "error: no\n");
        assert_eq!(
            stages().output("test lower\n----\n").unwrap_err().to_string(),
            "unknown stage \"lower\"; there are fail, upper"
        );
        assert!(stages().output("upper\n").is_err());
    }

    #[test]
    fn compare_then_bless() {
        let folder = std::env::temp_dir().join(format!("fuseline-filetest-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("a.t");
        std::fs::write(&file, "test upper\nabc\n----\nABD\n").unwrap();
        let e = stages().run_folder(&folder, false).unwrap_err().to_string();
        assert!(e.contains("line 1 of the output: expected \"ABD\", got \"ABC\""), "{e}");
        assert_eq!(stages().run_folder(&folder, true).unwrap(), 1);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "test upper\nabc\n----\nABC\n");
        assert_eq!(stages().run_folder(&folder, false).unwrap(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
