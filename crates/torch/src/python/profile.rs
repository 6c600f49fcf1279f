//! Ranges in torch's profiler.

use base::{Error, Result};
use driver::Watch;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};

use super::bind::Dims;
use super::runner::Part;

struct Functions {
    profiler: Py<PyAny>,
    range: Py<PyAny>,
}

static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();

fn functions(py: Python<'_>) -> PyResult<&Functions> {
    FUNCTIONS.get_or_try_init(py, || {
        let compat = py.import("fuseline._compat")?;
        Ok(Functions { profiler: compat.getattr("profiler")?.unbind(), range: compat.getattr("range_of")?.unbind() })
    })
}

/// Whether a profiler listens.
pub(super) fn active(py: Python<'_>) -> PyResult<bool> {
    functions(py)?.profiler.bind(py).getattr(intern!(py, "_is_profiler_enabled"))?.is_truthy()
}

/// Runs within a range of the profiler.
pub(super) fn within<T>(py: Python<'_>, name: &str, costs: &Bound<'_, PyDict>, run: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    let range = functions(py)?.range.bind(py).call1((name, PyList::empty(py), costs))?;
    range.call_method0("__enter__")?;
    let result = run();
    range.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    result
}

/// A kernel's range; whole numbers, since torch before 2.15 writes others into traces as `1024.`, which is no JSON.
struct Range {
    name: String,
    flops: u64,
    bytes: u64,
}

/// Gives every kernel of a segment a range with its name, its floating-point operations and the bytes it moves.
pub(super) struct Ranges(Vec<Range>);

impl Ranges {
    /// Ranges of a segment of the function `name`, whose first kernel has number `part.first` there.
    pub(super) fn new(name: &str, part: &Part, dims: &Dims) -> Ranges {
        let range = |(n, k): (usize, driver::KernelReport)| {
            let name = format!("fuseline::{name}/k{}_{}", part.first + n, k.name);
            Range { name, flops: k.flops.round() as u64, bytes: (k.read + k.written).round() as u64 }
        };
        Ranges(part.executable.kernel_reports(dims).into_iter().enumerate().map(range).collect())
    }
}

impl Watch for Ranges {
    fn kernel(&self, index: usize, run: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let Range { name, flops, bytes } = &self.0[index];
        let ran = Python::attach(|py| {
            let costs = PyDict::new(py);
            costs.set_item("flops", flops)?;
            costs.set_item("bytes", bytes)?;
            within(py, name, &costs, || Ok(run()))
        });
        ran.unwrap_or_else(|e| Err(Error::internal(format!("profiler range {name}: {e}"))))
    }
}
