//! How far the schedules that sizes suggest are from those that a tuner finds.

use std::path::Path;
use std::time::Instant;

use base::{Config, Numerics, Result};
use serde_json::{Value, json};

use super::measured::{Calls, Recording};
use super::row::{self, Row};
use crate::flags::Flags;
use crate::stats::{median, write};

/// Options with a value.
const VALUES: [&str; 6] = ["device", "files", "rows", "rounds", "seconds", "out"];

/// How to run the command.
pub(crate) const USAGE: &str = "bench tuning [--device cuda] [--files benches/cuda] [--rows TEXT] [--rounds N] \
                                [--seconds S] [--out FILE.json]";

/// Part of the time of the usual schedules within which they should be.
const CLOSE: f64 = 0.05;

/// Times rows as usual and tuned, in turn, in wide numerics; `--seconds` is for tuning one row.
///
/// # Errors
/// Options that are not understood, a device that is not there, a folder without rows.
pub(crate) fn tuning(words: &[&str]) -> Result<()> {
    let flags = Flags::parse(words, &VALUES, &[])?;
    let usual = Config { numerics: Numerics::Wide, cache: None, ..flags.config()? };
    let tuned = Config { tune: Some(flags.or("seconds", Config::TUNE_SECONDS)?), ..usual.clone() };
    let rounds = flags.or("rounds", 15)?;
    println!("{:<46} {:>9} {:>9} {:>6} {:>9}", "row", "usual ms", "tuned ms", "ratio", "tuning s");
    let mut rows = Vec::new();
    for file in row::files(&flags.path("files", "benches/cuda"), flags.text("rows").unwrap_or(""))? {
        rows.push(shown(&file, compare(&file, [&usual, &tuned], rounds)));
    }
    let ratios: Vec<f64> = rows.iter().filter_map(|r| r["ratio"].as_f64()).collect();
    let close = ratios.iter().filter(|r| **r <= 1.0 + CLOSE).count();
    println!("{close} of {} rows within {:.0} % of tuned", ratios.len(), 100.0 * CLOSE);
    let note = "medians of interleaved rounds, L2 flushed before each; wide numerics; ratio is usual over tuned";
    flags.text("out").map_or(Ok(()), |path| write(path.as_ref(), json!({ "note": note, "rounds": rounds, "rows": rows })))
}

/// Prints a row; gives it as data.
fn shown(file: &Path, result: Result<Compared>) -> Value {
    let name = file.display().to_string();
    match result {
        Ok(Compared { name, usual, tuned, seconds }) => {
            let ratio = usual / tuned.max(1e-12);
            println!("{name:<46} {:>9.4} {:>9.4} {ratio:>6.3} {seconds:>9.2}", usual * 1e3, tuned * 1e3);
            json!({ "row": name, "usual_ms": usual * 1e3, "tuned_ms": tuned * 1e3, "ratio": ratio, "tuning_s": seconds })
        }
        Err(e) => {
            println!("{name}: ERROR {e}");
            json!({ "row": name, "error": e.to_string() })
        }
    }
}

struct Compared {
    name: String,
    /// Seconds of a run.
    usual: f64,
    tuned: f64,
    /// Seconds of the tuned first call.
    seconds: f64,
}

fn compare(file: &Path, configs: [&Config; 2], rounds: usize) -> Result<Compared> {
    let row = Row::load(file)?;
    let usual = driver::compile(&row.module, configs[0])?;
    let usual = Calls::new(&usual, row.arrays(usual.device().pool())?);
    usual.run()?;
    let tuned = driver::compile(&row.module, configs[1])?;
    let tuned = Calls::new(&tuned, row.arrays(tuned.device().pool())?);
    let start = Instant::now();
    tuned.run()?;
    tuned.executable.device().synchronize()?;
    let seconds = start.elapsed().as_secs_f64();
    let both = [&usual, &tuned];
    let recordings = [Recording::new(&usual)?, Recording::new(&tuned)?];
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..=rounds {
        for (n, calls) in both.iter().enumerate() {
            let time = once(calls, recordings[n].as_ref())?;
            if round > 0 {
                times[n].push(time);
            }
        }
    }
    let [usual, tuned] = times.map(median);
    Ok(Compared { name: row.name, usual, tuned, seconds })
}

/// Seconds of a run, recorded where that is possible.
fn once(calls: &Calls<'_>, recording: Option<&Recording>) -> Result<f64> {
    let device = calls.executable.device();
    device.flush_l2()?;
    let run = || recording.map_or_else(|| calls.run().map(drop), |r| r.recorded.replay());
    Ok(device.time(run)?.as_secs_f64())
}
