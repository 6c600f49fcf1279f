//! The extension module `fuseline._native`.

mod bind;
mod memory;
mod run;
mod runner;

use std::collections::BTreeSet;

use base::{Config, Error, ErrorKind};
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
}

fn python_error(e: &Error) -> PyErr {
    match e.kind {
        ErrorKind::OutOfMemory => PyMemoryError::new_err(e.to_string()),
        ErrorKind::Invalid if e.to_string().contains("out of range") => PyIndexError::new_err(e.to_string()),
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
        Runner::compile(fx, program, &config)
    });
    let runner = compiled.map_err(|e| python_error(&e))?;
    runner.with_externs(externs)
}

/// Whether an op has a lowering, perhaps for some arguments only.
#[pyfunction]
fn is_lowered(target: &str) -> bool {
    crate::is_lowered(target)
}

#[pymodule]
fn _native(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("FORM", fx::VERSION)?;
    m.add("TABLE", crate::VERSION)?;
    m.add_class::<Runner>()?;
    m.add_function(wrap_pyfunction!(compile, m)?)?;
    m.add_function(wrap_pyfunction!(is_lowered, m)?)
}
