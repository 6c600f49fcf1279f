//! Project tasks.
//!
//! `cargo xtask bench cpu` times fused against unfused execution and against a copy measured in the same run;
//! `cargo xtask bench compile` times the passes on growing graphs and on models, or prints one model's times;
//! `cargo xtask bench record` times recording and replaying a compiled function. They write JSON under `benches/results/`.
//!
//! `xtask suite` tests a device, `xtask bench cuda` times it, `xtask bench start` times a model's first call, `xtask bench tuning` holds a
//! device's schedules against tuned ones, `xtask sanitize` watches its memory accesses. They need no sources at run time but the folders
//! `tests/files` and `benches/cuda`, for machines without cargo: `xtask bundle` makes a folder with all of it.

mod bundle;
mod compile;
mod cpu;
mod flags;
mod gpu;
mod graphs;
mod profile;
mod record;
mod sanitize;
mod stats;
mod suite;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    if words.first() == Some(&"suite") {
        return end(suite::suite(&words[1..]));
    }
    let result = match words[..] {
        ["bench", "cpu"] => cpu::bench(),
        ["bench", "compile"] => compile::bench(),
        ["bench", "compile", model] => compile::one(model),
        ["bench", "record"] => record::bench(),
        ["bench", "cuda", ..] => gpu::bench(&words[2..]),
        ["bench", "start", ..] => gpu::start::bench(&words[2..]),
        ["bench", "tuning", ..] => gpu::tuning(&words[2..]),
        ["profile", model] => profile::profile(model),
        ["bundle", ..] => bundle::bundle(&words[1..]),
        ["sanitize", ..] => sanitize::sanitize(&words[1..]),
        _ => Err(base::Error::invalid(format!(
            "usage: cargo xtask bench cpu | bench compile [MODEL] | bench record | {} | {} | {} | profile MODEL | {} | {} | {}",
            gpu::USAGE,
            gpu::start::USAGE,
            gpu::TUNING_USAGE,
            suite::USAGE,
            sanitize::USAGE,
            bundle::USAGE
        ))),
    };
    end(result.map(|()| ExitCode::SUCCESS))
}

/// The code of a command that ran, or 2 after its error.
fn end(result: base::Result<ExitCode>) -> ExitCode {
    result.unwrap_or_else(|e| {
        eprintln!("error: {e}");
        ExitCode::from(2)
    })
}
