//! One call of a compiled program.

use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, PoisonError};

use base::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use runtime::{Array, Buffer};
use scalar::{Shape, Sym, Var};

use super::python_error;
use super::runner::{Call, Given, Part, Runner, Slot};
use crate::layout::Layout;
use crate::program::Shown;

/// Numbers of a segment for one binding of the symbols.
pub(super) struct Numbers {
    /// Extents of the memory behind each input, its first byte from the base's, and whether it must be copied densely.
    reads: Vec<(Vec<usize>, isize)>,
    /// Extents in the order of memory, and torch's sizes and strides.
    makes: Vec<(Vec<usize>, Py<PyTuple>, Py<PyTuple>)>,
}

/// Bindings by the values of the symbols; the last ones used are kept.
#[derive(Default)]
pub(super) struct Bounds {
    recent: Mutex<Vec<(Vec<i64>, Arc<Numbers>)>>,
}

/// Bindings that are kept.
const MOST: usize = 32;

/// State of one call.
pub(super) struct Run<'py, 'r> {
    py: Python<'py>,
    runner: &'r Runner,
    values: Vec<Option<Bound<'py, PyAny>>>,
    dims: BTreeMap<Var, i64>,
}

fn number(dims: &BTreeMap<Var, i64>, s: &Sym) -> PyResult<i64> {
    s.eval(&|v| dims.get(&v).copied()).map_err(|e| python_error(&e))
}

fn numbers(dims: &BTreeMap<Var, i64>, shape: &Shape) -> PyResult<Vec<i64>> {
    shape.iter().map(|s| number(dims, s)).collect()
}

fn sizes(dims: &BTreeMap<Var, i64>, shape: &Shape) -> PyResult<Vec<usize>> {
    Ok(numbers(dims, shape)?.into_iter().map(|n| n.max(0) as usize).collect())
}

/// A dense array over memory of a tensor that outlives it.
fn array(address: usize, dtype: scalar::DType, shape: &[usize]) -> PyResult<Array> {
    let bytes = shape.iter().product::<usize>() * dtype.size();
    let start = NonNull::new(address as *mut u8).unwrap_or(NonNull::<u64>::dangling().cast());
    // SAFETY: the run holds the tensor behind the address until the segment has ended, and a tensor's memory covers what its
    // sizes and strides reach; an empty one has no bytes that could be touched.
    let buffer = Arc::new(unsafe { Buffer::lent(start, bytes) });
    Array::over(buffer, dtype, shape).map_err(|e| python_error(&e))
}

impl<'py, 'r> Run<'py, 'r> {
    pub(super) fn new(py: Python<'py>, runner: &'r Runner) -> Run<'py, 'r> {
        Run { py, runner, values: vec![None; runner.slots], dims: BTreeMap::new() }
    }

    /// Takes the arguments out of their list.
    pub(super) fn take(&mut self, arguments: &Bound<'py, PyList>) -> PyResult<()> {
        if arguments.len() != self.runner.arguments.len() {
            let (have, want) = (arguments.len(), self.runner.arguments.len());
            return Err(PyRuntimeError::new_err(format!("{have} arguments for {want} inputs")));
        }
        for (argument, value) in self.runner.arguments.iter().zip(arguments.iter()) {
            if let Some(var) = argument.symbol {
                self.dims.insert(var, value.extract()?);
            }
            if let Some(slot) = argument.slot {
                self.values[slot] = Some(self.conforming(value, argument.layout.as_ref())?);
            }
        }
        for (_, slot, value) in &self.runner.attributes {
            if let (Some(slot), Some(value)) = (slot, value) {
                self.values[*slot] = Some(value.bind(self.py).clone());
            }
        }
        arguments.call_method0(intern!(self.py, "clear"))?;
        Ok(())
    }

    pub(super) fn release(&mut self, slot: Slot) {
        self.values[slot] = None;
    }

    fn value(&self, slot: Slot) -> PyResult<&Bound<'py, PyAny>> {
        self.values[slot].as_ref().ok_or_else(|| PyRuntimeError::new_err(format!("value {slot} is read before it is there")))
    }

    /// A value at a boundary as a Python object.
    pub(super) fn given(&self, given: &Given) -> PyResult<Bound<'py, PyAny>> {
        match given {
            Given::Whole(slot) => Ok(self.value(*slot)?.clone()),
            Given::View(slot, shown) => self.view(self.value(*slot)?, shown),
            Given::Int(s) => Ok(number(&self.dims, s)?.into_pyobject(self.py)?.into_any()),
            Given::None => Ok(self.py.None().into_bound(self.py)),
        }
    }

    fn view(&self, base: &Bound<'py, PyAny>, shown: &Shown) -> PyResult<Bound<'py, PyAny>> {
        let size = PyTuple::new(self.py, numbers(&self.dims, &shown.layout.shape)?)?;
        let stride = PyTuple::new(self.py, numbers(&self.dims, &shown.layout.strides)?)?;
        let first: i64 = base.call_method0(intern!(self.py, "storage_offset"))?.extract()?;
        let offset = first + number(&self.dims, &shown.offset)?;
        base.call_method1(intern!(self.py, "as_strided"), (size, stride, offset))
    }

    fn bound(&self, part: &Part) -> PyResult<Arc<Numbers>> {
        let key: Vec<i64> = self.dims.values().copied().collect();
        let recent = || part.bounds.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, found)) = recent().iter().rev().find(|(k, _)| *k == key) {
            return Ok(found.clone());
        }
        let mut reads = Vec::new();
        for (_, read) in &part.reads {
            let offset = if read.copied { 0 } else { number(&self.dims, &read.shown.offset)? as isize };
            reads.push((sizes(&self.dims, &read.declared)?, offset * read.dtype.size() as isize));
        }
        let mut makes = Vec::new();
        for (_, made) in &part.makes {
            let size = PyTuple::new(self.py, numbers(&self.dims, &made.layout.shape)?)?.unbind();
            let stride = PyTuple::new(self.py, numbers(&self.dims, &made.layout.strides)?)?.unbind();
            makes.push((sizes(&self.dims, &made.stored)?, size, stride));
        }
        let bound = Arc::new(Numbers { reads, makes });
        let mut recent = recent();
        if recent.len() >= MOST {
            recent.remove(0);
        }
        recent.push((key, bound.clone()));
        Ok(bound)
    }

    /// The tensor with the strides that tracing promised: itself, or a copy.
    fn conforming(&self, tensor: Bound<'py, PyAny>, layout: Option<&Layout>) -> PyResult<Bound<'py, PyAny>> {
        let Some(layout) = layout else { return Ok(tensor) };
        let (size, stride) = (numbers(&self.dims, &layout.shape)?, numbers(&self.dims, &layout.strides)?);
        let real: Vec<i64> = tensor.getattr(intern!(self.py, "shape"))?.extract()?;
        if real != size {
            return Err(PyRuntimeError::new_err(format!("a tensor has shape {real:?}, tracing promised {size:?}")));
        }
        let real: Vec<i64> = tensor.call_method0(intern!(self.py, "stride"))?.extract()?;
        let matters = |((n, a), b): ((&i64, &i64), &i64)| *n > 1 && a != b;
        if size.contains(&0) || !size.iter().zip(&real).zip(&stride).any(matters) {
            return Ok(tensor);
        }
        let copy = tensor.call_method1(intern!(self.py, "new_empty_strided"), (size, stride))?;
        copy.call_method1(intern!(self.py, "copy_"), (&tensor,))
    }

    fn address(&self, tensor: &Bound<'py, PyAny>) -> PyResult<usize> {
        tensor.call_method0(intern!(self.py, "data_ptr"))?.extract()
    }

    /// Runs a segment on the tensors' own memory, without the GIL.
    pub(super) fn part(&mut self, part: &Part) -> PyResult<()> {
        let bound = self.bound(part)?;
        let mut held = Vec::new();
        let mut inputs = Vec::with_capacity(part.reads.len());
        for ((slot, read), (shape, offset)) in part.reads.iter().zip(&bound.reads) {
            let base = self.value(*slot)?;
            let address = if read.copied {
                let copy = self.view(base, &read.shown)?.call_method0(intern!(self.py, "contiguous"))?;
                let address = self.address(&copy)?;
                held.push(copy);
                address
            } else {
                self.address(base)?.wrapping_add_signed(*offset)
            };
            inputs.push(array(address, read.dtype, shape)?);
        }
        let mut outputs = Vec::with_capacity(part.makes.len());
        for ((slot, made), (stored, size, stride)) in part.makes.iter().zip(&bound.makes) {
            let tensor = super::memory::empty(self.py, made.dtype, size, stride, made.spread)?;
            outputs.push(array(self.address(&tensor)?, made.dtype, stored)?);
            self.values[*slot] = Some(tensor);
        }
        let (executable, dims) = (&part.executable, &self.dims);
        let ran: Result<(), Error> = self.py.detach(|| executable.run_into(dims, &inputs, &outputs));
        ran.map_err(|e| python_error(&e))?;
        for ((slot, made), (_, size, stride)) in part.makes.iter().zip(&bound.makes) {
            if made.spread {
                let spread = super::memory::empty(self.py, made.dtype, size, stride, false)?;
                spread.call_method1(intern!(self.py, "copy_"), (self.value(*slot)?,))?;
                self.values[*slot] = Some(spread);
            }
        }
        Ok(())
    }

    /// Calls torch.
    pub(super) fn call(&mut self, call: &Call) -> PyResult<()> {
        let operands = call.operands.iter().map(|g| self.given(g)).collect::<PyResult<Vec<_>>>()?;
        let function = call.function.as_ref().ok_or_else(|| PyRuntimeError::new_err("a torch call without a function"))?;
        let result = function.bind(self.py).call1(PyTuple::new(self.py, operands)?)?;
        for &(i, axis, var) in &call.defines {
            if !self.dims.contains_key(&var) {
                let tensor = if !result.is_instance_of::<PyTuple>() && !result.is_instance_of::<PyList>() {
                    result.clone()
                } else {
                    result.get_item(i)?
                };
                let shape = tensor.getattr(intern!(self.py, "shape"))?;
                self.dims.insert(var, shape.get_item(axis)?.extract()?);
            }
        }
        if let Some(var) = call.integer {
            self.dims.insert(var, result.extract()?);
        }
        for (i, slot, layout) in &call.items {
            self.values[*slot] = Some(self.conforming(result.get_item(*i)?, layout.as_ref())?);
        }
        if let Some((slot, layout)) = &call.result {
            self.values[*slot] = Some(self.conforming(result, layout.as_ref())?);
        }
        Ok(())
    }
}
