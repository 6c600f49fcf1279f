//! Memory from torch's allocator.

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use scalar::DType;

static EMPTY_STRIDED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DTYPES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

fn torch_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::I8 => "int8",
        DType::U8 => "uint8",
        DType::I16 => "int16",
        DType::U16 => "uint16",
        DType::I32 => "int32",
        DType::U32 => "uint32",
        DType::I64 => "int64",
        DType::U64 => "uint64",
        DType::F16 => "float16",
        DType::BF16 => "bfloat16",
        DType::F32 => "float32",
        DType::F64 => "float64",
    }
}

fn dtypes(py: Python<'_>) -> PyResult<&Py<PyDict>> {
    DTYPES.get_or_try_init(py, || {
        let torch = py.import("torch")?;
        let table = PyDict::new(py);
        for dtype in DType::ALL {
            table.set_item(dtype.name(), torch.getattr(torch_name(dtype))?)?;
        }
        Ok(table.unbind())
    })
}

/// A tensor with unspecified contents; `dense` ignores the strides.
pub(super) fn empty<'py>(
    py: Python<'py>,
    dtype: DType,
    size: &Py<PyTuple>,
    stride: &Py<PyTuple>,
    dense: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = dtypes(py)?.bind(py).as_any().get_item(dtype.name())?;
    if dense {
        let options = PyDict::new(py);
        options.set_item(intern!(py, "dtype"), dtype)?;
        return py.import("torch")?.getattr("empty")?.call((size,), Some(&options));
    }
    let function = EMPTY_STRIDED.get_or_try_init(py, || {
        let guards = py.import("torch._C._dynamo.guards")?;
        PyResult::Ok(guards.getattr("_empty_strided_cpu")?.unbind())
    })?;
    function.bind(py).call1((size, stride, dtype))
}
