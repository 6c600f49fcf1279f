//! What a device owes beside right numbers: re-entrancy, errors that leave it usable, recordings that repeat a run.

use std::sync::Arc;
use std::thread;

use base::{DeviceId, Error, Result};
use driver::{Device, Executable, Module};
use graph::{HostTensor, text};
use testing::tolerance::Tolerance;

use super::compare::difference;
use super::outcome::Outcome;
use super::values::{BELOW, arguments, arrays, given, module, run};
use super::{Context, inputs, plan};

/// Threads that run one executable at once.
const THREADS: u64 = 8;
/// Runs of each.
const RUNS: usize = 8;

/// Reads rows by number.
const PICK: &str = "func pick(x: f32[3, 4], i: i64[2, 4]) -> (y) {
  %2 = gather %x, %i [0] : f32[2, 4]   # embedding @ model.rs:7
  return y = %2
}
";

/// Wants a result of 2⁵⁰ bytes.
const VAST: &str = "func vast(x: f32[1, 1]) -> (y) {
  %1 = view.expand %x [16777216, 16777216] : f32[16777216, 16777216]
  %2 = exp %1 : f32[16777216, 16777216]
  return y = %2
}
";

/// What is checked of a device, beside what is checked alone.
pub(crate) const PROPERTIES: [&str; 7] =
    ["index-check", "out-of-memory", "empty-table", "beyond-i32", "misaligned", "two-executables", "device-number"];

/// Checks one property.
///
/// # Errors
/// Programs that do not compile or run.
pub(crate) fn check(context: &Context, property: &str) -> Result<Outcome> {
    match property {
        "index-check" => index_check(context),
        "out-of-memory" => out_of_memory(context),
        "empty-table" => inputs::empty_table(context),
        "beyond-i32" => inputs::beyond_i32(context),
        "misaligned" => inputs::misaligned(context),
        "too-little-memory" => inputs::too_little_memory(context),
        "two-executables" => inputs::two_executables(context),
        "device-number" => inputs::device_number(context),
        _ => Err(Error::invalid(format!("no property {property:?}"))),
    }
}

/// Whether the device still computes.
pub(crate) fn is_usable(context: &Context) -> bool {
    let rows = |index: &[i64]| pick(context, index);
    matches!(rows(&[2, 1, 0, 0, 0, 0, 0, 0]), Ok(y) if y[0].get(0).as_f64() == 8.0 && y[0].get(1).as_f64() == 5.0)
}

/// The device that the suite's programs share.
///
/// # Errors
/// A device that is not there.
pub(crate) fn opened(context: &Context) -> Result<Arc<Device>> {
    Ok(compile(context, PICK)?.device().clone())
}

fn compile(context: &Context, body: &str) -> Result<Executable> {
    driver::compile(&Module { graph: text::parse("suite", body)?, frozen: Vec::new() }, &context.config)
}

fn pick(context: &Context, index: &[i64]) -> Result<Vec<HostTensor>> {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let inputs =
        [HostTensor::from_f64s(scalar::DType::F32, &[3, 4], &x), HostTensor::from_i64s(scalar::DType::I64, &[2, 4], index)];
    compile(context, PICK)?.run(&inputs)
}

fn usable(context: &Context, complaints: &mut Vec<String>) {
    if !is_usable(context) {
        complaints.push("the device does not compute any more".to_owned());
    }
}

/// An index out of range is an error that names the node, and does no harm.
fn index_check(context: &Context) -> Result<Outcome> {
    let mut complaints = Vec::new();
    for index in [3, -1, i64::MAX] {
        match pick(context, &[0, 1, 2, 0, index, 0, 0, 0]) {
            Ok(_) => complaints.push(format!("index {index} of 0..3 is no error")),
            Err(e) => {
                let message = e.to_string();
                let missing = ["embedding", "model.rs:7", "index"].into_iter().filter(|w| !message.contains(w));
                complaints.extend(missing.map(|w| format!("the error for index {index} does not say {w:?}: {message}")));
            }
        }
        usable(context, &mut complaints);
    }
    Ok(Outcome::of(3, complaints, || PICK.to_owned()))
}

/// Too little memory is an error, and does no harm.
fn out_of_memory(context: &Context) -> Result<Outcome> {
    let mut complaints = Vec::new();
    let executable = compile(context, VAST)?;
    if executable.run(&[HostTensor::from_f64s(scalar::DType::F32, &[1, 1], &[0.5])]).is_ok() {
        complaints.push("2⁵⁰ bytes were found".to_owned());
    }
    usable(context, &mut complaints);
    Ok(Outcome::of(1, complaints, || VAST.to_owned()))
}

/// A program of a file with arguments that it accepts.
struct Ready {
    executable: Executable,
    sets: Vec<Vec<HostTensor>>,
    alone: Vec<Vec<HostTensor>>,
}

impl Ready {
    /// `None` for a program with symbols. `sets` argument sets are run one by one.
    fn new(context: &Context, name: &str, sets: u64) -> Result<Option<Ready>> {
        let graph = plan::read(&context.files, "plan", name)?;
        if graph.inputs.iter().any(|d| d.ty.shape.iter().any(|s| s.as_int().is_none())) {
            return Ok(None);
        }
        let mut last = None;
        for below in BELOW {
            let all = (0..sets).map(|s| arguments(&graph, &|_| None, below, s)).collect::<Result<Vec<_>>>()?;
            let executable = driver::compile(&module(&graph, &all[0]), &context.config)?;
            let sets: Vec<Vec<HostTensor>> = all.iter().map(|a| given(&graph, a)).collect();
            match sets.iter().map(|s| run(&executable, s)).collect::<Result<Vec<_>>>() {
                Ok(alone) => return Ok(Some(Ready { executable, sets, alone })),
                Err(e) => last = Some(e),
            }
        }
        Err(last.unwrap_or_else(|| Error::internal("no ranges to try")))
    }
}

/// Eight threads run one executable at once, each with arguments of its own: the results are those of one thread.
///
/// # Errors
/// A program that does not compile or run alone.
pub(crate) fn threads(context: &Context, name: &str) -> Result<Outcome> {
    let Some(ready) = Ready::new(context, name, THREADS)? else { return Ok(Outcome::Skipped("symbolic".to_owned())) };
    let one = |n: usize| {
        (0..RUNS).find_map(|time| match run(&ready.executable, &ready.sets[n]) {
            Ok(got) => difference(&ready.alone[n], &got, Tolerance::Exact).map(|d| format!("thread {n}, run {time}: {d}")),
            Err(e) => Some(format!("thread {n}, run {time}: {e}")),
        })
    };
    let complaints = thread::scope(|s| {
        let running: Vec<_> = (0..ready.sets.len()).map(|n| s.spawn(move || one(n))).collect();
        let complaint =
            |t: thread::ScopedJoinHandle<'_, Option<String>>| t.join().unwrap_or(Some("a thread panicked".to_owned()));
        running.into_iter().filter_map(complaint).collect()
    });
    Ok(Outcome::of(RUNS * ready.sets.len(), complaints, String::new))
}

/// Calls in the mode that records: all but the first are replays.
const REPLAYS: usize = 4;

/// Replays give the results of runs, also while results of earlier ones live, and where inputs move.
///
/// # Errors
/// A program that does not compile or run.
pub(crate) fn recording(context: &Context, name: &str) -> Result<Outcome> {
    if context.config.device == DeviceId::Cpu {
        return Ok(Outcome::Skipped("the CPU records no launches".to_owned()));
    }
    let replay = Context { config: base::Config { replay: true, ..context.config.clone() }, ..context.clone() };
    let Some(ready) = Ready::new(&replay, name, 2)? else { return Ok(Outcome::Skipped("symbolic".to_owned())) };
    let executable = &ready.executable;
    if executable.graph().inputs.iter().any(|d| d.donated) {
        return Ok(Outcome::Skipped("a run changes its inputs".to_owned()));
    }
    let sets = ready.sets.iter().map(|s| arrays(executable, s)).collect::<Result<Vec<_>>>()?;
    let mut held = Vec::new();
    for call in 0..REPLAYS {
        held.push((call % 2, executable.run_arrays(&sets[call % 2])?));
    }
    executable.device().synchronize()?;
    let mut complaints = Vec::new();
    for (call, (set, outputs)) in held.iter().enumerate() {
        let got = outputs.iter().map(driver::to_host).collect::<Result<Vec<_>>>()?;
        complaints.extend(difference(&ready.alone[*set], &got, Tolerance::Exact).map(|d| format!("call {call}: {d}")));
    }
    let remarks = executable.remarks(&ready.sets[0])?;
    let refused = remarks
        .iter()
        .find(|r| r.code == base::Code::Replay && r.bytes == 0)
        .map(|r| format!("{}: {}", r.places.join(", "), r.message));
    match (complaints.is_empty(), refused, executable.recordings().replays) {
        (true, Some(why), 0) => return Ok(Outcome::Skipped(why)),
        (_, None, 0) => complaints.push("nothing was replayed, and no remark says why".to_owned()),
        _ => {}
    }
    Ok(Outcome::of(REPLAYS, complaints, String::new))
}
