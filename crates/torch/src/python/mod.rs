//! The extension module `fuseline._native`.

mod bind;
mod dlpack;
mod memory;
mod profile;
mod report;
mod run;
mod runner;
mod tally;

use std::collections::BTreeSet;

use base::{Config, Error, ErrorKind};
use driver::{Deviation, Tolerance};
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use serde::Deserialize;

use crate::{cut, fx};
use runner::Runner;

/// What a compilation depends on beside the graph.
#[derive(Debug, Deserialize)]
struct Options {
    numerics: String,
    threads: usize,
    fuse: bool,
    refused: BTreeSet<String>,
    #[serde(flatten)]
    settings: Settings,
}

/// What calls of a compiled program depend on.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Settings {
    /// Number of first calls whose kernels are checked.
    verify: u64,
    /// Relative tolerance of the check; the dtype's if none is given.
    verify_tolerance: Option<f64>,
}

impl Settings {
    fn tolerance(&self) -> Option<Tolerance> {
        self.verify_tolerance.map(|relative| Tolerance { relative, absolute: relative / 10.0 })
    }
}

create_exception!(
    fuseline._native,
    DeviationError,
    PyRuntimeError,
    "A kernel gave other values than the unfused graph on the same inputs."
);

/// Names every kernel that deviates, with its op, the user's line and the worst value.
fn deviation_error(name: &str, deviations: &[Deviation]) -> PyErr {
    let one = |d: &Deviation| {
        let Deviation { kernel, op, count, at, got, want, .. } = d;
        let ops = d.ops.join(" · ");
        format!(
            "kernel {kernel}: {op} differs in {count} elements; at {at} it is {got}, unfused {want}; the kernel computes {ops}"
        )
    };
    DeviationError::new_err(format!("{name}: {}", deviations.iter().map(one).collect::<Vec<_>>().join("\n")))
}

/// Whether eager's error is an `IndexError`: a failed check of any op but gathers and scatters, whose own is a `RuntimeError`.
fn is_index_error(message: &str) -> bool {
    let Some((before, _)) = message.split_once(": index out of range") else { return false };
    let op = before.rsplit(": ").next().unwrap_or(before);
    !op.starts_with("gather") && !op.starts_with("scatter")
}

fn python_error(e: &Error) -> PyErr {
    match e.kind {
        ErrorKind::OutOfMemory => PyMemoryError::new_err(e.to_string()),
        ErrorKind::Invalid if is_index_error(&e.to_string()) => PyIndexError::new_err(e.to_string()),
        _ => PyRuntimeError::new_err(e.to_string()),
    }
}

fn config(options: &Options) -> Result<Config, Error> {
    let mut config = Config::from_env()?;
    config.numerics = match options.numerics.as_str() {
        "eager" => base::Numerics::Eager,
        "wide" => base::Numerics::Wide,
        other => return Err(Error::invalid(format!("numerics {other:?}: use eager or wide"))),
    };
    config.threads = options.threads;
    // Torch lends tensors of the CPU only.
    config.device = base::DeviceId::Cpu;
    config.fuse &= options.fuse;
    Ok(config)
}

/// Compiles an FX graph in the JSON form. `externs(node, operands)` gives the callable of a node that torch runs: it takes the
/// values of the node's operands, which it is told by number.
#[pyfunction]
fn compile(py: Python<'_>, graph: &str, options: &str, externs: &Bound<'_, PyAny>) -> PyResult<Runner> {
    let compiled = py.detach(|| {
        let options: Options = serde_json::from_str(options).map_err(|e| Error::invalid(format!("options: {e}")))?;
        let fx = fx::Graph::from_json(graph)?;
        let program = cut(&fx, &options.refused)?;
        let config = config(&options)?;
        Runner::compile(fx, program, &config, options.settings)
    });
    let runner = compiled.map_err(|e| python_error(&e))?;
    runner.with_externs(externs)
}

/// Whether an op has a lowering, perhaps for some arguments only.
#[pyfunction]
fn is_lowered(target: &str) -> bool {
    crate::is_lowered(target)
}

/// The processor: its name, the instruction set that kernels use, and bytes of the caches of the three levels.
#[pyfunction]
fn machine() -> (String, &'static str, [usize; 3]) {
    let caches = runtime::Caches::of_this_machine();
    (runtime::model(), runtime::isa(), [caches.l1, caches.l2, caches.l3])
}

/// Bytes of the memory for intermediates, over all thread counts: in live buffers, taken from the system, and most that was live.
#[pyfunction]
fn memory_stats() -> (usize, usize, usize) {
    let stats = driver::devices().into_iter().map(|d| d.pool().stats());
    stats.fold((0, 0, 0), |(live, taken, peak), s| (live + s.allocated, taken + s.reserved, peak + s.peak))
}

/// Returns memory that no buffer uses to the system, and makes the present use the peak.
#[pyfunction]
fn empty_cache(py: Python<'_>) {
    py.detach(|| {
        for device in driver::devices() {
            device.pool().trim();
            device.pool().reset_peak();
        }
    });
}

/// What the cache of plans holds, in words.
#[pyfunction]
fn plan_cache() -> PyResult<String> {
    Ok(driver::describe_cache(&Config::from_env().map_err(|e| python_error(&e))?))
}

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    m.add("DTYPES", scalar::DType::ALL.map(scalar::DType::name))?;
    m.add("FORM", fx::VERSION)?;
    m.add("TABLE", crate::VERSION)?;
    m.add("DeviationError", m.py().get_type::<DeviationError>())?;
    m.add_class::<Runner>()?;
    m.add_function(wrap_pyfunction!(machine, m)?)?;
    m.add_function(wrap_pyfunction!(plan_cache, m)?)?;
    m.add_function(wrap_pyfunction!(memory_stats, m)?)?;
    m.add_function(wrap_pyfunction!(empty_cache, m)?)?;
    m.add_function(wrap_pyfunction!(compile, m)?)?;
    m.add_function(wrap_pyfunction!(is_lowered, m)?)
}
