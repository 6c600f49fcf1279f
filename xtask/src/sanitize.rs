//! NVIDIA's compute-sanitizer over the suite's programs, one for each family of kernels.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use base::{Error, Result};
use serde_json::{Value, json};

use crate::flags::Flags;
use crate::stats::write;

/// Options with a value.
const VALUES: [&str; 8] = ["device", "files", "rows", "tools", "filter", "logs", "timeout", "out"];

/// How to run the command.
pub(crate) const USAGE: &str = "sanitize [--tools memcheck,racecheck] [--device cuda] [--files tests/files] [--rows benches/cuda] \
                                [--filter cuda/] [--timeout S] [--logs FOLDER] [--out FILE.json]";

/// Lines of the tools that a summary keeps.
const KEPT: usize = 40;

/// Runs the suite's cases of a filter under each tool; an error if a tool finds something or a case fails.
///
/// # Errors
/// Options that are not understood; no compute-sanitizer; what the tools find.
pub(crate) fn sanitize(words: &[&str]) -> Result<()> {
    let flags = Flags::parse(words, &VALUES, &[])?;
    let logs = flags.text("logs").map_or_else(std::env::temp_dir, PathBuf::from);
    let tools = flags.text("tools").unwrap_or("memcheck,racecheck");
    let found = tools.split(',').map(|tool| under(tool, &flags, &logs)).collect::<Result<Vec<_>>>()?;
    let clean = found.iter().all(|f| f["clean"] == json!(true));
    for f in &found {
        println!("{}: {} errors, suite {}, {:.0} s", f["tool"], f["errors"], f["suite"], f["seconds"].as_f64().unwrap_or(0.0));
        f["reports"].as_array().into_iter().flatten().for_each(|line| println!("    {}", line.as_str().unwrap_or_default()));
    }
    let info = runtime::Device::open(flags.config()?.device, 0)?.info().map(|i| i.name);
    if let Some(path) = flags.text("out") {
        write(path.as_ref(), json!({ "device": info, "version": version()?, "tools": found }))?;
    }
    if clean { Ok(()) } else { Err(Error::internal("compute-sanitizer found errors, or a case failed")) }
}

/// Runs the suite under one tool. Blocks of a cluster read each other's shared memory, which racecheck does not follow: it gets
/// kernels without clusters.
fn under(tool: &str, flags: &Flags, logs: &Path) -> Result<Value> {
    let start = Instant::now();
    let id = std::process::id();
    let [log, result] = ["log", "json"].map(|end| logs.join(format!("sanitize-{id}-{tool}.{end}")));
    let mut command = Command::new("compute-sanitizer");
    command.args(["--tool", tool, "--target-processes", "all", "--print-limit", "20", "--log-file"]).arg(&log);
    command.arg(std::env::current_exe()?).args(["suite", "--jobs", "1", "--seeds", "0", "--out"]).arg(&result);
    command.args(["--filter", flags.text("filter").unwrap_or("cuda/"), "--timeout", flags.text("timeout").unwrap_or("300")]);
    for option in ["device", "files", "rows"] {
        command.args(flags.text(option).into_iter().flat_map(|value| [format!("--{option}"), value.to_owned()]));
    }
    if tool == "racecheck" {
        command.arg("--no-clusters");
    }
    let status = command.env("FUSELINE_WATCH", "1").status().map_err(|e| absent(&e))?;
    let text = std::fs::read_to_string(&log).map_err(|e| Error::io(format!("{}: {e}", log.display())))?;
    let (errors, reports) = reports(&text);
    let suite: Value = std::fs::read_to_string(&result).ok().and_then(|t| serde_json::from_str(&t).ok()).unwrap_or_default();
    let cases = suite["cases"].as_array().map_or(0, Vec::len);
    let failed = suite["failed"].as_u64();
    Ok(json!({
        "tool": tool,
        "clean": errors == Some(0) && failed == Some(0) && cases > 0 && status.success(),
        "errors": errors,
        "suite": format!("{cases} cases, {} failed", failed.map_or_else(|| "?".to_owned(), |n| n.to_string())),
        "cases": suite["cases"],
        "clusters": tool != "racecheck",
        "seconds": start.elapsed().as_secs_f64(),
        "reports": reports,
    }))
}

/// Errors and hazards by a tool's own count, `None` if it did not come to its end; and the first lines that tell of them.
fn reports(log: &str) -> (Option<u64>, Vec<String>) {
    let told: Vec<&str> = log.lines().map(|l| l.trim_start_matches('=').trim()).collect();
    let number = |line: &&str| {
        let rest = line.strip_prefix("ERROR SUMMARY: ").or_else(|| line.strip_prefix("RACECHECK SUMMARY: "))?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    };
    let counts: Vec<u64> = told.iter().filter_map(number).collect();
    let is_told = |l: &&&str| !l.is_empty() && !l.starts_with("COMPUTE-SANITIZER") && number(l) != Some(0);
    let lines = told.iter().filter(is_told).take(KEPT).map(|l| (*l).to_owned());
    ((!counts.is_empty()).then(|| counts.iter().sum()), lines.collect())
}

/// The tool's version.
fn version() -> Result<Option<String>> {
    let output = Command::new("compute-sanitizer").arg("--version").output().map_err(|e| absent(&e))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ok(text.lines().find_map(|l| l.split_once("Version ").map(|(_, v)| v.trim().to_owned())))
}

fn absent(e: &std::io::Error) -> Error {
    Error::unsupported(format!(
        "compute-sanitizer cannot be started ({e}); it comes with NVIDIA's CUDA toolkit: add its folder to PATH"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_lines_are_read() {
        let clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n";
        assert_eq!(reports(clean), (Some(0), Vec::new()));
        let race = "========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n";
        assert_eq!(reports(race), (Some(0), Vec::new()));
        let wrong = "========= COMPUTE-SANITIZER\n========= Invalid __global__ read of size 4 bytes\n=========     at k_add+0x10\n\
                     ========= ERROR SUMMARY: 2 errors\n";
        let (errors, lines) = reports(wrong);
        assert_eq!(errors, Some(2));
        assert_eq!(lines, ["Invalid __global__ read of size 4 bytes", "at k_add+0x10", "ERROR SUMMARY: 2 errors"]);
        assert_eq!(reports("========= COMPUTE-SANITIZER\n").0, None);
    }
}
