//! A segment's sizes for one binding of the symbols.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use base::Recent;
use driver::{Bound as Ready, Executable};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use scalar::{DType, Shape, Sym, Var};

use super::memory;
use super::profile::Ranges;
use super::python_error;
use super::runner::{Input, Output, Part};
use crate::layout::row_major;

/// Values of symbols.
pub(super) type Dims = BTreeMap<Var, i64>;

/// What one tensor input reads.
pub(super) struct Span {
    /// First byte, from the base's.
    pub(super) offset: isize,
    /// Length of the dense memory that contains it.
    pub(super) bytes: usize,
    pub(super) dtype: DType,
}

/// A segment that is ready to run.
pub(super) struct Sized {
    pub(super) ready: Ready,
    /// Tensor inputs, in order.
    pub(super) reads: Vec<Span>,
    /// (sizes, strides, dtype) of the outputs that overwrite nothing.
    pub(super) makes: Py<PyList>,
    /// Bytes of every output.
    pub(super) bytes: Vec<usize>,
    /// Torch's strides of the outputs that have gaps, by number.
    pub(super) spread: Vec<(usize, Py<PyTuple>)>,
    /// What a profiler is told, once one listens.
    pub(super) ranges: OnceLock<Ranges>,
}

/// Bindings by the values of the symbols.
pub(super) type Bindings = Recent<Dims, Sized>;

pub(super) fn number(dims: &Dims, s: &Sym) -> PyResult<i64> {
    s.eval(&|v| dims.get(&v).copied()).map_err(|e| python_error(&e))
}

pub(super) fn numbers(dims: &Dims, shape: &Shape) -> PyResult<Vec<i64>> {
    shape.iter().map(|s| number(dims, s)).collect()
}

fn counts(dims: &Dims, shape: &Shape) -> PyResult<Vec<usize>> {
    Ok(numbers(dims, shape)?.into_iter().map(|n| n.max(0) as usize).collect())
}

/// The binding of a segment for the values of those symbols that it depends on.
pub(super) fn binding(py: Python<'_>, part: &Part, dims: &Dims) -> PyResult<Arc<Sized>> {
    let dims: Dims = part.symbols.iter().filter_map(|v| Some((*v, *dims.get(v)?))).collect();
    part.bindings.get(&dims, || bind(py, part, &dims))
}

fn bind(py: Python<'_>, part: &Part, dims: &Dims) -> PyResult<Sized> {
    let (mut shapes, mut reads) = (Vec::new(), Vec::new());
    for input in &part.inputs {
        let Input::Tensor(_, read) = input else {
            shapes.push(Vec::new());
            continue;
        };
        let offset = if read.copied { 0 } else { number(dims, &read.shown.offset)? as isize };
        let (shape, size) = (counts(dims, &read.declared)?, read.dtype.size());
        reads.push(Span { offset: offset * size as isize, bytes: shape.iter().product::<usize>() * size, dtype: read.dtype });
        shapes.push(shape);
    }
    let (makes, mut bytes, mut spread) = (PyList::empty(py), Vec::new(), Vec::new());
    for (n, Output { into, made, .. }) in part.makes.iter().enumerate() {
        bytes.push(counts(dims, &made.stored)?.iter().product::<usize>() * made.dtype.size());
        if into.is_some() {
            continue;
        }
        let strides = PyTuple::new(py, numbers(dims, &made.layout.strides)?)?;
        let dense = if made.spread { PyTuple::new(py, numbers(dims, &row_major(&made.layout.shape))?)? } else { strides.clone() };
        if made.spread {
            spread.push((n, strides.unbind()));
        }
        let size = PyTuple::new(py, numbers(dims, &made.layout.shape)?)?;
        makes.append((size, dense, memory::torch_dtype(py, made.dtype)?))?;
    }
    let overwrites: Vec<Option<usize>> = part.makes.iter().map(|o| o.made.into.as_ref().and_then(|i| i.input)).collect();
    let executable: &Executable = &part.executable;
    let ready = py.detach(|| executable.bound(dims, shapes, &overwrites)).map_err(|e| python_error(&e))?;
    Ok(Sized { ready, reads, makes: makes.unbind(), bytes, spread, ranges: OnceLock::new() })
}
