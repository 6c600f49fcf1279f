//! NVIDIA's compute-sanitizer over the suite's programs, one for each family of kernels.
//!
//! The suite's worker processes run under it. A kernel with a planted fault comes first: a tool that does not see it proves nothing.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use base::{Error, Result};
use serde_json::{Value, json};

use crate::flags::Flags;
use crate::stats::write;
use crate::suite;

/// Options with a value.
const VALUES: [&str; 9] = ["device", "files", "rows", "tools", "filter", "logs", "jobs", "timeout", "out"];

/// How to run the command.
pub(crate) const USAGE: &str = "sanitize [--tools memcheck,racecheck] [--device cuda] [--files tests/files] [--rows benches/cuda] \
                                [--filter cuda/] [--jobs N] [--timeout S] [--logs FOLDER] [--out FILE.json]";

/// Lines of the tools that a summary keeps.
const KEPT: usize = 40;

/// Runs the suite's cases of a filter under each tool.
///
/// # Errors
/// Options that are not understood; no compute-sanitizer, or one that does not see a planted fault; what it finds; a case that fails.
pub(crate) fn sanitize(words: &[&str]) -> Result<()> {
    let flags = Flags::parse(words, &VALUES, &[])?;
    let logs = flags.text("logs").map_or_else(std::env::temp_dir, PathBuf::from);
    let version = version()?;
    let tools = flags.text("tools").unwrap_or("memcheck,racecheck");
    let found = tools.split(',').map(|tool| under(tool, &flags, &logs)).collect::<Result<Vec<_>>>()?;
    let clean = found.iter().all(|f| f["clean"] == json!(true));
    for f in &found {
        println!(
            "{}: {} errors, {} of libraries; {} cases, {} failed",
            f["tool"], f["errors"], f["errors_of_libraries"], f["cases"], f["suite"]["failed"]
        );
        f["reports"].as_array().into_iter().flatten().for_each(|line| println!("    {}", line.as_str().unwrap_or_default()));
    }
    let info = runtime::Device::open(flags.config()?.device, 0)?.info().map(|i| i.name);
    if let Some(path) = flags.text("out") {
        write(path.as_ref(), json!({ "device": info, "version": version, "tools": found }))?;
    }
    if clean { Ok(()) } else { Err(Error::internal("compute-sanitizer found errors, or a case failed")) }
}

/// Runs the suite under one tool. Blocks of a cluster read each other's shared memory, which racecheck does not follow: it gets
/// kernels without clusters.
fn under(tool: &str, flags: &Flags, logs: &Path) -> Result<Value> {
    let start = Instant::now();
    let mark = format!("sanitize-{}-{tool}", std::process::id());
    let [control, mark] = ["control", "suite"].map(|part| format!("{mark}-{part}"));
    let fault = if tool == "racecheck" { "planted/race" } else { "planted/write" };
    suite::one(&options(tool, flags, logs, &control)?, fault, Duration::from_secs(120));
    let seen = Told::read(&told(logs, &control)?).lines;
    if seen.is_empty() {
        return Err(Error::internal(format!(
            "compute-sanitizer's {tool} does not see {fault}: its other findings prove nothing"
        )));
    }
    let options = options(tool, flags, logs, &mark)?;
    let summary = suite::supervise(&options)?;
    let Told { errors, of_libraries, lines } = Told::read(&told(logs, &mark)?);
    Ok(json!({
        "tool": tool,
        "clean": errors == Some(0) && summary.failures() == 0 && summary.cases() > 0,
        "errors": errors,
        "errors_of_libraries": of_libraries,
        "cases": summary.cases(),
        "clusters": tool != "racecheck",
        "seconds": start.elapsed().as_secs_f64(),
        "reports": lines,
        "planted": { "fault": fault, "reports": seen },
        "suite": summary.to_json(&options),
    }))
}

/// The suite's options, with workers under a tool that writes a log for each. Buffers are allocations of their own.
fn options(tool: &str, flags: &Flags, logs: &Path, mark: &str) -> Result<Flags> {
    let log = logs.join(format!("{mark}-%p.log")).display().to_string();
    if log.contains(char::is_whitespace) {
        return Err(Error::invalid(format!("--logs: {} has a space in it", logs.display())));
    }
    let near = if tool == "memcheck" { " --padding 512" } else { "" };
    let under = format!("env FUSELINE_WATCH=1 compute-sanitizer --tool {tool} --print-limit 20{near} --log-file {log}");
    let mut words = vec!["--under", &under, "--seeds", "0"];
    for (option, default) in [("--filter", "cuda/"), ("--jobs", "4"), ("--timeout", "300")] {
        words.extend([option, flags.text(&option[2..]).unwrap_or(default)]);
    }
    for option in ["--device", "--files", "--rows"] {
        words.extend(flags.text(&option[2..]).into_iter().flat_map(|value| [option, value]));
    }
    if tool == "racecheck" {
        words.push("--no-clusters");
    }
    suite::options(&words)
}

/// What a tool wrote of all processes.
fn told(logs: &Path, mark: &str) -> Result<String> {
    let entries = std::fs::read_dir(logs).map_err(|e| Error::io(format!("{}: {e}", logs.display())))?;
    let is_log = |p: &PathBuf| p.extension().is_some_and(|e| e == "log") && p.to_string_lossy().contains(mark);
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).filter(is_log).collect();
    files.sort();
    Ok(files.iter().filter_map(|f| std::fs::read_to_string(f).ok()).collect())
}

/// What a tool tells.
#[derive(Debug, Default, PartialEq, Eq)]
struct Told {
    /// Errors and hazards by its own count, without those of libraries; `None` if it did not come to its end.
    errors: Option<usize>,
    /// Races that it reports in kernels of libraries: they wait by barriers in memory for copies that run on their own, which
    /// racecheck does not follow.
    of_libraries: usize,
    /// The first lines that tell of errors.
    lines: Vec<String>,
}

impl Told {
    fn read(log: &str) -> Told {
        let told: Vec<&str> = log.lines().map(|l| l.trim_start_matches('=').trim()).collect();
        let number = |line: &&str| {
            let rest = line.strip_prefix("ERROR SUMMARY: ").or_else(|| line.strip_prefix("RACECHECK SUMMARY: "))?;
            let (count, what) = rest.split_once(' ')?;
            count.parse::<usize>().ok().filter(|_| !what.contains("not printed"))
        };
        let counts: Vec<usize> = told.iter().filter_map(number).collect();
        let of_libraries = told.iter().filter(|l| is_of_library(l)).count();
        let is_told = |l: &&&str| !l.is_empty() && !l.starts_with("COMPUTE-SANITIZER") && number(l) != Some(0);
        let lines = told.iter().filter(is_told).take(KEPT).map(|l| (*l).to_owned()).collect();
        let errors = (!counts.is_empty()).then(|| counts.iter().sum::<usize>().saturating_sub(of_libraries));
        Told { errors, of_libraries, lines }
    }
}

/// Whether a line tells of a race in another kernel than ours, whose names begin with `k_`.
fn is_of_library(line: &str) -> bool {
    line.contains("Race reported") && line.split_once(" access at ").is_some_and(|(_, kernel)| !kernel.starts_with("k_"))
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
        let head = "========= COMPUTE-SANITIZER\n";
        let clean = Told { errors: Some(0), ..Told::default() };
        assert_eq!(Told::read(&format!("{head}========= ERROR SUMMARY: 0 errors\n")), clean);
        let race = "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n";
        assert_eq!(Told::read(&format!("{head}{race}")), clean);
        assert_eq!(Told::read(head).errors, None);
        let wrong = "========= Invalid __global__ read of size 4 bytes\n=========     at k_add+0x10\n========= ERROR SUMMARY: 38 errors\n\
                     ========= ERROR SUMMARY: 18 errors were not printed. Use --print-limit option to adjust the number\n";
        let told = Told::read(&format!("{head}{wrong}"));
        assert_eq!((told.errors, told.of_libraries, &*told.lines[1]), (Some(38), 0, "at k_add+0x10"));
    }

    #[test]
    fn races_of_libraries_are_counted_apart() {
        let race = |kernel: &str| {
            format!(
                "========= Error: Race reported between Read access at {kernel}+0xa60\n=========     and Write access at {kernel}+0x2f80 [384 hazards]\n"
            )
        };
        let log =
            race("nvjet_sm90_tst") + &race("k_sum") + "========= RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)\n";
        let told = Told::read(&log);
        assert_eq!((told.errors, told.of_libraries, told.lines.len()), (Some(1), 1, 5));
    }
}
