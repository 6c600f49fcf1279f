//! Samples, and the results folder.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base::{Error, Result};
use serde_json::Value;

/// Median seconds of alternating rounds of several workloads: one sample of each per round.
pub(crate) fn interleaved(rounds: usize, workloads: &mut [&mut dyn FnMut() -> Result<()>]) -> Result<Vec<f64>> {
    let mut samples = vec![Vec::with_capacity(rounds); workloads.len()];
    for round in 0..rounds + 1 {
        for (w, s) in workloads.iter_mut().zip(&mut samples) {
            let start = Instant::now();
            w()?;
            if round > 0 {
                s.push(start.elapsed().as_secs_f64());
            }
        }
    }
    Ok(samples.into_iter().map(median).collect())
}

/// Middle sample.
pub(crate) fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_unstable_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(0.0)
}

/// Rounds that take about a second, from seven to forty.
pub(crate) fn rounds_for(once: Duration) -> usize {
    ((1.0 / once.as_secs_f64().max(1e-6)) as usize).clamp(7, 40)
}

/// Days since 1970 as year-month-day (Howard Hinnant's civil-from-days algorithm).
fn date() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() / 86_400) as i64;
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{:02}", doy - (153 * mp + 2) / 5 + 1)
}

/// Writes `benches/results/NAME.json` with date and machine.
pub(crate) fn record(name: &str, value: Value) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/results");
    std::fs::create_dir_all(&folder)?;
    write(&folder.join(format!("{name}.json")), value)
}

/// Writes a JSON file with date and machine.
pub(crate) fn write(path: &Path, mut value: Value) -> Result<()> {
    value["date"] = date().into();
    value["cpu"] = runtime::model().into();
    value["isa"] = runtime::isa().into();
    let text = serde_json::to_string_pretty(&value).map_err(|e| Error::internal(e.to_string()))?;
    std::fs::write(path, text + "\n").map_err(|e| Error::io(format!("{}: {e}", path.display())))?;
    println!("wrote {}", path.display());
    Ok(())
}
