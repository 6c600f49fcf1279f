//! The commands.

mod bench;
mod doctor;
mod explain;
mod gpu;
mod kernel;
mod opt;
mod reduce;
mod run;
mod stats;
mod verify;

use crate::args::Command;
use crate::error::{Outcome, Verdict};

/// Runs a command.
///
/// # Errors
/// Whatever stopped it.
pub(crate) fn dispatch(command: &Command) -> Outcome<Verdict> {
    match command {
        Command::Run(a) => run::run(a),
        Command::Explain(a) => explain::explain(a),
        Command::Bench(a) => bench::bench(a),
        Command::Verify(a) => verify::verify(a),
        Command::Opt(a) => opt::opt(a),
        Command::Reduce(a) => reduce::reduce(a),
        Command::Doctor(a) => doctor::doctor(a),
    }
}

/// Prints claims that do not hold to standard error; passes if there are none.
fn judge(failed: &[String]) -> Verdict {
    let style = crate::term::Style::stderr();
    failed.iter().for_each(|f| eprintln!("{}", style.red(f)));
    Verdict::of(failed.is_empty())
}
