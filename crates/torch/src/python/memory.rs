//! Memory from torch's allocator, and views of tensors.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};
use scalar::DType;

/// Functions of Python and torch that every call needs. The loop over new tensors runs inside `starmap`, which calls a built-in
/// function several times faster than it can be called from outside.
struct Functions {
    list: Py<PyAny>,
    starmap: Py<PyAny>,
    empty_strided: Py<PyAny>,
    as_strided: Py<PyAny>,
    dtypes: Py<PyDict>,
}

static FUNCTIONS: PyOnceLock<Functions> = PyOnceLock::new();

fn functions(py: Python<'_>) -> PyResult<&Functions> {
    FUNCTIONS.get_or_try_init(py, || {
        let builtins = py.import("builtins")?;
        let dtypes = PyDict::new(py);
        for (torch, name) in py.import("fuseline._graph")?.getattr("DTYPES")?.cast_into::<PyDict>()?.iter() {
            dtypes.set_item(name, torch)?;
        }
        let base = py.import("torch._C")?.getattr("TensorBase")?;
        Ok(Functions {
            list: builtins.getattr("list")?.unbind(),
            starmap: py.import("itertools")?.getattr("starmap")?.unbind(),
            empty_strided: py.import("torch._C._dynamo.guards")?.getattr("_empty_strided_cpu")?.unbind(),
            as_strided: base.getattr("as_strided")?.unbind(),
            dtypes: dtypes.unbind(),
        })
    })
}

/// The torch dtype.
pub(super) fn torch_dtype(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    functions(py)?.dtypes.bind(py).as_any().get_item(dtype.name())
}

/// A copy of a tensor with other strides and another dtype.
pub(super) fn copied<'py>(
    tensor: &Bound<'py, PyAny>,
    size: impl IntoPyObject<'py>,
    stride: impl IntoPyObject<'py>,
    dtype: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    let keywords = [("dtype", dtype)].into_py_dict(py)?;
    let copy = tensor.call_method(intern!(py, "new_empty_strided"), (size, stride), Some(&keywords))?;
    copy.call_method1(intern!(py, "copy_"), (tensor,))
}

/// New tensors, one for each (sizes, strides, dtype), with unspecified contents.
pub(super) fn empty<'py>(of: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyList>> {
    let py = of.py();
    let f = functions(py)?;
    let list = f.list.bind(py).call1((f.starmap.bind(py).call1((&f.empty_strided, of))?,))?;
    Ok(list.cast_into::<PyList>()?)
}

/// A view of a tensor's memory; `offset` counts from the tensor's own first element.
pub(super) fn view<'py>(
    base: &Bound<'py, PyAny>,
    size: &Bound<'py, PyTuple>,
    stride: &Bound<'py, PyTuple>,
    offset: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let py = base.py();
    let first: i64 = base.call_method0(intern!(py, "storage_offset"))?.extract()?;
    functions(py)?.as_strided.bind(py).call1((base, size, stride, first + offset))
}
