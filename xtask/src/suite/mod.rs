//! The correctness suite on a device: one command for a machine that has the device, and nothing else.
//!
//! Cases run in worker processes, so that a crash, a hang or a broken device costs one case only. Programs come from the
//! repository's folders `tests/files` and `benches/cuda`; everything else is inside the binary.

mod cases;
mod compare;
mod device;
mod fuzz;
mod inputs;
mod outcome;
mod plan;
mod planted;
mod rows;
mod schedules;
mod summary;
mod values;
mod worker;
mod zoo;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use base::{Config, Result};

use crate::flags::Flags;
pub(crate) use outcome::Outcome;
use summary::Done;
pub(crate) use summary::Summary;
use worker::Worker;

/// Options with a value.
const VALUES: [&str; 10] = ["device", "files", "rows", "seeds", "seconds", "filter", "out", "jobs", "timeout", "under"];

/// How to run the command.
pub(crate) const USAGE: &str = "suite [--device cuda] [--files tests/files] [--rows benches/cuda] [--seeds N] \
                                [--seconds S] [--filter TEXT,TEXT] [--jobs N] [--timeout S] [--reduce] [--no-clusters] [--under 'PROGRAM OPTION …'] \
                                [--out FILE.json]";

/// What every case needs.
#[derive(Clone)]
pub(crate) struct Context {
    config: Config,
    files: PathBuf,
    rows: PathBuf,
    reduce: bool,
}

/// The suite's options. Worker processes are started by the words of `under`, if there are some.
///
/// # Errors
/// Options that are not understood.
pub(crate) fn options(words: &[&str]) -> Result<Flags> {
    Flags::parse(words, &VALUES, &["reduce", "no-clusters"])
}

/// Runs the suite, or serves as one of its workers; prints a table last. The code is 1 if a case failed.
///
/// # Errors
/// Options that are not understood, a folder without programs.
pub(crate) fn suite(words: &[&str]) -> Result<ExitCode> {
    let serve = words.first() == Some(&"--serve");
    let flags = options(&words[usize::from(serve)..])?;
    if serve {
        let (files, rows) = folders(&flags);
        let mut config = flags.config()?;
        config.cuda.clusters &= !flags.is_set("no-clusters");
        let context = Context { config, files, rows, reduce: flags.is_set("reduce") };
        return worker::serve(&context).map(|()| ExitCode::SUCCESS);
    }
    let summary = supervise(&flags)?;
    print!("{}", summary.table());
    if let Some(path) = flags.text("out") {
        summary.write(path, &flags)?;
    }
    Ok(ExitCode::from(u8::from(summary.failures() > 0)))
}

/// Runs a case in a worker; says at once if it failed.
fn run(worker: &mut Worker, case: String, done: &Mutex<Vec<Done>>) {
    let begun = Instant::now();
    let outcome = worker.run(&case);
    if let Outcome::Failed(f) = &outcome {
        println!("FAILED {case}: {}", f.lines.first().map_or("", String::as_str));
    }
    done.lock().unwrap_or_else(PoisonError::into_inner).push(Done { case, outcome, took: begun.elapsed() });
}

/// Folders of the programs.
fn folders(flags: &Flags) -> (PathBuf, PathBuf) {
    (flags.path("files", "tests/files"), flags.path("rows", "benches/cuda"))
}

/// Runs one case, also of those that no filter names, in a worker of its own.
pub(crate) fn one(flags: &Flags, case: &str, timeout: Duration) -> Outcome {
    Worker::new(0, flags, timeout).run(case)
}

/// Gives every case to one of the workers. The time box is for generated cases; the others all run.
///
/// # Errors
/// Options that are not understood, a folder without programs.
pub(crate) fn supervise(flags: &Flags) -> Result<Summary> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let jobs: usize = flags.or("jobs", (cores / 2).clamp(1, 8))?;
    let timeout = Duration::from_secs(flags.or("timeout", 120)?);
    let limit = Duration::from_secs(flags.or("seconds", 120)?);
    let filter = flags.text("filter").unwrap_or("").to_owned();
    let start = Instant::now();
    let (files, rows) = folders(flags);
    let mut begun = None;
    let in_time = move |_: &String| begun.get_or_insert_with(Instant::now).elapsed() < limit;
    let generated = cases::generated(flags.or("seeds", 150)?).take_while(in_time);
    let is_asked = |case: &String| filter.split(',').any(|part| case.contains(part));
    let done = Mutex::new(Vec::new());
    for case in cases::ALONE.iter().map(ToString::to_string).filter(is_asked) {
        run(&mut Worker::new(0, flags, timeout), case, &done);
    }
    let queue = Mutex::new(cases::fixed(&files, &rows)?.into_iter().chain(generated).filter(is_asked));
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    thread::scope(|s| {
        for number in 0..jobs.max(1) {
            let (mut worker, next, done) = (Worker::new(number, flags, timeout), &next, &done);
            s.spawn(move || {
                while let Some(case) = next() {
                    run(&mut worker, case, done);
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Summary::new(done, start.elapsed()))
}
