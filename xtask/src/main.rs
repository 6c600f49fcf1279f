//! Project tasks.
//!
//! `cargo xtask bench cpu` times fused against unfused execution and against a copy measured in the same run;
//! `cargo xtask bench compile` times the passes on growing graphs. Both write JSON under `benches/results/`.

mod compile;
mod cpu;
mod graphs;
mod stats;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words[..] {
        ["bench", "cpu"] => cpu::bench(),
        ["bench", "compile"] => compile::bench(),
        _ => Err(base::Error::invalid("usage: cargo xtask bench cpu | cargo xtask bench compile")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("error: {e}");
            ExitCode::from(2)
        }
    }
}
