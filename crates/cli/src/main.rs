//! The `fuseline` command.
//!
//! Exit codes: 0 success; 1 a mismatch, a regression or a failed `--assert`; 2 bad usage or bad input; 3 an op or a feature
//! that is not supported; 4 out of memory, or a bug of Fuseline.

mod args;
mod assert;
mod bind;
mod cmd;
mod error;
mod input;
mod json;
mod limits;
mod model;
mod output;
mod progress;
mod session;
mod sizes;
mod term;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let cli = args::Cli::parse();
    match cmd::dispatch(&cli.command) {
        Ok(verdict) => ExitCode::from(verdict.code()),
        Err(failure) => {
            eprintln!("{}", failure.render(&term::Style::stderr()));
            ExitCode::from(failure.code())
        }
    }
}
